//! A figure to a list of shapes: where panels, axes, texts and data lie on the page.

mod legend;

use super::axis::{Placed, Tick};
use super::clip::{Rect, clip_area, clip_line, inside};
use super::font::Font;
use super::{
    Anchor, Axis, Colour, Dash, Drawing, Figure, Mark, Marker, Panel, Scale, Series, Shape, Ticks,
};

/// Heights of texts (px): 9, 8, 7.5 and 7 points.
const TITLE_PX: f64 = 28.0;
const PANEL_PX: f64 = 24.0;
const LABEL_PX: f64 = 23.0;
const TICK_PX: f64 = 21.5;

/// Around everything.
pub const MARGIN_PX: f64 = 16.0;
/// Between panels side by side, and between rows.
pub const BETWEEN_PX: f64 = 26.0;
/// Length of a tick with a text, and of one without.
const TICK_LENGTH_PX: f64 = 8.0;
const MINOR_LENGTH_PX: f64 = 4.5;
/// Between an axis and its texts.
const PAD_PX: f64 = 7.0;
/// About so far apart are texts of an axis.
const X_SPACING_PX: f64 = 88.0;
const Y_SPACING_PX: f64 = 52.0;
/// Between texts of an axis; twice as much between those of two.
const CLEAR_PX: f64 = 10.0;
/// Height of the axis of a usual panel.
const USUAL_HEIGHT_PX: f64 = 260.0;
/// Width of axes and ticks.
const AXIS_PX: f64 = 1.6;

/// The shapes of `figure`.
pub fn draw(figure: &Figure) -> Drawing {
    let mut page = Page {
        font: Font::new(),
        shapes: Vec::new(),
    };
    let (width, height) = (figure.size_px.0 as f64, figure.size_px.1 as f64);
    let mut top = MARGIN_PX;
    for line in page
        .font
        .lines(&figure.title, TITLE_PX, width - 2.0 * MARGIN_PX)
    {
        top += TITLE_PX;
        page.text([MARGIN_PX, top - 5.0], &line, TITLE_PX, Anchor::Start);
        top += 8.0;
    }
    top = page.legend(figure, top, width);
    let rows: f64 = figure.rows.iter().map(|r| r.weight).sum();
    let between = BETWEEN_PX * figure.rows.len().saturating_sub(1) as f64;
    let room = height - MARGIN_PX - top - between;
    // Panels of the first column begin at one place.
    let first = figure.rows.iter().filter_map(|r| r.panels.first());
    let left = first.map(|p| page.left_of(p)).fold(0.0, f64::max);
    for row in &figure.rows {
        let bottom = top + room * row.weight / rows;
        page.row(
            &row.panels,
            left,
            Rect {
                left: MARGIN_PX,
                top,
                right: width - MARGIN_PX,
                bottom,
            },
        );
        top = bottom + BETWEEN_PX;
    }
    Drawing {
        size_px: figure.size_px,
        title: figure.title.clone(),
        shapes: page.shapes,
    }
}

/// Where the legend of `figure` ends (px), `width` wide and without a title.
pub fn head(figure: &Figure, width: u32) -> f64 {
    let mut page = Page {
        font: Font::new(),
        shapes: Vec::new(),
    };
    page.legend(figure, MARGIN_PX, f64::from(width))
}

struct Page {
    font: Font,
    shapes: Vec<Shape>,
}

