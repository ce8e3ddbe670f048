//! Study medium: rows in their bands or with a reason, numbers that the knobs stand at, and what its metrics measure with.

use std::collections::BTreeMap;

use firstread_core::{CellMode, Ns, SenseTiming};
use firstread_drive::profile::{Library, Override, load_chip};
use firstread_ecc::Code;
use firstread_nand::characterize::factory_table;
use firstread_nand::chip::FactoryRule;
use firstread_nand::phenomenological::{GeometricRetry, PowerLawRber};
use firstread_nand::{Medium, ReadLevels};
use firstread_session::profile;
use firstread_session::study::points::Points;
use firstread_session::study::sample::Sample;
use firstread_session::study::sample::pages::{Curve, LIMIT};
use firstread_session::study::spec::Study;
use firstread_session::study::verdict::{Known, Ruling, judge};
use firstread_session::study::{STUDIES, margin, sources};

fn study() -> Study {
    let (name, text) = STUDIES.iter().find(|(name, _)| *name == "medium").unwrap();
    Study::parse(name, text).unwrap()
}

/// The experiments that rows are judged by, in the quick form: no row misses its band without a reason.
#[test]
fn model_every_row_of_the_medium_is_in_its_band_or_says_why_not() {
    let study = study();
    let of = |claim: &firstread_session::study::claim::Claim| {
        let all = claim.all_points().map(|from| from.experiment.clone());
        all.collect::<Vec<_>>()
    };
    let only: Vec<String> = study.claims.iter().flat_map(of).collect();
    let mut points = Points::default();
    let all = margin::populations(&study, &only, true);
    margin::measure(&study, &all, None, &mut points, &|| {}).unwrap();
    let known = Known {
        absent: &BTreeMap::new(),
        facts: &BTreeMap::new(),
        said: &sources::said(&study).unwrap(),
        quick: true,
    };
    let verdicts = judge(&study, &points, &known);
    for verdict in &verdicts {
        let id = &verdict.claim.id;
        let measured = verdict.parts[0].measured.map(|of| of.mean);
        println!("{:?} {id}: {measured:?}", verdict.ruling);
        assert!(measured.is_some(), "{id} was not measured");
        let misses = verdict.ruling == Ruling::Missed || verdict.holds == Some(false);
        assert!(
            !misses || verdict.claim.reason.is_some(),
            "{id}: {measured:?} is outside of {:?}, and nothing says why",
            verdict.claim.band
        );
    }
}

/// The knobs of the study are said to stand at what the profile has.
#[test]
fn formula_every_knob_is_the_value_of_the_profile() {
    let chip = load_chip(&Library::new(), "ct-qlc-176l", &[]).unwrap();
    let mut compared = 0;
    for knob in &study().knobs {
        let path = knob.what.trim_matches('`');
        let Some(entry) = chip.resolved.iter().find(|entry| entry.path == path) else {
            continue;
        };
        // Lists and names say it in words.
        if entry.value.starts_with(|c: char| c.is_ascii_digit()) {
            let number = |text: &str| text.split_whitespace().next().unwrap().to_owned();
            let (said, there) = (number(&knob.value), number(&entry.value));
            assert_eq!(said, there, "{path}: {} and {}", knob.value, entry.value);
            compared += 1;
        }
    }
    assert!(compared >= 19, "{compared}");
}

/// RARO's formulas with both units of time, as docs/nand-model.md has them.
#[test]
fn golden_the_document_has_the_numbers_of_the_formulas() {
    let days = PowerLawRber::TLC_72L;
    let as_hours = PowerLawRber {
        time_unit_h: 1.0,
        ..days
    };
    let document = include_str!("../../../docs/nand-model.md");
    let has = |line: &str| assert!(document.contains(line), "docs/nand-model.md: {line}");
    for (name, model) in [("t in days", days), ("t in hours", as_hours)] {
        let rber = [1.0, 30.0, 90.0, 365.0].map(|d| model.rber(1000.0, d * 24.0, 0.0));
        has(&format!(
            "| {name}: RBER | {} |",
            rber.map(|r| format!("{r:.2e}")).join(" | ")
        ));
        let retries = rber.map(|rber| {
            let n = |s| f64::from(GeometricRetry::RARO.retries(rber, s));
            format!("{:.1}", (2.0 * n(2) + n(3)) / 3.0)
        });
        let of = "retries of a page of 2.33 senses (mean of 2 and 3, α = 1)";
        has(&format!("| {name}: {of} | {} |", retries.join(" | ")));
    }
    let needed =
        [1.0, 5.0, 10.0, 13.0, 16.0].map(|n| GeometricRetry::RARO.limit / libm::pow(0.8, n));
    let needed = needed.map(|n| format!("{n:.3}")).join(" | ");
    has(&format!("| α · RBER · n_sense needed | {needed} |"));
}

