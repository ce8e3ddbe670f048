//! Calibration (CT-QLC §III-D): trials of entries on sample pages, the decision that follows, and the search
//! of all valleys of a group.

use firstread_core::voltage::MAX_FACTORY;
use firstread_core::{LevelOffsets, Levels, PageAddr, PageType, SenseMode};

use super::sampling::{Sample, Sampler};
use super::tables::{ENTRIES, TableManager};
use super::valley::{Rules, Search};
use crate::observe::{Probe, ProbeResult};

/// Errors of an entry on the pages it was tried on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EntryTally {
    /// Pages read.
    pub pages: u16,
    /// Pages that failed.
    pub failed: u16,
    /// Those of them that have a failed codeword.
    pub uncorrectable: u16,
    /// Codewords that failed.
    pub failed_codewords: u32,
    /// Bits corrected in the other codewords.
    pub corrected_bits: u32,
}

impl EntryTally {
    /// Adds a page. It fails if a codeword failed, or if more than `limit` bits were corrected in one.
    fn add(&mut self, result: &ProbeResult, limit: u16) {
        let (failed, most, corrected) = match result {
            ProbeResult::Decoded(o) => (
                (o.failed & o.wanted).count_ones(),
                o.max_errors,
                o.sum_errors,
            ),
            // A result of another kind counts as a failed page.
            ProbeResult::Ones { .. } => (1, 0, 0),
        };
        self.pages = self.pages.saturating_add(1);
        let page_failed = failed > 0 || most > limit;
        self.failed = self.failed.saturating_add(page_failed as u16);
        self.uncorrectable = self.uncorrectable.saturating_add((failed > 0) as u16);
        self.failed_codewords = self.failed_codewords.saturating_add(failed);
        self.corrected_bits = self.corrected_bits.saturating_add(corrected);
    }
    /// What entries are ordered by: pages that failed, then pages that are uncorrectable. The two are the same
    /// unless pages fail by a margin; then all pages may fail with entries of which one can be read, one cannot.
    pub fn rank(&self) -> (u16, u16) {
        (self.failed, self.uncorrectable)
    }
    /// Fail ratio in thousandths, rounded.
    pub fn fail_permille(&self) -> u16 {
        let pages = (self.pages as u32).max(1);
        ((self.failed as u32 * 1000 + pages / 2) / pages) as u16
    }
    /// Whether the fail ratio is above `permille`.
    pub fn exceeds(&self, permille: u16) -> bool {
        self.failed as u32 * 1000 > permille as u32 * self.pages as u32
    }
}

/// A trial: reads every page of a sample with every candidate, one read at a time.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    sample: Sample,
    tallies: [EntryTally; MAX_FACTORY],
    candidates: u8,
    /// Number of reads completed.
    done: u32,
    pages: u32,
    /// Bits corrected in a codeword above which its page fails.
    limit: u16,
}

impl Default for Trial {
    fn default() -> Trial {
        Trial {
            sample: Sample::default(),
            tallies: [EntryTally::default(); MAX_FACTORY],
            candidates: 0,
            done: 0,
            pages: 1,
            limit: u16::MAX,
        }
    }
}

