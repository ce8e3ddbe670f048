//! A figure for a narrow screen: a panel below the other.

use super::layout::{BETWEEN_PX, MARGIN_PX, head};
use super::{Figure, Row, Ticks};

/// Width of a figure on a narrow screen (px): its texts are readable at 368 pixels.
const NARROW_PX: u32 = 620;
/// Least height of a panel there (px), with its texts.
const NARROW_PANEL_PX: f64 = 340.0;

/// `figure` for a narrow screen: a panel below the other, as high as they were.
pub fn narrow(figure: &Figure) -> Figure {
    let rows: f64 = figure.rows.iter().map(|r| r.weight).sum();
    let room = f64::from(figure.size_px.1) - head(figure, figure.size_px.0);
    let (mut panels, mut height) = (Vec::new(), head(figure, NARROW_PX) + MARGIN_PX);
    for row in &figure.rows {
        let first = row.panels.first();
        for panel in &row.panels {
            let mut panel = panel.clone();
            // What stands beside the first panel alone is that of all of the row.
            if let (Ticks::Named(own), Some(first)) = (&panel.y.ticks, first)
                && own.is_empty()
            {
                panel.y.ticks = first.y.ticks.clone();
            }
            let high = (room * row.weight / rows).max(NARROW_PANEL_PX);
            height += high + BETWEEN_PX;
            panels.push(Row {
                weight: high,
                panels: vec![panel],
            });
        }
    }
    Figure {
        title: String::new(),
        size_px: (NARROW_PX, height as u32),
        rows: panels,
    }
}

#[cfg(test)]
mod tests {
    use super::super::font::Font;
    use super::super::layout::draw;
    use super::super::{Anchor, Axis, Panel, Shape};
    use super::*;

    /// On a narrow screen each panel has all of the width, the names of its rows, and texts that are readable and within.
    #[test]
    fn model_a_narrow_figure_has_a_panel_a_row() {
        let names = ["greedy", "cost-benefit", "a scheme of a long name"];
        let named = names.iter().enumerate();
        let named: Vec<_> = named.map(|(i, n)| (i as f64, (*n).to_owned())).collect();
        let panel = |ticks: &[(f64, String)]| Panel {
            title: "A title that is far too long for a panel of a narrow screen, and is cut".into(),
            weight: 1.0,
            x: Axis {
                ticks: Ticks::Named(named.clone()),
                ..Axis::linear("Scheme").between(-0.5, 2.5)
            },
            y: Axis {
                ticks: Ticks::Named(ticks.to_vec()),
                ..Axis::linear("").between(-0.5, 2.5)
            },
            series: Vec::new(),
        };
        let wide = Figure {
            title: "Wide".into(),
            size_px: (1600, 600),
            rows: vec![Row {
                weight: 1.0,
                panels: vec![panel(&named), panel(&[]), panel(&[])],
            }],
        };
        let narrow = narrow(&wide);
        assert_eq!((narrow.size_px.0, narrow.rows.len()), (NARROW_PX, 3));
        assert!(
            narrow
                .rows
                .iter()
                .all(|row| row.panels[0].y.ticks == wide.rows[0].panels[0].y.ticks)
        );
        let drawing = draw(&narrow);
        let font = Font::new();
        let mut written = 0;
        for shape in &drawing.shapes {
            let Shape::Text {
                at: [x, y],
                text,
                size_px,
                anchor,
                upwards,
                ..
            } = shape
            else {
                continue;
            };
            written += 1;
            // 400 pixels of a telephone are 368 of a figure.
            assert!(size_px * 368.0 / f64::from(NARROW_PX) > 12.0, "{text}");
            let long = font.width(text, *size_px);
            let before = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => 0.5 * long,
                Anchor::End => long,
            };
            let (low, high, most) = match upwards {
                false => (x - before, x - before + long, narrow.size_px.0),
                true => (y + before - long, y + before, narrow.size_px.1),
            };
            assert!(
                low >= 0.0 && high <= f64::from(most),
                "{text}: {low} to {high}"
            );
        }
        assert!(written > 3 * 7, "{written}");
    }
}
