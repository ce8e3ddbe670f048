//! `sentinel-cells`: when a read fails, cells with known data show where the levels should be.
//!
//! After Q. Li et al., "Shaving Retries with Sentinels for Fast Read over High-Density 3D Flash". Some cells
//! of every wordline are programmed to the two states around a sentinel valley. The number of lower-state
//! cells read as upper, minus the number of upper-state cells read as lower, tells how far off the sentinel's
//! level is. A linear model gives the levels of the other valleys.
//!
//! ```text
//! a read      the default
//! it fails    infer: the sentinel's level from its spare cells, the others from the sentinel's
//! and again   infer once more from there; where they say nothing, a little below, then a little above
//! and again   the retry table outward from the entry nearest to where that ended
//! ```
//!
//! The scheme stores nothing and does nothing in the background; the price is the cells.
//! `docs/firmware/comparators.md` lists what the paper leaves open and what was decided.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::params::{Need, Param, ParamKind, Role, Scheme, Values};
use firstread_core::voltage::{MAX_PAGES, VoltageTables};
use firstread_core::{Levels, Ns, SuperblockId};

use super::ReadLevels;
use crate::format::record;
use crate::observe::{Outcome, ReadCtx, SuperblockTable};
use crate::policy::Setup;
use crate::voltage::selector::outward;

pub const SCHEME: Scheme = Scheme {
    name: "sentinel-cells",
    summary: "a failed read is repeated where cells of known data show that the levels belong",
    source: "Shaving Retries with Sentinels for Fast Read over High-Density 3D Flash, MICRO 2020",
    role: Role::Scheme,
    needs: &[Need::Voltages],
    ordered: &[],
    params: &[
        Param {
            key: "spare",
            doc: "share of the cells of a wordline that hold known data",
            kind: ParamKind::Number {
                unit: "ppm",
                default: 2_000,
                min: 0,
                max: 20_000,
            },
        },
        Param {
            key: "inferences",
            doc: "attempts at inferred levels before the retry table is walked",
            kind: ParamKind::Number {
                unit: "attempts",
                default: 3,
                min: 1,
                max: 8,
            },
        },
        Param {
            key: "tune",
            doc: "how far an attempt goes below, and the next above, where spare cells show no difference",
            kind: ParamKind::Number {
                unit: "dac",
                default: 3,
                min: 1,
                max: 24,
            },
        },
        Param {
            key: "start",
            doc: "first attempt: the default, or the levels that last worked for the superblock and page type",
            kind: ParamKind::Choice(&["default", "superblock"]),
        },
    ],
};

#[derive(Clone, Debug)]
pub struct SentinelCells {
    tables: Box<VoltageTables>,
    spare_ppm: u32,
    inferences: u8,
    tune: i8,
    /// Sentinel offsets of the last successful read of each superblock, if reads start with them.
    kept: Box<[[i8; MAX_PAGES]]>,
}

