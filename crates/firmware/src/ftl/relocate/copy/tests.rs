//! What relocation makes of reads that have ended, against plain records of them.

use alloc::vec::Vec;

use firstread_core::params::Param;
use firstread_core::{CellMode, CommandId, Ns, Stream, SuperblockId, Wait};

use crate::ftl::relocate::ASKED;
use crate::ftl::tests::{Drive, Silent, drive_of, drive_with, emptying, fill, geometry, setup};
use crate::observe::{Owner, PageFuture, PageHeat, RegionId, SuperblockUse};
use crate::policy::area::{AXIS, AnyArea, Areas, Entry};
use crate::policy::hot_pages::PageRead;
use crate::policy::refresh::{self, AnyRefresh, MostSenses, Refresh};
use crate::schedule::Purpose;

/// Superblocks of the drive.
const SUPERBLOCKS: u32 = 16;

/// A drive of which 12 superblocks are full, with a scheme by the names of its axis and its own.
fn drive(scheme: (&str, &str)) -> Drive {
    let mut drive = drive_with(SUPERBLOCKS, 500, 0, scheme);
    fill(&mut drive, 4, 40);
    drive
}

/// A row of `block` has been read for `purpose`: codewords `asked` of it.
fn mp_page_read(drive: &mut Drive, block: SuperblockId, purpose: Purpose, asked: u64) {
    let jobs = &mut drive.lower.store.shared.jobs;
    let job = jobs.take().expect("a free job");
    jobs[job].purpose = purpose;
    (jobs[job].at.block, jobs[job].asked) = (block, asked);
    let (lower, ports) = (&mut drive.lower, &mut Silent::default());
    drive.relocate.mp_page_read(Ns::ZERO, job, lower, ports);
    drive.lower.store.shared.jobs.release(job);
}

/// Superblock `block` is changed as chance draws it.
fn change(drive: &mut Drive, block: SuperblockId, s: Stream) {
    let info = drive.lower.store.shared.blocks.info_mut(block);
    if s.at(3).below(4) == 0 {
        info.mode = CellMode::ALL[s.at(4).below(4) as usize];
    }
    let limit = limit(info.mode);
    match s.at(0).below(8) {
        0 => {
            let uses = [
                SuperblockUse::Free,
                SuperblockUse::Open,
                SuperblockUse::Erasing,
                SuperblockUse::Bad,
            ];
            info.usage = uses[s.at(1).below(4) as usize];
        }
        1 => info.evacuating = !info.evacuating,
        2 => info.failed = !info.failed,
        3 | 4 => info.usage = SuperblockUse::Full,
        _ => info.reads = (limit + s.at(1).below(4)).saturating_sub(2),
    }
}

/// The limits of [`limit`].
fn most_senses() -> MostSenses {
    let record = refresh::AXIS
        .schemes
        .iter()
        .find(|s| s.name == "read-count");
    let params = record.expect("a scheme of the axis").params.iter();
    let value = |p: &Param| match p.key {
        "reads_qlc" => 45_000,
        _ => p.default(),
    };
    let values: Vec<i64> = params.map(value).collect();
    let setup = setup(CellMode::Slc, geometry(SUPERBLOCKS), 500);
    let scheme = AnyRefresh::new("read-count", &setup, &values).expect("a scheme");
    scheme.most_senses()
}

/// Senses of a superblock in `mode` at the limits of reads of a block, on two dies.
fn limit(mode: CellMode) -> u64 {
    // The last mode has another limit than its default.
    match mode {
        CellMode::Mlc => 40_000,
        CellMode::Qlc => 90_000,
        _ => 120_000,
    }
}

