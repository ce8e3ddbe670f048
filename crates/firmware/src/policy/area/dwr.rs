//! DWR: the rule that `differential` and `differential-fixed` share, in the paper's terms.
//!
//! - Placement (section III-B): writes go to HWA, hot-read data to LWA.
//! - Migration (III-C, III-E): (a) GC and WL in HWA take hot-read data along; (b) an update of data known hot goes to
//!   LWA; (c) a read of HWA whose counter is larger than `N_R` and that was retried has its page migrated, from its
//!   buffer. Hot is what is read often *and* retried (III-C): whether (a) and (b) ask for the second too is `gated`.
//! - LWA full: FIFO. The superblock opened longest ago goes back to HWA.
//! - Bound (III-D): once HWA is worn by 80 %, the first write of data goes to HWA and an update to LWA.
//!
//! As printed, updates drain LWA into HWA. `balanced` keeps LWA full: data that moved twice without a write of the host
//! spill to LWA while it is emptier than HWA, garbage in LWA is compacted before anything is returned, pages that are
//! still hot stay when their superblock is returned, pages enter LWA only within the limit of its wear (`low_wear`), and
//! updates of hot data only if these are read more than written.

use firstread_core::SuperblockId;
use firstread_core::params::{Param, Values};

use super::Areas;
use super::at_bound::Bound;
use super::budget::Budget;
use super::contract::{AfterOverwrites, Entry, InUse, MakeRoom, PageMove, PageWrite, RegionRoom};
use super::last_reads::LastReads;
use super::locality::Locality;
use super::low_wear::LowWear;
use super::params::{
    HIGH, LOW, LOW_FREE, LOW_LEFT_FREE, LOW_SPARE, LOW_STREAM, low_from, slots_of,
};
use super::second_chance::SecondChance;
use super::stage::Stages;
use crate::observe::{Owner, PageHeat, RegionId, RegionRow, StreamRow, SuperblockTable};
use crate::policy::Setup;
use crate::policy::hot_pages::{PageRead, ServiceTimes};

pub(super) const RULE: Param = Param::choice(
    "rule",
    "the paper's rule, or one that keeps the low wearing area full, so that a full drive can hold its data",
    &["balanced", "as-printed"],
);

/// What a read has to be for its page to be migrated.
pub(super) const TRIGGER: Param = Param::choice(
    "trigger",
    "what a read has to be for its page to be migrated: retried, expected to be slow, or any",
    &["retried", "slow", "any"],
);

/// When a read is slow.
pub(super) const SLOWER: Param = Param::number(
    "slower",
    "for `slow`: how many times as long a read has to take as one without retries",
    "permille",
    (2000, 1000, 100_000),
);

/// Migration (a) of the paper, GC and WL take pages along: on unless it is switched off.
pub(super) const BY_GC: Param = Param::flag(
    "by_gc",
    "whether GC and WL of the high wearing area take pages that are read often to the low wearing one",
    true,
);

/// Migration (b) of the paper, updates of hot pages: on unless it is switched off.
pub(super) const BY_UPDATE: Param = Param::flag(
    "by_update",
    "whether an update of a page that is read often goes to the low wearing area",
    true,
);

/// Whether (a) and (b) ask for what the paper calls hot in III-C, read often *and* retried; by default they ask for reads alone.
pub(super) const GATED: Param = Param::flag(
    "gated",
    "whether GC, WL and updates too take only pages whose superblock the host last read as `trigger` asks",
    false,
);

/// Migration (c) of the paper, after a read: on unless it is switched off.
pub(super) const BY_READ: Param = Param::flag(
    "by_read",
    "whether a page is migrated to the low wearing area after a read",
    true,
);

#[derive(Clone, Debug)]
enum Trigger {
    Retried,
    Slow(ServiceTimes),
    Any,
}