impl Page {
    fn row(&mut self, panels: &[Panel], first_left: f64, within: Rect) {
        let lefts: Vec<f64> = panels
            .iter()
            .enumerate()
            .map(|(i, p)| if i == 0 { first_left } else { self.left_of(p) })
            .collect();
        let weights: f64 = panels.iter().map(|p| p.weight).sum();
        let taken = within.left - within.right + lefts.iter().sum::<f64>();
        let room = |rights: &[f64]| -(taken + rights.iter().sum::<f64>());
        // Texts stand out to the right of an axis by little less where it is a little shorter.
        let usual = vec![BETWEEN_PX; panels.len()];
        let rights = self.rights(panels, &lefts, room(&usual) / weights);
        let room = room(&rights);
        let titled = panels.iter().any(|p| !p.title.is_empty());
        let labels = panels.iter().map(|p| {
            let width = room * p.weight / weights;
            self.x_label(p, width).len()
        });
        let labels = LABEL_PX * labels.max().unwrap_or(0) as f64;
        let texts = panels
            .iter()
            .map(|p| self.below(p, room * p.weight / weights));
        let texts = texts.fold(TICK_PX, f64::max);
        let labels = if labels > 0.0 { labels + 9.0 } else { 0.0 };
        let below = TICK_LENGTH_PX + PAD_PX + texts + labels;
        let mut left = within.left;
        for ((panel, margin), after) in panels.iter().zip(lefts).zip(rights) {
            left += margin;
            let right = left + room * panel.weight / weights;
            self.panel(
                panel,
                Rect {
                    left: snapped(left),
                    top: snapped(within.top + if titled { PANEL_PX + 12.0 } else { 4.0 }),
                    right: snapped(right),
                    bottom: snapped(within.bottom - below),
                },
            );
            left = right + after;
        }
    }

    /// Room that each of `panels`, `unit` wide for a weight of one, needs on the right of its axis, so
    /// that its last text is clear of the first of the next.
    fn rights(&self, panels: &[Panel], lefts: &[f64], unit: f64) -> Vec<f64> {
        let out: Vec<(f64, f64)> = panels
            .iter()
            .map(|p| {
                let width = unit * p.weight;
                let x = place(&p.x, p, 0, 0.0, width);
                let ticks = x.ticks(&p.x.ticks, X_SPACING_PX);
                let upwards = self.is_crowded(p, width);
                let ends = ticks.iter().filter(|t| !t.text.is_empty()).map(|t| {
                    let half = match upwards {
                        true => 0.5 * TICK_PX,
                        false => 0.5 * self.font.width(&t.text, TICK_PX),
                    };
                    (half - x.px(t.at), x.px(t.at) + half - width)
                });
                ends.fold((0.0, 0.0), |a: (f64, f64), b| (a.0.max(b.0), a.1.max(b.1)))
            })
            .collect();
        let need = |(i, (_, right)): (usize, &(f64, f64))| match out.get(i + 1) {
            Some((left, _)) => (right + left + 2.0 * CLEAR_PX - lefts[i + 1]).max(BETWEEN_PX),
            None => right.max(TICK_PX),
        };
        out.iter().enumerate().map(need).collect()
    }

    /// Room that `panel` needs on the left of its axis, for texts and label.
    fn left_of(&self, panel: &Panel) -> f64 {
        // The height is not known yet; that of a usual panel gives the same texts.
        let y = place(&panel.y, panel, 1, USUAL_HEIGHT_PX, 0.0);
        let widest = y
            .ticks(&panel.y.ticks, Y_SPACING_PX)
            .iter()
            .map(|t| self.font.width(&t.text, TICK_PX))
            .fold(0.0, f64::max);
        let label = match self.y_label(panel).len() {
            0 => 0.0,
            lines => LABEL_PX * lines as f64 + 10.0,
        };
        widest + TICK_LENGTH_PX + PAD_PX + label
    }

    /// Whether the names along the axis of `panel`, `width` wide, have no room side by side: they are written upwards.
    fn is_crowded(&self, panel: &Panel, width: f64) -> bool {
        let Ticks::Named(named) = &panel.x.ticks else {
            return false;
        };
        if panel.x.scale == Scale::Log10 {
            return false;
        }
        let x = place(&panel.x, panel, 0, 0.0, width);
        let ends = named.iter().map(|(at, text)| {
            let half = 0.5 * self.font.width(text, TICK_PX);
            (x.px(*at) - half, x.px(*at) + half)
        });
        let ends: Vec<(f64, f64)> = ends.collect();
        ends.windows(2).any(|two| two[0].1 + CLEAR_PX > two[1].0)
    }

    /// Height of the texts below the axis of `panel`, `width` wide.
    fn below(&self, panel: &Panel, width: f64) -> f64 {
        match &panel.x.ticks {
            Ticks::Named(named) if self.is_crowded(panel, width) => {
                let longest = named.iter().map(|(_, text)| self.font.width(text, TICK_PX));
                longest.fold(TICK_PX, f64::max)
            }
            _ => TICK_PX,
        }
    }

