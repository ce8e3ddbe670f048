//! Decides how short the sense of a retry step is (AR²).
//!
//! The first attempt of a read always senses for the default time. For the other steps there are three rules:
//!
//! - **`expected-latency`**: each step has the precharge time of the table with which reads are expected to be
//!   shortest. A shorter sense saves its time for certain. It costs an added step if the step would have
//!   succeeded at the default time, and if its margin is less than the errors that the shorter sense adds.
//!   Both probabilities are learned from earlier reads of the same wear, age and page type (`learned.rs`); the
//!   added errors are those of the table. So a step that no read ends with is as short as the table has it,
//!   and the last step of most reads is hardly shortened. An added step costs what steps take on this drive, the
//!   wait for the decoder included. Where reads wait for the decoder, a read that comes there sooner waits longer: of
//!   what a shorter sense saves, only the share counts that a step spends in no queue.
//! - **`as-published`**: every retry step is short. The time is the shortest safe one of the table, and no shorter than
//!   is published: 54 % less precharge. Where the table has no safe time, no step is short.
//! - **`surely-failing`**: the same time, but only for steps that nearly all reads of the class go past.
//!
//! Short steps distort what is learned: a read takes more steps with them, and ends with another margin. So
//! the first and later a few reads of each class have no short step, and only these teach.
//!
//! A read that has tried all levels, some of them with short senses, starts again at the default time.

use alloc::boxed::Box;

use firstread_core::params::{Param, Values};
use firstread_core::sensing::{PRE_PERMILLE, SafeSense, SensingTable};
use firstread_core::{Ns, PageType, SenseTiming};

use super::learned::{Learned, TIMES};
use super::read_end::ReadEnd;
use crate::format::record;
use crate::observe::{Outcome, ReadCtx, StepRest, StepTimes};
use crate::policy::{ReadTime, Setup};

/// The sense time of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShortSense {
    /// Lengths of precharge, evaluation and discharge, in thousandths of the manufacturer's.
    pub timing: SenseTiming,
    /// No later step of the read is short either.
    pub slow: bool,
}

impl ShortSense {
    /// A sense at the manufacturer's timing, after which later steps may still be short.
    pub const NONE: ShortSense = ShortSense {
        timing: SenseTiming::DEFAULT,
        slow: false,
    };
    /// The shortest time that the chips are characterized for.
    pub(super) const SHORTEST: ShortSense = ShortSense::short(PRE_PERMILLE[PRE_PERMILLE.len() - 1]);
    /// The default time from here to the end of the read.
    const SLOW: ShortSense = ShortSense {
        slow: true,
        ..ShortSense::NONE
    };

    /// A precharge of `pre_permille` thousandths of the default.
    const fn short(pre_permille: u16) -> ShortSense {
        ShortSense {
            timing: SenseTiming {
                pre_permille,
                ..SenseTiming::DEFAULT
            },
            slow: false,
        }
    }
}

/// How short the steps of a retry are. Why the default is what it is: `docs/firmware/retry.md`.
pub(super) const RULE: Param = Param::choice(
    "rule",
    "how short the steps of a retry are: as the expected latency is least, every retry as published, or \
     only those steps that fail anyway",
    &["expected-latency", "as-published", "surely-failing"],
);

/// The rule, in the order of the words of [`RULE`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    ExpectedLatency,
    AsPublished,
    SurelyFailing,
}

/// The shortest sense has to save at least one part in so many of a step. What a class knows of its ends is of some dozens
/// of reads: whether a step more comes in a hundred reads is not known, and less than that is not worth it.
const LEAST_SAVING: u64 = 8;

/// Shortest precharge of a short step as published: 54 % less, in the best condition (Park et al., ASPLOS 2021).
const PUBLISHED_PERMILLE: u16 = 460;

/// The chip's table, the times of a step, and what was learned from reads.
#[derive(Clone, Debug)]
pub struct MarginTracker {
    table: Box<SensingTable>,
    temperature_c: i16,
    rule: Rule,
    time: ReadTime,
    /// Whether a step is sensed while the step before is transferred and decoded.
    pipelined: bool,
    learned: Learned,
}

