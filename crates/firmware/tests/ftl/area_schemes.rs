//! What the schemes of axis `area` decide: which pages enter the low wearing area, which stay there, and how it gets room.

use firstread_core::params::Values;
use firstread_core::{CellMode, Lpn, Ns, SuperblockId};
use firstread_faulty_flash::{geometry, setup};
use firstread_firmware::ftl::Owner;
use firstread_firmware::observe::{
    FutureBuilder, PageFuture, PageHeat, RegionId, Regions, SuperblockTable, SuperblockUse,
};
use firstread_firmware::policy::Setup;
use firstread_firmware::policy::area::{
    AXIS, AnyArea, Areas, Entry, HIGH, LOW, MakeRoom, PageMove, PageWrite, RegionRoom,
};
use firstread_firmware::policy::hot_pages::PageRead;

/// Pages of the drive of `scheme`.
const PAGES: u64 = 300;

/// Scheme `name` for a drive of 100 superblocks of a chip rated for 1,000 P/E cycles, with the defaults of its record
/// but for `set`.
fn scheme(name: &str, set: &[(&str, i64)]) -> AnyArea {
    let record = AXIS.schemes.iter().find(|s| s.name == name).unwrap();
    let of = |key| set.iter().find(|(k, _)| *k == key).map(|(_, value)| *value);
    let params = record.params.iter();
    let values: Vec<i64> = params.map(|p| of(p.key).unwrap_or(p.default())).collect();
    let _ = Values::new(record, &values);
    let setup = Setup {
        rated_pe_cycles: 1000,
        capacity_slots: PAGES,
        ..setup(geometry(1, 1, 1, 100, 8), CellMode::Slc, 1, 3)
    };
    AnyArea::new(name, &setup, &values).unwrap()
}

/// A hundred superblocks, 80 of HWA and 20 of LWA, with P/E cycles and valid slots of each.
fn blocks(pe_cycles: [u32; 2], valid: [u32; 2]) -> SuperblockTable {
    let mut table = SuperblockTable::new(100, CellMode::Slc);
    table.divide(Regions::new(100, [80]));
    for block in (0..100).map(SuperblockId) {
        let area = table.region_of(block).index();
        let info = table.info_mut(block);
        info.usage = SuperblockUse::Full;
        (info.pe_cycles, info.valid_slots) = (pe_cycles[area], valid[area]);
    }
    table
}

const fn heat(reads: u8, writes: u8) -> PageHeat {
    PageHeat { reads, writes }
}

fn page_read(reads: u8, retries: u8) -> PageRead {
    PageRead {
        block: SuperblockId(3),
        mode: CellMode::Slc,
        pe_cycles: 0,
        page: 0,
        block_reads: 0,
        retries,
        age: Ns::ZERO,
        heat: heat(reads, 0),
        future: PageFuture::default(),
    }
}

fn page_move(owner: Owner, from: RegionId, reads: u8) -> PageMove {
    PageMove {
        owner,
        block: SuperblockId(3),
        from,
        has_moved: false,
        heat: heat(reads, 0),
        future: PageFuture::default(),
    }
}

fn page_write(reads: u8, is_update: bool) -> PageWrite {
    PageWrite {
        heat: heat(reads, 0),
        future: PageFuture::default(),
        from: is_update.then_some(SuperblockId(3)),
    }
}

/// Areas follow from the numbers of superblocks, rounded up to whole ones.
#[test]
fn formula_the_last_superblocks_are_the_low_wearing_area() {
    for (share, low) in [(200, 20), (50, 5), (55, 6), (300, 30)] {
        let region = scheme("differential", &[("low_share", share)]).region();
        assert_eq!(region.map(|row| row.first), Some(100 - low), "{share}");
    }
    assert_eq!(scheme("one", &[]).region(), None);
}

/// Least reads at which a retried page of HWA is migrated.
fn least_reads(scheme: &mut AnyArea) -> Option<u8> {
    (0..16).find(|&reads| {
        // The budget is earned by reads.
        for _ in 0..10 {
            scheme.after_read(HIGH, &page_read(0, 0));
        }
        scheme.after_read(HIGH, &page_read(reads, 1)) == Some(true)
    })
}

