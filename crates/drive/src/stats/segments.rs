//! A run cut at its erases of superblocks: what the host wrote, what flash was programmed with and what was moved for
//! whom, in each segment.

use firstread_firmware::ftl::Ahead;
use firstread_firmware::observe::{Counters, OWNERS, Owner};

/// Fewest segments that an interval is made of.
pub const FEWEST: usize = 20;
/// With so many segments, two at a time become one.
const MOST: usize = 4 * FEWEST;

/// Bytes the host wrote, and bytes programmed to flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// Bytes that the host wrote, parts of slots as such.
    pub host_bytes: u64,
    /// Bytes of programmed slots, whoever wrote them.
    pub flash_bytes: u64,
}

impl Written {
    /// What `counters` say of slots of `slot_bytes`.
    pub fn of(counters: &Counters, slot_bytes: u32) -> Written {
        Written {
            host_bytes: counters.host_bytes_written,
            flash_bytes: counters.slots_programmed * u64::from(slot_bytes),
        }
    }

    /// Flash bytes over host bytes; none where the host wrote nothing. Over a whole run it counts
    /// data that are still in a buffer, and moves of victims that are not erased yet, as if they were
    /// all.
    pub fn ratio(self) -> Option<f64> {
        (self.host_bytes > 0).then(|| self.flash_bytes as f64 / self.host_bytes as f64)
    }
}

/// What was written and moved in a segment, or until a time, in bytes.
///
/// Cleaning goes on between the openings of the host's superblocks, pauses before them, and is ahead of the host by up to a victim
/// more or less than on average. All that is counted as if it were used up: what the host could write, with what had to be moved for it.
/// So a segment is of the victims that were chosen in it, whatever part of them was moved in the next one. Over a run the
/// differences add up to that of its end from its start.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Segment {
    /// Written by the host.
    pub host: f64,
    /// Programmed to flash.
    pub flash: f64,
    /// Moved, by whom ([`Owner::ALL`]).
    pub moved: [f64; OWNERS],
}

impl Segment {
    fn of(counters: &Counters, host_bytes: u64, ahead: Ahead, slot_bytes: u32) -> Segment {
        let bytes = |slots: f64| slots * f64::from(slot_bytes);
        let (host, moves) = (bytes(ahead.host_slots as f64), bytes(ahead.moves as f64));
        let mut moved = counters.slots_moved_by.map(|slots| bytes(slots as f64));
        moved[Owner::Gc as usize] += moves;
        Segment {
            host: host_bytes as f64 + host,
            flash: bytes(counters.slots_programmed as f64) + host + moves,
            moved,
        }
    }

    fn since(self, before: Segment) -> Segment {
        let mut moved = self.moved;
        let then = &before.moved;
        moved.iter_mut().zip(then).for_each(|(n, b)| *n -= b);
        Segment {
            host: self.host - before.host,
            flash: self.flash - before.flash,
            moved,
        }
    }

    pub(crate) fn plus(self, more: Segment) -> Segment {
        let mut moved = self.moved;
        moved.iter_mut().zip(&more.moved).for_each(|(n, m)| *n += m);
        Segment {
            host: self.host + more.host,
            flash: self.flash + more.flash,
            moved,
        }
    }
}

/// A run as its erases cut it, from its first erase on.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    slot_bytes: u32,
    /// Erases before the run, and until now.
    erases_before: u64,
    erases: u64,
    /// What was written at the end of the last segment, and erases until then.
    last: Option<(Segment, u64)>,
    /// Erases of a segment.
    each: u64,
    all: Vec<Segment>,
}

impl Segments {
    /// A run that begins when the firmware has counted `counters`.
    pub(crate) fn new(counters: &Counters, slot_bytes: u32) -> Segments {
        Segments {
            slot_bytes,
            erases_before: counters.erases,
            erases: counters.erases,
            last: None,
            each: 1,
            all: Vec::with_capacity(MOST),
        }
    }

    /// Whether superblocks have been erased since the last [`Segments::note`].
    #[inline]
    pub(crate) fn is_behind(&self, counters: &Counters) -> bool {
        counters.erases != self.erases
    }

    /// Superblocks have been erased. The host has written so many bytes, all in all: those that `counters` has, or, where the host
    /// keeps a log, those of its applications. `ahead` is asked how far cleaning is ahead of it.
    #[cold]
    pub(crate) fn note(
        &mut self,
        counters: &Counters,
        host_bytes: u64,
        ahead: impl FnOnce() -> Ahead,
    ) {
        self.erases = counters.erases;
        let until = self.last.map_or(0, |(_, erases)| erases + self.each);
        if self.erases < until {
            return;
        }
        let now = Segment::of(counters, host_bytes, ahead(), self.slot_bytes);
        let Some((began, _)) = self.last else {
            self.last = Some((now, self.erases));
            return;
        };
        self.all.push(now.since(began));
        self.last = Some((now, self.erases));
        if self.all.len() == MOST {
            for i in 0..MOST / 2 {
                self.all[i] = self.all[2 * i].plus(self.all[2 * i + 1]);
            }
            self.all.truncate(MOST / 2);
            self.each *= 2;
        }
    }

    /// All segments that have ended, the first one first.
    pub(crate) fn all(&self) -> &[Segment] {
        &self.all
    }
    /// Superblocks erased in each.
    pub(crate) fn erases_each(&self) -> u64 {
        self.each
    }
    /// Superblocks erased in the run.
    pub(crate) fn erases(&self) -> u64 {
        self.erases - self.erases_before
    }
}
