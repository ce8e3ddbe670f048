//! The conditions of a drive in words, as a command line, a study and a script write them.

use firstread_core::Ns;
use firstread_drive::precondition::PreconditionError;
use firstread_drive::profile::quantity::{DEGC, H, ONE, PE, PERCENT, PERMILLE, Quantity, S};
use firstread_drive::profile::{Dimension, Problem};
use firstread_drive::{DriveState, EarlierFill, LastSuperblocks, Precondition};
use thiserror::Error;

/// The longest age, and the longest time without power (hours): a hundred years.
pub const LONGEST_H: f64 = 876_000.0;
/// The highest wear (P/E cycles).
pub const MOST_PE_CYCLES: u64 = 1_000_000;

/// A value, or a range of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range<T> {
    pub low: T,
    /// The highest; the lowest where there is one value.
    pub high: T,
}

impl<T> From<Range<T>> for (T, T) {
    fn from(range: Range<T>) -> (T, T) {
        (range.low, range.high)
    }
}

/// Why a condition cannot be read.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum ConditionError {
    /// Not a number, or a number with the wrong unit.
    #[error(transparent)]
    Quantity(#[from] Problem),
    /// A time longer than a drive's life.
    #[error("`{0}` is outside 0 to {LONGEST_H} h")]
    Time(String),
    /// More P/E cycles than can be simulated.
    #[error("`{0}` is above {MOST_PE_CYCLES} P/E")]
    PeCycles(String),
    /// Wear of some superblocks without their share.
    #[error(
        "`{0}` does not say which superblocks: `500:100@20%` is 100 P/E in the last 20 % of them"
    )]
    NoShare(String),
    /// Not how long an earlier fill lived.
    #[error(
        "`{0}` is no earlier fill; give how long it lived (`8d`), `none` for a drive that is filled for the first \
         time, or `default` for what the drive has"
    )]
    EarlierFill(String),
    /// Not a share of the capacity.
    #[error("`{0}` is outside 0 to 100 %")]
    Fill(String),
    /// A second temperature without the time at which it begins.
    #[error("`{0}` does not say when the second begins; write it as `25,55@24h`")]
    NoTime(String),
    /// A range where one value is needed.
    #[error("`{0}` is a range where one value is needed")]
    Range(String),
    #[error("is no whole number")]
    Seed,
    /// An invalid replay speed.
    #[error("expected a factor above 0")]
    Speed,
    /// An invalid number of requests.
    #[error("expected at least one request")]
    NoRequest,
    #[error(transparent)]
    Precondition(#[from] PreconditionError),
}

/// The state that a drive has where nothing is said: filled in address order, 28 h old at 55 °C, worn by 300 P/E cycles,
/// with the earlier fill of its profile.
pub fn usual_state() -> DriveState {
    DriveState {
        age: (Ns::from_h(28), Ns::from_h(28)),
        pe_cycles: (300, 300),
        temperature_c: 55.0,
        earlier_fill: EarlierFill::OfDrive,
        ..DriveState::default()
    }
}

/// The conditions that make up a drive's state. Each has its own notation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Condition {
    /// Powered time since the fill: [`parse_age`].
    Age,
    /// Temperature: [`parse_temperature`].
    Temperature,
    /// Wear: [`parse_wear`].
    PeCycles,
    /// Time without power after that: [`parse_unpowered`].
    Unpowered,
    /// The fill before that: [`parse_earlier_fill`].
    EarlierFill,
    /// Share of the capacity that was written: [`parse_fill`].
    Fill,
    /// How that share was overwritten afterwards: [`Precondition::parse`].
    Precondition,
    /// Seed of the workload: a whole number.
    WorkloadSeed,
}

impl Condition {
    /// Reads `text` and puts it into `state`.
    ///
    /// ```
    /// use firstread_session::conditions::{Condition, usual_state};
    ///
    /// let mut state = usual_state();
    /// Condition::Temperature.set(&mut state, "25,55@24h")?;
    /// assert_eq!(state.temperature_c, 25.0);
    /// # Ok::<(), firstread_session::ConditionError>(())
    /// ```
    ///
    /// # Errors
    /// [`ConditionError`] where `text` is invalid; `state` is unchanged then.
    pub fn set(self, state: &mut DriveState, text: &str) -> Result<(), ConditionError> {
        match self {
            Condition::Age => state.age = parse_age(text)?.into(),
            Condition::Temperature => {
                let temperature = parse_temperature(text)?;
                state.temperature_c = temperature.first;
                state.temperature_step = temperature.step;
            }
            Condition::PeCycles => {
                let wear = parse_wear(text)?;
                state.pe_cycles = wear.pe_cycles.into();
                state.last = wear.last;
            }
            Condition::Unpowered => state.unpowered = parse_unpowered(text)?,
            Condition::EarlierFill => state.earlier_fill = parse_earlier_fill(text)?,
            Condition::Fill => state.fill = parse_fill(text)?,
            Condition::Precondition => state.precondition = Precondition::parse(text)?,
            Condition::WorkloadSeed => {
                state.workload_seed = text.parse().map_err(|_| ConditionError::Seed)?;
            }
        }
        Ok(())
    }
}

