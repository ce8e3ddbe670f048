use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use firstread_core::{
    Buf, CellMode, DieId, Geometry, Layout, Lpn, Ns, Ppa, Stream, StripeOrder, SuperblockId, Wait,
};

use super::assembly::BadBlocks;
use super::buffer::Reach;
use super::streams::Streams;
use super::{Erased, Item, Placement, StreamPlan, TakeError, Why, WriteBuffer};
use crate::config::WriteCache;
use crate::ftl::tests::{
    Drive, SLOTS, Silent, drive, drive_of, drive_with, drive_with_spare, emptying, fill, geometry,
    restarted, setup,
};
use crate::observe::{
    CopyRefused, Epoch, Heat, HeatConfig, Owner, PoolId, RegionId, StreamId, StreamRow, StreamUse,
    SuperblockTable, SuperblockUse,
};
use crate::policy::area::{Areas, Entry};
use crate::policy::page_type::{AnyPageType, PageOrder};
use crate::shared::Shared;

impl Placement {
    /// Opens a superblock for the host and takes `slots` slots of it. Returns the superblock.
    pub(crate) fn begin_for_host(&mut self, slots: u32, shared: &mut Shared) -> SuperblockId {
        assert!(self.open(Ns::ZERO, StreamId::HOST, shared));
        for _ in 0..slots {
            assert!(self.streams.allocate(StreamId::HOST, None).is_ok());
        }
        self.opened().expect("a superblock was opened")
    }
}

/// Three dies of two planes, with two wordlines of `mode` in a superblock.
fn small_layout(stripe: StripeOrder, stripe_parity: bool) -> Layout {
    Layout::new(Geometry {
        channels: 3,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes: 2,
        blocks_per_plane: 4,
        wordlines_per_block: 2,
        page_bytes: 8192,
        slot_bytes: 4096,
        codeword_bytes: 4096,
        stripe,
        stripe_parity,
    })
}

/// The page types in an order of their own for each `i`. Seed 0 is in order.
fn page_order(seed: u64, i: u64) -> PageOrder {
    let mut pages = PageOrder::IN_ORDER.0;
    let draw = Stream::new(seed).named("page order").at(i);
    if seed > 0 {
        for left in (1..pages.len()).rev() {
            pages.swap(left, draw.at(left as u64).below(left as u64 + 1) as usize);
        }
    }
    PageOrder(pages)
}

/// A buffer of each stripe order, with and without parity, in each mode, for each of some seeds.
fn each_buffer(mut check: impl FnMut(u64, Layout, CellMode, WriteBuffer)) {
    for stripe in [StripeOrder::PlaneFirst, StripeOrder::DieFirst] {
        for (stripe_parity, mode) in [
            (true, CellMode::Tlc),
            (true, CellMode::Slc),
            (false, CellMode::Qlc),
        ] {
            for seed in 0..12 {
                let layout = small_layout(stripe, stripe_parity);
                let mut buffer = WriteBuffer::new(layout, mode, Buf(0));
                buffer.open(SuperblockId(2), mode);
                check(seed, layout, mode, buffer);
            }
        }
    }
}

/// A power cut tears what is being programmed and keeps what still fills. So the part of a die, data or parity, is
/// incomplete until its program is due, and complete from then on, in whatever order page types are filled.
#[test]
fn model_a_part_is_complete_once_its_program_is_due() {
    each_buffer(|seed, layout, mode, mut buffer| {
        let dies: Vec<DieId> = (0..3).map(DieId).collect();
        let mut filled = BTreeSet::new();
        for wordline in 0..layout.geometry.wordlines_per_block {
            let all = |wordlines| Reach {
                superwordline: wordlines,
                dies: layout.geometry.data_dies(),
            };
            assert_eq!(buffer.filled_to(), all(u64::from(wordline)));
            let mut complete = Vec::new();
            while complete.len() < dies.len() {
                let order = page_order(seed, filled.len() as u64);
                let slot = buffer
                    .allocate(order)
                    .expect("the buffer holds three wordlines");
                assert_eq!(slot.due.wordline, wordline);
                assert!(filled.insert(slot.ppa), "{:?} is given twice", slot.ppa);
                complete.extend(slot.due.die);
                complete.extend(slot.due.parity);
                for &die in &dies {
                    // What a program of the part would lack, and for parity that of any part.
                    let parity = layout.parity_die(wordline) == Some(die);
                    let slots = layout.slots_per_stripe() * u32::from(mode.bits());
                    let of_wordline =
                        u32::from(wordline) * slots..(u32::from(wordline) + 1) * slots;
                    let lacks =
                        of_wordline
                            .map(|slot| Ppa::new(SuperblockId(2), slot))
                            .any(|ppa| {
                                (parity || layout.mp_page_of(ppa, mode).0.die == die)
                                    && !filled.contains(&ppa)
                            });
                    assert_eq!(
                        lacks,
                        !complete.contains(&die),
                        "seed {seed}: {die:?} after {:?}",
                        slot.ppa
                    );
                    let incomplete = buffer.is_incomplete(die, slot.due.superwordline);
                    assert_eq!(
                        incomplete, lacks,
                        "seed {seed}: {die:?} after {:?}",
                        slot.ppa
                    );
                }
            }
            assert_eq!(buffer.filled_to(), all(u64::from(wordline) + 1));
        }
        let order = page_order(seed, 0);
        assert!(buffer.allocate(order).is_err(), "the superblock is full");
    });
}

