use alloc::vec::Vec;

use firstread_core::{CellMode, Lpn, Ns, Stream, SuperblockId, Wait};

use super::*;
use crate::config::WriteCache;
use crate::ftl::place::stream_shares::Share;
use crate::ftl::place::{Item, TakeError, Why};
use crate::ftl::tests::{
    Drive, SLOTS, Silent, drive_with, drive_with_params, emptying, fill, geometry, setup,
};

/// Writes a page of the handle `placement`.
fn write(drive: &mut Drive, lpn: u64, placement: u16) {
    let item = Item {
        lpn: Lpn(lpn),
        expect: None,
        why: Why::Host {
            has_merged: false,
            placement,
        },
        wish: None,
    };
    let store = &mut drive.lower.store;
    let placed = match store.take(Ns::ZERO, &item) {
        // The buffers are programmed at once.
        Err(TakeError::Wait(_)) => {
            program_all(drive);
            drive.lower.store.take(Ns::ZERO, &item)
        }
        placed => placed,
    };
    let _ = drive.lower.commit(placed.expect("the drive has room"));
}

/// All parts of wordlines that are complete are programmed.
fn program_all(drive: &mut Drive) {
    let store = &mut drive.lower.store;
    let streams: Vec<StreamId> = store.place.streams.of_host().collect();
    for stream in streams {
        let buffer = store.place.streams.of_mut(stream);
        for superwordline in 0..3 {
            for die in [0, 1].map(firstread_core::DieId) {
                if buffer.is_held(die, superwordline) {
                    buffer.done(die, superwordline);
                }
            }
        }
    }
}

fn fdp(superblocks: u32) -> Drive {
    drive_with(superblocks, 64, 0, ("stream", "fdp"))
}

/// Openings come when the streams are full that have had so many of the last pages, one after another.
#[test]
fn model_openings_are_when_streams_are_full() {
    for seed in 0..6 {
        let s = Stream::new(seed).named("shares");
        let mut drive = fdp(40);
        // Three handles with shares of their own.
        let weights: Vec<u64> = (0..3).map(|i| 1 + s.at(i).below(5)).collect();
        let cycle: Vec<u16> = (0..3u16)
            .flat_map(|h| core::iter::repeat_n(h, weights[usize::from(h)] as usize))
            .collect();
        let next = |i: usize| cycle[i % cycle.len()];
        let written = 3 * SLOTS as usize / 2;
        for i in 0..written {
            write(&mut drive, (i % 64) as u64, next(i));
        }
        let place = &drive.lower.store.place;
        let told = place.openings();
        // What becomes of the slots that are left if the host goes on so.
        let mut left: Vec<u32> = (0..3)
            .map(|h| place.streams.of(place.streams.host(h)).slots_left())
            .collect();
        let mut opened = Vec::new();
        for i in written..written + 20 * SLOTS as usize {
            let left = &mut left[usize::from(next(i))];
            if *left == 0 {
                opened.push((i - written) as u32);
                *left = SLOTS;
            }
            *left -= 1;
        }
        // One more is kept for the streams that rest: it comes with the first one, or with the one that has least left.
        let until = told.until();
        assert!(until.len() > 3, "seed {seed}: {until:?}");
        assert!(
            until[0] == until[1] || until.contains(&SLOTS),
            "seed {seed}: {until:?}"
        );
        let at = until
            .iter()
            .skip(1)
            .position(|u| *u == until[0])
            .map_or(1, |i| i + 1);
        let mut of_others = until.to_vec();
        of_others.remove(at.min(of_others.len() - 1));
        for (told, is) in of_others.iter().zip(&opened).take(3) {
            let off = told.abs_diff(*is);
            assert!(off <= SLOTS / 4, "seed {seed}: {of_others:?}, {opened:?}");
        }
    }
}

