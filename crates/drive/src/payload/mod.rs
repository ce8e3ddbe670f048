//! The data of the drive. Cells and buffers hold [`Stamps`] instead of bytes: the logical page and the
//! version of each slot. Every read is checked against them. The bytes that the host has written are its
//! [`Payload`].

mod slots;
mod stamps;
mod versions;

use firstread_core::CommandId;

pub use stamps::StaleRead;
pub(crate) use stamps::Stamps;
pub(crate) use versions::MOST_PAGES;

/// The contents of a slot: logical page and version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stamp {
    /// The logical page: byte address divided by the size of a slot (`geometry.slot_bytes`).
    pub page: u64,
    /// Number of the write that made the data, counted from 1 over all slots written and all trims; 0 for the
    /// initial fill. The higher of two versions of a page is the later one.
    pub version: u64,
}

/// The host's side of the data: it sees each slot when the slot crosses the link.
///
/// The drive itself keeps only stamps, so a payload need not follow data through buffers, moves and power
/// cuts: it keeps the bytes of each stamp for as long as it wants. A simulation has no bytes: its payload is
/// `()`, which compiles to nothing.
///
/// A partial write of a slot makes a new version of the whole slot. Its other sectors keep the contents of
/// the page's previous version. The order of versions is that of the calls of [`Payload::write`] and
/// [`Payload::trim`].
pub trait Payload {
    /// Slot `slot` of write `command`, counted from the command's first slot, has crossed into the drive. Its
    /// stamp is `stamp`.
    fn write(&mut self, command: CommandId, slot: u32, stamp: Stamp);
    /// Slot `slot` of read `command` crosses to the host: the data named by `found`, or zeros if the page was
    /// never written or is trimmed. The read may still end with an error; then its data are void.
    fn read(&mut self, command: CommandId, slot: u32, found: Option<Stamp>);
    /// Pages from `first` to `end` (exclusive) read as zeros from `version` on.
    fn trim(&mut self, first: u64, end: u64, version: u64);
}

/// No bytes: reads are checked by their stamps alone.
impl Payload for () {
    #[inline(always)]
    fn write(&mut self, _: CommandId, _: u32, _: Stamp) {}
    #[inline(always)]
    fn read(&mut self, _: CommandId, _: u32, _: Option<Stamp>) {}
    #[inline(always)]
    fn trim(&mut self, _: u64, _: u64, _: u64) {}
}
