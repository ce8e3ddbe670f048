//! The queues of each die, by priority and linked through the jobs, with the operation it runs and the one it
//! has suspended.
//!
//! While a program or erase is suspended, the die serves host reads. The operation resumes when no host read is
//! left, or when it takes a turn.
//!
//! Host reads go first, but only within a bound (`max_wait`). Jobs that have waited longer than the bound take
//! turns on the die, the longest wait first (`turns`). So under endless host reads, each die still completes
//! programs, moves and erases; and under endless writes, reads make progress.

use alloc::boxed::Box;

use firstread_core::flash::ALL_PLANES;
use firstread_core::{DieId, Geometry, Ns, Priority};

use super::job::{Job, Jobs, NO_JOB};
use super::turns::{Patience, Run};
use crate::config::Turns;

pub(super) const PRIORITIES: usize = 5;
/// The bit of host reads.
pub(super) const HOST: u8 = 1 << Priority::Host as usize;
/// The bit of programs and erases. One of them has to end before the next one starts.
const CHANGES: u8 = 1 << Priority::Write as usize;

/// The queues of one die.
#[derive(Clone, Copy, Debug)]
pub(super) struct DieQueue {
    pub(super) busy: u8,
    /// The job that runs on the die, if it can be suspended, or ended for a host read.
    pub(super) running: u32,
    pub(super) suspended: u32,
    /// The planes on which a job takes its turn; zero if none does.
    pub(super) turn: u8,
    /// When host reads have had the die for long enough after the last turn.
    pub(super) next_turn: Ns,
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
        turn: 0,
        next_turn: Ns::ZERO,
        waiting: 0,
        head: [NO_JOB; PRIORITIES],
        tail: [NO_JOB; PRIORITIES],
    };
}

impl DieQueue {
    /// The job that has waited longest, if it has waited for as long as `patience` says and is due to take a turn.
    pub(super) fn turn_due(&self, now: Ns, jobs: &Jobs, patience: &Patience) -> Option<Turn> {
        if self.turn != 0 || now < self.next_turn {
            return None;
        }
        let mut lower = self.waiting & !HOST;
        let mut longest = None;
        if self.suspended != NO_JOB {
            lower &= !CHANGES;
            longest = Some((jobs[self.suspended].began, Turn::Suspended));
        }
        for p in (0..PRIORITIES).filter(|p| lower >> p & 1 != 0) {
            let began = jobs[self.head[p]].began + patience.more(p);
            if longest.is_none_or(|(first, _)| began < first) {
                longest = Some((began, Turn::Queue(p)));
            }
        }
        let (began, turn) = longest?;
        (now.since(began) >= patience.max_wait).then_some(turn)
    }

    /// A turn begins on `planes`.
    pub(super) fn begin_turn(&mut self, now: Ns, planes: u8, run: &mut Run) {
        self.turn = planes;
        run.turn_began = now;
    }

    /// Ends the turn whose planes are idle again: host reads have the die for a while.
    #[inline]
    pub(super) fn end_turn(&mut self, now: Ns, run: &Run, turns: &Turns) {
        if self.turn != 0 && self.busy & self.turn == 0 {
            self.turn = 0;
            // Without a rest, writes without end would starve reads: each program has waited `max_wait` behind the
            // programs before it, and would go before every read.
            self.next_turn = now + turns.rest(now.since(run.turn_began));
        }
    }

    /// Takes the first job of priority `p`.
    #[inline]
    fn pop(&mut self, jobs: &Jobs, p: usize) -> u32 {
        let job = self.head[p];
        let next = jobs[job].link;
        self.head[p] = next;
        if next == NO_JOB {
            self.waiting &= !(1 << p);
        }
        job
    }

    /// The suspended job runs again.
    pub(super) fn resume(&mut self) -> u32 {
        self.running = core::mem::replace(&mut self.suspended, NO_JOB);
        self.running
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

/// Who takes the next turn on a die.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turn {
    Suspended,
    /// The first job of this priority.
    Queue(usize),
}

/// What a die does next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    Start(u32),
    Resume(u32),
}

/// The queues of all dies.
#[derive(Clone, Debug)]
pub(crate) struct DieQueues {
    pub(super) dies: Box<[DieQueue]>,
    /// Of each die, the run of its program or erase, and when its turn began.
    pub(super) runs: Box<[Run]>,
    pub(super) turns: Turns,
    pub(super) patience: Patience,
    /// Planes of a die that read independently, one bit each, and the number of codewords of a page.
    pub(super) planes: u8,
    pub(super) per_page: u32,
}

