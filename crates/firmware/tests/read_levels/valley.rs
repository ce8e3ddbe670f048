//! Algorithm 1 on the valley between two Gaussian states, 250 mV apart with sigma 45 mV.

use firstread_firmware::voltage::valley::{
    Direction, End, Epsilon, Rules, Search, WindowScale, window,
};

use crate::chip::{DAC_MV, below};

/// Cells of a wordline, and the share of them in one of sixteen states.
const WORDLINE: f64 = 131_072.0;

/// Cells that conduct at `offset` when the valley lies at `valley_mv`, on `pages` pooled wordlines.
fn conducting(offset: i8, valley_mv: f64, pages: f64) -> u64 {
    let v = offset as f64 * DAC_MV - valley_mv;
    let states = (-4..=4).map(|i| 125.0 + 250.0 * i as f64);
    (states.map(|mean| below((v - mean) / 45.0)).sum::<f64>() * pages * WORDLINE / 16.0) as u64
}

const SCALED: Epsilon = Epsilon::Scaled {
    permille: 50,
    sigma: 2,
};

fn rules(direction: Direction, epsilon: Epsilon) -> Rules {
    Rules {
        direction,
        epsilon,
        limit: 16,
        recount: false,
    }
}

/// Runs a search from offset 0; also returns the levels it sensed.
fn search(rules: Rules, delta: u8, valley_mv: f64, pages: f64) -> (Search, Vec<i8>) {
    let mut search = Search::new(rules, 0, delta);
    let mut sensed = Vec::new();
    while let Some(level) = search.level() {
        sensed.push(level);
        search.count(conducting(level, valley_mv, pages));
        assert!(sensed.len() <= 3 * rules.limit as usize, "it does not end");
    }
    (search, sensed)
}

fn error_mv(search: &Search, valley_mv: f64) -> f64 {
    search.center() as f64 * DAC_MV - valley_mv
}

/// From anywhere within 118 mV, on either side: within 8 mV, about a unit and a half. (The peaks lie at
/// 125 mV, where a window looks as symmetric as in the valley.)
#[test]
fn corrected_search_ends_in_the_valley() {
    for delta in [8, 12, 16] {
        for valley_mv in (-118..=118).map(|mv| mv as f64) {
            let (found, _) = search(rules(Direction::Corrected, SCALED), delta, valley_mv, 32.0);
            let error = error_mv(&found, valley_mv);
            assert!(
                error.abs() <= 8.0,
                "window {delta}, valley {valley_mv} mV: off by {error} mV, {:?}",
                found.end()
            );
        }
    }
}

/// The half with more cells is the one toward the peak of a state. Following it ends near a peak,
/// 125 mV from the valley, where both halves are equal too.
#[test]
fn search_as_printed_climbs_the_peak() {
    for valley_mv in [-84.0, -68.0, -30.0] {
        let (found, sensed) = search(rules(Direction::AsPrinted, SCALED), 8, valley_mv, 32.0);
        let error = error_mv(&found, valley_mv);
        assert!(error > 100.0, "valley {valley_mv} mV: off by {error} mV");
        // Why: the first window has more cells right of its center, since the valley lies left.
        let [low, center, high] =
            [sensed[0], sensed[1], sensed[2]].map(|level| conducting(level, valley_mv, 32.0));
        assert!(high - center > center - low);
        assert!(sensed[3] > 0, "and so it moves right");
    }
}

/// A valley that the first move oversteps: the window is halved and the center stays.
#[test]
fn reversal_halves_the_window() {
    let (found, sensed) = search(rules(Direction::Corrected, SCALED), 16, -45.0, 32.0);
    // Window -16..16; left to -32..0; a reversal there senses ±8 around -16.
    assert_eq!(&sensed[..3], [-16, 0, 16]);
    assert_eq!(sensed[3], -32);
    assert_eq!(&sensed[4..6], [-24, -8]);
    assert!(found.delta() < 16);
}

/// After a move two levels are known, after a shrink one is: they are not sensed again.
#[test]
fn known_counts_are_not_taken_again() {
    let (found, sensed) = search(rules(Direction::Corrected, SCALED), 8, -80.0, 32.0);
    let mut distinct = sensed.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(sensed.len() < 3 * found.iterations() as usize);
    assert!(sensed.len() <= distinct.len() + 2, "{sensed:?}");
}

