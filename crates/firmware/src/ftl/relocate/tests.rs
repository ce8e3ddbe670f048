use alloc::vec::Vec;

use firstread_core::{CellMode, Lpn, Ns, Ppa, Stream, SuperblockId, Wait};

use super::victims::{Cold, Gc, Leveling, MOST_PLANNED, REMEMBERED};
use super::{Busy, PAGES};
use crate::format::{Cursor, Record as _};
use crate::ftl::place::{Item, Why};
use crate::ftl::tests::{
    Drive, SLOTS, Silent, drive, drive_of, drive_with, emptying, fill, geometry, setup,
};
use crate::observe::{Owner, RegionId, StreamUse, SuperblockUse};
use crate::policy::gc_victim::{AXIS, AnyGcVictim};

/// A drive of `superblocks`, of which `free` are free and the others hold `valid` valid slots each. Its spare space
/// is more than a superblock, so two are kept from the host.
fn filled(superblocks: u32, free: u32, valid: u32) -> Drive {
    let capacity = u64::from((superblocks - 6) * SLOTS);
    let mut drive = drive(superblocks, capacity, 0);
    fill(&mut drive, free, valid);
    drive
}

/// Moves that become due with the next slot of the host.
fn moves_due(drive: &mut Drive) -> u32 {
    drive.relocate.update_pace(&mut drive.lower.store);
    let pace = &mut drive.lower.store.place.relocation.pace;
    pace.earn();
    let mut moves = 0;
    while pace.is_due() {
        pace.spend(1);
        moves += 1;
    }
    moves
}

fn ask_mode(drive: &mut Drive, block: u32) {
    let (block, mode) = (SuperblockId(block), CellMode::Slc);
    let (lower, ports) = (&mut drive.lower, &mut Silent::default());
    let asked = drive.relocate.ask_mode(Ns::ZERO, block, mode, lower, ports);
    assert_eq!(asked, Ok(true));
}

fn may_move(drive: &Drive, owner: Owner) -> bool {
    drive.relocate.may_move(owner, &drive.lower.store)
}

/// Cleaning begins when the host cannot have its next superblock, and no sooner: garbage accumulates with time.
#[test]
fn formula_nothing_is_cleaned_while_the_host_can_have_a_superblock() {
    // Two are kept from the host.
    assert_eq!(moves_due(&mut filled(12, 4, 40)), 0);
    assert_eq!(moves_due(&mut filled(12, 3, 40)), 0);
    assert!(moves_due(&mut filled(12, 2, 40)) > 0);
}

/// As long as nothing waits for a superblock, a victim is cleaned from half the average yield on. Here three of
/// twelve superblocks are spare, which is 16 slots each.
#[test]
fn formula_a_victim_that_yields_little_waits_until_the_host_needs_it() {
    for (valid, is_worth) in [(57, false), (56, true), (0, true)] {
        let mut drive = filled(12, 4, valid);
        let victim = drive.relocate.worth_cleaning(&mut drive.lower.store);
        assert_eq!(victim.is_some(), is_worth, "{valid} valid slots");
    }
    let mut drive = filled(12, 4, 57);
    let waits = &mut drive.lower.store.place.relocation.host_waits;
    waits.set(Wait::Superblock, true);
    assert!(
        drive
            .relocate
            .worth_cleaning(&mut drive.lower.store)
            .is_some()
    );
}

/// Victims beyond those that are planned are taken to hold as much as the last of these. Here each gives back two
/// slots for 62 moves, and all that is missing is more than the planned ones give. Where any superblock may be a victim, later ones
/// are taken to hold what superblocks hold on average when the host has run out of room: 77 of 80 superblocks.
#[test]
fn formula_moves_are_reckoned_beyond_the_planned_victims() {
    let mean = 77 * SLOTS / 80;
    for (scheme, later) in [
        ("greedy", SLOTS - 2),
        ("fifo-guarded", SLOTS - 2),
        ("fifo", mean),
        ("random", mean),
    ] {
        let capacity = u64::from(74 * SLOTS);
        let mut drive = drive_with(80, capacity, 0, ("gc_victim", scheme));
        fill(&mut drive, 1, SLOTS - 2);
        let store = &drive.lower.store;
        let missing = store.place.missing_headroom(&store.shared) as u32;
        let planned = MOST_PLANNED as u32;
        assert!(missing > 4 * planned - 10, "{missing} slots");
        let further = (missing - 2 * planned) * later / (SLOTS - later);
        let (moves, expected) = (moves_due(&mut drive), planned * (SLOTS - 2) + further);
        assert!(
            moves.abs_diff(expected) <= SLOTS,
            "{scheme}: {moves} moves, {expected} for {missing} slots"
        );
    }
}

