//! A cache of numbered items with segmented LRU replacement (Karedla, Love and Wherry, IEEE Computer 27(3),
//! 1994, for disk caches).
//!
//! A new entry joins the *probation* list. An entry that is used again moves to the *protected* list. When
//! the protected list is full, its oldest entries go back to probation. The oldest entry on probation is
//! replaced first, so entries used once, as by a scan, do not displace entries used often. Entries are linked
//! by index and every operation is O(1). An entry can be reserved for data that a job is still reading: it is
//! found, but not replaced.

use alloc::boxed::Box;

use crate::format::{Cursor, Record as _};

/// No entry, or no job.
pub(crate) const NONE: u32 = u32::MAX;

/// Maximum share of the protected list, in fifths of all entries. Assumed, because most of the cache should
/// hold entries known to be used again.
const PROTECTED_FIFTHS: u64 = 4;

/// State of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EntryState {
    Free,
    /// Reserved for data that a job is reading.
    Pending,
    Probation,
    Protected,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    /// Next entry of the hash bucket.
    chain: u32,
    prev: u32,
    next: u32,
    /// The job that reads the data, while the entry is reserved.
    job: u32,
    state: EntryState,
    mark: bool,
}

/// Newest and oldest entry of a list, and its length.
#[derive(Clone, Copy, Debug)]
struct List {
    newest: u32,
    oldest: u32,
    len: u32,
}

impl List {
    const EMPTY: List = List {
        newest: NONE,
        oldest: NONE,
        len: 0,
    };
}

/// An entry that was replaced by a new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Replaced {
    pub(crate) key: u64,
    /// The mark of the replaced entry.
    pub(crate) mark: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Cache {
    entries: Box<[Entry]>,
    buckets: Box<[u32]>,
    /// Head of the list of free entries, linked through `next`.
    free: u32,
    probation: List,
    protected: List,
    protected_most: u32,
}

