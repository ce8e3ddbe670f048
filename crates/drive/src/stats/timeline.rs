//! A run over time: what its requests and the firmware did in each interval.
//!
//! Intervals follow one another from the start of the run, with nothing between them. A request counts in the interval in
//! which it completes. Of the current interval there is a histogram for each direction; of those that have ended there are
//! figures alone. Each [`INTERVALS_BEFORE_DOUBLING`] intervals the next ones become twice as long, so that the memory of a
//! run grows with the logarithm of its length.

use std::collections::VecDeque;

use firstread_core::{HostOp, Ns};
use firstread_firmware::observe::Counters;

use super::Written;
use super::histogram::Histogram;
use crate::commands::Completed;

/// Intervals of one length, before those that follow are twice as long.
pub const INTERVALS_BEFORE_DOUBLING: usize = 1 << 14;

/// Percentiles of an interval, in percent.
pub const PERCENTILES: [f64; 5] = [50.0, 95.0, 99.0, 99.9, 99.99];

/// Directions, in the order of [`Interval::directions`].
pub const DIRECTIONS: [HostOp; 4] = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];

/// Longest latency that a histogram resolves (ns): an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Requests of one direction that completed in an interval.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Completions {
    /// How many there were, those that ended in an error among them.
    pub requests: u64,
    /// Those that ended in an error.
    pub lost: u64,
    /// Bytes moved by those that ended without one.
    pub bytes: u64,
    /// Sum of their latencies (ns).
    pub sum_ns: u128,
    /// The shortest latency (ns).
    pub min_ns: u64,
    /// The longest latency (ns).
    pub max_ns: u64,
    /// Latencies that the shares [`PERCENTILES`] of the requests do not exceed (ns).
    pub percentiles_ns: [u64; PERCENTILES.len()],
}

impl Completions {
    /// Mean latency (ns); none where there is no request.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.sum_ns as f64 / self.requests as f64)
    }
}

/// What the firmware counted in an interval, by its own clock, which is ahead of the host's by less than the time in which a
/// command is fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// Bytes of the host and bytes programmed.
    pub written: Written,
    /// Slots written by moves.
    pub slots_moved: u64,
    /// Superblocks erased.
    pub erases: u64,
    /// Pages read for the host.
    pub page_reads: u64,
    /// Retries of these reads.
    pub retries: u64,
    /// Background senses.
    pub background_reads: u64,
}

impl Work {
    fn of(counters: &Counters, slot_bytes: u32) -> Work {
        Work {
            written: Written::of(counters, slot_bytes),
            slots_moved: counters.slots_moved,
            erases: counters.erases,
            page_reads: counters.page_reads_by_mode.iter().sum(),
            retries: counters.page_retries_by_mode.iter().sum(),
            background_reads: counters.background_reads,
        }
    }

    fn since(self, before: Work) -> Work {
        Work {
            written: Written {
                host_bytes: self.written.host_bytes - before.written.host_bytes,
                flash_bytes: self.written.flash_bytes - before.written.flash_bytes,
            },
            slots_moved: self.slots_moved - before.slots_moved,
            erases: self.erases - before.erases,
            page_reads: self.page_reads - before.page_reads,
            retries: self.retries - before.retries,
            background_reads: self.background_reads - before.background_reads,
        }
    }

    /// Retries of a page read; none where there was no page read.
    pub fn retries_mean(&self) -> Option<f64> {
        (self.page_reads > 0).then(|| self.retries as f64 / self.page_reads as f64)
    }
}

/// An interval of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// When it began, counted from the start of the run.
    pub start: Ns,
    /// When it ended.
    pub end: Ns,
    /// Requests that completed in it, in the order of [`DIRECTIONS`].
    pub directions: [Completions; DIRECTIONS.len()],
    /// What the firmware did.
    pub work: Work,
}

impl Interval {
    /// Its length (ns).
    pub fn length_ns(&self) -> u64 {
        self.end.since(self.start).0
    }

    /// `n` in it, a second.
    pub fn per_second(&self, n: u64) -> f64 {
        n as f64 * 1e9 / self.length_ns().max(1) as f64
    }
}

/// Requests of the current interval in one direction.
#[derive(Clone, Debug, Default)]
struct Current {
    histogram: Histogram,
    so_far: Completions,
}

impl Current {
    fn record(&mut self, latency_ns: u64, bytes: u64, is_lost: bool) {
        self.histogram.record(latency_ns, LONGEST_NS);
        let so_far = &mut self.so_far;
        if so_far.requests == 0 {
            so_far.min_ns = latency_ns;
        }
        so_far.requests += 1;
        so_far.lost += u64::from(is_lost);
        so_far.bytes += bytes;
        so_far.sum_ns += u128::from(latency_ns);
        so_far.min_ns = so_far.min_ns.min(latency_ns);
        so_far.max_ns = so_far.max_ns.max(latency_ns);
    }

