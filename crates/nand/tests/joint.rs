//! Model: the medium's codeword errors against every cell of a wordline drawn one by one, for one
//! sense and for two senses of the same cells.
#![allow(missing_docs)]

use firstread_core::{
    CellMode, DieId, Geometry, Ns, PageAddr, PageType, SenseTiming, Stream, StripeOrder,
    SuperblockId,
};
use firstread_nand::gaussian::Gaussian;
use firstread_nand::monte_carlo::Cells;
use firstread_nand::{BlockState, Medium, ReadLevels, SoftLevels, reference};

const CELLS: usize = 147_456;
const CODEWORD: usize = 9_216;

fn medium() -> Medium {
    let geometry = Geometry {
        channels: 4,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes: 1,
        blocks_per_plane: 64,
        wordlines_per_block: 1408,
        page_bytes: 16_384,
        slot_bytes: 4_096,
        codeword_bytes: 1_024,
        stripe: StripeOrder::PlaneFirst,
        stripe_parity: false,
    };
    let mut m = Medium::new(reference::ct_a(), geometry, 5).unwrap();
    m.set_temperature(Ns::ZERO, 55.0).unwrap();
    m
}

/// Moments of pairs of counts.
#[derive(Default, Debug, Clone, Copy)]
struct Joint {
    n: f64,
    a: f64,
    b: f64,
    aa: f64,
    bb: f64,
    ab: f64,
    fail_a: f64,
    fail_both: f64,
}

impl Joint {
    fn add(&mut self, a: f64, b: f64, limit_a: f64, limit_b: f64) {
        self.n += 1.0;
        self.a += a;
        self.b += b;
        self.aa += a * a;
        self.bb += b * b;
        self.ab += a * b;
        self.fail_a += (a > limit_a) as u8 as f64;
        self.fail_both += (a > limit_a && b > limit_b) as u8 as f64;
    }
    fn mean(&self) -> f64 {
        self.a / self.n
    }
    fn variance(&self) -> f64 {
        self.aa / self.n - self.mean() * self.mean()
    }
    fn correlation(&self) -> f64 {
        let (ma, mb) = (self.mean(), self.b / self.n);
        (self.ab / self.n - ma * mb) / ((self.variance()) * (self.bb / self.n - mb * mb)).sqrt()
    }
    fn conditional(&self) -> f64 {
        self.fail_both / self.fail_a.max(1.0)
    }
    fn marginal(&self) -> f64 {
        self.fail_a / self.n
    }
}

/// Every codeword of `wordlines` draws of one page, sensed at two vectors of offsets.
fn both(
    m: &Medium,
    block: &BlockState,
    now: Ns,
    page: u8,
    first: [i8; 15],
    second: [i8; 15],
    wordlines: u32,
) -> (Joint, Joint) {
    let at = PageAddr {
        die: DieId(1),
        block: SuperblockId(3),
        wordline: 700,
        page: PageType(page),
    };
    let g = Gaussian::new();
    let states = m.states(at, 0, block, now).unwrap();
    let model = m.model(CellMode::Qlc).unwrap();
    let (la, lb) = (m.levels_mv(model, &first), m.levels_mv(model, &second));
    let pages = &m.chip().mode(CellMode::Qlc).unwrap().pages;
    let noise_mv = m.chip().sensing.noise_mv;
    let bits = CODEWORD as f64;
    let rber = |l: [i8; 15]| {
        m.page_rber(at, 0, block, now, &ReadLevels::Offsets(l))
            .unwrap()
    };
    // Half a deviation above the mean: failures are common enough to count.
    let limit = |r: f64| (r * bits + 0.5 * (r * bits).sqrt()).floor();
    let (limit_a, limit_b) = (limit(rber(first)), limit(rber(second)));
    let (mut cells, mut model_joint) = (Joint::default(), Joint::default());
    for version in 0..wordlines {
        let key = Stream::new(99).at(version as u64);
        let c = Cells::draw(&g, CellMode::Qlc, pages, &states, noise_mv, CELLS, key);
        let a = c.errors(&g, PageType(page), &la, CODEWORD, key.named("first"));
        let b = c.errors(&g, PageType(page), &lb, CODEWORD, key.named("second"));
        for (a, b) in a.iter().zip(&b) {
            cells.add(*a as f64, *b as f64, limit_a, limit_b);
        }
    }
    // The medium is cheap: many more draws leave only the reference's own noise.
    for version in 0..40 * wordlines {
        let state = BlockState { version, ..*block };
        let sense = |l: [i8; 15], id: u64| {
            m.sense(
                at,
                0,
                &state,
                now,
                &ReadLevels::Offsets(l),
                SenseTiming::DEFAULT,
                id,
            )
            .unwrap()
        };
        let (a, b) = (sense(first, 1), sense(second, 2));
        for cw in 0..16 {
            let (a, b) = (a.codeword_weight(cw) as f64, b.codeword_weight(cw) as f64);
            model_joint.add(a, b, limit_a, limit_b);
        }
    }
    (cells, model_joint)
}

