//! A characterization as a figure: all states, two valleys enlarged, the retry table.

use firstread_nand::StateDistribution;

use super::characterization::{Aged, Characterization};
use super::report;
use crate::figure::{
    Anchor, Axis, Colour, Dash, Figure, Gap, Mark, Marker, PALETTE, Panel, Row, Series,
    TWO_COLUMNS_PX, Ticks,
};

/// Height of the figure (px): 9 to 16.
const HEIGHT_PX: u32 = 900;
/// Points of the curve of a state.
const POINTS: u32 = 96;
/// Standard deviations of it that are drawn: beyond, it is a hundredth of a pixel high.
const REACH: f64 = 4.5;
/// Shares of the panel of all states: the height of the valleys' numbers and of the levels below
/// them, the width of an erased state that lies apart.
const NUMBERS: f64 = 0.10;
const STRIP: f64 = 0.18;
const ERASED: f64 = 0.13;
/// Densities are shown in this many percent of all cells.
const PERCENT: f64 = 100.0;

/// The figure; `valleys` are those to be enlarged, or none for a choice of two.
pub fn figure(c: &Characterization, valleys: &[u8]) -> Figure {
    let chosen = match valleys {
        [] => choice(c),
        given => given.iter().map(|v| *v as usize).collect(),
    };
    let mut lower: Vec<Panel> = Vec::new();
    for valley in chosen {
        lower.push(valley_panel(c, valley, letter(1 + lower.len())));
    }
    lower.push(entries_panel(c, letter(1 + lower.len())));
    Figure {
        title: format!("{}: {}", c.name, report::conditions(c)),
        size_px: (TWO_COLUMNS_PX, HEIGHT_PX),
        rows: vec![
            Row {
                weight: 1.0,
                panels: vec![states_panel(c, letter(0))],
            },
            Row {
                weight: 1.0,
                panels: lower,
            },
        ],
    }
}

fn letter(i: usize) -> char {
    (b'a' + i as u8) as char
}

fn colour(age: usize) -> Colour {
    PALETTE[age % PALETTE.len()]
}

/// Ages beyond the colours differ in their dashes.
fn dash(age: usize) -> Dash {
    let dashes = [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::Mixed];
    dashes[age / PALETTE.len() % dashes.len()]
}

/// Width of the curves of an age (px): where some lie on each other, all of them show.
fn width(age: usize) -> f64 {
    (3.4 - 0.3 * age as f64).max(1.0)
}

fn named(name: &str, colour: Colour, mark: Mark) -> Series {
    Series {
        name: name.into(),
        colour,
        mark,
    }
}

/// The valleys to enlarge: the one that moves most and the middle one, whose states are typical.
fn choice(c: &Characterization) -> Vec<usize> {
    let last = c.factory_mv.len();
    match last {
        1 => vec![1],
        _ => vec![last.div_ceil(2), last],
    }
}

/// The curve of a state from `from` to `to`, in percent of all cells.
fn curve(c: &Characterization, state: StateDistribution, from: f64, to: f64) -> Vec<[f64; 2]> {
    let at = |i: u32| from + (to - from) * i as f64 / POINTS as f64;
    (0..=POINTS)
        .map(|i| [at(i), PERCENT * c.density(state, at(i))])
        .collect()
}

fn whole(c: &Characterization, state: StateDistribution) -> Vec<[f64; 2]> {
    let reach = REACH * state.sigma_mv;
    curve(c, state, state.mean_mv - reach, state.mean_mv + reach)
}

