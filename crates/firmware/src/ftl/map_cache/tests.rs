use alloc::vec::Vec;

use firstread_core::{CommandId, Lpn, Ns, Ppa, Stream, SuperblockId};

use super::MapCache;
use crate::ftl::tests::{Drive, Silent, drive};

/// Logical pages whose entries share a map page.
const ENTRIES: u64 = 512;

/// A drive with twelve map pages, the last not whole, on flash and none in memory.
fn paged(ports: &mut Silent) -> Drive {
    let mut drive = drive(128, 12 * ENTRIES - 100, 8);
    assert_eq!(drive.lower.store.table.directory.entries(), ENTRIES);
    drive.mark_filled_with_map(Ns::ZERO, SuperblockId(0), 0, 0, 12, ports);
    drive
}

/// A trim drops the map pages all of whose entries it empties; those at its ends hold other entries and are kept,
/// changed.
#[test]
fn model_a_trim_drops_the_map_pages_that_it_empties_and_no_other() {
    let capacity = 12 * ENTRIES - 100;
    // Ends of a trim, and the first and the last map page that it empties.
    for (first, end, emptied, kept) in [
        (100, 2 * ENTRIES + 30, 1..2, 2),
        (ENTRIES, 3 * ENTRIES, 1..3, 0),
        (ENTRIES, 3 * ENTRIES - 1, 1..2, 1),
        (ENTRIES + 1, 3 * ENTRIES, 2..3, 1),
        (7, 8, 0..0, 1),
        (11 * ENTRIES, capacity, 11..12, 0),
        (0, capacity, 0..12, 0),
    ] {
        let mut drive = paged(&mut Silent::default());
        let lower = &mut drive.lower;
        lower.map_cache.clear(first, end, &mut lower.store);
        for page in 0..12 {
            let lies = lower.store.table.directory.place_of(page).is_some();
            assert_eq!(
                lies,
                !emptied.contains(&page),
                "page {page} of {first}..{end}"
            );
        }
        assert_eq!(lower.map_cache.pages_changed(), kept, "{first}..{end}");
        let valid = lower.store.shared.blocks.info(SuperblockId(0)).valid_slots;
        assert_eq!(valid, 12 - emptied.len() as u32, "{first}..{end}");
    }
}

/// Read-ahead of map pages leaves one read to the commands, so a command that misses never waits for what was only
/// read ahead.
#[test]
fn sequence_read_ahead_leaves_a_map_read_to_commands() {
    let mut ports = Silent::default();
    let mut drive = paged(&mut ports);
    let lower = &mut drive.lower;
    let (map_cache, store) = (&mut lower.map_cache, &mut lower.store);
    let reads = map_cache.fetches_left;
    for page in 0..8 {
        assert!(!map_cache.map_ahead(Ns::ZERO, page * ENTRIES, store, &mut ports));
    }
    assert_eq!(
        store.shared.counters.front.map_reads,
        u64::from(reads) - 1,
        "ahead"
    );
    // Asked for again, a page that is on its way takes no second read.
    assert!(!map_cache.map_ahead(Ns::ZERO, 0, store, &mut ports));
    let (id, lpn) = (CommandId(3), 9 * ENTRIES);
    assert!(!map_cache.map_ready(Ns::ZERO, id, lpn, store, &mut ports));
    assert_eq!(store.shared.counters.front.map_reads, u64::from(reads));
    assert_eq!(map_cache.stalled(), 0, "the command has its read at once");
    let lpn = 10 * ENTRIES;
    assert!(!map_cache.map_ready(Ns::ZERO, CommandId(4), lpn, store, &mut ports));
    assert_eq!(map_cache.stalled(), 1, "the next one waits for a read");
    assert_eq!(map_cache.next_stalled(), None);
}

/// A map page that could not be read while it was moved is rebuilt in memory, and written again with its entries.
#[test]
fn sequence_a_map_page_that_is_lost_is_written_again() {
    let mut drive = paged(&mut Silent::default());
    let lower = &mut drive.lower;
    let lpn = Lpn(lower.store.table.directory.capacity() + 5);
    lower.map_cache.lose(lpn, &mut lower.store);
    assert_eq!(lower.store.table.directory.place_of(5), None);
    assert_eq!(lower.map_cache.pages_changed(), 1);
    assert_eq!(lower.store.shared.counters.front.map_lost, 1);
    assert_eq!(lower.map_cache.changed.next(), Some(5));
}