/// A slot is read from the buffer once it was given out and until its die has programmed it. A partial write may change it as
/// long as the part of its die is incomplete. What is dumped, and what is written again after a failed program, are the same slots.
#[test]
fn model_a_buffer_holds_what_was_given_out_and_is_not_programmed() {
    let (mut open, mut closed) = (0, 0);
    each_buffer(|seed, layout, mode, mut buffer| {
        let block = SuperblockId(2);
        let slots = layout.slots_per_stripe() * u32::from(mode.bits());
        let all = slots * u32::from(layout.geometry.wordlines_per_block);
        let mut held: BTreeMap<Ppa, Buf> = BTreeMap::new();
        let mut complete = BTreeSet::new();
        for given in 0..all {
            let slot = buffer
                .allocate(page_order(seed, u64::from(given)))
                .expect("it has room");
            held.insert(slot.ppa, slot.buf);
            let due = slot.due.die.into_iter().chain(slot.due.parity);
            for die in due {
                complete.insert((slot.due.wordline, die));
                // Every second part is programmed at once.
                if Stream::new(seed)
                    .named("programmed")
                    .at(u64::from(given))
                    .below(2)
                    == 0
                {
                    let part: Vec<_> = buffer.filled_of(die, slot.due.superwordline).collect();
                    let of_die = |ppa: &Ppa| {
                        let at = layout.mp_page_of(*ppa, mode).0;
                        (at.wordline, at.die) == (slot.due.wordline, die)
                    };
                    let expected: Vec<_> = held
                        .iter()
                        .filter(|(ppa, _)| of_die(ppa))
                        .map(|(p, b)| (*p, *b))
                        .collect();
                    assert_eq!(part, expected, "seed {seed}: {die:?}");
                    buffer.done(die, slot.due.superwordline);
                    held.retain(|ppa, _| !of_die(ppa));
                }
            }
            assert_eq!(buffer.slots_left(), all - given - 1);
            let dumped: BTreeMap<Ppa, Buf> = (0..buffer.len())
                .filter_map(|i| buffer.held_at(i))
                .collect();
            assert_eq!(dumped, held, "seed {seed} after {:?}", slot.ppa);
            for ppa in (0..all).map(|slot| Ppa::new(block, slot)) {
                assert_eq!(
                    buffer.holds(ppa),
                    held.get(&ppa).copied(),
                    "seed {seed}: {ppa:?}"
                );
                let at = layout.mp_page_of(ppa, mode).0;
                let is_open = held.contains_key(&ppa)
                    && !complete.contains(&(at.wordline, at.die))
                    && buffer.fills_superwordline();
                let expected = held.get(&ppa).copied().filter(|_| is_open);
                assert_eq!(buffer.open_slot(ppa), expected, "seed {seed}: {ppa:?}");
                *(if is_open { &mut open } else { &mut closed }) += 1;
            }
        }
    });
    assert!(
        open > 1_000 && closed > 1_000,
        "{open} open, {closed} closed"
    );
}

/// The host may have a superblock the sooner the more the victim gives back; a victim whose failed block may not be
/// replaced gives back nothing and takes what is valid in it.
#[test]
fn formula_a_victim_counts_as_what_it_gives_back() {
    let mut drive = drive(12, 6 * u64::from(SLOTS), 0);
    fill(&mut drive, 2, 40);
    let store = &mut drive.lower.store;
    let without = store.place.missing_headroom(&store.shared);
    store.shared.blocks.info_mut(SuperblockId(0)).evacuating = true;
    store.place.relocation.emptying = Some(emptying(Owner::Gc, SuperblockId(0), 1));
    assert_eq!(
        store.place.missing_headroom(&store.shared),
        without - i64::from(SLOTS - 40)
    );
    store.shared.blocks.info_mut(SuperblockId(0)).failed = true;
    assert_eq!(store.place.missing_headroom(&store.shared), without + 40);
}

/// Beyond the reserve of cleaning is what is free, less what is reserved and less what the superblock being emptied
/// takes beyond what it gives back. Cleaning itself has the reserve for that.
#[test]
fn formula_reserved_and_owed_slots_are_not_taken() {
    let beyond = |drive: &Drive| {
        let store = &drive.lower.store;
        let fits = |slots: &u64| store.place.has_beyond_reserve(*slots, &store.shared);
        (0..=u64::from(4 * SLOTS)).take_while(fits).last()
    };
    let filled = || {
        let mut drive = drive(12, 6 * u64::from(SLOTS), 0);
        fill(&mut drive, 4, 40);
        drive
    };
    let mut reserved = filled();
    // Two superblocks are kept.
    assert_eq!(beyond(&reserved), Some(128));
    reserved.lower.store.place.reserve_slot();
    reserved.lower.store.place.reserve_slot();
    assert_eq!(beyond(&reserved), Some(126));
    for (owner, failed, owed) in [
        (Owner::Refresh, false, 0),
        (Owner::Refresh, true, 40),
        (Owner::Gc, true, 0),
    ] {
        let mut drive = filled();
        let store = &mut drive.lower.store;
        store.shared.blocks.info_mut(SuperblockId(0)).failed = failed;
        store.place.relocation.emptying = Some(emptying(owner, SuperblockId(0), 1));
        assert_eq!(store.place.owed_slots(&store.shared), owed, "{owner:?}");
        assert_eq!(beyond(&drive), Some(128 - owed), "{owner:?}");
    }
}

/// Why a page is not refreshed now; none if it is.
fn refuses_refresh(drive: &mut Drive) -> Option<TakeError> {
    let item = Item {
        lpn: Lpn(0),
        expect: None,
        why: Why::Copied(StreamUse::Refreshed),
        wish: None,
    };
    match drive.lower.store.take(Ns::ZERO, &item) {
        Ok(placed) => {
            let _ = drive.lower.commit(placed);
            None
        }
        Err(refusal) => Some(refusal),
    }
}

