//! How the last pages were spread over streams, and sets of streams of the host.

use crate::observe::{MOST_HOST_STREAMS, MOST_MOVE_STREAMS};

/// How the last pages were spread over streams. The counts are halved once two superblocks were filled.
#[derive(Clone, Debug)]
pub(super) struct Share<const STREAMS: usize> {
    pub(super) pages: [u32; STREAMS],
    pub(super) all: u32,
    most: u32,
}

impl<const STREAMS: usize> Share<STREAMS> {
    /// For superblocks of `slots` slots.
    pub(super) fn new(slots: u32) -> Share<STREAMS> {
        Share {
            pages: [0; STREAMS],
            all: 0,
            most: 2 * slots,
        }
    }

    #[inline]
    pub(super) fn add(&mut self, number: u8) {
        self.pages[usize::from(number) % STREAMS] += 1;
        self.all += 1;
        if self.all >= self.most {
            self.halve();
        }
    }

    #[cold]
    fn halve(&mut self) {
        self.pages.iter_mut().for_each(|pages| *pages /= 2);
        self.all = self.pages.iter().sum();
    }

    /// Of `slots` pages that come, those that stream `number` gets.
    pub(super) fn part_of(&self, slots: i64, number: u8) -> i64 {
        let pages = i64::from(self.pages[usize::from(number)]);
        slots * pages / i64::from(self.all.max(1))
    }
}

/// The shares of the host's streams and of those of moves. Learned anew after a power cut.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    pub(super) of_host: Share<MOST_HOST_STREAMS>,
    pub(super) of_moves: Share<MOST_MOVE_STREAMS>,
}

impl Shares {
    pub(super) fn new(slots: u32) -> Shares {
        Shares {
            of_host: Share::new(slots),
            of_moves: Share::new(slots),
        }
    }
}

/// A set of streams of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct HostStreamSet(u16);

const _: () = assert!(MOST_HOST_STREAMS <= u16::BITS as usize);

impl HostStreamSet {
    pub(crate) const ALL: HostStreamSet = HostStreamSet(u16::MAX);

    pub(super) fn of(number: u8) -> HostStreamSet {
        HostStreamSet(1 << number)
    }

    pub(super) fn has(self, number: u8) -> bool {
        self.0 >> number & 1 != 0
    }

    pub(crate) fn join(&mut self, other: HostStreamSet) {
        self.0 |= other.0;
    }
}
