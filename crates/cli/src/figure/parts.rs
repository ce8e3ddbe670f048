//! What a figure is made of: panels, axes and series, and the shapes that both outputs draw.

/// Pixels of an inch on paper.
pub const PX_PER_INCH: f64 = 223.0;
/// Width of a figure over both columns of a page (px).
pub const TWO_COLUMNS_PX: u32 = 1600;

/// A colour, red, green and blue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    /// Text and axes.
    pub const INK: Colour = Colour(0x1a, 0x1a, 0x1a);
    /// What is there for reference.
    pub const GREY: Colour = Colour(0x6e, 0x6e, 0x6e);
    pub const FAINT: Colour = Colour(0xe4, 0xe4, 0xe4);
    /// Paper.
    pub const WHITE: Colour = Colour(0xff, 0xff, 0xff);
}

/// Colours of series, in this order: those of Okabe and Ito (Color Universal Design, 2008) that
/// stand out from white.
pub const PALETTE: [Colour; 6] = [
    Colour(0x00, 0x72, 0xb2),
    Colour(0xe6, 0x9f, 0x00),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0xd5, 0x5e, 0x00),
    Colour(0x56, 0xb4, 0xe9),
];

/// What tells a series from others: those before the 25th differ in colour, dashes or marker, and neighbours in all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    pub colour: Colour,
    pub dash: Dash,
    pub marker: Marker,
}

impl Style {
    /// That of the `i`-th series.
    pub fn of(i: usize) -> Style {
        // Six colours and four patterns come round together after twelve.
        let pattern = (i + i / 12) % 4;
        Style {
            colour: PALETTE[i % PALETTE.len()],
            dash: [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::Mixed][pattern],
            marker: [
                Marker::Circle,
                Marker::Square,
                Marker::TriangleDown,
                Marker::Diamond,
            ][pattern],
        }
    }

    /// A line of the `i`-th of `all` series, in its style. Lines get thinner one after another, and those behind the first have
    /// gaps, so that one which lies upon others shows them.
    pub fn line(i: usize, all: usize, points: Vec<[f64; 2]>) -> Mark {
        Mark::Line {
            points,
            width_px: 2.6 + 1.6 * all.saturating_sub(1 + i).min(4) as f64,
            dash: Style::of(i).dash,
        }
    }

    /// The markers of the `i`-th of `all` series. They get smaller like its line.
    pub fn markers(i: usize, all: usize, points: Vec<[f64; 2]>) -> Mark {
        Mark::Markers {
            points,
            marker: Style::of(i).marker,
            size_px: 10.0 + 3.0 * all.saturating_sub(1 + i).min(4) as f64,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Figure {
    /// Above all panels; empty for none. As all texts of a figure, it may raise what is in `^{}`.
    pub title: String,
    /// Width and height (px).
    pub size_px: (u32, u32),
    /// Panels from top to bottom. The legend above them has every series that has a name.
    pub rows: Vec<Row>,
}

/// Panels side by side.
#[derive(Clone, Debug)]
pub struct Row {
    /// Share of the height, against the other rows.
    pub weight: f64,
    /// From left to right.
    pub panels: Vec<Panel>,
}

/// Series on a pair of axes.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Above the panel; empty for none.
    pub title: String,
    /// Share of the width, against the other panels of the row.
    pub weight: f64,
    pub x: Axis,
    pub y: Axis,
    /// In drawing order.
    pub series: Vec<Series>,
}

#[derive(Clone, Debug)]
pub struct Axis {
    /// What is shown, unit included: `Threshold voltage (mV)`.
    pub label: String,
    /// How values are spread.
    pub scale: Scale,
    /// Lowest and highest value; without it, as the data need.
    pub range: Option<(f64, f64)>,
    /// A break in a linear horizontal axis.
    pub gap: Option<Gap>,
    /// Where values are written.
    pub ticks: Ticks,
}

/// A part of an axis that is left out. What lies before and after it has a scale of its own.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gap {
    /// First value left out.
    pub from: f64,
    /// Last value left out.
    pub to: f64,
    /// Share of the axis that what lies before it gets.
    pub before: f64,
}

/// How values are spread over an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their decimal logarithm; values of zero and below lie at the lower end.
    Log10,
}

/// Where values are written on an axis.
#[allow(
    dead_code,
    reason = "the vocabulary of figures is whole; tests draw all of it"
)]
#[derive(Clone, PartialEq, Debug)]
pub enum Ticks {
    /// At round numbers.
    Auto,
    /// The same up to a value, where what lies above it is no data.
    UpTo(f64),
    /// At these, with these texts: categories of a bar chart, states of a cell.
    Named(Vec<(f64, String)>),
}

