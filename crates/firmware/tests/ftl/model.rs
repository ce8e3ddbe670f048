//! A drive against a map of the last versions, in configurations drawn at random: writes whole and
//! in part, trims, garbage collection, wear leveling, changes of mode, failing programs, erases and
//! reads, moves asked for page by page.

use firstread_core::params::Axis;
use firstread_core::params::Need;
use firstread_core::{
    CellMode, CommandId, HostCommand, HostOp, Lpn, Spare, Status, Stream, SuperblockId,
};
use firstread_firmware::WriteCache;
use firstread_firmware::observe::{SuperblockInfo, SuperblockUse};
use firstread_firmware::policy::{area, gc_victim, read_recovery, suspend, wear};
use proptest::prelude::*;

use crate::build::{Build, Chances, kept_by, kept_by_area, page_type, write_cache};
use firstread_faulty_flash::{FaultyDrive, Model, Summary, Trial, geometry};

/// `parity` of axis `read_recovery`.
const PARITY: usize = 2;

pub fn build() -> impl Strategy<Value = Build> {
    let shape = (1u16..3, 1u16..3, 1u8..3, 6u32..20, 1u16..6);
    let mode = prop::sample::select(vec![CellMode::Slc, CellMode::Tlc, CellMode::Qlc]);
    // Whatever schemes there are.
    let one_of = |axis: Axis| 0..axis.schemes.len();
    let schemes = (
        one_of(gc_victim::AXIS),
        one_of(wear::AXIS),
        one_of(suspend::AXIS),
        one_of(read_recovery::AXIS),
        // Half of the drives have no areas.
        0..2 * area::AXIS.schemes.len(),
    );
    // Over-provisioning beyond the three superblocks any drive keeps, from none on.
    let space = (0u32..4, 0u64..101);
    let faults = prop_oneof![
        3 => Just(Chances::default()),
        1 => (0u32..6, 0u32..6, 0u32..300)
            .prop_map(|(program, erase, sense)| Chances { program, erase, sense }),
    ];
    (
        shape,
        mode,
        schemes,
        space,
        faults,
        any::<u64>(),
        1u32..40,
        any::<bool>(),
    )
        .prop_map(
            |(
                shape,
                mode,
                (victim, wear, suspend, read_recovery, area),
                (spare, fill),
                faults,
                seed,
                depth,
                plane_first,
            )| {
                let (channels, dies, planes, blocks, wordlines) = shape;
                let mut g = geometry(channels, dies, planes, blocks, wordlines);
                if plane_first {
                    g.stripe = firstread_core::StripeOrder::PlaneFirst;
                }
                // A third of the drives have a map that is not in memory as a whole, of many pages.
                let cached = seed / 7 % 3 == 0 && blocks > 7;
                if cached {
                    (g.slot_bytes, g.codeword_bytes) = (1024, 1024);
                }
                // Parity lies on another die.
                let read_recovery = if g.dies() > 1 { read_recovery } else { 0 };
                let scheme = read_recovery::AXIS.schemes[read_recovery];
                g.stripe_parity = scheme.requires(Need::StripeParity);
                let area = if area < area::AXIS.schemes.len() {
                    area
                } else {
                    0
                };
                let streams = kept_by(wear) + kept_by_area(area);
                let kept = streams + if cached { 6 } else { 3 };
                // Small drives without room for another stream have none.
                let (area, kept) = match kept < blocks {
                    true => (area, kept),
                    false => (0, kept - kept_by_area(area)),
                };
                let per_block = g.slots_per_superblock(mode) as u64;
                let capacity = (blocks - kept).saturating_sub(spare).max(1) as u64 * per_block;
                Build {
                    fill: capacity * fill / 100,
                    victim,
                    wear,
                    suspend,
                    read_recovery,
                    area,
                    page_type: page_type(seed),
                    write_cache: write_cache(seed),
                    faults,
                    read_cache: (seed % 4) as u32 * 10,
                    read_ahead: seed % 3 == 0,
                    map_cache: if cached { 8 + (seed % 5) as u32 * 8 } else { 0 },
                    planes_apart: seed % 5 < 2,
                    seed,
                    depth,
                    max_wait_ns: [1_000, 20_000, 1 << 40][seed as usize % 3],
                    ..Build::full(g, mode, capacity)
                }
                .with_streams()
            },
        )
}

