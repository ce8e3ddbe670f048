//! The files that are kept of a life.

use firstread_session::life::{self, Life, LifeOutcome};
use firstread_session::results;

#[cfg(feature = "figures")]
use super::picture;
use super::report;

/// The files of a life: its result, its tables and its picture.
pub fn pages(life: &Life, outcome: &LifeOutcome) -> Vec<(&'static str, Vec<u8>)> {
    let json = results::text(&life::json(life, outcome));
    let mut pages = vec![
        ("life.json", json.into_bytes()),
        ("life.txt", report::report(life, outcome).into_bytes()),
        ("life.csv", report::csv(outcome).into_bytes()),
    ];
    #[cfg(feature = "figures")]
    {
        let figure = picture::figure(life, outcome);
        pages.push(("life.svg", figure.svg()));
        pages.push(("life.png", figure.png()));
    }
    pages
}
