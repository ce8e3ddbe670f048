//! Groups: all of them, entering and leaving, inheritance.

use std::collections::BTreeSet;

use firstread_core::{CellMode, Ns, Stream, SuperblockId};
use firstread_firmware::log::What;
use firstread_firmware::observe::SuperblockUse;
use firstread_firmware::policy::read_levels::{AnyReadLevels, ReadLevels};
use firstread_firmware::voltage::groups::{self, GroupSet};
use firstread_firmware::voltage::members::Members;
use firstread_firmware::voltage::selector::{Fallback, Selector};
use firstread_firmware::voltage::tables::{Form, TableManager};

use crate::chip::{self, fill, h, monitor};
use crate::drive::Drive;

const EDGES_H: [f64; 11] = [0., 2., 5., 10., 24., 48., 72., 96., 120., 144., 168.];

/// 4 × 11: each edge belongs to the bin above it, the last bins are open.
#[test]
fn every_group_has_its_place() {
    let g = groups::groups(0);
    assert_eq!(g.len(), 44);
    for pe in 0..4u32 {
        for (bin, edge) in EDGES_H.into_iter().enumerate() {
            let group = (pe * 11 + bin as u32) as u8;
            assert_eq!(g.group(pe * 1000, h(edge)), group);
            assert_eq!(g.group(pe * 1000 + 999, h(edge + 1.9)), group);
            if bin > 0 {
                assert_eq!(g.group(pe * 1000, Ns(h(edge).0 - 1)), group - 1);
            }
        }
    }
    assert_eq!(g.group(u32::MAX, Ns::MAX), 43);
    assert_eq!((groups::groups(1).len(), groups::groups(2).len()), (80, 44));
    assert_eq!(groups::single().group(u32::MAX, Ns::MAX), 0);
}

/// Bins of the published widths, h: 2 to 5 up to 48 h, 24 from 72 h to 7 d, 168 beyond; one of 24 from 48 to 72 h.
#[test]
fn bins_as_printed_have_the_published_widths() {
    let g = groups::groups(3);
    let edges: Vec<u64> = g.edges[..g.len() / usize::from(groups::PE_BINS)]
        .iter()
        .map(|edge| edge.0 / h(1.0).0)
        .collect();
    for two in edges.windows(2) {
        let widths = match two[0] {
            0..48 => 2..=5,
            48..168 => 24..=24,
            _ => 168..=168,
        };
        assert!(widths.contains(&(two[1] - two[0])), "{two:?}");
    }
    for edge in [48, 72, 168] {
        assert!(edges.contains(&edge), "{edge} h");
    }
    assert!(edges.len() > 15, "the published number, 11, is too small");
}

/// Crossing times are exact: nothing moves a nanosecond before, and the right superblock after.
#[test]
fn superblocks_cross_edges_on_time() {
    let g = groups::groups(0);
    let blocks = monitor(&[(0, 0.0), (1500, 1.0), (2500, 0.5)]);
    let mut members = Members::new(40, CellMode::Qlc);
    members.update(h(1.0), &g, &blocks);
    assert_eq!(members.group(SuperblockId(0)), Some(0));
    assert_eq!(members.group(SuperblockId(1)), Some(11));
    assert_eq!(members.group(SuperblockId(2)), Some(22));
    assert_eq!(members.group(SuperblockId(3)), None);
    let mut port_calls = Vec::new();
    for _ in 0..30 {
        let at = members.next_crossing();
        assert!(members.update(Ns(at.0 - 1), &g, &blocks).is_empty());
        let mut entered = members.update(at, &g, &blocks);
        assert_eq!(entered.len(), 1);
        port_calls.push((at, entered.pop().unwrap()));
    }
    let mut expected: Vec<(Ns, u8)> = [(0.0, 0), (1.0, 1), (0.5, 2)]
        .iter()
        .flat_map(|&(at, pe)| {
            (1..11u8).map(move |bin| (h(at + EDGES_H[bin as usize]), pe * 11 + bin))
        })
        .collect();
    expected.sort();
    assert_eq!(port_calls, expected);
    assert_eq!(members.next_crossing(), Ns::MAX, "the last bin is open");
}

/// An erase takes a superblock out of its group, an open puts it into the first of its wear.
#[test]
fn erase_and_open_change_groups() {
    let g = groups::groups(0);
    let mut blocks = monitor(&[(999, 0.0)]);
    let mut members = Members::new(40, CellMode::Qlc);
    members.update(h(30.0), &g, &blocks);
    assert_eq!(members.group(SuperblockId(0)), Some(4));
    members.probed(SuperblockId(0));
    blocks.info_mut(SuperblockId(0)).usage = SuperblockUse::Free;
    assert_eq!(
        members.update_one(h(30.0), SuperblockId(0), &g, &blocks),
        None
    );
    assert_eq!(
        (
            members.group(SuperblockId(0)),
            members.probes(SuperblockId(0))
        ),
        (None, 0)
    );
    let info = blocks.info_mut(SuperblockId(0));
    (info.usage, info.pe_cycles, info.programmed_at) = (SuperblockUse::Open, 1000, h(31.0));
    assert_eq!(
        members.update_one(h(31.0), SuperblockId(0), &g, &blocks),
        Some(11)
    );
    assert_eq!(members.next_crossing(), h(33.0));
    blocks.info_mut(SuperblockId(0)).mode = CellMode::Slc;
    members.update_one(h(31.0), SuperblockId(0), &g, &blocks);
    assert!(members.occupied().is_empty(), "the tables are for QLC");
}

