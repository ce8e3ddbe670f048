//! When a superblock of the drive's own mode may change to another one, against the rule in plain numbers.

use alloc::vec::Vec;

use firstread_core::{CellMode, Lpn, Ns, Ppa, Stream, SuperblockId};

use crate::ftl::place::{Erased, Evacuation};
use crate::ftl::tests::{Drive, Silent, drive_of, emptying, fill, geometry, setup};
use crate::observe::{CopyRefused, FutureBuilder, Owner, Regions, SuperblockUse};

/// Slots of a superblock in the modes of the drive.
const QLC: u64 = 256;
const TLC: u64 = 192;
const SLC: u64 = 64;
/// Slots that a power cut tears: four pages of two slots on two dies.
const TORN: u64 = 16;

fn slots(mode: CellMode) -> u64 {
    QLC / 4 * u64::from(mode.bits())
}

/// A drive in a state that `s` draws: as much spare as decides, some superblocks free, one being emptied, others asked for.
fn drawn(scheme: &str, s: Stream) -> Drive {
    let superblocks = match s.at(0).below(4) {
        // Large enough for the over-provisioning that superblocks in other modes leave.
        0 => 90 + s.at(1).below(30),
        _ => 12 + s.at(1).below(20),
    };
    let all = superblocks * QLC;
    // The reserve of three superblocks, and two of each pool.
    let needed = 3 * QLC + 2 * (SLC + TLC);
    let capacity = match superblocks < 90 {
        true => all - needed - s.at(2).below(900),
        false => (all - s.at(2).below(900)) * 1000 / 1070,
    };
    let setup = setup(CellMode::Qlc, geometry(superblocks as u32), capacity);
    let mut drive = drive_of(CellMode::Qlc, &setup, 0, ("cell_mode", scheme));
    fill(&mut drive, 1 + s.at(3).below(5) as u32, 0);
    let store = &mut drive.lower.store;
    let has_garbage = s.at(4).below(3) > 0;
    for block in (0..store.shared.blocks.len()).map(SuperblockId) {
        let info = store.shared.blocks.info_mut(block);
        if info.usage == SuperblockUse::Full {
            let draw = s.named("valid").at(u64::from(block.0));
            let is_full = !has_garbage || draw.at(0).below(2) == 0;
            info.valid_slots = if is_full { QLC } else { draw.at(1).below(QLC) } as u32;
        }
    }
    for _ in 0..s.at(5).below(3) * s.at(6).below(300) {
        store.place.reserve_slot();
    }
    if s.at(7).below(2) == 0 {
        let (block, draw) = (SuperblockId(2), s.named("emptying"));
        let owners = [Owner::Gc, Owner::Gc, Owner::Convert, Owner::Refresh];
        let mut current = emptying(owners[draw.at(0).below(4) as usize], block, 3);
        let modes = [CellMode::Qlc, CellMode::Qlc, CellMode::Slc];
        current.mode = modes[draw.at(1).below(3) as usize];
        current.shrinks = (QLC - slots(current.mode)) as u32;
        let info = store.shared.blocks.info_mut(block);
        info.evacuating = true;
        info.failed = draw.at(2).below(3) == 0;
        store.place.relocation.emptying = Some(current);
    }
    for i in 0..s.at(8).below(4) {
        let mut asked = emptying(Owner::Convert, SuperblockId(3 + i as u32), 4 + i);
        asked.shrinks = [0, QLC - TLC, QLC - SLC][s.at(9).at(i).below(3) as usize] as u32;
        drive.relocate.asked.push_back(asked);
    }
    store.place.space.read_only = s.at(10).below(16) == 0;
    drive
}

/// The over-provisioning that a change to mode `to` has to leave: the capacity with what keeps it alive, and the share of it
/// that superblocks in other modes leave. Changes that are promised count as made.
fn leaves_over_provisioning(drive: &Drive, to: CellMode) -> bool {
    let space = &drive.lower.store.place.space;
    let current = drive.lower.store.place.relocation.emptying;
    let promised: Vec<Evacuation> = drive.relocate.asked.iter().copied().collect();
    let promised = promised.iter().chain(&current);
    let lost: u64 = promised.map(|e| u64::from(e.shrinks)).sum();
    let left = (space.physical_slots as i64) - (QLC - slots(to) + lost) as i64;
    let capacity = space.capacity_slots;
    let kept = capacity + capacity * 70 / 1000;
    !space.read_only && left >= space.needed_slots as i64 && left >= kept as i64
}

