//! `block-calibration`: what a calibration finds, what it costs, and whose turn it is.

use std::collections::BTreeMap;

use firstread_core::{CellMode, DieId, Levels, Ns, PageAddr, PageType, SuperblockId};
use firstread_firmware::observe::{Probe, ReadCtx, SuperblockUse};
use firstread_firmware::policy::read_levels::ReadLevels;
use firstread_firmware::voltage::offset_search::{Errors, OffsetSearch};

use crate::chip::{self, h, monitor};
use crate::drive::Drive;

const AT_55C: f64 = 50.1;
/// A read in nine seconds, so that times tell which read is which.
const SLOW: [(&str, i64); 1] = [("background_reads", 2_000)];

fn page(block: u32, die: u16, wordline: u16, page: u8) -> PageAddr {
    PageAddr {
        die: DieId(die),
        block: SuperblockId(block),
        wordline,
        page: PageType(page),
    }
}

/// From anywhere, the search ends next to the offset with the fewest errors; it reads each page at
/// each offset once: three offsets, and one more a move.
#[test]
fn formula_search_ends_at_the_minimum() {
    for best in -70i32..=70 {
        for (step, pages) in [(4u8, 2u8), (3, 1), (6, 3)] {
            for start in [-90i8, -20, 0, 5, 60] {
                let errors = |offset: i8| {
                    let off = (offset as i32 - best).unsigned_abs();
                    Errors {
                        failed: 0,
                        bits: 20 + off * off,
                    }
                };
                let mut search = OffsetSearch::new(start, step, pages, 60);
                let mut tried = BTreeMap::new();
                while let Some((offset, page)) = search.next() {
                    *tried.entry((offset, page)).or_insert(0) += 1;
                    search.record(errors(offset));
                }
                let found = search.found().unwrap() as i32;
                assert!(
                    (found - best).abs() <= 1,
                    "best {best} from {start} by {step}: {found}"
                );
                assert!(
                    tried.values().all(|&n| n == 1),
                    "no page twice at an offset"
                );
                let moves = (start as i32 - best).unsigned_abs() / step as u32 + 1;
                assert!(tried.len() as u32 <= (3 + moves) * pages as u32);
            }
        }
    }
}

/// Codewords that fail outweigh bits; moves are limited; the range of an offset holds.
#[test]
fn formula_search_prefers_codewords_and_stays_in_range() {
    let run = |start: i8, moves: u8, errors: &dyn Fn(i8) -> Errors| {
        let mut search = OffsetSearch::new(start, 4, 1, moves);
        while let Some((offset, _)) = search.next() {
            search.record(errors(offset));
        }
        search.found().unwrap()
    };
    // Few bits are corrected where most codewords fail.
    let edge = |offset: i8| Errors {
        failed: (offset as i32 + 11).max(0) as u32 / 4,
        bits: if offset > -8 { 1 } else { 100 },
    };
    assert!(run(0, 9, &edge) <= -8);
    let downhill = |offset: i8| Errors {
        failed: 0,
        bits: (offset as i32 + 200) as u32,
    };
    assert_eq!(run(0, 3, &downhill), -16, "three moves, and the better end");
    assert!(run(-100, 60, &downhill) <= -120);
    let uphill = |offset: i8| Errors {
        failed: 0,
        bits: (200 - offset as i32) as u32,
    };
    assert!(run(100, 60, &uphill) >= 119);
    let flat = |_: i8| Errors::default();
    assert_eq!(run(7, 9, &flat), 7);
}

