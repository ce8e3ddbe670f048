//! Timing of senses, and what shortened ones cost.

use firstread_core::{CellMode, PageType, SenseMode, SenseTiming};
use firstread_nand::{ChipProfile, ReadLevels};

use super::population::{Aged, chip};
use super::section::{Anchor, Effort, Format, Result};

/// Decode time that PR²/AR² charges (ns, unverified).
const PRR_DECODE_NS: f64 = 20_000.0;

/// Mean `tR` over the page types (ns).
pub fn mean_read_ns(c: &ChipProfile, mode: CellMode) -> Result<f64> {
    let a = Aged::new(c, mode, 0, 1.0, 25.0)?;
    let mut sum = 0.0;
    for page in 0..mode.bits() {
        sum += a
            .medium
            .read_ns(mode, PageType(page), SenseMode::Hard, SenseTiming::DEFAULT)
            .map_err(|e| e.to_string())? as f64;
    }
    Ok(sum / mode.bits() as f64)
}

/// Largest increase of a page's expected errors in 1 KiB when senses are shortened to `timing`, at
/// each page's best levels.
fn added_errors(a: &Aged, timing: SenseTiming, n: u32) -> Result<f64> {
    let condition = a.medium.condition(&a.block, a.now);
    let mut worst = 0.0f64;
    for (at, plane) in a.pages(n) {
        let rber = |t| {
            a.medium
                .sense_under(at, plane, condition, &ReadLevels::Ideal, t, 0)
                .map(|s| s.rber())
                .map_err(|e| e.to_string())
        };
        worst = worst.max(8192.0 * (rber(timing)? - rber(SenseTiming::DEFAULT)?));
    }
    Ok(worst)
}

/// The anchors.
pub fn anchors(effort: Effort) -> Result<Vec<Anchor>> {
    let (tlc, qlc) = (chip("ct-tlc-48l")?, chip("ct-qlc-176l")?);
    let n = effort.of(6_000);
    let t_r = mean_read_ns(&tlc, CellMode::Tlc)?;
    let dma = 16_384.0 * 1e3 / tlc.timing.io_mt_per_s as f64;
    let sense = tlc.mode(CellMode::Tlc).ok_or("no TLC mode")?.sense;
    let one = (sense.pre_ns + sense.eval_ns + sense.disch_ns) as f64;
    let pre40 = SenseTiming {
        pre_permille: 600,
        ..SenseTiming::DEFAULT
    };
    let eval20 = SenseTiming {
        eval_permille: 800,
        ..SenseTiming::DEFAULT
    };
    let aged_tlc = Aged::new(&tlc, CellMode::Tlc, 1500, 8766.0, 30.0)?;
    let aged_qlc = Aged::new(&qlc, CellMode::Qlc, 2500, 28.0, 55.0)?;
    let fresh_tlc = Aged::new(&tlc, CellMode::Tlc, 0, 1.0, 25.0)?;
    let on_tlc = added_errors(&aged_tlc, pre40, n)?;
    let on_qlc = added_errors(&aged_qlc, pre40, n)?;
    let added = |what: &str| {
        format!(
            "largest increase of a page's expected errors in 1 KiB, {what}, each page at its best \
             levels; {n} pages"
        )
    };
    let errors = Format::Fixed(1, "errors");
    Ok(vec![
        Anchor {
            what: "QLC read",
            published: "140 µs (RARO, table IV)",
            statistic: "mean tR over the page types, ct-qlc-176l".into(),
            band: (133.0, 147.0),
            value: mean_read_ns(&qlc, CellMode::Qlc)? / 1e3,
            format: Format::Fixed(1, "µs"),
            why: "",
        },
        Anchor {
            what: "TLC read",
            published: "90 µs (PR²/AR², unverified; SAFARI lecture, second-hand)",
            statistic: "mean tR over the page types, ct-tlc-48l".into(),
            band: (85.0, 95.0),
            value: t_r / 1e3,
            format: Format::Fixed(1, "µs"),
            why: "",
        },
        Anchor {
            what: "what pipelining can hide of a retry step",
            published: "28.5 % (PR²/AR², §4)",
            statistic: "(tDMA + tECC) / (tR + tDMA + tECC) of 16 KiB, tECC = 20 µs (unverified)"
                .into(),
            band: (0.27, 0.30),
            value: (dma + PRR_DECODE_NS) / (t_r + dma + PRR_DECODE_NS),
            format: Format::Percent,
            why: "",
        },
        Anchor {
            what: "tR saved by 40 % less precharge",
            published: "25 % (PR²/AR²; that it is 40 % of tPRE is unverified)",
            statistic: "0.4 tPRE / (tPRE + tEVAL + tDISCH), ct-tlc-48l".into(),
            band: (0.23, 0.27),
            value: 0.4 * sense.pre_ns as f64 / one,
            format: Format::Percent,
            why: "",
        },
        Anchor {
            what: "40 % less precharge on aged TLC",
            published: "safe at 1 year, 1,500 P/E (PR²/AR²) within 14 errors (unverified)",
            statistic: added("1 year at 30 °C, 1,500 P/E"),
            band: (0.0, 14.0),
            value: on_tlc,
            format: errors,
            why: "",
        },
        Anchor {
            what: "the same on aged QLC, over TLC",
            published: "3.6 at 20 mV of noise (prototype): what is free on TLC is not on QLC",
            statistic: format!(
                "quotient: {} over the row above",
                added("28 h at 55 °C, 2,500 P/E")
            ),
            band: (2.0, 7.0),
            value: on_qlc / on_tlc,
            format: Format::Fixed(1, "×"),
            why: "",
        },
        Anchor {
            what: "20 % less evaluation on fresh TLC",
            published: "30 errors or more (PR²/AR², unverified)",
            statistic: added("fresh, 1 h"),
            band: (30.0, f64::INFINITY),
            value: added_errors(&fresh_tlc, eval20, n)?,
            format: errors,
            why: "",
        },
    ])
}
