//! Formula: what a table of safe senses promises holds on chips it was not made from.
#![allow(missing_docs)]

use firstread_core::sensing::{AGES_H, SafeSense, TEMPERATURES_C, WEARS_PE};
use firstread_core::{
    BlockId, CellMode, DieId, Geometry, Ns, PageAddr, PageType, SenseTiming, StripeOrder,
};
use firstread_nand::characterize::{FactoryRule, factory_table};
use firstread_nand::sensing::{SensingRule, sensing_table};
use firstread_nand::{Medium, ReadLevels, reference};

const CAPABILITY: u16 = 72;
const BITS: u32 = 9216;

#[test]
fn formula_safe_senses_are_safe_on_other_chips() {
    let chip = reference::ct_a();
    let mode = CellMode::Qlc;
    let table = sensing_table(&chip, mode, CAPABILITY, BITS, &SensingRule::DEFAULT).unwrap();
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
    for (t, celsius) in TEMPERATURES_C.into_iter().enumerate() {
        let mut medium = Medium::new(chip.clone(), geometry, 77).unwrap();
        medium.set_codeword_bits(BITS);
        medium.set_temperature(Ns::ZERO, celsius as f64).unwrap();
        let (entries, len) = factory_table(&medium, mode, &FactoryRule::DEFAULT).unwrap();
        for (w, pe) in WEARS_PE.into_iter().enumerate() {
            for (a, hours) in AGES_H.into_iter().enumerate() {
                let safe = table.safe[t][w][a];
                assert_eq!(table.at(celsius, pe, Ns::from_h(hours as u64)), safe);
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
                        block: BlockId(i as u32 % 4),
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
    let beyond = Ns::from_h(*AGES_H.last().unwrap() as u64 + 1);
    assert_eq!(table.at(30, 0, beyond).timing(), SenseTiming::DEFAULT);
    assert_eq!(table.at(86, 0, Ns::ZERO).timing(), SenseTiming::DEFAULT);
}