impl MarginTracker {
    /// The chip's table, with nothing learned yet.
    pub fn new(setup: &Setup, values: &Values, pipelined: bool) -> MarginTracker {
        MarginTracker {
            table: Box::new(setup.sensing),
            temperature_c: setup.temperature_c,
            rule: match values.get(RULE.key) {
                0 => Rule::ExpectedLatency,
                1 => Rule::AsPublished,
                _ => Rule::SurelyFailing,
            },
            time: setup.read_time,
            pipelined,
            learned: Learned::new(),
        }
    }

    /// Sense time of the step that tries entry `entry`. The first attempt always uses the default time.
    pub fn short_sense(&mut self, ctx: &ReadCtx, entry: u8) -> ShortSense {
        if entry == 0 {
            return ShortSense::NONE;
        }
        if self.rule == Rule::AsPublished {
            return ShortSense::short(self.published(ctx));
        }
        if entry == 1 && self.learned.class_mut(ctx).is_lesson() {
            return ShortSense::SLOW;
        }
        let class = self.learned.class(ctx);
        if !class.is_known() {
            return ShortSense::NONE;
        }
        if self.rule == Rule::SurelyFailing {
            return match class.nearly_all_go_past(entry) {
                true => ShortSense::short(self.published(ctx)),
                false => ShortSense::NONE,
            };
        }
        match class.planned(entry) {
            0 => ShortSense::NONE,
            time => ShortSense::short(PRE_PERMILLE[time - 1]),
        }
    }

    /// A read ended as `end` and `outcome` have it.
    pub fn on_read(&mut self, ctx: &ReadCtx, end: ReadEnd, outcome: &Outcome, times: &StepTimes) {
        if end.entry == 0 || self.rule == Rule::AsPublished {
            return;
        }
        if end.used_short_sense {
            let class = self.learned.class(ctx);
            if class.is_known() {
                let beyond = usize::from(end.steps).saturating_sub(class.last_end());
                self.learned.beyond.add(beyond as u8);
            }
            return;
        }
        if outcome.failed != 0 {
            return;
        }
        let capability_bits = self.table.capability_bits;
        let margin_bits = capability_bits.saturating_sub(outcome.max_errors);
        let times = self.times(ctx, times.rest());
        if self.learned.class_mut(ctx).ended(end.entry, margin_bits) {
            self.learned.beyond.forget_half();
        }
        if self.rule == Rule::ExpectedLatency {
            let beyond = self.learned.beyond;
            self.learned.class_mut(ctx).make_plan(&times, beyond);
        }
    }

    /// Whether the rule goes by how long steps take.
    pub fn prices_steps(&self) -> bool {
        self.rule == Rule::ExpectedLatency
    }

    /// Time of a sense of a page of type `page`, if the rule goes by how long steps take.
    #[inline]
    pub fn sense_ns(&self, page: PageType, timing: SenseTiming) -> Option<Ns> {
        let ns = || self.time.short_sense_ns(page.0, timing.pre_permille);
        self.prices_steps().then(|| Ns(ns().into()))
    }

    /// How long a step of a read takes (ns), and what it adds in errors (tenths of a bit), by its time: the
    /// default, then those of the table. Beyond the table, and where none saves much, each is as long as the default. What follows a sense takes
    /// `rest`; before that was observed, what it takes on an idle drive.
    fn times(&self, ctx: &ReadCtx, rest: Option<StepRest>) -> [(u64, u16); TIMES] {
        let idle = StepRest {
            observed_ns: self.time.rest_ns(),
            alone_ns: self.time.rest_ns(),
        };
        let rest = rest.unwrap_or(idle);
        let (observed, alone) = (u64::from(rest.observed_ns), u64::from(rest.alone_ns));
        let full = |pre_permille| {
            let sense = self.time.short_sense_ns(ctx.at.page.0, pre_permille);
            match self.pipelined {
                true => u64::from(sense).max(observed),
                false => u64::from(sense) + observed,
            }
        };
        // A read that comes to a decoder sooner than others waits for them there: only while the decoder would have had
        // nothing to do does the time that it comes sooner shorten anything.
        let saved = |pre_permille| (full(1000) - full(pre_permille)) * alone / observed.max(1);
        let mut times = [(full(1000), 0); TIMES];
        let [.., shortest] = PRE_PERMILLE;
        let row = self.table.at(self.temperature_c, ctx.pe_cycles, ctx.age);
        let Some(row) = row.filter(|_| saved(shortest) * LEAST_SAVING >= full(1000)) else {
            return times;
        };
        let short = PRE_PERMILLE.iter().zip(row.added_tenths);
        for (time, (&pre_permille, added_tenths)) in times[1..].iter_mut().zip(short) {
            // Changing the time of the die takes a command.
            let ns = full(1000) - saved(pre_permille) + u64::from(self.time.set_feature_ns);
            *time = (ns, added_tenths);
        }
        times
    }

