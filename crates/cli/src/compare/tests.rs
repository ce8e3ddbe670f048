//! Comparisons of summaries that were set by hand.

use clap::Parser;
use serde_json::json;

use super::*;
use crate::args::{Form, Output};

/// A percentile by hand: percent, microseconds, requests beyond, half its interval in microseconds.
type ByHand = (f64, u64, u64, Option<u64>);

fn direction(count: u64, lost: u64, mean_us: f64, percentiles: &[ByHand]) -> Direction {
    let one = |&(percent, us, beyond, half_us): &ByHand| {
        json!({
            "percent": percent,
            "ns": us * 1_000,
            "interval_ns": half_us.map(|half| [(us - half) * 1_000, (us + half) * 1_000]),
            "requests_needed": 400_000,
            "beyond": beyond,
            "lost_share": 0.0,
            "among_errors": lost > 0 && percent > 99.99,
        })
    };
    let value = json!({
        "count": count,
        "lost": lost,
        "bytes": count * 4_096,
        "mean_ns": mean_us * 1e3,
        "mean_half_ns": mean_us * 20.0,
        "max_ns": 1_000_000,
        "rate_half": 0.02,
        "percentiles": percentiles.iter().map(one).collect::<Vec<_>>(),
    });
    serde_json::from_value(value).unwrap()
}

/// A run of two seconds whose latencies are `slow` times those of the fastest.
fn by_hand(real: &Summary, slow: u64, lost: u64) -> Summary {
    let percentiles: Vec<ByHand> = vec![
        (50.0, 80 * slow, 100_000, Some(2)),
        (90.0, 90 * slow, 20_000, Some(2)),
        (99.0, 120 * slow, 2_000, Some(6)),
        (99.9, 300 * slow, 200, Some(30)),
        (99.99, 900 * slow, 20, None),
        (99.999, 2_000 * slow, 2, None),
    ];
    // All time of the slowest by cause: queue, map, cleaning, reserve.
    let mut values = serde_json::to_value(real).unwrap();
    values["tail"] = json!(["3 1000 500 300 150 50"]);
    let mut summary: Summary = serde_json::from_value(values).unwrap();
    summary.requests = 250_000;
    summary.runtime_ns = 2_000_000_000;
    summary.read = direction(200_000, lost, 100.0 * slow as f64, &percentiles);
    summary.write = direction(50_000 / slow, 0, 40.0, &percentiles[..3]);
    summary.explained = "read".into();
    summary.first_try = 1.0 - 0.1 * slow as f64;
    summary.retries_mean = 0.2 * slow as f64;
    summary.background_reads_before = 1_000;
    summary.background_reads = 10 * slow;
    summary.suspends = 3 * slow;
    summary.amplification = (slow < 4).then_some(2.0 + slow as f64);
    summary.amplification_text = "not steady".into();
    summary
}

