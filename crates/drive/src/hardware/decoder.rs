//! The decoder of a channel: it serves one operation after another, in order of arrival.
//!
//! The end of an operation's turn is known when it arrives. Only the end of the first one has a timer.
//! Waiting operations are linked through the table of operations in flight.

use firstread_core::Ns;

use super::in_flight::{InFlight, Turn};

/// No operation.
const NONE: u32 = u32::MAX;

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

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;
    use std::collections::VecDeque;

    /// Operations leave in the order in which they have come, each with the end of the next one's turn.
    #[test]
    fn model_a_decoder_is_a_queue() {
        for seed in 0..40 {
            let s = Stream::new(seed).named("decoder");
            let mut ops = vec![InFlight::idle(); 12];
            let (mut decoder, mut plain) = (Decoder::IDLE, VecDeque::new());
            let mut last_ends = Ns::ZERO;
            for i in 0..400 {
                let draw = s.at(i);
                let is_free = |tag: &u32| plain.iter().all(|(other, _)| other != tag);
                let free: Vec<u32> = (0..12).filter(is_free).collect();
                // Busy and idle times take turns.
                let enters = draw.at(0).below(5) < 2 + i / 20 % 2;
                if enters
                    && let Some(&tag) = free.get(draw.at(1).below(12) as usize % free.len().max(1))
                {
                    last_ends += Ns(draw.at(2).below(100));
                    let is_only = decoder.enter(&mut ops, tag, last_ends);
                    assert_eq!(is_only, plain.is_empty(), "seed {seed}, step {i}");
                    plain.push_back((tag, last_ends));
                } else if let Some((tag, _)) = plain.pop_front() {
                    let next = plain.front().map_or(Ns::MAX, |(_, ends)| *ends);
                    assert_eq!(decoder.leave(&ops), (tag, next), "seed {seed}, step {i}");
                }
                assert_eq!(decoder.is_idle(), plain.is_empty(), "seed {seed}, step {i}");
                assert_eq!(decoder.free_at(), last_ends, "seed {seed}, step {i}");
            }
        }
    }
}
