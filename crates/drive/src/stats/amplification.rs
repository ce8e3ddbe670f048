//! Write amplification, and whether a run has been in a steady state.
//!
//! Write amplification is bytes programmed to flash over bytes that the host wrote. Flash bytes are
//! those of all slots programmed, for the host, for moved data, for the map and for the parity of
//! stripes; a write of less than a slot programs a whole one. The spare area (parity of the code) is
//! not counted.
//!
//! The ratio says something only where cleaning takes its usual course, and where what was moved for one
//! victim is small beside all that was written. So the run is cut at erases of superblocks into
//! **stretches** of as many erases each, from its first erase on. Of their ratios, weighted by what the
//! host wrote in each, come the mean and its interval (a ratio estimate, Student's t over stretches).
//! The run was in a **steady state** if
//!
//! 1. there are at least [`FEWEST`] stretches,
//! 2. as many superblocks were erased as the drive has, so that each has been a victim about once; on a
//!    preconditioned drive, as an alternative, the mean is within [`NEAR`] of what theory expects,
//! 3. the two halves of the stretches agree within the 99 % interval of their difference, or [`CLOSE`]. Where
//!    they do not, the run may have come to a steady state on its way: then as many stretches at its
//!    start are left out, half of them at most, as make the standard error least, and the rest must agree,
//! 4. the interval reaches no further from the mean than [`WIDEST`] of it.

use firstread_firmware::observe::Counters;

use super::student::{P95, P99, student};

/// Fewest stretches that an interval is made of.
pub const FEWEST: usize = 20;
/// With so many stretches, two at a time become one.
const MOST: usize = 2 * FEWEST;
/// How near the mean is to theory's, as a share of that, for a preconditioned drive to be in the state
/// it was put in.
pub const NEAR: f64 = 0.1;
/// Halves that differ by less than this share of the mean agree.
pub const CLOSE: f64 = 0.01;
/// Widest interval of a steady state, on each side, as a share of the mean.
pub const WIDEST: f64 = 0.2;

/// Bytes the host wrote, and bytes programmed to flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// By the host.
    pub host_bytes: u64,
    /// To flash.
    pub flash_bytes: u64,
}

impl Written {
    /// What `counters` say of slots of `slot_bytes`.
    pub fn of(counters: &Counters, slot_bytes: u32) -> Written {
        Written {
            host_bytes: counters.host_bytes_written,
            flash_bytes: counters.slots_programmed * u64::from(slot_bytes),
        }
    }

    /// Flash bytes over host bytes; none where the host wrote nothing. Over a whole run it counts
    /// data that are still in a buffer, and moves of victims that are not erased yet, as if they were
    /// all.
    pub fn ratio(self) -> Option<f64> {
        (self.host_bytes > 0).then(|| self.flash_bytes as f64 / self.host_bytes as f64)
    }

    fn since(self, before: Written) -> Written {
        Written {
            host_bytes: self.host_bytes - before.host_bytes,
            flash_bytes: self.flash_bytes - before.flash_bytes,
        }
    }

    fn plus(self, more: Written) -> Written {
        Written {
            host_bytes: self.host_bytes + more.host_bytes,
            flash_bytes: self.flash_bytes + more.flash_bytes,
        }
    }
}

/// A run as its erases cut it.
#[derive(Debug)]
pub(crate) struct Stretches {
    slot_bytes: u32,
    /// Erases before the run, and until now.
    erases_before: u64,
    erases: u64,
    /// What was written at the end of the last stretch, and erases until then.
    last: Option<(Written, u64)>,
    /// Erases of a stretch.
    each: u64,
    all: Vec<Written>,
}

impl Stretches {
    /// A run that begins when the firmware has counted `counters`.
    pub(crate) fn new(counters: &Counters, slot_bytes: u32) -> Stretches {
        Stretches {
            slot_bytes,
            erases_before: counters.erases,
            erases: counters.erases,
            last: None,
            each: 1,
            all: Vec::with_capacity(MOST),
        }
    }

