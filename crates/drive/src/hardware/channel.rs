//! A channel, and the reads that will come to it.
//!
//! Data cross a channel in the order in which they come to it: those of a program when it is issued, those
//! of a read when it has been sensed. When that will be is known from the start, so it is no event: the
//! reads that are being sensed wait in the order in which they will come, and of the first one it is
//! known when it has crossed, unless other data come before. Only that end has a timer. Where other data
//! come, reads that had been sensed by then come before them, and each has its timer from then on.

use std::collections::VecDeque;

use firstread_core::flash::SenseMode;
use firstread_core::{FlashKind, Ns};

use super::{DiePhase, Hardware, InFlight};
use crate::hardware::timers::Timers;

/// A read that is being sensed.
#[derive(Clone, Copy, Debug)]
struct Coming {
    /// When it has been.
    sensed: Ns,
    /// The die or lane. Of those sensed at the same time the lower one goes first.
    lane: u16,
    tag: u32,
    /// How long its data take.
    transfer: Ns,
}

impl Coming {
    fn order(&self) -> (Ns, u16) {
        (self.sensed, self.lane)
    }
}

/// A channel.
#[derive(Debug)]
pub(super) struct Channel {
    /// When all data that have come have crossed.
    free_at: Ns,
    /// First the one that comes first.
    coming: VecDeque<Coming>,
}

impl Channel {
    /// An idle channel of `lanes` dies or lanes.
    pub(super) fn new(lanes: usize) -> Channel {
        Channel {
            free_at: Ns::ZERO,
            coming: VecDeque::with_capacity(lanes),
        }
    }

    /// Power was cut.
    pub(super) fn clear(&mut self) {
        self.free_at = Ns::ZERO;
        self.coming.clear();
    }

    /// `read` will come: its place.
    #[inline]
    fn expect(&mut self, read: Coming) -> usize {
        let mut place = self.coming.len();
        self.coming.push_back(read);
        while place > 0 && self.coming[place - 1].order() > read.order() {
            self.coming.swap(place - 1, place);
            place -= 1;
        }
        place
    }

    /// The first read that has come by `now`, when its data start to cross and when they have; where it
    /// comes just now, if that of its lane `has_passed`.
    fn come(&mut self, now: Ns, has_passed: impl Fn(u16) -> bool) -> Option<(Coming, Ns, Ns)> {
        let first = *self.coming.front()?;
        if first.sensed > now || first.sensed == now && !has_passed(first.lane) {
            return None;
        }
        self.coming.pop_front();
        let (starts, ends) = self.book(first.sensed, first.transfer);
        Some((first, starts, ends))
    }

    /// Data come at `now`, after all that have come before: when they start to cross, and when they have.
    fn book(&mut self, now: Ns, transfer: Ns) -> (Ns, Ns) {
        let starts = self.free_at.max(now);
        self.free_at = starts + transfer;
        (starts, self.free_at)
    }

    /// The read that came first has crossed: which one.
    #[inline]
    fn crossed(&mut self, now: Ns) -> Coming {
        self.free_at = now;
        let first = self.coming.pop_front();
        first.expect("its timer runs only while there is one")
    }

    /// The lane of the read that comes first, and when it has crossed if nothing comes before.
    #[inline]
    fn first_ends(&self) -> Option<(u16, Ns)> {
        let first = self.coming.front()?;
        Some((first.lane, self.free_at.max(first.sensed) + first.transfer))
    }
}

impl Hardware {
    /// The read under `tag` is being sensed, until `sensed`.
    #[inline]
    pub(super) fn expect(&mut self, tag: u32, sensed: Ns, timers: &mut Timers) {
        let transfer = self.transfer(&self.ops[tag as usize]);
        let state = &mut self.ops[tag as usize];
        state.sensed_at = sensed;
        let (lane, channel) = (state.lane, state.channel);
        let coming = &mut self.channels[channel as usize];
        let place = coming.expect(Coming {
            sensed,
            lane,
            tag,
            transfer,
        });
        if place == 0 {
            if let Some(second) = coming.coming.get(1) {
                timers.set(self.decoders.len() + second.lane as usize, Ns::MAX);
            }
            self.time_first(channel, timers);
        }
    }

    /// Sets the timer of the read that comes first to `channel`.
    #[inline]
    fn time_first(&mut self, channel: u16, timers: &mut Timers) {
        if let Some((lane, ends)) = self.channels[channel as usize].first_ends() {
            timers.set(self.decoders.len() + lane as usize, ends);
        }
    }

    /// The read that came first to the channel of `lane` has crossed it.
    #[inline]
    pub(super) fn crossed(&mut self, now: Ns, tag: u32, timers: &mut Timers) {
        let state = &mut self.ops[tag as usize];
        let channel = state.channel;
        let first = self.channels[channel as usize].crossed(now);
        debug_assert_eq!(first.tag, tag, "only the timer of the first runs");
        state.transfer_starts = Ns(now.0 - first.transfer.0);
        self.time_first(channel, timers);
    }

