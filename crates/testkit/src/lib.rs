//! For tests of a simulated drive: drives and runs in a line, what passed the firmware's ports ([`sequence`]), and a
//! digest of a run that must be the same on every host. Tests of the firmware alone stand on `firstread-faulty-flash`.

pub mod sequence;

use std::sync::{Mutex, PoisonError};

use firstread_core::{HostOp, Ns};
use firstread_drive::profile::{DriveProfile, Library, Override, load_drive};
use firstread_drive::tables::DriveTables;
use firstread_drive::{CutAt, Drive, DriveState, Host, Precondition, RunError, RunStats, tables};
use firstread_firmware::policy::AXES;
use firstread_workload::{TraceRecord, fio};

/// Overrides for a drive whose cells never err.
pub const IDEAL: &[&str] = &["cells=ideal", "schemes.read_levels=factory"];

/// Overrides that cut the drive `dc-qlc-15t` down to four dies on two channels, and give it a code whose
/// decoding time does not depend on the errors: small enough to follow every step by hand.
pub const FOUR_DIES: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=2",
    "geometry.blocks_per_plane=24",
    "capacity=24 GiB",
    "ecc.code=threshold",
    // With so few superblocks, one bad block more or less would show everywhere.
    "chip.failures.factory_bad=0 %",
    // Each test has the schemes that it is about, and otherwise the baseline of every axis.
    "schemes.suspend=none",
    "schemes.wear=none",
    "schemes.read_recovery=none",
    "schemes.gc_victim=fifo",
];

/// Overrides that leave of the drive `dc-qlc-15t` four dies with blocks of 32 wordlines: a superblock is
/// 16 MiB, so that a test reaches the end of blocks and of the free ones.
pub const SMALL_BLOCKS: &[&str] = &[
    "geometry.channels=2",
    "geometry.chips_per_channel=1",
    "geometry.dies_per_chip=2",
    "geometry.planes=2",
    "geometry.blocks_per_plane=24",
    "chip.array.layers=4",
    "capacity=256 MiB",
    "chip.failures.factory_bad=0 %",
    // Each test has the schemes that it is about, and otherwise the baseline of every axis.
    "schemes.suspend=none",
    "schemes.wear=none",
    "schemes.read_recovery=none",
    "schemes.gc_victim=fifo",
];

/// Shipped drive `name` with overrides `PATH=VALUE`.
///
/// # Panics
/// Where the profile is wrong: a test's own mistake.
pub fn profile(name: &str, set: &[&str]) -> DriveProfile {
    let overrides: Vec<Override> = set
        .iter()
        .map(|s| Override::parse(s).unwrap_or_else(|e| panic!("{e}")))
        .collect();
    load_drive(&Library::new(), name, &overrides, AXES).unwrap_or_else(|e| panic!("{e}"))
}

/// The drive `bench-4g` cut down to two dies and 160 superblocks of 512 slots, 15 % of them to spare, overwritten at random: a drive that
/// cleans, small enough to be made often. `set` are further overrides.
///
/// # Panics
/// As [`profile`].
pub fn overwritten(set: &[&str]) -> Drive {
    let small = [
        "geometry.channels=2",
        "geometry.chips_per_channel=1",
        "geometry.dies_per_chip=1",
        "geometry.blocks_per_plane=160",
        "capacity=272 MiB",
    ];
    let state = DriveState {
        precondition: Precondition::Random,
        ..DriveState::default()
    };
    drive(profile("bench-4g", &[&small, set].concat()), &state, 1)
}

/// A full drive, `age_h` hours at 55 °C after its fill, worn by `pe_cycles`.
pub fn aged(age_h: u64, pe_cycles: u32) -> DriveState {
    let age = Ns::from_h(age_h);
    DriveState {
        age: (age, age),
        pe_cycles: (pe_cycles, pe_cycles),
        temperature_c: 55.0,
        ..DriveState::default()
    }
}

