//! Whether what runs show agrees with what can be computed without running them.

use firstread_core::{CellMode, FlashEvent, FlashKind, FlashOp, HostOp, Levels, Ns, OpClass};
use firstread_drive::port_log::PortCallKind;
use firstread_drive::{Drive, DriveState, RunStats};
use firstread_firmware::log::What;
use firstread_nand::ReadLevels;
use firstread_testkit::{FOUR_DIES, aged, drive, play, profile, run, try_run};

fn small(own: &[&str], state: &DriveState) -> Drive {
    let set: Vec<&str> = FOUR_DIES.iter().chain(own).copied().collect();
    drive(profile("dc-qlc-15t", &set), state, 1)
}

/// Probability of more than 72 errors among 9,216 bits of error rate `p`.
fn codeword_fails(p: f64) -> f64 {
    let (n, limit) = (9216.0, 72);
    let mut term = libm::exp(n * libm::log1p(-p));
    let mut at_most = term;
    for k in 1..=limit {
        term *= (n - k as f64 + 1.0) / k as f64 * p / (1.0 - p);
        at_most += term;
    }
    1.0 - at_most
}

/// First reads of pages: how many failed, how many should have, and the variance of that.
#[derive(Default)]
struct Failures {
    pages: u64,
    measured: f64,
    expected: f64,
    variance: f64,
    codewords: f64,
    expected_codewords: f64,
}

/// Compares every first read with the raw bit error rate of its page at the levels it used.
fn first_reads(age_h: u64, pe_cycles: u32, scheme: &str) -> Failures {
    let state = DriveState {
        // One superblock, so that all data are of one age.
        fill: 0.05,
        ..aged(age_h, pe_cycles)
    };
    let scheme = format!("schemes.read_levels={scheme}");
    let mut drive = small(&[&scheme], &state);
    drive.log_ports();
    let job = "[j]\nrw=randread\nbs=16k\nsize=1g\niodepth=4\nnorandommap\nnumber_ios=4000\n";
    try_run(&mut drive, job, 1, None).unwrap();

    let medium = drive.medium();
    let profile = drive.profile();
    let superblock = profile.geometry.slots_per_superblock(CellMode::Qlc) as u128
        * profile.geometry.slot_bytes as u128;
    let fill = Ns((superblock * 1_000_000_000 / profile.fill_rate().bytes_per_s() as u128) as u64);
    let block = medium.programmed(CellMode::Qlc, pe_cycles, 1, fill);
    let mut issued: Vec<Option<FlashOp>> = vec![None; 1 << 14];
    let mut out = Failures::default();
    for crossing in drive.port_calls() {
        match crossing.what {
            PortCallKind::Issued(op) if op.class == OpClass::HostRead => {
                issued[op.tag.0 as usize] = Some(op);
            }
            PortCallKind::Event(FlashEvent::Decoded { tag, failed, .. }) => {
                let Some(op) = issued[tag.0 as usize].take() else {
                    continue;
                };
                let FlashKind::Read {
                    block: b,
                    wordline,
                    page,
                    wanted,
                    levels: Levels::Offsets(levels),
                    ..
                } = op.kind
                else {
                    unreachable!("the scheme reads at offsets")
                };
                assert_eq!(b.0, 0, "the one superblock");
                let at = firstread_core::PageAddr {
                    die: op.die,
                    block: b,
                    wordline,
                    page,
                };
                let plane = (wanted.trailing_zeros() / 16) as u8;
                assert_eq!(wanted, 0xffff << (16 * plane as u32), "one page");
                let levels = ReadLevels::Offsets(levels);
                let rber = medium
                    .page_rber(at, plane, &block, crossing.at, &levels)
                    .unwrap();
                let one = codeword_fails(rber);
                let any = 1.0 - libm::pow(1.0 - one, 16.0);
                out.pages += 1;
                out.measured += (failed != 0) as u64 as f64;
                out.expected += any;
                out.variance += any * (1.0 - any);
                out.codewords += failed.count_ones() as f64;
                out.expected_codewords += 16.0 * one;
            }
            _ => {}
        }
    }
    out
}

#[test]
fn formula_first_reads_fail_as_their_error_rate_says() {
    for (age_h, pe, scheme) in [
        (1, 300, "factory"),
        (2, 300, "factory"),
        (3, 300, "frozen"),
        (5, 300, "factory"),
        (1, 2500, "factory"),
    ] {
        let f = first_reads(age_h, pe, scheme);
        let what = format!("{scheme} at {age_h} h, {pe} P/E");
        assert_eq!(f.pages, 4000, "{what}");
        println!(
            "{what}: {} of {}, expected {:.1}; codewords {}, expected {:.1}",
            f.measured, f.pages, f.expected, f.codewords, f.expected_codewords
        );
        // Errors are drawn as Poisson counts, a little wider than the binomial of so few bits in
        // error: 2 % of room for it.
        let room = 4.0 * f.variance.sqrt() + 0.02 * f.expected;
        assert!(
            (f.measured - f.expected).abs() < room,
            "{what}: {} pages failed, {:.1} expected",
            f.measured,
            f.expected
        );
        let room = 4.0 * (16.0 * f.variance).sqrt() + 0.03 * f.expected_codewords;
        assert!(
            (f.codewords - f.expected_codewords).abs() < room,
            "{what}: {} codewords failed, {:.1} expected",
            f.codewords,
            f.expected_codewords
        );
    }
}

