//! Write amplification, and whether a run has been in a steady state.
//!
//! Write amplification is the number of bytes programmed to flash divided by the bytes that the host wrote.
//! All programmed slots count: host data, moved data, map pages and stripe parity; a write of less than a
//! slot programs a whole slot. The spare area (code parity) does not count. The **share** of an owner of
//! moves (garbage collection, wear leveling, a scheme) is the bytes moved for it divided by the bytes that
//! the host wrote.
//!
//! These ratios are meaningful only once cleaning has settled, and only if the moves for one victim are few
//! compared with everything written. So the run is cut at superblock erases, from its first erase on, into
//! **segments** with equal numbers of erases: each segment contains whole victims. The mean of the ratios is
//! weighted by the host bytes of each segment. Its interval allows for correlation between neighbouring
//! segments (module `variance`).
//!
//! The run was in a **steady state** if
//!
//! 1. there are at least [`FEWEST`] segments,
//! 2. the segments that count contain as many erases as the drive has superblocks, so that each superblock
//!    has been a victim about once, and what superblocks held at the start of the run has been turned over
//!    (module `turnover`). Alternatively, the mean is within [`NEAR`] of the expected value. The
//!    expectation comes from theory on a preconditioned drive, if less than [`NEAR`] of what was programmed
//!    was moved for other reasons than cleaning; or from a burn-in that was steady,
//! 3. write amplification and the share of every owner agree between the first and the second half of the
//!    segments, and between the middle half and the rest. They agree if they differ by no more than the 99 %
//!    interval of the difference, or by no more than [`CLOSE`] of the write amplification. A single sawtooth
//!    wave over the run fails one of the two comparisons, wherever it begins. The test for chance uses sums
//!    of segments and also their ranks, so one outlier does not blind it. If parts differ, the run may have
//!    reached a steady state on its way. Then segments at its start are left out, at most half of them, as
//!    many as minimize the standard error (the rule MSER), and the rest must agree,
//! 4. the interval extends no further from the mean than [`WIDEST`] of the mean; in a burn-in, than [`NARROW`].

use firstread_firmware::observe::{OWNERS, Owner};

use super::chance::{rank_sum, step_variance};
use super::segments::{Segment, Segments};
use super::student::{P95, P99, student};
use super::turnover::Left;
use super::variance::variance;

pub use super::segments::{FEWEST, Written};

/// Allowed distance of the mean from its expected value, relative to that value.
pub const NEAR: f64 = 0.1;
/// Parts of a run agree if they differ by less than this share of the write amplification.
pub const CLOSE: f64 = 0.01;
/// Largest half-width of the interval of a steady state, relative to the mean.
pub const WIDEST: f64 = 0.2;
/// The same where a burn-in is to end: of the mean that it ends with, and of its distance from what theory expects.
pub const NARROW: f64 = 0.01;

/// What a run has to meet.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Demands {
    /// Superblocks of the drive.
    pub superblocks: u32,
    /// What is left of what superblocks held at the start.
    pub left: Left,
    /// Write amplification expected.
    pub expected: Expected,
    /// Largest half-width of the interval, relative to the mean.
    pub widest: f64,
    /// Largest distance of the mean from its expected value, relative to that value.
    pub near: f64,
}

/// Write amplification expected before the run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Expected {
    /// From theory: a preconditioned drive under the overwrites that it was preconditioned with.
    pub theory: Option<f64>,
    /// From a burn-in that was steady.
    pub burn_in: Option<f64>,
}

/// A mean over segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Flash bytes over host bytes.
    pub mean: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// Number of segments in the mean; earlier segments were left out.
    pub segments: usize,
    /// Bytes moved divided by host bytes, by owner ([`Owner::ALL`]).
    pub shares: [f64; OWNERS],
    /// Disagreement between parts of the segments.
    change: Option<NotSteady>,
}

/// Why a run was not in a steady state, or why this cannot be decided.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NotSteady {
    /// Too few superblocks were erased: the number erased, and the number needed.
    FewErases(u64, u64),
    /// Superblocks hold what they held at the start.
    OldData(Left),
    /// Write amplification is still changing: parts of the run differ by so much, relative to the mean.
    Changes(f64),
    /// The moves for an owner are still changing: parts of the run differ by so much, relative to write amplification.
    Moves(Owner, f64),
    /// The interval of write amplification is too wide.
    Wide,
}