fn states_panel(c: &Characterization, letter: char) -> Panel {
    let states = c.conditions.mode.states();
    let mut series = vec![named(
        "factory level",
        Colour::GREY,
        Mark::Verticals {
            at: c.factory_mv.clone(),
            from: 0.0,
            to: 1.0 - NUMBERS,
            width_px: 1.6,
            dash: Dash::Dashed,
        },
    )];
    let (mut low, mut high, mut peak) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64);
    for (i, aged) in c.ages.iter().enumerate() {
        for state in &aged.states {
            let points = whole(c, *state);
            peak = peak.max(PERCENT * c.density(*state, state.mean_mv));
            low = low.min(state.mean_mv - 4.0 * state.sigma_mv);
            high = high.max(state.mean_mv + 4.5 * state.sigma_mv);
            let area = points.iter().map(|p| [p[0], 0.0, p[1]]).collect();
            series.push(named(
                "",
                colour(i),
                Mark::Band {
                    points: area,
                    opacity: 0.10,
                },
            ));
            series.push(named(
                &report::age(aged.age),
                colour(i),
                Mark::Line {
                    points,
                    width_px: width(i),
                    dash: dash(i),
                },
            ));
        }
    }
    let top = peak / (1.0 - NUMBERS - STRIP - 0.05);
    // Optimal levels hang from the top, the youngest highest: their drift shows as a slant.
    let each = STRIP / c.ages.len() as f64;
    for (i, aged) in c.ages.iter().enumerate() {
        let to = 1.0 - NUMBERS - each * i as f64;
        series.push(named(
            "",
            colour(i),
            Mark::Verticals {
                at: aged.valleys.iter().map(|v| v.optimum_mv).collect(),
                from: to - 0.88 * each,
                to,
                width_px: 4.0,
                dash: Dash::Solid,
            },
        ));
    }
    series.extend(best_level());
    for (valley, at) in (1..).zip(&c.factory_mv) {
        series.push(text([*at, (1.0 - 0.8 * NUMBERS) * top], valley.to_string()));
    }
    let mut y = Axis::linear("Cells (% per mV)").between(0.0, top);
    y.ticks = Ticks::UpTo(peak * 1.1);
    let mut x = Axis::linear("Threshold voltage (mV)").between(low, high);
    x.gap = gap(c, states, high - low);
    Panel {
        title: match states {
            2 => format!("({letter}) States of the nominal page, and the read level of the valley"),
            n => format!(
                "({letter}) States of the nominal page, and the read levels of valleys 1 to {}",
                n - 1
            ),
        },
        weight: 1.0,
        x,
        y,
        series,
    }
}

fn text(at: [f64; 2], text: String) -> Series {
    let mark = Mark::Text {
        at,
        text,
        anchor: Anchor::Middle,
    };
    named("", Colour::INK, mark)
}

/// The legend's entry of the levels of all ages.
fn best_level() -> [Series; 2] {
    let stem = Mark::Verticals {
        at: Vec::new(),
        from: 0.0,
        to: 0.0,
        width_px: 3.0,
        dash: Dash::Solid,
    };
    let dot = Mark::Markers {
        points: Vec::new(),
        marker: Marker::Circle,
        size_px: 13.0,
    };
    [stem, dot].map(|mark| named("best level", Colour::INK, mark))
}

/// The empty part between the erased state and the first level, if it is worth leaving out.
fn gap(c: &Characterization, states: usize, span: f64) -> Option<Gap> {
    if states <= 4 {
        return None;
    }
    let erased = |a: &Aged| a.states[0].mean_mv + 4.0 * a.states[0].sigma_mv;
    let from = c.ages.iter().map(erased).fold(f64::NEG_INFINITY, f64::max);
    let first = |a: &Aged| {
        let programmed = a.states[1].mean_mv - 6.0 * a.states[1].sigma_mv;
        a.valleys[0].optimum_mv.min(programmed)
    };
    let level = c.ages.iter().map(first).fold(c.factory_mv[0], f64::min);
    let to = level - 60.0;
    (to - from > 0.06 * span).then_some(Gap {
        from,
        to,
        before: ERASED,
    })
}

fn valley_panel(c: &Characterization, valley: usize, letter: char) -> Panel {
    let k = valley - 1;
    let factory = c.factory_mv[k];
    let mut series = Vec::new();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for aged in &c.ages {
        let (a, b) = (aged.states[k], aged.states[k + 1]);
        low = low.min(a.mean_mv - 0.5 * a.sigma_mv);
        high = high.max(b.mean_mv + 0.5 * b.sigma_mv);
        let at = c.density(a, aged.valleys[k].optimum_mv);
        least = least.min(PERCENT * at);
        most = most.max(PERCENT * c.density(b, b.mean_mv));
    }
    // A decade below the deepest crossing.
    let floor = libm::exp10(libm::floor(libm::log10((least * 0.1).max(1e-20))));
    let top = libm::exp10(libm::ceil(libm::log10(most)));
    if let Some(aged) = c.ages.last() {
        let i = c.ages.len() - 1;
        // Cells of the upper state below the factory level, of the lower and the erased one above.
        let mut wrong = vec![(k + 1, low, factory), (k, factory, high)];
        wrong.extend((k > 0).then_some((0, factory, high)));
        for (state, from, to) in wrong {
            let points = curve(c, aged.states[state], from, to);
            let area = points.iter().map(|p| [p[0], floor, p[1].max(floor)]);
            series.push(named(
                &format!("misread at factory level, {}", report::age(aged.age)),
                colour(i),
                Mark::Band {
                    points: area.collect(),
                    opacity: 0.25,
                },
            ));
        }
    }
    series.push(named(
        "factory level",
        Colour::GREY,
        Mark::Verticals {
            at: vec![factory],
            from: 0.0,
            to: 1.0,
            width_px: 2.4,
            dash: Dash::Dashed,
        },
    ));
    for (i, aged) in c.ages.iter().enumerate() {
        // All of them: an erased state that reads have raised reaches far.
        for state in &aged.states {
            series.push(named(
                "",
                colour(i),
                Mark::Line {
                    points: curve(c, *state, low, high),
                    width_px: width(i),
                    dash: dash(i),
                },
            ));
        }
    }
    for (i, aged) in c.ages.iter().enumerate() {
        let at = aged.valleys[k].optimum_mv;
        let crossing = PERCENT * c.density(aged.states[k], at);
        series.push(named(
            "",
            colour(i),
            Mark::Line {
                points: vec![[at, floor], [at, crossing]],
                width_px: 1.6,
                dash: Dash::Solid,
            },
        ));
        series.push(named(
            "",
            colour(i),
            Mark::Markers {
                points: vec![[at, crossing]],
                marker: Marker::Circle,
                size_px: 13.0,
            },
        ));
    }
    let page = c.page_of(valley).name(c.conditions.mode);
    Panel {
        title: format!("({letter}) Valley {valley} ({page} page)"),
        weight: 1.0,
        x: Axis::linear("Threshold voltage (mV)").between(low, high),
        y: Axis::log10("Cells (% per mV)").between(floor, top),
        series,
    }
}

