//! Phases of a load that is known: parts between which the pages that are read most change so much that each part is worth
//! a plan of its own.
//!
//! A plan for the whole load gives slots to pages that are not read yet or no more. A plan for each part gives them to the
//! pages of that part, but pages have to be copied anew, and the first read of each finds it where it lies. So a part is
//! divided into its halves if their plans save more together, less what copies cost, and halves are divided alike. The
//! smallest parts are the windows of the load.

use alloc::vec::Vec;
use core::ops::Range;

use super::plan::{Plan, Slots, Times};
use crate::observe::Windows;

/// What decides where a load is divided.
#[derive(Debug)]
pub(super) struct Division<'a> {
    pub(super) windows: &'a Windows,
    /// Reads of the version of each page that is read most.
    pub(super) most: &'a [u32],
    pub(super) slots: &'a Slots,
    /// Slots that superblocks in other modes may cost.
    pub(super) budget: u64,
    /// Expected time of a read in each mode.
    pub(super) times: Times,
}

/// Some windows: what is saved in them, and where their phases begin.
#[derive(Clone, Debug)]
struct Part {
    windows: Range<u32>,
    saved: u64,
    starts: Vec<u32>,
}

impl Division<'_> {
    /// The first window of each phase, and the plan of the phase.
    pub(super) fn phases(&self) -> (Vec<u32>, Vec<Plan>) {
        let mut counts = alloc::vec![0; self.most.len()];
        let windows = self.windows.count().max(1);
        let mut parts: Vec<Part> = (0..windows)
            .map(|start| self.part(start..start + 1, &mut counts))
            .collect();
        while parts.len() > 1 {
            let joined = parts.chunks(2).map(|halves| match halves {
                [a, b] => self.joined(a, b, &mut counts),
                _ => halves[0].clone(),
            });
            parts = joined.collect();
        }
        // Halves end where the load is halved. What changes elsewhere has left parts beside each other that are alike.
        let starts = core::mem::take(&mut parts[0].starts);
        let ends = starts[1..].iter().copied().chain([windows]);
        let mut phases: Vec<Part> = Vec::new();
        for (&start, end) in starts.iter().zip(ends) {
            let next = self.part(start..end, &mut counts);
            match phases.pop() {
                Some(last) => {
                    let joined = self.joined(&last, &next, &mut counts);
                    match joined.starts.len() {
                        1 => phases.push(joined),
                        _ => phases.extend([last, next]),
                    }
                }
                None => phases.push(next),
            }
        }
        let starts: Vec<u32> = phases.iter().map(|of| of.windows.start).collect();
        let plan = |of: Part| {
            let saved = self.saved(of.windows, &mut counts);
            Plan::new(saved, self.slots, self.budget)
        };
        let plans = phases.into_iter().map(plan).collect();
        (starts, plans)
    }

    fn part(&self, windows: Range<u32>, counts: &mut [u32]) -> Part {
        let saved = self.saved(windows.clone(), counts);
        Part {
            starts: alloc::vec![windows.start],
            windows,
            saved: Plan::value(saved, self.slots, self.budget, &self.times),
        }
    }

    /// Both halves as one phase, or the phases of each.
    fn joined(&self, a: &Part, b: &Part, counts: &mut [u32]) -> Part {
        let windows = a.windows.start..b.windows.end;
        let whole = self.part(windows.clone(), counts);
        match whole.saved >= a.saved + b.saved {
            true => whole,
            false => Part {
                windows,
                saved: a.saved + b.saved,
                starts: a.starts.iter().chain(&b.starts).copied().collect(),
            },
        }
    }

    /// Reads that each page saves in `windows` in another mode: all but the first. A page has one version at a time: at most
    /// those of the version that is read most count. `counts` are zeros, and are so again.
    fn saved(&self, windows: Range<u32>, counts: &mut [u32]) -> Vec<u32> {
        let of = self.windows.of(windows);
        let mut pages = Vec::new();
        for of_page in of {
            let count = &mut counts[of_page.page as usize];
            if *count == 0 {
                pages.push(of_page.page as usize);
            }
            *count = count.saturating_add(of_page.reads);
        }
        let mut saved = |page: usize| {
            let reads = core::mem::take(&mut counts[page]).min(self.most[page]);
            reads.saturating_sub(1)
        };
        pages
            .into_iter()
            .map(&mut saved)
            .filter(|&reads| reads > 0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use firstread_core::{Lpn, Stream};

    use super::*;
    use crate::observe::{Future, FutureBuilder};

    const SLOTS: Slots = Slots {
        hold: [16, 48],
        lose: [48, 16],
        tired: u64::MAX,
    };

    /// 32,000 reads of 1,000 pages, of which those of a region of 64 have most: the region is the same for `stretch` reads.
    fn told(seed: u64, stretch: u64, regions: u64) -> Future {
        let s = Stream::new(seed).named("load");
        let mut future = FutureBuilder::new(1_000);
        for i in 0..32_000 {
            let region = i / stretch % regions * 100;
            let draw = s.at(i);
            let page = match draw.at(0).below(10) {
                0 => draw.at(1).below(1_000),
                _ => region + draw.at(1).below(64),
            };
            future.read(Lpn(page), 1);
        }
        future.build().unwrap()
    }

    fn phases(future: &Future) -> (Vec<u32>, u32) {
        let most: Vec<u32> = future.all_versions().map(|of| of[0]).collect();
        let windows = future.windows().unwrap();
        let division = Division {
            windows,
            most: &most,
            slots: &SLOTS,
            budget: 32,
            times: Times {
                own: 2_000,
                slc: 200,
                tlc: 300,
            },
        };
        let (starts, plans) = division.phases();
        assert_eq!(starts.len(), plans.len());
        (starts, windows.count())
    }

    /// A load whose region stays is one phase. One whose region moves, and comes back, is divided where it does.
    #[test]
    fn model_a_load_is_divided_where_its_hot_pages_change() {
        for seed in 0..10 {
            assert_eq!(phases(&told(seed, 32_000, 1)).0, [0], "seed {seed}");
            for (stretch, regions) in [(16_000, 2), (8_000, 4), (8_000, 2), (4_000, 2)] {
                let (starts, windows) = phases(&told(seed, stretch, regions));
                let changes = 32_000 / stretch as usize;
                assert!(starts.len() < 2 * changes, "seed {seed}: {starts:?}");
                let window = 32_000u64.div_ceil(windows.into()).next_power_of_two();
                // Every change has a phase that begins within two windows of it.
                for change in (0..32_000).step_by(stretch as usize) {
                    let near = |start: u64| (start * window).abs_diff(change) <= 2 * window;
                    let is_found = starts.iter().any(|&start| near(start.into()));
                    assert!(is_found, "seed {seed}, {stretch} of {regions}: {starts:?}");
                }
            }
        }
    }
}