/// Write amplification of a run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Amplification {
    /// Mean over the segments, steady or not; none if there are too few.
    pub estimate: Option<Estimate>,
    /// Superblocks erased in each segment.
    pub erases_each: u64,
    /// Superblocks erased in the run.
    pub erases: u64,
    /// Superblocks of the drive.
    pub superblocks: u32,
    /// Expectation from theory for a preconditioned drive under the overwrites that it was preconditioned
    /// with.
    pub theory: Option<f64>,
    /// All segments together, and how many there are.
    whole: Segment,
    segments: usize,
    /// What it has to meet.
    demands: Demands,
    /// Why the run was not in a steady state; none if it was.
    pub not_steady: Option<NotSteady>,
}

impl Amplification {
    /// Result for `segments`, of which so much is demanded.
    pub(crate) fn of(segments: &Segments, demands: Demands) -> Amplification {
        let amplification = Amplification {
            estimate: estimate(segments.all()),
            erases_each: segments.erases_each(),
            erases: segments.erases(),
            superblocks: demands.superblocks,
            theory: demands.expected.theory,
            whole: segments
                .all()
                .iter()
                .fold(Segment::default(), |sum, s| sum.plus(*s)),
            segments: segments.all().len(),
            demands,
            not_steady: None,
        };
        let left_out = amplification.estimate.map_or(0, |e| {
            (segments.all().len() - e.segments) as u64 * segments.erases_each()
        });
        Amplification {
            not_steady: amplification.fault(amplification.erases - left_out, demands),
            ..amplification
        }
    }

    /// That of the parts of a run that was split, with an interval over the parts: as one run of their length is judged. It changes
    /// in its course where most parts do: of many parts one does so by chance.
    pub(crate) fn of_parts(parts: &[Amplification]) -> Amplification {
        let Some(last) = parts.last() else {
            return Amplification::default();
        };
        let all = Amplification {
            estimate: Estimate::over_parts(parts),
            erases_each: parts.iter().map(|part| part.erases_each).max().unwrap_or(0),
            erases: parts.iter().map(|part| part.erases).sum(),
            ..*last
        };
        let changes = parts.iter().filter_map(|part| match part.not_steady {
            Some(change @ (NotSteady::Changes(_) | NotSteady::Moves(..))) => Some(change),
            _ => None,
        });
        let change = match 2 * changes.clone().count() > parts.len() {
            true => changes.clone().next(),
            false => None,
        };
        Amplification {
            not_steady: all.fault(all.erases, all.demands).or(change),
            ..all
        }
    }

    /// The estimate, if the run was in a steady state.
    pub fn steady(&self) -> Option<Estimate> {
        self.estimate.filter(|_| self.not_steady.is_none())
    }

    /// Why the run is not steady, given the number of erases in the segments that count.
    fn fault(&self, erases: u64, demands: Demands) -> Option<NotSteady> {
        let least = FEWEST as u64 + 1;
        let all = u64::from(self.superblocks).max(least);
        let Some(estimate) = self.estimate else {
            let needed = if demands.expected == Expected::default() {
                all
            } else {
                least
            };
            return Some(NotSteady::FewErases(self.erases, needed));
        };
        if !estimate.is_as(demands) {
            if erases < all {
                return Some(NotSteady::FewErases(erases, all));
            }
            if !demands.left.is_small() {
                return Some(NotSteady::OldData(demands.left));
            }
        }
        let wide = estimate.interval.1 - estimate.mean > demands.widest * estimate.mean;
        estimate.change.or(wide.then_some(NotSteady::Wide))
    }
}

impl Estimate {
    /// That of parts; none where they have too few segments.
    fn over_parts(parts: &[Amplification]) -> Option<Estimate> {
        let each: Vec<Segment> = parts.iter().map(|part| part.whole).collect();
        let segments = parts.iter().map(|part| part.segments).sum();
        let written = Values::new(&each, |s| s.flash);
        let mean = written.ratio(0..each.len())?;
        let mut shares = [0.0; OWNERS];
        for (i, share) in shares.iter_mut().enumerate() {
            *share = Values::new(&each, |s| s.moved[i]).ratio(0..each.len())?;
        }
        let squares = written
            .rests(mean)
            .iter()
            .map(|rest| rest * rest)
            .sum::<f64>();
        let parts = each.len() as f64;
        let of_sum = squares * parts / (parts - 1.0);
        let half = student(P95, parts - 1.0) * of_sum.sqrt() / written.host_bytes();
        (segments >= FEWEST && each.len() > 1).then_some(Estimate {
            mean,
            interval: (mean - half, mean + half),
            segments,
            shares,
            change: None,
        })
    }

