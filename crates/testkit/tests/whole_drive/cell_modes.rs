//! Superblocks in another cell mode than the drive's: their pages are read as pages of that mode.

use std::collections::BTreeMap;

use firstread_core::{CellMode, FlashKind, HostOp, Ns, OpClass, SuperblockId, Tag};
use firstread_drive::port_log::PortCallKind;
use firstread_drive::{Drive, DriveState, Host, Precondition, RunStats};
use firstread_firmware::ftl::Busy;
use firstread_firmware::log::What;
use firstread_firmware::observe::{SuperblockInfo, SuperblockUse};
use firstread_testkit::{drive, profile, try_run};
use firstread_workload::TraceRecord;

const KIB: u64 = 1 << 10;
/// Age of the data when they are read.
const AGED: Ns = Ns::from_h(90 * 24);
/// Superblocks that are converted.
const CONVERTED: usize = 10;

/// The emulated drive, full, worn by 833 P/E and at 40 °C.
fn worn(set: &[&str]) -> Drive {
    let few = [
        "capacity=11 GiB",
        "chip.failures.factory_bad=0 %",
        "schemes.gc_victim=greedy",
        "schemes.read_recovery=soft-parity",
    ];
    let set: Vec<&str> = few.iter().chain(set).copied().collect();
    let state = DriveState {
        pe_cycles: (833, 833),
        temperature_c: 40.0,
        ..DriveState::default()
    };
    drive(profile("raro-femu", &set), &state, 1)
}

/// Converts ten free superblocks of `drive` to `mode`, and overwrites the front of the drive until no superblock in
/// that mode is free.
fn converted(drive: &mut Drive, mode: CellMode) {
    let in_mode = |drive: &Drive, usage: SuperblockUse| {
        let infos = drive.blocks().iter();
        infos
            .filter(|(_, info)| info.mode == mode && info.usage == usage)
            .count()
    };
    while in_mode(drive, SuperblockUse::Free) < CONVERTED {
        let free = |info: &SuperblockInfo| info.usage == SuperblockUse::Free && info.mode != mode;
        let block = drive
            .blocks()
            .iter()
            .find(|(_, info)| free(info))
            .unwrap()
            .0;
        drive.ask_mode(block, mode).unwrap();
        drive.advance(drive.now() + Ns::from_s(1));
    }
    let mut from = 0;
    while in_mode(drive, SuperblockUse::Free) + in_mode(drive, SuperblockUse::Open) > 0 {
        run(drive, HostOp::Write, from, 64);
        from += 64;
    }
}

/// Requests of 128 KiB for each of `pieces` stretches of 1 MiB from `first` on.
fn run(drive: &mut Drive, op: HostOp, first: u64, pieces: u64) -> RunStats {
    let records = (first * 8..(first + pieces) * 8).map(|i| {
        Ok(TraceRecord {
            time_ns: 0,
            op,
            offset_bytes: i * 128 * KIB,
            len_bytes: (128 * KIB) as u32,
            device: 0,
            placement: 0,
        })
    });
    let host = Host::trace("stretch", records, 16, None);
    host.run(drive, &mut |_| {}).unwrap()
}

/// Pages read, and those of them that failed at the first try.
#[derive(Default, Debug)]
struct Tries {
    pages: u64,
    failed: u64,
}

impl Tries {
    fn first_try_percent(&self) -> f64 {
        100.0 * (1.0 - self.failed as f64 / self.pages as f64)
    }
}

