//! Why there is no life.

use firstread_drive::profile::WearRateRefused;
use firstread_drive::untimed::{CommandError, UntimedError};
use thiserror::Error;

use super::bounds::{MOST_APART, MOST_ENDURANCES};
use super::until::Until;

/// Why there is no result of a life.
#[derive(Debug, Error)]
pub enum LifeError {
    /// The load writes nothing.
    #[error(
        "{0} writes nothing: a drive that is not written to does not wear, and its life has no end; take a load with writes"
    )]
    ReadOnlyLoad(String),
    /// The load of a probe reads nothing.
    #[error(
        "--probe {0}: reads nothing, and a probe tells how long reads take; take a load with reads (what it writes besides \
         is written to a copy of the drive and does not wear the one that lives)"
    )]
    ProbeReadsNothing(String),
    /// A log of the host lies between the jobs and the drive.
    #[error(
        "{0}: a life has no log of the host, and the drive would be written as if `host_log` were not there: take it out of \
         the job file"
    )]
    HostLog(String),
    /// Jobs of the load of a probe do not overlap.
    #[error(
        "--probe {0}: its jobs are several groups (`stonewall`), and a percentile is of jobs that run together: give the load \
         that is to be measured alone (what comes before it: ramp_time, or --precondition)"
    )]
    ProbeOfGroups(String),
    /// The life that this one goes on from has passed its end.
    #[error(
        "--until {until}: the life that --wear-from names has {:.4} TB written in {lived_years:.2} years already; name a later end",
        bytes / 1e12
    )]
    Past {
        /// The end asked for.
        until: Until,
        /// Bytes that were written.
        bytes: f64,
        lived_years: f64,
    },
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
        mean_pe_cycles: f64,
    },
    /// The wear rate is not possible on this drive.
    #[error(transparent)]
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