    fn panel(&mut self, panel: &Panel, rect: Rect) {
        let x = place(&panel.x, panel, 0, rect.left, rect.right);
        let y = place(&panel.y, panel, 1, rect.bottom, rect.top);
        let mut x_ticks = x.ticks(&panel.x.ticks, X_SPACING_PX);
        if panel.x.scale == Scale::Log10 {
            self.thin(&x, &mut x_ticks);
        }
        let y_ticks = y.ticks(&panel.y.ticks, Y_SPACING_PX);
        for tick in y_ticks.iter().filter(|t| !t.text.is_empty()) {
            let at = snapped(y.px(tick.at));
            if at < rect.bottom - 1.0 {
                self.line(&[[rect.left, at], [rect.right, at]], Colour::FAINT, 1.0);
            }
        }
        for series in &panel.series {
            self.series(series, &x, &y, rect);
        }
        let upwards = self.is_crowded(panel, rect.right - rect.left);
        self.axes(&x, &y, &x_ticks, &y_ticks, upwards, rect);
        for series in &panel.series {
            if let Mark::Text { at, text, anchor } = &series.mark {
                let at = [x.px(at[0]), y.px(at[1])];
                if at.iter().all(|v| v.is_finite()) {
                    self.coloured(at, text, TICK_PX, *anchor, series.colour);
                }
            }
        }
        if !panel.title.is_empty() {
            let at = [rect.left, rect.top - 12.0];
            let title = self.cut(&panel.title, PANEL_PX, rect.right - rect.left + BETWEEN_PX);
            self.text(at, &title, PANEL_PX, Anchor::Start);
        }
        let middle = 0.5 * (rect.left + rect.right);
        let texts = self.below(panel, rect.right - rect.left);
        let mut base = rect.bottom + TICK_LENGTH_PX + PAD_PX + texts + 5.0;
        for line in self.x_label(panel, rect.right - rect.left) {
            base += LABEL_PX;
            self.text([middle, base], &line, LABEL_PX, Anchor::Middle);
        }
        let widest = y_ticks
            .iter()
            .map(|t| self.font.width(&t.text, TICK_PX))
            .fold(0.0, f64::max);
        let mut left = rect.left - TICK_LENGTH_PX - PAD_PX - widest - 12.0;
        for line in self.y_label(panel).into_iter().rev() {
            self.shapes.push(Shape::Text {
                at: [left, 0.5 * (rect.top + rect.bottom)],
                text: line,
                size_px: LABEL_PX,
                anchor: Anchor::Middle,
                upwards: true,
                colour: Colour::INK,
            });
            left -= LABEL_PX;
        }
    }

    /// Lines of the label below `panel`, whose axis is `width` long. It may reach into the room between panels.
    fn x_label(&self, panel: &Panel, width: f64) -> Vec<String> {
        self.font
            .lines(&panel.x.label, LABEL_PX, width + BETWEEN_PX)
    }

    /// Lines of the label on the left of `panel`. Its height is not known yet where room is made for them.
    fn y_label(&self, panel: &Panel) -> Vec<String> {
        self.font.lines(&panel.y.label, LABEL_PX, USUAL_HEIGHT_PX)
    }

    /// `text` up to `width` pixels.
    fn cut(&self, text: &str, size_px: f64, width: f64) -> String {
        if self.font.width(text, size_px) <= width {
            return text.to_owned();
        }
        let mut short = text.to_owned();
        while short.pop().is_some() && self.font.width(&short, size_px) + size_px > width {}
        short.trim_end().to_owned() + "…"
    }

    /// Takes the texts of `ticks` that have no room, as values that are even steps apart crowd at the
    /// end of a logarithmic axis. The last stays.
    fn thin(&self, x: &Placed, ticks: &mut [Tick]) {
        let mut room = f64::INFINITY;
        for tick in ticks.iter_mut().rev().filter(|t| !t.text.is_empty()) {
            let half = 0.5 * self.font.width(&tick.text, TICK_PX);
            if x.px(tick.at) + half > room {
                tick.text.clear();
            } else {
                room = x.px(tick.at) - half - CLEAR_PX;
            }
        }
    }

