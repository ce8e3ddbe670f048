//! `ct-qlc`: three tiers of voltage tables, verified and refined in the background.
//!
//! After Y. Chen et al., "CT-QLC: A Production-Ready Firmware Solution for Tail Latency QoS in Charge-Trap
//! QLC SSDs". The mechanisms are in [`crate::voltage`]; this file has their order. `docs/firmware/ct-qlc.md`
//! lists what the paper leaves open and what was decided.
//!
//! ```text
//! start-up     populate every group with data
//! each group,  an interval (5 h) after its last calibration:
//!              verify → decide → sort, track → validate → synchronize
//! a group is   inherit the entries of the previous retention bin,
//! entered      then verify it at once
//! power-on     after a shutdown: verify every group at once, those with the most data first
//! filled again keep the entries of all groups; each is due when data enter it
//! ```
//!
//! Options beyond the paper: `fail_margin`, `projection`, `verify`, `zones`, `pacing`, `verify_at_power_on`.

use alloc::boxed::Box;

use firstread_core::params::{Need, Role, Scheme, Values};
use firstread_core::voltage::BlockGroups;
use firstread_core::{DieId, Levels, Ns, SuperblockId};

use super::params::{
    CT_QLC, calibration_clock, group_levels, page_limit, refinement, rules, window_scale,
};
use super::{Footprint, ReadLevels};
use crate::log::{Record, What};
use crate::observe::{Outcome, Probe, ProbeResult, ReadCtx, SuperblockTable};
use crate::policy::Setup;
use crate::voltage::calibration::{EntryTally, Refinement, Tracking, Trial, ascending};
use crate::voltage::calibration_clock::CalibrationClock;
use crate::voltage::error_counts::{Centered, ErrorCounts};
use crate::voltage::group_levels::GroupLevels;
use crate::voltage::groups::GroupSet;
use crate::voltage::selector::Selector;
use crate::voltage::tables::ENTRIES;
use crate::voltage::valley::{WindowScale, window};

mod record;

pub const SCHEME: Scheme = Scheme {
    name: "ct-qlc",
    summary: "three entries a group, each group verified every 5 h, sorted by fail ratio, valleys tracked",
    source: "CT-QLC: A Production-Ready Firmware Solution for Tail Latency QoS in Charge-Trap QLC SSDs",
    role: Role::Scheme,
    needs: &[Need::Voltages],
    ordered: &[],
    params: CT_QLC,
};

/// State of the calibration engine. Population comes before all of these.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Idle,
    /// Phase 1: the active entries of a group are tried on sample pages.
    Verify(u8),
    /// Phase 3: the valleys of a group are searched.
    Track(u8),
    /// The new entries are tried on the same sample pages.
    Validate(u8),
}

#[derive(Clone, Debug)]
pub struct CtQlc {
    group_levels: GroupLevels,
    refinement: Refinement,
    clock: Box<CalibrationClock>,
    /// Corrected bits of a codeword above which a sampled page fails.
    page_limit: u16,
    window: u8,
    window_scale: WindowScale,
    backup: u8,
    validate: bool,
    /// Error counts of verification, if it is based on corrected bits.
    error_counts: Option<Box<ErrorCounts>>,
    /// Verifications of the current group that were repeated because better levels may lie further out.
    repeated: u8,
    zone_bound: u8,
    verify_at_power_on: bool,

    /// Groups left in the pass.
    routine: GroupSet,
    /// Whether the groups with the most superblocks come first.
    largest_first: bool,
    /// Groups that have inherited entries and wait to be verified.
    inheriting: GroupSet,
    /// Groups that have inherited entries but have no full superblock to sample yet.
    waiting: GroupSet,

    phase: Phase,
    tracking: Box<Tracking>,
    /// Result of verification, kept while valleys are searched.
    verified: [EntryTally; ENTRIES],
    passed: Pass,
}

