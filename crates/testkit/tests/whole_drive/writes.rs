//! Whether writes end, whatever they wait for.

use crate::paced::{Load, PROGRAMS, writes_are_paced};
use firstread_core::HostOp;
use firstread_drive::{DriveState, Precondition};
use firstread_firmware::policy::gc_victim;
use firstread_testkit::{IDEAL, SMALL_BLOCKS, Scripted, aged, drive, play, profile};

const SLOT: u64 = 4096;
/// Slots of a multi-plane page, of which there is one a die in a stripe.
const ROW: u64 = 8;
/// Slots of a wordline over all dies, which is a third of the write buffer.
const WORDLINE: u64 = 128;

/// Two writes change slots in part and so read the old ones first. While the write buffer is full
/// both reads end; `later` ends last and goes on first, up to a slot that `earlier` still holds.
#[test]
fn writes_in_part_that_overlap_do_not_wait_for_each_other_forever() {
    let set: Vec<&str> = SMALL_BLOCKS.iter().chain(IDEAL).copied().collect();
    let mut drive = drive(profile("dc-qlc-15t", &set), &aged(0, 0), 1);
    let far = 10_000 * SLOT;
    let slots = |n: u64| (n * SLOT) as u32;
    let earlier = (2_000, HostOp::Write, SLOT + 2048, 512);
    let later = (2_010, HostOp::Write, 512, 4096);
    let script: [Scripted; 6] = [
        // All of the first wordline but the last row of the last die, which comes a millisecond
        // later: that die is the last to be programmed, long after die 0.
        (0, HostOp::Write, far, slots(WORDLINE - ROW)),
        (
            1_000,
            HostOp::Write,
            far + (WORDLINE - ROW) * SLOT,
            slots(ROW),
        ),
        // The rest of the buffer.
        (
            1_100,
            HostOp::Write,
            far + WORDLINE * SLOT,
            slots(2 * WORDLINE),
        ),
        earlier,
        later,
        (30_000, HostOp::Read, 0, slots(2)),
    ];
    let stats = play(&mut drive, &script).unwrap();
    assert_eq!(stats.requests, script.len() as u64);
}

/// Reads without end on every die, and one write that needs a program on each of them before its
/// buffer is free. Without a bound on the wait none of the programs would ever start.
#[test]
fn formula_writes_make_progress_under_reads_without_end() {
    // 512 reads in flight over 4 dies leave no die idle; twelve wordlines fill the buffer four times.
    let job = format!(
        "[r]\nrw=randread\nbs=4k\niodepth=512\nnorandommap\nnumber_ios=40000\nsize=64m\n\
         [w]\nrw=write\nbs=64k\noffset=128m\nsize={}\niodepth=1\n",
        12 * WORDLINE * SLOT
    );
    let run = |max_wait: &str| {
        let wait = format!("firmware.max_wait={max_wait}");
        let set: Vec<&str> = SMALL_BLOCKS
            .iter()
            .chain(IDEAL)
            .copied()
            .chain([wait.as_str()])
            .collect();
        let mut drive = drive(profile("dc-qlc-15t", &set), &aged(0, 0), 1);
        let stats = firstread_testkit::try_run(&mut drive, &job, 1, None).unwrap();
        let write = &stats.all.write;
        (write.max_ns(), stats.simulated.0)
    };
    let (bounded, _) = run("5 ms");
    let (unbounded, all) = run("1000 s");
    // A write waits for a line of the buffer: the programs of its dies, each of which waits 5 ms and
    // is programmed in 8.6 ms, three lines deep.
    assert!(
        bounded < 3 * (5_000_000 + 8_600_000 + 1_000_000),
        "{bounded} ns"
    );
    assert!(
        unbounded > all / 2,
        "with no bound the reads go first to their end: {unbounded} of {all} ns"
    );
}

/// The other way round: writes without end, whose programs always wait for each other for longer than
/// their bound, and reads.
#[test]
fn formula_reads_make_progress_under_writes_without_end() {
    let mut set = SMALL_BLOCKS.to_vec();
    set.extend(IDEAL);
    set.push("firmware.max_wait=5 ms");
    for apart in [false, true] {
        if apart {
            set.push("chip.timing.independent_plane_reads=true");
        }
        let mut drive = drive(profile("dc-qlc-15t", &set), &aged(0, 0), 1);
        let job = "[w]\nrw=write\nbs=64k\niodepth=64\nsize=96m\n\
                   [r]\nrw=randread\nbs=4k\noffset=128m\nsize=64m\nnorandommap\nnumber_ios=1000\niodepth=4\n";
        let stats = firstread_testkit::try_run(&mut drive, job, 1, None).unwrap();
        // A read waits for the program that is under way, and one that goes before it; besides, for a
        // channel that moves data of programs, and for the reads before it.
        let most = stats.all.read.max_ns();
        println!("{most} ns");
        assert!(most < 2 * 8_600_000 + 2_500_000, "{most} ns");
    }
}

/// Eight dies of two planes: a superblock is 2,048 slots on 128 wordlines.
pub(crate) const SMALL_BENCH: &[&str] = &[
    "geometry.channels=4",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=2",
    "geometry.blocks_per_plane=64",
    "capacity=435 MiB",
];

