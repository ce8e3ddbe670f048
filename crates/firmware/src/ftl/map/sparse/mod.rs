//! A table for many pages of which few have a value: little more than six bytes per value.
//!
//! The entries of a *region* of 4,096 pages lie in a block, in ascending order. Block sizes differ by a few
//! percent, and blocks of one size lie side by side in *frames*. When a region grows, it moves to a larger
//! block. The gap it leaves is filled with the last block of the old size, whose region is updated. So no
//! memory is lost to holes, however many regions grow, and an emptied frame can serve any other size. A
//! region with many entries is flat: an array with one element per page, which fills a frame. An insertion
//! shifts the later entries of the same block.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::Arena;

/// Logical pages of a region of the map.
pub const REGION_PAGES: u64 = 1 << REGION_BITS;
const REGION_BITS: u32 = 12;
/// Bits of a stored value: larger values cannot be stored.
pub const VALUE_BITS: u32 = 36;
const VALUE: u64 = (1 << VALUE_BITS) - 1;

/// Bytes per entry: the page within the region, above the value.
const ENTRY: usize = 6;
const ENTRY_MASK: u64 = (1 << (8 * ENTRY)) - 1;
/// Bytes per value in a flat region.
const FLAT_ENTRY: usize = 5;
const FLAT_MASK: u64 = (1 << (8 * FLAT_ENTRY)) - 1;
/// Bytes of the region number at the beginning of a block.
const OWNER: usize = 4;
/// Bytes of a frame that hold blocks, or a flat region.
const FRAME_ROOM: usize = REGION_PAGES as usize * FLAT_ENTRY;
/// Bytes of a frame. Behind the blocks is the number of the next frame in its list. The bytes between them
/// allow an entry to be loaded as a word.
const FRAME: usize = FRAME_ROOM + 64;

/// Position of the page number in the upper two bytes of an entry.
const KEY_SHIFT: u32 = 16 - REGION_BITS;

const _: () = assert!((REGION_BITS + VALUE_BITS) as usize == 8 * ENTRY);
const _: () = assert!(VALUE_BITS as usize <= 8 * FLAT_ENTRY);

/// Number of block sizes. The first size is that of a region without entries.
const CLASSES: usize = 35;
/// Bytes per block: multiples of 64 bytes, then frame sizes divided by whole numbers from 20 down.
const SIZES: [u32; CLASSES] = {
    let mut sizes = [0; CLASSES];
    let mut class = 1;
    while class < CLASSES {
        sizes[class] = match class {
            1..16 => 64 * class as u32,
            _ => (FRAME_ROOM / (CLASSES + 1 - class)) as u32,
        };
        class += 1;
    }
    sizes
};
/// Entries that fit into a block.
const ROOM: [u32; CLASSES] = {
    let mut room = [0; CLASSES];
    let mut class = 1;
    while class < CLASSES {
        assert!(SIZES[class - 1] < SIZES[class]);
        room[class] = (SIZES[class] - OWNER as u32) / ENTRY as u32;
        class += 1;
    }
    room
};
/// Size class of a flat region.
const FLAT: usize = 127;
/// Largest drive, in pages, for which speed matters more than memory. In its tables regions become flat
/// early: lookups are fast, and all regions together take at most 168 MB.
pub const SMALL_PAGES: u64 = 1 << 25;
/// Whether memory matters more than speed on a drive of `pages` pages.
pub const fn is_large(pages: u64) -> bool {
    pages > SMALL_PAGES
}
/// The largest block in tables of small drives: 63 entries.
const SMALL_CLASSES: usize = 6;
/// The end of a list of frames.
const NONE: u32 = u32::MAX;

/// Where the entries of a region lie, in one word: offset of its block (40 bits), size class (7), a mark, and
/// the number of entries (16; not maintained for a flat region).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Region(u64);

impl Region {
    const EMPTY: Region = Region(0);
    const MARK: u64 = 1 << 47;
    const ONE_ENTRY: u64 = 1 << 48;

    const fn new(offset: usize, class: usize, entries: usize) -> Region {
        Region(offset as u64 | (class as u64) << 40 | (entries as u64) << 48)
    }
    const fn offset(self) -> usize {
        (self.0 & ((1 << 40) - 1)) as usize
    }
    const fn class(self) -> usize {
        (self.0 >> 40) as usize & 0x7f
    }
    const fn is_marked(self) -> bool {
        self.0 & Region::MARK != 0
    }
    const fn entries(self) -> usize {
        (self.0 >> 48) as usize
    }
    /// `self` with the mark of `other`.
    const fn marked_as(self, other: Region) -> Region {
        Region(self.0 & !Region::MARK | other.0 & Region::MARK)
    }
}