/// A handle that is not used asks for no superblock of its own: all that rest together have one.
#[test]
fn formula_streams_that_rest_have_one_superblock_together() {
    let mut drive = fdp(40);
    for handle in 0..8 {
        write(&mut drive, handle, handle as u16);
    }
    // From now on one handle writes.
    for i in 0..200 {
        write(&mut drive, i % 64, 3);
    }
    let place = &drive.lower.store.place;
    let openings = place.openings();
    let until = openings.until();
    let own = place.streams.of(place.streams.host(3)).slots_left();
    assert!(
        until[0] >= own && until[0] <= own + SLOTS / 8,
        "{until:?}, {own} left"
    );
    let resting = SLOTS - 1;
    assert_eq!(
        until
            .iter()
            .filter(|u| **u == resting.max(until[0]))
            .count(),
        1,
        "{until:?}"
    );
    // The others are those of handle 3 alone, a superblock apart.
    let apart = until
        .windows(2)
        .filter(|w| w[1] - w[0] >= SLOTS * 9 / 10)
        .count();
    assert!(apart + 2 >= until.len() - 1, "{until:?}");
}

/// Each stream of the host is filled and programmed for itself, so a flush waits for all and a write with FUA for the streams that it names.
#[test]
fn sequence_each_of_several_streams_reaches_as_far_as_it_was_filled() {
    let mut drive = fdp(40);
    for (i, handle) in [0, 5, 2].into_iter().enumerate() {
        write(&mut drive, i as u64, handle);
    }
    let place = &mut drive.lower.store.place;
    let reach = |superwordline, dies| Reach {
        superwordline,
        dies,
    };
    let of = |handle| HostStreamSet::of(handle);
    let (filled, programmed) = (place.filled_to(HostStreamSet::ALL), place.programmed_to());
    assert_eq!([0, 5, 2].map(|h| filled.0[h]), [reach(1, 2); 3]);
    assert_eq!([0, 5, 2].map(|h| programmed.0[h]), [reach(1, 0); 3]);
    assert_eq!((filled.0[1], programmed.0[1]), (reach(0, 2), reach(0, 2)));
    assert!(!programmed.cover(&filled) && filled.cover(&programmed));
    assert!(!programmed.cover(&place.filled_to(of(5))));
    assert!(programmed.cover(&place.filled_to(of(1))));
    // Of the streams that somebody waits for, those are padded that hold data.
    let mut both = of(5);
    both.join(of(2));
    let [two, five] = [2, 5].map(|handle| place.streams.host(handle));
    let mut to_pad = |streams| {
        let waits = place.filled_to(streams);
        let found = place.stream_to_pad(core::iter::once(&waits));
        for number in 0..place.streams.count_of_host() {
            let stream = place.streams.host(number);
            place.streams.of_mut(stream).pad_to(Reach::default());
        }
        found
    };
    assert_eq!(
        [of(5), both, of(1)].map(&mut to_pad),
        [Some(five), Some(two), None]
    );
}

/// A stream that had one of 64 of the last pages still opens a superblock of its own, and one that had fewer rests.
#[test]
fn formula_a_stream_with_few_of_the_last_pages_rests() {
    for (few, opens) in [(10, true), (9, false)] {
        let mut drive = fdp(40);
        for i in 0..u64::from(SLOTS) - 4 {
            write(&mut drive, i % 64, 5);
        }
        let place = &mut drive.lower.store.place;
        let share = &mut place.shares.of_host;
        (share.pages, share.all) = ([0; 16], 640);
        (share.pages[3], share.pages[5]) = (640 - few, few);
        let openings = place.openings();
        // Four slots are left to it.
        let own = 4 * 640 / few;
        assert_eq!(
            openings.until().contains(&own),
            opens,
            "{few}: {:?}",
            openings.until()
        );
    }
}

