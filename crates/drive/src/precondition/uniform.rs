//! All pages are overwritten equally often: the mean-field limit, in closed form.
//!
//! A superblock is full of valid pages when it is opened. With `U` pages, a host write makes each of the `x`
//! valid slots of a superblock stale with probability `1 / U`. So `x` decays as `e^(-t / U)`, and older
//! superblocks are emptier. Let `F` be the share of superblocks with fewer valid slots than `x`. In steady
//! state as many superblocks sink below `x` as are cleaned there. The emptiest of `d` superblocks drawn at
//! random lies below `x` with probability `1 - (1 - F)^d`, hence (Van Houdt, SIGMETRICS 2013, for large
//! numbers of superblocks and of slots)
//!
//! ```text
//! c dF / d ln x = 1 - (1 - F)^d,   x(F) = S exp(-I(F) / c),   I(F) = ∫ from F to 1 of dφ / (1 - (1 - φ)^d)
//! ```
//!
//! `c` is the number of superblocks opened in the time in which each page is overwritten once on average,
//! relative to the number of superblocks. It is chosen such that the valid slots add up to `U`. So `c` times
//! the number of slots is programmed while the host writes `U` slots, and `c` divided by the share of valid
//! slots is the write amplification. `d = 1` is a random victim, with `x = S F^(1/c)`. FIFO is `d → ∞`, with
//! `x = S e^(-(1 - F) / c)`: exponential decay with age; its oldest superblock solves the equation of
//! Desnoyers (SYSTOR 2012). Greedy and cost-benefit cleaning choose the same victims if superblocks hold many
//! slots, because then the oldest superblock is also the emptiest (the limit given by Desnoyers, Bux and
//! Iliadis, and Van Houdt).
//!
//! With the guard of [`LEAST_SHARE`] a random victim is one of the share `m` of superblocks that have lost enough, and lies below
//! `x` with probability `min(1, F / m)`: `I(F) = 1 - F` above `m`, and `1 - m + m ln(m / F)` below. Ten choices and the
//! other rules hardly ever meet the guard. The model neglects the scatter of the valid slots of single superblocks, which is
//! of the order of `sqrt(S)`.

use firstread_firmware::policy::gc_victim::{LEAST_SHARE, Law, Rule};

use super::counts::{Counts, Region, Shape, fit, whole};

/// Steps of the integral between two superblocks.
const STEPS: u32 = 8;
/// Steps in which the share of superblocks that may be chosen is found. Each brings it nearer by the factor of 16 of the guard.
const GUARD_STEPS: u32 = 12;

/// `I(F)` at the middle of each of `n` equal parts of 0 to 1, in ascending order of `F`. Of the superblocks, the share `may` that
/// holds least may be chosen; it matters to a random victim alone.
fn integrals(n: u32, victim: Law, may: f64) -> Vec<f64> {
    let n = n as f64;
    let middle = |i: u32| (i as f64 + 0.5) / n;
    let d = match victim.rule {
        Rule::Drawn(1) if victim.is_guarded => {
            let random = |f: f64| match f < may {
                true => 1.0 - may + may * libm::log(may / f),
                false => 1.0 - f,
            };
            return (0..n as u32).map(|i| random(middle(i))).collect();
        }
        Rule::Drawn(d) => f64::from(d),
        _ => return (0..n as u32).map(|i| 1.0 - middle(i)).collect(),
    };
    let density = |f: f64| 1.0 / (1.0 - libm::pow(1.0 - f, d));
    // Simpson's rule between neighbours, starting at the fullest.
    let mut all = Vec::with_capacity(n as usize);
    let (mut sum, mut upper) = (0.0, 1.0);
    for i in (0..n as u32).rev() {
        let lower = middle(i);
        let h = (upper - lower) / f64::from(STEPS);
        let at = |k: u32| density(lower + f64::from(k) * h);
        let inner: f64 = (1..STEPS).map(|k| at(k) * f64::from(2 + 2 * (k % 2))).sum();
        sum += (at(0) + inner + at(STEPS)) * h / 3.0;
        all.push(sum);
        upper = lower;
    }
    all.reverse();
    all
}

