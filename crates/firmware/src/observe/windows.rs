//! When pages are read: reads by windows of a load that is told, and by the phases that an oracle divides it into.
//!
//! A load is told in the order of its own sequence. It is cut into windows of equally many commands, at most [`MOST`]:
//! if it goes on beyond the last one, windows are joined in pairs. So what is kept is at most a record for each page and
//! window, and never more than one for each page of a read.
//!
//! A phase is some windows one after another. Once the phases are known, the reads of a page are kept by phase, and
//! counted down as they come. Which phase it is follows from the commands that have come.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

/// Windows of a load, at most: a power of two.
const MOST: u64 = 64;
/// A page without a record. So there are at most so many records.
const NONE: u32 = u32::MAX;

/// Reads of a page in a window.
#[derive(Clone, Copy, Debug)]
pub struct WindowReads {
    /// The page: its place in [`super::Future::all_versions`].
    pub page: u32,
    /// The window.
    pub window: u32,
    /// Commands of the window that read the page.
    pub reads: u32,
}

/// Reads of pages by windows of the load.
#[derive(Clone, Debug)]
pub struct Windows {
    /// Commands told.
    commands: u64,
    /// A window has two to the power of so many commands.
    shift: u32,
    /// Window after window.
    reads: Vec<WindowReads>,
    /// Index in `reads` of the last record of each page, or [`NONE`].
    last: Vec<u32>,
    /// Records at most, and whether the load has more.
    most: u32,
    are_too_many: bool,
}

impl Default for Windows {
    fn default() -> Windows {
        Windows::of_at_most(NONE)
    }
}

impl Windows {
    /// Windows with `most` records at most.
    pub(super) fn of_at_most(most: u32) -> Windows {
        Windows {
            commands: 0,
            shift: 0,
            reads: Vec::new(),
            last: Vec::new(),
            most,
            are_too_many: false,
        }
    }

    /// Whether the load has more records than are counted: what is told of it is not all.
    pub(super) fn are_too_many(&self) -> bool {
        self.are_too_many
    }

    /// Next comes a command.
    pub(super) fn command(&mut self) {
        if self.commands >> self.shift == MOST {
            self.join_pairs();
        }
        self.commands += 1;
    }

    /// The command that came last reads page `page`.
    pub(super) fn read(&mut self, page: usize) {
        let window = (self.commands.saturating_sub(1) >> self.shift) as u32;
        self.add(page as u32, window, 1);
    }

    fn add(&mut self, page: u32, window: u32, reads: u32) {
        let at = page as usize;
        if at >= self.last.len() {
            self.last.resize(at + 1, NONE);
        }
        let is_full = self.reads.len() >= self.most as usize;
        match self.reads.get_mut(self.last[at] as usize) {
            Some(last) if last.window == window => last.reads = last.reads.saturating_add(reads),
            _ if is_full => self.are_too_many = true,
            _ => {
                self.last[at] = self.reads.len() as u32;
                self.reads.push(WindowReads {
                    page,
                    window,
                    reads,
                });
            }
        }
    }

    fn join_pairs(&mut self) {
        self.shift += 1;
        self.last.fill(NONE);
        for of in core::mem::take(&mut self.reads) {
            self.add(of.page, of.window / 2, of.reads);
        }
    }

    /// Windows of the load.
    pub fn count(&self) -> u32 {
        self.commands.div_ceil(1 << self.shift) as u32
    }

    /// Reads in `windows`, window after window.
    pub fn of(&self, windows: Range<u32>) -> &[WindowReads] {
        let index = |window| self.reads.partition_point(|of| of.window < window);
        &self.reads[index(windows.start)..index(windows.end)]
    }

    /// Memory that it takes (bytes).
    pub(super) fn bytes(&self) -> u64 {
        (size_of_val::<[WindowReads]>(&self.reads) + size_of_val::<[u32]>(&self.last)) as u64
    }
}

/// Reads of a page in the phase that the load is in.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct InPhase {
    /// Number of the phase.
    pub phase: u32,
    /// Reads that were told of it.
    pub reads: u32,
    /// Reads that are still to come in it.
    pub left: u32,
}