/// Other evacuations wait until cleaning has a superblock to spare. So cleaning has to make one, even where the
/// host writes nothing; with one to spare it moves nothing before moves are due.
#[test]
fn sequence_cleaning_makes_room_for_evacuations_that_wait() {
    for (free, asks, fails, moves) in [
        (1, false, false, false),
        (1, true, false, true),
        (1, false, true, true),
        (1, true, true, true),
        (3, true, false, false),
        (3, false, true, false),
    ] {
        let mut drive = filled(12, free, 40);
        if asks {
            ask_mode(&mut drive, 5);
        }
        drive.lower.store.place.space.failed = u32::from(fails);
        assert_eq!(
            may_move(&drive, Owner::Gc),
            moves,
            "{free} free, asked {asks}, failed {fails}"
        );
        assert!(may_move(&drive, Owner::Convert) && may_move(&drive, Owner::Refresh));
    }
}

/// A superblock that has been emptied is counted by what it was emptied for: a refresh, or a return to the drive's own
/// mode.
#[test]
fn formula_superblocks_are_counted_by_what_they_were_emptied_for() {
    for (owner, refreshed, returned) in [
        (Owner::Refresh, 1, 0),
        (Owner::MakeRoom, 0, 1),
        (Owner::Gc, 0, 0),
        (Owner::Wear, 0, 0),
        (Owner::Convert, 0, 0),
    ] {
        let mut drive = filled(12, 4, 0);
        let block = SuperblockId(3);
        let current = emptying(owner, block, 1);
        let (lower, ports) = (&mut drive.lower, &mut Silent::default());
        lower.store.place.relocation.emptying = Some(current);
        drive.relocate.emptied(Ns::ZERO, current, lower, ports);
        let store = &drive.lower.store;
        let counters = &store.shared.counters;
        assert_eq!(
            (
                counters.superblocks_refreshed,
                counters.superblocks_emptied_for_room
            ),
            (refreshed, returned),
            "{owner:?}"
        );
        assert!(store.place.relocation.emptying.is_none());
        assert_eq!(store.place.space.erases.blocks().next(), Some(block));
    }
}

/// Wear leveling that has begun ends before those who have asked, due or not: their turn comes after it.
#[test]
fn sequence_wear_leveling_ends_for_those_who_wait() {
    let mut drive = filled(12, 3, 40);
    assert!(!may_move(&drive, Owner::Wear), "nothing is due");
    drive.lower.store.place.space.failed = 1;
    assert!(may_move(&drive, Owner::Wear), "for a failed superblock");
    drive.lower.store.place.space.failed = 0;
    ask_mode(&mut drive, 5);
    assert!(may_move(&drive, Owner::Wear), "for a change of mode");
    assert!(!may_move(&drive, Owner::Gc));
}

/// Cleaning that has begun ends before those who have asked, though no write makes its moves due. It begins for none of them.
#[test]
fn sequence_cleaning_that_has_begun_ends_for_those_who_wait() {
    let mut drive = filled(12, 3, 40);
    let begun = Some(emptying(Owner::Gc, SuperblockId(6), 7));
    drive.lower.store.place.relocation.emptying = begun;
    assert!(!may_move(&drive, Owner::Gc), "nobody waits");
    drive.lower.store.place.space.failed = 1;
    assert!(may_move(&drive, Owner::Gc), "for a failed superblock");
    drive.lower.store.place.space.failed = 0;
    ask_mode(&mut drive, 5);
    assert!(may_move(&drive, Owner::Gc), "for a change of mode");
    drive.lower.store.place.relocation.emptying = None;
    assert!(!may_move(&drive, Owner::Gc), "it has not begun");
}

