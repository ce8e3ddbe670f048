//! That no load, wear or seed makes a drive move pages without end.

use firstread_core::Stream;
use firstread_drive::profile::{Library, Override, load_drive};
use firstread_drive::{Drive, DriveState, Ended, Precondition};
use firstread_firmware::observe::SuperblockUse;
use firstread_firmware::policy::{AXES, gc_victim, wear};
use firstread_testkit::{try_run, voltages};

/// Superblocks of the drives.
const BLOCKS: u64 = 32;
/// Slots of one: far more than the bound, so that a drive could pass it.
const SUPERBLOCK: u64 = 2048;
/// Superblocks of the reserve.
const RESERVE: u64 = 3;

/// A drive, its state and its load.
#[derive(Debug)]
struct Drawn {
    set: Vec<String>,
    state: DriveState,
    job: String,
}

fn draw(seed: u64) -> Drawn {
    let stream = Stream::new(seed).named("moves");
    let pick = |i: u64, n: usize| stream.at(i).below(n as u64) as usize;
    let schemes = |i, axis: &firstread_core::params::Axis| {
        let name = axis.schemes[pick(i, axis.schemes.len())].name;
        format!("schemes.{}={name}", axis.name)
    };
    // From next to nothing to spare, with which no drive can be made, to a third of the drive.
    let spare = [8, 100, 600, 1_100, 2_048, 4_096, 10_000, 24_000][pick(0, 8)];
    let slots = (BLOCKS - RESERVE) * SUPERBLOCK - spare - stream.at(1).below(spare);
    let grown = ["0 %", "5 %", "60 %"][pick(2, 3)];
    let set = vec![
        "geometry.channels=4".to_string(),
        "geometry.chips_per_channel=1".to_string(),
        "geometry.dies_per_chip=2".to_string(),
        format!("geometry.blocks_per_plane={BLOCKS}"),
        format!("capacity={} KiB", 4 * slots),
        "chip.modes.slc.endurance=400 P/E".to_string(),
        format!("chip.failures.grown_bad={grown}"),
        ["chip.failures.shape=1 x", "chip.failures.shape=8 x"][pick(3, 2)].to_string(),
        schemes(4, &gc_victim::AXIS),
        schemes(5, &wear::AXIS),
    ];
    let pe_cycles = [0, 100, 300, 400, 800][pick(6, 5)];
    let precondition = [
        Precondition::None,
        Precondition::Random,
        Precondition::Zipf(1.1),
    ][pick(7, 3)];
    let law = [
        "",
        "random_distribution=zipf:0.9\n",
        "random_distribution=zipf:1.3\n",
        // Nearly all garbage is in young superblocks, and old ones have a slot or two of it.
        "random_distribution=zoned:99/1:1/99\n",
    ][pick(8, 4)];
    let (rw, size) = [
        ("randwrite", "4k"),
        ("write", "16k"),
        ("randrw", "4k"),
        ("randwrite", "2k"),
    ][pick(9, 4)];
    let depth = [1, 32, 256][pick(10, 3)];
    let trims = [
        "",
        "[t]\nrw=randtrim\nbs=64k\nnorandommap\nthinktime=5ms\nnumber_ios=300\n",
    ][pick(11, 2)];
    let job = format!(
        "[w]\nrw={rw}\nbs={size}\nnorandommap\niodepth={depth}\n{law}io_size={}k\n{trims}",
        // Shortly after the fill hardly any superblock has garbage.
        4 * slots * [1, 3, 12][pick(12, 3)] / 16
    );
    let state = DriveState {
        precondition,
        pe_cycles: (pe_cycles, pe_cycles),
        ..DriveState::default()
    };
    Drawn { set, state, job }
}

/// Moves for each slot that the host writes, and the bound; none where the drive cannot be made.
fn moves(seed: u64) -> Option<(f64, f64)> {
    let drawn = draw(seed);
    let set = drawn.set.iter().map(|s| Override::parse(s).unwrap());
    let set: Vec<Override> = set.collect();
    let made = load_drive(&Library::new(), "bench-4g", &set, AXES)
        .map_err(|e| e.to_string())
        .and_then(|profile| {
            let tables = voltages(&profile);
            Drive::new(profile, tables, &drawn.state, seed).map_err(|e| e.to_string())
        });
    let mut drive = match made {
        Ok(drive) => drive,
        Err(error) => {
            assert!(error.contains("spare"), "seed {seed}: {drawn:?}: {error}");
            return None;
        }
    };
    let capacity = drive.capacity_bytes() / 4096;
    let stats = try_run(&mut drive, &drawn.job, seed, None);
    let stats = stats.unwrap_or_else(|e| panic!("seed {seed}: {drawn:?}: {e}"));
    let c = &stats.counters;
    let usable = drive
        .blocks()
        .iter()
        .filter(|(_, info)| info.usage != SuperblockUse::Bad);
    let usable = usable.count() as u64;
    // A drive that has come to its end had as much to spare as every drive must have.
    let spare = match stats.ended {
        Ended::Completed => (usable * SUPERBLOCK).saturating_sub(capacity + RESERVE * SUPERBLOCK),
        Ended::EndOfLife(_) => 0,
        Ended::Interrupted => unreachable!("nobody interrupts this run"),
    };
    let spare = spare.max(BLOCKS * SUPERBLOCK / 64);
    // The emptiest frees as much as all do on average; what a guarded scheme chooses, a sixteenth of that. A round of `fifo` over all
    // superblocks frees the spare, and the last round may not have ended. `random` frees the spare in as many moves on average.
    let is = |name: &str| drawn.set.iter().any(|s| s == name);
    let written = c.host_slots_written.max(SUPERBLOCK);
    let round = (BLOCKS * SUPERBLOCK) as f64;
    let (share, rest) = match () {
        () if is("schemes.gc_victim=greedy") => (1, 0.0),
        () if is("schemes.gc_victim=fifo") => (1, round / written as f64),
        () if is("schemes.gc_victim=random") => (2, round / written as f64),
        () => (gc_victim::LEAST_SHARE, 0.0),
    };
    let bound = share as f64 * round / spare as f64 + rest;
    let each = c.slots_moved as f64 / written as f64;
    println!(
        "seed {seed}: {each:.2} moves a slot, bound {bound:.0}, {:?}, {}",
        stats.ended, &drawn.set[8]
    );
    assert!(
        each <= bound,
        "seed {seed}: {each:.1} moves a slot, bound {bound:.1}: {drawn:?} {c:?}"
    );
    Some((each, bound))
}

/// Draws `seeds`, of which more than `fewest` are drives that can be made: about a quarter.
fn none_moves_without_end(seeds: core::ops::Range<u64>, fewest: usize) {
    let n = seeds.clone().count();
    let drawn: Vec<(f64, f64)> = seeds.filter_map(moves).collect();
    let most = drawn.iter().map(|(each, _)| *each).fold(0.0, f64::max);
    println!(
        "{} drives of {n}; {most:.1} moves a slot at most",
        drawn.len()
    );
    assert!(
        drawn.len() > fewest && most > 5.0,
        "{} of {n}, {most:.1}",
        drawn.len()
    );
}

#[test]
fn model_no_drive_moves_pages_without_end() {
    none_moves_without_end(0..100, 20);
}

#[test]
#[ignore = "minutes: cargo test --release -p firstread-testkit --test whole_drive -- --ignored without_end"]
fn model_of_thousands_no_drive_moves_pages_without_end() {
    none_moves_without_end(100..4_000, 950);
}
