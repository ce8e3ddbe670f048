//! What is recorded of the parts of a drive and of the time of its reads, for the timeline of the slowest ones.

use std::collections::{BTreeMap, BTreeSet};

use firstread_core::{HostOp, Ns, Status};
use firstread_drive::spans::{Activity, Span, Track};
use firstread_drive::stats::slow_reads::{SlowRead, SlowReads};
use firstread_drive::{Cause, Drive, DriveState, Host, Observed, Observer, Precondition, RunStats};
use firstread_testkit::{FOUR_DIES, SMALL_BLOCKS, aged, profile, voltages};
use firstread_workload::fio;

/// Keeps all that is recorded.
#[derive(Default)]
pub(super) struct All {
    spans: Vec<Span>,
    reads: Vec<SlowRead>,
    slowest: Option<SlowReads>,
}

impl All {
    /// No part does two things at a time, and the parts of each read are its latency.
    pub(super) fn check(&self, what: &str) {
        never_overlap(&self.spans, what);
        add_up(&self.reads, what);
        are_operations(&self.reads, &self.spans, what);
    }
}

impl Observer for All {
    fn completed(&mut self, request: &Observed<'_>) -> bool {
        let completed = request.completed;
        if completed.command.op == HostOp::Read {
            let mut one = SlowReads::new(1, Ns(1));
            one.completed(completed);
            self.reads.extend(one.finish().0);
            if let Some(slowest) = &mut self.slowest {
                slowest.completed(completed);
            }
        } else {
            assert!(
                completed
                    .course
                    .is_some_and(|course| course.parts.is_empty())
            );
        }
        true
    }

    fn spans(&mut self, spans: &[Span]) {
        self.spans.extend_from_slice(spans);
        if let Some(slowest) = &mut self.slowest {
            slowest.spans(spans);
        }
    }
}

/// A drive, its load, and what has to be met with it.
struct Case {
    drive: &'static str,
    base: &'static [&'static str],
    set: &'static [&'static str],
    state: DriveState,
    job: &'static str,
    meets: &'static [Activity],
}

const MIXED: &str = "[a]\nrw=randrw\nrwmixread=80\nbs=4k,16k\niodepth=16\nnorandommap\n";
const READS: &str = "[a]\nrw=randread\nbs=4k\niodepth=8\nnorandommap\n";
const OVERWRITES: &str = "[a]\nrw=randrw\nrwmixread=50\nbs=16k\niodepth=32\nnorandommap\n";

fn cases() -> Vec<Case> {
    let of = |drive, set, state, job, meets| Case {
        drive,
        base: match drive {
            "dc-qlc-15t" => FOUR_DIES,
            _ => &[],
        },
        set,
        state,
        job,
        meets,
    };
    let worn = || aged(28, 2500);
    vec![
        of(
            "dc-qlc-15t",
            &["schemes.suspend=program-erase"],
            worn(),
            MIXED,
            &[Activity::Suspended, Activity::Suspending, Activity::DataIn],
        ),
        of(
            "dc-qlc-15t",
            &["schemes.suspend=program-erase", "schemes.retry=pipelined"],
            worn(),
            MIXED,
            &[Activity::Turn, Activity::Reset],
        ),
        of(
            "dc-qlc-15t",
            &[
                "schemes.retry=pipelined-adaptive",
                "schemes.read_levels=factory",
            ],
            worn(),
            READS,
            &[Activity::Turn, Activity::WaitsForChannel],
        ),
        of(
            "dc-qlc-15t",
            &["ecc.code=ldpc-1k", "ecc.streams=true"],
            worn(),
            MIXED,
            &[Activity::Decode],
        ),
        of("ct-qlc", &[], worn(), MIXED, &[Activity::Decode]),
        Case {
            base: SMALL_BLOCKS,
            ..of(
                "dc-qlc-15t",
                &["schemes.suspend=program-erase"],
                DriveState {
                    precondition: Precondition::Random,
                    ..aged(28, 300)
                },
                OVERWRITES,
                &[Activity::Erase, Activity::Program],
            )
        },
        of(
            "dc-qlc-15t",
            &[
                "schemes.retry=pipelined",
                "channel.rate=100 MT/s",
                "schemes.read_levels=factory",
            ],
            aged(1_000, 2_500),
            "[a]\nrw=randread\nbs=64k\niodepth=16\nnorandommap\n",
            &[Activity::Holds],
        ),
    ]
}

fn run(case: &Case, seed: u64, limit: u64, observer: &mut All) -> (Drive, RunStats) {
    let set: Vec<&str> = case.base.iter().chain(case.set).copied().collect();
    let profile = profile(case.drive, &set);
    let tables = voltages(&profile);
    let mut drive = Drive::new(profile, tables, &case.state, seed).unwrap();
    drive.record();
    let stats = watched(&mut drive, case.job, seed, limit, observer);
    (drive, stats)
}

