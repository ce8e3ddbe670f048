//! Contents of a superblock's slots, for drives so large that memory matters: four bytes per slot for its
//! page (five on drives of more than 16 TiB in pages of 4 KiB), and next to nothing for its version. The host
//! fills a superblock in the order of its writes, so versions rise by one from slot to slot. Data moved for
//! the first time have the version of the fill. If neither holds, each slot of a chunk stores its own
//! version: four bytes more, or eight if versions of one chunk are more than 2^32 writes apart.
//!
//! Data moved out of superblocks of the preconditioned state take two bytes per slot: they keep roughly their
//! old order, and the old slot determines the page.

use firstread_core::Ppa;

/// Slots per chunk.
const CHUNK: usize = 256;
/// No page.
const NONE: u64 = u64::MAX;
/// No offset.
const NOWHERE: u16 = u16::MAX;
/// Offset of the slot that is set first in a chunk, relative to the chunk's base: other data may have been
/// ahead of it.
const BEFORE: u64 = 1 << 15;

/// Versions of a chunk's slots, as far as they are programmed.
#[derive(Clone, Debug)]
enum Versions {
    /// No slot is programmed.
    Unset,
    /// All slots have this version.
    Same(u64),
    /// The first slot has this version, and each slot one more than the slot before.
    Rising(u64),
    /// A version with its lower half cleared, and the difference of each slot.
    Near(Box<(u64, [u32; CHUNK])>),
    /// The version of each slot.
    Each(Box<[u64; CHUNK]>),
}

impl Versions {
    fn get(&self, i: usize) -> u64 {
        match self {
            Versions::Unset => 0,
            Versions::Same(version) => *version,
            Versions::Rising(first) => first.wrapping_add(i as u64),
            Versions::Near(near) => near.0 + u64::from(near.1[i]),
            Versions::Each(versions) => versions[i],
        }
    }

    fn set(&mut self, i: usize, version: u64) {
        if let Versions::Unset = self {
            *self = match version {
                0 => Versions::Same(0),
                _ => Versions::Rising(version.wrapping_sub(i as u64)),
            };
        }
        if self.get(i) != version {
            self.keep_each(version);
            match self {
                Versions::Near(near) => near.1[i] = (version - near.0) as u32,
                Versions::Each(versions) => versions[i] = version,
                _ => unreachable!("each slot has its own"),
            }
        }
    }

    /// Stores a version for each slot, with `version` for one of them.
    #[cold]
    fn keep_each(&mut self, version: u64) {
        let upper = |version: u64| version & !u64::from(u32::MAX);
        match self {
            Versions::Each(_) => {}
            Versions::Near(near) if near.0 == upper(version) => {}
            _ => {
                let base = upper(version);
                let is_near = (0..CHUNK).all(|i| upper(self.get(i)) == base);
                *self = match is_near {
                    true => {
                        let more = core::array::from_fn(|i| (self.get(i) - base) as u32);
                        Versions::Near(Box::new((base, more)))
                    }
                    false => Versions::Each(Box::new(core::array::from_fn(|i| self.get(i)))),
                };
            }
        }
    }
}

/// Pages of a chunk's slots.
#[derive(Clone, Debug)]
enum Pages {
    /// All below 2^32 - 1, which means none.
    Low(Box<[u32; CHUNK]>),
    /// The lower 32 bits and the 8 bits above; all ones mean none.
    High(Box<([u32; CHUNK], [u8; CHUNK])>),
}

impl Pages {
    fn none() -> Pages {
        Pages::Low(Box::new([u32::MAX; CHUNK]))
    }

    #[inline]
    fn get(&self, i: usize) -> Option<u64> {
        match self {
            Pages::Low(low) => (low[i] != u32::MAX).then(|| u64::from(low[i])),
            Pages::High(words) => {
                let (low, high) = (words.0[i], words.1[i]);
                let page = u64::from(high) << 32 | u64::from(low);
                (page != NONE >> 24).then_some(page)
            }
        }
    }

    /// Slot `i` holds `page`, or none.
    fn set(&mut self, i: usize, page: Option<u64>) {
        debug_assert!(page.is_none_or(|page| page < Slots::MOST_PAGES));
        let page = page.unwrap_or(NONE >> 24);
        if let Pages::Low(low) = self {
            if page < u64::from(u32::MAX) || page == NONE >> 24 {
                low[i] = page as u32;
                return;
            }
            let high = low.map(|low| if low == u32::MAX { u8::MAX } else { 0 });
            *self = Pages::High(Box::new((**low, high)));
        }
        if let Pages::High(words) = self {
            (words.0[i], words.1[i]) = (page as u32, (page >> 32) as u8);
        }
    }
}

/// Contents of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Held {
    /// A page and version.
    Page(u64, u64),
    /// The data that lay at this slot in the preconditioned state.
    From(Ppa),
}

