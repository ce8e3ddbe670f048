//! The temperature history of a chip, and the thermal stress it accumulates.

use alloc::vec;
use alloc::vec::Vec;

use firstread_core::Ns;

use super::law::MAX_COMPONENTS;
use super::retention::RetentionProfile;
use crate::profile::error::{ProfileError, Reason, bad};
use crate::profile::field::temperature;

/// Boltzmann's constant (eV/K), CODATA.
const BOLTZMANN_EV_PER_K: f64 = 8.617_333_262e-5;
/// Reference temperature of all stress (25 °C in K).
const REFERENCE_K: f64 = 298.15;
/// Nanoseconds of an hour.
pub const NS_PER_H: f64 = 3.6e12;

/// Thermal stress since time zero, in hours at 25 °C, one value per retention component. Stress is an
/// additive integral: the stress of a block since it was programmed is the difference of two values. So
/// programming stores one value, and ageing costs nothing.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Stress(pub [f64; MAX_COMPONENTS]);

impl Stress {
    /// Hours at 25 °C since `earlier`, by component; never negative.
    pub fn since(&self, earlier: &Stress) -> [f64; MAX_COMPONENTS] {
        let mut h = [0.0; MAX_COMPONENTS];
        for (out, (a, b)) in h.iter_mut().zip(self.0.iter().zip(&earlier.0)) {
            *out = if a > b { a - b } else { 0.0 };
        }
        h
    }
}

/// Arrhenius acceleration at `celsius` relative to 25 °C, for an activation energy of `activation_energy_ev`.
pub fn acceleration(activation_energy_ev: f64, celsius: f64) -> f64 {
    let t = celsius + 273.15;
    libm::exp(activation_energy_ev / BOLTZMANN_EV_PER_K * (1.0 / REFERENCE_K - 1.0 / t))
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    start: Ns,
    celsius: f64,
    rate: [f64; MAX_COMPONENTS],
    /// Stress at the start of the segment.
    stress: Stress,
}

/// A piecewise constant temperature history from time zero on, with its stress integral.
#[derive(Clone, Debug)]
pub struct History {
    activation_energy_ev: Vec<f64>,
    segments: Vec<Segment>,
}

impl History {
    /// A history at `celsius` from time zero on.
    pub fn new(retention: &RetentionProfile, celsius: f64) -> Result<History, ProfileError> {
        temperature(celsius)?;
        let mut h = History {
            activation_energy_ev: retention
                .components
                .iter()
                .map(|c| c.activation_energy_ev)
                .collect(),
            segments: vec![],
        };
        h.segments.push(Segment {
            start: Ns::ZERO,
            celsius,
            rate: h.rate(celsius),
            stress: Stress::default(),
        });
        Ok(h)
    }

    fn rate(&self, celsius: f64) -> [f64; MAX_COMPONENTS] {
        let mut rate = [0.0; MAX_COMPONENTS];
        for (r, &ea) in rate.iter_mut().zip(&self.activation_energy_ev) {
            *r = acceleration(ea, celsius);
        }
        rate
    }

    /// The temperature is `celsius` from `at` on. `at` must not be before the last change.
    pub fn set(&mut self, at: Ns, celsius: f64) -> Result<(), ProfileError> {
        temperature(celsius)?;
        let last = self.segments[self.segments.len() - 1];
        if at < last.start {
            let last = last.start;
            return Err(bad("temperature", Reason::Back { at, last }));
        }
        let segment = Segment {
            start: at,
            celsius,
            rate: self.rate(celsius),
            stress: self.stress(at),
        };
        if at == last.start {
            self.segments.pop();
        }
        self.segments.push(segment);
        Ok(())
    }

    #[inline]
    fn segment(&self, at: Ns) -> &Segment {
        let last = self.segments.len() - 1;
        if self.segments[last].start <= at {
            return &self.segments[last];
        }
        &self.segments[self.segments.partition_point(|s| s.start <= at).max(1) - 1]
    }

    /// When the temperature changes last: time zero where it never does.
    pub fn last_change(&self) -> Ns {
        self.segments[self.segments.len() - 1].start
    }

    /// Temperature at `at` (°C).
    pub fn temperature_c(&self, at: Ns) -> f64 {
        self.segment(at).celsius
    }

