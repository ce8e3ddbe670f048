//! The contract of schemes of axis `stream`.

use crate::observe::{OpenedFor, Owner, PageFuture, StreamRow};

/// Where a version of a page lies, or lay until it was overwritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lay {
    /// The stream that opened its superblock, by its number; none where the superblock was filled without writes, or by a
    /// stream that is neither of the host's writes nor of moves.
    pub opened_for: Option<OpenedFor>,
    /// Slots that the host has written since it wrote the version, as far as its superblock tells: exact to the slots that
    /// came between the first and the last page of the superblock. None where the scheme does not ask
    /// ([`HostStreams::sees_ages`]), and of superblocks that were filled before the power was last on.
    pub age_slots: Option<u64>,
}

/// A page that the host writes.
#[derive(Clone, Copy, Debug)]
pub struct WrittenPage {
    /// The placement handle that the host names.
    pub placement: u16,
    /// The version that is overwritten. None of a first write, or where the scheme does not ask
    /// ([`HostStreams::sees_overwritten`]).
    pub overwritten: Option<Lay>,
    /// What is to come of the version that is written, if an oracle was told.
    pub future: PageFuture,
}

/// A page that moves inside the drive.
#[derive(Clone, Copy, Debug)]
pub struct MovedPage {
    /// What it is moved for.
    pub owner: Owner,
    /// Where it lies.
    pub lies: Lay,
    /// What is to come of it, if an oracle was told.
    pub future: PageFuture,
}

/// The trait of the axis.
pub trait HostStreams {
    /// The streams of the host's writes beside the first one.
    fn of_host(&self) -> &'static [StreamRow] {
        &[]
    }
    /// The streams of moves beside the first one.
    fn of_moves(&self) -> &'static [StreamRow] {
        &[]
    }
    /// The number of the stream of the host whose pages live shortest: what the host writes to a pool of another cell mode counts as its.
    fn hottest(&self) -> u8 {
        0
    }
    /// Whether there is anything to choose.
    fn is_on(&self) -> bool {
        true
    }
    /// Placement handles that the host may name; 0 where the scheme takes none. A handle is the number of a stream.
    fn handles(&self) -> u8 {
        0
    }
    /// Whether a write has to know where the version lies that it overwrites: a look into the map before placement.
    fn sees_overwritten(&self) -> bool {
        false
    }
    /// Whether the scheme asks how old a version is.
    fn sees_ages(&self) -> bool {
        false
    }
    /// Whether a page for whose stream no superblock can be opened goes to the nearest stream of the host that has room. If
    /// not, it waits.
    fn goes_to_neighbour(&self) -> bool {
        true
    }
    /// The number of the stream for a page that the host writes. Asked again if the write has to wait.
    fn of_write(&self, page: &WrittenPage) -> u8;
    /// The number of the stream for a page that moves.
    fn of_move(&self, page: &MovedPage) -> u8;
    /// Garbage collection begins to empty a superblock of which the first page `lay` so.
    fn cleans(&mut self, lay: &Lay) {
        let _ = lay;
    }
}
