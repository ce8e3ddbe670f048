//! The slowest reads of a run, and what all parts of the drive did around each of them.
//!
//! Which reads are the slowest is known at the end only. So all that the parts do is kept for a while, and of what is older
//! that which lies in the window of a read that is among the slowest so far. Memory is bounded: where more than
//! [`MOST_SPANS`] would have to be kept, the oldest go first, and a read says from when on its window is whole.

use firstread_core::{HostCommand, Ns, Status};

use crate::commands::{Completed, PageRead};
use crate::hardware::charge::NsByCause;
use crate::hardware::spans::{Part, Span};

/// Spans kept at most.
pub const MOST_SPANS: usize = 1 << 19;

/// A read among the slowest.
#[derive(Clone, Debug)]
pub struct SlowRead {
    /// Its number: [`Course::number`](crate::spans::Course::number).
    pub number: u64,
    /// The command.
    pub command: HostCommand,
    /// The job, counted from 0.
    pub job: u32,
    /// Time from which its latency counts.
    pub since: Ns,
    /// When it completed.
    pub at: Ns,
    /// Whether it got its data.
    pub status: Status,
    /// The page that it waited for last.
    pub page: Option<PageRead>,
    /// Its latency by cause (ns).
    pub ns_by_cause: NsByCause,
    /// Its time, without a gap.
    pub parts: Vec<Part>,
    /// The reads of pages that it waited for.
    pub reads: Vec<u64>,
    /// Its window begins here.
    pub window_start: Ns,
    /// Where its window ends.
    pub window_end: Ns,
    /// From when on its window is whole, if that is not from its start: of what ended by then some is missing.
    pub whole_from: Option<Ns>,
}

impl SlowRead {
    /// Its latency.
    pub fn latency(&self) -> Ns {
        self.at.since(self.since)
    }

    /// Spans that ended by `until` are not kept.
    fn lose(&mut self, until: Ns) {
        if until > self.window_start {
            let from = self.whole_from.get_or_insert(until);
            *from = until.max(*from);
        }
    }
}

/// Collects the slowest reads of a run.
#[derive(Clone, Debug)]
pub struct SlowReads {
    /// How many.
    most: usize,
    /// Time before and after each.
    window: Ns,
    most_spans: usize,
    /// The slowest first; of equally slow ones those that completed first.
    reads: Vec<SlowRead>,
    spans: Vec<Span>,
    /// When the last span ended that is not kept.
    lost_until: Ns,
}

impl SlowReads {
    /// Of the `most` slowest reads, with `window` before and after each.
    pub fn new(most: usize, window: Ns) -> SlowReads {
        SlowReads::of_spans(most, window, MOST_SPANS)
    }

    fn of_spans(most: usize, window: Ns, most_spans: usize) -> SlowReads {
        SlowReads {
            most,
            window,
            most_spans,
            reads: Vec::with_capacity(most + 1),
            spans: Vec::new(),
            lost_until: Ns::ZERO,
        }
    }

    /// A read that counts has completed.
    #[inline]
    pub fn completed(&mut self, read: &Completed<'_>) {
        let latency = read.at.since(read.since);
        let fastest = self.reads.last().map(SlowRead::latency);
        if self.reads.len() < self.most || fastest.is_some_and(|fastest| latency > fastest) {
            self.insert(read, latency);
        }
    }

    #[inline(never)]
    fn insert(&mut self, read: &Completed<'_>, latency: Ns) {
        let Some(course) = read.course else {
            return;
        };
        let mut slow = SlowRead {
            number: course.number,
            command: *read.command,
            job: read.queue,
            since: read.since,
            at: read.at,
            status: read.status,
            page: read.page,
            ns_by_cause: *read.ns_by_cause,
            parts: course.parts.clone(),
            reads: course.reads.clone(),
            window_start: Ns(read.since.0.saturating_sub(self.window.0)),
            window_end: read.at.saturating_add(self.window),
            whole_from: None,
        };
        slow.lose(self.lost_until);
        let place = self.reads.partition_point(|r| r.latency() >= latency);
        self.reads.insert(place, slow);
        self.reads.truncate(self.most);
    }

    /// Parts of the drive have done `spans`.
    pub fn spans(&mut self, spans: &[Span]) {
        self.spans.extend_from_slice(spans);
        if self.spans.len() >= self.most_spans {
            self.forget();
        }
    }

    /// Keeps the last half of the spans, and of the others those in a window, a quarter at most.
    #[cold]
    fn forget(&mut self) {
        let recent = self.spans.len().saturating_sub(self.most_spans / 2);
        let windows = windows(&self.reads);
        let is_in = |span: &Span| overlaps(&windows, span);
        let kept = self.spans[..recent]
            .iter()
            .filter(|span| is_in(span))
            .count();
        let mut too_many = kept.saturating_sub(self.most_spans / 4);
        let (mut lost_until, mut cut_until) = (self.lost_until, Ns::ZERO);
        let mut i = 0;
        self.spans.retain(|span| {
            i += 1;
            let mut keeps = i > recent;
            if !keeps && is_in(span) {
                keeps = too_many == 0;
                if !keeps {
                    too_many -= 1;
                    cut_until = cut_until.max(span.end);
                }
            }
            if !keeps {
                lost_until = lost_until.max(span.end);
            }
            keeps
        });
        self.lost_until = lost_until;
        for read in &mut self.reads {
            read.lose(cut_until);
        }
    }