    /// Hours at 25 °C per hour at time `at`, by component, and the time at which this rate changes next.
    pub fn rates(&self, at: Ns) -> ([f64; MAX_COMPONENTS], Ns) {
        let next = self.segments.partition_point(|s| s.start <= at);
        let until = self.segments.get(next).map_or(Ns(u64::MAX), |s| s.start);
        (self.segment(at).rate, until)
    }

    /// Stress accumulated from time zero to `at`.
    #[inline]
    pub fn stress(&self, at: Ns) -> Stress {
        let s = self.segment(at);
        let h = (at.0 - s.start.0) as f64 * (1.0 / NS_PER_H);
        let mut out = s.stress;
        for (o, r) in out.0.iter_mut().zip(&s.rate) {
            *o += h * r;
        }
        out
    }

    /// Stress at the programming of data that, at time `at`, have gone through the (hours, °C) pairs of
    /// `exposure`. For data programmed before time zero.
    pub fn before(&self, at: Ns, exposure: &[(f64, f64)]) -> Stress {
        let mut out = self.stress(at);
        for &(hours, celsius) in exposure {
            for (o, r) in out.0.iter_mut().zip(self.rate(celsius)) {
                *o -= hours * r;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;

    #[test]
    fn sequence_a_temperature_holds_until_the_next() {
        let retention = reference::ct_a().laws.retention;
        let mut h = History::new(&retention, 25.0).expect("the temperature is valid");
        assert_eq!(h.last_change(), Ns::ZERO);
        assert_eq!(h.rates(Ns::from_h(5)), ([1.0, 0.0, 0.0], Ns::MAX));
        let (two, five) = (Ns::from_h(2), Ns::from_h(5));
        h.set(two, 55.0).expect("later");
        h.set(five, 85.0).expect("later");
        // The last one again: it takes the place of the former.
        h.set(five, 40.0).expect("not earlier");
        assert_eq!(h.last_change(), five);
        let warm = acceleration(1.1, 55.0);
        for (at, celsius, rate, until) in [
            (Ns::ZERO, 25.0, 1.0, two),
            (two - Ns(1), 25.0, 1.0, two),
            (two, 55.0, warm, five),
            (five - Ns(1), 55.0, warm, five),
            (five, 40.0, acceleration(1.1, 40.0), Ns::MAX),
        ] {
            assert_eq!(h.temperature_c(at), celsius);
            assert_eq!(h.rates(at), ([rate, 0.0, 0.0], until), "{at:?}");
        }
        let stress = |hours| h.stress(Ns::from_h(hours)).0[0];
        let near = |is: f64, expected: f64| assert!((is / expected - 1.0).abs() < 1e-12, "{is}");
        near(stress(1), 1.0);
        near(stress(4), 2.0 + 2.0 * warm);
        near(stress(6), 2.0 + 3.0 * warm + acceleration(1.1, 40.0));
        // Backwards there is no stress.
        assert_eq!(h.stress(two).since(&h.stress(five)), [0.0; MAX_COMPONENTS]);
        near(h.stress(five).since(&h.stress(two))[0], 3.0 * warm);
        let before = h.before(Ns::from_h(1), &[(2.0, 55.0), (3.0, 25.0)]);
        near(h.stress(Ns::from_h(1)).since(&before)[0], 2.0 * warm + 3.0);
        assert!(h.set(five - Ns(1), 25.0).is_err() && h.set(five, 151.0).is_err());
        assert!(History::new(&retention, -56.0).is_err());
    }

    /// 1.1 eV from 25 to 55 °C: 50 times as fast, by Boltzmann's constant; none without activation energy.
    #[test]
    fn formula_acceleration_is_by_arrhenius() {
        let exponent = 1.1 / 8.617_333_262e-5 * (1.0 / 298.15 - 1.0 / 328.15);
        assert!((acceleration(1.1, 55.0) / libm::exp(exponent) - 1.0).abs() < 1e-12);
        assert!((acceleration(1.1, 55.0) - 50.1).abs() < 0.1);
        assert_eq!(
            (acceleration(0.0, 85.0), acceleration(1.1, 25.0)),
            (1.0, 1.0)
        );
        assert!(acceleration(1.1, 0.0) < 0.03);
    }
}
