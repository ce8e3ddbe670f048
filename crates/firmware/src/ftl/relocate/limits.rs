//! Limits of promotion: how many pages are promoted for those that the host reads, and how many pages have to wait for a
//! superblock before one changes its mode for them. How many promoted pages may wait for programs is limited by the write
//! buffers of declared streams.

use alloc::boxed::Box;

use firstread_core::{CellMode, Lpn};

use crate::config::Config;
use crate::policy::cell_mode::{AnyCellMode, CellModes};

/// Pages that may be saved up.
const MOST_SAVED: u64 = 1000;
/// Bits of the set of waiting pages for each page that it has to tell apart.
const BITS_A_PAGE: u64 = 8;

/// The limits of a drive, and how far promotion has come to them.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// Pages that may be promoted for each 1,000 pages that the host reads from flash, and what is left of them in
    /// thousandths of a page.
    per_thousand: u64,
    left_milli: u64,
    /// Pages that wait for a superblock, by mode; none where a superblock changes its mode for a single page.
    waiting: [Option<Waiting>; CellMode::ALL.len()],
}

/// Pages that wait for a superblock of one mode. A page that waits is known by a bit, so that it counts once however
/// often it is read. Two pages may share a bit: then they count as one.
#[derive(Clone, Debug)]
struct Waiting {
    bits: Box<[u64]>,
    /// Pages that wait, and those that are enough.
    pages: u64,
    enough: u64,
    /// The epoch of the observer of heat in which they were read.
    epoch: u32,
}

impl Waiting {
    /// Of which `enough` are enough.
    fn new(enough: u64) -> Waiting {
        let bits = (BITS_A_PAGE * enough).next_power_of_two().max(64);
        Waiting {
            bits: alloc::vec![0; (bits / 64) as usize].into(),
            pages: 0,
            enough,
            epoch: 0,
        }
    }

    fn clear(&mut self) {
        if self.pages > 0 {
            self.bits.fill(0);
            self.pages = 0;
        }
    }

    /// Page `lpn`, read in `epoch`, waits too.
    fn add(&mut self, lpn: Lpn, epoch: u32) {
        if self.epoch != epoch {
            self.clear();
            self.epoch = epoch;
        }
        let bits = 64 * self.bits.len() as u64;
        let bit = (lpn.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % bits;
        let word = &mut self.bits[(bit / 64) as usize];
        self.pages += u64::from(*word >> (bit % 64) & 1 == 0);
        *word |= 1 << (bit % 64);
    }
}

impl Limits {
    /// On a drive of `config` with scheme `cell_mode`.
    pub(super) fn new(config: &Config, cell_mode: &AnyCellMode) -> Limits {
        let limits = cell_mode.limits();
        let mut waiting = [const { None }; CellMode::ALL.len()];
        for mode in cell_mode.streams().iter().filter_map(|row| row.mode()) {
            let slots = u64::from(config.geometry.slots_per_superblock(mode));
            let enough = slots * u64::from(limits.demand_permille) / 1000;
            waiting[mode.index()] = (enough > 1).then(|| Waiting::new(enough));
        }
        Limits {
            per_thousand: u64::from(limits.rate_permille),
            left_milli: 0,
            waiting,
        }
    }

    /// The host has read a page.
    #[inline]
    pub(super) fn earn(&mut self) {
        self.left_milli = (self.left_milli + self.per_thousand).min(MOST_SAVED * 1000);
    }

    /// Whether a page more may be promoted now.
    pub(super) fn may_promote(&self) -> bool {
        self.left_milli >= 1000
    }

    /// A page has been promoted.
    pub(super) fn spend(&mut self) {
        self.left_milli = self.left_milli.saturating_sub(1000);
    }

    /// Page `lpn` was read in `epoch` of the observer of heat and waits for a superblock in `mode`. Returns whether
    /// enough pages do.
    pub(super) fn enough_wait(&mut self, mode: CellMode, lpn: Lpn, epoch: u32) -> bool {
        self.waiting[mode.index()].as_mut().is_none_or(|waiting| {
            waiting.add(lpn, epoch);
            waiting.pages >= waiting.enough
        })
    }

    /// A superblock changes to `mode`: no page waits any more.
    pub(super) fn superblock_came(&mut self, mode: CellMode) {
        if let Some(waiting) = &mut self.waiting[mode.index()] {
            waiting.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use firstread_core::Stream;

    use super::*;

    /// Pages count once, those of an earlier epoch not at all. A set of bits has few pages share one.
    #[test]
    fn model_a_page_that_waits_counts_once_an_epoch() {
        let (mut most_apart, mut all) = (0, 0);
        for seed in 0..40 {
            let s = Stream::new(seed).named("waiting");
            let enough = 2 + s.at(0).below(400);
            let mut waiting = Waiting::new(enough);
            let mut pages = BTreeSet::new();
            let (mut epoch, mut reached) = (0, 0);
            for i in 1..3_000 {
                let draw = s.at(i);
                if draw.at(0).below(1_000) == 0 {
                    epoch += 1;
                    pages.clear();
                }
                let lpn = draw.at(1).below(2 * enough);
                pages.insert(lpn);
                waiting.add(Lpn(lpn), epoch);
                let exact = pages.len() as u64;
                assert!(waiting.pages <= exact, "seed {seed}, step {i}");
                most_apart = most_apart.max((exact - waiting.pages) * 100 / exact);
                let half_full = exact <= enough;
                assert!(
                    !half_full || waiting.pages * 10 >= exact * 8,
                    "seed {seed}, step {i}: {} of {exact}",
                    waiting.pages
                );
                if waiting.pages >= enough {
                    reached += 1;
                    waiting.clear();
                    pages.clear();
                }
            }
            all += reached;
        }
        assert!(all > 100, "{all} times enough, {most_apart} % apart");
    }

    /// Each page that is read earns a share of a promotion, a thousand of them are saved up at most, and each promotion takes
    /// one.
    #[test]
    fn model_promotions_are_earned_by_reads() {
        let (mut refused, mut allowed) = (0, 0);
        for seed in 0..40 {
            let s = Stream::new(seed).named("rate");
            let per_thousand = [1, 40, 300, 1_000][s.at(0).below(4) as usize];
            let mut limits = Limits {
                per_thousand,
                left_milli: 0,
                waiting: [const { None }; CellMode::ALL.len()],
            };
            let mut left_milli = 0;
            for i in 0..6_000 {
                // Long times of saving and long ones of spending.
                if (i / 1_500) % 2 == 0 || s.at(i).below(2) == 0 {
                    limits.earn();
                    left_milli = (left_milli + per_thousand).min(1_000_000);
                    continue;
                }
                let expected = left_milli >= 1_000;
                assert_eq!(limits.may_promote(), expected, "seed {seed}, step {i}");
                if expected {
                    limits.spend();
                    left_milli -= 1_000;
                    allowed += 1;
                } else {
                    refused += 1;
                }
            }
        }
        assert!(
            refused > 1_000 && allowed > 1_000,
            "{refused} refused, {allowed} allowed"
        );
    }
}
