//! How often a first read fails: `cargo run --release -p firstread-nand --example first_read`.
//!
//! The reference QLC chip after 28 h at 55 °C, codewords of 9,216 bits that correct 72, reads of one
//! slot (4 codewords) and of four planes (64), by the levels used.

use firstread_core::{
    CellMode, DieId, Geometry, Ns, PageAddr, PageType, SenseTiming, Stream, StripeOrder,
    SuperblockId,
};
use firstread_nand::{Medium, ReadLevels, reference};

const LIMIT: u16 = 72;

fn main() {
    let geometry = Geometry {
        channels: 16,
        chips_per_channel: 1,
        dies_per_chip: 8,
        planes: 4,
        blocks_per_plane: 410,
        wordlines_per_block: 1408,
        page_bytes: 16_384,
        slot_bytes: 4_096,
        codeword_bytes: 1_024,
        stripe: StripeOrder::PlaneFirst,
        stripe_parity: false,
    };
    println!("P/E    levels            4 codewords      64 codewords   mean errors");
    for pe in [300, 2500] {
        let mut medium = Medium::new(reference::ct_a(), geometry, 1).expect("a valid chip");
        medium
            .set_temperature(Ns::ZERO, 55.0)
            .expect("a temperature");
        let block = medium.programmed(CellMode::Qlc, pe, 1, Ns::ZERO);
        let now = Ns::from_h(28);
        let members: Vec<_> = (0..410).map(|b| (SuperblockId(b), block)).collect();
        let group = medium
            .group_optimum(&members, now, CellMode::Qlc, LIMIT, 1024)
            .expect("qlc");
        let nominal = medium.nominal_optimum(&block, now).expect("qlc");
        for (name, levels, pages) in [
            ("default", ReadLevels::Offsets([0; 15]), 20_000),
            ("nominal optimum", ReadLevels::Offsets(nominal), 300_000),
            ("group optimum", ReadLevels::Offsets(group), 300_000),
            ("page ideal", ReadLevels::Ideal, 300_000),
        ] {
            let condition = medium.condition(&block, now);
            let pick = Stream::new(9);
            let (mut small, mut large, mut sum) = (0u64, 0u64, 0u64);
            for i in 0..pages {
                let draw = pick.at(i);
                let at = PageAddr {
                    die: DieId(draw.at(0).below(128) as u16),
                    block: SuperblockId(draw.at(1).below(410) as u32),
                    wordline: draw.at(2).below(1408) as u16,
                    page: PageType(draw.at(3).below(4) as u8),
                };
                let mut failed = 0u64;
                for plane in 0..4 {
                    let sense = medium
                        .sense_under(at, plane, condition, &levels, SenseTiming::DEFAULT, i)
                        .expect("a page that exists");
                    for cw in 0..16 {
                        let w = sense.codeword_weight(cw);
                        failed |= ((w > LIMIT) as u64) << (plane as u32 * 16 + cw);
                        sum += w as u64;
                    }
                }
                large += (failed != 0) as u64;
                small += (0..16).filter(|s| failed >> (4 * s) & 15 != 0).count() as u64;
            }
            println!(
                "{pe:<6} {name:<16} {:>12.2e} {:>17.2e} {:>13.1}",
                small as f64 / (16 * pages) as f64,
                large as f64 / pages as f64,
                sum as f64 / (64 * pages) as f64
            );
        }
    }
}
