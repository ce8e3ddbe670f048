//! `clairvoyant`: the oracle. It knows how often each page will be read, and when.
//!
//! The load is divided into phases, between which the pages that are read most change (`phases`). At its first read from
//! flash in a phase, a page goes to the mode in which its reads of the phase take the least time, the price of its slot
//! included. Prices are such that the pages chosen fill the superblocks that may be lost (`plan`). They are found once,
//! before the load runs, for each phase and each ratio of the times of a read. The times are those of the chip, with the
//! retries that reads in the mode took of late. A superblock of which no page is worth its slot any more is given back.
//!
//! Pages that are read most lie side by side, so that they disturb each other. So they are copied to another superblock of
//! their mode once theirs has been read so often that it is *tired*, and what they leave behind is given back. The plan keeps
//! the slots that this takes. A page whose reads have become slow in another mode before that is copied again too, if that
//! saves more than its slot costs.
//!
//! It is the best known and no proven bound: see `docs/firmware/cell-modes.md`.

use alloc::vec::Vec;

use firstread_core::CellMode;
use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::params::{KEEP, SLC_AND_TLC};
use super::phases::Division;
use super::plan::{Plan, Slots, Times};
use super::rounds::{PERIOD, Rounds};
use super::{CellModes, GiveBack, ReclaimState};
use crate::observe::{
    Future, InPhase, ModeSet, PageFuture, PageHeat, RegionId, StreamRow, SuperblockInfo,
    SuperblockTable, SuperblockUse,
};
use crate::policy::Setup;
use crate::policy::hot_pages::{PageRead, ReadTimes};

/// Slots that superblocks in other modes may cost.
const LOST: Param = Param::number(
    "lost",
    "slots that superblocks in other modes may cost, as a share of all slots of the drive",
    "permille",
    (30, 0, 750),
);

pub const SCHEME: Scheme = Scheme {
    name: "clairvoyant",
    summary: "pages go where their reads to come take the least time",
    source: "the best known, an oracle without a proven bound: the lowest mean read latency for so many slots lost",
    role: Role::Oracle,
    needs: &[Need::CellModes, Need::Future],
    ordered: &[],
    params: &[LOST, KEEP, PERIOD],
};

/// Retries are averaged in 65536ths.
const ONE: u64 = 1 << 16;
/// A read counts for one part in so many of the average.
const WINDOW: u64 = 64;
/// Reads of a superblock, for each of its slots, up to which its data count as just written.
const FRESH: u64 = 16;
/// Reads for which a mode asks for no superblock, once it was refused one.
const CLOSED: u32 = 1 << 10;
/// A page stays if it is read at least this part as often as the last page that is worth a slot: it is no use to copy pages
/// on the edge in turn.
const STAYS: u32 = 2;
/// Times that a superblock more may change its mode, and none does, after which room is made for one.
const NONE_FREE: u32 = 16;
/// Reads after which open superblocks are looked at.
const LOOK: u32 = 1 << 12;

#[derive(Clone, Debug)]
pub struct Clairvoyant {
    own: CellMode,
    slots: Slots,
    /// Slots of a superblock in the drive's own mode.
    own_slots: u64,
    /// Slots that may be lost, as a share of those of all superblocks that are not retired.
    lost_permille: u64,
    /// Slots that are left in any case.
    kept: u64,
    keep_permille: u32,
    /// The plan of each phase of the load.
    plans: Vec<Plan>,
    /// The phase that the load is in.
    phase: u32,
    read_times: ReadTimes,
    /// Retries of reads in each mode, on average: in other modes than the drive's own, of data just written.
    retries: [u64; CellMode::ALL.len()],
    /// Modes of which a page was read.
    seen: ModeSet,
    /// Modes that may have no superblock more, as far as is known, for so many reads.
    closed: ModeSet,
    closed_for: u32,
    /// Reads until open superblocks are looked at.
    look_in: u32,
    /// Superblocks in other modes when one more was last allowed, and how often it was since there were so many.
    allowed: (u32, u32),
    rounds: Rounds,
}

impl Clairvoyant {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Clairvoyant {
        let own = setup.tables.mode;
        let keep = values.get(KEEP.key) as u64;
        Clairvoyant {
            own,
            slots: Slots::new(&setup.geometry, own),
            own_slots: u64::from(setup.geometry.slots_per_superblock(own)),
            lost_permille: values.get(LOST.key) as u64,
            kept: setup.capacity_slots + setup.capacity_slots * keep / 1000,
            keep_permille: keep as u32,
            plans: Vec::new(),
            phase: 0,
            read_times: ReadTimes::new(setup),
            retries: [0; CellMode::ALL.len()],
            seen: ModeSet::default(),
            closed: ModeSet::default(),
            closed_for: 0,
            look_in: LOOK,
            allowed: (0, 0),
            rounds: Rounds::new(values),
        }
    }