/// Shares are those of the last pages, and stream by stream moves take the superblocks that they fill beyond their own.
#[test]
fn formula_moves_take_superblocks_stream_by_stream() {
    let mut share = Share::<16>::new(100);
    for i in 0..1_000 {
        share.add(u8::from(i % 4 == 0));
    }
    assert_eq!((share.part_of(400, 0), share.part_of(400, 1)), (300, 100));
    assert_eq!(share.part_of(400, 2), 0);
    for _ in 0..1_000 {
        share.add(2);
    }
    assert!(share.part_of(1_000, 2) > 990, "the last pages count");
}

/// A handle each for two streams of the host and two of moves, persistently isolated.
const APART: (&str, &[(&str, i64)]) = ("fdp", &[("handles", 2), ("persistent", 1)]);

/// A drive of 12 superblocks with two streams of the host and two of moves, by `scheme`. Both streams of the host and the first one of moves
/// have opened a superblock, `free` are free, and the others hold 10 valid slots each. The streams of the host have `left` slots left, and
/// had equal shares of the last pages.
fn two_streams((scheme, params): (&str, &[(&str, i64)]), free: u32, left: [u32; 2]) -> Drive {
    let setup = setup(CellMode::Slc, geometry(12), 448);
    let scheme = ("stream", scheme, params);
    let mut drive = drive_with_params(CellMode::Slc, &setup, (0, 0), WriteCache::default(), scheme);
    fill(&mut drive, free + 3, 10);
    let store = &mut drive.lower.store;
    let place = &mut store.place;
    assert_eq!(place.streams.count_of_host(), 2);
    for stream in [place.streams.host(0), place.streams.host(1), StreamId::MOVE] {
        assert!(place.open(Ns::ZERO, stream, &mut store.shared));
        assert!(place.opened().is_some());
    }
    place.shares.of_host.pages[..2].fill(1);
    place.shares.of_host.all = 2;
    for (number, left) in (0..).zip(left) {
        let stream = drive.lower.store.place.streams.host(number);
        while drive.lower.store.place.streams.of(stream).slots_left() > left {
            let streams = &mut drive.lower.store.place.streams;
            if streams.allocate(stream, None).is_err() {
                program_all(&mut drive);
            }
        }
    }
    assert_eq!(drive.lower.store.place.space.pools.free(), free);
    drive
}

/// A page that moves and whose stream needs a superblock goes to a stream with room first, if the host needs the superblocks that are free
/// soon. A page of a persistently isolated handle goes nowhere else first.
#[test]
fn formula_pages_that_stay_apart_go_nowhere_else_first() {
    let neighbours: (&str, &[(&str, i64)]) = ("write-heat", &[("levels", 3)]);
    for (scheme, stays) in [(APART, true), (neighbours, false)] {
        for (left, is_soon) in [(4, true), (SLOTS - 4, false)] {
            let mut drive = two_streams(scheme, 1, [left; 2]);
            let store = &mut drive.lower.store;
            let (place, shared) = (&mut store.place, &mut store.shared);
            assert_eq!(place.host_has_all_without_one(shared), !is_soon);
            let own = place.streams.moves(1);
            let (stream, slot) = place
                .take_for_move(Ns::ZERO, own, None, shared)
                .expect("one superblock is free, and another one has room");
            let expected = match stays || !is_soon {
                true => own,
                false => StreamId::MOVE,
            };
            assert_eq!(stream, expected, "{scheme:?}, {left} left");
            assert_eq!(shared.blocks.info(slot.ppa.block()).stream, Some(expected));
        }
    }
}

/// Superblock 0, which the host has filled for handle `handle`, is emptied for `owner`, on a drive with `free` superblocks free and `left`
/// slots left to the streams of the host.
fn emptying_of(handle: u8, owner: Owner, free: u32, left: [u32; 2]) -> Drive {
    let mut drive = two_streams(APART, free, left);
    let store = &mut drive.lower.store;
    let block = SuperblockId(0);
    let stream = store.place.streams.host(handle);
    let info = store.shared.blocks.info_mut(block);
    info.stream = Some(stream);
    store.place.relocation.emptying = Some(emptying(owner, block, info.opened));
    drive
}