    fn end(&mut self) -> Completions {
        let mut ended = std::mem::take(&mut self.so_far);
        if ended.requests > 0 {
            ended.percentiles_ns = PERCENTILES
                .map(|p| self.histogram.value_at_quantile(p / 100.0))
                .map(|ns| ns.min(ended.max_ns));
            self.histogram.forget();
        }
        ended
    }
}

/// A run over time, while it goes on.
#[derive(Clone, Debug)]
pub struct Timeline {
    slot_bytes: u32,
    /// When the run began, on the drive's clock.
    began: Ns,
    /// Length of the intervals that begin now.
    width: Ns,
    /// Intervals of that length that the firmware's counters have been taken of.
    of_width: usize,
    /// End of the interval of which the counters are taken next, on the drive's clock.
    counted_to: Ns,
    /// Ends of intervals of which the counters have been taken and completions may follow, and these counters.
    counted: VecDeque<(Ns, Work)>,
    /// Counters at the end of the last interval that has ended.
    before: Work,
    start: Ns,
    current: [Current; DIRECTIONS.len()],
    ended: Vec<Interval>,
}

impl Timeline {
    /// Of a run that begins at `began` on the drive's clock, by intervals of `width`, at least 1 ns. `counters` are those of
    /// its firmware, and `slot_bytes` is the unit of its mapping.
    pub fn new(width: Ns, began: Ns, counters: &Counters, slot_bytes: u32) -> Timeline {
        let width = width.max(Ns(1));
        let mut current: [Current; DIRECTIONS.len()] = Default::default();
        current.iter_mut().for_each(|c| c.histogram.reserve());
        Timeline {
            slot_bytes,
            began,
            width,
            of_width: 0,
            counted_to: began.saturating_add(width),
            counted: VecDeque::new(),
            before: Work::of(counters, slot_bytes),
            start: began,
            current,
            ended: Vec::new(),
        }
    }

    /// End of the interval of which the counters are taken next, on the drive's clock.
    #[inline]
    pub fn counters_due(&self) -> Ns {
        self.counted_to
    }

    /// What the firmware has counted before `until`, which is [`Timeline::counters_due`] or later.
    #[cold]
    pub fn counters(&mut self, until: Ns, counters: &Counters) {
        let work = Work::of(counters, self.slot_bytes);
        while self.counted_to <= until && self.counted_to != Ns::MAX {
            self.counted.push_back((self.counted_to, work));
            self.of_width += 1;
            if self.of_width == INTERVALS_BEFORE_DOUBLING {
                (self.width, self.of_width) = (self.width.saturating_add(self.width), 0);
            }
            self.counted_to = self.counted_to.saturating_add(self.width);
            // A host that waits for hours ends intervals without a completion: they need not wait for one.
            if self.counted.len() >= INTERVALS_BEFORE_DOUBLING
                && let Some((end, work)) = self.counted.pop_front()
            {
                self.end(end, work);
            }
        }
    }

    /// A request has completed.
    #[inline]
    pub fn completed(&mut self, completed: &Completed<'_>, is_lost: bool) {
        while let Some(&(end, work)) = self.counted.front()
            && completed.at >= end
        {
            self.counted.pop_front();
            self.end(end, work);
        }
        let bytes = match is_lost {
            true => 0,
            false => u64::from(completed.command.len_bytes),
        };
        let latency = completed.at.since(completed.since);
        self.current[completed.command.op as usize].record(latency.0, bytes, is_lost);
    }

    /// The interval that goes on has ended at `end`, where the firmware had counted `work`.
    #[cold]
    fn end(&mut self, end: Ns, work: Work) {
        let mut directions = [Completions::default(); DIRECTIONS.len()];
        for (direction, op) in directions.iter_mut().zip(DIRECTIONS) {
            *direction = self.current[op as usize].end();
        }
        self.ended.push(Interval {
            start: self.start.since(self.began),
            end: end.since(self.began),
            directions,
            work: work.since(self.before),
        });
        (self.start, self.before) = (end, work);
    }

