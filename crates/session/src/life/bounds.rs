//! Bounds of lives, and units of their time.

/// The largest difference between the corrected result of a life and of its check at half the wear rate.
pub const MOST_APART: f64 = 0.02;
/// Rated endurances after which a life is given up that has not ended.
pub const MOST_ENDURANCES: f64 = 100.0;
/// Share of what the host wrote that the write buffer may hold where write amplification is told: it is at most this much low.
pub const MOST_BUFFERED: f64 = 0.1;
/// Seconds of a year of 365 days.
pub const YEAR_S: f64 = 365.0 * DAY_S;
/// Seconds of a day.
pub const DAY_S: f64 = 86_400.0;
