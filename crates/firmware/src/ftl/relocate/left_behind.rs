//! Pages read often that a refresh has moved out of their mode, because the mode had no slot for them.
//!
//! They come back by the ordinary rule: their next reads promote them. But no page is copied from an open superblock, and where
//! the host only reads, nothing fills the one that they lie in. So it is closed before it is full, if so many of them wait there
//! that a superblock in their mode is worth it. The superblock that was refreshed is erased into that mode again.

use firstread_core::{Arena, CellMode, Ns, SuperblockId};

use crate::lower_layers::LowerLayers;
use crate::observe::SuperblockUse;
use crate::shared::Out;

/// Pages left behind are worth a superblock from this part of its slots on.
const WORTH: u32 = 8;

/// Pages of one mode that lie in one superblock. A power cut forgets them.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct LeftBehind(Option<Left>);

#[derive(Clone, Copy, Debug)]
struct Left {
    mode: CellMode,
    block: SuperblockId,
    pages: u32,
}

impl LeftBehind {
    /// A page of `mode` lies in superblock `block` now.
    pub(super) fn add(&mut self, mode: CellMode, block: SuperblockId) {
        let pages = match self.0 {
            // Those in a superblock that is full come back by themselves.
            Some(left) if left.mode == mode && left.block == block => left.pages,
            _ => 0,
        };
        self.0 = Some(Left {
            mode,
            block,
            pages: pages + 1,
        });
    }

    /// A superblock has been refreshed: closes the open superblock in which pages read often were left, if they are worth a
    /// superblock in their mode, and asks for that one.
    pub(super) fn let_come_back<M: Arena>(
        &mut self,
        now: Ns,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        let Some(left) = self.0 else {
            return;
        };
        let store = &mut lower.store;
        if WORTH * left.pages < store.shared.slots_of(left.mode) {
            return;
        }
        store.place.relocation.wanted.add(left.mode);
        if store.shared.blocks.info(left.block).usage == SuperblockUse::Open {
            store.close_early(now, left.block, ports);
        }
        // Where cleaning needs the rest of the superblock, the next refresh tries again.
        if store.shared.blocks.info(left.block).usage != SuperblockUse::Open {
            self.0 = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::tests::{Drive, Silent, drive_of, fill, geometry, setup};

    /// A drive with `pages` pages left behind in a superblock, which the host fills.
    fn left_behind(pages: u32) -> (Drive, SuperblockId) {
        let setup = setup(CellMode::Qlc, geometry(40), 1_000);
        let mut drive = drive_of(CellMode::Qlc, &setup, 0, ("cell_mode", "hotness"));
        fill(&mut drive, 16, 40);
        let store = &mut drive.lower.store;
        let block = store.place.begin_for_host(1, &mut store.shared);
        // Those of another mode, or in another superblock, do not count.
        for (mode, block) in [(CellMode::Tlc, block), (CellMode::Slc, SuperblockId(1))] {
            (0..7).for_each(|_| drive.relocate.left_behind.add(mode, block));
        }
        (0..pages).for_each(|_| drive.relocate.left_behind.add(CellMode::Slc, block));
        (drive, block)
    }

    fn let_come_back(drive: &mut Drive) {
        let (lower, ports) = (&mut drive.lower, &mut Silent::default());
        drive
            .relocate
            .left_behind
            .let_come_back(Ns::ZERO, lower, ports);
    }

    /// Pages that a refresh has left behind are worth a superblock of their mode from an eighth of its slots on: it is asked for, and the
    /// open superblock that they lie in is closed. That is done once. Where cleaning needs the rest of that superblock, the next refresh
    /// tries again.
    #[test]
    fn sequence_pages_that_a_refresh_has_left_behind_come_back() {
        for pages in [7, 8] {
            let (mut drive, _) = left_behind(pages);
            let comes_back = pages == 8;
            let_come_back(&mut drive);
            let place = &mut drive.lower.store.place;
            assert_eq!(place.relocation.wanted.has(CellMode::Slc), comes_back);
            let closed = drive.lower.store.shared.counters.superblocks_closed_early;
            assert_eq!(closed, u64::from(comes_back));
        }
        let (mut drive, block) = left_behind(8);
        drive.lower.store.shared.blocks.info_mut(block).usage = SuperblockUse::Full;
        for comes_back in [true, false] {
            let_come_back(&mut drive);
            let wanted = &mut drive.lower.store.place.relocation.wanted;
            assert_eq!(wanted.has(CellMode::Slc), comes_back);
            wanted.remove(CellMode::Slc);
        }
        assert_eq!(
            drive.lower.store.shared.counters.superblocks_closed_early,
            0
        );
        // Without headroom nothing is closed: the pages are not forgotten.
        let (mut drive, _) = left_behind(8);
        drive.lower.store.place.space.reserved += 1 << 20;
        for _ in 0..2 {
            let_come_back(&mut drive);
            let store = &mut drive.lower.store;
            assert!(store.place.relocation.wanted.has(CellMode::Slc));
            store.place.relocation.wanted.remove(CellMode::Slc);
            assert_eq!(store.shared.counters.superblocks_closed_early, 0);
        }
    }
}
