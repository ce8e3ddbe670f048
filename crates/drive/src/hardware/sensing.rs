//! Senses that were asked for and whose outcome is not known yet.
//!
//! What a sense comes to follows from the cells as they are when it is asked for: when its command is
//! given, or the request for the output of what was sensed ahead. It is needed when its data have left
//! the die. The first that is needed has all worked out that were asked for, in that order: one after
//! another, their arithmetic and its tables stay in the nearest caches, which the rest of a request would
//! drive them out of. Whatever changes the cells has all worked out first, so how many are worked out
//! together makes no difference.

use firstread_core::flash::SenseMode;
use firstread_core::{FlashKind, Ns};

use super::Hardware;
use crate::cells::Cells;

impl Hardware {
    /// The sense of the read under `tag` is asked for, or the output of what was sensed ahead.
    #[inline]
    pub(super) fn ask_for_sense(&mut self, now: Ns, tag: u32) {
        // Cells that never err need no arithmetic: they are looked at when their data are needed.
        if !self.cells.are_ideal() {
            self.ops[tag as usize].is_sensed = false;
            self.unsensed.push((now, tag));
            #[cfg(test)]
            if self.one_by_one {
                self.sense_all();
            }
        }
    }

    /// Sees that `sensed` is known of the read under `tag`, whose data have left the die now.
    #[inline]
    pub(super) fn see_to_sense(&mut self, now: Ns, tag: u32) {
        let state = &mut self.ops[tag as usize];
        if !self.cells.are_ideal() {
            if !state.is_sensed {
                self.sense_all();
            }
            return;
        }
        match state.op.kind {
            FlashKind::Read {
                wanted,
                mode: SenseMode::Hard | SenseMode::Soft3 | SenseMode::Soft5,
                ..
            } => state.sensed = self.cells.without_errors(wanted),
            _ => state.sensed = self.cells.sense(now, &state.op),
        }
    }

    /// Works out every sense that was asked for.
    #[inline(never)]
    pub(super) fn sense_all(&mut self) {
        for (asked, tag) in self.unsensed.drain(..) {
            let state = &mut self.ops[tag as usize];
            state.sensed = self.cells.sense(asked, &state.op);
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
