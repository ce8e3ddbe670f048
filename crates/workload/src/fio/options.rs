//! fio options: the rows of [`OPTIONS`], from which come parsing, messages, documentation and tests.
//!
//! An option describes the load, or has no meaning for a simulated drive (then it is accepted and
//! named once in a notice), or would change the load in a way that is not modelled (then it is an
//! error). Names are those of fio 3.

use super::apply::Draft;
pub use super::table::OPTIONS;
use super::value::Value;

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct OptionRow {
    /// Its name, as in fio.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// Shape of its value, with the unit of a number that has none.
    pub takes: &'static str,
    /// What holds where it is not given.
    pub default: &'static str,
    /// A value that it takes.
    pub example: &'static str,
    /// What it does here, or why it does nothing.
    pub doc: &'static str,
    pub(super) effect: Effect,
}

/// How an option acts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    /// It sets something of the job.
    Load(fn(&mut Draft, &Value<'_>) -> Result<(), String>),
    /// It means nothing here, for the reason given.
    Ignored(&'static str),
    /// It cannot be honoured, for the reason given.
    Unsupported(&'static str),
}

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It shapes the load.
    Yes,
    /// It is accepted and named in a notice.
    Ignored,
    /// It is an error.
    No,
}

impl OptionRow {
    /// What becomes of the option.
    pub const fn support(&self) -> Support {
        match self.effect {
            Effect::Load(_) => Support::Yes,
            Effect::Ignored(_) => Support::Ignored,
            Effect::Unsupported(_) => Support::No,
        }
    }
}

/// The row of `name`, which may be an alias.
pub fn find(name: &str) -> Option<&'static OptionRow> {
    OPTIONS
        .iter()
        .find(|row| row.name == name || row.aliases.contains(&name))
}

/// The table as Markdown, for the reference.
pub fn markdown() -> String {
    let mut text = String::from("| option | value | default | what it does |\n|---|---|---|---|\n");
    for row in OPTIONS.iter().filter(|row| row.support() == Support::Yes) {
        let mut names = format!("`{}`", row.name);
        for alias in row.aliases {
            names += &format!(", `{alias}`");
        }
        let cells = [&names, row.takes, row.default, row.doc].map(|cell| cell.replace('|', "\\|"));
        text += &format!("| {} |\n", cells.join(" | "));
    }
    for (support, title) in [
        (Support::Ignored, "Accepted without effect"),
        (Support::No, "Not supported"),
    ] {
        text += &format!("\n{title}:\n\n");
        // Rows with one reason stand together in the table.
        let mut last = "";
        for row in OPTIONS.iter().filter(|row| row.support() == support) {
            if row.doc == last {
                text += &format!(", `{}`", row.name);
            } else {
                let end = if last.is_empty() { "" } else { "\n" };
                text += &format!("{end}- {}: `{}`", row.doc, row.name);
            }
            last = row.doc;
        }
        text.push('\n');
    }
    text
}
