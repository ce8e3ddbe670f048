//! How the best levels of valleys go with those of the sentinels, drawn.

use firstread_core::PageType;
use firstread_nand::characterize::Correlation;
use firstread_session::study::correlation::Measured;

use crate::figure::{
    Anchor, Axis, Colour, Dash, Figure, Mark, Marker, PALETTE, Panel, Row, Series, TWO_COLUMNS_PX,
    Ticks,
};

const HEIGHT_PX: u32 = 1050;

/// Levels of the first drive by page type, and R² of every pair.
pub fn draw(measured: &Measured<'_>) -> Figure {
    let mv = |units: f64| units * measured.dac_mv;
    let scatter = |(page, sentinel): (usize, &u8)| {
        let of_page = measured.drives[0]
            .iter()
            .filter(|c| c.page as usize == page);
        let of_page: Vec<&Correlation> = of_page.collect();
        let all = of_page.iter().flat_map(|c| &c.points);
        let (left, low, high) = all.fold((0.0f64, 0.0f64, 0.0f64), |(left, low, high), p| {
            (left.min(mv(p.0)), low.min(mv(p.1)), high.max(mv(p.1)))
        });
        let mut all = Vec::new();
        for (i, c) in of_page.iter().enumerate() {
            let mut add = |mark| {
                all.push(Series {
                    name: String::new(),
                    colour: PALETTE[i % PALETTE.len()],
                    mark,
                });
            };
            add(Mark::Markers {
                points: c.points.iter().map(|&(x, y)| [mv(x), mv(y)]).collect(),
                marker: [Marker::Circle, Marker::Square, Marker::TriangleDown][i % 3],
                size_px: 8.0,
            });
            // Each panel has its own valleys: they are named in its empty corner.
            add(Mark::Text {
                at: [left, high - 0.09 * (i as f64 + 0.5) * (high - low)],
                text: format!("valley {}", c.valley),
                anchor: Anchor::Start,
            });
        }
        Panel {
            title: format!(
                "{}, sentinel {sentinel}",
                PageType(page as u8).name(measured.mode)
            ),
            weight: 1.0,
            x: Axis::linear("Best sentinel level (mV)"),
            y: Axis::linear(if page == 0 {
                "Best level of others (mV)"
            } else {
                ""
            }),
            series: all,
        }
    };
    let pairs = measured.pairs();
    let named = pairs.iter().enumerate();
    let ticks =
        named.map(|(i, (valley, sentinel, ..))| (i as f64, format!("{valley} by {sentinel}")));
    let series = |colour, mark| Series {
        name: String::new(),
        colour,
        mark,
    };
    let bars = pairs.iter().enumerate().map(|(i, p)| [i as f64, p.3.mean]);
    let mut r_squared = vec![
        series(
            PALETTE[0],
            Mark::Bars {
                points: bars.collect(),
                width: 0.6,
            },
        ),
        series(
            PALETTE[4],
            Mark::Horizontals {
                at: measured.published.into_iter().collect(),
                width_px: 2.0,
                dash: Dash::Dashed,
            },
        ),
    ];
    for (i, (.., r)) in pairs.iter().enumerate() {
        if let Some(half) = r.half {
            let x = i as f64;
            r_squared.push(series(
                Colour::INK,
                Mark::Line {
                    points: vec![[x, r.mean - half], [x, (r.mean + half).min(1.0)]],
                    width_px: 2.0,
                    dash: Dash::Solid,
                },
            ));
        }
    }
    let bars = Panel {
        title: "R^{2} of valley by sentinel; dashed: as published, the least".into(),
        weight: 1.0,
        x: Axis {
            ticks: Ticks::Named(ticks.collect()),
            ..Axis::linear("").between(-0.5, pairs.len() as f64 - 0.5)
        },
        y: Axis::linear("R^{2}").between(0.0, 1.0),
        series: r_squared,
    };
    let row = |panels| Row {
        weight: 1.0,
        panels,
    };
    Figure {
        title: measured.spec.title.clone(),
        size_px: (TWO_COLUMNS_PX, HEIGHT_PX),
        rows: vec![
            row(measured.sentinels.iter().enumerate().map(scatter).collect()),
            row(vec![bars]),
        ],
    }
}
