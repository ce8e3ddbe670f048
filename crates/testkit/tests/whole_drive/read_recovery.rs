//! What is left for a read whose steps have all failed: which commands pass, when, what they save.

use firstread_core::{
    FlashEvent, FlashKind, FlashOp, HostOp, Levels, OpClass, PageType, SenseMode,
};
use firstread_drive::port_log::{PortCall, PortCallKind};
use firstread_drive::profile::{Library, Override, load_drive};
use firstread_drive::{Cause, RunStats};
use firstread_firmware::policy::AXES;
use firstread_testkit::{FOUR_DIES, aged, digest_of, try_run};
use insta::assert_snapshot;

use crate::scenario::{ROW, Scenario, WORDLINE, decoded, reads};

const SOFT: &str = "schemes.read_recovery=soft";
const THREE: &[&str] = &[SOFT, "read_recovery.senses=three"];

/// Four dies with a soft decoder whose cells are worn out: the levels of the very page are one step
/// that often fails. Soft senses come last unless `read_recovery` says otherwise.
fn worn(recovery: &[&str]) -> Scenario {
    on_levels("optimal", recovery, 1_000, 5_000)
}

fn on_levels(levels: &str, recovery: &[&str], age_h: u64, pe_cycles: u32) -> Scenario {
    let levels = format!("schemes.read_levels={levels}");
    let set = [
        "ecc.code=ldpc-1k",
        "chip.failures.grown_bad=0 %",
        "capacity=16 GiB",
        "read_recovery.soft.after=0",
        "read_recovery.soft-parity.after=0",
        &levels,
    ];
    let set: Vec<&str> = set.iter().chain(recovery).copied().collect();
    Scenario::new(&set, &aged(age_h, pe_cycles))
}

/// Levels of a read.
fn levels(op: &FlashOp) -> Levels {
    match op.kind {
        FlashKind::Read { levels, .. } => levels,
        _ => unreachable!("only reads are asked for"),
    }
}

/// Modes of the senses of a read, in order.
fn modes(port_calls: &[PortCall]) -> Vec<SenseMode> {
    let mode = |op: &FlashOp| match op.kind {
        FlashKind::Read { mode, .. } => mode,
        _ => unreachable!("only reads are asked for"),
    };
    reads(port_calls).iter().map(|(_, op)| mode(op)).collect()
}

fn random(scenario: &mut Scenario, depth: u32) -> RunStats {
    let job = format!("[j]\nrw=randread\nbs=4k\niodepth={depth}\nnorandommap\nnumber_ios=3000\n");
    try_run(&mut scenario.drive, &job, 1, None).unwrap()
}

/// What passes from the last hard sense of a read on that takes the soft ones `soft` and succeeds:
/// its row of all, and the crossings.
fn from_the_last_hard_sense(scenario: &mut Scenario, soft: &[SenseMode]) -> (u64, Vec<PortCall>) {
    let (row, mut port_calls) = scenario.find(1 << 10, |c| {
        let after = modes(c).into_iter().skip_while(|m| *m == SenseMode::Hard);
        after.eq(soft.iter().copied()) && decoded(c).last().unwrap().1 == 0
    });
    let last = reads(&port_calls)[modes(&port_calls).len() - 1 - soft.len()].0;
    port_calls.retain(|c| c.at >= last && !matches!(c.what, PortCallKind::Submitted(_)));
    let of_before = |c: &PortCall| matches!(c.what, PortCallKind::Event(_)) && c.at == last;
    port_calls.retain(|c| !of_before(c));
    (row, port_calls)
}

