use firstread_core::{DieId, PageAddr, PageType, SuperblockId};
use firstread_drive::profile::Override;
use firstread_nand::{PlaceBits, ReadLevels};

use super::*;
use crate::profile;

/// No place differs from another of its layer.
const ALIKE: &[&str] = &[
    "chip.variation.chip_rate=0 %",
    "chip.variation.block_rate=0 %",
    "chip.variation.wordline_rate=0 %",
    "chip.variation.state_rate=0 %",
    "chip.variation.chip_offset=0 mV",
    "chip.variation.block_offset=0 mV",
    "chip.variation.wordline_offset=0 mV",
    "chip.variation.state_offset=0 mV",
    "chip.variation.block_sigma=0 %",
    "chip.variation.wordline_sigma=0 %",
];

/// Cells of `ct-qlc` on four dies, with parity over them.
fn with_parity(sets: &[&str]) -> DriveProfile {
    let small = [
        "geometry.channels=2",
        "geometry.chips_per_channel=1",
        "geometry.dies_per_chip=2",
        "geometry.blocks_per_plane=64",
        "geometry.wordlines_per_block=2",
        "capacity=40 MiB",
        "schemes.read_recovery=parity",
    ];
    let sets = small
        .iter()
        .chain(sets)
        .map(|text| Override::parse(text).unwrap());
    profile("dc-qlc-15t", &sets.collect::<Vec<_>>()).unwrap()
}

fn rate(profile: &DriveProfile, pe_cycles: u32) -> Rate {
    let mut losses = Losses::of(profile, 1).unwrap().unwrap();
    let worn = std::iter::once(pe_cycles);
    losses.rate(Class::CLIENT, worn).unwrap()
}

/// Share of codewords lost of every `step`-th wordline of a whole block, page type by page type, over `blocks` blocks: each is
/// sensed where it lies, and nothing is drawn. With what two of a stripe's four dies lose together, in the mean over strata.
fn counted(profile: &DriveProfile, pe_cycles: u32, blocks: u32, step: usize) -> (f64, f64) {
    let losses = Losses::of(profile, 1).unwrap().unwrap();
    let medium = &losses.medium;
    let kept = [(Class::CLIENT.hours, Class::CLIENT.celsius)];
    let block = medium.programmed_before(losses.mode, pe_cycles, 1, Ns::ZERO, &kept);
    let (mut hard, mut host, mut strata) = (0.0, 0.0, 0.0);
    for wordline in (0..profile.chip.wordlines() as u16).step_by(step) {
        for page in (0..losses.mode.bits()).map(PageType) {
            let mut of_die = [0.0; 4];
            for superblock in (0..blocks).map(SuperblockId) {
                for (die, lost) in (0..4).map(DieId).zip(&mut of_die) {
                    let at = PageAddr {
                        die,
                        block: superblock,
                        wordline,
                        page,
                    };
                    let rber = medium.page_rber(at, 0, &block, Ns::ZERO, &ReadLevels::Ideal);
                    *lost += to_ten(losses.failure(rber.unwrap())) / f64::from(blocks);
                }
            }
            hard += of_die.iter().sum::<f64>() / 4.0;
            for (die, lost) in of_die.iter().enumerate() {
                let others = of_die.iter().enumerate().filter(|(other, _)| *other != die);
                let saved: f64 = others.map(|(_, other)| 1.0 - other).product();
                host += lost * (1.0 - saved) / 4.0;
            }
            strata += 1.0;
        }
    }
    let user_bits = f64::from(profile.geometry.codeword_bytes) * 8.0;
    (hard / strata / user_bits, host / strata / user_bits)
}