/// Reads an age or a range of ages: `28h`, `0h..2d`; a bare number is in hours.
///
/// ```
/// use firstread_core::Ns;
/// use firstread_session::conditions::parse_age;
///
/// let range = parse_age("0..2d")?;
/// assert_eq!((range.low, range.high), (Ns::ZERO, Ns::from_h(48)));
/// # Ok::<(), firstread_session::ConditionError>(())
/// ```
///
/// # Errors
/// [`ConditionError`] where it is none, or outside 0 to [`LONGEST_H`].
pub fn parse_age(text: &str) -> Result<Range<Ns>, ConditionError> {
    let (low, high) = Quantity::parse_range(text, &H)?;
    Ok(Range {
        low: span(low)?,
        high: span(high)?,
    })
}

/// Reads a single value with `parse`, where a range is not allowed.
///
/// # Errors
/// [`ConditionError::Range`] where it is a range, and those of `parse`.
pub fn single<T: PartialEq>(
    parse: fn(&str) -> Result<Range<T>, ConditionError>,
    text: &str,
) -> Result<T, ConditionError> {
    let Range { low, high } = parse(text)?;
    match low == high {
        true => Ok(low),
        false => Err(ConditionError::Range(text.to_owned())),
    }
}

/// Reads a time without power: `30d`; a bare number is in hours.
///
/// # Errors
/// [`ConditionError`] where it is none, or outside 0 to [`LONGEST_H`].
pub fn parse_unpowered(text: &str) -> Result<Ns, ConditionError> {
    span(Quantity::parse_with_default(text, &H)?)
}

/// Reads how long an earlier fill lived (`8d`; a bare number is in hours), `none`, or `default` for what the drive has.
///
/// ```
/// use firstread_core::Ns;
/// use firstread_drive::EarlierFill;
/// use firstread_session::conditions::parse_earlier_fill;
///
/// assert_eq!(parse_earlier_fill("8d")?, EarlierFill::Lived(Ns::from_h(192)));
/// # Ok::<(), firstread_session::ConditionError>(())
/// ```
///
/// # Errors
/// [`ConditionError`] where it is none of these, or outside 0 to [`LONGEST_H`]; a fill that did not live at all is none.
pub fn parse_earlier_fill(text: &str) -> Result<EarlierFill, ConditionError> {
    match text.trim() {
        "none" => Ok(EarlierFill::None),
        "default" => Ok(EarlierFill::OfDrive),
        text => match parse_unpowered(text) {
            Ok(Ns::ZERO) | Err(ConditionError::Quantity(_)) => {
                Err(ConditionError::EarlierFill(text.to_owned()))
            }
            lived => lived.map(EarlierFill::Lived),
        },
    }
}

/// A span of time that a drive can live through.
fn span(quantity: Quantity) -> Result<Ns, ConditionError> {
    if !(0.0..=LONGEST_H).contains(&quantity.to(H)) {
        return Err(ConditionError::Time(quantity.to_string()));
    }
    Ok(Ns((quantity.to(S) * 1e9).round() as u64))
}

/// Reads a temperature (°C).
///
/// # Errors
/// [`ConditionError`] where it is none.
pub fn parse_celsius(text: &str) -> Result<f64, ConditionError> {
    Ok(Quantity::parse_with_default(text.trim(), &DEGC)?.to(DEGC))
}

/// One temperature, or two and the time at which the second begins.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Temperature {
    /// From the fill on (°C).
    pub first: f64,
    /// A second temperature (°C), and the time after the end of the fill from which it holds.
    pub step: Option<(Ns, f64)>,
}

