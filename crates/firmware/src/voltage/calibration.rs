//! Calibration (CT-QLC §III-D): trials of entries on sample pages, the decision that follows, and
//! the search of all valleys of a group.

use firstread_core::voltage::MAX_FACTORY;
use firstread_core::{LevelOffsets, Levels, PageAddr, PageType, SenseMode};

use super::sampling::{Sample, Sampler};
use super::tables::{ENTRIES, TableManager};
use super::valley::{Rules, Search, window};
use crate::policy::read_levels::{Probe, ProbeResult};

/// How an entry did on the pages it was tried on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Pages read.
    pub pages: u16,
    /// Those with a codeword that failed.
    pub failed: u16,
    /// Codewords that failed.
    pub failed_codewords: u32,
    /// Bits corrected in the others.
    pub corrected_bits: u32,
}

impl Tally {
    fn add(&mut self, result: &ProbeResult) {
        let (failed, corrected) = match result {
            ProbeResult::Decoded(o) => ((o.failed & o.wanted).count_ones(), o.sum_errors),
            // An answer of another kind says nothing good of the page.
            ProbeResult::Ones { .. } => (1, 0),
        };
        self.pages = self.pages.saturating_add(1);
        self.failed = self.failed.saturating_add((failed > 0) as u16);
        self.failed_codewords = self.failed_codewords.saturating_add(failed);
        self.corrected_bits = self.corrected_bits.saturating_add(corrected);
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

/// A trial: every candidate on every page of a sample, one read at a time.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    sample: Sample,
    tallies: [Tally; MAX_FACTORY],
    candidates: u8,
    /// Reads that have been answered.
    done: u32,
    pages: u32,
}

impl Default for Trial {
    fn default() -> Trial {
        Trial {
            sample: Sample::default(),
            tallies: [Tally::default(); MAX_FACTORY],
            candidates: 0,
            done: 0,
            pages: 1,
        }
    }
}

impl Trial {
    /// Starts over with the first `candidates` candidates on `sample`, of `pages` pages.
    pub fn begin(&mut self, sample: Sample, pages: u32, candidates: u8) {
        *self = Trial {
            sample,
            candidates: candidates.min(MAX_FACTORY as u8),
            pages,
            ..Trial::default()
        };
    }
    /// Tries `candidates` others on the same pages.
    pub fn again(&mut self, candidates: u8) {
        self.begin(self.sample, self.pages, candidates);
    }
    /// The sample.
    pub fn sample(&self) -> &Sample {
        &self.sample
    }
    /// Candidate and page of the next read.
    pub fn position(&self) -> Option<(u8, u32)> {
        let candidate = self.done / self.pages;
        (candidate < self.candidates as u32).then_some((candidate as u8, self.done % self.pages))
    }
    /// The next read, with levels from `levels_of`.
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
    /// Takes the answer to [`Trial::probe`]; true when it was the last.
    pub fn record(&mut self, result: &ProbeResult) -> bool {
        if let Some((candidate, _)) = self.position() {
            self.tallies[candidate as usize].add(result);
            self.done += 1;
        }
        self.position().is_none()
    }
    /// Reads so far.
    pub fn reads(&self) -> u32 {
        self.done
    }
    /// Tallies of the first three candidates.
    pub fn tallies(&self) -> [Tally; ENTRIES] {
        core::array::from_fn(|i| self.tallies[i])
    }
    /// The three candidates with the lowest error rates, best first: fewest pages failed, then
    /// fewest codewords, then fewest bits corrected, then first in the table. With fewer than three
    /// candidates the last comes again.
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

/// Which outcomes verification can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refinement {
    /// Fail ratio in thousandths above which an entry fails verification (τ).
    pub threshold_permille: u16,
    /// Only the paper's three outcomes: nothing or sorting when all entries pass, tracking when all
    /// fail, and nothing when some do.
    pub strict: bool,
    /// Whether entries are sorted.
    pub reorder: bool,
    /// Whether valleys are tracked.
    pub track: bool,
}

/// What follows from a verification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The entries in a better order, as old positions.
    pub order: Option<[u8; ENTRIES]>,
    /// The entry to search valleys from.
    pub track_from: Option<u8>,
}

impl Refinement {
    /// Phase 2, the refinement decision. Entries that fail equally often keep their order.
    pub fn decide(&self, tallies: &[Tally; ENTRIES]) -> Decision {
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

/// Positions in ascending order of fail ratio, equal ones as they were.
pub fn ascending(tallies: &[Tally; ENTRIES]) -> [u8; ENTRIES] {
    let mut order = [0, 1, 2];
    // All were tried on the same pages, so the ratio sorts as the count does.
    order.sort_unstable_by_key(|&i: &u8| (tallies[i as usize].failed, i));
    order
}

/// The search of every valley that fills a group's entries, one after the other.
///
/// A valley is counted on the sampled pages of its page type, with one sense at its level alone, and
/// the counts are pooled: on a page with several valleys a shift of all levels at once makes
/// contributions of opposite sign that cancel.
#[derive(Clone, Copy, Debug)]
pub struct Tracking {
    rules: Rules,
    /// Levels of the entry the search started from.
    base: LevelOffsets,
    window: u8,
    /// The valleys, 1-based, and which of them is searched.
    valleys: [u8; 15],
    len: u8,
    current: u8,
    search: Search,
    /// Page of the sample, and the cells counted on the pages before it.
    page: u32,
    pooled: u64,
    /// What was found, per valley: level, half of the last window.
    centers: LevelOffsets,
    deltas: [u8; 15],
    iterations: u16,
    reads: u32,
    /// Half-width of the window the backups come from; 0 for that of the search's last.
    backup: u8,
}

impl Tracking {
    /// A search that has nothing left to do.
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

    /// Starts at `base`, an entry that failed on `fail_permille` of its pages; the first window is
    /// `units` wide to each side, or more.
    pub fn begin(
        &mut self,
        tables: &TableManager,
        base: LevelOffsets,
        units: u8,
        fail_permille: u16,
    ) {
        *self = Tracking {
            base,
            window: window(units, fail_permille),
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
    /// Keeps what the current search has found and goes on to the next valley, and so past those
    /// whose search has ended before it began.
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

    /// The next read, or none when every valley has been searched.
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
        // A sample has a page of each type; should one be missing, any wordline will do.
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

    /// Takes the answer to [`Tracking::probe`]; true when it was the last. An answer of another kind
    /// counts no cells.
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
    /// Reads so far.
    pub fn reads(&self) -> u32 {
        self.reads
    }
}
