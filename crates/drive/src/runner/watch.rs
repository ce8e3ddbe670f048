//! Watches the erases of a run, and stops it in the steady state.

use firstread_firmware::observe::Counters;

use crate::drive::Drive;
use crate::stats::amplification::{Amplification, Expected, FEWEST};
use crate::stats::segments::Segments;

/// A watch over the erases of one run or of several.
pub(super) struct EraseWatch {
    segments: Segments,
    judge: Option<Judge>,
    /// Whether writes amplify in a log of the host first: what theory expects of the drive is not what comes of both.
    has_log: bool,
}

/// Stops a run that is in a steady state, or has written enough.
struct Judge {
    superblocks: u32,
    expected: Expected,
    /// Number of erases at which the next test is made.
    next: u64,
    /// Bytes that the host may write, or the applications above its log; and those that were written, all in all, when it may write no
    /// more.
    allowed_bytes: u64,
    most_bytes: u64,
    is_steady: bool,
}

impl EraseWatch {
    /// From now on, and without stopping the run.
    pub(super) fn new(drive: &Drive) -> EraseWatch {
        let slot_bytes = drive.profile().geometry.slot_bytes;
        EraseWatch {
            segments: Segments::new(drive.counters(), slot_bytes),
            judge: None,
            has_log: false,
        }
    }

    /// From now on until the drive is in a steady state, or the host has written `allowed_bytes`, or the applications above its log.
    pub(super) fn until_steady(drive: &Drive, allowed_bytes: u64) -> EraseWatch {
        let judge = Judge {
            superblocks: drive.profile().geometry.blocks_per_plane,
            expected: Expected {
                theory: drive.expected_amplification(),
                burn_in: None,
            },
            next: FEWEST as u64 + 1,
            allowed_bytes,
            most_bytes: drive
                .counters()
                .host_bytes_written
                .saturating_add(allowed_bytes),
            is_steady: false,
        };
        EraseWatch {
            judge: Some(judge),
            ..EraseWatch::new(drive)
        }
    }

    /// A log of the host lies above the drive, and applications have written so many bytes to it, all in all.
    pub(super) fn has_log(&mut self, application_bytes: u64) {
        let is_known = std::mem::replace(&mut self.has_log, true);
        if let Some(judge) = self.judge.as_mut().filter(|_| !is_known) {
            judge.expected.theory = None;
            judge.most_bytes = application_bytes.saturating_add(judge.allowed_bytes);
        }
    }

    #[inline]
    pub(super) fn is_behind(&self, counters: &Counters) -> bool {
        self.segments.is_behind(counters)
    }

    /// Superblocks have been erased; so many bytes were written, all in all, by the host or the applications above its log. Whether the run
    /// is to stop.
    #[cold]
    pub(super) fn note(&mut self, counters: &Counters, host_bytes: u64) -> bool {
        self.segments.note(counters, host_bytes);
        let erases = self.segments.erases();
        let Some(judge) = &mut self.judge else {
            return false;
        };
        if erases >= judge.next && !judge.is_steady {
            // A test that is repeated often enough passes by chance.
            judge.next = erases + erases.div_ceil(4);
            let found = Amplification::of(&self.segments, judge.superblocks, judge.expected);
            judge.is_steady = found.not_steady.is_none();
        }
        self.is_enough(host_bytes)
    }

    /// Whether a run may be stopped by it.
    pub(super) fn may_stop(&self) -> bool {
        self.judge.is_some()
    }

    /// Whether the run is to stop. So many bytes were written, as in [`Self::note`].
    #[cold]
    pub(super) fn is_enough(&self, host_bytes: u64) -> bool {
        self.judge
            .as_ref()
            .is_some_and(|j| j.is_steady || host_bytes >= j.most_bytes)
    }

    /// Whether it has found the drive in a steady state.
    pub(super) fn is_steady(&self) -> bool {
        self.judge.as_ref().is_some_and(|judge| judge.is_steady)
    }

    /// Write amplification of the run so far.
    pub(super) fn amplification(&self, drive: &Drive, burn_in: Option<f64>) -> Amplification {
        let expected = Expected {
            theory: drive.expected_amplification().filter(|_| !self.has_log),
            burn_in,
        };
        let superblocks = drive.profile().geometry.blocks_per_plane;
        Amplification::of(&self.segments, superblocks, expected)
    }
}
