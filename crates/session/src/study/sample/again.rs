//! Several senses of the same cells: the medium against every cell of a wordline drawn one by one, whose errors a decoder
//! is given.

use firstread_core::{DieId, Ns, PageAddr, PageType, SenseTiming, Stream, SuperblockId};
use firstread_ecc::SoftWeights;
use firstread_ecc::ldpc::{Decoder, Encoder, Ldpc, Reliability};
use firstread_ecc::measure::Trial;
use firstread_nand::gaussian::Gaussian;
use firstread_nand::monte_carlo::Cells;
use firstread_nand::{BlockState, ReadLevels, SoftLevels};

use super::codes::code;
use super::pages::{Aged, Sample};
use crate::error::Error;

/// Cells of a wordline of one plane, and of a 1 KiB codeword with parity.
const CELLS: usize = 147_456;
const CODEWORD: usize = 9_216;
const CODEWORDS: usize = CELLS / CODEWORD;

/// Draws of the medium, which are cheap, for each of cells.
const MEDIUM: u32 = 20;

/// Raw bit error rate of the sense at which codewords of `ldpc-1k` are marginal: one in seven fails.
const KNEE: f64 = 0.0082;

/// Of what a share is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    /// The medium that drives have.
    Medium,
    /// Cells drawn one by one.
    Cells,
}

/// Levels of one sense.
#[derive(Clone, Copy, Debug)]
pub enum Vector {
    /// So far above the best levels that codewords are marginal.
    High,
    /// So far below.
    Low,
    /// So many DAC units off the best levels.
    Best(i8),
    /// Those that are best at another age (h).
    Aged(u64),
}

/// Three senses of one page.
#[derive(Clone, Copy, Debug)]
pub struct Marginal {
    page: u8,
    /// Worn until codewords are marginal at the best levels; otherwise as the point has it.
    worn: bool,
    vectors: [Vector; 3],
}

const fn marginal(page: u8, worn: bool, vectors: [Vector; 3]) -> Marginal {
    Marginal {
        page,
        worn,
        vectors,
    }
}

/// Three senses at the same levels, on both sides of the best ones, around them, and at entries of a table.
pub const SAME: Marginal = marginal(3, false, [Vector::High; 3]);
pub const SAME_OF_CSB: Marginal = marginal(1, false, [Vector::High; 3]);
pub const SIDES: Marginal = marginal(3, false, [Vector::High, Vector::Low, Vector::High]);
const ABOUT: [Vector; 3] = [Vector::Best(0), Vector::Best(2), Vector::Best(-2)];
pub const WORN: Marginal = marginal(3, true, ABOUT);
pub const WORN_CSB: Marginal = marginal(1, true, ABOUT);
const ENTRIES: [Vector; 3] = [Vector::Best(0), Vector::Aged(14), Vector::Aged(56)];
pub const WORN_ENTRIES: Marginal = marginal(3, true, ENTRIES);

/// The page that is sensed.
fn page_at(page: u8) -> PageAddr {
    PageAddr {
        die: DieId(1),
        block: SuperblockId(3),
        wordline: 700,
        page: PageType(page),
    }
}

/// Mean raw bit error rate of page `at` at `levels`.
fn rber(aged: &Aged, block: &BlockState, at: PageAddr, levels: [i8; 15]) -> Result<f64, Error> {
    let levels = ReadLevels::Offsets(levels);
    Ok(aged.medium.page_rber(at, 0, block, aged.now, &levels)?)
}

/// The blocks of `aged`, worn until page `at` has an error rate of `target` at the best levels.
fn worn_until(aged: &Aged, at: PageAddr, target: f64) -> Result<BlockState, Error> {
    let mut block = aged.block;
    for pe_cycles in (500..20_000).step_by(50) {
        block.pe_cycles = pe_cycles;
        let best = aged.medium.nominal_optimum(&block, aged.now)?;
        if rber(aged, &block, at, best)? >= target {
            break;
        }
    }
    Ok(block)
}

/// How far off the best levels (DAC units) page `at` has an error rate of `target`, on the side of `sign`. None where no
/// offset has.
fn moved_until(aged: &Aged, at: PageAddr, target: f64, sign: i8) -> Result<Option<i8>, Error> {
    let best = aged.medium.nominal_optimum(&aged.block, aged.now)?;
    for by in 0..60 {
        let levels = best.map(|x| x.saturating_add(sign * by));
        if rber(aged, &aged.block, at, levels)? >= target {
            return Ok(Some(sign * by));
        }
    }
    Ok(None)
}

/// Codewords that failed under which of three vectors of levels: bit `i` of the index is vector `i`.
#[derive(Clone, Copy, Debug, Default)]
struct Outcomes([u32; 8]);

