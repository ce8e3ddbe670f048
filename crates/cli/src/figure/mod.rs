//! Figures as papers print them: panels of series on axes with units, to SVG and PNG bytes.
//!
//! - This module: what a figure is made of. It knows nothing of what is drawn.
//! - [`axis`]: ticks, and data to pixels.
//! - [`layout`]: a figure to a list of shapes, which both outputs draw; [`clip`]: what of data a
//!   panel shows.
//! - [`font`]: the embedded font, as outlines: no figure depends on what a host has installed.
//! - [`svg`], [`png`]: the outputs.
//!
//! A pixel is 1/223 inch: 1,600 are the width of a two-column page (7.16 in) and 780 that of one
//! column (3.5 in), and text is then 7 to 9 points high whatever the size of the figure. Figures
//! are dark on white, and their colours ([`PALETTE`]) can be told apart by those who see fewer.
//!
//! The same figure gives the same bytes on every host.

mod axis;
mod clip;
mod font;
mod layout;
mod png;
mod svg;

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
    /// Grid lines.
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

/// A figure.
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
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// In drawing order.
    pub series: Vec<Series>,
}

/// An axis.
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
    /// Its colour.
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
    /// Not at all.
    Solid,
    /// Into dashes.
    Dashed,
    /// Into dots.
    Dotted,
}

impl Dash {
    /// Lengths of line and gap (px); empty for a solid line.
    const fn pattern(self) -> &'static [f32] {
        match self {
            Dash::Solid => &[],
            Dash::Dashed => &[11.0, 6.0],
            Dash::Dotted => &[3.0, 5.0],
        }
    }
}

