//! `retention-model`: the levels of a read are predicted from the age of its data, the wear of its block and its layer.
//!
//! After Y. Luo et al., "Improving 3D NAND Flash Memory Lifetime by Tolerating Early Retention Loss and Process
//! Variation": the best level of a valley falls with the logarithm of the retention time, and faster in a worn block
//! (ReMAR); and each layer deviates from that by an offset of its own (LaVAR). The coefficients are learned here while the
//! drive works, from the reads that had to walk.
//!
//! ```text
//! a read      the predicted offset of its sentinel valley, projected to the others
//! it fails    the retry table outward from the entry nearest to the prediction
//! it ends     if it had to walk, the entry it ended with moves the coefficients of its page type, and the offset of
//!             its layer, a little towards that entry
//! ```
//!
//! `docs/firmware/comparators.md` lists what the paper leaves open and what was decided.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::Levels;
use firstread_core::params::{Need, Param, Role, Scheme, Values};
use firstread_core::voltage::{MAX_PAGES, VoltageTables};

use super::{Footprint, ReadLevels};
use crate::format::record;
use crate::observe::{Outcome, ReadCtx};
use crate::policy::Setup;
use crate::voltage::selector::outward;
use crate::voltage::tables::TableBytes;

pub const SCHEME: Scheme = Scheme {
    name: "retention-model",
    summary: "levels predicted by a regression over age, wear and layer that failed reads teach",
    source: "ReMAR and LaVAR (Luo et al., SIGMETRICS 2018), the coefficients learned from reads that had to walk",
    role: Role::Scheme,
    needs: &[Need::Voltages],
    ordered: &[],
    params: &[
        Param::number(
            "rate",
            "share of the error of a prediction by which one read corrects the coefficients",
            "permille",
            (100, 1, 1_000),
        ),
        Param::number(
            "layer_rate",
            "the same for the offset of its layer",
            "permille",
            (50, 0, 1_000),
        ),
    ],
};

/// Coefficients of a page type: at the onset of retention, per octave of age, per 1,000 P/E cycles, and per octave and
/// 1,000 P/E cycles.
const FEATURES: usize = 4;
/// One in the fixed point of features and coefficients.
const ONE: i64 = 1 << 16;
/// Ages count from here: before it the logarithm has not begun (ns).
const ONSET_NS: u64 = 60_000_000_000;
/// Coefficients and offsets of layers stay within so many DAC units, which no valley of a chip moves.
const MOST: i64 = 256 * ONE;

#[derive(Clone, Debug)]
pub struct RetentionModel {
    tables: Box<VoltageTables>,
    layer_of: Box<[u16]>,
    rate: i64,
    layer_rate: i64,
    /// By page type, in 1/65,536 of a DAC unit.
    coefficients: [[i64; FEATURES]; MAX_PAGES],
    /// Offset of each layer of each page type, in 1/65,536 of a DAC unit.
    layers: Box<[[i64; MAX_PAGES]]>,
}

