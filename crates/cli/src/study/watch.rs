//! What a person sees while simulations of a study run.

use firstread_drive::Ended;
use firstread_session::life::{LifeProgress, Until};
use firstread_session::{Progress, Watch, results};
use indicatif::ProgressBar;

use crate::progress::Bars;
use crate::streams::notice;

/// Bars of the simulations of a study.
pub(super) struct Simulations {
    pub(super) bars: Bars,
    pub(super) all: ProgressBar,
}

impl Watch for Simulations {
    fn begin<'a>(&'a self, point: &firstread_session::Point) -> Box<dyn FnMut(Progress) + 'a> {
        self.bars.begin(point)
    }

    fn begin_life<'a>(
        &'a self,
        point: &firstread_session::Point,
    ) -> Box<dyn FnMut(LifeProgress) + 'a> {
        self.bars.begin_life(point)
    }

    fn done(&self, point: &firstread_session::Point, ended: &str) {
        let label = &point.label;
        match point.life.as_ref().map(|terms| terms.until) {
            _ if ended == results::ended(Ended::Completed) => {}
            None => notice(&format!("{label}: left out: its drive ended with {ended}")),
            // Every life of these ends so.
            Some(Until::Full) => {}
            Some(until) => notice(&format!("{label}: ended with {ended}, before {until}")),
        }
        self.all.inc(1);
    }
}
