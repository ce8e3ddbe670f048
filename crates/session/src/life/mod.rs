//! The life of a drive under a load: how much it can be written, and how its reads age.
//!
//! The load is run again and again on a drive without time ([`UntimedDrive`]) until the life ends as asked.
//!
//! - [`Until`]: when a life ends. `load`: the load, cycled. `live`: one life.
//! - `lost`: the uncorrectable bit error rate of data that are kept for months, by arithmetic.
//! - `probe`: reads of a timed drive that is worn as the life left it at a stage.
//! - [`Smart`]: what the drive would say of itself. [`worn`]: the wear that a latency run starts from.
//! - `json`: the result.
//!
//! At a **wear rate** of `k` each simulated erase stands for `k` cycles, so a life takes a `k`-th of the work.
//! Thresholds, laws and bounds stay in real cycles. What that changes is how often wear levelling moves data: `k` times as
//! often as it would. So its share of what was programmed is divided by `k` ([`Lived::corrected`]), and the same life is
//! lived at half the rate: where the corrected results differ by more than [`MOST_APART`], the life is refused.

mod json;
mod live;
mod load;
mod lost;
mod probe;
mod smart;
mod until;
pub mod worn;

use std::ops::Range;

use firstread_core::Ns;
use firstread_drive::profile::WearRateRefused;
use firstread_drive::untimed::{CommandError, UntimedError};
use firstread_drive::{UntimedDrive, WornBlocks};
use firstread_firmware::observe::OWNERS;
use thiserror::Error;

use crate::error::Error;
use crate::setup::Setup;

pub use json::json;
pub use lost::{Rate, Rates};
pub use probe::Probe;
pub use smart::Smart;
pub use until::{Class, Until, UntilError};

/// The largest difference between the corrected result of a life and of its check at half the wear rate.
pub const MOST_APART: f64 = 0.02;
/// Rated endurances after which a life is given up that has not ended.
pub const MOST_ENDURANCES: f64 = 100.0;
/// Seconds of a year of 365 days.
pub const YEAR_S: f64 = 365.0 * DAY_S;
/// Seconds of a day.
pub const DAY_S: f64 = 86_400.0;

/// Why there is no result of a life.
#[derive(Debug, Error)]
pub enum LifeError {
    /// The load writes nothing.
    #[error(
        "{0} writes nothing: a drive that is not written to does not wear, and its life has no end; take a load with writes"
    )]
    ReadOnlyLoad(String),
    /// Blocks of the drive never fail.
    #[error(
        "--until {0}: no block of chip `{1}` ever fails (chip.failures.factory_bad and grown_bad are 0 %), so this life has \
         no end; set chip.failures.grown_bad, or end it by bytes=.. or years=.."
    )]
    NothingFails(Until, String),
    /// Cells of the drive never err.
    #[error(
        "--until {until}: cells of this drive have no voltages (`cells` is `{cells}`), so no data are ever lost to age; end \
         the life by bad=2%, full, bytes=.. or years=.."
    )]
    NothingLost {
        /// The end asked for.
        until: Until,
        /// What the cells are.
        cells: String,
    },
    /// The life has not ended by an absurd wear.
    #[error(
        "--until {until}: not reached at {mean_pe_cycles:.0} P/E cycles on average, {MOST_ENDURANCES} times what the chip is \
         rated for; end the life by bytes=.. or years=.."
    )]
    Endless {
        /// The end asked for.
        until: Until,
        /// Wear so far.
        mean_pe_cycles: f64,
    },
    /// The wear rate is not possible on this drive.
    #[error("--wear-rate: {0}")]
    WearRate(#[from] WearRateRefused),
    /// The life at a wear rate is not the life at half of it.
    #[error(
        "--wear-rate {rate}: {what} is {of_rate:.4e} at this rate and {of_half:.4e} at a rate of {half}, {:.1} % apart where \
         {:.0} % are allowed: take a lower rate",
        100.0 * (of_rate / of_half - 1.0).abs(), 100.0 * MOST_APART
    )]
    RateTooHigh {
        /// The rate asked for.
        rate: u32,
        /// That of the check.
        half: u32,
        /// What is compared, with its unit.
        what: &'static str,
        /// The result at the rate, corrected.
        of_rate: f64,
        /// The result at half of it, corrected.
        of_half: f64,
    },
    /// The drive cannot be made.
    #[error(transparent)]
    Drive(#[from] UntimedError),
    /// A command cannot be run.
    #[error(transparent)]
    Command(#[from] CommandError),
}

/// A life that is asked for.
#[derive(Clone, Debug)]
pub struct Life {
    /// The load, the drive, and the state in which its reads are probed: age and temperature. The drive begins its life
    /// filled, with the P/E cycles of the state.
    pub setup: Setup,
    /// When it ends.
    pub until: Until,
    /// Cycles that each simulated erase stands for.
    pub wear_rate: u32,
    /// Years over which drive writes a day are stated.
    pub warranty_years: f64,
    /// Drive writes a day of a load that has no times of its own.
    pub drive_writes_a_day: f64,
    /// Requests of a probe; 0 for no probes.
    pub probe_requests: u64,
}

/// Wear of the superblocks of an area that are not retired (P/E cycles).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AreaWear {
    /// The area.
    pub name: &'static str,
    /// The lowest.
    pub min: u32,
    /// The mean.
    pub mean: f64,
    /// That of the superblock which 99 % wear no more than.
    pub p99: u32,
    /// The highest.
    pub max: u32,
}

