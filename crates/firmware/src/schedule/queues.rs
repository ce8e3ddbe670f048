//! A queue for each die, by priority, linked through the jobs; what it runs and has suspended.
//!
//! While a program or an erase is suspended, the die reads for the host alone, and it resumes when
//! no such read is left.
//!
//! Reads of the host go first, but not for ever: what has waited for longer than a bound is next,
//! the longest wait first, and is not suspended any more. Then reads of the host have the die for as
//! long as that bound again. So under reads without end writes still make progress, a program, a move
//! or an erase a die in each such span, and under writes without end reads do.

use alloc::boxed::Box;

use firstread_core::flash::ALL_PLANES;
use firstread_core::{DieId, Geometry, Ns, Priority};

use super::job::{Job, Jobs, NO_JOB};

pub(super) const PRIORITIES: usize = 5;
/// The bit of reads of the host.
pub(super) const HOST: u8 = 1 << Priority::Host as usize;

/// Queues of one die.
#[derive(Clone, Copy, Debug)]
pub(super) struct DieQueue {
    /// Planes that are in use.
    pub(super) busy: u8,
    /// Job on the die, if it is one that can be suspended.
    pub(super) running: u32,
    /// Job that is suspended.
    pub(super) suspended: u32,
    /// What it runs has waited its bound out.
    pub(super) aged: bool,
    /// When the last one of these ended.
    pub(super) let_through: Ns,
    /// A bit for each priority of which jobs wait.
    pub(super) waiting: u8,
    /// First and last job of each priority that waits.
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
    /// How long `job` has waited behind reads of the host that might have let it through.
    pub(super) fn waited(&self, now: Ns, jobs: &Jobs, job: u32) -> Ns {
        now.since(jobs[job].queued.max(self.let_through))
    }

    /// Takes `job` of priority `p` out, which waits behind `before`, or is the first.
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
    /// It starts this job.
    Start(u32),
    /// It goes on with this one.
    Resume(u32),
}

/// Queues of all dies.
#[derive(Clone, Debug)]
pub(crate) struct DieQueues {
    pub(super) dies: Box<[DieQueue]>,
    /// How long a job waits at most behind reads of the host that came later.
    pub(super) max_wait: Ns,
    /// Planes of a die that read independently, a bit each, and codewords of a page.
    pub(super) planes: u8,
    pub(super) per_page: u32,
}

impl DieQueues {
    /// For the dies of `geometry`, whose planes read independently or not.
    pub(crate) fn new(geometry: &Geometry, independent: bool, max_wait: Ns) -> DieQueues {
        let planes = if independent { geometry.planes } else { 8 };
        DieQueues {
            dies: alloc::vec![DieQueue::EMPTY; geometry.dies() as usize].into_boxed_slice(),
            max_wait,
            planes: ALL_PLANES >> (8 - planes),
            per_page: geometry.codewords_per_page(),
        }
    }

    /// Puts `job` at the end of its die's queue of `priority`.
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

    /// Puts `job` before all others of `priority`: a retry goes on where it left off.
    pub(crate) fn push_front(&mut self, jobs: &mut Jobs, die: DieId, priority: Priority, job: u32) {
        let (queue, p) = (&mut self.dies[die.0 as usize], priority as usize);
        if queue.waiting >> p & 1 == 0 {
            return self.push(jobs, die, priority, job);
        }
        jobs[job].link = queue.head[p];
        queue.head[p] = job;
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

    /// Takes the next job of `die` if it is idle, or the planes that the job wants are, and makes it or
    /// them busy.
    #[inline(always)] // Of one caller, whose path it is part of.
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
        queue.busy = 0;
    }

    /// Tells `waited` of each job that is in a queue, in the order of its queue.
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

    /// Whether a read of the host waits for `die`.
    pub(crate) fn host_waits(&self, die: DieId) -> bool {
        self.dies[die.0 as usize].waiting & HOST != 0
    }

    /// Whether anything has waited for `die` as long as a job may behind reads of the host.
    pub(crate) fn has_waited_enough(&self, now: Ns, jobs: &Jobs, die: DieId) -> bool {
        let queue = &self.dies[die.0 as usize];
        let enough = |job: u32| queue.waited(now, jobs, job) >= self.max_wait;
        queue.suspended != NO_JOB && enough(queue.suspended)
            || (0..PRIORITIES)
                .filter(|p| queue.waiting >> p & 1 != 0)
                .any(|p| enough(queue.head[p]))
    }

    /// `planes` of `die` are free. Whether anything may start on it.
    #[inline]
    pub(crate) fn free(&mut self, die: DieId, planes: u8) -> bool {
        let queue = &mut self.dies[die.0 as usize];
        queue.busy &= !planes;
        queue.waiting != 0 || queue.suspended != NO_JOB || queue.aged
    }
}
