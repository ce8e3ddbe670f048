//! What the host will read and write: the door of oracles.
//!
//! A simulator that knows a load before it runs tells it here, page by page. No firmware knows this, so only schemes
//! of role oracle ask ([`firstread_core::params::Need::Future`]).
//!
//! A page has a version from one write of it to the next; its first version lies on the drive when the load begins. The
//! door tells how many commands read each version, in the order of the load's own sequence. It goes on with the commands
//! of the host as they are submitted. Where the host issues commands in another order than that of the sequence, a read
//! may come in another version than was told. Then what is told of the versions is off by that read; the number of reads
//! and of writes that are still to come is right in any order.
//!
//! A command counts once for each page that it touches, however much of it. So does a read that memory answers. A trim
//! changes nothing. Pages that the load does not touch take a quarter of a bit each: the others are kept in chunks.
//!
//! When a page is read is told by windows of the load. An oracle that plans over time divides the load into phases
//! ([`Future::divide`]) and is told of each page how it is read in the phase that the load is in.

use alloc::boxed::Box;
use alloc::vec::Vec;

use firstread_core::Lpn;

use super::windows::{InPhase, Phases, Windows};

/// Pages of a chunk.
const CHUNK: u64 = 128;
/// A chunk of which the load touches no page.
const UNTOUCHED: u32 = u32::MAX;

/// What is to come of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageFuture {
    /// Reads that were told of its current version.
    pub reads: u32,
    /// Reads that are still to come before it is written next.
    pub left: u32,
    /// Writes that are still to come.
    pub writes: u32,
    /// Slots that the host writes, this version's own apart, until the version is overwritten; [`u32::MAX`] for never.
    pub overwritten_in: u32,
    /// Of the reads of its current version, those of the phase that the load is in. A load that was not divided is one phase.
    pub now: InPhase,
}

impl Default for PageFuture {
    /// A page that is neither read nor written.
    fn default() -> PageFuture {
        PageFuture {
            reads: 0,
            left: 0,
            writes: 0,
            overwritten_in: u32::MAX,
            now: InPhase::default(),
        }
    }
}

/// What the host will read and write.
#[derive(Clone, Debug)]
pub struct Future(Option<Box<Told>>);

#[derive(Clone, Debug)]
struct Told {
    /// Index of each chunk of pages, or [`UNTOUCHED`].
    chunk_of: Box<[u32]>,
    /// The pages of those chunks.
    pages: Box<[Page]>,
    /// Reads of each version, page after page.
    reads: Box<[u32]>,
    /// Number, in the order of the load, of the slot by which the host overwrites each version; [`u32::MAX`] for never.
    ends: Box<[u32]>,
    /// Slots that the host has written.
    written: u32,
    /// When pages are read, until an oracle has looked at it.
    windows: Option<Windows>,
    /// The phases, if an oracle has divided the load.
    phases: Option<Phases>,
}

/// Where a page stands.
#[derive(Clone, Copy, Default, Debug)]
struct Page {
    /// Index of its current version in `reads`.
    version: u32,
    /// Versions that will be written after the current one.
    later: u32,
    /// Reads told of all versions up to the current one, less those that have come: negative if reads have come that
    /// were told of later versions.
    left: i32,
}

impl Future {
    /// The future of a drive without an oracle: nothing is known.
    pub const fn none() -> Future {
        Future(None)
    }

    /// Whether anything is known.
    #[inline]
    pub fn is_known(&self) -> bool {
        self.0.is_some()
    }

    /// The host has submitted a read of `slots` pages from `first` on.
    #[inline]
    pub fn on_read(&mut self, first: Lpn, slots: u32) {
        if let Some(told) = &mut self.0 {
            told.command();
            told.each(first, slots, |page, _| {
                page.left = page.left.saturating_sub(1)
            });
            told.read_in_phase(first, slots);
        }
    }

    /// The host has submitted a write of `slots` pages from `first` on.
    #[inline]
    pub fn on_write(&mut self, first: Lpn, slots: u32) {
        if let Some(told) = &mut self.0 {
            told.command();
            told.written = told.written.saturating_add(slots);
            told.each(first, slots, |page, reads| {
                if page.later > 0 {
                    page.later -= 1;
                    page.version += 1;
                    let reads = reads[page.version as usize] as i32;
                    page.left = page.left.saturating_add(reads);
                }
            });
        }
    }

