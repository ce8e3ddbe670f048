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

use firstread_firmware::policy::gc_victim::Law;

use super::counts::{Counts, Shape, fit, whole};

/// Overwrites, as a multiple of the number of pages.
const CAPACITIES: f64 = 5.0;
/// Maximum number of modelled superblocks. On a larger drive each of them stands for several.
const MOST_BLOCKS: u32 = 256;
const FEW_BLOCKS: u32 = 128;
/// Ranks whose probabilities are summed individually; later ranks are integrated.
const FIRST_RANKS: u64 = 1024;

/// Classes computed in parallel; their number is padded to a multiple of this with empty classes.
const LANES: usize = 4;

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

/// A superblock that holds data.
#[derive(Clone, Debug)]
struct Block {
    valid: Vec<f64>,
    sum: f64,
    opened: u64,
    opened_at: f64,
}

/// A superblock being filled.
#[derive(Clone, Debug)]
struct Open {
    block: Block,
    filled: f64,
}

impl Block {
    fn empty(classes: usize) -> Block {
        Block {
            valid: vec![0.0; classes],
            sum: 0.0,
            opened: 0,
            opened_at: 0.0,
        }
    }

    /// Slots become stale: `decay` is the share of each class that remains valid.
    fn decay(&mut self, decay: &[f64]) {
        let mut sums = [0.0; LANES];
        let pairs = self
            .valid
            .chunks_exact_mut(LANES)
            .zip(decay.chunks_exact(LANES));
        for (valid, decay) in pairs {
            for i in 0..LANES {
                valid[i] *= decay[i];
                sums[i] += valid[i];
            }
        }
        self.sum = sums.iter().sum();
    }
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
    fn new(classes: &'a [Class], slots: f64, victim: Law, key: Stream) -> Population<'a> {
        let empty = || Open {
            block: Block::empty(classes.len()),
            filled: 0.0,
        };
        let mut model = Population {
            classes,
            slots,
            victim,
            key,
            draws: 0,
            blocks: Vec::new(),
            host: empty(),
            mover: empty(),
            opened: 0,
            now: 0.0,
            moved: 0.0,
            decay: vec![1.0; classes.len()],
        };
        let pages: f64 = classes.iter().map(|c| c.pages).sum();
        let mut left = pages;
        while left > 0.0 {
            let here = left.min(slots);
            let valid = classes.iter().map(|c| c.pages * here / pages).collect();
            model.opened += 1;
            let block = Block {
                valid,
                sum: here,
                opened: model.opened,
                opened_at: 0.0,
            };
            if here < slots {
                model.host = Open {
                    block,
                    filled: here,
                };
            } else {
                model.blocks.push(block);
            }
            left -= here;
        }
        model
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
        let full = self.slots * (1.0 - 1e-9);
        let gains = |b: &Block| b.sum < full;
        let candidates = || self.blocks.iter().enumerate().filter(|(_, b)| gains(b));
        match self.victim {
            Law::Oldest => candidates().min_by_key(|(_, b)| b.opened),
            Law::Emptiest => candidates().min_by(|(_, a), (_, b)| a.sum.total_cmp(&b.sum)),
            Law::CostBenefit => {
                let worth = |b: &Block| {
                    (self.now - b.opened_at) * (self.slots - b.sum) / (2.0 * b.sum).max(1e-9)
                };
                candidates().max_by(|(_, a), (_, b)| worth(a).total_cmp(&worth(b)))
            }
            Law::Drawn(d) => {
                let all: Vec<usize> = candidates().map(|(i, _)| i).collect();
                if all.is_empty() {
                    return None;
                }
                let from = self.draws;
                self.draws += u64::from(d);
                let drawn = (from..self.draws)
                    .map(|i| all[self.key.at(i).below(all.len() as u64) as usize]);
                return drawn.min_by(|&a, &b| self.blocks[a].sum.total_cmp(&self.blocks[b].sum));
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
        let moved = victim.sum;
        self.moved += moved;
        let mut left = moved;
        while left > self.slots * 1e-12 {
            if self.mover.filled == 0.0 {
                self.opened += 1;
                self.mover.block.opened = self.opened;
                self.mover.block.opened_at = self.now;
            }
            let n = left.min(self.slots - self.mover.filled);
            let share = n / left;
            let open = &mut self.mover.block;
            for (to, from) in open.valid.iter_mut().zip(&mut victim.valid) {
                *to += *from * share;
                *from -= *from * share;
            }
            open.sum += n;
            self.mover.filled += n;
            left -= n;
            if self.mover.filled >= self.slots * (1.0 - 1e-12) {
                let empty = Block::empty(self.classes.len());
                self.blocks.push(core::mem::replace(open, empty));
                self.mover.filled = 0.0;
            }
        }
        self.write(self.slots - moved);
        true
    }

    /// Overwrites the drive on `blocks` superblocks. Returns the slots programmed per host slot during the
    /// last overwrite of the capacity.
    fn overwrite(&mut self, blocks: u32) -> f64 {
        let pages: f64 = self.classes.iter().map(|c| c.pages).sum();
        self.write(f64::from(blocks) * self.slots - self.programmed());
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
            };
            self.blocks.push(block);
        }
        self.blocks.sort_by_key(|b| b.opened);
        amplification
    }
}

/// The state of `shape` under `victim` after random overwrites by Zipf's law of exponent `theta`.
pub(super) fn counts(shape: &Shape, theta: f64, victim: Law, key: Stream) -> Counts {
    let classes = classes(shape.pages, theta);
    counts_of(shape, &classes, victim, key)
}

fn counts_of(shape: &Shape, classes: &[Class], victim: Law, key: Stream) -> Counts {
    let n = match shape.blocks {
        few @ ..=MOST_BLOCKS => few,
        _ => FEW_BLOCKS,
    };
    let of_each = f64::from(shape.blocks) / f64::from(n);
    let mut padded = classes.to_vec();
    let none = Class {
        pages: 0.0,
        rate: 0.0,
    };
    padded.resize(classes.len().next_multiple_of(LANES), none);
    let mut model = Population::new(&padded, f64::from(shape.slots) * of_each, victim, key);
    let amplification = model.overwrite(n);
    let last = model.blocks.len() - 1;
    let like = |i: u32| &model.blocks[(i as usize * n as usize / shape.blocks as usize).min(last)];
    let mut valid = vec![0; shape.blocks as usize * classes.len()];
    for (c, class) in classes.iter().enumerate() {
        let parts: Vec<f64> = (0..shape.blocks).map(|i| like(i).valid[c]).collect();
        for (i, n) in whole(&parts, class.pages as u64).into_iter().enumerate() {
            valid[i * classes.len() + c] = n;
        }
    }
    fit(&mut valid, classes.len(), shape.slots);
    let since = |i: u32| ((model.opened - like(i).opened) as f64 * of_each) as u64;
    Counts {
        classes: classes.len(),
        valid,
        since: (0..shape.blocks).map(since).collect(),
        amplification,
    }
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
        };
        let one = [Class {
            pages: 16e6,
            rate: 1.0 / 16e6,
        }];
        for victim in [Law::Oldest, Law::Emptiest, Law::CostBenefit] {
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
