//! Verification: which pages, what they cost, what is decided.

use std::collections::BTreeSet;

use firstread_core::{CellMode, SenseMode, SuperblockId};
use firstread_firmware::log::What;
use firstread_firmware::observe::{Outcome, ProbeResult};
use firstread_firmware::voltage::calibration::{
    Decision, EntryTally, Refinement, Tracking, Trial, ascending,
};
use firstread_firmware::voltage::groups;
use firstread_firmware::voltage::members::Members;
use firstread_firmware::voltage::sampling::{Sample, Sampler};
use firstread_firmware::voltage::tables::{Form, TableManager};
use firstread_firmware::voltage::valley::{Direction, Epsilon, Rules, Search, WindowScale, window};

use crate::chip::{self, h, monitor};
use crate::drive::Drive;

fn draw(sampler: &mut Sampler, rows: &[(u32, f64)], pass: u32) -> Option<Sample> {
    let blocks = monitor(rows);
    let mut members = Members::new(40, CellMode::Qlc);
    members.update(h(1.0), &groups::groups(0), &blocks);
    sampler.draw(0, pass, &members, &blocks)
}

/// 2 blocks × 64 pages, 63 apart: every page type equally, 72 % of a block, no page twice.
#[test]
fn sample_covers_page_types_evenly() {
    let mut sampler = Sampler::new(&chip::geometry(), CellMode::Qlc, 1, (2, 64, 63), true);
    let rows: Vec<_> = (0..10).map(|_| (0, 0.5)).collect();
    let sample = draw(&mut sampler, &rows, 0).unwrap();
    assert_eq!(sampler.len(), 128);
    let pages: Vec<_> = (0..128).map(|i| sampler.page(&sample, i)).collect();
    let distinct: BTreeSet<_> = pages
        .iter()
        .map(|(at, plane)| (at.block, at.die, *plane, at.wordline, at.page))
        .collect();
    assert_eq!(distinct.len(), 128);
    for page_type in 0..4 {
        let of_type = pages.iter().filter(|(at, _)| at.page.0 == page_type);
        assert_eq!(of_type.count(), 32);
    }
    let last = pages.iter().map(|(at, _)| at.wordline).max().unwrap();
    assert_eq!(last, 63 * 63 / 4);
    let [a, b] = sample.superblocks();
    assert_ne!(a, b, "two superblocks where there are two");
}

/// With one superblock both blocks are of it, on different dies.
#[test]
fn lone_superblock_gives_two_blocks() {
    let mut sampler = Sampler::new(&chip::geometry(), CellMode::Qlc, 1, (2, 64, 63), true);
    for pass in 0..50 {
        let sample = draw(&mut sampler, &[(0, 0.5)], pass).unwrap();
        assert_eq!(sample.superblocks(), [SuperblockId(0); 2]);
        let (first, second) = (sampler.page(&sample, 0), sampler.page(&sample, 64));
        assert_ne!((first.0.die, first.1), (second.0.die, second.1));
    }
    assert!(draw(&mut sampler, &[(1000, 0.5)], 0).is_none());
}

/// Each superblock, die and plane is drawn about equally often.
#[test]
fn draws_are_even() {
    let mut sampler = Sampler::new(&chip::geometry(), CellMode::Qlc, 1, (2, 64, 63), true);
    let rows: Vec<_> = (0..10).map(|_| (0, 0.5)).collect();
    let (mut by_block, mut by_die, mut by_plane) = ([0u32; 10], [0u32; 8], [0u32; 4]);
    for _ in 0..2000 {
        let sample = draw(&mut sampler, &rows, 0).unwrap();
        for i in [0, 64] {
            let (at, plane) = sampler.page(&sample, i);
            by_block[at.block.0 as usize] += 1;
            by_die[at.die.0 as usize] += 1;
            by_plane[plane as usize] += 1;
        }
    }
    assert!(
        by_block.iter().all(|n| n.abs_diff(400) < 100),
        "{by_block:?}"
    );
    assert!(by_die.iter().all(|n| n.abs_diff(500) < 100), "{by_die:?}");
    assert!(
        by_plane.iter().all(|n| n.abs_diff(1000) < 200),
        "{by_plane:?}"
    );
}