/// Statistics of the current pass.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    began: Ns,
    groups: u8,
    reads: u32,
    /// Largest move of the levels of a group.
    moved: u8,
    open: bool,
}

/// Maximum number of consecutive verifications of a group whose levels move: assumed, so that a pass ends.
const REPEATS: u8 = 4;

impl CtQlc {
    /// The scheme with the chip's tables and the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> CtQlc {
        let by_bits = values.get("verify") != 0;
        let zones = if by_bits {
            values.get("zones") as u8
        } else {
            1
        };
        let group_levels = group_levels(setup, values, values.get("page_start") == 0, zones);
        CtQlc {
            clock: Box::new(calibration_clock(
                values,
                group_levels.selector.groups.len(),
            )),
            group_levels,
            refinement: refinement(values),
            page_limit: page_limit(setup.correctable_bits, values),
            window: values.get("window") as u8,
            window_scale: window_scale(values),
            backup: values.get("backup_window") as u8,
            validate: values.flag("validate"),
            error_counts: by_bits.then(Box::default),
            repeated: 0,
            zone_bound: values.get("zone_bound") as u8,
            verify_at_power_on: values.flag("verify_at_power_on"),
            routine: GroupSet::EMPTY,
            largest_first: false,
            inheriting: GroupSet::EMPTY,
            waiting: GroupSet::EMPTY,
            phase: Phase::Idle,
            tracking: Box::new(Tracking::idle(
                rules(values),
                values.get("backup_window") as u8,
            )),
            verified: [EntryTally::default(); ENTRIES],
            passed: Pass::default(),
        }
    }

    /// Groups and tables of the scheme.
    pub fn selector(&self) -> &Selector {
        &self.group_levels.selector
    }

    /// Power is on, and nothing is under way.
    fn begin(&mut self) {
        (self.routine, self.inheriting, self.waiting) = Default::default();
        self.largest_first = false;
        self.phase = Phase::Idle;
        self.passed = Pass::default();
    }

    /// Begins a pass if groups are due. A pass that comes due during another one joins it.
    fn pass(&mut self, now: Ns) {
        if let Some(groups) = self.clock.take_due(now, &self.group_levels.members) {
            self.begin_pass(now, groups);
        }
    }

    fn begin_pass(&mut self, now: Ns, groups: GroupSet) {
        self.group_levels.pass = self.group_levels.pass.wrapping_add(1);
        self.routine.extend(groups);
        if !self.passed.open {
            self.passed = Pass {
                began: now,
                open: true,
                ..Pass::default()
            };
        }
    }

    /// The next group to verify: groups that have just inherited come first. A group without entries waits
    /// for population.
    fn next_group(&mut self) -> Option<u8> {
        loop {
            let inherits = self.inheriting.pop();
            let group = inherits.or_else(|| self.next_of_pass())?;
            if self.group_levels.selector.tables.populated(group) {
                return Some(group);
            }
        }
    }

    /// The next group of the pass. After power-on, the group with the most superblocks comes first, because
    /// most reads go there.
    fn next_of_pass(&mut self) -> Option<u8> {
        if self.largest_first
            && let Some(group) = self.group_levels.members.largest(self.routine)
        {
            self.routine.remove(group);
            return Some(group);
        }
        self.largest_first = false;
        self.routine.pop()
    }

    /// Phase 1 begins.
    ///
    /// A group without a full superblock waits for one. With a global clock it waits only if it has
    /// inherited, since the next pass comes by itself.
    fn verify(&mut self, now: Ns, group: u8, inherits: bool, blocks: &SuperblockTable) {
        if self.group_levels.begin_trial(group, ENTRIES as u8, blocks) {
            self.group_levels.trial.fail_above(self.page_limit);
            self.count_anew();
            self.repeated = 0;
            self.phase = Phase::Verify(group);
            self.passed.groups = self.passed.groups.saturating_add(1);
            self.clock.calibrated(now, group);
        } else if inherits || matches!(*self.clock, CalibrationClock::Group(_)) {
            self.waiting.insert(group);
        }
    }

    fn count_anew(&mut self) {
        if let Some(error_counts) = &mut self.error_counts {
            **error_counts = ErrorCounts::default();
        }
    }

    /// Moves the entries of `group` to where corrected bits are fewest, if verification is based on corrected
    /// bits.
    fn center(&mut self, now: Ns, group: u8, log: &mut impl FnMut(Record)) -> Option<Centered> {
        let error_counts = self.error_counts.as_ref()?;
        let tables = &mut self.group_levels.selector.tables;
        let centered = error_counts.center(tables, group, self.backup.max(1), self.zone_bound);
        self.passed.moved = self.passed.moved.max(centered.moved);
        let by = centered.by;
        let what = What::Centered { group, by };
        log(Record { at: now, what });
        Some(centered)
    }

    /// Phase 1 has ended: phase 2 decides, and phase 3 sorts or begins to track.
    fn on_verified(&mut self, now: Ns, group: u8, log: &mut impl FnMut(Record)) {
        let trial = &self.group_levels.trial;
        let tallies = trial.tallies();
        log(Record {
            at: now,
            what: What::Verified {
                group,
                blocks: trial.sample().superblocks(),
                fail_permille: tallies.map(|t| t.fail_permille()),
                reads: trial.reads(),
            },
        });

        let mut decision = self.refinement.decide(&tallies);
        let mut shared = None;
        if let Some(from) = decision.track_from {
            shared = Some(
                self.group_levels
                    .selector
                    .tables
                    .common(group, from as usize),
            );
        }
        if let Some(centered) = self.center(now, group, log) {
            let failing = decision.track_from.is_some();
            let again = centered.beyond || (failing && centered.moved > 0);
            if again && self.repeated < REPEATS {
                self.repeated += 1;
                self.count_anew();
                self.group_levels.trial.again(ENTRIES as u8);
                return;
            }
            decision.order = None;
        }
        let tables = &mut self.group_levels.selector.tables;
        let track_from = shared.zip(decision.track_from);
        if let Some(order) = decision.order {
            tables.stage_order(group, order);
            let moved = tables.synchronize(group);
            self.passed.moved = self.passed.moved.max(moved);
            log(Record {
                at: now,
                what: What::Sorted { group, order },
            });
        }
        self.phase = Phase::Idle;
        if let Some((shared, from)) = track_from {
            let ratio = tallies[from as usize].fail_permille();
            tables.stage_order(group, [0, 1, 2]);
            let window = window(self.window, ratio, self.window_scale);
            self.tracking.begin(tables, shared, window);
            self.verified = tallies;
            self.phase = Phase::Track(group);
        }
    }

    /// Phase 3 has found new entries: they are staged, and tried before they are used.
    fn on_tracked(&mut self, now: Ns, group: u8, log: &mut impl FnMut(Record)) {
        for (slot, levels) in self.tracking.entries().iter().enumerate() {
            self.group_levels.selector.tables.stage(group, slot, levels);
        }
        if self.validate {
            self.group_levels.trial.again(ENTRIES as u8);
            self.phase = Phase::Validate(group);
        } else {
            self.apply(now, group, self.tracking.reads(), log);
        }
    }

    /// The staged entries have been tried. They replace the active entries, unless the best staged entry
    /// fails more often than the best active one.
    fn on_validated(&mut self, now: Ns, group: u8, log: &mut impl FnMut(Record)) {
        let tallies = self.group_levels.trial.tallies();
        let reads = self.tracking.reads();
        let reads = reads.saturating_add(self.group_levels.trial.reads());
        let best = |t: &[EntryTally; ENTRIES]| t[ascending(t)[0] as usize];
        let (before, after) = (best(&self.verified), best(&tallies));
        if after.rank() > before.rank() {
            self.group_levels.selector.tables.discard(group);
            self.phase = Phase::Idle;
            log(Record {
                at: now,
                what: What::Discarded {
                    group,
                    fail_permille: [before.fail_permille(), after.fail_permille()],
                    reads,
                },
            });
            return;
        }
        if self.refinement.reorder {
            let order = ascending(&tallies);
            self.group_levels
                .selector
                .tables
                .reorder_staged(group, order);
        }
        self.apply(now, group, reads, log);
    }

    /// Makes the staged entries active.
    fn apply(&mut self, now: Ns, group: u8, reads: u32, log: &mut impl FnMut(Record)) {
        let tables = &mut self.group_levels.selector.tables;
        let moved = tables.synchronize(group);
        self.passed.moved = self.passed.moved.max(moved);
        log(Record {
            at: now,
            what: What::Tracked {
                group,
                iterations: self.tracking.iterations(),
                levels: tables.entries(group)[0],
                reads,
            },
        });
        self.phase = Phase::Idle;
    }

    /// Abandons the work in progress on a group, which will be verified again.
    fn abandon(&mut self, group: u8) {
        self.group_levels.selector.tables.discard(group);
        self.inheriting.insert(group);
        self.phase = Phase::Idle;
    }

    /// Logs the pass once its last group is done.
    fn close_pass(&mut self, now: Ns, log: &mut impl FnMut(Record)) {
        if self.passed.open {
            let Pass {
                began,
                groups,
                reads,
                moved,
                ..
            } = self.passed;
            self.passed.open = false;
            self.clock.moved(now, moved);
            log(Record {
                at: now,
                what: What::Passed {
                    pass: self.group_levels.pass,
                    began,
                    groups,
                    reads,
                },
            });
        }
    }
}

