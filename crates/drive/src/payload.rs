//! What the slots hold, in place of real bytes: a tag of logical page and version. Every read is
//! checked to return the last version written.

use firstread_core::{BlockId, Buf, Ns, Ppa};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Logical page and version of a slot's data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tag(u64);

/// Bits of a tag that hold the logical page: 64 TB of 4 KiB pages.
const LPN_BITS: u32 = 34;

impl Tag {
    /// No data: zeros.
    pub(crate) const ZERO: Tag = Tag(u64::MAX);

    pub(crate) const fn new(lpn: u64, version: u32) -> Tag {
        Tag((version as u64) << LPN_BITS | lpn)
    }
    pub(crate) const fn lpn(self) -> u64 {
        self.0 & ((1 << LPN_BITS) - 1)
    }
    pub(crate) const fn version(self) -> u32 {
        (self.0 >> LPN_BITS) as u32
    }
}

/// What a superblock holds.
#[derive(Debug)]
enum Contents {
    /// Nothing.
    Erased,
    /// Version 0 of consecutive logical pages from this one on.
    Filled(u64),
    /// What was programmed, in slot order.
    Programmed(Vec<Tag>),
}

/// Data of all superblocks and buffers.
#[derive(Debug)]
pub(crate) struct Payload {
    blocks: Vec<Contents>,
    buffers: Vec<Tag>,
    /// Last version written of a logical page that was written since the fill, and when.
    /// Looked up by key alone: its order is never seen.
    versions: HashMap<u64, Version, FxBuildHasher>,
    /// Logical pages below this one were filled.
    filled: u64,
}

/// Last version of a logical page.
#[derive(Clone, Copy, Debug)]
struct Version {
    /// 0 is the fill; every write and trim counts one up.
    version: u32,
    trimmed: bool,
    since: Ns,
}

/// A read returned something else than the last version written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StaleRead {
    /// Logical page read.
    pub lpn: u64,
    /// Version it should have returned; none for zeros.
    pub expected_version: Option<u32>,
    /// Logical page and version of what it returned; none for zeros.
    pub returned: Option<(u64, u32)>,
}

impl Payload {
    pub(crate) fn new(blocks: u32, buffers: u32) -> Payload {
        Payload {
            blocks: (0..blocks).map(|_| Contents::Erased).collect(),
            buffers: vec![Tag::ZERO; buffers as usize],
            versions: HashMap::default(),
            filled: 0,
        }
    }

    /// `block` was filled with version 0 of `pages` logical pages from `first` on.
    pub(crate) fn fill(&mut self, block: BlockId, first: u64, pages: u32) {
        self.blocks[block.0 as usize] = Contents::Filled(first);
        self.filled = first + pages as u64;
    }

    /// The host writes `lpn` into `buf`.
    pub(crate) fn data_in(&mut self, now: Ns, lpn: u64, buf: Buf) {
        let version = self.advance(now, lpn, false);
        self.buffers[buf.0 as usize] = Tag::new(lpn, version);
    }

    /// `lpn` was trimmed: it reads as zeros from now on.
    pub(crate) fn trim(&mut self, now: Ns, lpn: u64) {
        self.advance(now, lpn, true);
    }

    fn advance(&mut self, now: Ns, lpn: u64, trimmed: bool) -> u32 {
        let fill = Version {
            version: 0,
            trimmed: lpn >= self.filled,
            since: Ns::ZERO,
        };
        let entry = self.versions.entry(lpn).or_insert(fill);
        *entry = Version {
            version: entry.version + 1,
            trimmed,
            since: now,
        };
        entry.version
    }

    pub(crate) fn copy(&mut self, from: Buf, to: Buf) {
        self.buffers[to.0 as usize] = self.buffers[from.0 as usize];
    }