/// Reads of pages by phases of the load.
#[derive(Clone, Debug)]
pub(super) struct Phases {
    /// Commands that have come.
    commands: u64,
    now: u32,
    /// Commands that come before each phase.
    starts: Box<[u64]>,
    /// Index in `reads` of the first record of each page.
    first: Box<[u32]>,
    /// Page after page, and of each one phase after phase.
    reads: Box<[InPhase]>,
}

impl Phases {
    /// The load of `windows`, with phases that begin at the windows `starts`.
    pub(super) fn new(windows: &Windows, starts: &[u32]) -> Phases {
        let mut counts = alloc::vec![0u32; windows.last.len() + 1];
        let phase_of = |window| starts.partition_point(|&start| start <= window).max(1) as u32 - 1;
        let mut newest = alloc::vec![NONE; windows.last.len()];
        for of in &windows.reads {
            let (page, phase) = (of.page as usize, phase_of(of.window));
            if newest[page] != phase {
                newest[page] = phase;
                counts[page + 1] += 1;
            }
        }
        for page in 1..counts.len() {
            counts[page] += counts[page - 1];
        }
        let mut reads = alloc::vec![InPhase::default(); counts[counts.len() - 1] as usize];
        newest.fill(NONE);
        let mut next: Vec<u32> = counts[..windows.last.len()].into();
        for of in &windows.reads {
            let (page, phase) = (of.page as usize, phase_of(of.window));
            if newest[page] != phase {
                newest[page] = phase;
                next[page] += 1;
            }
            let of_phase = &mut reads[next[page] as usize - 1];
            of_phase.phase = phase;
            of_phase.reads = of_phase.reads.saturating_add(of.reads);
            of_phase.left = of_phase.reads;
        }
        let starts = starts
            .iter()
            .map(|&start| u64::from(start) << windows.shift);
        Phases {
            commands: 0,
            now: 0,
            starts: starts.collect(),
            first: counts.into(),
            reads: reads.into(),
        }
    }

    /// Number of phases, and the one that the load is in.
    pub(super) fn count(&self) -> (u32, u32) {
        (self.starts.len() as u32, self.now)
    }

    /// Reads that were told of each page in each phase in which it is read, with the index of the page.
    pub(super) fn told(&self) -> impl Iterator<Item = (usize, InPhase)> {
        let pages = self.first.windows(2).enumerate();
        pages.flat_map(|(page, of)| {
            let reads = &self.reads[of[0] as usize..of[1] as usize];
            reads.iter().map(move |in_phase| (page, *in_phase))
        })
    }

    /// The host has submitted a command.
    pub(super) fn command(&mut self) {
        let next = self.starts.get(self.now as usize + 1);
        self.now += u32::from(next.is_some_and(|&start| start <= self.commands));
        self.commands += 1;
    }

    /// The command that came last reads page `page`.
    pub(super) fn read(&mut self, page: usize) {
        if let Some(at) = self.find(page) {
            let left = &mut self.reads[at].left;
            *left = left.saturating_sub(1);
        }
    }

    fn find(&self, page: usize) -> Option<usize> {
        let (&from, &to) = (self.first.get(page)?, self.first.get(page + 1)?);
        let of_page = &self.reads[from as usize..to as usize];
        let found = of_page.binary_search_by_key(&self.now, |of| of.phase);
        found.ok().map(|at| from as usize + at)
    }

    /// Reads of page `page` in the phase that the load is in; of a page that it never reads, none.
    pub(super) fn of(&self, page: Option<usize>) -> InPhase {
        let found = page.and_then(|page| self.find(page));
        found.map_or(
            InPhase {
                phase: self.now,
                ..InPhase::default()
            },
            |at| self.reads[at],
        )
    }

    /// Memory that it takes (bytes).
    pub(super) fn bytes(&self) -> u64 {
        let of_first = size_of_val::<[u32]>(&self.first);
        let of_starts = size_of_val::<[u64]>(&self.starts);
        (of_first + of_starts + size_of_val::<[InPhase]>(&self.reads)) as u64
    }
}

#[cfg(test)]
mod tests {
    use firstread_core::Stream;