    /// Precharge of a short step as published (permille): 1000 where nothing shorter is safe.
    fn published(&self, ctx: &ReadCtx) -> u16 {
        let SafeSense { pre_permille, .. } =
            self.table.safe(self.temperature_c, ctx.pe_cycles, ctx.age);
        pre_permille.max(PUBLISHED_PERMILLE)
    }
}

record! {
    MarginTracker as "margins" {
        learned: "classes of reads that have taught",
    } not {
        table: "of the configuration",
        temperature_c: "of the configuration",
        rule: "of the configuration",
        time: "of the configuration",
        pipelined: "of the configuration",
    }
}

#[cfg(test)]
mod tests {
    use std::{format, println};

    use firstread_core::sensing::ShortSenses;
    use firstread_core::{CellMode, Ns, PageAddr, PageType, SpareErrors};

    use super::*;

    const CAPABILITY_BITS: u16 = 72;
    const TIME: ReadTime = ReadTime {
        sense_ns: [78_000, 117_000, 78_000, 0],
        precharge_ns: [48_000, 72_000, 48_000, 0],
        transfer_ns: 16_000,
        decode_ns: 20_000,
        set_feature_ns: 1_000,
    };
    /// Errors added as they are on the TLC chip at 1,000 P/E cycles and three days at 30 °C.
    const ROW: ShortSenses = ShortSenses {
        default_tenths: 414,
        added_tenths: [1, 6, 24, 81, 187, 436, 1182, 3142],
    };

    fn margin_tracker(rule: Rule, pipelined: bool) -> MarginTracker {
        let mut table = SensingTable {
            capability_bits: CAPABILITY_BITS,
            codeword_bits: 9216,
            margin_bits: 14,
            activation_mev: 1100,
            ..SensingTable::NOTHING
        };
        table.points.as_flattened_mut().as_flattened_mut().fill(ROW);
        MarginTracker {
            table: Box::new(table),
            temperature_c: 30,
            rule,
            time: TIME,
            pipelined,
            learned: Learned::new(),
        }
    }

    fn ctx() -> ReadCtx {
        ReadCtx {
            now: Ns::from_h(100),
            at: PageAddr {
                page: PageType(1),
                ..PageAddr::default()
            },
            mode: CellMode::Tlc,
            pe_cycles: 1000,
            age: Ns::from_h(72),
        }
    }

    /// No step has been observed.
    fn idle() -> StepTimes {
        StepTimes::new(0)
    }

    fn at_entry(entry: u8, used_short_sense: bool) -> ReadEnd {
        ReadEnd {
            entry,
            steps: entry,
            used_short_sense,
        }
    }

    fn decoded(max_errors: u16) -> Outcome {
        Outcome {
            wanted: 1,
            failed: 0,
            max_errors,
            sum_errors: max_errors.into(),
            unsatisfied: 0,
            spare: SpareErrors::default(),
        }
    }

    /// A page whose walk comes to entry `first` with `margin` bits, and to `gain` more with each entry after it.
    #[derive(Clone, Copy)]
    struct Walk {
        first: u8,
        margin_tenths: u16,
        gain_tenths: u16,
    }

    /// Pages of a synthetic population; walks around `mean` entries, margins below `widest` bits.
    fn walks(mean: u8, spread: u8, widest: u16) -> impl Iterator<Item = Walk> {
        (0..6_000u32).map(move |i| {
            let draw = |salt: u32| i.wrapping_mul(2_654_435_761).rotate_left(salt) >> 8;
            Walk {
                first: mean - spread + (draw(3) % (2 * u32::from(spread) + 1)) as u8,
                margin_tenths: (draw(11) % (10 * u32::from(widest))) as u16,
                gain_tenths: 150,
            }
        })
    }

