//! Superblocks in another cell mode than the drive's: their pages are read as pages of that mode.

use std::collections::BTreeMap;

use firstread_core::{CellMode, FlashKind, HostOp, Ns, OpClass, Tag};
use firstread_drive::port_log::PortCallKind;
use firstread_drive::{Drive, DriveState, Host};
use firstread_firmware::ftl::Busy;
use firstread_firmware::observe::{SuperblockRow, SuperblockUse};
use firstread_testkit::{drive, profile};
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
        let rows = drive.blocks().iter();
        rows.filter(|(_, row)| row.mode == mode && row.usage == usage)
            .count()
    };
    while in_mode(drive, SuperblockUse::Free) < CONVERTED {
        let free = |row: &SuperblockRow| row.usage == SuperblockUse::Free && row.mode != mode;
        let block = drive.blocks().iter().find(|(_, row)| free(row)).unwrap().0;
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
fn run(drive: &mut Drive, op: HostOp, first: u64, pieces: u64) {
    let records = (first * 8..(first + pieces) * 8).map(|i| {
        Ok(TraceRecord {
            time_ns: 0,
            op,
            offset_bytes: i * 128 * KIB,
            len_bytes: (128 * KIB) as u32,
            device: 0,
        })
    });
    let host = Host::trace("stretch", records, 16, None);
    host.run(drive, &mut |_| {}).unwrap();
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

/// A drive that keeps levels for one mode refuses the others: their pages would be read with levels of another mode.
#[test]
fn model_a_drive_without_levels_for_a_mode_refuses_it() {
    let mut drive = worn(&["firmware.cell_modes=one"]);
    let is_free = |row: &SuperblockRow| row.usage == SuperblockUse::Free;
    let (block, _) = drive.blocks().iter().find(|(_, row)| is_free(row)).unwrap();
    assert_eq!(drive.ask_mode(block, CellMode::Tlc), Err(Busy::NoLevels));
    assert_eq!(drive.ask_mode(block, CellMode::Qlc), Ok(()));
}