/// The rule with its parameters: both schemes.
#[derive(Clone, Debug)]
pub struct Dwr {
    low_from: u32,
    is_balanced: bool,
    trigger: Trigger,
    by_gc: bool,
    by_update: bool,
    by_read: bool,
    /// Of the superblocks, what their last host read was like; none where GC, WL and updates ask for reads alone.
    last_reads: Option<LastReads>,
    stages: Stages,
    bound: Bound,
    low_wear: LowWear,
    locality: Locality,
    budget: Budget,
    second_chance: SecondChance,
    /// Slots of a superblock.
    slots: u64,
    /// Whether LWA takes data that spill: it has room beside its spare superblocks, and is the emptier area.
    spills: bool,
}

impl Dwr {
    /// The rule with the parameters `values`, of either scheme.
    pub fn new(setup: &Setup, values: &Values) -> Dwr {
        let is_on = |param: Param| values.get(param.key) != 0;
        let is_balanced = values.get(RULE.key) == 0;
        Dwr {
            low_from: low_from(setup, values),
            is_balanced,
            trigger: match values.get(TRIGGER.key) {
                0 => Trigger::Retried,
                1 => Trigger::Slow(ServiceTimes::new(setup, values.get(SLOWER.key) as u32)),
                _ => Trigger::Any,
            },
            by_gc: is_on(BY_GC),
            by_update: is_on(BY_UPDATE),
            by_read: is_on(BY_READ),
            last_reads: is_on(GATED).then(|| LastReads::new(setup)),
            stages: Stages::new(setup, values),
            bound: Bound::new(setup, values),
            low_wear: LowWear::new(is_balanced),
            locality: Locality::new(values),
            budget: Budget::new(values),
            second_chance: SecondChance::new(slots_of(setup)),
            slots: slots_of(setup),
            spills: false,
        }
    }

    /// Whether a page of this heat is hot-read data.
    #[inline]
    fn is_hot(&self, heat: PageHeat) -> bool {
        let by_dominance = self.locality.by_dominance(heat);
        by_dominance.unwrap_or_else(|| self.stages.is_hot(heat.reads))
    }

    /// Whether hot data of superblock `from` may go to LWA with GC, WL or an update.
    #[inline]
    fn lets_out_of(&self, from: Option<SuperblockId>) -> bool {
        match &self.last_reads {
            None => true,
            Some(last) => from.is_some_and(|block| last.was_slow(block)),
        }
    }

    /// `entry`, if the limit of LWA's wear allows it.
    #[inline]
    fn enters(&self, entry: Entry) -> Option<Entry> {
        self.low_wear.allows(entry).then_some(entry)
    }

    /// Whether an update of hot data belongs in LWA. As printed, always: where the same pages are read and written most, LWA
    /// then becomes the area that wears. Balanced, only what is read more than written.
    #[inline]
    fn may_write_low(&self, heat: PageHeat) -> bool {
        !self.is_balanced || heat.reads > heat.writes
    }
}

impl Areas for Dwr {
    /// Balanced, a fill of the drive fills LWA: what lies there is not written, and HWA has the room.
    fn region(&self) -> Option<RegionRow> {
        Some(RegionRow {
            first: self.low_from,
            free_after_fill: self.is_balanced.then_some(LOW_FREE),
        })
    }