/// A victim whose valid slots find no room gives way to the one that gains most, whatever the scheme has chosen.
#[test]
fn sequence_a_victim_that_finds_no_room_gives_way() {
    let mut drive = filled(12, 1, 60);
    let store = &mut drive.lower.store;
    store.shared.blocks.info_mut(SuperblockId(4)).valid_slots = 20;
    let fits = |drive: &Drive| {
        let chosen = SuperblockId(7);
        drive.relocate.victim_that_fits(chosen, &drive.lower.store)
    };
    assert_eq!(
        fits(&drive),
        Some(SuperblockId(7)),
        "one superblock is free"
    );
    for reserved in 1..=SLOTS {
        drive.lower.store.place.reserve_slot();
        let expected = match SLOTS - reserved {
            60.. => Some(SuperblockId(7)),
            20.. => Some(SuperblockId(4)),
            _ => None,
        };
        assert_eq!(fits(&drive), expected, "{reserved} slots are reserved");
    }
}

/// A superblock of a declared region is compacted once it is being emptied: not if it was erased between the request and
/// its turn.
#[test]
fn formula_what_has_changed_since_it_was_asked_for_is_not_compacted() {
    let mut drive = filled(12, 4, 40);
    let block = SuperblockId(2);
    let opened = drive.lower.store.shared.blocks.info(block).opened;
    for (opened, compacted) in [(opened + 1, 0), (opened, 1)] {
        drive.relocate.for_room = Some(emptying(Owner::Gc, block, opened));
        drive.lower.store.place.relocation.asked += 1;
        let next = drive.relocate.next_for_room(&mut drive.lower);
        assert_eq!(next.is_some(), compacted == 1);
        let store = &drive.lower.store;
        assert_eq!(store.shared.counters.superblocks_compacted, compacted);
        assert_eq!(store.place.relocation.asked, 0);
    }
}

/// The superblock of a declared region that was opened longest ago is emptied for room, and waits for a host that waits for a
/// superblock.
#[test]
fn formula_the_oldest_superblock_is_emptied_for_room_when_the_host_does_not_wait() {
    let mut drive = drive_with(20, 8 * u64::from(SLOTS), 0, ("area", "differential"));
    for (block, valid) in
        (0..8)
            .map(|b| (b, 40))
            .chain([(18, SLOTS), (16, SLOTS), (17, SLOTS), (19, SLOTS)])
    {
        drive
            .lower
            .store
            .mark_filled(Ns::ZERO, SuperblockId(block), 0, valid);
    }
    let store = &mut drive.lower.store;
    store.place.look_at_regions(&store.shared);
    let opened = |block: u32| store.shared.blocks.info(SuperblockId(block)).opened;
    assert!(opened(18) < opened(16) && opened(16) < opened(19));
    let item = Item {
        lpn: Lpn(3),
        expect: None,
        why: Why::Copied(StreamUse::Region(RegionId::DECLARED)),
        wish: None,
    };
    assert!(store.take(Ns::ZERO, &item).is_err(), "none is free");
    drive.relocate.make_room(&mut drive.lower);
    let asked = drive
        .relocate
        .for_room
        .expect("a page that is read often waits");
    assert_eq!(
        (asked.block, asked.owner),
        (SuperblockId(18), Owner::MakeRoom)
    );
    for waits in [true, false] {
        let host_waits = &mut drive.lower.store.place.relocation.host_waits;
        host_waits.set(Wait::Superblock, waits);
        let next = drive.relocate.next_for_room(&mut drive.lower);
        assert_eq!(next.is_some(), !waits);
        assert_eq!(drive.relocate.for_room.is_some(), waits);
    }
}

/// A victim that was chosen is no longer planned; the others stay so, in their order.
#[test]
fn model_the_victim_that_is_chosen_is_planned_no_more() {
    let name = AXIS.schemes[0].name;
    let setup = setup(CellMode::Slc, geometry(64), 500);
    for seed in 0..40 {
        let s = Stream::new(seed).named("foreseen");
        let mut gc = Gc::new(AnyGcVictim::new(name, &setup, &[]).expect("a scheme"));
        let mut planned: Vec<SuperblockId> = Vec::new();
        for i in 0..200 {
            let block = SuperblockId(s.at(i).at(0).below(64) as u32);
            if s.at(i).at(1).below(2) == 0 && planned.len() < MOST_PLANNED {
                if !planned.contains(&block) {
                    gc.planned[gc.planned_count] = block;
                    gc.planned_count += 1;
                    planned.push(block);
                }
            } else {
                let chosen = gc.chosen;
                gc.choose(block);
                assert_eq!(gc.chosen, chosen + 1);
                planned.retain(|b| *b != block);
            }
            assert_eq!(
                gc.planned[..gc.planned_count],
                planned,
                "seed {seed}, step {i}"
            );
        }
    }
}