/// Consecutive slots of a superblock.
#[derive(Clone, Debug)]
enum Chunk {
    Unset,
    /// All contents come from the preconditioned state, at these offsets from a base. The base is [`BEFORE`]
    /// slots ahead of the origin of the slot that was set first.
    Near(Ppa, Box<[u16; CHUNK]>),
    /// Pages and their versions.
    Each(Pages, Versions),
}

impl Chunk {
    #[inline]
    fn get(&self, i: usize) -> Option<Held> {
        match self {
            Chunk::Unset => None,
            Chunk::Near(base, offsets) => {
                let offset = offsets[i];
                (offset != NOWHERE).then(|| Held::From(Ppa(base.0 + u64::from(offset))))
            }
            Chunk::Each(pages, versions) => {
                let page = pages.get(i)?;
                Some(Held::Page(page, versions.get(i)))
            }
        }
    }

    /// `page_at` gives page and version of a slot of the preconditioned state.
    fn set(&mut self, i: usize, held: Option<Held>, page_at: impl Fn(Ppa) -> (u64, u64)) {
        if let Chunk::Unset = self {
            *self = match held {
                Some(Held::From(Ppa(from))) => {
                    let base = Ppa(from.saturating_sub(BEFORE));
                    Chunk::Near(base, Box::new([NOWHERE; CHUNK]))
                }
                Some(Held::Page(..)) => Chunk::Each(Pages::none(), Versions::Unset),
                None => return,
            };
        }
        if let Chunk::Near(base, offsets) = self {
            let offset = match held {
                Some(Held::From(from)) => from.0.wrapping_sub(base.0),
                Some(Held::Page(..)) => u64::MAX,
                None => u64::from(NOWHERE),
            };
            if offset < u64::from(NOWHERE) || held.is_none() {
                offsets[i] = offset as u16;
                return;
            }
        }
        let (pages, versions) = self.keep_each(&page_at);
        let held = held.map(|held| page_of(held, page_at));
        pages.set(i, held.map(|(page, _)| page));
        if let Some((_, version)) = held {
            versions.set(i, version);
        }
    }

    /// Pages and versions, which are stored individually from now on.
    fn keep_each(&mut self, page_at: impl Fn(Ppa) -> (u64, u64)) -> (&mut Pages, &mut Versions) {
        if !matches!(self, Chunk::Each(..)) {
            let (mut pages, mut versions) = (Pages::none(), Versions::Unset);
            for i in 0..CHUNK {
                if let Some(held) = self.get(i) {
                    let (page, version) = page_of(held, &page_at);
                    pages.set(i, Some(page));
                    versions.set(i, version);
                }
            }
            *self = Chunk::Each(pages, versions);
        }
        match self {
            Chunk::Each(pages, versions) => (pages, versions),
            _ => unreachable!("set above"),
        }
    }
}

fn page_of(held: Held, page_at: impl Fn(Ppa) -> (u64, u64)) -> (u64, u64) {
    match held {
        Held::Page(page, version) => (page, version),
        Held::From(from) => page_at(from),
    }
}

/// What was programmed into a superblock since its erase, by slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots(Vec<Chunk>);

impl Slots {
    /// Maximum number of logical pages.
    pub(crate) const MOST_PAGES: u64 = (1 << 40) - 1;

    /// Contents of slot `slot`, if it holds data.
    #[inline]
    pub(crate) fn get(&self, slot: usize) -> Option<Held> {
        self.0.get(slot / CHUNK)?.get(slot % CHUNK)
    }

    /// Sets the contents of slot `slot`, or none. `page_at` gives page and version of a slot of the
    /// preconditioned state.
    pub(crate) fn set(
        &mut self,
        slot: usize,
        held: Option<Held>,
        page_at: impl Fn(Ppa) -> (u64, u64),
    ) {
        let chunk = slot / CHUNK;
        if self.0.len() <= chunk {
            self.0.resize_with(chunk + 1, || Chunk::Unset);
        }
        self.0[chunk].set(slot % CHUNK, held, page_at);
    }

    /// The superblock was erased.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::{Stream, SuperblockId};

    /// A page and version that identify their slot.
    fn page_at(from: Ppa) -> (u64, u64) {
        let draw = Stream::new(from.0);
        (draw.at(0).below(1 << 31), draw.at(1).below(2))
    }

