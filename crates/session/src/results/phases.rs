//! Phases of a job file: when each ran, at which temperature.

use firstread_drive::Phase;
use serde_json::{Value, json};

use crate::outcome::Outcome;

/// The phases of a run, where a result tells them: those of a job file that has several, waits or changes the
/// temperature.
pub fn told(outcome: &Outcome) -> &[Phase] {
    let phases = outcome.stats.phases.as_slice();
    let plain = match phases {
        [] => true,
        [one] => one.started == one.began && one.temperature_c == outcome.temperature_before_run_c,
        _ => false,
    };
    if plain { &[] } else { phases }
}

/// A row a phase; none where [`told`] has none. Times count from the start of the run (ns).
pub fn json(outcome: &Outcome) -> Option<Value> {
    let row = |phase: &Phase| {
        json!({
            "jobs": phase.jobs,
            "began_ns": phase.began.0,
            "started_ns": phase.started.0,
            "ended_ns": phase.ended.map(|ended| ended.0),
            "delay_temperature_c": phase.delay_temperature_c,
            "temperature_c": phase.temperature_c,
            "requests": phase.requests,
        })
    };
    let rows: Vec<Value> = told(outcome).iter().map(row).collect();
    (!rows.is_empty()).then(|| rows.into())
}
