//! A queue for each die, by priority, linked through the jobs.

use alloc::boxed::Box;

use firstread_core::{DieId, Priority};

use crate::job::{Jobs, NO_JOB};

const PRIORITIES: usize = 4;

/// Queues of one die.
#[derive(Clone, Copy, Debug)]
struct DieQueue {
    busy: bool,
    head: [u32; PRIORITIES],
    tail: [u32; PRIORITIES],
}

/// Queues of all dies.
#[derive(Debug)]
pub(crate) struct DieQueues {
    dies: Box<[DieQueue]>,
}

impl DieQueues {
    pub(crate) fn new(dies: u16) -> DieQueues {
        let empty = DieQueue {
            busy: false,
            head: [NO_JOB; PRIORITIES],
            tail: [NO_JOB; PRIORITIES],
        };
        DieQueues {
            dies: alloc::vec![empty; dies as usize].into_boxed_slice(),
        }
    }

    /// Puts `job` at the end of its die's queue of `priority`.
    pub(crate) fn push(&mut self, jobs: &mut Jobs, die: DieId, priority: Priority, job: u32) {
        let (queue, p) = (&mut self.dies[die.0 as usize], priority as usize);
        jobs[job].link = NO_JOB;
        match queue.tail[p] {
            NO_JOB => queue.head[p] = job,
            tail => jobs[tail].link = job,
        }
        queue.tail[p] = job;
    }

    /// Puts `job` before all others of `priority`: a retry goes on where it left off.
    pub(crate) fn push_front(&mut self, jobs: &mut Jobs, die: DieId, priority: Priority, job: u32) {
        let (queue, p) = (&mut self.dies[die.0 as usize], priority as usize);
        jobs[job].link = queue.head[p];
        queue.head[p] = job;
        if queue.tail[p] == NO_JOB {
            queue.tail[p] = job;
        }
    }

    /// Takes the next job of `die` if it is idle, and makes it busy.
    pub(crate) fn start(&mut self, jobs: &Jobs, die: DieId) -> Option<u32> {
        let queue = &mut self.dies[die.0 as usize];
        if queue.busy {
            return None;
        }
        let p = queue.head.iter().position(|&h| h != NO_JOB)?;
        let job = queue.head[p];
        queue.head[p] = jobs[job].link;
        if queue.head[p] == NO_JOB {
            queue.tail[p] = NO_JOB;
        }
        queue.busy = true;
        Some(job)
    }

    /// `die` is free.
    pub(crate) fn free(&mut self, die: DieId) {
        self.dies[die.0 as usize].busy = false;
    }
}
