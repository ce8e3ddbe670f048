//! How many superblocks a pool in SLC mode is worth, and which pages are let in.
//!
//! A page is let in if its last version lived no longer than a limit. The pool is filled and emptied in turn, so a page stays until it is
//! overwritten or until the pool has come round: `turn` = slots of the pool ÷ share of the writes that is let in. What lives longer is
//! moved to the drive's own mode. With the lives of sampled pages (`lifetimes`) each limit and each size has
//!
//! ```text
//! in       share of the writes that is let in: those of the classes up to the limit
//! out      share of these that lives longer than a turn, and is moved
//! live     slots of the pool that hold data: in × the mean of min(life, turn)
//! own      data of the drive's own mode ÷ slots left there: WA ≈ 1 / (2 (1 − own)), at least 1
//! cost     in × cost of a page in the pool + (1 − in + in × out) × WA × cost of a page in the drive's own mode
//! ```
//!
//! and the least cost decides: the smaller pool of two that cost alike. A page costs its part of the wear of a superblock and of the
//! program time of a wordline, in a ratio that is a parameter.

use super::lifetimes::{CLASSES, Lifetimes};

/// Sizes that are compared.
const SIZES: u64 = 24;
/// Sampled writes from which the sample tells something.
const ENOUGH: u32 = 512;
/// Thousandths.
const MILLI: u64 = 1000;

/// What a slot costs in the pool, in thousandths of what it costs in the drive's own mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SlotCost(pub(super) u64);

/// What the pool may be made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    /// Superblocks at least and at most.
    pub(super) least: u32,
    pub(super) most: u32,
    /// Slots of a superblock in the mode of the pool and in the drive's own.
    pub(super) slots: u64,
    pub(super) own_slots: u64,
    /// Slots in use, and all slots if no superblock were in the pool, without the reserve of cleaning.
    pub(super) valid: u64,
    pub(super) all: u64,
}

/// A size, and the class up to which pages are let in; none if none are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Size {
    pub(super) superblocks: u32,
    pub(super) class: Option<usize>,
    /// Cost of a page that the host writes, in thousandths of a program in the drive's own mode.
    pub(super) cost: u64,
}

/// The size with the least cost; none while too little is known.
pub(super) fn best(lives: &Lifetimes, bounds: &Bounds, cost: SlotCost) -> Option<Size> {
    if lives.seen() < ENOUGH {
        return None;
    }
    let all = u64::from(lives.seen());
    let without = Size {
        superblocks: bounds.least,
        class: None,
        cost: write_amplification(bounds, u64::from(bounds.least), 0),
    };
    let mut best = without;
    let mut ended = [0u64; CLASSES];
    let mut written = 0;
    for class in 0..CLASSES {
        let (of_class, lived) = lives.of_class(class);
        written += u64::from(of_class);
        ended
            .iter_mut()
            .zip(lived)
            .for_each(|(sum, n)| *sum += u64::from(*n));
        if of_class == 0 || written == 0 {
            continue;
        }
        let (least, most) = (u64::from(bounds.least), u64::from(bounds.most));
        let mut last = u64::MAX;
        for step in 0..=SIZES {
            // Small sizes are told apart better than large ones.
            let superblocks = least + (most.saturating_sub(least)) * step * step / (SIZES * SIZES);
            if superblocks == last || superblocks == 0 {
                continue;
            }
            last = superblocks;
            let turn = superblocks * bounds.slots * all / written;
            let (out, mean) = stay(lives, &ended, written, turn);
            let live = (written * mean / all)
                .min(superblocks * bounds.slots)
                .min(bounds.valid);
            let let_in = MILLI * written / all;
            let to_own = MILLI - let_in + let_in * out / MILLI;
            let own = to_own * write_amplification(bounds, superblocks, live) / MILLI;
            let sum = let_in * cost.0 / MILLI + own;
            // A larger pool or more pages have to be worth it.
            if sum * 100 < best.cost * 99 {
                best = Size {
                    superblocks: superblocks as u32,
                    class: Some(class),
                    cost: sum,
                };
            }
        }
    }
    Some(best)
}

