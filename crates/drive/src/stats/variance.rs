//! Variance of a sum from run to run, estimated from the batches of one run.

/// Number of lags at which correlation is taken to be real; it is weighted down with distance.
const LAGS: usize = 2;
/// Correlation that identifies a wave: at one wavelength it is at least this, and somewhere in between at
/// most minus this.
const CREST: f64 = 0.5;
const TROUGH: f64 = 0.25;

/// Variance of a run's sum from run to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Variance {
    /// Variance of the sum over all batches.
    pub of_sum: f64,
    /// Degrees of freedom of the estimate.
    pub degrees: f64,
    /// Correlation of neighbours among batches merged by four, which shows whether batches are long enough. 0
    /// if windows follow a wave: a run has too few of them.
    pub correlation: f64,
}

/// Sum of the products of batches that are `lag` apart.
fn product(of: &[f64], lag: usize) -> f64 {
    of.iter()
        .zip(&of[lag.min(of.len())..])
        .map(|(a, b)| a * b)
        .sum()
}

/// Variance of the sum of `apart`, the deviations of batches from their expectation.
pub(crate) fn variance(apart: &[f64]) -> Variance {
    let n = apart.len() as f64;
    let squares = product(apart, 0);
    if apart.len() < 2 || squares == 0.0 {
        return Variance {
            of_sum: 0.0,
            degrees: if squares == 0.0 { n - 1.0 } else { 0.0 },
            correlation: 0.0,
        };
    }
    match wave(apart) {
        Some(length) => of_windows(apart, length),
        None => of_neighbours(apart, squares),
    }
}

/// Estimate from products of neighbours.
fn of_neighbours(apart: &[f64], squares: f64) -> Variance {
    let n = apart.len() as f64;
    let weight = |lag: usize| 1.0 - lag as f64 / (LAGS + 1) as f64;
    let lagged: f64 = (1..=LAGS)
        .map(|lag| 2.0 * weight(lag) * product(apart, lag))
        .sum();
    // Degrees of freedom of a sum of squares with the same variance. They are few if a few batches contain
    // all of the variance.
    let fourths: f64 = apart.iter().map(|d| d * d * d * d).sum();
    let spread = (fourths / (squares * squares) - 1.0 / n).max(2.0 / n);
    let smoothed = 1.0 + 2.0 * (1..=LAGS).map(|lag| weight(lag) * weight(lag)).sum::<f64>();
    let fours: Vec<f64> = apart.chunks(4).map(|four| four.iter().sum()).collect();
    Variance {
        of_sum: (squares + lagged).max(0.3 * squares) * n / (n - 1.0),
        degrees: ((2.0 / spread - 1.0) / smoothed).max(0.0),
        correlation: product(&fours, 1) / product(&fours, 0).max(f64::MIN_POSITIVE),
    }
}

/// Estimate from windows one wavelength long: each contains one whole wave, wherever it begins. Overlapping
/// windows are worth half as many again as disjoint ones (Meketon and Schmeiser, WSC 1984).
fn of_windows(apart: &[f64], length: usize) -> Variance {
    let windows: Vec<f64> = apart.windows(length).map(|w| w.iter().sum()).collect();
    let of_window = product(&windows, 0) / windows.len() as f64;
    let waves = apart.len() as f64 / length as f64;
    Variance {
        // The mean comes from the same batches, which costs one wave.
        of_sum: of_window * waves * waves / (waves - 1.0),
        degrees: 1.5 * (waves - 1.0),
        correlation: 0.0,
    }
}