/// `N_R` is 5, 4 and 3 by the wear of HWA, and a page has to be read more often.
#[test]
fn formula_the_threshold_of_reads_follows_the_stage_of_life() {
    let mut dwr = scheme("differential", &[]);
    let mut fixed = scheme("differential-fixed", &[]);
    for (pe_cycles, n_r) in [(0, 5), (199, 5), (200, 4), (649, 4), (650, 3), (1500, 3)] {
        let table = blocks([pe_cycles, 0], [0, 0]);
        dwr.look(&table);
        fixed.look(&table);
        assert_eq!(least_reads(&mut dwr), Some(n_r + 1), "{pe_cycles}");
        assert_eq!(least_reads(&mut fixed), Some(6), "{pe_cycles}");
    }
}

/// A page is migrated from HWA alone, and only if its read was as the trigger says.
#[test]
fn formula_what_migrates_after_a_read() {
    let after = |set: &[(&str, i64)], area, retries| {
        let mut scheme = scheme("differential", set);
        scheme.after_read(HIGH, &page_read(0, 0));
        scheme.after_read(area, &page_read(9, retries))
    };
    assert_eq!(after(&[], HIGH, 1), Some(true));
    assert_eq!(after(&[], HIGH, 0), None);
    assert_eq!(after(&[("trigger", 2)], HIGH, 0), Some(true));
    assert_eq!(after(&[], LOW, 1), None);
    assert_eq!(after(&[("by_read", 0)], HIGH, 1), None);
    assert_eq!(after(&[("budget", 0)], HIGH, 1), Some(false));
}

/// So many pages for each 1,000 that the host reads or writes.
#[test]
fn formula_the_budget_is_a_share_of_the_host_s_pages() {
    for budget in [0, 10, 250, 1000] {
        let mut scheme = scheme("differential", &[("budget", budget)]);
        let migrated = (0..20_000).filter(|i| match i % 2 {
            0 => {
                // A write that waits asks again, and earns nothing by that.
                for _ in 0..3 {
                    assert_eq!(scheme.of_write(&page_write(0, false)), None);
                }
                scheme.has_written();
                false
            }
            _ => {
                let migrates = scheme.after_read(HIGH, &page_read(9, 1)) == Some(true);
                if migrates {
                    scheme.has_entered(Entry::Read, None);
                }
                migrates
            }
        });
        let expected = (20 * budget).min(10_000);
        assert!((migrated.count() as i64 - expected).abs() <= 1, "{budget}");
    }
}

/// Pages of a read that need not be seen would not migrate, and earn the budget that they would have earned. All others are
/// seen.
#[test]
fn formula_reads_that_need_not_be_seen_change_nothing() {
    let mut unseen = 0;
    for (trigger, by_read, low_locality) in [
        (0, 1, 0),
        (0, 0, 0),
        (0, 1, 1),
        (1, 1, 0),
        (2, 1, 0),
        (2, 0, 0),
    ] {
        let set = [
            ("trigger", trigger),
            ("by_read", by_read),
            ("low_locality", low_locality),
            ("budget", 250),
        ];
        for (area, retries) in [(HIGH, 0), (HIGH, 1), (LOW, 0), (LOW, 2)] {
            let seen = scheme("differential", &set).sees_read(area, retries);
            let migrates = scheme("differential", &set)
                .after_read(area, &page_read(9, retries))
                .is_some();
            assert!(seen || !migrates, "{set:?} {area:?} {retries}");
            // What is learned from a read is learned from every one.
            let learns = trigger == 1 || low_locality == 1;
            let may_migrate = by_read == 1 && area == HIGH && (trigger == 2 || retries > 0);
            assert_eq!(seen, learns || may_migrate, "{set:?} {area:?} {retries}");
            if seen {
                continue;
            }
            unseen += 1;
            let [mut told, mut saw] = [0, 1].map(|_| scheme("differential", &[("budget", 250)]));
            told.has_read(3);
            for _ in 0..3 {
                saw.after_read(HIGH, &page_read(0, 0));
            }
            for scheme in [&mut told, &mut saw] {
                let migrates = scheme.after_read(HIGH, &page_read(9, 1));
                assert_eq!(migrates, Some(true), "a thousand thousandths");
                scheme.has_entered(Entry::Read, None);
                let migrates = scheme.after_read(HIGH, &page_read(9, 1));
                assert_eq!(migrates, Some(false));
            }
        }
    }
    assert_eq!(unseen, 3 + 4 + 2 + 4);
}