    /// The slowest reads, and what the parts of the drive did in their windows, by start.
    pub fn finish(mut self) -> (Vec<SlowRead>, Vec<Span>) {
        let windows = windows(&self.reads);
        self.spans.retain(|span| overlaps(&windows, span));
        self.spans.sort_by_key(|span| (span.start, span.end));
        (self.reads, self.spans)
    }
}

/// The windows of `reads`, in order and apart from each other.
fn windows(reads: &[SlowRead]) -> Vec<(Ns, Ns)> {
    let all = reads
        .iter()
        .map(|read| (read.window_start, read.window_end));
    let mut all: Vec<(Ns, Ns)> = all.collect();
    all.sort_unstable();
    let mut apart: Vec<(Ns, Ns)> = Vec::with_capacity(all.len());
    for (start, end) in all {
        match apart.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => apart.push((start, end)),
        }
    }
    apart
}

/// Whether `span` lies in one of `windows`, at least in part.
fn overlaps(windows: &[(Ns, Ns)], span: &Span) -> bool {
    let first = windows.partition_point(|(_, end)| *end <= span.start);
    windows
        .get(first)
        .is_some_and(|(start, _)| *start < span.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::charge::CAUSES;
    use crate::hardware::spans::{Activity, Course, Owner, RequestOnLink, Track};
    use firstread_core::{CommandId, HostOp, Stream};

    fn span(start: u64, end: u64) -> Span {
        Span {
            track: Track::LinkOut,
            start: Ns(start),
            end: Ns(end),
            activity: Activity::Transfer,
            owner: Owner::Request(RequestOnLink {
                number: 1,
                op: HostOp::Read,
                offset_bytes: 0,
                bytes: 4096,
            }),
            has_ended: true,
        }
    }

    fn complete(slow: &mut SlowReads, number: u64, since: u64, at: u64) {
        let course = Course {
            number,
            ..Course::default()
        };
        slow.completed(&Completed {
            command: &HostCommand {
                id: CommandId(0),
                op: HostOp::Read,
                client: 0,
                offset_bytes: 0,
                len_bytes: 4096,
                fua: false,
                placement: 0,
            },
            queue: 0,
            since: Ns(since),
            at: Ns(at),
            status: Status::Ok,
            ns_by_cause: &[0; CAUSES],
            page: None,
            course: Some(&course),
        });
    }

    /// Against a run of which everything is kept: the same reads, and each has all spans of its window from the time on
    /// that it says.
    #[test]
    fn model_the_slowest_reads_have_all_that_went_on_around_them() {
        let mut cut = 0;
        for seed in 0..60 {
            let s = Stream::new(seed).named("slow reads");
            let most = 1 + s.at(0).below(6) as usize;
            let window = Ns(1 + s.at(1).below(60));
            let longest = [20, 200, 3_000][s.at(2).below(3) as usize];
            let (mut slow, mut all, mut reads) = (
                SlowReads::of_spans(most, window, 64),
                Vec::new(),
                Vec::new(),
            );
            let mut now = 1_000;
            for i in 0..3_000 {
                let draw = s.at(10 + i);
                now += draw.at(0).below(4);
                let start = now - draw.at(1).below(40);
                let spans: Vec<Span> = (0..draw.at(2).below(4))
                    .map(|_| span(start, now))
                    .filter(|span| span.end > span.start)
                    .collect();
                slow.spans(&spans);
                assert!(slow.spans.len() < 64 + 4, "seed {seed}");
                all.extend(spans);
                if draw.at(3).below(3) == 0 {
                    let since = now.saturating_sub(draw.at(4).below(longest));
                    complete(&mut slow, i, since, now);
                    reads.push((now - since, std::cmp::Reverse(i)));
                }
            }
            reads.sort_unstable();
            let expected: Vec<u64> = reads.iter().rev().take(most).map(|r| r.1.0).collect();
            let (found, spans) = slow.finish();
            let numbers: Vec<u64> = found.iter().map(|read| read.number).collect();
            assert_eq!(numbers, expected, "seed {seed}");
            for read in &found {
                let from = read.whole_from.unwrap_or(read.window_start);
                cut += usize::from(read.whole_from.is_some());
                let is_in = |s: &&Span| s.end > from && s.start < read.window_end;
                let mut of_all: Vec<Span> = all.iter().filter(is_in).copied().collect();
                of_all.sort_by_key(|span| (span.start, span.end));
                let kept: Vec<Span> = spans.iter().filter(is_in).copied().collect();
                assert_eq!(kept, of_all, "seed {seed}, read {}", read.number);
            }
        }
        assert!(cut > 20, "{cut} windows were cut");
    }
}
