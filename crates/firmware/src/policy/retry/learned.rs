//! What reads without short senses teach about the reads of their class: with which entry they end, and with
//! what margin; and the plan that is made from it.

use alloc::boxed::Box;

use firstread_core::sensing::PRE_PERMILLE;

use crate::observe::ReadCtx;

/// Times that a step may have: the default, and those of the table.
pub(super) const TIMES: usize = 1 + PRE_PERMILLE.len();

/// One in fixed point: probabilities are in units of 1/65,536.
const ONE: u64 = 1 << 16;
/// Weight of a read among those that a plan is made for. Each entry up to the last has one more: reads may end with
/// any entry, although none has yet.
const READ: u64 = 32;
/// Prices of a read that stays behind, in eighths of a step at the default time.
const PRICES: [u64; 6] = [6, 8, 12, 18, 30, 60];

/// Bins of age: two per octave of minutes, up to 250 years.
const AGES: usize = 54;
/// Bins of wear: one per 250 P/E cycles; the last is open-ended.
const WEARS: usize = 16;
const PAGES: usize = 4;

/// Entries told apart; the last bin is open-ended.
const ENTRIES: usize = 64;
/// Bins of margin; the last is open-ended.
const MARGINS: usize = 40;
/// Bits of a bin of margin.
const MARGIN_BITS: u16 = 2;

/// Reads of a class that teach before any step of the class is short.
const FIRST_LESSONS: u32 = 16;
/// Thereafter one read in so many teaches.
const LESSON_EVERY: u8 = 32;
/// Nearly all reads go past a step if no more than one in so many ends with it or before.
const NEARLY_ALL: u32 = 64;

/// Reads of one wear, age and page type. Counts that would overflow are halved together with the others of the
/// same kind, so old reads are forgotten.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// Reads by the entry that they ended with.
    ends: [u8; ENTRIES],
    /// Reads by the margin of their last step.
    margins: [u8; MARGINS],
    /// The time of the step of each entry, as an index.
    plan: [u8; ENTRIES],
    /// Reads with retries since one last taught.
    since: u8,
}

impl Class {
    const NEW: Class = Class {
        ends: [0; ENTRIES],
        margins: [0; MARGINS],
        plan: [0; ENTRIES],
        since: 0,
    };

    /// A read without short steps ended with entry `entry`, `margin_bits` below the capability.
    pub(super) fn ended(&mut self, entry: u8, margin_bits: u16) {
        count(&mut self.ends, entry.into());
        count(&mut self.margins, (margin_bits / MARGIN_BITS).into());
    }

    /// A read begins its first retry. Returns whether the read has no short steps, so that it teaches.
    pub(super) fn is_lesson(&mut self) -> bool {
        self.since = (self.since + 1) % LESSON_EVERY;
        self.since == 0 || !self.is_known()
    }

    /// Whether enough reads have taught.
    pub(super) fn is_known(&self) -> bool {
        sum(&self.ends) >= FIRST_LESSONS
    }

    /// Whether nearly all reads go past entry `entry`.
    pub(super) fn nearly_all_go_past(&self, entry: u8) -> bool {
        let until = (usize::from(entry) + 1).min(ENTRIES);
        sum(&self.ends[..until]) * NEARLY_ALL <= sum(&self.ends)
    }

    /// The time of the step that tries entry `entry`: its index in the times that the plan was made from, 0
    /// for the default.
    pub(super) fn planned(&self, entry: u8) -> usize {
        self.plan[usize::from(entry).min(ENTRIES - 1)].into()
    }