/// A migration that found no slot has cost nothing: the next one may be made.
#[test]
fn formula_the_budget_is_spent_by_migrations_that_were_made() {
    let mut scheme = scheme("differential", &[("budget", 100)]);
    for _ in 0..9 {
        scheme.after_read(HIGH, &page_read(0, 0));
    }
    let mut after = || scheme.after_read(HIGH, &page_read(9, 1));
    assert_eq!((after(), after()), (Some(true), Some(true)));
    scheme.has_entered(Entry::Read, None);
    assert_eq!(scheme.after_read(HIGH, &page_read(9, 1)), Some(false));
}

/// A read is slow where it is expected to take twice as long as one without retries: where reads of its superblock have
/// taken a retry on average of late, whether this one did or not.
#[test]
fn formula_reads_that_are_expected_to_be_slow_migrate() {
    let slow = &[("trigger", 1)];
    let after = |set: &[(&str, i64)], retries: u8, last: u8| {
        let mut scheme = scheme("differential", set);
        for _ in 0..200 {
            scheme.after_read(HIGH, &page_read(0, retries));
        }
        scheme.after_read(HIGH, &page_read(9, last))
    };
    assert_eq!(after(slow, 0, 0), None);
    assert_eq!(after(slow, 0, 1), None, "one read is not the average");
    assert_eq!(after(slow, 2, 0), Some(true));
    assert_eq!(after(slow, 2, 2), Some(true));
    assert_eq!(after(&[("trigger", 1), ("slower", 4000)], 2, 2), None);
    assert_eq!(after(&[("trigger", 1), ("slower", 4000)], 4, 4), Some(true));
}

/// Which moves lead to LWA, by owner, area and rule.
#[test]
fn formula_what_moves_take_along() {
    let of = |set: &[(&str, i64)], owner, from, reads| {
        scheme("differential", set).of_move(&page_move(owner, from, reads))
    };
    let printed = &[("rule", 1)];
    assert_eq!(of(&[], Owner::Gc, HIGH, 6), Some(Entry::Gc));
    assert_eq!(of(&[], Owner::Wear, HIGH, 6), Some(Entry::Wear));
    assert_eq!(of(&[("by_gc", 0)], Owner::Gc, HIGH, 6), None);
    for (owner, reads) in [(Owner::Gc, 5), (Owner::Retire, 9), (Owner::Refresh, 9)] {
        assert_eq!(of(&[], owner, HIGH, reads), None, "{owner:?}");
    }
    // LWA is emptied within itself, but for what is returned.
    for owner in [Owner::Gc, Owner::Wear, Owner::Refresh, Owner::Retire] {
        assert_eq!(of(&[], owner, LOW, 0), Some(Entry::Stay));
    }
    assert_eq!(of(printed, Owner::Gc, LOW, 9), None);
    let returned = |set: &[(&str, i64)], reads| {
        let mut scheme = scheme("differential", set);
        scheme.oldest_leaves();
        scheme.of_move(&page_move(Owner::MakeRoom, LOW, reads))
    };
    assert_eq!(returned(&[], 0), None);
    assert_eq!(returned(&[], 9), Some(Entry::Stay));
    assert_eq!(returned(printed, 9), None);
    assert_eq!(of(&[], Owner::Rewrite, LOW, 9), None);
}