#[test]
fn formula_curves_are_the_codes_frame_error_rates() {
    for name in Code::NAMES {
        let code = Code::named(name).unwrap();
        let curve = Curve::new(&code);
        for rber in [4e-3, 6e-3, 8e-3, 9e-3, 1.1e-2] {
            let (got, binomial) = (curve.failure(rber), code.frame_error_rate(rber));
            println!("{name} at {rber}: {got:.3e} (binomial {binomial:.3e})");
            // The medium's Poisson weights are a little wider than binomial ones.
            assert!(
                got > 0.9 * binomial && got < 1.6 * binomial + 1e-12,
                "{name} at {rber}: {got:e} against {binomial:e}"
            );
        }
    }
}

/// The charge-trap QLC drive with `code`, 28 h at 55 °C and 2,500 P/E.
fn sample(code: &str, n: u32) -> Sample {
    let set = [
        format!("ecc.code={code}"),
        "schemes.read_recovery=none".to_owned(),
    ];
    let set = set.map(|text| Override::parse(&text).unwrap());
    let profile = profile("dc-qlc-15t", &set).unwrap();
    Sample::new(profile, (2500, Ns::from_h(28), 55.0), 1, n, LIMIT)
}

/// The failures that are integrated for the study, drawn codeword by codeword.
#[test]
fn model_integrated_failures_are_those_of_drawn_reads() {
    let reads = 12_000;
    let sample = sample("threshold", reads);
    let a = sample.aged(sample.age).unwrap();
    let levels = ReadLevels::Offsets(a.group_levels().unwrap());
    let code = Code::named("threshold").unwrap();
    let expected = a
        .read_failure(reads, &levels, &[Curve::new(&code)])
        .unwrap()[0];
    let condition = a.medium.condition(&a.block, a.now);
    let timing = SenseTiming::DEFAULT;
    let mut failed = 0;
    for (at, _) in a.pages(reads) {
        let fails = (0..4).any(|plane| {
            let sense = a
                .medium
                .sense_under(at, plane, condition, &levels, timing, 7);
            let sense = sense.unwrap();
            (0..16).any(|cw| !code.judge(u32::from(sense.codeword_weight(cw)), 0, || 0).ok)
        });
        failed += u32::from(fails);
    }
    let n = f64::from(reads);
    let drawn = f64::from(failed) / n;
    let error = libm::sqrt(expected * (1.0 - expected) / n);
    println!("drawn {drawn:.4}, integrated {expected:.4}, standard error {error:.4}");
    assert!(
        (drawn - expected).abs() < 4.0 * error,
        "{drawn} against {expected}, pages of seed 9"
    );
}

/// Pairs of metrics, of the medium and of cells.
fn beside(sample: &Sample, metric: &str) -> (f64, f64) {
    let cells = format!("{metric}_cells");
    let all = sample.metrics(&[metric, &cells]).unwrap();
    (all[metric].as_f64().unwrap(), all[&cells].as_f64().unwrap())
}

/// Failures again of codewords that failed once, at the same levels and on both sides of the best ones. One draw for all
/// senses is out of these bounds.
#[test]
fn model_codewords_fail_again_as_often_as_cells() {
    let wordlines = 80;
    let sample = sample("ldpc-1k", wordlines);
    for metric in ["again_same", "again_sides"] {
        let (medium, cells) = beside(&sample, metric);
        // About a quarter of the codewords fail once.
        let failed = f64::from(wordlines * 16) / 4.0;
        let noise = 2.0 * libm::sqrt(cells * (1.0 - cells) / failed);
        println!("{metric}: {medium:.3} ({cells:.3} +- {noise:.3})");
        assert!(
            (medium - cells).abs() < 0.01 + noise,
            "{metric}: {medium:.3}, cells {cells:.3}"
        );
    }
}

/// Soft reads: the medium's counts and the table, against cells and the decoder.
#[test]
fn model_soft_reads_fail_as_often_as_cells() {
    let sample = sample("ldpc-1k", 20);
    for metric in [
        "soft_3_worn_120",
        "soft_3_worn_140",
        "soft_3_off_125",
        "soft_3_off_155",
        "soft_5_worn_155",
        "soft_5_worn_175",
        "soft_5_off_155",
        "soft_5_off_175",
    ] {
        let (medium, cells) = beside(&sample, metric);
        let noise = 3.0 * libm::sqrt(cells * (1.0 - cells) / 320.0);
        println!("{metric}: {medium:.4} ({cells:.4} +- {noise:.4})");
        assert!(
            medium < 1.5 * (cells + noise) + 0.005 && cells < 1.5 * medium + noise + 0.005,
            "{metric}: {medium:.4} fail, of cells {cells:.4}"
        );
    }
}

