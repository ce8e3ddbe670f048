//! Why the search of valleys moves the way it does.

use firstread_core::{
    CellMode, DieId, HostOp, LevelOffsets, Ns, OpClass, PageAddr, PageType, SuperblockId,
};
use firstread_drive::port_log::{PortCall, PortCallKind};
use firstread_drive::{CutAt, Drive, DriveState};
use firstread_firmware::log::What;
use firstread_nand::StateDistribution;
use firstread_testkit::{FOUR_DIES, aged, drive, play, play_until, profile, try_run, voltages};

struct Searched {
    drive: Drive,
    /// First entry after each search.
    found: Vec<LevelOffsets>,
    p99_ns: u64,
    retries_mean: f64,
}

/// A drive that adopts whatever its searches find.
fn searched(direction: &str) -> Searched {
    let direction = format!("read_levels.direction={direction}");
    let own = [
        "schemes.read_levels=ct-qlc",
        "read_levels.validate=false",
        &direction,
    ];
    let set: Vec<&str> = FOUR_DIES.iter().copied().chain(own).collect();
    let mut drive = drive(profile("dc-qlc-15t", &set), &aged(28, 2500), 1);
    let job = "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\nnumber_ios=4000\n";
    let stats = try_run(&mut drive, job, 1, None).unwrap();
    let found = drive.log().iter().filter_map(|r| match r.what {
        What::Tracked { levels, .. } => Some(levels),
        _ => None,
    });
    let found = found.collect();
    let rows: u64 = stats.counters.retries.iter().sum();
    let steps: u64 = stats
        .counters
        .retries
        .iter()
        .zip(0u64..)
        .map(|(n, k)| n * k)
        .sum();
    Searched {
        found,
        p99_ns: stats.all.read.percentile(99.0).ns,
        retries_mean: steps as f64 / rows as f64,
        drive,
    }
}

/// Cells near `level_mv` (per mV and cell of the two states), and near the best level between them.
fn density(states: &[StateDistribution; 16], valley: usize, level_mv: f64) -> f64 {
    let of = |s: StateDistribution| {
        let z = (level_mv - s.mean_mv) / s.sigma_mv;
        libm::exp(-0.5 * z * z) / s.sigma_mv
    };
    of(states[valley - 1]) + of(states[valley])
}

impl Searched {
    /// Mean density of cells at the sentinel levels in use, as a multiple of that at the best level
    /// of each page.
    fn crowding(&self) -> f64 {
        let profile = self.drive.profile();
        let tables = voltages(profile);
        let medium = self.drive.medium();
        let model = medium.model(CellMode::Qlc).unwrap();
        let levels = medium.levels_mv(model, self.found.last().expect("a search ended"));
        let now = self.drive.now();
        // Filled 28 h ago, at the start of the clock give or take a minute.
        let block = medium.programmed(CellMode::Qlc, 2500, 1, firstread_core::Ns::ZERO);
        let (mut sum, mut n) = (0.0, 0);
        for wordline in (0..1408).step_by(41) {
            for page in 0..4u8 {
                let at = PageAddr {
                    die: DieId(wordline % 4),
                    block: SuperblockId(3),
                    wordline,
                    page: PageType(page),
                };
                let states = medium.states(at, 0, &block, now).unwrap();
                let best = medium.ideal_levels_mv(at, 0, &block, now).unwrap();
                let valley = tables.own.sentinel[page as usize] as usize;
                sum += density(&states, valley, levels[valley - 1])
                    / density(&states, valley, best[valley - 1]);
                n += 1;
            }
        }
        sum / n as f64
    }
}