/// The victim that was planned stands where it is full and holds less than the one that would be chosen now; else the choice
/// is made anew.
#[test]
fn model_a_planned_victim_stands_if_it_holds_less() {
    let (mut stood, mut chosen_anew) = (0, 0);
    for seed in 0..200 {
        let s = Stream::new(seed).named("foreseen victim");
        let capacity = u64::from(8 * SLOTS);
        let mut drive = drive_with(14, capacity, 0, ("gc_victim", "fifo"));
        fill(&mut drive, 2, 0);
        let store = &mut drive.lower.store;
        for block in (0..12).map(SuperblockId) {
            let info = store.shared.blocks.info_mut(block);
            info.valid_slots = 20 + s.at(0).at(block.0.into()).below(40) as u32;
        }
        store
            .place
            .relocation
            .host_waits
            .set(Wait::Superblock, true);
        let planned = SuperblockId(1 + s.at(1).below(11) as u32);
        let is_full = s.at(2).below(5) > 0;
        if !is_full {
            store.shared.blocks.info_mut(planned).usage = SuperblockUse::Erasing;
        }
        let now = drive.relocate.worth_cleaning(&mut drive.lower.store);
        let now = now.expect("the host waits");
        drive.relocate.gc.planned[0] = planned;
        drive.relocate.gc.planned_count = 1;
        let valid = |block| drive.lower.store.shared.blocks.info(block).valid_slots;
        let stands = is_full && valid(planned) < valid(now);
        let expected = if stands { planned } else { now };
        let found = drive.relocate.worth_cleaning(&mut drive.lower.store);
        assert_eq!(
            found,
            Some(expected),
            "seed {seed}: {planned:?} planned, {now:?} now"
        );
        *(if stands { &mut stood } else { &mut chosen_anew }) += 1;
    }
    assert!(stood > 20 && chosen_anew > 20, "{stood} {chosen_anew}");
}

/// Victims that are planned for a superblock that one of several streams of the host opens soon stand when victims are planned anew, though
/// the scheme would choose another one by now. With one stream all are planned anew: the host has a whole superblock before it.
#[test]
fn sequence_victims_for_an_opening_that_is_near_stand() {
    for (stream, stands) in [("one", false), ("fdp", true)] {
        let mut drive = drive_with(40, 64, 0, ("stream", stream));
        fill(&mut drive, 1, 40);
        let oldest = SuperblockId(0);
        let store = &mut drive.lower.store;
        store.shared.blocks.info_mut(oldest).evacuating = true;
        drive.relocate.update_pace(&mut drive.lower.store);
        let planned = drive.relocate.gc.planned[0];
        assert_eq!(planned, SuperblockId(1), "{stream}");
        // The oldest superblock is at rest now, and `fifo` chooses the oldest.
        let store = &mut drive.lower.store;
        store.shared.blocks.info_mut(oldest).evacuating = false;
        store.place.relocation.plan_anew = true;
        drive.relocate.update_pace(&mut drive.lower.store);
        let expected = if stands { planned } else { oldest };
        assert_eq!(drive.relocate.gc.planned[0], expected, "{stream}");
        // Those behind them are planned anew.
        let standing = drive.relocate.gc.standing;
        assert_eq!(standing > 0, stands, "{stream}: {standing}");
        if stands {
            assert!(drive.relocate.gc.planned[..standing].contains(&planned));
            drive.relocate.gc.choose(planned);
            assert_eq!(drive.relocate.gc.standing, standing - 1);
            drive.relocate.gc.choose(SuperblockId(39));
            assert_eq!(drive.relocate.gc.standing, standing - 1);
        }
    }
}

