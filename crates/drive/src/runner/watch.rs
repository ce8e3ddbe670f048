//! Watches the erases of a run, and stops it in the steady state.

use firstread_firmware::ftl::Ahead;
use firstread_firmware::observe::Counters;

use crate::drive::Drive;
use crate::stats::amplification::{Amplification, Demands, Expected, FEWEST, NARROW, NEAR, WIDEST};
use crate::stats::segments::Segments;
use crate::stats::turnover::{Left, Turnover};

/// A watch over the erases of one run or of several.
pub(super) struct EraseWatch {
    segments: Segments,
    /// What superblocks held when the segments began.
    turnover: Turnover,
    judge: Option<Judge>,
    /// Whether writes amplify in a log of the host first: what theory expects of the drive is not what comes of both.
    has_log: bool,
}

/// Stops a run that is in a steady state, or has written enough.
#[derive(Clone, Copy)]
struct Judge {
    expected: Expected,
    /// Whether what the drive held at first has been turned over; the segments began then.
    is_turned: bool,
    /// Number of erases at which the next test is made.
    next: u64,
    /// Number of erases at which superblocks are looked at next.
    next_look: u64,
    /// Bytes that the host may write, or the applications above its log; and those that were written, all in all, when it may write no
    /// more.
    allowed_bytes: u64,
    most_bytes: u64,
    is_steady: bool,
}

impl Judge {
    /// What is demanded of the segments of `drive`, with so much left of what it held.
    fn demands(&self, drive: &Drive, left: Left) -> Demands {
        Demands {
            superblocks: drive.profile().geometry.blocks_per_plane,
            left,
            expected: self.expected,
            widest: NARROW,
            near: 2.0 * NARROW,
        }
    }

    /// Whether the state is known to be none that a fill leaves: from a turnover, or because it is what theory expects.
    fn knows(&self, found: &Amplification) -> bool {
        let theory = self.expected.theory.filter(|_| !self.is_turned);
        self.is_turned
            || theory
                .zip(found.estimate)
                .is_some_and(|(theory, e)| e.is_near(theory, 2.0 * NARROW))
    }
}

/// Erases before the first test.
const FIRST_TEST: u64 = FEWEST as u64 + 1;

impl EraseWatch {
    /// From now on, and without stopping the run.
    pub(super) fn new(drive: &Drive) -> EraseWatch {
        let slot_bytes = drive.profile().geometry.slot_bytes;
        EraseWatch {
            segments: Segments::new(drive.counters(), slot_bytes),
            turnover: Turnover::new(drive.blocks(), drive.counters().host_bytes_written),
            judge: None,
            has_log: false,
        }
    }

    /// From now on until the drive is in a steady state, or the host has written `allowed_bytes`, or the applications above its log.
    pub(super) fn until_steady(drive: &Drive, allowed_bytes: u64) -> EraseWatch {
        let judge = Judge {
            expected: Expected {
                theory: drive.expected_amplification(),
                burn_in: None,
            },
            is_turned: false,
            next: FIRST_TEST,
            next_look: 0,
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

    /// From now on until the host has written `bytes`.
    pub(super) fn until_written(drive: &Drive, bytes: u64) -> EraseWatch {
        let mut watch = EraseWatch::until_steady(drive, bytes);
        if let Some(judge) = &mut watch.judge {
            (judge.next, judge.next_look) = (u64::MAX, u64::MAX);
        }
        watch
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
    pub(super) fn note(&mut self, drive: &Drive, host_bytes: u64) -> bool {
        // Bytes of applications above a log are others than those of the drive.
        let ahead = || match self.has_log {
            true => Ahead::default(),
            false => drive.cleaned_ahead(),
        };
        self.segments.note(drive.counters(), host_bytes, ahead);
        let written = drive.counters().host_bytes_written;
        self.turnover
            .note(drive.blocks(), written, drive.capacity_bytes());
        self.judge(drive);
        self.is_enough(host_bytes)
    }

    /// Judges the segments, if a test is due, and begins them anew when the drive has been turned over for the first time.
    fn judge(&mut self, drive: &Drive) {
        let erases = self.segments.erases();
        let Some(mut judge) = self.judge.filter(|judge| !judge.is_steady) else {
            return;
        };
        if erases >= judge.next {
            // A test that is repeated often enough passes by chance.
            judge.next = erases + erases.div_ceil(4);
            let found = Amplification::of(&self.segments, judge.demands(drive, self.left(drive)));
            judge.is_steady = found.not_steady.is_none() && judge.knows(&found);
        }
        if !judge.is_steady && !judge.is_turned && erases >= judge.next_look {
            let superblocks = drive.profile().geometry.blocks_per_plane;
            judge.next_look = erases + u64::from(superblocks).div_ceil(16);
            if self.left(drive).is_small() {
                (judge.is_turned, judge.next) = (true, FIRST_TEST);
                let anew = EraseWatch::new(drive);
                (self.segments, self.turnover) = (anew.segments, anew.turnover);
            }
        }
        self.judge = Some(judge);
    }

    /// What is left of what the drive held when the segments began.
    fn left(&self, drive: &Drive) -> Left {
        let geometry = &drive.profile().geometry;
        self.turnover.left(drive.blocks(), geometry)
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

    /// Write amplification of the run so far; of a burn-in, since the drive was turned over for the first time.
    pub(super) fn amplification(&self, drive: &Drive, burn_in: Option<f64>) -> Amplification {
        let expected = Expected {
            theory: drive.expected_amplification().filter(|_| !self.has_log),
            burn_in,
        };
        let left = self.left(drive);
        let demands = match &self.judge {
            Some(judge) => judge.demands(drive, left),
            None => Demands {
                superblocks: drive.profile().geometry.blocks_per_plane,
                left,
                expected,
                widest: WIDEST,
                near: NEAR,
            },
        };
        Amplification::of(&self.segments, demands)
    }
}
