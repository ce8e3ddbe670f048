//! Claims as they are shown: in the terminal, in pages and as data.

use anyhow::Result;
use firstread_session::study::measure::{Choices, Phases};
use firstread_session::study::points::Estimate;
use firstread_session::study::verdict::{Part, Ruling, Tally, Totals, Verdict};
use serde::Serialize;
use serde_json::{Value, json};

use crate::output::format::{Side, rare, table};

/// A claim as pages show it.
#[derive(Serialize)]
pub struct ClaimRow {
    id: String,
    says: String,
    verdict: &'static str,
    published: String,
    /// The number that decides, as in a table.
    deciding: String,
    parts: Vec<PartRow>,
    /// What the default point alone would say, where it is not all that decides.
    default: String,
    /// In the band or not, of a number that decides nothing.
    check: String,
    /// The sentence that leaves a choice open, and what the choices come to.
    open: Vec<String>,
    falsified_by: String,
    wide: String,
    /// Share of reads lost in the runs it is measured in.
    lost: String,
    note: String,
    before: Option<BeforeRow>,
}

/// A claim as an earlier version had it.
#[derive(Serialize)]
struct BeforeRow {
    version: String,
    measured: String,
    verdict: String,
    why: String,
}

/// A number of a claim.
#[derive(Serialize)]
struct PartRow {
    says: String,
    metric: String,
    measured: String,
    drives: String,
    band: String,
    phases: String,
    /// Whether an end of the band splits a sense.
    edge: String,
}

/// A number of a claim in `claims.csv`.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    says: &'a str,
    metric: &'a str,
    published: &'a str,
    measured: &'a str,
    drives: &'a str,
    band: &'a str,
    phases: &'a str,
    verdict: &'a str,
    lost: &'a str,
    note: &'a str,
}

/// Three significant digits, and no more zeros than needed.
pub fn number(value: f64) -> String {
    let magnitude = libm::log10(value.abs().max(1e-12)).floor() as i32;
    let decimals = (2 - magnitude).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

pub fn estimate(e: &Estimate) -> String {
    match e.half {
        Some(half) => format!("{} ± {}", number(e.mean), number(half)),
        None => number(e.mean),
    }
}

pub fn with_unit(text: String, unit: &str) -> String {
    match text.is_empty() || unit.is_empty() {
        true => text,
        false => format!("{text} {unit}"),
    }
}

fn percent(share: f64) -> String {
    format!("{} %", number(100.0 * share))
}

fn band([low, high]: [f64; 2]) -> String {
    match low == high {
        true => number(low),
        false => format!("{} to {}", number(low), number(high)),
    }
}

fn how_many(phases: &Phases) -> String {
    match phases.all.len() {
        1 => "1 phase".to_owned(),
        n => format!("{n} phases"),
    }
}

/// What the phases of a number come to.
fn of_phases(phases: &Phases, unit: &str) -> String {
    format!(
        "{}: {} in band, median {}, worst {} at {}",
        how_many(phases),
        percent(phases.in_band),
        with_unit(number(phases.median), unit),
        with_unit(number(phases.worst.1), unit),
        phases.worst.0,
    )
}

/// What the choices that the paper leaves open come to.
fn of_choices(choices: Option<&Choices>) -> String {
    match choices {
        Some(choices) => {
            let in_band = choices.all.iter().filter(|choice| choice.in_band).count();
            format!("{in_band} of {} choices reproduce it", choices.all.len())
        }
        None => "none of the choices is in this form of the study".to_owned(),
    }
}

fn judged(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "reproduced",
        Some(false) => "missed",
        None => "not measured",
    }
}

/// The number of a part that decides: that of its median phase, or of the default point.
fn deciding(part: &Part<'_>) -> String {
    match (&part.phases, part.measured) {
        (Some(phases), _) => {
            let median = with_unit(number(phases.median), part.unit);
            format!("{median}, median of {}", how_many(phases))
        }
        (None, Some(e)) => with_unit(estimate(&e), part.unit),
        (None, None) => String::new(),
    }
}

