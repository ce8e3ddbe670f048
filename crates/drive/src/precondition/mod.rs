//! Preconditioning without writing: the steady state of random overwrites, from theory.
//!
//! The number of valid slots per superblock follows from the scheme that chooses victims: in closed form if
//! all pages are written equally often (`uniform`), otherwise from a mean-field model of heat classes
//! (`zipf`). Keyed permutations decide which slots are valid and which pages they hold
//! (`before::Preconditioned`). Both describe a moment at which no superblock is open.
//!
//! Each overwrite covers a single mapping unit. Pages at and above [`fill`] were never written; the pages
//! below it are in the steady state.
//!
//! [`fill`]: crate::DriveState::fill

use std::fmt;

use firstread_core::Stream;
use firstread_firmware::policy::gc_victim::Law;
use firstread_workload::stream::hot_page_order;
use thiserror::Error;

use crate::initial_contents::Preconditioned;
use counts::Shape;

mod counts;
mod uniform;
mod zipf;

/// Writes before the run, after the initial fill.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Precondition {
    /// None: the drive was filled once, in address order.
    #[default]
    None,
    /// Random overwrites, uniform over all pages, until the steady state.
    Random,
    /// Random overwrites by Zipf's law with this exponent. The hot pages are those of a fio job with the
    /// workload seed of the drive's state: the first job of its file, `random_distribution=zipf`, `bs` equal
    /// to the mapping unit, over the filled pages.
    Zipf(f64),
}

/// Largest exponent of Zipf's law.
const MAX_THETA: f64 = 3.0;

/// Why a preconditioning cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PreconditionError {
    /// The text is none of the words.
    #[error("`{0}` is none of none, random, zipf:THETA (zipf:0.9)")]
    Word(String),
    /// The exponent of Zipf's law is not a number, or out of range.
    #[error("`{0}`: THETA is a number above 0, at most {MAX_THETA}")]
    Theta(String),
}

/// The counts of a steady state do not fit a drive: a defect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("defect: the steady state does not fit the drive")]
pub struct DoesNotFit;

impl Precondition {
    /// Reads `none`, `random` or `zipf:THETA`.
    ///
    /// # Errors
    /// [`PreconditionError`] where it is none of them.
    pub fn parse(text: &str) -> Result<Precondition, PreconditionError> {
        let theta = match text {
            "none" => return Ok(Precondition::None),
            "random" => return Ok(Precondition::Random),
            _ => text.strip_prefix("zipf:"),
        };
        match theta.map(str::parse::<f64>) {
            None => Err(PreconditionError::Word(text.to_owned())),
            Some(Ok(theta)) if theta > 0.0 && theta <= MAX_THETA => Ok(Precondition::Zipf(theta)),
            Some(_) => Err(PreconditionError::Theta(text.to_owned())),
        }
    }
}

impl fmt::Display for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Precondition::None => f.write_str("none"),
            Precondition::Random => f.write_str("random"),
            Precondition::Zipf(theta) => write!(f, "zipf:{theta}"),
        }
    }
}

/// A drive in steady state.
#[derive(Debug)]
pub(crate) struct Steady {
    pub state: Preconditioned,
    /// Number of superblocks opened since each superblock, in the order of opening.
    pub since: Vec<u64>,
    /// Slots programmed per host slot.
    pub amplification: f64,
}

/// The steady state of `pages` pages on `blocks` superblocks of `slots` slots, none of them free. `seed`
/// decides where pages lie on this drive, `workload_seed` which pages are hot. `law` is the rule by which
/// victims are chosen.
pub(crate) fn steady(
    precondition: Precondition,
    (blocks, slots, pages): (u32, u32, u64),
    law: Law,
    (seed, workload_seed): (u64, u64),
) -> Result<Steady, DoesNotFit> {
    let shape = Shape {
        blocks,
        slots,
        pages,
    };
    let key = Stream::new(seed).named("precondition");
    let (counts, order) = match precondition {
        Precondition::Zipf(theta) => (
            zipf::counts(&shape, theta, law, key),
            hot_page_order(workload_seed),
        ),
        _ => (uniform::counts(&shape, law), key.named("pages")),
    };
    let state = Preconditioned::new(slots, counts.classes as u32, &counts.valid, order, key)
        .ok_or(DoesNotFit)?;
    Ok(Steady {
        state,
        since: counts.since,
        amplification: counts.amplification,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_and_what_refused() {
        for text in ["none", "random", "zipf:0.9"] {
            assert_eq!(Precondition::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "", "zipf", "zipf:", "zipf:0", "zipf:-1", "zipf:nan", "zipf:9", "Random",
        ] {
            assert!(Precondition::parse(text).is_err(), "{text}");
        }
    }
}
