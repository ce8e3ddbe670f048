//! 28 hours on a chip: start-up, passes, refinement, and what reads see of it.

use firstread_core::{SenseMode, SuperblockId};
use firstread_firmware::log::What;
use firstread_firmware::observe::SuperblockUse;
use firstread_firmware::policy::read_levels::{AnyReadLevels, ReadLevels};

use crate::chip::{self, h, monitor};
use crate::drive::{Drive, values};

/// How much faster cells age at 55 °C and 40 °C than at 25 °C, with 1.1 eV.
const AT_55C: f64 = 50.1;
const AT_40C: f64 = 7.8;

const BLOCKS: u32 = 30;

/// A drive filled over `hours` and started at the end of the fill.
fn filled_over(hours: f64, name: &str, set: &[(&str, i64)], acceleration: f64) -> Drive {
    let rows: Vec<_> = (0..BLOCKS)
        .map(|i| (300, hours * (i as f64 + 0.5) / BLOCKS as f64))
        .collect();
    Drive::start(name, set, acceleration, monitor(&rows), h(hours))
}

/// A drive whose tables are populated on data minutes old, so that all of the drift is still to come.
fn filled(name: &str, set: &[(&str, i64)], acceleration: f64) -> Drive {
    filled_over(0.1, name, set, acceleration)
}

/// Start-up finds the entries with the fewest errors among those of the factory table, for every
/// group with data.
#[test]
fn population_chooses_the_best_candidates() {
    for form in [0, 1] {
        let mut drive = filled_over(5.0, "ct-qlc", &[("sentinel", form)], AT_55C);
        drive.run_to(h(5.1));
        let AnyReadLevels::CtQlc(scheme) = &drive.scheme else {
            panic!()
        };
        let tables = &scheme.selector().tables;
        let mut groups = 0;
        for record in &drive.log {
            let What::Populated { group, entries, .. } = record.what else {
                continue;
            };
            groups += 1;
            // Expected errors of every candidate over many pages of the group's superblocks.
            let mut expected: Vec<(f64, u8)> = (0..tables.factory_len())
                .map(|i| {
                    let levels = tables.candidate(i);
                    let mut sum = 0.0;
                    for block in 0..BLOCKS {
                        let (age, pe) = drive.age(SuperblockId(block));
                        let bin = scheme.selector().groups.group(pe, h(age - 0.1));
                        if bin == group {
                            for wordline in (0..1408).step_by(97) {
                                for page in 0..4 {
                                    let at = firstread_core::PageAddr {
                                        block: SuperblockId(block),
                                        wordline,
                                        page: firstread_core::PageType(page),
                                        ..Default::default()
                                    };
                                    sum +=
                                        drive.chip.errors(&at, &levels, age - 0.1, pe).min(400.0);
                                }
                            }
                        }
                    }
                    (sum, i)
                })
                .collect();
            expected.sort_by(|a, b| a.0.total_cmp(&b.0));
            let best: Vec<u8> = expected[..4].iter().map(|e| e.1).collect();
            assert!(
                entries.iter().all(|e| best.contains(e)),
                "group {group}: chose {entries:?}, the best are {best:?}"
            );
        }
        assert_eq!(groups, 2, "0 to 2 h and 2 to 5 h");
    }
}

/// The factory table alone fails most first reads, entries frozen at start-up fewer, calibrated ones
/// few. (Frozen entries may still cost more retries than none: three more are tried in vain.)
#[test]
fn calibration_keeps_first_reads_good() {
    let mut shares = Vec::new();
    for name in ["factory", "frozen", "ct-qlc"] {
        let mut drive = filled(name, &[], AT_55C);
        let mut row = Vec::new();
        for hours in [2.0, 10.0, 18.0, 28.0] {
            drive.run_to(h(hours));
            row.push(drive.reads(BLOCKS, 3000));
        }
        println!("{name}: first reads that fail, retries: {row:.3?}");
        shares.push(row);
    }
    let [factory, frozen, ct_qlc] = [0, 1, 2].map(|i| shares[i][3].0);
    assert!(frozen > 0.3, "28 h at 55 °C leave frozen entries behind");
    assert!(frozen < factory);
    assert!(ct_qlc < 0.1 * frozen);
}

