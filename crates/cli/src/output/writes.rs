//! What writes cost the flash: write amplification, where there is a steady state, and what it is made of.

use firstread_drive::BurnInEnd;
use firstread_drive::stats::amplification::{CLOSE, NEAR, NotSteady, WIDEST};
use firstread_drive::stats::turnover::HORIZON;
use firstread_firmware::ftl::Owner;
use firstread_session::results::host_log::{LogInRun, host_log};
use firstread_session::results::writes::{random_writes, written};
use firstread_session::{Outcome, Setup};

use super::format::{bytes, count, long_time};

/// The share of the write amplification of a run, for a table: `4.62`.
pub fn amplification(outcome: &Outcome) -> String {
    match outcome.stats.amplification.steady() {
        Some(steady) => format!("{:.2}", steady.mean),
        None if outcome.stats.counters.host_slots_written == 0 => String::new(),
        None => "not steady".into(),
    }
}

/// Lines of a report.
pub fn lines(setup: &Setup, outcome: &Outcome) -> String {
    let counters = &outcome.stats.counters;
    if counters.host_slots_written == 0 && counters.slots_moved == 0 {
        return String::new();
    }
    let amplification = &outcome.stats.amplification;
    let mut text = String::from("write amplification");
    text += &match (amplification.not_steady, amplification.estimate) {
        (None, Some(e)) if outcome.split.is_some() => format!(
            " {:.2}, {:.2} … {:.2} (95 %, over the parts)",
            e.mean, e.interval.0, e.interval.1,
        ),
        (None, Some(e)) => format!(
            " {:.2}, {:.2} … {:.2} (95 %, over {} segments of {} erases)",
            e.mean,
            e.interval.0,
            e.interval.1,
            e.segments,
            count(amplification.erases_each),
        ),
        (Some(NotSteady::FewErases(erased, needed)), _) => format!(
            ": not in a steady state, {} of the {} superblocks erased that it takes",
            count(erased),
            count(needed)
        ),
        (
            Some(fault @ (NotSteady::Moves(..) | NotSteady::Changes(_) | NotSteady::OldData(_))),
            Some(e),
        ) => {
            format!(
                ": not in a steady state, {} ({:.2} over all)",
                what_moved(fault),
                e.mean
            )
        }
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
    if let Some(log) = host_log(setup, outcome) {
        text += &of_log(&log);
    }
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

/// What a log of the host wrote.
fn of_log(log: &LogInRun) -> String {
    let amplifies = match (log.of_log(), log.of_drive(), log.of_both()) {
        (Some(log), Some(drive), Some(both)) => {
            format!(
                " (amplified {log:.2} times by the log, {drive:.2} by the drive, {both:.2} by both)"
            )
        }
        _ => String::new(),
    };
    format!(
        "  of that a log of the host wrote {} for applications and moved {}{amplifies}; {} zones of {} cleaned, {} requests waited\n",
        bytes(log.application_bytes as f64),
        bytes(log.moved_bytes as f64),
        count(log.zones_cleaned),
        bytes(log.zone_bytes as f64),
        count(log.waited),
    )
}

/// What moved by how much in writes that are not steady.
fn what_moved(fault: NotSteady) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share.abs());
    match fault {
        NotSteady::FewErases(erased, needed) => format!(
            "{} of the {} superblocks erased that it takes",
            count(erased),
            count(needed)
        ),
        NotSteady::OldData(left) => format!(
            "{} superblocks hold what they held before, which {:.0} drive writes would turn into {} of the garbage",
            count(left.superblocks.into()),
            HORIZON,
            percent(left.share)
        ),
        NotSteady::Changes(by) => format!(
            "parts of the run differ by {}, more than chance and more than {} %",
            percent(by),
            CLOSE * 100.0
        ),
        NotSteady::Moves(owner, by) => format!(
            "parts of the run differ in pages moved {} by {} of it, more than chance and more than {} %",
            in_words(owner),
            percent(by),
            CLOSE * 100.0
        ),
        NotSteady::Wide => "its interval is too wide".to_owned(),
    }
}

/// What the burn-in before the run did, if there was one.
pub fn burn_in(setup: &Setup, outcome: &Outcome) -> String {
    let Some(burn_in) = &outcome.burn_in else {
        return String::new();
    };
    let by = setup.burn_in_input().map_or("", |input| input.title());
    let steady = match (burn_in.ended, burn_in.amplification.steady()) {
        (BurnInEnd::EndOfLife(_), _) => "then the drive took no more writes".to_owned(),
        (BurnInEnd::Interrupted, _) => "then interrupted".to_owned(),
        (_, Some(steady)) => format!("then steady at write amplification {:.2}", steady.mean),
        (_, None) => {
            let why = burn_in.amplification.not_steady.map(what_moved);
            format!(
                "NOT in a steady state at its limit (--burn-in-limit): {}; what follows may be of a transient",
                why.unwrap_or_default()
            )
        }
    };
    format!(
        "burnt in by {by}: {:.2} drive writes, {} superblocks erased, {} simulated; {steady}\n",
        burn_in.drive_writes,
        count(burn_in.erases),
        long_time(burn_in.time.0 as f64),
    )
}