/// Whether cleaning keeps its reserve without `taken` slots, and the host its pace.
fn leaves_reserve(drive: &Drive, taken: u64) -> bool {
    let store = &drive.lower.store;
    let (space, blocks) = (&store.place.space, &store.shared.blocks);
    let free = blocks.iter();
    let free =
        free.filter(|(_, info)| info.usage == SuperblockUse::Free && info.mode == CellMode::Qlc);
    let free_superblocks = free.count() as u64;
    let free = (free_superblocks * QLC) as i64 - space.reserved as i64;
    // What the superblock that is being emptied gives back, and what its data take.
    let (mut gives, mut takes, mut is_owed) = (0, 0, false);
    if let Some(current) = store.place.relocation.emptying {
        let info = blocks.info(current.block);
        let gives_whole = !info.failed && current.mode == CellMode::Qlc;
        gives = if gives_whole { QLC as i64 } else { 0 };
        takes = i64::from(info.valid_slots);
        is_owed = current.owner != Owner::Gc || current.mode != CellMode::Qlc;
    }
    let owed = if is_owed { (takes - gives).max(0) } else { 0 };
    let has_spare = space.physical_slots >= space.needed_slots + QLC;
    let kept = if has_spare { 2 * QLC } else { QLC };
    let beyond = free >= kept as i64 + owed + taken as i64;
    let to_come = free + gives - takes;
    let headroom = |slots: u64| to_come >= (QLC + TORN + slots) as i64;
    // The host has none of its superblock left, so it has to have its next one: now, or once the superblock is emptied.
    let has_now = free >= kept as i64 + owed + (taken + QLC) as i64 && headroom(taken + QLC);
    let is_there = free_superblocks > u64::from(taken > 0);
    let has_soon = is_there && to_come >= (kept + TORN + QLC + taken) as i64;
    beyond && headroom(taken) && (has_now || has_soon)
}

fn expected(drive: &Drive, has_plan: bool, to: CellMode, taken: u64) -> Result<(), CopyRefused> {
    match leaves_over_provisioning(drive, to) {
        false => Err(CopyRefused::OverProvisioning),
        true if !has_plan => Err(CopyRefused::Capacity),
        true if leaves_reserve(drive, taken) => Ok(()),
        true => Err(CopyRefused::Reserve),
    }
}

/// A superblock changes its mode where what is left holds the capacity with its over-provisioning, changes under way counted,
/// where the scheme plans for one, and where cleaning keeps its reserve.
#[test]
fn model_a_superblock_changes_its_mode_where_capacity_and_reserve_allow() {
    let mut found = [0; 4];
    for seed in 0..600 {
        let s = Stream::new(seed).named("may convert");
        // The oracle that was told nothing plans for no superblock.
        let scheme = ["hotness", "hotness", "clairvoyant"][seed as usize % 3];
        let mut drive = drawn(scheme, s);
        for to in [CellMode::Slc, CellMode::Tlc] {
            for taken in [0, QLC] {
                let expected = expected(&drive, scheme == "hotness", to, taken);
                let store = &mut drive.lower.store;
                let (place, shared) = (&mut store.place, &mut store.shared);
                let may = drive.relocate.may_convert(to, taken > 0, place, shared);
                assert_eq!(may, expected, "seed {seed}: {to:?}, {taken} slots taken");
                found[match may {
                    Ok(()) => 0,
                    Err(CopyRefused::OverProvisioning) => 1,
                    Err(CopyRefused::Reserve) => 2,
                    Err(_) => 3,
                }] += 1;
            }
        }
    }
    assert!(found.iter().all(|n| *n > 100), "{found:?}");
}