    /// What is to come of page `lpn`: nothing of one that the load does not touch, or of a page of the map.
    #[inline]
    pub fn of(&self, lpn: Lpn) -> PageFuture {
        let Some(told) = &self.0 else {
            return PageFuture::default();
        };
        let index = told.index(lpn);
        let page = index.map_or(Page::default(), |at| told.pages[at]);
        let reads = index.map_or(0, |_| told.reads[page.version as usize]);
        let end = index.map_or(u32::MAX, |_| told.ends[page.version as usize]);
        let left = page.left.max(0) as u32;
        let now = match &told.phases {
            Some(phases) => phases.of(index),
            None => InPhase {
                phase: 0,
                reads,
                left,
            },
        };
        PageFuture {
            reads,
            left,
            writes: page.later,
            overwritten_in: match end {
                u32::MAX => u32::MAX,
                // Where the host's commands come in another order, the end may have passed.
                end => end.saturating_sub(told.written),
            },
            now: InPhase {
                phase: now.phase,
                reads: now.reads.min(reads),
                left: now.left.min(left),
            },
        }
    }

    /// Reads that are still to come of each of `slots` pages from `first` on before it is written next, on average; none if
    /// nothing is known.
    #[inline]
    pub fn mean_left(&self, first: Lpn, slots: u32) -> Option<u32> {
        match self.is_known() {
            true => {
                let pages = first.0..first.0 + u64::from(slots);
                let left: u64 = pages.map(|lpn| u64::from(self.of(Lpn(lpn)).left)).sum();
                let slots = u64::from(slots.max(1));
                Some(((left + slots / 2) / slots) as u32)
            }
            false => None,
        }
    }

    /// When pages are read; known until the load is divided or the windows are forgotten.
    pub fn windows(&self) -> Option<&Windows> {
        self.0.as_ref()?.windows.as_ref()
    }

    /// Divides the load into phases that begin at the windows `starts`, in rising order from the first window on.
    pub fn divide(&mut self, starts: &[u32]) {
        if let Some(told) = &mut self.0
            && let Some(windows) = told.windows.take()
        {
            told.phases = Some(Phases::new(&windows, starts));
        }
    }

    /// Of a load that was divided: the number of its phases and the one that it is in.
    pub fn phases(&self) -> Option<(u32, u32)> {
        Some(self.0.as_ref()?.phases.as_ref()?.count())
    }

    /// Of a load that was divided: reads that were told of each page in each phase in which it is read, with the index of the
    /// page in [`Future::all_versions`].
    pub fn told_by_phase(&self) -> impl Iterator<Item = (usize, InPhase)> {
        let phases = self.0.iter().filter_map(|told| told.phases.as_ref());
        phases.flat_map(Phases::told)
    }

    /// Nobody will ask when pages are read.
    pub fn forget_windows(&mut self) {
        if let Some(told) = &mut self.0 {
            told.windows = None;
        }
    }

    /// Reads that were told of each version of page `lpn`, from its current one on.
    #[cfg(test)]
    fn versions(&self, lpn: Lpn) -> &[u32] {
        match self.0.as_ref().and_then(|told| Some((told, told.at(lpn)?))) {
            Some((told, page)) => told.versions(page),
            None => &[],
        }
    }

    /// Reads that were told of each version of a page, from its current one on: of all pages but those of chunks that the
    /// load does not touch.
    pub fn all_versions(&self) -> impl Iterator<Item = &[u32]> {
        let told = self.0.iter();
        told.flat_map(|told| told.pages.iter().map(|page| told.versions(page)))
    }

    /// Reads and writes of pages that are still to come.
    pub fn to_come(&self) -> (i64, u64) {
        let Some(told) = &self.0 else {
            return (0, 0);
        };
        told.pages.iter().fold((0, 0), |(reads, writes), page| {
            let later = &told.versions(page)[1..];
            let later: u64 = later.iter().map(|&reads| u64::from(reads)).sum();
            (
                reads + i64::from(page.left) + later as i64,
                writes + u64::from(page.later),
            )
        })
    }

    /// Memory that it takes (bytes).
    pub fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |told| {
            let of = size_of_val::<[u32]>;
            let pages = size_of_val::<[Page]>(&told.pages);
            let windows = told.windows.as_ref().map_or(0, Windows::bytes);
            let phases = told.phases.as_ref().map_or(0, Phases::bytes);
            (of(&told.chunk_of) + pages + of(&told.reads) + of(&told.ends)) as u64
                + windows
                + phases
        })
    }
}

impl Told {
    #[inline]
    fn index(&self, lpn: Lpn) -> Option<usize> {
        let chunk = *self.chunk_of.get((lpn.0 / CHUNK) as usize)?;
        (chunk != UNTOUCHED).then(|| chunk as usize * CHUNK as usize + (lpn.0 % CHUNK) as usize)
    }

    #[cfg(test)]
    fn at(&self, lpn: Lpn) -> Option<&Page> {
        self.index(lpn).map(|at| &self.pages[at])
    }

    fn command(&mut self) {
        if let Some(phases) = &mut self.phases {
            phases.command();
        }
    }

