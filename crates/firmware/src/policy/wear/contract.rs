//! The contract of schemes of axis `wear`.

use firstread_core::SuperblockId;

use crate::observe::{ModeSet, PageHeat, StreamRow, StreamUse, SuperblockView};

/// The stream of cold data, for schemes that level wear by moving them ([`Wear::cold`]).
pub(super) const COLD: &[StreamRow] = &[StreamRow {
    name: "cold",
    takes: StreamUse::Cold,
}];

/// The same, and the stream of pages read often, for schemes that take them along ([`Wear::takes_along`]).
pub(super) const COLD_AND_READ_OFTEN: &[StreamRow] = &[
    COLD[0],
    StreamRow {
        name: "read_often",
        takes: StreamUse::ReadOften,
    },
];

/// The trait of the axis.
pub trait Wear {
    /// The streams that the scheme declares: one for cold data, if it names any and does not leave them to the stream of
    /// all moves, and one for pages read often, if it takes them along. Its record has
    /// [`firstread_core::params::Need::OwnStream`] or [`firstread_core::params::Need::OwnStreamIf`] for each.
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
    /// The free superblock in one of `modes` to open next for the stream of pages read often.
    fn open_for_read_often(
        &mut self,
        blocks: SuperblockView<'_>,
        modes: ModeSet,
    ) -> Option<SuperblockId> {
        self.open(blocks, modes, false)
    }
    /// A page of this heat is moved by garbage collection or wear leveling. Returns whether it goes to the stream of
    /// pages read often, which the scheme declares.
    fn takes_along(&self, heat: PageHeat) -> bool {
        let _ = heat;
        false
    }
    /// A superblock of cold data to be moved for wear leveling, if any.
    fn cold(&mut self, blocks: SuperblockView<'_>) -> Option<SuperblockId> {
        let _ = blocks;
        None
    }
}
