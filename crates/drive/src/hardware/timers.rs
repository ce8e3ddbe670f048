//! One cancellable timer a resource, and which of them is next.
//!
//! A tournament tree of times: each inner node holds the earliest of its four children. Setting a
//! timer climbs until nothing changes any more; the next one is found by walking down from the root.
//! Of equal times the lower resource goes first, which makes the order of events a function of the
//! configuration alone.

use firstread_core::Ns;

/// Children of a node.
const WAYS: usize = 4;

/// Timers of a fixed number of resources.
#[derive(Debug)]
pub(crate) struct Timers {
    /// Groups of four siblings. Group 0 holds the children of the root; sibling `i` of group `g` has
    /// group `4 g + i + 1` as its children. Plain nanoseconds, which compare in one instruction.
    groups: Vec<[u64; WAYS]>,
    /// First group of the lowest level, whose members are the resources.
    lowest: usize,
}

impl Timers {
    /// All stopped.
    pub(crate) fn new(resources: usize) -> Timers {
        let (mut lowest, mut width) = (0, 1);
        while width * WAYS < resources {
            lowest += width;
            width *= WAYS;
        }
        Timers {
            groups: vec![[u64::MAX; WAYS]; lowest + width],
            lowest,
        }
    }

    /// Sets the timer of `resource`; [`Ns::MAX`] stops it.
    #[inline]
    pub(crate) fn set(&mut self, resource: usize, due: Ns) {
        let mut group = self.lowest + resource / WAYS;
        let mut member = resource % WAYS;
        let mut earliest = due.0;
        loop {
            let siblings = &mut self.groups[group];
            if siblings[member] == earliest {
                return;
            }
            siblings[member] = earliest;
            if group == 0 {
                return;
            }
            let [a, b, c, d] = *siblings;
            earliest = a.min(b).min(c.min(d));
            member = (group - 1) % WAYS;
            group = (group - 1) / WAYS;
        }
    }

    /// When the next timer is due; [`Ns::MAX`] when all are stopped.
    #[inline]
    pub(crate) fn due(&self) -> Ns {
        let [a, b, c, d] = self.groups[0];
        Ns(a.min(b).min(c.min(d)))
    }

    /// Whose timer it is that is due next, at `due`.
    #[inline]
    pub(crate) fn next(&self, due: Ns) -> usize {
        let mut group = 0;
        loop {
            let [a, b, c, _] = self.groups[group];
            // The first member that is due, so that the lower resource wins.
            let not_c = (c != due.0) as usize;
            let not_b = (b != due.0) as usize;
            let member = (a != due.0) as usize * (1 + not_b * (1 + not_c));
            if group >= self.lowest {
                return (group - self.lowest) * WAYS + member;
            }
            group = WAYS * group + member + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn model_next_is_the_least_of_all(
            resources in 1usize..90,
            sets in prop::collection::vec((0usize..90, 0u64..50), 0..300),
        ) {
            let mut timers = Timers::new(resources);
            let mut model = vec![Ns::MAX; resources];
            for (resource, due) in sets {
                let resource = resource % resources;
                let due = if due == 0 { Ns::MAX } else { Ns(due) };
                timers.set(resource, due);
                model[resource] = due;
                let least = *model.iter().min().unwrap();
                let first = model.iter().position(|&d| d == least).unwrap();
                prop_assert_eq!(timers.due(), least);
                if least != Ns::MAX {
                    prop_assert_eq!(timers.next(least), first);
                }
            }
        }
    }
}