    /// Slots that may be lost on a drive of which `superblocks` are not retired: those that are retired hold nothing.
    fn budget(&self, superblocks: u64) -> u64 {
        let all = superblocks * self.own_slots;
        (all * self.lost_permille / 1000).min(all.saturating_sub(self.kept))
    }

    /// Counts the retries of a read for its mode.
    #[inline]
    fn learn(&mut self, read: &PageRead) {
        let average = &mut self.retries[read.mode.index()];
        let new = u64::from(read.retries) * ONE;
        *average = match self.seen.has(read.mode) {
            true => *average - *average / WINDOW + new / WINDOW,
            false => new,
        };
        self.seen.add(read.mode);
    }

    /// Expected times of a read in each mode.
    #[inline]
    fn times(&self) -> Option<Times> {
        let of = |mode: CellMode| {
            let step = self.read_times.mean_step_ns(mode)?;
            Some(step + step * self.retries[mode.index()] / ONE)
        };
        Some(Times {
            own: of(self.own)?,
            slc: of(CellMode::Slc)?,
            tlc: of(CellMode::Tlc)?,
        })
    }

    /// The load is in phase `phase`.
    #[inline]
    fn enter(&mut self, phase: u32) {
        if phase != self.phase {
            self.phase = phase;
            self.closed_for = 0;
            self.rounds.begin();
        }
    }

    /// Whether the superblock of `info`, in another mode, was read so often that its data are to be rewritten.
    fn is_tired(&self, info: &SuperblockInfo) -> bool {
        self.slots.of(info.mode).is_some() && info.reads >= self.slots.tired
    }

    /// Superblock of the drive's own region and mode with the most garbage, if no superblock is free for a change of mode: one of a
    /// declared region does not change its mode. Garbage collection goes at the pace of the host's writes, and a load may have
    /// none.
    fn makes_room(&mut self, blocks: &SuperblockTable) -> Option<GiveBack> {
        if self.allowed.1 < NONE_FREE {
            return None;
        }
        self.allowed.1 = 0;
        let own = blocks.in_region(RegionId::MAIN);
        let at_rest = own.iter().filter(|(_, info)| {
            let is_full = info.usage == SuperblockUse::Full && !info.evacuating && !info.failed;
            is_full && info.mode == self.own && !info.holds_map
        });
        let (block, info) = at_rest.min_by_key(|(_, info)| info.valid_slots)?;
        let holds = self.slots.hold[0] * u64::from(self.own.bits());
        (8 * u64::from(info.valid_slots) < 7 * holds).then_some(GiveBack::Now(block))
    }

    /// Expected time of a read of the page of `read` where it lies.
    #[inline]
    fn here_ns(&self, read: &PageRead) -> Option<u64> {
        let step = self.read_times.step_ns(read.mode, read.page)?;
        Some(step + step * u64::from(read.retries))
    }
}

/// The superblocks of `blocks` that are not retired.
fn good(blocks: &SuperblockTable) -> impl Iterator<Item = &SuperblockInfo> {
    let infos = blocks.iter().map(|(_, info)| info);
    infos.filter(|info| info.usage != SuperblockUse::Bad)
}

