//! Placement handles: what the host names with a write decides which superblock the data share.

use firstread_core::HostOp;
use firstread_drive::{DriveState, Host, RunStats};
use firstread_firmware::observe::{OpenedFor, STREAM_BINS, stream_bin};
use firstread_testkit::{IDEAL, SMALL_BLOCKS, drive, profile, try_run};
use firstread_workload::TraceRecord;

/// A drive with four placement handles.
const FDP: &[&str] = &[
    "geometry.blocks_per_plane=64",
    "capacity=160 MiB",
    "schemes.stream=fdp",
    "stream.handles=4",
];

fn settings<'a>(own: &[&'a str]) -> Vec<&'a str> {
    [SMALL_BLOCKS, IDEAL, own].concat()
}

fn run(own: &[&str], job: &str) -> Result<RunStats, String> {
    let mut drive = drive(
        profile("dc-qlc-15t", &settings(own)),
        &DriveState::default(),
        1,
    );
    try_run(&mut drive, job, 1, None).map_err(|error| error.to_string())
}

/// KiB written to the stream of each handle; none went elsewhere.
fn kib_by_handle(stats: &RunStats, handles: usize) -> Vec<u64> {
    let slot_kib = u64::from(profile("dc-qlc-15t", &settings(FDP)).geometry.slot_bytes) / 1024;
    let into = &stats.counters.slots_into_stream;
    let first = stream_bin(OpenedFor::Host(0));
    assert_eq!((first, into.len()), (0, STREAM_BINS));
    let all: u64 = into.iter().sum();
    let kib: Vec<u64> = into[..handles].iter().map(|n| n * slot_kib).collect();
    assert_eq!(kib.iter().sum::<u64>(), all * slot_kib);
    kib
}

/// Two jobs, each with a handle of its own, beside one that names none.
#[test]
fn sequence_the_writes_of_a_job_go_to_the_stream_of_its_handle() {
    let job = "[global]\nbs=16k\niodepth=8\nrw=write\nfdp=1\n[a]\nplids=0\nsize=8m\n\
        [b]\nplids=1\noffset=32m\nsize=12m\n[c]\nfdp=0\noffset=64m\nsize=1m\n[r]\nrw=read\nplids=3\nsize=4m\n";
    let stats = run(FDP, job).unwrap();
    assert_eq!(kib_by_handle(&stats, 4), [(8 + 1) * 1024, 12 * 1024, 0, 0]);
    // All handles of the drive take turns.
    let stats = run(FDP, "[a]\nrw=write\nbs=16k\nsize=8m\nfdp=1\n").unwrap();
    assert_eq!(kib_by_handle(&stats, 4), [2048; 4]);
}

#[test]
fn sequence_the_writes_of_a_trace_go_to_the_stream_of_their_handle() {
    let records = (0..400u64).map(|i| {
        Ok(TraceRecord {
            time_ns: i * 100_000,
            op: HostOp::Write,
            offset_bytes: i << 14,
            len_bytes: 16 << 10,
            device: 0,
            placement: [3, 0, 2, 3][i as usize % 4],
        })
    });
    let mut drive = drive(
        profile("dc-qlc-15t", &settings(FDP)),
        &DriveState::default(),
        1,
    );
    let host = Host::trace("handles", records, 32, None);
    let stats = host.run(&mut drive, &mut |_| {}).unwrap();
    assert_eq!(kib_by_handle(&stats, 4), [1600, 0, 1600, 3200]);
}

#[test]
fn golden_errors_of_handles_that_the_drive_does_not_have() {
    let job = "[a]\nrw=write\nbs=16k\nsize=1m\nfdp=1\n";
    assert_eq!(
        run(&[], job).unwrap_err(),
        "test.fio:1: job `a`: fdp=1: the drive takes no placement handles; `--scheme stream=fdp` does"
    );
    let write_heat = &[
        "geometry.blocks_per_plane=64",
        "capacity=160 MiB",
        "schemes.stream=write-heat",
    ];
    assert!(
        run(write_heat, job)
            .unwrap_err()
            .contains("takes no placement handles")
    );
    assert_eq!(
        run(FDP, &format!("{job}plids=2-4\n")).unwrap_err(),
        "test.fio:1: job `a`: plids: there is no placement handle 4: the drive has 4, from 0 on; `stream.handles` \
         sets how many"
    );
}

/// Persistent isolation: what cleaning moves to the stream of a handle lay in superblocks of this handle, but for the few pages that find no
/// free superblock.
#[test]
fn sequence_moved_data_stay_with_their_handle_where_isolation_is_persistent() {
    let own = [
        "geometry.blocks_per_plane=64",
        "capacity=560 MiB",
        "schemes.gc_victim=greedy",
        "schemes.stream=fdp",
        "stream.handles=4",
        "stream.persistent=true",
    ];
    let job = "[w]\nrw=randwrite\nbs=16k\niodepth=32\nnorandommap\nfdp=1\nplid_select=random\n\
        random_distribution=zipf:1.1\nio_size=3g\n";
    let stats = run(&own, job).unwrap();
    let c = &stats.counters;
    for handle in 1..4 {
        let (host, moves) = (OpenedFor::Host(handle), OpenedFor::Moves(handle));
        let out = |of| c.slots_moved_out_of_stream[stream_bin(of)];
        let moved_in = c.slots_into_stream[stream_bin(moves)];
        assert!(moved_in > 1_000, "handle {handle}: {moved_in} moved");
        let apart = moved_in.abs_diff(out(host) + out(moves));
        println!("handle {handle}: {moved_in} moved, {apart} elsewhere");
        assert!(
            100 * apart < moved_in,
            "handle {handle}: {apart} of {moved_in} elsewhere"
        );
    }
}
