use firstread_faulty_flash::PowerCutCounts;
use proptest::strategy::{BoxedStrategy, Strategy as _, Union, ValueTree as _};
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
        goes_through_cuts(name, [i; 32], &drives);
    }
}

/// The same of drives that place by heat, with cursors of their own for the page types of each wordline.
#[test]
#[ignore = "25,000 power cuts: a minute"]
fn powerloss_twenty_five_thousand_cuts_of_drives_that_place_by_heat() {
    let by_heat = |build: Build| Build {
        page_type: 1 + build.seed as usize % 2,
        ..build
    };
    let kinds: [BoxedStrategy<Build>; 4] = [
        model::build().prop_map(by_heat).boxed(),
        cell_modes::any_drive().prop_map(by_heat).boxed(),
        refresh::any_drive().prop_map(by_heat).boxed(),
        areas::any_drive().prop_map(by_heat).boxed(),
    ];
    goes_through_cuts("page types", [4; 32], &Union::new(kinds).boxed());
}

/// Drives of `drives`, drawn from `seed`, go through [`CUTS`].
fn goes_through_cuts(name: &str, seed: [u8; 32], drives: &BoxedStrategy<Build>) {
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
