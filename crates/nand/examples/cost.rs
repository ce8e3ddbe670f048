//! What a page outcome costs: `cargo run --release -p firstread-nand --example cost`.
#![allow(clippy::disallowed_methods)] // It measures; nothing simulated depends on it.

use std::time::Instant;

use firstread_core::{
    CellMode, DieId, Geometry, Ns, PageAddr, PageType, SenseTiming, Stream, StripeOrder,
    SuperblockId,
};
use firstread_nand::gaussian::Gaussian;
use firstread_nand::monte_carlo::Cells;
use firstread_nand::{Medium, ReadLevels, reference};

fn main() {
    let geometry = Geometry {
        channels: 16,
        chips_per_channel: 1,
        dies_per_chip: 8,
        planes: 4,
        blocks_per_plane: 410,
        wordlines_per_block: 1408,
        page_bytes: 16384,
        slot_bytes: 4096,
        codeword_bytes: 1024,
        stripe: StripeOrder::PlaneFirst,
        stripe_parity: false,
    };
    let mut chip = reference::ct_a();
    // Every kind of variation at work.
    chip.variation.state_rate = 0.04;
    chip.variation.state_offset_mv = 2.0;
    let medium = Medium::new(chip, geometry, 1).expect("a valid chip");
    let block = medium.programmed(CellMode::Qlc, 2500, 1, Ns::ZERO);
    let now = Ns::from_h(28);
    let nominal = ReadLevels::Offsets(medium.nominal_optimum(&block, now).expect("qlc"));
    let n = 1_000_000u64;
    for (name, levels, codewords) in [
        ("nominal optimum, 4 codewords", nominal, 4),
        ("nominal optimum, 16 codewords", nominal, 16),
        ("page ideal, 4 codewords", ReadLevels::Ideal, 4),
    ] {
        let start = Instant::now();
        let (mut failed, mut sum) = (0u64, 0u64);
        // As a drive does: the condition of a superblock stands for many reads.
        let cached_condition = medium.cached_condition(&block, now);
        let mut weights = [0; 16];
        for i in 0..n {
            let at = PageAddr {
                die: DieId((i % 128) as u16),
                block: SuperblockId((i * 7 % 410) as u32),
                wordline: (i * 31 % 1408) as u16,
                page: PageType((i % 4) as u8),
            };
            assert!(medium.is_current(&cached_condition, &block, now));
            let plane = (i & 3) as u8;
            let condition = &cached_condition.condition;
            let s = medium
                .sense_under(at, plane, condition, &levels, SenseTiming::DEFAULT, i)
                .expect("a page that exists");
            let weights = &mut weights[..codewords];
            s.codeword_weights(0, weights);
            for &mut w in weights {
                failed += (w > 72) as u64;
                sum += w as u64;
            }
        }
        let ns = start.elapsed().as_nanos() as f64 / n as f64;
        let words = (n * codewords as u64) as f64;
        println!(
            "{name}: {ns:.0} ns a page, {:.1} errors a codeword, {:.1e} above 72",
            sum as f64 / words,
            failed as f64 / words
        );
    }

    let start = Instant::now();
    let members: Vec<_> = (0..64).map(|b| (SuperblockId(b), block)).collect();
    let group = medium.group_optimum(&members, now, CellMode::Qlc, 72, 1024);
    println!(
        "best of a group, 1,024 wordlines: {:.1} ms ({group:?})",
        ms(start)
    );

    let gaussian = Gaussian::new();
    let at = PageAddr::default();
    let states = medium
        .states(at, 0, &block, now)
        .expect("a page that exists");
    let pages = &medium.chip().modes[0].pages;
    let levels = medium
        .ideal_levels_mv(at, 0, &block, now)
        .expect("a page that exists");
    let start = Instant::now();
    let key = Stream::new(1);
    let cells = Cells::draw(&gaussian, CellMode::Qlc, pages, &states, 6.0, 147_456, key);
    let drawn = ms(start);
    let start = Instant::now();
    let errors = cells.errors(&gaussian, PageType(1), &levels, 9_216, key.at(1));
    println!(
        "every cell of a wordline: drawn in {drawn:.1} ms, a page sensed in {:.1} ms ({} errors)",
        ms(start),
        errors.iter().sum::<u32>()
    );
}

fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
