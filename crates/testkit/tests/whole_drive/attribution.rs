//! Whether every nanosecond of a request is charged to what it was spent on.

use firstread_core::{HostOp, PageType};
use firstread_drive::{CAUSES, Cause, RunStats};
use firstread_testkit::IDEAL;

use crate::scenario::{READ_4K, STRIPE, Scenario, WORDLINE, reads};

/// Nanoseconds by cause of the slowest read.
fn slowest(stats: &RunStats) -> [u64; CAUSES] {
    let read = &stats.all.read;
    let tail = read.tail.slowest(1e-9).unwrap();
    assert_eq!(tail.requests, 1);
    // The histogram keeps three digits; the parts of one request are exact.
    let total = stats.all.read.max_ns() as f64;
    tail.share.map(|s| (s * total).round() as u64)
}

/// Checks the parts of the slowest read, which are known to a permille of its latency.
fn assert_parts(stats: &RunStats, expected: &[(Cause, u64)]) {
    let parts = slowest(stats);
    let room = stats.all.read.max_ns() / 500;
    for cause in Cause::ALL {
        let wanted = expected.iter().find(|e| e.0 == cause).map_or(0, |e| e.1);
        let got = parts[cause as usize];
        assert!(
            got.abs_diff(wanted) <= room,
            "{}: {got} ns, expected {wanted} ns",
            cause.name()
        );
    }
}

/// Fetch and firmware (`queue`) and the way back (`link`) of a read alone (ns).
fn ends(scenario: &Scenario, bytes: u64) -> [(Cause, u64); 2] {
    let p = scenario.drive.profile();
    let back = (bytes * 1_000_000_000).div_ceil(p.link.bytes_per_s) + p.link.completion_ns;
    let there = p.link.fetch_ns + p.firmware.command_ns + p.firmware.command_interval_ns;
    [(Cause::Queue, there), (Cause::Link, back)]
}

/// Array time with its command; bus time of `codewords`.
fn array_and_bus(scenario: &Scenario, page: PageType, codewords: u64) -> (u64, u64) {
    let p = scenario.drive.profile();
    (
        p.channel.command_ns + scenario.sense_ns(page),
        p.channel.transfer_ns(1152 * codewords),
    )
}

#[test]
fn time_of_a_retry_is_charged_to_the_retry() {
    let mut scenario = Scenario::factory(28, 2500);
    let retries = 5;
    let (wordline, _) = scenario.find(1 << 10, |c| reads(c).len() == retries + 1);
    // The same page again: persistent errors take it as many retries, give or take one.
    let stats = scenario.stats(&[(0, HostOp::Read, wordline * WORDLINE, 1 << 10)]);
    let taken: u64 = stats
        .counters
        .retries
        .iter()
        .zip(0u64..)
        .map(|(n, k)| n * k)
        .sum();
    assert!(taken.abs_diff(retries as u64) <= 1, "{taken} retries");
    let (array, bus) = array_and_bus(&scenario, PageType(0), 1);
    let decode = scenario.drive.profile().ecc.timing.setup_ns as u64;
    let mut expected = ends(&scenario, 1 << 10).to_vec();
    expected.extend([
        (Cause::Sense, array),
        (Cause::Transfer, bus),
        (Cause::Decode, decode),
        (Cause::Retry, taken * (array + bus + decode)),
    ]);
    assert_parts(&stats, &expected);
}

#[test]
fn time_behind_another_read_is_charged_to_it() {
    let mut scenario = Scenario::ideal();
    let stats = scenario.stats(&[
        (0, HostOp::Read, 0, READ_4K),
        (0, HostOp::Read, STRIPE, READ_4K),
    ]);
    let (first, bus) = array_and_bus(&scenario, PageType(0), 4);
    let (second, _) = array_and_bus(&scenario, PageType(1), 4);
    let interval = scenario.drive.profile().firmware.command_interval_ns;
    let [(_, there), link] = ends(&scenario, READ_4K as u64);
    let expected = [
        (Cause::Queue, there + interval),
        (Cause::DieHostRead, first + bus - interval),
        (Cause::Sense, second),
        (Cause::Transfer, bus),
        (
            Cause::Decode,
            scenario.drive.profile().ecc.timing.setup_ns as u64,
        ),
        link,
    ];
    assert_parts(&stats, &expected);
}

