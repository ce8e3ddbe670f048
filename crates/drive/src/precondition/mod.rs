//! Preconditioning without writing: the steady state of random overwrites by theory.
//!
//! How many slots of each superblock are valid follows from the scheme that chooses victims: in
//! closed form where all pages are written alike (`uniform`), from a mean-field model of heat
//! classes where they are not (`zipf`). Which slots, and which pages they hold, is a keyed
//! permutation (`before::Preconditioned`). Both are the state at a moment at which no superblock is open.
//!
//! Overwrites are of single mapping units. The steady state of pages below [`fill`] is that of a
//! drive of which the rest was never written.
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

/// What was written before the run, beyond the fill.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Precondition {
    /// Nothing: the drive was filled once, in address order.
    #[default]
    None,
    /// Random overwrites, every page as often, until nothing changes any more.
    Random,
    /// Random overwrites under Zipf's law with this exponent. The hot pages are those of a fio job
    /// with the state's seed of the workload: the first of its file, `random_distribution=zipf`, `bs` the mapping unit,
    /// over all that was filled.
    Zipf(f64),
}

/// Largest exponent of Zipf's law.
const MAX_THETA: f64 = 3.0;

/// Why what was written before the run cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PreconditionError {
    /// It is none of the words.
    #[error("`{0}` is none of none, random, zipf:THETA (zipf:0.9)")]
    Word(String),
    /// The exponent of Zipf's law is no number, or not of those that it can have.
    #[error("`{0}`: THETA is a number above 0, at most {MAX_THETA}")]
    Theta(String),
}

/// The counts of a steady state are not those of a drive: a defect.
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

/// What superblocks hold: a table of their valid slots by heat class, the superblock opened longest
/// ago first.
#[derive(Clone, PartialEq, Debug)]
struct Counts {
    classes: usize,
    /// Valid slots, the classes of a superblock side by side.
    valid: Vec<u32>,
    /// Superblocks opened since each was.
    since: Vec<u64>,
    /// Slots programmed for each that the host writes.
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
    /// Superblocks opened since each superblock was, the first opened first.
    pub since: Vec<u64>,
    /// Slots programmed for each that the host writes.
    pub amplification: f64,
}

/// The steady state of `pages` pages on `blocks` superblocks of `slots` slots, none of them free. `seed`
/// draws where pages lie on this drive, `workload_seed` which of them are hot. Victims are chosen by `law`.
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

/// Whole numbers near `parts` that add up to `total`; `parts` are scaled to do so.
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
    // What rounding, or parts that are all zero, left over.
    if let Some(last) = numbers.last_mut() {
        *last += (total - given) as u32;
    }
    numbers
}

/// Takes from superblocks that hold more than they can, and gives to those with the most room.
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