/// A passing drive is left alone: at room temperature nothing is tracked in 28 h; at 55 °C it is.
#[test]
fn tracking_happens_when_it_is_needed() {
    for (acceleration, needed) in [(1.0, false), (AT_55C, true)] {
        let mut drive = filled("ct-qlc", &[], acceleration);
        drive.run_to(h(28.0));
        let tracked = drive.count(|w| matches!(w, What::Tracked { .. }));
        assert_eq!(tracked > 0, needed, "{tracked} tracked");
        assert_eq!(
            drive
                .probes
                .iter()
                .any(|(_, p)| matches!(p.mode, SenseMode::OnesCount { .. })),
            needed
        );
    }
}

/// The sentinel form searches four valleys, the full form fifteen; each costs at most what its limit
/// allows, and both repair the group.
#[test]
fn search_cost_is_bounded_by_its_limit() {
    for (sentinel, valleys) in [(1, 4), (0, 15)] {
        let mut drive = filled("ct-qlc", &[("sentinel", sentinel)], AT_55C);
        drive.run_to(h(28.0));
        let mut n = 0;
        for record in &drive.log {
            if let What::Tracked {
                reads, iterations, ..
            } = record.what
            {
                // Two counts an iteration and one more at the first, 32 pages each; then validation.
                assert!(reads <= valleys * 32 * (2 * 16 + 1) + 384, "{reads} reads");
                assert!(iterations as u32 <= valleys * 16);
                n += 1;
            }
        }
        assert!(n > 0);
        let (failed, _) = drive.reads(BLOCKS, 2000);
        assert!(failed < 0.2, "sentinel={sentinel}: {failed}");
    }
}

/// Ablations do what they say and nothing else.
#[test]
fn ablations_leave_their_part_out() {
    let run = |set: &[(&str, i64)]| {
        let mut drive = filled("ct-qlc", set, AT_55C);
        drive.run_to(h(28.0));
        let sorted = drive.count(|w| matches!(w, What::Sorted { .. }));
        let tracked = drive.count(|w| matches!(w, What::Tracked { .. }));
        let discarded = drive.count(|w| matches!(w, What::Discarded { .. }));
        let (failed, _) = drive.reads(BLOCKS, 2000);
        println!(
            "{set:?}: sorted {sorted}, tracked {tracked}, discarded {discarded}, {failed:.3} of first reads fail"
        );
        (sorted, tracked, failed, discarded)
    };
    let whole = run(&[]);
    assert!(whole.1 > 0);
    let no_sorting = run(&[("reorder", 0)]);
    assert_eq!(no_sorting.0, 0);
    let no_tracking = run(&[("track", 0)]);
    assert_eq!(no_tracking.1, 0);
    assert!(no_tracking.2 > whole.2);
    let one_group = run(&[("grouping", 0)]);
    assert!(one_group.1 > 0);
    let unchecked = run(&[("validate", 0), ("direction", 1)]);
    assert!(unchecked.2 > 2.0 * whole.2, "as printed it diverges");
    run(&[("strict", 1)]);
    run(&[("backup_window", 0)]);
    let checked = run(&[("direction", 1)]);
    assert_eq!(checked.1, 0, "validation accepts none of it");
    assert!(checked.3 > 0 && checked.2 <= no_tracking.2);
}

/// Frozen entries are populated once; later groups inherit, nothing is verified.
#[test]
fn frozen_reads_nothing_after_population() {
    let mut drive = filled("frozen", &[], AT_40C);
    drive.run_to(h(1.5));
    let populated = drive.probes.len();
    assert_eq!(populated, 24 * 128);
    drive.run_to(h(400.0));
    assert_eq!(drive.probes.len(), populated);
    assert_eq!(drive.count(|w| matches!(w, What::Inherited { .. })), 10);
    assert!(drive.scheme.due() == firstread_core::Ns::MAX);
    let AnyReadLevels::Frozen(scheme) = &drive.scheme else {
        panic!()
    };
    let tables = &scheme.selector().tables;
    for group in 1..11 {
        assert_eq!(tables.entries(group), tables.entries(0));
    }
}