/// Reads the front of `drive` after 90 days: the tries by cell mode.
fn read_aged(drive: &mut Drive, mib: u64) -> BTreeMap<CellMode, Tries> {
    drive.advance(drive.now() + AGED);
    drive.log_ports();
    run(drive, HostOp::Read, 0, mib);
    let mut tries: BTreeMap<CellMode, Tries> = BTreeMap::new();
    let mut class_of: BTreeMap<Tag, OpClass> = BTreeMap::new();
    for call in drive.port_calls() {
        let PortCallKind::Issued(op) = call.what else {
            continue;
        };
        let FlashKind::Read { cell_mode, .. } = op.kind else {
            continue;
        };
        let of = tries.entry(cell_mode).or_default();
        let before = class_of.insert(op.tag, op.class);
        match op.class {
            OpClass::HostRead => of.pages += 1,
            OpClass::HostRetry if before == Some(OpClass::HostRead) => of.failed += 1,
            _ => {}
        }
    }
    tries
}

/// After 90 days a page of a converted superblock is read at the first try as often as one of a drive that is in
/// that mode as a whole.
#[test]
fn model_converted_superblocks_are_read_with_levels_of_their_own_mode() {
    let levels = "schemes.read_levels=ct-qlc";
    for (mode, set) in [
        (CellMode::Tlc, ["mode=tlc", "capacity=8 GiB"]),
        (CellMode::Slc, ["mode=slc", "capacity=2600 MiB"]),
    ] {
        let mut hybrid = worn(&[levels]);
        converted(&mut hybrid, mode);
        let of_hybrid = read_aged(&mut hybrid, 2048);
        let background = hybrid.counters().background_reads_by_mode;
        let of_mode = &of_hybrid[&mode];
        assert!(of_mode.pages > 2_000, "{of_hybrid:?}");

        let mut native = worn(&[&set[..], &[levels]].concat());
        let of_native = &read_aged(&mut native, 1024)[&mode];
        let (percent, native) = (of_mode.first_try_percent(), of_native.first_try_percent());
        println!(
            "{mode:?}: {percent} of {of_mode:?}, native {native} of {of_native:?}; {background:?}"
        );
        assert!(
            (percent - native).abs() < 0.2,
            "{percent} %, native {native} %"
        );
    }
}

/// The capacity lost is what the superblocks hold less, to the slot: now, at the end of a run and at its worst moment.
#[test]
fn formula_capacity_lost_is_the_slots_by_mode() {
    let mut drive = worn(&["chip.failures.grown_bad=0 %"]);
    let geometry = drive.profile().geometry;
    let slots = |mode| u64::from(geometry.slots_per_superblock(mode));
    let (own, sparse) = (slots(CellMode::Qlc), slots(CellMode::Slc));
    let of_superblocks = |drive: &Drive| {
        let infos = drive.blocks().iter().map(|(_, info)| slots(info.mode));
        infos.sum::<u64>()
    };
    let all = u64::from(geometry.blocks_per_plane) * own;
    assert_eq!(drive.modes().capacity.slots, all);
    assert_eq!(drive.modes().capacity.lost_slots, 0);
    converted(&mut drive, CellMode::Slc);
    let capacity = drive.modes().capacity;
    let lost = CONVERTED as u64 * (own - sparse);
    assert_eq!((capacity.slots, capacity.lost_slots), (all - lost, lost));
    assert_eq!(capacity.slots, of_superblocks(&drive));
    assert_eq!(drive.modes().superblocks, [10, 0, 0, 246]);

    // In the next run one more becomes TLC before one of the ten goes back.
    let full = |drive: &Drive, mode| -> SuperblockId {
        let is = |info: &SuperblockInfo| {
            info.usage == SuperblockUse::Full && info.mode == mode && info.valid_slots > 0
        };
        drive.blocks().iter().find(|(_, info)| is(info)).unwrap().0
    };
    let (tlc, back) = (full(&drive, CellMode::Qlc), full(&drive, CellMode::Slc));
    drive.ask_mode(tlc, CellMode::Tlc).unwrap();
    drive.ask_mode(back, CellMode::Qlc).unwrap();
    let stats = run(&mut drive, HostOp::Write, 4096, 512);
    let one = own - slots(CellMode::Tlc);
    let (start, end, worst) = (stats.modes.start, stats.modes.end, stats.modes.worst);
    assert_eq!(start.capacity.lost_slots, lost);
    assert_eq!(end.capacity.lost_slots, lost + one - (own - sparse));
    assert_eq!(end.capacity.slots, of_superblocks(&drive));
    assert_eq!(worst.lost_slots, lost + one, "between the two");
    assert_eq!(worst.slots, all - lost - one);
    assert_eq!(end.superblocks, [9, 0, 1, 246]);
    let records = drive.log().iter();
    let conversions = records.filter(|r| matches!(r.what, What::Converted { .. }));
    assert_eq!(conversions.count(), 12);
    let c = &stats.counters;
    assert_eq!(c.conversions, 2);
    assert_eq!(c.erases_by_mode.iter().sum::<u64>(), c.erases);
    assert_eq!(c.erases_by_mode[0], 1, "the one that went back");
    assert_eq!(
        c.slots_programmed_by_mode.iter().sum::<u64>(),
        c.slots_programmed
    );
}

