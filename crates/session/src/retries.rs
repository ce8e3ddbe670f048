//! Retries of page reads, summed up.

use firstread_firmware::observe::Counters;

/// Retries of page reads, summed up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Retries {
    /// Multi-plane pages read for the host, including uncorrectable ones.
    pub pages: u64,
    /// Share of these reads without a retry; 1 if there were no reads.
    pub first_try: f64,
    /// Mean number of retries of a read.
    pub mean: f64,
}

impl Retries {
    /// The retries counted in `counters`.
    pub fn of(counters: &Counters) -> Retries {
        let pages = counters.retries.iter().sum::<u64>() + counters.uncorrectable;
        let weighted = counters
            .retries
            .iter()
            .zip(0u64..)
            .map(|(n, retries)| n * retries);
        let of_pages = |n: u64| n as f64 / pages.max(1) as f64;
        Retries {
            pages,
            first_try: if pages == 0 {
                1.0
            } else {
                of_pages(counters.retries[0])
            },
            mean: of_pages(weighted.sum::<u64>() + counters.lost_retries),
        }
    }
}
