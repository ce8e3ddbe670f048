//! What is not the paper's: corrected bits, zones, paced passes.

use firstread_core::{LevelOffsets, Levels, Ns, PageType};
use firstread_firmware::log::What;
use firstread_firmware::observe::{Outcome, ProbeResult};
use firstread_firmware::voltage::error_counts::{ErrorCounts, Lowest, lowest};
use firstread_firmware::voltage::pass_schedule::{PassInterval, PassSchedule};
use firstread_firmware::voltage::tables::{Form, TableManager};
use proptest::prelude::*;

use crate::chip::{self, h, monitor};
use crate::drive::Drive;

/// The vertex of a parabola from any three of its points, in any order.
#[test]
fn formula_lowest_is_the_vertex() {
    for vertex in -40i32..40 {
        for (left, right) in [(3, 3), (2, 5), (7, 1)] {
            for center in vertex - 6..=vertex + 6 {
                let at = [center, center - left, center + right];
                let errors = at.map(|x| 500 + 3 * ((x - vertex) * (x - vertex)) as u32);
                let found = lowest(at.map(|x| x as i8), errors);
                let middle_is_lowest = errors[0] <= errors[1] && errors[0] <= errors[2];
                assert_eq!(found.inside, middle_is_lowest, "{at:?} {errors:?}");
                if found.inside {
                    assert_eq!(found.at as i32, vertex, "{at:?} {errors:?}");
                } else {
                    let best = at.into_iter().min_by_key(|x| (x - vertex).abs());
                    assert_eq!(Some(found.at as i32), best);
                }
            }
        }
    }
    // Two at one place tell no curvature.
    let flat = lowest([4, 4, 9], [10, 10, 30]);
    assert_eq!(
        flat,
        Lowest {
            at: 4,
            inside: false
        }
    );
    assert_eq!(
        lowest([0, -3, 3], [7; 3]),
        Lowest {
            at: 0,
            inside: true
        }
    );
}

/// A codeword that failed has more errors than any that was corrected.
#[test]
fn failed_codewords_outweigh_corrected_bits() {
    let mut error_counts = ErrorCounts::default();
    let outcome = |failed, sum_errors| {
        ProbeResult::Decoded(Outcome {
            wanted: 0xf,
            failed,
            max_errors: 90,
            sum_errors,
            unsatisfied: 0,
            spare: Default::default(),
        })
    };
    for (entry, result) in [outcome(0, 280), outcome(0xf, 0), outcome(0, 290)]
        .iter()
        .enumerate()
    {
        error_counts.add(entry as u8, 1, PageType(2), result);
    }
    let found = error_counts.lowest(2, [0, -3, 3]);
    assert!(found.inside && found.at > 0, "{found:?}");
    assert_eq!(error_counts.lowest_in(1, 2, [0, -3, 3]), found);
    let nothing = error_counts.lowest_in(0, 2, [0, -3, 3]);
    assert_eq!(
        nothing,
        Lowest {
            at: 0,
            inside: true
        }
    );
}

/// One codeword that failed is worse than one with as many errors as any that was corrected.
#[test]
fn formula_a_failed_codeword_has_more_errors_than_the_worst_corrected_one() {
    let mut error_counts = ErrorCounts::default();
    let codewords = [(0, 90u32), (1, 0), (0, 180)];
    for (entry, (failed, sum_errors)) in (0..).zip(codewords) {
        let outcome = Outcome {
            wanted: 0xf,
            failed,
            max_errors: sum_errors.min(90) as u16,
            sum_errors,
            unsatisfied: 0,
            spare: Default::default(),
        };
        error_counts.add(entry, 0, PageType(1), &ProbeResult::Decoded(outcome));
    }
    for failed_at in [-3, 3] {
        let found = error_counts.lowest(1, [-failed_at, failed_at, 0]);
        assert_eq!(found.at, -failed_at, "the codeword that was corrected");
        assert!(!found.inside);
    }
}

