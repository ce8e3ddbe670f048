//! Causes of the latency of the slowest requests.

use super::by_bucket::{BUCKETS, ByBucket};
use crate::hardware::charge::{CAUSES, NsByCause};

/// Nanoseconds by cause, summed over the requests of a latency bucket; three cache lines.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Bucket {
    count: u64,
    parts: NsByCause,
}

/// Sums of time by cause, for requests of like latency, so that any tail can be summed up later.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    buckets: ByBucket<Bucket>,
}

/// Causes of the latency of the slowest requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TailShare {
    /// Number of requests counted: at least those asked for, and all others of their bucket.
    pub requests: u64,
    /// Share of their time by cause, in the order of [`crate::Cause::ALL`]; the shares add up to 1.
    pub share: [f64; CAUSES],
}

impl Tail {
    /// Reserves memory for all latencies.
    pub(super) fn reserve(&mut self) {
        self.buckets.reserve();
    }

    /// Forgets all requests; its memory stays.
    pub(super) fn forget(&mut self) {
        self.buckets.clear();
    }

    /// A request of latency bucket `bucket` with the breakdown `parts`.
    #[inline(always)] // Once in `Latencies::record`.
    pub(super) fn record(&mut self, bucket: usize, parts: &NsByCause) {
        let bucket = self.buckets.at(bucket);
        bucket.count += 1;
        for (sum, part) in bucket.parts.iter_mut().zip(parts) {
            *sum += part;
        }
    }

    /// Adds the requests of `other`.
    pub(crate) fn merge(&mut self, other: &Tail) {
        for (bucket, requests, parts) in other.rows() {
            self.add(bucket, requests, parts);
        }
    }

    /// Its buckets that are not empty, the slowest last: number of the bucket, requests, and their time by cause (ns).
    pub fn rows(&self) -> impl Iterator<Item = (usize, u64, &NsByCause)> {
        let rows = self.buckets.iter();
        rows.map(|(bucket, row)| (bucket, row.count, &row.parts))
    }

    /// Adds a row of another tail. Whether there is such a bucket.
    pub fn add(&mut self, bucket: usize, requests: u64, parts: &NsByCause) -> bool {
        if bucket >= BUCKETS {
            return false;
        }
        let row = self.buckets.at(bucket);
        row.count += requests;
        for (sum, part) in row.parts.iter_mut().zip(parts) {
            *sum += part;
        }
        true
    }

    /// The slowest `fraction` of all requests; none if there are no requests.
    pub fn slowest(&self, fraction: f64) -> Option<TailShare> {
        let total: u64 = self.buckets.rows().iter().map(|b| b.count).sum();
        let wanted = ((total as f64 * fraction).ceil() as u64).max(1);
        let mut requests = 0;
        let mut parts = [0u64; CAUSES];
        for (_, bucket) in self.buckets.iter().rev() {
            requests += bucket.count;
            for (sum, part) in parts.iter_mut().zip(&bucket.parts) {
                *sum += part;
            }
            if requests >= wanted {
                break;
            }
        }
        let all: u64 = parts.iter().sum();
        (all > 0).then(|| TailShare {
            requests,
            share: parts.map(|p| p as f64 / all as f64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_bucket::bucket;
    use super::*;

    #[test]
    fn formula_slowest_takes_the_slowest() {
        let mut tail = Tail::default();
        let mut fast = [0; CAUSES];
        fast[0] = 100;
        let mut slow = [0; CAUSES];
        slow[1] = 10_000;
        (0..999).for_each(|_| tail.record(bucket(100), &fast));
        tail.record(bucket(10_000), &slow);
        let share = tail.slowest(0.001).unwrap();
        assert_eq!((share.requests, share.share[1]), (1, 1.0));
        let all = tail.slowest(1.0).unwrap();
        assert_eq!(all.requests, 1000);
        assert!((all.share[0] - 99_900.0 / 109_900.0).abs() < 1e-12);
    }
}
