//! Formula: each ageing law against what it states, and its null.
#![allow(missing_docs)]

use firstread_core::{
    CellMode, DieId, Geometry, Ns, PageAddr, PageType, SenseTiming, StripeOrder, SuperblockId,
};
use firstread_nand::chip::{
    LevelLaw, RetentionComponent, SigmaFrom, TransientProfile, VariationProfile,
};
use firstread_nand::{BlockState, ChipProfile, Medium, ReadLevels, StateDistribution, reference};

fn geometry() -> Geometry {
    Geometry {
        channels: 2,
        chips_per_channel: 1,
        dies_per_chip: 2,
        planes: 2,
        blocks_per_plane: 16,
        wordlines_per_block: 1408,
        page_bytes: 16_384,
        slot_bytes: 4_096,
        codeword_bytes: 1_024,
        stripe: StripeOrder::PlaneFirst,
        stripe_parity: false,
    }
}

fn medium(chip: ChipProfile) -> Medium {
    Medium::new(chip, geometry(), 2).unwrap()
}

/// Means of the nominal states.
fn means(m: &Medium, b: &BlockState, now: Ns) -> Vec<f64> {
    m.nominal_states(b, now)
        .unwrap()
        .iter()
        .map(|d| d.mean_mv)
        .collect()
}

fn at(wordline: u16) -> PageAddr {
    PageAddr {
        die: DieId(1),
        block: SuperblockId(2),
        wordline,
        page: PageType(0),
    }
}

#[test]
fn formula_retention_is_the_stated_logarithm() {
    let m = medium(reference::ct_a());
    let b = m.programmed(CellMode::Qlc, 2000, 1, Ns::ZERO);
    let now = Ns::from_h(100);
    let got = means(&m, &b, now);
    for (s, &mean) in got.iter().enumerate().skip(1) {
        let g = 0.3 + 0.7 * s as f64 / 15.0;
        let shift = 28.0 * g * (1.0 + 0.1 * 2.0) * libm::log10(1.0 + 100.0 / 0.5);
        let expected = 400.0 + 250.0 * (s as f64 - 1.0) - shift;
        assert!(
            (mean - expected).abs() < 1e-6,
            "state {s}: {mean} against {expected}"
        );
    }
    assert!(got[0] > -2500.0, "the erased state rises");
}

#[test]
fn formula_stress_is_additive_over_any_history() {
    let mut stepped = medium(reference::ct_a());
    for (i, t) in [25.0, 55.0, -10.0, 40.0, 55.0].into_iter().enumerate() {
        stepped
            .set_temperature(Ns::from_h(3 * i as u64), t)
            .unwrap();
    }
    let h = stepped.history();
    let direct: f64 = [25.0, 55.0, -10.0, 40.0]
        .iter()
        .map(|&t| 3.0 * firstread_nand::ageing::history::acceleration(1.1, t))
        .sum();
    let got = h.stress(Ns::from_h(12)).0[0];
    assert!((got / direct - 1.0).abs() < 1e-12, "{got} against {direct}");
    assert_eq!(h.temperature_c(Ns::from_h(7)), -10.0);
    assert_eq!(h.temperature_c(Ns::from_h(3)), 55.0);
    // Data that lived elsewhere before the start of time.
    let before = h.before(Ns::from_h(1), &[(2.0, 55.0), (1.0, 25.0)]);
    let exposure = h.stress(Ns::from_h(1)).since(&before)[0];
    let expected = 1.0 + 2.0 * firstread_nand::ageing::history::acceleration(1.1, 55.0);
    assert!((exposure / expected - 1.0).abs() < 1e-12);
    assert!(
        stepped.set_temperature(Ns::from_h(1), 25.0).is_err(),
        "time does not go back"
    );
    assert!(stepped.set_temperature(Ns::from_h(99), 151.0).is_err());
}

