//! Pages are overwritten by Zipf's law: a mean-field model of heat classes.
//!
//! Pages are divided into classes by rank, half an octave each. All pages of a class are written equally
//! often: this is the approximation, since the hottest page of a class is written `1.5^θ` times as often as
//! the coldest. A superblock is described by the number of valid slots of each class. This number decays by
//! `e^(-q t)` for a class whose pages are each written with probability `q`. Host writes go to the open
//! superblock of the host, the contents of a victim to that of relocation. Victims are chosen by the scheme.
//! All numbers are expectations: superblocks hold many slots. The model is the multi-class mean field of Van
//! Houdt (Performance Evaluation 2013) and Desnoyers (TOS 2014). It follows the trajectory of a drive filled
//! in address order over [`CAPACITIES`] times its pages. A drive reaches its state of use within a few
//! capacities, but takes hundreds to forget the initial fill of pages that it hardly ever writes.

use crate::initial_contents::heat_classes;
use firstread_core::Stream;

use firstread_firmware::policy::gc_victim::{LEAST_SHARE, Law, Rule};

use super::block::{Block, LANES, Open};
use super::counts::{Counts, Region, Shape, fit, whole};
use super::low_area::Low;

/// Overwrites, as a multiple of the number of pages.
const CAPACITIES: f64 = 5.0;
/// Maximum number of modelled superblocks. On a larger drive each of them stands for several.
const MOST_BLOCKS: u32 = 256;
const FEW_BLOCKS: u32 = 128;
/// Ranks whose probabilities are summed individually; later ranks are integrated.
const FIRST_RANKS: u64 = 1024;

#[derive(Clone, Copy, Debug)]
struct Class {
    pages: f64,
    /// Probability that a write is of a given page of the class.
    rate: f64,
}

/// The classes of `pages` pages under exponent `theta`.
fn classes(pages: u64, theta: f64) -> Vec<Class> {
    let firsts = heat_classes(pages);
    let weight = |from: u64, to: u64| -> f64 {
        let middle = to.min(FIRST_RANKS).max(from);
        let one_by_one: f64 = (from..middle)
            .map(|r| libm::pow(r as f64 + 1.0, -theta))
            .sum();
        if middle == to {
            return one_by_one;
        }
        // The midpoint rule.
        let (a, b) = (middle as f64 + 0.5, to as f64 + 0.5);
        let x = (1.0 - theta) * libm::log(b / a);
        let growth = if x.abs() > 1e-9 {
            libm::expm1(x) / x
        } else {
            1.0
        };
        one_by_one + libm::pow(a, 1.0 - theta) * libm::log(b / a) * growth
    };
    let ends = firsts[1..].iter().copied().chain([pages]);
    let spans: Vec<(u64, u64)> = firsts.iter().copied().zip(ends).collect();
    let weights: Vec<f64> = spans.iter().map(|&(from, to)| weight(from, to)).collect();
    let all: f64 = weights.iter().sum();
    let class = |(&(from, to), w): (&(u64, u64), &f64)| Class {
        pages: (to - from) as f64,
        rate: if to > from {
            w / all / (to - from) as f64
        } else {
            0.0
        },
    };
    spans.iter().zip(&weights).map(class).collect()
}

struct Population<'a> {
    classes: &'a [Class],
    /// Slots per superblock.
    slots: f64,
    victim: Law,
    key: Stream,
    draws: u64,
    blocks: Vec<Block>,
    host: Open,
    mover: Open,
    /// The low wearing area, on a drive that has one. The superblocks above are then those of the high wearing area.
    low: Option<Low>,
    /// Number of superblocks opened so far.
    opened: u64,
    /// Number of host writes so far.
    now: f64,
    /// Number of slots moved so far.
    moved: f64,
    decay: Vec<f64>,
}