    fn axes(
        &mut self,
        x: &Placed,
        y: &Placed,
        x_ticks: &[Tick],
        y_ticks: &[Tick],
        upwards: bool,
        rect: Rect,
    ) {
        if let Some((from, to)) = x.gap_px() {
            // Nothing is shown of what is left out.
            let corners = [
                [from, rect.top - 2.0],
                [to, rect.top - 2.0],
                [to, rect.bottom + 2.0],
                [from, rect.bottom + 2.0],
            ];
            self.area(corners.to_vec(), Colour::WHITE, 1.0);
        }
        let ends = x
            .gap_px()
            .map_or(vec![(rect.left, rect.right)], |(from, to)| {
                vec![(rect.left, from), (to, rect.right)]
            });
        for (from, to) in ends {
            self.axis(&[[from, rect.bottom], [to, rect.bottom]]);
        }
        if let Some((from, to)) = x.gap_px() {
            for at in [from, to] {
                self.axis(&[[at - 5.0, rect.bottom + 9.0], [at + 5.0, rect.bottom - 9.0]]);
            }
        }
        self.axis(&[[rect.left, rect.bottom], [rect.left, rect.top]]);
        for tick in x_ticks {
            let at = snapped(x.px(tick.at));
            let length = length(tick);
            self.axis(&[[at, rect.bottom], [at, rect.bottom + length]]);
            let base = rect.bottom + TICK_LENGTH_PX + PAD_PX;
            match upwards {
                false => {
                    let base = base + 0.75 * TICK_PX;
                    self.text([at, base], &tick.text, TICK_PX, Anchor::Middle);
                }
                true => self.shapes.push(Shape::Text {
                    at: [at + 0.36 * TICK_PX, base],
                    text: tick.text.clone(),
                    size_px: TICK_PX,
                    anchor: Anchor::End,
                    upwards,
                    colour: Colour::INK,
                }),
            }
        }
        for tick in y_ticks {
            let at = snapped(y.px(tick.at));
            self.axis(&[[rect.left - length(tick), at], [rect.left, at]]);
            let left = rect.left - TICK_LENGTH_PX - PAD_PX;
            self.text(
                [left, at + 0.36 * TICK_PX],
                &tick.text,
                TICK_PX,
                Anchor::End,
            );
        }
    }

    fn series(&mut self, series: &Series, x: &Placed, y: &Placed, rect: Rect) {
        let colour = series.colour;
        let to_px = |p: [f64; 2]| [x.px(p[0]), y.px(p[1])];
        match &series.mark {
            Mark::Line {
                points,
                width_px,
                dash,
            } => {
                let points: Vec<_> = points.iter().map(|p| to_px(*p)).collect();
                for points in clip_line(&points, rect) {
                    self.shapes.push(Shape::Line {
                        points,
                        colour,
                        width_px: *width_px,
                        dash: *dash,
                    });
                }
            }
            Mark::Markers {
                points,
                marker,
                size_px,
            } => {
                for p in points.iter().map(|p| to_px(*p)) {
                    if inside(p, rect) {
                        self.marker(p, *marker, *size_px, colour);
                    }
                }
            }
            Mark::Band { points, opacity } => {
                let low = points.iter().map(|p| to_px([p[0], p[1]]));
                let high = points.iter().rev().map(|p| to_px([p[0], p[2]]));
                let points = clip_area(&low.chain(high).collect::<Vec<_>>(), rect);
                self.area(points, colour, *opacity);
            }
            Mark::Bars { points, width } => {
                let (low, high) = y.ends();
                let base = y.px(0.0_f64.clamp(low, high));
                for p in points {
                    let (a, b) = (x.px(p[0] - 0.5 * width), x.px(p[0] + 0.5 * width));
                    let top = y.px(p[1]);
                    let corners = [[a, base], [a, top], [b, top], [b, base]];
                    self.area(clip_area(&corners, rect), colour, 1.0);
                }
            }
            Mark::Verticals {
                at,
                from,
                to,
                width_px,
                dash,
            } => {
                let height = rect.bottom - rect.top;
                for at in at.iter().map(|v| x.px(*v)) {
                    if at >= rect.left && at <= rect.right {
                        self.shapes.push(Shape::Line {
                            points: vec![
                                [at, rect.bottom - from * height],
                                [at, rect.bottom - to * height],
                            ],
                            colour,
                            width_px: *width_px,
                            dash: *dash,
                        });
                    }
                }
            }
            Mark::Horizontals { at, width_px, dash } => {
                for at in at.iter().map(|v| y.px(*v)) {
                    if at >= rect.top && at <= rect.bottom {
                        self.shapes.push(Shape::Line {
                            points: vec![[rect.left, at], [rect.right, at]],
                            colour,
                            width_px: *width_px,
                            dash: *dash,
                        });
                    }
                }
            }
            // Drawn over the axes.
            Mark::Text { .. } => {}
        }
    }

