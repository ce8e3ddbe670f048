//! The queues of each die, by priority and linked through the jobs, with the operation it runs and the one it
//! has suspended.
//!
//! While a program or erase is suspended, the die serves host reads only. The operation resumes when no host
//! read is left.
//!
//! Host reads go first, but only within a bound (`max_wait`). A job that has waited longer than the bound is
//! served next, the longest wait first, and is not suspended any more. Host reads then have the die for one
//! more bound. So under endless host reads, each die still completes one program, move or erase per bound;
//! and under endless writes, reads make progress.

use alloc::boxed::Box;

use firstread_core::flash::ALL_PLANES;
use firstread_core::{DieId, Geometry, Ns, Priority};

use super::job::{Job, Jobs, NO_JOB};

pub(super) const PRIORITIES: usize = 5;
/// The bit of host reads.
pub(super) const HOST: u8 = 1 << Priority::Host as usize;

/// The queues of one die.
#[derive(Clone, Copy, Debug)]
pub(super) struct DieQueue {
    /// Busy planes.
    pub(super) busy: u8,
    /// The job that runs on the die, if it can be suspended.
    pub(super) running: u32,
    /// The suspended job.
    pub(super) suspended: u32,
    /// Whether the running job was started because its wait reached the bound.
    pub(super) aged: bool,
    /// When the last job of that kind ended.
    pub(super) let_through: Ns,
    /// One bit for each priority that has waiting jobs.
    pub(super) waiting: u8,
    /// First and last waiting job of each priority.
    pub(super) head: [u32; PRIORITIES],
    tail: [u32; PRIORITIES],
}

impl DieQueue {
    const EMPTY: DieQueue = DieQueue {
        busy: 0,
        running: NO_JOB,
        suspended: NO_JOB,
        aged: false,
        let_through: Ns::ZERO,
        waiting: 0,
        head: [NO_JOB; PRIORITIES],
        tail: [NO_JOB; PRIORITIES],
    };
}

impl DieQueue {
    /// How long `job` has waited behind host reads, counted from the end of the last job served by the bound.
    pub(super) fn waited(&self, now: Ns, jobs: &Jobs, job: u32) -> Ns {
        now.since(jobs[job].queued.max(self.let_through))
    }

    /// Removes `job` of priority `p` from its queue. `before` is the job ahead of it, if any.
    pub(super) fn take(&mut self, jobs: &mut Jobs, p: usize, before: u32, job: u32) {
        let after = jobs[job].link;
        match (before, after) {
            (NO_JOB, NO_JOB) => self.waiting ^= 1 << p,
            (NO_JOB, after) => self.head[p] = after,
            (before, after) => jobs[before].link = after,
        }
        if self.tail[p] == job {
            self.tail[p] = before;
        }
    }
}

/// What a die does next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// Start this job.
    Start(u32),
    /// Resume this job.
    Resume(u32),
}

/// The queues of all dies.
#[derive(Clone, Debug)]
pub(crate) struct DieQueues {
    pub(super) dies: Box<[DieQueue]>,
    /// Maximum time that a job waits behind host reads that arrived later.
    pub(super) max_wait: Ns,
    /// Planes of a die that read independently, one bit each, and the number of codewords of a page.
    pub(super) planes: u8,
    pub(super) per_page: u32,
}

impl DieQueues {
    /// Queues for the dies of `geometry`. `independent` says whether planes read independently.
    pub(crate) fn new(geometry: &Geometry, independent: bool, max_wait: Ns) -> DieQueues {
        let planes = if independent { geometry.planes } else { 8 };
        DieQueues {
            dies: alloc::vec![DieQueue::EMPTY; geometry.dies() as usize].into_boxed_slice(),
            max_wait,
            planes: ALL_PLANES >> (8 - planes),
            per_page: geometry.codewords_per_page(),
        }
    }

    /// Appends `job` to the queue of its die and priority.
    #[inline]
    pub(crate) fn push(&mut self, jobs: &mut Jobs, die: DieId, priority: Priority, job: u32) {
        let (queue, p) = (&mut self.dies[die.0 as usize], priority as usize);
        jobs[job].link = NO_JOB;
        if queue.waiting >> p & 1 == 0 {
            queue.waiting |= 1 << p;
            queue.head[p] = job;
        } else {
            jobs[queue.tail[p]].link = job;
        }
        queue.tail[p] = job;
    }

    /// Puts `job` ahead of all others of its priority, so that a retry continues at once.
    pub(crate) fn push_front(&mut self, jobs: &mut Jobs, die: DieId, priority: Priority, job: u32) {
        let (queue, p) = (&mut self.dies[die.0 as usize], priority as usize);
        if queue.waiting >> p & 1 == 0 {
            return self.push(jobs, die, priority, job);
        }
        jobs[job].link = queue.head[p];
        queue.head[p] = job;
    }

