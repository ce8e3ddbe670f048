//! Several senses of the same cells: the medium against every cell of a wordline drawn one by one, and what
//! a decoder makes of them.

use firstread_core::{CellMode, DieId, PageAddr, PageType, SenseTiming, Stream, SuperblockId};
use firstread_ecc::Code;
use firstread_ecc::ldpc::{Decoder, Encoder, Ldpc, Reliability};
use firstread_nand::gaussian::Gaussian;
use firstread_nand::monte_carlo::Cells;
use firstread_nand::{BlockState, ReadLevels};

use super::population::{Aged, chip, hours};
use super::section::{Effort, Result};

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
        block: SuperblockId(3),
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

/// Codewords that failed under which of three vectors of levels: bit `i` of the index is vector `i`.
#[derive(Clone, Copy, Debug, Default)]
pub struct JointOutcomes([u32; 8]);

impl JointOutcomes {
    fn with(&self, vectors: usize) -> f64 {
        let of = (0..8).filter(|f| f & vectors == vectors);
        f64::from(of.map(|f| self.0[f]).sum::<u32>())
    }
    /// Share of codewords that failed under all of `vectors` (a bit each).
    pub fn failed(&self, vectors: usize) -> f64 {
        self.with(vectors) / self.with(0).max(1.0)
    }
    /// Of those that failed under all of `given`, the share that failed under all of `vectors`.
    pub fn given(&self, given: usize, vectors: usize) -> f64 {
        self.with(given | vectors) / self.with(given).max(1.0)
    }
}

/// Levels of one sense.
#[derive(Clone, Copy, Debug)]
enum Vector {
    /// So far above the best levels that codewords are marginal.
    High,
    /// So far below.
    Low,
    /// So many DAC units off the best levels.
    Best(i8),
    /// Those that are best at another age (h).
    Aged(f64),
}

/// Three senses of one page.
#[derive(Clone, Copy, Debug)]
pub struct Marginal {
    /// What the vectors are.
    pub what: &'static str,
    page: u8,
    /// Worn until codewords are marginal at the best levels; otherwise 2,500 P/E.
    worn: bool,
    vectors: [Vector; 3],
}

/// Hours of the age at which the levels are sensed.
const NOW_H: f64 = 28.0;

/// Raw bit error rate of the sense at which codewords of `ldpc-1k` are marginal: one in seven fails.
const KNEE: f64 = 0.0082;

/// Three senses at the same levels, on both sides of the best ones, around them, and at entries of a table.
pub const MARGINAL: [Marginal; 6] = [
    Marginal {
        what: "TSB, thrice above the best levels",
        page: 3,
        worn: false,
        vectors: [Vector::High; 3],
    },
    Marginal {
        what: "CSB, thrice above the best levels",
        page: 1,
        worn: false,
        vectors: [Vector::High; 3],
    },
    Marginal {
        what: "TSB, above, below, above the best levels",
        page: 3,
        worn: false,
        vectors: [Vector::High, Vector::Low, Vector::High],
    },
    Marginal {
        what: "TSB, worn: at the best levels, 10 mV above, 10 mV below",
        page: 3,
        worn: true,
        vectors: [Vector::Best(0), Vector::Best(2), Vector::Best(-2)],
    },
    Marginal {
        what: "CSB, worn: at the best levels, 10 mV above, 10 mV below",
        page: 1,
        worn: true,
        vectors: [Vector::Best(0), Vector::Best(2), Vector::Best(-2)],
    },
    Marginal {
        what: "TSB, worn: at the levels that are best at 28, 14 and 56 h",
        page: 3,
        worn: true,
        vectors: [Vector::Best(0), Vector::Aged(14.0), Vector::Aged(56.0)],
    },
];

/// Mean raw bit error rate of page `at` at `levels`.
fn rber(a: &Aged, block: &BlockState, at: PageAddr, levels: [i8; 15]) -> Result<f64> {
    let levels = ReadLevels::Offsets(levels);
    let rber = a.medium.page_rber(at, 0, block, a.now, &levels);
    rber.map_err(|e| e.to_string())
}

/// The blocks of `a`, worn until page `at` has an error rate of `target` at the best levels.
pub fn worn_until(a: &Aged, at: PageAddr, target: f64) -> Result<BlockState> {
    let mut block = a.block;
    for pe_cycles in (500..20_000).step_by(50) {
        block.pe_cycles = pe_cycles;
        let best = a.medium.nominal_optimum(&block, a.now);
        let best = best.map_err(|e| e.to_string())?;
        if rber(a, &block, at, best)? >= target {
            break;
        }
    }
    Ok(block)
}

/// How far off the best levels (DAC units) page `at` has an error rate of `target`, on the side of `sign`.
pub fn moved_until(a: &Aged, at: PageAddr, target: f64, sign: i8) -> Result<i8> {
    let best = a.medium.nominal_optimum(&a.block, a.now);
    let best = best.map_err(|e| e.to_string())?;
    for by in 0..60 {
        let levels = best.map(|x| x.saturating_add(sign * by));
        if rber(a, &a.block, at, levels)? >= target {
            return Ok(sign * by);
        }
    }
    Err("no offset makes codewords marginal".into())
}

