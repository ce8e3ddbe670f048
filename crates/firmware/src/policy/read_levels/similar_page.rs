//! `similar-page`: a page is first read with the entry that last worked for a similar page.
//!
//! After Y. Shim et al., "Exploiting Process Similarity of 3D Flash Memory for High Performance SSDs": pages
//! of one horizontal layer of a block have similar cells and age alike. For each such layer, a table keeps
//! the retry-table entry with which a read of one of its pages last ended.
//!
//! ```text
//! a read     its key's entry, if there is one that is not stale; else the default, or what last
//!            worked in the superblock. After it the retry table outward from there
//! it ends    the entry it ended with is the key's from now on
//! an erase   the superblock's keys have none
//! meanwhile  pages drawn at random are read the same way, `background_reads` an interval
//! ```
//!
//! The table has an element for each key, so a key misses only before its first read.
//! `docs/firmware/comparators.md` lists what the paper leaves open and what was decided.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::params::{Need, Param, Role, Scheme, Values};
use firstread_core::voltage::VoltageTables;
use firstread_core::{
    DieId, Geometry, Levels, Ns, PageAddr, PageType, SenseMode, Stream, SuperblockId,
};

use super::ReadLevels;
use crate::format::{self, Cursor, record};
use crate::log::Record;
use crate::observe::{
    Outcome, Probe, ProbeResult, ReadCtx, SuperblockInfo, SuperblockTable, SuperblockUse,
};
use crate::policy::Setup;
use crate::voltage::rate_limit::{INTERVAL_PARAM, READS_PARAM, RateLimit};
use crate::voltage::selector::outward;

pub const SCHEME: Scheme = Scheme {
    name: "similar-page",
    summary: "first what last worked for a page of the same layer of the same block",
    source: "Exploiting Process Similarity of 3D Flash Memory for High Performance SSDs (PSO), MICRO 2019",
    role: Role::Scheme,
    needs: &[Need::Voltages],
    ordered: &[],
    params: &[
        Param::choice(
            "key",
            "pages that share an entry: those of a layer of a block, of a layer of a die, or of a block",
            &["block-layer", "die-layer", "block"],
        ),
        Param::choice(
            "miss",
            "a read whose key has no entry starts with the default, or with what last worked in its superblock",
            &["default", "superblock"],
        ),
        Param::number(
            "stale_after",
            "an entry counts as none so long after a read last ended with it; 0 for never",
            "ns",
            (0, 0, MAX_HOURS as i64 * HOUR as i64),
        ),
        Param::number(
            "quantum",
            "entries of the retry table that one stored step stands for",
            "entries",
            (1, 1, 16),
        ),
        INTERVAL_PARAM,
        READS_PARAM,
    ],
};

/// Nanoseconds of an hour.
const HOUR: u64 = 3_600_000_000_000;
/// Largest age that a stored entry can hold (h). Greater ages are stored as this.
const MAX_HOURS: u64 = 1022;

/// The entry that last worked, in two bytes: six bits for the retry-table entry, and ten bits for the age of
/// the data in hours plus one. Zero means none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stored(u16);

impl Stored {
    const NONE: Stored = Stored(0);

    fn new(entry: u8, hours: u64) -> Stored {
        Stored((hours.min(MAX_HOURS) as u16 + 1) << 6 | entry as u16)
    }
    fn entry(self) -> u8 {
        (self.0 & 63) as u8
    }
    fn hours(self) -> u64 {
        (self.0 >> 6) as u64 - 1
    }
}

/// Which pages share a stored entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Key {
    BlockLayer,
    DieLayer,
    Block,
}

/// A background read with its retries.
#[derive(Clone, Copy, Debug)]
struct Patrol {
    at: PageAddr,
    plane: u8,
    programmed_at: Ns,
    step: u8,
    note: u8,
}

#[derive(Clone, Debug)]
pub struct SimilarPage {
    tables: Box<VoltageTables>,
    layer_of: Box<[u16]>,
    geometry: Geometry,
    key: Key,
    layers: usize,
    /// The entry that last worked, by key.
    kept: Box<[Stored]>,
    /// The entry that last worked, by superblock, if a miss falls back to it.
    wider: Box<[Stored]>,
    /// Age in hours after which a stored entry is not used; none for never.
    stale_after: Option<u64>,
    quantum: u8,

    rate_limit: RateLimit,
    stream: Stream,
    drawn: u64,
    patrol: Option<Patrol>,
}

