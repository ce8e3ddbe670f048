//! The voltage tables that the firmware gets: factory retry table and sentinel projection.
//!
//! For an unchanged shipped chip they are read from `profiles/tables/CHIP.toml`, which `cargo xtask
//! characterize` makes from the chip's profile. Any other chip is characterized by the same rule when the
//! drive is made.

mod known;

use std::fmt::Write;

use firstread_core::CellMode;
use firstread_core::sensing::{
    AGES_H, PRE_PERMILLE, SensingTable, ShortSenses, TEMPERATURES_C, WEARS_PE,
};
use firstread_core::voltage::{
    Line, MAX_FACTORY, MAX_PAGES, MAX_VALLEYS, Parabola, SPARE_NODES, VoltageTables,
};
use firstread_ecc::Code;
use firstread_nand::characterize::{FitConditions, voltage_tables};
use firstread_nand::chip::FactoryRule;
use firstread_nand::sensing::{CodeStrength, SensingRule, sensing_table};
use firstread_nand::{ChipProfile, Medium, ProfileError, SenseError};
use thiserror::Error;

use crate::profile::DriveProfile;
use known::{Known, Of};

/// Why there are no tables.
#[derive(Clone, PartialEq, Debug, Error)]
#[allow(missing_docs, reason = "an error's message says what its values are")]
pub enum TableError {
    /// The chip's profile does not yield a medium.
    #[error("chip profile: {0}")]
    Chip(ProfileError),
    /// The chip has no such mode.
    #[error(transparent)]
    Sense(#[from] SenseError),
    /// A shipped table does not parse.
    #[error("profiles/tables/{file}: {fault}; make it anew with cargo xtask characterize")]
    Shipped {
        file: String,
        /// What is wrong with it.
        fault: ShippedFault,
    },
}

/// Why a table of `profiles/tables` does not parse.
#[derive(Clone, PartialEq, Debug, Error)]
#[allow(missing_docs, reason = "an error's message says what its values are")]
pub enum ShippedFault {
    /// The text is no TOML.
    #[error(transparent)]
    Toml(toml::de::Error),
    /// The table is of another mode.
    #[error("none for mode {}", .0.name())]
    Mode(CellMode),
    /// A key is missing.
    #[error("no {0}")]
    Missing(String),
    /// A value is no number, or one that is out of range.
    #[error("{key} has {value}, which is no number or out of range")]
    NotANumber { key: String, value: toml::Value },
    /// A value or an element of it is no array.
    #[error("{0} is no array, or has an element that is none")]
    NotAnArray(String),
    /// A row has another number of numbers.
    #[error("{key} has {given} numbers, not {wanted}")]
    Numbers {
        key: String,
        given: usize,
        wanted: usize,
    },
    /// A list has another number of rows.
    #[error("{key} has not {rows}")]
    Rows {
        key: String,
        /// What rows there are to be.
        rows: &'static str,
    },
    /// There is no factory entry, or more than the firmware holds.
    #[error("factory has no entries, or too many")]
    Factory,
}

/// Shipped tables: chip, cell mode and text.
const SHIPPED: &[(&str, CellMode, &str)] = &[(
    "ct-qlc-176l",
    CellMode::Qlc,
    include_str!(concat!(
        env!("FIRSTREAD_PROFILES"),
        "/tables/ct-qlc-176l.toml"
    )),
)];

/// The voltage tables of a drive, one for each cell mode that its superblocks may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveTables {
    /// In the mode in which superblocks start.
    pub own: VoltageTables,
    /// In the modes of [`DriveProfile::other_modes`].
    pub others: Vec<VoltageTables>,
}

/// The tables of the chip of `profile`, in each mode that superblocks may have.
pub fn for_drive(profile: &DriveProfile) -> Result<DriveTables, TableError> {
    let others = profile.other_modes().map(|mode| of_mode(profile, mode));
    Ok(DriveTables {
        own: of_mode(profile, profile.mode)?,
        others: others.collect::<Result<_, _>>()?,
    })
}