/// Joint outcomes of codewords under the three vectors of `case`, of the medium and of cells whose errors the decoder
/// of `ldpc-1k` is given.
pub fn joint_outcomes(case: &Marginal, wordlines: u32) -> Result<(JointOutcomes, JointOutcomes)> {
    let name = "ldpc-1k";
    let text = |e: firstread_nand::SenseError| e.to_string();
    let mut a = Aged::new(&chip("ct-qlc-176l")?, CellMode::Qlc, 2500, NOW_H, 55.0)?;
    let code = Code::named(name).map_err(|e| e.to_string())?;
    let ldpc = Ldpc::named(name).ok_or("no such decoder")?;
    let page = PageType(case.page);
    let at = PageAddr {
        die: DieId(1),
        block: SuperblockId(3),
        wordline: 700,
        page,
    };
    if case.worn {
        a.block = worn_until(&a, at, KNEE)?;
    }
    let best = a.medium.nominal_optimum(&a.block, a.now).map_err(text)?;
    let moved = |by: i8| best.map(|x| x.saturating_add(by));
    let mut vectors = [[0; 15]; 3];
    for (levels, vector) in vectors.iter_mut().zip(case.vectors) {
        *levels = match vector {
            Vector::High => moved(moved_until(&a, at, KNEE, 1)?),
            Vector::Low => moved(moved_until(&a, at, KNEE, -1)?),
            Vector::Best(by) => moved(by),
            Vector::Aged(h) => a.medium.nominal_optimum(&a.block, hours(h)).map_err(text)?,
        };
    }
    let states = a.medium.states(at, 0, &a.block, a.now).map_err(text)?;
    let model = a.medium.model(CellMode::Qlc).map_err(text)?;
    let mode = a.medium.chip().mode(CellMode::Qlc).ok_or("no QLC mode")?;
    let noise_mv = a.medium.chip().sensing.noise_mv;
    let g = Gaussian::new();

    let (encoder, mut decoder) = (Encoder::new(&ldpc), Decoder::new(&ldpc));
    let mut cells = JointOutcomes::default();
    for version in 0..wordlines {
        let key = Stream::new(99).at(u64::from(version));
        let drawn = Cells::draw(
            &g,
            CellMode::Qlc,
            &mode.pages,
            &states,
            noise_mv,
            CELLS,
            key,
        );
        let mut sense = 0;
        let wrong = vectors.map(|levels| {
            sense += 1;
            let levels = a.medium.levels_mv(model, &levels);
            drawn.wrong(&g, page, &levels, key.named("sense").at(sense))
        });
        let mut sent = vec![0; ldpc.codeword_words()];
        for (bits, i) in sent.iter_mut().zip(0..) {
            *bits = key.named("sent").draw(i);
        }
        encoder.encode(&mut sent);
        for codeword in 0..CELLS / CODEWORD {
            let words = codeword * CODEWORD / 64..(codeword + 1) * CODEWORD / 64;
            let mut failed = 0;
            for (i, wrong) in wrong.iter().enumerate() {
                let wrong = &wrong[words.clone()];
                let mut word: Vec<u64> = sent.iter().zip(wrong).map(|(a, b)| a ^ b).collect();
                let decode = decoder.decode(&mut word, Reliability::Hard);
                failed |= usize::from(!decode.ok || word != sent) << i;
            }
            cells.0[failed] += 1;
        }
    }

    let mut medium = JointOutcomes::default();
    for version in 0..20 * wordlines {
        let block = BlockState { version, ..a.block };
        let mut senses = Vec::new();
        for (levels, id) in vectors.into_iter().zip(1..) {
            let levels = ReadLevels::Offsets(levels);
            let timing = SenseTiming::DEFAULT;
            let sense = a.medium.sense(at, 0, &block, a.now, &levels, timing, id);
            senses.push(sense.map_err(text)?);
        }
        for codeword in 0..(CELLS / CODEWORD) as u32 {
            let mut failed = 0;
            for (i, sense) in senses.iter().enumerate() {
                let weight = u32::from(sense.codeword_weight(codeword));
                let draw = sense.four_draws(codeword)[codeword as usize % 4];
                let verdict = code.judge(weight, draw, || sense.persistent_draw(codeword));
                failed |= usize::from(!verdict.ok) << i;
            }
            medium.0[failed] += 1;
        }
    }
    Ok((medium, cells))
}

/// How often marginal codewords fail again.
pub fn joint_outcomes_table(effort: Effort) -> Result<String> {
    let wordlines = effort.of(300);
    let mut out = format!(
        "Medium (cells, decoded): 28 h at 55 °C, 2,500 P/E where not worn; {} codewords of \
         `ldpc-1k` by cells, {} by the medium.\n\n\
         | three senses | P(1 fails) | P(2 fails) | P(3 fails) | P(2 fails, given 1) | P(3 fails, given 1) | \
         P(all fail) |\n|---|---|---|---|---|---|---|\n",
        wordlines * 16,
        wordlines * 320,
    );
    for case in &MARGINAL {
        let (m, c) = joint_outcomes(case, wordlines)?;
        let each = [
            (m.failed(1), c.failed(1)),
            (m.failed(2), c.failed(2)),
            (m.failed(4), c.failed(4)),
            (m.given(1, 2), c.given(1, 2)),
            (m.given(1, 4), c.given(1, 4)),
            (m.failed(7), c.failed(7)),
        ];
        out += &format!("| {}", case.what);
        for (medium, cells) in each {
            out += &format!(" | {medium:.3} ({cells:.3})");
        }
        out += " |\n";
    }
    Ok(out)
}
