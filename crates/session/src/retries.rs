//! Retries of page reads, summed up.

use firstread_firmware::observe::Counters;

/// Retries of page reads, summed up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Retries {
    /// Page rows read for the host, with those that were lost.
    pub pages: u64,
    /// Share of them that took no retry; 1 where there are none.
    pub first_try: f64,
    /// Retries for each.
    pub mean: f64,
}

impl Retries {
    /// Those that `counters` have.
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
