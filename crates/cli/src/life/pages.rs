//! The files that are kept of a life.

use firstread_session::files::Page;
use firstread_session::life::{self, Life, LifeOutcome};
use firstread_session::results;

use super::picture;
use super::report;
use crate::output::format::bytes;
use crate::page::{self, Section};

/// The files of a life: its result, its tables and its picture.
pub fn pages(life: &Life, outcome: &LifeOutcome) -> Vec<Page> {
    let json = results::text(&life::json(life, outcome));
    let figure = picture::figure(life, outcome);
    let report = report::report(life, outcome);
    let sections = [
        Section::figure("Over the life", &figure),
        Section::fixed("The report as it is printed", &report),
    ];
    let written = bytes(outcome.lived.written_bytes());
    let headline = format!(
        "{written} written; {}",
        report::end(life, outcome.lived.end)
    );
    vec![
        ("life.json".into(), json.into_bytes()),
        (
            "life.txt".into(),
            report::report(life, outcome).into_bytes(),
        ),
        ("life.csv".into(), report::csv(outcome).into_bytes()),
        ("life.svg".into(), figure.svg()),
        ("life.png".into(), figure.png()),
        (
            "report.html".into(),
            page::page(&figure.title, &[headline], &sections),
        ),
    ]
}
