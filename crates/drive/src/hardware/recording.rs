//! What the hardware tells its recorder. All of it is apart from the path of a read on a drive that records nothing.

use firstread_core::{CellMode, DieId, FlashKind, Ns};

use super::cache_register::CachePhase;
use super::charge::Cause;
use super::die::DiePhase;
use super::in_flight::InFlight;
use super::recorder::{Recorder, Sizes};
use super::spans::Activity;
use super::state::Hardware;

impl Hardware {
    /// Records what its parts do from now on, and where the time of `commands` commands goes.
    pub(crate) fn record(&mut self, commands: usize) {
        let sizes = Sizes {
            tags: self.ops.len(),
            jobs: self.jobs as usize,
            dies: self.dies.len(),
            channels: self.channels.len(),
            commands,
            slots_per_mp_page: self.layout.slots_per_mp_page(),
            independent_planes: self.lanes.are_used(),
        };
        let marks = self.dies.iter().map(|die| die.since).collect();
        let mut recorder = Recorder::new(sizes, marks);
        // Operations that are under way already.
        for state in &self.ops {
            let is_work = matches!(
                state.op.kind,
                FlashKind::Read { .. } | FlashKind::Program { .. } | FlashKind::Erase { .. }
            );
            if is_work {
                let job = self.first_tag(state.op.tag.0);
                let place = (
                    self.lanes.planes_of(&state.op),
                    self.mode_of(&state.op.kind),
                );
                recorder.issued(state.op.queued, &state.op, place, job);
            }
        }
        for (i, die) in self.dies.iter().enumerate() {
            if die.suspended.is_some() {
                recorder.suspends(die.log.last_end(), DieId(i as u16));
            }
        }
        self.recorder = Some(Box::new(recorder));
    }

    /// The first tag of the read under `tag`.
    fn first_tag(&self, tag: u32) -> u32 {
        tag.checked_sub(self.jobs).unwrap_or(tag)
    }

    /// Cell mode of the block, after an erase.
    fn mode_of(&self, kind: &FlashKind) -> CellMode {
        match *kind {
            FlashKind::Read { cell_mode, .. } => cell_mode,
            FlashKind::Program { block, .. } => self.cells.mode(block),
            FlashKind::Erase { mode, .. } => mode,
            _ => CellMode::Slc,
        }
    }

    /// The operation under `tag` is issued and occupies its lane, unless it is sensed after another one.
    #[cold]
    #[inline(never)]
    pub(super) fn record_issue(&mut self, now: Ns, tag: u32) {
        let InFlight { op, lane, .. } = self.ops[tag as usize];
        let place = (self.lanes.planes_of(&op), self.mode_of(&op.kind));
        let job = self.first_tag(tag);
        if let Some(recorder) = &mut self.recorder {
            recorder.issued(now, &op, place, job);
            if op.after.is_none() {
                recorder.occupied(now, lane);
            }
        }
    }

    /// The read under `tag` has been issued; its command has crossed at `starts`.
    #[cold]
    #[inline(never)]
    pub(super) fn record_read(&mut self, now: Ns, tag: u32, starts: Ns) {
        self.record_issue(now, tag);
        self.record_command(tag, starts);
        let job = self.first_tag(tag);
        let InFlight {
            op,
            lane,
            breakdown,
            ..
        } = self.ops[tag as usize];
        let breakdown = match op.class.serves_host() {
            true => breakdown.or_else(|| self.ops[job as usize].breakdown),
            false => None,
        };
        let (Some(recorder), Some(breakdown)) = (&mut self.recorder, breakdown) else {
            return;
        };
        let breakdown = &self.breakdowns[breakdown];
        if breakdown.first_queued == op.queued {
            recorder.read_begins(job, op.queued);
        }
        recorder.read_waited(job, now, &self.dies[lane as usize].log);
        let command = recorder.command_of(tag);
        let cause = Cause::Transfer.in_step(op.class);
        let step = recorder.step_of(tag);
        recorder.read_spent(job, command, cause, Cause::Transfer, step);
    }

    /// The command of the operation under `tag` has crossed its channel at `ends`.
    #[cold]
    #[inline(never)]
    pub(super) fn record_command(&mut self, tag: u32, ends: Ns) {
        let channel = self.ops[tag as usize].channel;
        let command = Ns(ends.0.saturating_sub(self.times.command_ns));
        let occupies = self.times.commands_occupy;
        if let Some(recorder) = &mut self.recorder {
            recorder.commands(tag, command);
            if occupies {
                recorder.channel(channel, (command, ends), Activity::Command, tag);
            }
        }
    }

    /// The array of the operation under `tag` did `activity` until `until`.
    #[inline]
    pub(super) fn record_array(&mut self, tag: u32, until: Ns, activity: Activity) {
        if let Some(recorder) = &mut self.recorder {
            recorder.array(self.ops[tag as usize].lane, tag, until, activity);
        }
    }

    /// The read under `tag` has been sensed, and another follows.
    #[inline]
    pub(super) fn record_sense(&mut self, now: Ns, tag: u32) {
        if self.recorder.is_some() {
            self.record_sensing(now, now, tag);
        }
    }

    /// The array of the read under `tag` waited for its command, sensed until `sensed`, and waited for the channel since
    /// then until `until`.
    #[cold]
    #[inline(never)]
    pub(super) fn record_sensing(&mut self, sensed: Ns, until: Ns, tag: u32) {
        let lane = self.ops[tag as usize].lane;
        if let Some(recorder) = &mut self.recorder {
            let command = recorder.command_of(tag);
            recorder.array(lane, tag, command.min(until), Activity::WaitsForChannel);
            recorder.array(lane, tag, sensed.min(until), Activity::Sense);
            recorder.array(lane, tag, until, Activity::WaitsForChannel);
        }
    }