/// Shapes of markers.
#[allow(
    dead_code,
    reason = "the vocabulary of figures is whole; tests draw all of it"
)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marker {
    /// A disc.
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
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

impl Figure {
    /// The figure as SVG, texts as outlines: the same picture wherever it is shown.
    pub fn svg(&self) -> Vec<u8> {
        svg::render(&layout::draw(self)).into_bytes()
    }

    /// The figure as PNG, eight bits a colour.
    pub fn png(&self) -> Vec<u8> {
        png::render(&layout::draw(self))
    }
}

/// What both outputs draw, in this order (px, from the top left corner).
#[derive(Clone, PartialEq, Debug)]
struct Drawing {
    size_px: (u32, u32),
    title: String,
    shapes: Vec<Shape>,
}

#[derive(Clone, PartialEq, Debug)]
enum Shape {
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
    use std::io::Read;

    use super::*;

    fn series(name: &str, colour: usize, mark: Mark) -> Series {
        Series {
            name: name.into(),
            colour: PALETTE[colour],
            mark,
        }
    }

    /// A figure with every kind of mark, axis and tick.
    fn everything() -> Figure {
        let points = vec![[0.0, 0.0], [1.0, 0.3], [2.0, 1.0]];
        let dash = |dash| Mark::Line {
            points: points.clone(),
            width_px: 2.0,
            dash,
        };
        let marker = |marker| Mark::Markers {
            points: points.clone(),
            marker,
            size_px: 9.0,
        };
        let line = Panel {
            title: "(a) Lines & <marks>".into(),
            weight: 1.0,
            x: Axis {
                gap: Some(Gap {
                    from: 0.2,
                    to: 0.9,
                    before: 0.2,
                }),
                ..Axis::linear("Time (h)")
            },
            y: Axis::log10("Share^{2}"),
            series: vec![
                series("solid", 0, dash(Dash::Solid)),
                series("dashed", 1, dash(Dash::Dashed)),
                series("dotted", 2, dash(Dash::Dotted)),
                series("circle", 0, marker(Marker::Circle)),
                series("square", 1, marker(Marker::Square)),
                series("down", 2, marker(Marker::TriangleDown)),
                series("diamond", 3, marker(Marker::Diamond)),
                series(
                    "band",
                    4,
                    Mark::Band {
                        points: vec![[0.0, 0.1, 0.2], [f64::NAN, 0.2, 0.3], [2.0, 0.0, 9.0]],
                        opacity: 0.5,
                    },
                ),
                series(
                    "vertical",
                    5,
                    Mark::Verticals {
                        at: vec![1.0, 7.0, f64::INFINITY],
                        from: 0.0,
                        to: 0.5,
                        width_px: 1.0,
                        dash: Dash::Dashed,
                    },
                ),
                series(
                    "horizontal",
                    0,
                    Mark::Horizontals {
                        at: vec![0.5, -1.0],
                        width_px: 1.0,
                        dash: Dash::Dotted,
                    },
                ),
            ],
        };
        Figure {
            title: "Everything".into(),
            size_px: (780, 600),
            rows: vec![Row {
                weight: 1.0,
                panels: vec![line, bars(0.02)],
            }],
        }
    }

    /// Two bars, one of twice the value of the other.
    fn bars(value: f64) -> Panel {
        let bar = |at: f64, colour, value| {
            let mark = Mark::Bars {
                points: vec![[at, value]],
                width: 0.6,
            };
            series("", colour, mark)
        };
        let names = [(0.0, "frozen".to_owned()), (1.0, "ct-qlc".to_owned())];
        let mut y = Axis::linear("Latency (µs)").between(0.0, 3.0 * value);
        y.ticks = Ticks::UpTo(2.0 * value);
        let text = Mark::Text {
            at: [0.0, value],
            text: "1×".into(),
            anchor: Anchor::Middle,
        };
        Panel {
            title: String::new(),
            weight: 1.0,
            x: Axis {
                ticks: Ticks::Named(names.to_vec()),
                ..Axis::linear("").between(-0.5, 1.5)
            },
            y,
            series: vec![
                bar(0.0, 0, value),
                bar(1.0, 1, 2.0 * value),
                Series {
                    colour: Colour::INK,
                    ..series("", 0, text)
                },
            ],
        }
    }

    /// Width and pixels of a PNG, its checksums and filters undone by hand.
    fn decode(png: &[u8]) -> (usize, Vec<[u8; 3]>) {
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        let word = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
        let (mut at, mut packed) = (8, Vec::new());
        while at < png.len() {
            let length = word(at);
            let mut crc = flate2::Crc::new();
            crc.update(&png[at + 4..at + 8 + length]);
            assert_eq!(crc.sum() as usize, word(at + 8 + length));
            if &png[at + 4..at + 8] == b"IDAT" {
                packed.extend(&png[at + 8..at + 8 + length]);
            }
            at += 12 + length;
        }
        let (width, height) = (word(16), word(20));
        let mut data = Vec::new();
        flate2::read::ZlibDecoder::new(&packed[..])
            .read_to_end(&mut data)
            .unwrap();
        assert_eq!(data.len(), (width * 3 + 1) * height);
        let mut above = vec![0_u8; width * 3];
        let mut pixels = Vec::new();
        for row in data.chunks_exact(width * 3 + 1) {
            assert_eq!(row[0], 2);
            for (a, v) in above.iter_mut().zip(&row[1..]) {
                *a = a.wrapping_add(*v);
            }
            pixels.extend(above.chunks_exact(3).map(|p| [p[0], p[1], p[2]]));
        }
        (width, pixels)
    }

    #[test]
    fn smoke_every_mark_is_drawn_and_names_no_outline_that_is_missing() {
        let svg = String::from_utf8(everything().svg()).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(svg.contains("aria-label=\"(a) Lines &amp; &lt;marks&gt;\""));
        for name in [
            "solid",
            "diamond",
            "band",
            "horizontal",
            "frozen",
            "Share^2",
        ] {
            assert!(svg.contains(&format!("aria-label=\"{name}\"")), "{name}");
        }
        let used = svg.split("href=\"#").skip(1);
        for id in used.filter_map(|rest| rest.split('"').next()) {
            assert!(svg.contains(&format!("<path id=\"{id}\"")), "{id}");
        }
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
        let (width, pixels) = decode(&everything().png());
        assert_eq!((width, pixels.len()), (780, 780 * 600));
        for Colour(r, g, b) in PALETTE.into_iter().take(4) {
            assert!(pixels.contains(&[r, g, b]));
        }
        assert_eq!(everything().png(), everything().png());
    }

    #[test]
    fn formula_a_bar_of_twice_the_value_has_twice_the_pixels() {
        let figure = Figure {
            title: String::new(),
            size_px: (600, 400),
            rows: vec![Row {
                weight: 1.0,
                panels: vec![bars(0.02)],
            }],
        };
        let (_, pixels) = decode(&figure.png());
        let of = |Colour(r, g, b): Colour| pixels.iter().filter(|p| **p == [r, g, b]).count();
        // Axis, text and edges cover some of each.
        let ratio = of(PALETTE[1]) as f64 / of(PALETTE[0]) as f64;
        assert!((ratio - 2.0).abs() < 0.06, "{ratio}");
    }

    #[test]
    fn fuzz_data_of_any_kind() {
        let odd = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN_POSITIVE,
            1e-300,
        ];
        for (i, a) in odd.into_iter().enumerate() {
            for b in odd {
                for axis in [Axis::linear, Axis::log10] {
                    let points = vec![[a, b], [b, a], [1.0, 2.0]];
                    let mut panel = bars(1.0);
                    panel.x = axis("x");
                    panel.y = axis("y").between(a, b);
                    panel.series = vec![series(
                        "odd",
                        i % 6,
                        Mark::Line {
                            points,
                            width_px: 1.0,
                            dash: Dash::Solid,
                        },
                    )];
                    let figure = Figure {
                        title: "odd".into(),
                        size_px: (300, 200),
                        rows: vec![Row {
                            weight: 1.0,
                            panels: vec![panel],
                        }],
                    };
                    let svg = String::from_utf8(figure.svg()).unwrap();
                    assert!(!svg.contains("NaN"), "{a} {b}");
                    assert!(!svg.contains("inf"), "{a} {b}");
                    figure.png();
                }
            }
        }
    }
}
