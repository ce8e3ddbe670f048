//! Which levels soft senses are centred on and when they come, against a plain list of the steps that have failed.

use alloc::vec::Vec;

use firstread_core::{Levels, SenseMode, SenseTiming, Stream};

use crate::ftl::tests::drive_with;
use crate::observe::Outcome;
use crate::policy::retry::ShortSense;

/// Hard steps in a row without improvement after which soft senses come: the default.
const AFTER: usize = 3;

/// A hard step that has failed.
#[derive(Clone, Copy, Debug)]
struct Failed {
    codewords: u32,
    unsatisfied: u16,
    levels: Levels,
    is_short: bool,
}

/// The levels are those of the first step of those with the fewest failed codewords and the fewest unsatisfied checks. Soft
/// senses come after so many steps that came no nearer, those with a short sense not counted, and once for each nearest step.
#[test]
fn model_soft_senses_are_centred_on_the_nearest_levels_that_have_failed() {
    let (mut due, mut early) = (0, 0);
    for seed in 0..200 {
        let s = Stream::new(seed).named("soft");
        let mut drive = drive_with(16, 500, 0, ("read_recovery", "soft"));
        let store = &mut drive.lower.store;
        let (read, jobs) = (&store.read, &mut store.shared.jobs);
        let job = jobs.take().expect("a free job");
        let mut steps: Vec<Failed> = Vec::new();
        // The step whose levels were sensed softly in vain.
        let mut tried = None;
        for step in 0..24 {
            let draw = s.at(step);
            let failed = Failed {
                codewords: 1 + draw.at(0).below(3) as u32,
                unsatisfied: draw.at(1).below(40) as u16,
                levels: Levels::Offsets([step as i8; 15]),
                is_short: draw.at(2).below(3) == 0,
            };
            steps.push(failed);
            let state = &mut jobs[job];
            (state.step, state.levels, state.sense) = (step as u8, failed.levels, SenseMode::Hard);
            state.short_sense = ShortSense::NONE;
            if failed.is_short {
                let timing = &mut state.short_sense.timing;
                *timing = SenseTiming {
                    pre_permille: 700,
                    ..SenseTiming::DEFAULT
                };
            }
            let outcome = Outcome {
                wanted: 0b1111,
                failed: 0b1111 >> (4 - failed.codewords),
                max_errors: 0,
                sum_errors: 0,
                unsatisfied: failed.unsatisfied,
                spare: Default::default(),
            };
            read.remember(job, &outcome, jobs);
            let distance = |i: &usize| (steps[*i].codewords, steps[*i].unsatisfied);
            let nearest = (0..steps.len()).min_by_key(distance).expect("a step");
            let since = steps[nearest + 1..].iter().filter(|step| !step.is_short);
            let is_due = since.count() >= AFTER && tried != Some(nearest);
            let case = (seed, &steps);
            let levels = jobs.retry_state(job).nearest.levels;
            assert_eq!(levels, steps[nearest].levels, "{case:?}");
            assert_eq!(read.softens(job, jobs), is_due, "{case:?}");
            *(if is_due { &mut due } else { &mut early }) += 1;
            if is_due {
                // Three senses are not enough, five neither: then hard steps go on.
                jobs[job].sense = SenseMode::Soft3;
                read.remember(job, &outcome, jobs);
                assert!(read.softens(job, jobs), "{case:?}");
                assert_eq!(jobs.retry_state(job).nearest.levels, levels, "{case:?}");
                tried = Some(nearest);
            }
        }
    }
    assert!(due > 100 && early > 1_000, "{due} {early}");
}