/// The stream of refreshed pages opens a superblock of the common pool if two are left for cleaning, one for a failed
/// program and one for the headroom, and fills it to its end; then the next one has to be as far from the reserve.
#[test]
fn formula_a_refreshed_page_has_a_superblock_beyond_the_reserve() {
    let of_capacity = |superblocks: u64, free: u32, valid: u32| {
        let capacity = superblocks * u64::from(SLOTS);
        let mut drive = drive_with(14, capacity, 0, ("refresh", "hot"));
        fill(&mut drive, free, valid);
        drive
    };
    let filled = |free: u32, valid: u32| of_capacity(6, free, valid);
    let reserve = Some(TakeError::Wait(Wait::Reserve));
    assert_eq!(refuses_refresh(&mut filled(2, 30)), reserve);
    // A drive without a spare superblock keeps one, and what a power cut tears: also if there is nothing to clean,
    // because refreshed pages leave garbage.
    assert_eq!(refuses_refresh(&mut of_capacity(10, 2, 30)), reserve);
    assert_eq!(refuses_refresh(&mut of_capacity(10, 2, SLOTS)), reserve);
    assert_eq!(refuses_refresh(&mut of_capacity(10, 3, SLOTS)), None);
    let mut drive = filled(3, 30);
    assert_eq!(refuses_refresh(&mut drive), None);
    // The headroom is still a superblock and what a power cut tears.
    let store = &drive.lower.store;
    assert!(store.place.can_spare(0, &store.shared));
    assert_eq!(store.place.space.pools.free(), 2);
    // The buffer holds three wordlines, which nothing programs here.
    let slots = (1..).find(|_| refuses_refresh(&mut drive).is_some());
    assert_eq!(slots, Some(12));
    assert_eq!(
        refuses_refresh(&mut drive),
        Some(TakeError::Wait(Wait::Buffer))
    );
    // The host or the map that waits for a superblock comes first.
    let mut drive = filled(5, 30);
    drive
        .lower
        .store
        .place
        .relocation
        .host_waits
        .set(Wait::Superblock, true);
    assert_eq!(refuses_refresh(&mut drive), reserve);
    drive
        .lower
        .store
        .place
        .relocation
        .host_waits
        .set(Wait::Superblock, false);
    assert_eq!(refuses_refresh(&mut drive), None);
}

/// The capacity counts the superblock that the stream of refreshed pages has open.
#[test]
fn formula_the_open_superblock_of_a_stream_is_beyond_the_capacity() {
    let needed = |axis, scheme| {
        let drive = drive_with(14, 6 * u64::from(SLOTS), 0, (axis, scheme));
        drive.lower.store.place.space.needed_slots
    };
    let without = needed("refresh", "none");
    assert_eq!(needed("refresh", "read-count"), without);
    assert_eq!(needed("refresh", "hot"), without + u64::from(SLOTS));
    assert_eq!(needed("wear", "dynamic"), without);
    assert_eq!(needed("wear", "static"), without + u64::from(SLOTS));
}

/// What the superblock of cold data has left is headroom for any move: cleaning counts on it, and where no superblock is
/// free it goes there.
#[test]
fn formula_cold_data_share_the_headroom() {
    let mut drive = drive_with(14, 6 * u64::from(SLOTS), 0, ("wear", "static"));
    fill(&mut drive, 1, 30);
    let moved = |drive: &mut Drive, lpn: u64, owner| {
        let item = Item {
            lpn: Lpn(lpn),
            expect: None,
            why: Why::Moved { owner, stays: None },
            wish: None,
        };
        let placed = drive
            .lower
            .store
            .take(Ns::ZERO, &item)
            .expect("there is room");
        let block = placed.ppa().block();
        let _ = drive.lower.commit(placed);
        block
    };
    let place = |drive: &Drive| drive.lower.store.place.clone();
    let missing = |drive: &Drive| place(drive).missing_headroom(&drive.lower.store.shared);
    let before = missing(&drive);
    let cold = moved(&mut drive, 0, Owner::Wear);
    assert_eq!(place(&drive).left_for_moves(), SLOTS - 1);
    assert_eq!(place(&drive).left_for_cleaning(), 0);
    assert_eq!(missing(&drive), before + 1, "one slot was taken");
    assert_eq!(place(&drive).space.pools.free(), 0);
    assert_eq!(moved(&mut drive, 1, Owner::Gc), cold, "no other has room");
    assert_eq!(missing(&drive), before + 2);
}

/// A drive of 16 superblocks and 4 in a region that the scheme declares. Its own region is worn to the scheme's bound and half
/// full of data. The other one is full but for its last `free` superblocks.
fn at_bound(free: u32) -> Drive {
    let mut drive = drive_with(20, 8 * u64::from(SLOTS), 0, ("area", "differential"));
    let store = &mut drive.lower.store;
    for block in (0..8).chain(16..20 - free).map(SuperblockId) {
        store.mark_filled(Ns::ZERO, block, 0, 40);
    }
    for block in (0..16).map(SuperblockId) {
        store.shared.blocks.info_mut(block).set_pe_cycles(900);
    }
    store.place.look_at_regions(&store.shared);
    assert!(store.place.keeps(RegionId::DECLARED));
    drive
}

fn host_writes(drive: &mut Drive, lpn: u64) -> Result<SuperblockId, TakeError> {
    let item = Item {
        lpn: Lpn(lpn),
        expect: None,
        why: Why::Host {
            has_merged: false,
            placement: 0,
        },
        wish: None,
    };
    let placed = drive.lower.store.take(Ns::ZERO, &item)?;
    let block = placed.ppa().block();
    let _ = drive.lower.commit(placed);
    Ok(block)
}

/// A page that belongs in a declared region and goes elsewhere is counted once, however often its write has to wait.
#[test]
fn formula_a_refusal_is_counted_when_the_page_has_a_slot_elsewhere() {
    let mut drive = at_bound(0);
    let refused = |drive: &Drive| drive.lower.store.shared.counters.entries_refused;
    host_writes(&mut drive, 5).expect("the first write goes to the drive's own region");
    assert_eq!(refused(&drive).iter().sum::<u64>(), 0);
    // The buffer holds three wordlines, which nothing programs here.
    let updates = (0..).find(|_| host_writes(&mut drive, 5).is_err());
    assert_eq!(updates, Some(11));
    for _ in 0..5 {
        let waits = host_writes(&mut drive, 5);
        assert_eq!(waits, Err(TakeError::Wait(Wait::Buffer)));
    }
    let reason = CopyRefused::NoSuperblock as usize;
    assert_eq!(refused(&drive)[reason], 11);
    assert_eq!(refused(&drive).iter().sum::<u64>(), 11);
}

