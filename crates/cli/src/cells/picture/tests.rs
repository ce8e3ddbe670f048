//! Figures of a chip whose states, levels and failing pages were set by hand.

use firstread_core::{CellMode, Ns};
use firstread_drive::profile::{Library, load_chip};
use firstread_ecc::Code;

use super::super::characterization::{Conditions, Entry, Share, Valley};
use super::*;

/// Eight states at two ages: the erased one apart at -3,000 mV, the others 1,000 mV from one another and 100 mV wide. The
/// levels lie 500 mV above their lower state, with age 40 mV lower. No page of three fails but by the table's first entry
/// when aged.
fn by_hand() -> Characterization {
    let loaded = load_chip(&Library::new(), "ct-tlc-48l", &[]).unwrap();
    let conditions = Conditions {
        mode: CellMode::Tlc,
        ages: vec![Ns::ZERO, Ns::from_h(28)],
        temperature_c: 55.0,
        pe_cycles: 300,
        reads: 0.0,
        code: Code::named("ldpc-1k").unwrap(),
        pages: 1,
        seed: 1,
    };
    let mut c = Characterization::new(&loaded, conditions).unwrap();
    c.variation.tail_fraction = 0.0;
    c.dac_step_mv = 10.0;
    c.tables.factory_len = 4;
    for (entry, step) in c.tables.factory.iter_mut().zip([0, -3, 2, -6]) {
        entry[6] = step;
    }
    c.factory_mv = (0..7).map(|k| 500.0 + 1_000.0 * f64::from(k)).collect();
    for (i, aged) in c.ages.iter_mut().enumerate() {
        let lower = 40.0 * i as f64;
        let state = |k: u32| StateDistribution {
            mean_mv: if k == 0 {
                -3_000.0
            } else {
                1_000.0 * f64::from(k) - lower
            },
            sigma_mv: 100.0,
        };
        aged.states = (0..8).map(state).collect();
        let valley = |k: u32| Valley {
            optimum_mv: 500.0 + 1_000.0 * f64::from(k) - lower,
            misread_factory: 1e-6,
            misread_optimum: 1e-7,
        };
        aged.valleys = (0..7).map(valley).collect();
        let entry = |n| Entry {
            failing: vec![Share { n, of: 3 }],
        };
        aged.entries = [if i == 0 { 0 } else { 2 }, 0, 0, 3].map(entry).into();
        aged.walk.none = Share { n: 0, of: 3 };
    }
    c
}

/// A series in a line: its name, its mark with what is not data, how many points it has, the first, the last and the
/// highest.
fn line(series: &Series) -> String {
    let points = |points: Vec<[f64; 2]>| {
        let peak = points
            .iter()
            .map(|p| p[1])
            .fold(f64::NEG_INFINITY, f64::max);
        let at = |p: Option<&[f64; 2]>| p.map_or("-".into(), |[x, y]| format!("{x:.1} {y:.3e}"));
        let (first, last) = (at(points.first()), at(points.last()));
        format!("{} of {first} … {last}, at most {peak:.3e}", points.len())
    };
    let Colour(r, g, b) = series.colour;
    let mark = match &series.mark {
        Mark::Line {
            points: all,
            width_px,
            dash,
        } => {
            format!("line {width_px:.1} {dash:?}, {}", points(all.clone()))
        }
        Mark::Markers {
            points: all,
            marker,
            size_px,
        } => {
            format!("{marker:?} {size_px:.1}, {}", points(all.clone()))
        }
        Mark::Band {
            points: all,
            opacity,
        } => {
            let [low, high] = [1, 2].map(|i| points(all.iter().map(|p| [p[0], p[i]]).collect()));
            format!("band {opacity}, from {low}, to {high}")
        }
        Mark::Verticals {
            at,
            from,
            to,
            width_px,
            dash,
        } => {
            format!("verticals {width_px:.1} {dash:?} {from:.4} to {to:.4} at {at:.1?}")
        }
        Mark::Text {
            at: [x, y],
            text,
            anchor,
        } => format!("text {text} {anchor:?} at {x:.1} {y:.3e}"),
        other => format!("{other:?}"),
    };
    format!("{r:02x}{g:02x}{b:02x} `{}` {mark}", series.name)
}

fn told(figure: &Figure) -> String {
    let mut text = format!("{} {:?}\n", figure.title, figure.size_px);
    for panel in figure.rows.iter().flat_map(|row| &row.panels) {
        text += &format!("\n{}\n", panel.title);
        for (name, axis) in [("x", &panel.x), ("y", &panel.y)] {
            let range = axis
                .range
                .map(|(low, high)| format!("{low:.1} to {high:.4e}"));
            text += &format!(
                "{name}: {}, {:?}, {}, {:?}, {:?}\n",
                axis.label,
                axis.scale,
                range.unwrap_or_default(),
                axis.gap,
                axis.ticks
            );
        }
        for series in &panel.series {
            text += &format!("  {}\n", line(series));
        }
    }
    text
}

/// The peak of a state of an eighth of all cells, 100 mV wide, is 100 / 8 / (100 √2π) = 0.04987 % per mV.
#[test]
fn golden_a_figure_of_states_by_hand() {
    insta::assert_snapshot!("states", told(&figure(&by_hand(), &[])));
    let one = figure(&by_hand(), &[1]);
    let titles: Vec<&str> = one.rows[1]
        .panels
        .iter()
        .map(|p| p.title.as_str())
        .collect();
    assert_eq!(titles.len(), 2);
    assert!(titles[0].starts_with("(b) Valley 1 ("), "{titles:?}");
}

/// What lies between the erased state and the first level is left out where it is worth it: six of a hundred of the axis.
#[test]
fn formula_the_gap_ends_before_the_first_level() {
    let mut c = by_hand();
    // Four deviations above the erased state; 60 mV below what comes first: the aged first state less six deviations.
    let expected = Gap {
        from: -2_600.0,
        to: 300.0,
        before: ERASED,
    };
    assert_eq!(gap(&c, 8, 10_000.0), Some(expected));
    assert_eq!(gap(&c, 4, 10_000.0), None);
    assert_eq!(gap(&c, 8, 2_900.0 / 0.06 + 1.0), None);
    assert!(gap(&c, 8, 2_900.0 / 0.06 - 1.0).is_some());
    c.factory_mv[0] = 200.0;
    assert_eq!(gap(&c, 8, 10_000.0).unwrap().to, 140.0);
    c.ages[0].states[0].mean_mv = -2_000.0;
    assert_eq!(gap(&c, 8, 10_000.0).unwrap().from, -1_600.0);
}