/// Reads a temperature, or two: `25,55@24h` for 25 °C and, from 24 h of age on, 55 °C.
///
/// # Errors
/// [`ConditionError`] where the text is invalid, or does not say when the second temperature begins.
pub fn parse_temperature(text: &str) -> Result<Temperature, ConditionError> {
    let Some((first, step)) = text.split_once(',') else {
        return Ok(Temperature {
            first: parse_celsius(text)?,
            step: None,
        });
    };
    let Some((then, at)) = step.split_once('@') else {
        return Err(ConditionError::NoTime(text.to_owned()));
    };
    Ok(Temperature {
        first: parse_celsius(first)?,
        step: Some((parse_unpowered(at.trim())?, parse_celsius(then)?)),
    })
}

/// Reads P/E cycles or a range of them: `300`, `0..3000`.
///
/// # Errors
/// [`ConditionError`] where they are none, not whole or above [`MOST_PE_CYCLES`].
pub fn parse_pe_cycles(text: &str) -> Result<Range<u32>, ConditionError> {
    let (low, high) = Quantity::parse_range(text, &PE)?;
    let cycles = |quantity: Quantity| match quantity.to_whole(PE)? {
        n if n <= MOST_PE_CYCLES => Ok(n as u32),
        _ => Err(ConditionError::PeCycles(quantity.to_string())),
    };
    Ok(Range {
        low: cycles(low)?,
        high: cycles(high)?,
    })
}

/// Wear of all superblocks, or of most of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wear {
    /// P/E cycles, one number or a range.
    pub pe_cycles: Range<u32>,
    /// Superblocks at the end of the drive that have others.
    pub last: Option<LastSuperblocks>,
}

/// Reads the wear of superblocks: `300`, `0..3000`, or `500:100@20%` for 100 P/E cycles in the last 20 % of superblocks and
/// 500 in all others.
///
/// # Errors
/// [`ConditionError`] where a number is invalid, or the second one has no share.
pub fn parse_wear(text: &str) -> Result<Wear, ConditionError> {
    let Some((first, last)) = text.split_once(':') else {
        return Ok(Wear {
            pe_cycles: parse_pe_cycles(text)?,
            last: None,
        });
    };
    let Some((pe_cycles, share)) = last.split_once('@') else {
        return Err(ConditionError::NoShare(text.to_owned()));
    };
    let pe_cycles = parse_pe_cycles(pe_cycles.trim())?;
    if pe_cycles.low != pe_cycles.high {
        return Err(ConditionError::NoShare(text.to_owned()));
    }
    Ok(Wear {
        pe_cycles: parse_pe_cycles(first.trim())?,
        last: Some(LastSuperblocks {
            permille: (parse_fill(share.trim())? * 1000.0 + 0.5) as u32,
            pe_cycles: pe_cycles.low,
        }),
    })
}

/// Reads the share of the capacity that was written, from 0 to 1; a bare number is in percent.
///
/// # Errors
/// [`ConditionError`] where it is none.
pub fn parse_fill(text: &str) -> Result<f64, ConditionError> {
    let quantity = Quantity::parse_with_default(text, &PERCENT)?;
    match quantity.to(PERMILLE) / 1000.0 {
        share if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err(ConditionError::Fill(quantity.to_string())),
    }
}

/// Reads a replay speed, relative to the recording: `10`, `2.5x`.
///
/// # Errors
/// [`ConditionError::Speed`] where it is no number above 0.
pub fn parse_speed(text: &str) -> Result<f64, ConditionError> {
    match text.trim_end_matches('x').parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        _ => Err(ConditionError::Speed),
    }
}

