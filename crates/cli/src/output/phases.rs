//! Phases of a job file as people read them.

use firstread_session::Outcome;
use firstread_session::results::phases::told;

use super::format::{Side, bytes, count, long_time, table};

/// A line of the power cut, if there was one.
fn power_cut(outcome: &Outcome) -> String {
    let Some(cut) = outcome.stats.power_cut else {
        return String::new();
    };
    let work = &cut.work;
    let image = match work.image_bytes {
        0 => String::new(),
        image_bytes => format!(", a map image of {}", bytes(image_bytes as f64)),
    };
    format!(
        "\npower cut after {}: {} requests lost; {} on capacitors to save {}; ready after {}, for which the \
         drive read its dump{image}, and tables of contents of {} superblocks\n",
        long_time(cut.at.since(outcome.began).0 as f64),
        count(cut.lost_requests.into()),
        long_time(cut.dump.0 as f64),
        bytes(work.dumped_bytes as f64),
        long_time(cut.recovery.0 as f64),
        count(work.superblocks.into()),
    )
}

/// A row a phase, where the job file has several, waits or changes the temperature; a power cut.
pub fn lines(outcome: &Outcome) -> String {
    let phases = told(outcome);
    if phases.is_empty() {
        return power_cut(outcome);
    }
    let head = [
        "phase",
        "waits for",
        "at",
        "then runs at",
        "from",
        "for",
        "requests",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    for phase in phases {
        let waits = phase.started.since(phase.began).0;
        let (delay, delay_celsius) = match waits {
            0 => ("-".to_owned(), "-".to_owned()),
            _ => (
                long_time(waits as f64),
                format!("{} °C", phase.delay_temperature_c),
            ),
        };
        let ended = phase.ended.map_or("the run's end".to_owned(), |ended| {
            long_time(ended.since(phase.started).0 as f64)
        });
        rows.push(vec![
            phase.jobs.join(", "),
            delay,
            delay_celsius,
            format!("{} °C", phase.temperature_c),
            long_time(phase.started.0 as f64),
            ended,
            count(phase.requests),
        ]);
    }
    let sides = [Side::Left].into_iter().chain([Side::Right; 6]);
    let sides: Vec<Side> = sides.collect();
    format!(
        "\nphases (time since the run began)\n{}{}",
        table("  ", &sides, &rows),
        power_cut(outcome),
    )
}