#[test]
fn time_behind_a_background_read_is_charged_to_calibration() {
    let (mut scenario, die) = Scenario::before_a_pass();
    let at = die.0 as u64 * crate::scenario::ROW;
    // The pass begins after 1,000 us; the read reaches the firmware while its first read senses.
    let port_calls = scenario.play(&[(1_030, HostOp::Read, at, READ_4K)]);
    let waited = reads(&port_calls).into_iter().find_map(|(at, op)| {
        (op.class == firstread_core::OpClass::HostRead).then_some(at.since(op.queued).0)
    });
    let waited = waited.unwrap();
    assert!(waited > 50_000, "the read waited {waited} ns");
    let (mut scenario, _) = Scenario::before_a_pass();
    let stats = scenario.stats(&[(1_030, HostOp::Read, at, READ_4K)]);
    let (array, bus) = array_and_bus(&scenario, PageType(0), 4);
    let mut expected = ends(&scenario, READ_4K as u64).to_vec();
    expected.extend([
        (Cause::DieCalibration, waited),
        (Cause::Sense, array),
        (Cause::Transfer, bus),
        (
            Cause::Decode,
            scenario.drive.profile().ecc.timing.setup_ns as u64,
        ),
    ]);
    assert_parts(&stats, &expected);
}

#[test]
fn time_behind_a_program_is_charged_to_it() {
    let mut scenario = Scenario::new(IDEAL, &firstread_testkit::aged(0, 0));
    let p = scenario.drive.profile();
    let program = match p.chip.mode(p.mode).unwrap().program {
        firstread_nand::profile::ProgramTiming::OneShot { wordline_ns } => wordline_ns,
        firstread_nand::profile::ProgramTiming::TwoStep {
            first_ns,
            second_ns,
        } => first_ns + second_ns,
    };
    // A wordline over all dies is written far away; then die 0 is read.
    let stats = scenario.stats(&[
        (0, HostOp::Write, 1 << 30, WORDLINE as u32),
        (1_000, HostOp::Read, 0, READ_4K),
    ]);
    let parts = slowest(&stats);
    let behind = parts[Cause::DieProgram as usize];
    // All of the program but the millisecond that had passed, and what it took to begin.
    assert!(
        behind < program && behind + 1_000_000 > program,
        "{behind} of {program} ns"
    );
    let others: u64 = parts.iter().sum::<u64>() - behind;
    assert!(others < 200_000, "{others} ns for all else");
}

/// A partial write reads the old version of its slot, then waits for room in the write buffer while
/// others read under the tag that its own read had: it is charged its own read, and the wait.
#[test]
fn time_of_a_write_that_waits_for_the_buffer_is_not_charged_to_the_link() {
    let mut scenario = Scenario::ideal();
    let row = crate::scenario::ROW;
    let far = 1 << 30;
    let stats = scenario.stats(&[
        // All of a wordline but the row that the last die gets a millisecond later: that die is the
        // last to be programmed.
        (0, HostOp::Write, far, (WORDLINE - row) as u32),
        (1_000, HostOp::Write, far + WORDLINE - row, row as u32),
        (1_100, HostOp::Write, far + WORDLINE, 2 * WORDLINE as u32),
        // Its old version is on the first die.
        (2_000, HostOp::Write, 512, 512),
        (9_000, HostOp::Read, STRIPE, READ_4K),
    ]);
    let write = &stats.all.write;
    let tail = write.tail.slowest(1e-9).unwrap();
    let total = write.max_ns() as f64;
    let parts = tail.share.map(|s| (s * total).round() as u64);
    let link = scenario.drive.profile().link.completion_ns;
    assert!(
        parts[Cause::Link as usize].abs_diff(link) < write.max_ns() / 500,
        "{} ns on the link, which takes {link}",
        parts[Cause::Link as usize]
    );
    assert!(parts[Cause::Sense as usize] > 0, "its own read: {parts:?}");
    // It waits for the program of the last die, and for nothing else for long.
    assert!(
        parts[Cause::DieProgram as usize] > 500_000,
        "the wait: {parts:?}"
    );
    assert!(parts[Cause::Queue as usize] < 50_000, "{parts:?}");
}

