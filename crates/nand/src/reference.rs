//! Chips for the model's own tests and examples. The shipped chips are files. These are the prototype
//! parameter sets with which the laws were checked, without the mechanisms that those sets do not include.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use firstread_core::CellMode;

use crate::ageing::Laws;
use crate::chip::*;
use crate::profile::*;

/// Charge-trap QLC, prototype set CT-A: 16 states 250 mV apart, 42 mV wide, 28 mV a decade at the
/// top state, 176 layers of 8 strings, Gray code B. Cross-temperature, transient, edge and chip
/// spread are at their nulls; disturb and open blocks have assumed values that act only on blocks
/// that are read much or partly written.
pub fn ct_a() -> ChipProfile {
    ChipProfile {
        name: "ct-a".to_string(),
        technology: Technology::ChargeTrap,
        array: ArrayProfile {
            layers: 176,
            strings_per_layer: 8,
            order: WordlineOrder::LayerByLayer,
        },
        dac_step_mv: 5.0,
        modes: vec![qlc()],
        factory_default: FactoryDefault {
            retention_h: 1.0,
            temperature_c: 25.0,
            pe_cycles: 0,
        },
        factory_table: FactoryRule::DEFAULT,
        factory_entries: Vec::new(),
        laws: Laws {
            retention: RetentionProfile {
                components: vec![RetentionComponent {
                    name: "late",
                    onset_h: 0.5,
                    saturation_h: f64::INFINITY,
                    activation_energy_ev: 1.1,
                    per_kpe: 0.1,
                }],
                broadening: 0.2,
                dwell_coefficient: 0.0,
                level_law: LevelLaw::Linear { floor: 0.3 },
                erased_rise: 0.5,
            },
            wear: WearProfile {
                sigma_per_kpe: 0.04,
                erased_shift_mv_per_kpe: 0.0,
                programmed_shift_mv_per_kpe: 0.0,
            },
            // Assumed: 5e5 reads raise the erased state by about 1.2 V, less than the 1.9 V at which a
            // TLC page fails, as QLC tolerates about a fifth of the reads (second-hand).
            disturb: DisturbProfile {
                shift_mv: 300.0,
                onset_reads: 10_000.0,
                adjacent_weight: 8.4,
                per_kpe: 0.2,
                level_scale_mv: 600.0,
            },
            transient: TransientProfile {
                shift_mv: 0.0,
                time_constant_s: 60.0,
            },
            ..Laws::null()
        },
        failures: FailureProfile {
            factory_bad: 0.0,
            grown_bad: 0.0,
            shape: 3.0,
            erase_share: 0.5,
            cell_correlation: 0.0,
        },
        layers: LayerProfile {
            shape: LayerShape::Linear,
            retention_span: 0.12,
            sigma_from: SigmaFrom::Narrowest,
            sigma_span: 0.07,
            offset_span_mv: 0.0,
            edge_layers: 0,
            edge_retention_factor: 1.0,
            edge_sigma_factor: 1.0,
        },
        // Assumed: interference in 3D is a sixth of that in planar cells.
        open_block: OpenBlockProfile {
            frontier_wordlines: 8,
            frontier_shift_mv: -15.0,
            frontier_sigma_factor: 1.0,
            open_shift_mv: -3.0,
        },
        variation: VariationProfile {
            block_rate: 0.06,
            wordline_offset_mv: 6.0,
            ..VariationProfile::default()
        },
        sensing: SensingProfile {
            // Assumed: random telegraph noise of a few millivolts.
            noise_mv: 6.0,
            // Assumed, to the (unverified) effect that a 40 % shorter precharge costs a few
            // millivolts, and a shorter evaluation or discharge far more.
            pre: PhaseSettling {
                amplitude_mv: 200.0,
                time_constants: 6.0,
            },
            eval: PhaseSettling {
                amplitude_mv: 400.0,
                time_constants: 1.5,
            },
            disch: PhaseSettling {
                amplitude_mv: 150.0,
                time_constants: 2.0,
            },
            soft_spacing: 0.5,
        },
        // tSET and tRST as in PR2/AR2 (unverified); suspend costs assumed; 1.6 Gb/s of the V7 family.
        timing: ChipTiming {
            set_feature_ns: 1_000,
            set_levels_ns: 0,
            plane_levels: true,
            reset_ns: 5_000,
            cache_busy_ns: 3_000,
            program_suspend_ns: 50_000,
            erase_suspend_ns: 100_000,
            resume_ns: 20_000,
            max_suspends: 100,
            independent_plane_reads: false,
            min_progress_ns: 200_000,
            io_mt_per_s: 1600,
        },
    }
}