    /// Reads `walk`, and returns its time from the first retry on (ns) and its number of retries.
    /// `slow` if no step is short. The read teaches what it shows, or `told` instead.
    fn read(
        margin_tracker: &mut MarginTracker,
        walk: Walk,
        mut slow: bool,
        told: Option<(u8, u16)>,
    ) -> (u64, u8) {
        let (ctx, mut ns, mut used_short_sense) = (ctx(), 0, false);
        let mut set = SenseTiming::DEFAULT;
        assert_eq!(
            margin_tracker.short_sense(&ctx, 0),
            ShortSense::NONE,
            "a first read"
        );
        for entry in 1..=60 {
            let short_sense = match slow {
                true => ShortSense::NONE,
                false => margin_tracker.short_sense(&ctx, entry),
            };
            slow |= short_sense.slow;
            used_short_sense |= short_sense.timing != SenseTiming::DEFAULT;
            let pre = short_sense.timing.pre_permille;
            let (sense, rest) = (TIME.short_sense_ns(1, pre), TIME.rest_ns());
            ns += u64::from(match margin_tracker.pipelined {
                true => sense.max(rest),
                false => sense + rest,
            });
            ns += u64::from(short_sense.timing != set) * u64::from(TIME.set_feature_ns);
            set = short_sense.timing;
            let added = added_tenths(pre);
            let retry_state = u16::from(entry.saturating_sub(walk.first));
            let margin = walk.margin_tenths + retry_state * walk.gain_tenths;
            if entry >= walk.first && margin >= added {
                let errors = CAPABILITY_BITS - (margin - added).min(720) / 10;
                let (end, errors) = told.unwrap_or((entry, errors));
                let end = ReadEnd {
                    entry: end,
                    steps: entry,
                    used_short_sense,
                };
                margin_tracker.on_read(&ctx, end, &decoded(errors), &idle());
                return (ns, entry);
            }
        }
        panic!("no entry reads a page");
    }

    fn added_tenths(pre_permille: u16) -> u16 {
        match PRE_PERMILLE.iter().position(|&p| p == pre_permille) {
            Some(i) => ROW.added_tenths[i],
            None if pre_permille == 1000 => 0,
            // Published times lie between two of the table. The longer one has fewer errors.
            None => {
                let i = PRE_PERMILLE.partition_point(|&p| p > pre_permille);
                ROW.added_tenths[i]
            }
        }
    }

    /// Mean time of a read's retries (us), and their mean number.
    fn mean(rule: Option<Rule>, pipelined: bool, of: impl Iterator<Item = Walk>) -> (f64, f64) {
        let mut margin_tracker = margin_tracker(rule.unwrap_or(Rule::ExpectedLatency), pipelined);
        let (mut ns, mut retries, mut n) = (0, 0, 0.0);
        for walk in of {
            let (took, entry) = read(&mut margin_tracker, walk, rule.is_none(), None);
            (ns, retries, n) = (ns + took, retries + u64::from(entry), n + 1.0);
        }
        (ns as f64 / n / 1e3, retries as f64 / n)
    }

    #[test]
    fn model_expected_latency_is_never_later_than_another_rule() {
        for (first, spread, widest) in [
            (1, 0, 4),
            (1, 0, 40),
            (2, 1, 12),
            (5, 2, 16),
            (12, 5, 10),
            (20, 3, 40),
            (20, 10, 3),
        ] {
            for pipelined in [false, true] {
                let of = |rule| mean(rule, pipelined, walks(first, spread, widest));
                let (expected, steps) = of(Some(Rule::ExpectedLatency));
                for rule in [None, Some(Rule::AsPublished), Some(Rule::SurelyFailing)] {
                    let (other, more) = of(rule);
                    let place = format!("{first} ± {spread}, margins to {widest}, {pipelined}");
                    println!(
                        "{place}: {expected:.1} us, {steps:.2}; {rule:?} {other:.1}, {more:.2}"
                    );
                    // One read in 32 teaches, and gains nothing.
                    assert!(expected < 1.015 * other, "{place}: {rule:?}");
                }
            }
        }
    }