/// An update enters the declared region at the bound, but not through a write cache that is lost at a power cut: a flush
/// waits for the stream of the host alone.
#[test]
fn formula_writes_through_a_volatile_cache_keep_out_of_a_declared_region() {
    for (write_cache, enters) in [
        (WriteCache::Protected, true),
        (WriteCache::Volatile, false),
        (WriteCache::WriteThrough, false),
    ] {
        let mut drive = at_bound(2);
        drive.lower.store.shared.config.write_cache = write_cache;
        host_writes(&mut drive, 5).expect("there is room");
        let block = host_writes(&mut drive, 5).expect("there is room");
        assert_eq!(block.0 >= 16, enters, "{write_cache:?}");
    }
}

/// What the host has written into a declared region is in the write buffer like all that it writes; what was copied there
/// is not the host's.
#[test]
fn formula_the_host_has_slots_in_the_buffer_of_a_declared_region() {
    let mut drive = at_bound(2);
    let buffered = |drive: &Drive| drive.lower.store.place.host_slots_buffered();
    assert_eq!(buffered(&drive), 0);
    for (lpn, slots) in [(5, 1), (5, 2), (5, 3)] {
        let block = host_writes(&mut drive, lpn).expect("there is room");
        assert_eq!(block.0 >= 16, slots > 1);
        assert_eq!(buffered(&drive), slots);
    }
    let item = Item {
        lpn: Lpn(7),
        expect: None,
        why: Why::Copied(StreamUse::Region(RegionId::DECLARED)),
        wish: None,
    };
    let placed = drive
        .lower
        .store
        .take(Ns::ZERO, &item)
        .expect("there is room");
    let _ = drive.lower.commit(placed);
    assert_eq!(buffered(&drive), 3);
}

/// Free superblocks of a declared region are kept from what the host may open, those that are about to be free among them,
/// until nothing else can be had.
#[test]
fn formula_free_superblocks_of_a_declared_region_are_kept() {
    let mut drive = at_bound(2);
    let (place, shared) = (&mut drive.lower.store.place, &drive.lower.store.shared);
    let most = |place: &Placement| {
        (0..)
            .take_while(|n| place.has_beyond_reserve(*n, shared))
            .count() as u64
    };
    let kept = most(place);
    for (emptied, owner, soon) in [(17, Owner::Gc, 3), (17, Owner::Wear, 3), (3, Owner::Gc, 2)] {
        assert_eq!(place.kept_soon(shared), (2, 2 * u64::from(SLOTS)));
        place.relocation.emptying = Some(emptying(owner, SuperblockId(emptied), 1));
        let slots = soon * u64::from(SLOTS);
        assert_eq!(place.kept_soon(shared), (soon as u32, slots), "{emptied}");
        place.relocation.emptying = None;
    }
    assert!(place.release_kept());
    assert_eq!(most(place), kept + 2 * u64::from(SLOTS));
    assert_eq!(place.kept_soon(shared), (0, 0));
    assert!(!place.release_kept(), "they were released before");
}

/// A write that waits gets a superblock even if all free ones are kept from the host: the kept ones are released when no
/// other superblock will be free.
#[test]
fn formula_a_drive_that_keeps_free_superblocks_is_not_full() {
    let mut drive = at_bound(2);
    let store = &mut drive.lower.store;
    for block in (0..8).chain(16..18).map(SuperblockId) {
        store.shared.blocks.info_mut(block).valid_slots = SLOTS;
    }
    let (place, shared) = (&mut store.place, &store.shared);
    assert!(!place.has_garbage(shared) && !place.is_full(shared));
    assert!(place.release_kept());
    assert!(place.is_full(shared));
}

/// What is kept of a declared region is what its free superblocks hold, in whichever mode they are.
#[test]
fn formula_superblocks_of_a_declared_region_are_kept_with_the_slots_that_they_have() {
    let mut drive = at_bound(2);
    let (place, shared) = (&mut drive.lower.store.place, &drive.lower.store.shared);
    let beyond = |place: &Placement| {
        (0..)
            .take_while(|n| place.has_beyond_reserve(*n, shared))
            .count()
    };
    let (before, missing) = (beyond(place), place.missing_headroom(shared));
    // As if one of the two had been erased into a mode that holds half as much, and one of the others into one that holds
    // as much more.
    let pools = &mut place.space.pools;
    pools.of(PoolId(1)).free_slots -= u64::from(SLOTS) / 2;
    pools.of(PoolId(0)).free_slots += u64::from(SLOTS) / 2;
    assert_eq!(beyond(place), before + SLOTS as usize / 2);
    assert_eq!(
        place.missing_headroom(shared),
        missing - i64::from(SLOTS) / 2
    );
}

/// What spills leaves a free superblock to pages that are read often.
#[test]
fn formula_what_spills_leaves_a_free_superblock() {
    for (free, entry, enters) in [
        (2, Entry::Spill, true),
        (1, Entry::Spill, false),
        (1, Entry::Gc, true),
        (0, Entry::Gc, false),
    ] {
        let mut drive = at_bound(free);
        let store = &mut drive.lower.store;
        let taken =
            store
                .place
                .take_for_entry(Ns::ZERO, StreamId(2), entry, None, &mut store.shared);
        assert_eq!(taken.is_ok(), enters, "{free} {entry:?}");
        // The last free one was opened, or there was none.
        let opened_last = free == u32::from(enters);
        assert_eq!(store.place.room_is_wanted(), opened_last || !enters);
    }
}

/// Room is made for pages that are read often if any of them has found none, whatever else has; and is looked for once for
/// each change of superblocks.
#[test]
fn formula_room_is_looked_for_once_and_for_pages_read_often_first() {
    for (entries, is_urgent) in [
        (&[Entry::Spill][..], Some(false)),
        (&[Entry::Gc], Some(true)),
        (&[Entry::Gc, Entry::Spill], Some(true)),
        (&[Entry::Spill, Entry::Gc], Some(true)),
        (&[], None),
    ] {
        let mut drive = at_bound(0);
        let store = &mut drive.lower.store;
        let (place, shared) = (&mut store.place, &mut store.shared);
        let ask = |place: &mut Placement, shared: &mut Shared| {
            for entry in entries {
                assert!(
                    place
                        .take_for_entry(Ns::ZERO, StreamId(2), *entry, None, shared)
                        .is_err()
                );
            }
            place.begin_to_make_room(shared)
        };
        assert_eq!(ask(place, shared), is_urgent, "{entries:?}");
        assert_eq!(ask(place, shared), None, "nothing has changed");
        shared.counters.erases += 1;
        assert_eq!(ask(place, shared), is_urgent);
        shared.counters.erases += 1;
        place.relocation.emptying = Some(emptying(Owner::Gc, SuperblockId(17), 1));
        assert_eq!(ask(place, shared), None, "one is being emptied");
    }
}

