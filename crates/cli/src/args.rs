//! Options that several sub-commands share, and how their values are read.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use firstread_core::Ns;
use firstread_core::params::{Axis, Scheme};
use firstread_drive::profile::quantity::{DEGC, H, ONE, PE, PERCENT, PERMILLE, Quantity, S};
use firstread_drive::profile::reader::nearest;
use firstread_drive::profile::{Dimension, Override};
use firstread_drive::{DriveState, Precondition};
use firstread_firmware::policy::AXES;

/// The drive that is simulated where none is named.
pub const DEFAULT_DRIVE: &str = "ct-qlc";

/// The longest age, and the longest time without power (hours): a hundred years.
const LONGEST_H: f64 = 876_000.0;
/// The highest wear.
const MOST_PE_CYCLES: u64 = 1_000_000;

/// The drive, and the state it is in when the workload begins.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Drive")]
pub struct DriveArgs {
    /// A shipped drive (`firstread list drives`) or the path of a drive profile
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_DRIVE)]
    pub drive: String,
    /// Set a value of the profile or a parameter of a scheme; may be given often
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = parse_override)]
    pub sets: Vec<Override>,
    /// Powered time since the drive was last written; a range spreads superblocks over ages
    #[arg(long, value_name = "TIME|FROM..TO", default_value = "28h", value_parser = parse_age)]
    pub age: Range<Ns>,
    /// Temperature of storage and reads, in °C; `25,55@24h` for 25 and, from 24 h of age on, 55
    #[arg(long, value_name = "DEGC[,DEGC@TIME]", default_value = "55", value_parser = parse_temperature)]
    #[arg(allow_negative_numbers = true)]
    pub temperature: Temperature,
    /// Program-erase cycles; a range spreads superblocks over wear
    #[arg(long, value_name = "N|FROM..TO", default_value = "300", value_parser = parse_pe_cycles)]
    pub pe_cycles: Range<u32>,
    /// Time without power after that
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = parse_unpowered)]
    pub unpowered: Ns,
    /// Share of the capacity that was written before the workload begins
    #[arg(long, value_name = "PERCENT", default_value = "100%", value_parser = parse_fill)]
    pub fill: f64,
    /// How that share was overwritten since: none (written once, in address order), random, zipf:THETA
    ///
    /// random and zipf put the drive into the steady state of random overwrites of one mapping unit,
    /// by theory and at once: every superblock holds valid and stale data as its scheme of garbage
    /// collection leaves them, and writes find it at work. The hot pages of zipf are those of the
    /// first job of a file with `random_distribution=zipf:THETA` and the same workload seed. Age then counts
    /// from the last of the overwrites; superblocks opened before it are older by the time it takes
    /// to program those opened since.
    #[arg(long, value_name = "LOAD", default_value = "none", value_parser = Precondition::parse)]
    pub precondition: Precondition,
    /// Seed of the drive: its chips, bad blocks and whatever its firmware draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Seed of the load: addresses, sizes, times, the hot pages of --precondition
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub workload_seed: u64,
}

impl DriveArgs {
    /// The state asked for.
    pub fn state(&self) -> DriveState {
        DriveState {
            age: (self.age.low, self.age.high),
            pe_cycles: (self.pe_cycles.low, self.pe_cycles.high),
            temperature_c: self.temperature.first,
            temperature_step: self.temperature.step,
            unpowered: self.unpowered,
            fill: self.fill,
            precondition: self.precondition,
            workload_seed: self.workload_seed,
        }
    }
}

/// How the workload is read and how much of it is run.
#[derive(Args, Clone, Default, Debug)]
#[command(next_help_heading = "Workload")]
pub struct WorkloadArgs {
    /// Format of a trace, where its content does not tell (`firstread list traces`)
    #[arg(long, value_name = "FORMAT")]
    pub trace_format: Option<String>,
    /// Move a trace's requests past the end of the drive to their offset modulo its size
    #[arg(long)]
    pub trace_wrap: bool,
    /// Take a trace's records that go back in time at the time of the record ahead
    #[arg(long)]
    pub trace_clamp: bool,
    /// Run the requests of one device of a trace alone
    #[arg(long, value_name = "N")]
    pub trace_device: Option<u32>,
    /// Replay a trace so many times faster
    #[arg(long, value_name = "X", value_parser = parse_speed)]
    pub speed: Option<f64>,
    /// Stop after so many requests
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub limit: Option<u64>,
}

