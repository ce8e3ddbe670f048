//! Decides when a retry step may use a shorter sense (AR²).
//!
//! A table made by characterization says how short the precharge may be at a temperature, wear and age, and
//! how many errors this adds to the worst codeword. A short sense is safe for a step with that much margin.
//! But no step of a retry walk is certain to have it: the first step that succeeds is close to the limit by
//! construction. So a short sense is used only where it cannot cost an extra step, or where it was shown not
//! to:
//!
//! - **Before the end.** Some steps fail anyway: those that nearly all reads of the same wear, age and page
//!   type go past. For each such class the scheme tracks a number of retries that only about one read in 65
//!   falls short of. Steps before that number, less one, are short.
//! - **At the end.** The margin of last steps is tracked in the same way: capability minus corrected errors,
//!   a value that only one last step in 65 falls short of. If it exceeds the added errors plus a reserve, the
//!   remaining steps are short too. If such a step fails, the read uses no more short senses. Where most
//!   codewords passed, the same levels are repeated at the default time; otherwise the next levels follow.
//!
//! A read that has tried all levels, some of them with short senses, starts again at the default time.
//!
//! That is `rule=margins`. Rule `surely-failing` has the first half alone. Rule `as-published` shortens every retry
//! and never the first read, as AR² is described; only the margin that the table keeps guards the last step.

use alloc::boxed::Box;

use firstread_core::SenseTiming;
use firstread_core::params::{Param, Values};
use firstread_core::sensing::SensingTable;

use crate::policy::Setup;
use crate::policy::read_levels::{Outcome, ReadCtx};

/// The sense time of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Haste {
    /// Its sensing phases.
    pub timing: SenseTiming,
    /// The step may be the last one. If it fails, the read uses no more short senses.
    pub at_end: bool,
}

impl Haste {
    /// The default time.
    pub const NONE: Haste = Haste {
        timing: SenseTiming::DEFAULT,
        at_end: false,
    };
}

/// Which steps of a retry are short. Why the default is what it is: `docs/firmware/retry.md`.
pub(super) const RULE: Param = Param::choice(
    "rule",
    "which steps of a retry are short: where it adds no step by margins tracked, every retry as published, or those \
     that fail anyway",
    &["margins", "as-published", "surely-failing"],
);

/// The rule, in the order of the words of [`RULE`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    Margins,
    AsPublished,
    SurelyFailing,
}

/// Margin kept at the end of a read beyond the errors that a short sense is known to add, in bits.
const RESERVE_BITS: u16 = 7;
/// Tracked values are in units of 1/256.
const ONE: u16 = 256;
/// A tracked number of retries rises by this for each read that takes at least as many, and falls by one
/// retry for each read that takes fewer. In balance one read in 65 takes fewer.
const RETRIES_UP: u16 = 4;
/// The same for margins; they fall by eight bits.
const MARGIN_UP: u16 = 32;
const MARGIN_DOWN: u16 = 8 * ONE;

/// Bins of age: two per octave of minutes, up to 250 years.
const AGES: usize = 54;
/// Bins of wear: one per 250 P/E cycles; the last is open-ended.
const WEARS: usize = 16;
const PAGES: usize = 4;

/// What was learned from reads of one wear, age and page type.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Number of retries that nearly all reads with retries take, in units of 1/256.
    retries: u16,
    /// Margin that nearly all last steps have, in units of 1/256 bit.
    margin: u16,
}

/// The chip's table, and what was learned from reads.
#[derive(Clone, Debug)]
pub struct Reckoner {
    table: Box<SensingTable>,
    temperature_c: i16,
    rule: Rule,
    rows: Box<[Row]>,
}

impl Reckoner {
    /// The chip's table, with nothing learned yet.
    pub fn new(setup: &Setup, values: &Values) -> Reckoner {
        Reckoner {
            table: Box::new(setup.sensing),
            temperature_c: setup.temperature_c,
            rule: match values.get(RULE.key) {
                0 => Rule::Margins,
                1 => Rule::AsPublished,
                _ => Rule::SurelyFailing,
            },
            rows: alloc::vec![Row::default(); AGES * WEARS * PAGES].into_boxed_slice(),
        }
    }

    fn row(&self, ctx: &ReadCtx) -> usize {
        let minutes = (ctx.age.0 / 60_000_000_000).max(1);
        let octave = minutes.ilog2();
        let half = if octave == 0 {
            0
        } else {
            minutes >> (octave - 1) & 1
        };
        let age = (2 * octave as usize + half as usize).min(AGES - 1);
        let wear = (ctx.pe_cycles as usize / 250).min(WEARS - 1);
        (age * WEARS + wear) * PAGES + ctx.at.page.0 as usize % PAGES
    }

    /// Sense time of the step that tries entry `entry`. The first attempt always uses the default time.
    pub fn haste(&self, ctx: &ReadCtx, entry: u8) -> Haste {
        let safe = self.table.safe(self.temperature_c, ctx.pe_cycles, ctx.age);
        let timing = safe.timing();
        if entry == 0 || timing == SenseTiming::DEFAULT {
            return Haste::NONE;
        }
        let row = &self.rows[self.row(ctx)];
        let fails_anyway = (entry as u16 + 1) * ONE <= row.retries;
        if fails_anyway || self.rule == Rule::AsPublished {
            return Haste {
                timing,
                at_end: false,
            };
        }
        if self.rule == Rule::Margins && row.margin / ONE >= safe.extra_bits + RESERVE_BITS {
            return Haste {
                timing,
                at_end: true,
            };
        }
        Haste::NONE
    }

    /// A read succeeded with entry `entry`, at `timing`.
    pub fn on_read(&mut self, ctx: &ReadCtx, entry: u8, timing: SenseTiming, outcome: &Outcome) {
        if entry == 0 || outcome.failed != 0 {
            return;
        }
        let safe = self.table.safe(self.temperature_c, ctx.pe_cycles, ctx.age);
        let haste = if timing == SenseTiming::DEFAULT {
            0
        } else {
            safe.extra_bits
        };
        // At the default time the codeword would have had fewer errors.
        let errors = outcome.max_errors.saturating_sub(haste);
        let margin = self.table.capability_bits.saturating_sub(errors).min(255) * ONE;
        let retries = entry as u16 * ONE;
        let at = self.row(ctx);
        let row = &mut self.rows[at];
        row.retries = if row.retries == 0 {
            // The first value is half of the retries of the first read.
            retries / 2
        } else if retries < row.retries {
            row.retries.saturating_sub(ONE)
        } else {
            (row.retries + RETRIES_UP).min(retries)
        };
        row.margin = if margin < row.margin {
            row.margin.saturating_sub(MARGIN_DOWN)
        } else {
            (row.margin + MARGIN_UP).min(margin)
        };
    }
}
