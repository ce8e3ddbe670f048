//! Schedule: the jobs on flash, a queue for each die, and what a die does next.
//!
//! Programs and erases, and what stops and resumes them, are issued here. A read is handed back to the
//! caller: its levels are those of the moment at which its sense starts.

mod job;
mod planes;
mod queues;

use firstread_core::{DieId, FlashKind, FlashOp, Ns, OpClass, PageAddr, Ports, Priority, Tag};

pub(crate) use job::{Job, Jobs, NO_JOB, Nearest, Purpose, Step};
use queues::{DieQueues, Next};

use crate::config::Config;
use crate::observe::StreamId;
use crate::policy::suspend::{AnySuspend, Running, Suspend};

/// The queues of the dies, and the scheme of axis `suspend`.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    dies: DieQueues,
    suspend: AnySuspend,
    /// Times the chip lets one program or erase be suspended.
    max_suspends: u16,
    /// Whether planes of a die read independently.
    independent_planes: bool,
}

impl Schedule {
    /// For the dies of a drive of `config`.
    pub(crate) fn new(config: &Config, suspend: AnySuspend) -> Schedule {
        let (geometry, independent_planes) = (&config.geometry, config.independent_planes);
        Schedule {
            dies: DieQueues::new(geometry, independent_planes, config.max_wait),
            suspend,
            max_suspends: config.max_suspends,
            independent_planes,
        }
    }

    /// Whether planes of a die read independently.
    #[inline]
    pub(crate) fn has_independent_planes(&self) -> bool {
        self.independent_planes
    }

    /// `planes` of `die` are free. Whether anything may start on it.
    #[inline]
    pub(crate) fn free(&mut self, die: DieId, planes: u8) -> bool {
        self.dies.free(die, planes)
    }

    /// Puts the read of `job` at the end of its die's queue.
    #[inline]
    pub(crate) fn push(&mut self, job: u32, jobs: &mut Jobs) {
        let Job { at, priority, .. } = jobs[job];
        self.dies.push(jobs, at.die, priority, job);
    }

    /// Puts the read of `job` before all others of its priority: a retry goes on where it left off.
    pub(crate) fn push_front(&mut self, job: u32, jobs: &mut Jobs) {
        let Job { at, priority, .. } = jobs[job];
        self.dies.push_front(jobs, at.die, priority, job);
    }

    /// The read of `job`, which waits in the queue of `from`, is one of the host's from now on. False when
    /// it waits no more.
    pub(crate) fn promote(&mut self, job: u32, from: Priority, jobs: &mut Jobs) -> bool {
        let die = jobs[job].at.die;
        self.dies.promote(jobs, die, from, Priority::Host, job)
    }

    /// Starts the next job of `die`, if it is idle or, where planes read independently, if a job finds its
    /// planes idle. A read is returned: the caller issues it.
    #[inline(always)] // Of one caller, whose path it is part of.
    pub(crate) fn start(
        &mut self,
        now: Ns,
        die: DieId,
        jobs: &mut Jobs,
        ports: &mut impl Ports,
    ) -> Option<u32> {
        let (job, resumes) = match self.dies.start(now, jobs, die)? {
            Next::Start(job) => (job, false),
            Next::Resume(job) => (job, true),
        };
        if !resumes && !is_change(jobs[job].purpose) {
            return Some(job);
        }
        self.issue_change(now, job, resumes, jobs, ports);
        None
    }

    /// Issues the program or erase of `job`, or `resumes` it.
    #[inline(never)] // Rare beside reads.
    fn issue_change(
        &mut self,
        now: Ns,
        job: u32,
        resumes: bool,
        jobs: &Jobs,
        ports: &mut impl Ports,
    ) {
        let Job {
            purpose,
            at,
            queued,
            ..
        } = jobs[job];
        if resumes {
            let victim = Tag(job);
            return issue_about(now, job, FlashKind::Resume { victim }, jobs, ports);
        }
        let block = at.block;
        let (class, kind) = match purpose {
            Purpose::Program { stream, buf, .. } => {
                let wordline = at.wordline;
                let kind = FlashKind::Program {
                    block,
                    wordline,
                    buf,
                };
                (program_class(stream), kind)
            }
            Purpose::Erase { mode } => (OpClass::Erase, FlashKind::Erase { block, mode }),
            _ => unreachable!("{purpose:?} is a read"),
        };
        self.dies.runs(at.die, job);
        issue(queued, job, class, kind, jobs, ports);
    }