/// The blocks of one size. All their frames but the last are full.
#[derive(Clone, Copy, Debug)]
struct Class {
    /// The last frame. Behind its blocks is the number of the frame before it.
    frame: u32,
    /// Blocks in the last frame.
    blocks: u32,
}

/// A table from pages to values of 36 bits. Zero means no value.
#[derive(Clone, Debug)]
pub struct SparseTable<M> {
    regions: Box<[Region]>,
    memory: M,
    classes: [Class; CLASSES],
    /// The largest block size in use.
    largest: usize,
    /// Maximum number of frames needed by changes within one region: one per size, and one for a flat region.
    frames_per_change: u32,
    /// Frames handed out so far.
    used: u32,
    /// Head of the list of free frames.
    free: u32,
    /// Number of frames that can be handed out.
    available: u32,
}

impl<M: Arena> SparseTable<M> {
    /// A table for `pages` pages, without values.
    pub fn new(pages: u64, memory: M) -> SparseTable<M> {
        let regions = pages.div_ceil(REGION_PAGES) as usize;
        let class = Class {
            frame: NONE,
            blocks: 0,
        };
        let available = (memory.bytes().len() / FRAME) as u32;
        let largest = match is_large(pages) {
            true => CLASSES - 1,
            false => SMALL_CLASSES,
        };
        SparseTable {
            regions: vec![Region::EMPTY; regions].into_boxed_slice(),
            memory,
            classes: [class; CLASSES],
            largest,
            frames_per_change: largest as u32 + 1,
            used: 0,
            free: NONE,
            available,
        }
    }