/// The tables of the chip of `profile` in `mode`: as shipped, or characterized now if there are none.
fn of_mode(profile: &DriveProfile, mode: CellMode) -> Result<VoltageTables, TableError> {
    let as_shipped = !profile
        .resolved
        .iter()
        .any(|e| e.overridden && e.path.starts_with("chip."));
    let mut shipped = SHIPPED.iter();
    let shipped =
        shipped.find(|(chip, of, _)| as_shipped && *chip == profile.chip.name && *of == mode);
    match shipped {
        Some((chip, _, text)) => parse(chip, text, mode),
        None => characterize(&profile.chip, mode),
    }
}

/// Shipped tables of short senses: chip and text.
const SHIPPED_SENSING: &[(&str, &str)] = &[
    (
        "ct-tlc-48l",
        include_str!(concat!(
            env!("FIRSTREAD_PROFILES"),
            "/tables/ct-tlc-48l-sensing.toml"
        )),
    ),
    (
        "ct-qlc-176l",
        include_str!(concat!(
            env!("FIRSTREAD_PROFILES"),
            "/tables/ct-qlc-176l-sensing.toml"
        )),
    ),
];

/// Failure probability of a codeword at the weight that counts as the code's capability.
const RARELY: f64 = 1e-3;

/// Number of errors in a codeword that `code` nearly always corrects.
pub fn strength(code: &Code) -> CodeStrength {
    let fails = |&weight: &u32| code.failure_probability(weight) > RARELY;
    let first = (0..=u16::MAX as u32).find(fails);
    CodeStrength {
        capability_bits: first.map_or(u16::MAX, |weight| weight.saturating_sub(1) as u16),
        codeword_bits: code.codeword_bits(),
    }
}

/// Errors of short senses of the chip of `profile` in `mode` with `code`: as shipped, or characterized now if the
/// chip, the mode or the code differs.
pub fn sensing(
    profile: &DriveProfile,
    mode: CellMode,
    code: &Code,
) -> Result<SensingTable, TableError> {
    let as_shipped = !profile
        .resolved
        .iter()
        .any(|e| e.overridden && e.path.starts_with("chip."));
    let shipped = SHIPPED_SENSING
        .iter()
        .find(|(chip, _)| *chip == profile.chip.name && as_shipped);
    let strength = strength(code);
    if let Some((chip, text)) = shipped {
        let (shipped_mode, table) = parse_sensing(chip, text)?;
        if shipped_mode == mode.name()
            && (table.capability_bits, table.codeword_bits)
                == (strength.capability_bits, strength.codeword_bits)
        {
            return Ok(table);
        }
    }
    static KNOWN: Known = Known::new();
    let of = Of {
        chip: profile.chip.clone(),
        mode,
        strength,
    };
    KNOWN.get(of, |of| characterize_sensing(&of.chip, of.mode, code))
}

/// Characterizes short senses of `chip` in `mode` with `code`, on a population of chips.
pub fn characterize_sensing(
    chip: &ChipProfile,
    mode: CellMode,
    code: &Code,
) -> Result<SensingTable, TableError> {
    sensing_table(chip, mode, strength(code), &SensingRule::DEFAULT).map_err(TableError::Chip)
}

/// A table of short senses as text, for `profiles/tables`.
pub fn render_sensing(chip: &str, mode: CellMode, table: &SensingTable) -> String {
    let rule = SensingRule::DEFAULT;
    let mut out = format!(
        "# Errors of {chip} at shorter precharges, in tenths of a bit: what one codeword in a thousand of the\n\
         # worst page exceeds at the default time, then what precharges of {PRE_PERMILLE:?}\n\
         # thousandths of the default add to it.\n\
         # Made by `cargo xtask characterize` from the chip's profile; do not edit.\n\
         # {} chips, {} wordlines of each. A safe sense keeps `margin_bits` of the capability.\n\
         mode = \"{}\"\n\
         capability_bits = {}\n\
         codeword_bits = {}\n\
         margin_bits = {}\n\
         # Activation energy of retention (meV).\n\
         activation_mev = {}\n\
         # Blocks: P/E cycles {WEARS_PE:?}; lines: hours {AGES_H:?}.\n",
        rule.chips,
        rule.wordlines,
        mode.name(),
        table.capability_bits,
        table.codeword_bits,
        table.margin_bits,
        table.activation_mev,
    );
    for (celsius, wears) in TEMPERATURES_C.iter().zip(&table.points) {
        out.push_str(&format!("celsius_{celsius} = [\n"));
        for ages in wears {
            out.push_str("  [\n");
            for point in ages {
                let added = point.added_tenths.map(|n| n.to_string()).join(", ");
                out.push_str(&format!("    [{}, {added}],\n", point.default_tenths));
            }
            out.push_str("  ],\n");
        }
        out.push_str("]\n");
    }
    out
}

