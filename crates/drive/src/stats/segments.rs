//! A run cut at its erases of superblocks: what the host wrote, what flash was programmed with and what was moved for
//! whom, in each segment.

use firstread_firmware::observe::{Counters, OWNERS};

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

/// What was written and moved in a segment, or until a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Segment {
    pub written: Written,
    /// Bytes moved, by whom ([`firstread_firmware::observe::Owner::ALL`]).
    pub moved_bytes: [u64; OWNERS],
}

impl Segment {
    fn of(counters: &Counters, host_bytes: u64, slot_bytes: u32) -> Segment {
        Segment {
            written: Written {
                host_bytes,
                ..Written::of(counters, slot_bytes)
            },
            moved_bytes: counters.slots_moved_by.map(|n| n * u64::from(slot_bytes)),
        }
    }

    fn since(self, before: Segment) -> Segment {
        let mut moved_bytes = self.moved_bytes;
        let then = &before.moved_bytes;
        moved_bytes.iter_mut().zip(then).for_each(|(n, b)| *n -= b);
        Segment {
            written: Written {
                host_bytes: self.written.host_bytes - before.written.host_bytes,
                flash_bytes: self.written.flash_bytes - before.written.flash_bytes,
            },
            moved_bytes,
        }
    }

    fn plus(self, more: Segment) -> Segment {
        let mut moved_bytes = self.moved_bytes;
        let other = &more.moved_bytes;
        moved_bytes.iter_mut().zip(other).for_each(|(n, m)| *n += m);
        Segment {
            written: Written {
                host_bytes: self.written.host_bytes + more.written.host_bytes,
                flash_bytes: self.written.flash_bytes + more.written.flash_bytes,
            },
            moved_bytes,
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
    /// keeps a log, those of its applications.
    #[cold]
    pub(crate) fn note(&mut self, counters: &Counters, host_bytes: u64) {
        self.erases = counters.erases;
        let now = Segment::of(counters, host_bytes, self.slot_bytes);
        let Some((began, erases)) = self.last else {
            self.last = Some((now, self.erases));
            return;
        };
        if self.erases - erases < self.each {
            return;
        }
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