    #[inline(never)] // As `each`.
    fn read_in_phase(&mut self, first: Lpn, slots: u32) {
        for lpn in first.0..first.0 + u64::from(slots) {
            if let Some(at) = self.index(Lpn(lpn))
                && let Some(phases) = &mut self.phases
            {
                phases.read(at);
            }
        }
    }

    fn versions(&self, page: &Page) -> &[u32] {
        let from = page.version as usize;
        &self.reads[from..=from + page.later as usize]
    }

    #[inline(never)] // A command of a drive without an oracle has one branch.
    fn each(&mut self, first: Lpn, slots: u32, change: impl Fn(&mut Page, &[u32])) {
        for lpn in first.0..first.0 + u64::from(slots) {
            if let Some(at) = self.index(Lpn(lpn)) {
                change(&mut self.pages[at], &self.reads);
            }
        }
    }
}

/// A load that is told, command by command, in the order of its own sequence.
#[derive(Clone, Debug)]
pub struct FutureBuilder {
    chunk_of: Vec<u32>,
    /// Reads of the last version of each page of the chunks.
    last: Vec<u32>,
    /// Reads of versions that are written over, with the index of their page, in the order of the writes.
    before: Vec<(u32, u32)>,
    windows: Windows,
}

/// The load has more versions of pages than the door counts, 2^31, or more pages in windows, 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooMany;

impl FutureBuilder {
    /// For a drive of `capacity_slots` pages.
    pub fn new(capacity_slots: u64) -> FutureBuilder {
        let chunks = capacity_slots.div_ceil(CHUNK) as usize;
        FutureBuilder {
            chunk_of: alloc::vec![UNTOUCHED; chunks],
            last: Vec::new(),
            before: Vec::new(),
            windows: Windows::default(),
        }
    }

    /// Index of page `lpn`, which is touched; none beyond the capacity.
    fn touch(&mut self, lpn: u64) -> Option<usize> {
        let chunk = self.chunk_of.get_mut((lpn / CHUNK) as usize)?;
        if *chunk == UNTOUCHED {
            *chunk = (self.last.len() / CHUNK as usize) as u32;
            self.last.resize(self.last.len() + CHUNK as usize, 0);
        }
        Some(*chunk as usize * CHUNK as usize + (lpn % CHUNK) as usize)
    }

    /// Next comes a read of `slots` pages from `first` on.
    pub fn read(&mut self, first: Lpn, slots: u32) {
        self.windows.command();
        for lpn in first.0..first.0 + u64::from(slots) {
            if let Some(at) = self.touch(lpn) {
                self.last[at] = self.last[at].saturating_add(1);
                self.windows.read(at);
            }
        }
    }

    /// Next comes a write of `slots` pages from `first` on.
    pub fn write(&mut self, first: Lpn, slots: u32) {
        self.windows.command();
        for lpn in first.0..first.0 + u64::from(slots) {
            if let Some(at) = self.touch(lpn) {
                let reads = core::mem::take(&mut self.last[at]);
                self.before.push((at as u32, reads));
            }
        }
    }

    /// Whether more was told than the door counts. [`FutureBuilder::build`] will fail, whatever else is told.
    pub fn is_too_long(&self) -> bool {
        const MOST: usize = 1 << 31;
        self.last.len() + self.before.len() >= MOST || self.windows.are_too_many()
    }

