//! The decoder of a channel: it serves one operation after another, in order of arrival.
//!
//! The end of an operation's turn is known when it arrives. Only the end of the first one has a timer.
//! Waiting operations are linked through the table of operations in flight.

use firstread_core::Ns;

use super::in_flight::{InFlight, Turn};

/// No operation.
const NONE: u32 = u32::MAX;

/// A decoder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder {
    first: u32,
    last: u32,
    free_at: Ns,
}

impl Decoder {
    /// A decoder with nothing to do.
    pub(super) const IDLE: Decoder = Decoder {
        first: NONE,
        last: NONE,
        free_at: Ns::ZERO,
    };

    /// When everything in its queue will be decoded.
    pub(super) fn free_at(&self) -> Ns {
        self.free_at
    }

    /// Whether it has nothing to do.
    pub(super) fn is_idle(&self) -> bool {
        self.first == NONE
    }

    /// `tag` arrives; its turn ends at `ends`. Returns true if it is the only operation, so that its end
    /// needs the timer.
    #[inline]
    pub(super) fn enter(&mut self, ops: &mut [InFlight], tag: u32, ends: Ns) -> bool {
        ops[tag as usize].turn = Turn { next: NONE, ends };
        self.free_at = ends;
        let last = core::mem::replace(&mut self.last, tag);
        if self.first == NONE {
            self.first = tag;
            return true;
        }
        ops[last as usize].turn.next = tag;
        false
    }

    /// The turn of the first operation has ended. Returns this operation, and the end of the next one's turn;
    /// [`Ns::MAX`] if there is none.
    #[inline]
    pub(super) fn leave(&mut self, ops: &[InFlight]) -> (u32, Ns) {
        let tag = self.first;
        debug_assert_ne!(
            tag, NONE,
            "its timer runs only while there is something to do"
        );
        self.first = ops[tag as usize].turn.next;
        let ends = match self.first {
            NONE => Ns::MAX,
            next => ops[next as usize].turn.ends,
        };
        (tag, ends)
    }
}