/// How many drives run the same load, and how many of them at a time.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Drive")]
pub struct DrivesArgs {
    /// Drives with seeds from --seed up and the same load: each figure with its spread over them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub drives: u16,
    /// Simulations at a time; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

/// What is printed and kept.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// What is printed
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Form::Human)]
    pub output: Form,
    /// Also keep the result, the latency distribution and the calibration log in files there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Forms of output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Form {
    /// Tables to read
    Human,
    /// JSON, with the keys of fio's own
    Json,
}

/// A value, or a range of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range<T> {
    pub low: T,
    pub high: T,
}

/// The command line is wrong though its options are: an unknown name, options that do not go
/// together.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// A scheme as the user chose it.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    pub axis: &'static Axis,
    pub scheme: &'static Scheme,
}

impl Choice {
    /// What the profile reads.
    pub fn to_override(self) -> Override {
        Override::new(&format!("schemes.{}", self.axis.name), self.scheme.name)
    }
}

/// The schemes that are compared on one axis.
#[derive(Clone, Debug)]
pub struct Choices {
    pub axis: &'static Axis,
    pub schemes: Vec<Choice>,
}

/// Reads `AXIS=NAME`.
pub fn parse_choice(text: &str) -> Result<Choice, String> {
    let Choices { schemes, axis } = parse_choices(text)?;
    match schemes[..] {
        [one] => Ok(one),
        _ => Err(format!(
            "one scheme of `{}` at a time; `firstread compare` takes several",
            axis.name
        )),
    }
}

/// Reads `AXIS=A,B,C`.
pub fn parse_choices(text: &str) -> Result<Choices, String> {
    let (axis, names) = text.split_once('=').ok_or("expected AXIS=NAME")?;
    let axis = find_axis(axis.trim())?;
    let mut schemes: Vec<Choice> = Vec::new();
    for name in names.split(',').map(str::trim) {
        let scheme = find_scheme(axis, name)?;
        if schemes.iter().any(|c| c.scheme.name == name) {
            return Err(format!("`{name}` is given twice"));
        }
        schemes.push(Choice { axis, scheme });
    }
    Ok(Choices { axis, schemes })
}

fn find_axis(name: &str) -> Result<&'static Axis, String> {
    let names = || AXES.iter().map(|a| a.name);
    let none = || format!("there is no axis `{name}`; {}", nearest_of(name, names()));
    AXES.iter().find(|a| a.name == name).ok_or_else(none)
}

fn find_scheme(axis: &'static Axis, name: &str) -> Result<&'static Scheme, String> {
    let names = || axis.schemes.iter().map(|s| s.name);
    let none = || {
        let nearest = nearest_of(name, names());
        format!("axis `{}` has no scheme `{name}`; {nearest}", axis.name)
    };
    axis.schemes
        .iter()
        .find(|s| s.name == name)
        .ok_or_else(none)
}

/// Says that there is no `what` called `name`, and which there are.
pub fn unknown<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Usage {
    Usage(format!(
        "there is no {what} `{name}`; {}",
        nearest_of(name, names)
    ))
}

/// Which of `names` is most like `name`, and all of them.
fn nearest_of<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let near = nearest(name, names.clone()).unwrap_or_default();
    let all: Vec<&str> = names.collect();
    format!("the nearest is `{near}` of {}", all.join(", "))
}

fn parse_override(text: &str) -> Result<Override, String> {
    Override::parse(text).map_err(|p| p.message)
}

pub fn parse_age(text: &str) -> Result<Range<Ns>, String> {
    let (low, high) = Quantity::parse_range(text, &H).map_err(|p| p.message)?;
    Ok(Range {
        low: span(low)?,
        high: span(high)?,
    })
}