/// A table of `profiles/tables` in parsed form.
struct Shipped {
    file: String,
    table: toml::Table,
}

impl Shipped {
    fn new(file: String, text: &str) -> Result<Shipped, TableError> {
        match text.parse() {
            Ok(table) => Ok(Shipped { file, table }),
            Err(error) => Err(TableError::Shipped {
                file,
                fault: ShippedFault::Toml(error),
            }),
        }
    }

    fn bad(&self, fault: ShippedFault) -> TableError {
        TableError::Shipped {
            file: self.file.clone(),
            fault,
        }
    }

    fn missing(&self, key: &str) -> TableError {
        self.bad(ShippedFault::Missing(key.to_owned()))
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.table.get(key)?.as_str()
    }

    /// A number as a `T`.
    fn whole<T: TryFrom<i64>>(&self, value: &toml::Value, name: &str) -> Result<T, TableError> {
        let whole = value.as_integer().map(T::try_from);
        let Some(Ok(number)) = whole else {
            return Err(self.bad(ShippedFault::NotANumber {
                key: name.to_owned(),
                value: value.clone(),
            }));
        };
        Ok(number)
    }

    /// The number at `key`.
    fn number<T: TryFrom<i64>>(&self, key: &str) -> Result<T, TableError> {
        let value = self.table.get(key);
        let value = value.ok_or_else(|| self.missing(key))?;
        self.whole(value, key)
    }

    /// The elements of an array.
    fn array<'a>(&self, of: &'a toml::Value, name: &str) -> Result<&'a [toml::Value], TableError> {
        let array = of.as_array().map(Vec::as_slice);
        array.ok_or_else(|| self.bad(ShippedFault::NotAnArray(name.to_owned())))
    }

    /// The elements of the array at `key`.
    fn rows(&self, key: &str) -> Result<&[toml::Value], TableError> {
        let value = self.table.get(key);
        self.array(value.ok_or_else(|| self.missing(key))?, key)
    }

    /// Fills a complete array of numbers.
    fn fill<T: TryFrom<i64>>(
        &self,
        to: &mut [T],
        from: &[toml::Value],
        name: &str,
    ) -> Result<(), TableError> {
        if to.len() != from.len() {
            return Err(self.bad(ShippedFault::Numbers {
                key: name.to_owned(),
                given: from.len(),
                wanted: to.len(),
            }));
        }
        for (to, from) in to.iter_mut().zip(from) {
            *to = self.whole(from, name)?;
        }
        Ok(())
    }

    /// The same for an element of an array of arrays.
    fn several<T: TryFrom<i64> + Copy + Default, const N: usize>(
        &self,
        from: &toml::Value,
        name: &str,
    ) -> Result<[T; N], TableError> {
        let mut to = [T::default(); N];
        self.fill(&mut to, self.array(from, name)?, name)?;
        Ok(to)
    }
}

/// Mode and table in the text of `chip`.
fn parse_sensing(chip: &str, text: &str) -> Result<(String, SensingTable), TableError> {
    let shipped = Shipped::new(format!("{chip}-sensing.toml"), text)?;
    let mut out = SensingTable {
        capability_bits: shipped.number("capability_bits")?,
        codeword_bits: shipped.number("codeword_bits")?,
        margin_bits: shipped.number("margin_bits")?,
        activation_mev: shipped.number("activation_mev")?,
        ..SensingTable::NOTHING
    };
    for (celsius, rows) in TEMPERATURES_C.iter().zip(&mut out.points) {
        let key = format!("celsius_{celsius}");
        let from = shipped.rows(&key)?;
        if from.len() != rows.len() {
            return Err(shipped.bad(ShippedFault::Rows {
                key,
                rows: "a block for each wear",
            }));
        }
        for (row, from) in rows.iter_mut().zip(from) {
            let cells = shipped.array(from, &key)?;
            if cells.len() != row.len() {
                return Err(shipped.bad(ShippedFault::Rows {
                    key,
                    rows: "a line for each age",
                }));
            }
            for (point, cell) in row.iter_mut().zip(cells) {
                let [default_tenths, added_tenths @ ..]: [u16; 1 + PRE_PERMILLE.len()] =
                    shipped.several(cell, &key)?;
                *point = ShortSenses {
                    default_tenths,
                    added_tenths,
                };
            }
        }
    }
    let mode = shipped
        .text("mode")
        .ok_or_else(|| shipped.missing("mode"))?;
    Ok((mode.to_owned(), out))
}

