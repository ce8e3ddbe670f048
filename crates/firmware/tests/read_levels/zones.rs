//! Zones of layers: where a verification moves their levels.

use firstread_core::PageType;
use firstread_firmware::observe::{Outcome, ProbeResult};
use firstread_firmware::voltage::error_counts::{ErrorCounts, lowest};
use firstread_firmware::voltage::tables::{ENTRIES, Form, TableManager};

use crate::chip;

/// Units between an entry and its backups.
const APART: u8 = 4;

/// A verification of group 0 in which the best levels of each zone lie by `off` units from those that the zone has.
/// Errors grow with the square of the distance.
fn verify(tables: &mut TableManager, off: [i32; 2]) {
    let mut error_counts = ErrorCounts::default();
    let pages = tables.mode().bits();
    for page in 0..pages {
        let at = tables.sentinels(0, page);
        for (zone, off) in (0..).zip(off) {
            for (entry, at_entry) in (0..ENTRIES).zip(at) {
                let distance = i32::from(at_entry) - i32::from(at[0]) - off;
                error_counts.add(
                    entry as u8,
                    zone,
                    PageType(page),
                    &ProbeResult::Decoded(Outcome {
                        wanted: 0xf,
                        failed: 0,
                        max_errors: 90,
                        sum_errors: (1_000 + 100 * distance * distance) as u32,
                        unsatisfied: 0,
                        spare: Default::default(),
                    }),
                );
            }
        }
    }
    error_counts.center(tables, 0, APART, 1);
}

/// A zone is shifted from where it is: what a second verification still finds is added to the shift of the first,
/// and a verification that finds nothing leaves the zone alone.
#[test]
fn sequence_shifts_of_a_zone_add_up() {
    let mut tables = TableManager::new(&chip::tables(), Form::Sentinel, 44).with_zones(2);
    for (slot, i) in [4, 3, 5].into_iter().enumerate() {
        let levels = tables.candidate(i);
        tables.stage(0, slot, &levels);
    }
    tables.synchronize(0);
    // Backups lie evenly around the entry, from here on.
    verify(&mut tables, [0, 0]);
    let pages = tables.mode().bits();
    let shifts = |tables: &TableManager| -> Vec<[i8; 2]> {
        let of_page = |page| [tables.shift(0, 0, page), tables.shift(0, 1, page)];
        (0..pages).map(of_page).collect()
    };
    for times in 1..=3 {
        verify(&mut tables, [-1, 1]);
        assert_eq!(shifts(&tables), vec![[-times, times]; pages as usize]);
    }
    verify(&mut tables, [0, 0]);
    assert_eq!(shifts(&tables), vec![[-3, 3]; pages as usize]);
    for times in (0..3).rev() {
        verify(&mut tables, [1, -1]);
        assert_eq!(shifts(&tables), vec![[-times, times]; pages as usize]);
    }
}

/// Levels are whole units, the best ones are not: the offset is the unit nearest to the vertex, on either side, and
/// one of the two where both are as near.
#[test]
fn formula_the_offset_is_the_unit_nearest_to_the_vertex() {
    let at = [0i8, -4, 4];
    for eighths in -15i32..=15 {
        let errors = at.map(|x| {
            let off = 8 * i32::from(x) - eighths;
            (500 + off * off) as u32
        });
        let found = lowest(at, errors);
        assert!(found.inside, "{eighths}/8 is nearest to the middle");
        let off = 8 * i32::from(found.at) - eighths;
        assert!(off.abs() <= 4, "{} for {eighths}/8", found.at);
    }
}
