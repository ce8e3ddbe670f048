//! What a burn-in before the run did.

use firstread_drive::BurnInEnd;
use serde_json::{Value, json};

use super::writes::fault_key;
use crate::outcome::Outcome;
use crate::setup::Setup;

/// The burn-in of a run; none where it had none. The workload that burnt the drive in is under `config`.
pub(super) fn json(setup: &Setup, outcome: &Outcome) -> Option<Value> {
    let burn_in = outcome.burn_in.as_ref()?;
    let steady = burn_in.amplification.steady();
    Some(json!({
        "workload": setup.burn_in_input().map(|input| input.name()),
        "ended": match burn_in.ended {
            BurnInEnd::Steady => "steady",
            BurnInEnd::Limit => "limit",
            BurnInEnd::EndOfLife(_) => "end-of-life",
            BurnInEnd::Interrupted => "interrupted",
        },
        "not_steady": burn_in.amplification.not_steady.map(fault_key),
        "drive_writes": burn_in.drive_writes,
        "host_bytes": burn_in.written.host_bytes,
        "flash_bytes": burn_in.written.flash_bytes,
        "superblocks_erased": burn_in.erases,
        "write_amplification": steady.map(|s| s.mean),
        "write_amplification_interval_95": steady.map(|s| [s.interval.0, s.interval.1]),
        "requests": burn_in.requests,
        "passes": burn_in.passes,
        "power_cuts": burn_in.power_cuts,
        "simulated_ns": burn_in.time.0,
    }))
}
