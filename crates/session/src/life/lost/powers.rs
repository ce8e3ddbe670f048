//! Powers of ten of rates.

/// What stands for no failures at all (power of ten).
pub(super) const NEVER: f64 = -300.0;

/// The rate of a power of ten.
pub(super) fn to_ten(power: f64) -> f64 {
    libm::pow(10.0, power)
}

/// The power of ten of a rate.
pub(super) fn power_of_ten(value: f64) -> f64 {
    if value > 0.0 {
        libm::log10(value).max(NEVER)
    } else {
        NEVER
    }
}
