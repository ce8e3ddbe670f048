//! Time that writes and trims wait inside the drive.
//!
//! Blocked writes wait in one queue and continue in order, so all of them wait for what the first one waits
//! for. The time is added up once for all of them, by cause; a write is charged with the time added while it
//! waited. The cause of a wait for a full write buffer is known when one of its wordlines becomes free: what
//! the die of the last program did meanwhile.

use std::collections::VecDeque;

use firstread_core::{Ns, Wait};

use crate::hardware::charge::{BreakdownId, Breakdowns, CAUSES, Cause, DieLog, NsByCause};

/// The time of the queue by cause.
#[derive(Clone, Debug)]
pub(crate) struct WriteWaits {
    /// What the first write waits for.
    on: Option<Wait>,
    /// Time up to which the waits have been added up.
    since: Ns,
    /// Sum of the waits so far.
    sum: NsByCause,
    /// Breakdowns of writes that have joined since then.
    joined: Vec<BreakdownId>,
    /// Breakdowns of earlier writes, from which `sum` has not been subtracted yet. Most writes leave before
    /// more is added up, and then nothing needs to be subtracted and added again.
    level: VecDeque<BreakdownId>,
}

impl WriteWaits {
    /// For at most `commands` writes.
    pub(crate) fn new(commands: u32) -> WriteWaits {
        WriteWaits {
            on: None,
            since: Ns::ZERO,
            sum: [0; CAUSES],
            joined: Vec::with_capacity(commands as usize),
            level: VecDeque::with_capacity(commands as usize),
        }
    }

    /// Power was cut: the queue is empty.
    pub(crate) fn clear(&mut self) {
        self.on = None;
        self.joined.clear();
        self.level.clear();
    }

    /// From `now` on the first write waits for `what`.
    pub(crate) fn wait_for(&mut self, now: Ns, what: Option<Wait>, breakdowns: &mut Breakdowns) {
        self.settle(now, None, breakdowns);
        self.on = what;
    }

    /// A wordline of the write buffer has become free at `now`; `log` is the log of the die whose program was
    /// the last.
    pub(crate) fn buffer_freed(&mut self, now: Ns, log: &DieLog, breakdowns: &mut Breakdowns) {
        if self.on == Some(Wait::Buffer) {
            self.settle(now, Some(log), breakdowns);
        }
    }

    /// The write with breakdown `breakdown` joins the queue at `now`. All of its time until then has been
    /// charged.
    pub(crate) fn join(&mut self, now: Ns, breakdown: BreakdownId, breakdowns: &mut Breakdowns) {
        debug_assert_eq!(breakdowns[breakdown].mark, now);
        if self.since == now {
            self.level.push_back(breakdown);
        } else {
            self.joined.push(breakdown);
        }
    }

    /// The write with breakdown `breakdown` leaves the queue at `now`.
    pub(crate) fn leave(&mut self, now: Ns, breakdown: BreakdownId, breakdowns: &mut Breakdowns) {
        self.settle(now, None, breakdowns);
        if self.leaves_level(breakdown) {
            return;
        }
        let breakdown = &mut breakdowns[breakdown];
        for (part, sum) in breakdown.ns_by_cause.iter_mut().zip(&self.sum) {
            *part = part.wrapping_add(*sum);
        }
        breakdown.mark = now;
    }

    /// Whether `sum` has not been subtracted from `breakdown`, which leaves the queue.
    #[inline]
    fn leaves_level(&mut self, breakdown: BreakdownId) -> bool {
        // Writes nearly always leave in the order in which they joined.
        if self.level.front() == Some(&breakdown) {
            self.level.pop_front();
            return true;
        }
        let place = self.level.iter().position(|level| *level == breakdown);
        place.is_some_and(|place| self.level.remove(place).is_some())
    }

    /// Adds up the waits until `now`.
    #[inline]
    fn settle(&mut self, now: Ns, log: Option<&DieLog>, breakdowns: &mut Breakdowns) {
        if self.since != now {
            self.add_up(now, log, breakdowns);
        }
    }

    #[inline(never)]
    fn add_up(&mut self, now: Ns, log: Option<&DieLog>, breakdowns: &mut Breakdowns) {
        for id in self.level.drain(..) {
            subtract(&mut breakdowns[id].ns_by_cause, &self.sum);
        }
        let charge = |since: Ns, ns_by_cause: &mut NsByCause| match log {
            Some(log) => log.charge_wait(since, now, ns_by_cause),
            None => ns_by_cause[cause(self.on) as usize] += now.since(since).0,
        };
        charge(self.since, &mut self.sum);
        for id in self.joined.drain(..) {
            let breakdown = &mut breakdowns[id];
            charge(breakdown.mark, &mut breakdown.ns_by_cause);
            breakdown.mark = now;
            self.level.push_back(id);
        }
        self.since = now;
    }
}

/// Cause of a wait. For a full buffer: the cause if the wait has ended otherwise than by a program.
const fn cause(wait: Option<Wait>) -> Cause {
    match wait {
        None | Some(Wait::Buffer | Wait::ReadBuffer) => Cause::Queue,
        Some(Wait::Cleaning) => Cause::Cleaning,
        Some(Wait::Superblock | Wait::Reserve | Wait::Rewrite) => Cause::Reserve,
        Some(Wait::Map | Wait::Overlay) => Cause::Map,
    }
}