#[test]
fn sequence_three_senses_then_five() {
    let mut scenario = on_levels("optimal", &[SOFT], 1_000, 7_000);
    let soft = [SenseMode::Soft3, SenseMode::Soft5];
    let (row, port_calls) = from_the_last_hard_sense(&mut scenario, &soft);
    let text = scenario.text(&port_calls);
    let text = text.replace(&format!("b{} w{} ", row / 1408, row % 1408), "");
    assert_snapshot!(text.replace(&format!(" {row}M+1K"), ""), @r"
          0  issue     HostRetry tag 0 die 0 waited 0 LSB cw 0001 levels of Page
     113420  event     die 0 free of tag 0
     118530  event     failed tag 0: cw 0001
     118530  issue     ReadRecovery tag 0 die 0 waited 0 LSB cw 0001 three senses around levels of Page
     457670  event     die 0 free of tag 0
     462780  event     failed tag 0: cw 0001
     462780  issue     ReadRecovery tag 0 die 0 waited 0 LSB cw 0001 five senses around levels of Page
    1027640  event     die 0 free of tag 0
    1028575  event     decoded tag 0
    1028575  complete  #0 Read Ok
    ");
}

/// Each sense and each transfer takes what it takes: three times the levels, twice the bytes.
#[test]
fn formula_soft_senses_occupy_die_and_channel() {
    let mut scenario = on_levels("optimal", &[SOFT], 1_000, 7_000);
    let soft = [SenseMode::Soft3, SenseMode::Soft5];
    let (_, port_calls) = from_the_last_hard_sense(&mut scenario, &soft);
    let p = scenario.drive.profile();
    let page = scenario.sense_ns(PageType(0));
    let free = port_calls.iter().filter_map(|c| match c.what {
        PortCallKind::Event(FlashEvent::ArrayFree { .. }) => Some(c.at),
        _ => None,
    });
    let issued = reads(&port_calls);
    let spans: Vec<u64> = free
        .zip(issued)
        .map(|(free, (at, _))| free.since(at).0)
        .collect();
    let expected = [(1, 1), (3, 2), (5, 3)].map(|(senses, pages)| {
        p.channel.command_ns + senses * page + p.channel.transfer_ns(1152 * pages)
    });
    assert_eq!(spans, expected);
}

#[test]
fn time_of_soft_senses_is_charged_to_read_recovery() {
    let mut scenario = worn(THREE);
    let (row, port_calls) = from_the_last_hard_sense(&mut scenario, &[SenseMode::Soft3]);
    let classes = reads(&port_calls).into_iter().map(|(_, op)| op.class);
    assert!(classes.eq([OpClass::HostRetry, OpClass::ReadRecovery]));
    let ends = decoded(&port_calls);
    let spent = ends[1].0.since(ends[0].0).0 as f64;
    // Persistent errors: the same read takes the same steps again, give or take an iteration.
    let stats = scenario.stats(&[(0, HostOp::Read, row * WORDLINE, 1 << 10)]);
    assert_eq!(stats.counters.soft_saved, 1);
    let read = &stats.all.read;
    let share = read.tail.slowest(1e-9).unwrap().share[Cause::ReadRecovery as usize];
    let charged = share * read.max_ns() as f64;
    assert!(
        (charged / spent - 1.0).abs() < 0.05,
        "{charged} ns of {spent}"
    );
}

/// A soft decoder saves most of what hard steps leave, five senses more than three; what hard steps
/// read is read as without.
#[test]
fn model_more_senses_save_more() {
    let run = |recovery: &[&str]| {
        let mut scenario = worn(recovery);
        let stats = random(&mut scenario, 1);
        let hard: u64 = stats.counters.retries[..8].iter().sum();
        println!(
            "{recovery:?}: {hard} by hard senses, {} soft senses, {} saved, {} uncorrectable",
            stats.counters.soft_reads, stats.counters.soft_saved, stats.counters.uncorrectable
        );
        (hard, stats)
    };
    let (plain, none) = run(&[]);
    let (three_hard, three) = run(THREE);
    let (both_hard, both) = run(&[SOFT]);
    let lost = none.counters.uncorrectable;
    assert!(lost > 300, "only {lost} reads fail");
    assert_eq!(none.counters.soft_reads, 0);
    for (hard, stats) in [(three_hard, &three), (both_hard, &both)] {
        // The noise of a sense is another one once senses are numbered differently.
        assert!(
            hard.abs_diff(plain) < 60,
            "{hard} by hard senses, without {plain}"
        );
        let c = &stats.counters;
        assert_eq!(c.uncorrectable + c.soft_saved, 3000 - hard);
    }
    assert_eq!(three.counters.soft_reads, 3000 - three_hard);
    assert!(three.counters.uncorrectable < lost / 2);
    assert!(both.counters.uncorrectable < three.counters.uncorrectable);
}

/// The centre of the soft senses is where the fewest checks are unsatisfied: on a walk of fixed levels
/// it saves nearly as much as around the levels of the very page.
#[test]
fn model_the_nearest_levels_are_found_by_their_checks() {
    let run = |levels: &str, recovery: &[&str]| {
        let mut scenario = on_levels(levels, recovery, 300, 6_000);
        let stats = random(&mut scenario, 4);
        let c = stats.counters;
        println!(
            "{levels} {recovery:?}: {} soft senses, {} saved, {} uncorrectable",
            c.soft_reads, c.soft_saved, c.uncorrectable
        );
        c
    };
    let (walk, soft) = (run("factory", &[]), run("factory", &[SOFT]));
    assert!(
        walk.uncorrectable > 100,
        "the table's levels do not suffice"
    );
    assert!(soft.uncorrectable * 10 < walk.uncorrectable);
    // Most need no more than three senses.
    assert!(soft.soft_reads < soft.soft_saved * 3 / 2);
}

/// Soft senses come when so many hard steps came no nearer, around the nearest of them; where they fail too, the
/// hard steps go on.
#[test]
fn sequence_soft_senses_come_before_the_table_ends() {
    const EARLY: &[&str] = &[SOFT, "read_recovery.soft.after=3"];
    let (hard, soft3, soft5) = (SenseMode::Hard, SenseMode::Soft3, SenseMode::Soft5);
    let mut scenario = on_levels("factory", EARLY, 300, 6_000);
    let len = scenario.table_len();
    // Saved by the first soft sense: all hard steps before it, the last three no nearer than the one before.
    let (_, port_calls) = scenario.find(1 << 10, |c| modes(c).last() == Some(&soft3));
    let ops = reads(&port_calls);
    let (last, walk) = ops.split_last().unwrap();
    assert!(walk.len() < len, "{} steps of {len}", walk.len());
    assert!(modes(&port_calls)[..walk.len()].iter().all(|m| *m == hard));
    assert_eq!(levels(&last.1), levels(&walk[walk.len() - 4].1));
    // Saved by none: both soft senses, the rest of the table, and nothing twice.
    let mut scenario = on_levels("factory", EARLY, 1_000, 9_000);
    let (_, port_calls) = scenario.find(1 << 10, |c| decoded(c).last().unwrap().1 != 0);
    let modes = modes(&port_calls);
    let count = |mode: SenseMode| modes.iter().filter(|m| **m == mode).count();
    assert_eq!(count(hard), len, "{modes:?}");
    assert_eq!(count(soft3), count(soft5), "{modes:?}");
    let first = modes.iter().position(|m| *m == soft3).unwrap();
    assert_eq!(modes[first..first + 3], [soft3, soft5, hard], "{modes:?}");
}

/// The same with steps sensed ahead: the one that is not needed is ended.
#[test]
fn sequence_a_step_ahead_of_soft_senses_is_ended() {
    let early = [
        SOFT,
        "read_recovery.soft.after=3",
        "schemes.retry=pipelined",
    ];
    let mut scenario = on_levels("factory", &early, 300, 6_000);
    let soft = |c: &[PortCall]| modes(c).last() == Some(&SenseMode::Soft3);
    let (_, port_calls) = scenario.find(1 << 10, soft);
    let cancelled = |c: &&PortCall| match c.what {
        PortCallKind::Issued(op) => matches!(op.kind, FlashKind::Cancel { .. }),
        _ => false,
    };
    assert_eq!(
        port_calls.iter().filter(cancelled).count(),
        1,
        "{}",
        scenario.text(&port_calls)
    );
    assert_eq!(decoded(&port_calls).last().unwrap().1, 0);
}

/// Soft senses that come early make the tail of worn cells shorter, and lose no read more.
#[test]
fn model_early_soft_senses_shorten_the_tail() {
    let run = |after: &str| {
        let mut scenario = on_levels("ct-qlc", &[SOFT, after], 28, 3_800);
        let stats = random(&mut scenario, 4);
        let read = &stats.all.read;
        let mean = read.mean_ns() / 1e3;
        let tail = read.percentile(99.5).ns as f64 / 1e3;
        println!(
            "{after}: mean {mean:.0} us, P99.5 {tail:.0} us, max {} us, {} uncorrectable, {} saved",
            read.max_ns() / 1000,
            stats.counters.uncorrectable,
            stats.counters.soft_saved
        );
        (mean, tail, stats.counters)
    };
    let (last, early) = (
        run("read_recovery.soft.after=0"),
        run("read_recovery.soft.after=3"),
    );
    assert!(last.2.soft_saved > 10);
    assert!(early.2.uncorrectable <= last.2.uncorrectable);
    assert!(early.1 < 0.5 * last.1 && early.0 < last.0);
}

/// Where steps of levels suffice, it is as if soft senses were not there.
#[test]
fn model_reads_that_succeed_never_know() {
    let run = |recovery: &[&str]| {
        let mut scenario = on_levels("factory", recovery, 28, 300);
        let stats = random(&mut scenario, 8);
        assert_eq!(stats.counters.uncorrectable, 0);
        digest_of(&stats)
    };
    assert_eq!(run(&[]), run(&[SOFT]));
}

#[test]
fn formula_a_threshold_code_has_nothing_soft() {
    let set: Vec<Override> = ["ecc.code=threshold", SOFT]
        .iter()
        .map(|s| Override::parse(s).unwrap())
        .collect();
    let error = load_drive(&Library::new(), "dc-qlc-15t", &set, AXES).unwrap_err();
    assert_snapshot!(error.to_string(), @"--set schemes.read_recovery=soft: schemes.read_recovery: `soft` needs a code with a soft decoder (ldpc-1k, ldpc-4k); `ecc.code` is `threshold`, which gains nothing from soft senses: choose none or parity");
}

const PARITY: &str = "schemes.read_recovery=parity";

/// What passes from the last sense of a page alone to its completion, once the rest of its stripe had to
/// be read, all of it at the first try.
fn rebuilt(scenario: &mut Scenario) -> Vec<PortCall> {
    let data_dies = 3;
    let (mut port_calls, first) = (0..4_000)
        .map(|w| scenario.play(&[(0, HostOp::Read, w * 4 * data_dies * ROW, 1 << 10)]))
        .find_map(|c| {
            let rows = reads(&c).len().checked_sub(8 + data_dies as usize)?;
            let made = |c: &PortCall| matches!(c.what, PortCallKind::Rebuilt(_, made) if made != 0);
            (rows == 0 && c.iter().any(made)).then(|| {
                let last = reads(&c)[7].0;
                (c, last)
            })
        })
        .expect("some page of thousands is rebuilt like that");
    port_calls.retain(|c| c.at > first);
    port_calls
}

/// The rows are read at once, each on its die; the sum is there when the last of them is.
#[test]
fn sequence_a_page_is_rebuilt() {
    let mut scenario = on_levels("optimal", &[PARITY], 1_000, 3_200);
    let port_calls = rebuilt(&mut scenario);
    let op = reads(&port_calls)[0].1;
    let FlashKind::Read {
        block, wordline, ..
    } = op.kind
    else {
        unreachable!("a row is read")
    };
    let text = scenario.text(&port_calls);
    let text = text.replace(&format!("b{} w{wordline} ", block.0), "");
    let lines = text.lines().map(|l| match l.find("#0 Read") {
        Some(at) => format!("{} Ok\n", &l[..at + 7]),
        None => format!("{l}\n"),
    });
    assert_snapshot!(lines.collect::<String>(), @r"
         0  event     die 1 free of tag 0
      5110  event     failed tag 0: cw 0001
      5110  issue     ReadRecovery tag 1 die 0 waited 0 LSB cw 0001 levels of Page
      5110  issue     ReadRecovery tag 2 die 2 waited 0 LSB cw 0001 levels of Page
      5110  issue     ReadRecovery tag 3 die 3 waited 0 LSB cw 0001 levels of Page
    118530  event     die 0 free of tag 1
    118530  event     die 3 free of tag 3
    119131  event     decoded tag 3
    119250  event     die 2 free of tag 2
    119465  event     decoded tag 1
    120185  event     decoded tag 2
    120185  rebuilt   tag 0 cw 0001
    120185  complete  #0 Read Ok
    ");
}

/// Parity saves what levels lose, soft senses and parity more than either; every page read has the data
/// last written (the run checks it), and time of rebuilding is charged to read recovery.
#[test]
fn model_parity_saves_pages_that_are_lost_alone() {
    let run = |recovery: &str| {
        let recovery = format!("schemes.read_recovery={recovery}");
        let mut scenario = on_levels("optimal", &[&recovery], 1_000, 2_600);
        let stats = random(&mut scenario, 4);
        let c = stats.counters.clone();
        println!(
            "{recovery}: {} uncorrectable, {} saved softly, {} rebuilt from {} rows; max {} us",
            c.uncorrectable,
            c.soft_saved,
            c.rebuilt,
            c.rebuild_reads,
            stats.all.read.max_ns() / 1000,
        );
        let share = stats.all.read.tail.slowest(0.01).unwrap().share;
        assert_eq!(c.rebuild_reads % 3, 0, "whole stripes");
        assert_eq!(
            c.rebuilt > 0,
            share[Cause::ReadRecovery as usize] > 0.1 && c.rebuilt > 0
        );
        c
    };
    let (none, parity, both) = (run("none"), run("parity"), run("soft-parity"));
    assert!(none.uncorrectable > 50);
    assert!(parity.uncorrectable < none.uncorrectable / 2);
    assert!(both.uncorrectable <= parity.uncorrectable && both.soft_saved > 0);
}

/// A lost read counts with the time until its error. Without recovery the tail is then that of the same
/// walks through the table, and not that of the reads that survived.
#[test]
fn model_tails_with_and_without_recovery_are_of_one_order() {
    let run = |recovery: &str| {
        let recovery = format!("schemes.read_recovery={recovery}");
        let mut scenario = on_levels("factory", &[&recovery], 1_000, 2_500);
        random(&mut scenario, 1)
    };
    let (none, both) = (run("none"), run("soft-parity"));
    let (lost, read) = (none.all.read.lost(), &none.all.read);
    println!(
        "{lost} lost without recovery, {} with it",
        both.all.read.lost()
    );
    assert!(lost > 30 && both.all.read.lost() < lost / 10);
    assert_eq!(read.count(), none.requests, "lost reads are reads");
    assert_eq!(
        read.bytes,
        (read.count() - lost) * 4096,
        "which bring no data"
    );
    let survivors = 100.0 * (1.0 - read.lost_share());
    for percent in [50.0, 90.0, 99.0, 99.9] {
        let (a, b) = (read.percentile(percent), both.all.read.percentile(percent));
        println!(
            "P{percent}: {} ns without recovery, {} ns with it",
            a.ns, b.ns
        );
        assert!(a.ns < 3 * b.ns && b.ns < 3 * a.ns, "{a:?} {b:?}");
        assert_eq!(a.among_errors, percent > survivors, "{a:?}");
        assert!(!a.among_errors || a.lost_share > 0.5, "{a:?}");
    }
}

/// Of four dies one is not for data: capacity, writes and garbage collection know it.
#[test]
fn formula_parity_takes_its_share_of_space_and_writes() {
    let job = "[j]\nrw=randwrite\nbs=16k\nsize=2g\nio_size=6g\niodepth=8\nnorandommap\n";
    let run = |recovery: &str| {
        let recovery = format!("schemes.read_recovery={recovery}");
        let set = [
            "cells=ideal",
            "schemes.read_levels=factory",
            "capacity=16 GiB",
            &recovery,
        ];
        let mut scenario = Scenario::new(&set, &aged(0, 0));
        let p = scenario.drive.profile();
        let raw = p.geometry.raw_bytes(p.mode);
        let rate = p.fill_rate().program;
        let stats = try_run(&mut scenario.drive, job, 1, None).unwrap();
        let c = &stats.counters;
        let cleaned = c.slots_moved;
        (
            raw,
            rate,
            c.slots_programmed as f64 / (c.host_slots_written + cleaned) as f64,
        )
    };
    let (none, parity) = (run("none"), run("parity"));
    assert_eq!(4 * parity.0, 3 * none.0, "raw bytes for data");
    assert!(parity.1.abs_diff(none.1 * 3 / 4) <= 1, "sustained writes");
    // What is still in the buffers is not programmed.
    assert!((none.2 - 1.0).abs() < 0.05, "{}", none.2);
    assert!((parity.2 / none.2 - 4.0 / 3.0).abs() < 0.02, "{}", parity.2);
    let set: Vec<Override> = FOUR_DIES
        .iter()
        .chain(&[PARITY, "capacity=48 GiB"])
        .map(|s| Override::parse(s).unwrap())
        .collect();
    let error = load_drive(&Library::new(), "dc-qlc-15t", &set, AXES).unwrap_err();
    assert!(error.to_string().contains("superblocks hold in"), "{error}");
}

/// Without a failure, parity moves data to other places and does nothing else.
#[test]
fn model_parity_is_read_only_when_a_page_is_lost() {
    let mut scenario = on_levels("factory", &[PARITY], 28, 300);
    let stats = random(&mut scenario, 8);
    assert_eq!(
        (stats.counters.rebuild_reads, stats.counters.uncorrectable),
        (0, 0)
    );
}