/// A power cut takes the memory in which it stood where map pages lie. Which of them lie nowhere is in the journal:
/// an old version on flash of such a page is not taken for its last.
#[test]
fn powerloss_where_map_pages_lie_has_to_be_found_again() {
    let mut drive = paged(&mut Silent::default());
    let directory = &mut drive.lower.store.table.directory;
    let nowhere = directory.lpn(4);
    directory.set(nowhere, None);
    directory.forget_places();
    for page in 0..12 {
        let lpn = directory.lpn(page);
        assert_eq!(directory.place_of(page), None, "page {page}");
        assert_eq!(directory.recovers(lpn), lpn != nowhere, "page {page}");
    }
    assert!(!directory.recovers(directory.lpn(12)), "there are twelve");
    let found = Ppa::new(SuperblockId(3), 7);
    assert_eq!(directory.set(directory.lpn(5), Some(found)), None);
    assert_eq!(directory.place_of(5), Some(found));
}

/// Fetches of map pages have half the cache at most, and merges a quarter; in a large cache their numbers have an end.
#[test]
fn formula_reads_of_map_pages_leave_most_of_the_cache() {
    for (cached, fetches, merges) in [
        (8, 4, 2),
        (20, 10, 5),
        (32, 16, 8),
        (128, 64, 8),
        (5000, 64, 8),
    ] {
        assert_eq!(MapCache::fetches(cached), fetches, "{cached} pages");
        assert_eq!(MapCache::merges(cached), merges, "{cached} pages");
    }
}

/// A command that finds its map page has a hit. One that waits for the page has a miss, once, and no hit when it goes on; a page
/// that could not be read is to be written again.
#[test]
fn model_commands_hit_or_miss_once() {
    let (mut read, mut lost) = (0, 0);
    for seed in 0..20 {
        let s = Stream::new(seed).named("map");
        let mut ports = Silent::default();
        let mut drive = paged(&mut ports);
        let lower = &mut drive.lower;
        let (map_cache, store) = (&mut lower.map_cache, &mut lower.store);
        let (mut hits, mut misses) = (0, 0);
        for i in 0..200u64 {
            let draw = s.at(i);
            let page = draw.at(0).below(11);
            // Two commands ask for the page.
            let mut waiting = Vec::new();
            for id in [3, 5].map(CommandId) {
                map_cache.forget_map_wait(id);
                match map_cache.map_ready(Ns(i), id, page * ENTRIES + 7, store, &mut ports) {
                    true => hits += 1,
                    false => {
                        misses += 1;
                        waiting.push(id);
                    }
                }
            }
            if !waiting.is_empty() {
                let e = map_cache.cache.find(page).expect("it is coming");
                let job = map_cache.cache.coming(e).expect("it is coming");
                let is_read = draw.at(1).below(4) > 0;
                let mut next = map_cache.map_read(Ns(i), job, is_read, store, &mut ports);
                let mut went_on = Vec::new();
                while let Some(id) = next {
                    next = map_cache.goes_on(Ns(i), id, &mut ports);
                    let is_there =
                        map_cache.map_ready(Ns(i), id, page * ENTRIES, store, &mut ports);
                    assert!(is_there, "seed {seed}, step {i}");
                    went_on.push(id);
                }
                assert_eq!(went_on, waiting, "seed {seed}, step {i}");
                assert_eq!(map_cache.cache.mark(e), !is_read, "seed {seed}, step {i}");
                // Nothing of it is to be written when it is replaced.
                map_cache.cache.set_mark(e, false);
                *(if is_read { &mut read } else { &mut lost }) += 1;
            }
            let front = &store.shared.counters.front;
            assert_eq!(
                (front.map_hits, front.map_misses),
                (hits, misses),
                "seed {seed}, {i}"
            );
        }
        assert_eq!(map_cache.stalled(), 0);
    }
    assert!(read > 100 && lost > 100, "{read} read, {lost} lost");
}

/// No more changes are made without their page from when these are more than a quarter of the cache.
#[test]
fn formula_changes_without_their_page_are_a_quarter_of_the_cache() {
    for cached in [8, 12, 20, 40] {
        let directory = &drive(128, 64 * ENTRIES, cached).lower.store.table.directory;
        let mut map_cache = MapCache::new(cached, directory, 8);
        for pages in 0..16 {
            assert_eq!(map_cache.pages_changed(), pages);
            assert_eq!(
                map_cache.is_crowded(),
                pages > cached / 4,
                "{pages} of {cached}"
            );
            map_cache.change(Lpn(u64::from(pages) * ENTRIES), directory);
        }
    }
}
