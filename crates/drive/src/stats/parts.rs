//! Intervals over the parts of a run that was split: parts with other requests of the same load, each on a drive of its own.
//!
//! Parts are independent, so figures of theirs differ by chance alone: that tells how much the figures of all parts together
//! would differ from run to run. Student's distribution with one degree of freedom fewer than there are parts makes an
//! interval of it.

use super::batches::{self, TooShort, odds};
use super::histogram::Histogram;
use super::student::{P95, P99, student};
use super::variance::Variance;

/// What an interval needs of each part.
#[derive(Clone, Debug)]
pub(super) struct OfPart {
    pub(super) latencies: Histogram,
    pub(super) sum_ns: u128,
    pub(super) runtime_ns: u64,
    /// Mean latency of its first half and of its second (ns).
    pub(super) halves_ns: Option<[f64; 2]>,
}

/// The parts of a run, two or more.
#[derive(Clone, Debug)]
pub(super) struct Parts(pub(super) Vec<OfPart>);

/// By how much the mean latency differs between the first halves of parts and their second halves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Drift {
    /// Second halves less first halves, relative to the mean of both.
    pub relative: f64,
    /// Half of its 99 % interval over the parts, relative as well.
    pub half: f64,
}

impl Drift {
    /// Less than this is no drift that matters: figures of steady runs agree no better.
    const CLOSE: f64 = 0.01;

    /// Whether latencies change in the course of a part, by more than is by chance.
    pub fn is_there(self) -> bool {
        self.relative.abs() > Drift::CLOSE.max(self.half)
    }
}

impl Parts {
    fn requests(&self) -> impl Iterator<Item = f64> + Clone {
        self.0.iter().map(|part| part.latencies.len() as f64)
    }

    /// Variance of a sum over all parts, of which `apart` has what each part is apart from its expectation. These add up to
    /// zero, so there is one degree of freedom fewer than parts.
    fn variance(&self, apart: impl Iterator<Item = f64>) -> Variance {
        let n = self.0.len() as f64;
        Variance {
            of_sum: apart.map(|apart| apart * apart).sum::<f64>() * n / (n - 1.0),
            degrees: n - 1.0,
            correlation: 0.0,
        }
    }

    /// Half-width, in ranks, of the 95 % interval of the percentile with a share `beyond` of all requests beyond it.
    /// `all` has the latencies of all parts.
    pub(super) fn ranks(&self, all: &Histogram, beyond: f64) -> Result<f64, TooShort> {
        let requests = all.len() as f64;
        batches::ranks(requests, beyond, 1.0, |beyond| self.inflation(all, beyond))
    }

    /// Variance of the number of requests beyond the latency that a share `beyond` of `all` exceed, relative to that of
    /// independent requests, and the estimate underneath. None if all latencies are equal.
    fn inflation(&self, all: &Histogram, beyond: f64) -> Option<(f64, Variance)> {
        let requests = all.len() as f64;
        let least = 0.5 / requests;
        let beyond = beyond.clamp(least, 1.0 - least);
        let ns = all.value_at_quantile(1.0 - beyond);
        // Many requests may have this latency: they count on the side that is closer.
        let edges = [ns, ns + 1].map(|edge| (edge, all.count_from(edge) as f64 / requests));
        let apart = |share: f64| (odds(share) - odds(beyond)).abs();
        let (edge, share) = edges
            .into_iter()
            .filter(|(_, share)| *share > 0.0 && *share < 1.0)
            .min_by(|a, b| apart(a.1).total_cmp(&apart(b.1)))?;
        let slow = |part: &OfPart| {
            part.latencies.count_from(edge) as f64 - share * part.latencies.len() as f64
        };
        let variance = self.variance(self.0.iter().map(slow));
        let independent = requests * share * (1.0 - share);
        Some(((variance.of_sum / independent).max(0.1), variance))
    }

    /// Half the 95 % interval of the mean latency (ns).
    pub(super) fn mean_half_ns(&self) -> f64 {
        let requests: f64 = self.requests().sum();
        let mean = self.0.iter().map(|part| part.sum_ns as f64).sum::<f64>() / requests;
        let of_each = self.0.iter().zip(self.requests());
        let apart = of_each.map(|(part, n)| part.sum_ns as f64 - mean * n);
        self.half(apart) / requests
    }

    /// Half the 95 % interval of the request rate, relative to the rate.
    pub(super) fn rate_half(&self) -> f64 {
        let requests: f64 = self.requests().sum();
        let runtime_ns = self.0.iter().map(|part| part.runtime_ns as f64);
        let rate = requests / runtime_ns.clone().sum::<f64>();
        let apart = self.requests().zip(runtime_ns).map(|(n, ns)| n - rate * ns);
        self.half(apart) / requests
    }

    fn half(&self, apart: impl Iterator<Item = f64>) -> f64 {
        let variance = self.variance(apart);
        student(P95, variance.degrees) * variance.of_sum.sqrt()
    }

