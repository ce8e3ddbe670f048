//! Jobs: what the firmware has in flight on flash. A job's index is the tag of its operations.

use alloc::boxed::Box;
use core::ops::{Index, IndexMut};

use firstread_core::{BlockId, CommandId, Levels, Ns, PageAddr, Priority};

/// End of a list of jobs.
pub(crate) const NO_JOB: u32 = u32::MAX;

/// What a job is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Not in use.
    Free,
    /// Slots `first` to `first + slots` of a host read, which lie from `row_slot` on in the page row;
    /// `bytes` of them the host asked for.
    HostRead {
        id: CommandId,
        first: u32,
        slots: u8,
        row_slot: u8,
        bytes: u32,
    },
    /// The old version of a slot that a host write changes in part.
    Merge { id: CommandId },
    /// A background read of the axis `read_levels`.
    Probe,
    /// The program of a die's part of a wordline.
    Program { block: BlockId, wordline: u16 },
}

/// One job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) link: u32,
    pub(crate) purpose: Purpose,
    pub(crate) priority: Priority,
    pub(crate) at: PageAddr,
    /// Codewords still to be read.
    pub(crate) wanted: u64,
    /// When it was put in the queue of its die.
    pub(crate) queued: Ns,
    /// Retries so far.
    pub(crate) step: u8,
    /// Levels of the step; of step 0 chosen when the operation is issued.
    pub(crate) levels: Levels,
}

/// The pool of jobs, fixed in size.
#[derive(Debug)]
pub(crate) struct Jobs {
    pool: Box<[Job]>,
    free: u32,
    free_count: u32,
    /// Jobs that reads leave to programs and probes, which must never wait for a read to end.
    reserve: u32,
}

impl Jobs {
    pub(crate) fn new(reads: u32, reserve: u32) -> Jobs {
        let count = reads + reserve;
        let job = |i: u32| Job {
            link: if i + 1 == count { NO_JOB } else { i + 1 },
            purpose: Purpose::Free,
            priority: Priority::Host,
            at: PageAddr::default(),
            wanted: 0,
            queued: Ns::ZERO,
            step: 0,
            levels: Levels::DEFAULT,
        };
        Jobs {
            pool: (0..count).map(job).collect(),
            free: 0,
            free_count: count,
            reserve,
        }
    }

    /// Jobs in the pool.
    pub(crate) fn len(&self) -> u32 {
        self.pool.len() as u32
    }

    /// Takes a job for a host read, or none when all are in use.
    pub(crate) fn take_read(&mut self) -> Option<u32> {
        if self.free_count > self.reserve {
            self.take()
        } else {
            None
        }
    }

    /// Takes a job for background work or a program.
    pub(crate) fn take(&mut self) -> Option<u32> {
        let job = self.free;
        if job == NO_JOB {
            return None;
        }
        self.free = self.pool[job as usize].link;
        self.free_count -= 1;
        Some(job)
    }

    pub(crate) fn release(&mut self, job: u32) {
        debug_assert_ne!(
            self.pool[job as usize].purpose,
            Purpose::Free,
            "job released twice"
        );
        self.pool[job as usize].purpose = Purpose::Free;
        self.pool[job as usize].link = self.free;
        self.free = job;
        self.free_count += 1;
    }
}

impl Index<u32> for Jobs {
    type Output = Job;
    fn index(&self, job: u32) -> &Job {
        &self.pool[job as usize]
    }
}

impl IndexMut<u32> for Jobs {
    fn index_mut(&mut self, job: u32) -> &mut Job {
        &mut self.pool[job as usize]
    }
}