    fn marker(&mut self, [x, y]: [f64; 2], marker: Marker, size: f64, colour: Colour) {
        let r = 0.5 * size;
        let points: Vec<[f64; 2]> = match marker {
            Marker::Circle => {
                let angle = |i: u32| core::f64::consts::PI * i as f64 / 16.0;
                let around = (0..32).map(|i| {
                    let a = angle(i);
                    [x + r * libm::cos(a), y + r * libm::sin(a)]
                });
                around.collect()
            }
            Marker::Square => vec![
                [x - r, y - r],
                [x + r, y - r],
                [x + r, y + r],
                [x - r, y + r],
            ],
            Marker::TriangleDown => vec![[x - r, y - r], [x + r, y - r], [x, y + r]],
            Marker::Diamond => vec![[x, y - r], [x + r, y], [x, y + r], [x - r, y]],
        };
        self.area(points, colour, 1.0);
    }

    fn area(&mut self, points: Vec<[f64; 2]>, colour: Colour, opacity: f64) {
        if points.len() > 2 {
            self.shapes.push(Shape::Area {
                points,
                colour,
                opacity,
            });
        }
    }

    fn line(&mut self, points: &[[f64; 2]], colour: Colour, width_px: f64) {
        self.shapes.push(Shape::Line {
            points: points.to_vec(),
            colour,
            width_px,
            dash: Dash::Solid,
        });
    }

    fn axis(&mut self, points: &[[f64; 2]]) {
        self.line(points, Colour::INK, AXIS_PX);
    }

    fn text(&mut self, at: [f64; 2], text: &str, size_px: f64, anchor: Anchor) {
        self.coloured(at, text, size_px, anchor, Colour::INK);
    }

    fn coloured(&mut self, at: [f64; 2], text: &str, size_px: f64, anchor: Anchor, colour: Colour) {
        if !text.is_empty() {
            self.shapes.push(Shape::Text {
                at,
                text: text.into(),
                size_px,
                anchor,
                upwards: false,
                colour,
            });
        }
    }
}

/// The middle of a pixel: lines there are sharp.
fn snapped(v: f64) -> f64 {
    libm::floor(v) + 0.5
}

fn length(tick: &Tick) -> f64 {
    if tick.text.is_empty() {
        MINOR_LENGTH_PX
    } else {
        TICK_LENGTH_PX
    }
}

/// `axis` of `panel` over what its series hold in `dimension`.
fn place(axis: &Axis, panel: &Panel, dimension: usize, from_px: f64, to_px: f64) -> Placed {
    let values = panel.series.iter().flat_map(|s| values(&s.mark, dimension));
    Placed::new(axis, values, from_px, to_px)
}

/// The values of a mark in `dimension`: 0 is horizontal.
fn values(mark: &Mark, dimension: usize) -> Vec<f64> {
    match (mark, dimension) {
        (Mark::Line { points, .. } | Mark::Markers { points, .. }, d) => {
            points.iter().map(|p| p[d]).collect()
        }
        (Mark::Bars { points, width }, 0) => {
            let edges = points.iter().flat_map(|p| [p[0] - width, p[0] + width]);
            edges.collect()
        }
        (Mark::Bars { points, .. }, _) => points.iter().map(|p| p[1]).chain([0.0]).collect(),
        (Mark::Band { points, .. }, 0) => points.iter().map(|p| p[0]).collect(),
        (Mark::Band { points, .. }, _) => points.iter().flat_map(|p| [p[1], p[2]]).collect(),
        (Mark::Verticals { at, .. }, 0) | (Mark::Horizontals { at, .. }, 1) => at.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