/// A superblock in a mode with a pool asks for another one of its mode from seven eighths of its limit on, and is asked for itself
/// at its limit, whether that one has come or not. No refresh waits longer than for a sixteenth of the limit.
#[test]
fn formula_a_superblock_of_its_mode_is_wanted_before_the_limit() {
    let setup = setup(CellMode::Qlc, geometry(40), 20 * 256);
    let mut drive = drive_of(CellMode::Qlc, &setup, 0, ("cell_mode", "hotness"));
    fill(&mut drive, 16, 40);
    drive.relocate.most_senses = most_senses();
    let modes = [CellMode::Slc, CellMode::Tlc].into_iter().collect();
    drive.relocate.looks_from = most_senses().an_eighth_sooner(modes);
    for (mode, is_pool) in [
        (CellMode::Slc, true),
        (CellMode::Tlc, true),
        (CellMode::Qlc, false),
    ] {
        let limit = limit(mode);
        let sooner = limit - limit / 8;
        for (reads, wanted, asked) in [
            (sooner - 1, false, false),
            (sooner, is_pool, false),
            (limit - 1, is_pool, false),
            (limit, false, true),
        ] {
            let block = SuperblockId(3);
            let info = drive.lower.store.shared.blocks.info_mut(block);
            (info.mode, info.reads) = (mode, reads);
            mp_page_read(&mut drive, block, Purpose::SharedRead, 1);
            let place = &mut drive.lower.store.place;
            assert_eq!(
                place.relocation.wanted.has(mode),
                wanted,
                "{mode:?} {reads}"
            );
            place.relocation.wanted.remove(mode);
            assert_eq!(
                drive.relocate.asked.pop_front().is_some(),
                asked,
                "{mode:?} {reads}"
            );
            let info = *drive.lower.store.shared.blocks.info(block);
            assert!(!drive.relocate.is_overdue(&info));
        }
        let mut info = *drive.lower.store.shared.blocks.info(SuperblockId(3));
        info.reads = limit + limit / 16;
        assert!(drive.relocate.is_overdue(&info));
    }
}

/// A superblock that was read as often as the limit of its mode says is asked for once: if it is full and at rest, has not failed, and the
/// queue of requests has room.
#[test]
fn model_a_superblock_that_is_read_too_often_is_asked_for_once() {
    let (mut begun, mut full) = (0, 0);
    for seed in 0..40 {
        let s = Stream::new(seed).named("refresh");
        let mut drive = drive(("refresh", "read-count"));
        drive.relocate.most_senses = most_senses();
        drive.relocate.looks_from = most_senses();
        let of = |mode| drive.relocate.most_senses.of(mode);
        assert_eq!(CellMode::ALL.map(of), CellMode::ALL.map(limit));
        drive.lower.store.place.space.read_only = seed % 10 == 0;
        let mut asked: Vec<SuperblockId> = Vec::new();
        for i in 0..400 {
            let draw = s.at(i);
            let block = SuperblockId(draw.at(0).below(u64::from(SUPERBLOCKS)) as u32);
            change(&mut drive, block, draw.at(1));
            let info = *drive.lower.store.shared.blocks.info(block);
            let at_rest = info.usage == SuperblockUse::Full && !info.evacuating && !info.failed;
            let is_due = info.reads >= limit(info.mode) && seed % 10 != 0;
            let is_new = !asked.contains(&block);
            full += u32::from(is_due && at_rest && is_new && asked.len() == ASKED);
            if is_due && at_rest && is_new && asked.len() < ASKED {
                asked.push(block);
                begun += 1;
            }
            mp_page_read(&mut drive, block, Purpose::SharedRead, 1);
            let requests = &drive.relocate.asked;
            let found: Vec<SuperblockId> = requests.iter().map(|e| e.block).collect();
            assert_eq!(found, asked, "seed {seed}, step {i}: {block:?} {info:?}");
            let are_refreshes = requests.iter().all(|e| e.owner == Owner::Refresh);
            assert!(are_refreshes, "seed {seed}, step {i}: {requests:?}");
            let relocation = &mut drive.lower.store.place.relocation;
            assert_eq!(relocation.asked as usize, asked.len(), "seed {seed}");
            // The oldest request is taken up.
            if !asked.is_empty() && draw.at(2).below(40) == 0 {
                asked.remove(0);
                drive.relocate.asked.pop_front();
                relocation.asked -= 1;
            }
        }
    }
    assert!(begun > 400 && full > 20, "{begun} begun, {full} times full");
}

