//! `block-calibration`: each block has read levels of its own, maintained by background reads.
//!
//! After R. Pletka et al., "Achieving Latency and Reliability Targets with QLC in Enterprise Controllers":
//! levels are determined per block, continuously, at a rate that follows P/E cycles, reads, retention time
//! and page type.
//!
//! ```text
//! a turn comes     which block and page type has drifted furthest since it was calibrated?
//! find             a page of it is read; if it fails, the retry table is walked to where it does not
//! refine           some pages are read there, below and above; on to the side with fewer errors until
//!                  the middle has the fewest, then to the vertex of the parabola through the three
//! keep             the offset of the page type's sentinel; its line gives those of its other valleys
//! a block is new   it begins with the default
//! ```
//!
//! One background read per turn, `background_reads` per interval. Where the read of a calibration has not ended when
//! the next turn comes, the turn is that of another calibration, of another unit: as many are under way as the drive has
//! channels, at most. A host read does not wait for a background read: that one gives way and is made again in a later
//! turn. `docs/firmware/comparators.md` lists what the slides leave open and what was decided.

mod rate;
mod visit;

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::params::{Need, Param, Role, Scheme, Values};
use firstread_core::voltage::{MAX_PAGES, VoltageTables};
use firstread_core::{
    CellMode, DieId, Geometry, LevelOffsets, Levels, Ns, PageAddr, PageType, SenseMode, Stream,
    SuperblockId,
};

use self::rate::{READS, Rate};
use self::visit::{Phase, Visit};
use super::ReadLevels;
use crate::format::record;
use crate::log::Record;
use crate::observe::{
    Outcome, Probe, ProbeResult, ReadCtx, SuperblockInfo, SuperblockTable, SuperblockUse,
};
use crate::policy::Setup;
use crate::voltage::offset_search::{Errors, OffsetSearch};
use crate::voltage::rate_limit::{INTERVAL_PARAM, RateLimit};
use crate::voltage::selector::outward;

pub const SCHEME: Scheme = Scheme {
    name: "block-calibration",
    summary: "levels of its own for every block, calibrated continuously where drift is fastest",
    source: "Achieving Latency and Reliability Targets with QLC in Enterprise Controllers (IBM), Flash Memory Summit",
    role: Role::Scheme,
    needs: &[Need::Voltages],
    ordered: &[],
    params: &[
        Param::choice(
            "unit",
            "what has levels of its own: a superblock, or its blocks of each die",
            &["superblock", "die"],
        ),
        Param::number(
            "pages",
            "pages that one calibration of a page type reads at each offset, over the layers of the block",
            "pages",
            (2, 1, 16),
        ),
        Param::number(
            "step",
            "distance of the offsets that are compared",
            "dac",
            (4, 1, 24),
        ),
        Param::number(
            "max_moves",
            "moves to a neighbouring offset after which a calibration ends",
            "moves",
            (6, 0, 32),
        ),
        Param::number(
            "onset",
            "rate: drift goes with the logarithm of 1 + retention time / onset",
            "ns",
            (30 * MINUTE, MINUTE, 8760 * 60 * MINUTE),
        ),
        Param::number(
            "pe_weight",
            "rate: so much more drift with every 1,000 P/E cycles",
            "permille",
            (100, 0, 10_000),
        ),
        Param::number(
            "read_onset",
            "rate: as much drift again with the logarithm of 1 + multi-plane pages read / read_onset",
            "reads",
            (1_000_000, 1, 1_000_000_000),
        ),
        Param::flag(
            "page_types",
            "rate: a page type counts by its number of valleys",
            true,
        ),
        Param::number(
            "in_flight",
            "background reads in flight at most; never two on a channel",
            "reads",
            (64, 1, 256),
        ),
        INTERVAL_PARAM,
        READS,
    ],
};

const MINUTE: i64 = 60_000_000_000;
/// Draws of a page on a free channel: with half of the channels free, one in 65,000 visits waits.
const DRAWS: u32 = 16;

/// Levels of a unit, with the entry of the retry table closest to them.
#[derive(Clone, Copy, Debug)]
struct Kept {
    levels: LevelOffsets,
    nearest: u8,
}

