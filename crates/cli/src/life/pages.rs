//! The files that are kept of a life.

use firstread_session::files::Page;
use firstread_session::life::{self, Life, LifeOutcome};
use firstread_session::results;

use super::picture;
use super::report;

/// The files of a life: its result, its tables and its picture.
pub fn pages(life: &Life, outcome: &LifeOutcome) -> Vec<Page> {
    let json = results::text(&life::json(life, outcome));
    let figure = picture::figure(life, outcome);
    vec![
        ("life.json".into(), json.into_bytes()),
        (
            "life.txt".into(),
            report::report(life, outcome).into_bytes(),
        ),
        ("life.csv".into(), report::csv(outcome).into_bytes()),
        ("life.svg".into(), figure.svg()),
        ("life.png".into(), figure.png()),
    ]
}