fn watched(drive: &mut Drive, job: &str, seed: u64, limit: u64, observer: &mut All) -> RunStats {
    let workload = fio::parse("test.fio", job).unwrap();
    let host = Host::jobs(&workload, drive.capacity_bytes(), seed, Some(limit)).unwrap();
    host.run_watched(drive, &mut |_| {}, observer).unwrap()
}

/// What one part of the drive did, by the planes of a die apart.
fn by_part(spans: &[Span]) -> BTreeMap<Track, Vec<&Span>> {
    let mut parts: BTreeMap<Track, Vec<&Span>> = BTreeMap::new();
    for span in spans {
        match span.track {
            Track::Array(die, planes) => {
                for plane in (0..8).filter(|plane| planes >> plane & 1 != 0) {
                    parts
                        .entry(Track::Array(die, 1 << plane))
                        .or_default()
                        .push(span);
                }
            }
            other => parts.entry(other).or_default().push(span),
        }
    }
    for spans in parts.values_mut() {
        spans.sort_by_key(|span| (span.start, span.end));
    }
    parts
}

/// No part of the drive does two things at a time.
fn never_overlap(spans: &[Span], what: &str) {
    for (part, spans) in by_part(spans) {
        for pair in spans.windows(2) {
            assert!(
                pair[0].end <= pair[1].start,
                "{what}: {part:?} does two things at a time: {pair:#?}"
            );
        }
    }
}

/// The parts of each read are its latency, without a gap. Returns how many reads have another sum by cause than they are
/// charged.
fn add_up(reads: &[SlowRead], what: &str) -> usize {
    let mut others = 0;
    for read in reads {
        let mut until = read.since;
        let mut by_cause = [0; firstread_drive::CAUSES];
        for part in &read.parts {
            assert_eq!(part.start, until, "{what}: a gap: {read:#?}");
            assert!(part.end > part.start, "{what}: {read:#?}");
            by_cause[part.cause as usize] += part.end.since(part.start).0;
            until = part.end;
        }
        assert_eq!(until, read.at, "{what}: {read:#?}");
        others += usize::from(by_cause != read.ns_by_cause);
    }
    others
}

/// Each part of a read in which the flash works for it is a part of what a part of the drive did for one of its operations.
fn are_operations(reads: &[SlowRead], spans: &[Span], what: &str) {
    let mut by_read: BTreeMap<u64, Vec<&Span>> = BTreeMap::new();
    for span in spans {
        if let Some(operation) = span.operation() {
            by_read.entry(operation.read).or_default().push(span);
        }
    }
    for read in reads.iter().filter(|read| read.status == Status::Ok) {
        let own = read.reads.iter().filter_map(|number| by_read.get(number));
        let own: Vec<&&Span> = own.flatten().collect();
        for part in &read.parts {
            let activity = match part.phase {
                Cause::Sense => Activity::Sense,
                Cause::Decode => Activity::Decode,
                _ => continue,
            };
            let covers = |span: &&&&Span| {
                span.activity == activity && span.start <= part.end && span.end >= part.start
            };
            let found = own.iter().find(covers);
            // A wait for the decoder is charged to it.
            assert!(
                found.is_some() || part.phase == Cause::Decode,
                "{what}: no operation for {part:?} of {read:#?}"
            );
        }
    }
}

/// Many drives and seeds: suspended programs, retries one after another and pipelined, cleaning, multi-plane pages.
#[test]
fn model_each_part_does_one_thing_at_a_time_and_parts_of_reads_add_up() {
    let mut met = BTreeSet::new();
    for case in cases() {
        for seed in 1..=3 {
            let what = format!("{} {:?}, seed {seed}", case.drive, case.set);
            let mut all = All::default();
            let (drive, stats) = run(&case, seed, 2_000, &mut all);
            never_overlap(&all.spans, &what);
            let others = add_up(&all.reads, &what);
            are_operations(&all.reads, &all.spans, &what);
            let joined = drive.counters().joined_reads;
            println!(
                "{what}: {} spans, {} reads, {joined} joined, {others} with other causes, {} suspends",
                all.spans.len(),
                all.reads.len(),
                drive.counters().suspends
            );
            assert!(
                others as u64 <= joined,
                "{what}: {others} reads have other causes than they are charged"
            );
            assert_eq!(all.reads.len() as u64, stats.all.read.count(), "{what}");
            let done: Vec<&str> = all.spans.iter().map(|span| span.activity.name()).collect();
            for activity in case.meets {
                assert!(done.contains(&activity.name()), "{what}: no {activity:?}");
            }
            met.extend(done);
        }
    }
    assert!(met.len() >= 14, "{met:?}");
}
