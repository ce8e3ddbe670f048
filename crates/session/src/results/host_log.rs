//! A log of the host between the jobs and the drive: what it wrote, and what its writes and the drive's amplify together.

use serde_json::{Value, json};

use super::writes::written;
use crate::outcome::Outcome;
use crate::setup::Setup;

/// A log in a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LogInRun {
    /// What the log offers to jobs.
    pub capacity_bytes: u64,
    /// Length of a zone.
    pub zone_bytes: u64,
    /// Zones on the drive.
    pub zones: u32,
    /// Heads, those of moves with them.
    pub heads: u8,
    /// Bytes written for applications.
    pub application_bytes: u64,
    /// Bytes that cleaning wrote.
    pub moved_bytes: u64,
    /// Bytes that cleaning read.
    pub read_bytes: u64,
    /// Bytes of these that it did not write, because an application wrote them meanwhile.
    pub overtaken_bytes: u64,
    /// Bytes that it could not read, and wrote all the same.
    pub lost_bytes: u64,
    /// Zones that it cleaned.
    pub zones_cleaned: u64,
    /// Requests that waited for it.
    pub waited: u64,
    /// Bytes that flash was programmed with.
    pub flash_bytes: u64,
    /// Bytes that the log wrote to the drive, as the drive counts them.
    pub host_bytes: u64,
}

/// That of a run, where there is one.
pub fn host_log(setup: &Setup, outcome: &Outcome) -> Option<LogInRun> {
    let of = outcome.stats.host_log?;
    let page = u64::from(of.plan.page_bytes);
    let written = written(setup, outcome);
    Some(LogInRun {
        capacity_bytes: u64::from(of.plan.pages) * page,
        zone_bytes: u64::from(of.plan.zone_pages) * page,
        zones: of.plan.zones,
        heads: of.plan.spec.all_heads(),
        application_bytes: of.counts.application_bytes,
        moved_bytes: of.counts.moved_bytes,
        read_bytes: of.counts.read_bytes,
        overtaken_bytes: of.counts.overtaken_bytes,
        lost_bytes: of.counts.lost_bytes,
        zones_cleaned: of.counts.zones_cleaned,
        waited: of.counts.waited,
        flash_bytes: written.flash_bytes,
        host_bytes: written.host_bytes,
    })
}

impl LogInRun {
    /// Bytes that the log wrote for each byte of an application.
    pub fn of_log(&self) -> Option<f64> {
        ratio(
            self.application_bytes + self.moved_bytes,
            self.application_bytes,
        )
    }

    /// Bytes that flash was programmed with for each byte that the log wrote.
    pub fn of_drive(&self) -> Option<f64> {
        ratio(self.flash_bytes, self.host_bytes)
    }

    /// Bytes that flash was programmed with for each byte of an application.
    pub fn of_both(&self) -> Option<f64> {
        ratio(self.flash_bytes, self.application_bytes)
    }
}

fn ratio(of: u64, to: u64) -> Option<f64> {
    (to > 0).then(|| of as f64 / to as f64)
}

pub(super) fn json(setup: &Setup, outcome: &Outcome) -> Option<Value> {
    let of = host_log(setup, outcome)?;
    Some(json!({
        "capacity_bytes": of.capacity_bytes,
        "zone_bytes": of.zone_bytes,
        "zones": of.zones,
        "heads": of.heads,
        "application_bytes": of.application_bytes,
        "moved_bytes": of.moved_bytes,
        "read_bytes": of.read_bytes,
        "overtaken_bytes": of.overtaken_bytes,
        "lost_bytes": of.lost_bytes,
        "zones_cleaned": of.zones_cleaned,
        "requests_waited": of.waited,
        "write_amplification_log": of.of_log(),
        "write_amplification_drive": of.of_drive(),
        "write_amplification_both": of.of_both(),
    }))
}