fn pauses(drive: &mut Drive) -> bool {
    let store = &mut drive.lower.store;
    store.place.pauses_moves(&store.shared)
}

/// Moves pause where they would open the superblock that the host opens soon.
#[test]
fn formula_moves_pause_where_they_would_open_what_the_host_needs_soon() {
    // Both streams of the host have half of the pages, and a quarter of a superblock is 16 slots.
    for (handle, owner, free, left, expected) in [
        (1, Owner::Gc, 1, [7, 60], true),
        (1, Owner::Wear, 1, [7, 60], true),
        // The host needs it later.
        (1, Owner::Gc, 1, [8, 60], false),
        // The host needs two, and has one: moves have to make another one.
        (1, Owner::Gc, 1, [7, 14], false),
        (1, Owner::Gc, 1, [7, 16], true),
        // One is free beside that of the host.
        (1, Owner::Gc, 2, [7, 60], false),
        (1, Owner::Gc, 2, [7, 6], true),
        // The stream that the moves go to has room.
        (0, Owner::Gc, 1, [7, 60], false),
        // Data would be lost.
        (1, Owner::Refresh, 1, [7, 60], false),
    ] {
        let mut drive = emptying_of(handle, owner, free, left);
        let what = (handle, owner, free, left);
        assert_eq!(pauses(&mut drive), expected, "{what:?}");
        let place = &mut drive.lower.store.place;
        place.relocation.asked = 1;
        assert!(!pauses(&mut drive), "{what:?}, another superblock waits");
        let place = &mut drive.lower.store.place;
        (place.relocation.asked, place.space.failed) = (0, 1);
        assert!(!pauses(&mut drive), "{what:?}, a failed superblock waits");
        let place = &mut drive.lower.store.place;
        place.space.failed = 0;
        assert_eq!(pauses(&mut drive), expected, "{what:?}");
        let relocation = &mut drive.lower.store.place.relocation;
        relocation.host_waits.set(Wait::Superblock, true);
        assert!(!pauses(&mut drive), "{what:?}, the host waits");
    }
    // Nothing is moved where nothing is emptied.
    let mut drive = emptying_of(1, Owner::Gc, 1, [7, 60]);
    drive.lower.store.place.relocation.emptying = None;
    assert!(!pauses(&mut drive));
}

/// Moves pause for half a superblock of writes at most, and as long again once a superblock was opened.
#[test]
fn formula_a_pause_ends_if_the_host_does_not_open_its_superblock() {
    let mut drive = emptying_of(1, Owner::Gc, 1, [7, 60]);
    for round in 0..2 {
        for written in 0..2 * SLOTS {
            let is_early = written < SLOTS / 2;
            assert_eq!(pauses(&mut drive), is_early, "round {round}, {written}");
            drive.lower.store.shared.counters.host_slots_written += 1;
        }
        drive.lower.store.place.relocation.paused_at.0 += 1;
    }
}

