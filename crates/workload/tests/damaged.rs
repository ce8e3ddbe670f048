//! Damaged job files and traces: no panic, no run without end, and an error that says where.
#![allow(
    clippy::disallowed_methods,
    reason = "how many inputs are tried and from which seed on is told by the environment"
)]

mod damage;

use damage::{Damage, say};
use firstread_core::Stream;
use firstread_workload::error::{Location, Position, WorkloadError};
use firstread_workload::trace::FORMATS;
use firstread_workload::{Format, JobStream, TraceOptions, TraceReader, fio};

/// Traces of every layout, with the format of each where it is named.
const TRACES: [(&str, &[u8]); 19] = [
    ("msr", include_bytes!("data/msr.csv")),
    ("alibaba", include_bytes!("data/alibaba.csv")),
    ("tencent", include_bytes!("data/tencent.csv")),
    ("spc", include_bytes!("data/spc.csv")),
    ("systor17", include_bytes!("data/systor17.csv")),
    ("cloudphysics-csv", include_bytes!("data/cloudphysics.csv")),
    ("flashnet", include_bytes!("data/flashnet.csv")),
    ("ssdsim-ns", include_bytes!("data/ssdsim.ascii")),
    ("ssdsim-ns", include_bytes!("data/ssdsim.ascii.gz")),
    ("ssdsim-ns", include_bytes!("data/ssdsim.ascii.zst")),
    ("disksim", include_bytes!("data/disksim.ascii")),
    ("blkparse", include_bytes!("data/blkparse.txt")),
    ("blkparse-issue", include_bytes!("data/blkparse-issue.txt")),
    ("fio-iolog", include_bytes!("data/iolog2.log")),
    ("fio-iolog", include_bytes!("data/iolog3.log")),
    ("libcachesim-csv", include_bytes!("data/libcachesim.csv")),
    ("oracle-general", include_bytes!("data/oracle-general.bin")),
    ("vscsi", include_bytes!("data/vscsi1.bin")),
    ("vscsi", include_bytes!("data/vscsi2.bin")),
];

/// Job files with options of all kinds.
const JOBS: [&str; 5] = [
    include_str!("data/mixed.fio"),
    "[global]\nrw=randrw\nrwmixread=70\nbssplit=4k/50:16k/30:64k/20\nsize=64m\n[a]\nnumjobs=3\n\
     random_distribution=zoned:60/10:30/20:10/70\nrate_iops=1k,2k\nrate_process=poisson\n\
     [b]\nstonewall\nrw=randtrimwrite\nbs=8k\nfsync=4\nthinktime=1ms\nthinktime_blocks=3\n",
    "[a]\nrw=read:8k\nbs=4k\n[b]\nrw=randwrite\nrandom_distribution=zipf:1.1:0.5\noffset=10%\n\
     offset_increment=1m\nnumjobs=2\nloops=3\nio_size=50%\n[c]\nrw=write\nbsrange=512-64k\nfilesize=1m\nfill_device=1\n\
     startdelay=1s-2s\nwait_for=b\nexitall\nlatency_target=1ms\nlatency_window=10ms\n",
    "[a]\n# firstread: temperature=55\nrw=randread\nblockalign=4k\nbs=16k\npercentage_random=40\nruntime=2s\ntime_based\n\
     ramp_time=1\npercentile_list=50:99:99.99\nflow=3\nflow_id=1\n[b]\nnew_group\nrw=readwrite\nzonesize=64k\nzoneskip=8k\n\
     randseed=7\nsync=dsync\n",
    "[global]\nrw=randwrite\nfdp=1\nplids=0,2-4,7\n[a]\nplid_select=random\n[b]\ndataplacement=fdp\nbs=8k\n\
     [c]\nrw=trimwrite\nfdp_pli=1\nfdp_pli_select=roundrobin\n",
];

/// Where in its input an error is; none where it is about a name that was asked for.
fn place(error: &WorkloadError) -> Option<&Location> {
    use WorkloadError as E;
    match error {
        E::Syntax { place, .. }
        | E::UnknownOption { place, .. }
        | E::UnsupportedOption { place, .. }
        | E::BadValue { place, .. }
        | E::Job { place, .. }
        | E::UnknownFormat { place, .. }
        | E::Record { place, .. }
        | E::TimeBack { place, .. }
        | E::PastTheEnd { place, .. }
        | E::Input { place, .. } => Some(place),
        _ => None,
    }
}

/// That `error` names its file, and a line or byte of an input with so many of them, unless it is about the whole.
fn check(error: &WorkloadError, lines: u64, replay: &str) {
    let place = place(error).unwrap_or_else(|| panic!("{replay}: `{error}` has no place"));
    let text = error.to_string();
    assert!(text.starts_with("damaged"), "{replay}: {text}");
    match place.position {
        Position::Line(line) => {
            assert!(
                (1..=lines).contains(&line),
                "{replay}: {text}: {lines} lines"
            );
            assert!(
                text.starts_with(&format!("damaged:{line}: ")),
                "{replay}: {text}"
            );
        }
        Position::Byte(byte) => {
            assert!(
                text.starts_with(&format!("damaged: byte {byte}: ")),
                "{replay}: {text}"
            );
        }
        Position::Whole => {
            let of_whole = matches!(
                error,
                WorkloadError::Syntax { .. }
                    | WorkloadError::UnknownFormat { .. }
                    | WorkloadError::Input { .. }
            );
            assert!(of_whole, "{replay}: {text}: where?");
        }
    }
}

