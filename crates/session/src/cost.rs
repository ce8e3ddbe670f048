//! What a run or a life is expected to cost, in requests.

use crate::life::{STAGES, Terms, Until};
use crate::setup::Setup;

/// Drive writes that a burn-in takes at least: each superblock is turned over twice (docs/writes.md).
const BURN_IN_DRIVE_WRITES: f64 = 2.0;
const DAYS_A_YEAR: f64 = 365.25;

/// What a run of `setup`, or its life as `life` asks, is expected to cost (requests): those that it measures, two drive writes of a burn-in, and what a life
/// writes, a request a mapping unit. None where that is not known before it runs: of a trace without a limit, and of jobs
/// that end by time.
pub(crate) fn requests(setup: &Setup, life: Option<&Terms>) -> Option<f64> {
    match life {
        Some(terms) => Some(of_life(setup, terms).round()),
        None => of_run(setup),
    }
}

fn of_run(setup: &Setup) -> Option<f64> {
    let burn_in = match setup.burn_in {
        Some(_) => BURN_IN_DRIVE_WRITES * slots(setup),
        None => 0.0,
    };
    Some(setup.requests()? as f64 + burn_in)
}

/// Mapping units of the drive.
fn slots(setup: &Setup) -> f64 {
    setup.profile.capacity_bytes as f64 / f64::from(setup.profile.geometry.slot_bytes)
}

fn of_life(setup: &Setup, terms: &Terms) -> f64 {
    let by_job = terms.probe_job.as_ref().map_or(0, |job| job.requests);
    let probes = STAGES.len() as f64 * (terms.probe_requests as f64 + by_job as f64);
    let drive_writes = match terms.until {
        Until::Bytes(bytes) => bytes / setup.profile.capacity_bytes as f64,
        Until::Years(years) => years * DAYS_A_YEAR * terms.drive_writes_a_day,
        Until::Lost(_) | Until::Bad(_) | Until::Full => f64::from(setup.rated_pe_cycles()),
    };
    let rate = f64::from(terms.wear_rate.max(1));
    // At a rate the life is lived again at half of it, which takes twice as long.
    let lives = if rate > 1.0 { 3.0 } else { 1.0 };
    drive_writes * slots(setup) * lives / rate + probes
}
