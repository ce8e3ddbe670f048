//! A histogram of latencies.

use super::by_bucket::{ByBucket, bucket as bucket_of, bucket_start};

/// Slots of a bucket: each bucket of the tail has a whole number of them, at most this many.
const SLOTS: usize = 32;
/// Largest latency that has a slot of its own (ns): what a histogram from 1 ns to an hour with three significant digits
/// holds.
const LARGEST_NS: u64 = (1 << LARGEST_BITS) - 1;
const LARGEST_BITS: usize = 42;
/// Buckets of latencies up to that one: as many an octave as a bucket has slots.
const RESOLVED: usize = (LARGEST_BITS + 1 - SLOTS.ilog2() as usize) * SLOTS;

/// A histogram of latencies with three significant digits, in the slots of an HDR histogram: 1,024 an octave, and one a
/// nanosecond below 2,048 ns. Only buckets that occur take memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    counts: ByBucket<[u64; SLOTS], RESOLVED>,
    total: u64,
}

/// A histogram of the same slots for latencies that most runs do not have, those of requests that ended in an error.
/// Its memory is zeros that nothing has touched, until there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct RareHistogram {
    /// The slots of all buckets, one after another; empty until memory is reserved or the first latency.
    counts: Vec<u64>,
    total: u64,
}

impl RareHistogram {
    /// Reserves memory for all latencies.
    pub(super) fn reserve(&mut self) {
        if self.counts.is_empty() {
            self.counts = vec![0; RESOLVED * SLOTS];
        }
    }

    /// Forgets all latencies; its memory stays.
    pub(super) fn forget(&mut self) {
        if self.total > 0 {
            self.counts.fill(0);
        }
        self.total = 0;
    }

    /// Counts `latency_ns`; what is longer than [`LARGEST_NS`] counts as `clamped_ns`.
    pub(super) fn record(&mut self, latency_ns: u64, clamped_ns: u64) {
        self.reserve();
        let (bucket, slot) = place_of(latency_ns, clamped_ns);
        self.counts[bucket * SLOTS + slot] += 1;
        self.total += 1;
    }

    /// Adds the latencies of `other`.
    pub(super) fn merge(&mut self, other: &RareHistogram) {
        if other.total > 0 {
            self.reserve();
            let both = self.counts.iter_mut().zip(&other.counts);
            both.for_each(|(a, b)| *a += b);
            self.total += other.total;
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.total
    }

    /// Number of latencies in the slot of `latency_ns` and above.
    pub(super) fn count_from(&self, latency_ns: u64) -> u64 {
        if self.total == 0 {
            return 0;
        }
        let bucket = bucket_of(latency_ns);
        let from = bucket * SLOTS + slot_of(bucket, latency_ns);
        self.counts
            .get(from..)
            .map_or(0, |slots| slots.iter().sum())
    }
}

/// Bucket and slot of `latency_ns`; what is longer than [`LARGEST_NS`] lies where `clamped_ns` does.
#[inline]
fn place_of(latency_ns: u64, clamped_ns: u64) -> (usize, usize) {
    let ns = match latency_ns > LARGEST_NS {
        true => clamped_ns,
        false => latency_ns,
    };
    let bucket = bucket_of(ns);
    (bucket, slot_of(bucket, ns))
}

/// Power of two of the width of the slots of `bucket` (ns).
#[inline]
fn slot_shift(bucket: usize) -> u32 {
    ((bucket / SLOTS) as u32).saturating_sub(1 + SLOTS.ilog2())
}

/// The shortest latency in slot `slot` of `bucket` (ns).
fn slot_start(bucket: usize, slot: usize) -> u64 {
    let shift = slot_shift(bucket);
    let first = (bucket_start(bucket) >> shift) & !(SLOTS as u64 - 1);
    (first | slot as u64) << shift
}

/// The longest latency in slot `slot` of `bucket` (ns).
fn slot_end(bucket: usize, slot: usize) -> u64 {
    slot_start(bucket, slot) + ((1 << slot_shift(bucket)) - 1)
}

/// The slot of `latency_ns` in its bucket.
#[inline]
fn slot_of(bucket: usize, latency_ns: u64) -> usize {
    (latency_ns >> slot_shift(bucket)) as usize % SLOTS
}

/// The shortest latency in the slot of `latency_ns` (ns).
pub(super) fn lowest_equivalent(latency_ns: u64) -> u64 {
    let bucket = bucket_of(latency_ns);
    slot_start(bucket, slot_of(bucket, latency_ns))
}

impl Histogram {
    /// Reserves memory for all latencies.
    pub(super) fn reserve(&mut self) {
        self.counts.reserve();
    }

