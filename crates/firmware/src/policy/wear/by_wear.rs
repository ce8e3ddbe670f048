//! Superblocks by their wear: what several schemes look for. Of superblocks that are worn alike, the one of the lowest
//! number is found.

use firstread_core::SuperblockId;

use crate::observe::{ModeSet, SuperblockInfo, SuperblockUse, SuperblockView};

/// The free superblock in one of `modes` with the fewest P/E cycles but one. If only one is free, that.
pub(super) fn second_least_worn_free(
    blocks: SuperblockView<'_>,
    modes: ModeSet,
) -> Option<SuperblockId> {
    let least = blocks.least_worn_free(modes, None)?;
    blocks.least_worn_free(modes, Some(least)).or(Some(least))
}

/// The superblock with data with the fewest P/E cycles: its data have been written least often, so they are the
/// coldest. Only full ones whose data are not being moved already.
pub(super) fn coldest(blocks: SuperblockView<'_>) -> Option<(SuperblockId, &SuperblockInfo)> {
    let least = blocks.least_worn_at_rest()?;
    Some((least, blocks.info(least)))
}

/// The superblocks that can be worn further.
pub(super) fn alive(blocks: SuperblockView<'_>) -> impl Iterator<Item = &SuperblockInfo> {
    let infos = blocks.iter().map(|(_, info)| info);
    infos.filter(|info| info.usage != SuperblockUse::Bad)
}
