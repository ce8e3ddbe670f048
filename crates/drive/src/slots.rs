//! What the slots of a superblock hold, on drives so large that memory is what counts: four bytes a
//! slot for its page, and next to nothing for its version. The host fills a superblock in the order
//! of its writes, so that versions rise by one from slot to slot; what is moved for the first time has
//! the version of the fill. Where neither holds, each slot of a chunk keeps its own.

/// Slots of a chunk.
const CHUNK: usize = 256;
/// No page.
const NONE: u32 = u32::MAX;
/// Slots that the list of a superblock grows by at least.
const LEAST_GROWTH: usize = 1 << 10;

/// Versions of a chunk, as far as its slots are programmed.
#[derive(Debug)]
enum Versions {
    /// None is.
    Unset,
    /// All have this one.
    Same(u32),
    /// The first slot has this one, and each one more than the one before.
    Rising(u32),
    Each(Box<[u32; CHUNK]>),
}

impl Versions {
    fn get(&self, i: usize) -> u32 {
        match self {
            Versions::Unset => 0,
            Versions::Same(version) => *version,
            Versions::Rising(first) => first.wrapping_add(i as u32),
            Versions::Each(versions) => versions[i],
        }
    }

    fn set(&mut self, i: usize, version: u32) {
        if let Versions::Unset = self {
            *self = match version {
                0 => Versions::Same(0),
                _ => Versions::Rising(version.wrapping_sub(i as u32)),
            };
        }
        if self.get(i) != version {
            self.keep_each()[i] = version;
        }
    }

    #[cold]
    fn keep_each(&mut self) -> &mut [u32; CHUNK] {
        if !matches!(self, Versions::Each(_)) {
            *self = Versions::Each(Box::new(core::array::from_fn(|i| self.get(i))));
        }
        match self {
            Versions::Each(versions) => versions,
            _ => unreachable!("set above"),
        }
    }
}

/// What was programmed into a superblock since its erase, by slot.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    pages: Vec<u32>,
    versions: Vec<Versions>,
}

impl Slots {
    /// Logical pages that it can name.
    pub(crate) const MOST_PAGES: u64 = NONE as u64;

    /// Page and version of slot `slot`, if it holds data.
    #[inline]
    pub(crate) fn get(&self, slot: usize) -> Option<(u64, u32)> {
        let page = *self.pages.get(slot)?;
        let version = || self.versions[slot / CHUNK].get(slot % CHUNK);
        (page != NONE).then(|| (u64::from(page), version()))
    }

    /// Slot `slot` holds this page and version now, or nothing.
    pub(crate) fn set(&mut self, slot: usize, data: Option<(u64, u32)>) {
        let len = self.pages.len();
        if len <= slot {
            if self.pages.capacity() <= slot {
                // Not twice as much, as a vector would: it is most of what a long run holds.
                let more = (len / 8).max(LEAST_GROWTH) + slot - len;
                self.pages.reserve_exact(more);
            }
            self.pages.resize(slot + 1, NONE);
            let chunks = (slot / CHUNK + 1).max(self.versions.len());
            self.versions.resize_with(chunks, || Versions::Unset);
        }
        let Some((page, version)) = data else {
            self.pages[slot] = NONE;
            return;
        };
        self.pages[slot] = page as u32;
        self.versions[slot / CHUNK].set(slot % CHUNK, version);
    }

    /// The superblock was erased. The next programs need the memory again.
    pub(crate) fn clear(&mut self) {
        self.pages.clear();
        self.versions.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;

    #[test]
    fn model_slots_hold_what_was_put_in() {
        for seed in 0..50 {
            let stream = Stream::new(seed);
            let mut slots = Slots::default();
            let mut model = vec![None; 2_000];
            for erase in 0..3 {
                let mut version = 1 + stream.at(erase).below(1 << 29) as u32;
                for slot in 0..2_000usize {
                    let draw = stream.at(erase).at(slot as u64);
                    // Seed by seed another mix of the host's writes, moves, gaps and jumps.
                    version += 1 + (draw.at(0).below(50 + seed) == 0) as u32;
                    let data = match draw.at(1).below(2 + seed) {
                        0 => Some((draw.at(2).below(Slots::MOST_PAGES), 0)),
                        1 if seed % 3 == 0 => None,
                        _ => Some((draw.at(2).below(Slots::MOST_PAGES), version)),
                    };
                    // In any order within a stripe.
                    let at = slot ^ 7;
                    slots.set(at, data);
                    model[at] = data;
                }
                for (slot, data) in model.iter().enumerate() {
                    assert_eq!(slots.get(slot), *data, "seed {seed}, slot {slot}");
                }
                assert_eq!(slots.get(2_000), None);
                slots.clear();
                assert_eq!(slots.get(0), None);
            }
        }
    }

    #[test]
    fn formula_what_the_host_fills_takes_four_bytes_a_slot() {
        let mut slots = Slots::default();
        // Rows of sixteen slots, dealt to eight dies that are programmed in turn.
        for row in 0..1_024 {
            let row = row / 64 * 64 + row % 8 * 8 + row / 8 % 8;
            for slot in row * 16..row * 16 + 16 {
                slots.set(slot, Some((5 * slot as u64, 1_000 + slot as u32)));
            }
        }
        let each = |v: &&Versions| matches!(v, Versions::Each(_));
        assert_eq!(slots.versions.iter().filter(each).count(), 0);
        assert!(
            slots.pages.capacity() <= 18_500,
            "{}",
            slots.pages.capacity()
        );
    }
}
