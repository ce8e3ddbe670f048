//! The knobs that decide the tail of a calibrated drive: evidence, plausible range, and what the
//! range does to first-read failure. They are frozen; this is their sensitivity, not their fit.

use std::sync::OnceLock;

use firstread_core::{CellMode, LevelOffsets, Ns};
use firstread_nand::{BlockState, ChipProfile, ReadLevels};

use super::population::{Aged, Curve, chip};
use super::section::{Effort, Result};

/// Wear of the two columns (P/E cycles).
pub const WEAR: [u32; 2] = [300, 2500];

/// Reads of a full run.
const READS: u32 = 200_000;

/// One knob of a chip.
pub struct Knob {
    /// Its key in the profile.
    pub key: &'static str,
    /// What is known of it.
    pub evidence: &'static str,
    /// Ends of its plausible range, in the profile's unit.
    pub range: (f64, f64),
    /// Unit in the profile.
    pub unit: &'static str,
    /// The number in a profile's struct is the listed one times this.
    scale: f64,
    at: fn(&mut ChipProfile) -> &mut f64,
}

/// What is written of a knob's value.
fn written(unit: &str, value: f64) -> String {
    format!("{} {unit}", (value * 1e4).round() / 1e4)
}

impl Knob {
    /// The chip's value, in the profile's unit.
    pub fn value(&self, chip: &ChipProfile) -> f64 {
        *(self.at)(&mut chip.clone()) / self.scale
    }

    /// The chip with the knob at `value`.
    pub fn set(&self, chip: &ChipProfile, value: f64) -> ChipProfile {
        let mut c = chip.clone();
        *(self.at)(&mut c) = value * self.scale;
        c
    }
}

macro_rules! knob {
    ($key:literal, $($field:ident).+ $([$i:literal])?, $unit:literal, $scale:expr, $low:expr, $high:expr, $evidence:literal) => {
        Knob {
            key: $key,
            evidence: $evidence,
            range: ($low, $high),
            unit: $unit,
            scale: $scale,
            at: |c| &mut c.$($field).+ $([$i])?,
        }
    };
}