/// Pages that are wanted in LWA stay when their superblock is returned, unless half a superblock of pages stayed at the last
/// return. Only what was returned counts. After a power cut, what is being returned leaves.
#[test]
fn formula_pages_stay_unless_half_a_superblock_stayed() {
    let returned = Some(Owner::MakeRoom);
    for name in ["differential", "clairvoyant"] {
        let mut scheme = scheme(name, &[]);
        // The oracle knows of no load: all that is read twice belongs in LWA.
        scheme.look(&blocks([0, 0], [0, 0]));
        scheme.foresee(&FutureBuilder::new(PAGES).build().unwrap());
        let page = PageMove {
            future: PageFuture {
                reads: 9,
                left: 9,
                ..PageFuture::default()
            },
            ..page_move(Owner::MakeRoom, LOW, 9)
        };
        assert_eq!(scheme.of_move(&page), None, "{name} after a power cut");
        for (stayed, may_stay) in [(0, true), (7, true), (8, false), (0, true)] {
            for _ in 0..stayed {
                scheme.has_entered(Entry::Stay, returned);
            }
            for entry in Entry::ALL {
                for _ in 0..16 {
                    scheme.has_entered(entry, Some(Owner::Gc));
                }
            }
            scheme.oldest_leaves();
            let stays = may_stay.then_some(Entry::Stay);
            assert_eq!(scheme.of_move(&page), stays, "{name}: {stayed}");
        }
    }
}

/// Cold data spill while LWA is the emptier area and has room, and never as printed.
#[test]
fn formula_data_that_moved_twice_spill_while_the_low_area_is_emptier() {
    let spills = |set: &[(&str, i64)], valid, has_moved| {
        let mut scheme = scheme("differential", set);
        scheme.look(&blocks([0, 0], valid));
        scheme.of_move(&PageMove {
            has_moved,
            ..page_move(Owner::Gc, HIGH, 0)
        })
    };
    assert_eq!(spills(&[], [4, 3], true), Some(Entry::Spill));
    assert_eq!(spills(&[], [4, 3], false), None);
    assert_eq!(spills(&[], [4, 4], true), None);
    assert_eq!(spills(&[("rule", 1)], [4, 0], true), None);
    // Three superblocks, of sixteen slots each, are kept for what is not settled: 272 slots are left.
    assert_eq!(spills(&[], [16, 13], true), Some(Entry::Spill));
    assert_eq!(spills(&[], [16, 14], true), None);
}

/// Superblocks that are retired hold nothing and take nothing: they make an area neither emptier nor larger.
#[test]
fn formula_retired_superblocks_do_not_make_the_low_area_emptier() {
    let spills = |valid: [u32; 2]| {
        let mut table = blocks([0, 0], valid);
        for block in (88..100).map(SuperblockId) {
            let info = table.info_mut(block);
            (info.usage, info.valid_slots) = (SuperblockUse::Bad, 0);
        }
        let mut scheme = scheme("differential", &[]);
        scheme.look(&table);
        let entry = scheme.of_move(&PageMove {
            has_moved: true,
            ..page_move(Owner::Gc, HIGH, 0)
        });
        entry == Some(Entry::Spill)
    };
    assert!(spills([4, 3]));
    assert!(!spills([4, 4]));
    // Five superblocks of eight may hold settled data: 80 slots.
    assert!(spills([16, 9]));
    assert!(!spills([16, 10]));
}

/// The limit of LWA's wear is one for all ways of entry: none may be used from when LWA is worn a cycle more than HWA until it
/// is worn less. What lies in LWA stays. As printed there is no limit.
#[test]
fn formula_no_page_enters_while_the_low_area_is_worn_more() {
    let ways = |scheme: &mut AnyArea| {
        let hot = page_write(9, false);
        let spilled = PageMove {
            has_moved: true,
            ..page_move(Owner::Gc, HIGH, 0)
        };
        scheme.after_read(HIGH, &page_read(0, 0));
        [
            scheme.of_write(&hot).is_some(),
            scheme.of_write(&page_write(0, true)).is_some(),
            scheme.of_move(&page_move(Owner::Gc, HIGH, 9)).is_some(),
            scheme.of_move(&page_move(Owner::Wear, HIGH, 9)).is_some(),
            scheme.of_move(&spilled).is_some(),
            scheme.after_read(HIGH, &page_read(9, 1)).is_some(),
        ]
    };
    let stays = |scheme: &AnyArea| {
        [Owner::Gc, Owner::MakeRoom]
            .map(|owner| scheme.of_move(&page_move(owner, LOW, 9)).is_some())
    };
    let mut balanced = scheme("differential", &[]);
    balanced.oldest_leaves();
    let mut printed = scheme("differential", &[("rule", 1)]);
    for (low, enters) in [
        (0, true),
        (900, true),
        (901, false),
        (900, false),
        (899, true),
        (900, true),
    ] {
        for scheme in [&mut balanced, &mut printed] {
            scheme.look(&blocks([900, low], [4, 3]));
        }
        // What spills is limited by room alone.
        let expected = [enters, enters, enters, enters, true, enters];
        assert_eq!(ways(&mut balanced), expected, "{low}");
        assert_eq!(stays(&balanced), [true; 2]);
        assert_eq!(ways(&mut printed), [true, true, true, true, false, true]);
    }
}

