//! The share of codewords lost at one wear: a mean over the chip's whole block.
//!
//! A **stratum** is a layer of the stack and a page type. Each has as many pages of a block, and each is drawn from alike. The
//! pages of a stripe with parity are of one stratum, on other dies: so what parity saves is told within strata, and a stratum
//! that loses much counts for more than its share.
//!
//! Few pages lose nearly all that is lost. So every second page is drawn around the place where its stratum loses most
//! (`scores`), and weighted by how much less likely it is.

use firstread_core::{CellMode, DieId, PageType, Stream};
use firstread_nand::gaussian::Gaussian;
use firstread_nand::{Condition, Medium};

use super::powers::{NEVER, power_of_ten, to_ten};
use super::scores::{self, SCORES, Scores};
use crate::error::Error;

/// Units drawn of each stratum. A unit is two pages of one die: one drawn as places are, one where data are lost.
const UNITS: usize = 10;
/// Groups of layers that share the place where data are lost.
const GROUPS: u16 = 22;

/// A mean over pages.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Mean {
    /// Power of ten.
    pub(super) power: f64,
    /// Standard error by which pages were drawn, as a share of the mean.
    pub(super) error: f64,
    /// Drawn pages that carry it: so many equal ones would have its spread.
    pub(super) pages: f64,
}

/// Share of codewords lost at one wear.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    /// By hard reads.
    pub(super) hard: Mean,
    /// After parity.
    pub(super) host: Mean,
}

/// What pages are drawn from.
pub(super) struct Strata<'a> {
    pub(super) medium: &'a Medium,
    pub(super) mode: CellMode,
    /// Other dies of a stripe with parity; none without.
    pub(super) others: Option<f64>,
    pub(super) stream: Stream,
    pub(super) gaussian: &'a Gaussian,
}

/// A sum over strata, and what its spread is told from.
#[derive(Default)]
struct Sum {
    value: f64,
    variance: f64,
    /// Sum of the squares of what each page adds.
    squares: f64,
}

impl Sum {
    fn mean(&self, strata: f64) -> Mean {
        // A square below the smallest number is none.
        let has_any = self.squares > 0.0;
        Mean {
            power: power_of_ten(self.value / strata),
            error: match has_any {
                true => libm::sqrt(self.variance) / self.value,
                false => 0.0,
            },
            pages: match has_any {
                true => self.value * self.value / self.squares,
                false => 0.0,
            },
        }
    }
}

impl Strata<'_> {
    /// The mean under `condition`. `failure` is the power of ten of the code's failures at a rate of wrong bits.
    pub(super) fn point(
        &self,
        condition: &Condition,
        failure: &dyn Fn(f64) -> f64,
    ) -> Result<Point, Error> {
        let (layers, bits) = (self.medium.layers(), self.mode.bits());
        let (mut hard, mut host) = (Sum::default(), Sum::default());
        let groups = GROUPS.min(layers);
        for group in 0..groups {
            let edge = |g: u16| (u32::from(g) * u32::from(layers) / u32::from(groups)) as u16;
            let of_group = edge(group)..edge(group + 1);
            let middle = of_group.start + (of_group.end - of_group.start) / 2;
            for page in (0..bits).map(PageType) {
                let lost = |at: (DieId, u16), z: &Scores| -> Result<f64, Error> {
                    let rber = self
                        .medium
                        .drawn_rber(at, page, &scores::bits(z), condition)?;
                    Ok(failure(rber))
                };
                let shift = scores::shift(|z| {
                    let power = lost((DieId(0), middle), z)?;
                    Ok::<f64, Error>(power * core::f64::consts::LN_10)
                })?;
                for layer in of_group.clone() {
                    let stratum = u64::from(layer) * 4 + u64::from(page.0);
                    let drawn = self.draw(stratum, &shift, |die, z| lost((die, layer), z))?;
                    drawn.add_to(&mut hard, &mut host, self.others);
                }
            }
        }
        let strata = f64::from(layers) * f64::from(bits);
        Ok(Point {
            hard: hard.mean(strata),
            host: host.mean(strata),
        })
    }

    /// Pages of `stratum`, of which `lost` says the power of ten of codewords lost.
    fn draw(
        &self,
        stratum: u64,
        shift: &Scores,
        lost: impl Fn(DieId, &Scores) -> Result<f64, Error>,
    ) -> Result<Drawn, Error> {
        let dies = u64::from(self.medium.geometry().dies());
        let stream = self.stream.at(stratum);
        // Dies in turn: within a stratum they differ, and over all strata each has its share.
        let first = stream.named("die").below(dies);
        let mut drawn = Drawn {
            pages: [[0.0; 2]; UNITS],
            dies: [0; UNITS],
        };
        for unit in 0..UNITS {
            let die = (first + unit as u64) % dies;
            drawn.dies[unit] = die as u16;
            for (half, page) in drawn.pages[unit].iter_mut().enumerate() {
                let draw = stream.at(2 * unit as u64 + half as u64);
                let mut z = [0.0; SCORES];
                for (i, z) in z.iter_mut().enumerate() {
                    *z = self.gaussian.of_bits(draw.draw(i as u64));
                }
                if half == 1 {
                    z.iter_mut().zip(shift).for_each(|(z, more)| *z += more);
                }
                let power = lost(DieId(die as u16), &z)?;
                if power > NEVER {
                    *page = 0.5 * scores::weight(&z, shift) * to_ten(power);
                }
            }
        }
        Ok(drawn)
    }
}