    /// Forgets all latencies; its memory stays.
    pub(super) fn forget(&mut self) {
        self.counts.clear();
        self.total = 0;
    }

    /// Counts `latency_ns`; what is longer than [`LARGEST_NS`] counts as `clamped_ns`.
    #[inline]
    pub(super) fn record(&mut self, latency_ns: u64, clamped_ns: u64) {
        let (bucket, slot) = place_of(latency_ns, clamped_ns);
        self.counts.at(bucket)[slot] += 1;
        self.total += 1;
    }

    /// Adds the latencies of `other`.
    pub(super) fn merge(&mut self, other: &Histogram) {
        for (bucket, more) in other.counts.iter() {
            let row = self.counts.at(bucket);
            row.iter_mut().zip(more).for_each(|(a, b)| *a += b);
        }
        self.total += other.total;
    }

    pub(super) fn len(&self) -> u64 {
        self.total
    }

    /// Each slot that is not empty, by ascending latency: bucket, slot, count.
    fn slots(&self) -> impl DoubleEndedIterator<Item = (usize, usize, u64)> {
        let rows = self.counts.iter();
        rows.flat_map(|(bucket, row)| {
            let slots = row.iter().copied().enumerate();
            let counted = slots.filter(|(_, n)| *n > 0);
            counted.map(move |(slot, n)| (bucket, slot, n))
        })
    }

    /// Longest latency and count of each slot that is not empty, by ascending latency.
    pub(super) fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        self.slots()
            .map(|(bucket, slot, n)| (slot_end(bucket, slot), n))
    }

    /// Start of the slot of the shortest latency (ns); 0 without latencies.
    pub(super) fn min(&self) -> u64 {
        let first = self.slots().next();
        first.map_or(0, |(bucket, slot, _)| slot_start(bucket, slot))
    }

    /// End of the slot of the longest latency (ns); 0 without latencies.
    pub(super) fn max(&self) -> u64 {
        let last = self.slots().next_back();
        last.map_or(0, |(bucket, slot, _)| slot_end(bucket, slot))
    }

    /// End of the slot that the latency at `quantile` lies in (ns), or its start where `quantile` is 0.
    pub(super) fn value_at_quantile(&self, quantile: f64) -> u64 {
        let wanted = (quantile.min(1.0) * self.total as f64).ceil() as u64;
        let mut left = wanted.max(1);
        for (bucket, row) in self.counts.iter() {
            let here: u64 = row.iter().sum();
            if here < left {
                left -= here;
                continue;
            }
            for (slot, n) in row.iter().enumerate() {
                if *n >= left {
                    return match quantile == 0.0 {
                        true => slot_start(bucket, slot),
                        false => slot_end(bucket, slot),
                    };
                }
                left -= n;
            }
        }
        0
    }

    /// Number of latencies in the slot of `latency_ns` and above.
    pub(super) fn count_from(&self, latency_ns: u64) -> u64 {
        let bucket = bucket_of(latency_ns);
        let slot = slot_of(bucket, latency_ns);
        let from = |(b, s, _): &(usize, usize, u64)| (*b, *s) >= (bucket, slot);
        self.slots().filter(from).map(|(_, _, n)| n).sum()
    }

