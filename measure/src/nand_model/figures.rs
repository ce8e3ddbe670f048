//! Pictures of the document, as SVG text.

use std::fmt::Write;

use firstread_core::CellMode;
use firstread_ecc::Code;

use super::code::soft_fer;
use super::knobs;
use super::population::{Aged, DEFAULT, LIMIT, chip};
use super::section::{Effort, Result};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 55.0;

/// Colours that stay apart in grey and for colour-blind eyes (Okabe and Ito).
const COLOURS: [&str; 6] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
];

/// One axis.
struct Axis {
    label: &'static str,
    range: (f64, f64),
    log: bool,
    /// Ticks and their texts.
    ticks: Vec<(f64, String)>,
}

impl Axis {
    fn place(&self, value: f64) -> f64 {
        let of = |v: f64| if self.log { libm::log10(v) } else { v };
        let (low, high) = (of(self.range.0), of(self.range.1));
        ((of(value.clamp(self.range.0, self.range.1)) - low) / (high - low)).clamp(0.0, 1.0)
    }
}

struct Series {
    name: String,
    colour: usize,
    dashed: bool,
    points: Vec<(f64, f64)>,
}

fn open(title: &str, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"14\" font-weight=\"bold\">{title}</text>\n"
    )
}

fn plot(title: &str, x: &Axis, y: &Axis, series: &[Series]) -> String {
    let mut out = open(title, HEIGHT);
    let (w, h) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    let px = |v: f64| LEFT + w * x.place(v);
    let py = |v: f64| TOP + h * (1.0 - y.place(v));
    for (v, text) in &x.ticks {
        let at = px(*v);
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
            TOP + h,
            TOP + h + 18.0
        );
    }
    for (v, text) in &y.ticks {
        let at = py(*v);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            LEFT + w,
            LEFT - 6.0,
            at + 4.0
        );
    }
    let _ = write!(
        out,
        "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{w}\" height=\"{h}\" fill=\"none\" stroke=\"#333\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
         <text transform=\"translate(16 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
        LEFT + w / 2.0,
        HEIGHT - 14.0,
        x.label,
        TOP + h / 2.0,
        y.label
    );
    for (i, s) in series.iter().enumerate() {
        let path: Vec<String> = s
            .points
            .iter()
            .map(|&(a, b)| format!("{:.1},{:.1}", px(a), py(b)))
            .collect();
        let dash = if s.dashed {
            " stroke-dasharray=\"6 4\""
        } else {
            ""
        };
        let colour = COLOURS[s.colour % COLOURS.len()];
        let key = TOP + 14.0 + 20.0 * i as f64;
        let _ = write!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>\n\
             <line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{key:.1}\" y2=\"{key:.1}\" stroke=\"{colour}\" \
             stroke-width=\"2\"{dash}/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
            path.join(" "),
            LEFT + w + 10.0,
            LEFT + w + 34.0,
            LEFT + w + 40.0,
            key + 4.0,
            s.name
        );
    }
    out + "</svg>\n"
}

fn decades(from: i32, to: i32) -> Vec<(f64, String)> {
    (from..=to)
        .map(|e| {
            let text = match e {
                -1 => "0.1".into(),
                0 => "1".into(),
                1 => "10".into(),
                2 => "100".into(),
                3 => "1,000".into(),
                _ => format!("1e{e}"),
            };
            (libm::pow(10.0, e as f64), text)
        })
        .collect()
}

/// Share of pages that fail at default levels, over time.
pub fn default_levels(effort: Effort) -> Result<String> {
    let n = effort.of(2_000);
    let mut series = Vec::new();
    for (chip_name, label, dashed) in [("ct-qlc-176l", "CT", false), ("fg-qlc-144l", "FG", true)] {
        let c = chip(chip_name)?;
        for (colour, celsius) in [25.0, 40.0, 55.0].into_iter().enumerate() {
            let mut points = Vec::new();
            for i in 0..=40 {
                let h = libm::pow(10.0, -1.0 + 4.0 * i as f64 / 40.0);
                let a = Aged::new(&c, CellMode::Qlc, 300, h, celsius)?;
                points.push((h, a.failing(n, &DEFAULT, LIMIT)?));
            }
            series.push(Series {
                name: format!("{label} QLC, {celsius} °C"),
                colour,
                dashed,
                points,
            });
        }
    }
    Ok(plot(
        "Pages above 72 errors in 8,192 bits at default levels, 300 P/E",
        &Axis {
            label: "time since programming (h)",
            range: (0.1, 1000.0),
            log: true,
            ticks: decades(-1, 3),
        },
        &Axis {
            label: "share of 16 KiB pages",
            range: (0.0, 1.0),
            log: false,
            ticks: (0..=5)
                .map(|i| (i as f64 / 5.0, format!("{} %", 20 * i)))
                .collect(),
        },
        &series,
    ))
}