/// The oracle plans for the superblocks that LWA has: those that are retired hold nothing.
#[test]
fn formula_the_oracle_plans_without_retired_superblocks() {
    // Page `n` is read `n + 2` times: the most read ones are those that LWA has room for.
    let mut future = FutureBuilder::new(PAGES);
    for page in 0..PAGES {
        for _ in 0..page + 2 {
            future.read(Lpn(page), 1);
        }
    }
    let future = future.build().unwrap();
    let belongs = |retired: u32| {
        let mut table = blocks([0, 0], [0, 0]);
        for block in (100 - retired..100).map(SuperblockId) {
            table.info_mut(block).usage = SuperblockUse::Bad;
        }
        let mut oracle = scheme("clairvoyant", &[]);
        oracle.look(&table);
        oracle.foresee(&future);
        let of = |page| PageMove {
            future: future.of(Lpn(page)),
            ..page_move(Owner::Gc, HIGH, 0)
        };
        let enters = (0..PAGES).filter(|page| oracle.of_move(&of(*page)).is_some());
        enters.count()
    };
    assert_eq!(belongs(0), 17 * 16);
    assert_eq!(belongs(12), 5 * 16);
}

/// At the bound, an update goes to LWA: as printed always, balanced while LWA is worn less. The bound holds until wear
/// has fallen below it by a hundredth, also after a power cut.
#[test]
fn formula_updates_at_the_bound() {
    let of = |scheme: &mut AnyArea, pe_cycles, is_update| {
        scheme.look(&blocks(pe_cycles, [0, 0]));
        assert_eq!(scheme.tells_updates(), pe_cycles[0] >= 800);
        scheme.of_write(&page_write(0, is_update && scheme.tells_updates()))
    };
    let bound = Some(Entry::Bound);
    let mut printed = scheme("differential", &[("rule", 1)]);
    assert_eq!(of(&mut printed, [799, 0], true), None);
    assert_eq!(of(&mut printed, [800, 0], true), bound);
    assert_eq!(of(&mut printed, [800, 0], false), None);
    assert_eq!(of(&mut printed, [800, 900], true), bound);
    let mut balanced = scheme("differential", &[]);
    assert_eq!(of(&mut balanced, [800, 0], true), bound);
    assert_eq!(of(&mut balanced, [800, 800], true), bound);
    assert_eq!(of(&mut balanced, [800, 801], true), None);
    assert_eq!(of(&mut balanced, [801, 801], true), None);
    assert_eq!(of(&mut balanced, [802, 801], true), bound);
    // Below the bound by less than a hundredth.
    balanced.look(&blocks([792, 0], [0, 0]));
    assert!(balanced.tells_updates());
    balanced.look(&blocks([791, 0], [0, 0]));
    assert!(!balanced.tells_updates());
    let mut read_only = scheme("differential", &[("at_bound", 1)]);
    read_only.look(&blocks([800, 0], [0, 0]));
    assert!(read_only.refuses_writes() && !read_only.tells_updates());
    read_only.look(&blocks([700, 0], [0, 0]));
    assert!(!read_only.refuses_writes());
}

