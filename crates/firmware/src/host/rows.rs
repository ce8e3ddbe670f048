//! Which read was started last of each page row.

use alloc::boxed::Box;

use firstread_core::PageAddr;

use crate::schedule::NO_JOB;

/// Entries of the table of rows: assumed, some times the rows that are read at once at the depth of a
/// usual queue. A row whose entry another one has taken is not joined any more.
const ROWS: usize = 1024;
/// The bits of a job. A drive has fewer than so many, all ones stand for none.
const JOB: u32 = 0x00ff_ffff;

/// The read that was started last of each row; older ones may have ended.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// Eight bits that tell rows of one entry apart, above the job.
    last: Box<[u32]>,
}

impl Rows {
    /// For so many jobs.
    pub(crate) fn new(jobs: u32) -> Rows {
        assert!(jobs < JOB, "{jobs} jobs are more than an entry can name");
        Rows {
            last: alloc::vec![NO_JOB; ROWS].into_boxed_slice(),
        }
    }

    /// The entry of row `at`, and what tells it from others.
    #[inline]
    fn place(at: PageAddr) -> (usize, u32) {
        let within = u64::from(at.die.0) << 24 | u64::from(at.wordline) << 8 | u64::from(at.page.0);
        let hash = (u64::from(at.block.0) << 40 ^ within).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((hash >> 54) as usize % ROWS, (hash >> 22) as u32 & !JOB)
    }

    /// The job that may be reading row `at`.
    #[inline]
    pub(super) fn find(&self, at: PageAddr) -> Option<u32> {
        let (place, mark) = Rows::place(at);
        let last = self.last[place];
        (last & !JOB == mark && last & JOB != JOB).then_some(last & JOB)
    }

    /// `job` reads row `at`.
    #[inline]
    pub(crate) fn started(&mut self, at: PageAddr, job: u32) {
        let (place, mark) = Rows::place(at);
        self.last[place] = mark | job & JOB;
    }
}