/// What the drive and the host do to the superblock of a handle are events of that handle.
#[test]
fn sequence_a_handle_that_leaves_its_superblock_is_told() {
    let mut drive = fdp(40);
    let mut ports = Silent::default();
    for handle in [1, 2, 3] {
        for lpn in 0..5 {
            write(&mut drive, 16 * u64::from(handle) + lpn, handle);
        }
    }
    let store = &mut drive.lower.store;
    let of = |handle| store.place.streams.host(handle);
    let (padded, closed, failed) = (of(1), of(2), of(3));
    let block_of = |stream, shared: &Shared| {
        let mut all = shared.blocks.iter();
        all.find(|(_, info)| info.stream == Some(stream)).unwrap().0
    };
    // Reads have disturbed the superblock of handle 2.
    let block = block_of(closed, &store.shared);
    let found = store.place.close_early(Ns(7), block, &mut store.shared);
    assert_eq!(found, Some(closed));
    // A program of handle 3 fails, and so does the next one of the same superblock.
    while store.pad(Ns(8), failed, &mut ports) {}
    let left = store.place.streams.of(failed).slots_left();
    for op in core::mem::take(&mut ports.issued) {
        let (place, shared) = (&mut store.place, &mut store.shared);
        place.programmed(Ns(9), op.tag.0, false, shared, &mut ports);
    }
    // Handle 1 pads until its superblock is full.
    let mut pads = 0;
    while let Some(programs) = store
        .place
        .pad_superwordline(padded, &mut store.shared, &mut ports)
    {
        let _ = programs;
        pads += 1;
    }
    for stream in [padded, closed, failed] {
        assert!(store.place.open(Ns(10), stream, &mut store.shared));
        store.place.opened();
    }
    let log = store.place.fdp_log().unwrap();
    let told = log.last.into_iter().flatten();
    let told: Vec<_> = told
        .map(|e| (e.at.0, e.kind.code(), e.handle, e.slots))
        .collect();
    assert!(pads > 0 && left > 0);
    assert_eq!(
        told,
        [
            (7, 0x81, Some(2), SLOTS - 5),
            (9, 0x81, Some(3), left),
            (10, 0x00, Some(1), pads)
        ]
    );
    assert_eq!(
        drive_with(40, 64, 0, ("stream", "one"))
            .lower
            .store
            .place
            .fdp_log(),
        None
    );
}

/// Pages of the host that were moved out of a superblock are told when that is erased, and when it is retired. Map pages are told of
/// nowhere: they are written anew, and their superblock may have been opened for moves.
#[test]
fn sequence_moves_out_of_superblocks_are_told_of_pages_of_the_host() {
    for is_retired in [false, true] {
        let mut drive = drive_with(40, 64, 8, ("stream", "fdp"));
        for lpn in 0..5 {
            write(&mut drive, lpn, 1);
        }
        let map = drive.lower.store.table.directory.lpn(0);
        let again = |drive: &mut Drive, lpn, why| {
            let store = &mut drive.lower.store;
            let from = store.table.at(lpn);
            let item = Item {
                lpn,
                expect: from.filter(|_| why != Why::Map),
                why,
                wish: None,
            };
            let placed = store.take(Ns::ZERO, &item).expect("the drive has room");
            let _ = drive.lower.commit(placed);
            from.map(Ppa::block)
        };
        let moved = Why::Moved {
            owner: Owner::Gc,
            stays: None,
        };
        assert_eq!(again(&mut drive, map, Why::Map), None);
        let of_map = again(&mut drive, map, Why::Map).unwrap();
        let blocks = &mut drive.lower.store.shared.blocks;
        blocks.info_mut(of_map).stream = Some(StreamId::MOVE);
        assert_eq!(again(&mut drive, map, Why::Map), Some(of_map));
        assert_eq!(again(&mut drive, map, moved), Some(of_map));
        let of_host = again(&mut drive, Lpn(2), moved).unwrap();
        assert_eq!(again(&mut drive, Lpn(3), moved), Some(of_host));
        let (place, shared) = (&mut drive.lower.store.place, &mut drive.lower.store.shared);
        place.note_erase(Ns(3), of_map, shared);
        match is_retired {
            false => place.note_erase(Ns(4), of_host, shared),
            true => {
                place.bad.note(of_host, firstread_core::DieId(0));
                place.space.failed = 1;
                assert!(!place.repair_or_retire(Ns(4), of_host, shared));
            }
        }
        let log = place.fdp_log().unwrap();
        let told = log.last.into_iter().flatten();
        let told: Vec<_> = told
            .map(|e| (e.at.0, e.kind.code(), e.handle, e.slots))
            .collect();
        assert_eq!(told, [(4, 0x80, Some(1), 2)], "retired: {is_retired}");
    }
}
