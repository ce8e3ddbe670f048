//! What a run of a plan says: draw × row, what holds together, what never does, what flips a row and what moves it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::cases::{self, Setting, free_in_words, in_words};
use super::rule::{Holds, Judged};
use super::run::{Drawn, Outcome};
use super::spec::Part;

/// Fewest draws over which a rank correlation is told.
const FEWEST_DRAWS: usize = 8;

/// What became of a row in a draw.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// In some case the mean over drives is in the band.
    Holds,
    /// In some case the band meets the interval of one new drive.
    HoldsBySpread,
    /// In no case that was simulated.
    Misses,
    /// The cells rule out every case.
    RuledOut,
    /// The cells leave a case possible, and the draw was not simulated.
    Open,
}

/// A row in a draw.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Cell {
    pub status: Status,
    /// The case that holds, or that is nearest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<Best>,
}

/// A case of a row that was simulated.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Best {
    pub at: String,
    pub setting: String,
    /// The number that is furthest off, mean over drives.
    pub mean: f64,
    /// The interval of one new drive.
    pub new_drive: [f64; 2],
    pub band: [f64; 2],
    /// How far that is from the band, in halves of the band.
    pub miss: f64,
}

#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct OfDraw {
    pub draw: u64,
    pub values: Vec<f64>,
    pub simulated: bool,
    /// The most rows that hold at once: under one setting of the switches and one condition a figure.
    pub together: Option<Together>,
    pub cells: Vec<Cell>,
}

#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Together {
    pub fit: usize,
    pub check: usize,
    pub setting: String,
    /// The condition of each figure that has a free one.
    pub at: Vec<String>,
    pub rows: Vec<String>,
}

/// Two rows that each hold somewhere and never at once.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Pair {
    pub rows: [String; 2],
    /// The draw in which they come nearest, and how.
    pub draw: u64,
    pub setting: String,
    pub best: [Best; 2],
    /// The larger of their two misses.
    pub miss: f64,
}

/// How often another position of a switch changes what becomes of a row, all else equal.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Flip {
    pub row: String,
    pub switch: String,
    pub alternative: String,
    /// Pairs of cases that differ in this switch alone.
    pub pairs: usize,
    /// Those in which the row holds with the alternative alone.
    pub gained: usize,
    /// Those in which it holds without it alone.
    pub lost: usize,
}

/// How a knob goes with a row: a rank correlation over draws.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Moves {
    pub row: String,
    pub knob: String,
    pub rank_correlation: f64,
    pub draws: usize,
    /// Whether it is of what the cells say, or of the row's own number over drives.
    pub of: &'static str,
    /// Where.
    pub at: String,
}

#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct RowSummary {
    pub id: String,
    pub figure: String,
    pub part: &'static str,
    pub published: String,
    pub unit: String,
    /// Cases of a draw.
    pub cases: usize,
    /// Draws in which the cells leave it possible.
    pub possible: usize,
    /// Simulated draws in which it holds, and those in which it holds by its mean.
    pub holds: usize,
    pub holds_by_mean: usize,
    /// Where it comes nearest if it holds nowhere.
    pub nearest: Option<(u64, Best)>,
}

#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Table {
    pub rows: Vec<RowSummary>,
    pub draws: Vec<OfDraw>,
    pub never_together: Vec<Pair>,
    pub flips: Vec<Flip>,
    pub moves: Vec<Moves>,
    /// Cases that the cells had ruled out and that were simulated, and those of them that hold.
    pub audited: usize,
    pub audit_held: usize,
}

/// The table of `outcome`.
pub fn table(outcome: &Outcome<'_>) -> Table {
    let by_draw: BTreeMap<usize, &Drawn> = outcome.drawn.iter().map(|d| (d.draw, d)).collect();
    let draws: Vec<OfDraw> = (0..outcome.draws.len())
        .map(|draw| of_draw(outcome, draw, by_draw.get(&draw).copied()))
        .collect();
    let held = outcome.audited.iter().filter(|(draw, case)| {
        let judged = by_draw.get(draw).and_then(|d| d.cases[*case].as_ref());
        judged.is_some_and(|j| j.holds() != Holds::No)
    });
    Table {
        rows: (0..outcome.rows.len())
            .map(|row| summary(outcome, &draws, row))
            .collect(),
        never_together: pairs(outcome, &draws),
        flips: flips(outcome),
        moves: moves(outcome),
        audited: outcome.audited.len(),
        audit_held: held.count(),
        draws,
    }
}

fn best(outcome: &Outcome<'_>, case: usize, judged: &Judged) -> Option<Best> {
    let worst = judged.worst()?;
    let case = &outcome.cases[case];
    Some(Best {
        at: free_in_words(&case.free),
        setting: in_words(outcome.plan, &case.setting),
        mean: worst.mean,
        new_drive: worst.new_drive,
        band: worst.band,
        miss: judged.miss(),
    })
}

