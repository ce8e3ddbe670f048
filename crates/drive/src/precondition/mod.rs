//! Preconditioning without writing: the steady state of random overwrites, from theory.
//!
//! The number of valid slots per superblock follows from the scheme that chooses victims: in closed form if
//! all pages are written equally often (`uniform`), otherwise from a mean-field model of heat classes
//! (`zipf`). Keyed permutations decide which slots are valid and which pages they hold
//! (`before::Preconditioned`). Both describe a moment at which no superblock is open.
//!
//! A drive with a low wearing area has the state that overwrites alone make of it, since no page is read: what spills into
//! the area is in the model of heat classes (`low_area`). Where nothing enters the area, all data lie in the other one, if
//! that holds them. If not, the areas are one drive to host and cleaning, and hold alike.
//!
//! Each overwrite covers a single mapping unit. Pages at and above [`fill`] were never written; the pages
//! below it are in the steady state.
//!
//! [`fill`]: crate::DriveState::fill

use std::fmt;

use firstread_core::{Stream, SuperblockId};
use firstread_firmware::policy::gc_victim::Law;
use firstread_workload::stream::hot_page_order;
use thiserror::Error;

use crate::initial_contents::{FillOrder, Preconditioned};
pub(crate) use counts::LowShape;
use counts::{Region, Shape};

mod block;
mod counts;
mod low_area;
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
    /// Superblocks whose data relocation has moved there; none are told of a drive without a low wearing area.
    pub moved: Vec<SuperblockId>,
    /// Slots programmed per host slot.
    pub amplification: f64,
    /// Whether that is an approximation: two areas that host and cleaning use as one, under Zipf's law.
    pub is_approximated: bool,
    /// Place in the order of a fill of the first superblock that pages of the map may take: the one after those with data.
    pub first_of_map: u32,
}

impl Steady {
    /// The superblocks so far numbered by their places in `order` have the numbers there.
    pub(crate) fn lies_in(&mut self, order: &FillOrder) {
        let numbers = (0..self.state.blocks()).map(|i| order.number(self.state.number(i).0));
        let numbers: Vec<u32> = numbers.collect();
        for block in &mut self.moved {
            *block = SuperblockId(order.number(block.0));
        }
        self.state = self.state.clone().numbered(&numbers);
    }
}

/// The superblocks of a drive that overwrites have filled, none of them free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Filled {
    /// Superblocks from number zero on.
    pub blocks: u32,
    /// Slots of a superblock.
    pub slots: u32,
    /// Pages that they share.
    pub pages: u64,
    /// Those of the low wearing area, if it holds data.
    pub low: Option<FilledLow>,
}

/// The superblocks of the low wearing area that overwrites have filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FilledLow {
    /// Number of the first one.
    pub first: u32,
    /// Their number.
    pub blocks: u32,
    /// The sizes of the area, if data spill into it; none if it holds what the rest of the drive holds.
    pub spills: Option<LowShape>,
}

/// The steady state of the superblocks `filled`. `seed` decides where pages lie on this drive, `workload_seed` which pages
/// are hot. `law` is the rule by which victims are chosen.
pub(crate) fn steady(
    precondition: Precondition,
    filled: &Filled,
    law: Law,
    (seed, workload_seed): (u64, u64),
) -> Result<Steady, DoesNotFit> {
    let low = filled.low;
    let alike = low.filter(|low| low.spills.is_none());
    let shape = Shape {
        blocks: filled.blocks + alike.map_or(0, |low| low.blocks),
        slots: filled.slots,
        pages: filled.pages,
        low: low.and_then(|low| low.spills),
    };
    let key = Stream::new(seed).named("precondition");
    let (mut counts, order) = match precondition {
        Precondition::Zipf(theta) => (
            zipf::counts(&shape, theta, law, key),
            hot_page_order(workload_seed),
        ),
        _ if shape.low.is_some() => (zipf::counts_uniform(&shape, law, key), key.named("pages")),
        _ => (uniform::counts(&shape, law), key.named("pages")),
    };
    let (classes, valid) = (counts.classes as u32, &counts.valid);
    let mut state =
        Preconditioned::new(filled.slots, classes, valid, order, key).ok_or(DoesNotFit)?;
    let mut moved = Vec::new();
    if let Some(low) = low {
        if low.spills.is_none() {
            spread(&mut counts.regions, low.blocks);
        }
        state = state.numbered(&numbers(&counts.regions, low.first));
        let have_moved = (0..).zip(&counts.have_moved);
        let have_moved = have_moved.filter(|(_, has_moved)| **has_moved);
        moved = have_moved.map(|(i, _)| state.number(i)).collect();
    }
    Ok(Steady {
        state,
        since: counts.since,
        moved,
        amplification: counts.amplification,
        is_approximated: alike.is_some() && matches!(precondition, Precondition::Zipf(_)),
        first_of_map: filled.blocks,
    })
}

/// Has `low` superblocks of `regions` lie in the low wearing area, evenly over the order of opening.
fn spread(regions: &mut [Region], low: u32) {
    let all = regions.len() as u64;
    let before = |i: u64| i * u64::from(low) / all;
    for (i, region) in (0..).zip(regions) {
        if before(i + 1) > before(i) {
            *region = Region::Low;
        }
    }
}

/// Numbers of superblocks that lie in `regions`, in the order of opening: from zero on, and from `first_low` on in the low
/// wearing area.
fn numbers(regions: &[Region], first_low: u32) -> Vec<u32> {
    let (mut high, mut low) = (0.., first_low..);
    let number = |region: &Region| match region {
        Region::High => high.next(),
        Region::Low => low.next(),
    };
    regions.iter().filter_map(number).collect()
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
