//! Tables: atomicity, states, projection, sizes, the walk over the factory table.

use firstread_core::{CellMode, Levels, PageAddr, SuperblockId};
use firstread_firmware::policy::read_levels::{AnyReadLevels, ReadLevels};
use firstread_firmware::voltage::groups;
use firstread_firmware::voltage::selector::{Fallback, Selector, State, outward};
use firstread_firmware::voltage::tables::{ENTRIES, Form, TableManager};

use crate::chip;
use crate::drive::{Drive, scheme};

fn selector(form: Form) -> Selector {
    let groups = groups::groups(0);
    Selector {
        tables: TableManager::new(&chip::tables(), form, groups.len()),
        groups,
        fallback: Fallback::Outward,
    }
}

/// Every attempt of a read, in order.
fn attempts(selector: &Selector, group: Option<u8>) -> Vec<Levels> {
    (0..=u8::MAX)
        .map_while(|step| selector.levels(group, step))
        .collect()
}

/// Reads between the writes of a synchronization see the old entries, in each of the four states;
/// after the switch they see all of the new ones.
#[test]
fn reads_see_the_old_table_until_the_switch() {
    let mut s = selector(Form::Sentinel);
    let (group, read) = (1, Some(1));
    let factory_walk = attempts(&s, read);
    assert_eq!(s.state(group), State::Factory);
    assert_eq!(factory_walk.len(), 24);
    assert_eq!(factory_walk[0], Levels::DEFAULT);

    for (i, slot) in [4, 5, 3].into_iter().zip(0..) {
        let levels = s.tables.candidate(i);
        s.tables.stage(group, slot, &levels);
        assert_eq!(attempts(&s, read), factory_walk);
    }
    s.tables.write_shadow(group);
    assert_eq!(attempts(&s, read), factory_walk);
    s.tables.switch();
    let first = attempts(&s, read);
    assert_eq!(s.state(group), State::Active);
    let expected = [4, 5, 3].map(|i| Levels::Offsets(s.tables.candidate(i)));
    assert_eq!(first[..ENTRIES], expected);
    assert_eq!(first.len(), 3 + 24);

    s.tables.stage_order(group, [1, 0, 2]);
    assert_eq!(
        (s.state(group), attempts(&s, read)),
        (State::Staging, first.clone())
    );
    let moved = s.tables.candidate(9);
    s.tables.stage(group, 2, &moved);
    assert_eq!(
        (s.state(group), attempts(&s, read)),
        (State::Staging, first.clone())
    );
    s.tables.write_shadow(group);
    assert_eq!(
        (s.state(group), attempts(&s, read)),
        (State::Switching, first.clone())
    );
    s.tables.switch();
    assert_eq!(s.state(group), State::Active);
    let second = attempts(&s, read);
    assert_eq!(second[..2], [first[1], first[0]]);
    assert_eq!(second[2], Levels::Offsets(moved));
}

/// A switch changes one group; what was staged for another stays staged, what was given up is gone.
#[test]
fn synchronizing_one_group_leaves_the_others() {
    let mut s = selector(Form::Full);
    for group in 0..44 {
        for slot in 0..ENTRIES {
            let mut levels = [group as i8; 15];
            levels[0] = slot as i8;
            s.tables.stage(group, slot, &levels);
        }
        s.tables.synchronize(group);
    }
    let before: Vec<_> = (0..44).map(|g| *s.tables.entries(g)).collect();
    s.tables.stage(7, 0, &[100; 15]);
    s.tables.stage(8, 0, &[101; 15]);
    s.tables.stage(9, 0, &[102; 15]);
    s.tables.discard(9);
    s.tables.synchronize(8);
    for (group, old) in (0..44).zip(before) {
        let now = s.tables.entries(group);
        match group {
            8 => assert_eq!((now[0], now[1]), ([101; 15], old[1])),
            _ => assert_eq!(*now, old),
        }
    }
    assert_eq!((s.state(7), s.state(9)), (State::Staging, State::Active));

    // What is packed is what is unpacked, in either copy.
    let all: Vec<_> = (0..44).map(|g| *s.tables.entries(g)).collect();
    for group in 0..44 {
        s.tables.stage_order(group, [0, 1, 2]);
        s.tables.synchronize(group);
        let packed: Vec<_> = s
            .tables
            .packed()
            .chunks(3 * 15)
            .map(<[i8]>::to_vec)
            .collect();
        assert!(
            packed
                .iter()
                .zip(&all)
                .all(|(p, levels)| p[..] == *levels.as_flattened())
        );
    }
}

/// Sentinels are kept as they are, the others follow the lines, and what is unpacked packs again.
#[test]
fn projection_reconstructs_all_levels_from_four() {
    let s = selector(Form::Sentinel);
    let tables = chip::tables();
    for i in 0..tables.factory_len {
        let levels = s.tables.candidate(i);
        for page in 0..4 {
            let k = tables.sentinel[page] as usize - 1;
            assert_eq!(levels[k], tables.factory[i as usize][k]);
        }
        for (k, level) in levels.iter().enumerate() {
            let sentinel = tables.sentinel[tables.page_of_valley[k] as usize] as usize - 1;
            let expected = tables.projection[k].at(levels[sentinel]);
            assert_eq!(*level, expected, "valley {}", k + 1);
        }
    }
    let full = selector(Form::Full);
    assert_eq!(full.tables.candidate(5), tables.factory[5]);
}