    /// Mean time of the retries of `of` (us) where reads teach what reads of `taught` show.
    fn mean_after(
        pipelined: bool,
        of: impl Iterator<Item = Walk>,
        taught: impl Iterator<Item = (u8, u16)>,
    ) -> f64 {
        let mut margin_tracker = margin_tracker(Rule::ExpectedLatency, pipelined);
        let (mut ns, mut n) = (0, 0.0);
        for (walk, told) in of.zip(taught) {
            ns += read(&mut margin_tracker, walk, false, Some(told)).0;
            n += 1.0;
        }
        ns as f64 / n / 1e3
    }

    /// Without what was learned the gain goes: a fifth to a third where entries and margins are any, and more than all of
    /// it where they are those of reads that walk far with much to spare.
    #[test]
    fn model_what_was_learned_makes_the_gain() {
        for pipelined in [false, true] {
            let walks = || walks(12, 5, 10);
            let (default, _) = mean(None, pipelined, walks());
            let (learned, _) = mean(Some(Rule::ExpectedLatency), pipelined, walks());
            let any = (0..).map(|n: u32| (1 + (n * 7 % 24) as u8, (n * 31 % 72) as u16));
            let shuffled = mean_after(pipelined, walks(), any);
            println!("{default:.0} us, learned {learned:.0}, shuffled {shuffled:.0}");
            let (gain, other) = (default - learned, default - shuffled);
            assert!(other < 0.85 * gain, "of {gain:.0} us {other:.0} are left");

            let walks = || super::tests::walks(1, 0, 4);
            let (default, _) = mean(None, pipelined, walks());
            let of_others = std::iter::repeat((24, 10));
            let misled = mean_after(pipelined, walks(), of_others);
            println!("{default:.0} us, misled {misled:.0}");
            assert!(misled > 1.05 * default, "{misled:.0} us, not {default:.0}");
        }
    }

    #[test]
    fn formula_as_published_shortens_each_retry_and_no_first_read() {
        let mut margin_tracker = margin_tracker(Rule::AsPublished, false);
        assert_eq!(margin_tracker.short_sense(&ctx(), 0), ShortSense::NONE);
        for entry in 1..=40 {
            let pre = margin_tracker
                .short_sense(&ctx(), entry)
                .timing
                .pre_permille;
            // 16.6 bits to spare lie between 8.1 at 600 and 18.7 at 530.
            assert_eq!(pre, 544, "600 - 70 * 85 / 106");
        }
        // With 14 bits more a sense of 300 would be safe, with less to spare than it adds at 600 a longer one: 5.0 bits
        // lie between 2.4 at 700 and 8.1 at 600. Without any to spare no step is short.
        for (default_tenths, pre_permille) in [(100, 460), (530, 655), (575, 820), (581, 1000)] {
            let row = ShortSenses {
                default_tenths,
                ..ROW
            };
            let points = margin_tracker.table.points.as_flattened_mut();
            points.as_flattened_mut().fill(row);
            let short_sense = margin_tracker.short_sense(&ctx(), 1);
            assert_eq!(short_sense.timing.pre_permille, pre_permille);
        }
        // Nor is one where nothing is known.
        *margin_tracker.table = SensingTable::NOTHING;
        assert_eq!(margin_tracker.short_sense(&ctx(), 1), ShortSense::NONE);
    }

    #[test]
    fn model_short_steps_teach_nothing() {
        let mut margin_tracker = margin_tracker(Rule::ExpectedLatency, false);
        for _ in 0..40 {
            assert_eq!(
                margin_tracker.short_sense(&ctx(), 1),
                ShortSense::SLOW,
                "the first teach"
            );
            margin_tracker.on_read(&ctx(), at_entry(1, true), &decoded(0), &idle());
        }
        for _ in 0..16 {
            margin_tracker.on_read(&ctx(), at_entry(3, false), &decoded(70), &idle());
        }
        // From now on steps that no read ended with are short, and one read in 32 still teaches.
        let slow = (0..320)
            .filter(|_| margin_tracker.short_sense(&ctx(), 1).slow)
            .count();
        assert_eq!(slow, 10);
        let pre = |margin_tracker: &mut MarginTracker, entry| {
            margin_tracker
                .short_sense(&ctx(), entry)
                .timing
                .pre_permille
        };
        assert!(pre(&mut margin_tracker, 2) < 460);
        assert!(pre(&mut margin_tracker, 3) > 600, "two bits are left");
    }
}