/// Reads by mode add up to all, and a page of SLC takes less time than one of QLC and no retry.
#[test]
fn formula_reads_by_mode_add_up() {
    let mut drive = worn(&["schemes.read_levels=ct-qlc"]);
    converted(&mut drive, CellMode::Slc);
    drive.advance(drive.now() + AGED);
    let front = run(&mut drive, HostOp::Read, 0, 64);
    let all = run(&mut drive, HostOp::Read, 4096, 256);
    for stats in [&front, &all] {
        let c = &stats.counters;
        let pages: u64 = c.retries.iter().sum();
        assert_eq!(stats.all.uncorrectable(), 0);
        assert_eq!(c.page_reads_by_mode.iter().sum::<u64>(), pages);
        assert_eq!(c.first_tries_by_mode.iter().sum::<u64>(), c.retries[0]);
        let retries = (0..).zip(&c.retries).map(|(step, n)| step * n);
        assert_eq!(
            c.page_retries_by_mode.iter().sum::<u64>(),
            retries.sum::<u64>()
        );
    }
    let mean_us = |stats: &RunStats, mode: CellMode| {
        let (c, i) = (&stats.counters, mode.index());
        c.page_read_ns_by_mode[i] as f64 / c.page_reads_by_mode[i] as f64 / 1e3
    };
    let (slc, qlc) = (&front.counters, &all.counters);
    assert!(
        slc.page_reads_by_mode[0] > 1_000,
        "{:?}",
        slc.page_reads_by_mode
    );
    assert_eq!(slc.page_reads_by_mode[0], slc.first_tries_by_mode[0]);
    assert!(qlc.page_reads_by_mode[3] > 10_000 && qlc.page_reads_by_mode[0] == 0);
    let means = (mean_us(&front, CellMode::Slc), mean_us(&all, CellMode::Qlc));
    println!("{means:?}");
    assert!(2.0 * means.0 < means.1, "{means:?}");
}

/// A superblock that is cycled in SLC mode comes back as QLC with the damage that the chip's knob says, and errs so.
#[test]
fn formula_cycles_in_another_mode_damage_as_the_chip_says() {
    let cycles = 2_000;
    let worn_by = |damage: &str| {
        let knob = format!("chip.modes.slc.cycle_damage={damage}");
        let mut drive = worn(&["chip.modes.slc.endurance=1000000 P/E", &knob]);
        let free = |info: &SuperblockInfo| info.usage == SuperblockUse::Free;
        let block = drive
            .blocks()
            .iter()
            .find(|(_, info)| free(info))
            .unwrap()
            .0;
        let before = drive.blocks().info(block).pe_cycles;
        let mut erase = |mode| {
            drive.ask_mode(block, mode).unwrap();
            drive.advance(drive.now() + Ns::from_ms(50));
        };
        (0..=cycles).for_each(|_| erase(CellMode::Slc));
        erase(CellMode::Qlc);
        let info = *drive.blocks().info(block);
        let erases = drive.counters().erases_by_mode;
        assert_eq!((erases[0], erases[3]), (cycles + 1, 1));
        (info.pe_cycles - before, info.pe_milli)
    };
    // The first erase ends a cycle in QLC mode, those after it in SLC mode.
    let all = cycles as u32 + 2;
    assert_eq!(worn_by("1 x"), (all, 0));
    assert_eq!(worn_by("0.01 x"), (1 + (cycles as u32 + 1) / 100, 10));
    assert_eq!(worn_by("0.125 x"), (1 + (cycles as u32 + 1) / 8, 125));
}

