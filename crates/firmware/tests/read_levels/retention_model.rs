//! `retention-model`: what reads that walk teach, and of what.

use firstread_core::{DieId, PageAddr, PageType, SuperblockId};

use crate::chip::{h, monitor};
use crate::drive::Drive;

const AT_55C: f64 = 50.1;

/// Superblocks of three wears whose data are 2 to 28 h old.
fn start(set: &[(&str, i64)]) -> Drive {
    let rows: Vec<(u32, f64)> = (0..12)
        .map(|i| (300 + 1_000 * (i % 3), 26.0 * f64::from(i) / 11.0))
        .collect();
    Drive::start("retention-model", set, AT_55C, monitor(&rows), h(28.0))
}

/// Before any read has failed every prediction is the default; afterwards most reads need no retry, of superblocks that
/// have taught nothing too.
#[test]
fn model_what_walks_teach_holds_for_other_superblocks() {
    let mut drive = start(&[]);
    let first = PageAddr {
        die: DieId(1),
        block: SuperblockId(0),
        wordline: 700,
        page: PageType(2),
    };
    assert_eq!(drive.read(first, 0)[0], [0; 15], "the default comes first");
    let early = drive.reads(9, 500);
    let late = drive.reads(9, 4_000);
    // Superblocks 9 to 11, youngest data.
    let (mut failed, mut n) = (0, 0);
    for block in 9..12 {
        for wordline in (0..1408).step_by(11) {
            for page in 0..4 {
                let at = PageAddr {
                    block: SuperblockId(block),
                    wordline,
                    page: PageType(page),
                    ..first
                };
                failed += u32::from(drive.read(at, 1).len() > 1);
                n += 1;
            }
        }
    }
    let others = f64::from(failed) / f64::from(n);
    println!("first reads that fail, retries: {early:.3?}, then {late:.3?}; others {others:.3}");
    let table =
        Drive::start("factory", &[], AT_55C, monitor(&[(300, 0.0); 6]), h(28.0)).reads(6, 500);
    assert!(late.1 < 0.5 * table.1, "{late:?}, the table {table:?}");
    assert!(late.0 <= early.0 && others < 0.5);
}

/// Without offsets of layers the layers that differ from the others keep failing.
#[test]
fn model_offsets_of_layers_are_worth_something() {
    let [with, without] = [50, 0].map(|rate| {
        let mut drive = start(&[("layer_rate", rate)]);
        drive.reads(12, 8_000);
        drive.reads(12, 4_000)
    });
    println!("with offsets of layers {with:.3?}, without {without:.3?}");
    assert!(with.1 < without.1, "{with:?} {without:?}");
}
