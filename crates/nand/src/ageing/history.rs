//! The temperature a chip has lived at, and the stress it has gathered.

use alloc::vec;
use alloc::vec::Vec;

use firstread_core::Ns;

use super::law::MAX_COMPONENTS;
use super::retention::RetentionProfile;
use crate::profile::field::{ProfileError, temperature};

/// Boltzmann's constant (eV/K), CODATA.
const BOLTZMANN_EV_PER_K: f64 = 8.617_333_262e-5;
/// Reference of all stress (25 °C in K).
const REFERENCE_K: f64 = 298.15;
/// Nanoseconds of an hour.
pub const NS_PER_H: f64 = 3.6e12;

/// Stress since the start of time, in hours at 25 °C, one coordinate for each retention component.
/// Stress is an additive integral: what a block has suffered since it was programmed is the
/// difference of two of these, so programming remembers one of them and ageing costs nothing.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Stress(pub [f64; MAX_COMPONENTS]);

impl Stress {
    /// Hours at 25 °C from `earlier` to here, by component; never negative.
    pub fn since(&self, earlier: &Stress) -> [f64; MAX_COMPONENTS] {
        let mut h = [0.0; MAX_COMPONENTS];
        for (out, (a, b)) in h.iter_mut().zip(self.0.iter().zip(&earlier.0)) {
            *out = if a > b { a - b } else { 0.0 };
        }
        h
    }
}

/// Acceleration of a process of `activation_energy_ev` at `celsius`, against 25 °C.
pub fn acceleration(activation_energy_ev: f64, celsius: f64) -> f64 {
    let t = celsius + 273.15;
    libm::exp(activation_energy_ev / BOLTZMANN_EV_PER_K * (1.0 / REFERENCE_K - 1.0 / t))
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    start: Ns,
    celsius: f64,
    rate: [f64; MAX_COMPONENTS],
    /// Stress at its start.
    stress: Stress,
}

/// A piecewise constant temperature history from time zero on, with its stress integral.
#[derive(Clone, Debug)]
pub struct History {
    activation_energy_ev: Vec<f64>,
    segments: Vec<Segment>,
}

impl History {
    /// `celsius` from time zero on.
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

    /// `celsius` from `at` on. Segments are appended: `at` is not before the last change.
    pub fn set(&mut self, at: Ns, celsius: f64) -> Result<(), ProfileError> {
        temperature(celsius)?;
        let last = self.segments[self.segments.len() - 1];
        if at < last.start {
            return Err(ProfileError {
                key: "temperature".into(),
                reason: alloc::format!(
                    "changes at {at:?}, before the last change at {:?}",
                    last.start
                ),
            });
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

    /// Temperature at `at` (°C).
    pub fn temperature_c(&self, at: Ns) -> f64 {
        self.segment(at).celsius
    }

    /// Hours at 25 °C that pass in an hour at `at`, by component, and when that changes next.
    pub fn rates(&self, at: Ns) -> ([f64; MAX_COMPONENTS], Ns) {
        let next = self.segments.partition_point(|s| s.start <= at);
        let until = self.segments.get(next).map_or(Ns(u64::MAX), |s| s.start);
        (self.segment(at).rate, until)
    }

    /// Stress gathered from time zero to `at`.
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

    /// The stress coordinate that data had when, seen at `at`, it has since lived through `lived`
    /// (hours, °C). For data older than the start of time.
    pub fn before(&self, at: Ns, lived: &[(f64, f64)]) -> Stress {
        let mut out = self.stress(at);
        for &(hours, celsius) in lived {
            for (o, r) in out.0.iter_mut().zip(self.rate(celsius)) {
                *o -= hours * r;
            }
        }
        out
    }
}
