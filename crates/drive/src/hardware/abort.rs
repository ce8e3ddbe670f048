//! Reads that are ended before their data cross the channel, because something else needs their die.

use firstread_core::{FlashEvent, Ns, Tag};

use super::die::DiePhase;
use super::spans::Activity;
use super::state::{Done, Hardware};
use super::timers::Timers;

impl Hardware {
    /// The firmware ends the read `victim`: its sense is reset. Data that have been sensed stay in the page register, which
    /// the next sense overwrites. A read whose data already cross the channel, or have crossed it, goes on.
    pub(super) fn abort(&mut self, now: Ns, victim: u32, timers: &mut Timers) {
        let state = &self.ops[victim as usize];
        let (lane, channel, sensed) = (state.lane as usize, state.channel, state.sensed_at);
        if self.dies[lane].phase != DiePhase::Array(victim) || self.crosses(now, victim) {
            return;
        }
        // Even a sense that is reset disturbs its block, and the next read may have its tag.
        self.sense_all();
        let coming = &mut self.channels[channel as usize].coming;
        coming.retain(|data| data.tag != victim);
        self.time_first(channel, timers);
        let mut free = now;
        if self.recorder.is_some() {
            self.record_sensing(sensed, now, victim);
        }
        if sensed > now {
            let told = self.command(now, channel, timers);
            self.record_command(victim, told);
            free = sensed.min(told + Ns(self.times.reset_ns));
        }
        self.dies[lane].phase = DiePhase::Aborting(victim);
        timers.set(self.decoders.len() + lane, free);
    }

    /// The read under `tag` was ended, and its planes are free.
    pub(super) fn aborted(&mut self, now: Ns, tag: u32) -> Done {
        self.record_array(tag, now, Activity::Reset);
        self.free_die(now, tag);
        Done::Event(FlashEvent::Aborted { tag: Tag(tag) })
    }
}