/// Characterizes `chip` in `mode`: its nominal page, without variation.
pub fn characterize(chip: &ChipProfile, mode: CellMode) -> Result<VoltageTables, TableError> {
    let geometry = firstread_nand::characterize::geometry(chip, 1);
    let medium = Medium::new(chip.clone(), geometry, 0).map_err(TableError::Chip)?;
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

/// The tables in the text of `chip`.
fn parse(chip: &str, text: &str, mode: CellMode) -> Result<VoltageTables, TableError> {
    let shipped = Shipped::new(format!("{chip}.toml"), text)?;
    if shipped.text("mode") != Some(mode.name()) {
        return Err(shipped.bad(ShippedFault::Mode(mode)));
    }
    let mut tables = VoltageTables {
        mode,
        page_of_valley: [0; MAX_VALLEYS],
        factory: [[0; MAX_VALLEYS]; MAX_FACTORY],
        factory_len: 0,
        sentinel: [0; MAX_PAGES],
        projection: [Line::IDENTITY; MAX_VALLEYS],
        curved: [Parabola::IDENTITY; MAX_VALLEYS],
        spare: [[0; SPARE_NODES]; MAX_PAGES],
        dac_mv: shipped.number("dac_mv")?,
    };
    let (valleys, pages) = (mode.valleys(), mode.bits() as usize);
    let rows = |key: &str, n: usize, what: &'static str| {
        let rows = shipped.rows(key)?;
        match rows.len() == n {
            true => Ok(rows),
            false => Err(shipped.bad(ShippedFault::Rows {
                key: key.to_owned(),
                rows: what,
            })),
        }
    };
    let sentinel = shipped.rows("sentinel")?;
    shipped.fill(&mut tables.sentinel[..pages], sentinel, "sentinel")?;
    let page_of_valley = shipped.rows("page_of_valley")?;
    let to = &mut tables.page_of_valley[..valleys];
    shipped.fill(to, page_of_valley, "page_of_valley")?;
    let lines = rows("projection", valleys, "one line a valley")?;
    for (to, from) in tables.projection.iter_mut().zip(lines) {
        let [intercept, slope] = shipped.several(from, "projection")?;
        *to = Line { intercept, slope };
    }
    let parabolas = rows("curved", valleys, "one parabola a valley")?;
    for (to, from) in tables.curved.iter_mut().zip(parabolas) {
        let [intercept, slope, square] = shipped.several(from, "curved")?;
        *to = Parabola {
            line: Line { intercept, slope },
            square,
        };
    }
    let curves = rows("spare", pages, "one curve a page type")?;
    for (to, from) in tables.spare.iter_mut().zip(curves) {
        *to = shipped.several(from, "spare")?;
    }
    let factory = shipped.rows("factory")?;
    if factory.is_empty() || factory.len() > MAX_FACTORY {
        return Err(shipped.bad(ShippedFault::Factory));
    }
    tables.factory_len = u8::try_from(factory.len()).unwrap_or(u8::MAX);
    for (to, from) in tables.factory.iter_mut().zip(factory) {
        let from = shipped.array(from, "factory")?;
        shipped.fill(&mut to[..valleys], from, "factory")?;
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
            assert_eq!(
                parse_sensing(chip, text).unwrap(),
                (mode.name().to_owned(), made)
            );
        }
    }

    /// What is safe follows retention and temperature without a stair: a degree above a row of the table is a
    /// degree's worth away from it, and not what the next row has.
    #[test]
    fn formula_safe_senses_between_two_temperatures_lie_between() {
        for (chip, text) in SHIPPED_SENSING {
            let (_, table) = parse_sensing(chip, text).unwrap();
            let mut told_apart = 0;
            for pe_cycles in [0, 500, 1000, 1500, 2000] {
                for age_h in [24, 72, 168] {
                    let pre = |celsius| {
                        let age = firstread_core::Ns::from_h(age_h);
                        i32::from(table.safe(celsius, pe_cycles, age).pre_permille)
                    };
                    let all @ [at_30, at_31, at_43, at_55] = [30, 31, 43, 55].map(pre);
                    let place = format!("{chip}, {pe_cycles} P/E, {age_h} h: {all:?} permille");
                    // Two of a thousand: numbers of the table are whole tenths of a bit.
                    assert!(at_30 <= at_31 + 2 && at_31 <= at_43 + 2, "{place}");
                    assert!(at_43 <= at_55 + 2, "{place}");
                    // 1000 is "nothing is safe", from wherever that begins.
                    if at_55 < 1000 && at_55 - at_30 > 20 {
                        assert!(at_31 - at_30 < (at_55 - at_30) / 4, "{place}");
                        assert_ne!(at_31, at_55, "{place}");
                        told_apart += 1;
                    }
                }
            }
            assert!(
                told_apart > 2,
                "{chip}: conditions that tell temperatures apart"
            );
        }
    }

    #[test]
    fn golden_shipped_tables_are_those_of_the_chips() {
        for (chip, mode, text) in SHIPPED {
            assert!(CHIPS.iter().any(|(name, _)| name == chip));
            let profile = load_chip(&Library::new(), chip, &[]).unwrap().chip;
            let made = characterize(&profile, *mode).unwrap();
            assert_eq!(
                render(chip, &profile.factory_table, &made),
                *text,
                "run cargo xtask characterize"
            );
            assert_eq!(parse(chip, text, *mode).unwrap(), made);
        }
    }

    #[test]
    fn what_is_refused_names_the_file() {
        let (chip, _, text) = SHIPPED[0];
        for (from, to, message) in [
            ("dac_mv = 5", "dac_mv = 256", "dac_mv has 256"),
            ("dac_mv = 5", "", "no dac_mv"),
            ("dac_mv = 5", "dac_mv = \"5\"", "no number"),
            ("mode = \"qlc\"", "mode = \"tlc\"", "none for mode qlc"),
            ("  [33, 37319]", "  [33, 3000000000]", "out of range"),
            (
                "factory = [\n",
                "factory = [\n  [1, 2],\n",
                "2 numbers, not 15",
            ),
            ("sentinel = [", "sentinel = [-1, ", "5 numbers, not 4"),
            ("spare = [\n  [", "spare = [\n  7, [", "has not one curve"),
        ] {
            assert!(text.contains(from), "{from}");
            let text = text.replacen(from, to, 1);
            let error = parse(chip, &text, CellMode::Qlc).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
            assert!(
                error.starts_with("profiles/tables/ct-qlc-176l.toml: "),
                "{error}"
            );
        }
        let (chip, text) = SHIPPED_SENSING[0];
        let (_, first) = text.split_once("    [").unwrap();
        let (first, _) = first.split_once(',').unwrap();
        for (from, to, message) in [
            ("mode = ", "mood = ", "no mode"),
            ("[FIRST, ", "[", "8 numbers, not 9"),
            ("[FIRST, ", "[-FIRST, ", "out of range"),
            ("[FIRST, ", "[65536, ", "out of range"),
            ("    [FIRST", "    [0],\n    [FIRST", "a line for each age"),
            (
                "celsius_30 = [",
                "celsius_30 = [[], ",
                "a block for each wear",
            ),
            ("celsius_85", "celsius_86", "no celsius_85"),
            (
                "codeword_bits = 9216",
                "codeword_bits = -9216",
                "codeword_bits has -9216",
            ),
        ] {
            let [from, to] = [from, to].map(|s| s.replace("FIRST", first));
            assert!(text.contains(&from), "{from}");
            let error = parse_sensing(chip, &text.replacen(&from, &to, 1)).unwrap_err();
            let error = error.to_string();
            assert!(error.contains(message), "{error}");
            assert!(
                error.starts_with("profiles/tables/ct-tlc-48l-sensing.toml: "),
                "{error}"
            );
        }
    }
}
