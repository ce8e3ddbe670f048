//! What the oracles of axes `cell_mode` and `area` decide, which know how often each page will be read.

use firstread_core::{CellMode, Lpn, Ns, Stream, SuperblockId};
use firstread_faulty_flash::{geometry, setup};
use firstread_firmware::observe::{
    Future, FutureBuilder, InPhase, Owner, PageFuture, PageHeat, RegionId, Regions, SuperblockInfo,
    SuperblockTable, SuperblockUse,
};
use firstread_firmware::policy::area::{
    AnyArea, Areas, Entry, HIGH, LOW, MakeRoom, PageMove, PageWrite, RegionRoom,
};
use firstread_firmware::policy::cell_mode::{AnyCellMode, CellModes, GiveBack, ReclaimState};
use firstread_firmware::policy::hot_pages::PageRead;
use firstread_firmware::policy::{Setup, area, cell_mode};

/// Superblocks of the drive: of 256, 192 and 64 slots in QLC, TLC and SLC mode.
const SUPERBLOCKS: u32 = 16;
const QLC: u32 = 256;
/// Pages of the drive.
const PAGES: u64 = 1_000;
/// Reads for which a mode that was refused a superblock is closed.
const CLOSED: u32 = 1_024;
/// Reads of a superblock for each of its slots up to which its data count as just written.
const FRESH: u64 = 16;
/// Reads of a superblock from which its data are rewritten: 20,000 of each of four dies.
const TIRED: u64 = 4 * 20_000;

/// A drive whose reads take 20 µs for each bit of a cell.
fn of_drive() -> Setup {
    let geometry = geometry(2, 2, 1, SUPERBLOCKS, 8);
    let setup = setup(geometry, CellMode::Qlc, PAGES, 3);
    let slots = |mode| geometry.slots_per_superblock(mode);
    let of_modes = [CellMode::Qlc, CellMode::Tlc, CellMode::Slc].map(slots);
    assert_eq!(of_modes, [QLC, 192, 64]);
    setup
}

/// Slots that superblocks in other modes may cost on a drive of which `superblocks` are not retired: 300 thousandths of theirs.
fn budget(superblocks: u32) -> u32 {
    superblocks * QLC * 300 / 1_000
}

/// Slots that superblocks in other modes cost.
fn lost(blocks: &SuperblockTable) -> u32 {
    let lost = |info: &SuperblockInfo| QLC - 64 * u32::from(info.mode.bits());
    blocks.iter().map(|(_, info)| lost(info)).sum()
}

/// Superblocks of `blocks` that are not retired.
fn in_use(blocks: &SuperblockTable) -> u32 {
    let infos = blocks.iter();
    let in_use = infos.filter(|(_, info)| info.usage != SuperblockUse::Bad);
    in_use.count() as u32
}

/// The oracle of cell modes, which has been told that page `n` is read `reads(n)` times.
fn modes(period: i64, reads: impl Fn(u64) -> u32) -> AnyCellMode {
    let blocks = SuperblockTable::new(SUPERBLOCKS, CellMode::Qlc);
    modes_on(&blocks, period, reads)
}

/// The same on a drive with superblocks `blocks`.
fn modes_on(blocks: &SuperblockTable, period: i64, reads: impl Fn(u64) -> u32) -> AnyCellMode {
    let record = cell_mode::AXIS.schemes.iter();
    let record = record.clone().find(|s| s.name == "clairvoyant").unwrap();
    let value = |key: &str, default| match key {
        "lost" => 300,
        "reclaim_period" => period,
        _ => default,
    };
    let params = record.params.iter();
    let values: Vec<i64> = params.map(|p| value(p.key, p.default())).collect();
    let mut scheme = AnyCellMode::new("clairvoyant", &of_drive(), &values).unwrap();
    scheme.foresee(&mut told(reads), blocks);
    scheme
}

