//! The medium against what is published: a tenth of the samples of `cargo xtask validate`.
#![allow(missing_docs)]

use firstread_core::{CellMode, SenseTiming};
use firstread_drive::profile::{Library, load_chip};
use firstread_ecc::Code;
use firstread_nand::ReadLevels;
use firstread_testkit::validation::knobs::KNOBS;
use firstread_testkit::validation::population::{Aged, Curve, chip};
use firstread_testkit::validation::{Effort, GROUPS, LISTINGS, disturb, retention, table};

const DOCUMENT: &str = include_str!("../../../docs/nand-model.md");

#[test]
fn model_every_anchor_is_in_its_band_or_says_why_not() {
    let mut wrong = Vec::new();
    for (name, measure) in GROUPS {
        for r in measure(Effort::Quick).unwrap_or_else(|e| panic!("{name}: {e}")) {
            println!("{}: {} ({})", r.what, r.format.text(r.value), r.band_text());
            if !r.holds() && r.why.is_empty() {
                wrong.extend(r.fault());
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn golden_document_has_every_table_and_the_anchors_that_need_no_sample() {
    let names = GROUPS
        .iter()
        .map(|g| g.0)
        .chain(LISTINGS.iter().map(|l| l.0));
    for name in names {
        assert!(
            DOCUMENT.contains(&format!("<!-- generated: {name} -->"))
                && DOCUMENT.contains(&format!("<!-- end: {name} -->")),
            "docs/nand-model.md has no section {name}"
        );
    }
    for measure in [retention::temperature, disturb::anchors] {
        let text = table(&measure(Effort::Quick).unwrap());
        assert!(
            DOCUMENT.contains(text.trim_end()),
            "docs/nand-model.md is stale, run cargo xtask validate; expected\n{text}"
        );
    }
}

#[test]
fn formula_every_knob_is_the_value_of_the_profile() {
    let loaded = load_chip(&Library::new(), "ct-qlc-176l", &[]).unwrap();
    for k in KNOBS {
        let entry = loaded
            .resolved
            .iter()
            .find(|e| e.path == k.key)
            .unwrap_or_else(|| panic!("{} is not a key of the chip", k.key));
        let value = k.value(&loaded.chip);
        let written: f64 = entry
            .value
            .split_whitespace()
            .next()
            .and_then(|v| v.trim_matches('"').parse().ok())
            .unwrap_or_else(|| panic!("{}: {}", k.key, entry.value));
        assert!(
            (value - written).abs() < 1e-9 && k.range.0 <= value && value <= k.range.1,
            "{}: {value} in the list, {} in the profile, range {:?}",
            k.key,
            entry.value,
            k.range
        );
        // Setting it moves it, and nothing else of the chip back.
        let moved = k.set(&loaded.chip, k.range.1);
        assert_eq!(k.value(&moved), k.range.1, "{}", k.key);
        assert_eq!(
            k.set(&moved, value),
            k.set(&loaded.chip, value),
            "{}",
            k.key
        );
    }
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

/// The failures that are integrated for the document, drawn codeword by codeword.
#[test]
fn model_integrated_failures_are_those_of_drawn_reads() {
    let a = Aged::new(
        &chip("ct-qlc-176l").unwrap(),
        CellMode::Qlc,
        2500,
        28.0,
        55.0,
    )
    .unwrap();
    let levels = ReadLevels::Offsets(a.group_levels().unwrap());
    let reads = 12_000;
    let code = Code::named("threshold").unwrap();
    let (expected, _) = a
        .read_failure(reads, &levels, &[Curve::new(&code)])
        .unwrap()[0];
    let condition = a.medium.condition(&a.block, a.now);
    let mut failed = 0;
    for (at, _) in a.pages(reads) {
        let fails = (0..4).any(|plane| {
            let sense = a
                .medium
                .sense_under(at, plane, condition, &levels, SenseTiming::DEFAULT, 7)
                .unwrap();
            (0..16).any(|cw| !code.judge(sense.codeword_weight(cw) as u32, 0).ok)
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
