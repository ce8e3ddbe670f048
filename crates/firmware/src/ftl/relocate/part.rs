//! Parts of what moves: pages that stay on one page type, so that one sense has as many of them as before.

use firstread_core::{Arena, Buf, Lpn};

use crate::ftl::place::Wish;
use crate::lower_layers::LowerLayers;
use crate::shared::Out;

/// Multi-plane pages of one part at most.
const MOST_MP_PAGES: u32 = 4;

/// Pages that move one after another, are neighbours in the host's address space and are read about as often. They go to one page
/// type, so that one sense has as many of them as before. A part may go on with the next move.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Part {
    wish: Option<Wish>,
    /// Slot of the multi-plane page behind the last page whose wish this is.
    end: u32,
    /// The page behind that one, how hot the last one is by itself, and pages that the part may still have.
    next: u64,
    last: Option<Wish>,
    left: u32,
}

impl Part {
    /// How hot page `lpn` is, in the first of `slots` of a move whose data begin at `buffer`. Slots of a move come in ascending order.
    #[inline]
    pub(super) fn wish_of<M: Arena>(
        &mut self,
        lpn: Lpn,
        slots: u64,
        buffer: Buf,
        lower: &LowerLayers<M>,
        ports: &impl Out,
    ) -> Option<Wish> {
        if slots.trailing_zeros() >= self.end {
            *self = self.with(lpn, slots, buffer, lower, ports);
        }
        self.wish
    }

    /// All slots of the move have been written. The part may go on with the next move.
    pub(super) fn move_has_ended(&mut self) {
        self.end = 0;
    }

    /// The part of page `lpn`, in the first of `slots` of a move whose data begin at `buffer`: this one, if it goes on there, or
    /// another one. It goes on as far as the next page is a neighbour and is read about as often. Pages that were written meanwhile
    /// leave gaps.
    #[inline(never)] // Most drives place in order.
    fn with<M: Arena>(
        self,
        lpn: Lpn,
        slots: u64,
        buffer: Buf,
        lower: &LowerLayers<M>,
        ports: &impl Out,
    ) -> Part {
        let store = &lower.store;
        let are_alike =
            |a: Option<Wish>, b| a.zip(b).is_some_and(|(a, b): (Wish, Wish)| a.is_alike(b));
        let mp_page = store.shared.layout.slots_per_mp_page();
        let first = slots.trailing_zeros();
        let mut end = first + 1;
        let mut last = store.wish_of_move(lpn, 1);
        let goes_on = self.left > 0
            && (self.next..self.next + u64::from(mp_page)).contains(&lpn.0)
            && are_alike(self.last, last);
        let mut left = slots & slots.wrapping_sub(1);
        while left != 0 {
            let slot = left.trailing_zeros();
            left &= left - 1;
            let neighbour = Lpn(lpn.0 + u64::from(slot - first));
            let spare = ports.buffered(buffer.slot(slot));
            let of_next = store.wish_of_move(neighbour, 1);
            if spare.is_none_or(|spare| spare.lpn != neighbour) || !are_alike(last, of_next) {
                break;
            }
            (end, last) = (slot + 1, of_next);
        }
        let pages = end - first;
        let (wish, left) = match goes_on {
            true => (self.wish, self.left),
            false => (store.wish_of_move(lpn, pages), MOST_MP_PAGES * mp_page),
        };
        Part {
            wish,
            end,
            next: lpn.0 + u64::from(pages),
            last,
            left: left.saturating_sub(pages),
        }
    }
}
