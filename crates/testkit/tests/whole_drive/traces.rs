//! Whether recorded traces run to their end, every request served and every read the last version
//! written. The traces are not part of the repository.
#![allow(clippy::disallowed_methods)] // tests open files

use std::cell::Cell;
use std::fs::File;
use std::path::PathBuf;

use firstread_core::HostOp;
use firstread_drive::{Host, RunError, RunStats};
use firstread_testkit::{IDEAL, aged, drive, profile};
use firstread_workload::trace::TimeBack;
use firstread_workload::{TraceOptions, TraceReader, TraceRecord};

/// The folder of traces, or none, said aloud, where it is not there.
fn traces() -> Option<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");
    let folder = PathBuf::from(folder);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("SKIPPED: there are no traces at {}", folder.display());
    None
}

/// Runs a trace whole on the 15.36 TB drive; also how many records were read.
fn replay(path: &PathBuf) -> Result<(RunStats, u64), RunError> {
    let mut drive = drive(profile("dc-qlc-15t", &[]), &aged(28, 300), 1);
    let options = TraceOptions {
        capacity_bytes: drive.capacity_bytes(),
        // A few records of the Tencent window go back by one of its seconds.
        on_time_back: TimeBack::Clamp,
        ..TraceOptions::default()
    };
    let file = File::open(path).unwrap();
    let reader = TraceReader::open(&path.to_string_lossy(), file, options)?;
    let records = Cell::new(0);
    let counted = reader.inspect(|r| records.set(records.get() + r.is_ok() as u64));
    let host = Host::trace("trace", counted, 4096, None);
    let stats = host.run(&mut drive, &mut |_| {})?;
    Ok((stats, records.get()))
}

/// Traces by their name in `stats.json`; those without one are counted by hand.
const TRACES: [(Option<&str>, &str); 9] = [
    (Some("DTRS100M"), "DTRS100M.trace.zst"),
    (Some("cloudPhysicsIO"), "cloudPhysicsIO.vscsi.zst"),
    (Some("cydonia_test_cp"), "cydonia_test_cp.csv.zst"),
    (Some("mqsim_tpcc-small"), "mqsim_tpcc-small.trace.zst"),
    (Some("mqsim_wsrch-small"), "mqsim_wsrch-small.trace.zst"),
    (Some("ssdsim_example"), "ssdsim_example_c.ascii.zst"),
    (
        Some("tencent.cut.per_50k.rw_75_25.379"),
        "flashnet_tencent.cut.per_50k.rw_75_25.379.trace.zst",
    ),
    (None, "ssdsim1020xyr_test_trace.ascii.zst"),
    (None, "evelii_blkparse_sample.txt.zst"),
];

#[test]
fn real_traces_run_whole_and_what_is_served_equals_their_statistics() {
    let Some(folder) = traces() else {
        return;
    };
    let reference = std::fs::read(folder.join("stats.json")).expect("stats.json");
    let reference: serde_json::Value = serde_json::from_slice(&reference).unwrap();
    let known = reference["traces"].as_object().unwrap().len();
    assert_eq!(known, TRACES.iter().filter(|t| t.0.is_some()).count());
    for (key, file) in TRACES {
        let path = folder.join(file);
        // A stale read ends the run with an error.
        let (stats, records) = replay(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
        let (read, write) = (&stats.all.read, &stats.all.write);
        assert_eq!(stats.requests, records, "{file}: every record is served");
        assert_eq!(stats.all.uncorrectable(), 0, "{file}");
        assert_eq!(read.count() + write.count(), records, "{file}");
        let Some(key) = key else {
            let expected = match file.starts_with("ssdsim") {
                true => [(0, 0), (100, 991_232)],
                false => [(1_695, 198_160_384), (0, 0)],
            };
            let got = [read, write].map(|l| (l.count(), l.bytes));
            assert_eq!(got, expected, "{file}");
            continue;
        };
        let of = &reference["traces"][key];
        assert_eq!(Some(records), of["requests"].as_u64(), "{file}");
        assert_eq!(Some(read.count()), of["read_requests"].as_u64(), "{file}");
        for (bytes, name) in [(read.bytes, "read_GB"), (write.bytes, "write_GB")] {
            // The reference is rounded to five decimals of a GB.
            let wanted = of[name].as_f64().unwrap();
            assert!(
                (bytes as f64 / 1e9 - wanted).abs() < 0.6e-5,
                "{file}: {bytes} B, {wanted} GB"
            );
        }
    }
}

#[test]
fn fuzz_a_record_that_no_clock_reaches_is_an_error() {
    for time_ns in [1 << 62, u64::MAX - 1, u64::MAX] {
        let record = |time_ns| {
            Ok(TraceRecord {
                time_ns,
                op: HostOp::Read,
                offset_bytes: 0,
                len_bytes: 4096,
                device: 0,
                placement: 0,
            })
        };
        let host = Host::trace("late", [record(0), record(time_ns)].into_iter(), 8, None);
        let mut drive = drive(profile("dc-qlc-15t", IDEAL), &aged(1, 0), 1);
        let error = host.run(&mut drive, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("146 years"), "{time_ns}: {error}");
    }
}
