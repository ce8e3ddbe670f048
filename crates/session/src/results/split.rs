//! The parts of a run that was split.

use serde_json::{Value, json};

use crate::outcome::Outcome;

/// What its parts were; none where the run was not split.
pub fn json(outcome: &Outcome) -> Option<Value> {
    let split = outcome.split.as_ref()?;
    let drift = split.drift.map(|(of, drift)| {
        json!({
            "of": of,
            "relative": drift.relative,
            "interval_99": [drift.relative - drift.half, drift.relative + drift.half],
            "is_there": drift.is_there(),
        })
    });
    Some(json!({
        "parts": split.requests.len(),
        "requests": split.requests,
        "drive_writes_each": split.drive_writes,
        "drift": drift,
    }))
}
