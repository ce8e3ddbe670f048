//! What writes cost the flash: write amplification, where there is a steady state, and what it is made of.

use firstread_drive::stats::Written;
use firstread_drive::stats::amplification::NotSteady;
use firstread_firmware::ftl::Owner;
use firstread_workload::job::Direction;
use serde_json::{Map, Value, json};

use crate::input::Input;
use crate::outcome::Outcome;
use crate::setup::Setup;

/// How random writes of the jobs are drawn, as fio has it; `random_map`, `norandommap` or
/// `mixed`; none where there are none.
pub fn random_writes(setup: &Setup) -> Option<&'static str> {
    let Input::Jobs { workload, .. } = &*setup.input else {
        return None;
    };
    let mut maps = workload
        .jobs
        .iter()
        .filter(|job| job.random && job.operations.directions().contains(&Direction::Write))
        .map(|job| job.random_map);
    let first = maps.next()?;
    Some(match (maps.all(|map| map == first), first) {
        (false, _) => "mixed",
        (true, true) => "random_map",
        (true, false) => "norandommap",
    })
}

/// Keys of a result.
pub fn json(setup: &Setup, outcome: &Outcome) -> Map<String, Value> {
    let amplification = &outcome.stats.amplification;
    let written = written(setup, outcome);
    let steady = amplification.steady();
    let mut keys = Map::new();
    let mut put = |key: &str, value: Value| keys.insert(key.into(), value);
    put("steady", steady.is_some().into());
    put("not_steady", amplification.not_steady.map(fault_key).into());
    put("write_amplification", steady.map(|s| s.mean).into());
    put(
        "write_amplification_interval_95",
        steady.map(|s| vec![s.interval.0, s.interval.1]).into(),
    );
    put("write_amplification_theory", amplification.theory.into());
    put(
        "written",
        json!({
            "host_bytes": written.host_bytes,
            "flash_bytes": written.flash_bytes,
            "buffered_bytes": outcome.stats.buffered_bytes,
        }),
    );
    put("random_writes", random_writes(setup).into());
    keys
}

/// Slots moved, by who had them moved.
pub fn moved(outcome: &Outcome) -> Value {
    let by = outcome.stats.counters.slots_moved_by;
    let owners = Owner::ALL.into_iter().zip(by);
    let keys = owners.map(|(owner, n)| (owner.name().to_owned(), n.into()));
    keys.collect::<Map<String, Value>>().into()
}

/// Why a run was not steady, as JSON says it.
pub(super) const fn fault_key(fault: NotSteady) -> &'static str {
    match fault {
        NotSteady::FewErases(..) => "few_erases",
        NotSteady::OldData(_) => "old_data",
        NotSteady::Changes(_) => "changes",
        NotSteady::Moves(..) => "moves_change",
        NotSteady::Wide => "wide_interval",
    }
}

/// What the host wrote, and what flash was programmed with.
pub fn written(setup: &Setup, outcome: &Outcome) -> Written {
    Written::of(&outcome.stats.counters, setup.profile.geometry.slot_bytes)
}
