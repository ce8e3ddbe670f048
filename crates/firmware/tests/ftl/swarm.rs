use firstread_faulty_flash::PowerCutCounts;
use proptest::strategy::{BoxedStrategy, Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::build::Build;
use super::{areas, cell_modes, model, refresh};

/// Power cuts by each kind of drive.
const CUTS: u64 = 25_000;

/// Drives of every axis go through a hundred thousand power cuts, nested ones among them. At a third of those the firmware is
/// stopped and its memory survives, mostly in the middle of a step; what was kept is what a dump has.
#[test]
#[ignore = "a hundred thousand power cuts: minutes"]
fn powerloss_a_hundred_thousand_cuts() {
    let kinds: [(&str, BoxedStrategy<Build>); 4] = [
        ("any scheme", model::build().boxed()),
        ("cell modes", cell_modes::any_drive().boxed()),
        ("refresh", refresh::any_drive().boxed()),
        ("areas", areas::any_drive().boxed()),
    ];
    for (i, (name, drives)) in (0u8..).zip(kinds) {
        let seed = [i; 32];
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(Config::default(), random);
        let mut met = PowerCutCounts::default();
        let mut runs = 0;
        while met.cuts < CUTS {
            let build = drives.new_tree(&mut runner).expect("a drive").current();
            let cuts = 1 + runs % 20;
            let summary = build.trial(3_000, cuts).run();
            let summary = summary.unwrap_or_else(|found| {
                panic!("{found}\nrun {runs} of {name}, {cuts} permille: {build:?}")
            });
            let of_run = summary.power_cuts;
            met.cuts += of_run.cuts;
            met.in_recovery += of_run.in_recovery;
            met.stopped += of_run.stopped;
            met.stopped_in_a_step += of_run.stopped_in_a_step;
            runs += 1;
        }
        println!(
            "{name}: {} cuts in {runs} runs, {} of them in a recovery; stopped {}, {} in a step",
            met.cuts, met.in_recovery, met.stopped, met.stopped_in_a_step
        );
        let each = [met.in_recovery, met.stopped, met.stopped_in_a_step];
        assert!(each.iter().all(|n| *n > CUTS / 10), "{name}: {met:?}");
    }
}
