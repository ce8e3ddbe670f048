//! Bad blocks through the whole drive: of the factory, grown, and until the end of its life.

use firstread_drive::profile::{Kind, Library};
use firstread_drive::{Drive, DriveError, DriveState, Ended, RunError, RunStats};
use firstread_testkit::{SMALL_BLOCKS, aged, drive, profile, try_run, voltages};

/// A drive whose blocks live for some dozen cycles.
fn short_lived(more: &[&str]) -> Vec<String> {
    let set = SMALL_BLOCKS.iter().copied().chain(more.iter().copied());
    let ideal = ["cells=ideal", "schemes.read_levels=factory"];
    set.chain(ideal).map(str::to_owned).collect()
}

fn made(set: &[String], pe_cycles: u32) -> Result<Drive, DriveError> {
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let profile = profile("dc-qlc-15t", &set);
    let tables = voltages(&profile);
    let state = DriveState {
        pe_cycles: (pe_cycles, pe_cycles),
        ..DriveState::default()
    };
    Drive::new(profile, tables, &state, 1)
}

fn overwrite(drive: &mut Drive, mib: u64) -> Result<RunStats, RunError> {
    let job = format!(
        "[w]\nrw=randwrite\nbs=64k\niodepth=16\nnorandommap\nio_size={mib}m\n\
         [r]\nstonewall\nrw=read\nbs=64k\niodepth=8\n"
    );
    try_run(drive, &job, 1, None)
}

/// As many superblocks are lost as the worst die has bad blocks; the others are whole.
#[test]
fn formula_factory_bad_blocks_cost_what_the_worst_die_has() {
    let set = short_lived(&[
        "chip.failures.factory_bad=2 %",
        "chip.failures.grown_bad=0 %",
    ]);
    let mut drive = made(&set, 0).unwrap();
    let counters = drive.counters().clone();
    let dies = drive.profile().geometry.dies() as u64;
    assert!(counters.retired > 0, "{counters:?}");
    // Each die has at most as many bad blocks as the worst.
    assert!((counters.retired..=counters.retired * dies).contains(&counters.replaced));
    assert_eq!(drive.audit(), Ok(()));
    let stats = overwrite(&mut drive, 512).unwrap();
    assert_eq!(stats.counters.retired, 0, "none grows");
    assert_eq!(stats.all.uncorrectable(), 0);
}

/// A block that fails is replaced while its die has a spare, and nothing is lost by it.
#[test]
fn model_grown_bad_blocks_are_replaced() {
    let set = short_lived(&[
        "chip.failures.factory_bad=1 %",
        "chip.failures.grown_bad=10 %",
        "chip.failures.shape=1 x",
        "chip.modes.qlc.endurance=300 P/E",
    ]);
    let mut drive = made(&set, 0).unwrap();
    // Some 50 P/E cycles. From about 75 on, spares of the worst die run out, and superblocks are lost.
    let stats = overwrite(&mut drive, 4_000).unwrap();
    let c = &stats.counters;
    assert!(c.replaced > 2 && c.replaced > 2 * c.retired, "{c:?}");
    assert_eq!(stats.all.uncorrectable(), 0);
    assert_eq!(drive.audit(), Ok(()));
    assert!(!drive.is_read_only());
}

/// At its end the drive takes no more writes, says so, and can still be read.
#[test]
fn sequence_the_end_of_life_is_a_result_and_leaves_the_data_readable() {
    let set = short_lived(&[
        "chip.failures.grown_bad=90 %",
        "chip.modes.qlc.endurance=30 P/E",
    ]);
    let mut drive = made(&set, 0).unwrap();
    let stats = overwrite(&mut drive, 100_000).unwrap();
    let Ended::EndOfLife(end) = stats.ended else {
        panic!("{:?}", stats.ended)
    };
    // What was written until then is in the result.
    assert!(end.retired > 1 && end.written > 0, "{end:?}");
    assert_eq!(
        end.written,
        stats.counters.host_slots_written * 4096,
        "{end:?}"
    );
    assert!(stats.all.write.count() > 0 && drive.is_read_only());
    let text = end.to_string();
    for what in [
        "end of life",
        "are retired",
        "--pe-cycles",
        "can still be read",
    ] {
        assert!(text.contains(what), "{text}");
    }
    // Requests are in flight that the run has given up.
    drive.power_cut(drive.now()).unwrap();
    let read = try_run(&mut drive, "[r]\nrw=read\nbs=64k\niodepth=8\n", 1, None).unwrap();
    assert_eq!(read.all.uncorrectable(), 0);
    assert_eq!(drive.audit(), Ok(()));
}

/// A drive that is too worn to hold its capacity cannot be made.
#[test]
fn a_drive_without_enough_good_blocks_says_what_to_change() {
    let set = short_lived(&["chip.failures.grown_bad=50 %"]);
    let error = made(&set, 3_000).unwrap_err().to_string();
    assert!(
        error.contains("--pe-cycles") && error.contains("chip.failures"),
        "{error}"
    );
}

/// The shipped drive: its spare superblocks are enough to the end of the rated endurance.
#[test]
fn formula_the_shipped_drive_holds_its_capacity_to_its_endurance() {
    for pe_cycles in [0, 3_000] {
        let state = DriveState {
            pe_cycles: (pe_cycles, pe_cycles),
            ..DriveState::default()
        };
        let drive = drive(
            profile("dc-qlc-15t", &["schemes.read_levels=factory"]),
            &state,
            1,
        );
        println!("{pe_cycles}: {:?}", drive.counters().retired);
        assert!(drive.counters().retired < 60);
    }
}

/// Blocks that wear out cost less than the spare of a shipped drive until the rated wear, whichever its chips.
#[test]
fn model_every_shipped_drive_lasts_to_its_rating() {
    for name in Library::new().names(Kind::Drive) {
        let p = profile(name, &["schemes.read_levels=factory"]);
        let rated = p.chip.mode(p.mode).unwrap().endurance_pe_cycles;
        let tables = voltages(&p);
        let state = aged(0, rated);
        for seed in 1..=4 {
            let made = Drive::new(p.clone(), tables.clone(), &state, seed);
            assert!(
                made.is_ok(),
                "{name}, seed {seed}, {rated} P/E: {}",
                made.unwrap_err()
            );
        }
    }
}
