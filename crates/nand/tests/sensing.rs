//! What a table of safe senses promises, and the margin that it comes from.
#![allow(missing_docs)]

use firstread_core::sensing::{AGES_H, SafeSense, TEMPERATURES_C, WEARS_PE};
use firstread_core::{
    CellMode, DieId, Geometry, Ns, PageAddr, PageType, SenseTiming, StripeOrder, SuperblockId,
};
use firstread_nand::characterize::factory_table;
use firstread_nand::chip::FactoryRule;
use firstread_nand::sensing::{Bench, CodeStrength, EndsWith, SensingRule, sensing_table};
use firstread_nand::{Medium, ReadLevels, reference};

const CAPABILITY: u16 = 72;
const BITS: u32 = 9216;
const CODE: CodeStrength = CodeStrength {
    capability_bits: CAPABILITY,
    codeword_bits: BITS,
};

#[test]
fn formula_safe_senses_are_safe_on_other_chips() {
    let chip = reference::ct_a();
    let mode = CellMode::Qlc;
    let table = sensing_table(&chip, mode, CODE, &SensingRule::DEFAULT).unwrap();
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 40,
        dies_per_chip: 1,
        planes: 1,
        blocks_per_plane: 4,
        wordlines_per_block: chip.wordlines() as u16,
        page_bytes: 16 << 10,
        slot_bytes: 4 << 10,
        codeword_bytes: 1 << 10,
        stripe: StripeOrder::PlaneFirst,
        stripe_parity: false,
    };
    let (mut shortened, mut pages, mut failed) = (0, 0, 0);
    for celsius in TEMPERATURES_C {
        let mut medium = Medium::new(chip.clone(), geometry, 77).unwrap();
        medium.set_codeword_bits(BITS);
        medium.set_temperature(Ns::ZERO, celsius as f64).unwrap();
        let (entries, len) = factory_table(&medium, mode, &FactoryRule::DEFAULT).unwrap();
        for pe in WEARS_PE {
            for hours in AGES_H {
                let safe = table.safe(celsius, pe, Ns::from_h(hours as u64));
                if safe == SafeSense::DEFAULT {
                    continue;
                }
                shortened += 1;
                assert!(safe.timing().pre_permille < 1000);
                assert!(safe.extra_bits <= CAPABILITY - SensingRule::DEFAULT.margin_bits);
                let (block, now) = (
                    medium.programmed(mode, pe, 0, Ns::ZERO),
                    Ns::from_h(hours as u64),
                );
                for i in 0..40 {
                    let at = PageAddr {
                        die: DieId(i),
                        block: SuperblockId(i as u32 % 4),
                        wordline: (i as u32 * 353 % chip.wordlines()) as u16,
                        page: PageType((i % 4) as u8),
                    };
                    let best = entries[..len as usize].iter().map(|e| {
                        let levels = ReadLevels::Offsets(*e);
                        (
                            medium.page_rber(at, 0, &block, now, &levels).unwrap(),
                            levels,
                        )
                    });
                    let (_, levels) = best.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
                    let sensed = medium
                        .sense(at, 0, &block, now, &levels, safe.timing(), i as u64)
                        .unwrap();
                    let mut weights = [0; 16];
                    sensed.codeword_weights(0, &mut weights);
                    pages += 1;
                    failed += weights.iter().any(|&w| w > CAPABILITY) as u32;
                }
            }
        }
    }
    assert!(shortened > 10, "{shortened} conditions");
    assert_eq!(failed, 0, "of {pages} pages in {shortened} conditions");
    // Beyond the table nothing is safe.
    // The table reads logarithms in steps of 1/256 octave: an hour more than a year is a year.
    let beyond = Ns::from_h(*AGES_H.last().unwrap() as u64 + 100);
    assert_eq!(table.safe(30, 0, beyond).timing(), SenseTiming::DEFAULT);
    assert_eq!(
        table.safe(30, 3001, Ns::ZERO).timing(),
        SenseTiming::DEFAULT
    );
}

/// The table is what its population allows, condition by condition; and what the last step has to
/// correct rises with time and wear, whichever chips are drawn.
#[test]
fn model_margins_shrink_with_time_and_wear() {
    let (chip, mode, rule) = (reference::ct_a(), CellMode::Qlc, SensingRule::DEFAULT);
    let table = sensing_table(&chip, mode, CODE, &rule).unwrap();
    for (t, celsius) in TEMPERATURES_C.into_iter().enumerate() {
        for seed in [1, 2] {
            let bench = Bench::new(&chip, mode, celsius as f64, CODE, &rule, seed);
            let bench = bench.unwrap().unwrap();
            let mut younger_of_wear = [[0.0; 2]; WEARS_PE.len()];
            for (a, hours) in AGES_H.into_iter().enumerate() {
                let mut less_worn = [0.0; 2];
                for (w, pe) in WEARS_PE.into_iter().enumerate() {
                    let aged = bench.aged(pe, Ns::from_h(hours as u64)).unwrap();
                    if seed == 1 {
                        assert_eq!(aged.errors(EndsWith::Best).unwrap(), table.points[t][w][a]);
                        let age = Ns::from_h(hours as u64);
                        assert_eq!(
                            aged.safe(EndsWith::Best).unwrap(),
                            table.safe(celsius, pe, age)
                        );
                    }
                    let [best, first] =
                        [EndsWith::Best, EndsWith::First].map(|ends| aged.last_step(ends));
                    let place = format!(
                        "seed {seed}: {celsius} °C, {pe} P/E, {hours} h: {best:?} {first:?}"
                    );
                    assert!(best.mean_bits < best.worst_bits, "{place}");
                    assert!(best.mean_bits <= first.mean_bits, "{place}");
                    assert!(best.worst_bits <= first.worst_bits, "{place}");
                    let now = [best.mean_bits, best.worst_bits];
                    for i in 0..now.len() {
                        assert!(now[i] > less_worn[i], "{place}");
                        // Entries may lie nearer to the optimum of the older page.
                        assert!(now[i] > 0.98 * younger_of_wear[w][i], "{place}");
                    }
                    (less_worn, younger_of_wear[w]) = (now, now);
                }
            }
        }
    }
}

#[test]
fn formula_the_cut_of_a_sense_is_by_the_chips_own_phases() {
    let (chip, mode) = (reference::ct_a(), CellMode::Qlc);
    let bench = Bench::new(&chip, mode, 30.0, CODE, &SensingRule::DEFAULT, 1).unwrap();
    let bench = bench.unwrap();
    let phases = chip.mode(mode).unwrap().sense;
    let whole = (phases.pre_ns + phases.eval_ns + phases.disch_ns) as f64;
    assert_eq!(chip.mode(mode).unwrap().setup_ns, 0, "the formula has none");
    for pre_permille in [1000, 700, 300] {
        let safe = SafeSense {
            pre_permille,
            extra_bits: 0,
        };
        let left_off = phases.pre_ns as f64 * (1.0 - pre_permille as f64 / 1e3);
        let cut = bench.cut_percent(safe).unwrap();
        assert!((cut - 100.0 * left_off / whole).abs() < 1e-2, "{cut}");
    }
    // A chip without the mode has no bench.
    let none = Bench::new(&chip, CellMode::Mlc, 30.0, CODE, &SensingRule::DEFAULT, 1);
    assert!(none.unwrap().is_none());
}
