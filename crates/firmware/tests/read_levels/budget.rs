//! The budget of schemes that read at a steady pace.

use firstread_core::Ns;
use firstread_firmware::log::What;

use crate::chip::{h, monitor};
use crate::drive::Drive;

const AT_55C: f64 = 50.1;
/// The budget of each of them, in five hours.
const BUDGET: [(&str, i64); 1] = [("background_reads", 2_000)];
const PACED: [&str; 2] = ["similar-page", "block-calibration"];

/// It is spent evenly and never exceeded, and the log tells of all of it.
#[test]
fn formula_background_reads_are_the_budget() {
    for name in PACED {
        let mut drive = Drive::start(name, &BUDGET, AT_55C, monitor(&[(300, 0.0); 6]), Ns::ZERO);
        drive.run_to(h(25.001));
        let n = drive.probes.len();
        assert!((9_950..=10_001).contains(&n), "{name}: {n} reads in 25 h");
        let gap = h(5.0).0 / 2_000;
        for pair in drive.probes.windows(2) {
            let passed = pair[1].0.since(pair[0].0).0;
            assert!(passed >= gap - 1_000_000, "{name}: {passed} ns between two");
        }
        let reads = |what: &What| match what {
            What::Passed { reads, .. } => *reads,
            other => panic!("{name}: {other:?}"),
        };
        let logged: u32 = drive.log.iter().map(|r| reads(&r.what)).sum();
        assert!(n as u32 - logged <= 2_000, "{name}: {logged} of {n} logged");
        assert_eq!(drive.log.len(), 5, "{name}: a record an interval");
    }
}

/// Without a budget nothing is read, and an empty drive has nothing to read.
#[test]
fn formula_no_budget_or_no_data_no_reads() {
    for name in PACED {
        let blocks = || monitor(&[(300, 0.0); 6]);
        let none = [("background_reads", 0)];
        let mut drive = Drive::start(name, &none, AT_55C, blocks(), Ns::ZERO);
        drive.run_to(h(100.0));
        assert!(drive.probes.is_empty() && drive.log.is_empty(), "{name}");
        let mut drive = Drive::start(name, &BUDGET, AT_55C, monitor(&[]), Ns::ZERO);
        drive.run_to(h(100.0));
        assert!(drive.probes.is_empty() && drive.log.is_empty(), "{name}");
    }
}

/// Hours without power are not made up for.
#[test]
fn sequence_turns_slept_through_are_lost() {
    for name in PACED {
        let blocks = monitor(&[(300, 0.0); 6]);
        let mut drive = Drive::start(name, &BUDGET, AT_55C, blocks, Ns::ZERO);
        drive.run_to(h(5.0));
        let before = drive.probes.len();
        drive.now = h(50.0);
        drive.run_to(h(55.0));
        let after = drive.probes.len() - before;
        assert!((1_980..=2_001).contains(&after), "{name}: {after} in 5 h");
    }
}
