//! How many superblocks a pool in SLC mode is worth, which pages are let in, and whether they stay there until they are overwritten.
//!
//! A page is let in if its last version lived no longer than a limit. The pool is filled and emptied in turn, so a page lies there until it is
//! overwritten or until the pool has come round. What is valid then is moved: to the drive's own mode, or to another superblock of the
//! pool. With the lives of sampled pages (`lifetimes`) each limit and each size has
//!
//! ```text
//! in       share of the writes that is let in: those of the classes up to the limit
//! turn     slots of the pool ÷ in: what the host writes while the pool comes round; where pages stay, of the pool without those
//! out      share of these that lives longer than a turn
//! again    where pages stay, what cleaning moves for each page that is moved: 1 / (2 (1 − share to which they fill their superblocks))
//! live     slots of the pool that hold data: in × the mean of min(life, turn), or of the life where pages stay
//! own      data of the drive's own mode ÷ slots left there, without the unwritten half of superblocks that streams fill:
//!          WA ≈ 1 / (2 (1 − own)), at least 1
//! leaves   in × cost of a page in the pool + (1 − in + in × out) × WA × cost of a page in the drive's own mode
//! stays    in × (1 + out × again) × cost of a page in the pool + (1 − in) × WA × cost of a page in the drive's own mode
//! ```
//!
//! and the least cost decides: the smaller pool of two that cost alike. A page costs its part of the wear of a superblock and of the
//! program time of a wordline, in a ratio that is a parameter.

use super::lifetimes::{CLASSES, Lifetimes};

/// Sizes that are compared.
const SIZES: u64 = 24;
/// Sampled writes from which the sample tells something.
const ENOUGH: u32 = 512;
/// Of these, each so-manieth is looked at with pages that stay.
const COARSE: u64 = 4;
/// Steps in which the turn of a pool whose pages stay is found, and how full superblocks of pages that stay are, in thousandths.
const TURNS: u64 = 12;
/// A version lives for so many turns at most, as far as is looked.
const LONG: u64 = 64;
const FULL: u64 = 800;
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
    /// Superblocks in the drive's own mode that streams fill.
    pub(super) open: u64,
    /// Whether pages may stay in the pool.
    pub(super) may_keep: bool,
}

/// A size, and the class up to which pages are let in; none if none are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Size {
    pub(super) superblocks: u32,
    pub(super) class: Option<usize>,
    /// Cost of a page that the host writes, in thousandths of a program in the drive's own mode.
    pub(super) cost: u64,
    /// Whether pages stay in the pool until they are overwritten.
    pub(super) keeps: bool,
}

/// The size with the least cost, or `last` as long as no other one is better by a twentieth; none while too little is known.
pub(super) fn best(
    lives: &Lifetimes,
    bounds: &Bounds,
    cost: SlotCost,
    last: Option<Size>,
) -> Option<Size> {
    if lives.seen() < ENOUGH {
        return None;
    }
    let mut best = Size {
        superblocks: bounds.least,
        class: None,
        cost: write_amplification(bounds, u64::from(bounds.least), 0),
        keeps: false,
    };
    let last = last.map(|last| Size {
        superblocks: last.superblocks.clamp(bounds.least, bounds.most),
        ..last
    });
    let mut stays = last.filter(|last| last.class.is_none()).map(|_| best);
    let mut let_in = LetIn::none(lives);
    for class in 0..CLASSES {
        if !let_in.add(class) {
            continue;
        }
        let (least, most) = (u64::from(bounds.least), u64::from(bounds.most));
        let at = |superblocks, keeps| {
            let cost = let_in.cost(bounds, cost, superblocks, keeps)?;
            Some(Size {
                superblocks: superblocks as u32,
                class: Some(class),
                cost,
                keeps,
            })
        };
        if let Some(last) = last.filter(|last| last.class == Some(class)) {
            stays = at(u64::from(last.superblocks), last.keeps);
        }
        let mut before = u64::MAX;
        for step in 0..=SIZES {
            // Small sizes are told apart better than large ones.
            let superblocks = least + (most.saturating_sub(least)) * step * step / (SIZES * SIZES);
            if superblocks == before || superblocks == 0 {
                continue;
            }
            before = superblocks;
            let keeps = bounds.may_keep && step % COARSE == 0;
            for size in [Some(false), keeps.then_some(true)].into_iter().flatten() {
                // A larger pool or more pages have to be worth it.
                best = at(superblocks, size)
                    .filter(|size| size.cost * 100 < best.cost * 99)
                    .unwrap_or(best);
            }
        }
    }
    let changes = |stays: &Size| best.cost * 100 >= stays.cost * 95;
    Some(stays.filter(changes).unwrap_or(best))
}