/// Of versions of which `written` were written and which `ended` at these lives: the share that lives longer than `turn` slots, in
/// thousandths, and the mean of life and turn, whichever is less.
fn stay(lives: &Lifetimes, ended: &[u64; CLASSES], written: u64, turn: u64) -> (u64, u64) {
    let (mut died, mut sum, mut begins) = (0, 0u128, 0);
    for (class, &n) in ended.iter().enumerate() {
        let ends = lives.longest(class);
        if begins >= turn {
            break;
        }
        // Within a class lives are taken to be spread evenly.
        let n = n.min(written - died);
        let (dies, until) = match ends <= turn {
            true => (n, ends),
            false => (n * (turn - begins) / (ends - begins), turn),
        };
        died += dies;
        sum += u128::from(dies) * u128::from((begins + until) / 2);
        begins = ends;
    }
    let left = written - died;
    sum += u128::from(left) * u128::from(turn);
    (MILLI * left / written, (sum / u128::from(written)) as u64)
}

/// Write amplification of the drive's own mode, in thousandths, if the pool has `superblocks` superblocks with `live` slots in use.
fn write_amplification(bounds: &Bounds, superblocks: u64, live: u64) -> u64 {
    let slots = bounds.all.saturating_sub(superblocks * bounds.own_slots);
    let data = bounds.valid - live.min(bounds.valid);
    let free = slots.saturating_sub(data);
    match free {
        0 => u64::from(u32::MAX),
        free => (MILLI * slots / (2 * free)).max(MILLI),
    }
}

#[cfg(test)]
mod tests {
    use firstread_core::{Lpn, Stream};

    use super::*;

    const SLOTS: u64 = 256;
    const BLOCKS: u64 = 256;

    /// The best size for a load that writes `share` percent of its writes to the first `hot` pages of `used` pages, evenly, on a drive of
    /// `BLOCKS` superblocks.
    fn sized(used: u64, hot: u64, share: u64, cost: u64, most: Option<u32>) -> Size {
        let mut lives = Lifetimes::new(BLOCKS * 4 * SLOTS, SLOTS / 8, 1);
        let mut last = alloc::vec![None; used as usize];
        let s = Stream::new(3).named("load");
        for now in 0..used * 12 {
            let draw = s.at(now);
            let lpn = match draw.at(0).below(100) < share {
                true => draw.at(1).below(hot),
                false => hot + draw.at(1).below(used - hot),
            };
            let life = last[lpn as usize].map(|then| now - then);
            lives.has_written(Lpn(lpn), life, now);
            last[lpn as usize] = Some(now);
        }
        let all = BLOCKS * 4 * SLOTS;
        let room = all.saturating_sub(used * 107 / 100 + 4 * 4 * SLOTS) / (3 * SLOTS);
        let bounds = Bounds {
            least: 0,
            most: most.unwrap_or((room as u32).min(BLOCKS as u32)),
            slots: SLOTS,
            own_slots: 4 * SLOTS,
            valid: used,
            all,
        };
        best(&lives, &bounds, SlotCost(cost)).unwrap()
    }

    /// Skewed writes are worth a pool for the hot pages, uniform ones are not where there is no room for all, and a mode that costs as
    /// much as it writes is worth none.
    #[test]
    fn model_a_pool_is_as_large_as_the_pages_that_die_in_it() {
        let all = BLOCKS * 4 * SLOTS;
        let used = all * 6 / 10;
        let hot = used / 20;
        let skewed = sized(used, hot, 95, 200, None);
        let holds = u64::from(skewed.superblocks) * SLOTS;
        assert!(holds > hot && holds < 4 * hot, "{skewed:?} for {hot}");
        assert!(skewed.class.is_some() && skewed.cost < 600, "{skewed:?}");
        let uniform = sized(used, used / 2, 50, 200, None);
        assert!(
            u64::from(uniform.superblocks) * SLOTS < used / 4,
            "{uniform:?}"
        );
        let dear = sized(used, hot, 95, 4_000, None);
        assert_eq!((dear.superblocks, dear.class), (0, None), "{dear:?}");
        // With room for everything, everything is let in.
        let young = sized(all / 8, all / 16, 50, 200, None);
        assert!(u64::from(young.superblocks) * SLOTS > all / 8, "{young:?}");
        // No pool is larger than what is in use leaves room for.
        let small = sized(used, hot, 95, 200, Some(3));
        assert!(small.superblocks <= 3, "{small:?}");
    }
}