    use super::*;

    /// Commands: the pages that each one reads.
    fn load(seed: u64, commands: u64) -> Vec<Vec<usize>> {
        let s = Stream::new(seed).named("load");
        let command = |i| {
            let s = s.at(i);
            let pages = 0..s.at(0).below(3);
            pages.map(|k| s.at(1).at(k).below(40) as usize).collect()
        };
        (0..commands).map(command).collect()
    }

    fn told(load: &[Vec<usize>]) -> Windows {
        let mut windows = Windows::default();
        for pages in load {
            windows.command();
            pages.iter().for_each(|&page| windows.read(page));
        }
        windows
    }

    /// At most so many windows, of equally many commands; what each holds is what a count of its commands finds.
    #[test]
    fn model_windows_hold_the_reads_of_their_commands() {
        for (seed, commands) in [
            (1, 0),
            (2, 1),
            (3, 63),
            (4, 64),
            (5, 65),
            (6, 1_000),
            (7, 5_000),
        ] {
            let load = load(seed, commands);
            let windows = told(&load);
            let per_window = 1usize << windows.shift;
            assert!(u64::from(windows.count()) <= MOST);
            assert_eq!(windows.count() as usize, load.len().div_ceil(per_window));
            for (window, commands) in load.chunks(per_window).enumerate() {
                let window = window as u32;
                let mut found = [0; 40];
                for of in windows.of(window..window + 1) {
                    assert_eq!(
                        (of.window, found[of.page as usize]),
                        (window, 0),
                        "one record"
                    );
                    found[of.page as usize] = of.reads;
                }
                let mut expected = [0; 40];
                commands
                    .iter()
                    .flatten()
                    .for_each(|&page| expected[page] += 1);
                assert_eq!(found, expected, "seed {seed}, window {window}");
            }
        }
    }

    /// Reads beyond the records that can be counted are not told as reads of other pages: the load is too long.
    #[test]
    fn formula_more_records_than_are_counted_are_too_many() {
        let load = load(9, 400);
        let most = told(&load).reads.len() as u32;
        for (of, are) in [(most, false), (most - 1, true), (3, true)] {
            let mut windows = Windows::of_at_most(of);
            for pages in &load {
                windows.command();
                pages.iter().for_each(|&page| windows.read(page));
            }
            // Pairs of windows were joined, so fewer may be left than there were.
            let had_room = windows.reads.len() as u32 <= of;
            assert!(
                had_room && (!are || windows.are_too_many()),
                "{of} of {most}"
            );
        }
        assert!(!told(&load).are_too_many());
    }

    /// In the order of the load, what is left of a phase is what a look at the rest of the phase finds.
    #[test]
    fn model_phases_tell_the_rest_of_themselves() {
        for seed in 0..20 {
            let load = load(seed, 700);
            let windows = told(&load);
            let s = Stream::new(seed).named("starts");
            let later = (1..windows.count()).filter(|&start| s.at(start.into()).below(6) == 0);
            let starts: Vec<u32> = core::iter::once(0).chain(later).collect();
            let phase_of = |command: usize| {
                let window = (command >> windows.shift) as u32;
                starts.iter().rposition(|&start| start <= window).unwrap() as u32
            };
            let mut phases = Phases::new(&windows, &starts);
            for (done, pages) in load.iter().enumerate() {
                phases.command();
                pages.iter().for_each(|&page| phases.read(page));
                let phase = phase_of(done);
                for page in 0..40 {
                    let count = |from: usize| {
                        let rest = load.iter().enumerate().skip(from);
                        let rest = rest.filter(|(command, _)| phase_of(*command) == phase);
                        let pages = rest.flat_map(|(_, pages)| pages);
                        pages.filter(|&&read| read == page).count() as u32
                    };
                    let expected = InPhase {
                        phase,
                        reads: count(0),
                        left: count(done + 1),
                    };
                    assert_eq!(
                        phases.of(Some(page)),
                        expected,
                        "seed {seed}, {page} after {done}"
                    );
                }
                assert_eq!(phases.of(None).reads, 0);
            }
        }
    }
}