#[derive(Clone, Debug)]
pub struct BlockCalibration {
    tables: Box<VoltageTables>,
    geometry: Geometry,
    /// Units per superblock: one, or one per die.
    units: usize,
    kept: Box<[Kept]>,
    /// Drift of each page type of each superblock when it was last calibrated.
    calibrated_at: Box<[[u32; MAX_PAGES]]>,
    /// The next die of each superblock, by page type.
    turns: Box<[[u16; MAX_PAGES]]>,
    /// Weight of each page type.
    weights: [u32; MAX_PAGES],
    rate: Rate,
    pages: u8,
    step: u8,
    max_moves: u8,

    rate_limit: RateLimit,
    stream: Stream,
    /// Visits begun, those in progress among them.
    drawn: u64,
    /// The visits in progress, in as many places as background reads may be in flight.
    visits: Box<[Option<Visit>]>,
}

impl BlockCalibration {
    /// The scheme with the chip's tables and the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> BlockCalibration {
        let (geometry, tables) = (setup.geometry, Box::new(setup.tables.sound()));
        let blocks = geometry.blocks_per_plane as usize;
        let units = match values.get("unit") {
            0 => 1,
            _ => geometry.dies() as usize,
        };
        let valleys = &tables.page_of_valley[..tables.mode.valleys()];
        let weights = core::array::from_fn(|page| match values.flag("page_types") {
            true => valleys.iter().filter(|&&p| p as usize == page).count() as u32,
            false => 1,
        });
        let most = values.get("in_flight").min(i64::from(geometry.channels));
        BlockCalibration {
            kept: vec![DEFAULT; blocks * units].into_boxed_slice(),
            calibrated_at: vec![[0; MAX_PAGES]; blocks].into_boxed_slice(),
            turns: vec![[0; MAX_PAGES]; blocks].into_boxed_slice(),
            units,
            weights,
            rate: Rate {
                onset: values.get("onset") as u64,
                pe_permille: values.get("pe_weight") as u64,
                read_onset: values.get("read_onset") as u64,
            },
            pages: values.get("pages") as u8,
            step: values.get("step") as u8,
            max_moves: values.get("max_moves") as u8,
            rate_limit: RateLimit::new(values),
            stream: Stream::new(setup.seed).named("block calibration"),
            drawn: 0,
            visits: vec![None; most as usize].into_boxed_slice(),
            geometry,
            tables,
        }
    }

    /// Bytes of memory that the scheme uses.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.kept)
            + size_of_val(&*self.calibrated_at)
            + size_of_val(&*self.turns)
            + size_of_val(&*self.visits)
    }

    /// Levels of the unit that a page belongs to.
    #[inline]
    fn kept(&self, mode: CellMode, at: PageAddr) -> Kept {
        let unit = self.unit(at.block, at.die);
        match self.kept.get(unit) {
            Some(kept) if mode == self.tables.mode => *kept,
            _ => DEFAULT,
        }
    }
    #[inline]
    fn unit(&self, block: SuperblockId, die: DieId) -> usize {
        let of_die = if self.units > 1 { die.0 as usize } else { 0 };
        block.0 as usize * self.units + of_die
    }

    /// The full superblock and page type with the most drift since its last calibration, of those that none in progress
    /// excludes.
    fn most_urgent(
        &self,
        now: Ns,
        blocks: &SuperblockTable,
        is_free: &impl Fn(DieId) -> bool,
    ) -> Option<(SuperblockId, u8)> {
        let mut most = None;
        let mut urgency = 0;
        for (block, info) in blocks.iter() {
            if info.usage != SuperblockUse::Full || info.mode != self.tables.mode {
                continue;
            }
            let drift = self.rate.drift(now, info);
            let then = &self.calibrated_at[block.0 as usize];
            for page in 0..self.tables.mode.bits() {
                let since = drift.saturating_sub(then[page as usize]);
                let this = since as u64 * self.weights[page as usize] as u64;
                if this > urgency && !self.is_excluded(block, page, is_free) {
                    (most, urgency) = (Some((block, page)), this);
                }
            }
        }
        most
    }

    /// The die of the unit of `block` whose turn it is for page type `page`; none if the unit is the superblock.
    fn die_of_turn(&self, block: SuperblockId, page: u8) -> Option<DieId> {
        let turn = self.turns[block.0 as usize][page as usize];
        (self.units > 1).then_some(DieId(turn))
    }

    /// Whether a visit in progress excludes one of page type `page` of `block`, or another read is on the channel of its
    /// die.
    fn is_excluded(&self, block: SuperblockId, page: u8, is_free: &impl Fn(DieId) -> bool) -> bool {
        let die = self.die_of_turn(block, page);
        let mut visits = self.visits.iter().flatten();
        die.is_some_and(|die| !is_free(die)) || visits.any(|visit| visit.excludes(block, page, die))
    }

    /// Begins to calibrate the superblock and page type with the most drift.
    fn begin(
        &mut self,
        now: Ns,
        blocks: &SuperblockTable,
        is_free: &impl Fn(DieId) -> bool,
    ) -> Option<Visit> {
        let (block, page) = self.most_urgent(now, blocks, is_free)?;
        let die = self.die_of_turn(block, page);
        let turn = &mut self.turns[block.0 as usize][page as usize];
        *turn = (*turn + 1) % self.units as u16;
        let mut visit = Visit {
            number: self.drawn,
            block,
            programmed_at: blocks.info(block).programmed_at,
            page,
            die,
            asked: false,
            phase: Phase::Find {
                step: None,
                from: 0,
            },
        };
        // The first page is drawn anew where another read is on the channel of its die.
        for _ in 0..DRAWS {
            visit.number = self.drawn;
            self.drawn = self.drawn.wrapping_add(1);
            let (first, _) = self.page(&visit, 0);
            if is_free(first.die) {
                break;
            }
        }
        Some(visit)
    }

    /// The read of the oldest visit whose die is free for it. The visit has asked for it from now on.
    fn oldest_read(&mut self, is_free: &impl Fn(DieId) -> bool) -> Option<Probe> {
        let mut oldest: Option<(u64, usize)> = None;
        for (place, visit) in self.visits.iter().enumerate() {
            if let Some(visit) = visit
                && !visit.asked
                && oldest.is_none_or(|(number, _)| visit.number < number)
                && let Some((at, ..)) = self.next(&mut { *visit })
                && is_free(at.die)
            {
                oldest = Some((visit.number, place));
            }
        }
        let (_, place) = oldest?;
        let mut visit = self.visits[place]?;
        let (at, plane, levels) = self.next(&mut visit)?;
        visit.asked = true;
        self.visits[place] = Some(visit);
        Some(Probe {
            at,
            planes: 1 << plane,
            levels: Levels::Offsets(levels),
            mode: SenseMode::Hard,
        })
    }

    /// Takes the visit that has asked for `probe`, with its place.
    fn take_visit(&mut self, probe: &Probe) -> Option<(usize, Visit)> {
        let asked = |visit: &Option<Visit>| visit.is_some_and(|v| v.has_asked(probe));
        let place = self.visits.iter().position(asked)?;
        let visit = self.visits[place].take()?;
        Some((
            place,
            Visit {
                asked: false,
                ..visit
            },
        ))
    }

    /// Page `i` of a visit, with its plane. The pages are spread evenly over the layers, from a random first
    /// one.
    fn page(&self, visit: &Visit, i: u8) -> (PageAddr, u8) {
        let (g, s) = (&self.geometry, self.stream.at(visit.number));
        let wordlines = g.wordlines_per_block as u64;
        let apart = wordlines * i as u64 / self.pages as u64;
        let drawn = s.at(1 + i as u64);
        let any_die = DieId(drawn.at(0).below(g.dies() as u64) as u16);
        let at = PageAddr {
            die: visit.die.unwrap_or(any_die),
            block: visit.block,
            wordline: ((s.at(0).below(wordlines) + apart) % wordlines) as u16,
            page: PageType(visit.page),
        };
        (at, drawn.at(1).below(g.planes as u64) as u8)
    }

    /// The page and levels of the next read of `visit`.
    fn next(&self, visit: &mut Visit) -> Option<(PageAddr, u8, LevelOffsets)> {
        let (first, plane) = self.page(visit, 0);
        let kept = self.kept(self.tables.mode, first);
        match &mut visit.phase {
            Phase::Find { step: None, from } => {
                *from = kept.nearest;
                Some((first, plane, kept.levels))
            }
            Phase::Find {
                step: Some(step),
                from,
            } => {
                let entry = outward(*from, self.tables.factory_len, *step)?;
                Some((first, plane, self.tables.factory[entry as usize]))
            }
            Phase::Refine(search) => {
                let (offset, i) = search.next()?;
                let (at, plane) = self.page(visit, i);
                let mut levels = kept.levels;
                self.tables.project(visit.page, offset, &mut levels);
                Some((at, plane, levels))
            }
        }
    }

    /// A page has been read for `visit`. Returns the visit unless it has ended.
    fn read(
        &mut self,
        now: Ns,
        info: &SuperblockInfo,
        mut visit: Visit,
        tried: &LevelOffsets,
        outcome: &Outcome,
    ) -> Option<Visit> {
        match &mut visit.phase {
            Phase::Find { step, .. } if outcome.failed != 0 => {
                *step = Some(step.map_or(0, |step| step + 1));
            }
            Phase::Find { .. } => {
                let sentinel = self.tables.sentinel[visit.page as usize];
                let center = tried[sentinel as usize - 1];
                visit.phase = Phase::Refine(OffsetSearch::new(
                    center,
                    self.step,
                    self.pages,
                    self.max_moves,
                ));
            }
            Phase::Refine(search) => search.record(Errors {
                failed: outcome.failed.count_ones(),
                bits: outcome.sum_errors,
            }),
        }
        let found = match visit.phase {
            Phase::Refine(search) => search.found(),
            Phase::Find { step, .. } => {
                let given_up = step.is_some_and(|step| step >= self.tables.factory_len);
                if given_up {
                    // No level reads this page. Other pages of the same page type will be visited later.
                    self.note(now, info, &visit);
                    return None;
                }
                None
            }
        };
        let Some(offset) = found else {
            return Some(visit);
        };
        let unit = self.unit(visit.block, visit.die.unwrap_or_default());
        let kept = &mut self.kept[unit];
        self.tables.project(visit.page, offset, &mut kept.levels);
        kept.nearest = self.tables.nearest(&kept.levels);
        self.note(now, info, &visit);
        None
    }

    /// The page type of `visit` has been calibrated as well as possible: stores the result.
    fn note(&mut self, now: Ns, info: &SuperblockInfo, visit: &Visit) {
        self.calibrated_at[visit.block.0 as usize][visit.page as usize] =
            self.rate.drift(now, info);
    }

    /// Whether what was loaded can be.
    pub(super) fn is_sound(&self) -> bool {
        let entries = self.tables.factory_len;
        let mut turns = self.turns.as_flattened().iter();
        self.kept.iter().all(|kept| kept.nearest < entries)
            && turns.all(|&turn| usize::from(turn) < self.units)
            && self
                .visits
                .iter()
                .flatten()
                .all(|visit| self.may_visit(visit))
    }

    fn may_visit(&self, visit: &Visit) -> bool {
        let entries = self.tables.factory_len;
        let phase = match visit.phase {
            Phase::Find { step, from } => from < entries && step.is_none_or(|step| step < entries),
            Phase::Refine(search) => search.is_sound(),
        };
        let die = visit.die.is_none_or(|die| usize::from(die.0) < self.units);
        let page = visit.page < self.tables.mode.bits();
        visit.block.0 < self.geometry.blocks_per_plane && die && page && phase
    }

    fn forget(&mut self, block: SuperblockId) {
        let from = block.0 as usize * self.units;
        if let Some(kept) = self.kept.get_mut(from..from + self.units) {
            kept.fill(DEFAULT);
            self.calibrated_at[block.0 as usize] = [0; MAX_PAGES];
        }
    }
}

