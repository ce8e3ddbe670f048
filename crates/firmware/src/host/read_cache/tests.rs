//! The read cache against two plain lists.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use firstread_core::{Buf, Stream};

use super::ReadCache;
use crate::observe::FrontEndCounters;

/// Pages of the drive.
const PAGES: u64 = 60;
const JOB: u32 = 7;

/// Segmented LRU: the next page to be replaced is the first one.
#[derive(Default)]
struct Plain {
    /// Pages used once, or not yet.
    probation: VecDeque<u64>,
    /// Pages used again since they came.
    protected: VecDeque<u64>,
    /// Pages that are being read.
    coming: Vec<u64>,
    /// Of those that are there, pages that were read ahead and that nobody has asked for.
    unused: Vec<u64>,
    /// Pages read ahead that went unused, and that were used; hits.
    wasted: u64,
    used: u64,
    hits: u64,
}

impl Plain {
    fn is_here(&self, page: u64) -> bool {
        self.probation.contains(&page) || self.protected.contains(&page)
    }

    fn take(&mut self, page: u64) {
        self.probation.retain(|p| *p != page);
        self.protected.retain(|p| *p != page);
        self.coming.retain(|p| *p != page);
    }

    fn drop(&mut self, page: u64) {
        self.wasted += u64::from(self.unused.contains(&page));
        self.unused.retain(|p| *p != page);
        self.take(page);
    }

    fn reserve(&mut self, page: u64, room: usize) -> bool {
        let here = self.probation.len() + self.protected.len();
        if here + self.coming.len() == room {
            let oldest = self.probation.front().or(self.protected.front());
            let Some(oldest) = oldest.copied() else {
                return false;
            };
            self.drop(oldest);
        }
        self.coming.push(page);
        true
    }

    /// `page` has come; it is the next to go if it was read by the host and such pages are not kept.
    fn arrive(&mut self, page: u64, unused: bool, keeps: bool) {
        self.take(page);
        if unused {
            self.unused.push(page);
        }
        match unused || keeps {
            true => self.probation.push_back(page),
            false => self.probation.push_front(page),
        }
    }

    /// The host reads `page`. What was read ahead for this read counts as newly read, not as used again.
    fn read(&mut self, page: u64, keeps: bool, most_protected: usize) {
        let is_first = self.unused.contains(&page);
        self.unused.retain(|p| *p != page);
        self.hits += 1;
        self.used += u64::from(is_first);
        self.take(page);
        match (keeps, is_first) {
            (false, _) => self.probation.push_front(page),
            (true, true) => self.probation.push_back(page),
            (true, false) => {
                self.protected.push_back(page);
                if self.protected.len() > most_protected {
                    self.probation.extend(self.protected.pop_front());
                }
            }
        }
    }
}

/// Pages come, are used, overwritten and replaced: which of them are there, and what was read ahead in vain, are those of two
/// lists.
#[test]
fn model_pages_are_kept_by_how_often_they_were_used() {
    let mut replaced = 0;
    for seed in 0..24 {
        let s = Stream::new(seed).named("read cache");
        let (kept, ahead) = match seed % 3 {
            0 => (0, 4 + s.at(0).below(12) as u32),
            1 => (4 + s.at(0).below(12) as u32, 0),
            _ => (3 + s.at(0).below(8) as u32, 3 + s.at(1).below(8) as u32),
        };
        let room = (kept + ahead) as usize;
        let (keeps, most_protected) = (kept > 0, room * 4 / 5);
        let mut cache = ReadCache::new(kept, ahead, PAGES, Buf(100));
        let (mut plain, mut counters) = (Plain::default(), FrontEndCounters::default());
        for i in 0..2_000 {
            let draw = s.named("step").at(i);
            let page = draw.at(0).below(PAGES.min(3 * room as u64));
            let case = (seed, i, page);
            match draw.at(1).below(10) {
                0 => {
                    cache.forget(page, &mut counters);
                    plain.drop(page);
                }
                _ if plain.is_here(page) => {
                    let e = cache.cache.find(page).expect("it is there");
                    assert_eq!(cache.here(page), Some(Buf(100).slot(e)), "{case:?}");
                    cache.used(e, &mut counters);
                    plain.read(page, keeps, most_protected);
                }
                n if plain.coming.contains(&page) => {
                    assert_eq!(cache.coming(page), Some(JOB), "{case:?}");
                    let unused = ahead > 0 && n < 6;
                    assert!(cache.arrive(page, JOB + 1, unused).is_none(), "{case:?}");
                    assert!(cache.arrive(page, JOB, unused).is_some(), "{case:?}");
                    plain.arrive(page, unused, keeps);
                }
                _ => {
                    let was_here = plain.probation.len() + plain.protected.len();
                    let reserved = cache.reserve(page, JOB, &mut counters);
                    assert_eq!(reserved, plain.reserve(page, room), "{case:?}");
                    let is_here = plain.probation.len() + plain.protected.len();
                    replaced += was_here - is_here;
                }
            }
            for page in 0..PAGES {
                assert_eq!(
                    cache.here(page).is_some(),
                    plain.is_here(page),
                    "{case:?}: {page}"
                );
                let is_coming = plain.coming.contains(&page);
                assert_eq!(cache.coming(page).is_some(), is_coming, "{case:?}: {page}");
            }
            let found = (
                counters.ahead_wasted,
                counters.ahead_used,
                counters.cache_hits,
            );
            assert_eq!(found, (plain.wasted, plain.used, plain.hits), "{case:?}");
        }
        assert_eq!(cache.unused(), plain.unused.len() as u64, "seed {seed}");
    }
    assert!(replaced > 1_000, "{replaced}");
}
