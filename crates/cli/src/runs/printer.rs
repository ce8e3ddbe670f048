//! What has run is printed and kept: standard output by form, files of `--out`, a closing line, and what the exit status says.

use anyhow::{Result, bail};
use firstread_drive::Ended;
use firstread_session::files::Page;
use firstread_session::{How, Kept, Setup, results};
use serde_json::{Map, Value, json};

use super::notices;
use super::plan::Kind;
use super::runner::Ran;
use crate::accept::Acceptance;
use crate::args::{Form, Interrupted};
use crate::figure::Figure;
use crate::output::human;
use crate::output::summary::end_of_life_of;
use crate::page::{self, Section};
use crate::streams::{data, tell};

/// What a command shows of its runs.
#[derive(Default)]
pub struct Report<'a> {
    /// Tables to read.
    pub text: String,
    /// The results, in the order in which they are listed.
    pub rows: Vec<Row<'a>>,
    /// Further files: tables as data.
    pub files: Vec<Page>,
    pub figure: Option<Figure>,
    /// The headline of the page, a line each, and its sections but for the figure and the text.
    pub headline: Vec<String>,
    pub sections: Vec<Section>,
    /// A command to go on with.
    pub next: Option<String>,
    /// What came of `--accept`.
    pub acceptance: Option<Acceptance>,
}

/// A result in a list.
pub struct Row<'a> {
    /// The schemes that are compared, if some are.
    pub scheme: Option<String>,
    /// Where it lies among what varies.
    pub at: Map<String, Value>,
    pub setup: &'a Setup,
    pub kept: &'a Kept,
}

impl<'a> Row<'a> {
    /// A result that differs from others in `scheme` and its seeds alone.
    pub fn of(scheme: Option<&str>, setup: &'a Setup, kept: &'a Kept) -> Row<'a> {
        Row {
            scheme: scheme.map(str::to_owned),
            at: Map::new(),
            setup,
            kept,
        }
    }

    /// As JSON, with `result`.
    fn value(&self, result: Value) -> Value {
        let mut point = self.at.clone();
        point.insert("seed".into(), self.setup.seed.into());
        point.insert(
            "workload_seed".into(),
            self.setup.state.workload_seed.into(),
        );
        json!({
            "scheme": self.scheme,
            "drive": self.setup.profile.name,
            "point": point,
            "result": result,
        })
    }
}

/// Prints and keeps `report`.
///
/// # Errors
/// [`Interrupted`] where not all has run, [`crate::accept::NotAccepted`] where a target failed, and the reason where a drive
/// came to its end.
pub fn print(ran: &Ran<'_>, report: Report<'_>) -> Result<()> {
    let (plan, output) = (ran.plan, ran.plan.output);
    if report.rows.is_empty() {
        let before = format!(" before any {} had ended", plan.kind.one());
        return Err(Interrupted(before).into());
    }
    if matches!(plan.kind, Kind::Drives | Kind::Comparison) {
        notices::after(&plan.points, ran.each().next())?;
        tell_times(ran);
    }
    if output.out.is_some() {
        ran.store.write(&files(ran, &report))?;
    }
    match output.form {
        Form::Json => data(&list(ran, &report, Kept::result_and_wall))?,
        Form::Human => data(&report.text)?,
    }
    tell(&closing(ran, report.figure.is_some()));
    whole(ran)?;
    if let (Some(next), Form::Human) = (&report.next, output.form) {
        tell(&format!("\n{next}"));
    }
    check_ends(ran)?;
    match &report.acceptance {
        Some(acceptance) => acceptance.tell(output.form),
        None => Ok(()),
    }
}

/// The files of all runs together.
fn files(ran: &Ran<'_>, report: &Report<'_>) -> Vec<Page> {
    let kind = ran.plan.kind;
    let name = kind.files();
    let text = report.text.as_bytes().to_vec();
    let mut files = report.files.clone();
    match kind.has_each() {
        true => {
            let listed = list(ran, report, Kept::result).into_bytes();
            files.push((format!("{name}.json").into(), listed));
            files.push((format!("{name}.txt").into(), text));
        }
        false => files.push(("report.txt".into(), text)),
    }
    if let Some(figure) = &report.figure {
        files.push((format!("{name}.svg").into(), figure.svg()));
        files.push((format!("{name}.png").into(), figure.png()));
    }
    files.push((PAGE.into(), html(ran, report)));
    files
}

/// Name of the page.
const PAGE: &str = "report.html";

