//! A queue for each die, by priority, linked through the jobs; what it runs and has suspended.
//!
//! While a program or an erase is suspended, the die reads for the host alone, and it resumes when
//! no such read is left.

use alloc::boxed::Box;

use firstread_core::{DieId, Priority};

use crate::job::{Jobs, NO_JOB};

const PRIORITIES: usize = 4;

/// Queues of one die.
#[derive(Clone, Copy, Debug)]
struct DieQueue {
    busy: bool,
    /// Job on the die, if it is one that can be suspended.
    running: u32,
    /// Job that is suspended.
    suspended: u32,
    head: [u32; PRIORITIES],
    tail: [u32; PRIORITIES],
}

/// What a die does next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// It starts this job.
    Start(u32),
    /// It goes on with this one.
    Resume(u32),
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
            running: NO_JOB,
            suspended: NO_JOB,
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
    pub(crate) fn start(&mut self, jobs: &Jobs, die: DieId) -> Option<Next> {
        let queue = &mut self.dies[die.0 as usize];
        if queue.busy {
            return None;
        }
        if queue.suspended != NO_JOB && queue.head[Priority::Host as usize] == NO_JOB {
            queue.busy = true;
            queue.running = core::mem::replace(&mut queue.suspended, NO_JOB);
            return Some(Next::Resume(queue.running));
        }
        let p = queue.head.iter().position(|&h| h != NO_JOB)?;
        let job = queue.head[p];
        queue.head[p] = jobs[job].link;
        if queue.head[p] == NO_JOB {
            queue.tail[p] = NO_JOB;
        }
        queue.busy = true;
        Some(Next::Start(job))
    }

    /// `job`, which `die` has just started, can be suspended.
    pub(crate) fn runs(&mut self, die: DieId, job: u32) {
        self.dies[die.0 as usize].running = job;
    }

    /// The job that `die` runs, if it can be suspended and none is.
    #[inline]
    pub(crate) fn suspendable(&self, die: DieId) -> Option<u32> {
        let queue = &self.dies[die.0 as usize];
        (queue.running != NO_JOB && queue.suspended == NO_JOB).then_some(queue.running)
    }

    /// Nothing that `die` runs can be suspended any more: it has been told to stop, or has ended.
    pub(crate) fn ends(&mut self, die: DieId) {
        self.dies[die.0 as usize].running = NO_JOB;
    }

    /// `job` is suspended on `die`, which is free for reads of the host.
    pub(crate) fn suspended(&mut self, die: DieId, job: u32) {
        let queue = &mut self.dies[die.0 as usize];
        queue.suspended = job;
        queue.busy = false;
    }

    /// `die` is free.
    pub(crate) fn free(&mut self, die: DieId) {
        self.dies[die.0 as usize].busy = false;
    }
}
