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

    /// The unit.
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
}

impl Accesses {
    /// Adds `access`. Returns whether all have to be counted before the next one.
    #[inline]
    pub(super) fn push(&mut self, access: Access) -> bool {
        self.waiting[self.len] = access;
        self.len += 1;
        self.len == MOST
    }

    /// All of them, none of which waits any more.
    #[inline]
    pub(super) fn take(&mut self) -> ([Access; MOST], usize) {
        (self.waiting, core::mem::take(&mut self.len))
    }

    /// Those that wait.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = Access> + '_ {
        self.waiting[..self.len].iter().copied()
    }
}