impl ReadLevels for CtQlc {
    #[inline]
    fn attempt(
        &mut self,
        ctx: &ReadCtx,
        step: u8,
        _last: Option<&Outcome>,
        _note: &mut u8,
    ) -> Option<Levels> {
        self.group_levels.levels(ctx, step)
    }

    fn start(&mut self, now: Ns, blocks: &SuperblockTable) {
        self.group_levels.start(now, blocks);
        self.clock.start(now);
        self.begin();
    }

    fn start_again(&mut self, now: Ns, blocks: &SuperblockTable) {
        self.group_levels.start_again(now, blocks);
        let populated = self.group_levels.selector.tables.populated_groups();
        self.clock.start_again(now, populated);
        self.begin();
    }

    fn outlives_erase(&self) -> bool {
        true
    }

    fn power_on(&mut self, now: Ns, _blocks: &SuperblockTable) {
        if self.verify_at_power_on && self.group_levels.started() {
            self.largest_first = true;
            self.begin_pass(now, self.group_levels.members.occupied());
        }
    }

    fn on_block(&mut self, now: Ns, block: SuperblockId, blocks: &SuperblockTable) {
        self.group_levels.on_block(now, block, blocks);
        self.inheriting.extend(self.waiting.take());
    }

    fn due(&self) -> Ns {
        let busy =
            self.phase != Phase::Idle || !self.routine.is_empty() || !self.inheriting.is_empty();
        match self.group_levels.started() && (busy || self.passed.open) {
            true => Ns::ZERO,
            false => self.group_levels.due().min(self.clock.due()),
        }
    }

