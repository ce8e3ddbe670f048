//! Which runs can be split.

use firstread_core::params::{Need, Role};
use firstread_drive::profile::drive::Cells;
use firstread_drive::profile::{DriveProfile, SchemeChoice};
use firstread_workload::JobSpec;
use firstread_workload::job::Direction;

use super::error::{MOST_PARTS, SplitError};
use crate::input::Input;
use crate::watched::Watched;

/// Into how many parts a run is split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Split {
    /// Two at least, and [`MOST_PARTS`] at most.
    pub parts: u16,
    /// Parts that run at a time; by default as many as cores. Results do not depend on it.
    pub threads: Option<u16>,
}

/// What of a run decides whether it can be split.
pub(crate) struct Asked<'a> {
    pub input: &'a Input,
    pub limit: Option<u64>,
    pub is_burnt_in: bool,
    /// Whether another load burns it in.
    pub by_another: bool,
    pub profile: &'a DriveProfile,
    pub watched: &'a Watched,
}

impl Asked<'_> {
    /// That it can be split as `split` says.
    ///
    /// # Errors
    /// [`SplitError`] where it cannot.
    pub(crate) fn check(&self, split: Split) -> Result<(), SplitError> {
        let Split { parts, .. } = split;
        if !(2..=MOST_PARTS).contains(&parts) {
            return Err(SplitError::Parts(parts));
        }
        let Input::Jobs { workload, .. } = self.input else {
            return Err(SplitError::Trace(self.input.title().to_owned()));
        };
        if self.watched.interval.is_some() {
            return Err(SplitError::Interval);
        }
        for job in &workload.jobs {
            self.check_job(job)?;
        }
        self.check_drive()?;
        if let Some(limit) = self.limit
            && limit < u64::from(parts)
        {
            return Err(SplitError::TooShort(format!("{limit} requests"), parts));
        }
        Ok(())
    }

    /// That nothing of the drive goes by what happens in the whole of a run, as far as that is known before.
    fn check_drive(&self) -> Result<(), SplitError> {
        let goes_by_all = |chosen: &&SchemeChoice| {
            let moves_data =
                chosen.axis.name == "cell_mode" && chosen.scheme.role != Role::Baseline;
            let knows = [Need::Heat, Need::Future];
            moves_data || knows.iter().any(|need| chosen.scheme.requires(*need))
        };
        if let Some(chosen) = self.profile.schemes.iter().find(goes_by_all) {
            return Err(SplitError::of_scheme(chosen));
        }
        match self.by_another && self.profile.cells == Cells::Modelled {
            true => Err(SplitError::Young),
            false => Ok(()),
        }
    }

    fn check_job(&self, job: &JobSpec) -> Result<(), SplitError> {
        let named = || (job.place.clone(), job.name.clone());
        let phases = [
            (job.group > 0, "`stonewall`"),
            (job.wait_for.is_some(), "`wait_for`"),
            (job.start_delay_ns != [0, 0], "`startdelay`"),
        ];
        if let Some((_, option)) = phases.into_iter().find(|(has, _)| *has) {
            let (place, job) = named();
            return Err(SplitError::Phases { place, job, option });
        }
        let course = [
            (job.latency_target.is_some(), "`latency_target`"),
            (job.power_cut_ns.is_some(), "`power_cut`"),
            (job.host_log.is_some(), "`host_log`"),
            (job.strides.is_some(), "`zonemode`"),
            (job.temperature_c.is_some(), "`temperature`"),
            (
                self.watched.fio_logs && job.logs.any(),
                "logs (`write_*_log`)",
            ),
        ];
        if let Some((_, option)) = course.into_iter().find(|(has, _)| *has) {
            let (place, job) = named();
            return Err(SplitError::Course { place, job, option });
        }
        // What is sequential now and then is so from one start in all parts.
        let is_partly = |d: &Direction| job.random_percent[*d as usize] < 100;
        if !job.random || job.operations.directions().iter().any(is_partly) {
            let (place, job) = named();
            return Err(SplitError::Sequential { place, job });
        }
        let changes = job.operations.directions();
        let changes = changes.iter().any(|d| *d != Direction::Read);
        if changes && job.random_map {
            let (place, job) = named();
            return Err(SplitError::Map { place, job });
        }
        if changes && !self.is_burnt_in {
            let (place, job) = named();
            return Err(SplitError::Writes { place, job });
        }
        Ok(())
    }
}