/// The factory default, which is entry 0 of the retry table.
const DEFAULT: Kept = Kept {
    levels: [0; 15],
    nearest: 0,
};

impl ReadLevels for BlockCalibration {
    /// `note` is the entry where the walk over the retry table begins, because the stored levels may change
    /// during the read.
    #[inline]
    fn attempt(
        &mut self,
        ctx: &ReadCtx,
        step: u8,
        _last: Option<&Outcome>,
        note: &mut u8,
    ) -> Option<Levels> {
        let Some(k) = step.checked_sub(1) else {
            let kept = self.kept(ctx.mode, ctx.at);
            *note = kept.nearest;
            return Some(Levels::Offsets(kept.levels));
        };
        let entry = outward(*note, self.tables.factory_len, k)?;
        Some(Levels::Offsets(self.tables.factory[entry as usize]))
    }

    fn start(&mut self, now: Ns, _blocks: &SuperblockTable) {
        self.kept.fill(DEFAULT);
        self.calibrated_at.fill([0; MAX_PAGES]);
        // Superblocks begin with different dies, so that calibrations of several lie on several channels.
        for (block, turns) in self.turns.iter_mut().enumerate() {
            *turns = core::array::from_fn(|page| ((MAX_PAGES * block + page) % self.units) as u16);
        }
        self.visits.fill(None);
        self.rate_limit.start(now);
    }

