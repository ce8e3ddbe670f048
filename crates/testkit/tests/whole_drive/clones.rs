//! Whether a clone of a drive goes on as the drive does: burnt in once, measured many times.

use firstread_core::{HostOp, Ns};
use firstread_drive::{CutAt, Drive, DriveState, Host, Precondition, Submission};
use firstread_firmware::policy::AXES;
use firstread_testkit::{FOUR_DIES, SMALL_BLOCKS, aged, digest_of, drive, profile};
use firstread_workload::fio;

/// Reads, overwrites and trims.
const MIX: &str = "[w]\nrw=randrw\nrwmixread=40\nbs=16k\niodepth=16\nnorandommap\nnumber_ios=8000\n\
    random_distribution=zipf:0.9\n[t]\nrw=randtrim\nbs=64k\niodepth=1\nnorandommap\nnumber_ios=200\nthinktime=200\n";
/// Blocks of which many fail.
const FAILING: &[&str] = &[
    "chip.failures.grown_bad=10 %",
    "chip.failures.shape=1 x",
    "chip.failures.erase_share=20 %",
    "chip.modes.qlc.endurance=300 P/E",
    "capacity=180 MiB",
];
/// Half of the map in memory.
const PAGED: &[&str] = &["dram.map_cache=256KiB"];
/// A scheme on every axis that has state.
const ALL: &[&str] = &[
    "dram.read_cache=4MiB",
    "schemes.suspend=program-erase",
    "schemes.wear=static",
    "schemes.read_recovery=soft-parity",
    "schemes.gc_victim=cost-benefit",
    "schemes.retry=pipelined-adaptive",
    "schemes.read_ahead=sequential",
    "capacity=180 MiB",
];

/// Runs [`MIX`] on `drive`, until power is cut after so many events if it is. All that is seen of the run.
fn run(drive: &mut Drive, seed: u64, cut: Option<u64>) -> String {
    let workload = fio::parse("clones.fio", MIX).unwrap();
    let mut host = Host::jobs(&workload, drive.capacity_bytes(), seed, None).unwrap();
    cut.into_iter()
        .for_each(|events| host.cut_power_at(CutAt::Events(events)));
    let stats = host.run(drive, &mut |_| {}).unwrap();
    assert_eq!(stats.power_cut.is_some(), cut.is_some());
    format!("{} {stats:?}", digest_of(&stats))
}

/// All that is known of a drive.
fn known(drive: &Drive) -> String {
    let (now, digest) = (drive.now(), drive.digest());
    let (counters, log) = (drive.counters(), drive.log());
    format!(
        "{now:?} {digest:?} {counters:?} {:?} {log:?}",
        drive.blocks()
    )
}

/// That `one` and `other` are the same; else what they are where they begin to differ.
fn assert_same(one: &str, other: &str, what: &str) {
    let pairs = one.bytes().zip(other.bytes());
    let at = pairs.take_while(|(a, b)| a == b).count();
    let rest = |of: &str| {
        of.chars()
            .skip(at.saturating_sub(200))
            .take(400)
            .collect::<String>()
    };
    assert!(one == other, "{what}:\n{}\n\n{}", rest(one), rest(other));
}