/// Whatever levels do, passes come no oftener than one an interval and four ahead.
#[test]
fn formula_paced_passes_keep_the_budget() {
    let hours = |n: u64| Ns::from_h(n);
    proptest!(|(moves in prop::collection::vec(0u8..6, 1..200))| {
        let mut pass_schedule = PassSchedule::new(hours(5), PassInterval::Drift);
        pass_schedule.start(hours(1));
        let mut last = hours(1);
        for (passes, moved) in (1u64..).zip(moves) {
            let now = pass_schedule.due();
            prop_assert!(!pass_schedule.turn(Ns(now.0 - 1)) && pass_schedule.turn(now));
            pass_schedule.moved(now, moved);
            let lived = now - hours(1);
            prop_assert!(passes <= lived.0 / hours(5).0 + 4 + 1, "{passes} in {lived:?}");
            prop_assert!(now > last && now - last <= hours(20));
            last = now;
        }
    });
    let mut fixed = PassSchedule::new(hours(5), PassInterval::Fixed);
    fixed.start(hours(1));
    for pass in 1..20 {
        assert_eq!(fixed.due(), hours(1 + 5 * pass));
        assert!(fixed.turn(fixed.due()));
        fixed.moved(fixed.due(), 100);
    }
    // What was slept through is not made up for.
    assert!(fixed.turn(hours(500)) && fixed.due() == hours(501));
}

/// Levels of a zone are those of its group, shifted; nothing shows before the switch.
#[test]
fn zones_are_shifted_and_switched_whole() {
    let mut tables = TableManager::new(&chip::tables(), Form::Sentinel, 44).with_zones(4);
    for (slot, i) in [4, 3, 5].into_iter().enumerate() {
        let levels = tables.candidate(i);
        tables.stage(7, slot, &levels);
    }
    tables.synchronize(7);
    let common: Vec<LevelOffsets> = (0..3).map(|slot| tables.common(7, slot)).collect();
    assert!((0..4).all(|zone| tables.entries_in(7, zone)[..] == common[..]));

    tables.stage_around(7, [0, 1, -2, 0], 3);
    tables.stage_shift(7, 2, 1, -4);
    assert!((0..4).all(|zone| tables.entries_in(7, zone)[..] == common[..]));
    assert_eq!(
        tables.synchronize(7),
        2,
        "the furthest that a page type moved"
    );
    let sentinel = |page: u8, zone| {
        let valley = chip::SENTINEL[page as usize] as usize - 1;
        tables.entries_in(7, zone).map(|levels| levels[valley])
    };
    let was = common[0][chip::SENTINEL[1] as usize - 1];
    assert_eq!(sentinel(1, 0), [was + 1, was - 2, was + 4]);
    assert_eq!(sentinel(1, 2), [was - 3, was - 6, was]);
    assert_eq!(sentinel(0, 2), sentinel(0, 0), "of that page type alone");
    assert_eq!(tables.shift(7, 2, 1), -4);

    // A group that inherits takes the shifts along; sorting leaves them.
    tables.stage_from(7, 8);
    tables.reorder_staged(8, [2, 0, 1]);
    tables.synchronize(8);
    let (old, new) = (tables.entries_in(7, 2), tables.entries_in(8, 2));
    assert_eq!(*new, [old[2], old[0], old[1]]);
    tables.reset();
    assert_eq!(tables.shift(8, 2, 1), 0);
}

