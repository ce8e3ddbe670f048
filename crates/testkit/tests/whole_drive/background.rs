//! Background reads that give way: what host reads lose to them, several in flight, and what a power cut leaves of them.

use std::collections::BTreeMap;

use firstread_core::{FlashEvent, FlashKind, HostOp, Ns, OpClass, Stream};
use firstread_drive::port_log::{PortCall, PortCallKind};
use firstread_drive::{CutAt, Drive, DriveState};
use firstread_testkit::{FOUR_DIES, Scripted, aged, drive, play, play_until, profile, try_run};

/// Planes that read independently.
const APART: &str = "chip.timing.independent_plane_reads=true";
const EIGHT_DIES: &str = "geometry.dies_per_chip=4";

/// A drive whose background reads are `reads` a minute.
fn with(reads: u32, set: &[&str], state: &DriveState) -> Drive {
    let reads = format!("read_levels.background_reads={reads}");
    let own = [
        "schemes.read_levels=block-calibration",
        "read_levels.interval=1min",
        &reads,
    ];
    let set: Vec<&str> = FOUR_DIES.iter().chain(&own).chain(set).copied().collect();
    drive(profile("dc-qlc-15t", &set), state, 1)
}

/// `n` reads of one to four planes at random times, `mean_us` apart.
fn random_reads(n: u64, mean_us: u64, seed: u64) -> Vec<Scripted> {
    let s = Stream::new(seed).named("reads");
    let mut at = 0;
    let read = |i| {
        let draw = s.at(i);
        at += draw.at(0).below(2 * mean_us + 1);
        let bytes = [4 << 10, 16 << 10, 64 << 10][draw.at(1).below(3) as usize];
        let offset = draw.at(2).below((16 << 30) / u64::from(bytes)) * u64::from(bytes);
        (at, HostOp::Read, offset, bytes)
    };
    (0..n).map(read).collect()
}

/// How long the firmware took for each host command, in the order in which they came (ns).
fn latencies(calls: &[PortCall]) -> Vec<u64> {
    let (mut all, mut open) = (Vec::new(), BTreeMap::new());
    for call in calls {
        match call.what {
            PortCallKind::Submitted(command) => {
                open.insert(command.id.0, (all.len(), call.at));
                all.push(0);
            }
            PortCallKind::Completed(command, _) => {
                let (i, since) = open.remove(&command.id.0).expect("a command under way");
                all[i] = call.at.since(since).0;
            }
            _ => {}
        }
    }
    all
}

/// Background reads issued, and those that were ended.
fn background(calls: &[PortCall]) -> (usize, usize) {
    let count = |is: &dyn Fn(&PortCallKind) -> bool| calls.iter().filter(|c| is(&c.what)).count();
    let issued = count(&|what| match what {
        PortCallKind::Issued(op) => {
            op.class == OpClass::Calibration && matches!(op.kind, FlashKind::Read { .. })
        }
        _ => false,
    });
    let ended = count(&|what| matches!(what, PortCallKind::Event(FlashEvent::Aborted { .. })));
    (issued, ended)
}

/// The most background reads that were in flight at once. No two of them were on one channel.
fn most_at_once(calls: &[PortCall]) -> usize {
    let (mut on, mut most) = (BTreeMap::new(), 0);
    for call in calls {
        match call.what {
            PortCallKind::Issued(op)
                if op.class == OpClass::Calibration
                    && matches!(op.kind, FlashKind::Read { .. }) =>
            {
                let channel = op.die.0 % 2;
                let same = on.values().find(|other| **other == channel);
                assert_eq!(same, None, "two on channel {channel} at {:?}", call.at);
                on.insert(op.tag, channel);
                most = most.max(on.len());
            }
            PortCallKind::Event(FlashEvent::Aborted { tag } | FlashEvent::Decoded { tag, .. }) => {
                on.remove(&tag);
            }
            _ => {}
        }
    }
    most
}

/// The shortest sense of the drive, the longest, and the transfer of a page (ns).
struct Times {
    shortest_sense: u64,
    longest_sense: u64,
    transfer: u64,
}

impl Times {
    fn of(drive: &Drive) -> Times {
        let p = drive.profile();
        let mode = p.chip.mode(p.mode).expect("the mode of the drive");
        let valley = mode.sense.pre_ns + mode.sense.eval_ns + mode.sense.disch_ns;
        let sense = |valleys: usize| mode.setup_ns + valleys as u64 * valley;
        let valleys = || mode.pages.iter().map(Vec::len);
        Times {
            shortest_sense: sense(valleys().min().expect("a page type")),
            longest_sense: sense(valleys().max().expect("a page type")),
            transfer: p.channel.transfer_ns(4 * 4_608),
        }
    }
}

