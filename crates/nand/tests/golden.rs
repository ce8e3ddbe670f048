//! Golden: what a drawn medium senses. Retries of all simulations stand on these numbers; a change of them is a change of
//! every result with cells.
#![allow(missing_docs)]

use firstread_core::{
    CellMode, DieId, Geometry, Ns, PageAddr, PageType, SenseTiming, StripeOrder, SuperblockId,
};
use firstread_nand::{BlockState, ChipProfile, Medium, ReadLevels, SoftLevels, reference};

fn medium(chip: ChipProfile) -> Medium {
    let geometry = Geometry {
        channels: 2,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes: 2,
        blocks_per_plane: 8,
        wordlines_per_block: chip.wordlines() as u16,
        page_bytes: 16_384,
        slot_bytes: 4_096,
        codeword_bytes: 1_024,
        stripe: StripeOrder::PlaneFirst,
        stripe_parity: false,
    };
    let mut m = Medium::new(chip, geometry, 5).unwrap();
    m.set_temperature(Ns::ZERO, 55.0).unwrap();
    m
}

/// Numbers in order, folded with FNV-1a.
#[derive(Default)]
struct Digest {
    hash: u64,
    sum: u64,
}

impl Digest {
    fn add(&mut self, number: u64) {
        self.sum = self.sum.wrapping_add(number);
        for byte in number.to_le_bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Sums of wrong bits by hard and soft senses, of conducting cells and of wrong spare cells over some pages, and a digest
/// of each number.
fn senses(
    m: &Medium,
    mode: CellMode,
    block: &BlockState,
    now: Ns,
    timing: SenseTiming,
) -> [u64; 5] {
    let mut sums = [
        Digest::default(),
        Digest::default(),
        Digest::default(),
        Digest::default(),
    ];
    let optimum = m.nominal_optimum(block, now).unwrap();
    let condition = m.condition(block, now);
    let spare = m.spare_cells(mode, 2_000).unwrap();
    for i in 0..240u32 {
        let at = PageAddr {
            die: DieId((i % 2) as u16),
            block: SuperblockId(i % 7),
            wordline: (i * 613 % m.chip().wordlines()) as u16,
            page: PageType((i / 3 % u32::from(mode.bits())) as u8),
        };
        let (plane, id) = ((i / 5 % 2) as u8, u64::from(i / 2));
        let moved = (i % 23) as i8 - 11;
        let offsets = optimum.map(|o| o + moved);
        let levels = match i % 6 {
            0 => ReadLevels::Ideal,
            _ => ReadLevels::Offsets(offsets),
        };
        let sense = m.sense(at, plane, block, now, &levels, timing, id).unwrap();
        let soft = [SoftLevels::Three, SoftLevels::Five][i as usize % 2];
        let soft = m
            .sense_soft(at, plane, block, now, &levels, soft, timing, id)
            .unwrap();
        for codeword in 0..16 {
            sums[0].add(u64::from(sense.codeword_weight(codeword)));
            let s = soft.codeword(codeword);
            s.errors
                .iter()
                .chain(&s.bits)
                .for_each(|&n| sums[1].add(u64::from(n)));
            if codeword % 5 == 0 {
                // Not part of the sum: it is as large as numbers are.
                sums[0].hash ^= sense.persistent_draw(codeword) ^ sense.four_draws(codeword)[1];
            }
        }
        let valley = (1 + i as usize % mode.valleys()) as u8;
        let ones = m
            .ones_count(at, plane, block, now, valley, moved, id)
            .unwrap();
        sums[2].add(u64::from(ones.0));
        let errors = m
            .spare_errors(at, plane, &condition, &offsets, timing, id, spare)
            .unwrap();
        sums[3].add(u64::from(errors.above));
        sums[3].add(u64::from(errors.below));
    }
    let mut digest = Digest::default();
    sums.iter().for_each(|s| digest.add(s.hash));
    [
        sums[0].sum,
        sums[1].sum,
        sums[2].sum,
        sums[3].sum,
        digest.hash,
    ]
}

#[test]
fn golden_senses_of_drawn_pages() {
    let plain = medium(reference::ct_a());
    let mut varied = reference::ct_a();
    varied.variation.state_rate = 0.05;
    varied.variation.state_offset_mv = 3.0;
    varied.variation.chip_rate = 0.03;
    varied.variation.block_sigma = 0.02;
    varied.variation.tail_fraction = 0.02;
    varied.variation.tail_sigma_ratio = 1.6;
    let varied = medium(varied);
    let tlc = medium(reference::ct_t1());
    let short = SenseTiming {
        pre_permille: 500,
        ..SenseTiming::DEFAULT
    };
    let cases = [
        (&plain, CellMode::Qlc, 300, 10, 0.0, SenseTiming::DEFAULT),
        (&plain, CellMode::Qlc, 2500, 28, 2e6, short),
        (&varied, CellMode::Qlc, 1500, 200, 3e4, SenseTiming::DEFAULT),
        (&tlc, CellMode::Tlc, 1000, 2000, 0.0, SenseTiming::DEFAULT),
    ];
    let found = cases.map(|(m, mode, pe, hours, reads, timing)| {
        let block = BlockState {
            reads,
            ..m.programmed(mode, pe, 3, Ns::ZERO)
        };
        senses(m, mode, &block, Ns::from_h(hours), timing)
    });
    assert_eq!(
        found,
        [
            [
                192_671,
                35_582_111,
                17_897_034,
                368,
                2_748_845_115_414_380_503
            ],
            [
                541_714,
                35_931_154,
                18_039_891,
                629,
                3_708_101_317_266_314_839
            ],
            [
                336_721,
                35_726_161,
                18_239_940,
                608,
                17_507_994_711_272_674_575
            ],
            [
                126_355,
                35_515_795,
                18_609_561,
                241,
                8_172_383_764_869_317_786
            ],
        ]
    );
}