impl Trial {
    /// Starts a trial of the first `candidates` candidates on `pages` pages of `sample`.
    pub fn begin(&mut self, sample: Sample, pages: u32, candidates: u8) {
        *self = Trial {
            sample,
            candidates: candidates.min(MAX_FACTORY as u8),
            pages,
            ..Trial::default()
        };
    }
    /// Pages fail from now on, and when the trial is repeated, if more than `limit` bits are corrected in a
    /// codeword. Without it, pages fail if they are uncorrectable.
    pub fn fail_above(&mut self, limit: u16) {
        self.limit = limit;
    }
    /// Tries `candidates` other candidates on the same pages.
    pub fn again(&mut self, candidates: u8) {
        let limit = self.limit;
        self.begin(self.sample, self.pages, candidates);
        self.limit = limit;
    }
    /// The blocks and pages that all candidates are tried on.
    pub fn sample(&self) -> &Sample {
        &self.sample
    }
    /// Candidate and page of the next read.
    pub fn position(&self) -> Option<(u8, u32)> {
        let candidate = self.done / self.pages;
        (candidate < self.candidates as u32).then_some((candidate as u8, self.done % self.pages))
    }
    /// The next read; `levels_of` gives the levels of a candidate.
    pub fn probe(
        &self,
        sampler: &Sampler,
        levels_of: impl Fn(u8, PageAddr) -> LevelOffsets,
    ) -> Option<Probe> {
        let (candidate, page) = self.position()?;
        let (at, plane) = sampler.page(&self.sample, page);
        Some(Probe {
            at,
            planes: 1 << plane,
            levels: Levels::Offsets(levels_of(candidate, at)),
            mode: SenseMode::Hard,
        })
    }
    /// Records the result of [`Trial::probe`]. Returns true if it was the last.
    pub fn record(&mut self, result: &ProbeResult) -> bool {
        if let Some((candidate, _)) = self.position() {
            self.tallies[candidate as usize].add(result, self.limit);
            self.done += 1;
        }
        self.position().is_none()
    }
    /// Number of reads so far.
    pub fn reads(&self) -> u32 {
        self.done
    }
    /// Error counts of the first three candidates.
    pub fn tallies(&self) -> [EntryTally; ENTRIES] {
        core::array::from_fn(|i| self.tallies[i])
    }
    /// The three candidates with the lowest error rates, best first: fewest failed pages, then fewest failed
    /// codewords, then fewest corrected bits, then first in the table. With fewer than three candidates the
    /// last one is repeated.
    pub fn best(&self) -> [u8; ENTRIES] {
        let mut best = [0u8; ENTRIES];
        for slot in 0..ENTRIES {
            let left = (0..self.candidates).filter(|i| !best[..slot].contains(i));
            let errors = |i: &u8| {
                let t = self.tallies[*i as usize];
                (t.failed, t.failed_codewords, t.corrected_bits)
            };
            best[slot] = left
                .min_by_key(errors)
                .unwrap_or(best[slot.saturating_sub(1)]);
        }
        best
    }
}

/// Which actions verification may lead to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refinement {
    /// Fail ratio in thousandths above which an entry fails verification (τ).
    pub threshold_permille: u16,
    /// Allows only the paper's three outcomes: nothing or sorting if all entries pass, tracking if all fail,
    /// and nothing if some fail.
    pub strict: bool,
    /// Whether entries are sorted.
    pub reorder: bool,
    /// Whether valleys are tracked.
    pub track: bool,
}

/// Actions that follow from a verification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// New order of the entries, as old positions.
    pub order: Option<[u8; ENTRIES]>,
    /// The entry from which to search the valleys.
    pub track_from: Option<u8>,
}

impl Refinement {
    /// Phase 2, the refinement decision. Entries with equal fail ratios keep their order.
    pub fn decide(&self, tallies: &[EntryTally; ENTRIES]) -> Decision {
        let order = ascending(tallies);
        let best = order[0];
        let failing = tallies
            .iter()
            .filter(|t| t.exceeds(self.threshold_permille))
            .count();
        let (may_sort, must_track) = match self.strict {
            true => (failing == 0, failing == ENTRIES),
            false => (
                true,
                tallies[best as usize].exceeds(self.threshold_permille),
            ),
        };
        Decision {
            order: (self.reorder && may_sort && order != [0, 1, 2]).then_some(order),
            track_from: (self.track && must_track).then_some(best),
        }
    }
}

/// Positions in ascending order of fail ratio, then of uncorrectable pages; equals keep their order.
pub fn ascending(tallies: &[EntryTally; ENTRIES]) -> [u8; ENTRIES] {
    let mut order = [0, 1, 2];
    // All entries were tried on the same pages, so sorting by count is sorting by ratio.
    order.sort_unstable_by_key(|&i: &u8| (tallies[i as usize].rank(), i));
    order
}

/// The search of all valleys that an entry needs, one after another.
///
/// A valley is sensed alone, at a single level, on the sampled pages of its page type, and the counts are
/// pooled. If all levels of a page with several valleys were shifted at once, their contributions would have
/// opposite signs and cancel.
#[derive(Clone, Copy, Debug)]
pub struct Tracking {
    rules: Rules,
    /// Levels of the entry from which the search started.
    base: LevelOffsets,
    window: u8,
    /// The valleys, 1-based, and which of them is being searched.
    valleys: [u8; 15],
    len: u8,
    current: u8,
    search: Search,
    /// Current page of the sample, and cells counted on the pages before it.
    page: u32,
    pooled: u64,
    /// Results per valley: level, and half of the last window.
    centers: LevelOffsets,
    deltas: [u8; 15],
    iterations: u16,
    reads: u32,
    /// Half-width of the window that gives the backup entries; 0 for that of the search's last window.
    backup: u8,
}