    fn probe(
        &mut self,
        now: Ns,
        blocks: &SuperblockTable,
        _is_free: &impl Fn(DieId) -> bool,
        log: &mut impl FnMut(Record),
    ) -> Option<Probe> {
        let entered_groups = self.group_levels.settle(now, blocks, log);
        self.inheriting.extend(entered_groups.inheriting);
        self.clock.entered(entered_groups.entered);
        self.inheriting
            .extend(self.waiting.take_common(entered_groups.entered));
        self.pass(now);
        loop {
            let group = match self.phase {
                Phase::Idle => {
                    if let Some(probe) = self.group_levels.population_probe(blocks) {
                        return Some(probe);
                    }
                    let inherits = !self.inheriting.is_empty();
                    let Some(group) = self.next_group() else {
                        self.close_pass(now, log);
                        return None;
                    };
                    self.verify(now, group, inherits, blocks);
                    continue;
                }
                Phase::Verify(group) | Phase::Track(group) | Phase::Validate(group) => group,
            };
            let group_levels = &self.group_levels;
            let zone = |at| group_levels.zone(at);
            let (tables, sampler, trial) = (
                &group_levels.selector.tables,
                &group_levels.sampler,
                &group_levels.trial,
            );
            let probe = match self.phase {
                _ if !trial.sample().alive(blocks) => None,
                Phase::Track(_) => self.tracking.probe(tables, sampler, trial.sample()),
                Phase::Validate(_) => {
                    trial.probe(sampler, |i, at| tables.staged(group, i as usize, zone(at)))
                }
                _ => trial.probe(sampler, |i, at| {
                    tables.entries_in(group, zone(at))[i as usize]
                }),
            };
            if probe.is_some() {
                return probe;
            }
            match self.phase {
                // Every search ended where it began, at the limit of the offset range.
                Phase::Track(_) if trial.sample().alive(blocks) => self.on_tracked(now, group, log),
                _ => self.abandon(group),
            }
        }
    }

