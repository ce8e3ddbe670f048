//! A queue for each die, by priority, linked through the jobs; what it runs and has suspended.
//!
//! While a program or an erase is suspended, the die reads for the host alone, and it resumes when
//! no such read is left.
//!
//! Reads of the host go first, but not for ever: what has waited for longer than a bound is next,
//! the longest wait first, and is not suspended any more. So under reads without end writes still
//! make progress: a program, a move or an erase a die in each such span.

use alloc::boxed::Box;

use firstread_core::{DieId, Ns, Priority};

use crate::job::{Jobs, NO_JOB};

const PRIORITIES: usize = 5;

/// Queues of one die.
#[derive(Clone, Copy, Debug)]
struct DieQueue {
    busy: bool,
    /// Job on the die, if it is one that can be suspended.
    running: u32,
    /// Job that is suspended.
    suspended: u32,
    /// What it runs has waited its bound out.
    aged: bool,
    head: [u32; PRIORITIES],
    tail: [u32; PRIORITIES],
}

impl DieQueue {
    const EMPTY: DieQueue = DieQueue {
        busy: false,
        running: NO_JOB,
        suspended: NO_JOB,
        aged: false,
        head: [NO_JOB; PRIORITIES],
        tail: [NO_JOB; PRIORITIES],
    };
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
    /// How long a job waits at most behind reads of the host that came later.
    max_wait: Ns,
}

impl DieQueues {
    pub(crate) fn new(dies: u16, max_wait: Ns) -> DieQueues {
        DieQueues {
            dies: alloc::vec![DieQueue::EMPTY; dies as usize].into_boxed_slice(),
            max_wait,
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

    /// Moves `job` from the queue of `from` to the end of that of `to`. False when it waits no more.
    pub(crate) fn promote(
        &mut self,
        jobs: &mut Jobs,
        die: DieId,
        from: Priority,
        to: Priority,
        job: u32,
    ) -> bool {
        let (queue, p) = (&mut self.dies[die.0 as usize], from as usize);
        let (mut before, mut at) = (NO_JOB, queue.head[p]);
        while at != job {
            if at == NO_JOB {
                return false;
            }
            (before, at) = (at, jobs[at].link);
        }
        let after = jobs[job].link;
        match before {
            NO_JOB => queue.head[p] = after,
            before => jobs[before].link = after,
        }
        if queue.tail[p] == job {
            queue.tail[p] = before;
        }
        self.push(jobs, die, to, job);
        true
    }

    /// Takes the next job of `die` if it is idle, and makes it busy.
    pub(crate) fn start(&mut self, now: Ns, jobs: &Jobs, die: DieId) -> Option<Next> {
        let queue = &mut self.dies[die.0 as usize];
        if queue.busy {
            return None;
        }
        queue.aged = false;
        let host_waits = queue.head[Priority::Host as usize] != NO_JOB;
        if queue.suspended != NO_JOB {
            queue.aged = host_waits && now.since(jobs[queue.suspended].queued) >= self.max_wait;
            if queue.aged || !host_waits {
                queue.busy = true;
                queue.running = core::mem::replace(&mut queue.suspended, NO_JOB);
                return Some(Next::Resume(queue.running));
            }
        }
        let mut p = queue.head.iter().position(|&h| h != NO_JOB)?;
        if p == Priority::Host as usize && queue.suspended == NO_JOB {
            let waiting = (p + 1..PRIORITIES).filter(|&p| queue.head[p] != NO_JOB);
            let longest = waiting.min_by_key(|&p| jobs[queue.head[p]].queued);
            if let Some(longest) = longest
                && now.since(jobs[queue.head[longest]].queued) >= self.max_wait
            {
                p = longest;
                queue.aged = true;
            }
        }
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
        (queue.running != NO_JOB && queue.suspended == NO_JOB && !queue.aged)
            .then_some(queue.running)
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

    /// Power was cut: every queue is empty and every die idle. `waited` is told of each job that was
    /// in a queue, in its order.
    pub(crate) fn clear(&mut self, jobs: &Jobs, mut waited: impl FnMut(u32)) {
        for queue in &mut self.dies {
            for &head in &queue.head {
                let mut job = head;
                while job != NO_JOB {
                    waited(job);
                    job = jobs[job].link;
                }
            }
            *queue = DieQueue::EMPTY;
        }
    }

    /// Whether a read of the host waits for `die`.
    pub(crate) fn host_waits(&self, die: DieId) -> bool {
        self.dies[die.0 as usize].head[Priority::Host as usize] != NO_JOB
    }

    /// `die` is free.
    pub(crate) fn free(&mut self, die: DieId) {
        self.dies[die.0 as usize].busy = false;
    }
}
