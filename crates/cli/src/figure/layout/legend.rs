//! The legend of a figure.

use super::super::{Anchor, Figure, Mark, Series, Shape};
use super::{LABEL_PX, MARGIN_PX, Page};

/// Length of a line in the legend, and the room after an entry.
const SAMPLE_PX: f64 = 44.0;
const ENTRY_GAP_PX: f64 = 34.0;
const LEGEND_LINE_PX: f64 = 34.0;

impl Page {
    /// The names of all series, each with what it looks like, and where the legend ends.
    pub(super) fn legend(&mut self, figure: &Figure, top: f64, width: f64) -> f64 {
        let panels = figure.rows.iter().flat_map(|r| &r.panels);
        let mut entries: Vec<(&str, Vec<&Series>)> = Vec::new();
        for series in panels.flat_map(|p| &p.series) {
            let kind = std::mem::discriminant(&series.mark);
            match entries.iter_mut().find(|(name, _)| *name == series.name) {
                _ if series.name.is_empty() => {}
                Some((_, like)) => {
                    if !like.iter().any(|s| std::mem::discriminant(&s.mark) == kind) {
                        like.push(series);
                    }
                }
                None => entries.push((&series.name, vec![series])),
            }
        }
        if entries.is_empty() {
            return top;
        }
        let mut at = MARGIN_PX;
        let mut base = top + 0.8 * LEGEND_LINE_PX;
        for (name, like) in entries {
            let long = SAMPLE_PX + 10.0 + self.font.width(name, LABEL_PX);
            if at > MARGIN_PX && at + long > width - MARGIN_PX {
                at = MARGIN_PX;
                base += LEGEND_LINE_PX;
            }
            for series in like {
                self.sample(series, at, base - 0.35 * LABEL_PX);
            }
            self.text([at + SAMPLE_PX + 10.0, base], name, LABEL_PX, Anchor::Start);
            at += long + ENTRY_GAP_PX;
        }
        base + 0.6 * LEGEND_LINE_PX
    }

    /// What `series` looks like, in the legend.
    fn sample(&mut self, series: &Series, left: f64, middle: f64) {
        let colour = series.colour;
        let box_of = |half: f64| {
            let (l, r) = (left, left + SAMPLE_PX);
            let (t, b) = (middle - half, middle + half);
            vec![[l, t], [r, t], [r, b], [l, b]]
        };
        match &series.mark {
            Mark::Line { width_px, dash, .. } | Mark::Horizontals { width_px, dash, .. } => {
                self.shapes.push(Shape::Line {
                    points: vec![[left, middle], [left + SAMPLE_PX, middle]],
                    colour,
                    width_px: *width_px,
                    dash: *dash,
                });
            }
            Mark::Verticals { width_px, dash, .. } => {
                let x = left + 0.5 * SAMPLE_PX;
                self.shapes.push(Shape::Line {
                    points: vec![[x, middle + 13.0], [x, middle - 13.0]],
                    colour,
                    width_px: *width_px,
                    dash: *dash,
                });
            }
            Mark::Markers {
                marker, size_px, ..
            } => self.marker([left + 0.5 * SAMPLE_PX, middle], *marker, *size_px, colour),
            Mark::Band { opacity, .. } => self.area(box_of(9.0), colour, *opacity),
            Mark::Bars { .. } => self.area(box_of(8.0), colour, 1.0),
            Mark::Text { .. } => {}
        }
    }
}