/// The knobs with a number each; widths, edges and tails have functions of their own.
pub const KNOBS: &[Knob] = &[
    knob!(
        "variation.chip_rate",
        variation.chip_rate,
        "%",
        0.01,
        1.0,
        6.0,
        "none for retention; 160 chips were measured (PR²/AR²) and no spread is given. Half of the blocks' as chips are sorted"
    ),
    knob!(
        "variation.block_rate",
        variation.block_rate,
        "%",
        0.01,
        2.0,
        10.0,
        "none for retention; read-disturb tolerance varies by 69.7 % between blocks (DEAR, second-hand), of another mechanism: an upper bound at most"
    ),
    knob!(
        "variation.wordline_rate",
        variation.wordline_rate,
        "%",
        0.01,
        0.0,
        1.0,
        "wordlines of one layer agree within 0.85 % (DEAR, second-hand; of which quantity is not stated). As the range of four wordlines it is a deviation of 0.4 %"
    ),
    knob!(
        "variation.state_rate",
        variation.state_rate,
        "%",
        0.01,
        0.0,
        10.0,
        "bounded above by R² > 0.8 for every pair (CT-QLC, §III-E): some 15 % by the table of spreads, 5 % by a prototype whose points were noisier; at zero, projection would be exact by construction"
    ),
    knob!(
        "variation.chip_offset",
        variation.chip_offset_mv,
        "mV",
        1.0,
        0.0,
        5.0,
        "none; program verify places every chip at the same trimmed level"
    ),
    knob!(
        "variation.block_offset",
        variation.block_offset_mv,
        "mV",
        1.0,
        0.0,
        6.0,
        "none; program verify, against source-line and temperature differences of some millivolts"
    ),
    knob!(
        "variation.wordline_offset",
        variation.wordline_offset_mv,
        "mV",
        1.0,
        0.0,
        6.0,
        "R² > 0.8 leaves 2 to 3 mV of noise a point (see the table of noise), if points are of single wordlines; averaged points would leave more. The prototypes had 6 mV, layers included"
    ),
    knob!(
        "variation.state_offset",
        variation.state_offset_mv,
        "mV",
        1.0,
        0.0,
        4.0,
        "as wordline_offset"
    ),
    knob!(
        "variation.block_sigma",
        variation.block_sigma,
        "%",
        0.01,
        0.0,
        3.0,
        "none; widths are set by the program step, which blocks share"
    ),
    knob!(
        "variation.wordline_sigma",
        variation.wordline_sigma,
        "%",
        0.01,
        0.0,
        1.0,
        "as wordline_rate"
    ),
    knob!(
        "layers.retention_span",
        layers.retention_span,
        "%",
        0.01,
        6.0,
        20.0,
        "error rates differ \"significantly\" between layers (Luo et al., abstract); intra-block 2.23×, 4.14× at 2,000 P/E, in read disturb (DEAR, second-hand). No retention figure"
    ),
    knob!(
        "layers.sigma_span",
        layers.sigma_span,
        "%",
        0.01,
        3.0,
        12.0,
        "as retention_span"
    ),
    knob!(
        "layers.offset_span",
        layers.offset_span_mv,
        "mV",
        1.0,
        0.0,
        10.0,
        "none; verify removes it but for what the sense itself differs by"
    ),
    knob!(
        "retention.broadening",
        laws.retention.broadening,
        "%",
        0.01,
        10.0,
        40.0,
        "planar TLC: as large as the shift or larger, 7.8 against 7.3 units in a year (Cai et al., table 5); 3D cells hold more electrons. The shape of CT-QLC's Fig 3 does not decide it"
    ),
    knob!(
        "wear.sigma_per_kpe",
        laws.wear.sigma_per_kpe,
        "%/kP/E",
        0.01,
        2.0,
        6.0,
        "planar TLC: 2 to 7 % in 2,000 P/E (Cai et al., table 4). Taken as variance in mV² on cells half as wide: 3.5 to 12 %/kP/E; taken as a share: 1 to 3.5"
    ),
    knob!(
        "sensing.noise",
        sensing.noise_mv,
        "mV",
        1.0,
        3.0,
        15.0,
        "random telegraph noise of 3D cells: millivolts, with exponential tails. Part of the widths, so a first read does not see it; a second does"
    ),
];