/// The cases of `row` that were judged, best first: by how it holds, then by how far it is off; of equals the first.
fn judged_cases<'d>(
    outcome: &Outcome<'_>,
    drawn: &'d Drawn,
    row: usize,
) -> Vec<(usize, &'d Judged)> {
    let all = drawn.cases.iter().enumerate();
    let own = all.filter(|(i, _)| outcome.cases[*i].row == row);
    let mut own: Vec<(usize, &Judged)> = own.filter_map(|(i, j)| Some((i, j.as_ref()?))).collect();
    let rank = |j: &Judged| (j.holds(), j.miss());
    own.sort_by(|(i, a), (k, b)| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(i.cmp(k))
    });
    own
}

fn of_draw(outcome: &Outcome<'_>, draw: usize, drawn: Option<&Drawn>) -> OfDraw {
    let cell = |row: usize| {
        let cases = outcome.cases.iter().enumerate();
        let mut own = cases.filter(|(_, c)| c.row == row);
        let possible = own.any(|(i, _)| outcome.is_possible(draw, i));
        let cases = drawn.map(|drawn| judged_cases(outcome, drawn, row));
        let first = cases.as_ref().and_then(|cases| cases.first());
        let status = match (first.map(|(_, j)| j.holds()), possible, drawn) {
            (Some(Holds::Mean), ..) => Status::Holds,
            (Some(Holds::Spread), ..) => Status::HoldsBySpread,
            (_, false, _) => Status::RuledOut,
            (Some(Holds::No), true, _) | (None, true, Some(_)) => Status::Misses,
            (None, true, None) => Status::Open,
        };
        Cell {
            status,
            best: first.and_then(|(case, judged)| best(outcome, *case, judged)),
        }
    };
    let number = &outcome.draws[draw];
    OfDraw {
        draw: number.number,
        values: number.values.clone(),
        simulated: drawn.is_some(),
        together: drawn.and_then(|drawn| together(outcome, drawn)),
        cells: (0..outcome.rows.len()).map(cell).collect(),
    }
}

/// For each figure the condition under which most of its rows hold, those of the fit first.
fn together(outcome: &Outcome<'_>, drawn: &Drawn) -> Option<Together> {
    let under = |setting: &Setting| {
        let mut all = Together {
            fit: 0,
            check: 0,
            setting: in_words(outcome.plan, setting),
            at: Vec::new(),
            rows: Vec::new(),
        };
        for figure in &outcome.plan.figures {
            let mut of_condition: Vec<(String, Vec<usize>)> = Vec::new();
            let cases = outcome.cases.iter().zip(&drawn.cases);
            for (case, judged) in cases {
                let row = &outcome.rows[case.row];
                let holds = judged.as_ref().is_some_and(|j| j.holds() != Holds::No);
                if row.figure.id != figure.id || !case.is_of(setting) || !holds {
                    continue;
                }
                let at = free_in_words(&case.free);
                match of_condition.iter_mut().find(|(known, _)| *known == at) {
                    Some((_, rows)) => rows.push(case.row),
                    None => of_condition.push((at, vec![case.row])),
                }
            }
            let fit = |rows: &[usize]| {
                let fit = |row: &&usize| outcome.rows[**row].row.part == Part::Fit;
                rows.iter().filter(fit).count()
            };
            let most = of_condition.into_iter().reduce(|a, b| {
                let of = |rows: &[usize]| (fit(rows), rows.len());
                if of(&b.1) > of(&a.1) { b } else { a }
            });
            if let Some((at, rows)) = most {
                all.fit += fit(&rows);
                all.check += rows.len() - fit(&rows);
                if !at.is_empty() {
                    all.at.push(format!("{}: {at}", figure.id));
                }
                all.rows
                    .extend(rows.iter().map(|row| outcome.rows[*row].id().to_owned()));
            }
        }
        all
    };
    let settings = cases::settings(outcome.plan, outcome.quick, |_| true);
    let all = settings.iter().map(under);
    all.reduce(|a, b| {
        if (b.fit, b.check) > (a.fit, a.check) {
            b
        } else {
            a
        }
    })
}

