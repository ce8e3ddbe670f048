//! Variance of a sum from run to run, estimated from the batches of one run.

use super::student::{P95, student};

/// Orders of autoregressions that are tried, for each decade of the number of batches.
const ORDERS: f64 = 10.0;
/// Fewest values for each lag of an autoregression: with fewer, chance finds lags that are not there.
const VALUES_A_LAG: usize = 8;
/// Least square of one minus the sum of an autoregression's coefficients.
const LEAST_GAIN: f64 = 1e-3;
/// Correlation that identifies a wave: at one wavelength it is at least this, and somewhere in between at
/// most minus this.
const CREST: f64 = 0.5;
const TROUGH: f64 = 0.25;
/// 95 % of the values of a sine lie within so many of its standard deviations: no value lies beyond.
const SINE: f64 = core::f64::consts::SQRT_2;

/// Variance of a run's sum from run to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Variance {
    /// Variance of the sum over all batches. With a wave, that of a normal distribution whose 95 % interval is as wide.
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

/// Variance of the sum of `apart`, the deviations of batches from their expectation. `known` is the wavelength of
/// another figure of the same requests: rare requests follow the wave too, but their own noise hides it.
pub(crate) fn variance(apart: &[f64], known: Option<f64>) -> Variance {
    let n = apart.len() as f64;
    let squares = product(apart, 0);
    if apart.len() < 2 || squares == 0.0 {
        return Variance {
            of_sum: 0.0,
            degrees: if squares == 0.0 { n - 1.0 } else { 0.0 },
            correlation: 0.0,
        };
    }
    match wave(apart).or(known) {
        Some(length) => of_windows(apart, length),
        None => of_process(apart, squares),
    }
}

/// Estimate from an autoregression: the spectrum at frequency zero of the process that is fitted to the batches (Fishman, Principles
/// of Discrete Event Simulation, 1978; Heidelberger and Welch, CACM 1981, compare it). Coefficients are Burg's (Maximum entropy spectral analysis,
/// 1967), the order is Akaike's, corrected for few batches (Hurvich and Tsai, Biometrika 1989). Batches that make up for each other have a spectrum that falls towards zero, which no sum of a
/// few lags shows: cleaning that pauses before an opening of a superblock and works after it.
fn of_process(apart: &[f64], squares: f64) -> Variance {
    let n = apart.len() as f64;
    let fitted = autoregression(apart, squares / n);
    let order = fitted.coefficients.len() as f64;
    let gain = 1.0 - fitted.coefficients.iter().sum::<f64>();
    let residual = fitted.residual * n / (n - order - 1.0).max(1.0);
    // Degrees of freedom of a sum of squares with the same variance. They are few if a few batches contain
    // all of the variance.
    let fourths: f64 = apart.iter().map(|d| d * d * d * d).sum();
    let spread = (fourths / (squares * squares) - 1.0 / n).max(2.0 / n);
    let of_squares = 2.0 / spread - 1.0;
    let of_order = match order > 0.0 {
        true => (n - order - 1.0) / 2.0,
        false => n - 1.0,
    };
    let fours: Vec<f64> = apart.chunks(4).map(|four| four.iter().sum()).collect();
    Variance {
        of_sum: n * residual / (gain * gain).max(LEAST_GAIN),
        degrees: of_squares.min(of_order).max(0.0),
        correlation: product(&fours, 1) / product(&fours, 0).max(f64::MIN_POSITIVE),
    }
}

/// An autoregression: `x[i] = Σ coefficients[k] x[i-1-k]` + a residual.
struct Autoregression {
    coefficients: Vec<f64>,
    /// Mean square of the residuals.
    residual: f64,
}

/// The autoregression of `values`, whose mean square is `square`.
fn autoregression(values: &[f64], square: f64) -> Autoregression {
    let n = values.len();
    let most = (ORDERS * libm::log10(n as f64)) as usize;
    let information = |residual: f64, order: usize| {
        let (n, parameters) = (n as f64, order as f64 + 1.0);
        n * libm::log(residual.max(f64::MIN_POSITIVE))
            + 2.0 * parameters * n / (n - parameters - 1.0)
    };
    let (mut forward, mut backward) = (values.to_vec(), values.to_vec());
    let (mut coefficients, mut residual) = (Vec::new(), square);
    let mut best = Autoregression {
        coefficients: Vec::new(),
        residual,
    };
    let mut least = information(residual, 0);
    for order in 1..=most.min(n / VALUES_A_LAG) {
        let both = || forward[order..].iter().zip(&backward[order - 1..n - 1]);
        let products: f64 = both().map(|(f, b)| f * b).sum();
        let squares: f64 = both().map(|(f, b)| f * f + b * b).sum();
        if squares <= 0.0 {
            break;
        }
        let reflection = 2.0 * products / squares;
        for i in (order..n).rev() {
            let (f, b) = (forward[i], backward[i - 1]);
            (forward[i], backward[i]) = (f - reflection * b, b - reflection * f);
        }
        let before: Vec<f64> = coefficients;
        coefficients = before
            .iter()
            .zip(before.iter().rev())
            .map(|(a, b)| a - reflection * b)
            .collect();
        coefficients.push(reflection);
        residual *= 1.0 - reflection * reflection;
        let found = information(residual, order);
        if found < least {
            least = found;
            best = Autoregression {
                coefficients: coefficients.clone(),
                residual,
            };
        }
    }
    best
}

