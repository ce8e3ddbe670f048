//! Which pages are worth which mode, if it is known how often each will be read.
//!
//! A page in another mode saves time with each read but its first one, and its superblock holds fewer slots. What is
//! saved most within the slots that may be lost is a knapsack. All pages of a mode weigh the same, and what they save
//! follows from their reads alone. So the pages that are read most go to the mode that saves most a read, the next ones
//! to the other mode, and all others stay. Superblocks are opened as a whole. So the plan goes through the numbers of
//! superblocks in SLC mode that can be paid for, gives TLC mode what is left, and takes what saves most.
//!
//! The reads of the last page that is worth a mode are what a slot there costs: the multiplier of Lagrange. A page that
//! saves more a read than others is worth the same slot with fewer reads.
//!
//! A superblock that is read very often is rewritten, because its reads disturb it. Its pages are copied to another
//! superblock of the mode before it can be emptied. So where the pages that are read most would tire a superblock, the plan
//! leaves the slots of one superblock unused.

use alloc::boxed::Box;
use alloc::vec::Vec;

use firstread_core::{CellMode, Geometry};

use super::params::MODES;

/// Steps of the share of SLC's saving that TLC saves.
const STEPS: u64 = 64;

/// Expected time of a read in each mode (ns).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Times {
    /// In the drive's own mode.
    pub(super) own: u64,
    pub(super) slc: u64,
    pub(super) tlc: u64,
}

/// What is worth SLC mode and TLC mode, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Worth {
    /// Superblocks in the mode.
    superblocks: [u32; 2],
    /// Reads that are saved by the last page that is worth the mode; none if none is.
    reads: [Option<u32>; 2],
}

/// A plan for each share that TLC saves of what SLC saves.
#[derive(Clone, Debug)]
pub(super) struct Plan(Box<[Worth]>);

/// What superblocks hold and cost, in SLC mode and in TLC mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    /// Slots of a superblock in the mode.
    pub(super) hold: [u64; 2],
    /// Slots that it holds less than in the drive's own mode.
    pub(super) lose: [u64; 2],
    /// Senses of a superblock from which its data are rewritten.
    pub(super) tired: u64,
}

/// Reads of a block from which the data of its superblock are rewritten. One program of a page comes on more than a hundred
/// reads of it then, and no scheme of axis `refresh` has as low a limit in SLC or TLC mode by default.
const TIRED: u64 = 20_000;
/// What a copy costs, in reads that are saved: it keeps a die from reading.
const COPY: u32 = 2;

impl Slots {
    /// On a drive of `geometry` whose superblocks start in mode `own`.
    pub(super) fn new(geometry: &Geometry, own: CellMode) -> Slots {
        let all = u64::from(geometry.slots_per_superblock(own));
        let hold = MODES.map(|mode| u64::from(geometry.slots_per_superblock(mode)));
        Slots {
            hold,
            lose: hold.map(|slots| all.saturating_sub(slots)),
            tired: TIRED * u64::from(geometry.dies()),
        }
    }

    /// What is left of `budget`, if the superblock of the pages that are read most must have another one beside it when it is
    /// tired. `sums` are the reads of all pages before.
    fn less_spare(&self, budget: u64, sums: &[u64]) -> u64 {
        let [slc, tlc] = self.lose;
        let most = sums[(self.hold[0] as usize).min(sums.len() - 1)];
        match most < self.tired {
            true => budget,
            false => budget.saturating_sub(if budget >= slc { slc } else { tlc }),
        }
    }

    /// Slots that a superblock in `mode` holds, and those that it loses; none if no data go to the mode.
    pub(super) fn of(&self, mode: CellMode) -> Option<(u64, u64)> {
        let row = MODES.iter().position(|row| *row == mode)?;
        Some((self.hold[row], self.lose[row]))
    }
}

impl Plan {
    /// For pages that save so many `reads` each, if superblocks in other modes may cost `budget` slots.
    pub(super) fn new(reads: Vec<u32>, slots: &Slots, budget: u64) -> Plan {
        let (reads, sums) = most_first(reads);
        let budget = slots.less_spare(budget, &sums);
        let worth = |tlc_share| worth(&reads, &sums, slots, budget, tlc_share).0;
        Plan((0..=STEPS).map(worth).collect())
    }

    /// What a plan for pages that save so many `reads` each saves, less what its copies cost: in reads of SLC mode that are
    /// saved, times [`STEPS`].
    pub(super) fn value(reads: Vec<u32>, slots: &Slots, budget: u64, times: &Times) -> u64 {
        let left = reads.iter().map(|reads| reads.saturating_sub(COPY));
        let (reads, sums) = most_first(left.filter(|&reads| reads > 0).collect());
        let budget = slots.less_spare(budget, &sums);
        worth(&reads, &sums, slots, budget, tlc_share(times).unwrap_or(0)).1
    }

