//! Read disturb: how many reads a block takes before default reads fail.

use firstread_core::{CellMode, PageAddr, PageType};
use firstread_nand::gaussian::tail_exact;
use firstread_nand::{BlockState, ChipProfile};

use super::population::{Aged, DEFAULT, LIMIT, chip};
use super::section::{Anchor, Effort, Format, Result};

/// Reads at which `rber(reads)` reaches the limit, by bisection over their logarithm.
fn tolerance(rber: impl Fn(f64) -> Result<f64>) -> Result<f64> {
    let (mut low, mut high) = (libm::log(1e3), libm::log(1e10));
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if rber(libm::exp(middle))? < LIMIT {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(libm::exp(high))
}

fn fresh(c: &ChipProfile, mode: CellMode, pe: u32) -> Result<Aged> {
    Aged::new(c, mode, pe, 1.0, 25.0)
}

fn read_state(a: &Aged, even: f64, adjacent: f64) -> BlockState {
    BlockState {
        reads: even as f32,
        adjacent_reads: adjacent as f32,
        ..a.block
    }
}

/// The nominal wordline's tolerance of reads spread evenly (`adjacent = 0`) or all of one neighbour.
fn nominal(c: &ChipProfile, mode: CellMode, pe: u32, adjacent: bool) -> Result<f64> {
    let a = fresh(c, mode, pe)?;
    tolerance(|reads| {
        let block = if adjacent {
            read_state(&a, 0.0, reads)
        } else {
            read_state(&a, reads, 0.0)
        };
        let mut worst = 0.0f64;
        for page in 0..mode.bits() {
            let r = a
                .medium
                .nominal_rber(PageType(page), &block, a.now, &DEFAULT)
                .map_err(|e| e.to_string())?;
            worst = worst.max(r);
        }
        Ok(worst)
    })
}

/// Share of a wordline's bit errors that are those of its erased cells after `reads` even reads.
fn erased_share(c: &ChipProfile, mode: CellMode, pe: u32, reads: f64) -> Result<f64> {
    let a = fresh(c, mode, pe)?;
    let block = read_state(&a, reads, 0.0);
    let states = a
        .medium
        .nominal_states(&block, a.now)
        .map_err(|e| e.to_string())?;
    let model = a.medium.model(mode).map_err(|e| e.to_string())?;
    let mut all = 0.0;
    for page in 0..mode.bits() {
        all += a
            .medium
            .nominal_rber(PageType(page), &block, a.now, &DEFAULT)
            .map_err(|e| e.to_string())?;
    }
    let erased: f64 = model.default_mv[..mode.valleys()]
        .iter()
        .map(|level| tail_exact((level - states[0].mean_mv) / states[0].sigma_mv))
        .sum();
    Ok(erased / mode.states() as f64 / all)
}

/// Least tolerance of a block's wordlines over their mean.
fn weakest_wordline(c: &ChipProfile) -> Result<f64> {
    let a = fresh(c, CellMode::Tlc, 0)?;
    let (mut sum, mut least, mut n) = (0.0, f64::INFINITY, 0.0);
    let (first, _) = a.pages(1).next().ok_or("no page")?;
    for wordline in (0..a.medium.geometry().wordlines_per_block).step_by(4) {
        let at = PageAddr {
            wordline,
            page: PageType(0),
            ..first
        };
        let t = tolerance(|reads| {
            let block = read_state(&a, reads, 0.0);
            a.medium
                .page_rber(at, 0, &block, a.now, &DEFAULT)
                .map_err(|e| e.to_string())
        })?;
        sum += t;
        n += 1.0;
        least = least.min(t);
    }
    Ok(least / (sum / n))
}

/// The anchors.
pub fn anchors(_: Effort) -> Result<Vec<Anchor>> {
    let tlc = chip("ct-tlc-48l")?;
    let qlc = chip("ct-qlc-176l")?;
    let even = nominal(&tlc, CellMode::Tlc, 0, false)?;
    let hammered = nominal(&tlc, CellMode::Tlc, 0, true)?;
    let of = |what: &str| {
        format!(
            "{what} until the nominal wordline's worst page type reaches RBER 72/8192 at default \
             levels, 0 P/E, 1 h at 25 °C"
        )
    };
    let kilo = Format::Fixed(0, "k reads");
    Ok(vec![
        Anchor {
            what: "TLC block, reads spread evenly",
            published: "518,420 (STRAW, ASPLOS'26, second-hand)",
            statistic: of("reads of the 48-layer chip's block, spread evenly,"),
            band: (415.0, 648.0),
            value: even / 1e3,
            format: kilo,
            why: "",
        },
        Anchor {
            what: "TLC, one neighbour hammered",
            published: "54,560 (STRAW, second-hand)",
            statistic: of("reads of one neighbouring wordline"),
            band: (44.0, 68.0),
            value: hammered / 1e3,
            format: kilo,
            why: "",
        },
        Anchor {
            what: "even over hammered",
            published: "518,420 / 54,560 = 9.5, with a weight of 8.4 for a neighbour (STRAW)",
            statistic: "quotient of the two rows above".into(),
            band: (9.0, 10.0),
            value: even / hammered,
            format: Format::Fixed(2, ""),
            why: WEIGHT,
        },
        Anchor {
            what: "TLC over QLC",
            published: "3.15 (DEAR, MICRO'25, second-hand)",
            statistic: of("quotient of the two chips' even reads"),
            band: (2.5, 4.0),
            value: even / nominal(&qlc, CellMode::Qlc, 0, false)?,
            format: Format::Fixed(2, ""),
            why: "",
        },
        Anchor {
            what: "errors of the erased state at 2 M reads",
            published: "67 % (DEAR, second-hand)",
            statistic:
                "share of the nominal TLC wordline's bit errors at default levels, 2 M even \
                        reads, 0 P/E"
                    .into(),
            band: (0.57, 0.77),
            value: erased_share(&tlc, CellMode::Tlc, 0, 2e6)?,
            format: Format::Percent,
            why: ERASED,
        },
        Anchor {
            what: "worn against fresh",
            published: "worst group at 2,000 P/E: 749,000 reads of non-neighbours (STRAW), against \
                        518,420 even reads",
            statistic: of("tolerance at 2,000 P/E over that at 0 P/E, even reads,"),
            band: (1.0, 1.6),
            value: nominal(&tlc, CellMode::Tlc, 2000, false)? / even,
            format: Format::Fixed(2, ""),
            why: WORN,
        },
        Anchor {
            what: "weakest wordline of a block",
            published: "403,000 against 518,420: 0.78 (STRAW, second-hand)",
            statistic: "least over mean tolerance of 48 wordlines of one block, LSB page".into(),
            band: (0.6, 0.9),
            value: weakest_wordline(&tlc)?,
            format: Format::Fixed(2, ""),
            why: WEAKEST,
        },
    ])
}

const WEIGHT: &str = "with a weight of 8.4 for neighbours and two of 192 wordlines being neighbours, the quotient is \
    8.4 / (1 + 7.4 · 2 / 192) = 7.8 whatever else holds; 9.5 would need a weight of 10.3. The published weight is \
    kept, as it is a mean over groups and the counts are of single blocks";
const ERASED: &str = "the share depends on how far beyond the tolerance 2 M reads are, and wear and levels of that \
    measurement are not stated; here it is two thirds at about 300,000 reads and rises after. Programmed states rise \
    little in the model: the effect falls by e each 600 mV above the erased state. About 1.1 V would give two \
    thirds at 2 M reads, but P1 would then cross the second valley before the erased state crosses the first, and \
    it is the erased state that leads (DEAR counts its failures as the proxy of a block's)";
const WORN: &str = "the two counts cannot both be of one chip at two wears, unless wear hardens it; that wear \
    weakens is reported of planar cells and of the spread within a block (2.23× fresh, 4.14× at 2,000 P/E, DEAR). \
    The chip's wear term is what takes a fresh 518,420 to the usual refresh threshold of 400,000 at 2,000 P/E";
const WEAKEST: &str = "the law of disturb has no variation of its own: wordlines differ in width and offset only. \
    Blocks that differ by 69.7 % (DEAR) do not exist either. No drive study here depends on it; one of read \
    disturb would";
