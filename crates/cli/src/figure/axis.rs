//! Where values lie on an axis, and where it is labelled.

use super::{Axis, Gap, Scale, Ticks};

/// Room for the break of an axis (px).
pub const GAP_PX: f64 = 24.0;
/// No value is written nearer to the break.
const CLEAR_PX: f64 = 30.0;

/// Beyond it nothing is measured.
const MOST: f64 = 1e100;

/// An axis laid on the page.
#[derive(Clone, Debug)]
pub struct Placed {
    scale: Scale,
    low: f64,
    high: f64,
    gap: Option<Gap>,
    /// Where the ends lie (px).
    from_px: f64,
    to_px: f64,
}

/// A labelled place of an axis; a minor one has no text.
#[derive(Clone, PartialEq, Debug)]
pub struct Tick {
    pub at: f64,
    pub text: String,
}

impl Placed {
    /// `axis` from `from_px` to `to_px`, showing at least `data` where it has no range of its own.
    pub fn new(axis: &Axis, data: impl Iterator<Item = f64>, from_px: f64, to_px: f64) -> Placed {
        let (low, high) = match axis.range {
            Some((low, high)) if fits(axis.scale, low, high) => (low, high),
            _ => range(axis.scale, data),
        };
        let gap = axis.gap.filter(|g| {
            axis.scale == Scale::Linear && low < g.from && g.from < g.to && g.to < high
        });
        Placed {
            scale: axis.scale,
            low,
            high,
            gap,
            from_px,
            to_px,
        }
    }

    /// Its lowest and highest value.
    pub fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The pixels of its break.
    pub fn gap_px(&self) -> Option<(f64, f64)> {
        self.gap.map(|g| (self.px(g.from), self.px(g.to)))
    }

    /// Where `value` lies (px), beyond the ends if it does.
    pub fn px(&self, value: f64) -> f64 {
        let (a, b, v) = match self.scale {
            Scale::Linear => (self.low, self.high, value),
            Scale::Log10 => (
                libm::log10(self.low),
                libm::log10(self.high),
                // Far below, so that a line to it leaves the panel.
                libm::log10(value.max(self.low * 1e-9)),
            ),
        };
        let length = self.to_px - self.from_px;
        let Some(Gap { from, to, before }) = self.gap else {
            return self.from_px + (v - a) / (b - a) * length;
        };
        let break_px = GAP_PX * length.signum();
        let first = before * (length - break_px);
        let second = self.from_px + first + break_px;
        if v <= from {
            self.from_px + (v - a) / (from - a) * first
        } else if v >= to {
            second + (v - to) / (b - to) * (self.to_px - second)
        } else {
            self.from_px + first + (v - from) / (to - from) * break_px
        }
    }

    /// Where it is labelled, with a text about every `spacing_px`.
    pub fn ticks(&self, ticks: &Ticks, spacing_px: f64) -> Vec<Tick> {
        if let Ticks::Named(named) = ticks {
            let tick = |(at, text): &(f64, String)| Tick {
                at: *at,
                text: text.clone(),
            };
            return named.iter().map(tick).collect();
        }
        if let Ticks::UpTo(last) = ticks {
            let mut all = self.ticks(&Ticks::Auto, spacing_px);
            all.retain(|t| t.at <= *last);
            return all;
        }
        // Two texts at least, however short the axis: one value alone says nothing of the scale.
        let mut room = (self.to_px - self.from_px).abs() / spacing_px;
        loop {
            let ticks = self.with_room(room);
            let texts = ticks.iter().filter(|t| !t.text.is_empty()).count();
            if texts >= 2 || room > 16.0 {
                return ticks;
            }
            room = 2.0 * room.max(0.5);
        }
    }

    /// The ticks of an axis with room for so many texts.
    fn with_room(&self, room: f64) -> Vec<Tick> {
        match (self.scale, self.gap) {
            (Scale::Log10, _) => decades(self.low, self.high, room),
            (Scale::Linear, None) => round_numbers(self.low, self.high, room),
            (Scale::Linear, Some(gap)) => {
                let mut out = round_numbers(self.low, gap.from, room * gap.before);
                out.extend(round_numbers(gap.to, self.high, room * (1.0 - gap.before)));
                let (from, to) = (self.px(gap.from), self.px(gap.to));
                out.retain(|t| {
                    let at = self.px(t.at);
                    at < from - CLEAR_PX || at > to + CLEAR_PX
                });
                out
            }
        }
    }
}