impl Axis {
    /// A linear axis as the data need it.
    pub fn linear(label: &str) -> Axis {
        Axis {
            label: label.into(),
            scale: Scale::Linear,
            range: None,
            gap: None,
            ticks: Ticks::Auto,
        }
    }

    /// A logarithmic axis as the data need it.
    pub fn log10(label: &str) -> Axis {
        Axis {
            scale: Scale::Log10,
            ..Axis::linear(label)
        }
    }

    /// The same from `low` to `high`.
    pub fn between(self, low: f64, high: f64) -> Axis {
        Axis {
            range: Some((low, high)),
            ..self
        }
    }
}

/// Data, drawn in one way.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend; empty for none. Series of one name share an entry.
    pub name: String,
    pub colour: Colour,
    /// How it is drawn, and the data.
    pub mark: Mark,
}

/// How data are drawn.
#[allow(
    dead_code,
    reason = "the vocabulary of figures is whole; tests draw all of it"
)]
#[derive(Clone, PartialEq, Debug)]
pub enum Mark {
    /// A line through points, by rising `x`.
    Line {
        points: Vec<[f64; 2]>,
        width_px: f64,
        dash: Dash,
    },
    /// A marker at each point.
    Markers {
        points: Vec<[f64; 2]>,
        marker: Marker,
        size_px: f64,
    },
    /// The area between two values at each `x`: `[x, low, high]`.
    Band { points: Vec<[f64; 3]>, opacity: f64 },
    /// A bar from the lower end of the axis, or from zero where that lies on it, to each point.
    Bars {
        points: Vec<[f64; 2]>,
        /// On the horizontal axis.
        width: f64,
    },
    /// Vertical lines at each `x`, over a share of the panel's height from its bottom.
    Verticals {
        at: Vec<f64>,
        from: f64,
        to: f64,
        width_px: f64,
        dash: Dash,
    },
    /// Horizontal lines at each `y`, over the whole panel.
    Horizontals {
        at: Vec<f64>,
        width_px: f64,
        dash: Dash,
    },
    /// A text beside a point, over what is drawn.
    Text {
        at: [f64; 2],
        text: String,
        anchor: Anchor,
    },
}

/// How a line is broken.
#[allow(
    dead_code,
    reason = "the vocabulary of figures is whole; tests draw all of it"
)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dash {
    Solid,
    Dashed,
    Dotted,
    /// Dashes and dots in turn.
    Mixed,
}

impl Dash {
    /// Lengths of line and gap (px); empty for a solid line.
    pub const fn pattern(self) -> &'static [f32] {
        match self {
            Dash::Solid => &[],
            Dash::Dashed => &[11.0, 6.0],
            Dash::Dotted => &[3.0, 5.0],
            Dash::Mixed => &[11.0, 5.0, 3.0, 5.0],
        }
    }
}

#[allow(
    dead_code,
    reason = "the vocabulary of figures is whole; tests draw all of it"
)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marker {
    Circle,
    /// A square on its side.
    Square,
    /// A triangle on its tip.
    TriangleDown,
    /// A square on its tip.
    Diamond,
}

/// Which part of a text stands at its place.
#[allow(
    dead_code,
    reason = "the vocabulary of figures is whole; tests draw all of it"
)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// What both outputs draw, in this order (px, from the top left corner).
#[derive(Clone, PartialEq, Debug)]
pub struct Drawing {
    pub size_px: (u32, u32),
    pub title: String,
    pub shapes: Vec<Shape>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    Line {
        points: Vec<[f64; 2]>,
        colour: Colour,
        width_px: f64,
        dash: Dash,
    },
    Area {
        points: Vec<[f64; 2]>,
        colour: Colour,
        opacity: f64,
    },
    Text {
        /// Of the anchor, on the base line.
        at: [f64; 2],
        text: String,
        size_px: f64,
        anchor: Anchor,
        /// Whether it reads from bottom to top.
        upwards: bool,
        colour: Colour,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_two_dozen_series_can_be_told_apart() {
        let all: Vec<Style> = (0..24).map(Style::of).collect();
        for (i, style) in all.iter().enumerate() {
            assert!(!all[..i].contains(style), "{i}: {style:?}");
        }
        // A line that lies upon the one before it leaves some of it to be seen.
        let drawn = |i| match Style::line(i, 5, Vec::new()) {
            Mark::Line { width_px, dash, .. } => (width_px, dash),
            mark => panic!("{mark:?}"),
        };
        for i in 1..5 {
            assert!(
                drawn(i).0 < drawn(i - 1).0 && drawn(i).1 != drawn(i - 1).1,
                "{i}"
            );
        }
    }
}
