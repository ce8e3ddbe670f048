//! Profiles: strict TOML text to resolved structs.
//!
//! A drive profile names a chip profile; both are text, shipped with the crate or handed in by the
//! caller, which is the one that opens files. Reading is strict: every number has a unit and a
//! source, every key is known, and what is wrong is reported all at once, with file and line and
//! the nearest valid name. What was read is kept as a flat listing, which `show` prints and every
//! result embeds.
//!
//! - [`quantity`]: numbers with units.
//! - [`document`]: parsed text, inheritance, overrides.
//! - [`reader`]: the strict reader.
//! - [`key`]: the declaration of a key. [`keys`]: the keys of a table, consumed one by one. `value`: types of values, and
//!   tables of keys as structs.
//! - [`listing`]: what was read, as a flat list.
//! - [`chip`]: a chip's text to [`firstread_nand::ChipProfile`].
//! - [`drive`]: a drive, fully resolved.
//! - `load`: a drive's text to [`DriveProfile`], chip included. `schemes`: the schemes in it.
//! - [`queues`]: its submission queues. [`heat`]: how heat is counted.
//! - `check`: what a drive must be beyond its keys, what its schemes need among it.
//! - [`switched_off`]: schemes that an option switches off.

mod check;
pub mod chip;
pub mod document;
pub mod drive;
pub mod heat;
pub(crate) mod keeps;
pub mod key;
pub mod keys;
pub mod listing;
mod load;
mod memory;
pub mod quantity;
pub mod queues;
pub mod reader;
mod schemes;
mod streams;
pub mod switched_off;
mod value;

use std::fmt;

pub use check::WearRateRefused;
pub use chip::{LoadedChip, load_chip};
pub use document::Override;
pub use drive::DriveProfile;
pub(crate) use drive::LEAST_LOW;
pub use heat::HeatProfile;
pub use listing::{ResolvedEntry, to_toml};
pub use load::{chip_reference, load_drive};
pub use quantity::{Dimension, Quantity, Unit};
pub use queues::{Arbitration, PriorityClass, QueuesProfile};
pub use schemes::SchemeChoice;
pub use switched_off::SwitchedOff;

/// One thing that is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// File and line (`ct-qlc.toml:12`) or override (`--set ecc.setup=3`); empty where it has none.
    pub place: String,
    /// The key's path; empty where it has none.
    pub key: String,
    /// What is wrong and what was expected.
    pub message: String,
}

impl Problem {
    /// A problem without a place.
    pub fn new(message: String) -> Problem {
        Problem {
            place: String::new(),
            key: String::new(),
            message,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.place, &self.key] {
            if !part.is_empty() {
                write!(f, "{part}: ")?;
            }
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// Everything that is wrong with a profile, in the order of its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileError {
    /// The faults: one at least.
    pub problems: Vec<Problem>,
}

impl From<Problem> for ProfileError {
    fn from(problem: Problem) -> ProfileError {
        ProfileError {
            problems: vec![problem],
        }
    }
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            let newline = if i > 0 { "\n" } else { "" };
            write!(f, "{newline}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ProfileError {}

/// What a profile describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A NAND chip: cells, ageing, timing.
    Chip,
    /// Chips with a controller, a link and schemes.
    Drive,
}

impl Kind {
    /// The word for it in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Chip => "chip",
            Kind::Drive => "drive",
        }
    }
}

macro_rules! shipped {
    ($folder:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!(env!("FIRSTREAD_PROFILES"), "/", $folder, "/", $name, ".toml")))),*]
    };
}

/// Shipped chips: name and text.
pub const CHIPS: &[(&str, &str)] = shipped!("chips":
    "ct-qlc-176l" "fg-qlc-144l" "ct-tlc-48l" "tlc-dc" "dwr-tlc" "ibm-qlc-x" "paca-qlc-96l" "raro-hybrid"
    "constant-256p" "constant-128p");

/// Shipped drives: name and text.
pub const DRIVES: &[(&str, &str)] = shipped!("drives":
    "dc-qlc-15t" "ct-qlc-recommended" "ct-qlc-as-printed" "fg-qlc" "a-tlc" "s-tlc" "tlc-48l" "dwr-256g" "raro-femu" "ibm-qlc"
    "ibm-qlc-paca" "ibm-fcm2" "bench-512g" "bench-4g");

/// Earlier names of shipped drives, and their names today. `ct-qlc` is also a scheme and a study.
const EARLIER: [(&str, &str); 1] = [("ct-qlc", "dc-qlc-15t")];

/// The name today of the profile called `name`.
fn today(kind: Kind, name: &str) -> &str {
    let mut earlier = EARLIER.iter().filter(|_| kind == Kind::Drive);
    earlier.find(|row| row.0 == name).map_or(name, |row| row.1)
}

/// Where profiles are looked up: the texts that the caller has read, then those shipped.
#[derive(Clone, Debug, Default)]
pub struct Library {
    own: Vec<(Kind, String, String)>,
}

impl Library {
    /// The shipped profiles alone.
    pub fn new() -> Library {
        Library::default()
    }

    /// Adds a profile under `name`, as a rule its path. It hides a shipped one of the same name.
    pub fn add(&mut self, kind: Kind, name: &str, text: &str) {
        self.own.push((kind, name.into(), text.into()));
    }

    /// Names there are, own ones first.
    pub fn names(&self, kind: Kind) -> Vec<&str> {
        let own = self.own.iter().filter(|(k, ..)| *k == kind);
        own.map(|(_, name, _)| name.as_str())
            .chain(shipped(kind).iter().map(|(name, _)| *name))
            .collect()
    }

    /// Whether there is a profile `name`.
    pub fn has(&self, kind: Kind, name: &str) -> bool {
        let names = self.names(kind);
        names.contains(&name) || names.contains(&today(kind, name))
    }

    /// The name there is that is most similar to `name`; an earlier one stands for that of today.
    pub fn nearest(&self, kind: Kind, name: &str) -> &str {
        let earlier = EARLIER.iter().filter(|_| kind == Kind::Drive);
        let all = self.names(kind).into_iter().chain(earlier.map(|row| row.0));
        firstread_workload::nearest(name, all).map_or("", |name| today(kind, name))
    }

    /// Label for messages, and text of profile `name`.
    fn find(&self, kind: Kind, name: &str) -> Result<(String, &str), Problem> {
        let own = self
            .own
            .iter()
            .rev()
            .find(|(k, n, _)| *k == kind && n == name);
        if let Some((_, name, text)) = own {
            return Ok((name.clone(), text));
        }
        let name_today = today(kind, name);
        let found = shipped(kind).iter().find(|(n, _)| *n == name_today);
        if let Some((name, text)) = found {
            return Ok((format!("profiles/{}s/{name}.toml", kind.name()), text));
        }
        let names = self.names(kind);
        Err(Problem::new(format!(
            "there is no {} `{name}`; the nearest is `{}` of {}",
            kind.name(),
            self.nearest(kind, name),
            names.join(", ")
        )))
    }
}

const fn shipped(kind: Kind) -> &'static [(&'static str, &'static str)] {
    match kind {
        Kind::Chip => CHIPS,
        Kind::Drive => DRIVES,
    }
}

#[cfg(test)]
mod tests;
