//! Write streams, and owners of moves.

/// Write streams. Each stream fills a superblock of its own, so that data of similar age share a superblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StreamId {
    /// Host writes.
    Host,
    /// Moves.
    Move,
    /// Map pages, if part of the map lies on flash.
    Map,
}

impl StreamId {
    /// The streams that moves write to, among the first `streams` streams.
    pub(crate) fn of_mover(streams: usize) -> core::slice::Iter<'static, StreamId> {
        [StreamId::Move, StreamId::Map][..streams - 1].iter()
    }
}

/// Number of streams.
pub(crate) const STREAMS: usize = 3;

/// The owner of a move: what the data are moved for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// Garbage collection.
    Gc,
    /// Wear leveling.
    Wear,
    /// A change of cell mode.
    Convert,
    /// Retirement of a superblock after a failed program.
    Retire,
    /// Refresh of data that have become hard to read.
    Refresh,
    /// Another scheme.
    Scheme,
    /// Rewriting data whose program failed or was torn by a power cut.
    Rewrite,
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
        Owner::Rewrite,
    ];

    /// Key of the owner in results.
    pub const fn name(self) -> &'static str {
        match self {
            Owner::Gc => "garbage_collection",
            Owner::Wear => "wear_leveling",
            Owner::Convert => "conversion",
            Owner::Retire => "bad_block",
            Owner::Refresh => "refresh",
            Owner::Scheme => "scheme",
            Owner::Rewrite => "rewrite",
        }
    }
}