/// One calibration, read by read: the levels in use fail, the table is walked to an entry that does
/// not, then offsets of the sentinel are compared, one page type moved and no other.
#[test]
fn sequence_find_refine_keep() {
    let blocks = monitor(&[(300, 0.0)]);
    let mut drive = Drive::start("block-calibration", &SLOW, AT_55C, blocks, h(28.0));
    let factory = chip::tables().factory;
    let kind = drive
        .scheme
        .attempt(&drive.ctx(page(0, 0, 0, 0)), 0, None, &mut 0);
    assert_eq!(kind, Some(Levels::DEFAULT));
    // A calibration ends when the next page type's begins.
    drive.run_to(h(28.6));
    let probes: Vec<_> = drive.probes.iter().map(|(_, p)| *p).collect();
    let of = |l: &Levels| match l {
        Levels::Offsets(offsets) => *offsets,
        Levels::Ideal(_) | Levels::OnDie(_) => panic!("the levels of this scheme are offsets"),
    };
    let first = probes[0];
    let ends = probes
        .iter()
        .position(|p| p.at.page != first.at.page)
        .unwrap();
    let visit = &probes[..ends];
    // The default fails, and the walk from it begins with it once more.
    let walked = visit
        .iter()
        .position(|p| of(&p.levels) == factory[1])
        .unwrap();
    assert_eq!(walked, 2);
    let found = visit
        .iter()
        .rposition(|p| factory.contains(&of(&p.levels)) && p.at == first.at)
        .unwrap();
    assert!(
        visit[..=found].iter().all(|p| p.at == first.at),
        "one page is searched for"
    );
    let sentinel = chip::SENTINEL[first.at.page.0 as usize] as usize - 1;
    let compared: Vec<i8> = visit[found + 1..]
        .iter()
        .map(|p| of(&p.levels)[sentinel])
        .collect();
    let offsets: Vec<i8> = {
        let mut all = compared.clone();
        all.dedup();
        all
    };
    assert!(offsets.len() >= 3, "{compared:?}");
    let mut sorted = offsets.clone();
    sorted.sort_unstable();
    assert!(sorted.windows(2).all(|w| w[1] - w[0] == 4), "{offsets:?}");
    for probe in &visit[found + 1..] {
        for (k, &owner) in chip::PAGE_OF_VALLEY.iter().enumerate() {
            assert!(
                owner == first.at.page.0 || of(&probe.levels)[k] == 0,
                "valley {} of another page type moved",
                k + 1
            );
        }
    }
    // Two pages an offset, half a block apart.
    let lines: Vec<u16> = visit[found + 1..found + 3]
        .iter()
        .map(|p| p.at.wordline)
        .collect();
    assert_eq!(lines[0].abs_diff(lines[1]), 704);
}

/// With the budget, the offsets follow the cells: next to the best of the block's pages, and reads
/// that failed mostly do not.
#[test]
fn model_offsets_follow_the_cells() {
    let rows: Vec<_> = (0..6).map(|i| (300 * (i + 1), 0.0)).collect();
    let mut drive = Drive::start("block-calibration", &SLOW, AT_55C, monitor(&rows), h(0.1));
    drive.run_to(h(28.0));
    let (mut worst, mut least_of_default) = (0.0f64, f64::INFINITY);
    for (block, &(pe, _)) in (0..).zip(&rows) {
        for page_type in 0..4u8 {
            let at = page(block, 0, 700, page_type);
            let Some(Levels::Offsets(levels)) =
                drive.scheme.attempt(&drive.ctx(at), 0, None, &mut 0)
            else {
                panic!()
            };
            let sum = |levels: &[i8; 15]| -> f64 {
                (0..1408)
                    .step_by(8)
                    .map(|w| {
                        drive
                            .chip
                            .errors(&page(block, 0, w, page_type), levels, 28.0, pe)
                    })
                    .sum()
            };
            let here = sum(&levels);
            let best = (-24..=24i8)
                .map(|d| {
                    let mut moved = levels;
                    let sentinel = chip::SENTINEL[page_type as usize] as usize - 1;
                    let offset = levels[sentinel].saturating_add(d);
                    chip::tables().project(page_type, offset, &mut moved);
                    sum(&moved)
                })
                .fold(f64::INFINITY, f64::min);
            worst = worst.max(here / best);
            least_of_default = least_of_default.min(sum(&[0; 15]) / best);
        }
    }
    println!(
        "errors over those of the best offset: at most {worst:.2}, default {least_of_default:.1}"
    );
    assert!(worst < 2.0 && least_of_default > 3.0 * worst);
    let (failed, retries) = drive.reads(6, 3_000);
    println!("first reads that fail, retries: {failed:.4}, {retries:.4}");
    let mut factory = Drive::start("factory", &[], AT_55C, monitor(&rows), h(28.0));
    assert!(failed < 0.1 * factory.reads(6, 3_000).0);
}

