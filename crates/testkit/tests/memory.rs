//! Whether the path of a request allocates memory, and how much is held after many overwrites.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use firstread_core::{HostOp, Stream};
use firstread_drive::{DriveState, Host, LastSuperblocks, Precondition};
use firstread_testkit::{aged, drive, profile};
use firstread_workload::TraceRecord;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
/// Bytes held.
static HELD: AtomicI64 = AtomicI64::new(0);

/// The system's allocator, counted.
struct Counting;

#[allow(unsafe_code)] // SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        HELD.fetch_add(layout.size() as i64, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        HELD.fetch_add(size as i64 - layout.size() as i64, Ordering::Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

const WARM_UP: u64 = 10_000;
const MEASURED: u64 = 10_000;

/// Allocations while the second of two stretches of requests is issued. `request` makes the n-th.
fn allocations(scheme: &str, request: impl Fn(u64) -> (HostOp, u64, u32)) -> u64 {
    allocations_with(&[&format!("schemes.read_levels={scheme}")], request)
}

/// The same on the drive with `set`.
fn allocations_with(set: &[&str], request: impl Fn(u64) -> (HostOp, u64, u32)) -> u64 {
    let mut drive = drive(profile("dc-qlc-15t", set), &aged(28, 2500), 1);
    let at_start = Cell::new(0);
    let at_end = Cell::new(0);
    let records = (0..WARM_UP + MEASURED + 1).map(|n| {
        if n == WARM_UP {
            at_start.set(ALLOCATIONS.load(Ordering::Relaxed));
        }
        if n == WARM_UP + MEASURED {
            at_end.set(ALLOCATIONS.load(Ordering::Relaxed));
        }
        let (op, offset_bytes, len_bytes) = request(n);
        Ok(TraceRecord {
            time_ns: 0,
            op,
            offset_bytes,
            len_bytes,
            device: 0,
            placement: 0,
        })
    });
    let stats = Host::trace("memory", records, 64, None)
        .run(&mut drive, &mut |_| {})
        .unwrap();
    assert_eq!(stats.requests, WARM_UP + MEASURED + 1);
    at_end.get() - at_start.get()
}

/// One test, since the counters are of the whole process.
#[test]
fn memory_is_not_allocated_for_a_request_and_grows_with_what_is_overwritten() {
    no_request_allocates();
    overwrites_are_all_that_grows(Precondition::None);
    overwrites_are_all_that_grows(Precondition::Random);
}

/// A sixty-fourth of the drive of 15.36 TB: 4 GiB for 100 million random overwrites of that are 43
/// bytes each, and 1 GiB for 10 million 107. In steady state each also makes garbage collection move
/// pages, whose places are no longer computed either: they count like overwrites.
fn overwrites_are_all_that_grows(precondition: Precondition) {
    let set = [
        "cells=ideal",
        "schemes.read_levels=factory",
        "chip.array.layers=11",
        "geometry.chips_per_channel=4",
        "geometry.dies_per_chip=1",
        "capacity=240 GB",
        "chip.failures.factory_bad=0 %",
    ];
    let state = DriveState {
        precondition,
        ..DriveState::default()
    };
    let before = HELD.load(Ordering::Relaxed);
    let mut drive = drive(profile("dc-qlc-15t", &set), &state, 1);
    let held = || HELD.load(Ordering::Relaxed);
    let made = held();
    println!("{precondition}: {} MiB made", (made - before) >> 20);
    let pages = drive.capacity_bytes() / 4096;
    let (mut written, mut moved) = (0, 0);
    for (until, most) in [(156_250u64, 107), (1_562_500, 43)] {
        let records = (written..until).map(|n| {
            Ok(TraceRecord {
                time_ns: 0,
                op: HostOp::Write,
                offset_bytes: Stream::new(5).at(n).below(pages) * 4096,
                len_bytes: 4096,
                device: 0,
                placement: 0,
            })
        });
        let stats = Host::trace("memory", records, 64, None).run(&mut drive, &mut |_| {});
        moved += stats.unwrap().counters.slots_moved;
        written = until;
        let bytes = (held() - made) as f64 / (written + moved) as f64;
        println!("  {written} overwrites, {moved} moved: {bytes:.1} bytes each");
        assert!(
            bytes < f64::from(most),
            "{precondition}: {bytes} bytes each"
        );
    }
}

