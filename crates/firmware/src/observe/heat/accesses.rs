//! Accesses that were seen and are not counted yet.
//!
//! On a full drive nearly every access finds its counter in no cache. Counted one by one, each would be waited for. So
//! they are counted several at a time, and the processor fetches all their lines at once.

/// Most accesses that wait to be counted.
const MOST: usize = 16;

/// An access of the host to a unit.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Access(u64);

impl Access {
    /// A read of `unit`, or a write to it.
    #[inline]
    pub(super) fn new(unit: u64, writes: bool) -> Access {
        Access(unit << 1 | u64::from(writes))
    }

    #[inline]
    pub(super) fn unit(self) -> u64 {
        self.0 >> 1
    }

    /// Whether it is a write.
    #[inline]
    pub(super) fn writes(self) -> bool {
        self.0 & 1 != 0
    }
}

/// The accesses, in their order.
#[derive(Clone, Default, Debug)]
pub(super) struct Accesses {
    waiting: [Access; MOST],
    len: usize,
    /// A bit for the low bits of each unit that waits: most units that are asked for do not wait, and need no look at those
    /// that do.
    low_bits: u64,
}

impl Accesses {
    /// Adds `access`. Returns whether all have to be counted before the next one.
    #[inline]
    pub(super) fn push(&mut self, access: Access) -> bool {
        self.waiting[self.len] = access;
        self.len += 1;
        self.low_bits |= bit(access.unit());
        self.len == MOST
    }

    /// All of them, none of which waits any more.
    #[inline]
    pub(super) fn take(&mut self) -> ([Access; MOST], usize) {
        self.low_bits = 0;
        (self.waiting, core::mem::take(&mut self.len))
    }

    /// Those that wait for `unit`.
    #[inline]
    pub(super) fn of(&self, unit: u64) -> impl Iterator<Item = Access> + '_ {
        let look_at = match self.low_bits & bit(unit) {
            0 => 0,
            _ => self.len,
        };
        let waiting = self.waiting[..look_at].iter().copied();
        waiting.filter(move |access| access.unit() == unit)
    }
}

/// The bit of `unit`.
#[inline]
fn bit(unit: u64) -> u64 {
    1 << (unit % u64::from(u64::BITS))
}