impl<'a> Population<'a> {
    /// A drive filled in address order.
    fn new(
        classes: &'a [Class],
        slots: f64,
        victim: Law,
        key: Stream,
        low: Option<Low>,
    ) -> Population<'a> {
        let empty = || Open::empty(classes.len());
        let mut model = Population {
            classes,
            slots,
            victim,
            key,
            draws: 0,
            blocks: Vec::new(),
            host: empty(),
            mover: empty(),
            low: None,
            opened: 0,
            now: 0.0,
            moved: 0.0,
            decay: vec![1.0; classes.len()],
        };
        let pages: f64 = classes.iter().map(|c| c.pages).sum();
        let in_low = low.as_ref().map_or(0.0, |low| low.filled_of(pages));
        (model.blocks, model.host) = model.filled(pages - in_low);
        if let Some(mut low) = low {
            (low.blocks, low.open) = model.filled(in_low);
            model.low = Some(low);
        }
        model
    }

    /// Superblocks filled with `left` pages, each with the same share of every class, and one that is not full.
    fn filled(&mut self, mut left: f64) -> (Vec<Block>, Open) {
        let pages: f64 = self.classes.iter().map(|c| c.pages).sum();
        let (mut blocks, mut open) = (Vec::new(), Open::empty(self.classes.len()));
        while left > 0.0 {
            let here = left.min(self.slots);
            let valid = self.classes.iter().map(|c| c.pages * here / pages);
            self.opened += 1;
            let block = Block {
                valid: valid.collect(),
                sum: here,
                opened: self.opened,
                opened_at: 0.0,
                has_moved: false,
            };
            if here < self.slots {
                open = Open {
                    block,
                    filled: here,
                };
            } else {
                blocks.push(block);
            }
            left -= here;
        }
        (blocks, open)
    }

    /// Valid slots of the high wearing area, or of the drive, and of the low wearing area.
    fn held(&self) -> [f64; 2] {
        let pages: f64 = self.classes.iter().map(|c| c.pages).sum();
        let low = self.low.as_ref().map_or(0.0, Low::valid);
        [pages - low, low]
    }

    /// Slots programmed since their erase.
    fn programmed(&self) -> f64 {
        self.blocks.len() as f64 * self.slots + self.host.filled + self.mover.filled
    }

    /// The host writes `n` slots, within one superblock.
    fn write_some(&mut self, n: f64) {
        let n = n.min(self.slots - self.host.filled);
        if self.host.filled == 0.0 {
            self.opened += 1;
            self.host.block.opened = self.opened;
            self.host.block.opened_at = self.now;
        }
        for (d, c) in self.decay.iter_mut().zip(self.classes) {
            *d = libm::exp(-c.rate * n);
        }
        let open = [&mut self.mover.block, &mut self.host.block];
        for block in self.blocks.iter_mut().chain(open) {
            block.decay(&self.decay);
        }
        if let Some(low) = &mut self.low {
            low.decay(&self.decay);
        }
        let host = &mut self.host;
        for ((v, d), c) in host
            .block
            .valid
            .iter_mut()
            .zip(&self.decay)
            .zip(self.classes)
        {
            let new = c.pages * (1.0 - d);
            *v += new;
            host.block.sum += new;
        }
        host.filled += n;
        self.now += n;
        if host.filled >= self.slots * (1.0 - 1e-12) {
            let closed = core::mem::replace(&mut host.block, Block::empty(self.classes.len()));
            host.filled = 0.0;
            self.blocks.push(closed);
        }
    }

    fn write(&mut self, mut n: f64) {
        while n > self.slots * 1e-12 {
            let some = n.min(self.slots - self.host.filled);
            self.write_some(some);
            n -= some;
        }
    }

    /// The superblock to be cleaned; none if all are full of valid slots.
    fn choose(&mut self) -> Option<usize> {
        let blocks = core::mem::take(&mut self.blocks);
        let chosen = self.choose_of(&blocks);
        self.blocks = blocks;
        chosen
    }

    /// The superblock of `blocks` to be cleaned.
    fn choose_of(&mut self, blocks: &[Block]) -> Option<usize> {
        let full = self.slots * (1.0 - 1e-9);
        let least = match self.victim.is_guarded {
            true => {
                let emptiest = blocks.iter().map(|b| b.sum).fold(self.slots, f64::min);
                (self.slots - emptiest) / LEAST_SHARE as f64
            }
            false => 0.0,
        };
        let gains = |b: &Block| b.sum < full && self.slots - b.sum >= least;
        let candidates = || blocks.iter().enumerate().filter(|(_, b)| gains(b));
        match self.victim.rule {
            Rule::Oldest => candidates().min_by_key(|(_, b)| b.opened),
            Rule::Emptiest => candidates().min_by(|(_, a), (_, b)| a.sum.total_cmp(&b.sum)),
            Rule::CostBenefit => {
                let worth = |b: &Block| {
                    (self.now - b.opened_at) * (self.slots - b.sum) / (2.0 * b.sum).max(1e-9)
                };
                candidates().max_by(|(_, a), (_, b)| worth(a).total_cmp(&worth(b)))
            }
            Rule::Drawn(d) => {
                let all: Vec<usize> = candidates().map(|(i, _)| i).collect();
                if all.is_empty() {
                    return None;
                }
                let from = self.draws;
                self.draws += u64::from(d);
                let drawn = (from..self.draws)
                    .map(|i| all[self.key.at(i).below(all.len() as u64) as usize]);
                return drawn.min_by(|&a, &b| blocks[a].sum.total_cmp(&blocks[b].sum));
            }
        }
        .map(|(i, _)| i)
    }

    /// Cleans a superblock, and lets the host write the slots gained. False if nothing can be gained.
    fn clean(&mut self) -> bool {
        let Some(victim) = self.choose() else {
            return false;
        };
        let mut victim = self.blocks.remove(victim);
        self.moved += victim.sum;
        self.spill(&mut victim);
        let moved = victim.sum;
        while victim.sum > self.slots * 1e-12 {
            let n = victim.sum.min(self.slots - self.mover.filled);
            let slots = (n, self.slots);
            let full = self
                .mover
                .take(slots, &mut victim, &mut self.opened, self.now);
            self.blocks.extend(full);
        }
        self.write(self.slots - moved);
        true
    }

    /// Moves what `victim` holds into the low wearing area, as far as that takes it.
    fn spill(&mut self, victim: &mut Block) {
        let Some(mut low) = self.low.take() else {
            return;
        };
        let open = [&self.host.block, &self.mover.block];
        let high = self.blocks.iter().chain(open);
        let high_valid = high.map(|block| block.sum).sum::<f64>() + victim.sum;
        let least = self.slots * 1e-9;
        let mut left = match victim.has_moved && low.takes(high_valid) {
            true => victim.sum.min(low.left_to_settle()),
            false => 0.0,
        };
        // Each superblock is emptied for room at most once.
        let mut compactions = low.blocks.len();
        while left > least {
            let room = low.room(self.slots);
            if room <= least {
                let may_compact = compactions > 0;
                compactions = compactions.saturating_sub(1);
                if may_compact && self.compact(&mut low) {
                    continue;
                }
                break;
            }
            left -= self.take_low(left.min(room), victim, &mut low);
        }
        self.low = Some(low);
    }

    /// Writes `n` slots of `from`, or as many as its open superblock has left, to the low wearing area. Returns how many.
    fn take_low(&mut self, n: f64, from: &mut Block, low: &mut Low) -> f64 {
        let n = n.min(self.slots - low.open.filled);
        let slots = (n, self.slots);
        let full = low.open.take(slots, from, &mut self.opened, self.now);
        low.blocks.extend(full);
        n
    }

    /// Empties a superblock of the low wearing area within it. False if that is not worth it.
    fn compact(&mut self, low: &mut Low) -> bool {
        let Some(victim) = self.choose_of(&low.blocks) else {
            return false;
        };
        let gain = self.slots - low.blocks[victim].sum;
        let high = self.choose();
        let high_gain = high.map_or(0.0, |high| self.slots - self.blocks[high].sum);
        if gain < self.slots / 2.0 && gain < high_gain {
            return false;
        }
        let mut victim = low.blocks.remove(victim);
        self.moved += victim.sum;
        while victim.sum > self.slots * 1e-12 {
            self.take_low(victim.sum, &mut victim, low);
        }
        true
    }

    /// Overwrites the drive on `blocks` superblocks of the model, beside those of the low wearing area. Returns the slots
    /// programmed per host slot during the last overwrite of the capacity.
    fn overwrite(&mut self, blocks: f64) -> f64 {
        let pages: f64 = self.classes.iter().map(|c| c.pages).sum();
        self.write(blocks * self.slots - self.programmed());
        while self.now < (CAPACITIES - 1.0) * pages && self.clean() {}
        let (written, moved) = (self.now, self.moved);
        while self.now < CAPACITIES * pages && self.clean() {}
        let amplification = 1.0 + (self.moved - moved) / (self.now - written).max(1.0);
        // All slots of the superblocks are programmed now: the open superblocks of the host and of relocation
        // are combined into one, the youngest.
        if self.host.filled + self.mover.filled > self.slots * 0.5 {
            let (host, mover) = (&self.host.block, &self.mover.block);
            let valid = host.valid.iter().zip(&mover.valid).map(|(a, b)| a + b);
            let block = Block {
                valid: valid.collect(),
                sum: host.sum + mover.sum,
                opened: self.opened,
                opened_at: self.now,
                has_moved: self.mover.filled > self.host.filled,
            };
            self.blocks.push(block);
        }
        self.blocks.sort_by_key(|b| b.opened);
        if let Some(low) = &mut self.low {
            if low.open.filled > self.slots * 0.5 {
                let empty = Open::empty(self.classes.len());
                let open = core::mem::replace(&mut low.open, empty);
                low.blocks.push(open.block);
            }
            low.blocks.sort_by_key(|b| b.opened);
        }
        amplification
    }
}