/// Shares of the time of the slowest hundredth of the writes, by cause.
fn slow_writes(stats: &RunStats) -> [f64; CAUSES] {
    stats.all.write.tail.slowest(0.01).unwrap().share
}

fn sum(shares: &[f64; CAUSES], causes: &[Cause]) -> f64 {
    causes.iter().map(|&cause| shares[cause as usize]).sum()
}

/// What waits for cleaning, in whichever way.
const CLEANING: [Cause; 5] = [
    Cause::Cleaning,
    Cause::Reserve,
    Cause::DieMove,
    Cause::DieMoveProgram,
    Cause::DieErase,
];

/// Four wordlines at once: the fourth waits until one of the others is programmed on every die. First
/// its own data cross the link, then it waits for the data of the first to cross the channels, then for
/// the program.
#[test]
fn formula_write_behind_a_full_buffer_is_charged_the_program_that_frees_it() {
    let mut scenario = Scenario::ideal();
    let p = scenario.drive.profile().clone();
    let program = match p.chip.mode(p.mode).unwrap().program {
        firstread_nand::profile::ProgramTiming::OneShot { wordline_ns } => wordline_ns,
        firstread_nand::profile::ProgramTiming::TwoStep {
            first_ns,
            second_ns,
        } => first_ns + second_ns,
    };
    let far = 1 << 30;
    let line = WORDLINE as u32;
    let stats = scenario.stats(&[
        (0, HostOp::Write, far, line),
        (0, HostOp::Write, far + WORDLINE, line),
        (0, HostOp::Write, far + 2 * WORDLINE, line),
        (0, HostOp::Write, far + 3 * WORDLINE, line),
    ]);
    let write = &stats.all.write;
    let share = write.tail.slowest(1e-9).unwrap().share;
    let parts = share.map(|s| (s * write.max_ns() as f64).round() as u64);
    // The last bytes of a wordline cross the link long after the first: what is left to wait is the
    // program without what had passed by then.
    let link_ns = (WORDLINE * 1_000_000_000).div_ceil(p.link.bytes_per_s);
    let waited = parts[Cause::DieProgram as usize];
    let arrived = 4 * link_ns;
    let room = write.max_ns() / 500 + 4 * p.channel.transfer_ns(p.stored_bytes(16 << 10) * 16);
    assert!(
        (waited + arrived).abs_diff(program + link_ns) <= room,
        "{waited} ns, of a program of {program}; {link_ns} ns a wordline on the link"
    );
    assert_eq!(sum(&share, &CLEANING), 0.0, "{share:?}");
    assert!(
        sum(&share, &[Cause::Queue, Cause::Link]) * write.max_ns() as f64
            <= (arrived + room) as f64
    );
}

/// Without garbage a slow write waits for programs of the host's data and for their way to the die; on a
/// full drive under random writes it waits for cleaning.
#[test]
fn model_slow_writes_are_charged_to_cleaning_where_there_is_any_and_else_to_programs() {
    let set: Vec<&str> = firstread_testkit::SMALL_BLOCKS
        .iter()
        .chain(IDEAL)
        .copied()
        .chain(["capacity=300 MiB"])
        .collect();
    let run = |fill: f64, job: &str| {
        let state = firstread_drive::DriveState {
            fill,
            ..firstread_testkit::aged(0, 0)
        };
        let mut drive =
            firstread_testkit::drive(firstread_testkit::profile("dc-qlc-15t", &set), &state, 1);
        firstread_testkit::try_run(&mut drive, job, 1, None).unwrap()
    };
    let job = |bytes: u64| {
        format!("[w]\nrw=randwrite\nbs=4k\niodepth=256\nnorandommap\nio_size={bytes}\n")
    };
    let clean = run(0.01, &job(64 << 20));
    assert_eq!(clean.counters.slots_moved, 0);
    let share = slow_writes(&clean);
    let programs = sum(&share, &[Cause::DieProgram, Cause::DieDataIn]);
    assert!(programs > 0.95, "{share:?}");
    assert_eq!(sum(&share, &CLEANING), 0.0, "{share:?}");

    let full = run(1.0, &job(600 << 20));
    assert!(full.counters.slots_moved > 100_000);
    let share = slow_writes(&full);
    assert!(sum(&share, &CLEANING) > 0.5, "{share:?}");
    assert!(share[Cause::Queue as usize] < 0.05, "{share:?}");
}

