//! Simulated time.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// A point in simulated time, or a span of it, in nanoseconds. It wraps after 584 years.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Ns(pub u64);

impl Ns {
    /// The start of time.
    pub const ZERO: Ns = Ns(0);
    /// Later than any event: the time of what is not due.
    pub const MAX: Ns = Ns(u64::MAX);

    /// A span given in microseconds.
    pub const fn from_us(us: u64) -> Ns {
        Ns(us * 1_000)
    }
    /// A span given in milliseconds.
    pub const fn from_ms(ms: u64) -> Ns {
        Ns(ms * 1_000_000)
    }
    /// A span given in seconds.
    pub const fn from_s(s: u64) -> Ns {
        Ns(s * 1_000_000_000)
    }
    /// A span given in hours.
    pub const fn from_h(h: u64) -> Ns {
        Ns::from_s(h * 3_600)
    }
    /// The span since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Ns) -> Ns {
        Ns(self.0.saturating_sub(earlier.0))
    }
    /// Sum that stops at [`Ns::MAX`].
    pub const fn saturating_add(self, span: Ns) -> Ns {
        Ns(self.0.saturating_add(span.0))
    }
}

impl Add for Ns {
    type Output = Ns;
    fn add(self, rhs: Ns) -> Ns {
        Ns(self.0 + rhs.0)
    }
}

impl AddAssign for Ns {
    fn add_assign(&mut self, rhs: Ns) {
        self.0 += rhs.0;
    }
}

impl Sub for Ns {
    type Output = Ns;
    fn sub(self, rhs: Ns) -> Ns {
        Ns(self.0 - rhs.0)
    }
}

impl fmt::Debug for Ns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ns", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_units_of_time_are_powers_of_ten_of_a_second() {
        assert_eq!(Ns::from_us(7), Ns(7_000));
        assert_eq!(Ns::from_ms(7), Ns(7_000_000));
        assert_eq!(Ns::from_s(7), Ns(7_000_000_000));
        assert_eq!(Ns::from_h(7), Ns(25_200_000_000_000));
    }

    #[test]
    fn formula_spans_of_time_add_up() {
        let (early, late) = (Ns(1_200), Ns(5_000));
        assert_eq!(late - early, Ns(3_800));
        assert_eq!(early + (late - early), late);
        let mut now = early;
        now += Ns(300);
        assert_eq!(now, Ns(1_500));
        assert_eq!(late.since(early), Ns(3_800));
        assert_eq!(early.since(late), Ns::ZERO, "no span is negative");
        assert_eq!(early.saturating_add(late), Ns(6_200));
        assert_eq!(Ns::MAX.saturating_add(Ns(1)), Ns::MAX);
    }
}
