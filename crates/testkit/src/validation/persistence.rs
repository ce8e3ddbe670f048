//! Two senses of the same cells: the medium against every cell of a wordline drawn one by one.

use firstread_core::{BlockId, CellMode, DieId, PageAddr, PageType, SenseTiming, Stream};
use firstread_nand::gaussian::Gaussian;
use firstread_nand::monte_carlo::Cells;
use firstread_nand::{BlockState, ReadLevels};

use super::population::{Aged, chip};
use super::{Effort, Result};

/// Cells of a wordline of one plane, and of a 1 KiB codeword with parity.
const CELLS: usize = 147_456;
const CODEWORD: usize = 9_216;

/// Moments of pairs of counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joint {
    n: f64,
    a: f64,
    b: f64,
    aa: f64,
    bb: f64,
    ab: f64,
    failed: f64,
    both: f64,
}

impl Joint {
    fn add(&mut self, a: f64, b: f64, limits: (f64, f64)) {
        self.n += 1.0;
        self.a += a;
        self.b += b;
        self.aa += a * a;
        self.bb += b * b;
        self.ab += a * b;
        self.failed += f64::from(u8::from(a > limits.0));
        self.both += f64::from(u8::from(a > limits.0 && b > limits.1));
    }
    /// Mean of the first count.
    pub fn mean(&self) -> f64 {
        self.a / self.n
    }
    /// Variance of the first count.
    pub fn variance(&self) -> f64 {
        self.aa / self.n - self.mean() * self.mean()
    }
    /// Correlation of the two.
    pub fn correlation(&self) -> f64 {
        let (a, b) = (self.mean(), self.b / self.n);
        (self.ab / self.n - a * b) / libm::sqrt(self.variance() * (self.bb / self.n - b * b))
    }
    /// `P(first fails)`.
    pub fn fails(&self) -> f64 {
        self.failed / self.n
    }
    /// `P(second fails | first failed)`.
    pub fn again(&self) -> f64 {
        self.both / self.failed.max(1.0)
    }
}

/// Offsets (DAC units) of two senses from the nominal best levels, and the page type.
type Case = (&'static str, u8, i8, i8);

const CASES: [Case; 5] = [
    ("LSB, twice at the best levels", 0, 0, 0),
    ("TSB, twice 25 mV off", 3, 5, 5),
    ("CSB, 20 mV off, then 15 mV off", 1, 4, 3),
    ("MSB, 20 mV off, then at the best", 2, 4, 0),
    ("MSB, 15 mV low, then 15 mV high", 2, -3, 3),
];

/// Codewords of one page sensed twice: by the medium, and by cells.
fn both(a: &Aged, case: Case, wordlines: u32) -> Result<(Joint, Joint)> {
    let (_, page, first, second) = case;
    let at = PageAddr {
        die: DieId(1),
        block: BlockId(3),
        wordline: 700,
        page: PageType(page),
    };
    let text = |e: firstread_nand::SenseError| e.to_string();
    let best = a.medium.nominal_optimum(&a.block, a.now).map_err(text)?;
    let moved = |d: i8| best.map(|x| x.saturating_add(d));
    let (first, second) = (moved(first), moved(second));
    let states = a.medium.states(at, 0, &a.block, a.now).map_err(text)?;
    let model = a.medium.model(CellMode::Qlc).map_err(text)?;
    let pages = &a
        .medium
        .chip()
        .mode(CellMode::Qlc)
        .ok_or("no QLC mode")?
        .pages;
    let (la, lb) = (
        a.medium.levels_mv(model, &first),
        a.medium.levels_mv(model, &second),
    );
    let noise_mv = a.medium.chip().sensing.noise_mv;
    // Half a deviation above the mean: failures are common enough to count.
    let limit = |levels| -> Result<f64> {
        let r = a
            .medium
            .page_rber(at, 0, &a.block, a.now, &ReadLevels::Offsets(levels))
            .map_err(text)?;
        let mean = r * CODEWORD as f64;
        Ok(libm::floor(mean + 0.5 * libm::sqrt(mean)))
    };
    let limits = (limit(first)?, limit(second)?);
    let g = Gaussian::new();
    let (mut cells, mut medium) = (Joint::default(), Joint::default());
    for version in 0..wordlines {
        let key = Stream::new(99).at(version as u64);
        let c = Cells::draw(&g, CellMode::Qlc, pages, &states, noise_mv, CELLS, key);
        let x = c.errors(&g, PageType(page), &la, CODEWORD, key.named("first"));
        let y = c.errors(&g, PageType(page), &lb, CODEWORD, key.named("second"));
        for (x, y) in x.iter().zip(&y) {
            cells.add(*x as f64, *y as f64, limits);
        }
    }
    // The medium is cheap: so many more draws that only the reference's own noise is left.
    for version in 0..100 * wordlines {
        let block = BlockState { version, ..a.block };
        let sense = |levels, id| {
            a.medium
                .sense(
                    at,
                    0,
                    &block,
                    a.now,
                    &ReadLevels::Offsets(levels),
                    SenseTiming::DEFAULT,
                    id,
                )
                .map_err(text)
        };
        let (x, y) = (sense(first, 1)?, sense(second, 2)?);
        for cw in 0..16 {
            let (x, y) = (x.codeword_weight(cw) as f64, y.codeword_weight(cw) as f64);
            medium.add(x, y, limits);
        }
    }
    Ok((medium, cells))
}

/// The comparison.
pub fn table(effort: Effort) -> Result<String> {
    let a = Aged::new(&chip("ct-qlc-176l")?, CellMode::Qlc, 2500, 28.0, 55.0)?;
    let wordlines = effort.of(60);
    let mut out = format!(
        "Medium (cells): one wordline, 28 h at 55 °C, 2,500 P/E; {} codewords of {CODEWORD} bits by \
         cells, {} by the medium; a codeword fails half a standard deviation above its mean.\n\n\
         | senses | mean errors | variance | P(first fails) | correlation | P(second fails, given the \
         first) |\n|---|---|---|---|---|---|\n",
        wordlines * 16,
        wordlines * 1600,
    );
    for case in CASES {
        let (m, c) = both(&a, case, wordlines)?;
        out += &format!(
            "| {} | {:.2} ({:.2}) | {:.1} ({:.1}) | {:.3} ({:.3}) | {:.3} ({:.3}) | {:.3} ({:.3}) |\n",
            case.0,
            m.mean(),
            c.mean(),
            m.variance(),
            c.variance(),
            m.fails(),
            c.fails(),
            m.correlation(),
            c.correlation(),
            m.again(),
            c.again(),
        );
    }
    Ok(out)
}
