//! What reads without short senses teach about the reads of their class: with which entry they end, and with
//! what margin; and the plan that is made from it.

use alloc::boxed::Box;

use firstread_core::sensing::PRE_PERMILLE;

use crate::format::{Cursor, Record, record};
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
/// Reads with short steps that are taken to have gone nowhere beyond, before any is known.
const HARMLESS: u64 = 4;
/// Reads with short steps that are remembered.
const REMEMBERED: u16 = 1024;
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

    /// Whether no read has taught, and none was to.
    fn is_new(&self) -> bool {
        self.since == 0 && self.ends.iter().all(|&n| n == 0)
    }

    /// Whether what was loaded can be.
    fn is_sound(&self) -> bool {
        let mut plan = self.plan.iter();
        self.since < LESSON_EVERY && plan.all(|&time| usize::from(time) < TIMES)
    }

    /// A read without short steps ended with entry `entry`, `margin_bits` below the capability. Returns whether older ones were forgotten.
    pub(super) fn ended(&mut self, entry: u8, margin_bits: u16) -> bool {
        count(&mut self.margins, (margin_bits / MARGIN_BITS).into());
        count(&mut self.ends, entry.into())
    }

    /// The last entry that a read without short steps ended with.
    pub(super) fn last_end(&self) -> usize {
        self.ends.iter().rposition(|&n| n > 0).unwrap_or(0)
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
    ///
    /// Where levels do not follow one another in even steps, a read that stays behind may find no other entry for long. That shows in the
    /// steps that shortened reads take beyond all others. They count for each read, and with them no short step may be best.
    pub(super) fn make_plan(&mut self, times: &[(u64, u16); TIMES], beyond: Beyond) {
        let fails = times.map(|(_, added_tenths)| self.less_margin(added_tenths));
        let mut best = (u64::MAX, self.plan);
        for price in PRICES {
            let plan = self.plan_at(price, times, &fails);
            if plan.0 < best.0 {
                best = plan;
            }
        }
        let unshortened = self.plan_at(0, &[times[0]; TIMES], &[0; TIMES]);
        let beyond = beyond.of(self.weights().sum()) * times[0].0;
        self.plan = match best.0 + beyond < unshortened.0 {
            true => best.1,
            false => unshortened.1,
        };
    }

    /// Weights of the entries up to the last that reads end with.
    fn weights(&self) -> impl Iterator<Item = u64> {
        let ends = self.ends.get(1..=self.last_end()).unwrap_or_default();
        ends.iter().map(|&n| u64::from(n) * READ + 1)
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
        let (mut total, mut ahead, mut behind) = (0, self.weights().sum::<u64>(), 0);
        for (time, ends) in plan[1..].iter_mut().zip(self.weights()) {
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

/// Counts one more in bin `at` or the last. Returns whether all were halved.
fn count(counts: &mut [u8], at: usize) -> bool {
    let at = at.min(counts.len() - 1);
    let is_full = counts[at] == u8::MAX;
    if is_full {
        counts.iter_mut().for_each(|n| *n /= 2);
    }
    counts[at] += 1;
    is_full
}

/// Steps that reads with short ones took beyond the last entry that other reads of their class ended with. How far a read goes that misses
/// its entry is a matter of the scheme of read levels, and the same for all classes.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Beyond {
    reads: u16,
    steps: u16,
}

impl Beyond {
    /// A read with short steps took `steps` beyond.
    pub(super) fn add(&mut self, steps: u8) {
        if self.reads >= REMEMBERED || self.steps > u16::MAX / 2 {
            self.forget_half();
        }
        self.reads += 1;
        self.steps += u16::from(steps);
    }

    pub(super) fn forget_half(&mut self) {
        self.reads /= 2;
        self.steps /= 2;
    }

    /// Steps that `reads` are expected to take beyond.
    fn of(self, reads: u64) -> u64 {
        u64::from(self.steps) * reads / (u64::from(self.reads) + HARMLESS)
    }
}

/// The classes of a drive's reads.
#[derive(Clone, Debug)]
pub(super) struct Learned {
    classes: Box<[Class]>,
    pub(super) beyond: Beyond,
}

impl Learned {
    pub(super) fn new() -> Learned {
        Learned {
            classes: alloc::vec![Class::NEW; AGES * WEARS * PAGES].into_boxed_slice(),
            beyond: Beyond::default(),
        }
    }

    pub(super) fn class(&self, ctx: &ReadCtx) -> &Class {
        &self.classes[index(ctx)]
    }

    pub(super) fn class_mut(&mut self, ctx: &ReadCtx) -> &mut Class {
        &mut self.classes[index(ctx)]
    }
}

record! {
    Class as "reads of a class" {
        ends ["reads"]: "reads by the entry that they ended with",
        margins ["reads"]: "reads by the margin of their last step",
        plan: "time of the step of each entry",
        since ["reads"]: "reads with retries since one last taught",
    }
}

record! {
    Beyond as "steps beyond other reads" {
        reads ["reads"]: "reads that had short steps",
        steps ["steps"]: "steps of these beyond the last entry that other reads of their class ended with",
    }
}

/// Steps beyond other reads, the number of classes that are not as new, and each of them after its index.
impl Record for Learned {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        self.beyond.transfer(cursor);
        cursor.list();
        let most = cursor.counts_most();
        let is_kept = |class: &Class| most || !class.is_new();
        let mut kept = self.classes.iter().filter(|class| is_kept(class)).count();
        kept.transfer(cursor);
        let mut next = 0;
        for _ in 0..kept {
            if !cursor.is_loading() {
                let mut left = self.classes.iter().skip(next);
                next += left.position(is_kept).unwrap_or(0);
            }
            let mut at = next as u16;
            at.transfer(cursor);
            let Some(class) = self.classes.get_mut(usize::from(at)) else {
                return cursor.fault();
            };
            class.transfer(cursor);
            if !class.is_sound() {
                cursor.fault();
            }
            if cursor.has_fault() {
                return;
            }
            next = usize::from(at) + 1;
        }
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

#[cfg(test)]
mod tests {
    use firstread_core::{CellMode, Ns, PageAddr, PageType, Stream};
    use std::vec::Vec;

    use super::*;

    fn ctx(minutes: u64, pe_cycles: u32, page: u8) -> ReadCtx {
        ReadCtx {
            now: Ns(0),
            at: PageAddr {
                page: PageType(page),
                ..PageAddr::default()
            },
            mode: CellMode::Qlc,
            pe_cycles,
            age: Ns(minutes * 60_000_000_000),
        }
    }

    fn class(reads: &[(u8, u16, u32)]) -> Class {
        let mut class = Class::NEW;
        for &(entry, margin_bits, times) in reads {
            for _ in 0..times {
                class.ended(entry, margin_bits);
            }
        }
        class
    }

    /// Bins of age begin at 2, 3, 4, 6, 8, 12, 16, 24 minutes and so on, up to 1.5 * 2^26.
    #[test]
    fn model_reads_of_one_age_wear_and_page_type_share_a_class() {
        let begins: Vec<u64> = (1..27).flat_map(|k| [1 << k, 3 << (k - 1)]).collect();
        let bin = |minutes: u64| begins.iter().filter(|&&begin| begin <= minutes).count();
        let ages = [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 1_439, 1_440, 1_536];
        let old = [(3 << 25) - 1, 3 << 25, 1 << 27, 1 << 28];
        let wears = [0, 249, 250, 499, 500, 3_749, 3_750, 3_999, 4_000, 60_000];
        let mut reads = Vec::new();
        for minutes in ages.into_iter().chain(old) {
            for pe_cycles in wears {
                for page in 0..4 {
                    let of = (bin(minutes), pe_cycles.min(3_750) / 250, page);
                    reads.push((ctx(minutes, pe_cycles, page), of));
                }
            }
        }
        let mut learned = Learned::new();
        for (a, of_a) in &reads {
            for (b, of_b) in &reads {
                let shared = core::ptr::eq(learned.class(a), learned.class(b));
                assert_eq!(shared, of_a == of_b, "{a:?} and {b:?}");
            }
            let at = core::ptr::from_ref(learned.class(a));
            assert_eq!(core::ptr::from_ref(learned.class_mut(a)), at, "{a:?}");
        }
    }

    #[test]
    fn sequence_sixteen_lessons_and_then_one_in_thirty_two_reads() {
        let mut class = Class::NEW;
        for _ in 0..16 {
            assert!(!class.is_known() && class.is_lesson());
            class.ended(3, 10);
        }
        let lessons: Vec<usize> = (17..=160).filter(|_| class.is_lesson()).collect();
        assert!(class.is_known());
        assert_eq!(lessons, [32, 64, 96, 128, 160], "reads that teach");
    }

    #[test]
    fn formula_nearly_all_is_all_but_one_in_sixty_four() {
        let with = |before: u32| class(&[(3, 10, before), (10, 10, 64 - before)]);
        let goes_past =
            |class: &Class| [0, 2, 3, 9, 10, 63, 90].map(|e| class.nearly_all_go_past(e));
        let (t, f) = (true, false);
        assert_eq!(goes_past(&with(1)), [t, t, t, t, f, f, f]);
        assert_eq!(goes_past(&with(2)), [t, t, f, f, f, f, f]);
        assert_eq!(goes_past(&class(&[(90, 10, 20)])), [t, t, t, t, t, f, f]);
    }

    /// A count has eight bits: the 256th read of a bin halves all bins first.
    #[test]
    fn formula_a_full_count_halves_all_of_its_kind() {
        let mut full = class(&[(1, 7, 100), (2, 500, 155)]);
        let counts = |class: &Class| {
            let bins = [1, 2].map(|e| class.ends[e]);
            (bins, [class.margins[3], class.margins[MARGINS - 1]])
        };
        assert_eq!(counts(&full), ([100, 155], [100, 155]));
        for _ in 0..100 {
            full.ended(2, 500);
        }
        assert_eq!(counts(&full), ([100, 255], [100, 255]));
        full.ended(2, 500);
        assert_eq!(counts(&full), ([50, 128], [50, 128]));
        full.ended(1, 7);
        assert_eq!(counts(&full), ([51, 128], [51, 128]));
    }

    /// Ten reads with a margin of 4 or 5 bits, estimated with half of a read more on each side.
    #[test]
    fn formula_a_sense_fails_as_often_as_margins_are_less() {
        let class = class(&[(1, 4, 6), (2, 5, 4)]);
        let expected = |reads: f64| (reads / 11.0 * ONE as f64) as u64;
        let cases = [(1, 0.5), (40, 0.5), (50, 5.5), (55, 8.0), (60, 10.5)];
        for (added_tenths, reads) in cases {
            let fails = class.less_margin(added_tenths);
            assert_eq!(fails, expected(reads), "{added_tenths} tenths of a bit");
        }
        assert_eq!(class.less_margin(u16::MAX), expected(10.5));
        assert_eq!(class.less_margin(0), 0);
    }

    /// Mean time of a read with `plan`, in floats: a read that would have ended with an entry, but for a short sense,
    /// ends with a later one as often as a margin drawn anew allows. Behind the last entry it takes one step more.
    fn mean_ns(class: &Class, times: &[(u64, u16); TIMES], plan: &[u8]) -> f64 {
        let last = plan.len();
        let ends = |entry: usize| f64::from(class.ends[entry]) * 32.0 + 1.0;
        let reads: f64 = (1..=last).map(ends).sum();
        let (mut ns, mut left, mut behind) = (0.0, reads, 0.0);
        for (i, &time) in plan.iter().enumerate() {
            let (step_ns, added_tenths) = times[usize::from(time)];
            ns += step_ns as f64 * (left + behind);
            left -= ends(i + 1);
            behind = (behind + ends(i + 1)) * class.less_margin(added_tenths) as f64 / ONE as f64;
        }
        (ns + behind * times[0].0 as f64) / reads
    }

    /// Every plan of three steps is tried.
    #[test]
    fn model_a_plan_is_nearly_the_quickest_of_all() {
        let (mut sum, mut quickest_sum) = (0.0, 0.0);
        for seed in 0..60 {
            let draw = Stream::new(seed).named("plans");
            let mut class = Class::NEW;
            for i in 0..100 {
                let entry = 1 + draw.at(i).at(0).below(3).max(draw.at(i).at(1).below(3)) as u8;
                let margin_bits = draw.at(i).at(2).below(1 + draw.at(500).below(40)) as u16;
                class.ended(entry, margin_bits);
            }
            class.ended(3, 20);
            let mut times = [(100_000, 0); TIMES];
            for (i, time) in times.iter_mut().enumerate().skip(1) {
                let adds = (5 << i) * (1 + draw.at(600).below(4)) as u16;
                *time = (100_000 - 7_000 * i as u64, adds);
            }
            class.make_plan(&times, Beyond::default());
            let plan: Vec<u8> = (1..=3).map(|entry| class.planned(entry) as u8).collect();
            let all = (0..TIMES.pow(3)).map(|n| [n, n / TIMES, n / TIMES.pow(2)]);
            let all = all.map(|plan| plan.map(|n| (n % TIMES) as u8));
            let quickest = all
                .map(|plan| mean_ns(&class, &times, &plan))
                .fold(f64::MAX, f64::min);
            let ours = mean_ns(&class, &times, &plan);
            assert!(
                ours < 1.02 * quickest,
                "seed {seed}: {plan:?} takes {ours} ns, {quickest} would do"
            );
            (sum, quickest_sum) = (sum + ours, quickest_sum + quickest);
        }
        assert!(
            sum < 1.005 * quickest_sum,
            "{sum} ns, {quickest_sum} would do"
        );
    }

    /// Margins are so wide that no sense fails, or so narrow that every short one does.
    #[test]
    fn formula_steps_are_short_where_it_pays() {
        let mut times = [(100_000, 0); TIMES];
        for (i, time) in times.iter_mut().enumerate().skip(1) {
            *time = (100_000 - 5_000 * i as u64, 100);
        }
        let shortest = TIMES - 1;
        let planned = |class: &mut Class| {
            class.make_plan(&times, Beyond::default());
            [0, 1, 4, 5, 6, 63, 90].map(|entry| class.planned(entry))
        };
        let mut wide = class(&[(5, 70, 200)]);
        let s = shortest;
        assert_eq!(planned(&mut wide), [0, s, s, s, 0, 0, 0]);
        let mut narrow = class(&[(5, 0, 200)]);
        assert_eq!(planned(&mut narrow), [0, s, s, 0, 0, 0, 0]);
        let mut late = class(&[(90, 0, 200)]);
        assert_eq!(planned(&mut late), [0, s, s, s, s, 0, 0]);
    }

    /// One in ten reads that are shortened goes 40 steps beyond all others: what short steps save of it is less than that costs. Once that
    /// is forgotten, steps are short again.
    #[test]
    fn sequence_reads_that_go_far_beyond_stop_short_steps_for_a_while() {
        let mut times = [(100_000, 0); TIMES];
        for (i, time) in times.iter_mut().enumerate().skip(1) {
            *time = (100_000 - 5_000 * i as u64, 10);
        }
        let mut learnt = class(&[(2, 30, 60), (3, 30, 60)]);
        let mut beyond = Beyond::default();
        let mut is_short = |beyond: Beyond| {
            learnt.make_plan(&times, beyond);
            learnt.planned(1) > 0
        };
        assert!(is_short(beyond));
        for far in [false, true] {
            for read in 0..60 {
                beyond.add(if far && read % 10 == 0 { 40 } else { 0 });
            }
            assert_eq!(is_short(beyond), !far, "{beyond:?}");
        }
        // The mean is what it was until so little is known that it may be chance.
        let halved = (0..20).take_while(|_| {
            beyond.forget_half();
            !is_short(beyond)
        });
        assert!((3..8).contains(&halved.count()), "{beyond:?}");
        // Any number of reads, however far they go.
        (0..100_000).for_each(|_| beyond.add(u8::MAX));
        assert!(!is_short(beyond), "{beyond:?}");
    }
}
