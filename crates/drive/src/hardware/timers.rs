//! One cancellable timer per resource, and the next one to expire.
//!
//! If timers are due at the same time, the one of the lower resource goes first, so the order of events
//! depends on the configuration alone. Timers that are due soon are in a wheel: a ring of short time spans,
//! each with a sorted list that rarely has more than one entry, and a bit per non-empty span. Timers further
//! away (erases, and programs of more than a millisecond: one for many pages) are searched only when the
//! first of them has expired. The few timers of the front end, set at almost every event, are compared one by
//! one.

use firstread_core::Ns;

/// Number of front-end timers.
pub(crate) const FRONTS: usize = 4;
/// Time span of a wheel entry, as a number of bits: 256 ns.
const SPAN_BITS: u32 = 8;
/// Number of spans: a millisecond in all, which covers the programs of `constant-256p` (750 us).
const SPANS: usize = 64 * 64;
/// The end of a list.
const END: u16 = u16::MAX;
/// Marks a timer that is not in the wheel, in place of the next resource of a list.
const FAR: u16 = u16::MAX - 1;
/// Word of a stopped front-end timer.
const STOPPED: u64 = u64::MAX;
/// Low bits of a front-end word, which hold its index.
const FRONT_BITS: u32 = FRONTS.next_power_of_two().ilog2();
/// After every timer.
const NEVER: (Ns, u16) = (Ns::MAX, END);
/// Latest time of a timer (146 years).
pub(crate) const LATEST: Ns = Ns(u64::MAX >> FRONT_BITS);

#[derive(Clone, Copy, Debug)]
struct Timer {
    due: Ns,
    /// The next resource in the list of its span.
    next: u16,
}

/// Timers of a fixed number of resources. Front-end timers have the indices after all others.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// When the last timer expired. No timer is due earlier.
    now: Ns,
    /// By resource; [`Ns::MAX`] if stopped.
    timers: Vec<Timer>,
    /// The first resource of each span.
    first: Box<[u16; SPANS]>,
    /// One bit per span that has an entry.
    some: [u64; SPANS / 64],
    /// One bit per nonzero word of `some`.
    words: u64,
    /// The first of all timers, without the front end.
    least: (Ns, u16),
    /// The first of the timers beyond the reach of the wheel.
    far: (Ns, u16),
    /// Due time of each front-end timer, above its index.
    fronts: [u64; FRONTS],
}

impl Timers {
    /// All stopped: `resources` timers, followed by those of the front end.
    pub(crate) fn new(resources: usize) -> Timers {
        assert!(resources < FAR as usize, "resources are counted in 16 bits");
        let stopped = Timer {
            due: Ns::MAX,
            next: END,
        };
        Timers {
            now: Ns::ZERO,
            timers: vec![stopped; resources],
            first: Box::new([END; SPANS]),
            some: [0; SPANS / 64],
            words: 0,
            least: NEVER,
            far: NEVER,
            fronts: [STOPPED; FRONTS],
        }
    }

    /// Stops all timers, including the front end, at `now`.
    pub(crate) fn stop_all(&mut self, now: Ns) {
        *self = Timers {
            now,
            ..Timers::new(self.timers.len())
        };
    }

    /// Sets the timer of `resource` to a time not before the last expiry; [`Ns::MAX`] stops it.
    #[inline]
    pub(crate) fn set(&mut self, resource: usize, due: Ns) {
        if self.timers[resource].due != Ns::MAX {
            self.stop(resource);
        }
        if due != Ns::MAX {
            self.start(resource as u16, due.min(LATEST));
        }
    }

    #[inline]
    fn start(&mut self, resource: u16, due: Ns) {
        if (due, resource) < self.least {
            self.least = (due, resource);
        }
        let (span, now) = (due.0 >> SPAN_BITS, self.now.0 >> SPAN_BITS);
        if span - now >= SPANS as u64 {
            return self.start_far(resource, due);
        }
        let span = span as usize % SPANS;
        self.some[span / 64] |= 1 << (span % 64);
        self.words |= 1 << (span / 64);
        let first = self.first[span];
        if first == END || self.is_before(due, resource, first) {
            self.first[span] = resource;
            self.timers[resource as usize] = Timer { due, next: first };
        } else {
            self.start_behind(first, resource, due);
        }
    }

    /// Inserts the timer into the list that starts with `first`, somewhere after it.
    #[inline(never)]
    fn start_behind(&mut self, first: u16, resource: u16, due: Ns) {
        let mut ahead = first;
        let next = loop {
            let next = self.timers[ahead as usize].next;
            if next == END || self.is_before(due, resource, next) {
                break next;
            }
            ahead = next;
        };
        self.timers[ahead as usize].next = resource;
        self.timers[resource as usize] = Timer { due, next };
    }

    /// Whether a timer of `resource` at `due` goes before that of `other`.
    #[inline]
    fn is_before(&self, due: Ns, resource: u16, other: u16) -> bool {
        (due, resource) < (self.timers[other as usize].due, other)
    }

    #[cold]
    fn start_far(&mut self, resource: u16, due: Ns) {
        self.timers[resource as usize] = Timer { due, next: FAR };
        self.far = self.far.min((due, resource));
    }

