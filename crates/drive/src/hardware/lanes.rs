//! The lanes of the dies: one for each plane that reads independently.

use firstread_core::flash::{ALL_PLANES, planes_of};
use firstread_core::{DieId, FlashKind, FlashOp};

/// The lanes of the dies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    dies: u16,
    /// Lanes per die; zero if planes do not read independently.
    planes: u16,
    per_page: u32,
}

impl Lanes {
    /// For `dies` dies of `planes` planes, with `per_page` codewords per page.
    pub(super) const fn new(independent: bool, dies: u16, planes: u8, per_page: u32) -> Lanes {
        Lanes {
            dies,
            planes: if independent { planes as u16 } else { 0 },
            per_page,
        }
    }

    /// Whether there are any lanes.
    #[inline]
    pub(super) const fn are_used(&self) -> bool {
        self.planes > 0
    }

    /// Number of dies and lanes.
    pub(super) const fn count(&self) -> usize {
        self.dies as usize * (1 + self.planes as usize)
    }

    /// The planes that `op` occupies.
    pub(super) fn planes_of(&self, op: &FlashOp) -> u8 {
        match op.kind {
            FlashKind::Read { wanted, .. } => planes_of(wanted, self.per_page),
            _ => ALL_PLANES,
        }
    }

    /// The lanes of `planes` of `die`.
    pub(super) fn of(self, die: DieId, planes: u8) -> impl Iterator<Item = usize> {
        let first = (self.dies + die.0 * self.planes) as usize;
        let all = 0..self.planes as usize;
        all.filter(move |plane| planes >> plane & 1 != 0)
            .map(move |plane| first + plane)
    }
}
