//! The life of a drive under a load: how much it can be written, and how its reads age.
//!
//! The load is run again and again on a drive without time ([`UntimedDrive`](firstread_drive::UntimedDrive)) until the life ends as asked.
//!
//! - `parts`: what is asked and what comes of it. [`Until`]: when a life ends. `load`: the load, cycled. `live`: one life.
//! - `lost`: the uncorrectable bit error rate of data that are kept for months, by arithmetic.
//! - `probe`: reads of a timed drive that is worn as the life left it at a stage.
//! - [`Smart`]: what the drive would say of itself.
//! - `json`: the result.
//!
//! At a **wear rate** of `k` each simulated erase stands for `k` cycles, so a life takes a `k`-th of the work.
//! Thresholds, laws and bounds stay in real cycles. What that changes is how often wear levelling moves data: `k` times as
//! often as it would. So its share of what was programmed is divided by `k` ([`Lived::corrected`]), and the same life is
//! lived at half the rate: where the corrected results differ by more than [`MOST_APART`], the life is refused.

mod bounds;
pub(crate) mod error;
mod json;
mod live;
mod load;
mod lost;
mod parts;
mod probe;
mod smart;
mod until;

use std::sync::Arc;

use firstread_drive::profile::DriveProfile;
use firstread_workload::job::JobSpec;

use crate::error::Error;
use crate::input::Input;
use parts::mean_wear;

pub use bounds::{DAY_S, MOST_APART, MOST_BUFFERED, MOST_ENDURANCES, YEAR_S};
pub use error::LifeError;
pub use json::json;
pub use lost::{Rate, Rates};
pub use parts::Probe;
pub use parts::{
    AreaWear, Life, LifeEnd, LifeOutcome, LifeProgress, Lived, ProbeJob, ProbeRun, ProbedWrites,
    Recent, Sample, Stage, Terms, Totals,
};
pub use smart::Smart;
pub use until::{Class, Until, UntilError, Years};

/// Shares of a life at which reads are probed.
pub const STAGES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

impl Life {
    /// Lives the life, its check and its probes, until they end or its setup's [`Interrupt`](crate::Interrupt) asks them
    /// to.
    ///
    /// # Errors
    /// [`LifeError`] where the life has no end or cannot be had at this wear rate, and [`Error`] where the drive or the
    /// load is wrong.
    pub fn live(&self, progress: &mut dyn FnMut(LifeProgress)) -> Result<LifeOutcome, Error> {
        self.check()?;
        let lived = self.at_rate(self.terms.wear_rate, progress)?;
        let check = match self.terms.wear_rate {
            rate if rate > 1 && lived.end != LifeEnd::Interrupted => {
                let half = self.at_rate(rate / 2, progress)?;
                let whole = half.end != LifeEnd::Interrupted;
                if whole {
                    self.compare(&lived, &half)?;
                }
                whole.then_some(half)
            }
            _ => None,
        };
        let mut stages = Vec::new();
        let (earlier, all) = (lived.earlier_bytes(), lived.written_bytes());
        let standard = probe::standard(self.terms.probe_requests)?;
        for (i, share) in STAGES.into_iter().enumerate() {
            let stage_bytes = earlier + share * (all - earlier);
            let apart = |s: &Sample| (s.host_bytes - stage_bytes).abs();
            let near =
                |a: &(usize, &Sample), b: &(usize, &Sample)| apart(a.1).total_cmp(&apart(b.1));
            let samples = lived.samples.iter().enumerate();
            let (at, sample) = samples.min_by(near).expect("a life has a beginning");
            let until_then = &lived.samples[..=at];
            type Probed = (Option<Probe>, Option<Arc<ProbeRun>>);
            let mut probed = |job: Option<&ProbeJob>| -> Result<Probed, Error> {
                match job {
                    Some(job) if !self.setup.interrupt.is_asked() => {
                        progress(LifeProgress::Probes(i));
                        Ok(probe::at_last(&self.setup, job, until_then)?.unzip())
                    }
                    _ => Ok((None, None)),
                }
            };
            let (probe, probe_run) = probed(standard.as_ref())?;
            let (by_job, by_job_run) = probed(self.terms.probe_job.as_ref())?;
            stages.push(Stage {
                share: if all > earlier {
                    (sample.host_bytes - earlier) / (all - earlier)
                } else {
                    0.0
                },
                sample: sample.clone(),
                probe,
                by_job,
                probe_run,
                by_job_run,
            });
        }
        Ok(LifeOutcome {
            lived,
            check,
            stages,
            interrupted: self.setup.interrupt.is_asked(),
        })
    }

    fn at_rate(&self, rate: u32, progress: &mut dyn FnMut(LifeProgress)) -> Result<Lived, Error> {
        live::live(self, rate, progress)
    }

    /// Whether the life can end as asked, as far as that is known before it is lived: records of a trace are not read.
    ///
    /// # Errors
    /// [`LifeError`] where it cannot.
    pub fn check(&self) -> Result<(), LifeError> {
        if let Input::Jobs { workload, .. } = &*self.setup.input
            && !workload.jobs.iter().any(JobSpec::writes)
        {
            return Err(LifeError::ReadOnlyLoad(workload.name.clone()));
        }
        without_log(&self.setup.input, "")?;
        if let Some(job) = &self.terms.probe_job {
            without_log(&job.input, "--probe ")?;
            probe::check(job)?;
        }
        let profile = &self.setup.profile;
        if let Some(worn) = &profile.worn {
            let (bytes, lived_years) = (
                worn.written_bytes as f64,
                worn.lived.0 as f64 * 1e-9 / YEAR_S,
            );
            let is_past = match self.terms.until {
                Until::Bytes(most) => bytes >= most,
                Until::Years(most) => lived_years >= most,
                Until::Lost(_) | Until::Bad(_) | Until::Full => false,
            };
            if is_past {
                return Err(LifeError::Past {
                    until: self.terms.until,
                    bytes,
                    lived_years,
                });
            }
        }
        DriveProfile::clone(profile).at_wear_rate(self.terms.wear_rate)?;
        match self.terms.until {
            Until::Bad(_) | Until::Full if profile.chip.failures.is_null() => Err(
                LifeError::NothingFails(self.terms.until, profile.chip.name.clone()),
            ),
            Until::Lost(_) if !lost::has_rates(profile) => Err(LifeError::NothingLost {
                until: self.terms.until,
                cells: profile.cells.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Whether the life at a rate is the life at half of it.
    fn compare(&self, lived: &Lived, half: &Lived) -> Result<(), LifeError> {
        let (what, of): (_, fn(&Lived) -> f64) = match self.terms.until {
            // What was written is the same, and the wear by it is the result.
            Until::Bytes(_) | Until::Years(_) => ("wear by this life (P/E)", |l| {
                let begin = l.samples.first().map_or(0.0, mean_wear);
                (mean_wear(l.last()) - begin) / l.corrected()
            }),
            _ => ("bytes written in this life", |l| {
                l.corrected_bytes(l.written_bytes()) - l.earlier_bytes()
            }),
        };
        let (of_rate, of_half) = (of(lived), of(half));
        match of_rate == of_half || (of_rate / of_half - 1.0).abs() <= MOST_APART {
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

/// That no log of the host lies between the jobs of `input` and the drive: a life has none. `what` stands before its name in the error.
fn without_log(input: &Input, what: &str) -> Result<(), LifeError> {
    match input {
        Input::Jobs { workload, .. } if workload.host_log().is_some() => {
            Err(LifeError::HostLog(format!("{what}{}", workload.name)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