fn summary(outcome: &Outcome<'_>, draws: &[OfDraw], row: usize) -> RowSummary {
    let of = &outcome.rows[row];
    let status = |wanted: &[Status]| {
        let is = |d: &&OfDraw| wanted.contains(&d.cells[row].status);
        draws.iter().skip(1).filter(is).count()
    };
    let holds = status(&[Status::Holds, Status::HoldsBySpread]);
    let nearest = draws
        .iter()
        .filter_map(|d| Some((d.draw, d.cells[row].best.clone()?)));
    let nearest = nearest.reduce(|a, b| if b.1.miss < a.1.miss { b } else { a });
    let possible = |draw: &usize| {
        let cases = outcome.cases.iter().enumerate();
        let mut own = cases.filter(|(_, c)| c.row == row);
        own.any(|(i, _)| outcome.is_possible(*draw, i))
    };
    RowSummary {
        id: of.id().to_owned(),
        figure: of.figure.id.clone(),
        part: of.row.part.name(),
        published: of.claim.published.clone(),
        unit: of.claim.unit.clone(),
        cases: outcome.cases.iter().filter(|c| c.row == row).count(),
        possible: (1..outcome.draws.len()).filter(possible).count(),
        holds,
        holds_by_mean: status(&[Status::Holds]),
        nearest: nearest.filter(|_| holds == 0),
    }
}

/// Pairs of rows that each hold in some draw, and in no draw at once.
fn pairs(outcome: &Outcome<'_>, draws: &[OfDraw]) -> Vec<Pair> {
    let ever = |row: usize| {
        let holds = [Status::Holds, Status::HoldsBySpread];
        draws.iter().any(|d| holds.contains(&d.cells[row].status))
    };
    let rows: Vec<usize> = (0..outcome.rows.len()).filter(|row| ever(*row)).collect();
    let mut all = Vec::new();
    for (i, &a) in rows.iter().enumerate() {
        for &b in &rows[i + 1..] {
            if let Some(pair) = nearest(outcome, a, b).filter(|pair| pair.miss > 0.0) {
                all.push(pair);
            }
        }
    }
    all
}

/// Where two rows come nearest to holding at once.
fn nearest(outcome: &Outcome<'_>, a: usize, b: usize) -> Option<Pair> {
    let mut nearest: Option<Pair> = None;
    let one_figure = outcome.rows[a].figure.id == outcome.rows[b].figure.id;
    let settings = cases::settings(outcome.plan, outcome.quick, |_| true);
    for drawn in &outcome.drawn {
        let (of_a, of_b) = (
            judged_cases(outcome, drawn, a),
            judged_cases(outcome, drawn, b),
        );
        for setting in &settings {
            let own = |of: &[(usize, &Judged)]| -> Vec<(usize, f64)> {
                let own = of.iter().filter(|(i, _)| outcome.cases[*i].is_of(setting));
                own.map(|(i, j)| (*i, j.miss())).collect()
            };
            for (i, miss_a) in own(&of_a) {
                for (k, miss_b) in own(&of_b) {
                    let apart = outcome.cases[i].free != outcome.cases[k].free;
                    let miss = miss_a.max(miss_b);
                    let nearer = nearest.as_ref().is_none_or(|n| miss < n.miss);
                    if (one_figure && apart) || !nearer {
                        continue;
                    }
                    let of = |case: usize| best(outcome, case, drawn.cases[case].as_ref()?);
                    let (Some(best_a), Some(best_b)) = (of(i), of(k)) else {
                        continue;
                    };
                    nearest = Some(Pair {
                        rows: [a, b].map(|row| outcome.rows[row].id().to_owned()),
                        draw: outcome.draws[drawn.draw].number,
                        setting: in_words(outcome.plan, setting),
                        best: [best_a, best_b],
                        miss,
                    });
                }
            }
        }
    }
    nearest
}

fn flips(outcome: &Outcome<'_>) -> Vec<Flip> {
    let mut all: BTreeMap<(usize, usize, usize), [usize; 3]> = BTreeMap::new();
    for drawn in &outcome.drawn {
        for (case, judged) in outcome.cases.iter().zip(&drawn.cases) {
            let Some(judged) = judged else {
                continue;
            };
            for switch in (0..case.setting.len()).filter(|s| case.setting[*s] > 0) {
                let mut without = case.setting.clone();
                without[switch] = 0;
                let others = outcome.cases.iter().zip(&drawn.cases);
                let mut others = others.filter(|(other, _)| {
                    (other.row, &other.free, &other.setting) == (case.row, &case.free, &without)
                });
                let Some((_, Some(default))) = others.next() else {
                    continue;
                };
                let [with, without] = [judged, default].map(|j| j.holds() != Holds::No);
                let key = (case.row, switch, case.setting[switch]);
                let counts = all.entry(key).or_default();
                counts[0] += 1;
                counts[1] += usize::from(with && !without);
                counts[2] += usize::from(without && !with);
            }
        }
    }
    let flip = |((row, switch, position), counts): ((usize, usize, usize), [usize; 3])| {
        let [pairs, gained, lost] = counts;
        let switch = &outcome.plan.switches[switch];
        Flip {
            row: outcome.rows[row].id().to_owned(),
            switch: switch.id.clone(),
            alternative: switch.alternatives[position - 1].id.clone(),
            pairs,
            gained,
            lost,
        }
    };
    all.into_iter().map(flip).collect()
}

