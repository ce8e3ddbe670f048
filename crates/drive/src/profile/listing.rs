//! What was read, as a flat list.

use crate::profile::Override;

/// One leaf of a resolved profile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResolvedEntry {
    /// Path of the key.
    pub path: String,
    /// Its value, without unit; a list in brackets.
    pub value: String,
    /// Unit of the value; empty for counts, names and switches.
    pub unit: String,
    /// Where the value is from; empty for names and switches that need none.
    pub source: String,
    /// Whether an override set it.
    pub overridden: bool,
    /// The value as TOML, unit included.
    pub literal: String,
}

impl ResolvedEntry {
    /// The override that sets what the entry says, to repeat a run from its listing.
    pub fn to_override(&self) -> Override {
        Override::new(&self.path, &self.literal)
    }

    /// The same entry below `key`.
    pub(crate) fn under(self, key: &str) -> ResolvedEntry {
        ResolvedEntry {
            path: format!("{key}.{}", self.path),
            ..self
        }
    }
}

/// Text of a profile that has exactly `entries`.
pub fn to_toml(entries: &[ResolvedEntry]) -> String {
    let mut text = String::new();
    for e in entries {
        text += &match e.source.as_str() {
            "" => format!("{} = {}\n", e.path, e.literal),
            source => format!(
                "{} = {{ value = {}, source = {} }}\n",
                e.path,
                e.literal,
                quoted(source)
            ),
        };
    }
    text
}

/// `text` as a TOML string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out += &format!("\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
