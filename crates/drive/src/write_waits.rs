//! Time that writes and trims wait inside the drive.
//!
//! Blocked writes wait in one queue and continue in order, so all of them wait for what the first one waits
//! for. The time is added up once for all of them, by cause; a write is charged with the time added while it
//! waited. The cause of a wait for a full write buffer is known when one of its wordlines becomes free: what
//! the die of the last program did meanwhile.

use std::collections::VecDeque;

use firstread_core::{Ns, Wait};

use crate::hardware::charge::{AccountId, Accounts, CAUSES, Cause, DieLog, Parts};

/// The time of the queue by cause.
#[derive(Clone, Debug)]
pub(crate) struct WriteWaits {
    /// What the first write waits for.
    on: Option<Wait>,
    /// Time up to which the waits have been added up.
    since: Ns,
    /// Sum of the waits so far.
    sum: Parts,
    /// Breakdowns of writes that have joined since then.
    joined: Vec<AccountId>,
    /// Breakdowns of earlier writes, from which `sum` has not been subtracted yet. Most writes leave before
    /// more is added up, and then nothing needs to be subtracted and added again.
    level: VecDeque<AccountId>,
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
    pub(crate) fn wait_for(&mut self, now: Ns, what: Option<Wait>, accounts: &mut Accounts) {
        self.settle(now, None, accounts);
        self.on = what;
    }

    /// A wordline of the write buffer has become free at `now`; `log` is the log of the die whose program was
    /// the last.
    pub(crate) fn buffer_freed(&mut self, now: Ns, log: &DieLog, accounts: &mut Accounts) {
        if self.on == Some(Wait::Buffer) {
            self.settle(now, Some(log), accounts);
        }
    }

    /// The write with breakdown `account` joins the queue at `now`. All of its time until then has been
    /// charged.
    pub(crate) fn join(&mut self, now: Ns, account: AccountId, accounts: &mut Accounts) {
        debug_assert_eq!(accounts[account].mark, now);
        if self.since == now {
            self.level.push_back(account);
        } else {
            self.joined.push(account);
        }
    }

    /// The write with breakdown `account` leaves the queue at `now`.
    pub(crate) fn leave(&mut self, now: Ns, account: AccountId, accounts: &mut Accounts) {
        self.settle(now, None, accounts);
        if self.leaves_level(account) {
            return;
        }
        let account = &mut accounts[account];
        for (part, sum) in account.parts.iter_mut().zip(&self.sum) {
            *part = part.wrapping_add(*sum);
        }
        account.mark = now;
    }

    /// Whether `sum` has not been subtracted from `account`, which leaves the queue.
    #[inline]
    fn leaves_level(&mut self, account: AccountId) -> bool {
        // Writes nearly always leave in the order in which they joined.
        if self.level.front() == Some(&account) {
            self.level.pop_front();
            return true;
        }
        let place = self.level.iter().position(|level| *level == account);
        place.is_some_and(|place| self.level.remove(place).is_some())
    }

    /// Adds up the waits until `now`.
    #[inline]
    fn settle(&mut self, now: Ns, log: Option<&DieLog>, accounts: &mut Accounts) {
        if self.since != now {
            self.add_up(now, log, accounts);
        }
    }

    #[inline(never)]
    fn add_up(&mut self, now: Ns, log: Option<&DieLog>, accounts: &mut Accounts) {
        for id in self.level.drain(..) {
            subtract(&mut accounts[id].parts, &self.sum);
        }
        let charge = |since: Ns, parts: &mut Parts| match log {
            Some(log) => log.charge_wait(since, now, parts),
            None => parts[cause(self.on) as usize] += now.since(since).0,
        };
        charge(self.since, &mut self.sum);
        for id in self.joined.drain(..) {
            let account = &mut accounts[id];
            charge(account.mark, &mut account.parts);
            account.mark = now;
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
        Some(Wait::Superblock | Wait::Reserve | Wait::Rescue) => Cause::Reserve,
        Some(Wait::Map | Wait::Overlay) => Cause::Map,
    }
}

/// Later additions to `parts` may be less than what is subtracted now, until the whole is added again.
fn subtract(parts: &mut Parts, sum: &Parts) {
    for (part, sum) in parts.iter_mut().zip(sum) {
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
        Wait::Rescue,
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
            let mut accounts = Accounts::new(40);
            let mut waits = WriteWaits::new(40);
            let mut log = DieLog::new();
            let mut logged = 0;
            // The cause of each nanosecond; for a full buffer it is known only at the end.
            let mut known: Vec<Cause> = Vec::new();
            let mut on = None;
            let mut waiting: Vec<(AccountId, u64)> = Vec::new();
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
                        waits.buffer_freed(Ns(now), &log, &mut accounts);
                        if on == Some(Wait::Buffer) {
                            (from..now as usize).for_each(|at| known[at] = did(at as u64));
                        }
                    }
                    1 => {
                        let index = draw.at(1).below(WAITS.len() as u64 + 1);
                        on = WAITS.get(index as usize).copied();
                        waits.wait_for(Ns(now), on, &mut accounts);
                    }
                    2 | 3 if waiting.len() < 40 => {
                        let id = accounts.open(Ns(now));
                        waits.join(Ns(now), id, &mut accounts);
                        waiting.push((id, now));
                    }
                    4 if !waiting.is_empty() => {
                        let which = draw.at(1).below(waiting.len() as u64) as usize;
                        let (id, since) = waiting.remove(which);
                        waits.leave(Ns(now), id, &mut accounts);
                        let mut expected = [0; CAUSES];
                        for at in since..now {
                            expected[known[at as usize] as usize] += 1;
                        }
                        assert_eq!(
                            accounts[id].parts, expected,
                            "seed {seed}, {since} to {now}"
                        );
                        accounts.close(id);
                    }
                    _ => {}
                }
                known.push(match on {
                    Some(Wait::Cleaning) => Cause::Cleaning,
                    Some(Wait::Superblock | Wait::Reserve | Wait::Rescue) => Cause::Reserve,
                    Some(Wait::Map | Wait::Overlay) => Cause::Map,
                    Some(Wait::Buffer | Wait::ReadBuffer) | None => Cause::Queue,
                });
            }
        }
    }
}
