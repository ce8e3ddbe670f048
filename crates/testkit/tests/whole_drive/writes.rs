//! Whether writes end, whatever they wait for.

use firstread_core::HostOp;
use firstread_drive::{DriveState, Precondition};
use firstread_testkit::{IDEAL, SMALL_BLOCKS, Scripted, aged, drive, play, profile};

const SLOT: u64 = 4096;
/// Slots of a page row, of which there is one a die in a stripe.
const ROW: u64 = 8;
/// Slots of a wordline over all dies, which is a third of the write buffer.
const WORDLINE: u64 = 128;

/// Two writes change slots in part and so read the old ones first. While the write buffer is full
/// both reads end; `later` ends last and goes on first, up to a slot that `earlier` still holds.
#[test]
fn writes_in_part_that_overlap_do_not_wait_for_each_other_forever() {
    let set: Vec<&str> = SMALL_BLOCKS.iter().chain(IDEAL).copied().collect();
    let mut drive = drive(profile("ct-qlc", &set), &aged(0, 0), 1);
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
        let mut drive = drive(profile("ct-qlc", &set), &aged(0, 0), 1);
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
        let mut drive = drive(profile("ct-qlc", &set), &aged(0, 0), 1);
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

/// Random writes over a full drive, from the first one after the fill on. Cleaning is spread over them,
/// so that none waits for much longer than those before it in the queue take: twice the time in which a
/// queue is served, since cleaning costs up to twice the average while it goes through the fill for the
/// first time, an erase, and some programs. A superblock takes hundreds of them.
fn longest_write(
    drive: &str,
    set: &[&str],
    precondition: Precondition,
    (depth, job): (u64, &str),
    programs: u64,
) {
    let profile = profile(drive, set);
    let cell_mode = profile.mode;
    let erase_ns = profile.chip.mode(cell_mode).unwrap().erase_ns;
    let state = DriveState {
        precondition,
        ..DriveState::default()
    };
    let mut made = firstread_testkit::drive(profile, &state, 1);
    let program_ns = made.medium().program_ns(cell_mode).unwrap();
    let job = format!("[w]\nrw=randwrite\nbs=4k\nnorandommap\niodepth={depth}\n{job}");
    let stats = firstread_testkit::try_run(&mut made, &job, 1, None).unwrap();
    let write = &stats.all.write;
    let queue_ns = depth * stats.all.runtime_ns / write.count();
    let bound = 2 * queue_ns + erase_ns + programs * program_ns;
    let what = format!(
        "{drive} {set:?} {precondition}, {job:?}, seed 1: longest {} ns, bound {bound} ns: {depth} writes \
         take {queue_ns} ns, a program {program_ns} ns",
        write.max_ns()
    );
    println!("{what}");
    assert!(stats.counters.erases > 30, "{what}: {:?}", stats.counters);
    assert!(write.max_ns() < bound, "{what}");
}

/// One plane of two dies: a superblock is 512 slots on 128 wordlines.
const SMALL_BENCH: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=1",
    "geometry.blocks_per_plane=64",
    "capacity=108 MiB",
    "schemes.gc_victim=greedy",
];

#[test]
fn formula_no_write_waits_long_for_cleaning() {
    let uniform = "io_size=200m\n";
    let zipf = "random_distribution=zipf:0.9\nio_size=200m\n";
    let trims = "io_size=200m\n[t]\nrw=randtrim\nbs=64k\niodepth=1\nnorandommap\nthinktime=3ms\n\
                 number_ios=300\n";
    for (depth, job, precondition) in [
        (32, uniform, Precondition::None),
        (256, uniform, Precondition::Random),
        (128, zipf, Precondition::None),
        (32, zipf, Precondition::Zipf(0.9)),
        (64, trims, Precondition::None),
    ] {
        longest_write("bench-4g", SMALL_BENCH, precondition, (depth, job), 12);
    }
}

/// The superblocks that pages of the map open are not foreseen: with a map on flash, writes wait for
/// longer.
#[test]
fn formula_no_write_waits_long_for_cleaning_on_qlc() {
    for (map_cache, programs) in [("dram.map_cache=0 B", 12), ("dram.map_cache=512KiB", 24)] {
        let mut set = SMALL_BLOCKS.to_vec();
        set.extend(IDEAL);
        set.extend(["capacity=300 MiB", map_cache]);
        let job = (256, "io_size=600m\n");
        longest_write("ct-qlc", &set, Precondition::None, job, programs);
    }
}