/// A rotating start reaches every page in 88 passes; a start fixed at 0 stays on the same 64.
#[test]
fn rotation_reaches_every_page() {
    for (rotate, reached) in [(true, 5632), (false, 64)] {
        let mut sampler = Sampler::new(&chip::geometry(), CellMode::Qlc, 1, (1, 64, 63), rotate);
        let mut pages = BTreeSet::new();
        for pass in 0..88 {
            let sample = draw(&mut sampler, &[(0, 0.5)], pass).unwrap();
            for i in 0..64 {
                let (at, _) = sampler.page(&sample, i);
                pages.insert(at.wordline as u32 * 4 + at.page.0 as u32);
            }
        }
        assert_eq!(pages.len(), reached);
    }
}

/// 63 is a multiple of TLC's three pages: the step is raised, or one page type would be all.
#[test]
fn step_visits_every_page_type_of_any_mode() {
    for mode in CellMode::ALL {
        for (wordlines, step) in [(1408, 63), (176, 64), (1, 63), (512, 4)] {
            let mut geometry = chip::geometry();
            geometry.wordlines_per_block = wordlines;
            let sampler = Sampler::new(&geometry, mode, 1, (1, 64, step), false);
            let sample = Sample::default();
            let pages: BTreeSet<_> = (0..sampler.len())
                .map(|i| sampler.page(&sample, i).0)
                .map(|at| (at.wordline, at.page.0))
                .collect();
            assert_eq!(
                pages.len() as u32,
                sampler.len(),
                "{mode:?} {wordlines} {step}"
            );
            let types: BTreeSet<_> = pages.iter().map(|p| p.1).collect();
            assert_eq!(
                types.len(),
                mode.bits() as usize,
                "{mode:?} {wordlines} {step}"
            );
        }
    }
}

/// Thousandths are rounded, and a ratio is above a bound only where it is not the bound itself.
#[test]
fn formula_fail_ratio_of_a_tally() {
    let of = |failed, pages| EntryTally {
        failed,
        pages,
        ..EntryTally::default()
    };
    for (failed, pages, permille) in [
        (0, 0, 0),
        (1, 3, 333),
        (2, 3, 667),
        (1, 2, 500),
        (48, 48, 1000),
    ] {
        assert_eq!(
            of(failed, pages).fail_permille(),
            permille,
            "{failed} of {pages}"
        );
    }
    assert!(!of(3, 48).exceeds(63) && of(3, 48).exceeds(62));
    assert!(!of(3, 30).exceeds(100) && of(4, 30).exceeds(100));
    assert!(!of(0, 0).exceeds(0));
}

fn tally(failed: u16) -> EntryTally {
    EntryTally {
        pages: 128,
        failed,
        ..EntryTally::default()
    }
}

/// The whole table of outcomes, published and ours.
#[test]
fn decisions_follow_from_fail_ratios() {
    let by_default = Refinement {
        threshold_permille: 10,
        strict: false,
        reorder: true,
        track: true,
    };
    let strict = Refinement {
        strict: true,
        ..by_default
    };
    let none = Decision {
        order: None,
        track_from: None,
    };
    // Failed pages of 128; one is 7.8 permille and passes, two fail.
    let cases = [
        // All pass, in order.
        ([0, 0, 1], none, none),
        ([1, 1, 1], none, none),
        // All pass, not in order: sort. Equal entries keep their order.
        ([1, 0, 0], sorted([1, 2, 0]), sorted([1, 2, 0])),
        // Some fail: outside the published outcomes.
        ([0, 2, 9], none, none),
        ([9, 2, 0], sorted([2, 1, 0]), none),
        // All fail.
        ([2, 9, 9], tracked(None, 0), tracked(None, 0)),
        (
            [128, 90, 100],
            tracked(Some([1, 2, 0]), 1),
            tracked(None, 1),
        ),
    ];
    for (failed, ours, published) in cases {
        let tallies = failed.map(tally);
        assert_eq!(by_default.decide(&tallies), ours, "{failed:?}");
        assert_eq!(strict.decide(&tallies), published, "strict {failed:?}");
        let no_sorting = Refinement {
            reorder: false,
            ..by_default
        };
        let no_tracking = Refinement {
            track: false,
            ..by_default
        };
        assert_eq!(
            no_sorting.decide(&tallies),
            Decision {
                order: None,
                ..ours
            }
        );
        assert_eq!(
            no_tracking.decide(&tallies),
            Decision {
                track_from: None,
                ..ours
            }
        );
    }
    assert_eq!(
        [0, 1, 2, 64, 128].map(|f| tally(f).fail_permille()),
        [0, 8, 16, 500, 1000]
    );
}

