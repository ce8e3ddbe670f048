//! The data of the drive. What lies in its cells and buffers are [`Stamps`]: the logical page and the version of
//! each slot, from which every read is checked. What the host makes of them is its [`Payload`].

mod slots;
mod stamps;
mod versions;

use firstread_core::CommandId;

pub use stamps::StaleRead;
pub(crate) use stamps::Stamps;
pub(crate) use versions::MOST_PAGES;

/// Which data a slot holds: logical page and version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stamp {
    /// The logical page: byte address divided by the size of a slot (`geometry.slot_bytes`).
    pub page: u64,
    /// The number of the write that made the data, counted from 1 over all slots written and all trims; 0 for
    /// what the drive was filled with. Of two versions of a page the higher one is the later one.
    pub version: u64,
}

/// The host's side of the data: it sees each slot as the slot crosses the link.
///
/// The drive itself keeps stamps alone, so a payload need not follow data through buffers, moves and power cuts:
/// it keeps the bytes of each stamp for as long as it wants them. A simulation has no bytes, and `()` is its
/// payload, of which nothing is left once it is compiled.
///
/// A write of a part of a slot makes a new version of the whole slot. Its other sectors are those of the page's
/// version before, in the order in which [`Payload::write`] and [`Payload::trim`] tell of versions.
pub trait Payload {
    /// Slot `slot` of write `command`, counted from the first that the command touches, has crossed into the
    /// drive: it is `stamp` from now on.
    fn write(&mut self, command: CommandId, slot: u32, stamp: Stamp);
    /// Slot `slot` of read `command` crosses to the host: what `found` names, or zeros where the page was never
    /// written or is trimmed. The read may end with an error yet; then its data are void.
    fn read(&mut self, command: CommandId, slot: u32, found: Option<Stamp>);
    /// Pages from `first` until before `end` read as zeros from `version` on.
    fn trim(&mut self, first: u64, end: u64, version: u64);
}

/// No bytes: what a read returns is checked by its stamp.
impl Payload for () {
    #[inline(always)]
    fn write(&mut self, _: CommandId, _: u32, _: Stamp) {}
    #[inline(always)]
    fn read(&mut self, _: CommandId, _: u32, _: Option<Stamp>) {}
    #[inline(always)]
    fn trim(&mut self, _: u64, _: u64, _: u64) {}
}
