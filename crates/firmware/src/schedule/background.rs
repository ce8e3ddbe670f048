//! Background reads that give way: a host read that comes for the die of such a read ends it.
//!
//! The die notes such a read as it notes a program that can be suspended. A background read that takes a turn is not
//! noted, and host reads wait for its sense and its transfer. So it takes one only where the die has not been idle for
//! fifty times as long as other work waits: levels drift over hours, and a die under any load below its limit pauses
//! sooner.

use firstread_core::flash::{ALL_PLANES, planes_of};
use firstread_core::{DieId, FlashKind, Ns, OpClass, Ports, Priority, Tag};

use super::job::{Job, Jobs, NO_JOB};
use super::queues::{DieQueue, DieQueues};
use super::{Schedule, issue};

impl DieQueue {
    /// `job` of priority `p` has started. `gives_way`: a background read is ended by a host read.
    #[inline]
    pub(super) fn started(&mut self, p: usize, job: u32, gives_way: bool) {
        if gives_way && p == Priority::Background as usize {
            self.running = job;
        }
    }
}

impl DieQueues {
    /// The planes that a read of codewords `wanted` has sensed are free, or all of a die whose planes do not read
    /// independently.
    fn free_of(&mut self, die: DieId, wanted: u64) {
        let planes = match self.planes {
            ALL_PLANES => ALL_PLANES,
            _ => planes_of(wanted, self.per_page),
        };
        self.free(die, planes);
    }

    /// `die` no longer runs the background read of `job`.
    fn read_left(&mut self, die: DieId, job: u32) {
        let queue = &mut self.dies[die.0 as usize];
        if queue.running == job {
            queue.running = NO_JOB;
        }
    }
}

impl Schedule {
    /// Ends the background read `victim`, which `die` runs, if a host read waits.
    pub(super) fn abort(
        &mut self,
        now: Ns,
        die: DieId,
        victim: u32,
        jobs: &Jobs,
        ports: &mut impl Ports,
    ) {
        // Where planes read independently, the host read may have begun on another one.
        if self.dies.host_waits(die) {
            self.dies.read_left(die, victim);
            let tag = Tag(victim);
            let kind = FlashKind::Abort { victim: tag };
            issue(now, victim, OpClass::Calibration, kind, jobs, ports);
        }
    }

    /// The background read of `job` was ended before its data left the die. Returns its die.
    pub(crate) fn aborted(&mut self, job: u32, jobs: &Jobs) -> DieId {
        let Job { at, wanted, .. } = jobs[job];
        self.dies.free_of(at.die, wanted);
        at.die
    }

    /// The background read of `job` on `die` has ended.
    pub(crate) fn background_ended(&mut self, die: DieId, job: u32) {
        self.dies.read_left(die, job);
    }
}
