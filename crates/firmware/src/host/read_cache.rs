//! The read cache: slots that the host has read, or will soon, kept in memory.
//!
//! Slots read in whole are kept and replaced by segmented LRU ([`crate::cache`]). A write or trim
//! drops the slot; a move of the data changes nothing, since the cache goes by logical page. What
//! comes from flash is kept only if the map still says that it is the last version, so that a write
//! or trim that came meanwhile wins. Without memory for it the cache costs one branch.
//!
//! Part of the memory may be for read-ahead alone: then what the host read from flash is not kept, and
//! what was read ahead is the first to go once it was used.

use alloc::boxed::Box;

use firstread_core::Buf;

use crate::cache::Cache;
use crate::ftl::REGION_PAGES;
use crate::observe::FrontCounters;

/// The cache.
#[derive(Clone, Debug)]
pub(crate) struct ReadCache {
    pub(super) cache: Cache,
    /// Buffer of the first entry.
    first: Buf,
    /// Whether it keeps what the host reads, or only what was read ahead.
    keeps: bool,
    /// Entries in each region of logical pages, so that a trim passes over those without any.
    in_region: Box<[u16]>,
}

impl ReadCache {
    /// For `kept` slots that the host reads and `ahead` more that are read ahead, on a drive of
    /// `capacity` logical pages. Its buffers begin at `first`.
    pub(crate) fn new(kept: u32, ahead: u32, capacity: u64, first: Buf) -> ReadCache {
        let entries = kept + ahead;
        let regions = match entries {
            0 => 0,
            _ => capacity.div_ceil(REGION_PAGES) as usize,
        };
        ReadCache {
            cache: Cache::new(entries),
            first,
            keeps: kept > 0,
            in_region: alloc::vec![0; regions].into_boxed_slice(),
        }
    }

    /// Slots it holds that were read ahead and not used.
    pub(crate) fn unused(&mut self) -> u64 {
        let mut unused = 0;
        self.cache.keep(|_, mark, here| {
            unused += u64::from(here && mark);
            true
        });
        unused
    }

    /// Slots it has room for.
    pub(crate) fn len(&self) -> u32 {
        self.cache.len()
    }
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.in_region.is_empty()
    }
    /// Whether what the host reads is kept.
    #[inline]
    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }
    /// Whether page `lpn` is here or on its way.
    #[inline]
    pub(crate) fn has(&self, lpn: u64) -> bool {
        self.cache.find(lpn).is_some()
    }
    /// The job that brings page `lpn`, if it is on its way.
    pub(crate) fn coming(&self, lpn: u64) -> Option<u32> {
        self.cache.find(lpn).and_then(|e| self.cache.coming(e))
    }
    /// The buffer of page `lpn`, if it is here.
    pub(crate) fn here(&self, lpn: u64) -> Option<Buf> {
        let e = self.cache.find(lpn)?;
        self.cache.coming(e).is_none().then(|| self.buffer(e))
    }
    pub(super) fn buffer(&self, e: u32) -> Buf {
        self.first.slot(e)
    }

    /// Reserves an entry for page `lpn`, which `job` will bring. False when all are on their way.
    pub(crate) fn reserve(&mut self, lpn: u64, job: u32, counters: &mut FrontCounters) -> bool {
        let Some((_, replaced)) = self.cache.reserve(lpn, job) else {
            return false;
        };
        if let Some(replaced) = replaced {
            self.in_region[(replaced.key / REGION_PAGES) as usize] -= 1;
            counters.ahead_wasted += replaced.mark as u64;
        }
        self.in_region[(lpn / REGION_PAGES) as usize] += 1;
        true
    }

    /// Page `lpn`, which `job` was to bring, is here: its buffer. None when it was dropped since.
    /// `unused`: it was read ahead, and nobody has asked for it yet.
    pub(crate) fn arrive(&mut self, lpn: u64, job: u32, unused: bool) -> Option<Buf> {
        let e = self.cache.find(lpn)?;
        if self.cache.coming(e) != Some(job) {
            return None;
        }
        self.cache.arrive(e);
        self.cache.set_mark(e, unused);
        if !unused && !self.keeps {
            self.cache.retire(e);
        }
        Some(self.buffer(e))
    }

    /// Drops page `lpn`: it was written or trimmed, or did not come.
    #[inline]
    pub(crate) fn forget(&mut self, lpn: u64, counters: &mut FrontCounters) {
        let region = (lpn / REGION_PAGES) as usize;
        if self.in_region[region] == 0 {
            return;
        }
        if let Some(e) = self.cache.find(lpn) {
            // What is on its way is counted when it comes.
            let here = self.cache.coming(e).is_none();
            counters.ahead_wasted += (here && self.cache.mark(e)) as u64;
            self.cache.remove(e);
            self.in_region[region] -= 1;
        }
    }

    /// Drops pages `first` to `end`, all of one region.
    pub(crate) fn forget_all(&mut self, first: u64, end: u64, counters: &mut FrontCounters) {
        for lpn in first..end {
            if self.in_region[(lpn / REGION_PAGES) as usize] == 0 {
                return;
            }
            self.forget(lpn, counters);
        }
    }

    /// The host reads entry `e`, which is here.
    pub(super) fn used(&mut self, e: u32, counters: &mut FrontCounters) {
        counters.cache_hits += 1;
        let first = self.cache.mark(e);
        if first {
            counters.ahead_used += 1;
            self.cache.set_mark(e, false);
        }
        match (self.keeps, first) {
            (false, _) => self.cache.retire(e),
            // That is what it was read for: it is as if it had just come from flash.
            (true, true) => self.cache.renew(e),
            (true, false) => self.cache.touch(e),
        }
    }
}
