//! A life in tables.

use std::fmt::Write;

use firstread_firmware::observe::Owner;
use firstread_session::life::{Class, Life, LifeEnd, LifeOutcome, Recent, Sample, Until};

use crate::output::format::{Side, bytes, capacity, count, range, rare, ratio, share, table, time};
use crate::output::human;

pub fn report(life: &Life, outcome: &LifeOutcome) -> String {
    let (lived, setup) = (&outcome.lived, &life.setup);
    let last = lived.last();
    let mut text = format!(
        "{} on {}, {}: seed {}\n  {}\n",
        setup.input.name(),
        setup.profile.name,
        capacity(setup.profile.capacity_bytes),
        setup.seed,
        setup.schemes() + &human::notes(setup),
    );
    if let Some(cells) = setup.other_cells() {
        let _ = writeln!(text, "  {cells}");
    }
    let end = end(life, lived.end);
    let _ = writeln!(
        text,
        "ended: {end}, after {:.2} years at this load",
        last.years
    );
    if outcome.interrupted && lived.end != LifeEnd::Interrupted {
        let unchecked = match outcome.check {
            None if lived.rate > 1 => "the check of its wear rate, ",
            _ => "",
        };
        let _ = writeln!(
            text,
            "interrupted after that: {unchecked}probes that had not ended are left out"
        );
    }
    text += "\n";
    text += &totals(life, outcome);
    text += "\nover the life\n";
    text += &stages(outcome);
    text += &by_job(life, outcome);
    text += match lived.earlier_bytes() > 0.0 {
        true => {
            "\nSMART (NVMe, log page 02h), at the end; counts and spare are of this life alone\n"
        }
        false => "\nSMART (NVMe, log page 02h), at the end\n",
    };
    let rows = lived.smart.rows().into_iter();
    let rows: Vec<Vec<String>> = rows
        .map(|(name, value, unit)| vec![name.to_owned(), count(value), unit.to_owned()])
        .collect();
    text += &table("  ", &[Side::Left, Side::Right, Side::Left], &rows);
    text
}

pub fn end(life: &Life, end: LifeEnd) -> String {
    match end {
        LifeEnd::Reached => format!("--until {}", life.terms.until),
        LifeEnd::Full => "the drive can no longer hold its capacity".into(),
        LifeEnd::WriteProtected => {
            "the high wearing area is worn to its bound, and the drive takes no more writes (area.at_bound=read-only)"
                .into()
        }
        LifeEnd::Interrupted => "interrupted, so all that follows is of the life until then".into(),
    }
}

fn totals(life: &Life, outcome: &LifeOutcome) -> String {
    let lived = &outcome.lived;
    // Bytes written are TBW once wear has ended the life.
    let total = match (outcome.tbw(life), lived.end) {
        (Some(_), _) => "TBW",
        (None, LifeEnd::Interrupted) => "written so far",
        (None, _) => "written",
    };
    let interval = outcome.tbw_interval(life).map(|(low, high)| {
        format!(
            "{} (95 % by the pages that were drawn)",
            range(&bytes(low), &bytes(high))
        )
    });
    let mut rows = vec![vec![
        total.into(),
        bytes(lived.written_bytes()),
        interval.unwrap_or_default(),
    ]];
    if lived.earlier_bytes() > 0.0 {
        rows.push(vec![
            "of which before this life".into(),
            bytes(lived.earlier_bytes()),
            "--wear-from".into(),
        ]);
    }
    if let Some(half) = &outcome.check {
        let of_half = half.corrected_bytes(half.written_bytes());
        rows.push(vec![
            format!("{total}, corrected"),
            bytes(outcome.corrected_bytes()),
            format!(
                "wear rate {}; {} at {}, {:+.2} %",
                lived.rate,
                bytes(of_half),
                half.rate,
                100.0 * (of_half / outcome.corrected_bytes() - 1.0),
            ),
        ]);
    }
    if let Some(dwpd) = outcome.dwpd(life) {
        rows.push(vec![
            "drive writes a day".into(),
            format!("{dwpd:.3}"),
            format!("over {} years", life.terms.warranty_years),
        ]);
    }
    let owners = Owner::ALL.into_iter().zip(lived.moved);
    let moved = owners.filter(|(_, share)| *share > 0.0);
    let moved = moved.map(|(owner, share)| format!("{} {}", owner.name(), ratio(share)));
    if let Some(low) = lived.low_read_share {
        rows.push(vec![
            "reads from the low wearing area".into(),
            share(low),
            String::new(),
        ]);
    }
    rows.push(vec![
        "write amplification".into(),
        lived
            .write_amplification
            .map_or("-".into(), |all| format!("{all:.3}")),
        moved.collect::<Vec<_>>().join(", "),
    ]);
    let last = lived.last();
    if let Some(ns) = last.program_ns_per_page {
        rows.push(vec![
            "programs a page written".into(),
            time(ns),
            "time of all programs of flash, by the chip's times".into(),
        ]);
    }
    rows.push(vec![
        "bad blocks, by plane".into(),
        count(last.bad_blocks),
        format!(
            "{:.2} %: {} of the factory, {} since; {} superblocks retired",
            100.0 * last.bad_share,
            count(last.factory_bad_blocks),
            count(last.bad_blocks - last.factory_bad_blocks),
            count(last.retired.into()),
        ),
    ]);
    if let Some(lost) = last.lost {
        let most = match life.terms.until {
            Until::Lost(class) if class.name == Class::CLIENT.name => lost.client,
            _ => lost.enterprise,
        };
        let (low, high) = most.interval;
        rows.push(vec![
            "UBER at the end".into(),
            rare(most.host),
            format!(
                "{} (95 %), carried by {} of the pages drawn",
                range(&rare(low), &rare(high)),
                count(most.pages.round() as u64)
            ),
        ]);
    }
    table("  ", &[Side::Left, Side::Right, Side::Left], &rows)
}