/// 44 groups × 3 entries × 4 or 15 bytes, as published; everything the scheme keeps below 10 KB: shadow,
/// staging, the levels unpacked for reads and its own state.
#[test]
fn sizes_are_as_published() {
    let mut setup = chip::setup();
    setup.geometry.blocks_per_plane = 410;
    let footprint = |set: &[(&str, i64)]| {
        let values = crate::drive::values("ct-qlc", set);
        let scheme = AnyReadLevels::new("ct-qlc", &setup, &values).unwrap();
        scheme.footprint().unwrap()
    };
    let with = footprint(&[]);
    assert_eq!(
        [with.tables.active, with.tables.shadow, with.tables.staging],
        [528; 3]
    );
    assert_eq!(with.superblocks, 4 * 410);
    // Two copies of three entries of 15 levels a group, and of the nearest factory entry.
    assert_eq!(with.tables.derived, 2 * 44 * (3 * 15 + 1));
    let parts = 3 * 528 + with.tables.derived + with.superblocks + with.working;
    assert_eq!(with.total(), parts);
    println!("{with:?}: {parts} bytes");
    assert!(
        with.working <= 4608,
        "the paper's working buffers are 4.5 KB"
    );
    assert!(with.total() < 10_000, "the paper's total: {with:?}");

    let without = footprint(&[("sentinel", 0)]);
    assert_eq!(without.tables.active, 1980);

    // Bins of the published widths are 20, not 11.
    let printed = footprint(&[("retention_bins", 3)]);
    assert_eq!(printed.tables.active, 960);
    println!("{printed:?}: {} bytes", printed.total());
    assert!(printed.total() > 10_000, "more than the paper's total");

    let single = footprint(&[("grouping", 0)]);
    assert_eq!(single.tables.active, 12);

    // The zone of each wordline takes a byte; one zone needs none.
    let zoned = footprint(&[("verify", 1), ("zones", 4)]);
    assert_eq!((with.zones, zoned.zones), (0, setup.layer_of.len()));
}

/// Outward from the start and each entry once, wherever the start is.
#[test]
fn outward_walk_visits_every_entry_once() {
    for len in 1..=64u8 {
        for start in 0..len {
            let order: Vec<u8> = (0..len).map(|k| outward(start, len, k).unwrap()).collect();
            assert_eq!(order[0], start);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..len), "{start} of {len}: {order:?}");
            let distance: Vec<u8> = order.iter().map(|&i| i.abs_diff(start)).collect();
            assert!(distance.is_sorted(), "{start} of {len}: {order:?}");
            assert_eq!(outward(start, len, len), None);
        }
    }
    let order: Vec<_> = (0..6).map_while(|k| outward(2, 6, k)).collect();
    assert_eq!(order, [2, 3, 1, 4, 0, 5]);
}

/// The walk begins at the entry nearest to the group's first, or at the first as published.
#[test]
fn fallback_begins_near_the_group() {
    let mut s = selector(Form::Sentinel);
    for slot in 0..ENTRIES {
        let mut levels = s.tables.candidate(11);
        levels[6] += 1;
        s.tables.stage(0, slot, &levels);
    }
    s.tables.synchronize(0);
    let factory = |i: u8| Some(Levels::Offsets(*s.tables.factory(i).unwrap()));
    let read = Some(0);
    assert_eq!(s.levels(read, 3), factory(11));
    assert_eq!(s.levels(read, 4), factory(12));
    assert_eq!(s.levels(read, 5), factory(10));
    let all = [11, 12, 23, 0, 1, 10].map(factory);
    s.fallback = Fallback::Onward;
    assert_eq!([3, 4, 15, 16, 17, 26].map(|step| s.levels(read, step)), all);
    assert_eq!(s.levels(read, 27), None);
    s.fallback = Fallback::First;
    assert_eq!(
        [3, 4, 13].map(|step| s.levels(read, step)),
        [all[3], all[4], all[5]]
    );
}

/// A superblock in another mode is in no group, and read with the factory table.
#[test]
fn other_cell_modes_walk_the_factory_table() {
    let mut blocks = chip::monitor(&[(0, 0.0), (0, 0.0)]);
    blocks.info_mut(SuperblockId(1)).mode = CellMode::Slc;
    let mut drive = Drive::start("ct-qlc", &[], 50.0, blocks, chip::h(1.9));
    drive.run_to(chip::h(2.0));
    let mut first = |block| {
        let at = PageAddr {
            block: SuperblockId(block),
            ..PageAddr::default()
        };
        let ctx = drive.ctx(at);
        let mut note = 0;
        let tried =
            (0..=u8::MAX).map_while(|step| drive.scheme.attempt(&ctx, step, None, &mut note));
        let tried: Vec<_> = tried.collect();
        (tried.len(), tried[0])
    };
    let (qlc, slc) = (first(0), first(1));
    assert_eq!(slc, (24, Levels::DEFAULT));
    assert_eq!(qlc.0, 27);
    assert_ne!(qlc.1, Levels::DEFAULT);
}

/// Tables that name pages, sentinels or entries out of range stay in range.
#[test]
fn unsound_tables_do_not_stray() {
    let mut setup = chip::setup();
    setup.tables.page_of_valley = [200; 15];
    setup.tables.sentinel = [0, 16, 255, 1];
    for len in [0, 255] {
        setup.tables.factory_len = len;
        for form in [Form::Sentinel, Form::Full] {
            let mut tables = TableManager::new(&setup.tables, form, 44);
            let levels = tables.candidate(3);
            tables.stage(0, 0, &levels);
            tables.synchronize(0);
            assert!((1..=64).contains(&tables.factory_len()));
        }
    }
    let _ = scheme("ct-qlc", &[]);
}