fn no_request_allocates() {
    let place =
        |n: u64, bytes: u32| Stream::new(n).below(15_000_000_000_000 / bytes as u64) * bytes as u64;
    for (scheme, bytes) in [
        ("factory", 4 << 10),
        ("ct-qlc", 64 << 10),
        ("optimal", 128 << 10),
    ] {
        let n = allocations(scheme, |n| (HostOp::Read, place(n, bytes), bytes));
        assert_eq!(n, 0, "{scheme}, reads of {bytes} bytes: {n} allocations");
    }
    let by_formula = [
        "cells=formula",
        "schemes.read_levels=factory",
        "schemes.read_recovery=parity",
    ];
    let n = allocations_with(&by_formula, |n| (HostOp::Read, place(n, 4096), 4096));
    assert_eq!(n, 0, "by a formula of retries: {n} allocations");

    // Overwrites of the same few pages. What was programmed where is the simulator's to know, not the
    // firmware's: that list grows, by doubling.
    let n = allocations("frozen", |n| {
        (HostOp::Write, place(n % 512, 4 << 10), 4 << 10)
    });
    println!("writes: {n} allocations");
    assert!(n < 20, "writes: {n} allocations");

    // The generator of a job file's requests, with its distribution, of one job and of many.
    let job = "[j]\nrw=randread\nbs=4k\nnorandommap\nrandom_distribution=zipf:1.2\n";
    no_job_allocates(&format!("{job}iodepth=128\n"));
    no_job_allocates(&format!("{job}iodepth=6\nnumjobs=40\n"));
    lost_reads_allocate_nothing();
}

/// Progress is told every 65,536 requests: between the first and the second time, none allocates.
fn no_job_allocates(job: &str) {
    let mut drive = drive(
        profile("dc-qlc-15t", &["schemes.read_levels=frozen"]),
        &aged(2, 300),
        1,
    );
    let workload = firstread_workload::fio::parse("memory.fio", job).unwrap();
    let host = Host::jobs(&workload, drive.capacity_bytes(), 1, Some(140_000)).unwrap();
    let mut seen = [0; 8];
    let mut calls = 0;
    host.run(&mut drive, &mut |_| {
        seen[calls] = ALLOCATIONS.load(Ordering::Relaxed);
        calls += 1;
    })
    .unwrap();
    assert!(calls >= 2, "{calls} reports of progress");
    assert_eq!(seen[1] - seen[0], 0, "allocations while jobs run: {job}");
}

/// The first read that ends in an error comes after the warm-up, of which no read is worn.
fn lost_reads_allocate_nothing() {
    let set = [
        "schemes.read_levels=factory",
        "schemes.read_recovery=none",
        "schemes.refresh=none",
        "chip.failures.factory_bad=0 %",
        "chip.failures.grown_bad=0 %",
    ];
    let state = DriveState {
        last: Some(LastSuperblocks {
            permille: 500,
            pe_cycles: 20_000,
        }),
        ..aged(28, 0)
    };
    let mut drive = drive(profile("dc-qlc-15t", &set), &state, 1);
    let half = drive.capacity_bytes() / 3;
    let (at_start, at_end) = (Cell::new(0), Cell::new(0));
    let records = (0..WARM_UP + 1_001).map(|n| {
        let seen = ALLOCATIONS.load(Ordering::Relaxed);
        match n {
            WARM_UP => at_start.set(seen),
            n if n == WARM_UP + 1_000 => at_end.set(seen),
            _ => {}
        }
        let first = if n < WARM_UP { 0 } else { 2 * half };
        Ok(TraceRecord {
            time_ns: 0,
            op: HostOp::Read,
            offset_bytes: first + Stream::new(n).below(half / 4096) * 4096,
            len_bytes: 4096,
            device: 0,
            placement: 0,
        })
    });
    let stats = Host::trace("memory", records, 64, None)
        .run(&mut drive, &mut |_| {})
        .unwrap();
    let lost = stats.all.read.lost();
    println!("{lost} of {} reads lost", stats.requests);
    assert!(lost > 100, "{lost} reads lost");
    assert_eq!(
        at_end.get() - at_start.get(),
        0,
        "allocations for lost reads"
    );
}
