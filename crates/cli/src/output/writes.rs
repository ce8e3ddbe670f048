//! What writes cost the flash: write amplification, where there is a steady state, and what it is made of.

use firstread_drive::stats::Written;
use firstread_drive::stats::amplification::{CLOSE, NEAR, NotSteady, WIDEST};
use firstread_firmware::ftl::Owner;
use firstread_workload::job::Direction;
use serde_json::{Map, Value, json};

use super::format::{bytes, count};
use crate::input::Input;
use crate::setup::Setup;
use crate::simulate::Outcome;

/// How random writes of the jobs are drawn, as fio has it; none where there are none.
fn random_writes(setup: &Setup<'_>) -> Option<&'static str> {
    let Input::Jobs { workload, .. } = setup.input else {
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

/// The share of the write amplification of a run, for a table: `4.62`.
pub fn amplification(outcome: &Outcome) -> String {
    match outcome.stats.amplification.steady() {
        Some(steady) => format!("{:.2}", steady.mean),
        None if outcome.stats.counters.host_slots_written == 0 => String::new(),
        None => "not steady".into(),
    }
}

/// Keys of a result.
pub fn json(setup: &Setup<'_>, outcome: &Outcome) -> Map<String, Value> {
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

const fn fault_key(fault: NotSteady) -> &'static str {
    match fault {
        NotSteady::FewErases(..) => "few_erases",
        NotSteady::Changes => "changes",
        NotSteady::Wide => "wide_interval",
    }
}

fn written(setup: &Setup<'_>, outcome: &Outcome) -> Written {
    Written::of(&outcome.stats.counters, setup.profile.geometry.slot_bytes)
}

/// Lines of a report.
pub fn lines(setup: &Setup<'_>, outcome: &Outcome) -> String {
    let counters = &outcome.stats.counters;
    if counters.host_slots_written == 0 && counters.slots_moved == 0 {
        return String::new();
    }
    let amplification = &outcome.stats.amplification;
    let mut text = String::from("write amplification");
    text += &match (amplification.not_steady, amplification.estimate) {
        (None, Some(e)) => format!(
            " {:.2}, {:.2} … {:.2} (95 %, over {} stretches of {} erases)",
            e.mean,
            e.interval.0,
            e.interval.1,
            e.stretches,
            count(amplification.erases_each),
        ),
        (Some(NotSteady::FewErases(erased, needed)), _) => format!(
            ": not in a steady state, {} of the {} superblocks erased that it takes",
            count(erased),
            count(needed)
        ),
        (Some(NotSteady::Changes), Some(e)) => format!(
            ": not in a steady state, the halves of the run differ by more than chance or {} % ({:.2} over all)",
            CLOSE * 100.0,
            e.mean
        ),
        (Some(NotSteady::Wide), Some(e)) => format!(
            ": its interval is wider than {} % of it on each side, {:.2} … {:.2}; make the run longer",
            WIDEST * 100.0,
            e.interval.0,
            e.interval.1
        ),
        _ => String::new(),
    };
    if let Some(theory) = amplification.theory {
        text += &format!("; by theory {theory:.2} under the overwrites of --precondition");
        let far = amplification
            .steady()
            .is_some_and(|s| (s.mean / theory - 1.0).abs() > NEAR);
        if far {
            text += ", which this load is not, or not yet";
        }
    }
    let written = written(setup, outcome);
    let buffered = match outcome.stats.buffered_bytes {
        0 => String::new(),
        left => format!(" ({} of them in the write buffer)", bytes(left as f64)),
    };
    text += &format!(
        "\n  the host wrote {}{buffered}, flash was programmed with {}; {} superblocks erased\n",
        bytes(written.host_bytes as f64),
        bytes(written.flash_bytes as f64),
        count(counters.erases),
    );
    let owners = Owner::ALL.into_iter().zip(counters.slots_moved_by);
    let moved: Vec<String> = owners
        .filter(|(_, n)| *n > 0)
        .map(|(owner, n)| format!("{} {}", count(n), in_words(owner)))
        .collect();
    if !moved.is_empty() {
        text += &format!("  pages moved: {}\n", moved.join(", "));
    }
    text += match random_writes(setup) {
        Some("random_map") => {
            "  random writes by fio's random map: each block once a pass, which moves less than \
             norandommap\n"
        }
        Some("norandommap") => "  random writes without a random map: each block is drawn anew\n",
        Some(_) => "  random writes of some jobs by fio's random map, of others with norandommap\n",
        None => "",
    };
    text
}

const fn in_words(owner: Owner) -> &'static str {
    match owner {
        Owner::Gc => "by garbage collection",
        Owner::Wear => "by wear leveling",
        Owner::Convert => "for a change of cell mode",
        Owner::Retire => "out of bad blocks",
        Owner::Refresh => "by refresh",
        Owner::Scheme => "by a scheme",
        Owner::Rescue => "after failed programs or power cuts",
    }
}