    /// By how much latencies change from the first halves of parts to the second ones; none where a half has no request.
    pub(super) fn drift(&self) -> Option<Drift> {
        let halves: Option<Vec<[f64; 2]>> = self.0.iter().map(|part| part.halves_ns).collect();
        let halves = halves?;
        let n = halves.len() as f64;
        let mean = halves.iter().flatten().sum::<f64>() / (2.0 * n);
        // Trims may take no time at all.
        if mean <= 0.0 {
            return None;
        }
        let changes: Vec<f64> = halves.iter().map(|[a, b]| (b - a) / mean).collect();
        let relative = changes.iter().sum::<f64>() / n;
        let variance = self.variance(changes.iter().map(|change| change - relative));
        Some(Drift {
            relative,
            half: student(P99, variance.degrees) * variance.of_sum.sqrt() / n,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::hardware::charge::CAUSES;
    use crate::stats::Latencies;
    use firstread_core::{Ns, Stream};

    /// Requests of a single-server queue with a load of `load` of 90 us each: latencies in order, with the time of their ends (ns).
    /// Service takes `slower` times as long in the second half.
    fn queue(load: f64, requests: u64, slower: f64, seed: u64) -> (Latencies, u64) {
        let draws = Stream::new(seed).named("part");
        let (mut latencies, mut arrived, mut free) = (Latencies::default(), 0.0, 0.0f64);
        for i in 0..requests {
            let exponential = |purpose| {
                let of_unit = draws.named(purpose).draw(i) as f64 / u64::MAX as f64;
                -libm::log(of_unit.max(1e-18))
            };
            let gap = exponential("gap");
            arrived += gap * 90_000.0 / load;
            let times = if i < requests / 2 { 1.0 } else { slower };
            let service = 90_000.0 * times * exponential("service");
            free = free.max(arrived) + service;
            latencies.record(
                Ns(free as u64),
                Ns((free - arrived) as u64),
                4096,
                &[0; CAUSES],
            );
        }
        latencies.settle();
        (latencies, free as u64)
    }

    fn split(parts: u64, requests: u64, slower: f64, run: u64) -> Latencies {
        let each: Vec<(Latencies, u64)> = (0..parts)
            .map(|part| queue(0.7, requests, slower, 1_000 * run + part))
            .collect();
        let each: Vec<(&Latencies, u64)> = each.iter().map(|(l, ns)| (l, *ns)).collect();
        Latencies::of_parts(&each)
    }

    /// Intervals over parts hold what many runs come to in 95 of 100 runs, by few parts as by many.
    #[test]
    fn model_intervals_over_parts_hold_as_often_as_they_say() {
        const RUNS: u64 = 150;
        let (truth, truth_ns) = queue(0.7, 3_000_000, 1.0, 77_777);
        for parts in [2, 4, 16] {
            let requests = 24_000 / parts;
            let mut held = [0u32; 5];
            for run in 0..RUNS {
                let all = split(parts, requests, 1.0, run);
                assert_eq!(all.count(), parts * requests);
                let mean = (all.mean_ns() - truth.mean_ns()).abs() <= all.mean_half_ns().unwrap();
                held[0] += u32::from(mean);
                let rate = 1e9 * all.count() as f64
                    / all
                        .parts
                        .as_ref()
                        .unwrap()
                        .0
                        .iter()
                        .map(|p| p.runtime_ns as f64)
                        .sum::<f64>();
                let expected = 1e9 * truth.count() as f64 / truth_ns as f64;
                held[1] += u32::from((rate - expected).abs() <= rate * all.rate_half().unwrap());
                for (held, percent) in held[2..].iter_mut().zip([50.0, 90.0, 99.0]) {
                    let p = all.percentile(percent);
                    let Some((low, high)) = p.interval_ns else {
                        *held += 1;
                        continue;
                    };
                    *held += u32::from((low..=high).contains(&truth.percentile(percent).ns));
                }
            }
            println!("{parts} parts: {held:?} of {RUNS}");
            // 142 of 150 are expected; 134 are three deviations fewer.
            assert!(
                held.iter().all(|held| (134..=150).contains(held)),
                "{parts}: {held:?}"
            );
        }
    }

    /// A change in the course of all parts is told, and one by chance is not.
    #[test]
    fn model_drift_is_told_where_it_is() {
        const RUNS: u64 = 100;
        let told = |slower| {
            let drift = |run| split(6, 12_000, slower, run).drift().unwrap().is_there();
            (0..RUNS).filter(|run| drift(*run)).count()
        };
        let (steady, drifting) = (told(1.0), told(1.3));
        println!("{steady} and {drifting} of {RUNS}");
        assert!(steady <= 5, "{steady} of {RUNS} steady runs");
        assert!(drifting >= 95, "{drifting} of {RUNS} runs that drift");
    }

    /// The interval of the mean is Student's over the means of parts, where all have as many requests.
    #[test]
    fn formula_the_mean_of_parts_has_students_interval() {
        let of = |ns: u64| {
            let mut latencies = Latencies::default();
            (0..100).for_each(|i| latencies.record(Ns(i * 1_000), Ns(ns), 512, &[0; CAUSES]));
            latencies.settle();
            latencies
        };
        let each = [1_000, 1_100, 1_400].map(of);
        let all = Latencies::of_parts(&each.each_ref().map(|part| (part, 100_000)));
        // Deviation of the three means 208.17, of their mean 120.19; t with two degrees 4.3027.
        let half = all.mean_half_ns().unwrap();
        assert!((half - 4.302_653 * 120.185).abs() < 0.1, "{half}");
        assert_eq!(all.rate_half(), Some(0.0), "all took as long");
        // A part alone has the interval of its batches.
        assert!(Latencies::of_parts(&[(&each[0], 100_000)]).parts.is_none());
    }
}