/// A claim as it is shown.
pub fn row(verdict: &Verdict<'_>) -> ClaimRow {
    let claim = verdict.claim;
    let part = |part: &Part<'_>| {
        let drives = part.measured.map_or(0, |e| e.drives);
        PartRow {
            says: part.says.to_owned(),
            metric: part.metric.to_owned(),
            measured: part
                .measured
                .map_or(String::new(), |e| with_unit(estimate(&e), part.unit)),
            drives: match drives {
                _ if claim.points.is_none() => String::new(),
                0 => String::new(),
                1 => "1 drive".to_owned(),
                n => format!("{n} drives"),
            },
            band: with_unit(band(part.band), part.unit),
            phases: part
                .phases
                .as_ref()
                .map_or(String::new(), |phases| of_phases(phases, part.unit)),
            edge: part.edge.map_or(String::new(), |(edge, sense_us)| {
                format!(
                    "the end of the band at {} is nearer to the number than one sense ({} us): it splits what a read may take",
                    with_unit(number(edge), part.unit),
                    number(sense_us)
                )
            }),
        }
    };
    let has_phases = verdict.parts.iter().any(|part| part.phases.is_some());
    let more_decides = has_phases || claim.open.is_some();
    let open = claim.open.iter();
    let also = claim.also.iter().filter_map(|also| also.wide.as_deref());
    let mut wide: Vec<&str> = claim.wide.as_deref().into_iter().chain(also).collect();
    // Parts of a sentence mostly share one reason.
    wide.dedup();
    ClaimRow {
        id: claim.id.clone(),
        says: claim.says.clone(),
        verdict: verdict.ruling.name(),
        published: with_unit(claim.published.clone(), &claim.unit),
        deciding: verdict.deciding().map_or(String::new(), deciding),
        parts: verdict.parts.iter().map(part).collect(),
        default: match more_decides && verdict.holds_at_default.is_some() {
            true => judged(verdict.holds_at_default).to_owned(),
            false => String::new(),
        },
        check: match (verdict.ruling, verdict.holds) {
            (Ruling::Fitted | Ruling::NotComparable, Some(true)) => "in band".to_owned(),
            (Ruling::Fitted | Ruling::NotComparable, Some(false)) => "out of band".to_owned(),
            _ => String::new(),
        },
        open: open
            .flat_map(|open| [open.sentence.clone(), of_choices(verdict.choices.as_ref())])
            .collect(),
        falsified_by: claim.falsified_by.clone().unwrap_or_default(),
        wide: wide.join("; "),
        lost: verdict.lost_share.map_or(String::new(), rare),
        note: verdict.note.clone(),
        before: claim.before.as_ref().map(|before| BeforeRow {
            version: before.version.clone(),
            measured: before.measured.clone(),
            verdict: before.verdict.clone(),
            why: before.why.clone(),
        }),
    }
}

impl ClaimRow {
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The number that decides, as in a table.
    pub fn deciding(&self) -> &str {
        &self.deciding
    }
}

