//! The contract of schemes of axis `wear`.

use firstread_core::SuperblockId;

use crate::observe::{ModeSet, StreamRow, StreamUse, SuperblockRow, SuperblockUse, SuperblockView};

/// The stream of cold data, for schemes that level wear by moving them ([`Wear::cold`]).
pub(super) const COLD: &[StreamRow] = &[StreamRow {
    name: "cold",
    takes: StreamUse::Cold,
}];

/// The trait of the axis.
pub trait Wear {
    /// The streams that the scheme declares: one for cold data, if it names any. A scheme that declares it needs
    /// [`firstread_core::params::Need::OwnStream`].
    fn streams(&self) -> &'static [StreamRow] {
        &[]
    }
    /// The free superblock in one of `modes` to open next: for the stream of cold data if `cold` is set, else for
    /// other data.
    fn open(
        &mut self,
        blocks: SuperblockView<'_>,
        modes: ModeSet,
        cold: bool,
    ) -> Option<SuperblockId>;
    /// A superblock of cold data to be moved for wear leveling, if any.
    fn cold(&mut self, blocks: SuperblockView<'_>) -> Option<SuperblockId> {
        let _ = blocks;
        None
    }
}

/// Superblocks in one of `modes` that can be opened.
pub(super) fn free(
    blocks: SuperblockView<'_>,
    modes: ModeSet,
) -> impl Iterator<Item = (SuperblockId, &SuperblockRow)> {
    blocks
        .iter()
        .filter(move |(_, row)| row.usage == SuperblockUse::Free && modes.has(row.mode))
}