/// How often a superblock and a page type are calibrated follows P/E cycles, reads, retention time
/// and the valleys of the page type.
#[test]
fn model_rate_follows_wear_reads_time_and_page_type() {
    let visits = |set: &[(&str, i64)], rows: &[(u32, f64)], reads: u64, from: f64, to: f64| {
        let blocks = monitor(rows);
        let mut drive = Drive::start("block-calibration", set, AT_55C, blocks, h(from));
        drive.blocks.info_mut(SuperblockId(1)).reads = reads;
        let mut last = None;
        let mut counts = BTreeMap::new();
        for i in 0..((to - from) * 400.0) as u64 {
            drive.run_to(h(from + i as f64 / 400.0));
            let Some((_, probe)) = drive.probes.last() else {
                continue;
            };
            let this = (probe.at.block.0, probe.at.page.0);
            if last.replace(this) != Some(this) {
                *counts.entry(this).or_insert(0u32) += 1;
            }
        }
        counts
    };
    let of_block = |c: &BTreeMap<(u32, u8), u32>, block| -> u32 {
        c.iter().filter(|(k, _)| k.0 == block).map(|(_, n)| n).sum()
    };
    // Twice the wear, with all the rate from wear.
    let worn = visits(
        &[("pe_weight", 10_000)],
        &[(0, 0.0), (100, 0.0)],
        0,
        1.0,
        60.0,
    );
    let [fresh, old] = [0, 1].map(|b| of_block(&worn, b));
    println!("worn twice as fast: {fresh} visits, {old}");
    assert!(old as f64 > 1.5 * fresh as f64 && (old as f64) < 2.6 * fresh as f64);
    // Data of half an hour drift faster than data of a month.
    let young = visits(&[], &[(300, 719.5), (300, 0.0)], 0, 720.0, 730.0);
    assert!(of_block(&young, 0) > 3 * of_block(&young, 1), "{young:?}");
    // Pages with four valleys come oftener than those with three.
    let types = visits(&[], &[(300, 0.0), (300, 0.0)], 0, 1.0, 100.0);
    let of_type = |page: u8| types[&(0, page)] + types[&(1, page)];
    let [lsb, csb] = [0, 1].map(of_type);
    println!("LSB {lsb} visits, CSB {csb}");
    assert!(csb as f64 > 1.15 * lsb as f64 && (csb as f64) < 1.55 * lsb as f64);
    // Ten million rows read since it was calibrated.
    let mut drive = Drive::start(
        "block-calibration",
        &SLOW,
        AT_55C,
        monitor(&[(300, 0.0), (300, 0.0)]),
        h(100.0),
    );
    drive.run_to(h(102.0));
    drive.blocks.info_mut(SuperblockId(1)).reads = 10_000_000;
    let before = drive.probes.len();
    drive.run_to(h(102.1));
    // After the calibration under way, its four page types, of seven reads or more each.
    let next = &drive.probes[before + 10..before + 26];
    assert!(next.iter().all(|(_, p)| p.at.block == SuperblockId(1)));
}