impl CellModes for Clairvoyant {
    fn streams(&self) -> &'static [StreamRow] {
        SLC_AND_TLC
    }

    fn keep_permille(&self) -> u32 {
        self.keep_permille
    }

    fn after_read(&mut self, read: &PageRead) -> Option<CellMode> {
        self.rounds.after_read();
        self.closed_for = self.closed_for.saturating_sub(1);
        self.look_in = self.look_in.saturating_sub(1);
        let is_fresh = match self.slots.of(read.mode) {
            Some((holds, _)) => read.block_reads <= FRESH * holds,
            None => true,
        };
        if is_fresh {
            self.learn(read);
        }
        let InPhase { phase, reads, left } = read.future.now;
        self.enter(phase);
        let is_own = read.mode == self.own;
        let is_tired = !is_own && read.block_reads >= self.slots.tired;
        if left == 0 {
            return None;
        }
        // A page that was refused at its first read is worth as much as planned until it is copied.
        let reads = match is_own {
            true => left.max(reads.saturating_sub(1)),
            false => left,
        };
        let to = match is_tired {
            true => read.mode,
            false => {
                let plan = self.plans.get(phase as usize)?;
                plan.mode_of(reads, self.here_ns(read)?, &self.times()?)?
            }
        };
        if !is_tired && to == read.mode && (is_fresh || read.retries == 0) {
            return None;
        }
        (self.closed_for == 0 || !self.closed.has(to)).then_some(to)
    }

    fn may_convert(&mut self, mode: CellMode, blocks: &SuperblockTable) -> bool {
        let (mut all, mut in_mode, mut in_others, mut lost) = (0, 0, 0, 0);
        for info in good(blocks) {
            all += 1;
            // One that is tired has another one beside it.
            in_mode += u32::from(info.mode == mode && !self.is_tired(info));
            in_others += u32::from(info.mode != self.own);
            lost += self.slots.of(info.mode).map_or(0, |(_, loses)| loses);
        }
        let loses = self.slots.of(mode).map_or(0, |(_, loses)| loses);
        let plan = self.plans.get(self.phase as usize);
        let most = match (plan, self.times()) {
            (Some(plan), Some(times)) => plan.superblocks(mode, &times),
            _ => 0,
        };
        let may = in_mode < most && lost + loses <= self.budget(all);
        if !may {
            if self.closed_for == 0 {
                self.closed = ModeSet::default();
            }
            self.closed.add(mode);
            self.closed_for = CLOSED;
            // What was left behind may make room.
            self.rounds.begin();
        }
        self.allowed = match self.allowed {
            (of, times) if may && of == in_others => (of, times + 1),
            _ => (in_others, u32::from(may)),
        };
        may
    }

    fn stays(&self, _: CellMode, _: PageHeat, future: PageFuture) -> bool {
        let InPhase { phase, reads, left } = future.now;
        let plan = self.plans.get(phase as usize);
        let least = plan.zip(self.times());
        let least = least.map_or(0, |(plan, times)| plan.least(&times));
        left > 0 && reads.saturating_mul(STAYS) > least
    }

    fn foresee(&mut self, future: &mut Future, blocks: &SuperblockTable) {
        (self.closed_for, self.phase) = (0, 0);
        self.plans.clear();
        let budget = self.budget(good(blocks).count() as u64);
        let most = future.all_versions();
        let most: Vec<u32> = most
            .map(|of| of.iter().copied().max().unwrap_or(0))
            .collect();
        if let Some((phases, now)) = future.phases() {
            // The load was divided before power was cut: its plans follow from what was told.
            let mut saved = alloc::vec![Vec::new(); phases as usize];
            for (page, told) in future.told_by_phase() {
                match told.reads.min(most[page]) {
                    0 | 1 => {}
                    reads => saved[told.phase as usize].push(reads - 1),
                }
            }
            let plan = |saved| Plan::new(saved, &self.slots, budget);
            self.plans = saved.into_iter().map(plan).collect();
            self.phase = now;
            return;
        }
        let (Some(windows), Some(times)) = (future.windows(), self.times()) else {
            return;
        };
        let division = Division {
            windows,
            most: &most,
            slots: &self.slots,
            budget,
            times,
        };
        let (starts, plans) = division.phases();
        self.plans = plans;
        future.divide(&starts);
    }

    fn gives_back(&mut self, state: &ReclaimState<'_>) -> Option<GiveBack> {
        let blocks = state.blocks;
        if let Some(room) = self.makes_room(blocks) {
            return Some(room);
        }
        if self.look_in == 0 {
            self.look_in = LOOK;
            // No page is copied from an open superblock. It is closed.
            let mut open = blocks
                .iter()
                .filter(|(_, info)| info.usage == SuperblockUse::Open);
            if let Some((block, _)) = open.find(|(_, info)| self.is_tired(info)) {
                return Some(GiveBack::Now(block));
            }
        }
        while let Some(block) = self.rounds.next(blocks) {
            let info = blocks.info(block);
            let at_rest = info.usage == SuperblockUse::Full && !info.evacuating;
            let Some((holds, _)) = self.slots.of(info.mode).filter(|_| at_rest) else {
                continue;
            };
            // The pages of a tired one are copied by their next reads. If they were moved while no slot is at hand, they would go
            // to the drive's own mode.
            if 2 * u64::from(info.valid_slots) < holds && !self.is_tired(info) {
                return Some(GiveBack::Now(block));
            }
            return Some(GiveBack::UnlessOneStays(block));
        }
        None
    }
}