/// A value's name, and what sets it.
type Change = (&'static str, fn(&mut ChipProfile));

/// A chip changed in a way that is not one number.
struct Variant {
    key: &'static str,
    frozen: &'static str,
    evidence: &'static str,
    cases: [Change; 2],
}

fn sigma(c: &mut ChipProfile, mv: f64) {
    for m in c.modes.iter_mut().filter(|m| m.mode == CellMode::Qlc) {
        m.sigma_mv[1..].fill(mv);
    }
}

fn drift(c: &mut ChipProfile, top: f64) {
    for m in c.modes.iter_mut().filter(|m| m.mode == CellMode::Qlc) {
        m.retention_mv_per_decade[0] = top;
    }
}

const VARIANTS: &[Variant] = &[
    Variant {
        key: "modes.qlc.sigma",
        frozen: "42 mV",
        evidence: "0.147 of the spacing on planar TLC after a day (Cai et al., table 5); 0.168 here. 36 to \
                   48 mV meet every published first failure alike",
        cases: [("36 mV", |c| sigma(c, 36.0)), ("48 mV", |c| sigma(c, 48.0))],
    },
    Variant {
        key: "modes.qlc.retention.late",
        frozen: "28 mV/decade",
        evidence: "12 to 40 mV/decade fit the first failures with other onsets (120 prototype sets, 43 of \
                   them feasible)",
        cases: [
            ("20 mV/decade", |c| drift(c, 20.0)),
            ("40 mV/decade", |c| drift(c, 40.0)),
        ],
    },
    Variant {
        key: "retention.late.activation_energy",
        frozen: "1.1 eV",
        evidence: "1.1 eV (JESD218B, second-hand), 1.04 eV on 3D NAND (Luo et al., HPCA'18, second-hand), about \
                   1.0 of any generation; charge-trap QLC has no single one (TCAD'25, second-hand)",
        cases: [
            ("1.0 eV", |c| {
                c.laws.retention.components[0].activation_energy_ev = 1.0
            }),
            ("1.2 eV", |c| {
                c.laws.retention.components[0].activation_energy_ev = 1.2
            }),
        ],
    },
    Variant {
        key: "retention.late.per_kpe",
        frozen: "10 %/kP/E",
        evidence: "cycles matter little to drift (CT-QLC, §III-E); 25 %/kP/E from first failures of TLC (RiF)",
        cases: [
            ("0 %/kP/E", |c| c.laws.retention.components[0].per_kpe = 0.0),
            ("25 %/kP/E", |c| {
                c.laws.retention.components[0].per_kpe = 0.25
            }),
        ],
    },
    Variant {
        key: "layers.edge_layers",
        frozen: "0",
        evidence: "edge wordlines break the uniformity of page groups (IBM, second-hand); dummy wordlines guard \
                   the ends of the stack. Factors 1.15 (retention) and 1.1 (width) are assumed",
        cases: [
            ("1 at each end", |c| c.layers.edge_layers = 1),
            ("4 at each end", |c| c.layers.edge_layers = 4),
        ],
    },
    Variant {
        key: "layers.shape",
        frozen: "linear",
        evidence: "a hole tapers with depth; stacks of two decks repeat it, and etch bows it",
        cases: [
            ("bowed", |c| {
                c.layers.shape = firstread_nand::chip::LayerShape::Bowed
            }),
            ("no layers", |c| {
                c.layers.retention_span = 0.0;
                c.layers.sigma_span = 0.0;
                c.layers.offset_span_mv = 0.0;
            }),
        ],
    },
    Variant {
        key: "variation.tail_fraction (ratio 1.5)",
        frozen: "0 %",
        evidence: "Gaussians underestimate tails; normal-Laplace and Student's t fit planar cells better \
                   (JSAC'16, unverified). No weight of 3D QLC is public",
        cases: [
            ("1 %", |c| c.variation.tail_fraction = 0.01),
            ("5 %", |c| c.variation.tail_fraction = 0.05),
        ],
    },
    Variant {
        key: "all random variation at once",
        frozen: "as above",
        evidence: "the envelope of the first ten rows",
        cases: [
            ("all at the low end", |c| all(c, false)),
            ("all at the high end", |c| all(c, true)),
        ],
    },
];

fn all(c: &mut ChipProfile, high: bool) {
    for k in KNOBS.iter().filter(|k| k.key.starts_with("variation.")) {
        let value = if high { k.range.1 } else { k.range.0 };
        *(k.at)(c) = value * k.scale;
    }
}

/// Failures of first reads of one chip: by wear, by code.
pub type Failures = [Vec<(f64, f64)>; 2];

/// First reads of 64 KiB of `c` after 28 h at 55 °C, at the levels best for all pages together.
pub fn first_reads(c: &ChipProfile, curves: &[Curve], n: u32) -> Result<Failures> {
    let at = |pe| -> Result<Vec<(f64, f64)>> {
        let a = Aged::new(c, CellMode::Qlc, pe, 28.0, 55.0)?;
        a.read_failure(n, &ReadLevels::Offsets(a.group_levels()?), curves)
    };
    Ok([at(WEAR[0])?, at(WEAR[1])?])
}

fn cells(f: &Failures) -> String {
    f.iter()
        .flatten()
        .map(|&(p, _)| {
            if p < 1e-12 {
                " | < 1e-12".to_string()
            } else if p >= 0.1 {
                format!(" | {p:.2}")
            } else {
                format!(" | {p:.1e}")
            }
        })
        .collect()
}

fn heading(first: &str, curves: &[Curve]) -> String {
    let mut out = format!("| {first}");
    for pe in WEAR {
        for c in curves {
            out += &format!(" | {pe} P/E, {}", c.name);
        }
    }
    out += " |\n";
    out += &"|---".repeat(first.split('|').count() + 2 * curves.len());
    out + "|\n"
}

/// One line of the sensitivity: name of the knob, value, failures.
pub struct Sensitivity {
    /// The knob.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// What comes of it.
    pub failures: Failures,
}

/// The frozen chip, and every end of every range.
pub type Sensitivities = (Failures, Vec<Sensitivity>);

/// The sensitivities, measured once for the table and the picture.
pub fn sensitivities(effort: Effort) -> Result<&'static Sensitivities> {
    static FULL: OnceLock<Result<Sensitivities>> = OnceLock::new();
    static QUICK: OnceLock<Result<Sensitivities>> = OnceLock::new();
    let cell = match effort {
        Effort::Full => &FULL,
        Effort::Quick => &QUICK,
    };
    cell.get_or_init(|| measure(effort))
        .as_ref()
        .map_err(Clone::clone)
}

