//! `similar-page`: what it remembers, and when it forgets.

use std::collections::BTreeMap;

use firstread_core::{DieId, Levels, PageAddr, PageType, Stream, SuperblockId};
use firstread_firmware::observe::{Outcome, SuperblockUse};
use firstread_firmware::policy::read_levels::ReadLevels;

use crate::chip::{self, h, monitor};
use crate::drive::Drive;

const AT_55C: f64 = 50.1;

/// A drive 28 h at 55 °C after its fill, of which nothing was read.
fn aged(set: &[(&str, i64)]) -> Drive {
    let quiet = [("background_reads", 0)];
    let set: Vec<_> = quiet.into_iter().chain(set.iter().copied()).collect();
    Drive::start(
        "similar-page",
        &set,
        AT_55C,
        monitor(&[(300, 0.0); 6]),
        h(28.0),
    )
}

fn page(block: u32, die: u16, wordline: u16, page: u8) -> PageAddr {
    PageAddr {
        die: DieId(die),
        block: SuperblockId(block),
        wordline,
        page: PageType(page),
    }
}

/// The first read of a layer walks the table from the default; the next one of any page of it
/// starts where that ended. Other layers, dies and blocks learn nothing of it.
#[test]
fn sequence_second_read_of_a_layer_starts_where_the_first_ended() {
    let mut drive = aged(&[]);
    let factory = chip::tables().factory;
    let first = drive.read(page(2, 1, 40, 0), 0);
    assert!(first.len() > 1, "28 h at 55 °C leave the default behind");
    assert_eq!(first, factory[..first.len()], "in the table's order");
    let found = *first.last().unwrap();

    let start = |drive: &mut Drive, at| drive.read(at, 3)[0];
    // Wordlines 40 to 47 are one layer.
    for wordline in 40..48 {
        let tried = drive.read(page(2, 1, wordline, 0), 0);
        assert_eq!(tried, [found], "wordline {wordline}");
    }
    assert_eq!(start(&mut drive, page(2, 1, 47, 3)), found);
    for other in [page(2, 1, 48, 0), page(2, 0, 40, 0), page(3, 1, 40, 0)] {
        assert_eq!(start(&mut drive, other), factory[0], "{other:?}");
    }
}

/// An entry is forgotten with the data it was learnt from, or once it is stale.
#[test]
fn sequence_entries_go_with_their_data_or_by_age() {
    let stale = [("stale_after", h(5.0).0 as i64)];
    for set in [&[][..], &stale] {
        let mut drive = aged(set);
        let found = *drive.read(page(2, 1, 40, 0), 0).last().unwrap();
        assert_ne!(found, [0; 15]);
        drive.now = h(32.9);
        assert_eq!(drive.read(page(2, 1, 41, 0), 0)[0], found);
        // The read has confirmed it: its time begins anew.
        drive.now = h(36.9);
        assert_eq!(drive.read(page(2, 1, 41, 0), 0)[0], found);
        drive.now = h(42.0);
        let first = drive.read(page(2, 1, 42, 0), 0)[0];
        assert_eq!(first == found, set.is_empty(), "stale: {set:?}");

        let block = SuperblockId(2);
        drive.blocks.info_mut(block).usage = SuperblockUse::Free;
        drive.scheme.on_block(drive.now, block, &drive.blocks);
        drive.blocks.info_mut(block).usage = SuperblockUse::Open;
        drive.blocks.info_mut(block).programmed_at = drive.now;
        drive.scheme.on_block(drive.now, block, &drive.blocks);
        assert_eq!(drive.read(page(2, 1, 40, 0), 0)[0], [0; 15]);
    }
}

/// Against a map from keys to entries, over random reads and erases, for every key and miss.
#[test]
fn model_first_level_is_what_the_key_last_ended_with() {
    let factory = chip::tables().factory;
    for (key, miss, quantum) in [
        (0, 0, 1),
        (0, 1, 3),
        (1, 0, 1),
        (1, 1, 1),
        (2, 0, 4),
        (2, 1, 1),
    ] {
        let mut drive = aged(&[("key", key), ("miss", miss), ("quantum", quantum)]);
        let of = |at: PageAddr| match key {
            0 => (at.block.0, at.die.0, at.wordline / 8),
            1 => (0, at.die.0, at.wordline / 8),
            _ => (at.block.0, at.die.0, 0),
        };
        let (mut kept, mut wider) = (BTreeMap::new(), BTreeMap::new());
        let root = Stream::new(6).at(key as u64).at(miss as u64);
        let mut hits = 0;
        for i in 0..3_000 {
            let s = root.at(i);
            let draw = |k: u64, n: u64| s.at(k).below(n);
            let at = page(
                draw(0, 3) as u32,
                draw(1, 2) as u16,
                draw(2, 64) as u16,
                draw(3, 4) as u8,
            );
            if draw(4, 200) == 0 {
                drive.scheme.on_block(drive.now, at.block, &drive.blocks);
                kept.retain(|k: &(u32, u16, u16), _| key == 1 || k.0 != at.block.0);
                wider.remove(&at.block.0);
            }
            let known = kept.get(&of(at)).copied();
            hits += known.is_some() as u32;
            let wide = wider.get(&at.block.0).copied().filter(|_| miss == 1);
            let expected: usize = known.or(wide).unwrap_or(0);
            let tried = drive.read(at, draw(5, 4) as u8);
            assert_eq!(
                tried[0], factory[expected],
                "read {i} of key {key}, miss {miss}"
            );
            let ended = tried.last().unwrap();
            let entry = factory.iter().position(|f| f == ended).unwrap();
            let stored = entry - entry % quantum as usize;
            kept.insert(of(at), stored);
            wider.insert(at.block.0, stored);
        }
        assert!(hits > 2_000, "{hits} hits");
    }
}

/// A read tries every entry of the table once, whatever others store for its key meanwhile.
#[test]
fn model_a_walk_is_not_disturbed_by_other_reads() {
    let mut drive = aged(&[]);
    let at = page(1, 0, 8, 1);
    let ctx = drive.ctx(at);
    let len = chip::tables().factory_len;
    for shift in 0..len {
        let (mut note, mut tried) = (0, Vec::new());
        for step in 0..=u8::MAX {
            let Some(Levels::Offsets(levels)) = drive.scheme.attempt(&ctx, step, None, &mut note)
            else {
                break;
            };
            tried.push(levels);
            let read = Outcome {
                wanted: 1,
                failed: 0,
                max_errors: 0,
                sum_errors: 0,
                unsatisfied: 0,
                spare: Default::default(),
            };
            drive.scheme.on_read(&ctx, (step + shift) % len, &read, 0);
        }
        tried.sort_unstable();
        let mut factory = chip::tables().factory[..len as usize].to_vec();
        factory.sort_unstable();
        assert_eq!(tried, factory, "shift {shift}");
    }
}

/// Reads that retry from the default teach: with a few layers read over and over, nearly every read
/// is right at once, and with none of it remembered most are not.
#[test]
fn remembering_removes_retries() {
    let mut drive = aged(&[("key", 1)]);
    // 176 layers of 8 dies: all are known after some thousand reads.
    let cold = drive.reads(6, 500);
    drive.reads(6, 20_000);
    let warm = drive.reads(6, 3_000);
    println!("first reads that fail, retries: cold {cold:.3?}, warm {warm:.3?}");
    assert!(cold.0 > 0.8 && warm.0 < 0.25 * cold.0);
    assert!(warm.1 < 0.1 * cold.1);
}