    #[test]
    fn model_slots_hold_what_was_put_in() {
        for seed in 0..60 {
            let stream = Stream::new(seed);
            let mut slots = Slots::default();
            let mut model = vec![None; 2_000];
            for erase in 0..3 {
                let bits = [29, 33, 40][(seed / 4 % 3) as usize];
                let mut version = 1 + stream.at(erase).below(1 << bits);
                let pages = [1 << 31, u64::from(u32::MAX) + 1, 1 << 34][(seed % 3) as usize];
                for slot in 0..2_000usize {
                    let draw = stream.at(erase).at(slot as u64);
                    // Each seed has another mix of host writes, moves, gaps and jumps.
                    version += 1 + (draw.at(0).below(50 + seed) == 0) as u64;
                    if draw.at(5).below(300) == 0 {
                        version += 1 << 31;
                    }
                    // Often the last page that four bytes can tell from none.
                    let page = match draw.at(6).below(20) {
                        0 => pages - 1,
                        _ => draw.at(2).below(pages),
                    };
                    let near = SuperblockId((slot / 700) as u32);
                    let near = Ppa::new(near, 3 * slot as u32 + draw.at(3).below(900) as u32);
                    let held = match draw.at(1).below(2 + seed) {
                        _ if seed % 4 == 2 && draw.at(4).below(10 * seed) > 0 => {
                            Some(Held::From(near))
                        }
                        0 => Some(Held::Page(page, 0)),
                        1 if seed % 3 == 0 => None,
                        2 if seed % 5 == 0 => {
                            Some(Held::From(Ppa::new(SuperblockId(9), slot as u32)))
                        }
                        _ => Some(Held::Page(page, version)),
                    };
                    // In any order within a stripe.
                    let at = slot ^ 7;
                    slots.set(at, held, page_at);
                    model[at] = held;
                }
                let known = |held: Option<Held>| held.map(|held| page_of(held, page_at));
                for (slot, &held) in model.iter().enumerate() {
                    let got = slots.get(slot);
                    assert_eq!(known(got), known(held), "seed {seed}, slot {slot}");
                }
                assert_eq!(slots.get(2_048), None);
                slots.clear();
                assert_eq!(slots.get(0), None);
            }
        }
    }

    impl Slots {
        /// Bytes of its memory.
        fn bytes(&self) -> usize {
            let boxed = self.0.iter().map(|chunk| match chunk {
                Chunk::Unset => 0,
                Chunk::Near(_, offsets) => size_of_val(&**offsets),
                Chunk::Each(pages, versions) => {
                    let pages = match pages {
                        Pages::Low(low) => size_of_val(&**low),
                        Pages::High(words) => size_of_val(&**words),
                    };
                    pages
                        + match versions {
                            Versions::Near(near) => size_of_val(&**near),
                            Versions::Each(versions) => size_of_val(&**versions),
                            _ => 0,
                        }
                }
            });
            self.0.capacity() * size_of::<Chunk>() + boxed.sum::<usize>()
        }
    }

    #[test]
    fn formula_the_host_takes_four_bytes_a_slot_and_a_move_two() {
        let (mut slots, mut moved) = (Slots::default(), Slots::default());
        let block = |b| SuperblockId(b);
        // Multi-plane pages of sixteen slots, distributed over eight dies that are programmed in turn.
        for row in 0..1_024 {
            let row = row / 64 * 64 + row % 8 * 8 + row / 8 % 8;
            for slot in row * 16..row * 16 + 16 {
                let page = Held::Page(5 * slot as u64, 1_000 + slot as u64);
                slots.set(slot, Some(page), page_at);
                // Seven in ten slots were valid, and pages arrive up to a thousand slots late.
                let from = slot as u32 * 10 / 7 + (row as u32 * 37 % 64) * 16;
                moved.set(slot, Some(Held::From(Ppa::new(block(3), from))), page_at);
            }
        }
        let bytes_each = |slots: &Slots| slots.bytes() as f64 / (1_024.0 * 16.0);
        // The chunks themselves add a few words for 256 slots each.
        for (slots, least) in [(&slots, 4.0), (&moved, 2.0)] {
            let bytes = bytes_each(slots);
            assert!(
                (least..least + 0.15).contains(&bytes),
                "{bytes} bytes a slot"
            );
        }
        // Host writes in random order also store their versions.
        for slot in 0..1_024 * 16 {
            let version = (slot as u32).wrapping_mul(0x9e37_79b9);
            let page = Held::Page(5 * slot as u64, u64::from(version));
            slots.set(slot, Some(page), page_at);
        }
        let bytes = bytes_each(&slots);
        assert!((8.0..8.2).contains(&bytes), "{bytes} bytes a slot");
        // Versions more than 2^32 writes apart, and pages past 16 TiB.
        for slot in 0..1_024 * 16 {
            let version = (slot as u64).wrapping_mul(0x9e37_79b9) << 8;
            let page = Held::Page((1 << 33) + slot as u64, version);
            slots.set(slot, Some(page), page_at);
        }
        let bytes = bytes_each(&slots);
        assert!((13.0..13.2).contains(&bytes), "{bytes} bytes a slot");
    }
}