#[test]
fn formula_groups_are_entered_at_the_edges_of_their_bins() {
    // One superblock: it enters a group exactly when its data are as old as the bin's lower edge.
    let state = DriveState {
        fill: 0.05,
        ..aged(200, 1200)
    };
    let drive = small(&["schemes.read_levels=ct-qlc"], &state);
    let filled = drive.now() - Ns::from_h(200);
    let entered: Vec<(u8, Ns)> = drive
        .log()
        .iter()
        .filter_map(|r| match r.what {
            What::Inherited { group, .. } => Some((group, r.at - filled)),
            _ => None,
        })
        .collect();
    // P/E bin 1 of 11 retention bins; bin 0 is populated at start-up.
    let edges_h = [2, 5, 10, 24, 48, 72, 96, 120, 144, 168];
    let expected: Vec<(u8, Ns)> = edges_h
        .iter()
        .zip(12u8..)
        .map(|(&h, group)| (group, Ns::from_h(h)))
        .collect();
    assert_eq!(entered, expected);
}

fn failed_first_tries(stats: &RunStats) -> f64 {
    let rows: u64 = stats.counters.retries.iter().sum::<u64>() + stats.counters.uncorrectable;
    1.0 - stats.counters.retries[0] as f64 / rows as f64
}

#[test]
fn formula_who_knows_more_fails_less() {
    // The best levels of each page; the best that a group can share; levels that follow the drift;
    // levels that stay as they were chosen.
    let job = "[j]\nrw=randread\nbs=16k\niodepth=4\nnorandommap\n";
    for pe in [300, 2500] {
        let schemes = ["optimal", "optimal-group", "ct-qlc", "frozen"];
        let rates = schemes.map(|scheme| {
            let set = format!("schemes.read_levels={scheme}");
            let set: Vec<&str> = FOUR_DIES.iter().copied().chain([set.as_str()]).collect();
            failed_first_tries(&run(
                profile("dc-qlc-15t", &set),
                &aged(28, pe),
                job,
                40_000,
            ))
        });
        println!("{pe} P/E: {schemes:?} {rates:.4?}");
        assert!(rates.is_sorted(), "{pe} P/E: {schemes:?} fail {rates:.4?}");
        assert!(
            rates[3] > 0.5,
            "{pe} P/E: frozen levels fail {:.3}",
            rates[3]
        );
    }
}

#[test]
fn formula_percentile_intervals_hold_the_percentile() {
    // Reads of many lengths one at a time are independent samples; 95 % intervals of 40 of them
    // hold what all of them together show.
    let state = aged(10, 300);
    let mut drive = small(&["schemes.read_levels=factory"], &state);
    let mut runs = Vec::new();
    for seed in 0..40 {
        let job = "[j]\nrw=randread\nbsrange=4k-256k\nnorandommap\nnumber_ios=2000\n";
        runs.push(try_run(&mut drive, job, seed, None).unwrap().all.read);
    }
    let mut all = runs[0].clone();
    runs[1..].iter().for_each(|r| all.merge(r));
    for percent in [50.0, 90.0, 97.0] {
        let truth = all.percentile(percent).ns;
        let intervals = runs
            .iter()
            .filter_map(|r| r.percentile(percent).interval_ns);
        let known = intervals.clone().count();
        assert!(
            known >= 36,
            "P{percent}: {known} of 40 runs are long enough"
        );
        let held = intervals
            .clone()
            .filter(|(low, high)| (*low..=*high).contains(&truth));
        let held = held.count();
        // 38 of 40 expected; fewer than 34 is one case in a hundred.
        assert!(
            held + (40 - known) >= 34,
            "P{percent}: {held} of {known} intervals hold {truth} ns"
        );
        let widths = intervals.map(|(low, high)| (high - low) as f64 / truth as f64);
        let mean = widths.sum::<f64>() / known as f64;
        println!("P{percent}: {held} of {known}, mean width {mean:.3}");
        assert!(
            mean < 0.3,
            "P{percent}: intervals are {mean:.2} of the value wide"
        );
    }
}

/// A count of cells is sensed at one level, whatever page it is on, and crosses the channel as a number of
/// eight bytes, not as a page.
#[test]
fn formula_a_count_of_cells_takes_one_sense_and_eight_bytes() {
    let mut drive = small(&["schemes.read_levels=ct-qlc"], &aged(1, 2500));
    drive.log_ports();
    // Between two reads of the host, a day of retention: entries fail, and valleys are searched.
    let read = |hours: u64| (hours * 3_600_000_000, HostOp::Read, 0, 4 << 10);
    play(&mut drive, &[read(0), read(27)]).unwrap();
    let (profile, medium) = (drive.profile(), drive.medium());
    let mut issued = None;
    let mut pages = [0; 4];
    for crossing in drive.port_calls() {
        match crossing.what {
            PortCallKind::Issued(op) => issued = Some((crossing.at, op)),
            PortCallKind::Event(FlashEvent::Ones { tag, .. }) => {
                let (at, op) = issued
                    .filter(|(_, op)| op.tag == tag)
                    .expect("one at a time");
                let FlashKind::Read {
                    page, mode, timing, ..
                } = op.kind
                else {
                    panic!("{op:?} counts no cells")
                };
                let sense = medium.read_ns(CellMode::Qlc, page, mode, timing).unwrap();
                let channel = profile.channel;
                let expected = channel.command_ns + sense + channel.transfer_ns(8);
                assert_eq!((crossing.at - at).0, expected, "{op:?}");
                pages[usize::from(page.0)] += 1;
            }
            _ => {}
        }
    }
    assert!(
        pages.iter().all(|&n| n > 0),
        "counts by page type: {pages:?}"
    );
}