const fn in_words(owner: Owner) -> &'static str {
    match owner {
        Owner::Gc => "by garbage collection",
        Owner::Wear => "by wear leveling",
        Owner::Convert => "for a change of cell mode",
        Owner::Retire => "out of bad blocks",
        Owner::Refresh => "by refresh",
        Owner::Promotion => "by promotion",
        Owner::Scheme => "by a scheme",
        Owner::Rewrite => "after failed programs or power cuts",
        Owner::Migration => "into the low wearing area after reads",
        Owner::MakeRoom => "out of the low wearing area",
        Owner::Destage => "out of the SLC pool",
    }
}

#[cfg(test)]
mod tests {
    use firstread_core::Ns;
    use firstread_drive::stats::Written;
    use firstread_drive::{BurnIn, EndOfLife};
    use firstread_firmware::observe::Counters;
    use firstread_session::{BurnInSetup, Input, Simulation};

    use super::*;
    use firstread_drive::stats::turnover::Left;

    /// A run of fifty requests by `job`, whose counts a test sets.
    fn short_run(job: &str) -> (Setup, Outcome) {
        let setup = Simulation {
            drive: "bench-4g".into(),
            limit: Some(50),
            burn_in: Some(BurnInSetup::BY_ITSELF),
            ..Simulation::of(Input::job_file("load", job.to_owned()).unwrap())
        };
        let mut setup = setup.setup().unwrap();
        let burn_in = setup.burn_in.take();
        let mut outcome = setup.simulate().unwrap();
        setup.burn_in = burn_in;
        outcome.stats.counters = Counters::default();
        outcome.stats.buffered_bytes = 0;
        outcome.stats.amplification.estimate = None;
        outcome.stats.amplification.theory = None;
        (setup, outcome)
    }

    #[test]
    fn golden_what_writes_of_counts_by_hand_cost() {
        let (setup, mut outcome) = short_run("[a]\nrw=randwrite\nbs=4k\nnorandommap\n");
        assert_eq!(lines(&setup, &outcome), "");
        assert_eq!(amplification(&outcome), "");
        outcome.stats.amplification.not_steady = Some(NotSteady::FewErases(3, 1_200));
        let c = &mut outcome.stats.counters;
        (c.host_slots_written, c.host_bytes_written) = (10, 40_960);
        (c.slots_programmed, c.erases) = (20, 7);
        assert_eq!(amplification(&outcome), "not steady");
        assert_eq!(
            lines(&setup, &outcome),
            "write amplification: not in a steady state, 3 of the 1,200 superblocks erased that it takes
  the host wrote 41.0 kB, flash was programmed with 81.9 kB; 7 superblocks erased
  random writes without a random map: each block is drawn anew
"
        );
        outcome.stats.amplification.theory = Some(2.5);
        outcome.stats.buffered_bytes = 8_192;
        let c = &mut outcome.stats.counters;
        c.slots_moved_by[Owner::Gc as usize] = 5;
        c.slots_moved_by[Owner::MakeRoom as usize] = 1_000;
        assert_eq!(
            lines(&setup, &outcome),
            "write amplification: not in a steady state, 3 of the 1,200 superblocks erased that it takes; by theory 2.50 \
             under the overwrites of --precondition
  the host wrote 41.0 kB (8.19 kB of them in the write buffer), flash was programmed with 81.9 kB; 7 superblocks erased
  pages moved: 5 by garbage collection, 1,000 out of the low wearing area
  random writes without a random map: each block is drawn anew
"
        );
        // Moves without a write of the host are told too.
        outcome.stats.counters = Counters::default();
        outcome.stats.counters.slots_moved = 1;
        assert!(lines(&setup, &outcome).contains("the host wrote 0 B"));
    }

    #[test]
    fn golden_how_a_burn_in_ended() {
        let (setup, mut outcome) = short_run("[a]\nrw=randread\nbs=4k\n");
        assert_eq!(burn_in(&setup, &outcome), "");
        let mut amplification = outcome.stats.amplification;
        amplification.not_steady = Some(NotSteady::OldData(Left {
            superblocks: 12,
            share: 0.0312,
        }));
        let mut told = |ended| {
            outcome.burn_in = Some(BurnIn {
                written: Written::default(),
                drive_writes: 1.25,
                requests: 1,
                passes: 2,
                power_cuts: 0,
                erases: 4_321,
                time: Ns::from_h(2),
                amplification,
                ended,
            });
            burn_in(&setup, &outcome)
        };
        let head = "burnt in by load: 1.25 drive writes, 4,321 superblocks erased, 2 h simulated; ";
        for (ended, tail) in [
            (
                BurnInEnd::Limit,
                "NOT in a steady state at its limit (--burn-in-limit): 12 superblocks hold what they held before, which 10 \
                 drive writes would turn into 3.1 % of the garbage; what follows may be of a transient",
            ),
            (BurnInEnd::Interrupted, "then interrupted"),
            (
                BurnInEnd::EndOfLife(EndOfLife {
                    written: 1,
                    blocks: 2,
                    retired: 0,
                    failed: 0,
                }),
                "then the drive took no more writes",
            ),
        ] {
            assert_eq!(told(ended), format!("{head}{tail}\n"));
        }
    }
}
