//! Transfers over the channels: commands, data of programs, data of reads.

use firstread_core::flash::{SenseMode, codewords};
use firstread_core::{FlashKind, Ns};

use super::channel::{NONE, PendingTransfer};
use super::in_flight::InFlight;
use super::state::Hardware;
use super::timers::Timers;

impl Hardware {
    /// The command of an operation on `channel` is issued. Returns when it has crossed.
    #[inline(always)] // On the path of a plain read.
    pub(super) fn command(&mut self, now: Ns, channel: u16, timers: &mut Timers) -> Ns {
        let cycles = Ns(self.times.command_ns);
        if !self.times.commands_occupy {
            return now + cycles;
        }
        let (ends, shifts) = self.channels[channel as usize].command(now, cycles);
        if shifts {
            self.time_first(channel, timers);
        }
        ends
    }

    /// The read under `tag` is being sensed, until `sensed`.
    #[inline]
    pub(super) fn expect(&mut self, now: Ns, tag: u32, sensed: Ns, timers: &mut Timers) {
        self.ops[tag as usize].sensed_at = sensed;
        let transfer = self.transfer(&self.ops[tag as usize]);
        self.come(now, tag, sensed, transfer, false, timers);
    }

    /// The data of `tag` arrive at their channel at `now`: data of a program with its command, or of a read
    /// that was sensed before, perhaps from the cache register.
    #[inline(never)]
    pub(super) fn start_crossing(
        &mut self,
        now: Ns,
        tag: u32,
        is_cached: bool,
        timers: &mut Timers,
    ) {
        let state = &self.ops[tag as usize];
        let mut transfer = self.transfer(state);
        if self.times.commands_occupy && matches!(state.op.kind, FlashKind::Program { .. }) {
            transfer += Ns(self.times.command_ns);
        }
        self.come(now, tag, now, transfer, is_cached, timers);
    }

    /// The data of `tag` arrive at their channel at `at`.
    #[inline(always)] // On the path of a plain read; others come through `start_crossing`.
    fn come(
        &mut self,
        now: Ns,
        tag: u32,
        at: Ns,
        transfer: Ns,
        is_cached: bool,
        timers: &mut Timers,
    ) {
        let state = &self.ops[tag as usize];
        let (lane, channel) = (state.lane, state.channel);
        let coming = &mut self.channels[channel as usize];
        let data = PendingTransfer {
            at,
            lane,
            is_cached,
            tag,
            transfer,
        };
        if coming.expect(now, data) {
            if let Some(second) = coming.coming.get(1) {
                let (lane, is_cached) = (second.lane, second.is_cached);
                self.set_end(lane, is_cached, Ns::MAX, timers);
            }
            self.time_first(channel, timers);
        }
    }

    /// Sets the timer of the first data of `channel`, unless an operation issued now may still go before
    /// them.
    #[inline]
    pub(super) fn time_first(&mut self, channel: u16, timers: &mut Timers) {
        if channel != self.untimed
            && let Some((lane, is_cached, ends)) = self.channels[channel as usize].first_ends()
        {
            self.set_end(lane, is_cached, ends, timers);
        }
    }

    /// The data of `lane` will have crossed at `ends`, unless something goes before them; [`Ns::MAX`] if
    /// others go first.
    #[inline]
    fn set_end(&mut self, lane: u16, is_cached: bool, ends: Ns, timers: &mut Timers) {
        if is_cached {
            self.leaves(lane, ends, timers);
        } else {
            timers.set(self.decoders.len() + lane as usize, ends);
        }
    }

    /// The data of `tag`, the first of their channel, have crossed it.
    #[inline]
    pub(super) fn crossed(&mut self, now: Ns, tag: u32) {
        let state = &mut self.ops[tag as usize];
        let channel = state.channel;
        let first = self.channels[channel as usize].crossed(now);
        debug_assert_eq!(first.tag, tag, "only the timer of the first runs");
        state.transfer_starts = Ns(now.0 - first.transfer.0);
        self.untimed = channel;
        if self.recorder.is_some() {
            self.record_crossed(now, tag);
        }
    }

    /// The operations that follow the end of a transfer have been issued: sets the timer of the next
    /// transfer.
    #[inline]
    pub(crate) fn time_next(&mut self, timers: &mut Timers) {
        let channel = std::mem::replace(&mut self.untimed, NONE);
        if channel != NONE {
            self.time_first(channel, timers);
        }
    }

    /// Whether the data of the read under `tag`, which still occupies its die, are crossing their channel.
    pub(super) fn crosses(&self, now: Ns, tag: u32) -> bool {
        self.channels[self.ops[tag as usize].channel as usize].has_begun(now, tag)
    }

    /// The read under `tag`, whose data do not cross yet, has to transfer more data.
    pub(super) fn lengthen(&mut self, tag: u32, timers: &mut Timers) {
        let state = &self.ops[tag as usize];
        let (channel, transfer) = (state.channel, self.transfer(state));
        let coming = &mut self.channels[channel as usize].coming;
        if let Some(place) = coming.iter().rposition(|data| data.tag == tag) {
            coming[place].transfer = transfer;
            if place == 0 {
                self.time_first(channel, timers);
            }
        }
    }

    /// Something other than its transfer follows the sense of the read under `tag`, and the timer is now
    /// needed for that.
    pub(super) fn expect_no_more(&mut self, now: Ns, tag: u32, timers: &mut Timers) {
        let state = &self.ops[tag as usize];
        assert!(
            now < state.sensed_at,
            "a read follows another one before that has been sensed"
        );
        let (lane, sensed, channel) = (state.lane as usize, state.sensed_at, state.channel);
        let coming = &mut self.channels[channel as usize].coming;
        coming.retain(|data| data.tag != tag);
        timers.set(self.decoders.len() + lane, sensed);
        self.time_first(channel, timers);
    }

    /// Duration of the transfer of `read`, or of a program, over the channel.
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
                (u64::from(codewords(wanted)) * self.cells.codeword_bytes()
                    + self.cells.spare_bytes(wanted))
                    * senses
            }
            FlashKind::Program { block, .. } => self.program_bytes(block),
            _ => unreachable!("only reads and programs use the channel"),
        };
        Ns((bytes * self.times.channel_fs_per_byte).div_ceil(1_000_000))
    }
}