impl Tracking {
    /// A search with nothing to do.
    pub fn idle(rules: Rules, backup: u8) -> Tracking {
        Tracking {
            rules,
            base: [0; 15],
            window: 1,
            valleys: [0; 15],
            len: 0,
            current: 0,
            search: Search::new(rules, 0, 1),
            page: 0,
            pooled: 0,
            centers: [0; 15],
            deltas: [0; 15],
            iterations: 0,
            reads: 0,
            backup,
        }
    }

    /// Starts at `base`. The first window is `window` units wide to each side.
    pub fn begin(&mut self, tables: &TableManager, base: LevelOffsets, window: u8) {
        *self = Tracking {
            base,
            window,
            centers: base,
            ..Tracking::idle(self.rules, self.backup)
        };
        for (slot, valley) in self.valleys.iter_mut().zip(tables.searched()) {
            *slot = valley;
            self.len += 1;
        }
        self.open();
    }

    fn valley(&self) -> Option<u8> {
        self.valleys[..self.len as usize]
            .get(self.current as usize)
            .copied()
    }
    fn open(&mut self) {
        if let Some(valley) = self.valley() {
            self.search = Search::new(self.rules, self.base[valley as usize - 1], self.window);
        }
    }
    /// Stores the result of the current valley and goes on to the next one. Skips valleys whose search ends
    /// before it begins.
    fn close(&mut self) {
        while let Some(valley) = self.valley()
            && self.search.level().is_none()
        {
            let k = valley as usize - 1;
            self.centers[k] = self.search.center();
            self.deltas[k] = self.search.delta();
            self.iterations += self.search.iterations() as u16;
            self.current += 1;
            self.open();
        }
    }

    /// The next read; none if all valleys have been searched.
    pub fn probe(
        &mut self,
        tables: &TableManager,
        sampler: &Sampler,
        sample: &Sample,
    ) -> Option<Probe> {
        self.close();
        let valley = self.valley()?;
        let level = self.search.level()?;
        let page = PageType(tables.page_of_valley(valley));
        // A sample has a page of each type. If one were missing, any wordline would do.
        self.page = sampler
            .next_of_type(sample, self.page, page)
            .unwrap_or(self.page);
        let (mut at, plane) = sampler.page(sample, self.page);
        at.page = page;
        let mut levels = self.base;
        levels[valley as usize - 1] = level;
        Some(Probe {
            at,
            planes: 1 << plane,
            levels: Levels::Offsets(levels),
            mode: SenseMode::OnesCount { valley },
        })
    }

    /// Records the result of [`Tracking::probe`]. Returns true if it was the last. A result of another kind
    /// counts as no cells.
    pub fn record(
        &mut self,
        tables: &TableManager,
        sampler: &Sampler,
        sample: &Sample,
        result: &ProbeResult,
    ) -> bool {
        if let (Some(valley), ProbeResult::Ones { count, .. }) = (self.valley(), result) {
            self.pooled += *count as u64;
            self.reads += 1;
            let page = PageType(tables.page_of_valley(valley));
            match sampler.next_of_type(sample, self.page + 1, page) {
                Some(next) => self.page = next,
                None => {
                    self.search.count(self.pooled);
                    (self.page, self.pooled) = (0, 0);
                }
            }
        }
        self.close();
        self.valley().is_none()
    }

    /// Phase 3 of the paper's listing: the levels found, with the low and the high backup.
    pub fn entries(&self) -> [LevelOffsets; ENTRIES] {
        let mut entries = [self.centers; ENTRIES];
        for &valley in &self.valleys[..self.len as usize] {
            let k = valley as usize - 1;
            let delta = match self.backup {
                0 => self.deltas[k],
                units => units,
            };
            entries[1][k] = self.centers[k].saturating_sub_unsigned(delta);
            entries[2][k] = self.centers[k].saturating_add_unsigned(delta);
        }
        entries
    }
    /// Iterations over all valleys.
    pub fn iterations(&self) -> u16 {
        self.iterations
    }
    /// Number of reads so far.
    pub fn reads(&self) -> u32 {
        self.reads
    }
}
