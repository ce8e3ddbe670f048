//! Spare cells against the distributions they are drawn from.

use firstread_core::{
    CellMode, DieId, LevelOffsets, Ns, PageAddr, PageType, SenseTiming, SpareErrors, SuperblockId,
};
use firstread_nand::characterize::{FitConditions, spare_curve};
use firstread_nand::{BlockState, Medium, reference};

const PPM: u32 = 2_000;
const PE: u32 = 1_500;

fn medium() -> Medium {
    let chip = reference::ct_a();
    let geometry = firstread_core::Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 2,
        planes: 2,
        blocks_per_plane: 8,
        wordlines_per_block: chip.wordlines() as u16,
        page_bytes: 16 << 10,
        slot_bytes: 4 << 10,
        codeword_bytes: 4 << 10,
        stripe: firstread_core::StripeOrder::PlaneFirst,
        stripe_parity: false,
    };
    Medium::new(chip, geometry, 5).unwrap()
}

/// A block that has lived 28 h at 55 °C.
fn block(m: &Medium) -> BlockState {
    m.programmed_before(CellMode::Qlc, PE, 3, Ns::from_h(100), &[(28.0, 55.0)])
}

fn at(wordline: u16, page: u8) -> PageAddr {
    PageAddr {
        die: DieId(1),
        block: SuperblockId(2),
        wordline,
        page: PageType(page),
    }
}

fn errors(m: &Medium, at: PageAddr, levels: &LevelOffsets, sense: u64) -> SpareErrors {
    let now = Ns::from_h(100);
    let condition = m.condition(&block(m), now);
    let cells = m.spare_cells(CellMode::Qlc, PPM).unwrap();
    m.spare_errors(
        at,
        1,
        &condition,
        levels,
        SenseTiming::DEFAULT,
        sense,
        cells,
    )
    .unwrap()
}

/// 0.2 % of a wordline, over the five states next to four neighbouring sentinels.
#[test]
fn formula_cells_of_a_state() {
    let m = medium();
    let all = m.cells() as u64 * PPM as u64 / 1_000_000;
    assert_eq!(m.spare_cells(CellMode::Qlc, PPM).unwrap() as u64, all / 5);
    assert!(
        m.spare_cells(CellMode::Slc, PPM).is_err(),
        "the chip has no such mode"
    );
    assert_eq!(m.spare_cells(CellMode::Qlc, 0).unwrap(), 0);
}

/// Over many wordlines, at several levels, as many lie beyond as the states' distributions say.
#[test]
fn formula_shares_beyond_are_those_of_the_states() {
    let m = medium();
    let now = Ns::from_h(100);
    let model = m.model(CellMode::Qlc).unwrap();
    let tail = |z: f64| 0.5 * libm::erfc(z / core::f64::consts::SQRT_2);
    for page in 0..4u8 {
        let valley = model.sentinel[page as usize] as usize;
        for offset in [-34i8, -20, -10, 0, 12] {
            let levels = [offset; 15];
            let level = m.levels_mv(model, &levels)[valley - 1];
            let (mut sum, mut expected) = ([0.0; 2], [0.0; 2]);
            for wordline in (0..1408).step_by(3) {
                let e = errors(&m, at(wordline, page), &levels, wordline as u64);
                sum[0] += e.above as f64;
                sum[1] += e.below as f64;
                let states = m.states(at(wordline, page), 1, &block(&m), now).unwrap();
                let (lower, upper) = (states[valley - 1], states[valley]);
                expected[0] += e.cells as f64 * tail((level - lower.mean_mv) / lower.sigma_mv);
                expected[1] += e.cells as f64 * tail((upper.mean_mv - level) / upper.sigma_mv);
            }
            for (sum, expected) in sum.into_iter().zip(expected) {
                let off = (sum - expected).abs();
                assert!(
                    off < 4.5 * libm::sqrt(expected) + 3.0,
                    "page {page} at {offset}: {sum} beyond, {expected:.1} expected"
                );
            }
        }
    }
}

/// Cells stay where they are: two senses at one level see nearly the same, and a level that moves up
/// loses cells on one side alone and gains on the other.
#[test]
fn model_cells_stay_between_senses() {
    let m = medium();
    let (mut changed, mut seen) = (0u32, 0u32);
    for wordline in (0..1408).step_by(5) {
        let [one, again] = [1, 2].map(|sense| errors(&m, at(wordline, 2), &[-4; 15], sense));
        changed += one.below.abs_diff(again.below) as u32;
        seen += one.below as u32;
        // The noise of one sense.
        let mut last = errors(&m, at(wordline, 2), &[-40; 15], 7);
        for offset in -39..=20i8 {
            let next = errors(&m, at(wordline, 2), &[offset; 15], 7);
            assert!(next.above <= last.above && next.below >= last.below);
            last = next;
        }
    }
    println!("{changed} of {seen} cells changed");
    assert!(seen > 500 && changed * 4 < seen && changed > 0);
    let other = errors(&m, at(5, 2), &[-4; 15], 1);
    let twice = errors(&m, at(5, 2), &[-4; 15], 1);
    assert_eq!(other, twice, "the same sense is the same");
}

/// The characterized curve leads from the default to within the window in which pages are read.
#[test]
fn model_correction_finds_the_best_level() {
    let m = medium();
    let now = Ns::from_h(100);
    let curve = spare_curve(&m, CellMode::Qlc, &FitConditions::default()).unwrap();
    for row in &curve {
        assert!(row.is_sorted() && row[16].abs() <= 1, "{row:?}");
    }
    let model = m.model(CellMode::Qlc).unwrap();
    for page in 0..4u8 {
        let valley = model.sentinel[page as usize] as usize;
        let (mut sum, mut squares, mut n) = (0.0, 0.0, 0.0);
        for wordline in (0..1408).step_by(3) {
            let e = errors(&m, at(wordline, page), &[0; 15], 1);
            let difference = (e.above as f64 - e.below as f64) / e.cells as f64;
            let node = libm::round((difference + 1.0) * 16.0) as usize;
            let best = m
                .ideal_offsets(at(wordline, page), 1, &block(&m), now)
                .unwrap();
            let off = curve[page as usize][node] as f64 - best[valley - 1];
            sum += off;
            squares += off * off;
            n += 1.0;
        }
        let (mean, rms) = (sum / n, libm::sqrt(squares / n));
        println!("page {page}: {mean:+.2} units off on average, {rms:.2} rms");
        assert!(mean.abs() < 1.5 && rms < 4.0);
    }
}