/// Pooling pages narrows what a scaled ε lets pass: from one wordline to 32 the worst distance falls.
/// The fixed 150 cells of one wordline are more than a valley's floor holds, so it stops anywhere on it.
#[test]
fn epsilon_scales_with_pooled_pages() {
    let worst = |epsilon, pages| {
        let rules = rules(Direction::Corrected, epsilon);
        let errors =
            (-80..=80).map(|mv| error_mv(&search(rules, 8, mv as f64, pages).0, mv as f64));
        errors.fold(0.0, |worst: f64, e| worst.max(e.abs()))
    };
    let (one, pooled) = (worst(SCALED, 1.0), worst(SCALED, 32.0));
    let (fixed_one, fixed_pooled) = (
        worst(Epsilon::Cells(150), 1.0),
        worst(Epsilon::Cells(150), 32.0),
    );
    println!("scaled {one} {pooled}, fixed {fixed_one} {fixed_pooled} mV");
    assert!(pooled < one && pooled <= 8.0);
    assert!(fixed_one >= 15.0);
    assert!(fixed_pooled <= 8.0);

    assert_eq!(SCALED.cells(5000, 5000), 500);
    assert_eq!(SCALED.cells(50, 50), 20, "two standard deviations of 100");
    assert_eq!(SCALED.cells(0, 0), 0);
    assert!(SCALED.cells(u64::MAX, u64::MAX) > 0);
}

#[test]
fn limit_bounds_iterations_and_counts() {
    for limit in [1, 2, 5] {
        let rules = Rules {
            limit,
            ..rules(Direction::Corrected, Epsilon::Cells(0))
        };
        let (found, sensed) = search(rules, 2, -300.0, 32.0);
        assert_eq!(found.end(), Some(End::Limit));
        assert_eq!(found.iterations(), limit);
        assert!(sensed.len() <= 2 + limit as usize * 2, "{sensed:?}");
    }
}

/// Counting all three levels in each iteration, as listed, ends at the same level after as many iterations, and
/// takes three counts for each.
#[test]
fn recounting_takes_three_counts_an_iteration() {
    for delta in [8, 16] {
        for valley_mv in [-90.0, -33.0, 0.0, 52.0, 110.0] {
            let once = rules(Direction::Corrected, SCALED);
            let listed = Rules {
                recount: true,
                ..once
            };
            let (known, few) = search(once, delta, valley_mv, 32.0);
            let (found, sensed) = search(listed, delta, valley_mv, 32.0);
            assert_eq!(found.center(), known.center(), "valley {valley_mv} mV");
            assert_eq!(found.iterations(), known.iterations());
            assert_eq!(sensed.len(), 3 * found.iterations() as usize);
            assert!(found.iterations() == 1 || few.len() < sensed.len());
        }
    }
}

/// The range of an offset ends the search, whichever way it goes.
#[test]
fn search_stays_in_the_range_of_an_offset() {
    for base in [i8::MIN, -127, -100, 0, 100, 126, i8::MAX] {
        for slope in [0u64, 1, 1000] {
            for direction in [Direction::Corrected, Direction::AsPrinted] {
                let rules = Rules {
                    limit: 100,
                    ..rules(direction, Epsilon::Cells(0))
                };
                let mut search = Search::new(rules, base, 24);
                let mut n = 0;
                while let Some(level) = search.level() {
                    // Counts that grow faster to the right drive it to one end.
                    let x = (level as i64 + 200) as u64;
                    search.count(x * x * slope);
                    n += 1;
                    assert!(n < 1000);
                }
                assert!(search.end().is_some());
            }
        }
    }
}

/// 8 units for an entry that hardly fails, 16 for one that always does; as printed a share of 8, and one at least.
#[test]
fn window_scales_with_the_fail_ratio() {
    let of = |base, scale| [0, 125, 500, 1000, u16::MAX].map(|f| window(base, f, scale));
    let (widened, printed) = (WindowScale::OnePlusRatio, WindowScale::AsPrinted);
    assert_eq!(of(8, widened), [8, 9, 12, 16, 16]);
    assert_eq!(of(24, widened), [24, 27, 36, 48, 48]);
    assert_eq!(of(8, printed), [1, 1, 4, 8, 8]);
}
