//! Whether every shipped drive runs with every scheme.

use firstread_core::CellMode;
use firstread_core::params::{Need, Role};
use firstread_drive::profile::DRIVES;
use firstread_drive::{Drive, RunStats};
use firstread_firmware::policy::AXES;
use firstread_testkit::{aged, profile, try_run, voltages};

/// Reads, writes and flushes; then trims.
const MIXED: &str = "[global]\nbs=4k\nsize=64m\niodepth=8\nnorandommap\n\
                     [mixed]\nrw=randrw\nfsync=16\nnumber_ios=300\n\
                     [trims]\nstonewall\nrw=randtrim\nnumber_ios=40\n\
                     [after]\nstonewall\nrw=randread\nbs=16k\nnumber_ios=60\n";

fn adds_up(drive: &Drive, stats: &RunStats, what: &str) {
    let all = &stats.all;
    let counted = all.read.count() + all.write.count() + all.trim.count() + all.flush.count();
    assert_eq!(counted, stats.requests, "{what}: requests in and out");
    // Flushes come on top of what `number_ios` counts.
    assert_eq!(stats.requests, 400 + all.flush.count(), "{what}");
    assert_eq!(all.trim.count(), 40, "{what}");
    assert_eq!(all.flush.count(), all.write.count() / 16, "{what}");
    let slot_bytes = drive.profile().geometry.slot_bytes as u64;
    let slots = stats.counters.host_slots_written;
    assert_eq!(slots * slot_bytes, all.write.bytes, "{what}: slots written");
    let rows: u64 = stats.counters.retries.iter().sum();
    let reads = all.read.count();
    // A read of 16 KiB lies on one multi-plane page, unless a part of it was written or trimmed since.
    assert!(
        rows + stats.counters.uncorrectable > reads / 2,
        "{what}: {rows} rows"
    );
    assert!(
        rows + stats.counters.uncorrectable < 4 * reads,
        "{what}: {rows} rows"
    );
}

#[test]
fn smoke_every_drive_runs_every_scheme() {
    for (name, _) in DRIVES {
        let shipped = profile(name, &[]);
        let capacity_mib = shipped.capacity_bytes >> 20;
        let tables = voltages(&shipped);
        for axis in AXES {
            for scheme in axis.schemes {
                let what = format!("{name}, {} = {}", axis.name, scheme.name);
                let set = format!("schemes.{}={}", axis.name, scheme.name);
                let mut set = vec![set];
                // Soft senses are for codes with a soft decoder; parity and streams take space that not every
                // drive can spare.
                if scheme.requires(Need::SoftDecoder) {
                    set.push("ecc.code=ldpc-1k".into());
                }
                if scheme.requires(Need::StripeParity) || axis.name == "stream" {
                    set.push(format!("capacity={} MiB", capacity_mib / 2));
                }
                // Cells without voltages are for reads that walk the factory's table, and for nothing after it.
                let of_reads = ["read_levels", "retry", "read_recovery"].contains(&axis.name);
                if !shipped.cells.have_voltages() && of_reads && scheme.role != Role::Baseline {
                    set.push("cells=modelled".into());
                }
                let mut tables = tables.clone();
                if scheme.requires(Need::CellModes) {
                    let sparser = [CellMode::Slc, CellMode::Tlc];
                    let has = |mode| mode < shipped.mode && shipped.chip.mode(mode).is_some();
                    if !sparser.into_iter().all(has) {
                        continue;
                    }
                    set.push("firmware.cell_modes=\"all\"".into());
                    set.push(format!("capacity={} MiB", capacity_mib / 2));
                    let set: Vec<&str> = set.iter().map(String::as_str).collect();
                    tables = voltages(&profile(name, &set));
                }
                let set: Vec<&str> = set.iter().map(String::as_str).collect();
                let profile = profile(name, &set);
                let mut drive = Drive::new(profile, tables, &aged(3, 500), 1)
                    .unwrap_or_else(|e| panic!("{what}: {e}"));
                assert!(drive.capacity_bytes() > 0, "{what}");
                let stats =
                    try_run(&mut drive, MIXED, 1, None).unwrap_or_else(|e| panic!("{what}: {e}"));
                adds_up(&drive, &stats, &what);
            }
        }
    }
}
