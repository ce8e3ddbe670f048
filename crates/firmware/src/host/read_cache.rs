//! The read cache: slots that the host has read, or is expected to read, kept in memory.
//!
//! Slots that were read whole are kept, and replaced by segmented LRU ([`crate::cache`]). A write or trim
//! drops the slot. A move of the data changes nothing, because the cache is indexed by logical page. Data
//! from flash are kept only if the map still says that they are the last version, so a write or trim during
//! the read wins. Without memory for the read cache it costs one branch.
//!
//! The memory may be reserved for read-ahead. Then data read by the host are not kept, and data read ahead
//! are the first to be replaced once they were used.

use alloc::boxed::Box;

use firstread_core::Buf;

use crate::cache::Cache;
use crate::ftl::REGION_PAGES;
use crate::observe::FrontEndCounters;

/// Entries by logical page, each with a slot buffer.
#[derive(Clone, Debug)]
pub(crate) struct ReadCache {
    pub(super) cache: Cache,
    /// Buffer of the first entry.
    first: Buf,
    /// Whether slots read by the host are kept, or only slots read ahead.
    keeps: bool,
    /// Number of entries in each map region, so that a trim skips regions without entries. A region has 4,096 pages.
    in_region: Box<[u16]>,
}

impl ReadCache {
    /// Room for `kept` slots that the host reads and `ahead` slots read ahead, on a drive of `capacity`
    /// logical pages. The buffers begin at `first`.
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

    /// Number of slots that were read ahead and not used.
    pub(crate) fn unused(&mut self) -> u64 {
        let mut unused = 0;
        self.cache.keep(|_, mark, here| {
            unused += u64::from(here && mark);
            true
        });
        unused
    }

    /// Number of slots it has room for.
    pub(crate) fn len(&self) -> u32 {
        self.cache.len()
    }
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !self.in_region.is_empty()
    }
    /// Whether slots read by the host are kept.
    #[inline]
    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }
    /// Whether page `lpn` is present or being read.
    #[inline]
    pub(crate) fn has(&self, lpn: u64) -> bool {
        self.cache.find(lpn).is_some()
    }
    /// The job that reads page `lpn`, if it is being read.
    pub(crate) fn coming(&self, lpn: u64) -> Option<u32> {
        self.cache.find(lpn).and_then(|e| self.cache.coming(e))
    }
    /// The buffer of page `lpn`, if it is present.
    pub(crate) fn here(&self, lpn: u64) -> Option<Buf> {
        let e = self.cache.find(lpn)?;
        self.cache.coming(e).is_none().then(|| self.buffer(e))
    }
    pub(super) fn buffer(&self, e: u32) -> Buf {
        self.first.slot(e)
    }

    /// Reserves an entry for page `lpn`, which `job` reads. False if all entries are reserved.
    pub(crate) fn reserve(&mut self, lpn: u64, job: u32, counters: &mut FrontEndCounters) -> bool {
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

    /// Job `job` has read page `lpn`: returns its buffer. None if the entry was dropped meanwhile. `unused`
    /// means that it was read ahead and nobody has asked for it yet.
    pub(crate) fn arrive(&mut self, lpn: u64, job: u32, unused: bool) -> Option<Buf> {
        let e = self.cache.find(lpn)?;
        if self.cache.coming(e) != Some(job) {
            return None;
        }
        self.cache.arrive(e);
        self.cache.set_mark(e, unused);
        // Memory for read-ahead alone: a slot that a command has used is the first to make room for others.
        if !unused && !self.keeps {
            self.cache.retire(e);
        }
        Some(self.buffer(e))
    }

    /// Drops page `lpn`, which was written, trimmed or uncorrectable.
    #[inline]
    pub(crate) fn forget(&mut self, lpn: u64, counters: &mut FrontEndCounters) {
        let region = (lpn / REGION_PAGES) as usize;
        if self.in_region[region] == 0 {
            return;
        }
        if let Some(e) = self.cache.find(lpn) {
            // A slot still being read is counted when its read ends.
            let here = self.cache.coming(e).is_none();
            counters.ahead_wasted += (here && self.cache.mark(e)) as u64;
            self.cache.remove(e);
            self.in_region[region] -= 1;
        }
    }

    /// Drops pages `first` to `end`, all of one map region.
    pub(crate) fn forget_all(&mut self, first: u64, end: u64, counters: &mut FrontEndCounters) {
        for lpn in first..end {
            if self.in_region[(lpn / REGION_PAGES) as usize] == 0 {
                return;
            }
            self.forget(lpn, counters);
        }
    }

    /// The host reads present entry `e`.
    pub(super) fn used(&mut self, e: u32, counters: &mut FrontEndCounters) {
        counters.cache_hits += 1;
        let first = self.cache.mark(e);
        if first {
            counters.ahead_used += 1;
            self.cache.set_mark(e, false);
        }
        match (self.keeps, first) {
            (false, _) => self.cache.retire(e),
            // This is the use it was read ahead for, so it counts as newly read, not as used again.
            (true, true) => self.cache.renew(e),
            (true, false) => self.cache.touch(e),
        }
    }
}

#[cfg(test)]
mod tests;
