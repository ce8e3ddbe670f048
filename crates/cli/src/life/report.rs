//! A life in tables.

use std::fmt::Write;

use firstread_firmware::observe::Owner;
use firstread_session::life::{Life, LifeEnd, LifeOutcome, Sample};

use crate::output::format::{Side, bytes, capacity, count, rare, ratio, share, table, time};
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
    text += "\nSMART (NVMe, log page 02h), at the end\n";
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
    // Bytes written are TBW once the life has ended.
    let total = match lived.end {
        LifeEnd::Interrupted => "written so far",
        _ => "TBW",
    };
    let mut rows = vec![vec![
        total.into(),
        bytes(lived.written_bytes()),
        String::new(),
    ]];
    if let Some(half) = &outcome.check {
        rows.push(vec![
            "TBW, corrected".into(),
            bytes(outcome.corrected_bytes()),
            format!(
                "wear rate {}; {} at {}, {:+.2} %",
                lived.rate,
                bytes(half.written_bytes() * half.corrected()),
                half.rate,
                100.0 * (half.written_bytes() * half.corrected() / outcome.corrected_bytes() - 1.0),
            ),
        ]);
    }
    if lived.end != LifeEnd::Interrupted {
        rows.push(vec![
            "drive writes a day".into(),
            format!("{:.3}", outcome.dwpd(life)),
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
        format!("{:.3}", lived.write_amplification),
        moved.collect::<Vec<_>>().join(", "),
    ]);
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

/// Every sample of the life, a row an area.
pub fn csv(outcome: &LifeOutcome) -> String {
    let mut text = String::from(
        "host_bytes,years,write_amplification,bad_blocks,bad_share,retired_superblocks,area,pe_min,pe_mean,pe_p99,pe_max,\
         uber_client_hard,uber_client,uber_enterprise_hard,uber_enterprise\n",
    );
    for sample in &outcome.lived.samples {
        text += &csv_rows(sample);
    }
    text
}

fn csv_rows(sample: &Sample) -> String {
    let mut text = String::new();
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
            "{},{},{},{},{},{},{},{},{},{},{},{}",
            sample.host_bytes,
            sample.years,
            sample.write_amplification,
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