    /// Reads that are saved by the last page that is worth a slot; zero if none is.
    pub(super) fn least(&self, times: &Times) -> u32 {
        let reads = self
            .of(times)
            .map(|worth| worth.reads.into_iter().flatten().min());
        reads.flatten().unwrap_or(0)
    }

    fn of(&self, times: &Times) -> Option<&Worth> {
        self.0.get(tlc_share(times)? as usize)
    }

    /// The superblocks that mode `mode` may have, if reads take `times`.
    pub(super) fn superblocks(&self, mode: CellMode, times: &Times) -> u32 {
        let row = MODES.iter().position(|row| *row == mode);
        match (self.of(times), row) {
            (Some(worth), Some(row)) => worth.superblocks[row],
            _ => 0,
        }
    }

    /// The mode of a page that saves `reads` reads and takes `here_ns` where it lies: the one with the least time of reads
    /// and price of a slot together; none if it stays.
    pub(super) fn mode_of(&self, reads: u32, here_ns: u64, times: &Times) -> Option<CellMode> {
        let worth = self.of(times)?;
        let Times { own, slc, tlc } = *times;
        let [slc_reads, tlc_reads] = worth.reads.map(|reads| reads.map(u64::from));
        let reads = u64::from(reads);
        let tlc_price = tlc_reads.map(|last| last * own.saturating_sub(tlc));
        let slc_price = slc_reads.map(|last| match tlc_price {
            Some(price) => price + last * tlc.saturating_sub(slc),
            None => last * own.saturating_sub(slc),
        });
        let cost = |price: Option<u64>, ns: u64| price.map_or(u64::MAX, |price| price + reads * ns);
        let (slc, tlc) = (cost(slc_price, slc), cost(tlc_price, tlc));
        let stays = reads * here_ns;
        match slc <= tlc {
            true if slc <= stays => Some(CellMode::Slc),
            false if tlc <= stays => Some(CellMode::Tlc),
            _ => None,
        }
    }
}

/// `reads` of pages, the most first, and the sums of those of all pages before.
fn most_first(mut reads: Vec<u32>) -> (Vec<u32>, Vec<u64>) {
    reads.sort_unstable_by(|a, b| b.cmp(a));
    let mut sums = Vec::with_capacity(reads.len() + 1);
    sums.push(0);
    for &saved in &reads {
        sums.push(sums[sums.len() - 1] + u64::from(saved));
    }
    (reads, sums)
}

/// Steps of SLC's saving that TLC saves; none if SLC saves nothing.
fn tlc_share(times: &Times) -> Option<u64> {
    let slc = times.own.checked_sub(times.slc)?;
    let tlc = times.own.saturating_sub(times.tlc);
    Some((STEPS * tlc).checked_div(slc)?.min(STEPS))
}

/// What is worth which mode, if a read in TLC mode saves `tlc_share` steps of what one in SLC mode saves. `reads` are those
/// that pages save, the most first, and `sums` those of all pages before. Also returns what is saved.
fn worth(reads: &[u32], sums: &[u64], slots: &Slots, budget: u64, tlc_share: u64) -> (Worth, u64) {
    let pages = reads.iter().take_while(|&&saved| saved > 0).count() as u64;
    let [slc_holds, tlc_holds] = slots.hold;
    let [slc_loses, tlc_loses] = slots.lose.map(|slots| slots.max(1));
    let most_slc = (budget / slc_loses).min(pages.div_ceil(slc_holds.max(1)));
    let of = |slc: u64| {
        let in_slc = (slc * slc_holds).min(pages);
        let paid = (budget - slc * slc_loses) / tlc_loses;
        let tlc = match tlc_share {
            0 => 0,
            _ => paid.min((pages - in_slc).div_ceil(tlc_holds.max(1))),
        };
        let in_both = (in_slc + tlc * tlc_holds).min(pages);
        let saved = STEPS * sums[in_slc as usize]
            + tlc_share * (sums[in_both as usize] - sums[in_slc as usize]);
        (saved, slc, tlc, in_slc, in_both)
    };
    // Of those that save alike, the one that loses least.
    let best = (0..=most_slc)
        .map(of)
        .reduce(|best, other| match other.0 > best.0 {
            true => other,
            false => best,
        });
    let Some((saved, slc, tlc, in_slc, in_both)) = best else {
        return (Worth::default(), 0);
    };
    let last = |from: u64, to: u64| (to > from).then(|| reads[to as usize - 1]);
    let worth = Worth {
        superblocks: [slc as u32, tlc as u32],
        reads: [last(0, in_slc), last(in_slc, in_both)],
    };
    (worth, saved)
}

#[cfg(test)]
mod tests {
    use firstread_core::Stream;