#[test]
fn model_two_senses_agree_with_every_cell_drawn() {
    let m = medium();
    let block = m.programmed(CellMode::Qlc, 2500, 0, Ns::ZERO);
    let now = Ns::from_h(28);
    let best = m.nominal_optimum(&block, now).unwrap();
    let moved = |d: i8| {
        let mut l = best;
        l.iter_mut().for_each(|x| *x += d);
        l
    };
    for (name, page, first, second) in [
        ("LSB, same levels at the optimum", 0, best, best),
        ("TSB, same levels 25 mV off", 3, moved(5), moved(5)),
        ("CSB, 20 mV off and 15 mV off", 1, moved(4), moved(3)),
        ("MSB, 20 mV off and at the optimum", 2, moved(4), best),
        ("MSB, 15 mV low and 15 mV high", 2, moved(-3), moved(3)),
    ] {
        let (cells, model) = both(&m, &block, now, page, first, second, 40);
        println!(
            "{name}: mean {:.2} ({:.2}), variance {:.1} ({:.1}), P(fail) {:.3} ({:.3}), correlation \
             {:.3} ({:.3}), P(second fails | first failed) {:.3} ({:.3})",
            model.mean(),
            cells.mean(),
            model.variance(),
            cells.variance(),
            model.marginal(),
            cells.marginal(),
            model.correlation(),
            cells.correlation(),
            model.conditional(),
            cells.conditional(),
        );
        // 640 codewords of the reference: three standard errors and a little.
        let se = (cells.variance() / cells.n).sqrt();
        assert!(
            (model.mean() - cells.mean()).abs() < 3.5 * se + 0.01 * cells.mean(),
            "{name}: mean"
        );
        assert!(
            (model.variance() / cells.variance() - 1.0).abs() < 0.2,
            "{name}: variance"
        );
        assert!(
            (model.marginal() - cells.marginal()).abs() < 0.07,
            "{name}: tail"
        );
        assert!(
            (model.correlation() - cells.correlation()).abs() < 0.12,
            "{name}: correlation"
        );
        assert!(
            (model.conditional() - cells.conditional()).abs() < 0.12,
            "{name}: conditional"
        );
    }
}

#[test]
fn model_ones_counts_follow_the_cells() {
    let m = medium();
    let block = m.programmed(CellMode::Qlc, 300, 7, Ns::ZERO);
    let now = Ns::from_h(10);
    let at = PageAddr {
        die: DieId(0),
        block: SuperblockId(1),
        wordline: 100,
        page: PageType(0),
    };
    let g = Gaussian::new();
    let states = m.states(at, 0, &block, now).unwrap();
    let pages = &m.chip().mode(CellMode::Qlc).unwrap().pages;
    let model = m.model(CellMode::Qlc).unwrap();
    let noise = m.chip().sensing.noise_mv;
    let (mut worst, mut differences) = (0.0f64, [Vec::new(), Vec::new()]);
    for version in 0..30 {
        let key = Stream::new(4).at(version);
        let cells = Cells::draw(&g, CellMode::Qlc, pages, &states, noise, CELLS, key);
        let state = BlockState {
            version: version as u32,
            ..block
        };
        let mut counts = [[0.0; 3]; 2];
        for (i, offset) in [-16i8, 0, 16].into_iter().enumerate() {
            let (ones, n) = m
                .ones_count(at, 0, &state, now, 7, offset, i as u64)
                .unwrap();
            assert_eq!(n as usize, CELLS);
            let level = model.default_mv[6] + 5.0 * offset as f64;
            counts[0][i] = ones as f64;
            counts[1][i] = cells.ones_count(&g, level, key.at(i as u64)) as f64;
            worst = worst.max((counts[0][i] - counts[1][i]).abs());
        }
        for (d, c) in differences.iter_mut().zip(counts) {
            d.push((c[1] - c[0], c[2] - c[1]));
        }
    }
    // Random data: a count of 147,456 cells has a deviation of 190.
    assert!(
        worst < 6.0 * 2f64.sqrt() * 190.0,
        "counts differ by {worst}"
    );
    let mean =
        |d: &[(f64, f64)], f: fn(&(f64, f64)) -> f64| d.iter().map(f).sum::<f64>() / d.len() as f64;
    for f in [|d: &(f64, f64)| d.0, |d: &(f64, f64)| d.1] {
        let (a, b) = (mean(&differences[0], f), mean(&differences[1], f));
        println!("cells between two levels: {a:.0} ({b:.0})");
        assert!(
            (a / b - 1.0).abs() < 0.05 || (a - b).abs() < 20.0,
            "{a} against {b}"
        );
    }
}