    /// Whether the mean is no further from `expected` than `near`, relative to it.
    pub(crate) fn is_near(&self, expected: f64, near: f64) -> bool {
        (self.mean / expected - 1.0).abs() <= near
    }

    /// Whether the mean is close to the expected value.
    fn is_as(&self, demands: Demands) -> bool {
        let expected = demands.expected;
        let is_near = |of: f64| self.is_near(of, demands.near);
        let cleaning = self.shares[Owner::Gc as usize];
        let others = self.shares.iter().sum::<f64>() - cleaning;
        let by_theory = expected.theory.is_some_and(is_near) && others <= NEAR * self.mean;
        by_theory || expected.burn_in.is_some_and(is_near)
    }
}

/// The mean over `all` segments, or over the later ones if some at the start are left out.
fn estimate(all: &[Segment]) -> Option<Estimate> {
    if all.len() < FEWEST {
        return None;
    }
    let whole = mean(all)?;
    if whole.change.is_none() {
        return Some(whole);
    }
    let error = |from: &usize| standard_error(&all[*from..]).unwrap_or(f64::INFINITY);
    let from = (0..=all.len() / 2).min_by(|a, b| error(a).total_cmp(&error(b)))?;
    mean(&all[from..])
}

/// The mean over `segments`.
fn mean(segments: &[Segment]) -> Option<Estimate> {
    let written = Values::new(segments, |s| s.flash);
    let mean = written.ratio(0..segments.len())?;
    let room = CLOSE * mean;
    let changes = written.changes(room);
    let changes = changes.map(|apart| NotSteady::Changes(apart / mean));
    let mut shares = [0.0; OWNERS];
    let mut moves = None;
    for (i, owner) in Owner::ALL.into_iter().enumerate() {
        let moved = Values::new(segments, |s| s.moved[i]);
        shares[i] = moved.ratio(0..segments.len())?;
        let changes = || moved.changes(room);
        let of_owner = |apart| NotSteady::Moves(owner, apart / mean);
        moves = moves.or_else(|| changes().map(of_owner));
    }
    let spread = variance(&written.rests(mean), None);
    let half = student(P95, spread.degrees) * spread.of_sum.sqrt() / written.host_bytes();
    Some(Estimate {
        mean,
        interval: (mean - half, mean + half),
        segments: segments.len(),
        shares,
        change: changes.or(moves),
    })
}

/// Some bytes of each segment, with the host bytes of the segment.
struct Values<'a, F> {
    segments: &'a [Segment],
    of: F,
}

impl<'a, F: Fn(&Segment) -> f64> Values<'a, F> {
    fn new(segments: &'a [Segment], of: F) -> Values<'a, F> {
        Values { segments, of }
    }

    fn host_bytes(&self) -> f64 {
        self.segments.iter().map(|s| s.host).sum()
    }

    /// Bytes divided by host bytes, over the segments in `of`.
    fn ratio(&self, of: impl Iterator<Item = usize>) -> Option<f64> {
        let (bytes, host) = of.fold((0.0, 0.0), |(bytes, host), i| {
            let s = &self.segments[i];
            (bytes + (self.of)(s), host + s.host)
        });
        (host > 0.0).then(|| bytes / host)
    }

    /// Bytes of each segment beyond `mean` times its host bytes.
    fn rests(&self, mean: f64) -> Vec<f64> {
        let rest = |s: &Segment| (self.of)(s) - mean * s.host;
        self.segments.iter().map(rest).collect()
    }

    /// By how much the second half differs from the first, or the middle half from the rest, if it is more than `room` and
    /// more than by chance.
    fn changes(&self, room: f64) -> Option<f64> {
        let n = self.segments.len();
        let mean = self.ratio(0..n)?;
        let rests = self.rests(mean);
        let differ = |first: &dyn Fn(usize) -> bool| {
            let (one, other): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| first(i));
            let ratio = |part: &[usize]| self.ratio(part.iter().copied()).unwrap_or(mean);
            let change = ratio(&one) - ratio(&other);
            let apart = change.abs();
            let (a, b) = (one.len() as f64, other.len() as f64);
            let chance = (step_variance(&rests) * (1.0 / a + 1.0 / b)).sqrt() * n as f64;
            let by_sums = apart > student(P99, (n - 2) as f64) * chance / self.host_bytes();
            let differ = apart > room && (by_sums || rank_sum(&rests, &one) > P99.normal);
            differ.then_some(change)
        };
        let middle = n / 4..n - n / 4;
        differ(&|i| i >= n / 2).or_else(|| differ(&|i| middle.contains(&i)))
    }
}