/// Reads at random times, with background reads and without, on cells that never err. No read waits for longer than one sense
/// for a die with a background read, whatever the load, the dies, the planes and the number of background reads. As long as
/// host reads seldom wait for each other, none takes longer by more than a sense either; where they queue, one that is late
/// by a few microseconds may find others before it.
#[test]
fn model_no_host_read_is_delayed_by_more_than_a_sense() {
    let loads = [(1_000, "idle"), (150, "a third"), (60, "busy")];
    let suspends = "schemes.suspend=program-erase";
    let sets: [&[&str]; 4] = [&[], &[APART], &[EIGHT_DIES, suspends], &[EIGHT_DIES, APART]];
    for set in sets {
        for (mean_us, load) in loads {
            for reads in [30_000, 10_000_000] {
                let set: Vec<&str> = set.iter().copied().chain(["cells=ideal"]).collect();
                let script = random_reads(4_000, mean_us, 7);
                let run = |reads| {
                    let mut drive = with(reads, &set, &aged(0, 300));
                    drive.log_ports();
                    let stats = play(&mut drive, &script).unwrap();
                    let waits = stats.all.read.behind_background;
                    let calls = drive.port_calls();
                    let most = most_at_once(calls);
                    assert!(most <= 2 && (reads < 10_000_000 || most == 2), "{most}");
                    let told = (latencies(calls), background(calls));
                    (told, waits, Times::of(&drive))
                };
                let ((without, none), ..) = run(0);
                let ((with, (issued, ended)), waits, times) = run(reads);
                assert_eq!((none, without.len(), with.len()), ((0, 0), 4_000, 4_000));
                let later = || with.iter().zip(&without).map(|(a, b)| a.saturating_sub(*b));
                let (longest, sum) = (later().max().unwrap(), later().sum::<u64>());
                let case = format!("{set:?}, {load}, {reads} a minute");
                println!(
                    "{case}: {issued} background reads, {ended} ended; {waits:?}; longest {longest} ns later of {} ns, \
                     mean {} ns",
                    times.shortest_sense,
                    sum / 4_000
                );
                assert!(issued > 100 && ended > 10, "{case}: {issued} {ended}");
                assert!(
                    waits.longest_ns <= times.shortest_sense,
                    "{case}: {waits:?}"
                );
                // A reset is told at once, or when the data that cross the channel have crossed: at most four pages.
                let reset = 6_000 + 4 * times.transfer;
                assert!(waits.longest_ns <= reset, "{case}: {waits:?} of {reset}");
                if load != "busy" {
                    assert!(longest <= times.shortest_sense, "{case}: {longest}");
                }
            }
        }
    }
}

/// Where host reads keep every die busy without end, calibration goes on in turns: a read waits for one sense and its
/// transfer, and each die gives a turn in fifty times `max_wait` at most.
#[test]
fn model_a_die_without_a_pause_gives_a_turn_now_and_then() {
    let job = "[j]\nrw=randread\nbs=16k\niodepth=64\nnorandommap\nnumber_ios=20000\n";
    let set = ["cells=ideal", "firmware.max_wait=1ms"];
    let mut drive = with(60_000, &set, &aged(0, 300));
    drive.log_ports();
    let stats = try_run(&mut drive, job, 1, None).unwrap();
    let waits = stats.all.read.behind_background;
    let (issued, ended) = background(drive.port_calls());
    let times = Times::of(&drive);
    println!(
        "{issued} background reads, {ended} ended, in {:?}; {waits:?}",
        stats.simulated
    );
    let max_wait = drive.profile().firmware.max_wait_ns;
    // A read that has waited so long takes a turn, and nobody ends it.
    let (mut in_turn, mut turns) = (BTreeMap::new(), 0);
    for call in drive.port_calls() {
        match call.what {
            PortCallKind::Issued(op)
                if op.class == OpClass::Calibration
                    && matches!(op.kind, FlashKind::Read { .. }) =>
            {
                let takes_turn = call.at.since(op.queued).0 >= 50 * max_wait;
                in_turn.insert(op.tag, takes_turn);
                turns += u64::from(takes_turn);
            }
            PortCallKind::Event(FlashEvent::Aborted { tag }) => {
                assert!(!in_turn[&tag], "at {:?}", call.at);
            }
            _ => {}
        }
    }
    let most = 4 * (stats.simulated.0 / (50 * max_wait) + 1);
    assert!((10..=most).contains(&turns), "{turns} of {most}");
    assert!(waits.longest_ns > times.shortest_sense, "{waits:?}");
    // The data of the turn may wait for those of one other die.
    let most = times.longest_sense + 2 * times.transfer + 1_000;
    assert!(waits.longest_ns <= most, "{waits:?}, {most}");
}

/// The page, levels and planes that a background read is of.
fn probe(call: &PortCall) -> Option<String> {
    match call.what {
        PortCallKind::Issued(op) if op.class == OpClass::Calibration => match op.kind {
            FlashKind::Read {
                block,
                wordline,
                page,
                wanted,
                levels,
                ..
            } => Some(format!(
                "die {} {block:?} {wordline} {page:?} {wanted:x} {levels:?}",
                op.die.0
            )),
            _ => None,
        },
        _ => None,
    }
}

/// Power is cut while a background read is in flight on each channel: both are made again, and calibration goes on.
#[test]
fn powerloss_all_background_reads_in_flight_are_repeated() {
    let script = [(200_000, HostOp::Read, 0, 4096)];
    let mut uncut = with(10_000_000, &[], &aged(0, 300));
    let start = uncut.now();
    uncut.log_ports();
    play(&mut uncut, &script).unwrap();
    let calls = uncut.port_calls().iter();
    let issued: Vec<_> = calls.filter_map(|c| Some((c.at, probe(c)?))).collect();
    let is_close = |pair: &&[(Ns, String)]| pair[1].0.since(pair[0].0) < Ns(20_000);
    let pairs: Vec<_> = issued.windows(2).filter(is_close).collect();
    for pair in [pairs[0], pairs[pairs.len() / 2]] {
        let mut drive = with(10_000_000, &[], &aged(0, 300));
        drive.log_ports();
        let cut = CutAt::Time(Ns(pair[1].0.since(start).0 + 5_000));
        let cut = play_until(&mut drive, &script, cut).unwrap().power_cut;
        let cut = cut.unwrap();
        assert!(cut.work.probing, "{cut:?}");
        let later = drive.port_calls().iter().filter(|c| c.at > cut.at);
        let mut again: Vec<_> = later.filter_map(probe).collect();
        assert!(again.len() > 100, "calibration goes on: {}", again.len());
        again.truncate(2);
        let mut both: Vec<_> = pair.iter().map(|(_, what)| what.clone()).collect();
        again.sort();
        both.sort();
        assert_eq!(again, both);
    }
}