/// A free superblock changes its mode where one lies in the drive's own region, however many are free in a declared one. Where
/// none does, cleaning makes room for one.
#[test]
fn formula_free_superblocks_of_a_declared_region_do_not_change_their_mode() {
    for own in [false, true] {
        let setup = setup(CellMode::Qlc, geometry(40), 20 * QLC);
        let mut drive = drive_of(CellMode::Qlc, &setup, 0, ("cell_mode", "hotness"));
        fill(&mut drive, 16, 0);
        let store = &mut drive.lower.store;
        let blocks = &mut store.shared.blocks;
        let first = blocks.len() - if own { 15 } else { 16 };
        blocks.divide(Regions::new(blocks.len(), Some(first)));
        let (place, shared) = (&mut store.place, &mut store.shared);
        let may = drive
            .relocate
            .may_convert(CellMode::Slc, true, place, shared);
        assert_eq!(may.is_ok(), own, "{may:?}");
        assert_eq!(place.free_for_conversion(shared).is_some(), own);
        place.relocation.claims.host_opens();
        assert_eq!(place.relocation.claims.is_served, !own);
    }
}

/// A superblock that will be refreshed lacks one of its mode for its pages: if it holds data, if the mode has a pool without a free
/// one, and if the over-provisioning allows one more.
#[test]
fn model_a_superblock_that_will_be_refreshed_lacks_its_mode() {
    let (mut lacks, mut has) = (0, 0);
    for seed in 0..400 {
        let s = Stream::new(seed).named("disturbed");
        let mut drive = drawn("hotness", s);
        let mut info = *drive.lower.store.shared.blocks.info(SuperblockId(1));
        info.mode = [CellMode::Slc, CellMode::Tlc, CellMode::Qlc][s.at(30).below(3) as usize];
        info.valid_slots = s.at(32).below(3) as u32;
        let usage = [
            SuperblockUse::Open,
            SuperblockUse::Full,
            SuperblockUse::Full,
        ];
        info.usage = usage[s.at(33).below(3) as usize];
        let is_full = info.usage == SuperblockUse::Full;
        let allowed = info.mode != CellMode::Qlc && leaves_over_provisioning(&drive, info.mode);
        let expected = allowed && info.valid_slots > 0 && is_full;
        let store = &mut drive.lower.store;
        let found = |relocate: &crate::ftl::relocate::Relocate, store: &mut _| {
            let store: &mut crate::flash_store::FlashStore<_> = store;
            relocate.will_lack_its_mode(&info, &store.place, &store.shared)
        };
        assert_eq!(
            found(&drive.relocate, store),
            expected,
            "seed {seed}: {info:?}"
        );
        *(if expected { &mut lacks } else { &mut has }) += 1;
        if expected {
            let free = SuperblockId(store.shared.blocks.len() - 1);
            store.place.take_free(free, &store.shared);
            let ports = &mut Silent::default();
            store.start_erase(Ns::ZERO, free, info.mode, Erased::Free, ports);
            assert!(!found(&drive.relocate, store), "seed {seed}: one is coming");
        }
    }
    assert!(lacks > 20 && has > 100, "{lacks} {has}");
}

/// An emptied superblock goes to the stream that has found none: where it is to be of the drive's own mode, outside a
/// declared region, where none is on its way into that mode, and where it may change.
#[test]
fn model_an_emptied_superblock_goes_to_the_stream_that_waits() {
    let (mut goes, mut stays) = (0, 0);
    for seed in 0..400 {
        let s = Stream::new(seed).named("for a stream");
        let mut drive = drawn("hotness", s);
        let block = SuperblockId(1);
        let store = &mut drive.lower.store;
        store.shared.blocks.info_mut(block).valid_slots = 0;
        let to = [CellMode::Slc, CellMode::Tlc][s.at(20).below(2) as usize];
        let is_wanted = s.at(21).below(4) > 0;
        if is_wanted {
            store.place.relocation.wanted.add(to);
        }
        let is_coming = s.at(22).below(3) == 0;
        if is_coming {
            let free = SuperblockId(store.shared.blocks.len() - 1);
            store.place.take_free(free, &store.shared);
            let ports = &mut Silent::default();
            store.start_erase(Ns::ZERO, free, to, Erased::Free, ports);
        }
        let is_declared = s.at(23).below(4) == 0;
        let blocks = &mut store.shared.blocks;
        blocks.divide(Regions::new(blocks.len(), is_declared.then_some(1)));
        let mode = [CellMode::Qlc, CellMode::Qlc, CellMode::Tlc][s.at(24).below(3) as usize];
        // One that was in the mode before costs no over-provisioning.
        let was_in_it = s.at(25).below(4) == 0;
        if was_in_it {
            store.shared.blocks.info_mut(block).mode = to;
        }
        let may = match was_in_it {
            true => leaves_reserve(&drive, 0),
            false => expected(&drive, true, to, 0).is_ok(),
        };
        let changes = is_wanted && !is_coming && !is_declared && mode == CellMode::Qlc && may;
        let store = &mut drive.lower.store;
        let (place, shared) = (&mut store.place, &mut store.shared);
        let found = drive.relocate.mode_for_stream(block, mode, place, shared);
        assert_eq!(found, if changes { to } else { mode }, "seed {seed}");
        let still_wanted = place.relocation.wanted.first() == Some(to);
        assert_eq!(still_wanted, is_wanted && !changes, "seed {seed}");
        *(if changes { &mut goes } else { &mut stays }) += 1;
    }
    assert!(goes > 20 && stays > 100, "{goes} {stays}");
}