    /// Whether superblocks have been erased since the last [`Stretches::note`].
    #[inline]
    pub(crate) fn is_behind(&self, counters: &Counters) -> bool {
        counters.erases != self.erases
    }

    /// Superblocks have been erased.
    #[cold]
    pub(crate) fn note(&mut self, counters: &Counters) {
        self.erases = counters.erases;
        let now = Written::of(counters, self.slot_bytes);
        let Some((began, erases)) = self.last else {
            self.last = Some((now, self.erases));
            return;
        };
        if self.erases - erases < self.each {
            return;
        }
        self.all.push(now.since(began));
        self.last = Some((now, self.erases));
        if self.all.len() == MOST {
            for i in 0..MOST / 2 {
                self.all[i] = self.all[2 * i].plus(self.all[2 * i + 1]);
            }
            self.all.truncate(MOST / 2);
            self.each *= 2;
        }
    }

    /// What it comes to, on a drive of so many superblocks, of whose amplification theory says
    /// something if it was preconditioned.
    pub(crate) fn end(&self, superblocks: u32, theory: Option<f64>) -> Amplification {
        let amplification = Amplification {
            estimate: estimate(&self.all),
            erases_each: self.each,
            erases: self.erases - self.erases_before,
            superblocks,
            theory,
            not_steady: None,
        };
        Amplification {
            not_steady: amplification.fault(),
            ..amplification
        }
    }
}

/// A mean over stretches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Flash bytes over host bytes.
    pub mean: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// Stretches it is over; those before were left out.
    pub stretches: usize,
    /// Whether their halves agree.
    halves_agree: bool,
}

/// Why a run was in no steady state, or it cannot be told.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NotSteady {
    /// Too few superblocks were erased: so many, of so many that it takes.
    FewErases(u64, u64),
    /// Write amplification still changes.
    Changes,
    /// Its interval is too wide.
    Wide,
}

/// Write amplification of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Amplification {
    /// Over its stretches, steady or not; none where there are too few.
    pub estimate: Option<Estimate>,
    /// Superblocks erased in each stretch.
    pub erases_each: u64,
    /// Superblocks erased in the run.
    pub erases: u64,
    /// Superblocks of the drive.
    pub superblocks: u32,
    /// What theory expects of a preconditioned drive under the overwrites that it was preconditioned
    /// with.
    pub theory: Option<f64>,
    /// Why the run was in no steady state; none if it was.
    pub not_steady: Option<NotSteady>,
}

impl Amplification {
    /// Of a steady state; none where the run was in none.
    pub fn steady(&self) -> Option<Estimate> {
        self.estimate.filter(|_| self.not_steady.is_none())
    }

    fn fault(&self) -> Option<NotSteady> {
        let least = FEWEST as u64 + 1;
        let all = u64::from(self.superblocks).max(least);
        let Some(estimate) = self.estimate else {
            let needed = if self.theory.is_some() { least } else { all };
            return Some(NotSteady::FewErases(self.erases, needed));
        };
        let is_near = |theory: f64| (estimate.mean / theory - 1.0).abs() <= NEAR;
        if self.erases < all && !self.theory.is_some_and(is_near) {
            return Some(NotSteady::FewErases(self.erases, all));
        }
        if !estimate.halves_agree {
            return Some(NotSteady::Changes);
        }
        let wide = estimate.interval.1 - estimate.mean > WIDEST * estimate.mean;
        wide.then_some(NotSteady::Wide)
    }
}

/// The mean over `all` stretches. Where their halves differ, those at the start are left out without which
/// its standard error is least (the rule MSER), at most half of them.
fn estimate(all: &[Written]) -> Option<Estimate> {
    if all.len() < FEWEST {
        return None;
    }
    let whole = mean(all)?;
    if whole.halves_agree {
        return Some(whole);
    }
    let error = |from: &usize| ratio(&all[*from..]).map_or(f64::INFINITY, |(_, error)| error);
    let from = (0..=all.len() / 2).min_by(|a, b| error(a).total_cmp(&error(b)))?;
    mean(&all[from..])
}