impl Cache {
    /// A cache of `entries` entries.
    pub(crate) fn new(entries: u32) -> Cache {
        let entry = |i: u32| Entry {
            key: 0,
            chain: NONE,
            prev: NONE,
            next: if i + 1 == entries { NONE } else { i + 1 },
            job: NONE,
            state: EntryState::Free,
            mark: false,
        };
        let buckets = if entries == 0 {
            0
        } else {
            entries.next_power_of_two() as usize
        };
        Cache {
            entries: (0..entries).map(entry).collect(),
            buckets: alloc::vec![NONE; buckets].into_boxed_slice(),
            free: if entries == 0 { NONE } else { 0 },
            probation: List::EMPTY,
            protected: List::EMPTY,
            protected_most: (entries as u64 * PROTECTED_FIFTHS / 5) as u32,
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    #[inline]
    fn bucket(&self, key: u64) -> usize {
        // Multiplicative hashing (Knuth, TAOCP 6.4).
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.buckets.len() - 1)
    }

    /// The entry of `key`, present or reserved. The cache has at least one entry.
    #[inline]
    pub(crate) fn find(&self, key: u64) -> Option<u32> {
        let mut e = self.buckets[self.bucket(key)];
        while e != NONE {
            let entry = &self.entries[e as usize];
            if entry.key == key {
                return Some(e);
            }
            e = entry.chain;
        }
        None
    }

    /// The job that reads entry `e`, if the entry is reserved.
    #[inline]
    pub(crate) fn coming(&self, e: u32) -> Option<u32> {
        let entry = &self.entries[e as usize];
        (entry.state == EntryState::Pending).then_some(entry.job)
    }

    pub(crate) fn key(&self, e: u32) -> u64 {
        self.entries[e as usize].key
    }
    pub(crate) fn mark(&self, e: u32) -> bool {
        self.entries[e as usize].mark
    }
    pub(crate) fn set_mark(&mut self, e: u32, mark: bool) {
        self.entries[e as usize].mark = mark;
    }

    /// Present entry `e` is used again.
    pub(crate) fn touch(&mut self, e: u32) {
        if self.entries[e as usize].state == EntryState::Protected && self.protected.newest == e {
            return;
        }
        self.unlink(e);
        self.link(e, EntryState::Protected);
        if self.protected.len > self.protected_most {
            let oldest = self.protected.oldest;
            self.unlink(oldest);
            self.link(oldest, EntryState::Probation);
        }
    }

    /// Moves present entry `e` to the newest place on probation, as if it had just arrived.
    pub(crate) fn renew(&mut self, e: u32) {
        self.unlink(e);
        self.link(e, EntryState::Probation);
    }

    /// Makes present entry `e` the next to be replaced.
    pub(crate) fn retire(&mut self, e: u32) {
        self.unlink(e);
        let entry = &mut self.entries[e as usize];
        entry.state = EntryState::Probation;
        entry.next = NONE;
        entry.prev = self.probation.oldest;
        match self.probation.oldest {
            NONE => self.probation.newest = e,
            oldest => self.entries[oldest as usize].next = e,
        }
        self.probation.oldest = e;
        self.probation.len += 1;
    }

    /// The entry to be replaced next. None while an entry is free, or if all entries are reserved.
    pub(crate) fn next_to_go(&self) -> Option<u32> {
        if self.free != NONE {
            return None;
        }
        let e = match self.probation.oldest {
            NONE => self.protected.oldest,
            e => e,
        };
        (e != NONE).then_some(e)
    }

    /// Reserves an entry for `key`, which has none, with `job` to read its data. Also returns the entry that
    /// was replaced. None if all entries are reserved.
    pub(crate) fn reserve(&mut self, key: u64, job: u32) -> Option<(u32, Option<Replaced>)> {
        let replaced = match self.next_to_go() {
            Some(oldest) => {
                let Entry { key, mark, .. } = self.entries[oldest as usize];
                self.remove(oldest);
                Some(Replaced { key, mark })
            }
            None if self.free == NONE => return None,
            None => None,
        };
        let e = self.free;
        let bucket = self.bucket(key);
        let entry = &mut self.entries[e as usize];
        self.free = entry.next;
        *entry = Entry {
            key,
            chain: self.buckets[bucket],
            prev: NONE,
            next: NONE,
            job,
            state: EntryState::Pending,
            mark: false,
        };
        self.buckets[bucket] = e;
        Some((e, replaced))
    }

    /// The data of reserved entry `e` have arrived.
    pub(crate) fn arrive(&mut self, e: u32) {
        debug_assert_eq!(self.entries[e as usize].state, EntryState::Pending);
        self.link(e, EntryState::Probation);
    }

    /// Drops all entries but those for which `stays` is true; `stays` gets the key, the mark, and whether the
    /// entry is present. Reserved entries are always dropped.
    pub(crate) fn keep(&mut self, mut stays: impl FnMut(u64, bool, bool) -> bool) {
        for e in 0..self.len() {
            let entry = &self.entries[e as usize];
            let here = match entry.state {
                EntryState::Free => continue,
                EntryState::Pending => false,
                EntryState::Probation | EntryState::Protected => true,
            };
            if !(stays(entry.key, entry.mark, here) && here) {
                self.remove(e);
            }
        }
    }

    /// Calls `each` with the key of each marked entry that is reserved.
    pub(crate) fn each_marked_reserved(&self, mut each: impl FnMut(u64)) {
        let entries = self.entries.iter();
        entries
            .filter(|entry| entry.state == EntryState::Pending && entry.mark)
            .for_each(|entry| each(entry.key));
    }

    /// Saves the keys of present entries that are marked, or loads them into an empty cache: the oldest first, those on
    /// probation before those that are protected. Keys are below `keys`.
    pub(crate) fn transfer_marked(&mut self, keys: u64, cursor: &mut Cursor<'_>) {
        for state in [EntryState::Probation, EntryState::Protected] {
            let mut len = self.marked_in(state).count() as u32;
            len.transfer(cursor);
            if cursor.is_loading() {
                for _ in 0..len {
                    let mut key = 0;
                    key.transfer(cursor);
                    if key >= keys {
                        return cursor.fault();
                    }
                    self.put_back(key, state, cursor);
                    if cursor.has_fault() {
                        return;
                    }
                }
            } else {
                self.marked_in(state)
                    .for_each(|mut key| key.transfer(cursor));
            }
            if cursor.counts_most() && state == EntryState::Probation {
                (len..self.len()).for_each(|_| 0u64.transfer(cursor));
            }
        }
    }

    /// Number of marked entries that are present.
    pub(crate) fn marked(&self) -> u32 {
        let lists = [EntryState::Probation, EntryState::Protected];
        lists
            .map(|state| self.marked_in(state).count())
            .iter()
            .sum::<usize>() as u32
    }

    /// Keys of the marked entries in the list of `state`, the oldest first.
    fn marked_in(&self, state: EntryState) -> impl Iterator<Item = u64> {
        let of = |e: u32| self.entries.get(e as usize);
        let list = match state {
            EntryState::Protected => &self.protected,
            _ => &self.probation,
        };
        let oldest = of(list.oldest);
        let entries = core::iter::successors(oldest, move |entry| of(entry.prev));
        entries.filter(|entry| entry.mark).map(|entry| entry.key)
    }

    /// Puts a marked entry of `key` into the list of `state`, as the newest one.
    fn put_back(&mut self, key: u64, state: EntryState, cursor: &mut Cursor<'_>) {
        if cursor.has_fault() || self.free == NONE || self.find(key).is_some() {
            return cursor.fault();
        }
        let Some((e, None)) = self.reserve(key, NONE) else {
            return cursor.fault();
        };
        self.link(e, state);
        self.set_mark(e, true);
    }

    pub(crate) fn remove(&mut self, e: u32) {
        if self.entries[e as usize].state != EntryState::Pending {
            self.unlink(e);
        }
        let Entry { key, chain, .. } = self.entries[e as usize];
        let bucket = self.bucket(key);
        if self.buckets[bucket] == e {
            self.buckets[bucket] = chain;
        } else {
            let mut before = self.buckets[bucket];
            while self.entries[before as usize].chain != e {
                before = self.entries[before as usize].chain;
            }
            self.entries[before as usize].chain = chain;
        }
        let free = self.free;
        let entry = &mut self.entries[e as usize];
        entry.state = EntryState::Free;
        entry.next = free;
        self.free = e;
    }

    fn list(&mut self, state: EntryState) -> &mut List {
        match state {
            EntryState::Protected => &mut self.protected,
            _ => &mut self.probation,
        }
    }

    /// Unlinks `e` from its list.
    fn unlink(&mut self, e: u32) {
        let Entry {
            prev, next, state, ..
        } = self.entries[e as usize];
        debug_assert!(matches!(
            state,
            EntryState::Probation | EntryState::Protected
        ));
        match prev {
            NONE => self.list(state).newest = next,
            prev => self.entries[prev as usize].next = next,
        }
        match next {
            NONE => self.list(state).oldest = prev,
            next => self.entries[next as usize].prev = prev,
        }
        self.list(state).len -= 1;
    }

    /// Links `e` as the newest entry of a list.
    fn link(&mut self, e: u32, state: EntryState) {
        let list = self.list(state);
        let newest = core::mem::replace(&mut list.newest, e);
        list.len += 1;
        if newest == NONE {
            list.oldest = e;
        } else {
            self.entries[newest as usize].prev = e;
        }
        let entry = &mut self.entries[e as usize];
        entry.state = state;
        entry.prev = NONE;
        entry.next = newest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    fn put(cache: &mut Cache, key: u64) -> Option<u64> {
        let (e, replaced) = cache.reserve(key, 7).unwrap();
        assert_eq!(cache.coming(e), Some(7));
        cache.arrive(e);
        replaced.map(|r| r.key)
    }

    #[test]
    fn sequence_of_replacement() {
        let mut cache = Cache::new(5);
        for key in 0..5 {
            assert_eq!(put(&mut cache, key), None);
        }
        // Keys 0 and 1 are used again. The scan then replaces the other keys and leaves these two.
        for key in [0, 1] {
            let e = cache.find(key).unwrap();
            cache.touch(e);
        }
        let gone: Vec<Option<u64>> = (10..15).map(|key| put(&mut cache, key)).collect();
        assert_eq!(gone, [Some(2), Some(3), Some(4), Some(10), Some(11)]);
        assert!(cache.find(0).is_some() && cache.find(1).is_some());
        let e = cache.find(14).unwrap();
        cache.retire(e);
        assert_eq!(put(&mut cache, 20), Some(14));
    }

    #[test]
    fn model_cache_holds_what_was_put_and_not_replaced() {
        for seed in 0..20u64 {
            let stream = Stream::new(seed).named("cache");
            let size = 1 + stream.at(0).below(40) as u32;
            let mut cache = Cache::new(size);
            // Key, and whether it is still reserved.
            let mut model: BTreeMap<u64, bool> = BTreeMap::new();
            for i in 1..5_000u64 {
                let s = stream.at(i);
                let key = s.at(0).below(100);
                let found = cache.find(key);
                assert_eq!(
                    found.is_some(),
                    model.contains_key(&key),
                    "seed {seed} at {i}"
                );
                match (found, s.at(1).below(6)) {
                    (Some(e), 0) => {
                        cache.remove(e);
                        model.remove(&key);
                    }
                    (Some(e), n) if model[&key] => {
                        if n > 2 {
                            cache.arrive(e);
                            model.insert(key, false);
                        }
                    }
                    (Some(e), 1..4) => cache.touch(e),
                    (Some(e), 4) => cache.renew(e),
                    (Some(e), _) => cache.retire(e),
                    (None, _) => match cache.reserve(key, 1) {
                        Some((_, replaced)) => {
                            if let Some(r) = replaced {
                                assert_eq!(model.remove(&r.key), Some(false), "seed {seed}");
                            }
                            model.insert(key, true);
                        }
                        None => assert!(
                            model.len() == size as usize && model.values().all(|&c| c),
                            "seed {seed} at {i}"
                        ),
                    },
                }
            }
        }
    }
}