    fn on_block(&mut self, _now: Ns, block: SuperblockId, _blocks: &SuperblockTable) {
        self.forget(block);
    }

    fn due(&self) -> Ns {
        self.rate_limit.due()
    }

    fn most_probes(&self) -> u16 {
        self.visits.len() as u16
    }

    fn probes_give_way(&self) -> bool {
        true
    }

    fn probe(
        &mut self,
        now: Ns,
        blocks: &SuperblockTable,
        is_free: &impl Fn(DieId) -> bool,
        log: &mut impl FnMut(Record),
    ) -> Option<Probe> {
        if !self.rate_limit.turn(now, log) {
            return None;
        }
        for place in 0..self.visits.len() {
            if let Some(mut visit) = self.visits[place]
                && !visit.asked
                && (!visit.alive(blocks) || self.next(&mut visit).is_none())
            {
                self.visits[place] = None;
            }
        }
        let mut probe = self.oldest_read(is_free);
        if probe.is_none()
            && let Some(place) = self.visits.iter().position(Option::is_none)
        {
            self.visits[place] = self.begin(now, blocks, is_free);
            probe = self.oldest_read(is_free);
        }
        if probe.is_some() {
            self.rate_limit.spend();
        }
        probe
    }

    fn given_up(&mut self, probe: &Probe) {
        if let Some((place, visit)) = self.take_visit(probe) {
            self.visits[place] = Some(visit);
        }
    }

