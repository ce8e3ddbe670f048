//! Write streams, who fills them, and owners of moves.

use firstread_core::CellMode;

use super::regions::RegionId;

/// A write stream of a drive, by the index of its row. Each stream fills a superblock of its own, so that data of
/// similar age share a superblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StreamId(pub(crate) u8);

impl StreamId {
    /// Host writes, on every drive.
    pub(crate) const HOST: StreamId = StreamId(0);
    /// Moves, on every drive.
    pub(crate) const MOVE: StreamId = StreamId(1);
}

/// Who fills a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Writer {
    /// The host alone, with the writes that no declared region takes.
    Host,
    /// Relocation, with data that it moves: the rest of the stream's superblock is headroom.
    Mover,
    /// Whoever finds a slot, and nobody waits for one: copies of pages that the host has read, what the host writes to a pool of another
    /// cell mode, and all data of a region that a scheme declares, the host's among them.
    Copy,
    /// The map cache, and relocation with map pages that it moves.
    Map,
}

/// The pages that a stream takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamUse {
    /// Pages that the host writes, where no scheme says otherwise.
    Host,
    /// Pages that the host writes and a scheme of axis `stream` puts into the stream of the host with this number, from 1 on.
    HostStream(u8),
    /// Data that move, where no scheme says otherwise.
    Moved,
    /// Data that move and that a scheme of axis `stream` puts into the stream of moves with this number, from 1 on.
    MoveStream(u8),
    /// Map pages, written back or moved.
    Map,
    /// Pages copied into a cell mode after a host read. Superblocks in this mode are opened for the stream alone.
    Promoted(CellMode),
    /// Pages that the host writes to a pool of this cell mode. Superblocks in this mode are opened for such pages and for those
    /// copied into the mode.
    Written(CellMode),
    /// Pages rewritten in the drive's own mode after a host read.
    Refreshed,
    /// Cold data that wear leveling moves.
    Cold,
    /// Pages read often that garbage collection and wear leveling take along.
    ReadOften,
    /// All data of a region beside the drive's own: of the host, moved, or copied after a host read. Superblocks of the
    /// region are opened for other streams only where they are not kept.
    Region(RegionId),
}

/// Streams of the host's writes, at most.
pub const MOST_HOST_STREAMS: usize = 16;

/// Streams of moves among which axis `stream` chooses, at most.
pub const MOST_MOVE_STREAMS: usize = 16;

/// Which of the streams among which axis `stream` chooses a superblock was opened for, by its number: 0 is that of every drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenedFor {
    /// For writes of the host.
    Host(u8),
    /// For moves.
    Moves(u8),
}

/// A stream: one that every drive has, or one that a scheme declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamRow {
    /// Key of the stream in results.
    pub name: &'static str,
    /// Pages that the stream is for: placement finds the stream by them.
    pub takes: StreamUse,
}

impl StreamRow {
    /// The streams of every drive.
    pub(crate) const OF_EVERY_DRIVE: [&'static StreamRow; 2] = [
        &StreamRow {
            name: "host",
            takes: StreamUse::Host,
        },
        &StreamRow {
            name: "moves",
            takes: StreamUse::Moved,
        },
    ];

    /// The stream of the map, on a drive whose map lies on flash.
    pub(crate) const OF_MAP: &'static StreamRow = &StreamRow {
        name: "map",
        takes: StreamUse::Map,
    };

    /// Its number among those of the host's writes or of moves, if it is one of them.
    pub(crate) fn number(&self) -> Option<OpenedFor> {
        match self.takes {
            StreamUse::Host => Some(OpenedFor::Host(0)),
            StreamUse::HostStream(number) => Some(OpenedFor::Host(number)),
            StreamUse::Moved => Some(OpenedFor::Moves(0)),
            StreamUse::MoveStream(number) => Some(OpenedFor::Moves(number)),
            _ => None,
        }
    }

    /// Who fills the stream.
    pub(crate) fn writer(&self) -> Writer {
        match self.takes {
            StreamUse::Host | StreamUse::HostStream(_) => Writer::Host,
            StreamUse::Moved
            | StreamUse::MoveStream(_)
            | StreamUse::Cold
            | StreamUse::ReadOften => Writer::Mover,
            StreamUse::Map => Writer::Map,
            StreamUse::Promoted(_)
            | StreamUse::Written(_)
            | StreamUse::Refreshed
            | StreamUse::Region(_) => Writer::Copy,
        }
    }

    /// Whether data that move go to the rest of the stream's superblock as a last resort.
    pub(crate) fn is_last_resort(&self) -> bool {
        matches!(self.writer(), Writer::Host | Writer::Copy)
    }

    /// Cell mode of its superblocks, if that has a pool of its own; none for the drive's own mode, of which all
    /// streams open superblocks.
    pub(crate) fn mode(&self) -> Option<CellMode> {
        match self.takes {
            StreamUse::Promoted(mode) | StreamUse::Written(mode) => Some(mode),
            _ => None,
        }
    }
}