/// A page is asked for once: if it lies in a full superblock that is not being evacuated, and the queue has room.
#[test]
fn model_a_page_is_asked_for_once() {
    let (mut full, mut again) = (0, 0);
    for seed in 0..20 {
        let s = Stream::new(seed).named("pages");
        let mut drive = filled(12, 4, 40);
        let mut asked: Vec<(Owner, Lpn)> = Vec::new();
        for page in 0..200u64 {
            let block = SuperblockId((page / 40) as u32);
            let ppa = Ppa::new(block, (page % 40) as u32);
            drive.lower.store.table.set(Lpn(page), ppa);
        }
        let store = &mut drive.lower.store;
        store.shared.blocks.info_mut(SuperblockId(1)).evacuating = true;
        store.shared.blocks.info_mut(SuperblockId(2)).usage = SuperblockUse::Open;
        for i in 0..300 {
            let lpn = Lpn(s.at(i).at(0).below(220));
            let owner = [Owner::Wear, Owner::Refresh][s.at(i).at(1).below(2) as usize];
            let is_asked = asked.iter().any(|(_, asked)| *asked == lpn);
            let expected = match lpn.0 / 40 {
                5.. | 2 => Err(Busy::NothingThere),
                1 => Err(Busy::Moving),
                _ if is_asked => Err(Busy::Moving),
                _ if asked.len() == PAGES => Err(Busy::QueueFull),
                _ => Ok(()),
            };
            if expected.is_ok() {
                asked.push((owner, lpn));
            }
            full += u32::from(expected == Err(Busy::QueueFull));
            again += u32::from(is_asked);
            let found = drive.relocate.ask_move(owner, lpn, &mut drive.lower);
            assert_eq!(found, expected, "seed {seed}, step {i}: {lpn:?}");
            assert_eq!(drive.relocate.pages, asked, "seed {seed}, step {i}");
            let relocation = &mut drive.lower.store.place.relocation;
            assert_eq!(relocation.asked as usize, asked.len());
            if s.at(i).at(2).below(6) == 0 && !asked.is_empty() {
                asked.remove(0);
                drive.relocate.pages.pop_front();
                relocation.asked -= 1;
            }
        }
    }
    assert!(full > 20 && again > 20, "{full} {again}");
}

/// A superblock goes into a mode with a pool of its own for the scheme alone; into another mode for whoever asks.
#[test]
fn formula_nobody_but_the_scheme_asks_for_the_mode_of_a_pool() {
    let setup = setup(CellMode::Qlc, geometry(20), 2_000);
    for (scheme, pools) in [
        ("hotness", &[CellMode::Slc, CellMode::Tlc][..]),
        ("fixed", &[]),
    ] {
        for mode in CellMode::ALL {
            let mut drive = drive_of(CellMode::Qlc, &setup, 0, ("cell_mode", scheme));
            fill(&mut drive, 4, 40);
            let (lower, ports) = (&mut drive.lower, &mut Silent::default());
            let block = SuperblockId(3);
            let asked = drive.relocate.ask_mode(Ns::ZERO, block, mode, lower, ports);
            let expected = match pools.contains(&mode) {
                true => Err(Busy::ModeOfScheme),
                false => Ok(true),
            };
            assert_eq!(asked, expected, "{scheme}, {mode:?}");
        }
    }
}

/// A superblock that is given up, because its data find no room, is at rest again: it may be chosen as any other.
#[test]
fn sequence_a_superblock_that_is_given_up_is_at_rest() {
    for lacks_headroom in [false, true] {
        let mut drive = filled(12, 1, 40);
        let block = SuperblockId(3);
        let store = &mut drive.lower.store;
        let info = store.shared.blocks.info_mut(block);
        info.evacuating = true;
        let current = emptying(Owner::Gc, block, info.opened);
        store.place.relocation.emptying = Some(current);
        // Then no other victim is chosen, and no move begins.
        store.place.space.read_only = true;
        store.place.relocation.moves = drive.relocate.window;
        drive.relocate.lacks_headroom = lacks_headroom;
        let (lower, ports) = (&mut drive.lower, &mut Silent::default());
        assert!(!drive.relocate.empty(Ns::ZERO, false, lower, ports));
        let store = &drive.lower.store;
        let (info, current) = (
            store.shared.blocks.info(block),
            store.place.relocation.emptying,
        );
        assert_eq!(
            (info.evacuating, current.is_some()),
            (!lacks_headroom, !lacks_headroom)
        );
    }
}