fn lines(bytes: &[u8]) -> u64 {
    1 + bytes.iter().filter(|&&b| b == b'\n').count() as u64
}

/// A damaged job file is refused, or its jobs have requests on the drive.
fn job_file(bytes: &[u8], replay: &str) -> bool {
    const CAPACITY_BYTES: u64 = 1 << 30;
    let text = String::from_utf8_lossy(bytes);
    let workload = match fio::parse("damaged", &text) {
        Ok(workload) => workload,
        Err(error) => {
            check(&error, lines(bytes), replay);
            return false;
        }
    };
    let mut fit = true;
    for job in workload.jobs.iter().take(8) {
        match JobStream::new(job, CAPACITY_BYTES, 1) {
            Ok(stream) => {
                for r in stream.take(100) {
                    let end = r.offset_bytes + u64::from(r.len_bytes);
                    assert!(end <= CAPACITY_BYTES, "{replay}: a request ends at {end}");
                    let sectors = r.offset_bytes % 512 == 0 && r.len_bytes % 512 == 0;
                    assert!(sectors, "{replay}: {r:?}");
                }
            }
            Err(error) => {
                check(&error, lines(bytes), replay);
                fit = false;
            }
        }
    }
    fit
}

/// A damaged trace has a record for each of its bytes at most, and ends.
fn trace(bytes: &[u8], format: Option<&'static Format>, replay: &str) -> bool {
    const CAPACITY_BYTES: u64 = 1 << 50;
    let options = TraceOptions {
        format,
        capacity_bytes: CAPACITY_BYTES,
        ..TraceOptions::default()
    };
    let mut reader = match TraceReader::open("damaged", bytes, options) {
        Ok(reader) => reader,
        Err(error) => {
            check(&error, lines(bytes), replay);
            return false;
        }
    };
    // Small samples do not expand to more than this when they are decompressed.
    let most = bytes.len() as u64 + 4096;
    let mut records = 0;
    let mut good = true;
    for record in reader.by_ref() {
        records += 1;
        assert!(
            records <= most,
            "{replay}: {records} records of {} bytes",
            bytes.len()
        );
        match record {
            Ok(r) => assert!(
                r.offset_bytes + u64::from(r.len_bytes) <= CAPACITY_BYTES,
                "{replay}: {r:?}"
            ),
            Err(error) => {
                check(&error, most, replay);
                good = false;
            }
        }
    }
    assert!(
        reader.next().is_none(),
        "{replay}: it goes on after its end"
    );
    drop(reader.notices());
    good
}

/// Tries `inputs` damaged inputs; how many of them were still good.
fn tried(first_seed: u64, inputs: u64) -> u64 {
    let mut good = 0;
    for seed in first_seed..first_seed + inputs {
        let damage = Damage::new(Stream::new(seed).named("damaged inputs"));
        let replay = say(seed);
        // One in four is a job file.
        good += u64::from(if seed % 4 == 0 {
            let which = (seed / 4) as usize % JOBS.len();
            job_file(&damage.of(JOBS[which].as_bytes()), &replay)
        } else {
            let (name, sample) = TRACES[seed as usize % TRACES.len()];
            let bytes = damage.of(sample);
            // By its name, as another format, or told by its content.
            let format = match seed % 3 {
                0 => Format::find(name).ok(),
                1 => Some(&FORMATS[seed as usize % FORMATS.len()]),
                _ => None,
            };
            trace(&bytes, format, &replay)
        });
    }
    good
}

/// Both are met: inputs that are refused, and inputs that the damage left good.
#[test]
fn fuzz_damaged_job_files_and_traces_say_where() {
    let (first, inputs) = damage::range(1, 200);
    let good = tried(first, inputs);
    assert!(
        inputs == 1 || (1..inputs).contains(&good),
        "{good} of {inputs} are good"
    );
}

#[test]
#[ignore = "seconds: cargo test -p firstread-workload --test damaged -- --ignored"]
fn fuzz_many_damaged_job_files_and_traces_say_where() {
    let (first, inputs) = damage::range(1_000, 2_000);
    tried(first, inputs);
}

/// Every input is good as it was.
#[test]
fn smoke_undamaged_job_files_and_traces_are_read() {
    for (i, text) in JOBS.iter().enumerate() {
        assert!(job_file(text.as_bytes(), &format!("job file {i}")), "{i}");
    }
    for (name, bytes) in TRACES {
        assert!(trace(bytes, Format::find(name).ok(), name), "{name}");
    }
}
