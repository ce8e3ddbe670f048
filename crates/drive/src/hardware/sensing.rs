//! Senses that were requested and whose outcome has not been computed yet.
//!
//! The outcome of a sense depends on the cells at the time of the request: when its command is issued, or
//! when the output of a speculative sense is asked for. The outcome is needed when the data have left the
//! die. When the first outcome is needed, all requested senses are computed in order: one after another their
//! arithmetic and its tables stay in the innermost caches, from which the rest of a request would evict them.
//! Whatever changes the cells first has all pending outcomes computed, so the number computed together does
//! not affect the result.

use firstread_core::flash::SenseMode;
use firstread_core::{FlashKind, Ns};

use super::state::Hardware;
use crate::cells::Cells;

impl Hardware {
    /// The sense of the read under `tag` is requested, or the output of a speculative sense.
    #[inline]
    pub(super) fn request_sense(&mut self, now: Ns, tag: u32) {
        // Cells that never err need no arithmetic: they are evaluated when their data are needed.
        if !self.cells.are_ideal() {
            self.ops[tag as usize].is_sensed = false;
            self.unsensed.push((now, tag));
            #[cfg(test)]
            if self.one_by_one {
                self.sense_all();
            }
        }
    }

    /// Makes sure that `sensed` is valid for the read under `tag`, whose data have just left the die.
    #[inline]
    pub(super) fn ensure_sensed(&mut self, now: Ns, tag: u32) {
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

    /// Computes every pending outcome.
    #[inline(never)]
    pub(super) fn sense_all(&mut self) {
        for (asked, tag) in self.unsensed.drain(..) {
            let state = &mut self.ops[tag as usize];
            state.sensed = self.cells.sense(asked, &state.op);
            state.is_sensed = true;
        }
    }

    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    pub(crate) fn cells_mut(&mut self) -> &mut Cells {
        // Senses that were requested see the cells as they are now, before the change.
        self.sense_all();
        &mut self.cells
    }
}
