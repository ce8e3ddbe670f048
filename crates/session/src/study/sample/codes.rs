//! Where codes fail, by raw bit error rate.

use firstread_core::Stream;
use firstread_ecc::ldpc::Ldpc;
use firstread_ecc::measure::{Trial, gaussian_weights};
use firstread_ecc::{Code, SoftWeights};
use firstread_nand::gaussian::Gaussian;
use firstread_nand::poisson::{Poisson, Quantiles};

use super::pages::Sample;
use crate::error::Error;

/// Outer levels of a soft read: the chips' spacing, in standard deviations.
const SPACING: f64 = 0.43;
/// The first drive's seed of the draws. Arbitrary.
const DRAWS_SEED: u64 = 17;

pub fn code(sample: &Sample) -> Result<Code, Error> {
    Ok(Code::named(&sample.profile.ecc.code)?)
}

/// The error rate at which `fer(rber)` reaches `target`.
fn knee(target: f64, fer: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (1e-4, 0.04);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        match fer(middle) < target {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// The raw bit error rate at which a hard read of the drive's code fails with probability `fer`.
pub fn hard_rber(sample: &Sample, fer: f64) -> Result<f64, Error> {
    let code = code(sample)?;
    Ok(knee(fer, |rber| code.frame_error_rate(rber)))
}

/// The same of a read of three senses: class counts drawn, their failure integrated. None of a code without soft
/// decisions.
pub fn soft_rber(sample: &Sample, fer: f64) -> Result<Option<f64>, Error> {
    let code = code(sample)?;
    Ok(code
        .is_soft()
        .then(|| knee(fer, |rber| soft_fer(&code, rber, sample))))
}

/// Frame error rate of a three-sense read over two Gaussian states, levels as far apart as the chips place them.
fn soft_fer(code: &Code, rber: f64, sample: &Sample) -> f64 {
    let mut sum = 0.0;
    soft_counts(code, rber, sample, |weights, _| {
        sum += code.soft_failure_probability(&weights);
    });
    sum / f64::from(sample.n)
}

/// Frame error rate that the decoder itself has where its table says `fer`. None of a code without soft decisions.
pub fn decoded_fer(sample: &Sample, fer: f64) -> Result<Option<f64>, Error> {
    let code = code(sample)?;
    let (Some(rber), Some(ldpc)) = (soft_rber(sample, fer)?, Ldpc::named(code.name())) else {
        return Ok(None);
    };
    let mut trial = Trial::new(&ldpc);
    let mut failures = 0;
    soft_counts(&code, rber, sample, |weights, root| {
        failures += trial.run(&weights, root.named("places"), 0..1).failures();
    });
    Ok(Some(f64::from(failures) / f64::from(sample.n)))
}

/// Class counts of three-sense reads at `rber`, drawn as Poisson, each with the stream it was drawn from.
fn soft_counts(code: &Code, rber: f64, sample: &Sample, mut each: impl FnMut(SoftWeights, Stream)) {
    let mean = gaussian_weights(code.codeword_bits(), rber, &[SPACING]);
    let (gaussian, quantiles) = (Gaussian::new(), Quantiles::new());
    let of = |n: u32| Poisson::new(&quantiles, n as f32);
    let (strong, weak, right) = (
        of(mean.errors[0]),
        of(mean.errors[1]),
        of(mean.bits[1] - mean.errors[1]),
    );
    for i in 0..u64::from(sample.n) {
        let root = Stream::new(DRAWS_SEED - 1 + sample.seed)
            .named("soft")
            .at(i);
        let draw = |p: &Poisson, k: u64| p.quantile(gaussian.of_bits(root.draw(k)) as f32);
        let mut weights = SoftWeights {
            classes: 2,
            ..SoftWeights::default()
        };
        weights.errors[0] = draw(&strong, 0);
        weights.errors[1] = draw(&weak, 1);
        weights.bits[1] = weights.errors[1] + draw(&right, 2);
        weights.bits[0] = code.codeword_bits() - weights.bits[1];
        each(weights, root);
    }
}

/// Mean iterations of a decode at the mean weight of `rber`. None of a code that does not iterate.
pub fn iterations(sample: &Sample, rber: f64) -> Result<Option<f64>, Error> {
    let code = code(sample)?;
    let weight = libm::round(rber * f64::from(code.codeword_bits())) as u32;
    Ok(code.mean_iterations(weight))
}