/// A range that shows `data`: on a linear axis with a twentieth to spare, on a logarithmic one from
/// decade to decade.
fn range(scale: Scale, data: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for v in data.filter(|v| shown(scale, *v)) {
        (low, high) = (low.min(v), high.max(v));
    }
    if low > high {
        return match scale {
            Scale::Linear => (0.0, 1.0),
            Scale::Log10 => (0.1, 1.0),
        };
    }
    match scale {
        Scale::Log10 => {
            let (a, b) = (libm::floor(libm::log10(low)), libm::ceil(libm::log10(high)));
            (libm::exp10(a), libm::exp10(b.max(a + 1.0)))
        }
        Scale::Linear if low == high => (low - 0.5, high + 0.5),
        Scale::Linear => {
            let spare = 0.05 * (high - low);
            // An axis that begins near zero begins at zero.
            let from = if low >= 0.0 && low < 0.25 * high {
                0.0
            } else {
                low - spare
            };
            let to = if high <= 0.0 && high > 0.25 * low {
                0.0
            } else {
                high + spare
            };
            (from, to)
        }
    }
}

/// Whether an axis can run from `low` to `high`.
fn fits(scale: Scale, low: f64, high: f64) -> bool {
    low < high && shown(scale, low) && shown(scale, high)
}

/// Whether an axis can show `value`: an unbounded one would leave no room for others.
fn shown(scale: Scale, value: f64) -> bool {
    match scale {
        Scale::Linear => value.abs() < MOST,
        Scale::Log10 => (1.0 / MOST..MOST).contains(&value),
    }
}

/// The round step that divides `span` into about `room` parts.
fn step(span: f64, room: f64) -> f64 {
    let rough = span / room.max(1.0);
    let decade = libm::exp10(libm::floor(libm::log10(rough)));
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    let fits = steps
        .iter()
        .map(|s| s * decade)
        .find(|s| *s >= rough * 0.999);
    fits.unwrap_or(10.0 * decade)
}

fn round_numbers(low: f64, high: f64, room: f64) -> Vec<Tick> {
    let most = low.abs().max(high.abs());
    match most < WRITTEN_OUT.start {
        true => with_power(low, high, most, room),
        false => multiples(low, high, step(high - low, room)),
    }
}

/// Round numbers, each with the power of ten of `most`.
fn with_power(low: f64, high: f64, most: f64, room: f64) -> Vec<Tick> {
    let exponent = libm::floor(libm::log10(most));
    let unit = libm::exp10(exponent);
    let (low, high) = (low / unit, high / unit);
    let mut ticks = multiples(low, high, step(high - low, room));
    for tick in &mut ticks {
        tick.at *= unit;
        if tick.at != 0.0 {
            tick.text += &format!("\u{b7}{}", power(exponent as i32));
        }
    }
    ticks
}

/// Multiples of `step` from `low` to `high`.
fn multiples(low: f64, high: f64, step: f64) -> Vec<Tick> {
    let first = libm::ceil(low / step - 1e-9) as i64;
    let last = libm::floor(high / step + 1e-9) as i64;
    let decimals = (0..12)
        .find(|&d| {
            let scaled = step * libm::exp10(d as f64);
            (scaled - libm::round(scaled)).abs() < 1e-6 * scaled
        })
        .unwrap_or(12);
    let tick = |n: i64| Tick {
        at: n as f64 * step,
        text: number(n as f64 * step, decimals),
    };
    (first..=last.min(first.saturating_add(100)))
        .map(tick)
        .collect()
}

/// A number with a minus sign that is one.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let sign = if value < 0.0 && text.contains(|c: char| c.is_ascii_digit() && c != '0') {
        "\u{2212}"
    } else {
        ""
    };
    format!("{sign}{text}")
}

