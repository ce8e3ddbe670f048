//! Superblocks by their wear: what several schemes look for. Of superblocks that are worn alike, the one of the lowest
//! number is found.

use firstread_core::SuperblockId;

use super::contract::free;
use crate::observe::{ModeSet, SuperblockRow, SuperblockUse, SuperblockView};

/// The free superblock in one of `modes` with the fewest P/E cycles.
pub(super) fn least_worn_free(blocks: SuperblockView<'_>, modes: ModeSet) -> Option<SuperblockId> {
    let least = free(blocks, modes).min_by_key(|(block, row)| (row.pe_cycles, block.0));
    least.map(|(block, _)| block)
}

/// The free superblock in one of `modes` with the fewest P/E cycles but one. If only one is free, that.
pub(super) fn second_least_worn_free(
    blocks: SuperblockView<'_>,
    modes: ModeSet,
) -> Option<SuperblockId> {
    let least = least_worn_free(blocks, modes)?;
    let others = free(blocks, modes).filter(|(block, _)| *block != least);
    let second = others.min_by_key(|(block, row)| (row.pe_cycles, block.0));
    Some(second.map_or(least, |(block, _)| block))
}

/// The free superblock in one of `modes` with the most P/E cycles.
pub(super) fn most_worn_free(blocks: SuperblockView<'_>, modes: ModeSet) -> Option<SuperblockId> {
    let most = free(blocks, modes).max_by_key(|(block, row)| (row.pe_cycles, u32::MAX - block.0));
    most.map(|(block, _)| block)
}

/// The superblock with data with the fewest P/E cycles: its data have been written least often, so they are the
/// coldest. Only full ones whose data are not being moved already.
pub(super) fn coldest(blocks: SuperblockView<'_>) -> Option<(SuperblockId, &SuperblockRow)> {
    let at_rest = blocks
        .iter()
        .filter(|(_, row)| row.usage == SuperblockUse::Full && !row.leaving);
    at_rest.min_by_key(|(block, row)| (row.pe_cycles, block.0))
}

/// The superblocks that can be worn further.
pub(super) fn alive(blocks: SuperblockView<'_>) -> impl Iterator<Item = &SuperblockRow> {
    let rows = blocks.iter().map(|(_, row)| row);
    rows.filter(|row| row.usage != SuperblockUse::Bad)
}
