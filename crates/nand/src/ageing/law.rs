//! What a law of ageing is: how a block's life shifts and widens its states, and how fast.

use crate::profile::field::{Numbers, ProfileError};
use crate::profile::mode::ModeProfile;

/// Most components of retention a chip has.
pub const MAX_COMPONENTS: usize = 3;

/// What a block has lived through since it was programmed, and the moment at which it is looked at.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Lived {
    /// Hours at 25 °C since it was programmed, by component of retention.
    pub stress_h: [f64; MAX_COMPONENTS],
    /// Time at 25 °C between its last cycles (h).
    pub dwell_h: f64,
    /// Program/erase cycles.
    pub pe_cycles: u32,
    /// Reads since it was programmed, in reads of a wordline that is not a neighbour.
    pub reads: f64,
    /// Temperature above that of programming (°C).
    pub delta_c: f64,
    /// Time since its last read (s).
    pub idle_s: f64,
}

/// What the laws do to a block, as far as all its states share it. Each law adds its part.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Effect {
    /// Decades of each component of retention.
    pub decades: [f64; MAX_COMPONENTS],
    /// Shift of the erased state and of all programmed ones (mV).
    pub shift_mv: [f64; 2],
    /// Rise of the erased state, of which others take their share (mV).
    pub rise_mv: f64,
    /// Temperature above that of programming (°C).
    pub delta_c: f64,
    /// Growth of every standard deviation, as a share.
    pub widening: f64,
    /// Variance that all states gain (mV squared).
    pub variance: f64,
}

/// How fast an [`Effect`] grows with what changes while a block stands.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Slopes {
    /// Per hour at 25 °C of each component of retention.
    pub per_h: [Effect; MAX_COMPONENTS],
    /// Per read.
    pub per_read: Effect,
    /// Per second without a read.
    pub per_idle_s: Effect,
}

/// How each state of a mode takes an [`Effect`].
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Shares {
    /// Shift per decade of each component of retention (mV; down is negative).
    pub per_decade: [[f64; 16]; MAX_COMPONENTS],
    /// Share of the erased state's rise.
    pub of_rise: [f64; 16],
    /// Shift per degree above the temperature of programming (mV).
    pub mv_per_c: [f64; 16],
}

impl Shares {
    /// Shift of `state` under `effect` (mV).
    pub fn shift_mv(&self, effect: &Effect, state: usize) -> f64 {
        let decades = self.per_decade.iter().zip(effect.decades);
        let drift: f64 = decades.map(|(a, d)| a[state] * d).sum();
        drift
            + effect.rise_mv * self.of_rise[state]
            + effect.delta_c * self.mv_per_c[state]
            + effect.shift_mv[(state > 0) as usize]
    }
}

/// A law of ageing: its numbers, and what follows from them. Only what a law has is written; the rest is zero.
pub trait Law: Numbers {
    /// The numbers at which the law does nothing.
    fn null() -> Self
    where
        Self: Sized;
    /// Adds the law's shift.
    fn shift(&self, lived: &Lived, to: &mut Effect);
    /// Adds how fast the shift grows: what does not change while a block stands has no slope.
    fn slope(&self, _lived: &Lived, _to: &mut Slopes) {}
    /// Says how each state of `mode` takes the shift.
    fn shares(&self, _mode: &ModeProfile, _to: &mut Shares) {}
    /// Whether the law suits `modes`; `table` is its path.
    fn suits(&self, _table: &str, _modes: &[ModeProfile]) -> Result<(), ProfileError> {
        Ok(())
    }
}