/// Powers of ten from `low` to `high`, every one or every so many as there is room for; where all
/// are labelled, their multiples between them are minor ticks.
fn decades(low: f64, high: f64, room: f64) -> Vec<Tick> {
    let first = libm::ceil(libm::log10(low) - 1e-9) as i32;
    let last = libm::floor(libm::log10(high) + 1e-9) as i32;
    if last <= first {
        return within_a_decade(low, high, room);
    }
    let every = libm::ceil((last - first) as f64 / room.max(1.0)).max(1.0) as i32;
    let mut out = Vec::new();
    for e in first - 1..=last {
        if e >= first {
            let text = if e.rem_euclid(every) == 0 {
                power(e)
            } else {
                String::new()
            };
            out.push(Tick {
                at: libm::exp10(e as f64),
                text,
            });
        }
        if every == 1 && last - first <= 6 {
            let minor = (2..10).map(|m| m as f64 * libm::exp10(e as f64));
            out.extend(minor.filter(|v| *v >= low && *v <= high).map(|at| Tick {
                at,
                text: String::new(),
            }));
        }
    }
    out
}

/// Values that are written out. Others are told by their power of ten.
const WRITTEN_OUT: core::ops::Range<f64> = 1e-3..1e6;

/// Labels from `low` to `high` with their power of ten: multiples of it by 1, 2 and 5, or by 1 to 9 where fewer than three of these lie
/// there.
fn by_powers(low: f64, high: f64) -> Vec<Tick> {
    let exponents = libm::floor(libm::log10(low)) as i32..=libm::floor(libm::log10(high)) as i32;
    let all = exponents.flat_map(|e| {
        (1..=9u32).map(move |m| {
            let text = match (m, power(e)) {
                (1, power) => power,
                (m, power) => format!("{m}\u{b7}{power}"),
            };
            let at = f64::from(m) * libm::exp10(f64::from(e));
            (m, Tick { at, text })
        })
    });
    let all: Vec<(u32, Tick)> = all.filter(|(_, t)| t.at >= low && t.at <= high).collect();
    let few = |m: u32| matches!(m, 1 | 2 | 5);
    let are_few = all.iter().filter(|(m, _)| few(*m)).count() >= 3;
    let kept = all.into_iter().filter(|(m, _)| !are_few || few(*m));
    kept.map(|(_, tick)| tick).collect()
}

/// Labels where one power of ten or none lies from `low` to `high`: multiples of a power of ten by 1, 2 and 5 where three of them
/// do, and round numbers otherwise.
fn within_a_decade(low: f64, high: f64, room: f64) -> Vec<Tick> {
    let exponents = libm::floor(libm::log10(low)) as i32..=libm::floor(libm::log10(high)) as i32;
    let all = exponents.flat_map(|e| {
        [1.0, 2.0, 5.0].map(|m| Tick {
            at: m * libm::exp10(e as f64),
            text: number(m * libm::exp10(e as f64), (-e).max(0) as usize),
        })
    });
    let ticks: Vec<Tick> = all.filter(|t| t.at >= low && t.at <= high).collect();
    if !WRITTEN_OUT.contains(&low) {
        let ticks = by_powers(low, high);
        return match ticks.len() {
            0..2 => with_power(low, high, low, room.max(2.0)),
            _ => ticks,
        };
    }
    match ticks.len() {
        0..3 => round_numbers(low, high, room.max(2.0)),
        _ => ticks,
    }
}