    /// Slot `ppa` is programmed from `buf`. Slots of a die come in rising order, dies in any.
    pub(crate) fn program(&mut self, ppa: Ppa, buf: Buf) {
        let contents = &mut self.blocks[ppa.block().0 as usize];
        if !matches!(contents, Contents::Programmed(_)) {
            *contents = Contents::Programmed(Vec::new());
        }
        let Contents::Programmed(slots) = contents else {
            unreachable!("just made so")
        };
        let slot = ppa.slot() as usize;
        if slots.len() <= slot {
            slots.resize(slot + 1, Tag::ZERO);
        }
        slots[slot] = self.buffers[buf.0 as usize];
    }

    /// Slot `ppa` is read into `buf`.
    #[inline]
    pub(crate) fn read(&mut self, ppa: Ppa, buf: Buf) {
        self.buffers[buf.0 as usize] = match &self.blocks[ppa.block().0 as usize] {
            Contents::Erased => Tag::ZERO,
            Contents::Filled(first) => Tag::new(first + ppa.slot() as u64, 0),
            Contents::Programmed(slots) => {
                slots.get(ppa.slot() as usize).copied().unwrap_or(Tag::ZERO)
            }
        };
    }

    /// Checks that a read of `lpn`, submitted at `submitted`, may return what is in `buf`.
    #[inline]
    pub(crate) fn check(&self, lpn: u64, submitted: Ns, buf: Buf) -> Result<(), StaleRead> {
        self.check_tag(lpn, submitted, self.buffers[buf.0 as usize])
    }

    /// Checks that a read of `lpn`, submitted at `submitted`, may return zeros.
    pub(crate) fn check_zeros(&self, lpn: u64, submitted: Ns) -> Result<(), StaleRead> {
        self.check_tag(lpn, submitted, Tag::ZERO)
    }

    fn check_tag(&self, lpn: u64, submitted: Ns, tag: Tag) -> Result<(), StaleRead> {
        let fill = Version {
            version: 0,
            trimmed: lpn >= self.filled,
            since: Ns::ZERO,
        };
        let last = if self.versions.is_empty() {
            fill
        } else {
            *self.versions.get(&lpn).unwrap_or(&fill)
        };
        let expected = (!last.trimmed).then_some(last.version);
        let returned = (tag != Tag::ZERO).then(|| (tag.lpn(), tag.version()));
        // A write or trim that came after the read may or may not be seen by it.
        let overtaken = last.since >= submitted && last.version > 0;
        let fine = match returned {
            Some((there, version)) => {
                there == lpn && (expected == Some(version) || (version < last.version && overtaken))
            }
            None => expected.is_none() || overtaken,
        };
        if fine {
            Ok(())
        } else {
            Err(StaleRead {
                lpn,
                expected_version: expected,
                returned,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_old_versions_are_caught() {
        let mut payload = Payload::new(2, 4);
        payload.fill(BlockId(0), 0, 8);
        payload.read(Ppa::new(BlockId(0), 3), Buf(0));
        assert_eq!(payload.check(3, Ns(5), Buf(0)), Ok(()));
        assert!(
            payload.check(4, Ns(5), Buf(0)).is_err(),
            "another page's data"
        );
        payload.data_in(Ns(10), 3, Buf(1));
        assert_eq!(
            payload.check(3, Ns(9), Buf(0)),
            Ok(()),
            "the write came after the read"
        );
        assert!(payload.check(3, Ns(11), Buf(0)).is_err(), "the old version");
        assert_eq!(payload.check(3, Ns(11), Buf(1)), Ok(()));
        payload.trim(Ns(12), 3);
        assert!(payload.check(3, Ns(13), Buf(1)).is_err(), "trimmed");
        assert_eq!(payload.check_zeros(3, Ns(13)), Ok(()));
        assert!(
            payload.check_zeros(2, Ns(13)).is_err(),
            "filled, never trimmed"
        );
        assert_eq!(payload.check_zeros(100, Ns(13)), Ok(()));
    }
}