/// The search counts the cells on either side of a level and moves. As the listing is printed it
/// moves toward the side with *more* cells, which is up the slope of a state: away from the valley,
/// where the fewest cells lie, and toward the peak, where every cell beyond the level is an error.
/// The corrected search moves toward fewer.
#[test]
fn search_as_printed_climbs_the_peak_of_a_state() {
    let (corrected, printed) = (searched("corrected"), searched("as-printed"));
    assert!(
        !corrected.found.is_empty() && !printed.found.is_empty(),
        "both searched"
    );
    let (down, up) = (corrected.crowding(), printed.crowding());
    assert!(
        down < 1.6,
        "corrected: {down:.2} times the cells of the valley's floor"
    );
    assert!(
        up > 2.5 * down,
        "as printed: {up:.2} times the floor, corrected {down:.2}"
    );
    assert!(
        printed.retries_mean > 2.0 * corrected.retries_mean,
        "retries: {:.2} as printed, {:.2} corrected",
        printed.retries_mean,
        corrected.retries_mean
    );
    assert!(
        printed.p99_ns > corrected.p99_ns * 3 / 2,
        "P99: {} ns as printed, {} ns corrected",
        printed.p99_ns,
        corrected.p99_ns
    );
}

/// The background read that a power cut ends is read again: calibration goes on, and does not wait for
/// it for ever.
#[test]
fn powerloss_calibration_goes_on_after_a_cut_in_it() {
    let levels = ["schemes.read_levels=ct-qlc"];
    let set: Vec<&str> = FOUR_DIES.iter().copied().chain(levels).collect();
    let made = || drive(profile("dc-qlc-15t", &set), &aged(28, 2500), 1);
    // Two days of a read an hour: more than one pass over all groups.
    let hours: Vec<_> = (1..48)
        .map(|h| (h * 3_600_000_000, HostOp::Read, 0, 4096))
        .collect();
    let mut uncut = made();
    let start = uncut.now();
    uncut.log_ports();
    play(&mut uncut, &hours).unwrap();
    let of_background = |c: &&PortCall| match c.what {
        PortCallKind::Issued(op) => op.class == OpClass::Calibration,
        _ => false,
    };
    let all: Vec<Ns> = uncut
        .port_calls()
        .iter()
        .filter(of_background)
        .map(|c| c.at)
        .collect();
    // The first of all, one in the middle of a pass.
    for at in [all[0], all[all.len() / 2]] {
        let mut drive = made();
        // A sense takes some ten microseconds at least.
        let cut = CutAt::Time(at.since(start) + Ns(5_000));
        let cut = play_until(&mut drive, &hours, cut).unwrap().power_cut;
        let cut = cut.unwrap();
        assert!(cut.work.probing, "{cut:?}");
        play(&mut drive, &hours).unwrap();
        let passed = |what: &What| matches!(what, What::Passed { .. } | What::Verified { .. });
        let since = drive
            .log()
            .iter()
            .filter(|r| r.at > cut.at && passed(&r.what));
        assert!(since.count() > 1, "no pass after a cut at {at:?}");
    }
}

/// After 30 days without power the levels are a month behind. Verified at power-on, most reads soon succeed at
/// once; else none is before the next pass, hours later.
#[test]
fn model_power_on_verifies_the_levels() {
    let run = |verified: bool| {
        let verified = format!("read_levels.verify_at_power_on={verified}");
        let state = DriveState {
            unpowered: Ns::from_h(720),
            ..aged(28, 300)
        };
        let own = ["schemes.read_levels=ct-qlc", &verified];
        let set: Vec<&str> = FOUR_DIES.iter().copied().chain(own).collect();
        let mut drive = drive(profile("dc-qlc-15t", &set), &state, 1);
        let job = "[j]\nrw=randread\nbs=4k\niodepth=1\nnorandommap\nnumber_ios=10000\n";
        let stats = try_run(&mut drive, job, 1, None).unwrap();
        let c = &stats.counters;
        println!(
            "{verified}: {} at once, {} background reads",
            c.retries[0], c.background_reads
        );
        (c.retries[0], c.background_reads)
    };
    let (with, without) = (run(true), run(false));
    assert_eq!(without.1, 0);
    assert!(with.1 >= 384, "a group is verified");
    assert!(
        10_000 - with.0 < (10_000 - without.0) / 2,
        "{with:?} {without:?}"
    );
}