/// `1 / c` with which the superblocks of `integrals` hold what `share` superblocks full of valid slots hold.
fn inverse_c(integrals: &[f64], share: f64) -> f64 {
    let held =
        |inverse_c: f64| -> f64 { integrals.iter().map(|i| libm::exp(-i * inverse_c)).sum() };
    let (mut low, mut high) = (0.0, 1.0);
    while held(high) > share {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if held(middle) > share {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// The steady state of `shape` under `victim`.
pub(super) fn counts(shape: &Shape, victim: Law) -> Counts {
    let Shape {
        blocks,
        slots,
        pages,
        ..
    } = *shape;
    let share = pages as f64 / slots as f64;
    let mut may = 1.0;
    let mut integrals_of = integrals(blocks, victim, may);
    let mut inverse_c = inverse_c(&integrals_of, share);
    if victim == Law::guarded(Rule::Drawn(1)) {
        for _ in 0..GUARD_STEPS {
            let emptiest = libm::exp(-integrals_of[0] * inverse_c);
            let least = (1.0 - emptiest) / LEAST_SHARE as f64;
            may = (1.0 + libm::log(1.0 - least) / inverse_c).max(0.0);
            integrals_of = integrals(blocks, victim, may);
            inverse_c = self::inverse_c(&integrals_of, share);
        }
    }
    let integrals = integrals_of;
    let parts: Vec<f64> = integrals
        .iter()
        .map(|i| libm::exp(-i * inverse_c))
        .collect();
    let mut valid = whole(&parts, pages);
    fit(&mut valid, 1, slots);
    // ln(S / x) overwrites of each page ago; during each overwrite, c superblocks were opened per superblock.
    let since = integrals.iter().map(|i| (i * f64::from(blocks)) as u64);
    Counts {
        classes: 1,
        valid,
        since: since.collect(),
        amplification: f64::from(blocks) / share / inverse_c,
        regions: vec![Region::High; blocks as usize],
        have_moved: vec![false; blocks as usize],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(rule: Rule, used: f64) -> Vec<f64> {
        let shape = Shape {
            blocks: 1000,
            slots: 1_000_000,
            pages: (used * 1e9) as u64,
            low: None,
        };
        let counts = counts(&shape, Law::of_any(rule));
        assert_eq!(
            counts.valid.iter().map(|&n| n as u64).sum::<u64>(),
            shape.pages
        );
        assert!(counts.since.is_sorted_by(|a, b| a >= b));
        counts.valid.iter().map(|&n| n as f64 / 1e6).collect()
    }

    /// The oldest superblock of FIFO solves u = exp(-α (1 - u)) (Desnoyers 2012).
    #[test]
    fn formula_fifo_cleans_what_theory_says() {
        for used in [0.7, 0.85, 0.93] {
            let mut u: f64 = 0.5;
            for _ in 0..1000 {
                u = libm::exp(-(1.0 - u) / used);
            }
            let valid = shares(Rule::Oldest, used);
            let oldest = valid[0] * valid[0] / libm::sqrt(valid[0] * valid[1]);
            assert!(
                (oldest / u - 1.0).abs() < 2e-3,
                "{used}: {oldest}, theory {u}"
            );
        }
    }

    /// A random victim is as full as the mean; with many choices the victim is FIFO's.
    #[test]
    fn formula_choices_reach_from_random_to_fifo() {
        let (one, many, fifo) = (
            shares(Rule::Drawn(1), 0.8),
            shares(Rule::Drawn(1000), 0.8),
            shares(Rule::Oldest, 0.8),
        );
        // x = F^(1/c) has the mean 1 / (1 + 1/c).
        let inverse_c = 1.0 / 0.8 - 1.0;
        for i in [50, 400, 999] {
            let f = (i as f64 + 0.5) / 1000.0;
            let x = libm::pow(f, inverse_c);
            assert!(
                (one[i] / x - 1.0).abs() < 5e-3,
                "{i}: {}, theory {x}",
                one[i]
            );
            assert!((many[i] / fifo[i] - 1.0).abs() < 5e-3, "{i}");
        }
    }
}
