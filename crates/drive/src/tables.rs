//! What the firmware is told of its chip's voltages: factory retry table and sentinel projection.
//!
//! For a shipped chip as it is they are read from `profiles/tables/CHIP.toml`, which
//! `cargo xtask characterize` makes from the chip's profile. For any other chip they are
//! characterized when the drive is made, by the same rule.

use std::fmt::Write;

use firstread_core::CellMode;
use firstread_core::sensing::{AGES_H, SafeSense, SensingTable, TEMPERATURES_C, WEARS_PE};
use firstread_core::voltage::{
    Line, MAX_FACTORY, MAX_PAGES, MAX_VALLEYS, Parabola, SPARE_NODES, VoltageTables,
};
use firstread_ecc::Code;
use firstread_nand::characterize::{FactoryRule, FitConditions, voltage_tables};
use firstread_nand::sensing::{CodeStrength, SensingRule, sensing_table};
use firstread_nand::{ChipProfile, Medium, SenseError};
use thiserror::Error;

use crate::profile::DriveProfile;

/// Why there are no tables.
#[derive(Debug, Error)]
pub enum TableError {
    /// The chip's profile does not make a medium.
    #[error("chip profile: {0}: {1}")]
    Chip(String, String),
    /// The chip has no such mode.
    #[error(transparent)]
    Sense(#[from] SenseError),
    /// A shipped table does not parse.
    #[error("{0}")]
    Parse(String),
}

/// Shipped tables: chip and text.
const SHIPPED: &[(&str, &str)] = &[(
    "ct-qlc-176l",
    include_str!("../../../profiles/tables/ct-qlc-176l.toml"),
)];

/// The tables of the chip of `profile`, in the mode its blocks start in.
pub fn for_drive(profile: &DriveProfile) -> Result<VoltageTables, TableError> {
    let as_shipped = !profile
        .resolved
        .iter()
        .any(|e| e.overridden && e.path.starts_with("chip."));
    let shipped = SHIPPED
        .iter()
        .find(|(chip, _)| *chip == profile.chip.name && as_shipped);
    match shipped {
        Some((_, text)) => parse(text, profile.mode),
        None => characterize(&profile.chip, profile.mode),
    }
}

/// Shipped tables of safe senses: chip and text.
const SHIPPED_SENSING: &[(&str, &str)] = &[
    (
        "ct-tlc-48l",
        include_str!("../../../profiles/tables/ct-tlc-48l-sensing.toml"),
    ),
    (
        "ct-qlc-176l",
        include_str!("../../../profiles/tables/ct-qlc-176l-sensing.toml"),
    ),
];

/// Share of codewords that may fail at the weight that counts as the code's capability.
const RARELY: f64 = 1e-3;

/// What `code` corrects in a codeword nearly always.
pub fn strength(code: &Code) -> CodeStrength {
    let fails = |&weight: &u32| code.failure_probability(weight) > RARELY;
    let first = (0..=u16::MAX as u32).find(fails);
    CodeStrength {
        capability_bits: first.map_or(u16::MAX, |weight| weight.saturating_sub(1) as u16),
        codeword_bits: code.codeword_bits(),
    }
}

/// How short the chip of `profile` may sense with `code`: as shipped, or characterized now where the
/// chip or its code is another.
pub fn sensing(profile: &DriveProfile, code: &Code) -> Result<SensingTable, TableError> {
    let as_shipped = !profile
        .resolved
        .iter()
        .any(|e| e.overridden && e.path.starts_with("chip."));
    let shipped = SHIPPED_SENSING
        .iter()
        .find(|(chip, _)| *chip == profile.chip.name && as_shipped);
    if let Some((_, text)) = shipped {
        let (mode, table) = parse_sensing(text)?;
        let strength = strength(code);
        if mode == profile.mode.name()
            && (table.capability_bits, table.codeword_bits)
                == (strength.capability_bits, strength.codeword_bits)
        {
            return Ok(table);
        }
    }
    characterize_sensing(&profile.chip, profile.mode, code)
}

/// Characterizes how short `chip` may sense in `mode` with `code`: a population of chips.
pub fn characterize_sensing(
    chip: &ChipProfile,
    mode: CellMode,
    code: &Code,
) -> Result<SensingTable, TableError> {
    sensing_table(chip, mode, strength(code), &SensingRule::DEFAULT)
        .map_err(|e| TableError::Chip(e.key.clone(), e.reason.clone()))
}

/// A table of safe senses as text, for `profiles/tables`.
pub fn render_sensing(chip: &str, mode: CellMode, table: &SensingTable) -> String {
    let rule = SensingRule::DEFAULT;
    let mut out = format!(
        "# Shortest safe precharge of {chip}: thousandths of the default, and bits the worst codeword then\n\
         # errs in beyond a sense at the default time. [1000, 0] where nothing shorter is safe.\n\
         # Made by `cargo xtask characterize` from the chip's profile; do not edit.\n\
         # {} chips, {} wordlines of each; the worst page keeps {} bits of the capability.\n\
         mode = \"{}\"\n\
         capability_bits = {}\n\
         codeword_bits = {}\n\
         # Rows: P/E cycles up to {WEARS_PE:?}; columns: hours up to {AGES_H:?}.\n",
        rule.chips,
        rule.wordlines,
        rule.margin_bits,
        mode.name(),
        table.capability_bits,
        table.codeword_bits,
    );
    for (celsius, rows) in TEMPERATURES_C.iter().zip(&table.safe) {
        writeln!(out, "celsius_{celsius} = [").expect("writing to a string succeeds");
        for row in rows {
            let cells = row.map(|s| format!("[{}, {}]", s.pre_permille, s.extra_bits));
            writeln!(out, "  [{}],", cells.join(", ")).expect("writing to a string succeeds");
        }
        out.push_str("]\n");
    }
    out
}

/// Mode and table of a text.
fn parse_sensing(text: &str) -> Result<(String, SensingTable), TableError> {
    let bad = |what: &str| {
        TableError::Parse(format!(
            "table of safe senses: {what}; make it anew with cargo xtask characterize"
        ))
    };
    let table: toml::Table = text
        .parse()
        .map_err(|e: toml::de::Error| bad(&e.to_string()))?;
    let whole = |key: &str| {
        let number = table.get(key).and_then(|v| v.as_integer());
        number.ok_or_else(|| bad(&format!("no {key}")))
    };
    let mut out = SensingTable {
        capability_bits: whole("capability_bits")? as u16,
        codeword_bits: whole("codeword_bits")? as u32,
        ..SensingTable::NOTHING
    };
    for (celsius, rows) in TEMPERATURES_C.iter().zip(&mut out.safe) {
        let key = format!("celsius_{celsius}");
        let from = table.get(&key).and_then(|v| v.as_array());
        let from = from.filter(|a| a.len() == rows.len());
        let from = from.ok_or_else(|| bad(&format!("{key} has not a row for each wear")))?;
        for (row, from) in rows.iter_mut().zip(from) {
            let cells = from.as_array().filter(|a| a.len() == row.len());
            let cells =
                cells.ok_or_else(|| bad(&format!("{key} has not a column for each age")))?;
            for (safe, cell) in row.iter_mut().zip(cells) {
                let pair = cell.as_array().map(|a| {
                    let numbers = a.iter().filter_map(|n| n.as_integer());
                    numbers.collect::<Vec<i64>>()
                });
                let Some([pre, extra]) = pair.as_deref() else {
                    return Err(bad(&format!("{key} has a cell that is not two numbers")));
                };
                *safe = SafeSense {
                    pre_permille: *pre as u16,
                    extra_bits: *extra as u16,
                };
            }
        }
    }
    let mode = table.get("mode").and_then(|m| m.as_str());
    Ok((mode.unwrap_or_default().to_owned(), out))
}

/// Characterizes `chip` in `mode`: its nominal page, without variation.
pub fn characterize(chip: &ChipProfile, mode: CellMode) -> Result<VoltageTables, TableError> {
    let geometry = firstread_nand::characterize::geometry(chip, 1);
    let medium = Medium::new(chip.clone(), geometry, 0)
        .map_err(|e| TableError::Chip(e.key.clone(), e.reason.clone()))?;
    Ok(voltage_tables(
        &medium,
        mode,
        &chip.factory_table,
        &FitConditions::default(),
    )?)
}

/// The tables as text, for `profiles/tables`.
pub fn render(chip: &str, rule: &FactoryRule, tables: &VoltageTables) -> String {
    let valleys = tables.mode.valleys();
    let mut out = String::new();
    let mut line = |text: String| out.push_str(&(text + "\n"));
    line(format!(
        "# Voltage tables of {chip}, in DAC units of {} mV from the factory default.",
        tables.dac_mv
    ));
    line("# Made by `cargo xtask characterize` from the chip's profile; do not edit.".into());
    line(format!(
        "# Factory entries: the default, then {} down and {} up the nominal drift path, {} mV of the top valley apart.",
        rule.down, rule.up, rule.step_mv
    ));
    line("# Projection: valley = intercept + slope * sentinel, in 1/65536 units.".into());
    line(format!("mode = \"{}\"", tables.mode.name()));
    line(format!("dac_mv = {}", tables.dac_mv));
    line(format!(
        "sentinel = {:?}",
        &tables.sentinel[..tables.mode.bits() as usize]
    ));
    line(format!(
        "page_of_valley = {:?}",
        &tables.page_of_valley[..valleys]
    ));
    line("projection = [".into());
    for (k, l) in tables.projection[..valleys].iter().enumerate() {
        line(format!(
            "  [{}, {}], # valley {}",
            l.intercept,
            l.slope,
            k + 1
        ));
    }
    line("]".into());
    line("# The same by a parabola: intercept, slope, square.".into());
    line("curved = [".into());
    for (k, c) in tables.curved[..valleys].iter().enumerate() {
        line(format!(
            "  [{}, {}, {}], # valley {}",
            c.line.intercept,
            c.line.slope,
            c.square,
            k + 1
        ));
    }
    line("]".into());
    line("# Units to add to the sentinel's level, by the errors of spare cells on its two sides: the share".into());
    line(
        "# of the lower state's that lie above less that of the upper's that lie below, -1 to 1."
            .into(),
    );
    line("spare = [".into());
    for curve in &tables.spare[..tables.mode.bits() as usize] {
        line(format!("  {curve:?},"));
    }
    line("]\nfactory = [".into());
    for entry in &tables.factory[..tables.factory_len as usize] {
        let mut text = String::new();
        for offset in &entry[..valleys] {
            write!(text, "{offset}, ").expect("writing to a string succeeds");
        }
        line(format!("  [{}],", text.trim_end_matches(", ")));
    }
    line("]".into());
    out
}

fn parse(text: &str, mode: CellMode) -> Result<VoltageTables, TableError> {
    let bad = |what: &str| {
        TableError::Parse(format!(
            "voltage tables: {what}; make them anew with cargo xtask characterize"
        ))
    };
    let table: toml::Table = text
        .parse()
        .map_err(|e: toml::de::Error| bad(&e.to_string()))?;
    if table.get("mode").and_then(|m| m.as_str()) != Some(mode.name()) {
        return Err(bad(&format!("none for mode {}", mode.name())));
    }
    let array = |v: Option<&toml::Value>| v.and_then(|v| v.as_array()).cloned().unwrap_or_default();
    let numbers = |v: Option<&toml::Value>| -> Vec<i64> {
        array(v).iter().filter_map(|n| n.as_integer()).collect()
    };
    let mut tables = VoltageTables {
        mode,
        page_of_valley: [0; MAX_VALLEYS],
        factory: [[0; MAX_VALLEYS]; MAX_FACTORY],
        factory_len: 0,
        sentinel: [0; MAX_PAGES],
        projection: [Line::IDENTITY; MAX_VALLEYS],
        curved: [Parabola::IDENTITY; MAX_VALLEYS],
        spare: [[0; SPARE_NODES]; MAX_PAGES],
        dac_mv: table
            .get("dac_mv")
            .and_then(|v| v.as_integer())
            .ok_or_else(|| bad("no dac_mv"))? as u8,
    };
    let valleys = mode.valleys();
    let copy = |from: Vec<i64>, len: usize, name: &str| -> Result<Vec<i64>, TableError> {
        if from.len() == len {
            Ok(from)
        } else {
            Err(bad(&format!(
                "{name} has {} numbers, not {len}",
                from.len()
            )))
        }
    };
    let sentinel = copy(
        numbers(table.get("sentinel")),
        mode.bits() as usize,
        "sentinel",
    )?;
    tables
        .sentinel
        .iter_mut()
        .zip(sentinel)
        .for_each(|(to, from)| *to = from as u8);
    let pages = copy(
        numbers(table.get("page_of_valley")),
        valleys,
        "page_of_valley",
    )?;
    tables
        .page_of_valley
        .iter_mut()
        .zip(pages)
        .for_each(|(to, from)| *to = from as u8);
    let projection = array(table.get("projection"));
    if projection.len() != valleys {
        return Err(bad("projection has not one line a valley"));
    }
    for (to, from) in tables.projection.iter_mut().zip(&projection) {
        let pair = copy(numbers(Some(from)), 2, "projection")?;
        *to = Line {
            intercept: pair[0] as i32,
            slope: pair[1] as i32,
        };
    }
    let curved = array(table.get("curved"));
    if curved.len() != valleys {
        return Err(bad("curved has not one parabola a valley"));
    }
    for (to, from) in tables.curved.iter_mut().zip(&curved) {
        let three = copy(numbers(Some(from)), 3, "curved")?;
        *to = Parabola {
            line: Line {
                intercept: three[0] as i32,
                slope: three[1] as i32,
            },
            square: three[2] as i32,
        };
    }
    let spare = array(table.get("spare"));
    if spare.len() != mode.bits() as usize {
        return Err(bad("spare has not one curve a page type"));
    }
    for (to, from) in tables.spare.iter_mut().zip(&spare) {
        let curve = copy(numbers(Some(from)), SPARE_NODES, "spare")?;
        to.iter_mut()
            .zip(curve)
            .for_each(|(to, from)| *to = from as i8);
    }
    let factory = array(table.get("factory"));
    if factory.is_empty() || factory.len() > MAX_FACTORY {
        return Err(bad("factory has no entries, or too many"));
    }
    tables.factory_len = factory.len() as u8;
    for (to, from) in tables.factory.iter_mut().zip(&factory) {
        let entry = copy(numbers(Some(from)), valleys, "factory")?;
        to.iter_mut()
            .zip(entry)
            .for_each(|(to, from)| *to = from as i8);
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{CHIPS, Library, load_chip};

    #[test]
    fn golden_shipped_safe_senses_are_those_of_the_chips() {
        for ((chip, text), (mode, code)) in SHIPPED_SENSING
            .iter()
            .zip([(CellMode::Tlc, "threshold"), (CellMode::Qlc, "ldpc-1k")])
        {
            let profile = load_chip(&Library::new(), chip, &[]).unwrap().chip;
            let code = Code::named(code).unwrap();
            let made = characterize_sensing(&profile, mode, &code).unwrap();
            assert_eq!(
                render_sensing(chip, mode, &made),
                *text,
                "run cargo xtask characterize"
            );
            assert_eq!(parse_sensing(text).unwrap(), (mode.name().to_owned(), made));
        }
    }

    #[test]
    fn golden_shipped_tables_are_those_of_the_chips() {
        for (chip, text) in SHIPPED {
            assert!(CHIPS.iter().any(|(name, _)| name == chip));
            let profile = load_chip(&Library::new(), chip, &[]).unwrap().chip;
            let made = characterize(&profile, CellMode::Qlc).unwrap();
            assert_eq!(
                render(chip, &profile.factory_table, &made),
                *text,
                "run cargo xtask characterize"
            );
            assert_eq!(parse(text, CellMode::Qlc).unwrap(), made);
        }
    }
}