/// A page of which `reads` were told and `left` are to come, all in the first phase.
fn future((reads, left): (u32, u32)) -> PageFuture {
    let now = InPhase {
        phase: 0,
        reads,
        left,
    };
    PageFuture {
        overwritten_in: u32::MAX,
        reads,
        left,
        writes: 0,
        now,
    }
}

/// All pages are read from the beginning to the end.
fn told(reads: impl Fn(u64) -> u32) -> Future {
    let mut future = FutureBuilder::new(PAGES);
    let most = (0..PAGES).map(&reads).max().unwrap_or(0);
    for turn in 0..most {
        for page in 0..PAGES {
            // Pages that are read seldom are not all read at the same time.
            let later = page * u64::from(most) / PAGES;
            let before =
                |turn| (u64::from(turn) * u64::from(reads(page)) + later) / u64::from(most);
            if before(turn + 1) > before(turn) {
                future.read(Lpn(page), 1);
            }
        }
    }
    future.build().unwrap()
}

/// Few pages are read often, and the others twice.
fn skewed(page: u64) -> u32 {
    if page < 100 { 200 } else { 2 }
}

/// A read of a page of which `reads` were told and `left` are to come.
fn read(mode: CellMode, retries: u8, block_reads: u64, told: (u32, u32)) -> PageRead {
    PageRead {
        block: SuperblockId(2),
        mode,
        pe_cycles: 0,
        page: 0,
        block_reads,
        retries,
        age: Ns::ZERO,
        heat: PageHeat::default(),
        future: future(told),
    }
}

/// Whether a page goes that is read often, and lies in the drive's own mode.
fn hot_goes(scheme: &mut AnyCellMode) -> Option<CellMode> {
    scheme.after_read(&read(CellMode::Qlc, 0, 0, (200, 199)))
}

/// A page goes at its first read, or later if it was refused, as long as a read is to come. One that lies in another mode goes
/// again into the same mode only if its reads there have become slow: its superblock is read often and the read was retried.
#[test]
fn model_pages_go_once_and_again_when_they_have_become_slow() {
    for seed in 0..20 {
        let s = Stream::new(seed).named("goes");
        let mut scheme = modes(0, skewed);
        for i in 0..300 {
            let draw = s.at(i);
            let mode = [CellMode::Qlc, CellMode::Slc, CellMode::Tlc][draw.at(0).below(3) as usize];
            let left = draw.at(1).below(3) as u32 * draw.at(2).below(100) as u32;
            let holds = 64 * u64::from(mode.bits());
            let is_fresh = draw.at(3).below(2) == 0;
            let block_reads = FRESH * holds + u64::from(!is_fresh);
            // What is learned of fresh data is that they need no retry.
            let retries = if is_fresh {
                0
            } else {
                draw.at(4).below(2) as u8 * 40
            };
            let page = read(mode, retries, block_reads, (200, left));
            let found = scheme.after_read(&page);
            let case = format!("seed {seed}, read {i}: {page:?}");
            let is_slow = !is_fresh && retries > 0;
            if left == 0 || mode == CellMode::Slc && !is_slow {
                assert_eq!(found, None, "{case}");
            } else if mode == CellMode::Tlc && !is_slow {
                // Not copied into the mode that it lies in.
                assert!(matches!(found, None | Some(CellMode::Slc)), "{case}");
            } else if mode == CellMode::Qlc {
                // Planned by all its reads, however few are left.
                assert_eq!(found, Some(CellMode::Slc), "{case}");
            } else if left >= 60 {
                assert_eq!(found, Some(CellMode::Slc), "{case}");
            }
        }
    }
}

/// Retries in another mode are learned from data that were just written there, and from no others.
#[test]
fn formula_times_of_other_modes_are_those_of_fresh_data() {
    let after = |block_reads: u64| {
        let mut scheme = modes(0, skewed);
        assert_eq!(hot_goes(&mut scheme), Some(CellMode::Slc));
        for _ in 0..1_000 {
            for mode in [CellMode::Slc, CellMode::Tlc] {
                scheme.after_read(&read(mode, 9, block_reads, (200, 0)));
            }
        }
        hot_goes(&mut scheme)
    };
    // Ten steps in SLC mode take longer than one in QLC mode.
    assert_eq!(after(0), None);
    assert_eq!(after(1 << 40), Some(CellMode::Slc));
}