/// An entry fails verification where more pages than the threshold allows have failed, and not where
/// just as many have.
#[test]
fn formula_an_entry_fails_above_the_threshold_and_not_at_it() {
    let exceeds = |failed, pages, permille| {
        let tally = EntryTally {
            pages,
            failed,
            ..EntryTally::default()
        };
        tally.exceeds(permille)
    };
    assert_eq!([0, 1, 2].map(|f| exceeds(f, 100, 10)), [false, false, true]);
    assert_eq!([5, 6].map(|f| exceeds(f, 12, 417)), [false, true]);
    assert_eq!([0, 1].map(|f| exceeds(f, 128, 0)), [false, true]);
    assert!(!exceeds(u16::MAX, u16::MAX, 1000));
    assert!(exceeds(u16::MAX, u16::MAX, 999));
    assert!(!exceeds(0, 0, 10), "nothing was read");
}

/// What a search of all valleys leaves is what a search of each alone finds, fed the cells of all its
/// sampled pages: the level, and the backups half of the last window below and above it, or as many
/// units as an option says.
#[test]
fn model_tracking_is_a_search_a_valley() {
    let rules = Rules {
        direction: Direction::Corrected,
        epsilon: Epsilon::Scaled {
            permille: 50,
            sigma: 2,
        },
        limit: 16,
        recount: false,
    };
    let (hours, pe) = (40.0, 1500);
    let chip = chip::Chip { acceleration: 7.8 };
    let mut sampler = Sampler::new(&chip::geometry(), CellMode::Qlc, 1, (2, 64, 63), true);
    let sample = draw(&mut sampler, &[(0, 0.5), (0, 0.5)], 0).unwrap();
    for form in [Form::Sentinel, Form::Full] {
        let tables = TableManager::new(&chip::tables(), form, 44);
        for (backup, fail_permille) in [(0, 300), (5, 1000)] {
            let base = tables.candidate(2);
            let mut tracking = Tracking::idle(rules, backup);
            let first = window(8, fail_permille, WindowScale::OnePlusRatio);
            tracking.begin(&tables, base, first);
            let mut reads = 0;
            while let Some(probe) = tracking.probe(&tables, &sampler, &sample) {
                reads += 1;
                let answer = chip.answer(&probe, hours, pe);
                tracking.record(&tables, &sampler, &sample, &answer);
            }
            let (mut expected, mut iterations, mut counts) = ([base; 3], 0, 0);
            let mut widths = BTreeSet::new();
            for valley in tables.searched() {
                let k = valley as usize - 1;
                let mut search = Search::new(rules, base[k], first);
                let pages: Vec<_> = (0..sampler.len())
                    .map(|i| sampler.page(&sample, i).0)
                    .filter(|at| at.page.0 == tables.page_of_valley(valley))
                    .collect();
                while let Some(level) = search.level() {
                    let ones = |at| u64::from(chip.ones(at, valley, level, hours, pe));
                    search.count(pages.iter().map(ones).sum());
                    counts += pages.len() as u32;
                }
                iterations += u16::from(search.iterations());
                let delta = if backup == 0 { search.delta() } else { backup };
                widths.insert(delta);
                let center = search.center();
                expected[0][k] = center;
                expected[1][k] = center.saturating_sub_unsigned(delta);
                expected[2][k] = center.saturating_add_unsigned(delta);
            }
            let case = format!("{form:?}, backup {backup}, {fail_permille} permille failed");
            assert_eq!(tracking.entries(), expected, "{case}");
            assert_eq!(tracking.iterations(), iterations, "{case}");
            assert_eq!((tracking.reads(), reads), (counts, counts), "{case}");
            assert!(
                backup != 0 || widths.len() > 1,
                "{case}: windows {widths:?}"
            );
        }
    }
}

fn sorted(order: [u8; 3]) -> Decision {
    Decision {
        order: Some(order),
        track_from: None,
    }
}
fn tracked(order: Option<[u8; 3]>, from: u8) -> Decision {
    Decision {
        order,
        track_from: Some(from),
    }
}

