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