/// A sampled superblock that is erased in the middle: its answers count for nothing, and its group is
/// verified again with another.
#[test]
fn erase_in_the_middle_begins_anew() {
    let mut drive = filled("ct-qlc", &[], AT_40C);
    drive.run_to(h(5.05));
    let logged = drive.log.len();
    let probes = drive.probes.len();
    while drive.probes.len() < probes + 100 {
        drive.now = drive.now.max(drive.scheme.due());
        drive.step();
    }
    let victim = drive.probes.last().unwrap().1.at.block;
    drive.blocks.info_mut(victim).usage = SuperblockUse::Free;
    drive.scheme.on_block(drive.now, victim, &drive.blocks);
    let before = drive.probes.len();
    drive.run_to(h(5.5));
    assert!(
        drive.probes[before..]
            .iter()
            .all(|(_, p)| p.at.block != victim)
    );
    let verified: Vec<_> = drive.log[logged..]
        .iter()
        .filter_map(|r| match r.what {
            What::Verified { blocks, .. } => Some(blocks),
            _ => None,
        })
        .collect();
    assert!(!verified.is_empty() && verified.iter().all(|b| !b.contains(&victim)));
}

/// An erase while the last read of a verification is in flight: no verdict comes of it.
#[test]
fn erase_during_a_read_drops_its_answer() {
    let mut drive = filled("ct-qlc", &[], AT_40C);
    drive.run_to(h(1.0));
    let probes = drive.probes.len();
    while drive.probes.len() < probes + 383 {
        drive.now = drive.now.max(drive.scheme.due());
        drive.step();
    }
    let log = drive.log.len();
    let mut records = Vec::new();
    let probe = drive
        .scheme
        .probe(drive.now, &drive.blocks, &|_| true, &mut |r| {
            records.push(r)
        })
        .unwrap();
    drive.blocks.info_mut(probe.at.block).usage = SuperblockUse::Free;
    drive
        .scheme
        .on_block(drive.now, probe.at.block, &drive.blocks);
    let (hours, pe) = drive.age(probe.at.block);
    let answer = drive.chip.answer(&probe, hours, pe);
    drive
        .scheme
        .on_probe(drive.now, &probe, &answer, &drive.blocks, &mut |r| {
            records.push(r)
        });
    assert!(records.is_empty() && drive.log.len() == log, "{records:?}");
    drive.run_to(h(2.2));
    let verified = |what: &What| match what {
        What::Verified { blocks, .. } => blocks.contains(&probe.at.block),
        _ => false,
    };
    assert_eq!(drive.count(verified), 0);
    assert!(drive.count(|w| matches!(w, What::Verified { .. })) > 0);
}

/// Entries at the end of an offset's range leave a search no room: it ends where it began, the group
/// keeps what it has, and the work ends.
#[test]
fn search_without_room_ends() {
    let mut setup = chip::setup();
    setup.tables.factory = [[i8::MIN; 15]; 64];
    setup.tables.projection = [firstread_core::voltage::Line::IDENTITY; 15];
    for validate in [0, 1] {
        let mut drive = filled("ct-qlc", &[], AT_55C);
        let values = values("ct-qlc", &[("validate", validate)]);
        drive.scheme = AnyReadLevels::new("ct-qlc", &setup, &values).unwrap();
        drive.scheme.start(drive.now, &drive.blocks);
        for _ in 0..100_000 {
            if drive.scheme.due() <= h(6.0) {
                drive.now = drive.now.max(drive.scheme.due());
                drive.step();
            }
        }
        assert!(drive.scheme.due() > h(6.0), "it goes on and on");
        assert!(drive.count(|w| matches!(w, What::Tracked { iterations: 0, .. })) > 0);
    }
}

/// The same seed gives the same reads and the same log, another seed others.
#[test]
fn runs_repeat() {
    let run = |name| {
        let mut drive = filled(name, &[], AT_55C);
        drive.run_to(h(20.0));
        (drive.log, drive.probes)
    };
    assert_eq!(run("ct-qlc"), run("ct-qlc"));
}
