//! What `cargo xtask validate` measures, at a tenth of its samples, and what it measures with.

use firstread_core::{CellMode, Ns, SenseTiming};
use firstread_drive::profile::{Library, load_chip};
use firstread_ecc::Code;
use firstread_nand::characterize::factory_table;
use firstread_nand::chip::FactoryRule;
use firstread_nand::{Medium, ReadLevels};

use super::code::{SOFT_READS, soft_failures};
use super::knobs::KNOBS;
use super::persistence::{MARGINAL, joint_outcomes};
use super::population::{Aged, Curve, chip};
use super::section::{Effort, table};
use super::{GROUPS, LISTINGS, disturb, retention, run_quick};

const DOCUMENT: &str = include_str!("../../../docs/nand-model.md");

#[test]
fn model_every_anchor_is_in_its_band_or_says_why_not() {
    run_quick(None).unwrap_or_else(|e| panic!("{e}"));
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
            (0..16).any(|cw| !code.judge(sense.codeword_weight(cw) as u32, 0, || 0).ok)
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

/// How much of tR is safe to leave off on worn TLC a year old, where AR2's authors found a quarter: what the
/// characterization asks beyond the mean page at its own best levels, one thing after another, takes its part.
#[test]
fn model_where_the_margin_of_worn_tlc_goes() {
    const CAPABILITY: f64 = 72.0;
    const BITS: f64 = 9216.0;
    let chip = chip("ct-tlc-48l").unwrap();
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

/// Failures again of codewords that failed once: three senses at the same levels, and on both sides of the
/// best ones. One draw for all senses is out of these bounds.
#[test]
fn model_codewords_fail_again_as_often_as_cells() {
    let wordlines = 80;
    for case in [&MARGINAL[0], &MARGINAL[2]] {
        let drawn =
            joint_outcomes(case, wordlines).unwrap_or_else(|e| panic!("{}: {e}", case.what));
        let (medium, cells) = drawn;
        for (given, vectors) in [(1, 2), (1, 4)] {
            let (m, c) = (medium.given(given, vectors), cells.given(given, vectors));
            let failed = f64::from(wordlines * 16) * cells.failed(given);
            let noise = 2.0 * (c * (1.0 - c) / failed).sqrt();
            println!("{}: {m:.3} ({c:.3} +- {noise:.3})", case.what);
            assert!(
                (m - c).abs() < 0.01 + noise,
                "{}, failed {vectors} given {given}: {m:.3}, cells {c:.3}",
                case.what
            );
        }
    }
}

/// Soft reads: the medium's counts and the table, against cells and the decoder.
#[test]
fn model_soft_reads_fail_as_often_as_cells() {
    for read in &SOFT_READS {
        let (medium, cells, rber) =
            soft_failures(read, 20).unwrap_or_else(|e| panic!("{read:?}: {e}"));
        let noise = 3.0 * (cells * (1.0 - cells) / 320.0).sqrt();
        println!("{read:?}, {rber:.4}: {medium:.4} ({cells:.4} +- {noise:.4})");
        assert!(
            medium < 1.5 * (cells + noise) + 0.005 && cells < 1.5 * medium + noise + 0.005,
            "{read:?}, RBER {rber:.4}: {medium:.4} fail, of cells {cells:.4}"
        );
    }
}
