//! When a step of a retry may sense for a shorter time: what AR2 needs to know.
//!
//! A table from characterization says how short the precharge may be for a temperature, wear and age,
//! and how many more bits the worst codeword then errs in. That is safe where a step has that margin,
//! and no step of a walk has it for certain: the first one that succeeds is by construction near the
//! edge. So haste is only where it cannot cost a step, or has shown that it does not:
//!
//! - **Before the end.** A step that reads of the same wear, age and page type nearly always leave
//!   behind fails anyway. How many retries they take is tracked: the number that about one in 65 falls
//!   short of. Steps before it, less one, are short.
//! - **At the end.** The margin of last steps is tracked likewise: capability less the errors
//!   corrected, which one in 65 falls short of. Where it is larger than what haste costs and a reserve,
//!   the others are short too. If such a step fails, the read makes haste no more: where most
//!   codewords passed, the same levels are tried at the default time, else the next ones.
//!
//! A read that has tried everything, some of it in haste, starts again without.

use alloc::boxed::Box;

use firstread_core::SenseTiming;
use firstread_core::sensing::SensingTable;

use crate::policy::Setup;
use crate::policy::read_levels::{Outcome, ReadCtx};

/// How long a step senses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Haste {
    /// Its phases.
    pub timing: SenseTiming,
    /// It may be the last step: if it fails, the read makes haste no more.
    pub at_end: bool,
}

impl Haste {
    /// None.
    pub const NONE: Haste = Haste {
        timing: SenseTiming::DEFAULT,
        at_end: false,
    };
}

/// Bits of margin kept at the end of a read beyond what haste is known to cost.
const RESERVE_BITS: u16 = 7;
/// Tracked values are in 1/256.
const ONE: u16 = 256;
/// A tracked number of retries rises by so much at each read that takes as many or more, and falls by
/// one retry at each that takes fewer: one read in 65 does.
const RETRIES_UP: u16 = 4;
/// The same for margins, which fall by eight bits.
const MARGIN_UP: u16 = 32;
const MARGIN_DOWN: u16 = 8 * ONE;

/// Ages: two rows an octave of minutes, up to 250 years.
const AGES: usize = 54;
/// Wear: a row for each 250 P/E, and the last for all beyond.
const WEARS: usize = 16;
const PAGES: usize = 4;

/// What reads of one wear, age and page type were like.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Retries that nearly all reads with any take, in 1/256.
    retries: u16,
    /// Margin that nearly all last steps have, in bits / 256.
    margin: u16,
}

/// The knowledge.
#[derive(Clone, Debug)]
pub struct Reckoner {
    table: Box<SensingTable>,
    temperature_c: i16,
    rows: Box<[Row]>,
}

impl Reckoner {
    /// It knows the table, and has seen no read.
    pub fn new(setup: &Setup) -> Reckoner {
        Reckoner {
            table: Box::new(setup.sensing),
            temperature_c: setup.temperature_c,
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

    /// How long the step with entry `entry` of the levels senses. The first read takes its time.
    pub fn haste(&self, ctx: &ReadCtx, entry: u8) -> Haste {
        let safe = self.table.at(self.temperature_c, ctx.pe_cycles, ctx.age);
        let timing = safe.timing();
        if entry == 0 || timing == SenseTiming::DEFAULT {
            return Haste::NONE;
        }
        let row = &self.rows[self.row(ctx)];
        if (entry as u16 + 1) * ONE <= row.retries {
            return Haste {
                timing,
                at_end: false,
            };
        }
        if row.margin / ONE >= safe.extra_bits + RESERVE_BITS {
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
        let safe = self.table.at(self.temperature_c, ctx.pe_cycles, ctx.age);
        let haste = if timing == SenseTiming::DEFAULT {
            0
        } else {
            safe.extra_bits
        };
        // At the default time it would have erred in fewer bits.
        let errors = outcome.max_errors.saturating_sub(haste);
        let margin = self.table.capability_bits.saturating_sub(errors).min(255) * ONE;
        let retries = entry as u16 * ONE;
        let at = self.row(ctx);
        let row = &mut self.rows[at];
        row.retries = if row.retries == 0 {
            // Half of what the first one took, to begin with.
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
