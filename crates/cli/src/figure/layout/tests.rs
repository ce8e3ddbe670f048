//! Where texts of figures lie.

use super::super::Row;
use super::*;

/// Texts below the axes of `drawing`: left and right end, by the row they stand in.
fn texts_below(drawing: &Drawing) -> std::collections::BTreeMap<i64, Vec<(f64, f64)>> {
    let font = Font::new();
    let mut rows = std::collections::BTreeMap::<i64, Vec<(f64, f64)>>::new();
    for shape in &drawing.shapes {
        if let Shape::Text {
            at,
            text,
            size_px,
            anchor: Anchor::Middle,
            upwards: false,
            ..
        } = shape
        {
            let half = 0.5 * font.width(text, *size_px);
            let row = rows.entry(at[1] as i64).or_default();
            row.push((at[0] - half, at[0] + half));
        }
    }
    rows
}

/// Names along an axis that have no room side by side are written upwards, above the label of the axis.
#[test]
fn model_crowded_names_are_written_upwards() {
    let upwards = |names: usize| {
        let named = (0..names).map(|i| (i as f64, format!("scheme number {i}")));
        let panel = Panel {
            title: String::new(),
            weight: 1.0,
            x: Axis {
                ticks: Ticks::Named(named.collect()),
                ..Axis::linear("Scheme").between(-0.5, names as f64 - 0.5)
            },
            y: Axis::linear(""),
            series: Vec::new(),
        };
        let drawing = draw(&Figure {
            title: String::new(),
            size_px: (800, 400),
            rows: vec![Row {
                weight: 1.0,
                panels: vec![panel],
            }],
        });
        let of = |name: &str| {
            let found = drawing.shapes.iter().find_map(|shape| match shape {
                Shape::Text {
                    at, text, upwards, ..
                } if text.starts_with(name) => Some((at[1], *upwards)),
                _ => None,
            });
            found.unwrap()
        };
        let ((tick, turned), (label, _)) = (of("scheme"), of("Scheme"));
        assert!(tick < label && label < 400.0, "{tick} {label}");
        turned
    };
    assert!(!upwards(3));
    assert!(upwards(12));
}

#[test]
fn model_no_text_of_an_axis_touches_another() {
    let panel = |x: Axis| Panel {
        title: String::new(),
        weight: 1.0,
        x,
        y: Axis {
            ticks: Ticks::Named(Vec::new()),
            ..Axis::linear("")
        },
        series: Vec::new(),
    };
    let linear = |high| panel(Axis::linear("").between(0.0, high));
    let ages = [1.0, 24.0, 72.0, 168.0, 744.0, 2232.0, 4464.0, 8928.0];
    let named = ages.map(|h| (h, format!("{h} h")));
    let log = || {
        panel(Axis {
            ticks: Ticks::Named(named.to_vec()),
            ..Axis::log10("").between(0.8, 10_000.0)
        })
    };
    for panels in [
        vec![linear(100_000.0), linear(250_000.0), linear(1e6)],
        vec![log(), log(), log()],
        vec![log(), linear(1e6)],
    ] {
        let n = panels.len();
        let drawing = draw(&Figure {
            title: String::new(),
            size_px: (1600, 400),
            rows: vec![Row {
                weight: 1.0,
                panels,
            }],
        });
        let rows = texts_below(&drawing);
        assert!(
            rows.values().map(Vec::len).sum::<usize>() > 3 * n,
            "{rows:?}"
        );
        for row in rows.values() {
            let clear = row.windows(2).all(|w| w[0].1 + 5.0 < w[1].0);
            assert!(clear, "{row:?}");
            assert!(
                row.iter().all(|(l, r)| *l >= 0.0 && *r <= 1600.0),
                "{row:?}"
            );
        }
    }
}

/// Long labels and titles are broken into lines: those of neighbouring panels stay apart, and none leaves the figure.
#[test]
fn model_long_labels_are_broken_into_lines() {
    let label =
        "A label of many words that is wider than its panel and higher than its axis (share)";
    let panel = || Panel {
        title: String::new(),
        weight: 1.0,
        x: Axis::linear(label),
        y: Axis::linear(label),
        series: Vec::new(),
    };
    let row = || Row {
        weight: 1.0,
        panels: vec![panel(), panel(), panel()],
    };
    let drawing = draw(&Figure {
        title: [label; 4].join(", "),
        size_px: (1600, 1000),
        rows: vec![row(), row()],
    });
    for ends in texts_below(&drawing).values_mut() {
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(ends.windows(2).all(|two| two[0].1 < two[1].0), "{ends:?}");
    }
    let font = Font::new();
    let mut upwards = std::collections::BTreeMap::<i64, Vec<(f64, f64)>>::new();
    for shape in &drawing.shapes {
        let Shape::Text {
            at: [x, y],
            text,
            size_px,
            anchor,
            upwards: is_upwards,
            ..
        } = shape
        else {
            continue;
        };
        let long = font.width(text, *size_px);
        if *is_upwards {
            let ends = upwards.entry(*x as i64).or_default();
            ends.push((y - 0.5 * long, y + 0.5 * long));
        } else if *anchor == Anchor::Start {
            assert!(x + long <= 1600.0, "{text}");
        }
    }
    assert!(upwards.len() >= 6, "{upwards:?}");
    for ends in upwards.values_mut() {
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(ends.windows(2).all(|two| two[0].1 < two[1].0), "{ends:?}");
    }
}