fn power(exponent: i32) -> String {
    match exponent {
        0 => "1".into(),
        1 => "10".into(),
        e if e < 0 => format!("10^{{\u{2212}{}}}", -e),
        e => format!("10^{{{e}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &[Tick]) -> Vec<&str> {
        let texts = ticks.iter().map(|t| t.text.as_str());
        texts.filter(|t| !t.is_empty()).collect()
    }

    #[test]
    fn golden_ticks() {
        let linear = |low, high| {
            Placed::new(
                &Axis::linear("").between(low, high),
                [].into_iter(),
                0.0,
                500.0,
            )
        };
        let at = |p: Placed| texts(&p.ticks(&Ticks::Auto, 100.0)).join(" ");
        assert_eq!(at(linear(0.0, 1.0)), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(at(linear(-3600.0, 4200.0)), "\u{2212}2000 0 2000 4000");
        assert_eq!(at(linear(0.0, 0.07)), "0.00 0.02 0.04 0.06");
        let log = Placed::new(
            &Axis::log10("").between(1e-4, 1.0),
            [].into_iter(),
            0.0,
            500.0,
        );
        assert_eq!(
            at(log),
            "10^{\u{2212}4} 10^{\u{2212}3} 10^{\u{2212}2} 10^{\u{2212}1} 1"
        );
    }

    /// Whatever the range, and however short the axis, two values are written at least.
    #[test]
    fn model_every_axis_has_two_labels() {
        for scale in [Scale::Linear, Scale::Log10] {
            for low in [1e-12, 0.37, 1.02, 8.9, 99.0, 1_234.5, 7.7e8] {
                for ratio in [1.01, 1.1, 1.45, 1.97, 2.3, 7.0, 11.0, 95.0, 1.3e4, 1e9] {
                    for length in [40.0, 150.0, 900.0] {
                        let axis = Axis {
                            scale,
                            ..Axis::linear("").between(low, low * ratio)
                        };
                        let placed = Placed::new(&axis, [].into_iter(), 0.0, length);
                        let ticks = placed.ticks(&Ticks::Auto, 88.0);
                        let written = texts(&ticks);
                        assert!(written.len() >= 2, "{scale:?} {low} × {ratio}: {written:?}");
                        let mut different = written.clone();
                        different.dedup();
                        assert_eq!(different, written, "{scale:?} {low} × {ratio}");
                    }
                }
            }
        }
    }

    /// A logarithmic axis of less than two decades has numbers all the same.
    #[test]
    fn golden_ticks_within_a_decade() {
        for (low, high, labels) in [
            (130.0, 183.0, "140 160 180"),
            (120.0, 460.0, "200 400"),
            (300.0, 3_500.0, "500 1000 2000"),
            (0.15, 0.9, "0.25 0.50 0.75"),
            (0.03, 0.3, "0.05 0.1 0.2"),
            (9.0, 110.0, "10 10^{2}"),
            (
                3e-15,
                8e-15,
                "3\u{b7}10^{\u{2212}15} 4\u{b7}10^{\u{2212}15} 5\u{b7}10^{\u{2212}15} 6\u{b7}10^{\u{2212}15} \
                 7\u{b7}10^{\u{2212}15} 8\u{b7}10^{\u{2212}15}",
            ),
            (2e9, 1.5e10, "2\u{b7}10^{9} 5\u{b7}10^{9} 10^{10}"),
        ] {
            let axis = Axis::log10("").between(low, high);
            let placed = Placed::new(&axis, [].into_iter(), 0.0, 300.0);
            let ticks = placed.ticks(&Ticks::Auto, 100.0);
            assert_eq!(texts(&ticks).join(" "), labels, "{low} to {high}");
        }
    }

    #[test]
    fn formula_both_sides_of_a_gap_are_linear() {
        let mut axis = Axis::linear("").between(-4000.0, 4000.0);
        axis.gap = Some(Gap {
            from: -1500.0,
            to: 500.0,
            before: 0.25,
        });
        let p = Placed::new(&axis, [].into_iter(), 100.0, 1100.0);
        assert_eq!((p.px(-4000.0), p.px(4000.0)), (100.0, 1100.0));
        let (from, to) = p.gap_px().unwrap();
        assert_eq!(from, 100.0 + 0.25 * (1000.0 - GAP_PX));
        assert!((to - from - GAP_PX).abs() < 1e-9);
        assert_eq!(p.px(-2750.0), 0.5 * (100.0 + from));
        assert_eq!(p.px(2250.0), 0.5 * (to + 1100.0));
        let mut last = p.px(-4000.0);
        for v in (-3999..4000).map(f64::from) {
            assert!(p.px(v) > last);
            last = p.px(v);
        }
    }

    #[test]
    fn what_do_data_ask_for() {
        let of = |scale, data: &[f64]| range(scale, data.iter().copied());
        assert_eq!(of(Scale::Log10, &[0.0, 3e-4, 0.2]), (1e-4, 1.0));
        assert_eq!(of(Scale::Linear, &[1.0, 100.0]), (0.0, 104.95));
        assert_eq!(of(Scale::Linear, &[]), (0.0, 1.0));
        assert_eq!(of(Scale::Linear, &[f64::NAN, 7.0]), (6.5, 7.5));
    }
}