impl Outcomes {
    fn with(&self, vectors: usize) -> f64 {
        let of = (0..8).filter(|f| f & vectors == vectors);
        f64::from(of.map(|f| self.0[f]).sum::<u32>())
    }
}

/// Of codewords that failed under the vectors of `given` (a bit each), the share that failed under all of `vectors`, of
/// the sample's wordlines. None of a drive whose code is not `ldpc-1k` or whose mode lacks the page.
pub fn failed_again(
    sample: &Sample,
    case: Marginal,
    of: Of,
    given: usize,
    vectors: usize,
) -> Result<Option<f64>, Error> {
    let outcomes = outcomes(sample, case, of)?;
    Ok(outcomes.map(|all| all.with(given | vectors) / all.with(given).max(1.0)))
}

/// The drive in the state in which it is sensed, and the levels of the three senses.
type Sensed = (Aged, [[i8; 15]; 3]);

/// What the senses of `case` are of. None where no levels make codewords marginal.
fn sensed(sample: &Sample, case: Marginal) -> Result<Option<Sensed>, Error> {
    let at = page_at(case.page);
    let mut aged = sample.aged(sample.age)?;
    aged.medium.set_codeword_bits(CODEWORD as u32);
    if case.worn {
        aged.block = worn_until(&aged, at, KNEE)?;
    }
    let best = aged.medium.nominal_optimum(&aged.block, aged.now)?;
    let moved = |by: i8| best.map(|x| x.saturating_add(by));
    let mut vectors = [[0; 15]; 3];
    for (levels, vector) in vectors.iter_mut().zip(case.vectors) {
        let marginal = |sign| moved_until(&aged, at, KNEE, sign);
        let by = match vector {
            Vector::High => marginal(1)?,
            Vector::Low => marginal(-1)?,
            Vector::Best(by) => Some(by),
            Vector::Aged(h) => {
                *levels = aged.medium.nominal_optimum(&aged.block, Ns::from_h(h))?;
                continue;
            }
        };
        let Some(by) = by else { return Ok(None) };
        *levels = moved(by);
    }
    Ok(Some((aged, vectors)))
}

fn outcomes(sample: &Sample, case: Marginal, of: Of) -> Result<Option<Outcomes>, Error> {
    let code = code(sample)?;
    let ldpc = Ldpc::named(code.name()).filter(|_| code.codeword_bits() as usize == CODEWORD);
    let mode = sample.mode();
    let (Some(ldpc), true) = (ldpc, mode.bits() > case.page) else {
        return Ok(None);
    };
    let Some((aged, vectors)) = sensed(sample, case)? else {
        return Ok(None);
    };
    let at = page_at(case.page);
    let mut outcomes = Outcomes::default();
    if of == Of::Medium {
        for version in 0..MEDIUM * sample.n {
            let block = BlockState {
                version,
                ..aged.block
            };
            let mut senses = Vec::new();
            for (levels, id) in vectors.into_iter().zip(1..) {
                let levels = ReadLevels::Offsets(levels);
                let timing = SenseTiming::DEFAULT;
                let sense = aged
                    .medium
                    .sense(at, 0, &block, aged.now, &levels, timing, id);
                senses.push(sense?);
            }
            for codeword in 0..CODEWORDS as u32 {
                let mut failed = 0;
                for (i, sense) in senses.iter().enumerate() {
                    let weight = u32::from(sense.codeword_weight(codeword));
                    let draw = sense.four_draws(codeword)[codeword as usize % 4];
                    let verdict = code.judge(weight, draw, || sense.persistent_draw(codeword));
                    failed |= usize::from(!verdict.ok) << i;
                }
                outcomes.0[failed] += 1;
            }
        }
        return Ok(Some(outcomes));
    }
    let states = aged.medium.states(at, 0, &aged.block, aged.now)?;
    let model = aged.medium.model(mode)?;
    let chip = aged.medium.chip();
    let Some(of_mode) = chip.mode(mode) else {
        return Ok(None);
    };
    let (pages, noise_mv) = (&of_mode.pages, chip.sensing.noise_mv);
    let gaussian = Gaussian::new();
    let (encoder, mut decoder) = (Encoder::new(&ldpc), Decoder::new(&ldpc));
    for version in 0..sample.n {
        let key = Stream::new(98 + sample.seed).at(u64::from(version));
        let drawn = Cells::draw(&gaussian, mode, pages, &states, noise_mv, CELLS, key);
        let mut sense = 0;
        let wrong = vectors.map(|levels| {
            sense += 1;
            let levels = aged.medium.levels_mv(model, &levels);
            drawn.wrong(&gaussian, at.page, &levels, key.named("sense").at(sense))
        });
        let mut sent = vec![0; ldpc.codeword_words()];
        for (bits, i) in sent.iter_mut().zip(0..) {
            *bits = key.named("sent").draw(i);
        }
        encoder.encode(&mut sent);
        for codeword in 0..CODEWORDS {
            let words = codeword * CODEWORD / 64..(codeword + 1) * CODEWORD / 64;
            let mut failed = 0;
            for (i, wrong) in wrong.iter().enumerate() {
                let wrong = &wrong[words.clone()];
                let mut word: Vec<u64> = sent.iter().zip(wrong).map(|(a, b)| a ^ b).collect();
                let decode = decoder.decode(&mut word, Reliability::Hard);
                failed |= usize::from(!decode.ok || word != sent) << i;
            }
            outcomes.0[failed] += 1;
        }
    }
    Ok(Some(outcomes))
}

