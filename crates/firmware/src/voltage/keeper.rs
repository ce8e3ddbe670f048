//! What every scheme that keeps levels by group shares: the selector with its tables, who is in
//! which group, a sampler, one trial at a time, and population.
//!
//! Population tests every entry of the factory table on a sample of the group and keeps the three
//! with the lowest error rates. It runs at start-up for every group with data, and later for a group
//! that is entered while no group has entries to inherit.

use alloc::boxed::Box;

use firstread_core::{BlockId, Geometry, Levels, Ns, PageAddr};

use super::calibration::Trial;
use super::groups::GroupSet;
use super::members::Members;
use super::sampling::Sampler;
use super::selector::Selector;
use super::tables::ENTRIES;
use crate::log::{Record, What};
use crate::observe::BlockMonitor;
use crate::policy::read_levels::{Probe, ProbeResult, ReadCtx};

/// What [`Keeper::settle`] found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settled {
    /// Groups that a superblock has entered.
    pub entered: GroupSet,
    /// Those of them that have inherited.
    pub heirs: GroupSet,
}

/// The parts, and what is left to populate.
#[derive(Clone, Debug)]
pub struct Keeper {
    /// Groups and tables.
    pub selector: Selector,
    /// Which superblock is in which group.
    pub members: Members,
    /// Which pages are read.
    pub sampler: Sampler,
    /// The trial under way.
    pub trial: Box<Trial>,
    /// Passes of calibration begun; the sampler's rotation goes by it.
    pub pass: u32,
    /// Zone of each wordline; empty with one zone.
    zone_of: Box<[u8]>,
    started: bool,
    /// Groups entered and not looked at yet.
    entered: GroupSet,
    /// Groups to populate.
    to_populate: GroupSet,
    /// Groups that wait for a superblock to be full.
    waiting: GroupSet,
    populating: Option<u8>,
}

impl Keeper {
    /// Nothing populated, nothing known of any superblock.
    pub fn new(
        selector: Selector,
        sampler: Sampler,
        geometry: &Geometry,
        zone_of: Box<[u8]>,
    ) -> Keeper {
        Keeper {
            zone_of,
            members: Members::new(geometry.blocks_per_plane, selector.tables.mode()),
            selector,
            sampler,
            trial: Box::default(),
            pass: 0,
            started: false,
            entered: GroupSet::EMPTY,
            to_populate: GroupSet::EMPTY,
            waiting: GroupSet::EMPTY,
            populating: None,
        }
    }

    /// Power is on: forgets all, and is to populate every group that has a superblock.
    pub fn start(&mut self, now: Ns, blocks: &BlockMonitor) {
        self.selector.tables.reset();
        self.members.reset();
        self.members.update(now, &self.selector.groups, blocks);
        self.pass = 0;
        self.started = true;
        self.entered = GroupSet::EMPTY;
        self.to_populate = self.members.occupied();
        self.waiting = GroupSet::EMPTY;
        self.populating = None;
    }

    /// `block` was opened or erased. Another has become full, perhaps: what waited tries again.
    pub fn on_block(&mut self, now: Ns, block: BlockId, blocks: &BlockMonitor) {
        if !self.started {
            return;
        }
        let entered = self
            .members
            .update_one(now, block, &self.selector.groups, blocks);
        if let Some(group) = entered {
            self.entered.insert(group);
        }
        self.entered.extend(self.waiting.take());
    }

    /// Levels of attempt `step` of a read: see [`Selector::levels`]. The group is the one its
    /// superblock was put into, which follows the block monitor at every crossing; so a read neither
    /// divides nor searches.
    #[inline]
    pub fn levels(&self, ctx: &ReadCtx, step: u8) -> Option<Levels> {
        let group = self.members.group(ctx.at.block);
        match self.zone_of.is_empty() {
            true => self.selector.levels(group, step),
            false => self.selector.levels_in(group, self.zone(ctx.at), step),
        }
    }

