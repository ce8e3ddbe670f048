#![allow(
    clippy::disallowed_methods,
    reason = "the page that describes the format is read and, where asked, written"
)]

use std::collections::BTreeMap;
use std::format;
use std::path::Path;
use std::string::{String, ToString};
use std::vec::Vec;

use firstread_core::{Lpn, Ns, Stream};

use super::rows::{Row, Width};
use super::section::reseal;
use super::*;
use crate::ftl::place::{Item, Why};
use crate::ftl::tests::{Drive, SLOTS, Silent, drive, drive_of, fill, geometry, setup};
use crate::ftl::{OnFlash, Recovery};
use crate::policy::AXES;

/// What a cut of `drive` saves, and what lies on its flash.
fn saved(mut drive: Drive, ports: &mut Silent) -> (Vec<u8>, Drive) {
    let cut = drive.cut(ports);
    let mut bytes = std::vec![0; drive.dump_bytes(&cut, ports)];
    let end = drive.save(Ns(7), &cut, &mut bytes, ports);
    assert_eq!(end, Some(bytes.len()));
    let mut short = std::vec![0; bytes.len() - 1];
    assert_eq!(drive.save(Ns(7), &cut, &mut short, ports), None);
    (bytes, drive)
}

/// A drive whose superblocks are partly full, and whose host has written `slots` slots.
fn written(slots: u64) -> Drive {
    let mut drive = drive(12, 6 * u64::from(SLOTS), 0);
    fill(&mut drive, 6, 40);
    for lpn in 0..slots {
        let item = Item {
            lpn: Lpn(lpn),
            expect: None,
            why: Why::Host {
                has_merged: false,
                placement: 0,
            },
            wish: None,
        };
        let placed = drive.lower.store.take(Ns::ZERO, &item).unwrap();
        let _ = drive.lower.commit(placed);
    }
    drive
}

fn fresh() -> Drive {
    drive(12, 6 * u64::from(SLOTS), 0)
}

fn mounted(bytes: &[u8], flash: OnFlash<&'static mut [u8]>) -> Result<Recovery, MountError> {
    let recovering = fresh().mount(flash, bytes, &mut Silent::default())?;
    Ok(recovering.done())
}

/// Contents that a fresh drive has.
fn nothing() -> OnFlash<&'static mut [u8]> {
    fresh().into_flash()
}

/// A firmware that has mounted saves what it has loaded: the same bytes, but for the number of the dump and the count of
/// shutdowns.
#[test]
fn model_what_was_loaded_is_saved_again() {
    for slots in [0, 1, 5, 9] {
        let ports = &mut Silent::default();
        let (bytes, drive) = saved(written(slots), ports);
        let mut next = fresh();
        let recovering = next.mount(drive.into_flash(), &bytes, ports).unwrap();
        let cut = recovering.done();
        assert_eq!(cut.lost_sections, 0);
        let mut again = std::vec![0; next.dump_bytes(&cut, ports)];
        assert_eq!(next.save(Ns(7), &cut, &mut again, ports), Some(bytes.len()));
        let (header, sections) = Sections::open(&bytes).unwrap();
        let (later, same) = Sections::open(&again).unwrap();
        assert_eq!((header.saves, later.saves), (0, 1));
        assert_eq!((header.unsafe_shutdowns, later.unsafe_shutdowns), (0, 1));
        for id in SectionId::ALL {
            assert_eq!(
                sections.body(id),
                same.body(id),
                "{slots} slots, {}",
                id.name()
            );
        }
    }
}

/// Whichever bit of a dump is flipped, a mount is refused, or a section that the drive can do without is lost and counted.
#[test]
fn fuzz_a_flipped_bit_is_an_error_or_a_counted_loss() {
    let (bytes, _) = saved(written(5), &mut Silent::default());
    assert_eq!(
        mounted(&bytes, nothing()).map(|cut| cut.lost_sections),
        Ok(0)
    );
    let (mut refused, mut lost) = (0, 0);
    let stream = Stream::new(1).named("bit");
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << stream.at(at as u64).at(0).below(8);
        match mounted(&flipped, nothing()) {
            Err(_) => refused += 1,
            Ok(cut) => {
                assert!(cut.lost_sections > 0, "byte {at} of {}", bytes.len());
                lost += 1;
            }
        }
    }
    assert!(
        refused > 500 && lost > 500,
        "{refused} refused, {lost} lost"
    );
}