/// The pages of the classes up to a limit.
#[derive(Clone, Debug)]
struct LetIn<'a> {
    lives: &'a Lifetimes,
    /// Versions of these classes that were written, and of these those that ended, by life.
    written: u64,
    ended: [u64; CLASSES],
}

impl<'a> LetIn<'a> {
    fn none(lives: &'a Lifetimes) -> LetIn<'a> {
        LetIn {
            lives,
            written: 0,
            ended: [0; CLASSES],
        }
    }

    /// Adds class `class`, and tells whether that changes anything.
    fn add(&mut self, class: usize) -> bool {
        let (written, ended) = self.lives.of_class(class);
        self.written += u64::from(written);
        let sums = self.ended.iter_mut().zip(ended);
        sums.for_each(|(sum, n)| *sum += u64::from(*n));
        written > 0
    }

    /// What a page that the host writes costs with a pool of `superblocks` superblocks, in thousandths of a program in the drive's own mode. None
    /// if pages are to stay there and have no room.
    fn cost(&self, bounds: &Bounds, cost: SlotCost, superblocks: u64, keeps: bool) -> Option<u64> {
        let all = u64::from(self.lives.seen());
        let let_in = MILLI * self.written / all;
        // Slots that the host writes while so many are written to the pool.
        let of_host = |slots: u64| slots * all / self.written;
        let slots = superblocks * bounds.slots;
        let turn = of_host(slots);
        let (programs, leaves, live) = match keeps {
            false => {
                let (out, mean) = self.stay(turn);
                (MILLI, let_in * out / MILLI, mean)
            }
            true => {
                let (programs, mean) = self.kept(turn, of_host(bounds.valid))?;
                (programs, 0, mean)
            }
        };
        let live = (self.written * live / all).min(slots).min(bounds.valid);
        let to_own = MILLI - let_in + leaves;
        let own = to_own * write_amplification(bounds, superblocks, live) / MILLI;
        Some(let_in * programs / MILLI * cost.0 / MILLI + own)
    }

    /// The share of versions that lives longer than `turn` slots, in thousandths, and the mean of life and turn, whichever is less.
    fn stay(&self, turn: u64) -> (u64, u64) {
        let (mut died, mut sum, mut begins) = (0, 0u128, 0);
        for (class, &n) in self.ended.iter().enumerate() {
            let ends = self.lives.longest(class);
            if begins >= turn {
                break;
            }
            // Within a class lives are taken to be spread evenly.
            let n = n.min(self.written - died);
            let (dies, until) = match ends <= turn {
                true => (n, ends),
                false => (n * (turn - begins) / (ends - begins), turn),
            };
            died += dies;
            sum += u128::from(dies) * u128::from((begins + until) / 2);
            begins = ends;
        }
        let left = self.written - died;
        sum += u128::from(left) * u128::from(turn);
        let mean = (sum / u128::from(self.written)) as u64;
        (MILLI * left / self.written, mean)
    }

    /// Programs for each page that is let in, in thousandths, and the mean of lives, if pages stay until they are overwritten in a pool that
    /// takes `slots` slots of the host to fill once. No more than `most` are live. None if they have no room.
    ///
    /// What outlives a turn is moved once to superblocks of its own. These are kept full up to a share, and cleaning them costs what
    /// cleaning does at that share. The rest of the pool is left to the writes, and is the shorter a turn.
    fn kept(&self, slots: u64, most: u64) -> Option<(u64, u64)> {
        let (_, mean) = self.stay(slots * LONG);
        let mean = mean.min(most);
        let again = MILLI * MILLI / (2 * (MILLI - FULL));
        let mut turn = slots / 2;
        for _ in 0..TURNS {
            let (_, young) = self.stay(turn.max(1));
            let old = (mean - young.min(mean)) * MILLI / FULL;
            let left = slots.checked_sub(old).filter(|left| *left > 0)?;
            if left.abs_diff(turn) <= turn / 32 {
                break;
            }
            turn = (turn + left) / 2;
        }
        let (out, _) = self.stay(turn.max(1));
        Some((MILLI + out * again / MILLI, mean))
    }
}

/// Write amplification of the drive's own mode, in thousandths, if the pool has `superblocks` superblocks with `live` slots in use.
fn write_amplification(bounds: &Bounds, superblocks: u64, live: u64) -> u64 {
    let slots = bounds.all.saturating_sub(superblocks * bounds.own_slots);
    let data = bounds.valid - live.min(bounds.valid);
    let free = slots.saturating_sub(data + bounds.open * bounds.own_slots / 2);
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
            open: 0,
            may_keep: false,
        };
        best(&lives, &bounds, SlotCost(cost), None).unwrap()
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

