//! A row of the table of fio options. See [`super::options`].

use super::apply::Draft;
use super::error::ValueError;
use super::value::Value;

/// An option of a job file: what `firstread` makes of it, and what its help says.
#[derive(Clone, Copy, Debug)]
pub struct OptionRow {
    /// Its name, as in fio.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// Shape of its value, with the unit of a number that has none.
    pub takes: &'static str,
    /// Value of a job that does not name the option, as fio's manual page has it.
    pub default: &'static str,
    /// A value that it takes.
    pub example: &'static str,
    /// Effect here, or the reason why it has none.
    pub doc: &'static str,
    pub(super) effect: Effect,
}

/// How an option acts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    /// It sets something of the job.
    Load(fn(&mut Draft, &Value<'_>) -> Result<(), ValueError>),
    /// No effect here, for the reason given.
    Ignored(&'static str),
    /// It cannot be honoured, for the reason given.
    Unsupported(&'static str),
}

/// How an option is handled.
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