/// A drive that keeps levels for one mode refuses the others: their pages would be read with levels of another mode.
#[test]
fn model_a_drive_without_levels_for_a_mode_refuses_it() {
    let mut drive = worn(&["firmware.cell_modes=one"]);
    let is_free = |info: &SuperblockInfo| info.usage == SuperblockUse::Free;
    let (block, _) = drive
        .blocks()
        .iter()
        .find(|(_, info)| is_free(info))
        .unwrap();
    assert_eq!(drive.ask_mode(block, CellMode::Tlc), Err(Busy::NoLevels));
    assert_eq!(drive.ask_mode(block, CellMode::Qlc), Ok(()));
}

/// A drive of which a fifth is used holds nearly all of its data in SLC mode, and what lies there stays when its superblock is emptied for room: next
/// to nothing is programmed in QLC mode. At half of it used the pool has no room for all, and what outlives a turn goes to QLC mode.
#[test]
fn model_what_fits_into_the_pool_stays_there() {
    let shares = |capacity: &str, slots: u64| {
        let capacity = format!("capacity={capacity}");
        let set = [
            "cells=ideal",
            "chip.failures.grown_bad=0 %",
            "chip.failures.factory_bad=0 %",
            "chip.array.layers=2",
            "chip.modes.slc.cycle_damage=0.015x",
            "geometry.channels=2",
            "geometry.chips_per_channel=1",
            "geometry.dies_per_chip=1",
            "geometry.planes=1",
            "geometry.blocks_per_plane=160",
            "firmware.cell_modes=all",
            "schemes.cell_mode=hybrid-pools",
            "schemes.read_recovery=none",
            &capacity,
        ];
        let state = DriveState {
            precondition: Precondition::Random,
            ..DriveState::default()
        };
        let mut drive = drive(profile("ibm-qlc", &set), &state, 1);
        let job = |n: u64| {
            format!(
                "[w]\nrw=randwrite\nbs=4k\nnorandommap\niodepth=64\nrate_process=poisson\nrate_iops=1000\nio_size={}k\n",
                4 * n
            )
        };
        try_run(&mut drive, &job(14 * slots), 1, None).expect("a run");
        let stats = try_run(&mut drive, &job(4 * slots), 2, None).expect("a run");
        assert_eq!(drive.audit(), Ok(()));
        let (slc, qlc) = (CellMode::Slc as usize, CellMode::Qlc as usize);
        let valid = |mode| -> u64 {
            let blocks = drive.blocks().iter();
            let of_mode = blocks.filter(|(_, info)| info.mode as usize == mode);
            of_mode.map(|(_, info)| u64::from(info.valid_slots)).sum()
        };
        let programmed = &stats.counters.slots_programmed_by_mode;
        let written = stats.counters.host_slots_written as f64;
        let of_data = valid(slc) as f64 / (valid(slc) + valid(qlc)) as f64;
        (
            of_data,
            programmed[qlc] as f64 / written,
            programmed[slc] as f64 / written,
        )
    };
    let fifth = shares("52 MiB", 13_312);
    assert!(
        fifth.0 > 0.98 && fifth.1 < 0.02 && fifth.2 > 1.2,
        "a fifth: share of data in SLC mode, programs in QLC and in SLC mode {fifth:?}"
    );
    let half = shares("128 MiB", 32_768);
    assert!(half.0 < 0.5 && half.1 > 0.3, "a half: {half:?}");
}
