//! Background reads: the reads that axis `read_levels` asks for by itself.
//!
//! A scheme has one of them in flight, or several ([`ReadLevels::most_probes`]). No two of these lie on one channel, so
//! that data of host reads never wait for those of more than one. They start as all background work does: on a die
//! that is idle and for which no host read waits, and after a long wait behind host reads in a turn of one sense. If they
//! give way ([`ReadLevels::probes_give_way`]) and have not taken a turn, a host read that comes for their die ends them.

use firstread_core::{DieId, Ns, Priority};

use super::Read;
use super::by_mode::{Asked, ByMode};
use crate::observe::ProbeResult;
use crate::policy::read_levels::{AnyReadLevels, ReadLevels};
use crate::policy::retry::AnyRetry;
use crate::schedule::Purpose;
use crate::shared::{Out, Shared};

/// What the firmware of a drive has learned that outlives the data: for the firmware that meets the next data.
#[derive(Clone, Debug)]
pub struct Learned {
    levels: ByMode<AnyReadLevels>,
    retry: ByMode<AnyRetry>,
}

impl Read {
    /// Power is on and the drive is filled: starts background work.
    pub(crate) fn power_up(&mut self, now: Ns, shared: &Shared) {
        self.levels.start(now, &shared.blocks);
        self.levels_due = self.levels.due();
        self.has_started = true;
    }

    /// As [`Read::power_up`], on a drive that was erased and filled again since it `learned`.
    pub(crate) fn power_up_again(&mut self, now: Ns, learned: Learned, shared: &Shared) {
        (self.levels, self.retry) = (learned.levels, learned.retry);
        self.levels.start_again(now, &shared.blocks);
        self.levels_due = self.levels.due();
        self.has_started = true;
    }

    /// What the schemes have learned. Background reads in flight are lost.
    pub(crate) fn learned(self) -> Learned {
        Learned {
            levels: self.levels,
            retry: self.retry,
        }
    }

    /// Power is back after a shutdown that lost nothing. The firmware's clock stood still meanwhile, but the
    /// cells have aged.
    pub(crate) fn power_on(&mut self, now: Ns, shared: &Shared) {
        self.levels.power_on(now, &shared.blocks);
        self.levels_due = self.levels.due();
    }

    /// When the next background read is due; [`Ns::MAX`] while as many as may be are in flight.
    #[inline]
    pub(crate) fn next_probe(&self) -> Ns {
        match usize::from(self.in_flight) == self.probes.len() {
            true => Ns::MAX,
            false => self.levels_due,
        }
    }

    /// Starts the next background read that is due, unless as many as may be are in flight.
    pub(crate) fn start_probe(&mut self, now: Ns, shared: &mut Shared, ports: &mut impl Out) {
        if self.next_probe() > now {
            return;
        }
        let Some(mode) = self.levels.next_due(now) else {
            return;
        };
        let (levels, layout) = (self.levels.of(mode), &shared.layout);
        let in_flight = self.probes.iter().flatten();
        let is_free = |die: DieId| {
            let mut channels = in_flight.clone().map(|(_, probe)| probe.at.die);
            channels.all(|other| layout.channel(other) != layout.channel(die))
        };
        let log = &mut |record| ports.log(record);
        let probe = levels.probe(now, &shared.blocks, &is_free, log);
        self.levels_due = self.levels.due();
        let Some(probe) = probe else {
            return;
        };
        shared.counters.background_reads += 1;
        shared.counters.background_reads_by_mode[mode as usize] += 1;
        self.read_probe(now, (mode, probe), shared, ports);
    }

    /// Queues the background read that the instance of a cell mode has asked for.
    fn read_probe(&mut self, now: Ns, asked: Asked, shared: &mut Shared, ports: &mut impl Out) {
        let (_, probe) = asked;
        let job = shared
            .jobs
            .take()
            .expect("a job is reserved for each background read in flight");
        let place = self.probes.iter().position(Option::is_none);
        let place = place.expect("a place is free if fewer than the most are in flight");
        let codewords = shared.layout.codewords_per_page();
        let wanted = (0..shared.config.geometry.planes as u32)
            .filter(|plane| probe.planes >> plane & 1 != 0)
            .fold(0u64, |all, plane| {
                all | (u64::MAX >> (64 - codewords)) << (plane * codewords)
            });
        self.probes[place] = Some(asked);
        self.in_flight += 1;
        shared.jobs[job].levels = probe.levels;
        // No scheme notes anything about a background read, so the note is its place.
        shared.jobs[job].note = place as u8;
        let (purpose, priority) = (Purpose::Probe, Priority::Background);
        self.start(now, job, purpose, priority, probe.at, wanted, shared, ports);
    }

    /// The background read in place `place`.
    pub(super) fn probe_of(&self, place: u8) -> Asked {
        self.probes[usize::from(place)].expect("a background read is in flight")
    }

    /// The background read of `job` has ended and the job is free; without a `result` if a host read has ended it.
    /// Returns whether this was the last pin of a superblock that waits to be erased.
    pub(crate) fn probe_done(
        &mut self,
        now: Ns,
        job: u32,
        result: Option<ProbeResult>,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> bool {
        let place = shared.jobs[job].note;
        let (mode, probe) = self.probe_of(place);
        self.probes[usize::from(place)] = None;
        self.in_flight -= 1;
        let levels = self.levels.of(mode);
        match result {
            Some(result) => {
                let log = &mut |record| ports.log(record);
                levels.on_probe(now, &probe, &result, &shared.blocks, log);
            }
            None => {
                shared.counters.background_reads_given_up += 1;
                levels.given_up(&probe);
            }
        }
        self.levels_due = self.levels.due();
        shared.schedule.background_ended(probe.at.die, job);
        let last = shared.unpin(job);
        shared.jobs.release(job);
        last
    }

    /// Whether a background read is in flight.
    pub(crate) fn is_probing(&self) -> bool {
        self.probes.iter().any(Option::is_some)
    }

    /// After a recovery: repeats the background reads that were in flight. A scheme that is new to the drive
    /// starts.
    pub(crate) fn restart(&mut self, now: Ns, shared: &mut Shared, ports: &mut impl Out) {
        if !self.has_started {
            self.power_up(now, shared);
        }
        self.in_flight = 0;
        for place in 0..self.probes.len() {
            let Some((mode, probe)) = self.probes[place].take() else {
                continue;
            };
            // Every scheme goes on without the result of a read that the drive cannot make.
            if probe.lies_within(&shared.config.geometry, mode) {
                self.read_probe(now, (mode, probe), shared, ports);
            } else {
                self.levels.of(mode).given_up(&probe);
            }
        }
    }
}
