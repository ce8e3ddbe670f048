//! One cancellable timer a resource, and which of them is next.
//!
//! A tournament tree: each inner node holds the earlier of its two children with its resource, so
//! the next timer is at the root and setting one costs at most the height of the tree. Of equal
//! times the lower resource goes first, which makes the order of events a function of the
//! configuration alone.

use firstread_core::Ns;

/// Timers of a fixed number of resources.
#[derive(Debug)]
pub(crate) struct Timers {
    /// Node 1 is the root; node `n` has children `2n` and `2n + 1`; the leaf of resource `r` is
    /// `leaves + r`. Times are compared first, then resources.
    tree: Vec<(Ns, u32)>,
    leaves: usize,
}

impl Timers {
    /// All stopped.
    pub(crate) fn new(resources: usize) -> Timers {
        let leaves = resources.next_power_of_two().max(2);
        let mut tree = vec![(Ns::MAX, 0); 2 * leaves];
        (0..leaves).for_each(|r| tree[leaves + r].1 = r as u32);
        (1..leaves)
            .rev()
            .for_each(|n| tree[n] = tree[2 * n].min(tree[2 * n + 1]));
        Timers { tree, leaves }
    }

    /// Sets the timer of `resource`; [`Ns::MAX`] stops it.
    #[inline]
    pub(crate) fn set(&mut self, resource: usize, due: Ns) {
        let mut node = self.leaves + resource;
        let mut earliest = (due, resource as u32);
        while self.tree[node] != earliest {
            self.tree[node] = earliest;
            if node == 1 {
                return;
            }
            earliest = earliest.min(self.tree[node ^ 1]);
            node /= 2;
        }
    }

    /// The next timer: when, and whose. [`Ns::MAX`] when all are stopped.
    #[inline]
    pub(crate) fn next(&self) -> (Ns, usize) {
        let (due, resource) = self.tree[1];
        (due, resource as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn model_next_is_the_least_of_all(
            resources in 1usize..40,
            sets in prop::collection::vec((0usize..40, 0u64..50), 0..300),
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
                prop_assert_eq!(timers.next().0, least);
                if least != Ns::MAX {
                    prop_assert_eq!(timers.next().1, first);
                }
            }
        }
    }
}