/// Superblocks change their mode as the plan has it, whatever the times of reads, and never cost more than they may. A mode that
/// was refused takes no page for so many reads.
#[test]
fn model_superblocks_in_other_modes_cost_no_more_than_they_may() {
    let (mut changed, mut closed) = (0, 0);
    for seed in 0..60 {
        let s = Stream::new(seed).named("budget");
        let hot = 30 + s.named("hot").below(600);
        let mut scheme = modes(0, |page| {
            if page < hot {
                40 + (page % 40) as u32
            } else {
                1
            }
        });
        let mut blocks = SuperblockTable::new(SUPERBLOCKS, CellMode::Qlc);
        for i in 0..60 {
            // The times of reads change.
            let draw = s.at(i);
            let retries = [
                draw.at(0).below(2),
                draw.at(1).below(3),
                draw.at(2).below(2),
            ];
            for _ in 0..100 {
                for (mode, retries) in [CellMode::Qlc, CellMode::Slc, CellMode::Tlc]
                    .into_iter()
                    .zip(retries)
                {
                    scheme.after_read(&read(mode, retries as u8, 0, (1, 0)));
                }
            }
            let to = [CellMode::Slc, CellMode::Tlc][draw.at(3).below(2) as usize];
            let may = scheme.may_convert(to, &blocks);
            if may {
                let mut free = (0..SUPERBLOCKS).map(SuperblockId);
                let is_free = |b: &SuperblockId| {
                    let info = blocks.info(*b);
                    info.usage != SuperblockUse::Bad && info.mode == CellMode::Qlc
                };
                let free = free.find(is_free).expect("some are left");
                blocks.info_mut(free).mode = to;
                changed += 1;
                let (lost, most) = (lost(&blocks), budget(in_use(&blocks)));
                assert!(
                    lost <= most,
                    "seed {seed}, step {i}: {lost} slots of {most}"
                );
            }
            // One that is retired costs nothing, and holds nothing of which a share may be lost.
            if draw.at(4).below(20) == 0 {
                let block = SuperblockId(draw.at(5).below(SUPERBLOCKS.into()) as u32);
                let info = blocks.info_mut(block);
                (info.usage, info.mode) = (SuperblockUse::Bad, CellMode::Qlc);
            }
        }
        let mut scheme = modes(0, skewed);
        for block in (0..SUPERBLOCKS).map(SuperblockId) {
            blocks.info_mut(block).usage = SuperblockUse::Full;
            blocks.info_mut(block).mode = CellMode::Slc;
        }
        assert!(!scheme.may_convert(CellMode::Slc, &blocks), "seed {seed}");
        let reads = (1..=2 * CLOSED).find(|_| hot_goes(&mut scheme) == Some(CellMode::Slc));
        assert_eq!(reads, Some(CLOSED), "seed {seed}");
        closed += 1;
    }
    assert!(
        changed > 100 && closed > 20,
        "{changed} changed, {closed} closed"
    );
}

/// The plan is made for the superblocks that are not retired when the load begins.
#[test]
fn formula_the_plan_has_no_slots_of_superblocks_that_are_retired() {
    for retired in [0, 8] {
        let mut blocks = SuperblockTable::new(SUPERBLOCKS, CellMode::Qlc);
        for block in (0..retired).map(SuperblockId) {
            blocks.info_mut(block).usage = SuperblockUse::Bad;
        }
        let mut scheme = modes_on(&blocks, 0, |_| 40);
        scheme.after_read(&read(CellMode::Qlc, 0, 0, (1, 0)));
        let most = budget(in_use(&blocks));
        // As if they had come back, so that the plan alone says how many change.
        let mut blocks = SuperblockTable::new(SUPERBLOCKS, CellMode::Qlc);
        for block in (0..SUPERBLOCKS).map(SuperblockId) {
            let mut modes = [CellMode::Slc, CellMode::Tlc].into_iter();
            if let Some(to) = modes.find(|to| scheme.may_convert(*to, &blocks)) {
                blocks.info_mut(block).mode = to;
            }
        }
        let lost = lost(&blocks);
        assert!(
            lost <= most && 3 * lost > 2 * most,
            "{retired} retired: {lost} slots of {most}"
        );
    }
}