/// A superblock is kept in its mode if a page stays there whose last version it holds: with the oracle, one that is still to be
/// read.
#[test]
fn model_a_superblock_stays_for_a_page_that_is_still_to_be_read() {
    let (mut stay, mut go) = (0, 0);
    for seed in 0..60 {
        let s = Stream::new(seed).named("one stays");
        let setup = setup(CellMode::Qlc, geometry(16), 1_000);
        let mut drive = drive_of(CellMode::Qlc, &setup, 0, ("cell_mode", "clairvoyant"));
        fill(&mut drive, 4, 40);
        let block = SuperblockId(5);
        let mode = [CellMode::Slc, CellMode::Tlc, CellMode::Qlc][s.at(0).below(3) as usize];
        let store = &mut drive.lower.store;
        store.shared.blocks.info_mut(block).mode = mode;
        let mut ports = Silent::default();
        let mut future = FutureBuilder::new(1_000);
        let mut stays = false;
        for page in 0..6 {
            let draw = s.named("page").at(page);
            let (lpn, slot) = (Lpn(page), draw.at(0).below(8) as u32 + 8 * page as u32);
            let ppa = Ppa::new(block, slot);
            ports.stored.insert(ppa, lpn);
            // Of some pages a later version lies elsewhere.
            let is_last = draw.at(1).below(3) > 0;
            let last = if is_last {
                ppa
            } else {
                Ppa::new(SuperblockId(2), slot)
            };
            store.table.set(lpn, last);
            let is_read = draw.at(2).below(5) == 0;
            if is_read {
                future.read(lpn, 1);
            }
            stays |= is_last && is_read && mode != CellMode::Qlc;
        }
        store.shared.future = future.build().expect("few versions");
        let found = drive.relocate.one_stays(block, &drive.lower, &ports);
        assert_eq!(found, stays, "seed {seed}, {mode:?}");
        *(if stays { &mut stay } else { &mut go }) += 1;
    }
    assert!(stay > 10 && go > 10, "{stay} {go}");
}

/// A superblock that copies have asked for in the mode of the pool that the host writes to, and that the pool may not have, is counted as a
/// refusal, as in any other mode. What the pool has asked for on its own account is none.
#[test]
fn formula_a_refused_conversion_into_the_pool_is_counted_once_copies_ask() {
    for (alone, refused) in [(true, 0), (false, 1)] {
        let setup = setup(CellMode::Qlc, geometry(24), 4_000);
        let mut drive = drive_of(CellMode::Qlc, &setup, 0, ("cell_mode", "hybrid-pools"));
        fill(&mut drive, 6, 40);
        let relocation = &mut drive.lower.store.place.relocation;
        relocation.wanted.add(CellMode::Slc);
        relocation.pool_alone_wants = alone;
        // Nothing has told yet how large the pool may be, so it may have no superblock.
        let ports = &mut Silent::default();
        drive
            .relocate
            .convert_free(Ns::ZERO, &mut drive.lower, ports);
        let store = &drive.lower.store;
        assert!(store.place.relocation.wanted.first().is_none());
        let counted = &store.shared.counters.promotions_refused;
        let expected = CopyRefused::OverProvisioning as usize;
        for (reason, n) in counted.iter().enumerate() {
            assert_eq!(*n, if reason == expected { refused } else { 0 }, "{alone}");
        }
    }
}