/// Population ranks by pages failed, then codewords, then corrected bits: where every page fails,
/// the fewest bits corrected must not win.
#[test]
fn ranking_prefers_fewer_errors_at_every_level() {
    let mut trial = Trial::default();
    trial.begin(Sample::default(), 1, 6);
    let outcome = |failed, sum_errors| {
        ProbeResult::Decoded(Outcome {
            wanted: 0xf,
            failed,
            max_errors: 0,
            sum_errors,
            unsatisfied: 0,
            spare: Default::default(),
        })
    };
    for result in [
        outcome(0xf, 0),
        outcome(0x1, 700),
        outcome(0, 900),
        outcome(0, 800),
        outcome(0x3, 500),
        outcome(0, 800),
    ] {
        trial.record(&result);
    }
    assert_eq!(trial.best(), [3, 5, 2]);
    trial.begin(Sample::default(), 1, 2);
    trial.record(&outcome(0xf, 0));
    trial.record(&outcome(0x1, 700));
    assert_eq!(trial.best(), [1, 0, 0], "fewer candidates than entries");
}

/// A page fails when a codeword did, or when more bits than the limit were corrected in one; the limit holds when
/// the trial is repeated, and a new trial has none.
#[test]
fn page_fails_above_the_limit_of_corrected_bits() {
    let outcome = |failed, max_errors| {
        ProbeResult::Decoded(Outcome {
            wanted: 0xffff,
            failed,
            max_errors,
            sum_errors: 300,
            unsatisfied: 0,
            spare: Default::default(),
        })
    };
    let results = [
        outcome(0, 0),
        outcome(0, 57),
        outcome(0, 58),
        outcome(2, 40),
    ];
    let failed = |trial: &mut Trial| {
        results.iter().for_each(|r| {
            trial.record(r);
        });
        let [tally, ..] = trial.tallies();
        (tally.failed, tally.failed_codewords, tally.pages)
    };
    let mut trial = Trial::default();
    trial.begin(Sample::default(), 4, 1);
    assert_eq!(failed(&mut trial), (1, 1, 4), "uncorrectable alone");
    trial.fail_above(57);
    trial.again(1);
    assert_eq!(failed(&mut trial), (2, 1, 4), "58 is more than 57");
    trial.again(1);
    assert_eq!(failed(&mut trial), (2, 1, 4));
    trial.begin(Sample::default(), 4, 1);
    assert_eq!(failed(&mut trial), (1, 1, 4));
}

/// Where every page fails by the margin, entries that cannot be read at all come last: they are never taken for as
/// good as entries that can.
#[test]
fn uncorrectable_pages_settle_equal_fail_ratios() {
    let tally = |failed, uncorrectable| EntryTally {
        pages: 128,
        failed,
        uncorrectable,
        ..EntryTally::default()
    };
    let tallies = [tally(128, 128), tally(128, 3), tally(127, 127)];
    assert_eq!(ascending(&tallies), [2, 1, 0]);
    assert_eq!(
        ascending(&[tally(5, 1); 3]),
        [0, 1, 2],
        "equals keep their order"
    );
}

/// A pass of a group costs 3 × 2 × 64 reads, of one plane each, one at a time.
#[test]
fn verification_costs_what_the_formula_says() {
    let rows: Vec<_> = (0..6).map(|_| (0, 0.0)).collect();
    let set = [("track", 0)];
    let mut drive = Drive::start("ct-qlc", &set, 7.8, monitor(&rows), h(1.0));
    drive.run_to(h(30.0));
    let mut verified = 0;
    for record in &drive.log {
        match record.what {
            What::Populated { reads, .. } => assert_eq!(reads, 24 * 128),
            What::Verified { reads, .. } => {
                assert_eq!(reads, 3 * 128);
                verified += 1;
            }
            What::Passed { groups, reads, .. } => assert_eq!(reads, groups as u32 * 384),
            _ => {}
        }
    }
    assert_eq!(drive.probes.len(), 24 * 128 + verified * 384);
    assert!(drive.probes.iter().all(|(_, p)| p.mode == SenseMode::Hard));
    // At 15 and 20 h, and at 29 h after the group that is entered at 24 h.
    assert_eq!(drive.count(|w| matches!(w, What::Passed { .. })), 3);
}