/// What the oracle is told of a drive with these superblocks.
fn of_table(blocks: &SuperblockTable) -> ReclaimState<'_> {
    ReclaimState {
        blocks,
        heat_epoch: 0,
        most_heat: 0,
        spare_slots: 0,
        left_slots: 0,
        slots_cleaned: 0,
        refused_for_room: 0,
    }
}

/// A round gives back what is less than half valid, and the others unless a page stays.
#[test]
fn model_superblocks_are_given_back_when_half_of_them_is_gone() {
    for seed in 0..40 {
        let s = Stream::new(seed).named("rounds");
        let mut scheme = modes(50, skewed);
        let mut blocks = SuperblockTable::new(SUPERBLOCKS, CellMode::Qlc);
        for round in 0..6 {
            let mut expected = Vec::new();
            for block in (0..SUPERBLOCKS).map(SuperblockId) {
                let draw = s.at(round).at(block.0.into());
                let info = blocks.info_mut(block);
                info.mode =
                    [CellMode::Qlc, CellMode::Slc, CellMode::Tlc][draw.at(0).below(3) as usize];
                let is_full = draw.at(1).below(4) > 0;
                info.usage = if is_full {
                    SuperblockUse::Full
                } else {
                    SuperblockUse::Open
                };
                info.evacuating = draw.at(2).below(4) == 0;
                let holds = 64 * u32::from(info.mode.bits());
                // Around the half, too.
                info.valid_slots = match draw.at(3).below(2) {
                    0 => holds / 2 - 1 + draw.at(4).below(3) as u32,
                    _ => draw.at(4).below(u64::from(holds) + 1) as u32,
                };
                if is_full && !info.evacuating && info.mode != CellMode::Qlc {
                    // Pages of a tired one are copied, and not moved.
                    info.reads = draw.at(5).below(2) * TIRED;
                    expected.push(match info.valid_slots < holds / 2 && info.reads == 0 {
                        true => GiveBack::Now(block),
                        false => GiveBack::UnlessOneStays(block),
                    });
                }
            }
            for i in 1..=50 {
                assert_eq!(
                    scheme.gives_back(&of_table(&blocks)),
                    None,
                    "seed {seed}, {i}"
                );
                scheme.after_read(&read(CellMode::Qlc, 0, 0, (1, 0)));
            }
            let found: Vec<GiveBack> =
                core::iter::from_fn(|| scheme.gives_back(&of_table(&blocks))).collect();
            assert_eq!(found, expected, "seed {seed}, round {round}");
        }
    }
}

