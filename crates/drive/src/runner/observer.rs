//! Who watches a run: each request as it completes, and what the firmware has counted by a time.

use firstread_core::Ns;
use firstread_firmware::observe::Counters;

use crate::commands::Completed;
use crate::hardware::spans::Span;

/// A request of a run that has completed.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// The completion. Its `queue` is the job, counted from 0, or 0 of a trace.
    pub completed: &'a Completed<'a>,
    /// Whether the reports of the run count it: a request of a ramp is not counted, nor is a write that a drive refused
    /// which is to be read alone.
    pub is_measured: bool,
}

/// Whoever watches a run. It changes nothing of the run but that it may end it.
pub trait Observer {
    /// Whether it watches at all. The loop of a run is compiled without what it would be told otherwise.
    const WATCHES: bool = true;

    /// A request has completed; completions come in the order of their times. False to end the run.
    fn completed(&mut self, request: &Observed<'_>) -> bool;

    /// The time of the drive's clock at which it asks next what the firmware has counted; [`Ns::MAX`] for never.
    fn counters_due(&self) -> Ns {
        Ns::MAX
    }

    /// What the firmware has counted before `until`, which is [`Observer::counters_due`] or later: nothing happened
    /// between. Every completion before [`Observer::counters_due`] that has not been told yet follows.
    fn counters(&mut self, until: Ns, counters: &Counters) {
        let _ = (until, counters);
    }

    /// What parts of a drive that records it ([`Drive::record`](crate::Drive::record)) have done since the last call, roughly
    /// in the order of their ends.
    fn spans(&mut self, spans: &[Span]) {
        let _ = spans;
    }
}

/// Nobody watches.
impl Observer for () {
    const WATCHES: bool = false;

    #[inline(always)]
    fn completed(&mut self, _: &Observed<'_>) -> bool {
        true
    }
}