/// A drive at some time of its life.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Bytes that the host has written, those that a wear rate stands for among them.
    pub host_bytes: f64,
    /// Time since the beginning of the life (years).
    pub years: f64,
    /// Share of all blocks that are bad, those of the factory among them.
    pub bad_share: f64,
    /// Blocks that are bad.
    pub bad_blocks: u64,
    /// Superblocks that are retired.
    pub retired: u32,
    /// Bytes programmed for each that the host wrote until then.
    pub write_amplification: f64,
    /// Wear by area.
    pub wear: Vec<AreaWear>,
    /// Uncorrectable bit error rates of data kept as the classes of JESD218 say, where cells have voltages.
    pub lost: Option<Rates>,
    /// Wear of each superblock.
    pub blocks: WornBlocks,
}

/// How a life ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LifeEnd {
    /// As asked.
    Reached,
    /// The drive can no longer hold its capacity.
    Full,
}

/// One life, lived.
#[derive(Clone, Debug)]
pub struct Lived {
    /// The wear rate.
    pub rate: u32,
    /// How it ended.
    pub end: LifeEnd,
    /// From its beginning to its end.
    pub samples: Vec<Sample>,
    /// Bytes programmed for each that the host wrote.
    pub write_amplification: f64,
    /// Slots moved for each that the host wrote, by owner.
    pub moved: [f64; OWNERS],
    /// What the drive says of itself at the end.
    pub smart: Smart,
}

impl Lived {
    /// The end of the life.
    pub fn last(&self) -> &Sample {
        self.samples.last().expect("a life has a beginning")
    }

    /// Bytes that the host has written.
    pub fn written_bytes(&self) -> f64 {
        self.last().host_bytes
    }

    /// Write amplification with wear levelling as often as at a wear rate of 1: its share divided by the rate.
    pub fn corrected_amplification(&self) -> f64 {
        let levelling = self.moved[firstread_firmware::observe::Owner::Wear as usize];
        self.write_amplification - levelling * (1.0 - 1.0 / f64::from(self.rate))
    }

    /// How many more bytes the same wear takes with wear levelling as often as at a wear rate of 1.
    pub fn corrected(&self) -> f64 {
        self.write_amplification / self.corrected_amplification()
    }
}

/// A life with its check and its probes.
#[derive(Clone, Debug)]
pub struct LifeOutcome {
    /// The life.
    pub lived: Lived,
    /// The same at half the wear rate, where that is above 1.
    pub check: Option<Lived>,
    /// Probes of reads, from the beginning to the end.
    pub stages: Vec<Stage>,
}

/// A stage of a life.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Share of the bytes that the host writes in the whole life, as near as a sample is.
    pub share: f64,
    /// The drive then.
    pub sample: Sample,
    /// What its reads are like; none where no probes are asked for.
    pub probe: Option<Probe>,
}