/// A read joins another one whose next step is being sensed already: the read of a partial write, or one ahead of a
/// stream. Its time goes on through all steps that follow, and all but the first count as retries.
#[test]
fn formula_what_joins_a_read_between_its_steps_is_charged_all_of_them() {
    for retry in ["sequential", "pipelined"] {
        let set = [
            "capacity=2 GiB",
            "schemes.read_levels=factory",
            "schemes.read_ahead=sequential",
            &format!("schemes.retry={retry}"),
        ];
        let mut scenario = Scenario::on("tlc-48l", &set, &firstread_testkit::aged(48, 1000));
        let slot = scenario.drive.profile().geometry.slot_bytes;
        let mut places = (0..4_000u64).map(|wordline| 3 * wordline * STRIPE);
        let (mut ahead, mut retries) = (0, 0);
        for after_us in (5..400).step_by(25) {
            let at = places.find(|&at| {
                let calls = scenario.play(&[(100, HostOp::Read, at, slot)]);
                crate::scenario::decoded(&calls).len() >= 4
            });
            let at = at.expect("some page of thousands takes three retries");
            // One read joins the read of the write at once, one where it still can.
            let joined = scenario.stats(&[
                (100, HostOp::Write, at + 512, 512),
                (105, HostOp::Read, at, slot),
                (100 + after_us, HostOp::Read, at, slot),
            ]);
            assert!(joined.counters.joined_reads > 0, "{retry}, {after_us} us");
            let read = &joined.all.read;
            let tail = read.tail.slowest(1e-9).unwrap();
            let of = |cause: Cause| tail.share[cause as usize];
            // The slower one may be a read of its own, behind the retries of the other.
            let of_retries = of(Cause::Retry) + of(Cause::DieRetry);
            assert!(of_retries > 0.4, "{retry}: {:?}", tail.share);
            assert!(of(Cause::Queue) + of(Cause::Link) < 0.2, "{:?}", tail.share);
            // A stream is read ahead of, and caught up with.
            let next = |i: u64| {
                (
                    200 + i * after_us,
                    HostOp::Read,
                    at + i * u64::from(slot),
                    slot,
                )
            };
            let stream = scenario.stats(&(0..12).map(next).collect::<Vec<_>>());
            ahead += stream.counters.front.ahead_joined;
            retries += stream.counters.front.ahead_retries;
        }
        assert!(
            ahead > 20 && retries > 20,
            "{retry}: {ahead} joined, {retries} retries"
        );
    }
}

/// Two partial writes of one page share the read of what they keep: both are charged its sense, and neither
/// waits for the other.
#[test]
fn model_writes_of_one_page_share_the_read_that_both_are_charged() {
    let mut scenario = Scenario::ideal();
    let stats = scenario.stats(&[(0, HostOp::Write, 512, 512), (1, HostOp::Write, 1024, 512)]);
    let writes = &stats.all.write;
    assert!(writes.max_ns() < writes.min_ns() * 21 / 20);
    let share = writes.tail.slowest(1.0).unwrap().share;
    assert!(share[Cause::Sense as usize] > 0.5, "{share:?}");
    assert!(share[Cause::Queue as usize] < 0.1, "{share:?}");
    assert_eq!(share[Cause::DieProgram as usize], 0.0, "{share:?}");
}