    /// The sample of a load that writes each of `used` pages as often as any other.
    fn even(used: u64) -> Lifetimes {
        let mut lives = Lifetimes::new(BLOCKS * 4 * SLOTS, SLOTS / 8, 1);
        let mut last = alloc::vec![None; used as usize];
        let s = Stream::new(5).named("load");
        for now in 0..used * 12 {
            let lpn = s.at(now).below(used);
            let life = last[lpn as usize].map(|then| now - then);
            lives.has_written(Lpn(lpn), life, now);
            last[lpn as usize] = Some(now);
        }
        lives
    }

    fn room_for(used: u64) -> Bounds {
        let all = BLOCKS * 4 * SLOTS;
        let most = all.saturating_sub(used * 103 / 100 + 4 * 4 * SLOTS) / (3 * SLOTS);
        Bounds {
            least: 0,
            most: most.min(BLOCKS) as u32,
            slots: SLOTS,
            own_slots: 4 * SLOTS,
            valid: used,
            all,
            open: 1,
            may_keep: true,
        }
    }

    /// Pages stay in a pool that has room for all of them, if a page costs little there. They leave one that has not, and one of a mode
    /// in which moving on costs as much as leaving.
    #[test]
    fn model_pages_stay_where_all_have_room() {
        let all = BLOCKS * 4 * SLOTS;
        let sized = |share, cost| {
            let used = all * share / 100;
            best(&even(used), &room_for(used), SlotCost(cost), None).unwrap()
        };
        let few = sized(16, 60);
        assert!(few.keeps && few.cost < 200, "{few:?}");
        assert!(
            u64::from(few.superblocks) * SLOTS > all * 16 / 100,
            "{few:?}"
        );
        let many = sized(40, 60);
        assert!(!many.keeps, "{many:?}");
        let dear = sized(16, 950);
        assert!(!dear.keeps, "{dear:?}");
        let used = all * 16 / 100;
        let may_not = Bounds {
            may_keep: false,
            ..room_for(used)
        };
        let leaves = best(&even(used), &may_not, SlotCost(60), None).unwrap();
        assert!(
            !leaves.keeps && leaves.cost > few.cost,
            "{leaves:?} {few:?}"
        );
    }

    /// Superblocks that streams fill are no room for the drive's own mode.
    #[test]
    fn formula_open_superblocks_make_what_is_left_dearer() {
        let used = BLOCKS * 4 * SLOTS / 2;
        let at = |open| {
            let bounds = Bounds {
                open,
                ..room_for(used)
            };
            write_amplification(&bounds, u64::from(bounds.most) / 2, 0)
        };
        assert!(at(0) > MILLI && at(16) > at(0), "{} {}", at(0), at(16));
    }

    /// A size stays until another one is better by a twentieth, and no longer.
    #[test]
    fn formula_a_size_stays_until_another_one_is_clearly_better() {
        let used = BLOCKS * 4 * SLOTS * 16 / 100;
        let (lives, bounds, cost) = (even(used), room_for(used), SlotCost(60));
        let found = best(&lives, &bounds, cost, None).unwrap();
        let near = Size {
            superblocks: found.superblocks - 2,
            ..found
        };
        let stays = best(&lives, &bounds, cost, Some(near)).unwrap();
        assert_eq!(stays.superblocks, near.superblocks);
        let far = Size {
            superblocks: 3,
            keeps: false,
            ..found
        };
        let changes = best(&lives, &bounds, cost, Some(far)).unwrap();
        assert_eq!(
            (changes.superblocks, changes.keeps),
            (found.superblocks, true)
        );
        // What is no longer possible does not stay.
        let small = Bounds { most: 5, ..bounds };
        assert!(best(&lives, &small, cost, Some(near)).unwrap().superblocks <= 5);
    }
}
