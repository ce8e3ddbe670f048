//! When groups are calibrated: an interval after their own last calibration, or all at once.

use firstread_core::{Ns, SuperblockId};
use firstread_firmware::log::What;
use firstread_firmware::observe::{Probe, SuperblockUse};
use firstread_firmware::policy::read_levels::ReadLevels;

use crate::chip::{fill, h, monitor};
use crate::drive::Drive;

/// At room temperature nothing drifts so far that levels are searched.
const AT_25C: f64 = 1.0;

/// Group 0 is 0 to 2 h, then 2 to 5, 5 to 10, 10 to 24, 24 to 48 h.
fn started(set: &[(&str, i64)]) -> Drive {
    Drive::start("ct-qlc", set, AT_25C, monitor(&[(0, 0.0); 4]), h(1.0))
}

/// Superblocks 4 and 5 are full of new data.
fn rewrite(drive: &mut Drive, hours: f64) {
    drive.run_to(h(hours));
    for block in [4, 5] {
        fill(&mut drive.blocks, block, 0, h(hours));
        drive
            .scheme
            .on_block(drive.now, SuperblockId(block), &drive.blocks);
    }
}

/// Verifications so far: hour and group.
fn verified(drive: &Drive) -> Vec<(u64, u8)> {
    let of = |what: &What| match *what {
        What::Verified { group, .. } => Some(group),
        _ => None,
    };
    let hour = |at: firstread_core::Ns| at.0 / h(1.0).0;
    let log = drive.log.iter();
    log.filter_map(|r| Some((hour(r.at), of(&r.what)?)))
        .collect()
}

/// Data written at 0 h and at 12 h age through the same bins, twelve hours apart.
fn two_cohorts(set: &[(&str, i64)]) -> Vec<(u64, u8)> {
    let mut drive = started(set);
    rewrite(&mut drive, 12.0);
    drive.run_to(h(38.0));
    verified(&drive)
}

/// Each group has an interval of its own. A group that data enter for the first time inherits and is verified. A
/// group that was empty for longer than an interval is verified when data enter; one that was calibrated less than
/// an interval ago is left until its interval is over. What is due in an empty group is not read.
#[test]
fn group_clock_counts_from_the_last_calibration_of_the_group() {
    assert_eq!(
        two_cohorts(&[]),
        [
            (2, 1),  // inherited
            (5, 2),  // inherited; due again at 10 h, when its data have just left
            (10, 3), // inherited
            (12, 0), // new data in a group that was populated at 1 h
            (14, 1), // the same data, in a group last calibrated at 2 h
            (15, 3), // 5 h after 10 h
            (17, 2), // empty since 10 h
            (20, 3), // and new data at 22 h do not make it due
            (24, 4), // inherited
            (25, 3), // of the younger data alone
            (29, 4),
            (30, 3),
            (34, 4),
            (35, 3), // empty from 36 h on
        ]
    );
}

/// With a global clock all groups that have data are verified every five hours from the start at 1 h, whenever they
/// were last. Only groups that inherit are verified in between.
#[test]
fn global_clock_calibrates_all_groups_at_once() {
    assert_eq!(
        two_cohorts(&[("clock", 1)]),
        [
            (2, 1), // inherited
            (5, 2), // inherited
            (6, 2), // an hour later all the same
            (10, 3),
            (11, 3),
            (16, 1),
            (16, 3),
            (21, 2),
            (21, 3),
            (24, 4),
            (26, 3),
            (26, 4),
            (31, 3),
            (31, 4),
            (36, 4),
        ]
    );
}

/// Paced passes are passes over all groups.
#[test]
fn paced_passes_have_one_clock() {
    assert_eq!(
        two_cohorts(&[("pacing", 1)]),
        two_cohorts(&[("pacing", 1), ("clock", 1)])
    );
}

/// A group that is due while its superblocks are open waits for a full one.
#[test]
fn due_group_waits_for_a_full_superblock() {
    let mut drive = started(&[]);
    drive.run_to(h(7.0));
    let block = SuperblockId(4);
    fill(&mut drive.blocks, block.0, 0, h(7.0));
    drive.blocks.info_mut(block).usage = SuperblockUse::Open;
    drive.scheme.on_block(drive.now, block, &drive.blocks);
    drive.run_to(h(8.0));
    assert_eq!(verified(&drive), [(2, 1), (5, 2)]);
    assert!(
        drive.scheme.due() > drive.now,
        "it does not ask again and again"
    );

    // The host opens the next superblock, when the one before is full.
    drive.blocks.info_mut(block).usage = SuperblockUse::Full;
    drive
        .scheme
        .on_block(drive.now, SuperblockId(9), &drive.blocks);
    drive.run_to(h(8.5));
    assert_eq!(verified(&drive), [(2, 1), (5, 2), (8, 0)]);
}

/// An interval ends where the next begins, so that a busy drive, whose verifications take long, has no more of them.
#[test]
fn interval_counts_from_the_begin_of_a_calibration() {
    let mut drive = started(&[]);
    drive.run_to(h(9.9));
    // The verification of group 3 begins at 10 h, and after its first read nothing is read until 14 h.
    drive.now = h(10.0);
    assert!(drive.step());
    drive.now = h(14.0);
    drive.run_to(h(15.5));
    assert_eq!(verified(&drive)[2..], [(14, 3), (15, 3)]);
}

/// The starts of a group's samples rotate with that group's samples alone: two groups that take turns read every page
/// of a block, as one group by itself does.
#[test]
fn samples_of_each_group_reach_every_page() {
    let mut drive = Drive::start("ct-qlc", &[], AT_25C, monitor(&[(0, 0.0); 2]), h(1.0));
    // Two more superblocks, in another P/E bin, half an interval later.
    drive.run_to(h(2.5));
    for block in [2, 3] {
        fill(&mut drive.blocks, block, 1500, h(2.5));
        drive
            .scheme
            .on_block(drive.now, SuperblockId(block), &drive.blocks);
    }
    // From 168 h on both are in the last bin, each verified every five hours, by turns.
    drive.run_to(h(168.0 + 5.0 * 88.0));
    let is_first = |(at, p): &&(Ns, Probe)| *at > h(168.0) && p.at.block.0 < 2;
    let of_first = drive.probes.iter().filter(is_first);
    let pages: std::collections::BTreeSet<_> = of_first
        .map(|(_, p)| (p.at.wordline, p.at.page.0))
        .collect();
    assert_eq!(pages.len(), 5632, "every page of a block");
}

/// What was learned from earlier data is verified once new data enter its group; groups that were not reached inherit.
#[test]
fn entries_of_an_earlier_fill_are_due_when_data_enter() {
    let mut drive = started(&[]);
    drive.run_to(h(9.0));
    let learned = [(2, 1), (5, 2)];
    assert_eq!(verified(&drive), learned);
    for block in 0..4 {
        fill(&mut drive.blocks, block, 0, h(9.0));
    }
    drive.scheme.start_again(drive.now, &drive.blocks);
    drive.run_to(h(20.0));
    let again = [
        (9, 0),  // populated at 1 h, long ago for its new data
        (11, 1), // 2 h later, at once
        (14, 2), // 5 h later, at once
        (19, 3), // inherited
    ];
    assert_eq!(verified(&drive)[2..], again);
}
