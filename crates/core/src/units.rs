//! Simulated time.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// A point in simulated time, or a span of it, in nanoseconds. It wraps after 584 years.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Ns(pub u64);

impl Ns {
    /// The start of time.
    pub const ZERO: Ns = Ns(0);
    /// Never.
    pub const MAX: Ns = Ns(u64::MAX);

    /// `us` microseconds.
    pub const fn from_us(us: u64) -> Ns {
        Ns(us * 1_000)
    }
    /// `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Ns {
        Ns(ms * 1_000_000)
    }
    /// `s` seconds.
    pub const fn from_s(s: u64) -> Ns {
        Ns(s * 1_000_000_000)
    }
    /// `h` hours.
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
