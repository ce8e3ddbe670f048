//! Choices that could be others, as pages show them.

use firstread_session::study::spec::Study;
use firstread_session::study::switch::{Alternative, Switch};
use firstread_session::study::switches::Tried;
use firstread_session::study::verdict::{Part, Trial, Verdict};
use serde::Serialize;

use super::claims::{number, row, with_unit};

/// An alternative of a switch.
#[derive(Serialize)]
pub struct SwitchRow {
    /// `switch=alternative`.
    name: String,
    /// Of the first alternative of a switch: what is chosen, and what the study has.
    what: String,
    default: String,
    source: String,
}

/// A claim with what the alternatives make of it.
#[derive(Serialize)]
pub struct TrialRow {
    id: String,
    verdict: &'static str,
    measured: String,
    /// Alternatives with which it is in its band and was not, and the other way round, with the number that decides.
    into: String,
    out: String,
    same: String,
}

/// Every alternative of `study`.
pub fn switches(study: &Study) -> Vec<SwitchRow> {
    let row = |(tried, switch, alternative): (Tried<'_>, &Switch, &Alternative)| {
        let is_first = switch
            .alternatives
            .keys()
            .next()
            .is_some_and(|name| name == tried.alternative);
        let first = |text: &str| {
            if is_first {
                text.to_owned()
            } else {
                String::new()
            }
        };
        SwitchRow {
            name: format!("{}={}", tried.switch, tried.alternative),
            what: first(&switch.what),
            default: first(&switch.default),
            source: alternative.source.clone(),
        }
    };
    study.alternatives().map(row).collect()
}

/// Every claim that was judged with an alternative.
pub fn trials(verdicts: &[Verdict<'_>]) -> Vec<TrialRow> {
    let measured =
        |verdict: &&Verdict<'_>| verdict.trials.iter().any(|trial| trial.holds.is_some());
    let one = |verdict: &Verdict<'_>| {
        let claim = row(verdict);
        let of = |want: &dyn Fn(bool, bool) -> bool| {
            let trials = verdict.trials.iter().filter(|trial| {
                let both = verdict.holds.zip(trial.holds);
                both.is_some_and(|(before, after)| want(before, after))
            });
            let texts: Vec<String> = trials.map(|trial| text(verdict, trial)).collect();
            texts.join(", ")
        };
        TrialRow {
            id: claim.id().to_owned(),
            verdict: verdict.ruling.name(),
            measured: claim.deciding().to_owned(),
            into: of(&|before, after| !before && after),
            out: of(&|before, after| before && !after),
            same: of(&|before, after| before == after),
        }
    };
    verdicts.iter().filter(measured).map(one).collect()
}

/// An alternative with the number that decides: the first that is out of its band, or the first.
fn text(verdict: &Verdict<'_>, trial: &Trial<'_>) -> String {
    let is_out = |(part, value): &(&Part<'_>, f64)| !(part.band[0]..=part.band[1]).contains(value);
    let numbers = || {
        verdict
            .parts
            .iter()
            .zip(trial.numbers.iter().filter_map(|n| *n))
    };
    let deciding = numbers().find(is_out).or_else(|| numbers().next());
    let value = deciding.map_or(String::new(), |(part, value)| {
        with_unit(number(value), part.unit)
    });
    format!(
        "`{}={}` ({value})",
        trial.tried.switch, trial.tried.alternative
    )
}