#[test]
fn model_a_clone_goes_on_as_the_drive_does() {
    let new = DriveState::default;
    let after = |precondition| DriveState {
        precondition,
        ..new()
    };
    let small = |own: &[&'static str]| [SMALL_BLOCKS, own].concat();
    let ideal = |own: &[&'static str]| {
        let cells: &[&str] = &["cells=ideal", "schemes.read_levels=factory"];
        [SMALL_BLOCKS, cells, own].concat()
    };
    let four_dies = |own: &[&'static str]| [FOUR_DIES, own].concat();
    let mut cases = vec![
        ("cells", four_dies(&[]), aged(28, 2_500)),
        ("ideal", ideal(&[]), new()),
        (
            "random",
            ideal(&["schemes.gc_victim=greedy"]),
            after(Precondition::Random),
        ),
        ("zipf", ideal(&[]), after(Precondition::Zipf(1.1))),
        ("large", vec![], after(Precondition::Random)),
        (
            "map cache",
            ideal(&[PAGED, &["schemes.gc_victim=d-choices"]].concat()),
            new(),
        ),
        ("failures", ideal(FAILING), aged(0, 120)),
        (
            "failures, map cache",
            ideal(&[FAILING, PAGED].concat()),
            aged(0, 120),
        ),
        (
            "queues",
            ideal(&["queues.fetched=8", "queues.count=2"]),
            new(),
        ),
        (
            "all of it",
            small(&[FAILING, PAGED, ALL].concat()),
            aged(28, 100),
        ),
    ];
    let levels = AXES.iter().find(|axis| axis.name == "read_levels").unwrap();
    let schemes: Vec<String> = levels
        .schemes
        .iter()
        .map(|scheme| format!("schemes.read_levels={}", scheme.name))
        .collect();
    cases.extend(schemes.iter().map(|set| {
        let set = [FOUR_DIES, &[set.as_str()]].concat();
        (set[set.len() - 1], set, aged(28, 2_500))
    }));
    for (name, set, state) in cases {
        let mut first = drive(profile("dc-qlc-15t", &set), &state, 1);
        first.digest_completions();
        run(&mut first, 1, None);
        let mut second = first.clone();
        assert_same(&known(&first), &known(&second), name);
        // A recovery of the large drive goes through thousands of millions of slots.
        let cut = |events| (name != "large").then_some(events);
        for (seed, cut) in [(2, None), (3, cut(4_000)), (4, cut(700)), (5, None)] {
            // The clone goes first: it changes nothing of the drive.
            let before = known(&first);
            let of_clone = run(&mut second, seed, cut);
            assert_same(&known(&first), &before, "the drive stays as it was");
            let own = run(&mut first, seed, cut);
            assert_same(
                &known(&first),
                &known(&second),
                &format!("{name}, part {seed}"),
            );
            assert_same(&own, &of_clone, &format!("{name}, part {seed}"));
        }
    }
}

/// A clone that is taken while commands are in flight completes them as the drive does.
#[test]
fn model_commands_in_flight_are_cloned() {
    for set in [
        &[][..],
        &["queues.fetched=4"],
        &["chip.timing.independent_plane_reads=true"],
    ] {
        let set = [SMALL_BLOCKS, set].concat();
        let mut first = drive(profile("dc-qlc-15t", &set), &aged(28, 2_500), 1);
        first.digest_completions();
        let start = first.now();
        for i in 0..64 {
            let command = Submission {
                op: match i % 3 {
                    0 => HostOp::Write,
                    _ => HostOp::Read,
                },
                offset_bytes: (i * 7_919 % 4_096) << 14,
                len_bytes: 32 << 10,
                fua: false,
                placement: 0,
                queue: i as u32 % 3,
                since: start,
            };
            first.submit(start, command).unwrap();
        }
        let mut completed = 0;
        let mut clones = Vec::new();
        for at in [0, 1, 7, 20, 60, 150, 400] {
            first.advance(start + Ns(at * 1_000));
            while first.completion(start + Ns(at * 1_000)).is_some() {
                completed += 1;
            }
            clones.push((at, first.clone(), completed));
        }
        let all = |drive: &mut Drive, mut completed: u32| {
            while completed < 64 {
                drive.advance(Ns::MAX);
                completed += u32::from(drive.completion(Ns::MAX).is_some());
            }
            drive.advance(start + Ns(100_000_000));
            known(drive)
        };
        let whole = all(&mut first, completed);
        for (at, mut clone, completed) in clones {
            let own = all(&mut clone, completed);
            assert_same(&own, &whole, &format!("{set:?}: cloned after {at} us"));
        }
    }
}