/// Reads a number of requests: `1000000`, `1_000_000` or `1e6`.
///
/// # Errors
/// [`ConditionError`] where it is none, or 0.
pub fn parse_requests(text: &str) -> Result<u64, ConditionError> {
    match Quantity::parse(text, Dimension::Count)?.to_whole(ONE)? {
        0 => Err(ConditionError::NoRequest),
        n => Ok(n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_do_spans_mean() {
        assert_eq!(
            parse_age("28h").unwrap(),
            Range {
                low: Ns::from_h(28),
                high: Ns::from_h(28)
            }
        );
        assert_eq!(
            parse_age("0..2d").unwrap(),
            Range {
                low: Ns::ZERO,
                high: Ns::from_h(48)
            }
        );
        // A year has more nanoseconds than a float has whole numbers; the seconds are still right.
        assert_eq!(parse_unpowered("1y").unwrap(), Ns::from_h(8760));
        assert_eq!(parse_unpowered("0").unwrap(), Ns::ZERO);
        for text in ["", "28", "-1h", "200 y", "28 mV", "5h..1h"] {
            assert_eq!(parse_age(text).is_ok(), text == "28", "{text}");
        }
    }

    #[test]
    fn formula_a_usual_drive_is_aged_and_worn() {
        let state = usual_state();
        assert_eq!(state.age, (Ns::from_h(28), Ns::from_h(28)));
        assert_eq!((state.pe_cycles, state.temperature_c), ((300, 300), 55.0));
        assert_eq!(state.earlier_fill, EarlierFill::OfDrive);
        assert_eq!(state.unpowered, Ns::ZERO);
    }

    #[test]
    fn what_is_said_of_a_state_is_all_of_it() {
        let mut state = usual_state();
        for (condition, text) in [
            (Condition::Age, "1h..2h"),
            (Condition::Temperature, "30,40@1h"),
            (Condition::PeCycles, "300 P/E"),
            (Condition::PeCycles, "7 : 5 @ 20 %"),
            (Condition::Unpowered, "3h"),
            (Condition::EarlierFill, "4d"),
            (Condition::Fill, "50%"),
            (Condition::Precondition, "zipf:0.5"),
            (Condition::WorkloadSeed, "9"),
        ] {
            condition.set(&mut state, text).unwrap();
            assert!(
                condition.set(&mut state, "nothing").is_err(),
                "{condition:?}"
            );
        }
        let said = DriveState {
            hottest_in_run_c: None,
            age: (Ns::from_h(1), Ns::from_h(2)),
            pe_cycles: (7, 7),
            last: Some(LastSuperblocks {
                permille: 200,
                pe_cycles: 5,
            }),
            temperature_c: 30.0,
            temperature_step: Some((Ns::from_h(1), 40.0)),
            unpowered: Ns::from_h(3),
            earlier_fill: EarlierFill::Lived(Ns::from_h(96)),
            fill: 0.5,
            precondition: Precondition::Zipf(0.5),
            workload_seed: 9,
        };
        assert_eq!(state, said);
    }

    #[test]
    fn what_do_temperatures_mean() {
        let step = |hours, celsius| Some((Ns::from_h(hours), celsius));
        for (text, first, then) in [
            ("55", 55.0, None),
            ("-10 degC", -10.0, None),
            ("25,55@24h", 25.0, step(24, 55.0)),
            ("25, -5 @ 1d", 25.0, step(24, -5.0)),
        ] {
            let meant = Temperature { first, step: then };
            assert_eq!(parse_temperature(text), Ok(meant), "{text}");
        }
        for text in ["", "hot", "25,", "25,55", "25,55@", "25@24h", "25,55@hot"] {
            assert!(parse_temperature(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_do_earlier_fills_mean() {
        assert_eq!(parse_earlier_fill("none"), Ok(EarlierFill::None));
        assert_eq!(parse_earlier_fill("default"), Ok(EarlierFill::OfDrive));
        let lived = |hours| Ok(EarlierFill::Lived(Ns::from_h(hours)));
        assert_eq!(parse_earlier_fill(" 30 d"), lived(720));
        assert_eq!(parse_earlier_fill("8"), lived(8));
        for text in ["", "0", "0h", "noone", "30 mV", "-1h", "1h..2h", "200 y"] {
            assert!(parse_earlier_fill(text).is_err(), "{text}");
        }
        let says = parse_earlier_fill("warm").unwrap_err().to_string();
        assert!(says.contains("`none`") && says.contains("`8d`"), "{says}");
    }

    #[test]
    fn what_is_refused() {
        assert!(parse_fill("101%").is_err() && parse_fill("-1").is_err());
        assert_eq!(parse_fill("50"), Ok(0.5));
        assert!(parse_speed("0").is_err() && parse_speed("nan").is_err());
        assert_eq!(parse_speed("2.5x"), Ok(2.5));
        assert!(parse_requests("0").is_err() && parse_requests("1.5").is_err());
        assert_eq!(parse_requests("1e6"), Ok(1_000_000));
        assert!(parse_pe_cycles("1e9").is_err());
        for text in [
            "500:100",
            "500:1..9@20%",
            "500:100@",
            "500:100@200%",
            ":1@1%",
        ] {
            assert!(parse_wear(text).is_err(), "{text}");
        }
        let says = parse_wear("500:100").unwrap_err().to_string();
        assert!(says.contains("`500:100@20%`"), "{says}");
    }
}
