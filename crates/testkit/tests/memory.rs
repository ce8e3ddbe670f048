//! Whether the path of a request allocates memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use firstread_core::{HostOp, Stream};
use firstread_drive::Host;
use firstread_testkit::{aged, drive, profile};
use firstread_workload::TraceRecord;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, counted.
struct Counting;

#[allow(unsafe_code)] // SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

const WARM_UP: u64 = 10_000;
const MEASURED: u64 = 10_000;

/// Allocations while the second of two stretches of requests is issued. `request` makes the n-th.
fn allocations(scheme: &str, request: impl Fn(u64) -> (HostOp, u64, u32)) -> u64 {
    let set = format!("schemes.read_levels={scheme}");
    let mut drive = drive(profile("ct-qlc", &[&set]), &aged(28, 2500), 1);
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
        })
    });
    let stats = drive
        .run(Host::trace("memory", records, 64, None), &mut |_| {})
        .unwrap();
    assert_eq!(stats.requests, WARM_UP + MEASURED + 1);
    at_end.get() - at_start.get()
}

/// One test, since the counter is of the whole process.
#[test]
fn memory_is_not_allocated_for_a_request() {
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

    // Overwrites of the same few pages. What was programmed where is the simulator's to know, not the
    // firmware's: that list grows, by doubling.
    let n = allocations("frozen", |n| {
        (HostOp::Write, place(n % 512, 4 << 10), 4 << 10)
    });
    println!("writes: {n} allocations");
    assert!(n < 20, "writes: {n} allocations");

    // The generator of a job file's requests, with its distribution; progress is told every 65,536.
    let mut drive = drive(
        profile("ct-qlc", &["schemes.read_levels=frozen"]),
        &aged(2, 300),
        1,
    );
    let job = "[j]\nrw=randread\nbs=4k\niodepth=128\nnorandommap\nrandom_distribution=zipf:1.2\n";
    let workload = firstread_workload::fio::parse("memory.fio", job).unwrap();
    let host = Host::jobs(&workload, drive.capacity_bytes(), 1, Some(140_000)).unwrap();
    let mut seen = [0; 8];
    let mut calls = 0;
    drive
        .run(host, &mut |_| {
            seen[calls] = ALLOCATIONS.load(Ordering::Relaxed);
            calls += 1;
        })
        .unwrap();
    assert!(calls >= 2, "{calls} reports of progress");
    assert_eq!(seen[1] - seen[0], 0, "allocations while a job runs");
}