    fn on_probe(
        &mut self,
        now: Ns,
        probe: &Probe,
        result: &ProbeResult,
        blocks: &SuperblockTable,
        _log: &mut impl FnMut(Record),
    ) {
        let Some((place, visit)) = self.take_visit(probe) else {
            return;
        };
        if visit.alive(blocks)
            && let (ProbeResult::Decoded(outcome), Levels::Offsets(tried)) = (result, &probe.levels)
        {
            let info = blocks.info(visit.block);
            self.visits[place] = self.read(now, info, visit, tried, outcome);
        }
    }
}

record! {
    Kept as "levels of a unit" {
        levels ["dac"]: "offsets from the factory default",
        nearest: "entry of the retry table closest to them",
    }
}

record! {
    BlockCalibration as "block-calibration" {
        kept: "levels of each unit",
        calibrated_at ["1/65536 doublings"]: "drift of each superblock and page type when it was last calibrated",
        turns: "next die of each superblock, by page type",
        rate_limit: "when the next background read may be made",
        drawn: "calibrations begun",
        visits: "the calibrations in progress, by place",
    } not {
        tables: "of the configuration",
        geometry: "of the configuration",
        units: "of the configuration",
        weights: "of the configuration",
        rate: "of the configuration",
        pages: "of the configuration",
        step: "of the configuration",
        max_moves: "of the configuration",
        stream: "of the configuration",
    }
}