/// Wavelength, in batches, of a wave in `apart`: the first lag at which the correlation is high again after
/// having been negative. The run contains at least four wavelengths.
fn wave(apart: &[f64]) -> Option<usize> {
    let n = apart.len();
    let share = |lag: usize| product(apart, lag) / product(apart, 0) * n as f64 / (n - lag) as f64;
    let shares: Vec<f64> = (0..=n / 4).map(share).collect();
    let trough = shares.iter().position(|&share| share < -TROUGH)?;
    let rise = trough + shares[trough..].iter().position(|&share| share > CREST)?;
    let falls = shares[rise..].windows(2).position(|two| two[1] <= two[0]);
    Some(falls.map_or(n / 4, |steps| rise + steps))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::student::{P95, student};
    use firstread_core::Stream;

    const BATCHES: usize = 48;

    /// Batches of noise with variance 1, each correlated with the one before by `memory`, on a wave of the
    /// given length and height with a random phase. Returns each batch's deviation from the mean of this run,
    /// and the deviation of the sum from that of all runs.
    fn batches(seed: u64, memory: f64, wave: f64, height: f64) -> (Vec<f64>, f64) {
        let draws = Stream::new(seed).named("noise");
        let unit = |i: u64| (draws.at(i).below(1 << 40) as f64 + 0.5) / (1u64 << 40) as f64;
        let fresh = libm::sqrt(12.0 * (1.0 - memory * memory));
        let (mut noise, phase) = (0.0, unit(1_000));
        let one = |i: usize| {
            noise = memory * noise + fresh * (unit(i as u64) - 0.5);
            let turn = i as f64 / wave + phase;
            // Low for a third of the wave, as reads are while a wordline is programmed.
            let low = turn - libm::floor(turn) < 1.0 / 3.0;
            noise + height * (1.0 / 3.0 - f64::from(u8::from(low)))
        };
        let all: Vec<f64> = (0..BATCHES).map(one).collect();
        let sum: f64 = all.iter().sum();
        (all.iter().map(|x| x - sum / BATCHES as f64).collect(), sum)
    }

    fn mean(of: impl Iterator<Item = f64>) -> f64 {
        let all: Vec<f64> = of.collect();
        all.iter().sum::<f64>() / all.len() as f64
    }

    /// Batches that are all as expected differ by nothing, and that is known; a single batch tells nothing of how
    /// batches differ.
    #[test]
    fn formula_equal_batches_and_a_single_one_have_no_variance() {
        let nothing = |degrees| Variance {
            of_sum: 0.0,
            degrees,
            correlation: 0.0,
        };
        for batches in 2..20 {
            assert_eq!(variance(&vec![0.0; batches]), nothing(batches as f64 - 1.0));
        }
        assert_eq!(variance(&[3.0]), nothing(0.0));
    }

    /// Whole waves add the same to every run, so the variance of a sum is that of the noise alone.
    #[test]
    fn formula_a_wave_is_no_variance() {
        for wave in [4.0, 6.0, 8.0, 12.0] {
            let runs = (0..200).map(|seed| variance(&batches(seed, 0.0, wave, 10.0).0).of_sum);
            let share = mean(runs) / BATCHES as f64;
            assert!(
                (0.8..1.25).contains(&share),
                "waves of {wave} batches: {share}"
            );
        }
    }

    /// In 400 runs, 95 % of the intervals contain the true value (364 to 392: 99.9 % of binomial draws), even
    /// if a run has no whole number of waves. Batches alone would mistake the wave for noise.
    #[test]
    fn formula_windows_of_a_wave_cover() {
        for wave in [6.0, 6.4] {
            let (mut covered, mut wide) = (0, 0.0);
            for seed in 0..400 {
                let (apart, sum) = batches(seed, 0.0, wave, 10.0);
                let v = variance(&apart);
                // Windows of 6 or 7 batches.
                assert!(
                    (8.7..10.6).contains(&v.degrees),
                    "seed {seed}: {}",
                    v.degrees
                );
                let half = student(P95, v.degrees) * libm::sqrt(v.of_sum);
                covered += u32::from(libm::fabs(sum) <= half);
                wide +=
                    libm::sqrt(v.of_sum / of_neighbours(&apart, product(&apart, 0)).of_sum) / 400.0;
            }
            println!("waves of {wave} batches: {covered} of 400, {wide:.2} as wide");
            assert!(
                (364..=392).contains(&covered),
                "waves of {wave}: {covered} of 400"
            );
            assert!(wide < 0.5, "waves of {wave}: {wide}");
        }
    }

    /// Runs without a wave are rarely taken for one: noise, and a queue with memory.
    #[test]
    fn formula_noise_is_no_wave() {
        for memory in [0.0, 0.3, 0.6, 0.9] {
            let found = |seed: &u64| wave(&batches(*seed, memory, 6.0, 0.0).0).is_some();
            let waves = (0..400).filter(found).count();
            assert!(waves <= 12, "memory {memory}: {waves} of 400");
        }
    }
}
