//! The latest read of each multi-plane page.

use alloc::boxed::Box;

use firstread_core::PageAddr;

use crate::schedule::NO_JOB;

/// Entries of the table: assumed, several times the number of multi-plane pages read at once at usual queue
/// depths. When another page takes an entry, the read it pointed to can no longer be joined.
const MP_PAGES: usize = 1024;
/// Bits of a job number. A drive has fewer jobs than this; all ones mean none.
const JOB: u32 = 0x00ff_ffff;

/// The latest read of each multi-plane page. It may have ended.
#[derive(Clone, Debug)]
pub(crate) struct MpPages {
    /// Per entry: a job number, below eight bits that tell apart the pages which share the entry.
    last: Box<[u32]>,
}

impl MpPages {
    /// A table without reads, for job numbers below `jobs`.
    pub(crate) fn new(jobs: u32) -> MpPages {
        assert!(jobs < JOB, "{jobs} jobs are more than an entry can name");
        MpPages {
            last: alloc::vec![NO_JOB; MP_PAGES].into_boxed_slice(),
        }
    }

    /// The entry of multi-plane page `at`, and the eight bits that identify it there.
    #[inline]
    fn place(at: PageAddr) -> (usize, u32) {
        let within = u64::from(at.die.0) << 24 | u64::from(at.wordline) << 8 | u64::from(at.page.0);
        let hash = (u64::from(at.block.0) << 40 ^ within).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((hash >> 54) as usize % MP_PAGES, (hash >> 22) as u32 & !JOB)
    }

    /// The job that may be reading multi-plane page `at`.
    #[inline]
    pub(super) fn find(&self, at: PageAddr) -> Option<u32> {
        let (place, mark) = MpPages::place(at);
        let last = self.last[place];
        (last & !JOB == mark && last & JOB != JOB).then_some(last & JOB)
    }

    /// `job` reads multi-plane page `at`.
    #[inline]
    pub(crate) fn started(&mut self, at: PageAddr, job: u32) {
        let (place, mark) = MpPages::place(at);
        self.last[place] = mark | job & JOB;
    }
}