    /// Standard deviation (ns), each latency taken as the middle of its slot; 0 without latencies.
    pub(super) fn stdev(&self) -> f64 {
        if self.total == 0 {
            return 0.0;
        }
        let all = self.total as f64;
        let middles = || {
            self.slots().map(|(bucket, slot, n)| {
                let middle = slot_start(bucket, slot) + ((1 << slot_shift(bucket)) >> 1);
                (middle as f64, n as f64)
            })
        };
        let mean = middles().fold(0.0, |sum, (middle, n)| sum + middle * n / all);
        let squares = middles().fold(0.0, |sum, (middle, n)| {
            let apart = middle - mean;
            sum + (apart * apart) * n
        });
        (squares / all).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;

    const HOUR_NS: u64 = 3_600_000_000_000;

    /// Every figure is the one of an HDR histogram from 1 ns to an hour with three digits, to the bit.
    #[test]
    fn model_the_histogram_is_an_hdr_histogram() {
        for seed in 0..40u64 {
            let draws = Stream::new(seed).named("latencies");
            let mut own = [Histogram::default(), Histogram::default()];
            let mut rare = [RareHistogram::default(), RareHistogram::default()];
            let hdr = || hdrhistogram::Histogram::<u64>::new_with_bounds(1, HOUR_NS, 3).unwrap();
            let mut theirs = hdr();
            // From a few nanoseconds to more than an hour, in a range of its own for each seed.
            let (low, octaves) = (seed % 41, 1 + seed % 7);
            for i in 0..[1, 2, 50, 3_000][seed as usize % 4] {
                let key = draws.at(i);
                let ns = match key.at(0).below(20) {
                    0 => key.at(1).below(4),
                    1 => HOUR_NS + key.at(1).below(HOUR_NS),
                    _ => key.at(1).below(1 << (low + key.at(2).below(octaves) + 1)),
                };
                own[(i % 2) as usize].record(ns, HOUR_NS);
                rare[(i % 2) as usize].record(ns, HOUR_NS);
                theirs.saturating_record(ns);
            }
            let mut all = Histogram::default();
            own.iter().for_each(|part| all.merge(part));
            let [mut of_rare, other] = rare;
            of_rare.merge(&other);
            assert_eq!(of_rare.len(), all.len(), "seed {seed}");
            for ns in (0..64).map(|octave| 3 << octave >> 1) {
                let both = (of_rare.count_from(ns), all.count_from(ns));
                assert_eq!(both.0, both.1, "seed {seed}: from {ns} ns");
            }
            of_rare.forget();
            assert_eq!((of_rare.len(), of_rare.count_from(0)), (0, 0));
            assert_eq!(
                (all.len(), all.max()),
                (theirs.len(), theirs.max()),
                "seed {seed}"
            );
            assert_eq!(all.min(), theirs.min(), "seed {seed}");
            assert_eq!(
                all.stdev().to_bits(),
                theirs.stdev().to_bits(),
                "seed {seed}"
            );
            let recorded = theirs.iter_recorded();
            let recorded = recorded.map(|b| (b.value_iterated_to(), b.count_at_value()));
            assert!(all.recorded().eq(recorded), "seed {seed}");
            for i in 0..60 {
                let quantile = match i {
                    0 => 0.0,
                    1 => 1.0,
                    2 => 1.5,
                    _ => draws.named("quantiles").at(i).below(1 << 20) as f64 / (1 << 20) as f64,
                };
                let ns = theirs.value_at_quantile(quantile);
                assert_eq!(
                    all.value_at_quantile(quantile),
                    ns,
                    "seed {seed}, {quantile}"
                );
                assert_eq!(
                    all.count_from(ns),
                    theirs.count_between(ns, u64::MAX),
                    "seed {seed}"
                );
                let any = draws.named("any").at(i).below(1 << 42);
                assert_eq!(
                    lowest_equivalent(any),
                    theirs.lowest_equivalent(any),
                    "{any}"
                );
            }
        }
        let none = Histogram::default();
        assert_eq!(
            (none.value_at_quantile(0.5), none.max(), none.min()),
            (0, 0, 0)
        );
    }
}