/// Frame error rate over raw bit error rate.
pub fn codes(effort: Effort) -> Result<String> {
    let mut series = Vec::new();
    for (colour, name) in Code::NAMES.into_iter().enumerate() {
        let c = Code::named(name).map_err(|e| e.to_string())?;
        let at = |i: usize| 3e-3 + 17e-3 * i as f64 / 100.0;
        series.push(Series {
            name: format!("{name}, hard"),
            colour,
            dashed: false,
            points: (0..=100)
                .map(|i| (at(i), c.frame_error_rate(at(i))))
                .filter(|p| p.1 >= 1e-8)
                .collect(),
        });
        if c.is_soft() {
            let draws = effort.of(2_000);
            series.push(Series {
                name: format!("{name}, 3 senses"),
                colour,
                dashed: true,
                points: (0..=100)
                    .step_by(2)
                    .map(|i| (at(i), soft_fer(&c, at(i), draws)))
                    .filter(|p| p.1 >= 1e-4)
                    .collect(),
            });
        }
    }
    Ok(plot(
        "Frame error rate of the codes",
        &Axis {
            label: "raw bit error rate (1e-3)",
            range: (3e-3, 20e-3),
            log: false,
            ticks: (3..=20)
                .step_by(2)
                .map(|i| (i as f64 * 1e-3, i.to_string()))
                .collect(),
        },
        &Axis {
            label: "frame error rate",
            range: (1e-8, 1.0),
            log: true,
            ticks: decades(-8, 0),
        },
        &series,
    ))
}

/// What the range of each knob does to first reads at the higher wear, `ldpc-1k`.
pub fn ranges(effort: Effort) -> Result<String> {
    const CODE: usize = 1;
    const LABELS: f64 = 250.0;
    let (frozen, lines) = knobs::sensitivities(effort)?;
    let rows: Vec<_> = lines.chunks(2).collect();
    let height = 70.0 + 20.0 * rows.len() as f64 + 40.0;
    let mut out = open(
        "First reads of 64 KiB that fail, 28 h at 55 °C, 2,500 P/E, ldpc-1k",
        height,
    );
    let x = Axis {
        label: "",
        range: (1e-6, 1.0),
        log: true,
        ticks: decades(-6, 0),
    };
    let w = WIDTH - LABELS - 30.0;
    let px = |v: f64| LABELS + w * x.place(v);
    let bottom = 50.0 + 20.0 * rows.len() as f64;
    for (v, text) in &x.ticks {
        let at = px(*v);
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"40\" y2=\"{bottom:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
            bottom + 18.0
        );
    }
    for (i, pair) in rows.iter().enumerate() {
        let y = 50.0 + 20.0 * i as f64;
        let at = |s: &knobs::Sensitivity| px(s.failures[1][CODE].0);
        let (a, b) = (at(&pair[0]), at(&pair[1]));
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"11\">{}</text>\
             <line x1=\"{a:.1}\" x2=\"{b:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"#999\" stroke-width=\"2\"/>\
             <circle cx=\"{a:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{}\"/>\
             <circle cx=\"{b:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{}\"/>",
            LABELS - 8.0,
            y + 9.0,
            pair[0].key,
            y + 5.0,
            y + 5.0,
            y + 5.0,
            COLOURS[0],
            y + 5.0,
            COLOURS[1],
        );
    }
    let at = px(frozen[1][CODE].0);
    let _ = write!(
        out,
        "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"40\" y2=\"{bottom:.1}\" stroke=\"#333\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">share of first reads; line: as frozen, blue: first \
         value, orange: second value</text>\n</svg>\n",
        WIDTH / 2.0,
        bottom + 38.0
    );
    Ok(out)
}