/// The state of `shape` under `victim` after random overwrites by Zipf's law of exponent `theta`.
pub(super) fn counts(shape: &Shape, theta: f64, victim: Law, key: Stream) -> Counts {
    let classes = classes(shape.pages, theta);
    counts_of(shape, &classes, victim, key)
}

/// The state of `shape` under `victim` after random overwrites, uniform over all pages.
pub(super) fn counts_uniform(shape: &Shape, victim: Law, key: Stream) -> Counts {
    let pages = shape.pages as f64;
    let one = Class {
        pages,
        rate: 1.0 / pages,
    };
    counts_of(shape, &[one], victim, key)
}

fn counts_of(shape: &Shape, classes: &[Class], victim: Law, key: Stream) -> Counts {
    let in_low = shape.low.map_or(0, |low| low.filled());
    let all = shape.blocks + in_low;
    let n = match all {
        few @ ..=MOST_BLOCKS => few,
        _ => FEW_BLOCKS,
    };
    let of_each = f64::from(all) / f64::from(n);
    let mut padded = classes.to_vec();
    let none = Class {
        pages: 0.0,
        rate: 0.0,
    };
    padded.resize(classes.len().next_multiple_of(LANES), none);
    let slots = f64::from(shape.slots) * of_each;
    let low = shape
        .low
        .map(|low| Low::new(&low, shape.slots, padded.len()));
    let mut model = Population::new(&padded, slots, victim, key, low);
    let high = match shape.low {
        Some(_) => f64::from(shape.blocks) / of_each,
        None => f64::from(n),
    };
    let amplification = model.overwrite(high);
    let held = model.held();
    // The superblock of the model that each one is like: the region, and which of it.
    let like = |region: Region, i: u32| match (&model.low, region) {
        (None, _) => {
            let last = model.blocks.len() - 1;
            &model.blocks[(i as usize * n as usize / shape.blocks as usize).min(last)]
        }
        (Some(_), Region::High) => of_list(&model.blocks, i, shape.blocks),
        (Some(low), Region::Low) => of_list(&low.blocks, i, in_low),
    };
    let in_high = (0..shape.blocks).map(|i| (Region::High, like(Region::High, i)));
    let in_low = (0..in_low).map(|i| (Region::Low, like(Region::Low, i)));
    let mut all: Vec<(Region, &Block)> = in_high.chain(in_low).collect();
    all.sort_by_key(|(_, block)| block.opened);
    // Each region holds what it holds in the model, its open superblocks included.
    let scale = [Region::High, Region::Low].map(|of| {
        let alike = all.iter().filter(|(region, _)| *region == of);
        let shown: f64 = alike.map(|(_, like)| like.sum).sum();
        match model.low.is_some() && shown > 0.0 {
            true => held[of as usize] / shown,
            false => 1.0,
        }
    });
    let mut valid = vec![0; all.len() * classes.len()];
    for (c, class) in classes.iter().enumerate() {
        let part = |(region, like): &(Region, &Block)| like.valid[c] * scale[*region as usize];
        let parts: Vec<f64> = all.iter().map(part).collect();
        for (i, n) in whole(&parts, class.pages as u64).into_iter().enumerate() {
            valid[i * classes.len() + c] = n;
        }
    }
    fit(&mut valid, classes.len(), shape.slots);
    let since = |like: &Block| ((model.opened - like.opened) as f64 * of_each) as u64;
    Counts {
        classes: classes.len(),
        valid,
        since: all.iter().map(|(_, like)| since(like)).collect(),
        amplification,
        regions: all.iter().map(|(region, _)| *region).collect(),
        have_moved: all.iter().map(|(_, like)| like.has_moved).collect(),
    }
}

