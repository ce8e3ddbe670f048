//! `clairvoyant`: the oracle. It knows how often each page will be read.
//!
//! At its first read from flash, a page goes to the mode in which its reads take the least time, the price of its slot
//! included. Prices are such that the pages chosen fill the superblocks that may be lost (`plan`). They are found once,
//! before the load runs, for each ratio of the times of a read. The times are those of the chip, with the retries that
//! reads in the mode took of late.
//!
//! A page whose reads have become slow in another mode is copied again, if that saves more than its slot costs: hot pages
//! side by side are read so often that they disturb each other. What they leave behind is given back. If no slot is to
//! be had for them, their whole superblock is given back, and they come to a new one by their next reads.

use alloc::vec::Vec;

use firstread_core::params::{Need, Param, Role, Scheme, Values};
use firstread_core::{CellMode, SuperblockId};

use super::params::{KEEP, SLC_AND_TLC};
use super::plan::{Plan, Slots, Times};
use super::rounds::{PERIOD, Rounds};
use super::{CellModes, GiveBack, ReclaimState};
use crate::observe::{
    Future, ModeSet, PageFuture, PageHeat, StreamRow, SuperblockTable, SuperblockUse,
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
    source: "the oracle: the lowest mean read latency for so many slots lost",
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

#[derive(Clone, Debug)]
pub struct Clairvoyant {
    own: CellMode,
    slots: Slots,
    /// Slots that may be lost.
    budget: u64,
    keep_permille: u32,
    plan: Plan,
    read_times: ReadTimes,
    /// Retries of reads in each mode, on average: in other modes than the drive's own, of data just written.
    retries: [u64; CellMode::ALL.len()],
    /// Modes of which a page was read.
    seen: ModeSet,
    /// Modes that may have no superblock more, as far as is known, for so many reads.
    closed: ModeSet,
    closed_for: u32,
    /// A superblock whose data have become slow, and cannot be copied one by one.
    slow: Option<SuperblockId>,
    rounds: Rounds,
}

impl Clairvoyant {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Clairvoyant {
        let own = setup.tables.mode;
        let slots = u64::from(setup.geometry.slots_per_superblock(own));
        let all = u64::from(setup.geometry.blocks_per_plane) * slots;
        let keep = values.get(KEEP.key) as u64;
        let kept = setup.capacity_slots + setup.capacity_slots * keep / 1000;
        Clairvoyant {
            own,
            slots: Slots::new(&setup.geometry, own),
            budget: (all * values.get(LOST.key) as u64 / 1000).min(all.saturating_sub(kept)),
            keep_permille: keep as u32,
            plan: Plan::nothing(),
            read_times: ReadTimes::new(setup),
            retries: [0; CellMode::ALL.len()],
            seen: ModeSet::default(),
            closed: ModeSet::default(),
            closed_for: 0,
            slow: None,
            rounds: Rounds::new(values),
        }
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

    /// Expected time of a read of the page of `read` where it lies.
    #[inline]
    fn here_ns(&self, read: &PageRead) -> Option<u64> {
        let step = self.read_times.step_ns(read.mode, read.page)?;
        Some(step + step * u64::from(read.retries))
    }
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
        let is_fresh = match self.slots.of(read.mode) {
            Some((holds, _)) => read.block_reads <= FRESH * holds,
            None => true,
        };
        if is_fresh {
            self.learn(read);
        }
        let is_own = read.mode == self.own;
        let PageFuture { reads, left, .. } = read.future;
        if left == 0 || !is_own && (is_fresh || read.retries == 0) {
            return None;
        }
        // A page that was refused at its first read is worth as much as planned until it is copied.
        let reads = match is_own {
            true => left.max(reads.saturating_sub(1)),
            false => left,
        };
        let to = self
            .plan
            .mode_of(reads, self.here_ns(read)?, &self.times()?)?;
        if self.closed_for == 0 || !self.closed.has(to) {
            return Some(to);
        }
        if !is_own {
            self.slow = Some(read.block);
        }
        None
    }

    fn may_convert(&mut self, mode: CellMode, blocks: &SuperblockTable) -> bool {
        let (mut in_mode, mut lost) = (0, 0);
        let good = blocks
            .iter()
            .filter(|(_, info)| info.usage != SuperblockUse::Bad);
        for (_, info) in good {
            in_mode += u32::from(info.mode == mode);
            lost += self.slots.of(info.mode).map_or(0, |(_, loses)| loses);
        }
        let loses = self.slots.of(mode).map_or(0, |(_, loses)| loses);
        let most = self
            .times()
            .map_or(0, |times| self.plan.superblocks(mode, &times));
        let may = in_mode < most && lost + loses <= self.budget;
        if !may {
            if self.closed_for == 0 {
                self.closed = ModeSet::default();
            }
            self.closed.add(mode);
            self.closed_for = CLOSED;
            // What was left behind may make room.
            self.rounds.begin();
        }
        may
    }

    fn stays(&self, _: CellMode, _: PageHeat, future: PageFuture) -> bool {
        future.left > 0
    }

    fn foresee(&mut self, future: &Future) {
        self.closed_for = 0;
        if !future.is_known() {
            self.plan = Plan::nothing();
            return;
        }
        // A page has one version at a time: the one that is read most counts. Its first read finds it where it lies.
        let most = future.all_versions().map(|versions| versions.iter().max());
        let saved = most.map(|reads| reads.map_or(0, |reads| reads.saturating_sub(1)));
        let saved: Vec<u32> = saved.filter(|&reads| reads > 0).collect();
        self.plan = Plan::new(saved, &self.slots, self.budget);
    }

    fn gives_back(&mut self, state: &ReclaimState<'_>) -> Option<GiveBack> {
        let blocks = state.blocks;
        if let Some(block) = self.slow.take() {
            return Some(GiveBack::Now(block));
        }
        while let Some(block) = self.rounds.next(blocks) {
            let info = blocks.info(block);
            let at_rest = info.usage == SuperblockUse::Full && !info.evacuating;
            let Some((holds, _)) = self.slots.of(info.mode).filter(|_| at_rest) else {
                continue;
            };
            if 2 * u64::from(info.valid_slots) < holds {
                return Some(GiveBack::Now(block));
            }
            return Some(GiveBack::UnlessOneStays(block));
        }
        None
    }
}
