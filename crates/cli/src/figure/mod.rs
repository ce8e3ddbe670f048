//! Figures as papers print them: panels of series on axes with units, to SVG and PNG bytes.
//!
//! - [`parts`]: what a figure is made of. It knows nothing of what is drawn.
//! - [`axis`]: ticks, and data to pixels.
//! - [`layout`]: a figure to a list of shapes, which both outputs draw; [`clip`]: what of data a
//!   panel shows.
//! - [`narrow`]: a figure for a narrow screen.
//! - [`font`]: the embedded font, by which texts are laid out: no picture of PNG depends on what a host has installed.
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
mod narrow;
mod parts;
mod png;
mod svg;

pub use parts::{
    Anchor, Axis, Colour, Dash, Drawing, Figure, Gap, Mark, Marker, PALETTE, PX_PER_INCH, Panel,
    Row, Scale, Series, Shape, Style, TWO_COLUMNS_PX, Ticks,
};

impl Figure {
    /// The figure for a page that has its title: as wide as it is, and for narrow screens with a panel below the other.
    pub fn html(&self) -> String {
        let untitled = Figure {
            title: String::new(),
            ..self.clone()
        };
        let draw = |figure: &Figure| {
            let mut drawing = layout::draw(figure);
            drawing.title = self.title.clone();
            for_page(&svg::render(&drawing))
        };
        format!(
            "<div class=\"wide\">{}</div><div class=\"narrow\">{}</div>",
            draw(&untitled),
            draw(&narrow::narrow(self))
        )
    }

    /// The figure as SVG, texts as text.
    pub fn svg(&self) -> Vec<u8> {
        svg::render(&layout::draw(self)).into_bytes()
    }

    /// The figure as PNG, eight bits a colour.
    pub fn png(&self) -> Vec<u8> {
        png::render(&layout::draw(self))
    }
}

/// An SVG of white paper and dark ink, in the colours of the page around it.
fn for_page(svg: &str) -> String {
    svg.replace("#1a1a1a", "var(--ink)")
        .replace("#6e6e6e", "var(--grey)")
        .replace("#e4e4e4", "var(--faint)")
        .replace("#ffffff", "var(--paper)")
        .replace("#fff\"", "var(--paper)\"")
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
    pub(super) fn decode(png: &[u8]) -> (usize, Vec<[u8; 3]>) {
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
    fn smoke_every_mark_is_drawn_and_texts_are_text() {
        let svg = String::from_utf8(everything().svg()).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(
            svg.contains(">(a) Lines &amp; &lt;marks&gt;</text>"),
            "{svg}"
        );
        for name in ["solid", "diamond", "band", "horizontal", "frozen"] {
            assert!(svg.contains(&format!(">{name}</text>")), "{name}");
        }
        assert!(svg.contains(">Share<tspan dy="), "{svg}");
        let (width, pixels) = decode(&everything().png());
        assert_eq!((width, pixels.len()), (780, 780 * 600));
        for Colour(r, g, b) in PALETTE.into_iter().take(4) {
            assert!(pixels.contains(&[r, g, b]));
        }
        assert_eq!(everything().png(), everything().png());
    }

    /// A second row: values of both signs, ages that crowd at the end of a logarithmic axis, and a legend of two lines.
    fn more() -> Figure {
        let ages = [1.0, 24.0, 168.0, 2232.0, 4464.0, 8928.0];
        let crowded = Panel {
            title: "(b) Ages".into(),
            weight: 2.0,
            x: Axis {
                ticks: Ticks::Named(ages.map(|h| (h, format!("{h} h"))).to_vec()),
                ..Axis::log10("Age (h)")
            },
            y: Axis::linear("Change (%)"),
            series: vec![
                series(
                    "a series with a long name",
                    0,
                    Mark::Line {
                        points: vec![[1.0, -30.0], [100.0, 10.0], [9_000.0, 70.0]],
                        width_px: 2.5,
                        dash: Dash::Solid,
                    },
                ),
                series(
                    "another with a name as long",
                    1,
                    Mark::Bars {
                        points: vec![[100.0, -20.0], [1_000.0, 40.0]],
                        width: 60.0,
                    },
                ),
                series(
                    "a series with a long name",
                    0,
                    Mark::Markers {
                        points: vec![[100.0, 10.0]],
                        marker: Marker::Circle,
                        size_px: 8.0,
                    },
                ),
            ],
        };
        let decades = Panel {
            title: String::new(),
            weight: 1.0,
            x: Axis::log10("").between(0.02, 3e9),
            y: Axis::log10("Pages").between(1.0, 1_000.0),
            series: vec![series(
                "a third name of the same length",
                2,
                Mark::Markers {
                    points: vec![[0.05, 2.0], [1e5, 900.0], [1e12, 5.0]],
                    marker: Marker::Square,
                    size_px: 6.0,
                },
            )],
        };
        let row = |weight, panels| Row { weight, panels };
        Figure {
            title: String::new(),
            size_px: (900, 700),
            rows: vec![
                row(1.0, vec![crowded, decades]),
                row(1.5, vec![bars(7_000.0)]),
            ],
        }
    }

    /// What figures look like. Whoever changes it looks at the pictures too: run with
    /// `FIRSTREAD_PICTURES` set to a folder.
    #[test]
    fn golden_figures() {
        for (name, figure) in [("everything", everything()), ("more", more())] {
            if let Some(folder) = std::env::var_os("FIRSTREAD_PICTURES") {
                let path = std::path::Path::new(&folder).join(format!("{name}.png"));
                std::fs::write(path, figure.png()).unwrap();
            }
            let svg = String::from_utf8(figure.svg()).unwrap();
            insta::assert_snapshot!(name, svg);
        }
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