/// A declared region has no stream of cold data: while wear leveling empties one of its superblocks, what it opens is the
/// most worn one.
#[test]
fn formula_cold_data_of_a_declared_region_go_to_its_most_worn_superblock() {
    let leveled = drive_with(20, 8 * u64::from(SLOTS), 0, ("wear", "static"));
    for (emptied, owner, opened) in [
        (16, Owner::Wear, 18),
        (16, Owner::Gc, 19),
        (3, Owner::Wear, 19),
    ] {
        let mut drive = at_bound(2);
        let (place, shared) = (&mut drive.lower.store.place, &mut drive.lower.store.shared);
        place.wear = leveled.lower.store.place.wear.clone();
        shared.blocks.info_mut(SuperblockId(18)).set_pe_cycles(5);
        place.relocation.emptying = Some(emptying(owner, SuperblockId(emptied), 1));
        let (_, slot) = place
            .take_for_entry(Ns::ZERO, StreamId(2), Entry::Gc, None, shared)
            .expect("two are free");
        assert_eq!(
            slot.ppa.block(),
            SuperblockId(opened),
            "{emptied} {owner:?}"
        );
    }
}

/// The scheme is told of each page that stays, and what it moved for.
#[test]
fn formula_the_scheme_is_told_what_stays() {
    // The scheme lets no page stay at the next turn where half a superblock stayed at this one.
    for (others, may_stay) in [(SLOTS / 2 - 3, true), (SLOTS / 2 - 2, false)] {
        let mut drive = at_bound(2);
        drive.lower.store.shared.heat = Heat::new(&HeatConfig::default(), 8 * u64::from(SLOTS));
        for _ in 0..9 {
            drive.lower.store.shared.heat.on_read(Lpn(0), 8);
        }
        let stays = |drive: &mut Drive, slot: u32, owner| {
            let (lpn, ppa) = (Lpn(u64::from(slot)), Ppa::new(SuperblockId(17), slot));
            drive.lower.store.table.set(lpn, ppa);
            let item = Item {
                lpn,
                expect: Some(ppa),
                why: Why::Moved { owner, stays: None },
                wish: None,
            };
            let placed = drive
                .lower
                .store
                .take(Ns::ZERO, &item)
                .expect("there is room");
            let stays = placed.ppa().block().0 >= 16;
            let _ = drive.lower.commit(placed);
            stays
        };
        drive.lower.store.place.area.oldest_leaves();
        assert!(stays(&mut drive, 0, Owner::MakeRoom) && stays(&mut drive, 1, Owner::MakeRoom));
        assert!(
            stays(&mut drive, 2, Owner::Gc),
            "it is emptied within the region"
        );
        let scheme = &mut drive.lower.store.place.area;
        for _ in 0..others {
            scheme.has_entered(Entry::Stay, Some(Owner::MakeRoom));
        }
        scheme.oldest_leaves();
        assert_eq!(stays(&mut drive, 3, Owner::MakeRoom), may_stay, "{others}");
    }
}

/// Moves that find room in a declared region alone have it, and map pages that move go along.
#[test]
fn formula_a_map_page_that_moves_finds_the_headroom() {
    let capacity = 8 * u64::from(SLOTS);
    let mut drive = drive_with(20, capacity, 8, ("area", "differential"));
    fill(&mut drive, 1, 40);
    let store = &mut drive.lower.store;
    store.place.space.pools.of(PoolId(1)).is_kept = true;
    let item = Item {
        lpn: Lpn(capacity),
        expect: None,
        why: Why::Moved {
            owner: Owner::Gc,
            stays: None,
        },
        wish: None,
    };
    assert!(store.table.directory.is_map(item.lpn));
    let placed = store.take(Ns::ZERO, &item).expect("there is room");
    let block = placed.ppa().block();
    assert_eq!(block, SuperblockId(19));
    assert!(store.shared.blocks.info(block).holds_map);
}