fn passes(trial: &Trial) -> Summary {
    trial.run().unwrap_or_else(|found| panic!("{found}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]
    #[test]
    fn model_reads_return_the_last_version_written(build in build()) {
        passes(&build.trial(4000, 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 200, ..ProptestConfig::default() })]
    #[test]
    fn powerloss_every_acknowledged_write_survives(build in build(), cuts in 1u32..20) {
        passes(&build.trial(3000, cuts));
    }
}

/// What the reference model says of two reads in flight with a trim, after a power cut that may have lost a write.
#[test]
fn powerloss_zeros_of_a_later_trim_do_not_decide_what_a_cut_left() {
    let command = |id, op| HostCommand {
        id: CommandId(id),
        op,
        client: 0,
        offset_bytes: 0,
        len_bytes: 4096,
        fua: false,
        placement: 0,
    };
    let (write, trim) = (command(0, HostOp::Write), command(1, HostOp::Trim));
    let (before, other, after) = (
        command(2, HostOp::Read),
        command(3, HostOp::Read),
        command(4, HostOp::Read),
    );
    let written = Some(Spare {
        lpn: Lpn(0),
        sequence: 1,
    });
    // A write that was not acknowledged, a power cut, and a trim under two reads. One of them returns zeros.
    let zeros_beside_a_trim = || {
        let mut model = Model::new(4096, 0, WriteCache::Protected);
        model.submit(write);
        model.take(write.id, 0);
        model.power_cut();
        assert_eq!(model.may_read(Lpn(0)), [None, Some(1)]);
        for command in [before, other, trim] {
            model.submit(command);
        }
        model.trim(Lpn(0), 1);
        model.send(other.id, 0, None).unwrap();
        model.complete(other, Status::Ok).unwrap();
        model.submit(after);
        // Neither the zeros before the write nor those of the trim let a later read return the write.
        assert_eq!(model.may_read(Lpn(0)), [None, None]);
        model
    };
    let mut model = zeros_beside_a_trim();
    assert!(model.clone().send(after.id, 0, written).is_err());
    model.clone().send(after.id, 0, None).unwrap();
    // The write may have survived, and the first read have come before the trim.
    model.send(before.id, 0, written).unwrap();
    // The trim is not acknowledged: another power cut may lose it, but not the write, which was read.
    model.power_cut();
    assert_eq!(model.may_read(Lpn(0)), [Some(1), None]);

    let mut model = zeros_beside_a_trim();
    model.complete(trim, Status::Ok).unwrap();
    model.clone().send(before.id, 0, written).unwrap();
    assert!(model.clone().send(after.id, 0, written).is_err());
    model.power_cut();
    assert_eq!(model.may_read(Lpn(0)), [None]);

    // Without a trim, zeros decide.
    let mut model = Model::new(4096, 0, WriteCache::Protected);
    model.submit(write);
    model.take(write.id, 0);
    model.power_cut();
    for command in [before, other] {
        model.submit(command);
    }
    model.send(other.id, 0, None).unwrap();
    assert!(model.send(before.id, 0, written).is_err());
}

/// The same on a drive: a write of page 15 is in flight at a power cut and survives it. Two reads of it are in flight
/// when the page is trimmed. One returns the zeros of the trim, and then the other, submitted before it, the write.
#[test]
fn powerloss_a_read_from_before_a_trim_returns_what_the_cut_left() {
    let build = Build {
        fill: 0,
        victim: 4,
        wear: 2,
        suspend: 3,
        faults: Chances {
            program: 3,
            erase: 1,
            sense: 52,
        },
        read_ahead: true,
        seed: 1_254_625_073_723_809_128,
        depth: 13,
        max_wait_ns: 1_000,
        ..Build::full(geometry(1, 1, 1, 10, 2), CellMode::Slc, 24)
    };
    passes(&build.trial(3_000, 9));
}

/// Parity makes anew what reads could not correct, as long as the rest of the stripe can be read: far
/// fewer commands end in an error.
#[test]
fn model_parity_saves_most_of_what_reads_lose() {
    let lost_and_rebuilt = |stripe_parity| {
        let g = firstread_core::Geometry {
            stripe_parity,
            ..geometry(2, 2, 1, 20, 4)
        };
        let capacity = 13 * g.slots_per_superblock(CellMode::Tlc) as u64;
        let build = Build {
            fill: capacity / 2,
            wear: 2,
            suspend: 4,
            read_recovery: if stripe_parity { PARITY } else { 0 },
            faults: Chances {
                program: 2,
                erase: 1,
                sense: 300,
            },
            seed: 5,
            depth: 24,
            ..Build::full(g, CellMode::Tlc, capacity)
        };
        let counters = passes(&build.trial_cut_every(10_000, 4_000)).counters;
        println!("{counters:?}");
        // Drives end their lives after different work: of what they read, this share is lost.
        let read = counters.retries.iter().sum::<u64>() + counters.slots_moved;
        let lost = counters.uncorrectable + counters.slots_lost;
        (lost as f64 / read as f64, counters.rebuilt)
    };
    let (none, parity) = (lost_and_rebuilt(false), lost_and_rebuilt(true));
    assert_eq!(none.1, 0);
    assert!(parity.1 > 20, "{parity:?}");
    // What stays lost is a second page of the stripe: a tenth and less.
    assert!(8.0 * parity.0 < none.0, "{parity:?}, without {none:?}");
}

/// Power is cut again and again before anything was programmed: what each cut tears waits to be written
/// again, and there is room for all of it. The superblock being filled is in the widest mode and those
/// that are free are in SLC, so that what one program held takes four.
#[test]
fn powerloss_cuts_one_after_another_leave_room_for_what_they_tear() {
    for (dies, planes, wordlines) in [(1, 1, 4), (1, 2, 8), (2, 1, 6), (4, 1, 5)] {
        let g = geometry(1, dies, planes, 40, wordlines);
        let per_block = u64::from(g.slots_per_superblock(CellMode::Qlc));
        let build = Build {
            geometry: g,
            mode: CellMode::Qlc,
            capacity: 6 * per_block,
            fill: 0,
            depth: 4_096,
            map_cache: 0,
            ..with_map_cache(0, Chances::default())
        };
        for cuts in 1..40 {
            let mut drive = build.drive();
            let mut next = 0;
            let mut write = |drive: &mut FaultyDrive, slots: u64| {
                for _ in 0..slots {
                    drive
                        .submit(HostOp::Write, next % build.capacity * 4096, 4096)
                        .unwrap();
                    next += 1;
                }
            };
            // Two superblocks of the widest mode: one full, one begun.
            write(&mut drive, per_block + 1);
            drive.settle().unwrap();
            for block in (0..g.blocks_per_plane).map(SuperblockId) {
                let (now, platform) = (drive.now(), &mut drive.platform);
                let _ = drive.firmware.ask_mode(now, block, CellMode::Slc, platform);
                drive.settle().unwrap();
            }
            let is_free_slc = |info: &SuperblockInfo| {
                (info.usage, info.mode) == (SuperblockUse::Free, CellMode::Slc)
            };
            let slc = drive
                .firmware
                .blocks()
                .iter()
                .filter(|(_, info)| is_free_slc(info));
            assert!(slc.count() > 10, "{dies} dies: superblocks in SLC");
            // As much as the write buffer takes, and more.
            write(&mut drive, 4 * u64::from(g.slots_per_stripe()) * 4);
            for cut in 0..cuts {
                drive.power_cut().unwrap();
                assert_eq!(
                    drive.firmware.audit(),
                    Ok(()),
                    "{dies} dies, cut {cut} of {cuts}"
                );
                // What was torn is on its way again, and no more than that.
                drive.poll().unwrap();
            }
            drive.settle().unwrap();
            assert_eq!(drive.audit(), Ok(()));
            for lpn in 0..build.capacity {
                drive.submit(HostOp::Read, lpn * 4096, 4096).unwrap();
            }
            drive.finish().unwrap();
        }
    }
}

/// The last pages of a drive whose end is within a superblock were never written: what follows them
/// are pages of the map, which the audit must not pass over.
#[test]
fn formula_the_audit_ends_with_the_drive() {
    let mut g = geometry(2, 1, 2, 28, 8);
    (g.slot_bytes, g.codeword_bytes) = (512, 512);
    let build = Build {
        geometry: g,
        capacity: 4_796,
        fill: 0,
        ..with_map_cache(0, Chances::default())
    };
    let mut drive = build.drive();
    let stream = Stream::new(1);
    for i in 0..20_000 {
        // Neither trimmed nor written: the region of the last 700 pages.
        let lpn = stream.at(i).below(4_096);
        drive.submit(HostOp::Write, lpn * 512, 512).unwrap();
    }
    drive.settle().unwrap();
    assert!(drive.firmware.counters().front.map_writes > 100);
    assert_eq!(drive.audit(), Ok(()));
    drive.power_cut().unwrap();
    assert_eq!(drive.audit(), Ok(()));
    drive.submit(HostOp::Trim, 4_096 * 512, 700 * 512).unwrap();
    drive.settle().unwrap();
    assert_eq!(drive.audit(), Ok(()));
}

/// Cuts meet everything that they can.
#[test]
fn powerloss_meets_all_that_is_under_way() {
    let g = firstread_core::Geometry {
        stripe_parity: true,
        ..geometry(2, 2, 2, 24, 4)
    };
    let capacity = 13 * g.slots_per_superblock(CellMode::Tlc) as u64;
    let soft_parity = read_recovery::AXIS.schemes.len() - 1;
    assert_eq!(read_recovery::AXIS.schemes[soft_parity].name, "soft-parity");
    let build = Build {
        geometry: g,
        mode: CellMode::Tlc,
        capacity,
        fill: capacity / 2,
        victim: 1,
        wear: 2,
        suspend: 4,
        read_recovery: soft_parity,
        cell_mode: 0,
        refresh: 0,
        area: 0,
        page_type: 0,
        stream: 0,
        write_cache: WriteCache::Protected,
        faults: Chances {
            sense: 550,
            ..Chances::default()
        },
        read_cache: 40,
        read_ahead: true,
        map_cache: 0,
        planes_apart: false,
        seed: 3,
        depth: 24,
        max_wait_ns: 20_000,
    };
    let met = passes(&build.trial(20_000, 3)).power_cuts;
    let each = [
        met.cuts,
        met.torn_programs,
        met.waiting_programs,
        met.erasing,
        met.lost_commands,
        met.in_recovery,
        met.converting,
        met.rebuilding,
        met.soft_reads,
        met.stopped,
        met.stopped_in_a_step,
    ];
    assert!(each.iter().all(|&n| n > 2), "{met:?}");
}

/// A drive without a spare superblock comes back from every cut as able to write as it was: what a cut
/// tears is written again from a reserve of its own.
#[test]
fn powerloss_does_not_end_the_life_of_a_tight_drive() {
    for (seed, map_cache) in [(1, 0), (2, 16)] {
        let mut g = geometry(2, 1, 2, 16, 24);
        (g.slot_bytes, g.codeword_bytes) = (1024, 1024);
        let per_block = g.slots_per_superblock(CellMode::Tlc) as u64;
        let kept = if map_cache == 0 { 3 } else { 5 };
        let capacity = (16 - kept) * per_block;
        let build = Build {
            victim: 0,
            map_cache,
            planes_apart: seed == 2,
            seed,
            depth: 16,
            ..Build::full(g, CellMode::Tlc, capacity)
        };
        let mut drive = build.drive();
        let stream = Stream::new(seed).named("host");
        let mut torn = 0;
        for i in 0..40_000 {
            let lpn = stream.at(i).at(0).below(capacity);
            drive.submit(HostOp::Write, lpn * 1024, 1024).unwrap();
            // Ten times while the host fills a superblock: often while one is being emptied.
            if i % 211 == 210 {
                torn += drive.power_cut().unwrap().0.torn_programs;
            }
            assert!(!drive.firmware.is_read_only(), "after {i} writes");
        }
        drive.settle().unwrap();
        assert_eq!(drive.audit(), Ok(()));
        assert!(torn > 20, "{torn} programs were torn");
    }
}

/// The worst that may be configured, at length: no spare superblock, every fault.
#[test]
fn model_tight_drives_live_to_their_end() {
    for victim in 0..gc_victim::AXIS.schemes.len() {
        for (spare, faults) in [
            (0, Chances::default()),
            (
                6,
                Chances {
                    program: 3,
                    erase: 2,
                    sense: 50,
                },
            ),
        ] {
            let g = geometry(2, 1, 2, 24, 4);
            let per_block = g.slots_per_superblock(CellMode::Tlc) as u64;
            let wear = victim % 3;
            let capacity = (21 - spare - u64::from(kept_by(wear))) * per_block;
            let build = Build {
                victim,
                wear,
                suspend: victim,
                faults,
                read_cache: victim as u32 * 20,
                read_ahead: victim % 2 == 0,
                seed: 7 + victim as u64,
                depth: 16,
                ..Build::full(g, CellMode::Tlc, capacity)
            };
            let counters = passes(&build.trial(30_000, 0)).counters;
            assert_eq!(counters.suspends > 0, build.suspend > 0, "{build:?}");
            assert!(
                counters.erases > 1_000 || counters.retired > 0,
                "{counters:?}"
            );
            assert!(counters.moves_overtaken > 0, "{counters:?}");
        }
    }
}

/// A map far larger than its cache, on a drive that is always being cleaned.
fn with_map_cache(victim: usize, faults: Chances) -> Build {
    let mut g = geometry(2, 1, 2, 28, 4);
    (g.slot_bytes, g.codeword_bytes) = (512, 512);
    let capacity = 20 * g.slots_per_superblock(CellMode::Tlc) as u64;
    Build {
        victim,
        wear: victim % 3,
        suspend: victim,
        faults,
        read_ahead: victim == 1,
        map_cache: 8 << (victim % 5),
        planes_apart: victim == 3,
        seed: 20 + victim as u64,
        depth: 16,
        ..Build::full(g, CellMode::Tlc, capacity)
    }
}

/// The map comes back from its own superblocks and the dump; every page of it is read again.
#[test]
fn powerloss_a_map_on_flash_comes_back() {
    for victim in 0..gc_victim::AXIS.schemes.len() {
        let summary = passes(&with_map_cache(victim, Chances::default()).trial(20_000, 3));
        let (f, met) = (summary.counters.front, summary.power_cuts);
        assert!(f.map_writes > 200 && f.map_reads > 1_000, "{f:?}");
        let each = [
            met.cuts,
            met.torn_programs,
            met.waiting_programs,
            met.lost_commands,
            met.dumped_map_pages,
        ];
        assert!(each.iter().all(|&n| n > 20), "{met:?}");
    }
}

#[test]
fn model_a_map_cache_changes_no_data() {
    for victim in 0..gc_victim::AXIS.schemes.len() {
        for faults in [
            Chances::default(),
            Chances {
                program: 2,
                erase: 1,
                sense: 400,
            },
        ] {
            let build = with_map_cache(victim, faults);
            let counters = passes(&build.trial(30_000, 0)).counters;
            let f = counters.front;
            assert_eq!(f.map_lost > 0, faults.sense > 0, "{f:?}");
            assert!(f.map_misses > 1_000 && f.map_hits > 1_000, "{f:?}");
            assert!(f.map_writes > 500 && counters.erases > 20, "{counters:?}");
        }
    }
}
