//! What simulations of a sweep differ in, and the simulations of all combinations.
//!
//! ```
//! use firstread_session::conditions::Condition::{Age, PeCycles};
//! use firstread_session::{Input, Simulation, Sweep, Varied};
//!
//! let base = Simulation { drive: "bench-4g".into(), limit: Some(500), ..Simulation::of(Input::open("randread-4k-qd1")?) };
//! let sweep = Sweep::of(vec![
//!     (Varied::State(Age), vec!["0".into(), "28h".into()]),
//!     (Varied::State(PeCycles), vec!["0".into(), "1k".into()]),
//! ]);
//! let simulations = sweep.simulations(&base)?;
//! assert_eq!(simulations.len(), 4);
//! assert_eq!(simulations[3].0, ["28h", "1k"]);
//! # Ok::<(), firstread_session::Error>(())
//! ```

use std::sync::Arc;

use firstread_core::params::Axis;
use firstread_drive::profile::Override;

use crate::choice::Choice;
use crate::conditions::{Condition, parse_age, parse_pe_cycles, parse_temperature};
use crate::error::Error;
use crate::matrix::crossed;
use crate::setup::Simulation;

/// Something that simulations differ in.
#[derive(Clone, Debug)]
pub enum Varied {
    /// The drive: a shipped name, or the path of a profile.
    Drive,
    /// The scheme of an axis.
    Scheme(&'static Axis),
    /// A value of the profile, by its path.
    Set(String),
    /// A condition of the drive's state.
    State(Condition),
    /// An option of all jobs of a job file.
    Job(String),
}

impl Varied {
    /// What it is called on a command line and in messages.
    pub fn name(&self) -> &str {
        match self {
            Varied::Drive => "drive",
            Varied::Scheme(axis) => axis.name,
            Varied::Set(path) => path,
            Varied::Job(key) => key,
            Varied::State(condition) => match condition {
                Condition::Age => "age",
                Condition::Temperature => "temperature",
                Condition::PeCycles => "pe_cycles",
                Condition::Unpowered => "unpowered",
                Condition::EarlierFill => "earlier_fill",
                Condition::Fill => "fill",
                Condition::Precondition => "precondition",
                Condition::WorkloadSeed => "workload_seed",
            },
        }
    }

    /// Its name as a column, with the unit where [`Varied::cell`] has one.
    pub fn column(&self) -> String {
        match self {
            Varied::State(Condition::Age) => "age_h".into(),
            Varied::State(Condition::Temperature) => "temperature_c".into(),
            other => other.name().into(),
        }
    }

    /// On an axis or in a heading.
    pub fn label(&self) -> &str {
        match self {
            Varied::Drive => "Drive",
            Varied::State(Condition::Age) => "Powered age",
            Varied::State(Condition::Temperature) => "Temperature (°C)",
            Varied::State(Condition::PeCycles) => "P/E cycles",
            Varied::State(Condition::WorkloadSeed) => "Seed of the workload",
            other => other.name(),
        }
    }

    /// `text`, a value of it, as a cell of a table of data: hours, cycles; two numbers for a range of them.
    pub fn cell(&self, text: &str) -> String {
        let range = |low: f64, high: f64| match low == high {
            true => low.to_string(),
            false => format!("{low}..{high}"),
        };
        let hours = |ns: firstread_core::Ns| ns.0 as f64 / 3.6e12;
        let cell = match self {
            Varied::State(Condition::Age) => {
                parse_age(text).map(|r| range(hours(r.low), hours(r.high)))
            }
            Varied::State(Condition::PeCycles) => {
                parse_pe_cycles(text).map(|r| range(r.low.into(), r.high.into()))
            }
            Varied::State(Condition::Temperature) => {
                parse_temperature(text).map(|t| match t.step {
                    None => t.first.to_string(),
                    Some((at, then)) => format!("{},{then}@{}h", t.first, hours(at)),
                })
            }
            _ => Ok(text.to_owned()),
        };
        cell.unwrap_or_else(|_| text.to_owned())
    }

    /// Whether its values are steps along a scale, so that a line may go through them: numbers, or numbers with a unit.
    pub fn is_scale(&self, values: &[String]) -> bool {
        let is_number = |text: &String| text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        match self {
            Varied::Drive | Varied::Scheme(_) | Varied::State(Condition::WorkloadSeed) => false,
            Varied::Set(_) | Varied::Job(_) | Varied::State(_) => values.iter().all(is_number),
        }
    }