/// A soft read of one page: senses, whether its centre is the best level of worn cells or off that of others, and the raw
/// bit error rate there in units of 1e-4.
#[derive(Clone, Copy, Debug)]
pub struct SoftRead {
    pub senses: SoftLevels,
    pub worn: bool,
    pub rber: u32,
}

/// Share of codewords that fail in the soft read, of the sample's wordlines. None of a drive whose code is not `ldpc-1k`
/// or whose mode lacks the page.
pub fn soft_failed(sample: &Sample, read: SoftRead, of: Of) -> Result<Option<f64>, Error> {
    let code = code(sample)?;
    let ldpc = Ldpc::named(code.name()).filter(|_| code.codeword_bits() as usize == CODEWORD);
    let (mode, at) = (sample.mode(), page_at(3));
    let (Some(ldpc), true) = (ldpc, mode.bits() > 3) else {
        return Ok(None);
    };
    let mut aged = sample.aged(sample.age)?;
    aged.medium.set_codeword_bits(CODEWORD as u32);
    let target = f64::from(read.rber) * 1e-4;
    let mut moved = 0;
    match read.worn {
        true => aged.block = worn_until(&aged, at, target)?,
        false => match moved_until(&aged, at, target, 1)? {
            Some(by) => moved = by,
            None => return Ok(None),
        },
    }
    let best = aged.medium.nominal_optimum(&aged.block, aged.now)?;
    let offsets = best.map(|x| x.saturating_add(moved));
    if of == Of::Medium {
        let (mut sum, mut drawn) = (0.0, 0);
        for version in 0..MEDIUM * sample.n {
            let block = BlockState {
                version,
                ..aged.block
            };
            let (levels, timing) = (ReadLevels::Offsets(offsets), SenseTiming::DEFAULT);
            let medium = &aged.medium;
            let sense =
                medium.sense_soft(at, 0, &block, aged.now, &levels, read.senses, timing, 1)?;
            for codeword in 0..CODEWORDS as u32 {
                let w = sense.codeword(codeword);
                let weights = SoftWeights {
                    classes: w.classes,
                    errors: w.errors,
                    bits: w.bits,
                };
                sum += code.soft_failure_probability(&weights);
                drawn += 1;
            }
        }
        return Ok(Some(sum / f64::from(drawn)));
    }
    let states = aged.medium.states(at, 0, &aged.block, aged.now)?;
    let model = aged.medium.model(mode)?;
    let Some(of_mode) = aged.medium.chip().mode(mode) else {
        return Ok(None);
    };
    let levels_mv = aged.medium.levels_mv(model, &offsets);
    let reach = read.senses.senses() as usize / 2;
    let gaussian = Gaussian::new();
    let mut trial = Trial::new(&ldpc);
    let (mut failed, mut n) = (0, 0);
    for version in 0..sample.n {
        let key = Stream::new(30 + sample.seed).at(u64::from(version));
        // Senses of one soft read follow each other; their noise is left with the cells.
        let drawn = Cells::draw(&gaussian, mode, &of_mode.pages, &states, 0.0, CELLS, key);
        for codeword in 0..CODEWORDS {
            let (errors, bits) = drawn.soft(
                model.valleys(at.page),
                &levels_mv,
                model.soft_spacing_mv,
                reach,
                codeword * CODEWORD..(codeword + 1) * CODEWORD,
            );
            let weights = SoftWeights {
                classes: reach as u8 + 1,
                errors,
                bits,
            };
            let places = Stream::new(32).named("places");
            failed += trial.run(&weights, places, n..n + 1).failures();
            n += 1;
        }
    }
    Ok(Some(f64::from(failed) / f64::from(n)))
}
