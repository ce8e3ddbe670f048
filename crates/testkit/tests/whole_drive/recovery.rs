//! What is left for a read whose steps have all failed: which commands pass, when, what they save.

use firstread_core::{FlashEvent, FlashKind, FlashOp, HostOp, OpClass, PageType, SenseMode};
use firstread_drive::port_log::{Crossing, Passed};
use firstread_drive::profile::{Library, Override, load_drive};
use firstread_drive::{Cause, RunStats};
use firstread_firmware::policy::AXES;
use firstread_testkit::{aged, digest_of, try_run};
use insta::assert_snapshot;

use crate::scene::{Scene, WORDLINE, decoded, reads};

const SOFT: &str = "schemes.recovery=soft";
const THREE: &[&str] = &[SOFT, "recovery.senses=three"];

/// Four dies with a soft decoder whose cells are worn out: the levels of the very page are one step
/// that often fails.
fn worn(recovery: &[&str]) -> Scene {
    on_levels("optimal", recovery, 1_000, 5_000)
}

fn on_levels(levels: &str, recovery: &[&str], age_h: u64, pe_cycles: u32) -> Scene {
    let levels = format!("schemes.read_levels={levels}");
    let set = ["ecc.code=ldpc-1k", "chip.failures.grown_bad=0 %", &levels];
    let set: Vec<&str> = set.iter().chain(recovery).copied().collect();
    Scene::new(&set, &aged(age_h, pe_cycles))
}

/// Modes of the senses of a read, in order.
fn modes(crossings: &[Crossing]) -> Vec<SenseMode> {
    let mode = |op: &FlashOp| match op.kind {
        FlashKind::Read { mode, .. } => mode,
        _ => unreachable!("only reads are asked for"),
    };
    reads(crossings).iter().map(|(_, op)| mode(op)).collect()
}

fn random(scene: &mut Scene, depth: u32) -> RunStats {
    let job = format!("[j]\nrw=randread\nbs=4k\niodepth={depth}\nnorandommap\nnumber_ios=3000\n");
    try_run(&mut scene.drive, &job, 1, None).unwrap()
}

/// What passes from the last hard sense of a read on that takes the soft ones `soft` and succeeds:
/// its row of all, and the crossings.
fn from_the_last_hard_sense(scene: &mut Scene, soft: &[SenseMode]) -> (u64, Vec<Crossing>) {
    let (row, mut crossings) = scene.find(1 << 10, |c| {
        let after = modes(c).into_iter().skip_while(|m| *m == SenseMode::Hard);
        after.eq(soft.iter().copied()) && decoded(c).last().unwrap().1 == 0
    });
    let last = reads(&crossings)[modes(&crossings).len() - 1 - soft.len()].0;
    crossings.retain(|c| c.at >= last && !matches!(c.what, Passed::Submitted(_)));
    let of_before = |c: &Crossing| matches!(c.what, Passed::Event(_)) && c.at == last;
    crossings.retain(|c| !of_before(c));
    (row, crossings)
}

#[test]
fn sequence_three_senses_then_five() {
    let mut scene = worn(&[SOFT]);
    let soft = [SenseMode::Soft3, SenseMode::Soft5];
    let (row, crossings) = from_the_last_hard_sense(&mut scene, &soft);
    let text = scene.text(&crossings);
    let text = text.replace(&format!("b{} w{} ", row / 1408, row % 1408), "");
    assert_snapshot!(text.replace(&format!(" {row}M+1K"), ""), @r"
          0  issue     HostRetry tag 0 die 0 waited 0 LSB cw 0001 levels of Page
     113420  event     die 0 free of tag 0
     118530  event     failed tag 0: cw 0001
     118530  issue     Recovery tag 0 die 0 waited 0 LSB cw 0001 three senses around levels of Page
     457670  event     die 0 free of tag 0
     462780  event     failed tag 0: cw 0001
     462780  issue     Recovery tag 0 die 0 waited 0 LSB cw 0001 five senses around levels of Page
    1027640  event     die 0 free of tag 0
    1028408  event     decoded tag 0
    1028408  complete  #0 Read Ok
    ");
}

/// Each sense and each transfer takes what it takes: three times the levels, twice the bytes.
#[test]
fn formula_soft_senses_occupy_die_and_channel() {
    let mut scene = worn(&[SOFT]);
    let soft = [SenseMode::Soft3, SenseMode::Soft5];
    let (_, crossings) = from_the_last_hard_sense(&mut scene, &soft);
    let p = scene.drive.profile();
    let page = scene.sense_ns(PageType(0));
    let free = crossings.iter().filter_map(|c| match c.what {
        Passed::Event(FlashEvent::ArrayFree { .. }) => Some(c.at),
        _ => None,
    });
    let issued = reads(&crossings);
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
fn time_of_soft_senses_is_charged_to_recovery() {
    let mut scene = worn(THREE);
    let (row, crossings) = from_the_last_hard_sense(&mut scene, &[SenseMode::Soft3]);
    let classes = reads(&crossings).into_iter().map(|(_, op)| op.class);
    assert!(classes.eq([OpClass::HostRetry, OpClass::Recovery]));
    let ends = decoded(&crossings);
    let spent = ends[1].0.since(ends[0].0).0 as f64;
    // Persistent errors: the same read takes the same steps again, give or take an iteration.
    let stats = scene.stats(&[(0, HostOp::Read, row * WORDLINE, 1 << 10)]);
    assert_eq!(stats.counters.soft_saved, 1);
    let read = &stats.all.read;
    let share = read.tail.slowest(1e-9).unwrap().share[Cause::Recovery as usize];
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
        let mut scene = worn(recovery);
        let stats = random(&mut scene, 1);
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
        let mut scene = on_levels(levels, recovery, 300, 6_000);
        let stats = random(&mut scene, 4);
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

/// Where steps of levels suffice, it is as if soft senses were not there.
#[test]
fn model_reads_that_succeed_never_know() {
    let run = |recovery: &[&str]| {
        let mut scene = on_levels("factory", recovery, 28, 300);
        let stats = random(&mut scene, 8);
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
    let error = load_drive(&Library::new(), "ct-qlc", &set, AXES).unwrap_err();
    assert_snapshot!(error.to_string(), @"--set schemes.recovery=soft: schemes.recovery: `soft` needs a code with a soft decoder (ldpc-1k, ldpc-4k); `ecc.code` is `threshold`, which gains nothing from soft senses");
}