/// A firmware with another scheme of `gc_victim` takes over a dump: from then on its own scheme chooses, and what was
/// planned stays planned.
#[test]
fn powerloss_another_scheme_chooses_victims_after_a_restart() {
    let capacity = u64::from(8 * SLOTS);
    let [mut old, mut new] = ["fifo", "greedy"].map(|scheme| {
        let mut drive = drive_with(14, capacity, 0, ("gc_victim", scheme));
        fill(&mut drive, 2, 40);
        // The second superblock is the emptiest, and the first the oldest.
        drive
            .lower
            .store
            .shared
            .blocks
            .info_mut(SuperblockId(1))
            .valid_slots = 3;
        let waits = &mut drive.lower.store.place.relocation.host_waits;
        waits.set(Wait::Superblock, true);
        drive
    });
    let chosen = |drive: &mut Drive| drive.relocate.worth_cleaning(&mut drive.lower.store);
    assert_eq!(chosen(&mut old), Some(SuperblockId(0)));
    old.relocate.gc.chosen = 5;
    let mut dump = [0; 1 << 10];
    old.relocate.transfer(&mut Cursor::saving(&mut dump));
    new.relocate.transfer(&mut Cursor::loading(&dump));
    assert_eq!(chosen(&mut new), Some(SuperblockId(1)));
    assert_eq!(new.relocate.gc.chosen, 5);
}

/// Wear leveling of a superblock that may not be emptied now is asked for again, though its scheme has counted it as done: as long as
/// the superblock has not changed.
#[test]
fn sequence_wear_leveling_that_was_refused_is_asked_for_again() {
    for changes in [false, true] {
        let mut drive = filled(12, 4, 40);
        let block = SuperblockId(2);
        let opened = drive.lower.store.shared.blocks.info(block).opened;
        drive.relocate.gc.cold = Some(Cold { block, opened });
        let store = &mut drive.lower.store;
        store
            .place
            .relocation
            .host_waits
            .set(Wait::Superblock, true);
        assert_eq!(drive.relocate.choose_cold(&mut drive.lower.store), None);
        assert!(drive.relocate.has_more_to_move(&drive.lower.store));
        // Nothing is refused for good: the host does not wait, and has its next superblock.
        let store = &mut drive.lower.store;
        store
            .place
            .relocation
            .host_waits
            .set(Wait::Superblock, false);
        store.shared.blocks.info_mut(block).opened += u64::from(changes);
        let found = drive.relocate.choose_cold(&mut drive.lower.store);
        assert_eq!(found, (!changes).then_some(block));
        assert_eq!(drive.relocate.gc.cold, None);
    }
}

/// Wear leveling of a declared region waits as claims do: until the host has its next superblock, or writes nothing. The superblock
/// is remembered meanwhile.
#[test]
fn sequence_wear_leveling_of_a_declared_region_waits_for_the_host() {
    let mut drive = drive_with(20, 8 * u64::from(SLOTS), 0, ("area", "differential"));
    for (block, valid) in (0..14).map(|b| (b, 40)).chain((16..19).map(|b| (b, SLOTS))) {
        let store = &mut drive.lower.store;
        store.mark_filled(Ns::ZERO, SuperblockId(block), 0, valid);
    }
    let store = &mut drive.lower.store;
    store.place.look_at_regions(&store.shared);
    let block = SuperblockId(17);
    assert_ne!(store.shared.blocks.region_of(block), RegionId::MAIN);
    let opened = store.shared.blocks.info(block).opened;
    let cold = Some(Cold { block, opened });
    drive.relocate.gc.cold = cold;
    // A host that is refused 4,096 claims and writes nothing rests.
    for refused in 0..4_096 {
        let found = drive.relocate.choose_cold(&mut drive.lower.store);
        assert_eq!((found, drive.relocate.gc.cold), (None, cold), "{refused}");
    }
    let found = drive.relocate.choose_cold(&mut drive.lower.store);
    assert_eq!((found, drive.relocate.gc.cold), (Some(block), None));
}

