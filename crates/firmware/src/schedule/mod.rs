//! Schedule: the jobs in flight, the queues of each die, and what a die does next.
//!
//! Whatever starts on a die is issued here: reads, programs, erases, suspends and resumes (`start`). The read machine
//! says the steps of a read.

mod background;
mod job;
mod planes;
mod queues;
mod start;
mod turns;

use firstread_core::{DieId, FlashKind, FlashOp, Ns, OpClass, PageAddr, Ports, Priority, Tag};

pub(crate) use job::{Job, Jobs, NO_JOB, Nearest, Purpose, Step};
use queues::{DieQueues, Next};
pub(crate) use start::ReadSteps;

use crate::config::{ChangeTimes, Config};
use crate::observe::SuperblockTable;
use crate::policy::suspend::{AnySuspend, Running, Suspend};

/// The die queues, and the scheme of axis `suspend`.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    dies: DieQueues,
    suspend: AnySuspend,
    /// Durations of programs and erases by cell mode.
    change_times: ChangeTimes,
    /// Whether planes of a die read independently.
    independent_planes: bool,
    /// Whether the drive is being shut down, so that nothing begins.
    is_paused: bool,
}

impl Schedule {
    /// From now on no operation begins on a die that has suspended none.
    pub(crate) fn pause(&mut self) {
        self.is_paused = true;
    }

