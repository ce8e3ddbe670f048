//! State shared by all schemes that keep levels by group: selector and tables, group membership, sampler, one
//! trial at a time, and population.
//!
//! Population tests every entry of the factory table on a sample of the group, and keeps the three with the
//! lowest error rates. It runs at start-up for every group with data. Later it runs for a group that
//! superblocks enter while no group has entries to inherit.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::{Geometry, Levels, Ns, PageAddr, SuperblockId};

use super::calibration::Trial;
use super::groups::GroupSet;
use super::members::Members;
use super::sampling::Sampler;
use super::selector::Selector;
use super::tables::ENTRIES;
use crate::log::{Record, What};
use crate::observe::{Probe, ProbeResult, ReadCtx, SuperblockTable};

/// Result of [`GroupLevels::settle`].
#[derive(Clone, Copy, Debug, Default)]
pub struct EnteredGroups {
    /// Groups that superblocks have entered.
    pub entered: GroupSet,
    /// Entered groups that have inherited entries.
    pub inheriting: GroupSet,
}

/// State of a scheme that keeps levels by group.
#[derive(Clone, Debug)]
pub struct GroupLevels {
    /// What a read of a superblock in a group tries.
    pub selector: Selector,
    /// The group of each superblock.
    pub members: Members,
    /// Chooses the pages for background reads.
    pub sampler: Sampler,
    /// The trial in progress.
    pub trial: Box<Trial>,
    /// Calibration passes begun since power-on.
    pub pass: u32,
    /// Samples drawn of each group: where the sampler's rotation stands.
    drawn: Box<[u16]>,
    /// Zone of each wordline; empty if there is one zone.
    zone_of: Box<[u8]>,
    started: bool,
    /// Groups that superblocks have entered and that `settle` has not seen.
    entered: GroupSet,
    to_populate: GroupSet,
    /// Groups that wait for a full superblock.
    waiting: GroupSet,
    populating: Option<u8>,
}

impl GroupLevels {
    /// State with no group populated and no superblock in a group.
    pub fn new(
        selector: Selector,
        sampler: Sampler,
        geometry: &Geometry,
        zone_of: Box<[u8]>,
    ) -> GroupLevels {
        let groups = selector.groups.len();
        GroupLevels {
            zone_of,
            members: Members::new(geometry.blocks_per_plane, selector.tables.mode()),
            selector,
            sampler,
            trial: Box::default(),
            pass: 0,
            drawn: vec![0; groups].into_boxed_slice(),
            started: false,
            entered: GroupSet::EMPTY,
            to_populate: GroupSet::EMPTY,
            waiting: GroupSet::EMPTY,
            populating: None,
        }
    }

    /// Power is on: forgets everything. Every group that has a superblock is to be populated.
    pub fn start(&mut self, now: Ns, blocks: &SuperblockTable) {
        self.selector.tables.reset();
        self.members.reset();
        self.members.update(now, &self.selector.groups, blocks);
        self.pass = 0;
        self.drawn.fill(0);
        self.started = true;
        self.entered = GroupSet::EMPTY;
        self.to_populate = self.members.occupied();
        self.waiting = GroupSet::EMPTY;
        self.populating = None;
    }

    /// Power is on, on a drive that was erased and filled again: the entries of all groups are kept, and samples
    /// go on where they were. A group with data and without entries inherits or is to be populated.
    pub fn start_again(&mut self, now: Ns, blocks: &SuperblockTable) {
        self.selector.tables.discard_all();
        self.members.reset();
        self.members.update(now, &self.selector.groups, blocks);
        self.started = true;
        self.entered = self.members.occupied();
        (self.to_populate, self.waiting) = Default::default();
        self.populating = None;
    }

    /// `block` was opened or erased. Another superblock may have become full, so waiting groups try again.
    pub fn on_block(&mut self, now: Ns, block: SuperblockId, blocks: &SuperblockTable) {
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

    /// Levels of attempt `step` of a read: see [`Selector::levels`]. The superblock's group is stored and
    /// updated whenever the superblock crosses a bin edge, so that a read neither divides nor searches.
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

    /// Bytes of the counts of samples.
    pub fn drawn_bytes(&self) -> usize {
        size_of_val(&*self.drawn)
    }

    /// Bytes of the zones of wordlines.
    pub fn zone_bytes(&self) -> usize {
        size_of_val(&*self.zone_of)
    }

    /// When there is work to do.
    pub fn due(&self) -> Ns {
        let busy =
            self.populating.is_some() || !self.to_populate.is_empty() || !self.entered.is_empty();
        match (self.started, busy) {
            (false, _) => Ns::MAX,
            (true, true) => Ns::ZERO,
            (true, false) => self.members.next_crossing(),
        }
    }

    /// Handles the groups that superblocks have entered. A group without entries inherits those of an earlier
    /// retention bin; if there are none, it is to be populated.
    pub fn settle(
        &mut self,
        now: Ns,
        blocks: &SuperblockTable,
        log: &mut impl FnMut(Record),
    ) -> EnteredGroups {
        let mut entered_groups = EnteredGroups::default();
        if !self.started {
            return entered_groups;
        }
        if self.members.next_crossing() <= now {
            let entered = self.members.update(now, &self.selector.groups, blocks);
            self.entered.extend(entered);
        }
        entered_groups.entered = self.entered;
        while let Some(group) = self.entered.pop() {
            let pending = self.to_populate.contains(group) || self.populating == Some(group);
            if pending || self.selector.tables.populated(group) {
                continue;
            }
            match self.selector.inherits_from(group) {
                Some(from) => {
                    self.selector.tables.stage_from(from, group);
                    self.selector.tables.synchronize(group);
                    log(Record {
                        at: now,
                        what: What::Inherited { group, from },
                    });
                    entered_groups.inheriting.insert(group);
                }
                None => self.to_populate.insert(group),
            }
        }
        entered_groups
    }

    /// Draws a sample of `group` for a trial of `candidates` candidates. False if the group has no full
    /// superblock.
    pub fn begin_trial(&mut self, group: u8, candidates: u8, blocks: &SuperblockTable) -> bool {
        let drawn = &mut self.drawn[group as usize];
        let sample = self
            .sampler
            .draw(group, (*drawn).into(), &self.members, blocks);
        if let Some(sample) = sample {
            *drawn = drawn.wrapping_add(1);
            self.trial.begin(sample, self.sampler.len(), candidates);
        }
        sample.is_some()
    }

    /// The next read for population; none if no group is left to populate.
    pub fn population_probe(&mut self, blocks: &SuperblockTable) -> Option<Probe> {
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

    /// Records the result if it belongs to population. A result from a block erased meanwhile is dropped, and
    /// the next background read draws a new sample.
    pub fn population_result(
        &mut self,
        now: Ns,
        probe: &Probe,
        result: &ProbeResult,
        blocks: &SuperblockTable,
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

    /// The group that is being populated.
    pub fn populating(&self) -> Option<u8> {
        self.populating
    }

    /// Whether power is on.
    pub fn started(&self) -> bool {
        self.started
    }
}