/// How much of tR is safe to leave off on worn TLC a year old, where AR2's authors found a quarter: what the
/// characterization asks beyond the mean page at its own best levels, one thing after another, takes its part.
#[test]
fn model_where_the_margin_of_worn_tlc_goes() {
    const CAPABILITY: f64 = 72.0;
    const BITS: f64 = 9216.0;
    let chip = load_chip(&Library::new(), "ct-tlc-48l", &[]).unwrap().chip;
    let geometry = firstread_nand::characterize::geometry(&chip, 32);
    let mut medium = Medium::new(chip.clone(), geometry, 1).unwrap();
    medium.set_temperature(Ns::ZERO, 30.0).unwrap();
    let (entries, len) = factory_table(&medium, CellMode::Tlc, &FactoryRule::DEFAULT).unwrap();
    let table: Vec<ReadLevels> = entries[..len as usize]
        .iter()
        .map(|e| ReadLevels::Offsets(*e))
        .collect();
    let now = Ns::from_h(8_928);
    let pages = (0..32u16).flat_map(|die| {
        let last = chip.wordlines() - 1;
        (0..9u32).map(move |i| firstread_core::PageAddr {
            die: firstread_core::DieId(die),
            block: firstread_core::SuperblockId(0),
            wordline: (last * (i / 3) / 2) as u16,
            page: firstread_core::PageType((i % 3) as u8),
        })
    });
    let pages: Vec<_> = pages.collect();
    let sense = chip.mode(CellMode::Tlc).unwrap().sense;
    let mut cuts = Vec::new();
    for pe_cycles in [0, 500, 1000, 1500] {
        let block = medium.programmed(CellMode::Tlc, pe_cycles, 0, Ns::ZERO);
        // Errors of each page at the levels of its best last step, at this precharge.
        let errors = |levels: &[ReadLevels], pre_permille| -> Vec<f64> {
            let timing = SenseTiming {
                pre_permille,
                ..SenseTiming::DEFAULT
            };
            let of = |at, levels: &ReadLevels, timing| {
                BITS * medium
                    .page_rber_of(at, 0, &block, now, levels, timing)
                    .unwrap()
            };
            let each = pages.iter().map(|at| {
                let rated = |l: &&ReadLevels| of(*at, l, SenseTiming::DEFAULT);
                let best = levels.iter().min_by(|a, b| rated(a).total_cmp(&rated(b)));
                of(*at, best.unwrap(), timing)
            });
            each.collect()
        };
        let mean = |e: &[f64]| e.iter().sum::<f64>() / e.len() as f64;
        let worst = |e: &[f64]| e.iter().copied().fold(0.0, f64::max);
        let rare = |e: f64| e + 3.09 * e.sqrt();
        type Figure<'a> = &'a dyn Fn(&[f64]) -> f64;
        let asked: [(&str, &[ReadLevels], Figure<'_>, f64); 5] = [
            (
                "mean page, its own best levels",
                &[ReadLevels::Ideal],
                &mean,
                0.0,
            ),
            ("mean page, best entry of the table", &table, &mean, 0.0),
            ("worst page of 32 chips", &table, &worst, 0.0),
            (
                "one codeword in a thousand of it",
                &table,
                &|e| rare(worst(e)),
                0.0,
            ),
            ("and 14 bits to spare", &table, &|e| rare(worst(e)), 14.0),
        ];
        for (what, levels, figure, margin) in asked {
            let at_default = figure(&errors(levels, 1000));
            let steps = (15..=50).rev().map(|step| 20 * step);
            let safe = steps.take_while(|&pre| figure(&errors(levels, pre)) <= CAPABILITY - margin);
            let pre = safe.last().unwrap_or(1000) as f64;
            let whole = (sense.pre_ns + sense.eval_ns + sense.disch_ns) as f64;
            let cut = 100.0 * (1.0 - pre / 1000.0) * sense.pre_ns as f64 / whole;
            println!("{pe_cycles:>5} P/E, {what}: {at_default:.1} errors, tR {cut:.1} % shorter");
            cuts.push(cut);
        }
    }
    // The whole of what is asked at no wear, and each part of it at 1,500 P/E.
    assert!(cuts[4] > 20.0, "unworn cells have the published margin");
    let worn = &cuts[15..];
    assert!(worn[0] > 20.0, "and so have worn ones on the average");
    assert!(worn.windows(2).all(|w| w[0] >= w[1]), "{worn:?}");
    assert!(worn[4] > 0.0 && worn[4] < worn[0], "{worn:?}");
}