    use super::*;

    const SLOTS: Slots = Slots {
        hold: [4, 12],
        lose: [12, 4],
        tired: u64::MAX,
    };
    const TIMES: Times = Times {
        own: 2_000,
        slc: 200,
        tlc: 650,
    };

    /// Time that a choice of modes for pages takes, and what it loses.
    fn total(reads: &[u32], modes: &[Option<CellMode>], times: &Times) -> (u64, u64) {
        let ns = |mode: &Option<CellMode>| match mode {
            Some(CellMode::Slc) => times.slc,
            Some(_) => times.tlc,
            None => times.own,
        };
        let pages = |mode| modes.iter().filter(|m| **m == Some(mode)).count() as u64;
        let time = reads.iter().zip(modes).map(|(&r, m)| u64::from(r) * ns(m));
        let lost = pages(CellMode::Slc).div_ceil(SLOTS.hold[0]) * SLOTS.lose[0]
            + pages(CellMode::Tlc).div_ceil(SLOTS.hold[1]) * SLOTS.lose[1];
        (time.sum(), lost)
    }

    /// On pages that all save differently, the plan takes as little time as the best of all ways to give modes to pages.
    #[test]
    fn model_no_other_modes_of_pages_take_less_time() {
        for seed in 0..60 {
            let s = Stream::new(seed).named("pages");
            let pages = 9 + s.at(0).below(20) as usize;
            let mut reads: Vec<u32> = (0..pages as u32).map(|i| i * 37 % 101 + 1).collect();
            reads.sort_unstable();
            reads.dedup();
            let budget = s.at(1).below(60);
            let tlc = 300 + s.at(2).below(1_900);
            let times = Times { tlc, ..TIMES };
            let plan = Plan::new(reads.clone(), &SLOTS, budget);
            let modes: Vec<Option<CellMode>> = reads
                .iter()
                .map(|&r| plan.mode_of(r, times.own, &times))
                .collect();
            let (time, lost) = total(&reads, &modes, &times);
            assert!(lost <= budget, "seed {seed}: {lost} of {budget}");
            for mode in [CellMode::Slc, CellMode::Tlc] {
                let used = modes.iter().filter(|m| **m == Some(mode)).count() as u64;
                let holds = SLOTS.hold[usize::from(mode == CellMode::Tlc)];
                let most = u64::from(plan.superblocks(mode, &times)) * holds;
                assert!(used <= most, "seed {seed}");
            }
            // All ways: whoever is read most has the faster mode.
            let n = reads.len();
            let mut best = u64::MAX;
            for slc in 0..=n {
                for tlc in 0..=n - slc {
                    let of = |i: usize| match n - 1 - i {
                        i if i < slc => Some(CellMode::Slc),
                        i if i < slc + tlc => Some(CellMode::Tlc),
                        _ => None,
                    };
                    let modes: Vec<_> = (0..n).map(of).collect();
                    let (time, lost) = total(&reads, &modes, &times);
                    if lost <= budget {
                        best = best.min(time);
                    }
                }
            }
            // The share of TLC is known in steps of a 64th.
            assert!(time <= best + best / 64, "seed {seed}: {time}, best {best}");
        }
    }

    /// A page that takes longer than others is worth a slot with fewer reads.
    #[test]
    fn formula_a_slow_page_is_worth_a_slot_sooner() {
        let plan = Plan::new((1..=24).collect(), &SLOTS, 4);
        let mode = |reads, here_ns| plan.mode_of(reads, here_ns, &TIMES);
        assert_eq!(
            (mode(13, 2_000), mode(12, 2_000)),
            (Some(CellMode::Tlc), None)
        );
        // 13 × 1,350 = 7 × 2,508.
        assert_eq!(
            (mode(7, 3_158), mode(7, 3_150)),
            (Some(CellMode::Tlc), None)
        );
        assert_eq!(mode(24, 1_300), None);
    }

    /// Reads that take as long elsewhere are worth nothing, and neither is a mode that cannot be paid for.
    #[test]
    fn formula_nothing_is_worth_what_does_not_save() {
        let reads: Vec<u32> = (1..100).collect();
        let alike = Times {
            own: 200,
            slc: 200,
            tlc: 200,
        };
        let plan = Plan::new(reads.clone(), &SLOTS, 1_000);
        assert_eq!(plan.mode_of(99, 200, &alike), None);
        let nothing = Plan::new(Vec::new(), &SLOTS, 1_000);
        assert_eq!(nothing.mode_of(99, 2_000, &TIMES), None);
        let poor = Plan::new(reads, &SLOTS, 3);
        assert_eq!(poor.mode_of(99, 2_000, &TIMES), None);
        assert_eq!(poor.superblocks(CellMode::Tlc, &TIMES), 0);
    }
}