    /// Whether no die has an operation, suspended ones included.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.dies.are_at_rest()
    }

    /// For the dies of a drive of `config`. `background_gives_way`: a host read ends a background read on its die.
    pub(crate) fn new(
        config: &Config,
        suspend: AnySuspend,
        background_gives_way: bool,
    ) -> Schedule {
        let (geometry, independent_planes) = (&config.geometry, config.independent_planes);
        let mut dies = DieQueues::new(geometry, independent_planes, config.turns);
        dies.patience.background_gives_way = background_gives_way;
        Schedule {
            dies,
            suspend,
            change_times: config.change_times,
            independent_planes,
            is_paused: false,
        }
    }

    /// Whether planes of a die read independently.
    #[inline]
    pub(crate) fn has_independent_planes(&self) -> bool {
        self.independent_planes
    }

    /// `planes` of `die` are free.
    #[inline]
    pub(crate) fn free(&mut self, die: DieId, planes: u8) {
        self.dies.free(die, planes);
    }

    /// Whether [`Schedule::start`] may find a job for `die`.
    #[inline]
    fn may_start(&self, die: DieId) -> bool {
        self.dies.may_start(die)
    }

    /// Appends the read of `job` to the queue of its die.
    #[inline]
    pub(crate) fn push(&mut self, job: u32, jobs: &mut Jobs) {
        let Job { at, priority, .. } = jobs[job];
        self.dies.push(jobs, at.die, priority, job);
    }

    /// Puts the read of `job` ahead of all others of its priority, so that a retry continues at once.
    pub(crate) fn push_front(&mut self, job: u32, jobs: &mut Jobs) {
        let Job { at, priority, .. } = jobs[job];
        self.dies.push_front(jobs, at.die, priority, job);
    }

    /// The read of `job` waits in the queue of priority `from`: makes it a host read. False if it no longer
    /// waits.
    pub(crate) fn promote(&mut self, job: u32, from: Priority, jobs: &mut Jobs) -> bool {
        let die = jobs[job].at.die;
        self.dies.promote(jobs, die, from, Priority::Host, job)
    }

    /// Starts the next job of `die`, if the die is idle. If planes read independently, starts a job whose
    /// planes are idle. A read is returned to the caller, who issues it.
    #[inline(always)] // Its only caller is on the path of every request.
    fn start(
        &mut self,
        now: Ns,
        die: DieId,
        jobs: &mut Jobs,
        blocks: &SuperblockTable,
        ports: &mut impl Ports,
    ) -> Option<u32> {
        let (job, resumes) = match self.dies.start(now, jobs, die)? {
            Next::Start(job) => (job, false),
            Next::Resume(job) => (job, true),
        };
        if !resumes && !is_change(jobs[job].purpose) {
            return Some(job);
        }
        self.issue_change(now, job, resumes, jobs, blocks, ports);
        if self.dies.is_turn(die) {
            self.suspend(now, die, job, jobs, ports);
        }
        None
    }

    /// Issues the program or erase of `job`, or resumes it if `resumes` is set.
    #[inline(never)] // Rare compared with reads.
    fn issue_change(
        &mut self,
        now: Ns,
        job: u32,
        resumes: bool,
        jobs: &Jobs,
        blocks: &SuperblockTable,
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
        let (block, on) = (at.block, blocks.block_of(at.block, at.die));
        let (class, kind, takes) = match purpose {
            Purpose::Program { class, buf, .. } => {
                let wordline = at.wordline;
                let kind = FlashKind::Program {
                    block,
                    on,
                    wordline,
                    buf,
                };
                let takes = self.change_times.program(blocks.info(block).mode);
                (class, kind, takes)
            }
            Purpose::Erase { mode } => {
                let kind = FlashKind::Erase { block, on, mode };
                (OpClass::Erase, kind, self.change_times.erase(mode))
            }
            _ => unreachable!("{purpose:?} is a read"),
        };
        self.dies.runs(at.die, job, takes);
        issue(queued, job, class, kind, jobs, ports);
    }

    /// Queues a program or erase at `at`.
    #[inline]
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
            began: now,
            step: 0,
            ..jobs[job]
        };
        self.dies.push(jobs, at.die, Priority::Write, job);
    }

    /// The program or erase of `job` has ended: frees the job and returns its address.
    pub(crate) fn change_ended(&mut self, job: u32, jobs: &mut Jobs) -> PageAddr {
        let at = jobs[job].at;
        self.dies.ends(at.die);
        jobs.release(job);
        at
    }

    /// A host read waits for `die`: suspends the program or erase it runs, if the scheme says so, or ends the background
    /// read that gives way.
    #[inline(always)] // In the common case the die runs a read, and this ends here.
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

    /// Suspends `victim`, which `die` runs, if the scheme says so, once it has come far enough.
    #[inline(never)]
    fn suspend(&mut self, now: Ns, die: DieId, victim: u32, jobs: &Jobs, ports: &mut impl Ports) {
        let Job { purpose, step, .. } = jobs[victim];
        let running = match purpose {
            Purpose::Erase { .. } => Running::Erase,
            Purpose::Probe => return self.abort(now, die, victim, jobs, ports),
            _ => Running::Program,
        };
        if self.suspend.suspends(running)
            && let Some(progress) = self.dies.progress(die, step.into(), self.suspend.is_free())
        {
            self.dies.stops(now, die);
            let kind = FlashKind::Suspend {
                victim: Tag(victim),
                progress,
            };
            issue_about(now, victim, kind, jobs, ports);
        }
    }

    /// The program or erase of `job` has been suspended and still needs `left`. Returns its die, which is free for
    /// host reads.
    pub(crate) fn stopped(&mut self, now: Ns, job: u32, left: Ns, jobs: &mut Jobs) -> DieId {
        let state = &mut jobs[job];
        state.step = state.step.saturating_add(1);
        let die = state.at.die;
        if !self.dies.suspended(die, job, left) {
            // An operation that does not take turns has just run in a gap between reads. One in turns keeps its wait,
            // or each suspend would cost it its turns.
            // Its wait starts anew.
            state.began = now;
        }
        die
    }

    /// Calls `waited` for each queued job, with its number, in queue order.
    pub(crate) fn each_waiting(&self, jobs: &mut Jobs, waited: impl FnMut(u32, &mut Job)) {
        self.dies.each_waiting(jobs, waited);
    }
}

/// Issues an operation of `job`, or a command about it, to its die. `queued` is when it entered the queue.
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
        Purpose::Program { class, .. } => class,
        _ => OpClass::Erase,
    };
    issue(now, job, class, kind, jobs, ports);
}

/// Whether `purpose` is a program or an erase.
#[inline]
const fn is_change(purpose: Purpose) -> bool {
    matches!(purpose, Purpose::Program { .. } | Purpose::Erase { .. })
}