/// Levels are a block's own, or a die's of a block, and go with its data.
#[test]
fn sequence_levels_belong_to_their_unit_and_go_with_the_data() {
    for unit in [0, 1] {
        let set = [("unit", unit), ("background_reads", 20_000)];
        let blocks = monitor(&[(300, 0.0), (300, 20.0)]);
        let mut drive = Drive::start("block-calibration", &set, AT_55C, blocks, h(28.0));
        drive.run_to(h(33.0));
        let first = |drive: &mut Drive, block, die| {
            let ctx = drive.ctx(page(block, die, 9, 3));
            drive.scheme.attempt(&ctx, 0, None, &mut 0)
        };
        let of_dies: Vec<_> = (0..8).map(|die| first(&mut drive, 0, die)).collect();
        assert!(of_dies.iter().all(|l| *l != Some(Levels::DEFAULT)));
        assert_eq!(of_dies.iter().any(|l| *l != of_dies[0]), unit == 1);
        assert_ne!(first(&mut drive, 1, 0), of_dies[0]);

        drive.blocks.info_mut(SuperblockId(0)).usage = SuperblockUse::Free;
        drive
            .scheme
            .on_block(drive.now, SuperblockId(0), &drive.blocks);
        assert_eq!(first(&mut drive, 0, 3), Some(Levels::DEFAULT));
        assert_ne!(first(&mut drive, 1, 3), Some(Levels::DEFAULT));
        // Erased in the middle of a calibration, it is left alone.
        let from = drive.now;
        drive.run_to(from.saturating_add(Ns::from_h(1)));
        let seen = drive
            .probes
            .iter()
            .filter(|(at, p)| *at > from && p.at.block == SuperblockId(0));
        assert_eq!(seen.count(), 0);
    }
}

/// Background reads are asked for and not answered: so many are in flight as there are channels, or as `in_flight` says, no
/// two on a channel, none of a unit or of a superblock and page type that another one is of. One that is given up is asked
/// for again.
#[test]
fn sequence_calibrations_under_way_are_of_different_units() {
    for unit in [0, 1] {
        for (in_flight, most) in [(64, 4), (3, 3), (1, 1)] {
            let set = [("unit", unit), ("in_flight", in_flight)];
            // Of one age, so that the most urgent units of dies lie on few channels; or of several.
            let blocks = match unit {
                1 => monitor(&[(300, 0.0); 5]),
                _ => monitor(&[(300, 0.0), (600, 1.0), (300, 20.0), (0, 3.0), (900, 9.0)]),
            };
            let mut drive = Drive::start("block-calibration", &set, AT_55C, blocks, h(28.0));
            assert_eq!(usize::from(drive.scheme.most_probes()), most);
            let mut asked: Vec<Probe> = Vec::new();
            for _ in 0..8 {
                assert!(asked.len() <= most, "{asked:?}");
                drive.now = drive.scheme.due();
                let is_free = |die: DieId| asked.iter().all(|p| p.at.die.0 % 4 != die.0 % 4);
                let probe = match asked.len() == most {
                    true => None,
                    false => drive
                        .scheme
                        .probe(drive.now, &drive.blocks, &is_free, &mut |_| {}),
                };
                let Some(probe) = probe else { continue };
                assert!(is_free(probe.at.die), "{probe:?} {asked:?}");
                for other in &asked {
                    let (a, b) = (probe.at, other.at);
                    assert!(a.block != b.block || unit == 1, "{probe:?} {other:?}");
                    assert!((a.block, a.die) != (b.block, b.die), "{probe:?} {other:?}");
                    assert!(
                        (a.block, a.page) != (b.block, b.page),
                        "{probe:?} {other:?}"
                    );
                }
                asked.push(probe);
            }
            assert_eq!(asked.len(), most, "{asked:?}");
            // The last one is given up first, and the oldest that waits goes on first.
            for probe in asked.iter().rev() {
                drive.scheme.given_up(probe);
            }
            for again in asked {
                drive.now = drive.scheme.due();
                let probe = drive
                    .scheme
                    .probe(drive.now, &drive.blocks, &|_| true, &mut |_| {});
                assert_eq!(probe, Some(again));
            }
        }
    }
}