/// Standard error of the write amplification over `segments`, treated as independent.
fn standard_error(segments: &[Segment]) -> Option<f64> {
    let written = Values::new(segments, |s| s.flash);
    let mean = written.ratio(0..segments.len())?;
    let squares = written
        .rests(mean)
        .iter()
        .map(|rest| rest * rest)
        .sum::<f64>();
    let n = segments.len() as f64;
    Some((n * squares / (n - 1.0)).sqrt() / written.host_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;
    use firstread_firmware::ftl::Ahead;
    use firstread_firmware::observe::Counters;

    const SLOT: u32 = 4096;

    /// A run with one erase per `host` host slots, in which `amplification` times as many slots are
    /// programmed.
    fn run(
        erases: u64,
        superblocks: u32,
        theory: Option<f64>,
        course: impl Fn(u64) -> (u64, f64),
    ) -> Amplification {
        run_moving(erases, superblocks, theory, course, |_, _| {})
    }

    /// The same; `moves` gives the slots moved at each erase.
    fn run_moving(
        erases: u64,
        superblocks: u32,
        theory: Option<f64>,
        course: impl Fn(u64) -> (u64, f64),
        moves: impl Fn(u64, &mut [u64; OWNERS]),
    ) -> Amplification {
        let mut counters = Counters {
            erases: 7,
            host_bytes_written: 5_000_000,
            slots_programmed: 12_345,
            ..Counters::default()
        };
        let mut segments = Segments::new(&counters, SLOT);
        assert!(!segments.is_behind(&counters));
        for i in 0..erases {
            let (host, amplification) = course(i);
            counters.host_bytes_written += host * u64::from(SLOT);
            counters.slots_programmed += (host as f64 * amplification).round() as u64;
            counters.erases += 1;
            moves(i, &mut counters.slots_moved_by);
            assert!(segments.is_behind(&counters));
            segments.note(&counters, counters.host_bytes_written, Ahead::default);
        }
        let expected = Expected {
            theory,
            ..Expected::default()
        };
        Amplification::of(&segments, demands(superblocks, expected))
    }

    /// What is demanded of a run on a drive that was turned over.
    fn demands(superblocks: u32, expected: Expected) -> Demands {
        Demands {
            superblocks,
            left: Left::default(),
            expected,
            widest: WIDEST,
            near: NEAR,
        }
    }

    fn even(_: u64) -> (u64, f64) {
        (1000, 3.0)
    }

    #[test]
    fn formula_nothing_is_said_before_the_drive_was_erased_once() {
        for (erases, superblocks, theory, fault) in [
            (0, 64, None, Some(NotSteady::FewErases(0, 64))),
            (63, 64, None, Some(NotSteady::FewErases(63, 64))),
            (64, 64, None, None),
            // On a drive of few superblocks: an interval needs twenty segments.
            (20, 4, None, Some(NotSteady::FewErases(20, 21))),
            (21, 4, None, None),
            // In the state that theory expects, or not.
            (20, 64, Some(3.1), Some(NotSteady::FewErases(20, 21))),
            (21, 64, Some(3.1), None),
            (21, 64, Some(4.0), Some(NotSteady::FewErases(21, 64))),
            (64, 64, Some(4.0), None),
        ] {
            let result = run(erases, superblocks, theory, even);
            assert_eq!(
                result.not_steady, fault,
                "{erases} erases of {superblocks}: {result:?}"
            );
            assert_eq!(result.erases, erases);
            assert_eq!(result.steady().is_some(), fault.is_none());
            if let Some(steady) = result.steady() {
                assert!((steady.mean - 3.0).abs() < 1e-9, "{steady:?}");
            }
        }
    }

    /// The mean is weighted by what the host wrote: 1000 slots at 2 and 3000 at 4 are 3.5.
    #[test]
    fn formula_amplification_is_all_that_was_programmed_over_all_that_was_written() {
        let result = run(1001, 100, None, |i| {
            if i % 2 == 0 { (1000, 2.0) } else { (3000, 4.0) }
        });
        let estimate = result.estimate.unwrap();
        assert!((estimate.mean - 3.5).abs() < 1e-9, "{estimate:?}");
        assert!(result.not_steady.is_none(), "{result:?}");
        let counters = Counters {
            host_bytes_written: 1 << 20,
            slots_programmed: 768,
            ..Counters::default()
        };
        assert_eq!(Written::of(&counters, SLOT).ratio(), Some(3.0));
        assert_eq!(Written::default().ratio(), None);
    }

    /// Superblocks are erased by refresh alone: nothing is amplified, for any number of erases.
    #[test]
    fn formula_a_host_that_writes_nothing_has_no_amplification() {
        let idle = run_moving(
            400,
            64,
            None,
            |_| (0, 0.0),
            |_, moved| moved[Owner::Refresh as usize] += 1000,
        );
        assert!(
            idle.estimate.is_none() && idle.steady().is_none(),
            "{idle:?}"
        );
        assert!(idle.not_steady.is_some(), "{idle:?}");
    }

    #[test]
    fn formula_what_changes_or_scatters_is_not_steady() {
        let rising = run(400, 100, None, |i| (1000, 1.0 + i as f64 / 100.0));
        // Of what counts, from 3 to 5, the later half is 1 above the earlier one, at 4 on average.
        let rises =
            |fault| matches!(fault, Some(NotSteady::Changes(by)) if (by - 0.25).abs() < 0.02);
        assert!(rises(rising.not_steady), "{rising:?}");
        let draws = Stream::new(1).named("wide");
        let wide = run(24, 10, None, |i| {
            (1000, if draws.at(i).below(2) == 0 { 1.0 } else { 9.0 })
        });
        assert_eq!(wide.not_steady, Some(NotSteady::Wide), "{wide:?}");
        // The segments before the change are left out.
        let settled = run(400, 100, None, |i| (1000, if i < 60 { 1.0 } else { 3.0 }));
        let steady = settled.steady().unwrap();
        assert!(
            (steady.mean - 3.0).abs() < 0.05 && steady.segments < 45,
            "{settled:?}"
        );
    }

    /// A run of a single wave is not steady, wherever the wave begins; a run of many waves is. The wave is a
    /// sawtooth: a slow rise and a sudden fall.
    #[test]
    fn formula_one_phase_of_a_sawtooth_is_not_steady() {
        let tooth = |turns: f64| 2.0 + (turns - turns.floor());
        for begin in 0..20 {
            let run_of = |waves: f64| {
                run(400, 100, None, |i| {
                    let turns = f64::from(begin) / 20.0 + waves * i as f64 / 400.0;
                    (1000, tooth(turns))
                })
            };
            for waves in [0.25, 0.5, 1.0] {
                let found = run_of(waves);
                assert!(
                    found.not_steady.is_some(),
                    "{waves} from {begin}: {found:?}"
                );
            }
            let mean = run_of(64.0).steady().expect("64 waves").mean;
            assert!((mean - 2.5).abs() < 0.03, "{mean}");
        }
    }

    /// Wear leveling takes over moves from garbage collection: the sum is constant, its parts are not.
    #[test]
    fn formula_moves_that_change_owners_are_not_steady() {
        let of = |wear: fn(u64) -> u64| {
            run_moving(400, 100, None, even, |i, moved| {
                moved[Owner::Wear as usize] += wear(i);
                moved[Owner::Gc as usize] += 2000 - wear(i);
            })
        };
        let changing = of(|i| 5 * i);
        assert!(
            matches!(changing.not_steady, Some(NotSteady::Moves(Owner::Gc, by)) if by < 0.0),
            "{changing:?}"
        );
        let steady = of(|i| 500 + i % 7).steady().unwrap();
        assert!((steady.shares[Owner::Wear as usize] - 0.503).abs() < 1e-3);
    }

    /// The theoretical expectation is no evidence on a drive where others than cleaning move much data; a
    /// burn-in's result is.
    #[test]
    fn formula_theory_knows_of_cleaning_alone() {
        let (theory, burn_in) = (Some(3.0), Some(3.0));
        for (wear, expected, is_steady) in [
            (
                0,
                Expected {
                    theory,
                    burn_in: None,
                },
                true,
            ),
            (
                200,
                Expected {
                    theory,
                    burn_in: None,
                },
                true,
            ),
            (
                400,
                Expected {
                    theory,
                    burn_in: None,
                },
                false,
            ),
            (
                400,
                Expected {
                    theory: None,
                    burn_in,
                },
                true,
            ),
            (
                400,
                Expected {
                    theory: None,
                    burn_in: Some(3.5),
                },
                false,
            ),
        ] {
            let mut counters = Counters::default();
            let mut segments = Segments::new(&counters, SLOT);
            for _ in 0..30 {
                counters.host_bytes_written += 1000 * u64::from(SLOT);
                counters.slots_programmed += 3000;
                counters.slots_moved_by[Owner::Wear as usize] += wear;
                counters.erases += 1;
                segments.note(&counters, counters.host_bytes_written, Ahead::default);
            }
            let found = Amplification::of(&segments, demands(64, expected));
            assert_eq!(found.steady().is_some(), is_steady, "{wear}: {found:?}");
        }
    }

    /// In 2000 runs with independent segments, the 95 % interval contains the true ratio in 95 % of the
    /// runs, and fewer than 8 % are reported as changing.
    #[test]
    fn formula_intervals_hold_the_ratio() {
        for erases in [21, 60, 150] {
            let (mut held, mut steady) = (0, 0);
            for seed in 0..2000 {
                let draws = Stream::new(seed).named("amplification");
                let result = run(erases, 1, None, |i| {
                    let host = 700 + draws.at(i).below(601);
                    let moved: u64 = (0..4).map(|k| draws.at(i).at(k).below(1001)).sum();
                    (host, 1.0 + moved as f64 / host as f64)
                });
                if let Some(e) = result.estimate {
                    held += u32::from((e.interval.0..=e.interval.1).contains(&3.0));
                }
                steady += u32::from(result.not_steady.is_none());
            }
            assert!(
                (1840..=1960).contains(&held),
                "{erases} erases: {held} of 2000"
            );
            assert!(steady > 1840, "{erases} erases: {steady} of 2000");
        }
    }

    /// Parts of a run have the ratio of all their bytes, with Student's interval over the parts, and as many segments as they have
    /// together. It changes in its course where most of them do.
    #[test]
    fn formula_parts_are_judged_together() {
        let part = |flash: f64, not_steady| Amplification {
            whole: Segment {
                host: 1e6,
                flash,
                ..Segment::default()
            },
            segments: FEWEST / 2,
            erases: 100,
            demands: Demands {
                superblocks: 1_000,
                expected: Expected {
                    theory: None,
                    burn_in: Some(4.0),
                },
                widest: WIDEST,
                near: NEAR,
                ..Demands::default()
            },
            not_steady,
            ..Amplification::default()
        };
        let changes = Some(NotSteady::Changes(0.02));
        let few = Some(NotSteady::FewErases(1, 21));
        let of = |faults: [Option<NotSteady>; 3]| {
            let flash = [3.9e6, 4.0e6, 4.1e6];
            let parts: Vec<_> = flash
                .into_iter()
                .zip(faults)
                .map(|(f, fault)| part(f, fault))
                .collect();
            Amplification::of_parts(&parts)
        };
        // Each part alone had too few erases.
        let steady = of([few; 3]);
        let e = steady.steady().unwrap();
        // The deviation of 0.1 over the root of three, and t with two degrees of freedom.
        let half = 4.302_653 * 0.1 / 3f64.sqrt();
        assert!(
            (e.mean - 4.0).abs() < 1e-9 && (e.interval.1 - 4.0 - half).abs() < 1e-6,
            "{e:?}"
        );
        assert_eq!((e.segments, steady.erases), (FEWEST / 2 * 3, 300));
        assert_eq!(of([changes, few, few]).not_steady, None);
        assert_eq!(of([changes, few, changes]).not_steady, changes);
        let one = Amplification::of_parts(&[part(4e6, None)]);
        assert_eq!(one.estimate, None, "one part has no interval over parts");
    }
}
