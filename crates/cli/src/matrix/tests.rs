//! Tables and pictures of runs whose numbers were set by hand.

use clap::Parser;
use firstread_session::conditions::Condition;
use firstread_session::study::metric;
use firstread_session::{Input, Simulation, Sweep, Varied};

use super::*;
use crate::args::OutputArgs;
use crate::figure::{Mark, Ticks};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    output: OutputArgs,
}

/// Two ages and two schemes on two drives. Latencies are those of the first combination times 1, 2, 3 and 4, and on the
/// second drive a tenth longer; the last combination has no P99 on its second drive.
fn with_runs(check: impl FnOnce(Rows<'_>)) {
    let job = "[a]\nrw=randread\nbs=4k\n".to_owned();
    let gc_victim = firstread_firmware::policy::AXES
        .iter()
        .find(|a| a.name == "gc_victim")
        .unwrap();
    let schemes = ["greedy", "cost-benefit"].map(String::from).to_vec();
    let ages = ["0", "28h"].map(String::from).to_vec();
    let output = Line::try_parse_from(["matrix"]).unwrap().output;
    let asked = Asked {
        base: Simulation {
            drive: "bench-4g".into(),
            limit: Some(50),
            ..Simulation::of(Input::job_file("load", job).unwrap())
        },
        sweep: Sweep::of(vec![
            (Varied::Scheme(gc_victim), schemes),
            (Varied::State(Condition::Age), ages),
        ]),
        seeds: vec![1, 2],
        compares: true,
        accept: &[],
        threads: Some(1),
        output: &output,
    };
    let plan = plan(&asked).unwrap();
    let ran = plan.run(metric::of_finished, |_, _| Vec::new()).unwrap();
    let mut combinations = gather(&ran);
    for (i, combination) in (1..).zip(&mut combinations) {
        for (drive, (_, kept)) in combination.runs.iter_mut().enumerate() {
            let us = 100.0 * f64::from(i) * (1.0 + 0.1 * drive as f64);
            let values = [
                ("iops", 20_000.0 / f64::from(i)),
                ("mean_us", us),
                ("p50_us", 0.9 * us),
                ("p99_us", 5.0 * us),
                ("first_try_percent", 99.5),
                ("lost_share", 0.0),
            ];
            kept.values = values
                .map(|(name, v)| (name.to_owned(), v.into()))
                .into_iter()
                .collect();
            if (i, drive) == (4, 1) {
                kept.values.remove("p99_us");
            }
        }
    }
    check(Rows {
        asked: &asked,
        combinations,
    });
}

#[test]
fn golden_a_table_of_numbers_by_hand() {
    with_runs(|mut ran| {
        insta::assert_snapshot!("table", table::report(&ran, &table::of(&ran)));
        insta::assert_snapshot!("csv", String::from_utf8(table::csv(&ran).unwrap()).unwrap());
        let p99 = |i: usize| (500.0 * i as f64).into();
        ran.combinations[3].runs[1]
            .1
            .values
            .insert("p99_us".into(), p99(4));
        let text = table::report(&ran, &table::of(&ran));
        assert!(
            text.contains("P99 change"),
            "the tail that all have:\n{text}"
        );
        assert!(!text.contains("a blank percentile"), "{text}");
    });
}

/// A row of panels for each percentile, the scheme by series, the age along the axis; markers at the medians and whiskers
/// over the drives.
#[test]
fn formula_a_picture_of_numbers_by_hand() {
    with_runs(|ran| {
        let figure = picture::draw(&ran).unwrap();
        assert_eq!(figure.title, "load: median and range of 2 drives");
        assert_eq!((figure.rows.len(), figure.size_px.1), (2, 930));
        let panel = &figure.rows[0].panels[0];
        assert_eq!(
            (panel.x.range, panel.title.as_str()),
            (Some((-0.5, 1.5)), "")
        );
        let ticks = [(0.0, "0".to_owned()), (1.0, "28h".to_owned())];
        assert_eq!(panel.x.ticks, Ticks::Named(ticks.to_vec()));
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        let (low, high) = panel.y.range.unwrap();
        assert!(
            near(low, 90.0 / 1.15) && near(high, 396.0 * 1.15),
            "{low} {high}"
        );
        let (mut markers, mut lines) = (Vec::new(), Vec::new());
        for series in &panel.series {
            match &series.mark {
                Mark::Markers { points, .. } => markers.push((series.name.as_str(), points)),
                Mark::Line { points, .. } => lines.push((series.name.as_str(), points)),
                other => panic!("{other:?}"),
            }
        }
        // Each scheme: 90 µs and 180 µs, 270 µs and 360 µs, and in the middle of the drives a twentieth more.
        assert_eq!(markers.len(), 2);
        for ((name, points), (expected, shift, us)) in markers.iter().zip([
            ("greedy", -0.075, [94.5, 189.0]),
            ("cost-benefit", 0.075, [283.5, 378.0]),
        ]) {
            assert_eq!(*name, expected);
            for (place, (point, us)) in points.iter().zip(us).enumerate() {
                assert!(
                    (point[0] - place as f64 - shift).abs() < 1e-9 && near(point[1], us),
                    "{points:?}"
                );
            }
        }
        // A whisker for each of the four, and a line through each scheme: ages are a scale.
        let whiskers: Vec<_> = lines.iter().filter(|(name, _)| name.is_empty()).collect();
        assert_eq!((whiskers.len(), lines.len()), (4, 6));
        let ends = whiskers[0].1;
        assert!(near(ends[0][1], 90.0) && near(ends[1][1], 99.0), "{ends:?}");
    });
}
