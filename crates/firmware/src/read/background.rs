//! Background reads: the reads that axis `read_levels` asks for by itself, one at a time.

use firstread_core::{Ns, Priority};

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

    /// What the schemes have learned. A background read in flight is lost.
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

    /// When the next background read is due; [`Ns::MAX`] while one is in flight.
    #[inline]
    pub(crate) fn next_probe(&self) -> Ns {
        match self.probe {
            Some(_) => Ns::MAX,
            None => self.levels_due,
        }
    }

    /// Starts the next background read that is due, unless one is in flight.
    pub(crate) fn start_probe(&mut self, now: Ns, shared: &mut Shared, ports: &mut impl Out) {
        if self.probe.is_some() || self.levels_due > now {
            return;
        }
        let Some(mode) = self.levels.next_due(now) else {
            return;
        };
        let levels = self.levels.of(mode);
        let probe = levels.probe(now, &shared.blocks, &mut |record| ports.log(record));
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
            .expect("a job is reserved for the one probe in flight");
        let codewords = shared.layout.codewords_per_page();
        let wanted = (0..shared.config.geometry.planes as u32)
            .filter(|plane| probe.planes >> plane & 1 != 0)
            .fold(0u64, |all, plane| {
                all | (u64::MAX >> (64 - codewords)) << (plane * codewords)
            });
        self.probe = Some(asked);
        shared.jobs[job].levels = probe.levels;
        let (purpose, priority) = (Purpose::Probe, Priority::Background);
        self.start(now, job, purpose, priority, probe.at, wanted, shared, ports);
    }

    /// The background read of `job` has ended and the job is free. Returns whether this was the last pin of a
    /// superblock that waits to be erased.
    pub(crate) fn probe_done(
        &mut self,
        now: Ns,
        job: u32,
        result: ProbeResult,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> bool {
        let (mode, probe) = self.probe.take().expect("a probe is in flight");
        self.levels
            .of(mode)
            .on_probe(now, &probe, &result, &shared.blocks, &mut |record| {
                ports.log(record)
            });
        self.levels_due = self.levels.due();
        let last = shared.unpin(job);
        shared.jobs.release(job);
        last
    }

    /// Whether a background read is in flight.
    pub(crate) fn is_probing(&self) -> bool {
        self.probe.is_some()
    }

    /// After a recovery: repeats the background read that was in flight. A scheme that is new to the drive
    /// starts.
    pub(crate) fn restart(&mut self, now: Ns, shared: &mut Shared, ports: &mut impl Out) {
        if !self.has_started {
            self.power_up(now, shared);
        }
        // Every scheme goes on without the result of a read that the drive cannot make.
        let geometry = &shared.config.geometry;
        let probe = self.probe.take();
        let probe = probe.filter(|(mode, probe)| probe.lies_within(geometry, *mode));
        if let Some(probe) = probe {
            self.read_probe(now, probe, shared, ports);
        }
    }
}