/// The mean over `stretches`.
fn mean(stretches: &[Written]) -> Option<Estimate> {
    let n = stretches.len();
    let (mean, error) = ratio(stretches)?;
    let (first, second) = stretches.split_at(n / 2);
    let apart = (ratio(first)?.0 - ratio(second)?.0).abs();
    // From one stretch to the next: a drift or a step does not hide in it as it does in the variance.
    let rest = |s: &Written| s.flash_bytes as f64 - mean * s.host_bytes as f64;
    let steps = stretches.windows(2).map(|two| {
        let step = rest(&two[1]) - rest(&two[0]);
        step * step
    });
    let variance = steps.sum::<f64>() / (2 * (n - 1)) as f64;
    let host = stretches.iter().map(|s| s.host_bytes as f64).sum::<f64>() / n as f64;
    let (a, b) = (first.len() as f64, second.len() as f64);
    let room = student(P99, (n - 2) as f64) * (variance * (1.0 / a + 1.0 / b)).sqrt() / host;
    let half = student(P95, (n - 1) as f64) * error;
    Some(Estimate {
        mean,
        interval: (mean - half, mean + half),
        stretches: n,
        halves_agree: apart <= room.max(CLOSE * mean),
    })
}

/// Flash bytes over host bytes in `stretches`, and its standard error.
fn ratio(stretches: &[Written]) -> Option<(f64, f64)> {
    let n = stretches.len() as f64;
    let sum = stretches
        .iter()
        .fold(Written::default(), |sum, s| sum.plus(*s));
    let mean = sum.ratio()?;
    let squares = stretches.iter().map(|s| {
        let rest = s.flash_bytes as f64 - mean * s.host_bytes as f64;
        rest * rest
    });
    let variance = squares.sum::<f64>() / (n - 1.0);
    Some((mean, (n * variance).sqrt() / sum.host_bytes as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;

    const SLOT: u32 = 4096;

    /// A run whose superblocks are erased after `host` slots of the host's each, while
    /// `amplification` times as many are programmed.
    fn run(
        erases: u64,
        superblocks: u32,
        theory: Option<f64>,
        course: impl Fn(u64) -> (u64, f64),
    ) -> Amplification {
        let mut counters = Counters {
            erases: 7,
            host_bytes_written: 5_000_000,
            slots_programmed: 12_345,
            ..Counters::default()
        };
        let mut stretches = Stretches::new(&counters, SLOT);
        assert!(!stretches.is_behind(&counters));
        for i in 0..erases {
            let (host, amplification) = course(i);
            counters.host_bytes_written += host * u64::from(SLOT);
            counters.slots_programmed += (host as f64 * amplification).round() as u64;
            counters.erases += 1;
            assert!(stretches.is_behind(&counters));
            stretches.note(&counters);
        }
        stretches.end(superblocks, theory)
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
            // A drive of few superblocks: an interval takes twenty stretches.
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

    #[test]
    fn formula_what_changes_or_scatters_is_not_steady() {
        let rising = run(400, 100, None, |i| (1000, 1.0 + i as f64 / 100.0));
        assert_eq!(rising.not_steady, Some(NotSteady::Changes), "{rising:?}");
        let wide = run(24, 10, None, |i| (1000, if i % 2 == 0 { 1.0 } else { 9.0 }));
        assert_eq!(wide.not_steady, Some(NotSteady::Wide), "{wide:?}");
        // What came before it is left out.
        let settled = run(400, 100, None, |i| (1000, if i < 60 { 1.0 } else { 3.0 }));
        let steady = settled.steady().unwrap();
        assert!(
            (steady.mean - 3.0).abs() < 0.05 && steady.stretches == 20,
            "{settled:?}"
        );
    }

    /// Of 2000 runs with independent stretches the 95 % interval holds the true ratio in 95 %; and
    /// less than 8 % of them are said to change.
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
}