/// The voltage tables of the chip of `profile`, to make several drives of them.
///
/// # Panics
/// Where the chip has none.
pub fn voltages(profile: &DriveProfile) -> DriveTables {
    // Most drives of a test program have the same few chips, and a chip takes longer to characterize than many runs do.
    static KNOWN: Mutex<Vec<(DriveProfile, DriveTables)>> = Mutex::new(Vec::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |(of, _): &&(DriveProfile, DriveTables)| {
        of.chip == profile.chip
            && of.mode == profile.mode
            && of.other_modes().eq(profile.other_modes())
            && changes_chip(of) == changes_chip(profile)
    };
    if let Some((_, tables)) = known().iter().find(same) {
        return tables.clone();
    }
    let tables = tables::for_drive(profile).unwrap_or_else(|e| panic!("{e}"));
    known().push((profile.clone(), tables.clone()));
    tables
}

/// Whether an override is of the chip: a shipped chip has tables that are shipped with it.
fn changes_chip(profile: &DriveProfile) -> bool {
    let mut entries = profile.resolved.iter();
    entries.any(|entry| entry.overridden && entry.path.starts_with("chip."))
}

/// A drive in `state`.
///
/// # Panics
/// Where it cannot be made.
pub fn drive(profile: DriveProfile, state: &DriveState, seed: u64) -> Drive {
    let tables = voltages(&profile);
    Drive::new(profile, tables, state, seed).unwrap_or_else(|e| panic!("{e}"))
}

/// A request of a script: microseconds after the start of the run, what, first byte, bytes.
pub type Scripted = (u64, HostOp, u64, u32);

/// Runs the requests of `script` on `drive`, each submitted at its time.
pub fn play(drive: &mut Drive, script: &[Scripted]) -> Result<RunStats, RunError> {
    scripted(script).run(drive, &mut |_| {})
}

/// The same, with the power cut at `cut`.
pub fn play_until(
    drive: &mut Drive,
    script: &[Scripted],
    cut: CutAt,
) -> Result<RunStats, RunError> {
    let mut host = scripted(script);
    host.cut_power_at(cut);
    host.run(drive, &mut |_| {})
}

fn scripted(script: &[Scripted]) -> Host<'_> {
    let records = script.iter().map(|&(us, op, offset_bytes, len_bytes)| {
        Ok(TraceRecord {
            time_ns: us * 1_000,
            op,
            offset_bytes,
            len_bytes,
            device: 0,
            placement: 0,
        })
    });
    Host::trace("script", records, u32::MAX, None)
}

/// Runs the fio job file `job` on `drive`, `limit` requests of it at most.
pub fn try_run(
    drive: &mut Drive,
    job: &str,
    seed: u64,
    limit: Option<u64>,
) -> Result<RunStats, RunError> {
    let workload = fio::parse("test.fio", job)?;
    let host = Host::jobs(&workload, drive.capacity_bytes(), seed, limit)?;
    host.run(drive, &mut |_| {})
}

/// The same on a fresh drive; any error fails the test.
///
/// # Panics
/// Where the drive cannot be made or the run fails.
pub fn run(profile: DriveProfile, state: &DriveState, job: &str, limit: u64) -> RunStats {
    try_run(&mut drive(profile, state, 1), job, 1, Some(limit)).unwrap_or_else(|e| panic!("{e}"))
}

/// Counts and latencies of a run, folded into one number (FNV-1a): equal where the runs are.
pub fn digest_of(stats: &RunStats) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |value: u64| {
        for byte in value.to_le_bytes() {
            hash = (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    let c = &stats.counters;
    c.retries.iter().for_each(|&n| add(n));
    [
        c.uncorrectable,
        c.background_reads,
        c.host_slots_written,
        stats.requests,
        stats.events,
        stats.simulated.0,
    ]
    .into_iter()
    .for_each(&mut add);
    for latencies in [&stats.all.read, &stats.all.write] {
        add(latencies.count());
        add(latencies.mean_ns().to_bits());
        [50.0, 99.0, 99.99]
            .into_iter()
            .for_each(|p| add(latencies.percentile(p).ns));
    }
    hash
}

/// The run of the portability test: an aged drive under CT-QLC with reads and writes.
pub fn digest() -> u64 {
    let job = "[j]\nrw=randrw\nrwmixread=90\nbs=16k\niodepth=32\nnorandommap\nrandom_distribution=zipf:1.1\n";
    digest_of(&run(
        profile("dc-qlc-15t", &["schemes.read_levels=ct-qlc"]),
        &aged(28, 2500),
        job,
        20_000,
    ))
}

/// [`digest`], for a host that loads this crate as wasm.
#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code)] // SAFETY: an exported name is unsafe only where two are the same.
#[unsafe(no_mangle)]
pub extern "C" fn firstread_digest() -> u64 {
    digest()
}