/// Wear leveling of the drive's own region does not begin near the end of the host's superblock: its moves are planned when the host
/// opens the next one, and then it begins. The moves of one stay planned for some time.
#[test]
fn sequence_wear_leveling_is_planned_with_the_superblock_of_the_host() {
    const VALID: u32 = 40;
    let mut drive = filled(12, 2, VALID);
    let without = moves_due(&mut drive);
    let block = SuperblockId(2);
    let opened = drive.lower.store.shared.blocks.info(block).opened;
    let cold = Some(Cold { block, opened });
    drive.relocate.gc.cold = cold;
    for _ in 0..3 {
        let found = drive.relocate.choose_cold(&mut drive.lower.store);
        assert_eq!((found, drive.relocate.gc.cold), (None, cold));
    }
    assert_eq!(moves_due(&mut drive), without, "not planned");
    drive.lower.store.place.relocation.written_before[1] = (1, 0);
    assert_eq!(moves_due(&mut drive), without + VALID, "planned");
    let found = drive.relocate.choose_cold(&mut drive.lower.store);
    assert_eq!((found, drive.relocate.gc.cold), (Some(block), None));
    assert_eq!(moves_due(&mut drive), without, "begun");
    // A second one was not planned.
    drive.relocate.gc.cold = cold;
    assert_eq!(drive.relocate.choose_cold(&mut drive.lower.store), None);
    drive.relocate.gc.cold = None;
    for superblock in 0..=REMEMBERED {
        let written = &mut drive.lower.store.place.relocation.written_before[1];
        written.0 += 1;
        let planned = u32::from(superblock < REMEMBERED) * VALID;
        assert_eq!(moves_due(&mut drive), without + planned, "{superblock}");
    }
    // While the host has half of its superblock before it, there is time for what is not planned.
    let mut drive = filled(12, 3, VALID);
    let store = &mut drive.lower.store;
    store.place.begin_for_host(1, &mut store.shared);
    drive.relocate.gc.cold = cold;
    let found = drive.relocate.choose_cold(&mut drive.lower.store);
    assert_eq!(found, Some(block));
}

/// As many superblocks are planned as were leveled, and one fewer each time that not so many were for long.
#[test]
fn formula_wear_leveling_is_planned_as_it_was_before() {
    let mut leveling = Leveling::default();
    for (left, has_time) in [(0, false), (31, false), (32, true), (64, true)] {
        assert_eq!(leveling.has_time(left, 64), has_time, "{left}");
    }
    (0..3).for_each(|_| leveling.asked(10, true));
    leveling.host_opened(1, false);
    leveling.host_opened(1, true);
    assert_eq!((leveling.planned_left(), leveling.moves_to_come()), (3, 30));
    leveling.asked(7, true);
    leveling.asked(7, false);
    assert_eq!((leveling.planned_left(), leveling.moves_to_come()), (2, 14));
    assert!(leveling.has_time(0, 64));
    // One waits beside those that were leveled.
    (0..2).for_each(|_| leveling.asked(7, true));
    assert!(!leveling.has_time(0, 64));
    leveling.host_opened(2, true);
    assert_eq!(leveling.planned_left(), 4);
    let planned = (3..).map(|opened| {
        leveling.host_opened(opened, false);
        leveling.planned_left()
    });
    let planned: Vec<u32> = planned.take(4 * REMEMBERED as usize + 3).collect();
    let fewer = |n: usize| 4 - (n as u32 + 1).div_euclid(REMEMBERED).min(4);
    let expected: Vec<u32> = (0..planned.len()).map(fewer).collect();
    assert_eq!(planned, expected);
}

/// The moves of planned wear leveling come on top of those of cleaning, whether superblocks or headroom are short. Nothing counts on
/// the superblock that leveling will empty, because it may not come.
#[test]
fn formula_planned_wear_leveling_takes_no_move_from_cleaning() {
    const VALID: u32 = 40;
    let mut cleaned = 0;
    for free in 1..4 {
        for valid in [8, 20, 40, 60] {
            let mut drive = filled(12, free, valid);
            let without = moves_due(&mut drive);
            cleaned += u32::from(without > 1);
            drive.relocate.gc.leveling.asked(VALID, true);
            drive.lower.store.place.relocation.written_before[1].0 += 1;
            let with = moves_due(&mut drive);
            let expected = if without > 0 { without + VALID } else { 0 };
            assert_eq!(
                with, expected,
                "{free} free, {valid} valid, {without} without"
            );
        }
    }
    assert!(cleaned > 3, "{cleaned}");
}