fn entries_panel(c: &Characterization, letter: char) -> Panel {
    let top = c.factory_mv.len() - 1;
    let shift = |k: usize| c.entries()[k][top] as f64 * c.dac_step_mv;
    let mut order: Vec<usize> = (0..c.entries().len()).collect();
    order.sort_by(|a, b| shift(*a).total_cmp(&shift(*b)));
    // Entries that fail whatever the age are of no interest but for the first of them.
    let useful = |k: &usize| c.ages.iter().any(|a| a.entries[*k].all().value() < 0.999);
    let first = order.iter().position(useful).unwrap_or(0).saturating_sub(2);
    let last = order.iter().rposition(useful).unwrap_or(order.len() - 1) + 2;
    let order = &order[first..last.min(order.len() - 1) + 1];

    let pages = c.ages.first().map_or(1, |a| a.walk.none.of.max(1));
    let floor = libm::exp10(libm::floor(libm::log10(0.9 / pages as f64)));
    let mut series = vec![named(
        "",
        Colour::GREY,
        Mark::Verticals {
            at: vec![0.0],
            from: 0.0,
            to: 1.0,
            width_px: 2.4,
            dash: Dash::Dashed,
        },
    )];
    for (i, aged) in c.ages.iter().enumerate() {
        let share = |k: &usize| aged.entries[*k].all();
        let line = |points| Mark::Line {
            points,
            width_px: 2.2,
            dash: Dash::Solid,
        };
        let markers = |points, marker, size_px| Mark::Markers {
            points,
            marker,
            size_px,
        };
        // Runs of entries that fail some page: a line with its interval.
        for run in order.chunk_by(|a, b| share(a).n > 0 && share(b).n > 0) {
            let some: Vec<&usize> = run.iter().filter(|k| share(k).n > 0).collect();
            let points: Vec<[f64; 2]> = some
                .iter()
                .map(|k| [shift(**k), share(k).value()])
                .collect();
            let band = some.iter().map(|k| {
                let (low, high) = share(k).interval();
                [shift(**k), low.max(floor), high]
            });
            let band = Mark::Band {
                points: band.collect(),
                opacity: 0.20,
            };
            series.push(named("", colour(i), band));
            series.push(named("", colour(i), line(points.clone())));
            series.push(named("", colour(i), markers(points, Marker::Circle, 7.0)));
        }
        let none = order.iter().filter(|k| share(k).n == 0);
        let limits = none.map(|k| [shift(*k), share(k).interval().1]).collect();
        // Those of several ages lie on each other: the older the smaller.
        let size_px = 13.0 - 1.8 * i as f64;
        series.push(named(
            "",
            colour(i),
            markers(limits, Marker::TriangleDown, size_px),
        ));
    }
    series.push(named(
        &format!("0 of {}: 95 % limit", report::count(pages)),
        Colour::INK,
        Mark::Markers {
            points: Vec::new(),
            marker: Marker::TriangleDown,
            size_px: 13.0,
        },
    ));
    Panel {
        title: format!("({letter}) Entries of the factory retry table"),
        weight: 1.0,
        x: Axis::linear(&format!("Shift of level {} (mV)", top + 1)),
        y: Axis::log10("Pages that fail (share)").between(floor, 1.0),
        series,
    }
}

#[cfg(test)]
mod tests;
