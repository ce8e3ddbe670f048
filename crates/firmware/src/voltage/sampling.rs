//! Chooses the pages for background reads: some blocks of a group, and in each block the same number of
//! pages, at a distance that visits every page type.

use firstread_core::{CellMode, DieId, Geometry, Ns, PageAddr, PageType, Stream, SuperblockId};

use super::members::Members;
use crate::observe::{SuperblockTable, SuperblockUse};

/// Maximum number of blocks in a sample.
pub const MAX_BLOCKS: usize = 8;

/// A block of one plane of one die.
#[derive(Clone, Copy, Debug, Default)]
struct Sampled {
    block: SuperblockId,
    die: DieId,
    plane: u8,
    /// Programming time of its data, which shows whether it still holds them.
    programmed_at: Ns,
}

/// A sample: blocks drawn at random, and the page at which each is started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    blocks: [Sampled; MAX_BLOCKS],
    len: u8,
    first_page: u32,
}

impl Sample {
    /// The first two superblocks; the second may equal the first.
    pub fn superblocks(&self) -> [SuperblockId; 2] {
        let second = self.len.saturating_sub(1).min(1);
        [self.blocks[0].block, self.blocks[second as usize].block]
    }
    /// Whether every block still holds the data it had when it was drawn.
    pub fn alive(&self, blocks: &SuperblockTable) -> bool {
        let sampled = &self.blocks[..self.len as usize];
        sampled
            .iter()
            .all(|s| blocks.still_holds(s.block, s.programmed_at))
    }
}

/// Draws samples of a group's blocks, and says which pages of them are read.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    stream: Stream,
    drawn: u64,
    dies: u16,
    planes: u8,
    page_types: u8,
    /// Pages per block.
    block_pages: u32,
    /// Blocks per sample.
    blocks: u8,
    /// Pages read per block.
    pages: u32,
    /// Distance from one page to the next.
    step: u32,
    rotate: bool,
}

impl Sampler {
    /// Samples of `blocks` blocks with `pages` pages each, `step` apart. With `rotate` a pass continues where
    /// the pass before stopped; otherwise every pass starts at page 0.
    ///
    /// If `step` and the number of pages in a block have a common factor, `step` is raised until they have
    /// none. Otherwise the samples would return to the same pages and, with 63 in TLC, to the same page type.
    pub fn new(
        geometry: &Geometry,
        mode: CellMode,
        seed: u64,
        (blocks, pages, step): (u8, u32, u32),
        rotate: bool,
    ) -> Sampler {
        let block_pages = (geometry.wordlines_per_block as u32 * mode.bits() as u32).max(1);
        let mut step = step.max(1);
        while gcd(step, block_pages) != 1 {
            step += 1;
        }
        Sampler {
            stream: Stream::new(seed).named("read-level samples"),
            drawn: 0,
            dies: geometry.dies().max(1),
            planes: geometry.planes.max(1),
            page_types: mode.bits(),
            block_pages,
            blocks: blocks.clamp(1, MAX_BLOCKS as u8),
            pages: pages.clamp(1, block_pages),
            step,
            rotate,
        }
    }

    /// Pages in a sample.
    pub fn len(&self) -> u32 {
        self.blocks as u32 * self.pages
    }
    /// Always false: a sample has at least one page.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Draws blocks from the full superblocks of `group`; none if it has no full superblock. With fewer
    /// superblocks than blocks, draws several blocks of one superblock on different dies. `turn` counts the samples of
    /// the group: each begins at other pages.
    pub fn draw(
        &mut self,
        group: u8,
        turn: u32,
        members: &Members,
        blocks: &SuperblockTable,
    ) -> Option<Sample> {
        let eligible = || {
            blocks.iter().filter(|(id, info)| {
                info.usage == SuperblockUse::Full && members.group(*id) == Some(group)
            })
        };
        let there = eligible().count() as u64;
        if there == 0 {
            return None;
        }
        let stream = self.stream.at(self.drawn);
        self.drawn += 1;

        let wanted = (self.blocks as u64).min(there);
        let mut sample = Sample::default();
        // Selection sampling: each superblock is taken with probability (still wanted / still left).
        for (i, (block, info)) in eligible().enumerate() {
            let left = there - i as u64;
            if stream.at(i as u64).below(left) < wanted - sample.len as u64 {
                let programmed_at = info.programmed_at;
                sample.blocks[sample.len as usize] = Sampled {
                    block,
                    programmed_at,
                    ..Sampled::default()
                };
                sample.len += 1;
            }
        }
        while sample.len < self.blocks {
            sample.blocks[sample.len as usize] =
                sample.blocks[sample.len as usize - wanted as usize];
            sample.len += 1;
        }
        let units = self.dies as u64 * self.planes as u64;
        let first = stream.named("die").below(units);
        for (i, s) in sample.blocks[..sample.len as usize].iter_mut().enumerate() {
            let unit = (first + i as u64) % units;
            s.die = DieId((unit % self.dies as u64) as u16);
            s.plane = (unit / self.dies as u64) as u8;
        }
        if self.rotate {
            let passed = turn as u64 * self.pages as u64 * self.step as u64;
            sample.first_page = (passed % self.block_pages as u64) as u32;
        }
        Some(sample)
    }

    /// Page `i` of `sample`, with its plane.
    pub fn page(&self, sample: &Sample, i: u32) -> (PageAddr, u8) {
        let s = &sample.blocks[(i / self.pages) as usize % MAX_BLOCKS];
        let (types, pages) = (self.page_types as u32, self.block_pages as u64);
        let steps = (i % self.pages) as u64 * self.step as u64;
        let page = ((sample.first_page as u64 + steps) % pages) as u32;
        let at = PageAddr {
            die: s.die,
            block: s.block,
            wordline: (page / types) as u16,
            page: PageType((page % types) as u8),
        };
        (at, s.plane)
    }

    /// The first page of type `page` from page `i` of `sample` on, as an index into the sample.
    pub fn next_of_type(&self, sample: &Sample, i: u32, page: PageType) -> Option<u32> {
        (i..self.len()).find(|&i| self.page(sample, i).0.page == page)
    }
}

const fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
