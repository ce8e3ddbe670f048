//! Who writes, and who has data moved.

/// Who writes. Each stream fills a superblock of its own, so that data of one age share a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StreamId {
    /// The host.
    Host,
    /// The data mover.
    Move,
    /// Pages of the map, where not all of it is in memory.
    Map,
}

impl StreamId {
    /// Of the first `streams`, those that the data mover writes to.
    pub(crate) fn of_mover(streams: usize) -> core::slice::Iter<'static, StreamId> {
        [StreamId::Move, StreamId::Map][..streams - 1].iter()
    }
}

/// Number of streams.
pub(crate) const STREAMS: usize = 3;

/// Who has data moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// Garbage collection.
    Gc,
    /// Wear leveling.
    Wear,
    /// A change of cell mode.
    Convert,
    /// Retirement of a superblock in which a program failed.
    Retire,
    /// Refresh of data that have become hard to read.
    Refresh,
    /// Another scheme.
    Scheme,
    /// Data of a program that failed, or that a power cut has torn, written again.
    Rescue,
}

/// Number of owners.
pub const OWNERS: usize = 7;

impl Owner {
    /// All owners.
    pub const ALL: [Owner; OWNERS] = [
        Owner::Gc,
        Owner::Wear,
        Owner::Convert,
        Owner::Retire,
        Owner::Refresh,
        Owner::Scheme,
        Owner::Rescue,
    ];

    /// Key in results.
    pub const fn name(self) -> &'static str {
        match self {
            Owner::Gc => "garbage_collection",
            Owner::Wear => "wear_leveling",
            Owner::Convert => "conversion",
            Owner::Retire => "bad_block",
            Owner::Refresh => "refresh",
            Owner::Scheme => "scheme",
            Owner::Rescue => "rescue",
        }
    }
}