    fn on_probe(
        &mut self,
        now: Ns,
        probe: &Probe,
        result: &ProbeResult,
        blocks: &SuperblockTable,
        log: &mut impl FnMut(Record),
    ) {
        let populating = self.group_levels.populating();
        if self
            .group_levels
            .population_result(now, probe, result, blocks, log)
        {
            // The last result of a population: the entries are as good as the sample tells.
            if let (Some(group), None) = (populating, self.group_levels.populating()) {
                self.clock.calibrated(now, group);
            }
            return;
        }
        self.group_levels.members.probed(probe.at.block);
        self.passed.reads = self.passed.reads.saturating_add(1);
        let zone = self.group_levels.zone(probe.at);
        let GroupLevels {
            selector,
            sampler,
            trial,
            ..
        } = &mut self.group_levels;
        match (self.phase, result) {
            (Phase::Idle, _) => {}
            // The result may come from an erased page. The next background read starts anew.
            _ if !trial.sample().alive(blocks) => {}
            (Phase::Verify(group), _) => {
                if let (Some(error_counts), Some((entry, _))) =
                    (&mut self.error_counts, trial.position())
                {
                    error_counts.add(entry, zone, probe.at.page, result);
                }
                if trial.record(result) {
                    self.on_verified(now, group, log);
                }
            }
            (Phase::Validate(group), _) => {
                if trial.record(result) {
                    self.on_validated(now, group, log);
                }
            }
            (Phase::Track(group), ProbeResult::Ones { .. }) => {
                let sample = trial.sample();
                if self
                    .tracking
                    .record(&selector.tables, sampler, sample, result)
                {
                    self.on_tracked(now, group, log);
                }
            }
            // A ones-count was asked for and did not come: the entries in use stay.
            (Phase::Track(group), _) => {
                selector.tables.discard(group);
                self.phase = Phase::Idle;
            }
        }
    }

    fn groups(&self) -> Option<&BlockGroups> {
        Some(&self.group_levels.selector.groups)
    }
    fn footprint(&self) -> Option<Footprint> {
        Some(Footprint {
            tables: self.group_levels.selector.tables.bytes(),
            superblocks: self.group_levels.members.bytes(),
            zones: self.group_levels.zone_bytes(),
            working: size_of::<CtQlc>()
                + size_of::<Trial>()
                + size_of::<Tracking>()
                + self.clock.bytes()
                + self.group_levels.drawn_bytes()
                + self
                    .error_counts
                    .as_ref()
                    .map_or(0, |_| size_of::<ErrorCounts>()),
        })
    }
}
