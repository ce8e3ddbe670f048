//! Dies whose planes read independently: what starts next on the idle planes.
//!
//! A read takes the planes that it senses. A program or erase takes all planes. Jobs start in the same order
//! as on a die without independent planes, with one exception: if the planes of a job are busy, jobs behind
//! it that need other planes pass it. Each plane keeps its order, so no job starves.

use firstread_core::flash::planes_of;
use firstread_core::{DieId, Ns};

use super::job::{Jobs, NO_JOB};
use super::queues::{DieQueues, HOST, Next, PRIORITIES, Turn};

/// Number of queued jobs searched for one whose planes are idle: assumed, four for each of four planes.
const LOOKED_AT: u32 = 16;

impl DieQueues {
    /// Takes the next job of `die` whose planes are idle, and marks them busy.
    #[cold]
    pub(super) fn start_on_planes(&mut self, now: Ns, jobs: &mut Jobs, die: DieId) -> Option<Next> {
        let all = self.planes;
        let queue = &mut self.dies[die.0 as usize];
        if queue.busy & all == all {
            return None;
        }
        let run = &mut self.runs[die.0 as usize];
        queue.end_turn(now, run, &self.turns);
        let host_waits = queue.waiting & HOST != 0;
        let turn = match host_waits {
            true => queue.turn_due(now, jobs, &self.patience),
            false => None,
        };
        let mut priorities = PRIORITIES;
        if queue.suspended != NO_JOB {
            let takes_turn = matches!(turn, Some(Turn::Suspended));
            if takes_turn || !host_waits {
                // The suspended operation resumes when the reads in progress have ended.
                if queue.busy != 0 {
                    return None;
                }
                if takes_turn {
                    queue.begin_turn(now, all, run);
                    run.in_turns = true;
                }
                queue.busy = all;
                return Some(Next::Resume(queue.resume()));
            }
            priorities = 1;
        }
        let mut blocked = queue.busy;
        let first = match turn {
            Some(Turn::Queue(p)) => Some(p),
            Some(Turn::Suspended) | None => None,
        };
        for p in first.into_iter().chain(0..priorities) {
            if queue.waiting >> p & 1 == 0 {
                continue;
            }
            let (mut before, mut job) = (NO_JOB, queue.head[p]);
            for _ in 0..LOOKED_AT {
                if job == NO_JOB || blocked == all {
                    break;
                }
                let planes = match jobs[job].wanted {
                    0 => all,
                    wanted => planes_of(wanted, self.per_page),
                };
                if planes & blocked == 0 {
                    queue.take(jobs, p, before, job);
                    queue.busy |= planes;
                    let takes_turn = first == Some(p);
                    if takes_turn {
                        queue.begin_turn(now, planes, run);
                    }
                    queue.started(p, job, self.patience.background_gives_way && !takes_turn);
                    return Some(Next::Start(job));
                }
                blocked |= planes;
                if first == Some(p) {
                    break;
                }
                (before, job) = (job, jobs[job].link);
            }
        }
        None
    }
}
