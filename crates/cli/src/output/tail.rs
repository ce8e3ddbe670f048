//! What counts as the tail, and how an interval is read.

/// What an interval of one run is over.
pub const WITHIN: &str = "intervals hold 95 % of runs like this on this drive with other requests (--workload-seed); drives differ \
     by more (--drives)";

/// What an interval is over where the run was split.
pub const WITHIN_PARTS: &str = "intervals hold 95 % of runs like this on this drive with other requests, by how much its parts differ; drives \
     differ by more (--drives)";

/// Fewest samples beyond a percentile for its value to be read without the interval.
pub const ENOUGH_BEYOND: u64 = 100;