/// Shares of a life at which reads are probed.
pub const STAGES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// What a life tells while it is under way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LifeProgress {
    /// Bytes written in the life at this wear rate, and mean wear (P/E cycles).
    Lives {
        /// The wear rate.
        rate: u32,
        /// Bytes of the host.
        host_bytes: f64,
        /// Mean wear.
        mean_pe_cycles: f64,
    },
    /// The probe of this stage is run.
    Probes(usize),
}

impl Life {
    /// Lives the life, its check and its probes.
    ///
    /// # Errors
    /// [`LifeError`] where the life has no end or cannot be had at this wear rate, and [`Error`] where the drive or the
    /// load is wrong.
    pub fn live(&self, progress: &mut dyn FnMut(LifeProgress)) -> Result<LifeOutcome, Error> {
        self.check_end()?;
        let lived = self.at_rate(self.wear_rate, progress)?;
        let check = match self.wear_rate {
            1 => None,
            rate => {
                let half = self.at_rate(rate / 2, progress)?;
                self.compare(&lived, &half)?;
                Some(half)
            }
        };
        let mut stages = Vec::new();
        let all = lived.written_bytes();
        for (i, share) in STAGES.into_iter().enumerate() {
            let apart = |s: &Sample| (s.host_bytes - share * all).abs();
            let near = |a: &&Sample, b: &&Sample| apart(a).total_cmp(&apart(b));
            let sample = lived
                .samples
                .iter()
                .min_by(near)
                .expect("a life has a beginning");
            progress(LifeProgress::Probes(i));
            stages.push(Stage {
                share: if all > 0.0 {
                    sample.host_bytes / all
                } else {
                    0.0
                },
                sample: sample.clone(),
                probe: probe::probe(self, &sample.blocks)?,
            });
        }
        Ok(LifeOutcome {
            lived,
            check,
            stages,
        })
    }

    fn at_rate(&self, rate: u32, progress: &mut dyn FnMut(LifeProgress)) -> Result<Lived, Error> {
        live::live(self, rate, progress)
    }

    /// Whether the life can end as asked.
    fn check_end(&self) -> Result<(), LifeError> {
        let profile = &self.setup.profile;
        profile.clone().at_wear_rate(self.wear_rate)?;
        match self.until {
            Until::Bad(_) | Until::Full if profile.chip.failures.is_null() => Err(
                LifeError::NothingFails(self.until, profile.chip.name.clone()),
            ),
            Until::Lost(_) if !lost::has_rates(profile) => Err(LifeError::NothingLost {
                until: self.until,
                cells: profile.cells.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Whether the life at a rate is the life at half of it.
    fn compare(&self, lived: &Lived, half: &Lived) -> Result<(), LifeError> {
        let (what, of): (_, fn(&Lived) -> f64) = match self.until {
            // What was written is the same, and the wear by it is the result.
            Until::Bytes(_) | Until::Years(_) => {
                ("mean wear (P/E)", |l| mean_wear(l.last()) / l.corrected())
            }
            _ => ("TBW (bytes)", |l| l.written_bytes() * l.corrected()),
        };
        let (of_rate, of_half) = (of(lived), of(half));
        match (of_rate / of_half - 1.0).abs() <= MOST_APART {
            true => Ok(()),
            false => Err(LifeError::RateTooHigh {
                rate: lived.rate,
                half: half.rate,
                what,
                of_rate,
                of_half,
            }),
        }
    }
}

/// Mean wear of the superblocks in use (P/E cycles).
fn mean_wear(sample: &Sample) -> f64 {
    let live = sample.blocks.in_use();
    let (sum, n) = live.fold((0u64, 0u64), |(sum, n), (_, pe)| {
        (sum + u64::from(pe), n + 1)
    });
    sum as f64 / n.max(1) as f64
}

/// The areas of a drive: each with its superblocks.
fn areas(drive: &UntimedDrive) -> Vec<(&'static str, Range<u32>)> {
    vec![("one", 0..drive.blocks().len())]
}

/// `ns` in years.
fn years(ns: Ns) -> f64 {
    ns.0 as f64 * 1e-9 / YEAR_S
}