/// Each page type of a zone is shifted by its own units, within the range of an offset, in each form; and
/// other groups' switches leave the shifts as they are.
#[test]
fn model_zones_keep_their_shifts_while_others_switch() {
    for form in [Form::Sentinel, Form::Curved, Form::Full] {
        let mut tables = TableManager::new(&chip::tables(), form, 44).with_zones(3);
        let shifts = [[0, 0, 0, 0], [3, -5, 7, -9], [-2, 100, 1, -128]];
        for slot in 0..3 {
            let levels = core::array::from_fn(|k| 60 - 8 * k as i8 + slot as i8);
            tables.stage(7, slot, &levels);
        }
        for (zone, shifts) in (0..).zip(&shifts) {
            for (page, &shift) in (0..).zip(shifts) {
                tables.stage_shift(7, zone, page, shift);
            }
        }
        tables.synchronize(7);
        let check = |tables: &TableManager, when: &str| {
            for (zone, shifts) in (0..).zip(&shifts) {
                for (slot, levels) in tables.entries_in(7, zone).iter().enumerate() {
                    let common = tables.common(7, slot);
                    let mut expected = [0; 15];
                    for (page, &shift) in (0..).zip(shifts) {
                        assert_eq!(tables.shift(7, zone, page), shift, "{form:?}, {when}");
                        let sentinel = common[chip::SENTINEL[page as usize] as usize - 1];
                        let of_page = |k: &usize| chip::PAGE_OF_VALLEY[*k] == page;
                        match form {
                            Form::Full => (0..15).filter(of_page).for_each(|k| {
                                expected[k] = common[k].saturating_add(shift);
                            }),
                            // The curves of this chip are its lines.
                            Form::Sentinel | Form::Curved => chip::tables().project(
                                page,
                                sentinel.saturating_add(shift),
                                &mut expected,
                            ),
                        }
                    }
                    assert_eq!(*levels, expected, "{form:?}, zone {zone}, {when}");
                }
            }
        };
        check(&tables, "switched to");
        for other in [8, 9, 10] {
            let levels = tables.candidate(other);
            tables.stage(other, 0, &levels);
            tables.synchronize(other);
            check(&tables, "after another group's switch");
        }
        // Sorted, the group keeps them too.
        tables.stage_order(7, [2, 1, 0]);
        tables.synchronize(7);
        check(&tables, "sorted");
    }
}

/// On cells whose levels drift evenly, bits keep levels so near that fewer first attempts fail than
/// with the share of failing pages, with half of the reads.
#[test]
fn model_corrected_bits_keep_levels_nearer() {
    let rows: Vec<_> = (0..10).map(|_| (2500, 0.0)).collect();
    let outcome = |set: &[(&str, i64)]| {
        let mut drive = Drive::start("ct-qlc", set, 40.0, monitor(&rows), h(1.0));
        drive.run_to(h(47.0));
        (drive.reads(10, 4_000).0, drive.probes.len(), drive)
    };
    let (by_pages, reads, _) = outcome(&[]);
    let half = [
        ("verify", 1),
        ("blocks_per_group", 8),
        ("pages_per_block", 8),
    ];
    let (by_bits, fewer, drive) = outcome(&half);
    assert!(drive.count(|w| matches!(w, What::Centered { .. })) > 5);
    assert!(
        by_bits <= by_pages,
        "{by_bits} of first attempts fail, {by_pages} by pages"
    );
    assert!(10 * fewer < 7 * reads, "{fewer} reads, {reads} by pages");
}

/// A parabola without curvature is the line.
#[test]
fn formula_curved_form_projects_by_the_parabola() {
    let mut setup = chip::tables();
    let line = TableManager::new(&setup, Form::Sentinel, 1).candidate(9);
    assert_eq!(
        TableManager::new(&setup, Form::Curved, 1).candidate(9),
        line
    );
    setup.curved[0].square = 1 << 12;
    let curved = TableManager::new(&setup, Form::Curved, 1).candidate(9);
    let sentinel = line[chip::SENTINEL[chip::PAGE_OF_VALLEY[0] as usize] as usize - 1] as i32;
    assert!((curved[0] as i32 - line[0] as i32 - sentinel * sentinel / 16).abs() <= 1);
    assert_eq!(curved[1..], line[1..]);
    assert_ne!(Levels::Offsets(curved), Levels::Offsets(line));
}