    /// The run has ended at `end`, with `counters`: its intervals, the last one as long as it came to be.
    pub fn finish(mut self, end: Ns, counters: &Counters) -> Vec<Interval> {
        while let Some((until, work)) = self.counted.pop_front() {
            // The drive is ahead of its host, which has ended.
            if until >= end {
                break;
            }
            self.end(until, work);
        }
        if end > self.start {
            self.end(end, Work::of(counters, self.slot_bytes));
        }
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::charge::CAUSES;
    use firstread_core::{CommandId, HostCommand, Status, Stream};

    const MS: u64 = 1_000_000;

    fn counters(host_slots: u64, programmed: u64) -> Counters {
        Counters {
            host_slots_written: host_slots,
            host_bytes_written: host_slots * 4096,
            slots_programmed: programmed,
            ..Counters::default()
        }
    }

    fn complete(timeline: &mut Timeline, op: HostOp, at: Ns, latency: Ns, is_lost: bool) {
        let command = HostCommand {
            id: CommandId(0),
            op,
            client: 0,
            offset_bytes: 0,
            len_bytes: 4096,
            fua: false,
            placement: 0,
        };
        let completed = Completed {
            command: &command,
            queue: 0,
            since: Ns(at.0 - latency.0),
            at,
            status: Status::Ok,
            ns_by_cause: &[0; CAUSES],
            page: None,
            course: None,
        };
        timeline.completed(&completed, is_lost);
    }

    /// Requests of each interval are those that complete in it, percentiles are those of the requests in order, and counters
    /// are those of its ends.
    #[test]
    fn model_intervals_have_what_completed_in_them() {
        for seed in 0..30 {
            let s = Stream::new(seed).named("timeline");
            let began = Ns(s.at(0).below(5 * MS));
            let width = 1 + s.at(1).below(3 * MS);
            let mut timeline = Timeline::new(Ns(width), began, &counters(7, 9), 4096);
            // Latencies of each interval and direction; counters by its end.
            let mut expected: Vec<[Vec<u64>; 4]> = Vec::new();
            let mut at = began;
            let requests = s.at(2).below(400);
            for i in 0..requests {
                let draw = s.named("request").at(i);
                at += Ns(draw.at(0).below(MS));
                let latency = Ns(1 + draw.at(1).below(2_000));
                let op = DIRECTIONS[draw.at(2).below(4) as usize];
                let at = at + latency;
                if at >= timeline.counters_due() {
                    timeline.counters(at, &counters(7 + i, 9 + 3 * i));
                }
                complete(&mut timeline, op, at, latency, draw.at(3).below(9) == 0);
                let interval = (at.since(began).0 / width) as usize;
                if expected.len() <= interval {
                    expected.resize(interval + 1, Default::default());
                }
                let direction = DIRECTIONS.iter().position(|&of| of == op).unwrap();
                expected[interval][direction].push(latency.0);
            }
            let end = at + Ns(2_000 + 1);
            let intervals = timeline.finish(end, &counters(7 + requests, 9 + 3 * requests));
            let mut next = Ns::ZERO;
            for interval in &intervals {
                assert_eq!(interval.start, next, "seed {seed}");
                next = interval.end;
                let none = Default::default();
                let of = expected.get((interval.start.0 / width) as usize);
                for (direction, latencies) in interval.directions.iter().zip(of.unwrap_or(&none)) {
                    let mut latencies = latencies.clone();
                    latencies.sort_unstable();
                    assert_eq!(direction.requests, latencies.len() as u64, "seed {seed}");
                    let Some((first, last)) = latencies.first().zip(latencies.last()) else {
                        assert_eq!(direction.mean_ns(), None);
                        continue;
                    };
                    assert_eq!((direction.min_ns, direction.max_ns), (*first, *last));
                    let sum: u64 = latencies.iter().sum();
                    assert_eq!(direction.sum_ns, u128::from(sum));
                    let (bytes, lost) = (direction.bytes, direction.lost);
                    assert_eq!(bytes, 4096 * (direction.requests - lost), "seed {seed}");
                    for (p, ns) in PERCENTILES.iter().zip(direction.percentiles_ns) {
                        let rank = (latencies.len() as f64 * p / 100.0).ceil() as usize;
                        assert_eq!(ns, latencies[rank.max(1) - 1], "seed {seed}, P{p}");
                    }
                }
            }
            assert_eq!(next, end.since(began), "seed {seed}");
            let host: u64 = intervals.iter().map(|i| i.work.written.host_bytes).sum();
            let flash: u64 = intervals.iter().map(|i| i.work.written.flash_bytes).sum();
            assert_eq!((host, flash), (4096 * requests, 3 * 4096 * requests));
        }
    }

    /// However long a run is, its intervals are few: after each so many they are twice as long.
    #[test]
    fn formula_memory_grows_with_the_logarithm_of_the_length() {
        let mut timeline = Timeline::new(Ns(10), Ns(5), &counters(0, 0), 4096);
        let end = Ns(5 + 10 * INTERVALS_BEFORE_DOUBLING as u64 * 7 + 40);
        timeline.counters(end, &counters(0, 0));
        complete(&mut timeline, HostOp::Read, end, Ns(3), false);
        let intervals = timeline.finish(end + Ns(1), &counters(0, 0));
        // 1 + 2 + 4 are 7 times the first intervals; the rest is the beginning of one of eight times the length.
        assert_eq!(intervals.len(), 3 * INTERVALS_BEFORE_DOUBLING + 1);
        for (i, interval) in intervals[..intervals.len() - 1].iter().enumerate() {
            assert_eq!(
                interval.length_ns(),
                10 << (i / INTERVALS_BEFORE_DOUBLING),
                "interval {i}"
            );
        }
        let last = intervals.last().unwrap();
        assert_eq!((last.length_ns(), last.directions[0].requests), (41, 1));
        assert!(intervals.windows(2).all(|two| two[0].end == two[1].start));
    }
}