impl DieQueues {
    /// Queues for the dies of `geometry`. `independent` says whether planes read independently.
    pub(crate) fn new(geometry: &Geometry, independent: bool, turns: Turns) -> DieQueues {
        let planes = if independent { geometry.planes } else { 8 };
        let dies = geometry.dies() as usize;
        DieQueues {
            dies: alloc::vec![DieQueue::EMPTY; dies].into_boxed_slice(),
            runs: alloc::vec![Run::default(); dies].into_boxed_slice(),
            turns,
            patience: Patience::of(turns.max_wait),
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
        if queue.turn != 0 {
            queue.end_turn(now, &self.runs[die.0 as usize], &self.turns);
        }
        // In the common case host reads wait for each other alone.
        if queue.waiting != HOST || queue.suspended != NO_JOB {
            return self.start_any(now, jobs, die);
        }
        queue.busy = ALL_PLANES;
        Some(Next::Start(queue.pop(jobs, 0)))
    }

    /// Like [`DieQueues::start`], where host reads are not alone or do not wait.
    #[inline(never)]
    fn start_any(&mut self, now: Ns, jobs: &Jobs, die: DieId) -> Option<Next> {
        let queue = &mut self.dies[die.0 as usize];
        let run = &mut self.runs[die.0 as usize];
        let host_waits = queue.waiting & HOST != 0;
        let turn = match host_waits {
            true => queue.turn_due(now, jobs, &self.patience),
            false => None,
        };
        if turn.is_some() {
            queue.begin_turn(now, ALL_PLANES, run);
        }
        let p = match turn {
            Some(Turn::Queue(p)) => p,
            None if host_waits => 0,
            None if queue.suspended == NO_JOB && queue.waiting == 0 => return None,
            None if queue.suspended == NO_JOB => queue.waiting.trailing_zeros() as usize,
            Some(Turn::Suspended) | None => {
                run.in_turns |= turn.is_some();
                queue.busy = ALL_PLANES;
                return Some(Next::Resume(queue.resume()));
            }
        };
        queue.busy = ALL_PLANES;
        let job = queue.pop(jobs, p);
        queue.started(p, job, turn.is_none() && self.patience.background_gives_way);
        Some(Next::Start(job))
    }

    /// `job`, just started on `die`, is a program or erase that needs `left`.
    pub(crate) fn runs(&mut self, die: DieId, job: u32, left: Ns) {
        let queue = &mut self.dies[die.0 as usize];
        queue.running = job;
        let run = &mut self.runs[die.0 as usize];
        (run.left, run.in_turns) = (left, queue.turn != 0);
    }

    /// Whether a job takes a turn on `die`.
    pub(crate) fn is_turn(&self, die: DieId) -> bool {
        self.dies[die.0 as usize].turn != 0
    }

    /// How far the program or erase on `die`, suspended `used` times before, gets before it is stopped; none if it
    /// is not stopped.
    pub(crate) fn progress(&self, die: DieId, used: u16, is_free: bool) -> Option<Ns> {
        self.turns
            .progress(&self.runs[die.0 as usize], used, is_free)
    }

    /// The program or erase on `die` is told to stop for host reads. What an operation in turns still runs is its turn.
    pub(crate) fn stops(&mut self, now: Ns, die: DieId) {
        let queue = &mut self.dies[die.0 as usize];
        queue.running = NO_JOB;
        let run = &mut self.runs[die.0 as usize];
        if run.in_turns && queue.turn == 0 {
            queue.begin_turn(now, ALL_PLANES, run);
        }
    }

    /// The job that `die` runs, if it can be suspended and no other job is suspended.
    #[inline]
    pub(crate) fn suspendable(&self, die: DieId) -> Option<u32> {
        let queue = &self.dies[die.0 as usize];
        (queue.running != NO_JOB && queue.suspended == NO_JOB).then_some(queue.running)
    }

    /// The program or erase of `die` has ended.
    pub(crate) fn ends(&mut self, die: DieId) {
        self.dies[die.0 as usize].running = NO_JOB;
    }

    /// `job` is suspended on `die`, which is free for host reads, and still needs `left`. Returns whether it takes
    /// turns.
    pub(crate) fn suspended(&mut self, die: DieId, job: u32, left: Ns) -> bool {
        let queue = &mut self.dies[die.0 as usize];
        queue.suspended = job;
        queue.busy = 0;
        let run = &mut self.runs[die.0 as usize];
        run.left = left;
        run.in_turns
    }

    /// Calls `waited` for each queued job, with its number, in queue order.
    pub(crate) fn each_waiting(&self, jobs: &mut Jobs, mut waited: impl FnMut(u32, &mut Job)) {
        for queue in &self.dies {
            for p in (0..PRIORITIES).filter(|p| queue.waiting >> p & 1 != 0) {
                let mut job = queue.head[p];
                while job != NO_JOB {
                    waited(job, &mut jobs[job]);
                    job = jobs[job].link;
                }
            }
        }
    }

    /// Whether a host read waits for `die`.
    pub(crate) fn host_waits(&self, die: DieId) -> bool {
        self.dies[die.0 as usize].waiting & HOST != 0
    }

    /// Whether a job of `die` is due to take a turn.
    pub(crate) fn is_turn_due(&self, now: Ns, jobs: &Jobs, die: DieId) -> bool {
        let queue = &self.dies[die.0 as usize];
        queue.turn_due(now, jobs, &self.patience).is_some()
    }

    /// `planes` of `die` are free.
    #[inline]
    pub(crate) fn free(&mut self, die: DieId, planes: u8) {
        self.dies[die.0 as usize].busy &= !planes;
    }

    /// Whether `die` has suspended an operation.
    pub(crate) fn has_suspended(&self, die: DieId) -> bool {
        self.dies[die.0 as usize].suspended != NO_JOB
    }

    /// Whether no die has an operation, suspended ones included.
    pub(crate) fn are_at_rest(&self) -> bool {
        let is_at_rest = |queue: &DieQueue| queue.busy == 0 && queue.suspended == NO_JOB;
        self.dies.iter().all(is_at_rest)
    }

    /// Whether [`DieQueues::start`] may find a job for `die`.
    #[inline]
    pub(crate) fn may_start(&self, die: DieId) -> bool {
        let queue = &self.dies[die.0 as usize];
        let has_any = queue.waiting != 0 || queue.suspended != NO_JOB || queue.turn != 0;
        has_any && (queue.busy == 0 || self.planes != ALL_PLANES)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use firstread_core::StripeOrder;

    use super::*;

    const DIE: DieId = DieId(0);
    const MAX_WAIT: Ns = Ns(20_000_000);

    /// The queues of one die, and jobs for it.
    struct OneDie {
        queues: DieQueues,
        jobs: Jobs,
    }

    impl OneDie {
        fn new(independent: bool) -> OneDie {
            let geometry = Geometry {
                channels: 1,
                chips_per_channel: 1,
                dies_per_chip: 1,
                planes: 2,
                blocks_per_plane: 8,
                wordlines_per_block: 8,
                page_bytes: 16384,
                slot_bytes: 4096,
                codeword_bytes: 4096,
                stripe: StripeOrder::PlaneFirst,
                stripe_parity: false,
            };
            let turns = Turns {
                max_wait: MAX_WAIT,
                share_permille: 250,
                slice: Ns(600_000),
                least_slice: Ns(100_000),
                max_suspends: 32,
            };
            OneDie {
                queues: DieQueues::new(&geometry, independent, turns),
                jobs: Jobs::new(400, 400, 1),
            }
        }

        /// A job of `priority` enters its queue at `now`; a read wants the first plane.
        fn push(&mut self, now: Ns, priority: Priority) -> u32 {
            let job = self.jobs.take().unwrap();
            let wanted = u64::from(priority != Priority::Write);
            let state = &mut self.jobs[job];
            (state.began, state.wanted, state.priority) = (now, wanted, priority);
            self.queues.push(&mut self.jobs, DIE, priority, job);
            job
        }

        /// What starts at `now`, if the die is idle.
        fn start(&mut self, now: Ns) -> Option<(u32, bool)> {
            let next = self.queues.start(now, &mut self.jobs, DIE)?;
            let (Next::Start(job) | Next::Resume(job)) = next;
            if self.jobs[job].priority == Priority::Write && matches!(next, Next::Start(_)) {
                self.queues.runs(DIE, job, Ns(8_600_000));
            }
            Some((job, matches!(next, Next::Resume(_))))
        }

        fn free(&mut self) {
            self.queues.free(DIE, ALL_PLANES);
        }

        /// A program has started at time zero and is suspended at `now`.
        fn suspended_program(&mut self, now: Ns) -> u32 {
            let program = self.push(Ns::ZERO, Priority::Write);
            assert_eq!(self.start(Ns::ZERO), Some((program, false)));
            self.queues.stops(now, DIE);
            self.queues.suspended(DIE, program, Ns(5_000_000));
            self.jobs[program].began = now;
            program
        }
    }

    /// Host reads without end. A program takes turns once it has waited, and host reads have the die three times as long
    /// after each turn, as the program's share is a quarter.
    #[test]
    fn sequence_a_suspended_program_takes_turns() {
        for independent in [false, true] {
            let mut die = OneDie::new(independent);
            let stopped = Ns(1_000_000);
            let program = die.suspended_program(stopped);
            let mut starts = Vec::new();
            let (mut now, sense) = (stopped, Ns(100_000));
            while starts.len() < 4 {
                die.push(now, Priority::Host);
                let (job, resumes) = die.start(now).expect("the die is idle");
                assert_eq!(resumes, job == program);
                if resumes {
                    starts.push(now);
                    die.queues.stops(now, DIE);
                    now += Ns(400_000);
                    assert!(
                        die.queues.suspended(DIE, program, Ns(5_000_000)),
                        "it stays in turns"
                    );
                } else {
                    now += sense;
                    die.free();
                }
            }
            assert_eq!(starts[0], stopped + MAX_WAIT, "{independent}");
            for pair in starts.windows(2) {
                assert_eq!(pair[1].since(pair[0]), Ns(4 * 400_000), "{independent}");
            }
        }
    }

    /// A move that has waited takes one sense as its turn while a program is suspended; another program does not.
    #[test]
    fn sequence_a_move_takes_a_turn_while_a_program_is_suspended() {
        for independent in [false, true] {
            let mut die = OneDie::new(independent);
            let program = die.suspended_program(Ns(15_000_000));
            let second = die.push(Ns::ZERO, Priority::Write);
            let moved = die.push(Ns(100), Priority::Move);
            let read = die.push(Ns(16_000_000), Priority::Host);
            let now = Ns(20_000_099);
            assert_eq!(
                die.start(now),
                Some((read, false)),
                "the move has not waited enough"
            );
            die.free();
            die.push(now, Priority::Host);
            let last = die.push(now, Priority::Host);
            let now = Ns(20_000_100);
            assert_eq!(die.start(now), Some((moved, false)), "{independent}");
            die.free();
            // The turn took 50 us, so host reads have the die for 150 us.
            let again = die.push(Ns(100), Priority::Move);
            let now = now + Ns(50_000);
            assert_ne!(die.start(now), Some((again, false)));
            die.free();
            assert_eq!(die.start(now + Ns(149_999)), Some((last, false)));
            die.free();
            die.push(now, Priority::Host);
            assert_eq!(die.start(now + Ns(150_000)), Some((again, false)));
            die.free();
            let resumes = |die: &mut OneDie| die.start(now + Ns(150_001)).expect("it goes on");
            let mut next = resumes(&mut die);
            while !next.1 {
                assert_ne!(
                    next.0, second,
                    "one program ends before the next one starts"
                );
                die.free();
                next = resumes(&mut die);
            }
            assert_eq!(next.0, program, "{independent}");
        }
    }

    /// A program in turns that runs on while no host read waits, until one comes: what it still runs is a turn.
    #[test]
    fn sequence_the_rest_of_a_run_is_a_turn() {
        let mut die = OneDie::new(false);
        let program = die.suspended_program(Ns(1_000_000));
        let now = Ns(1_000_000) + MAX_WAIT;
        die.push(now, Priority::Host);
        assert_eq!(die.start(now), Some((program, true)), "it takes turns");
        die.queues.stops(now, DIE);
        let mut now = now + Ns(400_000);
        die.queues.suspended(DIE, program, Ns(4_000_000));
        let (read, _) = die.start(now).unwrap();
        assert_eq!(die.jobs[read].priority, Priority::Host);
        die.free();
        // No host read waits any more.
        now += Ns(100_000);
        assert_eq!(die.start(now), Some((program, true)));
        // One comes after two milliseconds, and the program stops after another 400 us.
        now += Ns(2_000_000);
        die.push(now, Priority::Host);
        die.queues.stops(now, DIE);
        now += Ns(400_000);
        die.queues.suspended(DIE, program, Ns(1_600_000));
        let rest = now + Ns(3 * 400_000);
        while now < rest {
            die.push(now, Priority::Host);
            let (read, _) = die.start(now).unwrap();
            assert_eq!(
                die.jobs[read].priority,
                Priority::Host,
                "at {now:?}, before {rest:?}"
            );
            die.free();
            now += Ns(100_000);
        }
        die.push(now, Priority::Host);
        assert_eq!(die.start(now), Some((program, true)));
    }

    /// The longest wait comes first, whoever waits.
    #[test]
    fn sequence_the_longest_wait_takes_the_turn() {
        let mut die = OneDie::new(false);
        let background = die.push(Ns(100), Priority::Background);
        let moved = die.push(Ns(300), Priority::Move);
        let program = die.push(Ns(200), Priority::Write);
        let mut now = MAX_WAIT + Ns(1_000);
        for wanted in [background, program, moved] {
            die.push(now, Priority::Host);
            die.push(now, Priority::Host);
            assert_eq!(die.start(now), Some((wanted, false)));
            die.free();
            now += Ns(1_000);
            let (read, _) = die.start(now).unwrap();
            assert_eq!(
                die.jobs[read].priority,
                Priority::Host,
                "host reads rest the die"
            );
            die.free();
            now += Ns(3_000);
        }
    }
}
