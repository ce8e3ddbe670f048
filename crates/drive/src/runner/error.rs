//! Why a run cannot go on.

use firstread_core::Status;
use firstread_workload::WorkloadError;
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
    /// A pass of a burn-in has written nothing.
    #[error(
        "the workload writes nothing, so a burn-in by it has no write amplification to wait for: leave the burn-in \
         out, or burn in by a workload that writes"
    )]
    NothingWritten,
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