/// The budget of migrations is earned by the pages that the host has read, those of one read that need not be seen included.
#[test]
fn model_reads_earn_the_budget_of_migrations_by_their_pages() {
    // Thousandths of a page for each page.
    const BUDGET: u64 = 100;
    let record = AXIS.schemes.iter().find(|s| s.name == "differential");
    let record = record.expect("a scheme of the axis");
    let value = |key: &str, default| match key {
        "budget" => BUDGET as i64,
        _ => default,
    };
    let params = record.params.iter();
    let values: Vec<i64> = params.map(|p| value(p.key, p.default())).collect();
    let setup = setup(CellMode::Slc, geometry(SUPERBLOCKS), 500);
    let hot = PageRead {
        block: SuperblockId(1),
        mode: CellMode::Slc,
        pe_cycles: 0,
        page: 0,
        block_reads: 0,
        retries: 1,
        age: Ns::ZERO,
        heat: PageHeat {
            reads: 9,
            writes: 0,
        },
        future: PageFuture::default(),
    };
    for seed in 0..20 {
        let s = Stream::new(seed).named("budget");
        let mut drive = drive(("area", "differential"));
        let area = AnyArea::new("differential", &setup, &values);
        drive.lower.store.place.area = area.expect("a scheme");
        let mut left_milli = 0;
        for i in 0..300 {
            // A row has two slots of two codewords.
            let asked = 1 + s.at(i).at(0).below(15);
            let purpose = match s.at(i).at(1).below(3) {
                0 => Purpose::SharedRead,
                1 => Purpose::ReadAhead,
                _ => Purpose::HostRead {
                    id: CommandId(0),
                    first: 0,
                    slots: 1,
                    mp_page_slot: 0,
                    bytes: 4096,
                },
            };
            mp_page_read(&mut drive, SuperblockId(1), purpose, asked);
            let pages = u64::from(asked & 0b11 != 0) + u64::from(asked & 0b1100 != 0);
            if purpose != Purpose::ReadAhead {
                left_milli += BUDGET * pages;
            }
            if s.at(i).at(2).below(8) == 0 {
                let area = &mut drive.lower.store.place.area;
                left_milli += BUDGET;
                let has_page = left_milli >= 1_000;
                let migrates = area.after_read(RegionId::MAIN, &hot);
                assert_eq!(migrates, Some(has_page), "seed {seed}, step {i}");
                if has_page {
                    area.has_entered(Entry::Read, None);
                    left_milli -= 1_000;
                }
            }
        }
    }
}

/// A refresh waits for the host as claims do until its superblock was read a sixteenth oftener than its limit. From then on it waits
/// for a host that waits for a superblock, and for no other.
#[test]
fn sequence_a_refresh_that_is_overdue_waits_for_a_host_without_a_superblock_alone() {
    let limit = limit(CellMode::Slc);
    for (reads, host_waits, begins) in [
        (limit + limit / 16 - 1, false, false),
        (limit + limit / 16, false, true),
        (limit + limit / 16, true, false),
    ] {
        // The host has no superblock open, and its next one is not there.
        let mut drive = drive_with(12, 300, 0, ("cell_mode", "fixed"));
        fill(&mut drive, 2, 40);
        drive.relocate.most_senses = most_senses();
        let block = SuperblockId(3);
        let store = &mut drive.lower.store;
        let info = store.shared.blocks.info_mut(block);
        info.reads = reads;
        let asked = emptying(Owner::Refresh, block, info.opened);
        drive.relocate.asked.push_back(asked);
        let relocation = &mut store.place.relocation;
        relocation.asked += 1;
        relocation.host_waits.set(Wait::Superblock, host_waits);
        let found = drive.relocate.next_asked(&mut drive.lower);
        assert_eq!(found.is_some(), begins, "{reads} {host_waits}");
        assert_eq!(drive.relocate.asked.is_empty(), begins);
    }
}