/// A superblock that was read so often that its data are to be rewritten has another one beside it: its pages are copied
/// there, as long as they are read, and the slots of both are within what may be lost. One that is open is closed.
#[test]
fn model_the_pages_of_a_tired_superblock_are_copied_to_another_one() {
    // Reads by which a few superblocks are tired.
    let often = |page| if page < 100 { 4_000 } else { 2 };
    let tired = |mode, left| read(mode, 0, TIRED, (4_000, left));
    for mode in [CellMode::Slc, CellMode::Tlc] {
        let mut scheme = modes(0, often);
        assert_eq!(scheme.after_read(&tired(mode, 9)), Some(mode));
        assert_eq!(scheme.after_read(&tired(mode, 0)), None);
        let rested = scheme.after_read(&read(mode, 0, TIRED - 1, (4_000, 9)));
        assert_ne!(rested, Some(mode));
        for usage in [SuperblockUse::Open, SuperblockUse::Full] {
            let mut blocks = SuperblockTable::new(SUPERBLOCKS, CellMode::Qlc);
            let info = blocks.info_mut(SuperblockId(7));
            (info.mode, info.usage, info.reads) = (mode, usage, TIRED);
            let found = (0..2 << 12).filter_map(|_| {
                scheme.after_read(&read(CellMode::Qlc, 0, 0, (1, 0)));
                scheme.gives_back(&of_table(&blocks))
            });
            let closes = GiveBack::Now(SuperblockId(7));
            let expected: &[GiveBack] = match usage {
                SuperblockUse::Open => &[closes; 2],
                _ => &[],
            };
            assert_eq!(found.collect::<Vec<_>>(), expected, "{mode:?} {usage:?}");
        }
    }
    // The slots of one superblock in SLC mode are kept: of 1,228, which would pay for six. 300 pages fill five.
    for (reads, most) in [(200, 5), (4_000, 5)] {
        let converted = |senses| {
            let mut scheme = modes(0, |page| if page < 300 { reads } else { 1 });
            scheme.after_read(&read(CellMode::Qlc, 9, 0, (reads, 1)));
            let mut blocks = SuperblockTable::new(SUPERBLOCKS, CellMode::Qlc);
            let mut converted = 0;
            while scheme.may_convert(CellMode::Slc, &blocks) {
                let info = blocks.info_mut(SuperblockId(converted));
                (info.mode, info.reads) = (CellMode::Slc, senses);
                converted += 1;
            }
            converted
        };
        assert_eq!(converted(TIRED - 1), most, "{reads} reads a page");
        // All are tired: each has another one beside it, as far as the slots go.
        assert_eq!(
            converted(TIRED),
            budget(SUPERBLOCKS) / 192,
            "{reads} reads a page"
        );
    }
}

/// If a superblock more may change its mode time and again, and none does, the one with the most garbage in the drive's own mode is
/// cleaned, as long as an eighth of it is garbage.
#[test]
fn model_room_is_made_where_no_superblock_is_free() {
    for seed in 0..20 {
        let s = Stream::new(seed).named("room");
        let mut scheme = modes(0, skewed);
        scheme.after_read(&read(CellMode::Qlc, 9, 0, (200, 1)));
        let mut blocks = SuperblockTable::new(SUPERBLOCKS, CellMode::Qlc);
        for block in (0..SUPERBLOCKS).map(SuperblockId) {
            let info = blocks.info_mut(block);
            info.usage = SuperblockUse::Full;
            info.valid_slots = 100 + s.at(block.0.into()).below(157) as u32;
        }
        // A superblock of a declared region does not change its mode, however empty it is.
        blocks.divide(Regions::new(SUPERBLOCKS, Some(SUPERBLOCKS - 1)));
        blocks.info_mut(SuperblockId(SUPERBLOCKS - 1)).valid_slots = 0;
        let least = blocks
            .in_region(RegionId::MAIN)
            .iter()
            .min_by_key(|(_, info)| info.valid_slots)
            .unwrap()
            .0;
        for turn in 1..=40 {
            assert!(scheme.may_convert(CellMode::Slc, &blocks));
            let found = scheme.gives_back(&of_table(&blocks));
            let expected = (turn % 16 == 0).then_some(GiveBack::Now(least));
            assert_eq!(found, expected, "seed {seed}, {turn}");
        }
        // Nothing is worth cleaning.
        for block in (0..SUPERBLOCKS).map(SuperblockId) {
            blocks.info_mut(block).valid_slots = QLC * 7 / 8;
        }
        for _ in 0..40 {
            assert!(scheme.may_convert(CellMode::Slc, &blocks));
            assert_eq!(scheme.gives_back(&of_table(&blocks)), None, "seed {seed}");
        }
        // One changes: nobody waits.
        for block in (0..2).map(SuperblockId) {
            blocks.info_mut(block).valid_slots = 1;
            for _ in 0..15 {
                scheme.may_convert(CellMode::Tlc, &blocks);
            }
            blocks.info_mut(block).mode = CellMode::Tlc;
        }
        assert_eq!(scheme.gives_back(&of_table(&blocks)), None, "seed {seed}");
    }
}

