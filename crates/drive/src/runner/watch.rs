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
    /// What the firmware may have counted of the host's bytes.
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

    /// From now on until the drive is in a steady state, or the host has written `most_bytes`.
    pub(super) fn until_steady(drive: &Drive, most_bytes: u64) -> EraseWatch {
        let judge = Judge {
            superblocks: drive.profile().geometry.blocks_per_plane,
            expected: Expected {
                theory: drive.expected_amplification(),
                burn_in: None,
            },
            next: FEWEST as u64 + 1,
            most_bytes: drive
                .counters()
                .host_bytes_written
                .saturating_add(most_bytes),
            is_steady: false,
        };
        EraseWatch {
            judge: Some(judge),
            ..EraseWatch::new(drive)
        }
    }

    /// A log of the host lies above the drive.
    pub(super) fn has_log(&mut self) {
        self.has_log = true;
        if let Some(judge) = &mut self.judge {
            judge.expected.theory = None;
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
        self.is_enough(counters)
    }

    /// Whether a run may be stopped by it.
    pub(super) fn may_stop(&self) -> bool {
        self.judge.is_some()
    }

    /// Whether the run is to stop.
    #[cold]
    pub(super) fn is_enough(&self, counters: &Counters) -> bool {
        self.judge
            .as_ref()
            .is_some_and(|j| j.is_steady || counters.host_bytes_written >= j.most_bytes)
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