/// Reads one value by `parse`, where a range of them means nothing.
pub fn single<T: PartialEq>(
    parse: fn(&str) -> Result<Range<T>, String>,
    text: &str,
) -> Result<T, String> {
    let Range { low, high } = parse(text)?;
    match low == high {
        true => Ok(low),
        false => Err(format!("`{text}` is a range where one value is needed")),
    }
}

pub fn parse_unpowered(text: &str) -> Result<Ns, String> {
    span(Quantity::parse_with_default(text, &H).map_err(|p| p.message)?)
}

/// A span of time that a drive can live through.
fn span(quantity: Quantity) -> Result<Ns, String> {
    if !(0.0..=LONGEST_H).contains(&quantity.to(H)) {
        return Err(format!("`{quantity}` is outside 0 to {LONGEST_H} h"));
    }
    Ok(Ns((quantity.to(S) * 1e9).round() as u64))
}

pub fn parse_celsius(text: &str) -> Result<f64, String> {
    let quantity = Quantity::parse_with_default(text.trim(), &DEGC).map_err(|p| p.message)?;
    Ok(quantity.to(DEGC))
}

/// A temperature, or two and when the second begins.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Temperature {
    /// From the fill on (°C).
    pub first: f64,
    /// Another (°C) from so long after the end of the fill on.
    pub step: Option<(Ns, f64)>,
}

pub fn parse_temperature(text: &str) -> Result<Temperature, String> {
    let Some((first, step)) = text.split_once(',') else {
        return Ok(Temperature {
            first: parse_celsius(text)?,
            step: None,
        });
    };
    let Some((then, at)) = step.split_once('@') else {
        return Err(format!(
            "`{text}` does not say when the second begins; write it as `25,55@24h`"
        ));
    };
    Ok(Temperature {
        first: parse_celsius(first)?,
        step: Some((parse_unpowered(at.trim())?, parse_celsius(then)?)),
    })
}

pub fn parse_pe_cycles(text: &str) -> Result<Range<u32>, String> {
    let (low, high) = Quantity::parse_range(text, &PE).map_err(|p| p.message)?;
    let cycles = |quantity: Quantity| match quantity.to_whole(PE) {
        Ok(n) if n <= MOST_PE_CYCLES => Ok(n as u32),
        Ok(_) => Err(format!("`{quantity}` is above {MOST_PE_CYCLES} P/E")),
        Err(problem) => Err(problem.message),
    };
    Ok(Range {
        low: cycles(low)?,
        high: cycles(high)?,
    })
}

fn parse_fill(text: &str) -> Result<f64, String> {
    let quantity = Quantity::parse_with_default(text, &PERCENT).map_err(|p| p.message)?;
    match quantity.to(PERMILLE) / 1000.0 {
        share if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("`{quantity}` is outside 0 to 100 %")),
    }
}

fn parse_speed(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('x').parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        _ => Err("expected a factor above 0".into()),
    }
}

/// Reads a number of requests: `1000000`, `1_000_000` or `1e6`.
fn parse_count(text: &str) -> Result<u64, String> {
    let quantity = Quantity::parse(text, Dimension::Count).map_err(|p| p.message)?;
    match quantity.to_whole(ONE).map_err(|p| p.message)? {
        0 => Err("expected at least one request".into()),
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
    fn what_is_refused() {
        assert!(parse_fill("101%").is_err() && parse_fill("-1").is_err());
        assert_eq!(parse_fill("50"), Ok(0.5));
        assert!(parse_speed("0").is_err() && parse_speed("nan").is_err());
        assert_eq!(parse_speed("2.5x"), Ok(2.5));
        assert!(parse_count("0").is_err() && parse_count("1.5").is_err());
        assert_eq!(parse_count("1e6"), Ok(1_000_000));
        assert!(parse_pe_cycles("1e9").is_err());
        assert!(parse_choice("read_levels=frozen,optimal").is_err());
        assert!(parse_choices("read_levels=frozen,frozen").is_err());
    }
}