#[test]
fn formula_early_component_saturates_and_low_energy_one_ignores_heat() {
    let mut chip = reference::ct_a();
    chip.laws.retention.components = vec![
        RetentionComponent {
            name: "early",
            onset_h: 0.001,
            saturation_h: 1.0,
            activation_energy_ev: 0.0,
            per_kpe: 0.0,
        },
        RetentionComponent {
            name: "early",
            onset_h: 0.5,
            saturation_h: f64::INFINITY,
            activation_energy_ev: 0.0,
            per_kpe: 0.0,
        },
    ];
    chip.modes[0].retention_mv_per_decade = vec![10.0, 0.0];
    let mut m = medium(chip);
    m.set_temperature(Ns::ZERO, 85.0).unwrap();
    let b = m.programmed(CellMode::Qlc, 0, 1, Ns::ZERO);
    let top = |h: u64| means(&m, &b, Ns::from_h(h))[15];
    assert!(
        (top(100_000) - (3900.0 - 30.0)).abs() < 0.01,
        "three decades: {}",
        top(100_000)
    );
    assert!(top(1) > top(100), "it still falls in the first hours");
    // Zero activation energy: hours at 85 °C count as hours.
    let expected = 3900.0 - 10.0 * (libm::log10(1001.0) - libm::log10(2.0));
    assert!((top(1) - expected).abs() < 1e-6);
}

#[test]
fn formula_dwell_slows_and_the_neutral_law_lifts_low_states() {
    let mut chip = reference::ct_a();
    chip.laws.retention.dwell_coefficient = 0.1;
    let m = medium(chip.clone());
    let rushed = m.programmed(CellMode::Qlc, 500, 1, Ns::ZERO);
    let rested = BlockState {
        dwell_h: 50.0,
        ..rushed
    };
    let now = Ns::from_h(20);
    assert!(means(&m, &rested, now)[15] > means(&m, &rushed, now)[15] + 10.0);
    chip.laws.retention.level_law = LevelLaw::AroundNeutral { neutral_state: 5.0 };
    let m = medium(chip);
    let (young, old) = (means(&m, &rushed, Ns::ZERO), means(&m, &rushed, now));
    assert!(old[2] > young[2] && (old[5] - young[5]).abs() < 1e-9 && old[15] < young[15]);
}

#[test]
fn formula_wear_disturb_temperature_transient_and_open_blocks() {
    let mut chip = reference::ct_a();
    chip.laws.retention.components.clear();
    chip.modes[0].retention_mv_per_decade.clear();
    chip.laws.wear.erased_shift_mv_per_kpe = 50.0;
    chip.laws.cross_temperature.shift_mv_per_c = -0.5;
    chip.laws.cross_temperature.slope_mv_per_c = -0.5;
    chip.laws.cross_temperature.sigma_mv_per_c = 1.0;
    chip.laws.transient = TransientProfile {
        shift_mv: -20.0,
        time_constant_s: 60.0,
    };
    chip.variation = VariationProfile::default();
    let mut m = medium(chip);
    m.set_temperature(Ns::from_h(1), 55.0).unwrap();
    let fresh = m.programmed(CellMode::Qlc, 0, 1, Ns::ZERO);
    let base = means(&m, &fresh, Ns::ZERO);

    let worn = BlockState {
        pe_cycles: 2000,
        ..fresh
    };
    let d = m.nominal_states(&worn, Ns::ZERO).unwrap();
    assert!((d[0].mean_mv - base[0] - 100.0).abs() < 1e-9);
    assert!((d[7].sigma_mv - 42.0 * 1.08 * 1.035).abs() < 1e-5);

    // Two of 1,408 wordlines are neighbours, at 8.4 times the weight.
    let read = BlockState {
        reads: 1e5,
        ..fresh
    };
    let n = 1e5 * (1.0 + 7.4 * 2.0 / 1408.0);
    let rise = means(&m, &read, Ns::ZERO)[0] - base[0];
    assert!((rise - 300.0 * libm::log1p(n / 1e4)).abs() < 1e-3, "{rise}");
    let hammered = BlockState {
        adjacent_reads: 1e5,
        ..fresh
    };
    assert!(means(&m, &hammered, Ns::ZERO)[0] > means(&m, &read, Ns::ZERO)[0] + 100.0);
    let up = means(&m, &read, Ns::ZERO)[1] - base[1];
    assert!((up / rise - libm::exp(-2900.0 / 600.0)).abs() < 1e-9);

    let settled = BlockState {
        last_read: Ns::from_h(1),
        ..fresh
    };
    let hot = m.nominal_states(&settled, Ns::from_h(1)).unwrap();
    assert!(
        (hot[15].mean_mv - base[15] + 30.0).abs() < 1e-6,
        "1 mV/°C over 30 °C"
    );
    let sigma = ((42.0f64 * 1.035).powi(2) + 900.0).sqrt();
    assert!((hot[15].sigma_mv - sigma).abs() < 1e-5);

    let idle = BlockState {
        program_temperature_c: 55.0,
        ..fresh
    };
    let after_an_hour = means(&m, &idle, Ns::from_h(1));
    assert!((after_an_hour[9] - base[9] + 20.0).abs() < 1e-6);
    assert_eq!(after_an_hour[0], base[0]);

    let open = BlockState {
        written_wordlines: 100,
        ..fresh
    };
    let state = |w: u16, b: &BlockState| m.states(at(w), 0, b, Ns::ZERO).unwrap()[8].mean_mv;
    assert!((state(10, &fresh) - state(10, &open) - 3.0).abs() < 1e-9);
    assert!((state(95, &fresh) - state(95, &open) - 18.0).abs() < 1e-9);
}