/// A line of the totals: whose verdicts, and how many of each kind.
pub fn totals(verdicts: &[Verdict<'_>]) -> Vec<[String; 2]> {
    let totals = Totals::of(verdicts);
    let tally = |tally: Tally| {
        let (choice, finding) = (tally.missed_for_choice, tally.missed_as_finding);
        let missed = match choice + finding {
            0 => format!("{} missed", tally.missed),
            _ => format!(
                "{choice} missed for a choice, {finding} missed as a finding, {} missed with no other choice tried",
                tally.missed
            ),
        };
        format!(
            "{} reproduced, {missed}, {} undetermined, {} not comparable",
            tally.reproduced, tally.undetermined, tally.not_comparable
        )
    };
    let fitted = totals.fitted;
    let unmeasured = match fitted.not_measured {
        0 => String::new(),
        n => format!(", {n} not measured"),
    };
    let of_paper = totals.input > 0
        || totals.published != Tally::default()
        || (fitted.in_band, fitted.out_of_band, fitted.not_measured) != (0, 0, 0);
    if !of_paper {
        return vec![["Claims".to_owned(), tally(totals.ours)]];
    }
    vec![
        ["Published rows".to_owned(), tally(totals.published)],
        ["Ours".to_owned(), tally(totals.ours)],
        [
            "Fitted (a parameter was chosen from the number)".to_owned(),
            format!(
                "{} in band, {} out of band{unmeasured}",
                fitted.in_band, fitted.out_of_band
            ),
        ],
        ["Inputs".to_owned(), totals.input.to_string()],
    ]
}

/// The claims at a glance.
pub fn summary(title: &str, verdicts: &[Verdict<'_>]) -> String {
    let head = ["claim", "published", "measured", "band", "verdict"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for verdict in verdicts {
        let claim = row(verdict);
        let nothing = PartRow {
            says: String::new(),
            metric: String::new(),
            measured: String::new(),
            drives: String::new(),
            band: String::new(),
            phases: String::new(),
            edge: String::new(),
        };
        let parts = verdict
            .parts
            .iter()
            .map(|part| part.phases.as_ref().zip(Some(part.unit)));
        let parts = claim.parts.iter().zip(parts);
        let parts: Vec<_> = match claim.parts.is_empty() {
            true => vec![(&nothing, None)],
            false => parts.collect(),
        };
        for (i, (part, phases)) in parts.into_iter().enumerate() {
            let of_claim = |text: &str| {
                if i == 0 {
                    text.to_owned()
                } else {
                    String::new()
                }
            };
            let id = match i {
                0 => claim.id.clone(),
                _ => format!("  {}", part.metric),
            };
            rows.push(vec![
                id,
                of_claim(&claim.published),
                part.measured.clone(),
                part.band.clone(),
                of_claim(claim.verdict),
            ]);
            if let Some((phases, unit)) = phases {
                rows.push(vec![
                    format!("  median of {}", how_many(phases)),
                    String::new(),
                    with_unit(number(phases.median), unit),
                    format!("{} in band", percent(phases.in_band)),
                    String::new(),
                ]);
            }
        }
    }
    let sides = [
        Side::Left,
        Side::Right,
        Side::Right,
        Side::Right,
        Side::Left,
    ];
    let totals: Vec<String> = totals(verdicts)
        .iter()
        .map(|[of, counted]| format!("{of}: {counted}\n"))
        .collect();
    format!(
        "{title}\n\n{}\n{}",
        table("  ", &sides, &rows),
        totals.concat()
    )
}

/// The verdicts, as a list.
pub fn results(verdicts: &[Verdict<'_>]) -> Value {
    verdicts.iter().map(result).collect()
}

fn result(verdict: &Verdict<'_>) -> Value {
    let claim = verdict.claim;
    let phases = |phases: &Phases| {
        json!({
            "in_band": phases.in_band,
            "median": phases.median,
            "worst": phases.worst.1,
            "worst_at": phases.worst.0,
            "all": phases.all.iter().map(|(at, e)| json!({ "at": at, "measured": e.mean })).collect::<Value>(),
        })
    };
    let interval = |e: Estimate| e.half.map(|h| [e.mean - h, e.mean + h]);
    let part = |part: &Part<'_>| {
        json!({
            "says": part.says,
            "metric": part.metric,
            "unit": part.unit,
            "band": part.band,
            "measured": part.measured.map(|e| e.mean),
            "interval_95": part.measured.and_then(interval),
            "drives": part.measured.map(|e| e.drives),
            "phases": part.phases.as_ref().map(phases),
        })
    };
    let open = claim.open.as_ref().map(|open| {
        let choices = verdict.choices.as_ref();
        let all = choices.map(|choices| {
            let one = |c: &firstread_session::study::measure::Choice| {
                json!({ "at": c.at, "measured": c.numbers, "in_band": c.in_band })
            };
            choices.all.iter().map(one).collect::<Value>()
        });
        json!({
            "sentence": open.sentence,
            "in_band": choices.map(|choices| choices.in_band),
            "choices": all,
        })
    });
    let first = verdict.parts.first();
    let measured = first.and_then(|part| part.measured);
    json!({
        "id": claim.id,
        "published": claim.published,
        "measured": measured.map(|e| e.mean),
        "interval_95": measured.and_then(interval),
        "drives": measured.map(|e| e.drives),
        "unit": claim.unit,
        "band": claim.band,
        "verdict": verdict.ruling.name(),
        "in_band": verdict.holds,
        "in_band_at_default": verdict.holds_at_default,
        "phases": first.and_then(|part| part.phases.as_ref()).map(phases),
        "open": open,
        "alternatives": verdict.trials.iter().map(|trial| json!({
            "switch": trial.tried.switch,
            "alternative": trial.tried.alternative,
            "measured": trial.numbers,
            "in_band": trial.holds,
        })).collect::<Value>(),
        "parts": verdict.parts.iter().map(part).collect::<Value>(),
        "falsified_by": claim.falsified_by,
        "lost_share": verdict.lost_share,
        "note": verdict.note,
    })
}

/// A line each number of `claims`; one for a claim without any.
pub fn csv(claims: &[ClaimRow]) -> Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    for claim in claims {
        let without = Line {
            id: &claim.id,
            says: &claim.says,
            metric: "",
            published: &claim.published,
            measured: "",
            drives: "",
            band: "",
            phases: "",
            verdict: claim.verdict,
            lost: &claim.lost,
            note: &claim.note,
        };
        if claim.parts.is_empty() {
            csv.serialize(&without)?;
        }
        for part in &claim.parts {
            let (says, published) = match part.says.is_empty() {
                true => (claim.says.as_str(), claim.published.as_str()),
                false => (part.says.as_str(), ""),
            };
            csv.serialize(Line {
                says,
                published,
                metric: &part.metric,
                measured: &part.measured,
                drives: &part.drives,
                band: &part.band,
                phases: &part.phases,
                ..without
            })?;
        }
    }
    Ok(csv.into_inner()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_numbers_look_like() {
        for (value, text) in [
            (0.0, "0"),
            (94.0, "94"),
            (1.234_5, "1.23"),
            (12_345.6, "12346"),
            (0.000_456_7, "0.000457"),
            (-12.0, "-12"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