/// The superblock of `blocks` that the `i`-th of `of` superblocks is like.
fn of_list(blocks: &[Block], i: u32, of: u32) -> &Block {
    &blocks[i as usize * blocks.len() / of as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_classes_share_the_writes() {
        for theta in [0.5, 0.99, 1.0, 1.3] {
            let pages = 100_000u64;
            let classes = classes(pages, theta);
            let all: f64 = classes.iter().map(|c| c.rate * c.pages).sum();
            assert!((all - 1.0).abs() < 1e-12);
            let sum: f64 = (1..=pages).map(|k| libm::pow(k as f64, -theta)).sum();
            assert!(
                (classes[0].rate * sum - 1.0).abs() < 1e-5,
                "theta {theta}: the hottest page"
            );
        }
    }

    /// With one class the model is that of `uniform`.
    #[test]
    fn formula_one_class_is_the_closed_form() {
        let shape = Shape {
            blocks: 200,
            slots: 100_000,
            pages: 16_000_000,
            low: None,
        };
        let one = [Class {
            pages: 16e6,
            rate: 1.0 / 16e6,
        }];
        for victim in [Rule::Oldest, Rule::Emptiest, Rule::CostBenefit].map(Law::guarded) {
            let model = counts_of(&shape, &one, victim, Stream::new(1));
            let theory = super::super::uniform::counts(&shape, victim);
            let mut sorted = model.valid.clone();
            sorted.sort_unstable();
            for i in (5..195).step_by(10) {
                let (a, b) = (sorted[i] as f64, theory.valid[i] as f64);
                assert!(
                    (a / b - 1.0).abs() < 0.01,
                    "{victim:?} {i}: {a}, theory {b}"
                );
            }
        }
    }
}