    /// Something else than its transfer follows when the read under `tag` has been sensed, which now has
    /// the timer.
    pub(super) fn expect_no_more(&mut self, now: Ns, tag: u32, timers: &mut Timers) {
        let state = &self.ops[tag as usize];
        assert!(
            now <= state.sensed_at,
            "a read follows another one before that has been sensed"
        );
        let (lane, sensed, channel) = (state.lane as usize, state.sensed_at, state.channel);
        let coming = &mut self.channels[channel as usize].coming;
        coming.retain(|read| read.tag != tag);
        timers.set(self.decoders.len() + lane, sensed);
        self.time_first(channel, timers);
    }

    /// The data of `tag` come to their channel: when they have crossed it. Reads that were sensed before
    /// go first.
    #[inline(never)]
    pub(super) fn book_channel(&mut self, now: Ns, tag: u32, timers: &mut Timers) -> Ns {
        let transfer = self.transfer(&self.ops[tag as usize]);
        let channel = self.ops[tag as usize].channel;
        let first_die = self.decoders.len();
        while let Some((read, starts, ends)) = self.channels[channel as usize].come(now, |lane| {
            timers.has_passed(now, first_die + lane as usize)
        }) {
            self.ops[read.tag as usize].transfer_starts = starts;
            self.dies[read.lane as usize].phase = DiePhase::Registers(read.tag);
            timers.set(first_die + read.lane as usize, ends);
        }
        let (starts, ends) = self.channels[channel as usize].book(now, transfer);
        self.ops[tag as usize].transfer_starts = starts;
        self.time_first(channel, timers);
        ends
    }

    /// How long the data of `read`, or of a program, take to cross the channel.
    #[inline]
    fn transfer(&self, read: &InFlight) -> Ns {
        let bytes = match read.op.kind {
            FlashKind::Read {
                mode: SenseMode::OnesCount { .. },
                ..
            } => 8,
            FlashKind::Read { wanted, mode, .. } => {
                let senses = match mode {
                    SenseMode::Soft3 => 2,
                    SenseMode::Soft5 => 3,
                    _ => 1,
                };
                (wanted.count_ones() as u64 * self.cells.codeword_bytes()
                    + self.cells.spare_bytes(wanted))
                    * senses
            }
            FlashKind::Program { block, .. } => self.program_bytes(block),
            _ => unreachable!("only reads and programs use the channel"),
        };
        Ns((bytes * self.times.channel_fs_per_byte).div_ceil(1_000_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// After a power cut a channel is as good as new: nothing is to come, and what comes first need not
    /// wait.
    #[test]
    fn powerloss_a_channel_is_idle_after_a_cut() {
        let mut channel = Channel::new(2);
        channel.expect(Coming {
            sensed: Ns(10),
            lane: 0,
            tag: 0,
            transfer: Ns(1_000),
        });
        assert_eq!(channel.book(Ns(0), Ns(5_000)), (Ns(0), Ns(5_000)));
        channel.clear();
        assert_eq!(channel.first_ends(), None);
        assert_eq!(channel.book(Ns(100), Ns(7)), (Ns(100), Ns(107)));
    }

    proptest! {
        /// Against first come, first served over everything that ever comes.
        #[test]
        fn model_data_cross_in_the_order_in_which_they_come(
            // After so long a read is issued, that is sensed so much later, or other data come.
            plan in prop::collection::vec((0u64..40, prop::option::of(1u64..100), 1u64..30), 1..60),
        ) {
            let mut channel = Channel::new(plan.len());
            let mut ends = vec![Ns::ZERO; plan.len()];
            let mut comes = Vec::new();
            let mut now = Ns::ZERO;
            for (i, &(after, sense, transfer)) in plan.iter().enumerate() {
                now += Ns(after);
                while let Some((_, end)) = channel.first_ends().filter(|(_, end)| *end <= now) {
                    ends[channel.crossed(end).tag as usize] = end;
                }
                // In no order.
                let (lane, transfer) = ((i as u16).wrapping_mul(40_503), Ns(transfer));
                match sense {
                    Some(sense) => {
                        let sensed = now + Ns(sense);
                        channel.expect(Coming { sensed, lane, tag: i as u32, transfer });
                        comes.push((sensed, lane, transfer));
                    }
                    None => {
                        // Of what comes just now the reads go first.
                        while let Some((read, _, end)) = channel.come(now, |_| true) {
                            ends[read.tag as usize] = end;
                        }
                        ends[i] = channel.book(now, transfer).1;
                        comes.push((now, u16::MAX, transfer));
                    }
                }
            }
            while let Some((_, end)) = channel.first_ends() {
                ends[channel.crossed(end).tag as usize] = end;
            }
            let mut order: Vec<usize> = (0..comes.len()).collect();
            order.sort_by_key(|&i| (comes[i].0, comes[i].1));
            let mut free_at = Ns::ZERO;
            for i in order {
                free_at = free_at.max(comes[i].0) + comes[i].2;
                prop_assert_eq!(ends[i], free_at, "{}: {:?}", i, &plan);
            }
        }
    }
}