    /// Stops the timer of `resource` before it has expired.
    #[cold]
    fn stop(&mut self, resource: usize) {
        let Timer { due, next } = self.timers[resource];
        let (first, resource) = (self.first_of(due), resource as u16);
        if next == FAR || first == resource {
            self.take(due, resource);
        } else {
            let mut ahead = first;
            while self.timers[ahead as usize].next != resource {
                ahead = self.timers[ahead as usize].next;
            }
            self.timers[ahead as usize].next = next;
            self.timers[resource as usize].due = Ns::MAX;
        }
        self.least = self.near().min(self.far);
    }

    fn first_of(&self, due: Ns) -> u16 {
        self.first[(due.0 >> SPAN_BITS) as usize % SPANS]
    }

    /// Removes a timer that is the first of its span, or far away.
    #[inline]
    fn take(&mut self, due: Ns, resource: u16) {
        let timer = &mut self.timers[resource as usize];
        timer.due = Ns::MAX;
        let next = timer.next;
        if next == FAR {
            return self.find_far();
        }
        let span = (due.0 >> SPAN_BITS) as usize % SPANS;
        self.first[span] = next;
        if next == END {
            let some = self.some[span / 64] & !(1 << (span % 64));
            self.some[span / 64] = some;
            self.words &= !(((some == 0) as u64) << (span / 64));
        }
    }

    /// Finds the first timer that is not in the wheel.
    #[cold]
    fn find_far(&mut self) {
        let far = |&(_, timer): &(u16, &Timer)| timer.due != Ns::MAX && timer.next == FAR;
        let all = (0..).zip(&self.timers).filter(far);
        let first = all.map(|(resource, timer)| (timer.due, resource)).min();
        self.far = first.unwrap_or(NEVER);
    }

    /// Sets front-end timer `front`.
    #[inline]
    pub(crate) fn set_front(&mut self, front: usize, due: Ns) {
        self.fronts[front] = if due == Ns::MAX {
            STOPPED
        } else {
            due.min(LATEST).0 << FRONT_BITS | front as u64
        };
    }

    /// When the next timer is due; [`Ns::MAX`] if all are stopped.
    #[inline]
    pub(crate) fn due(&self) -> Ns {
        match self.first_front() {
            STOPPED => self.least.0,
            word => self.least.0.min(Ns(word >> FRONT_BITS)),
        }
    }

    /// Expires and stops the next timer. Returns when it was due, and its resource; none if all are stopped.
    #[inline]
    pub(crate) fn expire(&mut self) -> Option<(Ns, usize)> {
        let (due, resource) = self.least;
        let word = self.first_front();
        if word >> FRONT_BITS < due.0 {
            if word == STOPPED {
                return None;
            }
            let front = (word % (1 << FRONT_BITS)) as usize;
            self.fronts[front] = STOPPED;
            let resource = self.timers.len() + front;
            self.now = Ns(word >> FRONT_BITS);
            return Some((self.now, resource));
        }
        self.now = due;
        self.take(due, resource);
        self.least = self.near().min(self.far);
        Some((due, resource as usize))
    }

    /// The first timer of the wheel.
    #[inline]
    fn near(&self) -> (Ns, u16) {
        if self.words == 0 {
            return NEVER;
        }
        let now = (self.now.0 >> SPAN_BITS) as usize % SPANS;
        let (word, bit) = (now / 64, now % 64);
        let here = self.some[word] >> bit;
        let span = if here != 0 {
            now + here.trailing_zeros() as usize
        } else {
            // The ring wraps around: spans below `bit` of this word come last.
            let turned = self.words.rotate_right(word as u32 + 1);
            let word = (word + 1 + turned.trailing_zeros() as usize) % 64;
            word * 64 + self.some[word].trailing_zeros() as usize
        };
        let first = self.first[span % SPANS];
        (self.timers[first as usize].due, first)
    }

    #[inline]
    fn first_front(&self) -> u64 {
        let [a, b, c, d] = self.fronts;
        a.min(b).min(c.min(d))
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
            // From many timers in one span, over several spans and the end of the wheel, to months.
            gap in prop::sample::select(vec![1u64, 100, 5_000, 20_000, 1 << 44]),
        ) {
            let mut timers = Timers::new(resources);
            let mut model = vec![Ns::MAX; resources + FRONTS];
            let mut now = Ns::ZERO;
            for (resource, after, expires) in sets {
                let resource = resource % (resources + FRONTS);
                let due = if after == 0 { Ns::MAX } else { now + Ns(after * gap) };
                model[resource] = due;
                match resource.checked_sub(resources) {
                    Some(front) => timers.set_front(front, due),
                    None => timers.set(resource, due),
                }
                let least = *model.iter().min().unwrap();
                let first = model.iter().position(|&d| d == least).unwrap();
                prop_assert_eq!(timers.due(), least);
                if expires {
                    let expected = (least != Ns::MAX).then_some((least, first));
                    prop_assert_eq!(timers.expire(), expected);
                    if expected.is_some() {
                        now = least;
                        model[first] = Ns::MAX;
                    }
                }
            }
        }
    }

    #[test]
    fn model_a_timer_a_life_away_expires_early() {
        let mut timers = Timers::new(100);
        timers.set(7, Ns(u64::MAX - 1));
        timers.set_front(2, Ns(u64::MAX - 1));
        assert_eq!(timers.expire(), Some((LATEST, 7)));
        assert_eq!(timers.expire(), Some((LATEST, 102)));
        assert_eq!(timers.expire(), None);
    }
}