/// Previous bins of the same wear first, then the nearest wear, lower before higher, never a later bin.
#[test]
fn inheritance_follows_the_stated_order() {
    let g = groups::groups(0);
    let inherits = |populated: &[u8], group| {
        let mut s = Selector {
            tables: TableManager::new(&chip::tables(), Form::Sentinel, g.len()),
            groups: g,
            fallback: Fallback::Outward,
        };
        for &p in populated {
            s.tables.stage(p, 0, &[p as i8; 15]);
            s.tables.synchronize(p);
        }
        s.inherits_from(group)
    };
    assert_eq!(inherits(&[], 14), None);
    assert_eq!(inherits(&[13, 12, 3], 14), Some(13));
    assert_eq!(
        inherits(&[11, 3, 25], 14),
        Some(11),
        "far back, but the same wear"
    );
    assert_eq!(
        inherits(&[15, 3, 25], 14),
        Some(3),
        "not from a later bin; less wear first"
    );
    assert_eq!(inherits(&[15, 25], 14), Some(25));
    assert_eq!(
        inherits(&[36, 1], 14),
        Some(1),
        "one P/E bin away before two"
    );
    assert_eq!(inherits(&[5, 16, 27], 11), None, "only later bins");
}

/// Every group is entered once, inherits and is verified before anything else, and is no longer
/// served by another.
#[test]
fn every_group_entered_inherits_and_is_verified_at_once() {
    // Superblocks of each wear, fresh; then they grow a week and a day old.
    let rows: Vec<_> = (0..8).map(|i| (i / 2 * 1000, i as f64 * 0.01)).collect();
    let mut drive = Drive::start("ct-qlc", &[], 1.0, monitor(&rows), h(1.0));
    drive.run_to(h(200.0));

    let populated = drive.count(|w| matches!(w, What::Populated { .. }));
    assert_eq!(populated, 4, "one a P/E bin at the start");
    let mut inheriting = GroupSet::EMPTY;
    for (i, record) in drive.log.iter().enumerate() {
        let What::Inherited { group, from } = record.what else {
            continue;
        };
        assert!(!inheriting.contains(group), "{group} inherits once");
        inheriting.insert(group);
        assert_eq!(from, group - 1, "the previous retention bin");
        let next = drive.log[i + 1..].iter().find_map(|r| match r.what {
            What::Verified { group: g, .. } if g == group => Some(r.at),
            _ => None,
        });
        // Another verification may be under way, and up to four groups are entered together.
        let wait = next.expect("verified").since(record.at);
        assert!(wait < Ns::from_s(10), "{group} waits {wait:?}");
    }
    assert_eq!(inheriting.len(), 40);
    let AnyReadLevels::CtQlc(scheme) = &drive.scheme else {
        panic!()
    };
    assert!((0..44).all(|g| scheme.selector().tables.populated(g)));
}

/// The first superblock of an empty drive: nothing to inherit and nothing to sample until it is full,
/// then its group is populated.
#[test]
fn first_group_of_an_empty_drive_is_populated_once_there_is_data() {
    for name in ["ct-qlc", "frozen"] {
        let mut drive = Drive::start(name, &[], 1.0, monitor(&[]), h(0.0));
        drive.run_to(h(1.0));
        assert!(
            drive
                .log
                .iter()
                .all(|r| matches!(r.what, What::Passed { .. }))
        );
        let open = |drive: &mut Drive, block: u32| {
            fill(&mut drive.blocks, block, 0, drive.now);
            drive.blocks.info_mut(SuperblockId(block)).usage = SuperblockUse::Open;
            drive
                .scheme
                .on_block(drive.now, SuperblockId(block), &drive.blocks);
        };
        open(&mut drive, 0);
        drive.run_to(h(1.1));
        assert!(drive.probes.is_empty(), "an open superblock is not sampled");
        drive.blocks.info_mut(SuperblockId(0)).usage = SuperblockUse::Full;
        open(&mut drive, 1);
        drive.run_to(h(1.2));
        assert!(matches!(
            drive.log[0].what,
            What::Populated { group: 0, .. }
        ));
        assert!(
            drive
                .probes
                .iter()
                .all(|(_, p)| p.at.block == SuperblockId(0))
        );
    }
}

/// A set of groups, against the library's.
#[test]
fn model_a_set_of_groups_is_a_set() {
    for seed in 0..20 {
        let draws = Stream::new(seed).named("set");
        let (mut set, mut model) = (GroupSet::EMPTY, BTreeSet::new());
        for i in 0..400 {
            let group = draws.at(2 * i).below(128) as u8;
            match draws.at(2 * i + 1).below(8) {
                0..4 => {
                    set.insert(group);
                    model.insert(group);
                }
                4 => {
                    set.remove(group);
                    model.remove(&group);
                }
                5 => assert_eq!(set.pop(), model.pop_first()),
                6 => {
                    let mut two = GroupSet::EMPTY;
                    two.insert(group);
                    two.insert(group ^ 1);
                    let common = set.take_common(two);
                    let found = (model.remove(&group), model.remove(&(group ^ 1)));
                    assert_eq!((common.contains(group), common.contains(group ^ 1)), found);
                }
                _ => {
                    let mut more = GroupSet::EMPTY;
                    more.insert(group);
                    set.extend(more);
                    model.insert(group);
                }
            }
            assert_eq!(
                (set.len() as usize, set.is_empty()),
                (model.len(), model.is_empty())
            );
            assert_eq!(set.contains(group), model.contains(&group));
        }
        let mut taken = set.take();
        assert!(set.is_empty());
        let order: Vec<u8> = std::iter::from_fn(|| taken.pop()).collect();
        assert_eq!(order, model.into_iter().collect::<Vec<_>>());
    }
}