    fn streams(&self) -> &'static [StreamRow] {
        LOW_STREAM
    }

    fn after_overwrites(&self, high_milli: u64) -> AfterOverwrites {
        match self.is_balanced {
            _ if self.bound.shares_at(high_milli) => AfterOverwrites::Shared,
            true => AfterOverwrites::Spilled {
                free: LOW_LEFT_FREE,
                spare: LOW_SPARE,
            },
            false => AfterOverwrites::Nothing { free: LOW_FREE },
        }
    }

    /// Wear and contents of the superblocks: the stage, the phase of the bound, and whether LWA has room.
    fn look(&mut self, blocks: &SuperblockTable) {
        let [high, low] = [HIGH, LOW].map(|area| InUse::of(blocks.in_region(area)));
        let high_milli = high.mean_wear_milli();
        self.stages.look(high_milli);
        self.bound.look(high_milli);
        self.low_wear.look(high_milli, low.mean_wear_milli());
        self.spills = self.is_balanced
            && low.is_emptier_than(&high)
            && low.valid_slots < low.most_settled(self.slots);
    }

    fn refuses_writes(&self) -> bool {
        self.bound.refuses_writes()
    }

    fn tells_updates(&self) -> bool {
        self.bound.shares() || self.last_reads.is_some()
    }

    #[inline]
    fn has_written(&mut self) {
        self.budget.earn(1);
    }

    #[inline]
    fn of_write(&self, page: &PageWrite) -> Option<Entry> {
        let is_hot = self.by_update && self.is_hot(page.heat) && self.may_write_low(page.heat);
        if is_hot && self.lets_out_of(page.from) {
            return self.enters(Entry::Update);
        }
        let shares = page.from.is_some() && self.bound.shares();
        shares.then(|| self.enters(Entry::Bound))?
    }

    #[inline]
    fn of_move(&self, page: &PageMove) -> Option<Entry> {
        let entry = match (page.from, page.owner) {
            (LOW, owner) if self.stays(owner) => Entry::Stay,
            // Data of failed programs go where there is room.
            (_, Owner::Rewrite) => return None,
            (LOW, Owner::MakeRoom) => {
                let stays =
                    self.is_balanced && self.second_chance.is_given() && self.is_hot(page.heat);
                stays.then_some(Entry::Stay)?
            }
            (HIGH, Owner::Gc | Owner::Wear) => {
                let is_hot = self.by_gc && self.is_hot(page.heat);
                let is_hot = is_hot && self.lets_out_of(Some(page.block));
                match page.owner {
                    Owner::Gc if is_hot => Entry::Gc,
                    _ if is_hot => Entry::Wear,
                    _ => (page.has_moved && self.spills).then_some(Entry::Spill)?,
                }
            }
            _ => return None,
        };
        self.enters(entry)
    }

    /// As printed, garbage collection takes data of LWA to HWA.
    #[inline]
    fn stays(&self, owner: Owner) -> bool {
        match owner {
            Owner::MakeRoom | Owner::Rewrite => false,
            Owner::Gc => self.is_balanced,
            _ => true,
        }
    }

    #[inline]
    fn sees_read(&self, area: RegionId, retries: u8) -> bool {
        let may_trigger = match &self.trigger {
            // Every read is learned from.
            _ if self.last_reads.is_some() => return true,
            Trigger::Slow(_) => return true,
            Trigger::Retried => retries > 0,
            Trigger::Any => true,
        };
        self.locality.is_on() || may_trigger && self.by_read && area == HIGH
    }

    #[inline]
    fn has_read(&mut self, pages: u32) {
        self.budget.earn(pages);
    }

    #[inline]
    fn after_read(&mut self, area: RegionId, read: &PageRead) -> Option<bool> {
        self.budget.earn(1);
        if let Trigger::Slow(times) = &mut self.trigger {
            times.learn(read);
        }
        let is_slow = match &self.trigger {
            Trigger::Retried => read.retries > 0,
            Trigger::Slow(times) => times.is_slow(read, read.mode),
            Trigger::Any => true,
        };
        if let Some(last) = &mut self.last_reads {
            last.note(read.block, is_slow);
        }
        let is_hot = self.stages.is_hot(read.heat.reads);
        self.locality.read(is_hot);
        if area == LOW || !is_hot || !self.by_read {
            return None;
        }
        self.enters(Entry::Read)?;
        is_slow.then(|| self.budget.has_page())
    }

    fn has_entered(&mut self, entry: Entry, owner: Option<Owner>) {
        if entry == Entry::Read {
            self.budget.spend();
        }
        self.second_chance.has_entered(entry, owner);
    }

    /// Garbage in LWA is compacted where that costs no more moves than a return, or no more than cleaning HWA.
    fn makes_room(&self, room: &RegionRoom) -> MakeRoom {
        let is_cheap = room.gain >= room.slots / 2 || room.gain >= room.own_gain;
        if self.is_balanced && room.gain > 0 && is_cheap {
            return MakeRoom::Compact;
        }
        match room.is_urgent {
            true => MakeRoom::EmptyOldest,
            false => MakeRoom::Nothing,
        }
    }

    fn oldest_leaves(&mut self) {
        self.second_chance.begin();
    }
}