#[test]
fn formula_layers_and_edges() {
    let mut chip = reference::ct_a();
    chip.layers.edge_layers = 2;
    chip.layers.edge_sigma_factor = 1.5;
    chip.variation = VariationProfile::default();
    let m = medium(chip);
    let b = m.programmed(CellMode::Qlc, 0, 1, Ns::ZERO);
    let now = Ns::from_h(1000);
    let shift = |w: u16| 3900.0 - m.states(at(w), 0, &b, now).unwrap()[15].mean_mv;
    assert!((shift(1407) / shift(0) - 1.12 / 0.88).abs() < 1e-6);
    assert_eq!(shift(8), shift(15), "strings of a layer are alike");
    let width = |w: u16| m.states(at(w), 0, &b, Ns::ZERO).unwrap()[15].sigma_mv;
    assert!((width(0) - 42.0 * 1.5).abs() < 1e-5);
    assert!(width(16) < 43.0);
}

#[test]
fn model_variation_has_its_deviations_and_its_null() {
    let mut chip = reference::ct_a();
    chip.layers.retention_span = 0.0;
    chip.variation = VariationProfile {
        chip_rate: 0.03,
        block_rate: 0.05,
        wordline_rate: 0.02,
        state_rate: 0.04,
        wordline_offset_mv: 4.0,
        state_offset_mv: 3.0,
        ..VariationProfile::default()
    };
    let g = Geometry {
        channels: 16,
        dies_per_chip: 16,
        blocks_per_plane: 64,
        ..geometry()
    };
    let m = Medium::new(chip.clone(), g, 3).unwrap();
    let b = m.programmed(CellMode::Qlc, 0, 1, Ns::ZERO);
    let (mut rates, mut offsets) = (vec![], vec![]);
    for i in 0..20_000u32 {
        let at = PageAddr {
            die: DieId((i % 256) as u16),
            block: SuperblockId(i / 256 % 64),
            wordline: (i % 1408) as u16,
            page: PageType(0),
        };
        let plane = (i / 7 % 2) as u8;
        let young = m.states(at, plane, &b, Ns::ZERO).unwrap()[12].mean_mv;
        let old = m.states(at, plane, &b, Ns::from_h(1000)).unwrap()[12].mean_mv;
        offsets.push(young - 3150.0);
        rates.push((young - old) / (28.0 * (0.3 + 0.7 * 12.0 / 15.0) * libm::log10(2001.0)));
    }
    let deviation = |v: &[f64]| {
        let n = v.len() as f64;
        let mean = v.iter().sum::<f64>() / n;
        (v.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt()
    };
    let rate = (0.03f64.powi(2) + 0.05f64.powi(2) + 0.02f64.powi(2) + 0.04f64.powi(2)).sqrt();
    println!(
        "rate {:.4} ({rate:.4}), offset {:.2} (5)",
        deviation(&rates),
        deviation(&offsets)
    );
    assert!((deviation(&rates) / rate - 1.0).abs() < 0.06);
    assert!((deviation(&offsets) / 5.0 - 1.0).abs() < 0.03);

    let varied = Medium::new(chip.clone(), g, 3).unwrap();
    chip.variation = VariationProfile::default();
    let m = Medium::new(chip.clone(), g, 3).unwrap();
    let nominal = |m: &Medium| m.nominal_states(&b, Ns::from_h(9)).unwrap();
    assert_eq!(nominal(&varied), nominal(&m), "the nominal page has none");

    chip.layers.sigma_span = 0.0;
    let m = Medium::new(chip, g, 3).unwrap();
    let nominal = m.nominal_states(&b, Ns::from_h(9)).unwrap();
    assert_eq!(m.states(at(77), 1, &b, Ns::from_h(9)).unwrap(), nominal);
}

#[test]
fn model_heavy_tails_follow_the_cells() {
    // Variance of the mixture and its tail at four deviations, by the overlap of a page far below
    // its optimum: only one side errs.
    let mut chip = reference::ct_a();
    chip.variation = VariationProfile {
        tail_fraction: 0.02,
        tail_sigma_ratio: 2.0,
        ..VariationProfile::default()
    };
    chip.layers.retention_span = 0.0;
    chip.layers.sigma_span = 0.0;
    let m = medium(chip);
    let b = m.programmed(CellMode::Qlc, 0, 1, Ns::ZERO);
    let q = |x: f64| 0.5 * libm::erfc(x / 2f64.sqrt());
    let model = m.model(CellMode::Qlc).unwrap();
    let mut expected = 0.0;
    for v in [5, 7, 10] {
        let d = m.states(at(0), 0, &b, Ns::ZERO).unwrap();
        let level = model.default_mv[v - 1];
        for z in [
            (level - d[v - 1].mean_mv) / d[v - 1].sigma_mv,
            (d[v].mean_mv - level) / d[v].sigma_mv,
        ] {
            expected += (0.98 * q(z) + 0.02 * q(z / 2.0)) / 16.0;
        }
    }
    let got = m
        .page_rber(at(0), 0, &b, Ns::ZERO, &ReadLevels::Offsets([0; 15]))
        .unwrap();
    assert!(
        (got / expected - 1.0).abs() < 1e-5,
        "{got:e} against {expected:e}"
    );
    assert!(got > 3.0 * q(125.0 / 42.0) * 6.0 / 16.0 * 0.3);
    // The best level of symmetric states stays half-way.
    let best = m
        .page_rber(at(0), 0, &b, Ns::ZERO, &ReadLevels::Ideal)
        .unwrap();
    assert!(best <= got);
}

#[test]
fn formula_shorter_sensing_adds_noise_and_takes_less_time() {
    use firstread_core::SenseMode;
    let m = medium(reference::ct_a());
    let b = m.programmed(CellMode::Qlc, 2500, 1, Ns::ZERO);
    let now = Ns::from_h(200);
    let levels = ReadLevels::Offsets(m.nominal_optimum(&b, now).unwrap());
    let rber = |t: SenseTiming| m.sense(at(5), 0, &b, now, &levels, t, 1).unwrap().rber();
    let full = rber(SenseTiming::DEFAULT);
    let pre = |permille| SenseTiming {
        pre_permille: permille,
        ..SenseTiming::DEFAULT
    };
    let eval = SenseTiming {
        eval_permille: 800,
        ..SenseTiming::DEFAULT
    };
    assert!(
        rber(pre(600)) > full && rber(pre(600)) < 1.3 * full,
        "precharge has slack"
    );
    assert!(rber(pre(400)) > rber(pre(600)));
    assert!(rber(eval) > 1.3 * full, "evaluation has none");
    let ns = |page, mode, t| m.read_ns(CellMode::Qlc, PageType(page), mode, t).unwrap();
    assert_eq!(ns(0, SenseMode::Hard, SenseTiming::DEFAULT), 3 * 37_500);
    assert_eq!(ns(1, SenseMode::Hard, SenseTiming::DEFAULT), 4 * 37_500);
    assert_eq!(ns(1, SenseMode::Soft3, SenseTiming::DEFAULT), 12 * 37_500);
    assert_eq!(
        ns(1, SenseMode::OnesCount { valley: 6 }, SenseTiming::DEFAULT),
        37_500
    );
    assert_eq!(ns(0, SenseMode::Hard, pre(600)), 3 * (37_500 - 9_200));
    assert_eq!(m.transfer_ns(4096), 2560);
}

/// A condition that is used for longer: no state has moved by more than stated when it ends, and it
/// does last.
#[test]
fn formula_standing_conditions_last_and_end_in_time() {
    let mut chip = reference::ct_a();
    chip.variation = VariationProfile::default();
    chip.laws.retention.components.push(RetentionComponent {
        name: "early",
        onset_h: 0.01,
        saturation_h: 1.0,
        activation_energy_ev: 0.2,
        per_kpe: 0.3,
    });
    chip.modes[0].retention_mv_per_decade.push(6.0);
    let mut m = medium(chip.clone());
    m.set_temperature(Ns::ZERO, 55.0).unwrap();
    let moved = |b: &BlockState, c: &BlockState, now: Ns, then: Ns| {
        let (a, b) = (
            m.nominal_states(b, now).unwrap(),
            m.nominal_states(c, then).unwrap(),
        );
        let deviations = |(a, b): (&StateDistribution, &StateDistribution)| {
            (a.mean_mv - b.mean_mv).abs() / a.sigma_mv
        };
        a.iter().zip(&b).map(deviations).fold(0.0, f64::max)
    };
    for hours in [0, 1, 28, 8_000] {
        for (pe_cycles, reads) in [(0, 0.0), (2500, 4e4)] {
            let block = BlockState {
                reads,
                ..m.programmed(CellMode::Qlc, pe_cycles, 1, Ns::ZERO)
            };
            let now = Ns::from_h(hours);
            let known = m.cached_condition(&block, now);
            assert_eq!(known.condition, m.condition(&block, now));
            let last = |holds: &dyn Fn(u64) -> bool| {
                let (mut yes, mut no) = (0, 1 << 62);
                while no - yes > 1 {
                    let mid = yes + (no - yes) / 2;
                    if holds(mid) { yes = mid } else { no = mid }
                }
                yes
            };
            let ns = last(&|ns| m.is_current(&known, &block, Ns(now.0 + ns)));
            let read = |n: u64| BlockState {
                reads: reads + n as f32 * 0.01,
                ..block
            };
            let reads = last(&|n| m.is_current(&known, &read(n), now));
            let by_time = moved(&block, &block, now, Ns(now.0 + ns));
            let by_reads = moved(&block, &read(reads), now, now);
            println!(
                "{hours} h, {pe_cycles} P/E: {:.3e} s moves {by_time:.2e} deviations, {:.2} reads \
                 move {by_reads:.2e}",
                ns as f64 * 1e-9,
                reads as f64 * 0.01,
            );
            assert!(by_time <= 5e-4 && by_reads <= 5e-4);
            assert!(by_time > 1e-5 && by_reads > 1e-4, "it lasts");
            assert!(!m.is_current(&known, &block, Ns(now.0 + ns + 1)));
        }
    }
    // What differs with every pause between reads never stands, nor does a change of temperature.
    chip.laws.transient.shift_mv = -20.0;
    let mut m = medium(chip);
    let block = m.programmed(CellMode::Qlc, 0, 1, Ns::ZERO);
    assert!(!m.is_current(&m.cached_condition(&block, Ns(5)), &block, Ns(5)));
    m.set_temperature(Ns(9), 30.0).unwrap();
    assert!(!m.is_current(&m.cached_condition(&block, Ns(5)), &block, Ns(9)));
}

/// Widths about the middle layer are those of the profile on the mean; widths from the narrowest are wider.
#[test]
fn formula_layers_are_wider_and_narrower_about_the_middle() {
    let widths = |from: SigmaFrom| {
        let mut chip = reference::ct_a();
        chip.layers.sigma_from = from;
        chip.variation = VariationProfile::default();
        let m = medium(chip);
        let b = m.programmed(CellMode::Qlc, 0, 1, Ns::ZERO);
        let of = |w| m.states(at(w), 0, &b, Ns::ZERO).unwrap()[15].sigma_mv;
        let nominal = m.nominal_states(&b, Ns::ZERO).unwrap()[15].sigma_mv;
        [of(0), of(1407), nominal].map(|sigma| sigma / 42.0)
    };
    let expected = [
        (SigmaFrom::Middle, [0.965, 1.035, 1.0]),
        (SigmaFrom::Narrowest, [1.0, 1.07, 1.035]),
    ];
    for (from, expected) in expected {
        for (got, expected) in widths(from).into_iter().zip(expected) {
            assert!((got - expected).abs() < 1e-5, "{from:?}: {got}, {expected}");
        }
    }
}

#[test]
fn formula_a_span_about_the_middle_leaves_the_narrowest_layer_a_width() {
    let mut chip = reference::ct_a();
    chip.layers.sigma_span = 1.9;
    assert!(
        chip.validate().is_ok(),
        "from the narrowest any span will do"
    );
    chip.layers.sigma_from = SigmaFrom::Middle;
    let error = chip.validate().unwrap_err().to_string();
    assert!(error.contains("layers.sigma_span"), "{error}");
}