/// A page stays where it is read half as often as the last page that is worth a slot.
#[test]
fn formula_pages_stay_that_are_nearly_worth_a_slot() {
    // There are slots for 576 pages in TLC mode, and those are read 40 times.
    let mut scheme = modes(0, |page| if page < 600 { 40 } else { 2 });
    scheme.after_read(&read(CellMode::Qlc, 0, 0, (1, 0)));
    let stays = |told| scheme.stays(CellMode::Tlc, PageHeat::default(), future(told));
    let found = [(40, 1), (40, 0), (20, 9), (19, 9)].map(stays);
    assert_eq!(found, [true, false, true, false]);
}

/// The oracle of areas takes pages that are read twice at least, one read of which is to come, and makes room by garbage where
/// that is more than half a superblock.
#[test]
fn formula_what_the_oracle_of_areas_takes_and_how_it_makes_room() {
    let record = area::AXIS.schemes.iter();
    let record = record.clone().find(|s| s.name == "clairvoyant").unwrap();
    let values: Vec<i64> = record.params.iter().map(|p| p.default()).collect();
    let mut scheme = AnyArea::new("clairvoyant", &of_drive(), &values).unwrap();
    let mut blocks = SuperblockTable::new(SUPERBLOCKS, CellMode::Qlc);
    blocks.divide(Regions::new(
        blocks.len(),
        scheme.region().map(|region| region.first),
    ));
    scheme.look(&blocks);
    // There is room for more pages than are read at all.
    let load = told(|page| u32::from(page < 100) + u32::from(page < 50));
    scheme.foresee(&load);
    for (reads, left, enters) in [(2, 2, true), (2, 1, true), (1, 1, false), (2, 0, false)] {
        let page = PageWrite {
            heat: PageHeat::default(),
            future: future((reads, left)),
            from: None,
        };
        let expected = enters.then_some(Entry::Update);
        assert_eq!(
            scheme.of_write(&page),
            expected,
            "{reads} reads, {left} left"
        );
        let read = read(CellMode::Qlc, 0, 0, (reads, left));
        let migrates = scheme.after_read(HIGH, &read);
        assert_eq!(
            migrates,
            enters.then_some(true),
            "{reads} reads, {left} left"
        );
        assert_eq!(scheme.after_read(LOW, &read), None);
    }
    // What is compacted stays, whatever is to come of it. What is returned stays if a read is to come, and not all of it.
    for (owner, from, stays, future_stays) in [
        (Owner::Gc, LOW, true, true),
        (Owner::Wear, LOW, true, true),
        (Owner::Refresh, LOW, true, true),
        (Owner::MakeRoom, LOW, false, true),
        (Owner::Rewrite, LOW, false, false),
    ] {
        scheme.oldest_leaves();
        assert_eq!(scheme.stays(owner), stays, "{owner:?}");
        for (left, expected) in [(0, stays), (1, future_stays)] {
            let page = PageMove {
                owner,
                block: SuperblockId(0),
                from,
                has_moved: false,
                heat: PageHeat::default(),
                future: future((2, left)),
            };
            let found = scheme.of_move(&page);
            assert_eq!(found, expected.then_some(Entry::Stay), "{owner:?} {left}");
        }
    }
    for (gain, compacts) in [(0, false), (QLC / 2, false), (QLC / 2 + 1, true)] {
        let room = scheme.makes_room(&RegionRoom {
            gain,
            own_gain: QLC,
            slots: QLC,
            is_urgent: true,
        });
        let expected = match compacts {
            true => MakeRoom::Compact,
            false => MakeRoom::EmptyOldest,
        };
        assert_eq!(room, expected, "{gain}");
    }
}