    /// Moves `job` from the queue of priority `from` to the end of the queue of `to`. False if it no longer
    /// waits.
    pub(crate) fn promote(
        &mut self,
        jobs: &mut Jobs,
        die: DieId,
        from: Priority,
        to: Priority,
        job: u32,
    ) -> bool {
        let (queue, p) = (&mut self.dies[die.0 as usize], from as usize);
        if queue.waiting >> p & 1 == 0 {
            return false;
        }
        let (mut before, mut at) = (NO_JOB, queue.head[p]);
        while at != job {
            if at == NO_JOB {
                return false;
            }
            (before, at) = (at, jobs[at].link);
        }
        queue.take(jobs, p, before, job);
        self.push(jobs, die, to, job);
        true
    }

    /// Takes the next job of `die`, if the die is idle, or if the planes that the job needs are idle. Marks
    /// the die or the planes busy.
    #[inline(always)] // Its only caller is on the path of every request.
    pub(crate) fn start(&mut self, now: Ns, jobs: &mut Jobs, die: DieId) -> Option<Next> {
        if self.planes != ALL_PLANES {
            return self.start_on_planes(now, jobs, die);
        }
        let queue = &mut self.dies[die.0 as usize];
        if queue.busy != 0 {
            return None;
        }
        if queue.aged {
            queue.aged = false;
            queue.let_through = now;
        }
        if queue.suspended != NO_JOB {
            let host_waits = queue.waiting & HOST != 0;
            queue.aged = host_waits && queue.waited(now, jobs, queue.suspended) >= self.max_wait;
            if queue.aged || !host_waits {
                queue.busy = ALL_PLANES;
                queue.running = core::mem::replace(&mut queue.suspended, NO_JOB);
                return Some(Next::Resume(queue.running));
            }
        }
        if queue.waiting == 0 {
            return None;
        }
        let mut p = queue.waiting.trailing_zeros() as usize % PRIORITIES;
        if queue.waiting & HOST != 0 && queue.waiting != HOST && queue.suspended == NO_JOB {
            let lower = (0..PRIORITIES).filter(|p| (queue.waiting & !HOST) >> p & 1 != 0);
            let longest = lower.min_by_key(|&p| jobs[queue.head[p]].queued);
            if let Some(longest) = longest
                && queue.waited(now, jobs, queue.head[longest]) >= self.max_wait
            {
                p = longest;
                queue.aged = true;
            }
        }
        let job = queue.head[p];
        let next = jobs[job].link;
        queue.head[p] = next;
        if next == NO_JOB {
            queue.waiting &= !(1 << p);
        }
        queue.busy = ALL_PLANES;
        Some(Next::Start(job))
    }

    /// `job`, just started on `die`, can be suspended.
    pub(crate) fn runs(&mut self, die: DieId, job: u32) {
        self.dies[die.0 as usize].running = job;
    }

    /// The job that `die` runs, if it can be suspended and no other job is suspended.
    #[inline]
    pub(crate) fn suspendable(&self, die: DieId) -> Option<u32> {
        let queue = &self.dies[die.0 as usize];
        (queue.running != NO_JOB && queue.suspended == NO_JOB && !queue.aged)
            .then_some(queue.running)
    }

    /// What `die` runs can no longer be suspended: it is being suspended, or has ended.
    pub(crate) fn ends(&mut self, die: DieId) {
        self.dies[die.0 as usize].running = NO_JOB;
    }

    /// `job` is suspended on `die`, which is free for host reads.
    pub(crate) fn suspended(&mut self, die: DieId, job: u32) {
        let queue = &mut self.dies[die.0 as usize];
        queue.suspended = job;
        queue.busy = 0;
    }

    /// Calls `waited` for each queued job, in queue order.
    pub(crate) fn each_waiting(&self, jobs: &mut Jobs, mut waited: impl FnMut(&mut Job)) {
        for queue in &self.dies {
            for p in (0..PRIORITIES).filter(|p| queue.waiting >> p & 1 != 0) {
                let mut job = queue.head[p];
                while job != NO_JOB {
                    waited(&mut jobs[job]);
                    job = jobs[job].link;
                }
            }
        }
    }

    /// Whether a host read waits for `die`.
    pub(crate) fn host_waits(&self, die: DieId) -> bool {
        self.dies[die.0 as usize].waiting & HOST != 0
    }

    /// Whether a job of `die` has waited as long as it may behind host reads.
    pub(crate) fn has_waited_enough(&self, now: Ns, jobs: &Jobs, die: DieId) -> bool {
        let queue = &self.dies[die.0 as usize];
        let enough = |job: u32| queue.waited(now, jobs, job) >= self.max_wait;
        queue.suspended != NO_JOB && enough(queue.suspended)
            || (0..PRIORITIES)
                .filter(|p| queue.waiting >> p & 1 != 0)
                .any(|p| enough(queue.head[p]))
    }

    /// `planes` of `die` are free.
    #[inline]
    pub(crate) fn free(&mut self, die: DieId, planes: u8) {
        self.dies[die.0 as usize].busy &= !planes;
    }

    /// Whether [`DieQueues::start`] may find a job for `die`.
    #[inline]
    pub(crate) fn may_start(&self, die: DieId) -> bool {
        let queue = &self.dies[die.0 as usize];
        let has_any = queue.waiting != 0 || queue.suspended != NO_JOB || queue.aged;
        has_any && (queue.busy == 0 || self.planes != ALL_PLANES)
    }
}