/// Later additions to `ns_by_cause` may be less than what is subtracted now, until the whole is added again.
fn subtract(ns_by_cause: &mut NsByCause, sum: &NsByCause) {
    for (part, sum) in ns_by_cause.iter_mut().zip(sum) {
        *part = part.wrapping_sub(*sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::Stream;

    const WAITS: [Wait; 8] = [
        Wait::Buffer,
        Wait::Cleaning,
        Wait::Superblock,
        Wait::Reserve,
        Wait::Rewrite,
        Wait::ReadBuffer,
        Wait::Map,
        Wait::Overlay,
    ];

    /// What the die did at each nanosecond.
    fn did(at: u64) -> Cause {
        match at / 7 % 6 {
            0 => Cause::DieErase,
            1 => Cause::DieMoveProgram,
            2 => Cause::DieMove,
            3 => Cause::DieDataIn,
            4 => Cause::Suspend,
            _ => Cause::DieProgram,
        }
    }

    /// Writes join and leave at any time while the cause of the wait changes. Each is charged with the cause
    /// of each nanosecond of its wait.
    #[test]
    fn model_every_nanosecond_of_a_wait_has_the_cause_of_that_nanosecond() {
        for seed in 0..300 {
            let draws = Stream::new(seed).named("write waits");
            let mut breakdowns = Breakdowns::new(40);
            let mut waits = WriteWaits::new(40);
            let mut log = DieLog::new();
            let mut logged = 0;
            // The cause of each nanosecond; for a full buffer it is known only at the end.
            let mut known: Vec<Cause> = Vec::new();
            let mut on = None;
            let mut waiting: Vec<(BreakdownId, u64)> = Vec::new();
            for now in 0..400u64 {
                let draw = draws.at(now);
                while logged / 7 < now / 7 {
                    let next = (logged / 7 + 1) * 7;
                    log.push(Ns(logged), Ns(next), did(logged));
                    logged = next;
                }
                match draw.at(0).below(6) {
                    0 if logged == now => {
                        // The die's program has ended, and everything before it is in the die's log.
                        let from = waits.since.0 as usize;
                        waits.buffer_freed(Ns(now), &log, &mut breakdowns);
                        if on == Some(Wait::Buffer) {
                            (from..now as usize).for_each(|at| known[at] = did(at as u64));
                        }
                    }
                    1 => {
                        let index = draw.at(1).below(WAITS.len() as u64 + 1);
                        on = WAITS.get(index as usize).copied();
                        waits.wait_for(Ns(now), on, &mut breakdowns);
                    }
                    2 | 3 if waiting.len() < 40 => {
                        let id = breakdowns.open(Ns(now));
                        waits.join(Ns(now), id, &mut breakdowns);
                        waiting.push((id, now));
                    }
                    4 if !waiting.is_empty() => {
                        let which = draw.at(1).below(waiting.len() as u64) as usize;
                        let (id, since) = waiting.remove(which);
                        waits.leave(Ns(now), id, &mut breakdowns);
                        let mut expected = [0; CAUSES];
                        for at in since..now {
                            expected[known[at as usize] as usize] += 1;
                        }
                        assert_eq!(
                            breakdowns[id].ns_by_cause, expected,
                            "seed {seed}, {since} to {now}"
                        );
                        breakdowns.close(id);
                    }
                    _ => {}
                }
                known.push(match on {
                    Some(Wait::Cleaning) => Cause::Cleaning,
                    Some(Wait::Superblock | Wait::Reserve | Wait::Rewrite) => Cause::Reserve,
                    Some(Wait::Map | Wait::Overlay) => Cause::Map,
                    Some(Wait::Buffer | Wait::ReadBuffer) | None => Cause::Queue,
                });
            }
        }
    }

    /// Two writes wait when power is cut, the first one from when the waits were added up last. Writes after power-on
    /// get the same breakdowns, and are charged with their own time alone.
    #[test]
    fn powerloss_writes_that_waited_are_not_charged_again() {
        let mut breakdowns = Breakdowns::new(2);
        let mut waits = WriteWaits::new(2);
        waits.wait_for(Ns(10), Some(Wait::Cleaning), &mut breakdowns);
        for now in [10, 13] {
            let id = breakdowns.open(Ns(now));
            waits.join(Ns(now), id, &mut breakdowns);
        }
        waits.clear();
        breakdowns.close_all();
        let first = breakdowns.open(Ns(100));
        waits.join(Ns(100), first, &mut breakdowns);
        let second = breakdowns.open(Ns(102));
        waits.join(Ns(102), second, &mut breakdowns);
        waits.leave(Ns(107), first, &mut breakdowns);
        waits.wait_for(Ns(111), Some(Wait::Map), &mut breakdowns);
        waits.leave(Ns(112), second, &mut breakdowns);
        let charged = |ns_by: &[(Cause, u64)]| {
            let mut ns = [0; CAUSES];
            ns_by
                .iter()
                .for_each(|(cause, by)| ns[*cause as usize] = *by);
            ns
        };
        let of = |id: BreakdownId| breakdowns[id].ns_by_cause;
        assert_eq!(of(first), charged(&[(Cause::Queue, 7)]));
        assert_eq!(of(second), charged(&[(Cause::Queue, 9), (Cause::Map, 1)]));
    }
}