#[test]
fn model_soft_classes_follow_the_cells() {
    let m = medium();
    let block = m.programmed(CellMode::Qlc, 2500, 0, Ns::ZERO);
    let now = Ns::from_h(28);
    let best = m.nominal_optimum(&block, now).unwrap();
    let at = PageAddr {
        die: DieId(2),
        block: SuperblockId(9),
        wordline: 300,
        page: PageType(3),
    };
    let g = Gaussian::new();
    let states = m.states(at, 0, &block, now).unwrap();
    let model = m.model(CellMode::Qlc).unwrap();
    let chip = m.chip().mode(CellMode::Qlc).unwrap();
    let (mut sums, n) = ([[[0.0f64; 3]; 2]; 2], 480.0);
    for version in 0..30u32 {
        let key = Stream::new(8).at(version as u64);
        let cells = Cells::draw(&g, CellMode::Qlc, &chip.pages, &states, 0.0, CELLS, key);
        let state = BlockState { version, ..block };
        let levels = ReadLevels::Offsets(best);
        let soft = m
            .sense_soft(
                at,
                0,
                &state,
                now,
                &levels,
                SoftLevels::Five,
                SenseTiming::DEFAULT,
                1,
            )
            .unwrap();
        for cw in 0..16 {
            let w = soft.codeword(cw as u32);
            assert_eq!(w.bits.iter().sum::<u32>(), CODEWORD as u32);
            let range = cw * CODEWORD..(cw + 1) * CODEWORD;
            let (errors, bits) = cells.soft(
                &chip.pages[3],
                &m.levels_mv(model, &best),
                model.soft_spacing_mv,
                2,
                range,
            );
            for c in 0..3 {
                sums[0][0][c] += w.errors[c] as f64 / n;
                sums[0][1][c] += w.bits[c] as f64 / n;
                sums[1][0][c] += errors[c] as f64 / n;
                sums[1][1][c] += bits[c] as f64 / n;
            }
        }
    }
    println!("errors by class {:.2?} ({:.2?})", sums[0][0], sums[1][0]);
    println!("bits by class {:.1?} ({:.1?})", sums[0][1], sums[1][1]);
    for (medium, cells) in sums[0].iter().zip(&sums[1]) {
        for (c, (a, b)) in medium.iter().zip(cells).enumerate() {
            assert!((a - b).abs() < 0.08 * b + 0.5, "class {c}: {a} against {b}");
        }
    }
}

/// Millions of reads lift the erased state over the first levels, beyond its own neighbour too.
#[test]
fn model_disturbed_pages_follow_the_cells() {
    let m = medium();
    let block = BlockState {
        reads: 2e6,
        ..m.programmed(CellMode::Qlc, 1500, 3, Ns::ZERO)
    };
    let now = Ns::from_h(1);
    let g = Gaussian::new();
    let chip = m.chip().mode(CellMode::Qlc).unwrap();
    let model = m.model(CellMode::Qlc).unwrap();
    for page in 0..4 {
        let at = PageAddr {
            die: DieId(0),
            block: SuperblockId(2),
            wordline: 50,
            page: PageType(page),
        };
        let states = m.states(at, 0, &block, now).unwrap();
        let levels = model.default_mv;
        let mut errors = 0;
        for i in 0..10u64 {
            let key = Stream::new(21).at(i);
            let cells = Cells::draw(&g, CellMode::Qlc, &chip.pages, &states, 0.0, CELLS, key);
            errors += cells.errors(&g, PageType(page), &levels, CELLS, key.at(1))[0];
        }
        let expected = errors as f64 / (10 * CELLS) as f64;
        let default = ReadLevels::Offsets([0; 15]);
        let got = m.page_rber(at, 0, &block, now, &default).unwrap();
        println!("page {page}: {got:.3e} ({expected:.3e})");
        assert!(
            (got / expected - 1.0).abs() < 0.12,
            "page {page}: {got:e} against {expected:e}"
        );
    }
}

/// The far tail, where first reads fail: codewords of one page against the Poisson distribution that
/// cells drawn one by one follow.
#[test]
fn model_codeword_tail_is_that_of_its_rate() {
    let m = medium();
    let block = m.programmed(CellMode::Qlc, 2500, 0, Ns::ZERO);
    let now = Ns::from_h(28);
    let levels = ReadLevels::Offsets(m.nominal_optimum(&block, now).unwrap());
    let at = PageAddr {
        die: DieId(3),
        block: SuperblockId(5),
        wordline: 1300,
        page: PageType(1),
    };
    let n = 40_000u32;
    let mut counts = vec![0u32; 400];
    let mut rber = 0.0;
    for version in 0..n {
        let state = BlockState { version, ..block };
        let id = version as u64;
        let s = m
            .sense(at, 0, &state, now, &levels, SenseTiming::DEFAULT, id)
            .unwrap();
        rber = s.rber();
        for cw in 0..16 {
            counts[(s.codeword_weight(cw) as usize).min(399)] += 1;
        }
    }
    let (mean, all) = (rber * CODEWORD as f64, 16.0 * n as f64);
    for sigmas in [1.0, 2.0, 3.0, 4.0] {
        let limit = (mean + sigmas * mean.sqrt()) as u32;
        let beyond: u32 = counts[limit as usize + 1..].iter().sum();
        let expected = firstread_nand::poisson::exceeds(&Gaussian::new(), mean, limit);
        let got = beyond as f64 / all;
        println!("mean {mean:.1}, above {limit}: {got:.2e} ({expected:.2e})");
        // A tenth for the approximations, and four standard errors.
        let band = 0.1 * expected + 4.0 * (expected / all).sqrt();
        assert!(
            (got - expected).abs() < band,
            "above {limit}: {got:e} against {expected:e}"
        );
    }
}
