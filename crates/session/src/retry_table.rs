//! A factory retry table from a CSV file: a row an entry, a column a read level, offsets in DAC units.
//!
//! The name of the file may stand wherever the list of entries may: in a profile (`entries = "table.csv"`, from the folder
//! of the profile) and in an override (`chip.factory_table.entries=table.csv`).

use std::path::Path;

use firstread_drive::profile::Override;
use thiserror::Error;

use crate::files::{self, FileError};

/// Why a file is no retry table.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "an error's message says what its values are")]
pub enum RetryTableError {
    #[error(transparent)]
    File(#[from] FileError),
    /// It has no row with numbers.
    #[error("{0}: no entry: a retry table has a row an entry, and a column a read level")]
    Empty(String),
    /// A field is no offset.
    #[error("{file}:{line}: column `{column}`: `{field}` {fault}")]
    Field {
        file: String,
        line: usize,
        column: String,
        field: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// A row has another number of levels than the first one.
    #[error("{file}:{line}: {given} levels where the first entry has {wanted}")]
    Levels {
        file: String,
        line: usize,
        given: usize,
        wanted: usize,
    },
}

/// Names of a first column that numbers the entries.
const NUMBERS: [&str; 7] = ["entry", "step", "retry", "index", "no", "n", "#"];
/// The key of the entries.
const KEY: &str = "entries";
const ENDING: &str = ".csv";

/// `overrides`, with the table in place of the name of its file.
///
/// # Errors
/// [`RetryTableError`] where the file is no retry table.
pub fn in_overrides(overrides: &[Override]) -> Result<Vec<Override>, RetryTableError> {
    let one = |given: &Override| {
        let value = given.value.trim_matches(['"', '\'']);
        let is_file = given.path.ends_with("factory_table.entries") && value.ends_with(ENDING);
        match is_file {
            true => Ok(Override::new(&given.path, &read(Path::new(value))?)),
            false => Ok(given.clone()),
        }
    };
    overrides.iter().map(one).collect()
}

/// The `text` of a profile in `folder`, with the table in place of the name of its file. Lines stay where they are.
///
/// # Errors
/// [`RetryTableError`] where the file is no retry table.
pub(crate) fn in_text(text: &str, folder: &Path) -> Result<String, RetryTableError> {
    let mut whole = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match named_file(line) {
            Some(name) => {
                let table = read(&folder.join(name))?;
                whole += &line.replace(&format!("\"{name}\""), &table);
            }
            None => whole += line,
        }
    }
    Ok(whole)
}

/// The file that `line` of a profile names as its entries.
fn named_file(line: &str) -> Option<&str> {
    let (key, value) = line.split_once('=')?;
    let key = key.trim();
    let is_key = key == KEY || key.ends_with("factory_table.entries");
    // The first text of the value: of `{ value = "table.csv", source = "..." }` too.
    let mut parts = value.split('"');
    let before = parts.next()?;
    let name = parts.next()?;
    (is_key && !before.contains(['[', '#']) && name.ends_with(ENDING)).then_some(name)
}

/// The table in the file at `path`, as a list of lists.
fn read(path: &Path) -> Result<String, RetryTableError> {
    let text = files::read_text(path)?;
    parse(&path.to_string_lossy(), &text)
}

/// The same of `text`, whose file is called `file`.
fn parse(file: &str, text: &str) -> Result<String, RetryTableError> {
    let text = text.trim_start_matches('\u{feff}');
    let lines = (1..).zip(text.lines());
    let mut lines = lines
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .map(|(number, line)| (number, fields(line)))
        .peekable();
    let is_head = |fields: &[&str]| {
        fields
            .iter()
            .any(|f| f.starts_with(|c: char| c.is_alphabetic()))
    };
    let head = lines.next_if(|(_, fields)| is_head(fields));
    let head = head.map_or(Vec::new(), |(_, fields)| fields);
    let first = head.first().map(|name| name.to_ascii_lowercase());
    let numbered = usize::from(first.is_some_and(|name| NUMBERS.contains(&name.as_str())));
    let mut entries: Vec<String> = Vec::new();
    let mut wanted = head.len().checked_sub(numbered).filter(|n| *n > 0);
    for (line, fields) in lines {
        let levels = fields.get(numbered..).unwrap_or_default();
        let wanted = *wanted.get_or_insert(levels.len());
        if levels.len() != wanted {
            return Err(RetryTableError::Levels {
                file: file.to_owned(),
                line,
                given: levels.len(),
                wanted,
            });
        }
        for (i, field) in levels.iter().enumerate() {
            let fault = match field.parse::<i64>() {
                Ok(n) if i8::try_from(n).is_ok() => continue,
                Ok(_) => "is outside -128 to 127 DAC units",
                Err(_) => "is no whole number of DAC units",
            };
            let name = head.get(i + numbered).map(|name| (*name).to_owned());
            return Err(RetryTableError::Field {
                file: file.to_owned(),
                line,
                column: name.unwrap_or_else(|| (i + 1).to_string()),
                field: (*field).to_owned(),
                fault,
            });
        }
        let plain: Vec<&str> = levels.iter().map(|f| f.trim_start_matches('+')).collect();
        entries.push(format!("[{}]", plain.join(", ")));
    }
    match entries.is_empty() {
        true => Err(RetryTableError::Empty(file.to_owned())),
        false => Ok(format!("[{}]", entries.join(", "))),
    }
}

/// The fields of `line`, between commas or semicolons, without quotes.
fn fields(line: &str) -> Vec<&str> {
    let separator = if line.contains(';') { ';' } else { ',' };
    line.split(separator)
        .map(|field| field.trim().trim_matches('"').trim())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_tables_of_files() {
        let given = include_str!("../../cli/tests/cases/retry-table.csv");
        let table = parse("t", given).unwrap();
        assert_eq!(
            table,
            "[[-2, -2, -2, -3, -3, -3, -4, -4, -4, -5, -5, -5, -6, -6, -6], \
             [-4, -4, -5, -5, -6, -6, -7, -8, -8, -9, -10, -10, -11, -12, -12]]"
        );
        for text in [
            "\u{feff}# mine\nR1;R2\n\"+1\"; -2\n\n0;3\n",
            "1,-2\n0,3",
            "Step,a,b\n7,1,-2\n8,0,3",
        ] {
            assert_eq!(parse("t", text).unwrap(), "[[1, -2], [0, 3]]", "{text}");
        }
        for (text, message) in [
            (
                "",
                "t: no entry: a retry table has a row an entry, and a column a read level",
            ),
            (
                "entry,v1\n",
                "t: no entry: a retry table has a row an entry, and a column a read level",
            ),
            (
                "entry,v1,v2\n1,2,128\n",
                "t:2: column `v2`: `128` is outside -128 to 127 DAC units",
            ),
            (
                "1,2\n1,x\n",
                "t:2: column `2`: `x` is no whole number of DAC units",
            ),
            (
                "v1,v2\n1,2.5\n",
                "t:2: column `v2`: `2.5` is no whole number of DAC units",
            ),
            (
                "v1,v2\n1,2\n1\n",
                "t:3: 1 levels where the first entry has 2",
            ),
        ] {
            assert_eq!(parse("t", text).unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn formula_a_profile_names_its_file() {
        for (line, name) in [
            ("entries = \"a.csv\"\n", Some("a.csv")),
            (
                "entries = { value = \"a.csv\", source = \"mine\" }",
                Some("a.csv"),
            ),
            ("factory_table.entries=\"a.csv\"", Some("a.csv")),
            ("entries = [[1]] # \"a.csv\"", None),
            ("summary = \"a.csv\"", None),
            ("# entries = \"a.csv\"", None),
            ("entries = \"a.txt\"", None),
        ] {
            assert_eq!(named_file(line), name, "{line}");
        }
    }
}
