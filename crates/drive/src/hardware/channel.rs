//! A channel, and the reads that will come to it.
//!
//! Data cross a channel in the order in which they come to it: those of a program when it is issued, those
//! of a read when it has been sensed. When that will be is known from the start, so it is no event: the
//! reads that are being sensed wait in the order in which they will come, and of the first one it is
//! known when it has crossed, unless other data come before. Only that end has a timer.

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
        let coming = &mut self.channels[channel as usize];
        let first = coming.coming.pop_front();
        let first = first.expect("its timer runs only while there is one");
        debug_assert_eq!(first.tag, tag, "only the timer of the first runs");
        coming.free_at = now;
        state.transfer_starts = Ns(now.0 - first.transfer.0);
        self.time_first(channel, timers);
    }

    /// Something else than its transfer follows when the read under `tag` has been sensed, which now has
    /// the timer.
    pub(super) fn expect_no_more(&mut self, tag: u32, timers: &mut Timers) {
        let state = &self.ops[tag as usize];
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
        let state = &mut self.channels[channel as usize];
        while let Some(&first) = state.coming.front()
            && let timer = self.decoders.len() + first.lane as usize
            && (first.sensed < now || first.sensed == now && timers.has_passed(now, timer))
        {
            state.coming.pop_front();
            let starts = state.free_at.max(first.sensed);
            state.free_at = starts + first.transfer;
            self.ops[first.tag as usize].transfer_starts = starts;
            self.dies[first.lane as usize].phase = DiePhase::Registers(first.tag);
            timers.set(timer, state.free_at);
        }
        let starts = now.max(state.free_at);
        let ends = starts + transfer;
        state.free_at = ends;
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