impl SimilarPage {
    /// The scheme with the chip's tables and the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> SimilarPage {
        let geometry = setup.geometry;
        let (blocks, dies) = (geometry.blocks_per_plane as usize, geometry.dies() as usize);
        let layers = 1 + setup.layer_of.iter().copied().max().unwrap_or(0) as usize;
        let (key, keys) = match values.get("key") {
            0 => (Key::BlockLayer, blocks * dies * layers),
            1 => (Key::DieLayer, dies * layers),
            _ => (Key::Block, blocks * dies),
        };
        let wider = if values.get("miss") == 0 { 0 } else { blocks };
        let stale_after = values.get("stale_after") as u64;
        SimilarPage {
            tables: Box::new(setup.tables.sound()),
            layer_of: setup.layer_of.clone(),
            geometry,
            key,
            layers,
            kept: vec![Stored::NONE; keys].into_boxed_slice(),
            wider: vec![Stored::NONE; wider].into_boxed_slice(),
            stale_after: (stale_after > 0).then_some(stale_after / HOUR),
            quantum: values.get("quantum") as u8,
            rate_limit: RateLimit::new(values),
            stream: Stream::new(setup.seed).named("similar-page patrol"),
            drawn: 0,
            patrol: None,
        }
    }

    /// Bytes of memory that the scheme uses.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.kept) + size_of_val(&*self.wider)
    }

    /// Index of the page's key; none in a cell mode for which the retry table is not made.
    #[inline]
    fn place(&self, ctx: &ReadCtx) -> Option<usize> {
        if ctx.mode != self.tables.mode {
            return None;
        }
        let (block, die) = (ctx.at.block.0 as usize, ctx.at.die.0 as usize);
        let layer = *self.layer_of.get(ctx.at.wordline as usize)? as usize;
        let dies = self.geometry.dies() as usize;
        Some(match self.key {
            Key::BlockLayer => (block * dies + die) * self.layers + layer,
            Key::DieLayer => die * self.layers + layer,
            Key::Block => block * dies + die,
        })
    }

    /// The stored entry at `place` of `table`, if a read of data `age` old may start with it.
    #[inline]
    fn fresh(&self, table: &[Stored], place: usize, age: Ns) -> Option<u8> {
        let stored = *table.get(place)?;
        if stored == Stored::NONE {
            return None;
        }
        let stale = self
            .stale_after
            .is_some_and(|after| (age.0 / HOUR).saturating_sub(stored.hours()) >= after);
        (!stale && stored.entry() < self.tables.factory_len).then_some(stored.entry())
    }

    /// The entry that a read starts with.
    #[inline]
    fn first(&self, ctx: &ReadCtx) -> u8 {
        let Some(place) = self.place(ctx) else {
            return 0;
        };
        self.fresh(&self.kept, place, ctx.age)
            .or_else(|| self.fresh(&self.wider, ctx.at.block.0 as usize, ctx.age))
            .unwrap_or(0)
    }

    /// A superblock has begun to hold data, or was erased: forgets its entries.
    fn forget(&mut self, block: SuperblockId) {
        let dies = self.geometry.dies() as usize;
        let each = match self.key {
            Key::BlockLayer => dies * self.layers,
            Key::Block => dies,
            // The layers of a die are shared by all its blocks.
            Key::DieLayer => 0,
        };
        let from = block.0 as usize * each;
        if let Some(keys) = self.kept.get_mut(from..from + each) {
            keys.fill(Stored::NONE);
        }
        if let Some(one) = self.wider.get_mut(block.0 as usize) {
            *one = Stored::NONE;
        }
    }

    /// Whether what was loaded can be.
    pub(super) fn is_sound(&self) -> bool {
        let Some(patrol) = &self.patrol else {
            return true;
        };
        let (g, entries) = (&self.geometry, self.tables.factory_len);
        patrol.at.block.0 < g.blocks_per_plane
            && u32::from(patrol.at.die.0) < g.dies() as u32
            && patrol.at.wordline < g.wordlines_per_block
            && patrol.at.page.0 < self.tables.mode.bits()
            && patrol.plane < g.planes
            && patrol.step < entries
            && patrol.note < entries
    }

    /// Draws a random page of the full superblocks.
    fn draw(&mut self, blocks: &SuperblockTable) -> Option<Patrol> {
        let mode = self.tables.mode;
        let fits = |&(_, info): &(SuperblockId, &SuperblockInfo)| {
            info.usage == SuperblockUse::Full && info.mode == mode
        };
        let stream = self.stream.at(self.drawn);
        self.drawn = self.drawn.wrapping_add(1);
        let full = blocks.iter().filter(fits).count() as u64;
        let (block, info) = blocks
            .iter()
            .filter(fits)
            .nth(stream.at(0).below(full) as usize)?;
        let geometry = &self.geometry;
        Some(Patrol {
            at: PageAddr {
                die: DieId(stream.at(1).below(geometry.dies() as u64) as u16),
                block,
                wordline: stream.at(2).below(geometry.wordlines_per_block as u64) as u16,
                page: PageType(stream.at(3).below(mode.bits() as u64) as u8),
            },
            plane: stream.at(4).below(geometry.planes as u64) as u8,
            programmed_at: info.programmed_at,
            step: 0,
            note: 0,
        })
    }
}

impl Patrol {
    fn alive(&self, blocks: &SuperblockTable) -> bool {
        blocks.still_holds(self.at.block, self.programmed_at)
    }
}

