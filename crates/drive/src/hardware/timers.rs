//! One cancellable timer a resource, and which of them is next.
//!
//! A timer is one word: how long after a base time it is due, above the index of its resource. The
//! least word is then the next timer, and of equal times the lower resource goes first, which makes
//! the order of events a function of the configuration alone. A tournament tree keeps the least of
//! each four words, and setting a timer climbs it. The few resources of the
//! front, set at nearly every event, are looked at one by one instead.

use firstread_core::Ns;

/// Children of a node.
const WAYS: usize = 4;
/// Resources of the front.
pub(crate) const FRONTS: usize = 5;
/// The word of a stopped timer.
const STOPPED: u64 = u64::MAX;

/// Timers of a fixed number of resources. Those of the front have the indices behind all others.
#[derive(Debug)]
pub(crate) struct Timers {
    /// Time that words count from: no timer is due before it.
    base: Ns,
    /// When the last timer expired.
    now: Ns,
    /// Low bits of a word, which hold the index.
    index_bits: u32,
    /// Groups of four siblings. Group 0 holds the children of the root; sibling `i` of group `g` has
    /// group `4 g + i + 1` as its children.
    groups: Vec<[u64; WAYS]>,
    /// First group of the lowest level, whose members are the resources.
    lowest: usize,
    /// Least word of the tree.
    least: u64,
    fronts: [u64; FRONTS],
    /// Index of the first resource of the front.
    first_front: usize,
}

impl Timers {
    /// All stopped: `resources` and those of the front behind them.
    pub(crate) fn new(resources: usize) -> Timers {
        let (mut lowest, mut width) = (0, 1);
        while width * WAYS < resources {
            lowest += width;
            width *= WAYS;
        }
        Timers {
            base: Ns::ZERO,
            now: Ns::ZERO,
            index_bits: (resources + FRONTS).next_power_of_two().ilog2(),
            groups: vec![[STOPPED; WAYS]; lowest + width],
            lowest,
            least: STOPPED,
            fronts: [STOPPED; FRONTS],
            first_front: resources,
        }
    }

    /// Stops every timer, those of the front too, at `now`.
    pub(crate) fn stop_all(&mut self, now: Ns) {
        self.groups.fill([STOPPED; WAYS]);
        self.fronts.fill(STOPPED);
        self.least = STOPPED;
        (self.base, self.now) = (now, now);
    }

    /// Sets the timer of `resource`; [`Ns::MAX`] stops it. One that is more than years away
    /// (2^64 ns over the resources) expires before its time.
    pub(crate) fn set(&mut self, resource: usize, due: Ns) {
        let mut word = self.word(resource, due);
        let mut group = self.lowest + resource / WAYS;
        let mut member = resource;
        // All the way up: where it could stop early is a branch no processor foresees.
        loop {
            let siblings = &mut self.groups[group];
            siblings[member % WAYS] = word;
            let [a, b, c, d] = *siblings;
            word = a.min(b).min(c.min(d));
            if group == 0 {
                break;
            }
            member = group - 1;
            group = member / WAYS;
        }
        self.least = word;
    }

    /// Sets the timer of resource `front` of the front.
    #[inline]
    pub(crate) fn set_front(&mut self, front: usize, due: Ns) {
        self.fronts[front] = self.word(self.first_front + front, due);
    }

    /// When the next timer is due; [`Ns::MAX`] when all are stopped.
    #[inline]
    pub(crate) fn due(&self) -> Ns {
        self.time(self.least_of_all())
    }

    /// The next timer expires: when it is due, and its resource. None when all are stopped. Until it
    /// is set again it expires again.
    #[inline]
    pub(crate) fn expire(&mut self) -> Option<(Ns, usize)> {
        let word = self.least_of_all();
        if word == STOPPED {
            return None;
        }
        self.now = self.time(word);
        Some((self.now, (word & ((1 << self.index_bits) - 1)) as usize))
    }

    #[inline]
    fn least_of_all(&self) -> u64 {
        let [a, b, c, d, e] = self.fronts;
        a.min(b).min(c.min(d)).min(e.min(self.least))
    }

    #[inline]
    fn time(&self, word: u64) -> Ns {
        if word == STOPPED {
            Ns::MAX
        } else {
            self.base + Ns(word >> self.index_bits)
        }
    }

    #[inline]
    fn word(&mut self, index: usize, due: Ns) -> u64 {
        if due == Ns::MAX {
            return STOPPED;
        }
        let mut after = due.0 - self.base.0;
        if after >> (63 - self.index_bits) != 0 {
            after = self.rebase(due);
        }
        after << self.index_bits | index as u64
    }

    /// Counts from now on, and returns how long after it `due` is.
    #[cold]
    fn rebase(&mut self, due: Ns) -> u64 {
        let less = self.now.since(self.base).0 << self.index_bits;
        self.base = self.now;
        let tree = self.groups.iter_mut().flatten().chain(&mut self.fronts);
        for word in tree.chain([&mut self.least]).filter(|w| **w != STOPPED) {
            *word -= less;
        }
        due.since(self.base)
            .0
            .min((1 << (63 - self.index_bits)) - 1)
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
            sets in prop::collection::vec((0usize..95, 0u64..50, any::<bool>()), 0..300),
            // Days between events, so that words are counted from a new base now and then.
            gap in prop::sample::select(vec![1u64, 1 << 44, 1 << 49]),
        ) {
            let mut timers = Timers::new(resources);
            let mut model = vec![Ns::MAX; resources + FRONTS];
            let mut now = Ns::ZERO;
            for (resource, after, expires) in sets {
                let resource = resource % (resources + FRONTS);
                let due = if after == 0 { Ns::MAX } else { now + Ns(after * gap) };
                let mut set = |resource: usize, due| {
                    model[resource] = due;
                    match resource.checked_sub(resources) {
                        Some(front) => timers.set_front(front, due),
                        None => timers.set(resource, due),
                    }
                };
                set(resource, due);
                let least = *model.iter().min().unwrap();
                let first = model.iter().position(|&d| d == least).unwrap();
                prop_assert_eq!(timers.due(), least);
                if expires {
                    let expected = (least != Ns::MAX).then_some((least, first));
                    prop_assert_eq!(timers.expire(), expected);
                    if expected.is_some() {
                        now = least;
                        timers.stop(first);
                        model[first] = Ns::MAX;
                    }
                }
            }
        }
    }

    impl Timers {
        fn stop(&mut self, resource: usize) {
            match resource.checked_sub(self.first_front) {
                Some(front) => self.set_front(front, Ns::MAX),
                None => self.set(resource, Ns::MAX),
            }
        }
    }

    #[test]
    fn model_a_timer_years_away_expires_early() {
        let mut timers = Timers::new(100);
        timers.set(7, Ns(u64::MAX - 1));
        let (due, resource) = timers.expire().unwrap();
        assert_eq!(resource, 7);
        assert!(
            due.0 > 365 * 24 * 3_600_000_000_000,
            "a year at least: {due:?}"
        );
    }
}
