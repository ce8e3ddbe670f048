//! Why a run cannot go on.
#![allow(missing_docs, reason = "an error's message says what its values are")]

use firstread_core::Status;
use firstread_workload::{Location, WorkloadError};
use thiserror::Error;

use crate::drive::{CutRefused, SubmitError, TemperatureRefused};
use crate::payload::StaleRead;

/// Why a run cannot go on.
#[derive(Debug, Error)]
pub enum RunError {
    /// The workload is wrong, or does not fit the drive.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The drive does not take a request.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// A phase asks for a temperature that the drive cannot have.
    #[error(transparent)]
    Temperature(#[from] TemperatureRefused),
    /// The power cannot be cut.
    #[error(transparent)]
    PowerCut(#[from] CutRefused),
    /// A scheme asks what the load will read and write, and that is not known before it runs.
    #[error("`{scheme}` has to know all requests of the load before they are issued: {why}")]
    Foresight {
        /// The scheme, as `axis=name`.
        scheme: String,
        /// Why they are not known.
        why: ForesightError,
    },
    /// A pass of a burn-in has written nothing.
    #[error(
        "the workload writes nothing, so a burn-in by it has no write amplification to wait for: leave the burn-in \
         out, or burn in by a workload that writes"
    )]
    NothingWritten,
    /// Whoever watches the run has ended it ([`Observer`](super::Observer)), and knows why.
    #[error("the run was ended by who watches it")]
    EndedByObserver,
    /// A request is due after the last event that there may be ([`Drive::LATEST`](crate::Drive::LATEST)).
    #[error("a request is due after the end of simulated time (146 years)")]
    AfterTheEnd,
    /// A request ended with an unexpected status: a defect of the simulator.
    #[error("a request ended with {0:?}")]
    Failed(Status),
    /// A read returned something else than the last version written: a defect of the firmware.
    #[error("defect: a read returned stale data: {0:?}")]
    Stale(StaleRead),
    /// Requests are in flight but no event is left: a defect of the simulator.
    #[error("defect: {0} requests are in flight and no event is due")]
    Stuck(u32),
}

/// Why the requests of a load are not known before it runs.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ForesightError {
    /// Nothing but its run time ends a job.
    #[error(
        "{place}: job `{job}` ends by its run time alone: end it by `number_ios` or `io_size`, or limit the requests of the run"
    )]
    Endless {
        /// Where the job is written.
        place: Location,
        job: String,
    },
    /// A job may end, or end others, before all of its requests have been issued.
    #[error(
        "{place}: job `{job}` has `{option}`, which may end it, or others, before all requests are issued: leave it out, and end \
         jobs by `number_ios` or `io_size`"
    )]
    EndsSooner {
        /// Where the job is written.
        place: Location,
        job: String,
        option: &'static str,
    },
    /// A log of the host lies between the jobs and the drive.
    #[error(
        "a log of the host (`host_log`) decides only as it goes on where what a job asks for lies"
    )]
    HostLog,
    /// A trace was not given a second time.
    #[error(
        "the records of the trace were given once, and have to be given twice (`Host::foretell_by`)"
    )]
    OneReading,
    /// The load is too long.
    #[error(
        "the load has more versions of pages than 2^31, or reads of more pages in parts of it than 2^32: limit the requests of \
         the run"
    )]
    TooMany,
}
