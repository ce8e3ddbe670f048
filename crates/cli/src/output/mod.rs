//! What a run is turned into: text to read, files to keep.

pub mod areas;
pub mod calibration;
mod copies;
pub mod drives;
pub mod format;
pub mod front;
pub mod human;
pub mod modes;
pub mod page;
pub mod page_types;
mod phases;
pub mod spread;
pub mod streams;
pub mod summary;
mod tail;
pub mod understood;
pub mod writes;

use firstread_session::files::Page;
use firstread_session::{Finished, Outcome, Point, Setup, results};

use crate::page::Section;
use crate::timeline;
use serde_json::Value;
use summary::Summary;
pub use tail::{ENOUGH_BEYOND, WITHIN, WITHIN_PARTS};

/// What the files of the only run or life have beside what is always there.
#[derive(Clone, Copy, Default, Debug)]
pub struct Has {
    /// A log of calibration, in any case.
    pub calibration_log: bool,
    /// Bins of latency in JSON.
    pub bins: bool,
}

/// The files of the only run of a folder, as it is printed, with what `has` says.
pub fn pages(setup: &Setup, outcome: &Outcome, has: Has) -> Vec<Page> {
    let logs = has.calibration_log;
    let whole = results::Whole::new(setup, outcome, logs).bins(has.bins);
    let mut pages = pages_with(setup, outcome, &whole.value(), logs);
    pages.push(("report.html".into(), html(setup, outcome)));
    pages
}

/// The page of a run.
fn html(setup: &Setup, outcome: &Outcome) -> Vec<u8> {
    let summary = Summary::of(setup, outcome);
    let (headline, mut sections) = page::of(&[page::Shown {
        name: String::new(),
        runs: vec![&summary],
    }]);
    if !outcome.written_down.intervals.is_empty() {
        let figure = timeline::figure(setup, outcome);
        sections.insert(0, Section::figure("Over time", &figure));
    }
    if results::modes::are_mixed(outcome) {
        let figure = modes::figure(setup, outcome);
        let title = "Capacity lost to other cell modes";
        sections.push(Section::figure(title, &figure));
    }
    let report = human::report(setup, outcome);
    sections.push(Section::fixed("The report as it is printed", &report));
    let title = format!("{} on {}", setup.input.title(), setup.profile.name);
    crate::page::page(&title, &headline, &sections)
}

/// The files of one run, `result` among them, and a log of calibration where there is one or `logs` says so.
fn pages_with(setup: &Setup, outcome: &Outcome, result: &Value, logs: bool) -> Vec<Page> {
    let mut pages = vec![
        ("result.json".into(), results::text(result)),
        ("report.txt".into(), human::report(setup, outcome)),
        ("latency.csv".into(), latencies(outcome)),
    ];
    if results::modes::are_mixed(outcome) {
        pages.push(("capacity.csv".into(), results::modes::csv(setup, outcome)));
        let picture = modes::figure(setup, outcome).svg();
        let picture = String::from_utf8_lossy(&picture).into_owned();
        pages.push(("capacity.svg".into(), picture));
    }
    if logs || results::calibration::is_told(&outcome.log) {
        pages.push(("calibration.csv".into(), results::calibration::csv(outcome)));
        pages.push(("calibration.txt".into(), calibration::summary(outcome)));
    }
    let bytes = |(name, text): (std::path::PathBuf, String)| (name, text.into_bytes());
    let mut pages: Vec<Page> = pages.into_iter().map(bytes).collect();
    pages.extend(over_time(setup, outcome));
    pages
}

/// What was written down of a run over time: rows and pictures, and fio's logs.
fn over_time(setup: &Setup, outcome: &Outcome) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    if let Some(csv) = results::timeline::csv(setup, outcome) {
        let figure = timeline::figure(setup, outcome);
        pages.push(("timeline.csv".into(), csv.into_bytes()));
        pages.push(("timeline.svg".into(), figure.svg()));
        pages.push(("timeline.png".into(), figure.png()));
    }
    let logs = &outcome.written_down.fio_logs;
    pages.extend(
        logs.iter()
            .map(|log| (log.name.clone().into(), log.text.clone().into_bytes())),
    );
    pages
}

/// The files of one of several runs, in the folder of its name. Run time and memory are kept apart from them: the files
/// are the same whenever the run was made.
pub fn pages_in(point: &Point, finished: &Finished) -> Vec<Page> {
    let Finished::Run(outcome) = finished else {
        return Vec::new();
    };
    let (result, _) = results::result_and_wall(&point.setup, outcome, false);
    let pages = pages_with(&point.setup, outcome, &result, false).into_iter();
    let folder = std::path::Path::new(&point.name);
    pages
        .map(|(name, content)| (folder.join(name), content))
        .collect()
}

/// The distribution of latencies of each group of jobs: every bucket of the histogram, with the share up to it.
fn latencies(outcome: &Outcome) -> String {
    let mut text = String::from("direction,latency_ns,requests,cumulative_share,group\n");
    for (group, part) in outcome.parts().iter().enumerate() {
        for (name, latencies) in [
            ("read", &part.all.read),
            ("write", &part.all.write),
            ("trim", &part.all.trim),
        ] {
            let mut below = 0;
            for (ns, n) in latencies.buckets() {
                below += n;
                text += &format!(
                    "{name},{ns},{n},{},{group}\n",
                    below as f64 / latencies.count() as f64
                );
            }
        }
    }
    text
}
