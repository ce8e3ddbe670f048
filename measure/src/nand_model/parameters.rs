//! What the shipped chips are: tables from their profiles, and the phenomenological models.

use firstread_core::{CellMode, PageType, SenseMode, SenseTiming};
use firstread_drive::profile::CHIPS;
use firstread_nand::chip::LevelLaw;
use firstread_nand::phenomenological::{GeometricRetry, PowerLawRber};
use firstread_nand::profile::ProgramTiming;

use super::population::{Aged, chip};
use super::section::{Effort, Result};
use super::sensing::mean_read_ns;

/// Chips without a cell model of their own.
fn modelled() -> impl Iterator<Item = &'static str> {
    CHIPS
        .iter()
        .map(|c| c.0)
        .filter(|n| !n.starts_with("constant"))
}

/// Densest mode of a chip.
fn densest(c: &firstread_nand::ChipProfile) -> Result<&firstread_nand::profile::ModeProfile> {
    c.modes
        .iter()
        .max_by_key(|m| m.mode.bits())
        .ok_or_else(|| format!("{} has no mode", c.name))
}

/// Voltages and ageing of each chip in its densest mode.
pub fn chips(_: Effort) -> Result<String> {
    let mut out = String::from(
        "| chip | cells | mode | layers × strings | spacing (mV) | σ (mV) | A (mV/decade) | t₀ (h) | E_a \
         (eV) | k_pe (/kP/E) | g floor | broadening | σ wear (/kP/E) | disturb (mV/e) | rated P/E |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for name in modelled() {
        let c = chip(name)?;
        let m = densest(&c)?;
        let (top, r) = (m.mode.states() - 1, &c.laws.retention.components[0]);
        let floor = match c.laws.retention.level_law {
            LevelLaw::Linear { floor } => format!("{floor}"),
            LevelLaw::AroundNeutral { neutral_state } => format!("neutral at {neutral_state}"),
        };
        out += &format!(
            "| {name} | {} | {} | {} × {} | {} | {} | {} | {} | {} | {} | {floor} | {} | {} | {} | {} |\n",
            c.technology.name(),
            m.mode.name(),
            c.array.layers,
            c.array.strings_per_layer,
            m.mean_mv[top] - m.mean_mv[top - 1],
            m.sigma_mv[top],
            m.retention_mv_per_decade[0],
            r.onset_h,
            r.activation_energy_ev,
            r.per_kpe,
            c.laws.retention.broadening,
            c.laws.wear.sigma_per_kpe,
            c.laws.disturb.shift_mv,
            m.endurance_pe_cycles,
        );
    }
    Ok(out)
}

/// Array times of every chip and mode.
pub fn timing(_: Effort) -> Result<String> {
    let mut out = String::from(
        "| chip | mode | valleys by page type | tR by page type (µs) | mean tR (µs) | program a wordline \
         (ms) | erase (ms) |\n|---|---|---|---|---|---|---|\n",
    );
    for name in modelled() {
        let c = chip(name)?;
        for mode in CellMode::ALL.into_iter().rev() {
            let Some(m) = c.mode(mode) else { continue };
            let a = Aged::new(&c, mode, 0, 1.0, 25.0)?;
            let mut reads = Vec::new();
            for page in 0..mode.bits() {
                let ns = a
                    .medium
                    .read_ns(mode, PageType(page), SenseMode::Hard, SenseTiming::DEFAULT)
                    .map_err(|e| e.to_string())?;
                reads.push(format!("{:.0}", ns as f64 / 1e3));
            }
            let valleys: Vec<String> = m.pages.iter().map(|p| p.len().to_string()).collect();
            let program = match m.program {
                ProgramTiming::OneShot { wordline_ns } => {
                    format!("{:.2}", wordline_ns as f64 / 1e6)
                }
                ProgramTiming::TwoStep {
                    first_ns,
                    second_ns,
                } => format!(
                    "{:.2} + {:.2}",
                    first_ns as f64 / 1e6,
                    second_ns as f64 / 1e6
                ),
            };
            out += &format!(
                "| {name} | {} | {} | {} | {:.1} | {program} | {:.1} |\n",
                mode.name(),
                valleys.join("-"),
                reads.join(" / "),
                mean_read_ns(&c, mode)? / 1e3,
                m.erase_ns as f64 / 1e6,
            );
        }
    }
    Ok(out)
}

/// RARO's formulas with both units of time.
pub fn phenomenological(_: Effort) -> Result<String> {
    let days = PowerLawRber::TLC_72L;
    let as_hours = PowerLawRber {
        time_unit_h: 1.0,
        ..days
    };
    let mut out = String::from(
        "| 72-layer TLC, 1,000 P/E, no reads | 1 day | 30 days | 90 days | 1 year |\n|---|---|---|---|---|\n",
    );
    for (name, model) in [("t in days", days), ("t in hours", as_hours)] {
        out += &format!("| {name}: RBER");
        for d in [1.0, 30.0, 90.0, 365.0] {
            out += &format!(" | {:.2e}", model.rber(1000.0, d * 24.0, 0.0));
        }
        out += &format!(" |\n| {name}: retries of a page of 2.33 senses (mean of 2 and 3, α = 1)");
        for d in [1.0, 30.0, 90.0, 365.0] {
            let rber = model.rber(1000.0, d * 24.0, 0.0);
            let n = |s| GeometricRetry::RARO.retries(rber, s) as f64;
            out += &format!(" | {:.1}", (2.0 * n(2) + n(3)) / 3.0);
        }
        out += " |\n";
    }
    out += "\n| retries wanted | 1 | 5 | 10 | 13 | 16 |\n|---|---|---|---|---|---|\n| α · RBER · n_sense needed";
    for n in [1.0, 5.0, 10.0, 13.0, 16.0] {
        out += &format!(" | {:.3}", GeometricRetry::RARO.limit / libm::pow(0.8, n));
    }
    out += " |\n";
    Ok(out)
}