impl RetentionModel {
    /// The scheme with the chip's tables and the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> RetentionModel {
        let layers = 1 + setup.layer_of.iter().copied().max().unwrap_or(0) as usize;
        RetentionModel {
            tables: Box::new(setup.tables.sound()),
            layer_of: setup.layer_of.clone(),
            rate: values.get("rate"),
            layer_rate: values.get("layer_rate"),
            coefficients: [[0; FEATURES]; MAX_PAGES],
            layers: vec![[0; MAX_PAGES]; layers].into_boxed_slice(),
        }
    }

    /// What the coefficients of a page are multiplied with: 1, octaves of age, thousands of P/E cycles, and both.
    /// Octaves are in units of 16, and so no feature is far above one: each coefficient then learns as fast as the others.
    fn features(ctx: &ReadCtx) -> [i64; FEATURES] {
        let age = (ctx.age.0 / ONSET_NS).saturating_add(1);
        let whole = age.ilog2();
        // Linear between powers of two: at most 0.09 octaves too small.
        let part = (u128::from(age) << 16 >> whole) as i64 - ONE;
        let octaves = (i64::from(whole) * ONE + part) / 16;
        let wear = i64::from(ctx.pe_cycles.min(30_000)) * ONE / 1_000;
        [ONE, octaves, wear, octaves * wear / ONE]
    }

    /// Whether what was loaded can be.
    pub(super) fn is_sound(&self) -> bool {
        let layers = self.layers.as_flattened().iter();
        let mut all = self.coefficients.as_flattened().iter().chain(layers);
        all.all(|w| (-MOST..=MOST).contains(w))
    }

    /// Predicted offset of the sentinel valley, in 1/65,536 of a DAC unit, before the range of a level limits it.
    fn predicted(&self, ctx: &ReadCtx) -> i64 {
        let page = usize::from(ctx.at.page.0) % MAX_PAGES;
        let terms = RetentionModel::features(ctx);
        let terms = terms.iter().zip(&self.coefficients[page]);
        let line: i64 = terms.map(|(x, w)| x * w / ONE).sum();
        line + self.layer(ctx).map_or(0, |at| self.layers[at][page])
    }

    /// Index of the layer of the page.
    fn layer(&self, ctx: &ReadCtx) -> Option<usize> {
        let layer = usize::from(*self.layer_of.get(usize::from(ctx.at.wordline))?);
        (layer < self.layers.len()).then_some(layer)
    }

    /// The same in DAC units.
    fn offset(&self, ctx: &ReadCtx) -> i8 {
        ((self.predicted(ctx) + ONE / 2) >> 16).clamp(-127, 127) as i8
    }

    /// Sentinel offset of entry `entry` of the retry table.
    fn sentinel_of(&self, page: u8, entry: u8) -> i8 {
        let valley = usize::from(self.tables.sentinel[usize::from(page) % MAX_PAGES]);
        self.tables.factory[usize::from(entry)][valley - 1]
    }

    /// Entry of the retry table at step `k` of the walk that begins near `offset`.
    fn walk(&self, page: u8, offset: i8, k: u8) -> Option<u8> {
        let entries = self.tables.factory_len;
        let distance = |&entry: &u8| self.sentinel_of(page, entry).abs_diff(offset);
        let nearest = (0..entries).min_by_key(distance)?;
        outward(nearest, entries, k)
    }

    /// A read whose prediction was `offset` ended at `target`: normalized least mean squares.
    fn learn(&mut self, ctx: &ReadCtx, target: i8) {
        let error = i64::from(target) * ONE - self.predicted(ctx);
        let page = usize::from(ctx.at.page.0) % MAX_PAGES;
        let features = RetentionModel::features(ctx);
        let power: i64 = features.iter().map(|x| x * x / ONE).sum();
        let step = error * self.rate / 1_000;
        let moved = |old: i64, by: i64| (old + by).clamp(-MOST, MOST);
        for (w, x) in self.coefficients[page].iter_mut().zip(features) {
            *w = moved(*w, step * x / power.max(1));
        }
        if let Some(at) = self.layer(ctx) {
            let offset = &mut self.layers[at][page];
            *offset = moved(*offset, error * self.layer_rate / 1_000);
        }
    }
}

impl ReadLevels for RetentionModel {
    /// `note` is the predicted offset: other reads may teach meanwhile.
    #[inline]
    fn attempt(
        &mut self,
        ctx: &ReadCtx,
        step: u8,
        _last: Option<&Outcome>,
        note: &mut u8,
    ) -> Option<Levels> {
        let page = ctx.at.page.0;
        if ctx.mode != self.tables.mode {
            let factory = &self.tables.factory[..self.tables.factory_len as usize];
            return factory.get(step as usize).map(|&l| Levels::Offsets(l));
        }
        if step == 0 {
            let offset = self.offset(ctx);
            *note = offset as u8;
            let mut levels = [0; 15];
            if offset != 0 {
                self.tables.project(page, offset, &mut levels);
            }
            return Some(Levels::Offsets(levels));
        }
        let entry = self.walk(page, *note as i8, step - 1)?;
        Some(Levels::Offsets(self.tables.factory[usize::from(entry)]))
    }

    fn learns_from_reads(&self) -> bool {
        true
    }

    #[inline]
    fn on_read(&mut self, ctx: &ReadCtx, step: u8, outcome: &Outcome, note: u8) {
        if step == 0 || outcome.failed != 0 || ctx.mode != self.tables.mode {
            return;
        }
        if let Some(entry) = self.walk(ctx.at.page.0, note as i8, step - 1) {
            self.learn(ctx, self.sentinel_of(ctx.at.page.0, entry));
        }
    }

    fn footprint(&self) -> Option<Footprint> {
        Some(Footprint {
            tables: TableBytes::default(),
            superblocks: 0,
            working: size_of_val(&self.coefficients) + size_of_val(&*self.layers),
            zones: 0,
        })
    }
}

record! {
    RetentionModel as "retention-model" {
        coefficients ["1/65,536 dac"]: "coefficients by page type: a constant, by age, by wear, by both",
        layers ["1/65,536 dac"]: "offset of each layer, by page type",
    } not {
        tables: "of the configuration",
        layer_of: "of the configuration",
        rate: "of the configuration",
        layer_rate: "of the configuration",
    }
}