    /// Commands that wait for the read under `tag` have spent their time until `until` on `phase`.
    #[inline]
    pub(super) fn record_part(&mut self, until: Ns, tag: u32, phase: Cause) {
        let job = self.first_tag(tag);
        let class = self.ops[tag as usize].op.class;
        if let Some(recorder) = &mut self.recorder
            && class.serves_host()
        {
            let step = recorder.step_of(tag);
            recorder.read_spent(job, until, phase.in_step(class), phase, step);
        }
    }

    /// The data of the operation under `tag` have crossed their channel.
    #[cold]
    #[inline(never)]
    pub(super) fn record_crossed(&mut self, now: Ns, tag: u32) {
        let InFlight {
            op,
            lane,
            channel,
            sensed_at,
            transfer_starts,
            ..
        } = self.ops[tag as usize];
        let is_program = matches!(op.kind, FlashKind::Program { .. });
        let is_cached = matches!(self.dies[lane as usize].phase, DiePhase::Cache(_));
        if !is_cached {
            self.record_sensing(sensed_at, transfer_starts, tag);
            let crosses = match is_program {
                true => Activity::DataIn,
                false => Activity::DataOut,
            };
            self.record_array(tag, now, crosses);
        }
        if let Some(recorder) = &mut self.recorder {
            let time = (transfer_starts, now);
            recorder.channel(channel, time, Activity::Transfer, tag);
            recorder.arrived(now, tag);
        }
        if !is_program {
            self.record_part(sensed_at, tag, Cause::Sense);
            self.record_part(now, tag, Cause::Transfer);
        }
    }

    /// The read under `tag` has been decoded.
    #[cold]
    #[inline(never)]
    pub(super) fn record_decoded(&mut self, now: Ns, tag: u32) {
        self.record_part(now, tag, Cause::Decode);
        let InFlight {
            channel,
            transfer_starts,
            ..
        } = self.ops[tag as usize];
        let streams_since = self.times.decode_streams.then_some(transfer_starts);
        let job = self.first_tag(tag);
        if let Some(recorder) = &mut self.recorder {
            recorder.decoded(now, channel, tag, streams_since);
            recorder.read_decoded(job, now);
        }
    }

    /// The program or erase under `tag` has been on the array of `die` until `until`.
    #[inline]
    pub(super) fn record_work(&mut self, until: Ns, tag: u32) {
        let activity = match self.ops[tag as usize].op.kind {
            FlashKind::Erase { .. } => Activity::Erase,
            _ => Activity::Program,
        };
        self.record_array(tag, until, activity);
    }

    /// What goes on at `now` is recorded until then: power is cut, or nothing follows.
    #[cold]
    pub(crate) fn record_rest(&mut self, now: Ns) {
        let Some(mut recorder) = self.recorder.take() else {
            return;
        };
        for (i, die) in self.dies.iter().enumerate() {
            let lane = i as u16;
            let mut seen = |tag: u32, until: Ns, activity| {
                // A read of several planes is recorded on the first of its lanes.
                if self.ops[tag as usize].lane == lane {
                    recorder.array_seen(lane, tag, until.min(now), activity, until < now);
                }
            };
            match die.phase {
                DiePhase::Idle | DiePhase::Cache(CachePhase::Ending(..)) => {}
                DiePhase::Array(tag) | DiePhase::Registers(tag) => {
                    let state = &self.ops[tag as usize];
                    let channel = &self.channels[state.channel as usize];
                    let crosses = channel.crosses_since(now, tag);
                    match state.op.kind {
                        FlashKind::Read { .. } => {
                            seen(tag, state.sensed_at, Activity::Sense);
                            let since = crosses.unwrap_or(now);
                            seen(tag, since, Activity::WaitsForChannel);
                            seen(tag, now, Activity::DataOut);
                        }
                        FlashKind::Program { .. } if die.phase == DiePhase::Registers(tag) => {
                            let since = crosses.unwrap_or(now);
                            seen(tag, since, Activity::WaitsForChannel);
                            seen(tag, now, Activity::DataIn);
                        }
                        FlashKind::Erase { .. } => seen(tag, now, Activity::Erase),
                        _ => seen(tag, now, Activity::Program),
                    }
                }
                DiePhase::Stopping(tag) => {
                    let told = die.suspending_since.unwrap_or(now);
                    let work = match self.ops[tag as usize].op.kind {
                        FlashKind::Erase { .. } => Activity::Erase,
                        _ => Activity::Program,
                    };
                    seen(tag, told, work);
                    seen(tag, now, Activity::Suspending);
                }
                DiePhase::Aborting(tag) => seen(tag, now, Activity::Reset),
                DiePhase::Cache(CachePhase::Turning(tag)) => seen(tag, now, Activity::Turn),
                DiePhase::Cache(CachePhase::Sensing(tag)) => seen(tag, now, Activity::Sense),
                DiePhase::Cache(CachePhase::Sensed(tag)) => seen(tag, now, Activity::Holds),
            }
            if let Some((tag, _)) = die.suspended
                && !matches!(die.phase, DiePhase::Stopping(_))
            {
                recorder.was_suspended(now, DieId(lane), tag, false);
            }
        }
        self.recorder = Some(recorder);
    }
}
