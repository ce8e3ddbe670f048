//! Whether recorded traces run to their end, every request served and every read the last version
//! written. The traces are not part of the repository.
#![allow(clippy::disallowed_methods)] // tests open files

use std::cell::Cell;
use std::fs::File;
use std::path::PathBuf;

use firstread_drive::{DriveError, Host, RunStats};
use firstread_testkit::{aged, drive, profile};
use firstread_workload::{TraceOptions, TraceReader};

/// The trace file `name`, or none, said aloud, where it is not there.
fn trace(name: &str) -> Option<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");
    let path = PathBuf::from(folder).join(name);
    if path.is_file() {
        return Some(path);
    }
    eprintln!("SKIPPED: no trace at {}", path.display());
    None
}

/// Runs `limit` records of a trace on the 15.36 TB drive; also how many records were read.
fn replay(path: &PathBuf, wrap: bool, limit: u64) -> Result<(RunStats, u64), DriveError> {
    let mut drive = drive(profile("ct-qlc", &[]), &aged(28, 300), 1);
    let options = TraceOptions {
        capacity_bytes: drive.capacity_bytes(),
        wrap,
        limit: Some(limit),
        ..TraceOptions::default()
    };
    let file = File::open(path).unwrap();
    let reader = TraceReader::open(&path.to_string_lossy(), file, options)?;
    let records = Cell::new(0);
    let counted = reader.inspect(|r| records.set(records.get() + r.is_ok() as u64));
    let host = Host::trace("trace", counted, 4096, None);
    let stats = drive.run(host, &mut |_| {})?;
    Ok((stats, records.get()))
}

#[test]
fn real_cloudphysics_trace_runs_to_its_end() {
    let Some(path) = trace("cloudPhysicsIO.vscsi.zst") else {
        return;
    };
    // A stale read ends the run with an error.
    let (stats, records) = replay(&path, false, 200_000).unwrap();
    let all = &stats.all;
    assert!(records > 100_000, "{records} records");
    assert_eq!(stats.requests, records, "every request is served");
    assert_eq!(
        all.read.count() + all.write.count() + all.uncorrectable,
        records
    );
    assert_eq!(all.uncorrectable, 0);
    assert!(all.read.count() > 1_000 && all.write.count() > 1_000);
}

#[test]
fn real_traces_of_other_formats_run() {
    for name in [
        "DTRS100M.trace.zst",
        "mqsim_tpcc-small.trace.zst",
        "mqsim_wsrch-small.trace.zst",
        "ssdsim_example_c.ascii.zst",
    ] {
        let Some(path) = trace(name) else {
            continue;
        };
        let (stats, records) = replay(&path, true, 5_000).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(records > 100, "{name}: {records} records");
        assert_eq!(stats.requests, records, "{name}");
        assert_eq!(stats.all.uncorrectable, 0, "{name}");
    }
}
