//! Properties over arbitrary conditions: no panic, and relations that must hold in all of them.
#![allow(missing_docs)]

use firstread_core::{
    CellMode, DieId, Geometry, Ns, PageAddr, PageType, SenseTiming, StripeOrder, SuperblockId,
};
use firstread_nand::{BlockState, Medium, ReadLevels, SenseError, SoftLevels, reference};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn medium(celsius: f64) -> Medium {
    let geometry = Geometry {
        channels: 2,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes: 2,
        blocks_per_plane: 8,
        wordlines_per_block: 1408,
        page_bytes: 16_384,
        slot_bytes: 4_096,
        codeword_bytes: 1_024,
        stripe: StripeOrder::PlaneFirst,
        stripe_parity: false,
    };
    let mut m = Medium::new(reference::ct_a(), geometry, 1).unwrap();
    m.set_temperature(Ns::ZERO, celsius).unwrap();
    m
}

prop_compose! {
    fn block()(pe in 0u32..6000, version in any::<u32>(), reads in prop_oneof![0.0f32..2e4, 0.0f32..1e7],
               adjacent in prop_oneof![0.0f32..1e3, 0.0f32..1e6],
               written in 0u16..=1408, dwell in 0.0f32..1e4) -> BlockState {
        BlockState {
            reads, adjacent_reads: adjacent, written_wordlines: written, dwell_h: dwell,
            ..medium(25.0).programmed(CellMode::Qlc, pe, version, Ns::ZERO)
        }
    }
}

prop_compose! {
    fn page()(die in 0u16..2, block in 0u32..8, wordline in 0u16..1408, page in 0u8..4) -> PageAddr {
        PageAddr { die: DieId(die), block: SuperblockId(block), wordline, page: PageType(page) }
    }
}

proptest! {
    // A failure prints its minimal input; the fixed seed finds it again.
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_same_sense_is_the_same_and_best_levels_are_best(
        b in block(), at in page(), hours in 0u64..20_000, celsius in -40.0f64..100.0,
        offsets in prop::array::uniform15(-60i8..60), id in any::<u64>(),
    ) {
        let m = medium(celsius);
        let now = Ns::from_h(hours);
        let levels = ReadLevels::Offsets(offsets);
        let sense = |id| m.sense(at, 1, &b, now, &levels, SenseTiming::DEFAULT, id).unwrap();
        let (a, again) = (sense(id), sense(id));
        let mut together = [0; 13];
        a.codeword_weights(3, &mut together);
        for cw in 0..16 {
            prop_assert_eq!(a.codeword_weight(cw), again.codeword_weight(cw));
            if cw >= 3 {
                prop_assert_eq!(a.codeword_weight(cw), together[cw as usize - 3]);
            }
            prop_assert!(a.codeword_weight(cw) as u32 <= m.codeword_bits());
        }
        let rber = m.page_rber(at, 1, &b, now, &levels).unwrap();
        let best = m.page_rber(at, 1, &b, now, &ReadLevels::Ideal).unwrap();
        prop_assert!((0.0..=1.0).contains(&rber), "{}", rber);
        // Millions of reads lift the erased state over the first programmed one: no order is left.
        if b.reads + b.adjacent_reads < 5e4 {
            prop_assert!(best <= rber * (1.0 + 1e-5) + 1e-12, "{} at best, {} at {:?}", best, rber, offsets);
            let ideal = m.ideal_levels_mv(at, 1, &b, now).unwrap();
            prop_assert!(ideal.windows(2).all(|w| w[0] < w[1]), "levels rise: {:?}", ideal);
        }
    }

    #[test]
    fn counts_rise_with_the_level_and_soft_classes_add_up(
        b in block(), at in page(), hours in 0u64..2_000, valley in 1u8..=15, id in any::<u64>(),
    ) {
        let m = medium(40.0);
        let now = Ns::from_h(hours);
        let mut last = 0;
        for offset in [-120i8, -60, -24, 0, 24, 60, 120] {
            let (ones, cells) = m.ones_count(at, 0, &b, now, valley, offset, id).unwrap();
            prop_assert!(ones <= cells);
            // Sampling noise of the empty stretches between states.
            prop_assert!(ones + 60 >= last, "{} after {} at {}", ones, last, offset);
            last = ones;
        }
        let levels = ReadLevels::Offsets(m.nominal_optimum(&b, now).unwrap());
        for soft in [SoftLevels::Three, SoftLevels::Five] {
            let s = m.sense_soft(at, 0, &b, now, &levels, soft, SenseTiming::DEFAULT, id).unwrap();
            let hard = m.sense(at, 0, &b, now, &levels, SenseTiming::DEFAULT, id).unwrap();
            for cw in 0..4 {
                let w = s.codeword(cw);
                prop_assert_eq!(w.bits.iter().sum::<u32>(), m.codeword_bits());
                prop_assert_eq!(w.hard(), hard.codeword_weight(cw) as u32);
                prop_assert!((0..3).all(|c| w.errors[c] <= w.bits[c]), "{:?}", w);
            }
        }
    }

    #[test]
    fn what_is_not_there_is_an_error(
        wordline in any::<u16>(), page in any::<u8>(), die in any::<u16>(), valley in any::<u8>(),
    ) {
        let m = medium(25.0);
        let b = m.programmed(CellMode::Qlc, 1, 1, Ns::ZERO);
        let at = PageAddr { die: DieId(die), block: SuperblockId(0), wordline, page: PageType(page) };
        let s = m.sense(at, 0, &b, Ns(5), &ReadLevels::Ideal, SenseTiming::DEFAULT, 0);
        prop_assert_eq!(s.is_ok(), wordline < 1408 && page < 4 && die < 2);
        let c = m.ones_count(at, 0, &b, Ns(5), valley, 0, 0);
        prop_assert_eq!(c.is_ok(), wordline < 1408 && die < 2 && (1..=15).contains(&valley));
        let tlc = BlockState { mode: CellMode::Tlc, ..b };
        let s = m.page_rber(at, 0, &tlc, Ns(5), &ReadLevels::Ideal);
        prop_assert_eq!(s, Err(SenseError::Mode(CellMode::Tlc)));
    }
}