fn measure(effort: Effort) -> Result<Sensitivities> {
    let c = chip("ct-qlc-176l")?;
    let curves = Curve::all()?;
    let n = effort.of(READS);
    let frozen = first_reads(&c, &curves, n)?;
    let mut out = Vec::new();
    for k in KNOBS {
        for value in [k.range.0, k.range.1] {
            out.push(Sensitivity {
                key: k.key,
                value: written(k.unit, value),
                failures: first_reads(&k.set(&c, value), &curves, n)?,
            });
        }
    }
    for v in VARIANTS {
        for (name, change) in v.cases {
            let mut changed = c.clone();
            change(&mut changed);
            out.push(Sensitivity {
                key: v.key,
                value: name.to_string(),
                failures: first_reads(&changed, &curves, n)?,
            });
        }
    }
    Ok((frozen, out))
}

/// Evidence and sensitivity of every knob.
pub fn table(effort: Effort) -> Result<String> {
    let c = chip("ct-qlc-176l")?;
    let (frozen, lines) = sensitivities(effort)?;
    let mut out =
        String::from("| knob | frozen at | plausible range | evidence |\n|---|---|---|---|\n");
    for k in KNOBS {
        out += &format!(
            "| `{}` | {} | {} … {} | {} |\n",
            k.key,
            written(k.unit, k.value(&c)),
            k.range.0,
            written(k.unit, k.range.1),
            k.evidence
        );
    }
    for v in VARIANTS {
        out += &format!(
            "| `{}` | {} | {}; {} | {} |\n",
            v.key, v.frozen, v.cases[0].0, v.cases[1].0, v.evidence
        );
    }
    let curves = Curve::all()?;
    let n = effort.of(READS);
    let error = frozen
        .iter()
        .flatten()
        .map(|&(p, se)| if p > 1e-9 { se / p } else { 0.0 })
        .fold(0.0, f64::max);
    out += &format!(
        "\nShare of first reads of 64 KiB (one page of four planes) that fail, 28 h at 55 °C; {n} reads \
         over all dies, blocks, wordlines and page types, the same for every line, what a page's \
         codewords come to integrated. Largest relative standard error of the frozen line above 1e-9: \
         {:.0} %.\n\n",
        error * 100.0
    );
    out += &heading("knob | value", &curves);
    out += &format!("| **frozen** | –{} |\n", cells(frozen));
    for line in lines {
        out += &format!(
            "| `{}` | {}{} |\n",
            line.key,
            line.value,
            cells(&line.failures)
        );
    }
    Ok(out)
}