/// The page of all runs together: verdict and headline, the figure, what the command has besides, the runs, the text.
fn html(ran: &Ran<'_>, report: &Report<'_>) -> Vec<u8> {
    let kind = ran.plan.kind;
    let mut headline = report.headline.clone();
    let mut sections = Vec::new();
    if let Some(acceptance) = &report.acceptance {
        headline.insert(0, format!("Acceptance: {}", acceptance.said));
        sections.push(Section::fixed("Acceptance", acceptance.text.trim()));
    }
    if !ran.is_whole() {
        let (finished, all) = (ran.results.finished(), ran.results.simulations());
        headline.insert(
            0,
            format!(
                "Interrupted: {finished} of {all} {} have ended.",
                kind.many()
            ),
        );
    }
    if let Some(figure) = &report.figure {
        sections.push(Section::figure(&figure.title, figure));
    }
    sections.extend(report.sections.iter().cloned());
    sections.push(Section::fixed("The report as it is printed", &report.text));
    let head = [kind.one(), "drive", "seed", "ended", "result"];
    let runs = ran.each().map(|(point, kept)| {
        vec![
            point.label.clone(),
            point.setup.profile.name.clone(),
            point.setup.seed.to_string(),
            kept.ended.clone(),
            format!("points/{}.json", point.name),
        ]
    });
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(runs);
    sections.push(Section::table("Runs and their results", rows));
    let mut drives = ran
        .plan
        .points
        .iter()
        .map(|point| &point.setup.profile.name);
    let drive = drives
        .next()
        .filter(|first| drives.all(|drive| drive == *first));
    let on = drive.map_or(String::new(), |drive| format!(" on {drive}"));
    page::page(&format!("{}{on}", ran.plan.title), &headline, &sections)
}

/// The results as JSON.
fn list(ran: &Ran<'_>, report: &Report<'_>, result: fn(&Kept) -> Value) -> String {
    let rows = report.rows.iter();
    listed(
        ran.plan.axis.as_deref(),
        rows.map(|row| row.value(result(row.kept))),
    )
}

/// The text of `{axis, runs}`. The runs are made one after the other, so that thousands of them are not in memory at once.
fn listed(axis: Option<&str>, runs: impl Iterator<Item = Value>) -> String {
    let mut text = format!("{{\n  \"axis\": {},\n  \"runs\": [", Value::from(axis));
    for (i, run) in runs.enumerate() {
        text += if i > 0 { "," } else { "" };
        for line in results::text(&run).lines() {
            text += "\n    ";
            text += line;
        }
    }
    text + "\n  ]\n}\n"
}

/// Says how long each run took, or that it was found.
fn tell_times(ran: &Ran<'_>) {
    for (point, kept) in ran.each() {
        let text = match kept.how {
            How::Found => "found".to_owned(),
            How::Run | How::RunAnew(_) => human::wall(&kept.wall),
        };
        tell(&format!("{}: {text}", point.label));
    }
}

/// How many there are, how long they took, and where to look.
fn closing(ran: &Ran<'_>, is_drawn: bool) -> String {
    let kind = ran.plan.kind;
    let look = match ran.plan.output.out {
        Some(folder) => {
            let page = folder.join(PAGE);
            let without = match kind {
                Kind::Matrix if !is_drawn => {
                    "; no picture, since no percentile is known in any run"
                }
                _ => "",
            };
            format!("; {}{without}", page.display())
        }
        None => "; --out DIR keeps a page, tables and every result".into(),
    };
    let (n, wall_s) = (ran.results.finished(), ran.results.wall_s());
    format!(
        "{n} {}, {wall_s:.1} s of them on one core{look}",
        kind.many()
    )
}

/// That not all have ended, if so.
fn whole(ran: &Ran<'_>) -> Result<()> {
    if ran.is_whole() {
        return Ok(());
    }
    let goes_on = match ran.plan.output.out {
        Some(_) => "; the same command goes on from there",
        None => "",
    };
    let (finished, all) = (ran.results.finished(), ran.results.simulations());
    let many = ran.plan.kind.many();
    Err(Interrupted(format!(": {finished} of {all} {many} have ended{goes_on}")).into())
}

/// Reports runs whose drive came to its end, after their results are printed: exit status 1. A life ends so.
fn check_ends(ran: &Ran<'_>) -> Result<()> {
    if ran.plan.kind == Kind::Lives {
        return Ok(());
    }
    let completed = results::ended(Ended::Completed);
    let short = ran.each().filter(|(_, kept)| kept.ended != completed);
    let told = short.map(|(point, kept)| {
        let end = end_of_life_of(&kept.values).unwrap_or(&kept.ended);
        format!("{}: {end}", point.label)
    });
    let told: Vec<String> = told.collect();
    match told.is_empty() {
        true => Ok(()),
        false => bail!("{}", told.join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_a_list_of_runs_is_the_text_of_its_value() {
        let runs = [json!({ "a": [1, 2.5], "b": "x\ny" }), json!({ "c": null })];
        for axis in [None, Some("read_levels")] {
            let text = listed(axis, runs.iter().cloned());
            assert_eq!(text, results::text(&json!({ "axis": axis, "runs": runs })));
        }
    }
}