/// Estimate from windows one wavelength long: each contains one whole wave, wherever it begins. Overlapping
/// windows are worth half as many again as disjoint ones (Meketon and Schmeiser, WSC 1984). A run ends within a
/// wave: by how much windows as long as this rest differ beyond their share of the noise is added.
fn of_windows(apart: &[f64], length: f64) -> Variance {
    let of_window = mean_square(apart, length);
    let waves = apart.len() as f64 / length;
    // The mean comes from the same batches, which costs one wave.
    let degrees = 1.5 * (waves - 1.0);
    let rest = waves - libm::floor(waves);
    let of_rest = (mean_square(apart, rest * length) - rest * of_window).max(0.0);
    let wide = SINE / student(P95, degrees);
    Variance {
        of_sum: of_window * waves * waves / (waves - 1.0) + of_rest * wide * wide,
        degrees,
        correlation: 0.0,
    }
}

/// Mean square of the sums over windows of `length` batches, of which the last may be a part.
fn mean_square(apart: &[f64], length: f64) -> f64 {
    let whole = libm::floor(length) as usize;
    let part = length - whole as f64;
    let windows = apart.windows(whole + 1);
    let count = windows.len().max(1) as f64;
    let squares = windows.map(|window| {
        let sum = window[..whole].iter().sum::<f64>() + part * window[whole];
        sum * sum
    });
    squares.sum::<f64>() / count
}

/// Wavelength, in batches, of a wave in `apart`: the first lag at which the correlation is high again after
/// having been negative, at the vertex of a parabola through it and its neighbours. The run contains at least
/// four wavelengths.
pub(crate) fn wave(apart: &[f64]) -> Option<f64> {
    let n = apart.len();
    let share = |lag: usize| product(apart, lag) / product(apart, 0) * n as f64 / (n - lag) as f64;
    let shares: Vec<f64> = (0..=n / 4).map(share).collect();
    let trough = shares.iter().position(|&share| share < -TROUGH)?;
    let rise = trough + shares[trough..].iter().position(|&share| share > CREST)?;
    let falls = shares[rise..].windows(2).position(|two| two[1] <= two[0]);
    let crest = falls.map_or(n / 4, |steps| rise + steps);
    let vertex = match shares.get(crest - 1..crest + 2) {
        Some(&[before, at, after]) if before + after < 2.0 * at => {
            (0.5 * (before - after) / (before - 2.0 * at + after)).clamp(-0.5, 0.5)
        }
        _ => 0.0,
    };
    Some(crest as f64 + vertex)
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
            assert_eq!(
                variance(&vec![0.0; batches], None),
                nothing(batches as f64 - 1.0)
            );
        }
        assert_eq!(variance(&[3.0], None), nothing(0.0));
    }

    /// Whole waves add the same to every run, so the variance of a sum is that of the noise alone.
    #[test]
    fn formula_a_wave_is_no_variance() {
        for wave in [4.0, 6.0, 8.0, 12.0] {
            let runs =
                (0..200).map(|seed| variance(&batches(seed, 0.0, wave, 10.0).0, None).of_sum);
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
                let v = variance(&apart, None);
                // Windows of 6 or 7 batches.
                assert!(
                    (8.7..11.1).contains(&v.degrees),
                    "seed {seed}: {}",
                    v.degrees
                );
                let half = student(P95, v.degrees) * libm::sqrt(v.of_sum);
                covered += u32::from(libm::fabs(sum) <= half);
                wide += libm::sqrt(v.of_sum / product(&apart, 0)) / 400.0;
            }
            println!("waves of {wave} batches: {covered} of 400, {wide:.2} as wide");
            assert!(
                (364..=392).contains(&covered),
                "waves of {wave}: {covered} of 400"
            );
            assert!(wide < 0.5, "waves of {wave}: {wide}");
        }
    }

    /// A wavelength is a whole number of batches by chance alone: rounded, windows would hold up to half a batch of the
    /// wave too much.
    #[test]
    fn formula_a_wave_is_no_whole_number_of_batches() {
        for length in [5.4, 6.0, 6.4, 6.7, 8.4, 10.5] {
            let found = mean((0..100).filter_map(|seed| wave(&batches(seed, 0.0, length, 10.0).0)));
            assert!((found - length).abs() < 0.12, "{length}: {found}");
        }
    }

    /// Rare requests whose own noise hides the wave have windows of the wavelength that others show.
    #[test]
    fn formula_a_known_wave_is_no_variance_where_noise_hides_it() {
        let (mut own, mut known) = (0.0, 0.0);
        for seed in 0..200 {
            let (apart, _) = batches(seed, 0.0, 6.0, 1.4);
            own += variance(&apart, None).of_sum;
            known += variance(&apart, Some(6.0)).of_sum;
        }
        let noise = 200.0 * BATCHES as f64;
        assert!((0.9..1.15).contains(&(known / noise)), "{}", known / noise);
        assert!(own / noise > 1.15, "{}", own / noise);
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