/// What levels that do not know of it suffer: levels best for one condition (28 h at 55 °C but where
/// the case starts elsewhere), read under another.
pub fn unknowns(effort: Effort) -> Result<String> {
    let c = chip("ct-qlc-176l")?;
    let curves = Curve::all()?;
    let n = effort.of(READS);
    let levels = |pe, h, celsius| -> Result<LevelOffsets> {
        Aged::new(&c, CellMode::Qlc, pe, h, celsius)?.group_levels()
    };
    let mut out = heading("what happens after the levels were found", &curves);
    type Case = (
        &'static str,
        fn(&ChipProfile, u32) -> Result<Aged>,
        (f64, f64),
    );
    let hot: (f64, f64) = (28.0, 55.0);
    let cases: [Case; 9] = [
        (
            "nothing",
            |c, pe| Aged::new(c, CellMode::Qlc, pe, 28.0, 55.0),
            hot,
        ),
        (
            "5 h more at 55 °C",
            |c, pe| Aged::new(c, CellMode::Qlc, pe, 33.0, 55.0),
            hot,
        ),
        (
            "30 days without power at 25 °C, just filled",
            |c, pe| Aged::new(c, CellMode::Qlc, pe, 721.0, 25.0),
            (1.0, 25.0),
        ),
        (
            "30 days without power at 25 °C, after the 28 h",
            |c, pe| {
                let mut a = Aged::new(c, CellMode::Qlc, pe, 28.0 + 720.0, 55.0)?;
                a.medium
                    .set_temperature(Ns::from_h(28), 25.0)
                    .and_then(|()| a.medium.set_temperature(Ns::from_h(28 + 720), 55.0))
                    .map_err(|e| e.to_string())?;
                Ok(a)
            },
            hot,
        ),
        (
            "28 h at 25 °C, then 5 h at 55 °C",
            |c, pe| {
                let mut a = Aged::new(c, CellMode::Qlc, pe, 33.0, 25.0)?;
                a.medium
                    .set_temperature(Ns::from_h(28), 55.0)
                    .map_err(|e| e.to_string())?;
                Ok(a)
            },
            (28.0, 25.0),
        ),
        (
            "the drive cools from 55 to 25 °C",
            |c, pe| {
                let mut a = Aged::new(c, CellMode::Qlc, pe, 28.0, 55.0)?;
                a.medium
                    .set_temperature(Ns::from_h(28), 25.0)
                    .map_err(|e| e.to_string())?;
                Ok(a)
            },
            hot,
        ),
        (
            "first reads after idling see 5 mV less",
            |c, pe| {
                let mut c = c.clone();
                c.laws.transient.shift_mv = -5.0;
                Aged::new(&c, CellMode::Qlc, pe, 28.0, 55.0)
            },
            hot,
        ),
        (
            "blocks half written",
            |c, pe| {
                let mut a = Aged::new(c, CellMode::Qlc, pe, 28.0, 55.0)?;
                a.block = BlockState {
                    written_wordlines: a.block.written_wordlines / 2,
                    ..a.block
                };
                Ok(a)
            },
            hot,
        ),
        (
            "100,000 reads of each block",
            |c, pe| {
                let mut a = Aged::new(c, CellMode::Qlc, pe, 28.0, 55.0)?;
                a.block.reads = 1e5;
                Ok(a)
            },
            hot,
        ),
    ];
    for (name, make, (h, celsius)) in cases {
        let mut failures: Failures = [Vec::new(), Vec::new()];
        for (f, pe) in failures.iter_mut().zip(WEAR) {
            let offsets = levels(pe, h, celsius)?;
            *f = make(&c, pe)?.read_failure(n, &ReadLevels::Offsets(offsets), &curves)?;
        }
        out += &format!("| {name}{} |\n", cells(&failures));
    }
    Ok(out)
}