/// What is compared: two schemes, each on drives of two seeds, with summaries of `slow` and lost requests as given.
fn with_results(by: [[(u64, u64); 2]; 2], check: impl FnOnce(Vec<Compared<'_>>)) {
    let job = "[a]\nrw=randread\nbs=4k\n".to_owned();
    let base = Simulation {
        drive: "bench-4g".into(),
        limit: Some(50),
        ..Simulation::of(Input::job_file("load", job).unwrap())
    };
    let schemes: Choices = "gc_victim=greedy,cost-benefit".parse().unwrap();
    let output = Output {
        form: Form::Human,
        out: None,
        plan: None,
    };
    let all = combinations(&base, vec![schemes]).unwrap();
    let plan = Plan::new(Kind::Comparison, None, all, &[1, 2], Some(1), output);
    let points = &plan.points;
    let labels: Vec<&str> = points.iter().map(|p| p.label.as_str()).collect();
    let names: Vec<&str> = points.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(
        labels,
        [
            "greedy seed 1",
            "greedy seed 2",
            "cost-benefit seed 1",
            "cost-benefit seed 2"
        ]
    );
    assert_eq!(
        names,
        [
            "greedy/seed-1",
            "greedy/seed-2",
            "cost-benefit/seed-1",
            "cost-benefit/seed-2"
        ]
    );
    let ran = plan.run(summary::values, |_, _| Vec::new()).unwrap();
    let mut results = compared(&ran).unwrap();
    for (of, numbers) in results.iter_mut().zip(by) {
        for (run, (slow, lost)) in of.drives.iter_mut().zip(numbers) {
            run.summary = by_hand(&run.summary, slow, lost);
        }
    }
    check(results);
}

/// Two drives: the second scheme is twice as slow on the first and as fast on the other, and has lost requests.
#[test]
fn golden_a_comparison_of_numbers_by_hand() {
    with_results([[(1, 0), (3, 0)], [(2, 8), (3, 0)]], |mut results| {
        insta::assert_snapshot!("two_drives", report("gc_victim", &results));
        for compared in &mut results {
            compared.drives.truncate(1);
        }
        insta::assert_snapshot!("one_drive", report("gc_victim", &results));
    });
}

/// A write amplification that one drive has not is not given.
#[test]
fn sequence_what_is_not_steady_on_a_drive_is_said() {
    with_results([[(1, 0), (4, 0)], [(1, 0), (2, 0)]], |results| {
        let table = write_table("gc_victim", &results);
        let row = |start: &str| table.lines().find(|l| l.trim().starts_with(start)).unwrap();
        assert!(row("greedy").contains("not steady"), "{table}");
        assert!(row("cost-benefit").contains("3.50"), "{table}");
    });
}

/// Drives are compared with themselves: those that one scheme has not run are left out, and so is a scheme without any.
#[test]
fn sequence_an_interrupted_comparison_keeps_what_both_have() {
    let seeds = |results: &[Compared<'_>]| -> Vec<Vec<u64>> {
        let of = |c: &Compared<'_>| c.drives.iter().map(|run| run.setup.seed).collect();
        results.iter().map(of).collect()
    };
    let numbers = [[(1, 0), (2, 0)], [(1, 0), (2, 0)]];
    with_results(numbers, |mut results| {
        comparable(&mut results);
        assert_eq!(seeds(&results), [[1, 2], [1, 2]]);
        results[1].drives.remove(0);
        comparable(&mut results);
        assert_eq!(seeds(&results), [[2], [2]]);
    });
    with_results(numbers, |mut results| {
        results[0].drives.truncate(1);
        results[1].drives.remove(0);
        comparable(&mut results);
        assert_eq!(seeds(&results), [[1]]);
    });
}

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: CompareArgs,
}

/// The command that explains a comparison repeats what is of a run, and asks for the scheme that was compared.
#[test]
fn golden_the_next_command() {
    let next = |line: &[&str]| {
        let words: Vec<String> = line.iter().map(|w| (*w).to_owned()).collect();
        let args = Line::try_parse_from(["compare"].iter().chain(line))
            .unwrap()
            .args;
        let mut command = String::new();
        with_results([[(1, 0); 2]; 2], |results| {
            command = next_command(&args, &words, &results);
        });
        command
    };
    assert_eq!(
        next(&[
            "my job.fio",
            "--scheme",
            "gc_victim=greedy,cost-benefit",
            "--drives=2",
            "--age",
            "28h",
            "--json",
            "--threads",
            "2",
            "--limit=1e6",
        ]),
        "next: firstread run 'my job.fio' --age 28h --limit=1e6 --scheme gc_victim=cost-benefit"
    );
    let text = next(&["--drive", "bench-4g"]);
    let (start, levels) = text.split_once(" --scheme ").unwrap();
    assert_eq!(
        start,
        "next: firstread run randread-64k-qd128 --drive bench-4g"
    );
    let (scheme, rest) = levels.split_once(' ').unwrap();
    assert!(scheme.starts_with("read_levels="), "{text}");
    assert_eq!(rest, "--calibration-log");
}