impl SentinelCells {
    /// The scheme with the chip's tables and the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> SentinelCells {
        let blocks = match values.get("start") {
            0 => 0,
            _ => setup.geometry.blocks_per_plane as usize,
        };
        SentinelCells {
            tables: Box::new(setup.tables.sound()),
            spare_ppm: values.get("spare") as u32,
            inferences: values.get("inferences") as u8,
            tune: values.get("tune") as i8,
            kept: vec![[0; MAX_PAGES]; blocks].into_boxed_slice(),
        }
    }

    /// The sentinel offset with which a read starts.
    #[inline]
    fn first(&self, ctx: &ReadCtx) -> i8 {
        match self.kept.get(ctx.at.block.0 as usize) {
            Some(offsets) => offsets[ctx.at.page.0 as usize],
            None => 0,
        }
    }

    /// Levels of the page for sentinel offset `offset`. At offset zero they are the default levels: the
    /// linear models of the other valleys only come close to zero there.
    #[inline]
    fn levels(&self, page: u8, offset: i8) -> Levels {
        let mut levels = [0; 15];
        if offset != 0 {
            self.tables.project(page, offset, &mut levels);
        }
        Levels::Offsets(levels)
    }

    /// The next sentinel offset after attempt `step - 1` at `offset` has failed with outcome `last`.
    fn infer(&self, page: u8, offset: i8, step: u8, last: Option<&Outcome>) -> i8 {
        let spare = last.map(|outcome| outcome.spare).unwrap_or_default();
        match self.tables.correction(page, spare) {
            // Drift goes down, so the offset below comes first. The step after that goes above.
            0 if step % 2 == 1 => offset.saturating_sub(self.tune),
            0 => offset.saturating_add(self.tune.saturating_mul(2)),
            units => offset.saturating_add(units),
        }
    }

    /// Entry of the retry table at step `k` of the walk that begins near `offset`.
    fn walk(&self, page: u8, offset: i8, k: u8) -> Option<u8> {
        if k >= self.tables.factory_len {
            return None;
        }
        let sentinel = self.tables.sentinel[page as usize] as usize - 1;
        let entries = &self.tables.factory[..self.tables.factory_len as usize];
        let nearest = (0u8..)
            .zip(entries)
            .min_by_key(|(_, entry)| entry[sentinel].abs_diff(offset))
            .map_or(0, |(i, _)| i);
        outward(nearest, self.tables.factory_len, k)
    }
}

impl ReadLevels for SentinelCells {
    /// `note` is the sentinel offset tried last, until the table is walked.
    #[inline]
    fn attempt(
        &mut self,
        ctx: &ReadCtx,
        step: u8,
        last: Option<&Outcome>,
        note: &mut u8,
    ) -> Option<Levels> {
        let page = ctx.at.page.0;
        let factory = &self.tables.factory[..self.tables.factory_len as usize];
        if ctx.mode != self.tables.mode {
            return factory.get(step as usize).map(|&l| Levels::Offsets(l));
        }
        if step == 0 {
            let offset = self.first(ctx);
            *note = offset as u8;
            return Some(self.levels(page, offset));
        }
        let Some(k) = step.checked_sub(1 + self.inferences) else {
            let offset = self.infer(page, *note as i8, step, last);
            *note = offset as u8;
            return Some(self.levels(page, offset));
        };
        let entry = self.walk(page, *note as i8, k)?;
        Some(Levels::Offsets(self.tables.factory[entry as usize]))
    }

    fn learns_from_reads(&self) -> bool {
        !self.kept.is_empty()
    }

    fn needs_outcome(&self, step: u8) -> bool {
        (1..=self.inferences).contains(&step)
    }

    #[inline]
    fn on_read(&mut self, ctx: &ReadCtx, step: u8, outcome: &Outcome, note: u8) {
        if self.kept.is_empty() || step == 0 || outcome.failed != 0 || ctx.mode != self.tables.mode
        {
            return;
        }
        let page = ctx.at.page.0;
        let offset = match step.checked_sub(1 + self.inferences) {
            None => Some(note as i8),
            Some(k) => self.walk(page, note as i8, k).map(|entry| {
                let sentinel = self.tables.sentinel[page as usize] as usize - 1;
                self.tables.factory[entry as usize][sentinel]
            }),
        };
        if let (Some(offset), Some(kept)) = (offset, self.kept.get_mut(ctx.at.block.0 as usize)) {
            kept[page as usize] = offset;
        }
    }

    fn start(&mut self, _now: Ns, _blocks: &SuperblockTable) {
        self.kept.fill([0; MAX_PAGES]);
    }

    fn on_block(&mut self, _now: Ns, block: SuperblockId, _blocks: &SuperblockTable) {
        if let Some(kept) = self.kept.get_mut(block.0 as usize) {
            *kept = [0; MAX_PAGES];
        }
    }

    fn spare_ppm(&self) -> u32 {
        self.spare_ppm
    }
}

record! {
    SentinelCells as "sentinel-cells" {
        kept ["dac"]: "sentinel offsets of the last successful read of each superblock, by page type, if reads start with them",
    } not {
        tables: "of the configuration",
        spare_ppm: "of the configuration",
        inferences: "of the configuration",
        tune: "of the configuration",
    }
}