/// What was drawn of a stratum.
#[derive(Debug)]
struct Drawn {
    /// What each page of each unit adds to the unit's share of codewords lost.
    pages: [[f64; 2]; UNITS],
    dies: [u16; UNITS],
}

impl Drawn {
    fn add_to(&self, hard: &mut Sum, host: &mut Sum, others: Option<f64>) {
        let all: [f64; UNITS] = self.pages.map(|[a, b]| a + b);
        let n = UNITS as f64;
        let mean = all.iter().sum::<f64>() / n;
        if mean <= 0.0 {
            return;
        }
        let squares: f64 = self.pages.as_flattened().iter().map(|c| c * c).sum();
        hard.value += mean;
        let apart: f64 = all.iter().map(|u| (u - mean) * (u - mean)).sum();
        hard.variance += apart / (n * (n - 1.0));
        hard.squares += squares / (n * n);
        let Some(others) = others else {
            host.value += mean;
            host.variance += apart / (n * (n - 1.0));
            host.squares += squares / (n * n);
            return;
        };
        let after = self.after_parity(&all, others, None);
        host.value += after;
        host.squares += squares * (after / (n * mean)) * (after / (n * mean));
        // The jackknife: how much the result changes without each unit.
        let without: [f64; UNITS] =
            core::array::from_fn(|unit| self.after_parity(&all, others, Some(unit)));
        let middle = without.iter().sum::<f64>() / n;
        let apart: f64 = without.iter().map(|w| (w - middle) * (w - middle)).sum();
        host.variance += (n - 1.0) / n * apart;
    }

    /// Share of codewords lost after parity, from the shares `all` of the units but `without`: a codeword is lost if it fails
    /// and another of its stripe does. That is the mean product of two units of different dies, times the `others`.
    fn after_parity(&self, all: &[f64; UNITS], others: f64, without: Option<usize>) -> f64 {
        let units = || (0..UNITS).filter(|u| Some(*u) != without);
        let (mut product, mut pairs) = (0.0, 0.0);
        for a in units() {
            for b in units().filter(|b| self.dies[*b] != self.dies[a]) {
                product += all[a] * all[b];
                pairs += 1.0;
            }
        }
        let mean = units().map(|u| all[u]).sum::<f64>() / units().count() as f64;
        if mean * mean <= 0.0 || pairs == 0.0 {
            return 0.0;
        }
        // ln(1 - lost), which is exact where `lost` is far below what a float tells from zero.
        let any_other = -libm::expm1(others * libm::log1p(-mean.min(1.0 - 1e-12)));
        mean * any_other * (product / pairs / (mean * mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of units on dies of their own, pairs of different dies; by hand.
    #[test]
    fn formula_a_stripe_is_lost_by_two_of_its_dies() {
        let drawn = Drawn {
            pages: core::array::from_fn(|unit| match unit {
                0 => [1e-6, 0.0],
                1 => [0.0, 3e-6],
                _ => [0.0; 2],
            }),
            dies: core::array::from_fn(|unit| unit as u16),
        };
        let (mut hard, mut host) = (Sum::default(), Sum::default());
        drawn.add_to(&mut hard, &mut host, Some(127.0));
        assert!((hard.value - 4e-6 / 10.0).abs() < 1e-18);
        // Two of ninety ordered pairs fail together.
        let expected = 127.0 * 2.0 * 3e-12 / 90.0;
        assert!((host.value / expected - 1.0).abs() < 1e-3, "{}", host.value);
        // Sixteen of ten: the pages that carry it.
        assert!((hard.mean(1.0).pages - 1.6).abs() < 1e-9);
        assert!((host.mean(1.0).pages - 1.6).abs() < 1e-9);
        // The same die does not fail a second time.
        let one = Drawn {
            dies: core::array::from_fn(|unit| u16::from(unit > 1)),
            ..drawn
        };
        let mut host = Sum::default();
        one.add_to(&mut Sum::default(), &mut host, Some(127.0));
        assert_eq!(host.value, 0.0);
    }

    /// Where nearly all fail, nearly all are lost: no more than fail.
    #[test]
    fn formula_parity_saves_nothing_where_all_fail() {
        let drawn = Drawn {
            pages: [[0.49, 0.5]; UNITS],
            dies: core::array::from_fn(|unit| unit as u16),
        };
        let (mut hard, mut host) = (Sum::default(), Sum::default());
        drawn.add_to(&mut hard, &mut host, Some(127.0));
        assert!((host.value / hard.value - 1.0).abs() < 1e-9);
        assert!(host.variance < 1e-20);
    }
}
