//! fio options: the rows of [`OPTIONS`], from which come parsing, messages, documentation and tests.
//!
//! An option describes the load, or has no meaning for a simulated drive (then it is accepted and
//! named once in a notice), or would change the load in a way that is not modelled (then it is an
//! error). Names are those of fio 3.

pub use super::row::{OptionRow, Support};
pub use super::table::OPTIONS;

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
