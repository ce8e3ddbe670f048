//! An ageing law: how the history of a block shifts and widens its states, and how fast.

use crate::profile::error::ProfileError;
use crate::profile::field::Numbers;
use crate::profile::mode::ModeProfile;

/// Maximum number of retention components of a chip.
pub const MAX_COMPONENTS: usize = 3;

/// Exposure of a block since it was programmed, as of a given moment.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Exposure {
    /// Hours at 25 °C since programming, by retention component.
    pub stress_h: [f64; MAX_COMPONENTS],
    /// Dwell time between its last program/erase cycles (h at 25 °C).
    pub dwell_h: f64,
    /// Program/erase cycles, with fractions where cycles in another mode damage less.
    pub pe_cycles: f64,
    /// Reads since programming, in equivalent reads of a distant wordline.
    pub reads: f64,
    /// Temperature relative to the programming temperature (°C).
    pub delta_c: f64,
    /// Time since its last read (s).
    pub idle_s: f64,
}

/// Combined effect of the laws on a block, as far as it is common to all its states. Each law adds its part.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Effect {
    /// Decades of time of each retention component.
    pub decades: [f64; MAX_COMPONENTS],
    /// Shift of the erased state, and of all programmed states (mV).
    pub shift_mv: [f64; 2],
    /// Rise of the erased state by read disturb (mV). Programmed states rise by a share of it.
    pub rise_mv: f64,
    /// Temperature relative to the programming temperature (°C).
    pub delta_c: f64,
    /// Relative growth of every standard deviation.
    pub widening: f64,
    /// Variance added to all states (mV squared).
    pub variance: f64,
}

/// Growth rate of an [`Effect`] in the quantities that change while a block holds data.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Slopes {
    /// Per hour at 25 °C of each component of retention.
    pub per_h: [Effect; MAX_COMPONENTS],
    /// Per read, as `Exposure::reads` counts them.
    pub per_read: Effect,
    /// Per second without a read.
    pub per_idle_s: Effect,
}

/// How each state of a cell mode responds to an [`Effect`].
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Shares {
    /// Shift per decade of each retention component (mV; negative is down).
    pub per_decade: [[f64; 16]; MAX_COMPONENTS],
    /// Share of the erased state's rise.
    pub of_rise: [f64; 16],
    /// Shift per degree above the programming temperature (mV).
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

/// An ageing law: its numbers and what follows from them. A law implements only the methods it needs;
/// defaults are zero.
pub trait Law: Numbers {
    /// The numbers with which the law has no effect.
    fn null() -> Self
    where
        Self: Sized;
    /// Adds the law's shift.
    fn shift(&self, exposure: &Exposure, to: &mut Effect);
    /// Adds the growth rate of the shift. Quantities that do not change while a block holds data have no
    /// slope.
    fn slope(&self, _lived: &Exposure, _to: &mut Slopes) {}
    /// Sets how each state of `mode` responds to the shift.
    fn shares(&self, _mode: &ModeProfile, _to: &mut Shares) {}
    /// Whether the law is compatible with `modes`; `table` is the path of its table.
    fn suits(&self, _table: &str, _modes: &[ModeProfile]) -> Result<(), ProfileError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_a_shift_is_the_sum_of_its_parts() {
        let mut shares = Shares::default();
        (shares.per_decade[0][3], shares.per_decade[2][3]) = (-10.0, 4.0);
        (shares.of_rise[3], shares.mv_per_c[3]) = (0.25, -0.5);
        let effect = Effect {
            decades: [2.0, 7.0, 0.5],
            shift_mv: [100.0, 1.0],
            rise_mv: 40.0,
            delta_c: 20.0,
            ..Effect::default()
        };
        assert_eq!(shares.shift_mv(&effect, 3), -20.0 + 2.0 + 10.0 - 10.0 + 1.0);
        assert_eq!(
            (shares.shift_mv(&effect, 0), shares.shift_mv(&effect, 1)),
            (100.0, 1.0)
        );
    }
}