/// Four at a time, answered in any order, find what one at a time finds with as many reads.
#[test]
fn model_several_at_once_find_what_one_at_a_time_finds() {
    let rows: Vec<_> = (0..6).map(|i| (300 * (i + 1), 0.0)).collect();
    let failed = |most: usize| {
        let set = [("in_flight", most as i64), ("background_reads", 500)];
        let mut drive = Drive::start("block-calibration", &set, AT_55C, monitor(&rows), h(20.0));
        let mut asked: Vec<Probe> = Vec::new();
        let (mut reads, mut widest) = (0, 0);
        for i in 0.. {
            if drive.now >= h(28.0) {
                break;
            }
            drive.now = drive.now.max(drive.scheme.due());
            let is_free = |die: DieId| asked.iter().all(|p| p.at.die.0 % 4 != die.0 % 4);
            let probe = (drive.scheme).probe(drive.now, &drive.blocks, &is_free, &mut |_| {});
            assert!(
                probe.is_none_or(|p| is_free(p.at.die)),
                "{probe:?} {asked:?}"
            );
            let waits = probe.is_none();
            asked.extend(probe);
            widest = widest.max(asked.len());
            // When no other can begin, half of them are answered.
            let answers = match waits || asked.len() == most {
                true => asked.len().div_ceil(2),
                false => 0,
            };
            for _ in 0..answers {
                let probe = asked.swap_remove(i * 7 % asked.len());
                let (hours, pe) = drive.age(probe.at.block);
                let result = drive.chip.answer(&probe, hours, pe);
                drive
                    .scheme
                    .on_probe(drive.now, &probe, &result, &drive.blocks, &mut |_| {});
                reads += 1;
            }
        }
        let (failed, _) = drive.reads(6, 3_000);
        println!("{most} at once: {reads} reads, first reads that fail {failed:.4}");
        assert_eq!(widest, most);
        (failed, reads)
    };
    let ((one, few), (four, many)) = (failed(1), failed(4));
    assert!(
        many > few / 2 && four < 1.3 * one + 0.01,
        "{many} of {few} reads, {one} {four}"
    );
    let mut factory = Drive::start("factory", &[], AT_55C, monitor(&rows), h(28.0));
    assert!(four < 0.2 * factory.reads(6, 3_000).0);
}

/// A superblock that was erased into another cell mode and back has the default again; as long as it is in the other mode
/// this instance neither reads it nor has levels for it; and when it is full it is calibrated before all older ones.
#[test]
fn sequence_a_converted_superblock_starts_anew_and_is_next() {
    let blocks = monitor(&[(300, 0.0), (300, 1.0), (300, 2.0), (300, 3.0)]);
    let mut drive = Drive::start("block-calibration", &SLOW, AT_55C, blocks, h(28.0));
    drive.run_to(h(40.0));
    let converted = SuperblockId(2);
    let first = |drive: &mut Drive, mode| {
        let ctx = ReadCtx {
            mode,
            ..drive.ctx(page(2, 0, 9, 0))
        };
        drive.scheme.attempt(&ctx, 0, None, &mut 0)
    };
    let visits = |drive: &Drive, from: Ns| {
        let of = |(at, p): &&(Ns, Probe)| *at > from && p.at.block == converted;
        drive
            .probes
            .iter()
            .filter(of)
            .map(|(at, _)| *at)
            .collect::<Vec<_>>()
    };
    assert_ne!(first(&mut drive, CellMode::Qlc), Some(Levels::DEFAULT));
    for mode in [CellMode::Slc, CellMode::Qlc] {
        let now = drive.now;
        drive.blocks.info_mut(converted).usage = SuperblockUse::Free;
        drive.scheme.on_block(now, converted, &drive.blocks);
        let info = drive.blocks.info_mut(converted);
        (info.mode, info.programmed_at) = (mode, now);
        info.usage = SuperblockUse::Open;
        drive.scheme.on_block(now, converted, &drive.blocks);
        drive.blocks.info_mut(converted).usage = SuperblockUse::Full;
        assert_eq!(first(&mut drive, mode), Some(Levels::DEFAULT), "{mode:?}");
        drive.run_to(now.saturating_add(Ns::from_h(2)));
        let visits = visits(&drive, now);
        if mode == CellMode::Slc {
            assert!(visits.is_empty(), "another instance calibrates it");
            continue;
        }
        let after = visits[0].since(now);
        println!(
            "calibrated from {after:?} on, {} reads in 2 h",
            visits.len()
        );
        // At most the calibration under way goes before: some ten reads of nine seconds.
        assert!(after < Ns::from_s(180), "{after:?}");
        assert_ne!(first(&mut drive, mode), Some(Levels::DEFAULT));
    }
}