    /// Queues a program or an erase at `at`.
    pub(crate) fn push_change(&mut self, now: Ns, purpose: Purpose, at: PageAddr, jobs: &mut Jobs) {
        let job = jobs
            .take()
            .expect("a job is reserved for every program of the buffers and every erase");
        jobs[job] = Job {
            purpose,
            priority: Priority::Write,
            at,
            wanted: 0,
            queued: now,
            step: 0,
            ..jobs[job]
        };
        self.dies.push(jobs, at.die, Priority::Write, job);
    }

    /// The program or erase of `job` has ended: its job is free, and where it was.
    pub(crate) fn change_ended(&mut self, job: u32, jobs: &mut Jobs) -> PageAddr {
        let at = jobs[job].at;
        self.dies.ends(at.die);
        jobs.release(job);
        at
    }

    /// A read of the host waits for `die`: suspends what it runs, if the scheme says so.
    #[inline(always)] // What most dies run ends here: a read.
    pub(crate) fn suspend_for_host(
        &mut self,
        now: Ns,
        die: DieId,
        jobs: &Jobs,
        ports: &mut impl Ports,
    ) {
        if let Some(victim) = self.dies.suspendable(die) {
            self.suspend(now, die, victim, jobs, ports);
        }
    }

    /// Suspends `victim`, which `die` runs, if the scheme says so.
    #[inline(never)]
    fn suspend(&mut self, now: Ns, die: DieId, victim: u32, jobs: &Jobs, ports: &mut impl Ports) {
        let Job { purpose, step, .. } = jobs[victim];
        let running = match purpose {
            Purpose::Erase { .. } => Running::Erase,
            _ => Running::Program,
        };
        if self
            .suspend
            .suspends(running, step as u16, self.max_suspends)
        {
            self.dies.ends(die);
            let kind = FlashKind::Suspend {
                victim: Tag(victim),
            };
            issue_about(now, victim, kind, jobs, ports);
        }
    }

    /// The program or erase of `job` has stopped, to go on later: its die, which is free for reads of the
    /// host.
    pub(crate) fn stopped(&mut self, now: Ns, job: u32, jobs: &mut Jobs) -> DieId {
        let state = &mut jobs[job];
        state.step = state.step.saturating_add(1);
        // It waits again from now on.
        state.queued = now;
        let die = state.at.die;
        self.dies.suspended(die, job);
        die
    }

    /// Whether a read of the host waits for `die`.
    pub(crate) fn host_waits(&self, die: DieId) -> bool {
        self.dies.host_waits(die)
    }

    /// Whether anything has waited for `die` as long as a job may behind reads of the host.
    pub(crate) fn has_waited_enough(&self, now: Ns, die: DieId, jobs: &Jobs) -> bool {
        self.dies.has_waited_enough(now, jobs, die)
    }

    /// Tells `waited` of each job that is in a queue, in the order of its queue.
    pub(crate) fn each_waiting(&self, jobs: &mut Jobs, waited: impl FnMut(&mut Job)) {
        self.dies.each_waiting(jobs, waited);
    }
}

/// Issues an operation of `job`, or a command about it, to its die. `queued` is when it was put in the
/// queue.
#[inline]
fn issue(
    queued: Ns,
    job: u32,
    class: OpClass,
    kind: FlashKind,
    jobs: &Jobs,
    ports: &mut impl Ports,
) {
    ports.issue(FlashOp {
        tag: Tag(job),
        die: jobs[job].at.die,
        after: None,
        class,
        queued,
        kind,
    });
}

/// Issues a command about the program or erase of `job`.
fn issue_about(now: Ns, job: u32, kind: FlashKind, jobs: &Jobs, ports: &mut impl Ports) {
    let class = match jobs[job].purpose {
        Purpose::Program { stream, .. } => program_class(stream),
        _ => OpClass::Erase,
    };
    issue(now, job, class, kind, jobs, ports);
}

/// Whether `purpose` is that of a program or an erase.
#[inline]
const fn is_change(purpose: Purpose) -> bool {
    matches!(purpose, Purpose::Program { .. } | Purpose::Erase { .. })
}

const fn program_class(stream: StreamId) -> OpClass {
    match stream {
        StreamId::Map => OpClass::MapProgram,
        StreamId::Host => OpClass::Program,
        StreamId::Move => OpClass::MoveProgram,
    }
}
