//! What a person is told when simulations of a study end.

use firstread_drive::Ended;
use firstread_session::life::Until;
use firstread_session::{Point, results};

use crate::streams::notice;

/// Tells what ended before its end.
pub(super) fn ended(point: &Point, ended: &str) {
    let label = &point.label;
    match point.life.as_ref().map(|terms| terms.until) {
        _ if ended == results::ended(Ended::Completed) => {}
        None => notice(&format!("{label}: left out: its drive ended with {ended}")),
        // Every life of these ends so.
        Some(Until::Full) => {}
        Some(until) => notice(&format!("{label}: ended with {ended}, before {until}")),
    }
}
