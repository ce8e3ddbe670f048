//! How the best levels of valleys go with those of the sentinels, from the cells, without a run.

use anyhow::{Context, Result, anyhow};
use firstread_core::{BlockId, CellMode, DieId, Ns, PageType};
use firstread_nand::Medium;
use firstread_nand::characterize::{Correlation, sentinel_correlations};
use firstread_session::conditions::{
    ConditionError, parse_age, parse_celsius, parse_pe_cycles, single,
};
use firstread_session::profile;
use indicatif::{ProgressBar, ProgressFinish};

use super::dimension::Dimension;
use super::metric;
use super::plan::{self, Coordinates};
use super::points::{Estimate, Points};
use super::spec::{self, Study};
use crate::figure::{
    Anchor, Axis, Colour, Dash, Figure, Mark, Marker, PALETTE, Panel, Row, Series, TWO_COLUMNS_PX,
    Ticks,
};
use crate::progress::Bars;

const HEIGHT_PX: u32 = 1050;

/// The measured pairs of a correlation.
#[derive(Debug)]
pub struct Measured<'a> {
    pub spec: &'a spec::Correlation,
    /// Of each drive, every valley that is no sentinel.
    drives: Vec<Vec<Correlation>>,
    mode: CellMode,
    /// Sentinels by page type.
    sentinels: Vec<u8>,
    /// The least R² in the paper, of the claim about it.
    published: Option<f64>,
    dac_mv: f64,
}

/// Measures the correlations of `study`, and adds a point of each drive to `points`.
pub fn measure<'a>(
    study: &'a Study,
    only: &[String],
    points: &mut Points,
) -> Result<Vec<Measured<'a>>> {
    let chosen = |spec: &&spec::Correlation| plan::chosen(only, &spec.id);
    let chosen = study.correlations.iter().filter(chosen);
    let bars = Bars::default();
    let bar = bars.whole(chosen.clone().map(|spec| spec.drives).sum());
    let bar = bar
        .with_prefix("correlations")
        .with_finish(ProgressFinish::AndClear);
    let mut all = Vec::new();
    for spec in chosen {
        let one = one(study, spec, &bar).with_context(|| format!("correlation `{}`", spec.id))?;
        for pairs in &one.drives {
            let at = Dimension::ALL.map(|d| spec.values(d).first().cloned().unwrap_or_default());
            let metrics = metric::all(metric::PAIRS, pairs.as_slice());
            points.add(&spec.id, Coordinates::new(at), metrics);
        }
        all.push(one);
    }
    Ok(all)
}

fn one<'a>(study: &Study, spec: &'a spec::Correlation, bar: &ProgressBar) -> Result<Measured<'a>> {
    let variant = &study.variants[&spec.variant];
    let profile = profile(&variant.drive, &plan::overrides(variant)?)?;
    let celsius = parse_celsius(&spec.temperature).map_err(anyhow::Error::msg)?;
    let wear = single(parse_pe_cycles, &spec.pe_cycles).map_err(anyhow::Error::msg)?;
    let times = spec.age.iter().map(|age| single(parse_age, age));
    let times: Vec<Ns> = times
        .collect::<Result<_, ConditionError>>()
        .map_err(anyhow::Error::msg)?;
    let geometry = profile.geometry;
    let place = |i: u16| {
        let block = i as u32 % geometry.blocks_per_plane;
        (DieId(i % geometry.dies()), BlockId(block))
    };
    let blocks: Vec<_> = (0..spec.blocks).map(place).collect();
    let failed = |e: firstread_nand::ProfileError| anyhow!("{}: {}", e.key, e.reason);
    let drive = |seed| {
        let mut medium = Medium::new(profile.chip.clone(), geometry, seed).map_err(failed)?;
        medium.set_temperature(Ns::ZERO, celsius).map_err(failed)?;
        let mode = profile.mode;
        let all = sentinel_correlations(&medium, mode, wear, &times, &blocks, spec.wordlines)?;
        bar.inc(1);
        Ok(all)
    };
    let mode = profile.chip.mode(profile.mode);
    let mut claims = study.claims.iter();
    let claim = claims.find(|c| c.points.as_ref().is_some_and(|p| p.experiment == spec.id));
    Ok(Measured {
        spec,
        mode: profile.mode,
        published: claim.and_then(|c| c.published.parse().ok()),
        drives: (1..=spec.drives).map(drive).collect::<Result<_>>()?,
        sentinels: mode.map_or(Vec::new(), |m| m.sentinels.clone()),
        dac_mv: profile.chip.dac_step_mv,
    })
}

impl Measured<'_> {
    /// Valley, its sentinel, slope and R² over drives.
    pub fn pairs(&self) -> Vec<(u8, u8, Estimate, Estimate)> {
        let of = |i: usize, value: fn(&Correlation) -> f64| {
            let values = self.drives.iter().filter_map(|d| d.get(i).map(value));
            Estimate::of(&values.collect::<Vec<_>>())
        };
        let first = self.drives.first();
        let pair = |(i, c): (usize, &Correlation)| {
            let sentinel = *self.sentinels.get(c.page as usize)?;
            let (slope, r) = (of(i, |c| c.fit.slope)?, of(i, |c| c.fit.r_squared)?);
            Some((c.valley, sentinel, slope, r))
        };
        let all = first.into_iter().flatten().enumerate();
        all.filter_map(pair).collect()
    }

    /// Levels of the first drive by page type, and R² of every pair.
    pub fn draw(&self) -> Figure {
        let mv = |units: f64| units * self.dac_mv;
        let scatter = |(page, sentinel): (usize, &u8)| {
            let of_page = self.drives[0].iter().filter(|c| c.page as usize == page);
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
                    PageType(page as u8).name(self.mode)
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
        let pairs = self.pairs();
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
                    at: self.published.into_iter().collect(),
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
            title: self.spec.title.clone(),
            size_px: (TWO_COLUMNS_PX, HEIGHT_PX),
            rows: vec![
                row(self.sentinels.iter().enumerate().map(scatter).collect()),
                row(vec![bars]),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wear and ages are single: one end of a range does not stand for it.
    #[test]
    fn what_is_refused_of_correlations() {
        let text = concat!(
            include_str!("cells.toml"),
            "[[correlation]]\nid = \"pairs\"\ntitle = \"Pairs\"\npaper = \"none\"\nvariant = \"tlc\"\n",
            "temperature = \"30\"\npe_cycles = \"300\"\nage = [\"0\", \"2d\", \"9d\"]\n",
            "blocks = 1\nwordlines = 1\ndrives = 1\n",
        );
        let measured = |text: &str| {
            let study = Study::parse("t", text).unwrap();
            let mut points = Points::default();
            let result = measure(&study, &[], &mut points).map(|all| all.len());
            result.map_err(|e| format!("{e:#}"))
        };
        assert_eq!(measured(text), Ok(1));
        for (from, to, message) in [
            ("\"300\"", "\"0..300\"", "`0..300` is a range"),
            ("\"9d\"", "\"2d..9d\"", "`2d..9d` is a range"),
        ] {
            let error = measured(&text.replacen(from, to, 1)).unwrap_err();
            assert!(
                error.contains(message) && error.contains("`pairs`"),
                "{error}"
            );
        }
    }
}