    /// Zone of a page.
    #[inline]
    pub fn zone(&self, at: PageAddr) -> u8 {
        let zone = self.zone_of.get(at.wordline as usize);
        zone.copied().unwrap_or(0)
    }

    /// Bytes of the zones of wordlines.
    pub fn zone_bytes(&self) -> usize {
        size_of_val(&*self.zone_of)
    }

    /// When there is something to do.
    pub fn due(&self) -> Ns {
        let busy =
            self.populating.is_some() || !self.to_populate.is_empty() || !self.entered.is_empty();
        match (self.started, busy) {
            (false, _) => Ns::MAX,
            (true, true) => Ns::ZERO,
            (true, false) => self.members.next_crossing(),
        }
    }

    /// Looks at the groups that superblocks have entered: one that has no entries inherits those of
    /// an earlier retention bin, or is to be populated if there are none.
    pub fn settle(
        &mut self,
        now: Ns,
        blocks: &BlockMonitor,
        log: &mut impl FnMut(Record),
    ) -> Settled {
        let mut settled = Settled::default();
        if !self.started {
            return settled;
        }
        if self.members.next_crossing() <= now {
            let entered = self.members.update(now, &self.selector.groups, blocks);
            self.entered.extend(entered);
        }
        settled.entered = self.entered;
        while let Some(group) = self.entered.pop() {
            let pending = self.to_populate.contains(group) || self.populating == Some(group);
            if pending || self.selector.tables.populated(group) {
                continue;
            }
            match self.selector.heir_of(group) {
                Some(from) => {
                    self.selector.tables.stage_from(from, group);
                    self.selector.tables.synchronize(group);
                    log(Record {
                        at: now,
                        what: What::Inherited { group, from },
                    });
                    settled.heirs.insert(group);
                }
                None => self.to_populate.insert(group),
            }
        }
        settled
    }

    /// Draws a sample of `group` for a trial of `candidates`; false if it has no full superblock.
    pub fn begin_trial(&mut self, group: u8, candidates: u8, blocks: &BlockMonitor) -> bool {
        let sample = self.sampler.draw(group, self.pass, &self.members, blocks);
        if let Some(sample) = sample {
            self.trial.begin(sample, self.sampler.len(), candidates);
        }
        sample.is_some()
    }

    /// The next read of population, or none when no group is left to populate.
    pub fn population_probe(&mut self, blocks: &BlockMonitor) -> Option<Probe> {
        loop {
            let Some(group) = self.populating else {
                let group = self.to_populate.pop()?;
                match self.begin_trial(group, self.selector.tables.factory_len(), blocks) {
                    true => self.populating = Some(group),
                    false => self.waiting.insert(group),
                }
                continue;
            };
            if self.trial.sample().alive(blocks) {
                let tables = &self.selector.tables;
                let probe = self.trial.probe(&self.sampler, |i, _| tables.candidate(i));
                if probe.is_some() {
                    return probe;
                }
            }
            // A sampled block was erased: draw again.
            self.populating = None;
            self.to_populate.insert(group);
        }
    }

    /// Takes the answer if it belongs to population. One of a block erased meanwhile is dropped; the
    /// next probe draws again.
    pub fn population_result(
        &mut self,
        now: Ns,
        probe: &Probe,
        result: &ProbeResult,
        blocks: &BlockMonitor,
        log: &mut impl FnMut(Record),
    ) -> bool {
        let Some(group) = self.populating else {
            return false;
        };
        self.members.probed(probe.at.block);
        if !self.trial.sample().alive(blocks) {
            return true;
        }
        if self.trial.record(result) {
            let best = self.trial.best();
            for (slot, &i) in best.iter().enumerate().take(ENTRIES) {
                let levels = self.selector.tables.candidate(i);
                self.selector.tables.stage(group, slot, &levels);
            }
            self.selector.tables.synchronize(group);
            self.populating = None;
            log(Record {
                at: now,
                what: What::Populated {
                    group,
                    entries: best,
                    reads: self.trial.reads(),
                },
            });
        }
        true
    }

    /// Whether power is on.
    pub fn started(&self) -> bool {
        self.started
    }
}