/// A dump that ends early is refused while a section without which data would be lost is not whole.
#[test]
fn fuzz_a_dump_that_is_cut_short_is_an_error_or_a_counted_loss() {
    let (bytes, _) = saved(written(5), &mut Silent::default());
    let mut mounts = 0;
    for len in 0..bytes.len() {
        match mounted(&bytes[..len], nothing()) {
            Err(error) => {
                assert_eq!(mounts, 0, "{len} bytes: {error}");
            }
            Ok(cut) => {
                assert!(cut.lost_sections > 0, "{len} bytes");
                mounts += 1;
            }
        }
    }
    assert!(mounts > 100, "{mounts}");
}

/// Fields with any values, under checksums that are right, do not make a mount panic.
#[test]
fn fuzz_any_contents_are_loaded_or_refused() {
    let (bytes, _) = saved(written(9), &mut Silent::default());
    let (mut refused, mut loaded) = (0, 0);
    for seed in 0..3_000u64 {
        let stream = Stream::new(seed).named("contents");
        let mut any = bytes.clone();
        for i in 0..1 + stream.at(0).at(0).below(4) {
            let at = stream.at(1).at(i).below(any.len() as u64) as usize;
            any[at] = stream.at(2).at(i).below(256) as u8;
        }
        reseal(&mut any);
        match mounted(&any, nothing()) {
            Ok(_) => loaded += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(
        refused > 100 && loaded > 100,
        "{refused} refused, {loaded} loaded"
    );
}

#[test]
fn sequence_of_errors() {
    let (bytes, _) = saved(written(5), &mut Silent::default());
    let text = |bytes: &[u8]| mounted(bytes, nothing()).unwrap_err().to_string();
    assert_eq!(text(b"not a dump"), "these bytes are no dump");
    let mut later = bytes.clone();
    later[8] = 9;
    reseal(&mut later);
    assert_eq!(text(&later), "the dump has version 9 of the format, not 1");
    let mut other = bytes.clone();
    other[16] = 5;
    reseal(&mut other);
    assert_eq!(
        text(&other),
        "the dump is of another drive: its identity is 0000000000000005, not 0000000000000001"
    );
    assert_eq!(
        text(&bytes[..200]),
        "section `superblocks` of the dump: it is missing"
    );
}

/// Every record that any drive saves, once.
fn rows() -> BTreeMap<&'static str, Vec<Row>> {
    let mut drives = std::vec![
        drive(12, 6 * u64::from(SLOTS), 0),
        drive(12, 6 * u64::from(SLOTS), 8)
    ];
    for axis in AXES
        .iter()
        .filter(|axis| ["read_levels", "retry", "cell_mode"].contains(&axis.name))
    {
        for scheme in axis.schemes {
            let setup = setup(firstread_core::CellMode::Qlc, geometry(24), 1_000);
            drives.push(drive_of(
                firstread_core::CellMode::Qlc,
                &setup,
                0,
                (axis.name, scheme.name),
            ));
        }
    }
    let mut records: BTreeMap<&'static str, Vec<Row>> = BTreeMap::new();
    for mut drive in drives {
        for id in SectionId::ALL {
            let mut cursor = Cursor::counting(true);
            drive.transfer(id, &mut Recovery::default(), &mut cursor);
            for row in cursor.rows {
                let rows = records.entry(row.record).or_default();
                if !rows.iter().any(|known| known.field == row.field) {
                    rows.push(row);
                }
            }
        }
    }
    records
}

/// `docs/firmware/format.md` says what the firmware writes.
#[test]
fn golden_the_page_of_the_format() {
    let mut text = String::from(HEAD);
    for (record, rows) in rows() {
        text += &format!("### {record}\n\n| field | bytes | unit | meaning |\n|---|--:|---|---|\n");
        for row in rows.iter().filter(|row| row.width != Width::NotKept) {
            let width = match row.width {
                Width::Bytes(bytes) => bytes.to_string(),
                _ => "list".to_string(),
            };
            text += &format!(
                "| `{}` | {width} | {} | {} |\n",
                row.field,
                row.unit,
                row.meaning.trim().replace('\n', " ")
            );
        }
        text += "\n";
        let not_kept: Vec<&Row> = rows
            .iter()
            .filter(|row| row.width == Width::NotKept)
            .collect();
        if !not_kept.is_empty() {
            text += "Not kept:\n\n";
            for row in not_kept {
                text += &format!("- `{}`: {}\n", row.field, row.meaning);
            }
            text += "\n";
        }
    }
    let text = format!("{}\n", text.trim_end());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/firmware/format.md");
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, &text).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = there.lines().zip(text.lines()).find(|(a, b)| a != b);
    assert!(
        there == text,
        "docs/firmware/format.md is stale: INSTA_UPDATE=always cargo test -p firstread-firmware --lib format; first difference: \
         {differs:?}"
    );
}

const HEAD: &str = include_str!("head.md");
