//! Several submission queues: in which order they are fetched from, and how they share the drive.

use firstread_drive::port_log::PortCallKind;
use firstread_drive::{Drive, RunStats};
use firstread_testkit::{FOUR_DIES, IDEAL, aged, drive, profile, try_run};

fn four_dies(own: &[&str]) -> Drive {
    let set: Vec<&str> = FOUR_DIES.iter().chain(IDEAL).chain(own).copied().collect();
    drive(profile("dc-qlc-15t", &set), &aged(0, 0), 1)
}

/// Jobs `a`, `b` and so on, each with its keys, for so long.
fn run_jobs(drive: &mut Drive, keys: &[&str], runtime: &str) -> RunStats {
    let global = format!("[global]\nrw=randread\nnorandommap\ntime_based\nruntime={runtime}\n");
    let jobs = keys
        .iter()
        .zip('a'..)
        .map(|(k, name)| format!("[{name}]\n{k}\n"));
    let text: String = std::iter::once(global).chain(jobs).collect();
    try_run(drive, &text, 1, None).unwrap_or_else(|e| panic!("{e}"))
}

/// Share of each job in all reads.
fn shares(stats: &RunStats) -> Vec<f64> {
    let all = stats.all.read.count() as f64;
    let of = stats.reports.iter().map(|r| r.read.count() as f64);
    of.map(|n| n / all).collect()
}

fn assert_near(what: &str, measured: &[f64], expected: &[f64], within: f64) {
    println!("{what}: {measured:.4?}, expected {expected:.4?}");
    let near = measured
        .iter()
        .zip(expected)
        .all(|(m, e)| (m - e).abs() < within);
    assert!(near, "{what}: {measured:.4?}, expected {expected:.4?}");
}

/// The controller is saturated in both ways it can be: by the rate at which it takes commands, and by
/// how many it holds while flash works on them.
const SATURATED: [&str; 2] = ["firmware.command_interval=100us", "queues.fetched=8"];
const THREE: [&str; 3] = [
    "bs=4k\niodepth=16",
    "bs=4k\niodepth=16",
    "bs=4k\niodepth=16",
];

#[test]
fn formula_shares_follow_the_weights() {
    for limit in SATURATED {
        for (weights, burst) in [
            ([4, 2, 1], 1),
            ([1, 1, 1], 4),
            ([16, 3, 1], 8),
            ([5, 2, 2], 0),
        ] {
            let own = [
                limit.to_owned(),
                "queues.count=3".to_owned(),
                "queues.arbitration=weighted-round-robin".to_owned(),
                "queues.classes=high, medium, low".to_owned(),
                format!("queues.burst={burst}"),
                format!("queues.high_weight={}", weights[0]),
                format!("queues.medium_weight={}", weights[1]),
                format!("queues.low_weight={}", weights[2]),
            ];
            let own: Vec<&str> = own.iter().map(String::as_str).collect();
            let stats = run_jobs(&mut four_dies(&own), &THREE, "1s");
            let all = weights.iter().sum::<u32>() as f64;
            let expected = weights.map(|w| w as f64 / all);
            let what = format!("{limit}, weights {weights:?}, burst {burst}");
            assert_near(&what, &shares(&stats), &expected, 0.01);
        }
    }
}

#[test]
fn formula_round_robin_shares_commands_and_not_bytes() {
    for limit in SATURATED {
        for burst in ["queues.burst=1", "queues.burst=4"] {
            let own = [limit, burst, "queues.count=3"];
            // The third job is shallow: it has what it asks for, the others share the rest.
            let keys = [
                "bs=4k\niodepth=64",
                "bs=16k\niodepth=64",
                "bs=4k\niodepth=64\nrate_iops=1000",
            ];
            let stats = run_jobs(&mut four_dies(&own), &keys, "200ms");
            let counts: Vec<f64> = stats
                .reports
                .iter()
                .map(|r| r.read.count() as f64)
                .collect();
            assert_near(
                &format!("{own:?}, the paced job"),
                &[counts[2] / 200.0],
                &[1.0],
                0.05,
            );
            let ratio = counts[0] / (counts[0] + counts[1]);
            assert_near(&format!("{own:?}, the others"), &[ratio], &[0.5], 0.01);
        }
    }
}

/// Queues that are not told apart give a deep job what it asks for: with one queue each that ends.
#[test]
fn formula_a_queue_of_its_own_shields_from_a_deep_neighbour() {
    let keys = ["bs=4k\niodepth=256", "bs=4k\niodepth=4"];
    let share_of_shallow = |own: &[&str]| {
        let mut set = vec!["queues.fetched=8"];
        set.extend(own);
        shares(&run_jobs(&mut four_dies(&set), &keys, "200ms"))[1]
    };
    let one = share_of_shallow(&[]);
    assert_near("one queue", &[one], &[4.0 / 260.0], 0.003);
    let urgent = share_of_shallow(&[
        "queues.count=2",
        "queues.arbitration=weighted-round-robin",
        "queues.classes=low, urgent",
    ]);
    let two = share_of_shallow(&["queues.count=2"]);
    println!("two queues {two:.4}, urgent {urgent:.4}");
    assert!(
        two > 10.0 * one,
        "{two} with a queue of its own, {one} without"
    );
    assert!(urgent >= two, "{urgent} urgent, {two} in turn");
}

/// Clients of the commands in the order in which they reach the firmware.
fn order(own: &[&str], keys: &[&str], most: usize) -> String {
    let mut drive = four_dies(own);
    drive.log_ports();
    run_jobs(&mut drive, keys, "1ms");
    let passed = drive.port_calls().iter().filter_map(|c| match c.what {
        PortCallKind::Submitted(command) => Some(command.client.to_string()),
        _ => None,
    });
    passed.take(most).collect()
}

#[test]
fn sequence_of_fetches_over_the_queues() {
    let slow = "firmware.command_interval=20us";
    let keys = [
        "bs=4k\niodepth=16",
        "bs=4k\niodepth=16",
        "bs=4k\niodepth=16",
    ];
    assert_eq!(order(&[slow, "queues.count=3"], &keys, 12), "012012012012");
    assert_eq!(
        order(&[slow, "queues.count=3", "queues.burst=4"], &keys, 16),
        "0000111122220000"
    );
    // Two queues for three jobs: the third shares that of the first, behind what is there.
    assert_eq!(
        order(&[slow, "queues.count=2"], &keys, 12).replace('2', "0"),
        "010101010101"
    );
    let weighted = [
        slow,
        "queues.count=3",
        "queues.arbitration=weighted-round-robin",
        "queues.classes=low, high, urgent",
        "queues.high_weight=3",
    ];
    // An urgent command is fetched next whenever it comes, and costs the others' rounds nothing.
    let keys = [keys[0], keys[1], "bs=4k\niodepth=1"];
    let order = order(&weighted, &keys, 30);
    assert_eq!(order, "211101110211101110111011101211");
}

/// Commands that never wait in the queue take as long as if there were none.
#[test]
fn model_one_queue_through_the_arbiter_is_as_without() {
    let keys = ["bs=4k\niodepth=32", "bs=64k\niodepth=4"];
    let run = |own: &[&str]| {
        let stats = run_jobs(&mut four_dies(own), &keys, "50ms");
        let of = |r: &firstread_drive::stats::Report| {
            let read = &r.read;
            (
                read.count(),
                read.mean_ns().to_bits(),
                read.buckets().collect::<Vec<_>>(),
            )
        };
        stats.reports.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(run(&[]), run(&["queues.fetched=4095"]));
}