/// Declared streams share their superwordlines: one for each stream, and two more. Whoever has superwordlines in use
/// leaves one to each that has none.
#[test]
fn formula_declared_streams_share_their_superwordlines() {
    const fn row(takes: StreamUse) -> StreamRow {
        StreamRow { name: "", takes }
    }
    const ROWS: &[StreamRow] = &[
        row(StreamUse::Refreshed),
        row(StreamUse::Cold),
        row(StreamUse::Promoted(CellMode::Slc)),
    ];
    let geometry = drive(14, 64, 0).lower.store.shared.config.geometry;
    let plan = |rows: &'static [StreamRow]| {
        StreamPlan::new(geometry, CellMode::Slc, 0, [&[], rows, &[], &[], &[], &[]])
    };
    let superwordline = geometry.slots_per_stripe();
    let superwordlines = |rows| plan(rows).slot_buffers() / superwordline;
    assert_eq!(superwordlines(&[]), 2 * 3);
    assert_eq!(
        superwordlines(&ROWS[..1]),
        2 * 3 + 3,
        "a stream alone has three"
    );
    assert_eq!(superwordlines(ROWS), 2 * 3 + 5);
    // What is told of each stream, with what they share, is all that there is: superwordlines as wide as the widest
    // mode among the declared streams, which the drive's own may be.
    for (mode, map_pages, rows, shared) in [
        (CellMode::Slc, 0, &ROWS[..0], 0),
        (CellMode::Slc, 8, &ROWS[..1], 2),
        (CellMode::Qlc, 0, ROWS, 2),
        (CellMode::Qlc, 8, &ROWS[2..], 2),
    ] {
        let plan = StreamPlan::new(geometry, mode, map_pages, [rows, &[], &[], &[], &[], &[]]);
        assert_eq!(plan.shared_buffer().superwordlines, shared);
        let all = || plan.buffers().chain([plan.shared_buffer()]);
        let slots: u32 = all().map(|buffer| buffer.slots).sum();
        assert_eq!(slots, plan.slot_buffers(), "{mode:?} {map_pages} {rows:?}");
        let superwordlines: u32 = all().map(|buffer| buffer.superwordlines).sum();
        assert_eq!(superwordlines * u32::from(geometry.dies()), plan.programs());
        let own = 2 + usize::from(map_pages > 0);
        let superwordlines: Vec<u32> = plan.buffers().map(|buffer| buffer.superwordlines).collect();
        assert_eq!(superwordlines[..own], [3, 3, 3][..own]);
        assert!(
            superwordlines[own..]
                .iter()
                .all(|superwordlines| *superwordlines == 1)
        );
        assert_eq!(superwordlines.len(), own + rows.len());
    }
    let of = setup(CellMode::Tlc, geometry, 1);
    let in_order = AnyPageType::new("in-order", &of, &[]).expect("the baseline");
    let mut streams = Streams::new(plan(ROWS), in_order, Buf(7));
    let [one, other, third] = [2, 3, 4].map(StreamId);
    for (stream, block) in [(one, 3), (other, 5), (third, 6)] {
        let buffer = streams.of_mut(stream);
        buffer.open(SuperblockId(block), CellMode::Slc);
    }
    let mut buffers = Vec::new();
    let mut fill = |streams: &mut Streams, stream| {
        let filled: Vec<_> = core::iter::from_fn(|| streams.allocate(stream, None).ok()).collect();
        buffers.extend(filled.iter().map(|slot| slot.buf.0));
        assert!(streams.is_full(stream));
        filled.len() as u32
    };
    let programmed = |streams: &mut Streams, stream, index| {
        for die in (0..geometry.dies()).map(DieId) {
            streams.of_mut(stream).done(die, index);
        }
    };
    assert_eq!(
        fill(&mut streams, one),
        3 * superwordline,
        "no more than three"
    );
    assert_eq!(
        fill(&mut streams, other),
        superwordline,
        "one is left to the third"
    );
    assert!(!streams.is_full(third));
    assert_eq!(fill(&mut streams, third), superwordline);
    // The first wordline of the one is programmed: whoever comes first may have its superwordline, and the one has to wait.
    programmed(&mut streams, one, 0);
    assert!(!streams.is_full(one));
    assert_eq!(fill(&mut streams, other), superwordline);
    assert!(streams.is_full(one));
    // The third is left a superwordline again once its only wordline is programmed.
    programmed(&mut streams, third, 0);
    assert_eq!(fill(&mut streams, one), 0);
    assert_eq!(fill(&mut streams, third), superwordline);
    // Each slot lay in a buffer of its own; two superwordlines were used again.
    let first = 7 + 2 * 3 * superwordline;
    buffers.sort_unstable();
    assert_eq!(buffers.len() as u32, 7 * superwordline);
    buffers.dedup();
    let all: Vec<u32> = (first..first + 5 * superwordline).collect();
    assert_eq!(buffers, all);
}

/// Each failed block is known once. When it is repaired, its superblock gets a good block of the same die from a retired
/// superblock, which nobody has; when its superblock is retired, its good blocks become spares.
#[test]
fn model_superblocks_have_good_blocks_of_their_dies() {
    const DIES: u16 = 3;
    const BLOCKS: u32 = 24;
    let (mut repaired, mut retired, mut short) = (0, 0, 0);
    for seed in 0..40 {
        let s = Stream::new(seed).named("bad blocks");
        let mut bad = BadBlocks::new(DIES, 10 * BLOCKS);
        let mut table = SuperblockTable::new(BLOCKS, CellMode::Qlc);
        table.assemble(DIES);
        let is_bad = |i: u64| s.named("factory").at(i).below(16) == 0;
        let all = (0..BLOCKS).flat_map(|block| (0..DIES).map(move |die| (block, die)));
        let factory: Vec<(SuperblockId, DieId)> = all
            .filter(|(block, die)| is_bad(u64::from(block * 4) + u64::from(*die)))
            .map(|(block, die)| (SuperblockId(block), DieId(die)))
            .collect();
        let of_die = |die| factory.iter().filter(|(_, d)| *d == DieId(die)).count() as u32;
        let worst = (0..DIES).map(of_die).max().unwrap();
        for block in BLOCKS - worst..BLOCKS {
            table.info_mut(SuperblockId(block)).usage = SuperblockUse::Bad;
        }
        // Blocks that have failed, and the block that each superblock has.
        let mut broken: BTreeSet<(u16, u32)> = factory
            .iter()
            .map(|(block, die)| (die.0, block.0))
            .collect();
        let replaced = bad.of_factory(&factory, &mut table);
        let outside = factory.iter().filter(|(block, _)| block.0 < BLOCKS - worst);
        assert_eq!(replaced as usize, outside.count(), "seed {seed}");
        let mut failed: BTreeMap<u32, BTreeSet<u16>> = BTreeMap::new();
        for i in 0..200 {
            let draw = s.named("step").at(i);
            let block = draw.at(0).below((BLOCKS - worst).into()) as u32;
            let id = SuperblockId(block);
            if table.info(id).usage == SuperblockUse::Bad {
                continue;
            }
            let dies = failed.entry(block).or_default();
            let case = (seed, i, block);
            let can_repair = dies.iter().all(|die| table.spares_on(DieId(*die)) > 0);
            assert_eq!(bad.can_repair(id), can_repair, "{case:?}");
            match draw.at(1).below(6) {
                0 if can_repair => {
                    assert_eq!(bad.repair(id, &mut table) as usize, dies.len(), "{case:?}");
                    repaired += dies.len();
                    dies.clear();
                }
                0 if !dies.is_empty() => {
                    table.info_mut(id).usage = SuperblockUse::Bad;
                    bad.retire(id, &mut table);
                    dies.clear();
                    retired += 1;
                }
                draw_of_erase => {
                    let die = DieId(draw.at(2).below(DIES.into()) as u16);
                    if !dies.contains(&die.0) {
                        broken.insert((die.0, table.block_of(id, die).0));
                    }
                    let has_spare = table.spares_on(die) > 0;
                    if draw_of_erase == 1 && bad.replace(id, die, &mut table).is_some() {
                        assert!(has_spare, "{case:?}");
                        dies.remove(&die.0);
                        repaired += 1;
                    } else {
                        bad.note(id, die);
                        dies.insert(die.0);
                    }
                }
            }
            short += u32::from(!can_repair);
            assert!(bad.agrees(&table), "{case:?}");
            let mut used = BTreeSet::new();
            for (id, info) in table
                .iter()
                .filter(|(_, info)| info.usage != SuperblockUse::Bad)
            {
                for die in 0..DIES {
                    let on = table.block_of(id, DieId(die)).0;
                    let knows = failed.get(&id.0).is_some_and(|dies| dies.contains(&die));
                    assert!(used.insert((die, on)), "{case:?}: {id:?} and another one");
                    let is_good = !broken.contains(&(die, on));
                    assert!(is_good || knows, "{case:?}: {id:?} has a bad block");
                    assert!(info.usage != SuperblockUse::Bad);
                }
            }
        }
    }
    assert!(
        repaired > 100 && retired > 100 && short > 100,
        "{repaired} {retired} {short}"
    );
}