fn qlc() -> ModeProfile {
    let mut mean_mv: Vec<f64> = vec![-2500.0];
    mean_mv.extend((1..16).map(|s| 400.0 + 250.0 * (s as f64 - 1.0)));
    let mut sigma_mv = vec![350.0];
    sigma_mv.extend([42.0; 15]);
    ModeProfile {
        mode: CellMode::Qlc,
        mean_mv,
        sigma_mv,
        pages: vec![
            vec![5, 7, 10],
            vec![1, 6, 12, 15],
            vec![2, 4, 8, 14],
            vec![3, 9, 11, 13],
        ],
        sentinels: vec![7, 6, 8, 9],
        retention_mv_per_decade: vec![28.0],
        endurance_pe_cycles: 3000,
        cycle_damage: 1.0,
        // 37.5 us a sense: 140 us for 3.75 levels (RARO); the split is assumed. 8.6 ms a wordline is
        // 2.15 ms for each of four pages (96-layer-class QLC, second-hand).
        setup_ns: 0,
        sense: SensePhases {
            pre_ns: 23_000,
            eval_ns: 5_000,
            disch_ns: 9_500,
        },
        measured_read_ns: vec![],
        program: ProgramTiming::OneShot {
            wordline_ns: 8_600_000,
        },
        erase_ns: 10_000_000,
    }
}

/// Charge-trap TLC, prototype set T1: 8 states 500 mV apart, 80 mV wide, 45 mV a decade, 2-3-2 code.
pub fn ct_t1() -> ChipProfile {
    let mut mean_mv: Vec<f64> = vec![-2500.0];
    mean_mv.extend((1..8).map(|s| 400.0 + 500.0 * (s as f64 - 1.0)));
    let mut sigma_mv = vec![350.0];
    sigma_mv.extend([80.0; 7]);
    let mut chip = ct_a();
    chip.name = "ct-t1".to_string();
    chip.array = ArrayProfile {
        layers: 48,
        strings_per_layer: 4,
        order: WordlineOrder::LayerByLayer,
    };
    chip.modes = vec![ModeProfile {
        mode: CellMode::Tlc,
        mean_mv,
        sigma_mv,
        pages: vec![vec![1, 5], vec![2, 4, 6], vec![3, 7]],
        sentinels: vec![5, 4, 3],
        retention_mv_per_decade: vec![45.0],
        endurance_pe_cycles: 3000,
        cycle_damage: 1.0,
        setup_ns: 0,
        sense: SensePhases {
            pre_ns: 24_000,
            eval_ns: 5_000,
            disch_ns: 10_000,
        },
        measured_read_ns: vec![],
        program: ProgramTiming::OneShot {
            wordline_ns: 2_100_000,
        },
        erase_ns: 5_000_000,
    }];
    chip.laws.retention.components[0] = RetentionComponent {
        name: "early",
        onset_h: 1.0,
        per_kpe: 0.15,
        ..chip.laws.retention.components[0]
    };
    chip.laws.retention.broadening = 0.15;
    chip.laws.wear.sigma_per_kpe = 0.03;
    chip.variation.block_rate = 0.0;
    chip.variation.wordline_rate = 0.05;
    chip.variation.wordline_offset_mv = 4.0;
    chip
}