    /// The load ends.
    ///
    /// # Errors
    /// `TooMany` versions of pages, or pages in windows.
    pub fn build(self) -> Result<Future, TooMany> {
        if self.is_too_long() {
            return Err(TooMany);
        }
        let mut pages = alloc::vec![Page::default(); self.last.len()];
        for &(at, _) in &self.before {
            pages[at as usize].later += 1;
        }
        let mut first = 0;
        for page in &mut pages {
            page.version = first;
            first += page.later + 1;
        }
        let mut reads = alloc::vec![0; first as usize];
        let mut ends = alloc::vec![u32::MAX; first as usize];
        let mut next: Vec<u32> = pages.iter().map(|page| page.version).collect();
        let last = self.last.iter().enumerate();
        let last = last.map(|(at, &reads)| (at as u32, reads));
        let overwritten = self.before.len();
        let versions = self.before.iter().copied().chain(last);
        for (slot, (at, of_version)) in versions.enumerate() {
            let next = &mut next[at as usize];
            reads[*next as usize] = of_version.min(i32::MAX as u32);
            if slot < overwritten {
                ends[*next as usize] = slot as u32;
            }
            *next += 1;
        }
        for page in &mut pages {
            page.left = reads[page.version as usize] as i32;
        }
        Ok(Future(Some(Box::new(Told {
            chunk_of: self.chunk_of.into(),
            pages: pages.into(),
            reads: reads.into(),
            ends: ends.into(),
            written: 0,
            windows: Some(self.windows),
            phases: None,
        }))))
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use firstread_core::Stream;

    use super::*;

    /// Pages `first..first + slots` are read or written.
    type Command = (bool, u64, u32);

    fn load(seed: u64, slots: u64, commands: u64) -> Vec<Command> {
        let s = Stream::new(seed).named("load");
        let one = |i| {
            let s = s.at(i);
            let first = s.at(0).below(slots);
            let most = (slots - first).min(9);
            (s.at(1).below(4) == 0, first, 1 + s.at(2).below(most) as u32)
        };
        (0..commands).map(one).collect()
    }

    fn told(load: &[Command], slots: u64) -> Future {
        let mut builder = FutureBuilder::new(slots);
        for &(writes, first, slots) in load {
            match writes {
                true => builder.write(Lpn(first), slots),
                false => builder.read(Lpn(first), slots),
            }
        }
        builder.build().unwrap()
    }

    fn submit(future: &mut Future, (writes, first, slots): Command) {
        match writes {
            true => future.on_write(Lpn(first), slots),
            false => future.on_read(Lpn(first), slots),
        }
    }

    fn touches((_, first, slots): Command, lpn: u64) -> bool {
        (first..first + u64::from(slots)).contains(&lpn)
    }

    /// In the order of the sequence the door tells what a look at the rest of the load tells.
    #[test]
    fn model_the_door_tells_the_rest_of_the_load() {
        for seed in 0..40 {
            let slots = 1 + Stream::new(seed).named("slots").below(700);
            let load = load(seed, slots, 300);
            let mut future = told(&load, slots);
            for (done, &command) in load.iter().enumerate() {
                submit(&mut future, command);
                let rest = &load[done + 1..];
                for lpn in 0..slots.min(60) {
                    let of_page = rest.iter().filter(|&&c| touches(c, lpn));
                    let mut versions = alloc::vec![0];
                    for &(writes, ..) in of_page {
                        match writes {
                            true => versions.push(0),
                            false => *versions.last_mut().unwrap() += 1,
                        }
                    }
                    let of = future.of(Lpn(lpn));
                    assert_eq!(
                        (of.left, of.writes as usize),
                        (versions[0], versions.len() - 1),
                        "seed {seed}, page {lpn} after {done}"
                    );
                    let told = future.versions(Lpn(lpn));
                    assert_eq!(told.get(1..).unwrap_or_default(), &versions[1..]);
                    assert!(of.reads >= of.left);
                    let before = rest.iter().position(|&c| c.0 && touches(c, lpn));
                    let until = before.map(|at| {
                        let slots = |c: &Command| if c.0 { c.2 } else { 0 };
                        rest[..at].iter().map(slots).sum::<u32>() + (lpn - rest[at].1) as u32
                    });
                    assert_eq!(of.overwritten_in, until.unwrap_or(u32::MAX));
                }
            }
            assert_eq!(future.to_come(), (0, 0), "seed {seed}");
        }
    }

    /// In any other order, what is still to come is right all the same, and nothing is left at the end.
    #[test]
    fn model_the_door_is_right_in_sum_in_any_order() {
        for seed in 0..20 {
            let mut load = load(seed, 200, 400);
            let mut future = told(&load, 200);
            let s = Stream::new(seed).named("order");
            (1..load.len()).for_each(|i| load.swap(i, s.at(i as u64).below(i as u64 + 1) as usize));
            let pages = |of: &[Command], writes| -> u64 {
                let of = of.iter().filter(|(w, ..)| *w == writes);
                of.map(|(.., slots)| u64::from(*slots)).sum()
            };
            for (done, &command) in load.iter().enumerate() {
                let rest = &load[done..];
                let right = (pages(rest, false) as i64, pages(rest, true));
                assert_eq!(future.to_come(), right, "seed {seed} after {done}");
                submit(&mut future, command);
            }
            assert_eq!(future.to_come(), (0, 0));
        }
    }

    /// Untouched pages take next to nothing, and nobody asks for what is not known.
    #[test]
    fn formula_memory_follows_the_pages_that_are_touched() {
        let drive = 3_750_000_000;
        let mut builder = FutureBuilder::new(drive);
        builder.read(Lpn(3_000_000_000), 1);
        let mut future = builder.build().unwrap();
        assert!(future.windows().is_some_and(|windows| windows.count() == 1));
        future.forget_windows();
        assert_eq!(future.of(Lpn(3_000_000_000)).left, 1);
        assert_eq!(future.of(Lpn(u64::MAX)), PageFuture::default());
        assert_eq!(future.bytes(), drive.div_ceil(128) * 4 + 128 * (12 + 4 + 4));
        let mut none = Future::none();
        none.on_read(Lpn(0), 4);
        none.on_write(Lpn(0), 4);
        assert_eq!((none.of(Lpn(0)), none.bytes()), (PageFuture::default(), 0));
        assert!(none.versions(Lpn(0)).is_empty() && !none.is_known());
    }
}