    /// Whether there is certainly room for `changes`, each within one region.
    #[inline]
    pub fn has_room(&self, changes: u32) -> bool {
        self.available >= changes * self.frames_per_change
    }
    /// The memory that holds the blocks of entries.
    #[inline]
    pub fn memory(&self) -> &M {
        &self.memory
    }
    /// The memory, mutable: for what comes with the bytes, not for the bytes themselves.
    #[inline]
    pub(super) fn memory_mut(&mut self) -> &mut M {
        &mut self.memory
    }
    /// Size of the memory in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.memory.bytes().len()
    }
    /// Lets `grow` append bytes to the memory. Existing bytes stay.
    pub fn grow(&mut self, grow: impl FnOnce(&mut M)) {
        let before = self.memory_bytes();
        grow(&mut self.memory);
        assert!(self.memory_bytes() >= before, "the memory only grows");
        self.available += (self.memory_bytes() / FRAME - before / FRAME) as u32;
    }

    /// Whether the region of `page` is marked.
    #[inline]
    pub fn is_marked(&self, page: u64) -> bool {
        self.region(page).is_marked()
    }

    /// The value of `page`; zero if it has none.
    #[inline]
    pub fn get(&self, page: u64) -> u64 {
        let region = self.region(page);
        let bytes = self.memory.bytes();
        match region.class() {
            // There may be no memory yet.
            0 => 0,
            FLAT => load(bytes, flat_at(region, page)) & FLAT_MASK,
            _ => match find(entries(bytes, region), key(page)) {
                Ok(i) => load(bytes, entry_at(region, i)) & VALUE,
                Err(_) => 0,
            },
        }
    }

    /// Sets the value of `page` to a nonzero value and returns the old value. Needs
    /// [`SparseTable::has_room`].
    #[inline]
    pub fn set(&mut self, page: u64, value: u64) -> u64 {
        debug_assert!((1..=VALUE).contains(&value));
        let r = (page / REGION_PAGES) as usize;
        let region = self.regions[r];
        let bytes = self.memory.bytes_mut();
        if region.class() == FLAT {
            let at = flat_at(region, page);
            let old = load(bytes, at) & FLAT_MASK;
            bytes[at..at + FLAT_ENTRY].copy_from_slice(&value.to_le_bytes()[..FLAT_ENTRY]);
            return old;
        }
        let entry = (key(page) as u64) << VALUE_BITS | value;
        let i = match find(entries(bytes, region), key(page)) {
            Ok(i) => {
                let old = load(bytes, entry_at(region, i)) & VALUE;
                store(bytes, entry_at(region, i), entry);
                return old;
            }
            Err(i) => i,
        };
        let n = region.entries();
        if n < ROOM[region.class()] as usize {
            let at = entry_at(region, i);
            bytes.copy_within(at..entry_at(region, n), at + ENTRY);
            store(bytes, at, entry);
            self.regions[r].0 += Region::ONE_ENTRY;
        } else if region.class() < self.largest {
            self.insert_in_larger(r, i, entry);
        } else {
            self.flatten(r);
            self.set(page, value);
        }
        0
    }

    /// Drops the values of the region of `page`, and marks the region.
    pub fn clear_region(&mut self, page: u64) {
        let r = (page / REGION_PAGES) as usize;
        let region = self.regions[r];
        self.regions[r] = Region(Region::MARK);
        self.give_back(region);
    }

    /// Keeps the values for which `keep` is true. With [`SparseTable::has_room`] for one change, the dropped
    /// pages can be set again, in any order and without more memory: no block grows beyond its old size.
    /// There may be more block sizes in use meanwhile, but each size has only one frame that is not full.
    pub fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        for r in 0..self.regions.len() {
            let region = self.regions[r];
            let bytes = self.memory.bytes_mut();
            if region.class() == FLAT {
                let flat = &mut bytes[region.offset()..][..FRAME_ROOM];
                for value in flat.chunks_exact_mut(FLAT_ENTRY) {
                    let mut word = [0; 8];
                    word[..FLAT_ENTRY].copy_from_slice(value);
                    if !keep(u64::from_le_bytes(word)) {
                        value.fill(0);
                    }
                }
                continue;
            }
            let mut kept = 0;
            for i in 0..region.entries() {
                let entry = load(bytes, entry_at(region, i)) & ENTRY_MASK;
                if keep(entry & VALUE) {
                    store(bytes, entry_at(region, kept), entry);
                    kept += 1;
                }
            }
            self.regions[r] = match kept {
                0 => Region::EMPTY,
                _ => Region::new(region.offset(), region.class(), kept),
            };
            self.regions[r] = self.regions[r].marked_as(region);
            if kept == 0 {
                self.give_back(region);
            }
        }
    }

    #[inline]
    fn region(&self, page: u64) -> Region {
        self.regions[(page / REGION_PAGES) as usize]
    }

    /// Moves region `r` to a block of the next size, with `entry` inserted as entry `i`.
    fn insert_in_larger(&mut self, r: usize, i: usize, entry: u64) {
        let old = self.regions[r];
        let (n, class) = (old.entries(), old.class() + 1);
        let new = Region::new(self.take(class), class, n + 1).marked_as(old);
        self.regions[r] = new;
        let bytes = self.memory.bytes_mut();
        bytes[new.offset()..][..OWNER].copy_from_slice(&(r as u32).to_le_bytes());
        store(bytes, entry_at(new, i), entry);
        if n > 0 {
            bytes.copy_within(entry_at(old, 0)..entry_at(old, i), entry_at(new, 0));
            bytes.copy_within(entry_at(old, i)..entry_at(old, n), entry_at(new, i + 1));
            self.give_back(old);
        }
    }

    /// Makes region `r` flat.
    fn flatten(&mut self, r: usize) {
        let old = self.regions[r];
        let flat = Region::new(self.take_frame() as usize * FRAME, FLAT, 0).marked_as(old);
        let bytes = self.memory.bytes_mut();
        bytes[flat.offset()..][..FRAME_ROOM].fill(0);
        for i in 0..old.entries() {
            let entry = load(bytes, entry_at(old, i)) & ENTRY_MASK;
            let value = (entry & VALUE).to_le_bytes();
            let at = flat_at(flat, entry >> VALUE_BITS);
            bytes[at..at + FLAT_ENTRY].copy_from_slice(&value[..FLAT_ENTRY]);
        }
        self.regions[r] = flat;
        self.give_back(old);
    }

    /// Takes a block of size `class`. Returns its offset.
    fn take(&mut self, class: usize) -> usize {
        let Class { frame, blocks } = self.classes[class];
        if frame == NONE || blocks == blocks_per_frame(class) {
            let next = self.take_frame();
            self.set_link(next, frame);
            self.classes[class] = Class {
                frame: next,
                blocks: 0,
            };
        }
        let of_class = &mut self.classes[class];
        of_class.blocks += 1;
        block_at(class, of_class.frame, of_class.blocks - 1)
    }

    /// Frees the block of `region`, which is no longer in the table.
    fn give_back(&mut self, region: Region) {
        let (class, hole) = (region.class(), region.offset());
        match class {
            0 => return,
            FLAT => return self.give_frame((hole / FRAME) as u32),
            _ => {}
        }
        let Class { frame, blocks } = self.classes[class];
        let last = block_at(class, frame, blocks - 1);
        if last != hole {
            let bytes = self.memory.bytes_mut();
            let owner = load(bytes, last) as u32 as usize;
            let moved = self.regions[owner];
            debug_assert_eq!((moved.offset(), moved.class()), (last, class));
            bytes.copy_within(last..entry_at(moved, moved.entries()), hole);
            self.regions[owner] = Region::new(hole, class, moved.entries()).marked_as(moved);
        }
        self.classes[class].blocks -= 1;
        if blocks == 1 {
            self.classes[class] = Class {
                frame: self.link(frame),
                blocks: blocks_per_frame(class),
            };
            self.give_frame(frame);
        }
    }

    fn take_frame(&mut self) -> u32 {
        debug_assert!(self.available > 0, "there was no room");
        self.available -= 1;
        if self.free != NONE {
            let frame = self.free;
            self.free = self.link(frame);
            return frame;
        }
        self.used += 1;
        self.used - 1
    }

    fn give_frame(&mut self, frame: u32) {
        self.set_link(frame, self.free);
        self.free = frame;
        self.available += 1;
    }

    fn link(&self, frame: u32) -> u32 {
        load(self.memory.bytes(), link_at(frame)) as u32
    }

    fn set_link(&mut self, frame: u32, to: u32) {
        let at = link_at(frame);
        self.memory.bytes_mut()[at..at + 4].copy_from_slice(&to.to_le_bytes());
    }
}

