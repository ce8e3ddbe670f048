//! First reads at levels that do not know what has happened since they were found.

use firstread_core::Ns;
use firstread_ecc::Code;
use firstread_nand::{BlockState, Medium, ReadLevels};

use super::pages::{Aged, Curve, Sample};
use crate::error::Error;

/// What happens after the levels were found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Since {
    Nothing,
    /// 5 h more at the same temperature.
    FiveHours,
    /// 30 days without power at 25 °C; levels are those of an hour after the fill, at 25 °C.
    MonthJustFilled,
    /// The same, after the age of the point.
    Month,
    /// Levels are those of the age of the point at 25 °C; then 5 h at its temperature.
    Warmer,
    /// It cools to 25 °C.
    Cooler,
    /// First reads after idling see 5 mV less.
    Idle,
    /// Blocks are half written.
    HalfWritten,
    /// 100,000 reads of each block.
    Reads,
}

/// Temperature of a drive without power, and of the cold cases (°C).
const COLD: f64 = 25.0;

/// Share of first reads of one page of all planes that fail, of the drive's code: at the levels that were best for all
/// pages, after what has happened `since`.
pub fn share_failing(sample: &Sample, since: Since) -> Result<f64, Error> {
    let (levels, aged) = case(sample, since)?;
    let levels = ReadLevels::Offsets(levels.group_levels()?);
    let curve = Curve::new(&Code::named(&sample.profile.ecc.code)?);
    let shares = aged.read_failure(sample.n, &levels, &[curve])?;
    Ok(shares.first().copied().unwrap_or_default())
}

/// The drive when its levels were found, and when it is read.
fn case(sample: &Sample, since: Since) -> Result<(Aged, Aged), Error> {
    let age = sample.age;
    let after = |more: Ns| Ns(age.0 + more.0);
    let found = match since {
        Since::MonthJustFilled => sample.aged_at(Ns::from_h(1), COLD)?,
        Since::Warmer => sample.aged_at(age, COLD)?,
        _ => sample.aged(age)?,
    };
    let mut read = sample.aged(age)?;
    match since {
        Since::Nothing => {}
        Since::FiveHours => read.now = after(Ns::from_h(5)),
        Since::MonthJustFilled => read = sample.aged_at(Ns::from_h(721), COLD)?,
        Since::Month => {
            read.now = after(Ns::from_h(720));
            read.medium.set_temperature(age, COLD)?;
            read.medium.set_temperature(read.now, sample.celsius)?;
        }
        Since::Warmer => {
            read = sample.aged_at(after(Ns::from_h(5)), COLD)?;
            read.medium.set_temperature(age, sample.celsius)?;
        }
        Since::Cooler => read.medium.set_temperature(age, COLD)?,
        Since::Idle => {
            let mut chip = sample.profile.chip.clone();
            chip.laws.transient.shift_mv = -5.0;
            read.medium = Medium::new(chip, sample.profile.geometry, sample.seed)?;
            read.medium.set_temperature(Ns::ZERO, sample.celsius)?;
        }
        Since::HalfWritten => {
            read.block = BlockState {
                written_wordlines: read.block.written_wordlines / 2,
                ..read.block
            };
        }
        Since::Reads => read.block.reads = 1e5,
    }
    Ok((found, read))
}
