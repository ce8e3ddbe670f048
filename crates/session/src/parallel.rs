//! Runs independent jobs on several threads and returns the results in order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Does `work` for each of `items`, each from beginning to end on one of `threads` threads (as many
/// as cores, where none is said). Results are in the order of `items`, and so is the error that is
/// returned where several fail; after one, no more are begun.
///
/// # Errors
/// The first error in the order of `items`.
pub fn each<I: Sync, O: Send, E: Send>(
    items: &[I],
    threads: Option<u16>,
    work: impl Fn(&I) -> Result<O, E> + Sync,
) -> Result<Vec<O>, E> {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.map_or_else(cores, usize::from).min(items.len());
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let results: Vec<Mutex<Option<Result<O, E>>>> =
        items.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // Every item that was taken is finished, so the first failure in order is among them.
                while !failed.load(Ordering::Relaxed) {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some((item, place)) = items.get(i).zip(results.get(i)) else {
                        break;
                    };
                    let result = work(item);
                    failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    if let Ok(mut place) = place.lock() {
                        *place = Some(result);
                    }
                }
            });
        }
    });
    // After a failure some items were never started. They come after the failed item, so the loop meets the error
    // first.
    results
        .into_iter()
        .filter_map(|place| place.into_inner().ok().flatten())
        .collect()
}
