//! Real traces, where they are at hand, against statistics that were made of them elsewhere.
#![allow(clippy::disallowed_methods)] // Tests open files.

use std::fs::File;
use std::path::{Path, PathBuf};

use firstread_core::HostOp;
use firstread_workload::trace::TimeBack;
use firstread_workload::{TraceOptions, TraceReader};
use serde_json::Value;

fn traces() -> Option<PathBuf> {
    let path = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/traces"
    ));
    if path.is_dir() {
        return Some(path.to_owned());
    }
    println!(
        "SKIPPED: {} is not there, no real trace was read",
        path.display()
    );
    None
}

#[derive(Debug, Default)]
struct Counts {
    reads: u64,
    writes: u64,
    read_bytes: u64,
    write_bytes: u64,
    span_ns: u64,
    aligned_4k: u64,
    format: &'static str,
}

fn count(path: &Path) -> Counts {
    let options = TraceOptions {
        // A few records of the Tencent window go back by one of its seconds.
        on_time_back: TimeBack::Clamp,
        ..TraceOptions::default()
    };
    let file = File::open(path).expect("a trace");
    let reader = TraceReader::open("trace", file, options).unwrap_or_else(|e| panic!("{e}"));
    let mut counts = Counts {
        format: reader.format().name,
        ..Counts::default()
    };
    for record in reader {
        let record = record.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        match record.op {
            HostOp::Read => {
                counts.reads += 1;
                counts.read_bytes += u64::from(record.len_bytes);
            }
            HostOp::Write => {
                counts.writes += 1;
                counts.write_bytes += u64::from(record.len_bytes);
            }
            other => panic!("{other:?}"),
        }
        counts.span_ns = record.time_ns;
        let end = record.offset_bytes + u64::from(record.len_bytes);
        counts.aligned_4k += u64::from(record.offset_bytes % 4096 == 0 && end % 4096 == 0);
    }
    counts
}

#[test]
fn counts_bytes_and_span_equal_the_reference() {
    let Some(dir) = traces() else { return };
    let stats = std::fs::read(dir.join("stats.json")).expect("stats.json");
    let stats: Value = serde_json::from_slice(&stats).expect("valid JSON");
    let files = [
        (
            "tencent.cut.per_50k.rw_75_25.379",
            "flashnet_tencent.cut.per_50k.rw_75_25.379.trace",
            "flashnet",
        ),
        ("mqsim_tpcc-small", "mqsim_tpcc-small.trace", "ssdsim-ns"),
        ("mqsim_wsrch-small", "mqsim_wsrch-small.trace", "ssdsim-ns"),
        ("DTRS100M", "DTRS100M.trace", "ssdsim-ns"),
        ("cloudPhysicsIO", "cloudPhysicsIO.vscsi", "vscsi"),
        ("cydonia_test_cp", "cydonia_test_cp.csv", "cloudphysics-csv"),
        ("ssdsim_example", "ssdsim_example_c.ascii", "ssdsim-ns"),
    ];
    assert_eq!(
        stats["traces"].as_object().map(|t| t.len()),
        Some(files.len())
    );
    for (key, file, format) in files {
        let reference = &stats["traces"][key];
        let got = count(&dir.join(format!("{file}.zst")));
        assert_eq!(got.format, format, "{file}");
        let whole = |name: &str| reference[name].as_u64().expect("a count");
        let number = |name: &str| reference[name].as_f64().expect("a number");
        assert_eq!(got.reads, whole("read_requests"), "{file} reads");
        assert_eq!(got.reads + got.writes, whole("requests"), "{file} requests");
        // The reference is rounded to five decimals of a GB, three of a second, four of a share.
        for (got, wanted) in [
            (got.read_bytes, number("read_GB")),
            (got.write_bytes, number("write_GB")),
        ] {
            assert!(
                (got as f64 / 1e9 - wanted).abs() < 0.6e-5,
                "{file}: {got} B, {wanted} GB"
            );
        }
        let span_s = got.span_ns as f64 / 1e9;
        assert!(
            (span_s - number("span_s")).abs() < 0.6e-3,
            "{file}: {span_s} s"
        );
        let aligned = got.aligned_4k as f64 / (got.reads + got.writes) as f64;
        let wanted = number("aligned_4K");
        assert!(
            (aligned - wanted).abs() < 0.6e-4,
            "{file}: {aligned} aligned, {wanted}"
        );
        let means = &reference["size_mean_B"];
        let mean = got.read_bytes as f64 / got.reads as f64;
        assert!(
            (mean - means["read"].as_f64().expect("a mean")).abs() < 0.06,
            "{file}"
        );
    }
}

#[test]
fn files_without_a_reference_are_read_to_their_end() {
    let Some(dir) = traces() else { return };
    // Counted by hand: lines of the DiskSim file, events with action Q of the blkparse file.
    let disksim = count(&dir.join("ssdsim1020xyr_test_trace.ascii.zst"));
    assert_eq!(
        (disksim.format, disksim.writes, disksim.reads),
        ("disksim", 100, 0)
    );
    assert_eq!(disksim.write_bytes, 991_232);
    assert_eq!(disksim.span_ns, 39_077_826_172);
    let blkparse = count(&dir.join("evelii_blkparse_sample.txt.zst"));
    assert_eq!(
        (blkparse.format, blkparse.reads, blkparse.writes),
        ("blkparse", 1695, 0)
    );
    assert_eq!(blkparse.read_bytes, 198_160_384);
    assert_eq!(blkparse.span_ns, 679_741_681);
}