const UNIFORM: &str = "";
const ZIPF: &str = "random_distribution=zipf:1.1\n";
const TRIMS: &str = "[t]\nrw=randtrim\nbs=64k\niodepth=1\nnorandommap\nthinktime=3ms\n\
                     number_ios=200\n";

/// Every scheme of the axis. The factor on the queue is one where the victims are those that were planned when
/// the host opened its superblock. Drawn at random they are not always. Under Zipf's law superblocks empty while
/// the host fills one, so that fewer moves are left than were planned: the pace is too fast at first.
#[test]
fn formula_no_write_waits_long_for_cleaning() {
    for scheme in gc_victim::AXIS.schemes {
        let (uniform, zipf) = match scheme.name {
            "cost-benefit" => (1.0, 1.5),
            "d-choices" => (1.25, 1.75),
            "random" => (1.5, 1.5),
            "random-guarded" => (1.5, 3.0),
            "fifo-guarded" => (1.0, 1.75),
            _ => (1.0, 1.5),
        };
        for (depth, law, trims, precondition, queues) in [
            (32, UNIFORM, "", Precondition::None, uniform),
            (256, UNIFORM, "", Precondition::Random, uniform),
            (32, ZIPF, "", Precondition::Zipf(1.1), zipf),
            (256, ZIPF, "", Precondition::Zipf(1.1), zipf),
            (64, UNIFORM, TRIMS, Precondition::None, 1.5),
            (64, ZIPF, TRIMS, Precondition::Zipf(1.1), zipf),
        ] {
            let victim = format!("schemes.gc_victim={}", scheme.name);
            let set = SMALL_BENCH.iter().map(|s| s.to_string());
            let load = Load {
                drive: "bench-4g",
                set: set.chain([victim]).collect(),
                precondition,
                depth,
                job: format!("bs=4k\n{law}io_size=300m\n{trims}"),
                seed: 1,
            };
            writes_are_paced(&load, queues);
        }
    }
}

/// A map on flash fills a superblock of its own, nearly all of it with pages that are written again soon. Until
/// it is full it takes of the spare, and so the pace goes up and down: the drive has a superblock more to spare
/// for it.
#[test]
fn formula_no_write_waits_long_for_cleaning_on_qlc() {
    let full = ["capacity=300 MiB", "dram.map_cache=0 B"];
    let cached = ["capacity=284 MiB", "dram.map_cache=512KiB"];
    for (depth, law, drive, queues) in [
        (32, UNIFORM, full, 1.0),
        (256, UNIFORM, full, 1.0),
        (256, ZIPF, full, 1.75),
        (32, UNIFORM, cached, 1.5),
        (256, UNIFORM, cached, 1.5),
    ] {
        let set = SMALL_BLOCKS.iter().chain(IDEAL).copied();
        let set = set.chain(drive).chain(["schemes.gc_victim=greedy"]);
        let load = Load {
            drive: "dc-qlc-15t",
            set: set.map(str::to_string).collect(),
            precondition: Precondition::None,
            depth,
            job: format!("bs=4k\n{law}io_size=600m\n"),
            seed: 1,
        };
        writes_are_paced(&load, queues);
    }
}

/// Drives of a real size. The rate is that of the whole run: uniform writes on a drive that was
/// overwritten cost the same all the time.
#[test]
#[ignore = "minutes: cargo test --release -p firstread-testkit --test whole_drive -- --ignored paced"]
fn formula_writes_of_large_drives_are_paced() {
    // One die a channel: of the 64 superblocks, 16 are erased in four million writes.
    let scaled: &[&str] = &[
        "geometry.chips_per_channel=1",
        "geometry.dies_per_chip=1",
        "geometry.blocks_per_plane=64",
        "capacity=136 GiB",
    ];
    for (name, set, depth, writes) in [
        ("ct-qlc", scaled, 32, 4_000_000),
        ("ct-qlc", &[], 32, 600_000),
        ("ct-qlc", &[], 256, 600_000),
        ("bench-4g", &[], 32, 1_000_000),
        ("bench-4g", &[], 256, 1_000_000),
    ] {
        for victim in ["schemes.gc_victim=greedy", "schemes.gc_victim=cost-benefit"] {
            let set: Vec<&str> = set.iter().copied().chain([victim]).collect();
            let profile = profile(name, &set);
            let mode = profile.mode;
            let erase_ns = profile.chip.mode(mode).unwrap().erase_ns;
            let state = DriveState {
                precondition: Precondition::Random,
                ..DriveState::default()
            };
            let mut made = firstread_testkit::drive(profile, &state, 1);
            let program_ns = made.medium().program_ns(mode).unwrap();
            let job =
                format!("[w]\nrw=randwrite\nbs=4k\nnorandommap\niodepth={depth}\nio_size=100g\n");
            let stats = firstread_testkit::try_run(&mut made, &job, 1, Some(writes)).unwrap();
            let write = &stats.all.write;
            let queue_ns = depth * stats.all.runtime_ns / write.count();
            let bound = queue_ns + erase_ns + PROGRAMS * program_ns;
            let what = format!(
                "{name} {set:?} QD{depth}, seed 1: longest {} ns, bound {bound} ns",
                write.max_ns()
            );
            println!("{what}");
            assert!(stats.counters.slots_moved > writes, "{what}");
            assert!(write.max_ns() <= bound, "{what}");
        }
    }
}