/// For each row the numbers by draw at the case that tells most, in which the study is as it is: of the cells over all draws,
/// where the row is screened, else its own over those that were simulated.
fn moves(outcome: &Outcome<'_>) -> Vec<Moves> {
    let mut all = Vec::new();
    for (i, row) in outcome.rows.iter().enumerate() {
        let cases = outcome.cases.iter().enumerate();
        let own = cases.filter(|(_, c)| c.row == i && c.setting.iter().all(|p| *p == 0));
        let own: Vec<usize> = own.map(|(case, _)| case).collect();
        let screened = !row.row.screens.is_empty();
        let numbers = |case: usize| -> Vec<(usize, f64)> {
            match screened {
                true => (1..outcome.draws.len())
                    .filter_map(|draw| Some((draw, *outcome.screened[draw][case].first()?)))
                    .collect(),
                false => outcome
                    .drawn
                    .iter()
                    .filter(|drawn| drawn.draw > 0)
                    .filter_map(|d| Some((d.draw, d.cases[case].as_ref()?.worst()?.mean)))
                    .collect(),
            }
        };
        // That with most different numbers; of equals the first.
        let different = |numbers: &[(usize, f64)]| {
            let mut values: Vec<f64> = numbers.iter().map(|(_, value)| *value).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            values.len()
        };
        let told = own.iter().map(|case| (*case, numbers(*case)));
        let told = told.reduce(|a, b| {
            if different(&b.1) > different(&a.1) {
                b
            } else {
                a
            }
        });
        let Some((case, numbers)) = told.filter(|(_, n)| n.len() >= FEWEST_DRAWS) else {
            continue;
        };
        let values: Vec<f64> = numbers.iter().map(|(_, value)| *value).collect();
        for (k, knob) in outcome.plan.knobs.iter().enumerate() {
            let drawn: Vec<f64> = numbers
                .iter()
                .map(|(draw, _)| outcome.draws[*draw].values[k])
                .collect();
            if let Some(rank_correlation) = rank_correlation(&drawn, &values) {
                all.push(Moves {
                    row: row.id().to_owned(),
                    knob: knob.id.clone(),
                    rank_correlation,
                    draws: values.len(),
                    of: if screened { "cells" } else { "drives" },
                    at: free_in_words(&outcome.cases[case].free),
                });
            }
        }
    }
    all
}

/// Spearman's rank correlation, to three digits; none where one of the two does not vary.
fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let spread = product(&a, &a) * product(&b, &b);
    let r = product(&a, &b) / libm::sqrt(spread);
    (spread > 0.0).then(|| libm::round(r * 1e3) / 1e3)
}

/// Ranks from 0; equals have the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|v| *v < value).count();
        let equal = values.iter().filter(|v| *v == value).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

impl Table {
    /// As JSON, with the plan that it is of. `name` is that of the study.
    pub fn json(&self, outcome: &Outcome<'_>, name: &str) -> Value {
        let chip = outcome.plan.shipped_chip().ok();
        let knobs = outcome.plan.knobs.iter().map(|knob| {
            json!({
                "id": knob.id,
                "what": knob.what,
                "key": knob.key.get_ref(),
                "unit": knob.unit(),
                "range": knob.ends(),
                "shipped": chip.as_ref().and_then(|chip| knob.shipped(chip)),
                "source": knob.source,
            })
        });
        let mut all = Map::new();
        all.insert("study".into(), name.into());
        let form = if outcome.quick { "quick" } else { "full" };
        all.insert("form".into(), form.into());
        all.insert("chip".into(), outcome.plan.chip.get_ref().as_str().into());
        all.insert("drives".into(), outcome.plan.drives.into());
        all.insert("knobs".into(), knobs.collect());
        if let Ok(Value::Object(own)) = serde_json::to_value(self) {
            all.extend(own);
        }
        Value::Object(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_rank_correlations() {
        let a = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(rank_correlation(&a, &[10.0, 20.0, 30.0, 400.0]), Some(1.0));
        assert_eq!(rank_correlation(&a, &[4.0, 3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(rank_correlation(&a, &[5.0; 4]), None);
        // Ranks 0.5, 0.5, 2, 3 and 0, 1, 3, 2: (1.0 * 1.5 + 1.0 * 0.5 + 0.5 * 1.5 + 1.5 * 0.5) over 4.5 and 5.
        let r = rank_correlation(&[1.0, 1.0, 3.0, 4.0], &[1.0, 2.0, 9.0, 5.0]).unwrap();
        assert!((r - 3.5 / libm::sqrt(4.5 * 5.0)).abs() < 1e-3, "{r}");
    }
}