/// An update of a page that is read often enters LWA; balanced, only if it is read more than written, and while LWA is
/// worn less.
#[test]
fn formula_which_updates_enter_the_low_area() {
    let of = |rule, pe_cycles, reads, writes| {
        let mut scheme = scheme("differential", &[("rule", rule)]);
        scheme.look(&blocks(pe_cycles, [0, 0]));
        let page = PageWrite {
            heat: heat(reads, writes),
            ..page_write(0, false)
        };
        scheme.of_write(&page) == Some(Entry::Update)
    };
    for (pe_cycles, reads, writes, balanced, printed) in [
        ([10, 0], 6, 5, true, true),
        ([10, 0], 6, 6, false, true),
        ([10, 0], 5, 0, false, false),
        ([10, 11], 6, 0, false, true),
        ([10, 10], 6, 0, true, true),
    ] {
        assert_eq!(of(0, pe_cycles, reads, writes), balanced);
        assert_eq!(of(1, pe_cycles, reads, writes), printed);
    }
}

/// Gated, pages enter with GC, WL and updates too only if the host last read their superblock as the trigger asks:
/// `retried` by default, and any read where any is asked for.
#[test]
fn formula_gated_entries_ask_what_the_last_read_was_like() {
    let enters = |set: &[(&str, i64)], retries: &[u8]| {
        let mut scheme = scheme("differential", set);
        scheme.look(&blocks([10, 0], [0, 0]));
        for &retries in retries {
            assert!(scheme.sees_read(HIGH, retries) || set.is_empty());
            scheme.after_read(HIGH, &page_read(0, retries));
        }
        let by = |owner| scheme.of_move(&page_move(owner, HIGH, 6)).is_some();
        let update = scheme.of_write(&page_write(6, true)).is_some();
        [by(Owner::Gc), by(Owner::Wear), update]
    };
    let (none, all) = ([false; 3], [true; 3]);
    assert_eq!(enters(&[], &[0]), all);
    let gated = &[("gated", 1)];
    assert_eq!(enters(gated, &[]), none);
    assert_eq!(enters(gated, &[1]), all);
    assert_eq!(enters(gated, &[1, 0]), none);
    assert_eq!(enters(&[("gated", 1), ("trigger", 2)], &[0]), all);
    // The first write of a page has no superblock that was read.
    let mut scheme = scheme("differential", gated);
    scheme.look(&blocks([10, 0], [0, 0]));
    scheme.after_read(HIGH, &page_read(0, 1));
    assert!(scheme.tells_updates());
    assert_eq!(scheme.of_write(&page_write(6, false)), None);
}

/// Where few reads are of pages read often, what is read more than written goes to LWA.
#[test]
fn formula_dominance_decides_where_locality_is_low() {
    let of = |set: &[(&str, i64)], hot_every: u32| {
        let mut scheme = scheme("differential", set);
        for i in 0..1 << 14 {
            let reads = if i % hot_every == 0 { 9 } else { 1 };
            scheme.after_read(HIGH, &page_read(reads, 0));
        }
        let write = |reads, writes| PageWrite {
            heat: heat(reads, writes),
            ..page_write(0, false)
        };
        (
            scheme.of_write(&write(2, 1)).is_some(),
            scheme.of_write(&write(9, 9)).is_some(),
        )
    };
    let by_dominance = &[("low_locality", 1), ("rule", 1)];
    assert_eq!(of(by_dominance, 20), (true, false));
    assert_eq!(of(by_dominance, 5), (false, true));
    assert_eq!(of(&[("rule", 1)], 20), (false, true));
}

/// Garbage is compacted where that is cheap, and nothing is returned for data that are not read often.
#[test]
fn formula_how_the_low_area_gets_room() {
    let of = |set: &[(&str, i64)], gain, own_gain, is_urgent| {
        scheme("differential", set).makes_room(&RegionRoom {
            gain,
            own_gain,
            slots: 16,
            is_urgent,
        })
    };
    assert_eq!(of(&[], 8, 12, true), MakeRoom::Compact);
    assert_eq!(of(&[], 3, 3, false), MakeRoom::Compact);
    assert_eq!(of(&[], 3, 4, true), MakeRoom::EmptyOldest);
    assert_eq!(of(&[], 3, 4, false), MakeRoom::Nothing);
    assert_eq!(of(&[], 0, 0, false), MakeRoom::Nothing);
    assert_eq!(of(&[("rule", 1)], 16, 0, true), MakeRoom::EmptyOldest);
}
