//! Senses that have begun and whose outcome is not known yet.
//!
//! What a sense comes to follows from the cells as they are when it begins, and is asked for when its
//! data have left the die. The first that is asked for has all that have begun worked out, in the order
//! in which they began: one after another, their arithmetic and its tables stay in the nearest caches,
//! which the rest of a request would drive them out of. Whatever changes the cells has all worked out
//! first, so how many are worked out together makes no difference.

use firstread_core::Ns;

use super::Hardware;
use crate::cells::{Cells, Sensed};

impl Hardware {
    /// The sense of the read under `tag` begins, or what was sensed ahead turns out to be wanted.
    #[inline]
    pub(super) fn sense_begins(&mut self, now: Ns, tag: u32) {
        // Cells that never err need no arithmetic.
        if !self.cells.are_ideal() {
            self.ops[tag as usize].is_sensed = false;
            self.unsensed.push((now, tag));
        }
    }

    /// What the sense under `tag`, whose data have left the die now, has come to.
    #[inline]
    pub(super) fn sensed(&mut self, now: Ns, tag: u32) -> Sensed {
        if self.cells.are_ideal() {
            return self.cells.sense(now, &self.ops[tag as usize].op);
        }
        if !self.ops[tag as usize].is_sensed {
            self.sense_all();
        }
        self.ops[tag as usize].sensed
    }

    /// Works out every sense that has begun.
    #[inline(never)]
    pub(super) fn sense_all(&mut self) {
        for (began, tag) in self.unsensed.drain(..) {
            let state = &mut self.ops[tag as usize];
            state.sensed = self.cells.sense(began, &state.op);
            state.is_sensed = true;
        }
    }

    /// The cells, to look at.
    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The cells, to change.
    pub(crate) fn cells_mut(&mut self) -> &mut Cells {
        self.sense_all();
        &mut self.cells
    }
}
