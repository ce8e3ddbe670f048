//! Preconditioning of drives whose schemes have regions, pools or streams of their own.

use firstread_drive::{Drive, DriveError, DriveState, Precondition, RunStats, StateError};
use firstread_firmware::observe::{RegionId, SuperblockUse};
use firstread_firmware::policy::area::{HIGH, LOW};
use firstread_testkit::{drive, profile, try_run, voltages};

use crate::partial_writes::SMALL;

const ZIPF: Precondition = Precondition::Zipf(1.1);

fn overwritten(precondition: Precondition) -> DriveState {
    DriveState {
        precondition,
        ..DriveState::default()
    }
}

/// The small drive called `name` with `own` values.
fn small(name: &str, own: &[&str]) -> firstread_drive::profile::DriveProfile {
    let (_, set) = SMALL.iter().find(|(drive, _)| *drive == name).unwrap();
    profile(name, &[*set, own].concat())
}

fn law_of(precondition: Precondition) -> &'static str {
    match precondition {
        ZIPF => "zipf:1.1",
        _ => "random",
    }
}

/// The longest write (ns) of a load that begins on a preconditioned drive, within about two superblocks of the host.
fn longest_ns(name: &str, own: &[&str], precondition: Precondition, seed: u64) -> u64 {
    let profile = small(name, own);
    let mut made = drive(profile, &overwritten(precondition), seed);
    let job = format!(
        "[m]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=32\nnorandommap\nrandom_distribution={}\nnumber_ios=12000\n",
        law_of(precondition)
    );
    let stats = try_run(&mut made, &job, seed, None).unwrap();
    stats.all.write.max_ns()
}

/// Whatever schemes have regions, pools or streams of their own, the host has superblocks to write from its first write on.
#[test]
fn formula_a_preconditioned_drive_writes_on_at_once() {
    let schemes: &[&[&str]] = &[
        &["schemes.area=differential"],
        &["schemes.area=clairvoyant"],
        &["schemes.wear=progressive-hot"],
        &["schemes.refresh=hot"],
        &["schemes.cell_mode=hotness"],
    ];
    let mut beyond = Vec::new();
    for (name, few) in [("raro-femu", schemes), ("dwr-256g", &schemes[..3])] {
        for precondition in [Precondition::Random, ZIPF] {
            for seed in 1..=3 {
                let null = longest_ns(name, &[], precondition, seed);
                for own in few {
                    let longest = longest_ns(name, own, precondition, seed);
                    let message = format!(
                        "{name} {own:?} {precondition}, seed {seed}: {longest} ns, and {null} ns without"
                    );
                    println!("{message}");
                    if longest > 2 * null {
                        beyond.push(message);
                    }
                }
            }
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

/// Free superblocks and valid slots of `area`.
fn of_area(drive: &Drive, area: RegionId) -> (usize, u64) {
    let infos = || drive.blocks().in_region(area).iter().map(|(_, info)| info);
    let free = infos()
        .filter(|info| info.usage == SuperblockUse::Free)
        .count();
    (free, infos().map(|info| u64::from(info.valid_slots)).sum())
}

/// Slots moved for each of `writes` that the host writes, drawn from `seed`.
fn moved(made: &mut Drive, precondition: Precondition, writes: u64, seed: u64) -> f64 {
    let job = format!(
        "[w]\nrw=randwrite\nbs=4k\niodepth=32\nnorandommap\nrandom_distribution={}\nnumber_ios={writes}\n",
        law_of(precondition)
    );
    let stats: RunStats = try_run(made, &job, seed, None).unwrap();
    stats.counters.slots_moved as f64 / stats.counters.host_slots_written as f64
}

/// The low wearing area holds what it holds on a drive that was really overwritten as often, and cleaning goes on as it does
/// there. The high wearing area of this drive can keep its data to itself.
#[test]
fn model_a_preconditioned_low_area_holds_what_overwrites_leave() {
    let capacity = "capacity=300 MiB";
    for precondition in [Precondition::Random, ZIPF] {
        let own = ["schemes.area=differential", "schemes.wear=none", capacity];
        let new = |precondition| drive(small("dwr-256g", &own), &overwritten(precondition), 1);
        let mut computed = new(precondition);
        let mut written = new(Precondition::None);
        let pages = written.capacity_bytes() / 4096;
        moved(&mut written, precondition, 4 * pages, 2);
        let [(free, low), (_, there)] = [&computed, &written].map(|drive| of_area(drive, LOW));
        assert_eq!((of_area(&computed, HIGH).0, free), (3, 1));
        let share = low as f64 / there as f64;
        let [moves, moves_there] =
            [&mut computed, &mut written].map(|drive| moved(drive, precondition, pages, 1));
        let message = format!(
            "{precondition} {capacity}: {low} of {there} slots, {moves:.3} of {moves_there:.3} moves"
        );
        println!("{message}");
        assert!((0.95..1.05).contains(&share), "{message}");
        let written = (1.0 + moves) / (1.0 + moves_there);
        assert!((0.93..1.07).contains(&written), "{message}");
    }
}

/// Where nothing enters the low wearing area, overwrites drain it; if the rest of the drive cannot hold all data, it holds what
/// the rest holds. The contents of every superblock are known to the map.
#[test]
fn formula_a_low_area_that_nothing_enters_is_drained_or_shared() {
    let made = |capacity: &str, seed| {
        let own = ["schemes.area=clairvoyant", capacity];
        drive(small("dwr-256g", &own), &overwritten(ZIPF), seed)
    };
    let drained = made("capacity=240 MiB", 1);
    assert_eq!(of_area(&drained, LOW), (13, 0));
    assert_eq!(of_area(&drained, HIGH).0, 3);
    let shared = made("capacity=340 MiB", 1);
    let [(high_free, high), (low_free, low)] = [HIGH, LOW].map(|area| of_area(&shared, area));
    assert_eq!((high_free, low_free), (3, 2));
    let (of_high, of_low) = (high as f64 / 48.0, low as f64 / 11.0);
    assert!(
        (0.9..1.1).contains(&(of_low / of_high)),
        "{of_low} {of_high}"
    );
    for drive in [drained, shared] {
        drive.audit().unwrap();
    }
}

/// No theory is known of areas that share the writes of the host.
#[test]
fn formula_areas_that_share_the_writes_are_refused() {
    let of = |own: &[&str]| {
        let few_bad = ["schemes.area=differential", "chip.failures.grown_bad=0 %"];
        let own = [&few_bad, own].concat();
        let profile = small("dwr-256g", &own);
        let state = DriveState {
            pe_cycles: (850, 850),
            ..overwritten(Precondition::Random)
        };
        let tables = voltages(&profile);
        Drive::new(profile, tables, &state, 1).map(|_| ())
    };
    let refused = of(&[]).unwrap_err();
    assert!(
        matches!(refused, DriveError::State(StateError::AtBound { .. })),
        "{refused}"
    );
    assert!(refused.to_string().contains("--burn-in"), "{refused}");
    of(&["area.at_bound=read-only"]).unwrap();
    of(&["area.bound=900 permille"]).unwrap();
}
