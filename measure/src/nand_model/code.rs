//! The codes: where they fail, by raw bit error rate.

use firstread_core::{CellMode, DieId, PageAddr, PageType, SenseTiming, Stream, SuperblockId};
use firstread_ecc::ldpc::Ldpc;
use firstread_ecc::measure::{Trial, gaussian_weights, wilson};
use firstread_ecc::{Code, SoftWeights};
use firstread_nand::gaussian::Gaussian;
use firstread_nand::monte_carlo::Cells;
use firstread_nand::poisson::{Poisson, Quantiles};

use firstread_nand::{BlockState, ReadLevels, SoftLevels};

use super::persistence::{moved_until, worn_until};
use super::population::{Aged, chip};
use super::section::{Anchor, Effort, Format, Result};

/// Outer levels of the soft read: the chips' spacing, in standard deviations.
const SPACING: f64 = 0.43;

fn named(name: &str) -> Result<Code> {
    Code::named(name).map_err(|e| e.to_string())
}

/// The error rate at which `fer(rber)` reaches `target`.
fn knee(target: f64, fer: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (1e-4, 0.04);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if fer(middle) < target {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Frame error rate of a three-sense read over two Gaussian states, levels as far apart as the chips place them: the
/// class counts drawn as Poisson `draws` times, their failure integrated.
pub fn soft_fer(code: &Code, rber: f64, draws: u32) -> f64 {
    let mut sum = 0.0;
    soft_counts(code, rber, draws, |w, _| {
        sum += code.soft_failure_probability(&w);
    });
    sum / f64::from(draws)
}

/// The same with the decoder itself: failures of `draws` codewords.
fn decoded_soft_failures(name: &str, rber: f64, draws: u32) -> Result<u32> {
    let ldpc = Ldpc::named(name).ok_or("no decoder")?;
    let mut trial = Trial::new(&ldpc);
    let mut failures = 0;
    soft_counts(&named(name)?, rber, draws, |w, root| {
        failures += trial.run(&w, root.named("places"), 0..1).failures();
    });
    Ok(failures)
}

/// Class counts of three-sense reads at `rber`, drawn as Poisson, each with the stream it was drawn from.
fn soft_counts(code: &Code, rber: f64, draws: u32, mut each: impl FnMut(SoftWeights, Stream)) {
    let mean = gaussian_weights(code.codeword_bits(), rber, &[SPACING]);
    let (g, quantiles) = (Gaussian::new(), Quantiles::new());
    let of = |n: u32| Poisson::new(&quantiles, n as f32);
    let (strong, weak, right) = (
        of(mean.errors[0]),
        of(mean.errors[1]),
        of(mean.bits[1] - mean.errors[1]),
    );
    for i in 0..u64::from(draws) {
        let root = Stream::new(17).named("soft").at(i);
        let draw = |p: &Poisson, k: u64| p.quantile(g.of_bits(root.draw(k)) as f32);
        let mut w = SoftWeights {
            classes: 2,
            ..SoftWeights::default()
        };
        w.errors[0] = draw(&strong, 0);
        w.errors[1] = draw(&weak, 1);
        w.bits[1] = w.errors[1] + draw(&right, 2);
        w.bits[0] = code.codeword_bits() - w.bits[1];
        each(w, root);
    }
}

/// The anchors.
pub fn anchors(effort: Effort) -> Result<Vec<Anchor>> {
    let (t72, k1, k4) = (named("threshold")?, named("ldpc-1k")?, named("ldpc-4k")?);
    let draws = effort.of(4_000);
    let hard = |c: &Code, target| knee(target, |r| c.frame_error_rate(r));
    let soft = |c: &Code| knee(0.1, |r| soft_fer(c, r, draws));
    let rate = Format::Fixed(4, "");
    let iterations = |rber: f64| {
        k4.mean_iterations(libm::round(rber * k4.codeword_bits() as f64) as u32)
            .unwrap_or(f64::NAN)
    };
    let from_tables = "committed outcome tables mixed over binomial weights";
    Ok(vec![
        Anchor {
            what: "72 of 9,216 bits",
            published: "5.93e-3 for FER 1e-2 (binomial)",
            statistic: format!("RBER at FER 1e-2, threshold; {from_tables}"),
            band: (5.87e-3, 5.99e-3),
            value: hard(&t72, 1e-2),
            format: Format::Fixed(5, ""),
            why: "",
        },
        Anchor {
            what: "1 KiB, hard",
            published: "0.0068 at FER 1e-2 (prototype); 72 bits per 1 KiB ideal: 0.0067",
            statistic: format!("RBER at FER 1e-2, ldpc-1k; {from_tables}"),
            band: (0.0064, 0.0072),
            value: hard(&k1, 1e-2),
            format: rate,
            why: "",
        },
        Anchor {
            what: "4 KiB, hard",
            published: "0.0085 (RiF, HPCA'24, second-hand); 0.0085 to 0.009 (prototype)",
            statistic: format!("RBER at FER 0.1, ldpc-4k; {from_tables}"),
            band: (0.0080, 0.0090),
            value: hard(&k4, 0.1),
            format: rate,
            why: "",
        },
        Anchor {
            what: "1 KiB, three senses",
            published: "FER 0.04 at 0.013, 0.29 at 0.015 (prototype)",
            statistic: format!(
                "RBER at FER 0.1, levels {SPACING} σ apart; {draws} draws of class counts"
            ),
            band: (0.0128, 0.0148),
            value: soft(&k1),
            format: rate,
            why: SOFTER,
        },
        Anchor {
            what: "4 KiB, three senses",
            published: "FER 0 at 0.013, 0.07 at 0.015 (prototype)",
            statistic: format!(
                "RBER at FER 0.1, levels {SPACING} σ apart; {draws} draws of class counts"
            ),
            band: (0.0142, 0.0160),
            value: soft(&k4),
            format: rate,
            why: SOFTER,
        },
        Anchor {
            what: "iterations far from the knee",
            published: "3.0 at RBER 0.005 (prototype)",
            statistic: "mean iterations at the mean weight of RBER 0.005, ldpc-4k".into(),
            band: (2.0, 4.0),
            value: iterations(0.005),
            format: Format::Fixed(1, ""),
            why: "",
        },
        Anchor {
            what: "decode time grows towards the knee",
            published: "1 to 20 µs (RiF, second-hand)",
            statistic: "30 iterations of a failed decode over the mean at RBER 0.001, ldpc-4k"
                .into(),
            band: (10.0, 30.0),
            value: 30.0 / iterations(0.001),
            format: Format::Fixed(1, "×"),
            why: "",
        },
    ])
}

const SOFTER: &str = "the decoder is a little better than the prototype's, as in the hard reads too; it fails as \
    often as the table says (drawn counts above), and the prototype's points stem from 60 to 200 codewords each";

/// Error rates at frame error rates.
pub fn table(effort: Effort) -> Result<String> {
    let targets = [0.5, 1e-1, 1e-2, 1e-4, 1e-6, 1e-8];
    let mut out = String::from("| code");
    for t in targets {
        out += &format!(" | FER {t:e}");
    }
    out += " |\n|---";
    out += &"|---".repeat(targets.len());
    out += "|\n";
    for name in Code::NAMES {
        let c = named(name)?;
        out += &format!("| {name}, hard");
        for t in targets {
            out += &format!(" | {:.2e}", knee(t, |r| c.frame_error_rate(r)));
        }
        out += " |\n";
    }
    let draws = effort.of(4_000);
    for name in ["ldpc-1k", "ldpc-4k"] {
        let c = named(name)?;
        out += &format!("| {name}, three senses");
        for t in targets {
            if t < 1e-2 {
                // A few thousand draws of the counts do not reach the tail.
                out += " | –";
            } else {
                out += &format!(" | {:.2e}", knee(t, |r| soft_fer(&c, r, draws)));
            }
        }
        out += " |\n";
    }
    let codewords = effort.of(4_000);
    out += &format!(
        "\nThe decoder itself, given the same drawn counts of three senses ({codewords} codewords; 95 % interval):\n\n\
        | code | RBER | P(fail), table | P(fail), decoder |\n|---|---|---|---|\n"
    );
    for name in ["ldpc-1k", "ldpc-4k"] {
        let c = named(name)?;
        for t in [1e-1, 1e-2] {
            let rber = knee(t, |r| soft_fer(&c, r, draws));
            let failed = decoded_soft_failures(name, rber, codewords)?;
            let (low, high) = wilson(failed, codewords, 1.96);
            out += &format!(
                "| {name} | {rber:.4} | {:.4} | {:.4} ({low:.4} … {high:.4}) |\n",
                soft_fer(&c, rber, draws),
                f64::from(failed) / f64::from(codewords)
            );
        }
    }
    Ok(out)
}

/// A soft read of one page: senses, whether its centre is the best level of worn cells or off that of others,
/// and the raw bit error rate there.
#[derive(Clone, Copy, Debug)]
pub struct SoftRead {
    senses: SoftLevels,
    worn: bool,
    rber: f64,
}

const fn soft_read(senses: SoftLevels, worn: bool, rber: f64) -> SoftRead {
    SoftRead { senses, worn, rber }
}

/// Soft reads of which some, and of which many fail.
pub const SOFT_READS: [SoftRead; 8] = [
    soft_read(SoftLevels::Three, true, 0.0120),
    soft_read(SoftLevels::Three, true, 0.0140),
    soft_read(SoftLevels::Three, false, 0.0125),
    soft_read(SoftLevels::Three, false, 0.0155),
    soft_read(SoftLevels::Five, true, 0.0155),
    soft_read(SoftLevels::Five, true, 0.0175),
    soft_read(SoftLevels::Five, false, 0.0155),
    soft_read(SoftLevels::Five, false, 0.0175),
];

/// Share of codewords of `ldpc-1k` that fail in the soft read `read`, of the medium and of cells whose errors
/// the decoder is given; and the raw bit error rate.
pub fn soft_failures(read: &SoftRead, wordlines: u32) -> Result<(f64, f64, f64)> {
    let (cells, bits) = (147_456, 9_216);
    let text = |e: firstread_nand::SenseError| e.to_string();
    let mut a = Aged::new(&chip("ct-qlc-176l")?, CellMode::Qlc, 2500, 28.0, 55.0)?;
    let (code, ldpc) = (
        named("ldpc-1k")?,
        Ldpc::named("ldpc-1k").ok_or("no decoder")?,
    );
    let page = PageType(3);
    let at = PageAddr {
        die: DieId(1),
        block: SuperblockId(3),
        wordline: 700,
        page,
    };
    let mut moved = 0;
    if read.worn {
        a.block = worn_until(&a, at, read.rber)?;
    } else {
        moved = moved_until(&a, at, read.rber, 1)?;
    }
    let best = a.medium.nominal_optimum(&a.block, a.now).map_err(text)?;
    let offsets = best.map(|x| x.saturating_add(moved));
    let levels = ReadLevels::Offsets(offsets);
    let rber = a.medium.page_rber(at, 0, &a.block, a.now, &levels);
    let states = a.medium.states(at, 0, &a.block, a.now).map_err(text)?;
    let model = a.medium.model(CellMode::Qlc).map_err(text)?;
    let mode = a.medium.chip().mode(CellMode::Qlc).ok_or("no QLC mode")?;
    let levels_mv = a.medium.levels_mv(model, &offsets);
    let reach = read.senses.senses() as usize / 2;
    let g = Gaussian::new();
    let mut trial = Trial::new(&ldpc);
    let (mut failed, mut n) = (0, 0);
    for version in 0..wordlines {
        let key = Stream::new(31).at(u64::from(version));
        // Senses of one soft read follow each other; their noise is left with the cells.
        let drawn = Cells::draw(&g, CellMode::Qlc, &mode.pages, &states, 0.0, cells, key);
        for codeword in 0..cells / bits {
            let (errors, bits) = drawn.soft(
                model.valleys(page),
                &levels_mv,
                model.soft_spacing_mv,
                reach,
                codeword * bits..(codeword + 1) * bits,
            );
            let weights = SoftWeights {
                classes: reach as u8 + 1,
                errors,
                bits,
            };
            let decode_counts = trial.run(&weights, Stream::new(32).named("places"), n..n + 1);
            failed += decode_counts.failures();
            n += 1;
        }
    }
    let (mut sum, mut drawn) = (0.0, 0);
    for version in 0..20 * wordlines {
        let block = BlockState { version, ..a.block };
        let timing = SenseTiming::DEFAULT;
        let sense = a
            .medium
            .sense_soft(at, 0, &block, a.now, &levels, read.senses, timing, 1)
            .map_err(text)?;
        for codeword in 0..(cells / bits) as u32 {
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
    Ok((
        sum / f64::from(drawn),
        f64::from(failed) / f64::from(n),
        rber.map_err(text)?,
    ))
}

/// How often soft reads fail.
pub fn soft_table(effort: Effort) -> Result<String> {
    let wordlines = effort.of(200);
    let mut out = format!(
        "One TSB page, 28 h at 55 °C; {} codewords of `ldpc-1k` by cells, {} by the medium.\n\n\
         | senses of a level | centre | RBER there | P(fail), medium | P(fail), cells and decoder |\n\
         |---|---|---|---|---|\n",
        wordlines * 16,
        wordlines * 320,
    );
    for read in &SOFT_READS {
        let (medium, cells, rber) = soft_failures(read, wordlines)?;
        let centre = if read.worn {
            "best levels, worn cells"
        } else {
            "above the best levels, 2,500 P/E"
        };
        out += &format!(
            "| {} | {centre} | {rber:.4} | {medium:.4} | {cells:.4} |\n",
            read.senses.senses()
        );
    }
    Ok(out)
}