/// What a superblock was opened for, until its erase begins: of those that moves fill, all that they hold has moved; that of
/// the map holds its pages.
#[test]
fn formula_superblocks_remember_what_they_were_opened_for() {
    let of = |choice: (&str, &str), takes: Option<StreamUse>, stream: Option<StreamId>| {
        let map_cache = 8 * u32::from(takes == Some(StreamUse::Map));
        let mut drive = drive_with(20, 600, map_cache, choice);
        let store = &mut drive.lower.store;
        let (place, shared) = (&mut store.place, &mut store.shared);
        let declared = takes.and_then(|what| place.streams.that_takes(what));
        let stream = stream.or(declared).expect("the scheme declares the stream");
        assert!(place.open(Ns(7), stream, shared), "{choice:?} {takes:?}");
        let block = place.opened().expect("a superblock was opened");
        let info = *shared.blocks.info(block);
        assert_eq!((info.programmed_at, info.stream), (Ns(7), Some(stream)));
        let (mode, table) = (info.mode, &mut store.table);
        place.begin_erase(block, mode, Erased::Emptied, table, shared);
        assert_eq!(shared.blocks.info(block).stream, None);
        (place.streams.have_moved(&info), info.holds_map)
    };
    let none = ("", "");
    assert_eq!(of(none, None, Some(StreamId::HOST)), (false, false));
    assert_eq!(of(none, None, Some(StreamId::MOVE)), (true, false));
    assert_eq!(of(none, Some(StreamUse::Map), None), (false, true));
    let cold = ("wear", "progressive");
    assert_eq!(of(cold, Some(StreamUse::Cold), None), (true, false));
    let often = ("wear", "progressive-hot");
    assert_eq!(of(often, Some(StreamUse::ReadOften), None), (true, false));
    let declared = ("area", "differential");
    assert_eq!(
        of(declared, Some(StreamUse::Region(RegionId::DECLARED)), None),
        (false, false)
    );
    let refreshed = ("refresh", "lightweight");
    assert_eq!(
        of(refreshed, Some(StreamUse::Refreshed), None),
        (false, false)
    );
}

/// An open superblock is closed before its time where cleaning keeps its headroom: the rest of one that moves fill was
/// headroom, the rest of the host's was none.
#[test]
fn model_an_open_superblock_is_closed_where_its_rest_is_no_headroom() {
    let (mut closed, mut kept) = (0, 0);
    for seed in 0..120 {
        let s = Stream::new(seed).named("close early");
        let mut drive = drive(12, 300, 0);
        fill(&mut drive, 3, 40);
        let store = &mut drive.lower.store;
        let (place, shared) = (&mut store.place, &mut store.shared);
        let stream = [StreamId::HOST, StreamId::MOVE][seed as usize % 2];
        assert!(place.open(Ns::ZERO, stream, shared));
        let block = place.opened().expect("a superblock was opened");
        // The host takes eight more at most: two wordlines of four slots.
        for _ in 0..s.at(0).below(9) {
            assert!(place.streams.allocate(stream, None).is_ok());
        }
        for _ in 0..s.at(1).below(2 * u64::from(SLOTS)) {
            place.reserve_slot();
        }
        // Two superblocks are free. A power cut tears a wordline of two slots on two dies.
        let headroom = 2 * i64::from(SLOTS) - place.space.reserved as i64;
        let closes = headroom >= i64::from(SLOTS) + 4;
        let counted = shared.counters.superblocks_closed_early;
        let found = place.close_early(Ns::ZERO, block, shared);
        assert_eq!(found, closes.then_some(stream), "seed {seed}");
        let counted = shared.counters.superblocks_closed_early - counted;
        assert_eq!(counted, u64::from(closes), "seed {seed}");
        let fills = place.streams.of(stream).fills(block);
        assert_eq!(fills, !closes, "seed {seed}");
        *(if closes { &mut closed } else { &mut kept }) += 1;
    }
    assert!(closed > 20 && kept > 20, "{closed} {kept}");
}