    /// Gives it the value `text` in `simulation`.
    ///
    /// # Errors
    /// [`Error`] where `text` is no value of it, or it is an option of jobs and the workload has none.
    pub fn set(&self, simulation: &mut Simulation, text: &str) -> Result<(), Error> {
        match self {
            Varied::Drive => text.clone_into(&mut simulation.drive),
            Varied::Scheme(axis) => {
                let choice: Choice = format!("{}={text}", axis.name).parse()?;
                simulation.schemes.push(choice);
            }
            Varied::Set(path) => simulation.set.push(Override::new(path, text)),
            Varied::State(condition) => condition.set(&mut simulation.state, text)?,
            Varied::Job(key) => {
                simulation.input = Arc::new(simulation.input.with_option(key, text)?);
            }
        }
        Ok(())
    }
}

/// Several things that simulations differ in, each with its values.
#[derive(Clone, Default, Debug)]
pub struct Sweep {
    /// In the order in which they are crossed: the last varies fastest.
    pub varied: Vec<(Varied, Vec<String>)>,
}

impl Sweep {
    /// Of what has more than one value; what has one is set in `base` by whoever makes that.
    pub fn of(varied: Vec<(Varied, Vec<String>)>) -> Sweep {
        Sweep { varied }
    }

    /// A simulation for each combination of values, like `base` in all else, with those values in the order of
    /// [`Sweep::varied`].
    ///
    /// # Errors
    /// Those of [`Varied::set`], with the combination.
    pub fn simulations(&self, base: &Simulation) -> Result<Vec<(Vec<String>, Simulation)>, Error> {
        let axes: Vec<Vec<String>> = self
            .varied
            .iter()
            .map(|(_, values)| values.clone())
            .collect();
        let mut simulations = Vec::new();
        for values in crossed(&axes) {
            let mut simulation = base.clone();
            for ((varied, _), value) in self.varied.iter().zip(&values) {
                let set = varied.set(&mut simulation, value);
                set.map_err(|error| error.of(format!("{}={value}", varied.name())))?;
            }
            simulations.push((values, simulation));
        }
        Ok(simulations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;

    #[test]
    fn formula_cells_are_numbers_in_the_unit_of_their_column() {
        for (condition, text, cell) in [
            (Condition::Age, "2d3h", "51"),
            (Condition::Age, "0..2d", "0..48"),
            (Condition::PeCycles, "1.5k", "1500"),
            (Condition::PeCycles, "100..2k", "100..2000"),
            (Condition::Temperature, "25, 55@1d", "25,55@24h"),
            (Condition::WorkloadSeed, "7", "7"),
        ] {
            assert_eq!(Varied::State(condition).cell(text), cell);
        }
    }

    #[test]
    fn sequence_options_of_jobs_are_set_in_every_job() {
        let text = "[global]\nbs=4k\niodepth=1\n[a]\nrw=read\n[b]\nrw=read\niodepth=3";
        let base = Simulation::of(Input::job_file("j", text.into()).unwrap());
        let depth = Varied::Job("iodepth".into());
        let sweep = Sweep::of(vec![(depth, vec!["8".into(), "32".into()])]);
        for (values, simulation) in sweep.simulations(&base).unwrap() {
            let Input::Jobs { workload, text, .. } = &*simulation.input else {
                panic!("a job file stays one");
            };
            assert!(
                workload
                    .jobs
                    .iter()
                    .all(|job| job.iodepth.to_string() == values[0])
            );
            let again = Input::job_file("j", text.clone()).unwrap();
            assert!(matches!(again, Input::Jobs { workload, .. } if workload.jobs.len() == 2));
        }
        let wrong = |key: &str, value: &str| {
            let mut simulation = base.clone();
            let error = Varied::Job(key.into()).set(&mut simulation, value);
            error.unwrap_err().to_string()
        };
        let error = wrong("iodpth", "3");
        assert!(
            error.contains("iodepth") && error.contains("--job"),
            "{error}"
        );
        let error = wrong("bs", "4x");
        assert!(error.contains("--job"), "{error}");
    }
}