/// Write buffer of a stream, or of several that share it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamBuffer {
    /// Key of the stream in results.
    pub name: &'static str,
    /// Superwordlines: wordlines over all dies.
    pub superwordlines: u32,
    /// Slot buffers of these superwordlines.
    pub slots: u32,
}

/// A set of cell modes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ModeSet(u8);

impl ModeSet {
    /// The set of `mode` alone.
    pub fn of(mode: CellMode) -> ModeSet {
        ModeSet(1 << mode as u8)
    }

    /// Whether `mode` is in the set.
    #[inline]
    pub fn has(self, mode: CellMode) -> bool {
        self.0 >> mode as u8 & 1 != 0
    }

    /// Whether the set has no mode.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The modes that are not in the set.
    pub fn complement(self) -> ModeSet {
        ModeSet(!self.0)
    }

    /// Puts `mode` into the set, where it may be already.
    pub fn add(&mut self, mode: CellMode) {
        self.0 |= 1 << mode as u8;
    }

    /// Takes `mode` out of the set, if it is there.
    pub fn remove(&mut self, mode: CellMode) {
        self.0 &= !(1 << mode as u8);
    }

    /// The first mode of the set, fewest bits first.
    pub fn first(self) -> Option<CellMode> {
        CellMode::ALL.into_iter().find(|mode| self.has(*mode))
    }
}

impl FromIterator<CellMode> for ModeSet {
    fn from_iter<I: IntoIterator<Item = CellMode>>(modes: I) -> ModeSet {
        let mut set = ModeSet::default();
        modes.into_iter().for_each(|mode| set.add(mode));
        set
    }
}

/// The owner of a move: what the data are moved for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// Garbage collection, for the host or within a declared region.
    Gc,
    /// Wear leveling, of the superblock that its scheme calls cold.
    Wear,
    /// A change of cell mode.
    Convert,
    /// Retirement of a superblock after a failed program.
    Retire,
    /// Refresh of data that have become hard to read.
    Refresh,
    /// Promotion into another cell mode.
    Promotion,
    /// Another scheme.
    Scheme,
    /// Rewriting data whose program failed or was torn by a power cut.
    Rewrite,
    /// Migration into another region after a host read.
    Migration,
    /// Room in a declared region, which is full: its data leave for the drive's own region.
    MakeRoom,
    /// Room in a pool of another cell mode that the host writes to: what is still valid leaves for the drive's own mode.
    Destage,
}

/// Bins of a counter with one bin for each owner.
pub const OWNERS: usize = 11;

impl Owner {
    /// Every owner, in the order of the counters by owner.
    pub const ALL: [Owner; OWNERS] = [
        Owner::Gc,
        Owner::Wear,
        Owner::Convert,
        Owner::Retire,
        Owner::Refresh,
        Owner::Promotion,
        Owner::Scheme,
        Owner::Rewrite,
        Owner::Migration,
        Owner::MakeRoom,
        Owner::Destage,
    ];

    /// Key of the owner in results.
    pub const fn name(self) -> &'static str {
        match self {
            Owner::Gc => "garbage_collection",
            Owner::Wear => "wear_leveling",
            Owner::Convert => "conversion",
            Owner::Retire => "bad_block",
            Owner::Refresh => "refresh",
            Owner::Promotion => "promotion",
            Owner::Scheme => "scheme",
            Owner::Rewrite => "rewrite",
            Owner::Migration => "migration",
            Owner::MakeRoom => "return",
            Owner::Destage => "destage",
        }
    }
}

impl crate::format::Record for StreamId {
    fn transfer(&mut self, cursor: &mut crate::format::Cursor<'_>) {
        self.0.transfer(cursor);
    }
}

impl crate::format::Blank for StreamId {
    const BLANK: StreamId = StreamId::HOST;
}

crate::format::tags!(Owner {
    Gc = 0,
    Wear = 1,
    Convert = 2,
    Retire = 3,
    Refresh = 4,
    Promotion = 5,
    Scheme = 6,
    Rewrite = 7,
    Migration = 8,
    MakeRoom = 9,
    Destage = 10,
});