/// Free superblocks of a declared region are kept for it where the drive's own one holds its data beside what keeps the drive
/// alive: the reserve, the open superblock of each stream, and the least spare.
#[test]
fn model_a_declared_region_is_kept_while_the_own_one_holds_its_data() {
    let (mut kept, mut open) = (0, 0);
    for seed in 0..120 {
        let s = Stream::new(seed).named("kept");
        let spare = s.at(0).below(2) * s.at(1).below(300);
        let capacity = u64::from(12 * SLOTS);
        let setup = setup(CellMode::Slc, geometry(20), capacity);
        let area = ("area", "differential");
        let mut drive = drive_with_spare(CellMode::Slc, &setup, (0, spare), area);
        let store = &mut drive.lower.store;
        let (place, shared) = (&mut store.place, &mut store.shared);
        let (mut slots, mut valid) = (0, 0);
        for block in (0..20).map(SuperblockId) {
            let draw = s.named("block").at(block.0.into());
            let info = shared.blocks.info_mut(block);
            let is_bad = draw.at(0).below(8) == 0;
            info.usage = if is_bad {
                SuperblockUse::Bad
            } else {
                SuperblockUse::Full
            };
            info.valid_slots = if is_bad {
                0
            } else {
                30 + draw.at(1).below(35) as u32
            };
            if !is_bad && block.0 < 16 {
                slots += SLOTS;
                valid += info.valid_slots;
            }
        }
        place.look_at_regions(shared);
        // Three superblocks, and the open one of the stream of the declared region.
        let alive = 4 * u64::from(SLOTS) + spare;
        let holds = u64::from(slots) >= u64::from(valid) + alive;
        assert_eq!(
            place.keeps(RegionId::DECLARED),
            holds,
            "seed {seed}: {slots} slots, {valid} valid, {spare}"
        );
        *(if holds { &mut kept } else { &mut open }) += 1;
    }
    assert!(kept > 20 && open > 20, "{kept} {open}");
}

/// A wordline whose last program fails is free where nothing of that part is to be written again: nothing else tells those
/// who wait for it.
#[test]
fn formula_a_wordline_is_free_when_its_last_program_fails() {
    for ends_well in [true, false] {
        let mut drive = drive(12, 300, 0);
        let mut ports = Silent::default();
        let item = Item {
            lpn: Lpn(1),
            expect: None,
            why: Why::Host {
                has_merged: false,
                placement: 0,
            },
            wish: None,
        };
        let placed = drive.lower.store.take(Ns::ZERO, &item);
        let programs = drive.lower.commit(placed.expect("the drive is empty"));
        let store = &mut drive.lower.store;
        store.start(Ns::ZERO, programs, &mut ports);
        while store.pad(Ns::ZERO, StreamId::HOST, &mut ports) {}
        let tags: Vec<u32> = ports.issued.iter().map(|op| op.tag.0).collect();
        assert_eq!(tags.len(), 2, "one program a die");
        let mut ended = |tag, ok| {
            let (place, shared) = (&mut store.place, &mut store.shared);
            place.programmed(Ns::ZERO, tag, ok, shared, &mut ports)
        };
        assert_eq!(
            [ended(tags[0], true), ended(tags[1], ends_well)],
            [false, true]
        );
    }
}

/// A QLC drive of `page_type=read-heat`, whose host has read every fourth page of the first `pages`, and has then written all of
/// them `times` times. Programs end at once if they are `done`.
fn written_by_heat(pages: u64, times: u32, done: bool) -> Drive {
    let mode = CellMode::Qlc;
    let of = setup(mode, geometry(24), 512);
    let mut drive = drive_of(mode, &of, 0, ("page_type", "read-heat"));
    let store = &mut drive.lower.store;
    let config = HeatConfig {
        epoch: Epoch::Never,
        ..HeatConfig::default()
    };
    store.shared.heat = Heat::new(&config, of.capacity_slots);
    for lpn in (0..pages).step_by(4) {
        (0..9).for_each(|_| store.shared.heat.on_read(Lpn(lpn), 1));
    }
    for lpn in (0..times).flat_map(|_| 0..pages) {
        let item = Item {
            lpn: Lpn(lpn),
            expect: None,
            why: Why::Host {
                has_merged: false,
                placement: 0,
            },
            wish: store.place.wish(Lpn(lpn), 1, false, &store.shared),
        };
        let placed = store.take(Ns::ZERO, &item).expect("superblocks are free");
        let due = store.commit(placed);
        for (stream, program) in due.of_data().into_iter().chain(due.of_parity()) {
            if done {
                let buffer = store.place.streams.of_mut(stream);
                buffer.done(program.die, program.superwordline);
            }
        }
    }
    drive
}

/// The quarter of the pages that the host reads lies on the fastest page type, and each page type has a quarter of all.
#[test]
fn sequence_what_is_read_lies_on_the_fastest_page_type() {
    let drive = written_by_heat(256, 9, true);
    let store = &drive.lower.store;
    let mut by_page = [[0; 4]; 2];
    for lpn in 0u64..256 {
        let ppa = store.table.map.at(Lpn(lpn)).expect("it was written");
        let (at, _) = store.shared.mp_page_of(ppa);
        by_page[usize::from(lpn.is_multiple_of(4))][usize::from(at.page.0)] += 1;
    }
    let [cold, hot] = by_page;
    assert_eq!(hot, [64, 0, 0, 0], "{cold:?} of the others");
    assert!(cold[1..].iter().all(|pages| *pages == 64), "{cold:?}");
    assert_eq!(store.audit(), Ok(()));
}

/// A dump has all four cursors: what lies in the buffer after a cut is what lay there, and the wordline is filled on.
#[test]
fn powerloss_a_wordline_with_four_cursors_is_filled_on() {
    for pages in [5, 13, 22, 39] {
        let held = |drive: &Drive| {
            let streams = &drive.lower.store.place.streams;
            let buffers: Vec<_> = streams.iter().collect();
            let slots = |buffer: &&WriteBuffer| {
                let held = (0..buffer.len()).filter_map(|i| buffer.held_at(i));
                (held.collect::<BTreeMap<Ppa, Buf>>(), buffer.slots_left())
            };
            buffers.iter().map(slots).collect::<Vec<_>>()
        };
        let drive = written_by_heat(pages, 1, true);
        let before = held(&drive);
        let next = restarted(drive, written_by_heat(0, 0, true));
        assert_eq!(held(&next), before, "{pages} pages");
        let mut next = next;
        let streams = &mut next.lower.store.place.streams;
        let (mut given, left) = (BTreeSet::new(), before[0].1);
        given.extend(before[0].0.keys().copied());
        for _ in 0..left.min(20) {
            let slot = streams
                .allocate(StreamId::HOST, None)
                .expect("the wordline has room");
            assert!(given.insert(slot.ppa), "{:?} is given twice", slot.ppa);
        }
    }
}