    /// Plans the steps of the class. With time `i` of `times` a step takes `times[i].0` ns, and adds
    /// `times[i].1` tenths of a bit of errors; the first is the default.
    ///
    /// A read that would have ended with an entry at the default time, but for a short sense, stays behind. It
    /// is taken to have a margin as of any read, drawn again, with each entry after. So the more reads stay
    /// behind, the longer the next sense has to be. How much a read that stays behind costs is more than one
    /// step if the next steps are short, too. So plans are made with several prices, and the best is taken.
    pub(super) fn make_plan(&mut self, times: &[(u64, u16); TIMES]) {
        let fails = times.map(|(_, added_tenths)| self.less_margin(added_tenths));
        let mut best = (u64::MAX, self.plan);
        for price in PRICES {
            let plan = self.plan_at(price, times, &fails);
            if plan.0 < best.0 {
                best = plan;
            }
        }
        self.plan = best.1;
    }

    /// The plan in which a read that stays behind costs `price` eighths of a step, and the time that it takes
    /// all reads.
    fn plan_at(
        &self,
        price: u64,
        times: &[(u64, u16); TIMES],
        fails: &[u64; TIMES],
    ) -> (u64, [u8; ENTRIES]) {
        let default_ns = times[0].0;
        let mut plan = [0; ENTRIES];
        let last = self.ends.iter().rposition(|&n| n > 0).unwrap_or(0);
        let weight = |&n: &u8| u64::from(n) * READ + 1;
        let ends = || self.ends[1..=last].iter().map(weight);
        let (mut total, mut ahead, mut behind) = (0, ends().sum::<u64>(), 0);
        for (time, ends) in plan[1..].iter_mut().zip(ends()) {
            let may_end = behind + ends;
            let stays = |i: usize| may_end * fails[i] / ONE;
            let cost =
                |i: &usize| 8 * times[*i].0 * (ahead + behind) + price * default_ns * stays(*i);
            let quickest = (0..TIMES).min_by_key(cost).unwrap_or(0);
            *time = quickest as u8;
            total += times[quickest].0 * (ahead + behind);
            (ahead, behind) = (ahead - ends, stays(quickest));
        }
        (total + behind * default_ns, plan)
    }

    /// Probability that the margin of a last step is less than `added_tenths` of a bit.
    fn less_margin(&self, added_tenths: u16) -> u64 {
        if added_tenths == 0 {
            return 0;
        }
        let bin_tenths = MARGIN_BITS * 10;
        let whole = usize::from(added_tenths / bin_tenths).min(MARGINS);
        let part = u64::from(added_tenths % bin_tenths);
        // Margins are taken to be spread evenly over a bin.
        let partly = self.margins.get(whole).map_or(0, |&n| u64::from(n) * part);
        let less = u64::from(sum(&self.margins[..whole])) * u64::from(bin_tenths) + partly;
        share(less, sum(&self.margins), u64::from(bin_tenths))
    }
}

/// The share `part / (unit * of)` in units of 1/[`ONE`], estimated from few: half of a read more on each side.
fn share(part: u64, of: u32, unit: u64) -> u64 {
    (2 * part + unit) * ONE / (2 * unit * (u64::from(of) + 1))
}

fn sum(counts: &[u8]) -> u32 {
    counts.iter().map(|&n| u32::from(n)).sum()
}

/// Counts one more in bin `at` or the last.
fn count(counts: &mut [u8], at: usize) {
    let at = at.min(counts.len() - 1);
    if counts[at] == u8::MAX {
        counts.iter_mut().for_each(|n| *n /= 2);
    }
    counts[at] += 1;
}

/// The classes of a drive's reads.
#[derive(Clone, Debug)]
pub(super) struct Learned(Box<[Class]>);

impl Learned {
    pub(super) fn new() -> Learned {
        Learned(alloc::vec![Class::NEW; AGES * WEARS * PAGES].into_boxed_slice())
    }

    pub(super) fn class(&self, ctx: &ReadCtx) -> &Class {
        &self.0[index(ctx)]
    }

    pub(super) fn class_mut(&mut self, ctx: &ReadCtx) -> &mut Class {
        &mut self.0[index(ctx)]
    }
}

fn index(ctx: &ReadCtx) -> usize {
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