fn stages(outcome: &LifeOutcome) -> String {
    let mut head: Vec<String> = [
        "life",
        "written",
        "years",
        "area",
        "P/E min",
        "mean",
        "P99",
        "max",
        "bad blocks",
        "UBER client",
        "UBER enterprise",
    ]
    .map(str::to_owned)
    .to_vec();
    head.extend(["read mean", "P99", "P99.9", "retries", "lost"].map(str::to_owned));
    let mut rows = vec![head];
    for stage in &outcome.stages {
        let sample = &stage.sample;
        for (i, area) in sample.wear.iter().enumerate() {
            let once = |text: String| if i == 0 { text } else { String::new() };
            let mut row = vec![
                once(format!("{:.0} %", 100.0 * stage.share)),
                once(bytes(sample.host_bytes)),
                once(format!("{:.2}", sample.years)),
                area.name.to_owned(),
                count(area.min.into()),
                format!("{:.0}", area.mean),
                count(area.p99.into()),
                count(area.max.into()),
                once(format!("{:.2} %", 100.0 * sample.bad_share)),
            ];
            let rate = |of: Option<f64>| of.map_or("-".into(), rare);
            row.push(once(rate(sample.lost.map(|l| l.client.host))));
            row.push(once(rate(sample.lost.map(|l| l.enterprise.host))));
            match (stage.probe, i) {
                (Some(p), 0) => row.extend([
                    time(p.mean_ns),
                    time(p.p99_ns as f64),
                    time(p.p999_ns as f64),
                    ratio(p.retries_mean),
                    rare(p.lost_share),
                ]),
                (None, 0) => row.extend(["-"; 5].map(str::to_owned)),
                _ => {}
            }
            rows.push(row);
        }
    }
    let mut sides = vec![Side::Right; rows[0].len()];
    sides[3] = Side::Left;
    table("  ", &sides, &rows)
}

/// Probes by the load that was asked for; empty where none was.
fn by_job(life: &Life, outcome: &LifeOutcome) -> String {
    let Some(job) = &life.terms.probe_job else {
        return String::new();
    };
    let mut head = vec![
        "life", "written", "reads", "mean", "P99", "P99.9", "P99.99", "95 %", "retries", "lost",
    ];
    let mut probes = outcome.stages.iter().filter_map(|stage| stage.by_job);
    let writes = probes.any(|probe| probe.writes.is_some());
    if writes {
        head.extend(["writes", "mean", "P99.9", "longest"]);
    }
    let columns = head.len();
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for stage in &outcome.stages {
        let Some(p) = stage.by_job else {
            continue;
        };
        let interval = p.p9999_interval_ns;
        rows.push(vec![
            format!("{:.0} %", 100.0 * stage.share),
            bytes(p.host_bytes),
            count(p.reads),
            time(p.mean_ns),
            time(p.p99_ns as f64),
            time(p.p999_ns as f64),
            p.p9999_ns.map_or("-".into(), |ns| time(ns as f64)),
            interval.map_or("-".into(), |(low, high)| {
                range(&time(low as f64), &time(high as f64))
            }),
            ratio(p.retries_mean),
            rare(p.lost_share),
        ]);
        let row = rows.last_mut().expect("the row of this stage");
        match p.writes {
            Some(w) => row.extend([
                count(w.writes),
                time(w.mean_ns),
                time(w.p999_ns as f64),
                time(w.max_ns as f64),
            ]),
            None if writes => row.extend(["-"; 4].map(str::to_owned)),
            None => {}
        }
    }
    let written = outcome
        .stages
        .iter()
        .filter_map(|s| s.by_job)
        .map(|p| p.written_bytes)
        .max();
    let also = match written {
        Some(n) if n > 0 => format!(
            "; it writes, up to {}, to a copy of the drive: that wears nothing here",
            bytes(n as f64)
        ),
        _ => String::new(),
    };
    let what = if writes { "reads and writes" } else { "reads" };
    format!("\n{what} by {} over the life{also}\n", job.input.title())
        + &table("  ", &vec![Side::Right; columns], &rows)
}

/// Every sample of the life, a row an area.
pub fn csv(outcome: &LifeOutcome) -> String {
    let mut text = String::from(
        "host_bytes,years,write_amplification,since_last_write_amplification,program_ns_per_page,since_last_program_ns_per_page,\
         other_modes_share,bad_blocks,bad_share,retired_superblocks,area,pe_min,pe_mean,pe_p99,pe_max,\
         uber_client_hard,uber_client,uber_enterprise_hard,uber_enterprise\n",
    );
    for (sample, recent) in outcome.lived.over_life() {
        text += &csv_rows(sample, recent);
    }
    text
}

fn csv_rows(sample: &Sample, recent: Option<Recent>) -> String {
    let mut text = String::new();
    let cell = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let lost = sample.lost.map_or([None; 4], |l| {
        [
            l.client.hard,
            l.client.host,
            l.enterprise.hard,
            l.enterprise.host,
        ]
        .map(Some)
    });
    let lost = lost.map(|rate| rate.map_or(String::new(), |rate| format!("{rate:e}")));
    for area in &sample.wear {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            sample.host_bytes,
            sample.years,
            cell(sample.write_amplification),
            cell(recent.map(|r| r.write_amplification)),
            cell(sample.program_ns_per_page),
            cell(recent.map(|r| r.program_ns_per_page)),
            cell(sample.other_modes_share),
            sample.bad_blocks,
            sample.bad_share,
            sample.retired,
            area.name,
            area.min,
            area.mean,
            area.p99,
            area.max,
            lost.join(","),
        );
    }
    text
}