#[test]
fn model_group_optimum_is_no_worse_than_its_start_nor_better_than_the_oracle() {
    let m = medium(55.0);
    let b = m.programmed(CellMode::Qlc, 2500, 1, Ns::ZERO);
    let now = Ns::from_h(28);
    let members: Vec<_> = (0..8).map(|i| (SuperblockId(i), b)).collect();
    let group = m
        .group_optimum(&members, now, CellMode::Qlc, 72, 512)
        .unwrap();
    let nominal = m.nominal_optimum(&b, now).unwrap();
    let fails = |levels: &ReadLevels| {
        let (mut failed, n) = (0u32, 40_000);
        for i in 0..n {
            let at = PageAddr {
                die: DieId((i % 2) as u16),
                block: SuperblockId(i / 2 % 8),
                wordline: (i * 37 % 1408) as u16,
                page: PageType((i / 3 % 4) as u8),
            };
            let s = m
                .sense(at, 0, &b, now, levels, SenseTiming::DEFAULT, i as u64)
                .unwrap();
            failed += (0..4).any(|cw| s.codeword_weight(cw) > 72) as u32;
        }
        failed as f64 / n as f64
    };
    let (at_group, at_nominal, ideal) = (
        fails(&ReadLevels::Offsets(group)),
        fails(&ReadLevels::Offsets(nominal)),
        fails(&ReadLevels::Ideal),
    );
    println!("first reads fail: nominal {at_nominal:.2e}, group {at_group:.2e}, page {ideal:.2e}");
    assert!(at_group <= at_nominal * 1.02 && ideal < at_group);
    assert_eq!(
        m.group_optimum(&[], now, CellMode::Qlc, 72, 512),
        Ok([0; 15])
    );
    assert!(
        m.group_optimum(&members, now, CellMode::Slc, 72, 512)
            .is_err()
    );
}

#[test]
fn validation_names_the_key() {
    type Break = fn(&mut firstread_nand::ChipProfile);
    let cases: [(&str, Break); 9] = [
        ("modes.qlc.mean", |c| c.modes[0].mean_mv.swap(3, 4)),
        ("modes.qlc.sigma", |c| c.modes[0].sigma_mv.truncate(3)),
        ("modes.qlc.pages", |c| c.modes[0].pages[0][0] = 4),
        ("modes.qlc.sentinels", |c| c.modes[0].sentinels[0] = 1),
        ("modes.qlc.erase", |c| c.modes[0].erase_ns = 0),
        ("factory_default.temperature", |c| {
            c.factory_default.temperature_c = 300.0
        }),
        ("retention.late.saturation", |c| {
            c.laws.retention.components[0].saturation_h = f64::NAN
        }),
        ("sensing.noise", |c| c.sensing.noise_mv = 60.0),
        ("variation.tail_sigma_ratio", |c| {
            c.variation.tail_fraction = 0.1
        }),
    ];
    for (key, spoil) in cases {
        let mut chip = reference::ct_a();
        spoil(&mut chip);
        let e = chip.validate().expect_err(key);
        assert_eq!(e.key, key, "{e}");
    }
    for chip in [reference::ct_a(), reference::ct_t1()] {
        chip.validate().unwrap();
    }
}
