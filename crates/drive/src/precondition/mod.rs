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

use crate::before::Preconditioned;

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
    /// over all that was filled.
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
pub(crate) struct DoesNotFit;

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

/// Contents of superblocks: valid slots by heat class, in the order in which the superblocks were opened.
#[derive(Clone, PartialEq, Debug)]
struct Counts {
    classes: usize,
    /// Valid slots; the classes of a superblock are adjacent.
    valid: Vec<u32>,
    /// Number of superblocks opened since each one.
    since: Vec<u64>,
    /// Slots programmed per host slot.
    amplification: f64,
}

/// Superblocks of `slots` slots that share `pages` pages.
#[derive(Clone, Copy, Debug)]
struct Shape {
    blocks: u32,
    slots: u32,
    pages: u64,
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

/// Whole numbers close to `parts`, scaled so that they add up to `total`.
fn whole(parts: &[f64], total: u64) -> Vec<u32> {
    let all: f64 = parts.iter().sum();
    let (mut sum, mut given) = (0.0, 0u64);
    let share = |part: &f64| {
        sum += part;
        let until = if all > 0.0 {
            sum / all * total as f64
        } else {
            0.0
        };
        let until = (until.round() as u64).clamp(given, total);
        let n = until - given;
        given = until;
        n as u32
    };
    let mut numbers: Vec<u32> = parts.iter().map(share).collect();
    // The remainder of rounding, or everything if all parts are zero.
    if let Some(last) = numbers.last_mut() {
        *last += (total - given) as u32;
    }
    numbers
}

/// Takes valid slots from superblocks with more than they can hold, and gives them to those with the most
/// room.
fn fit(valid: &mut [u32], classes: usize, slots: u32) {
    let mut sums: Vec<u64> = valid
        .chunks_exact(classes)
        .map(|block| block.iter().map(|&n| n as u64).sum())
        .collect();
    for from in 0..sums.len() {
        while sums[from] > slots as u64 {
            let of_block = from * classes..(from + 1) * classes;
            let Some(class) = of_block.max_by_key(|&i| valid[i]) else {
                return;
            };
            let class = class % classes;
            let Some(to) = (0..sums.len()).min_by_key(|&to| sums[to]) else {
                return;
            };
            let excess = (sums[from] - slots as u64).min(valid[from * classes + class] as u64);
            let n = excess.min((slots as u64).saturating_sub(sums[to]));
            if n == 0 {
                return;
            }
            valid[from * classes + class] -= n as u32;
            valid[to * classes + class] += n as u32;
            sums[from] -= n;
            sums[to] += n;
        }
    }
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

    #[test]
    fn formula_numbers_add_up_and_fit() {
        for (parts, total) in [
            (vec![0.5, 0.25, 0.25], 10),
            (vec![0.0, 0.0], 7),
            (vec![1e-9, 3.3, 5.7], 9),
        ] {
            let numbers = whole(&parts, total);
            assert_eq!(numbers.iter().map(|&n| n as u64).sum::<u64>(), total);
        }
        let mut valid = vec![12, 0, 3, 4, 1, 2];
        fit(&mut valid, 2, 10);
        assert_eq!(valid.iter().sum::<u32>(), 22);
        assert!(
            valid.chunks_exact(2).all(|b| b[0] + b[1] <= 10),
            "{valid:?}"
        );
    }
}
