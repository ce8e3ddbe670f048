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