/// Where places of a layer do not differ the mean is a sum over the block, at each of three wears, and every wordline of the
/// block is in it. Parity counts within each stratum: the stripe's pages have the same layer and page type.
#[test]
fn formula_losses_of_a_chip_without_variation_are_the_sum_over_its_block() {
    let profile = with_parity(ALIKE);
    for pe_cycles in [1_500, 3_000, 4_500] {
        // Wordlines of a layer are alike: one of each layer's eight.
        let (hard, host) = counted(&profile, pe_cycles, 1, 8);
        let is = rate(&profile, pe_cycles);
        assert!(
            (is.hard / hard - 1.0).abs() < 1e-6,
            "{pe_cycles}: {is:?}, not {hard}"
        );
        assert!(
            (is.host / host - 1.0).abs() < 1e-4,
            "{pe_cycles}: {is:?}, not {host}"
        );
        if pe_cycles > 1_500 {
            // Where nearly all is lost strata differ little.
            continue;
        }
        let alike = is.hard * is.hard * 3.0 * f64::from(profile.geometry.codeword_bytes) * 8.0;
        assert!(is.host > 2.0 * alike, "{pe_cycles}: strata do not differ");
    }
}

/// One difference between blocks, of their offsets: the mean is an integral over one Gaussian, at three wears.
#[test]
fn formula_losses_of_a_single_difference_are_its_integral() {
    let varied: Vec<&str> = ALIKE
        .iter()
        .copied()
        .filter(|s| !s.contains("block_sigma"))
        .collect();
    let profile = with_parity(&[&varied[..], &["chip.variation.block_sigma=3 %"]].concat());
    let losses = Losses::of(&profile, 1).unwrap().unwrap();
    for pe_cycles in [1_200, 2_400, 3_600] {
        let kept = [(Class::CLIENT.hours, Class::CLIENT.celsius)];
        let block = losses
            .medium
            .programmed_before(losses.mode, pe_cycles, 1, Ns::ZERO, &kept);
        let condition = losses.medium.condition(&block, Ns::ZERO);
        let (mut hard, mut host) = (0.0, 0.0);
        let strata = (0..losses.medium.layers())
            .flat_map(|layer| (0..4).map(move |page| (layer, PageType(page))));
        for (layer, page) in strata.clone() {
            let of = |field: u64| {
                let bits = PlaceBits {
                    block: field << 32,
                    ..PlaceBits::default()
                };
                let drawn = losses
                    .medium
                    .drawn_rber((DieId(0), layer), page, &bits, &condition);
                to_ten(losses.failure(drawn.unwrap()))
            };
            // The medium has 2,048 steps of a difference, but tells 65,536 values apart in the first two and last two.
            let ends = (0..64).chain(65_472..65_536).map(&of).sum::<f64>();
            let near = (2..66)
                .chain(1_982..2_046)
                .map(|step| of(32 * step + 16) * 32.0)
                .sum::<f64>();
            let middle = (66..1_982)
                .step_by(4)
                .map(|step| of(32 * (step + 2)) * 128.0)
                .sum::<f64>();
            let lost = (ends + near + middle) / 65_536.0;
            hard += lost;
            host += lost * (1.0 - (1.0 - lost).powi(3));
        }
        let n = strata.count() as f64 * losses.user_bits;
        let is = rate(&profile, pe_cycles);
        is_near(&is, (hard / n, host / n));
    }
}

/// All differences together, at three wears: the mean of so many blocks, sensed where they lie, is within the interval.
#[test]
fn formula_losses_are_those_of_whole_blocks() {
    let profile = with_parity(&[]);
    for (pe_cycles, blocks, step) in [(600, 1024, 8), (3_000, 64, 8), (4_500, 64, 8)] {
        let counted = counted(&profile, pe_cycles, blocks, step);
        is_near(&rate(&profile, pe_cycles), counted);
    }
}

/// The rates are `hard` and `host`, within twice the interval.
fn is_near(is: &Rate, (hard, host): (f64, f64)) {
    let (low, high) = is.interval;
    assert!(low < is.host && is.host < high);
    let off = (high / is.host).powi(2);
    assert!(
        (1.0 / off..off).contains(&(host / is.host)),
        "{is:?}, not {host}"
    );
    assert!(
        (1.0 / off..off).contains(&(hard / is.hard)),
        "{is:?}, not {hard}"
    );
}