const fn blocks_per_frame(class: usize) -> u32 {
    FRAME_ROOM as u32 / SIZES[class]
}
const fn block_at(class: usize, frame: u32, block: u32) -> usize {
    frame as usize * FRAME + (block * SIZES[class]) as usize
}
const fn link_at(frame: u32) -> usize {
    frame as usize * FRAME + FRAME - 8
}
const fn entry_at(region: Region, i: usize) -> usize {
    region.offset() + OWNER + ENTRY * i
}
const fn flat_at(region: Region, page: u64) -> usize {
    region.offset() + FLAT_ENTRY * key(page)
}
/// Index of `page` within its region.
const fn key(page: u64) -> usize {
    (page % REGION_PAGES) as usize
}

#[inline]
fn entries(bytes: &[u8], region: Region) -> &[[u8; ENTRY]] {
    let entries = &bytes[entry_at(region, 0)..entry_at(region, region.entries())];
    entries.as_chunks().0
}

#[inline]
fn load(bytes: &[u8], at: usize) -> u64 {
    let word = bytes[at..at + 8].first_chunk();
    u64::from_le_bytes(*word.expect("eight bytes"))
}
#[inline]
fn store(bytes: &mut [u8], at: usize, entry: u64) {
    bytes[at..at + ENTRY].copy_from_slice(&entry.to_le_bytes()[..ENTRY]);
}

/// Index of the entry whose page within the region is `key`, or where it would be inserted.
#[inline]
fn find(entries: &[[u8; ENTRY]], key: usize) -> Result<usize, usize> {
    let (mut low, mut high) = (0, entries.len());
    // Starts where the entry would be if pages were evenly spaced. Steps of growing size then bracket it,
    // followed by a binary search.
    let (mut probe, mut step) = ((high * key) >> REGION_BITS, 4);
    while low < high {
        let [.., lower, upper] = entries[probe];
        let there = usize::from(u16::from_le_bytes([lower, upper]) >> KEY_SHIFT);
        if there == key {
            return Ok(probe);
        }
        if there < key {
            low = probe + 1;
            probe = low + step;
        } else {
            high = probe;
            probe = high.wrapping_sub(step + 1);
        }
        step *= 4;
        // Wraps around, so one comparison covers both ends.
        if probe < low || probe >= high {
            probe = (low + high) / 2;
        }
    }
    Err(low)
}

#[cfg(test)]
mod tests;
