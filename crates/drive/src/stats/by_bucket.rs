//! Buckets of latencies, and tables with a row for each bucket that occurs.

/// Sub-buckets per octave of latency: a bucket is 3 % wide.
const SUB: u32 = 32;
const SUB_BITS: u32 = SUB.ilog2();
/// Total number of buckets.
pub(super) const BUCKETS: usize = (65 - SUB_BITS as usize) * SUB as usize;

/// Stands for no row. It is zero, so that the index of a table without latencies is memory that nothing has touched.
const NONE: u16 = 0;
/// Rows that a table grows by: latencies of a job lie in few buckets, and a run may have thousands of jobs.
const GROWTH: usize = 16;

/// A row for each latency bucket that has occurred, of the first `N`. A table without a latency takes no memory of its own.
#[derive(Clone, Debug)]
pub(super) struct ByBucket<R, const N: usize = BUCKETS> {
    /// Row of each bucket, counted from 1, or [`NONE`]. Empty until the first latency.
    row_of: Vec<u16>,
    /// In the order in which their buckets occurred.
    rows: Vec<R>,
}

impl<R, const N: usize> Default for ByBucket<R, N> {
    fn default() -> ByBucket<R, N> {
        ByBucket {
            row_of: Vec::new(),
            rows: Vec::new(),
        }
    }
}

impl<R: Default, const N: usize> ByBucket<R, N> {
    /// The row of `bucket`.
    #[inline(always)] // On the path of a request.
    pub(super) fn at(&mut self, bucket: usize) -> &mut R {
        let row = match self.row_of.get(bucket) {
            Some(&row) if row != NONE => usize::from(row) - 1,
            _ => self.add(bucket),
        };
        &mut self.rows[row]
    }

    /// Adds a row for `bucket`.
    #[cold]
    #[inline(never)]
    fn add(&mut self, bucket: usize) -> usize {
        self.index();
        if self.rows.len() == self.rows.capacity() {
            self.rows.reserve_exact(GROWTH);
        }
        let row = self.rows.len();
        self.rows.push(R::default());
        self.row_of[bucket] = row as u16 + 1;
        row
    }
}

impl<R, const N: usize> ByBucket<R, N> {
    /// Reserves room for all buckets, so that no latency allocates memory. What no row lies in is not touched.
    pub(super) fn reserve(&mut self) {
        self.index();
        self.rows.reserve_exact(N - self.rows.len());
    }

    /// Takes all rows out; their memory stays.
    pub(super) fn clear(&mut self) {
        self.row_of.fill(NONE);
        self.rows.clear();
    }

    fn index(&mut self) {
        if self.row_of.is_empty() {
            self.row_of = vec![NONE; N];
        }
    }

    /// The rows with their buckets, by ascending latency.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, &R)> {
        let of = |(bucket, &row): (usize, &u16)| {
            let row = usize::from(row).checked_sub(1)?;
            Some((bucket, &self.rows[row]))
        };
        self.row_of.iter().enumerate().filter_map(of)
    }

    /// The rows, in no order.
    pub(super) fn rows(&self) -> &[R] {
        &self.rows
    }

    /// The rows, in no order.
    pub(super) fn rows_mut(&mut self) -> &mut [R] {
        &mut self.rows
    }
}

/// The bucket of a latency.
#[inline]
pub(super) fn bucket(latency_ns: u64) -> usize {
    if latency_ns < 2 * SUB as u64 {
        return latency_ns as usize;
    }
    let octave = latency_ns.ilog2() - SUB_BITS;
    let sub = (latency_ns >> octave) as u32 - SUB;
    ((octave + 1) * SUB + sub) as usize
}

/// The shortest latency of a bucket (ns).
pub(super) fn bucket_start(bucket: usize) -> u64 {
    let (octave, sub) = (bucket as u32 / SUB, bucket as u64 % SUB as u64);
    match octave {
        0 => sub,
        _ => (SUB as u64 + sub) << (octave - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;

    #[test]
    fn model_buckets_rise_with_latency() {
        let mut last = 0;
        for latency in (0..100_000u64).chain((17..64).map(|b| (1 << b) - 1)) {
            let b = bucket(latency);
            assert!(b >= last, "latency {latency}");
            assert!(bucket_start(b) <= latency && bucket(bucket_start(b)) == b);
            assert!(b == 0 || bucket(bucket_start(b) - 1) == b - 1);
            last = b;
        }
        assert!(bucket(u64::MAX) < BUCKETS);
    }

    /// A table has a row for each bucket that occurred, whatever the order, and none besides.
    #[test]
    fn model_rows_are_those_of_a_map() {
        let draws = Stream::new(1).named("buckets");
        let mut table = ByBucket::<u64>::default();
        let mut map = std::collections::BTreeMap::<usize, u64>::new();
        assert_eq!((table.row_of.capacity(), table.rows.capacity()), (0, 0));
        for i in 0..2_000 {
            let at = bucket(draws.at(i).below(1 << (1 + i % 40)));
            *table.at(at) += i;
            *map.entry(at).or_default() += i;
        }
        assert!(table.iter().map(|(b, n)| (b, *n)).eq(map.clone()));
        assert!(
            table
                .iter()
                .rev()
                .map(|(b, n)| (b, *n))
                .eq(map.into_iter().rev())
        );
        assert!(table.rows.capacity() < table.rows.len() + GROWTH);
    }

    /// A table that is cleared has the rows of what comes then, and the memory that it had.
    #[test]
    fn model_a_cleared_table_is_a_new_one() {
        let mut table = ByBucket::<u64>::default();
        table.reserve();
        let reserved = table.rows.capacity();
        (0..100).for_each(|bucket| *table.at(bucket) += 1);
        table.clear();
        assert_eq!(table.iter().count(), 0);
        *table.at(7) += 5;
        assert!(table.iter().eq([(7, &5)]));
        assert_eq!(table.rows.capacity(), reserved);
    }
}