fn ctx_of(now: Ns, at: PageAddr, blocks: &SuperblockTable) -> ReadCtx {
    let info = blocks.info(at.block);
    ReadCtx {
        now,
        at,
        mode: info.mode,
        pe_cycles: info.pe_cycles,
        age: now.since(info.programmed_at),
    }
}

impl ReadLevels for SimilarPage {
    /// `note` is the entry with which the read started, because other reads may change the stored one
    /// meanwhile.
    #[inline]
    fn attempt(
        &mut self,
        ctx: &ReadCtx,
        step: u8,
        _last: Option<&Outcome>,
        note: &mut u8,
    ) -> Option<Levels> {
        if step == 0 {
            *note = self.first(ctx);
        }
        let entry = outward(*note, self.tables.factory_len, step)?;
        Some(Levels::Offsets(self.tables.factory[entry as usize]))
    }

    #[inline]
    fn on_read(&mut self, ctx: &ReadCtx, step: u8, outcome: &Outcome, note: u8) {
        let (0, Some(place)) = (outcome.failed, self.place(ctx)) else {
            return;
        };
        let Some(entry) = outward(note, self.tables.factory_len, step) else {
            return;
        };
        let stored = Stored::new(entry - entry % self.quantum, ctx.age.0 / HOUR);
        if let Some(kept) = self.kept.get_mut(place) {
            *kept = stored;
        }
        if let Some(kept) = self.wider.get_mut(ctx.at.block.0 as usize) {
            *kept = stored;
        }
    }

    fn start(&mut self, now: Ns, _blocks: &SuperblockTable) {
        self.kept.fill(Stored::NONE);
        self.wider.fill(Stored::NONE);
        self.patrol = None;
        self.rate_limit.start(now);
    }

    /// Layers of a die outlive their data; the other keys have superblocks in them.
    fn start_again(&mut self, now: Ns, blocks: &SuperblockTable) {
        if self.key != Key::DieLayer {
            return self.start(now, blocks);
        }
        self.wider.fill(Stored::NONE);
        self.patrol = None;
        self.rate_limit.start(now);
    }

    fn learns_from_reads(&self) -> bool {
        true
    }

    fn outlives_erase(&self) -> bool {
        self.key == Key::DieLayer
    }

    fn on_block(&mut self, _now: Ns, block: SuperblockId, _blocks: &SuperblockTable) {
        self.forget(block);
    }

    fn due(&self) -> Ns {
        self.rate_limit.due()
    }

    fn probe(
        &mut self,
        now: Ns,
        blocks: &SuperblockTable,
        _is_free: &impl Fn(DieId) -> bool,
        log: &mut impl FnMut(Record),
    ) -> Option<Probe> {
        if !self.rate_limit.turn(now, log) {
            return None;
        }
        let mut patrol = match self.patrol.filter(|p| p.alive(blocks)) {
            Some(patrol) => patrol,
            None => self.draw(blocks)?,
        };
        let ctx = ctx_of(now, patrol.at, blocks);
        let levels = self.attempt(&ctx, patrol.step, None, &mut patrol.note);
        self.patrol = levels.is_some().then_some(patrol);
        self.rate_limit.spend();
        Some(Probe {
            at: patrol.at,
            planes: 1 << patrol.plane,
            levels: levels?,
            mode: SenseMode::Hard,
        })
    }

    fn on_probe(
        &mut self,
        now: Ns,
        probe: &Probe,
        result: &ProbeResult,
        blocks: &SuperblockTable,
        _log: &mut impl FnMut(Record),
    ) {
        let alive = self.patrol.take().filter(|p| p.alive(blocks));
        let (Some(mut patrol), ProbeResult::Decoded(outcome)) = (alive, result) else {
            return;
        };
        if outcome.failed == 0 {
            let ctx = ctx_of(now, probe.at, blocks);
            return self.on_read(&ctx, patrol.step, outcome, patrol.note);
        }
        patrol.step += 1;
        if patrol.step < self.tables.factory_len {
            self.patrol = Some(patrol);
        }
    }
}

impl format::Record for Stored {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        self.0.transfer(cursor);
        if *self != Stored::NONE && self.0 >> 6 == 0 {
            cursor.fault();
        }
    }
}

record! {
    of values Patrol as "background read with its retries" {
        at: "page",
        plane: "plane",
        programmed_at ["ns"]: "time at which its data were programmed",
        step: "step of the read",
        note: "entry with which the read started",
    }
}

record! {
    SimilarPage as "similar-page" {
        kept: "the entry that last worked for each key, in the lower 6 bits, and the age of the data in h plus one; 0 for none",
        wider: "the same for each superblock, if a miss falls back to it",
        rate_limit: "when the next background read may be made",
        drawn: "pages drawn at random",
        patrol: "the background read in progress, with its retries",
    } not {
        tables: "of the configuration",
        layer_of: "of the configuration",
        geometry: "of the configuration",
        key: "of the configuration",
        layers: "of the configuration",
        stale_after: "of the configuration",
        quantum: "of the configuration",
        stream: "of the configuration",
    }
}
