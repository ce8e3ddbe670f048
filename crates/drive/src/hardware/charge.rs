//! Where the time of a request went: every nanosecond is charged to one cause.
//!
//! A request of several page rows is charged what its last row was charged. The causes add up to
//! the latency exactly.

use std::ops::{Index, IndexMut};

use firstread_core::{Ns, OpClass};

/// A cause of latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Cause {
    /// Fetching the command, and waiting for a free slot in the firmware.
    Queue,
    /// Waiting for a page of the map.
    Map,
    /// Of a write: waiting until cleaning has moved some of what it owes.
    Cleaning,
    /// Of a write: waiting for a free superblock, or until cleaning has made up for a failed program.
    Reserve,
    /// The die was busy with other host reads.
    DieHostRead,
    /// The die was busy with retries, soft senses or rebuilds, of this or other reads.
    DieRetry,
    /// The die was busy with background reads of calibration.
    DieCalibration,
    /// The die was busy with reads of moved data.
    DieMove,
    /// The die was busy reading ahead.
    DieReadAhead,
    /// The die was busy with pages of the map.
    DieMap,
    /// The die was busy programming data of the host.
    DieProgram,
    /// The die was busy programming moved data.
    DieMoveProgram,
    /// The die was taking in data to be programmed, or waiting for its channel to do so.
    DieDataIn,
    /// The die was busy erasing.
    DieErase,
    /// Sensing of the first attempt.
    Sense,
    /// Waiting for the channel and transferring, first attempt.
    Transfer,
    /// Waiting for the decoder and decoding, first attempt.
    Decode,
    /// Sensing, transferring and decoding again.
    Retry,
    /// What came after the last retry: soft senses, and reads of the rest of the stripe.
    Recovery,
    /// Suspending what the die was doing.
    Suspend,
    /// Of a flush, a write with FUA, a write that is written through: waiting until data are programmed.
    Flush,
    /// The host link and the completion.
    Link,
}

/// Number of causes.
pub const CAUSES: usize = 22;

impl Cause {
    /// All causes, in the order of a request's life.
    pub const ALL: [Cause; CAUSES] = [
        Cause::Queue,
        Cause::Map,
        Cause::Cleaning,
        Cause::Reserve,
        Cause::DieHostRead,
        Cause::DieRetry,
        Cause::DieCalibration,
        Cause::DieMove,
        Cause::DieReadAhead,
        Cause::DieMap,
        Cause::DieProgram,
        Cause::DieMoveProgram,
        Cause::DieDataIn,
        Cause::DieErase,
        Cause::Sense,
        Cause::Transfer,
        Cause::Decode,
        Cause::Retry,
        Cause::Recovery,
        Cause::Suspend,
        Cause::Flush,
        Cause::Link,
    ];

    /// Key in results.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Queue => "queue",
            Cause::Map => "map",
            Cause::Cleaning => "cleaning",
            Cause::Reserve => "reserve",
            Cause::DieHostRead => "die_busy_host_read",
            Cause::DieRetry => "die_busy_retry",
            Cause::DieCalibration => "die_busy_calibration",
            Cause::DieMove => "die_busy_move",
            Cause::DieReadAhead => "die_busy_read_ahead",
            Cause::DieMap => "die_busy_map",
            Cause::DieProgram => "die_busy_program",
            Cause::DieMoveProgram => "die_busy_move_program",
            Cause::DieDataIn => "die_busy_data_in",
            Cause::DieErase => "die_busy_erase",
            Cause::Sense => "sense",
            Cause::Transfer => "transfer",
            Cause::Decode => "decode",
            Cause::Retry => "retry",
            Cause::Recovery => "recovery",
            Cause::Suspend => "suspend",
            Cause::Flush => "flush",
            Cause::Link => "link",
        }
    }

    /// What is charged to this cause on a first attempt: an operation of `class` may be a later one.
    #[inline]
    pub(crate) const fn in_step(self, class: OpClass) -> Cause {
        match class {
            OpClass::HostRetry => Cause::Retry,
            OpClass::Recovery => Cause::Recovery,
            _ => self,
        }
    }

    /// What a wait behind an operation of `class` is charged to.
    pub(crate) const fn busy_with(class: OpClass) -> Cause {
        match class {
            OpClass::HostRead => Cause::DieHostRead,
            OpClass::HostRetry | OpClass::Recovery => Cause::DieRetry,
            OpClass::Calibration => Cause::DieCalibration,
            OpClass::MoveRead => Cause::DieMove,
            OpClass::ReadAhead => Cause::DieReadAhead,
            OpClass::MapRead | OpClass::MapProgram => Cause::DieMap,
            OpClass::Program => Cause::DieProgram,
            OpClass::MoveProgram => Cause::DieMoveProgram,
            OpClass::Erase => Cause::DieErase,
        }
    }
}

/// Nanoseconds by cause.
pub type Parts = [u64; CAUSES];

/// What the time of a read in flight is charged to; later, that of the command it was for. Or that of a
/// write that waits. Three lines of a cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Account {
    pub parts: Parts,
    /// When the first attempt was queued.
    pub first_queued: Ns,
    /// Since when the time has not been charged yet.
    pub mark: Ns,
}

impl Account {
    /// Nothing has been charged since `from`.
    pub(crate) const fn from(from: Ns) -> Account {
        Account {
            parts: [0; CAUSES],
            first_queued: from,
            mark: from,
        }
    }

    /// Nothing has been charged since `from`: this account, anew.
    #[inline]
    pub(crate) fn restart(&mut self, from: Ns) {
        self.parts.fill(0);
        self.first_queued = from;
        self.mark = from;
    }

    /// Adds the time of `read`, which the command has waited for since it was charged last.
    pub(crate) fn add(&mut self, read: &Account) {
        if read.mark <= self.mark {
            return;
        }
        let mut read = *read;
        // It began before, for this command or another one.
        read.cut(self.mark.since(read.first_queued).0);
        self.charge(read.first_queued, Cause::Queue);
        for (part, more) in self.parts.iter_mut().zip(&read.parts) {
            *part += more;
        }
        self.mark = read.mark;
    }

    /// Charges the time from the last mark to `until`, if that is later, to `cause`.
    #[inline]
    pub(crate) fn charge(&mut self, until: Ns, cause: Cause) {
        self.parts[cause as usize] += until.since(self.mark).0;
        self.mark = self.mark.max(until);
    }

    /// Takes away `ns` from what was charged first.
    fn cut(&mut self, mut ns: u64) {
        for part in &mut self.parts {
            let cut = ns.min(*part);
            *part -= cut;
            ns -= cut;
        }
    }

    /// Makes what `read` was charged before a command joined it, which this account has been, what it was
    /// charged since: for how long it had not been charged when the command joined is cut off at its
    /// beginning. Causes stand in the order of a read's life, so a wait for a die of several causes may lose
    /// the wrong one of them; the sum is exact.
    pub(crate) fn became(&mut self, read: &Account) {
        for (own, all) in self.parts.iter_mut().zip(read.parts) {
            *own = all - *own;
        }
        // The wait of a command for the channel is charged when it begins.
        self.parts[Cause::Transfer as usize] += self.mark.since(self.first_queued).0;
        self.cut(self.first_queued.since(self.mark).0);
        self.mark = read.mark;
        debug_assert_eq!(
            self.parts.iter().sum::<u64>(),
            self.mark.since(self.first_queued).0,
            "a command that has joined a read is charged its own time"
        );
    }
}

/// The number of an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AccountId(u32);

/// Accounts of operations and of commands, handed from one to the other. The one that was closed last is
/// opened first: few are ever touched.
#[derive(Clone, Debug)]
pub(crate) struct Accounts {
    all: Vec<Account>,
    closed: Vec<AccountId>,
}

impl Accounts {
    pub(crate) fn new(count: u32) -> Accounts {
        Accounts {
            all: vec![Account::from(Ns::ZERO); count as usize],
            closed: (0..count).rev().map(AccountId).collect(),
        }
    }

    /// Closes all.
    pub(crate) fn close_all(&mut self) {
        *self = Accounts::new(self.all.len() as u32);
    }

    /// Opens an account of time from `from` on.
    #[inline]
    pub(crate) fn open(&mut self, from: Ns) -> AccountId {
        let id = self.closed.pop();
        let id = id.expect("there is one for each operation and each command");
        self[id].restart(from);
        id
    }

    #[inline]
    pub(crate) fn close(&mut self, id: AccountId) {
        debug_assert!(self.closed.len() < self.all.len(), "closed twice");
        self.closed.push(id);
    }
}

impl Index<AccountId> for Accounts {
    type Output = Account;
    #[inline]
    fn index(&self, id: AccountId) -> &Account {
        &self.all[id.0 as usize]
    }
}

impl IndexMut<AccountId> for Accounts {
    #[inline]
    fn index_mut(&mut self, id: AccountId) -> &mut Account {
        &mut self.all[id.0 as usize]
    }
}

/// What a die did, and when it ended: in 16 bytes, as every wait looks at some of them.
#[derive(Clone, Copy, Debug)]
struct Span {
    end: Ns,
    /// How long it took (ns), above a byte for its cause.
    ns_and_cause: u64,
}

impl Span {
    const fn new(start: Ns, end: Ns, cause: Cause) -> Span {
        debug_assert!(
            end.since(start).0 >> 56 == 0,
            "no operation takes two years"
        );
        Span {
            end,
            ns_and_cause: end.since(start).0 << 8 | cause as u64,
        }
    }
    fn start(self) -> Ns {
        Ns(self.end.0 - (self.ns_and_cause >> 8))
    }
    /// The index of its cause.
    fn cause(self) -> usize {
        (self.ns_and_cause & 0xff) as usize
    }
}

/// What a die did last, most recent first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DieLog {
    spans: [Span; DieLog::LEN],
    next: usize,
}

impl DieLog {
    /// Changes of what it did that are remembered. A wait longer than that is charged to the oldest.
    const LEN: usize = 16;

    pub(crate) const fn new() -> DieLog {
        DieLog {
            spans: [Span::new(Ns::ZERO, Ns::ZERO, Cause::DieHostRead); DieLog::LEN],
            next: 0,
        }
    }

    /// When it ended what it did last.
    pub(crate) fn last_end(&self) -> Ns {
        self.spans[(self.next + DieLog::LEN - 1) % DieLog::LEN].end
    }

    /// The die was busy from `start` to `end`: waits for it are charged to `cause`.
    #[inline]
    pub(crate) fn push(&mut self, start: Ns, end: Ns, cause: Cause) {
        // It goes on with the same: one entry for all of it, so that the log reaches further back.
        let last = &mut self.spans[(self.next + DieLog::LEN - 1) % DieLog::LEN];
        if last.end == start && last.cause() == cause as usize {
            *last = Span::new(last.start(), end, cause);
            return;
        }
        self.spans[self.next] = Span::new(start, end, cause);
        self.next = (self.next + 1) % DieLog::LEN;
    }

    /// Charges the wait from `from` to `to` to what the die did in that time.
    #[inline]
    pub(crate) fn charge_wait(&self, from: Ns, to: Ns, parts: &mut Parts) {
        let mut until = to;
        for back in 0..DieLog::LEN {
            if until <= from {
                return;
            }
            let span = self.spans[(self.next + DieLog::LEN - 1 - back) % DieLog::LEN];
            let oldest = back + 1 == DieLog::LEN;
            let begin = if oldest { from } else { span.start().max(from) };
            // The gap after an operation is the turnaround to the next: charge it to the next.
            let covered_to = span.end.max(begin).min(until);
            parts[Cause::Queue as usize] += until.since(covered_to).0;
            parts[span.cause()] += covered_to.since(begin).0;
            until = until.min(begin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_wait_is_charged_exactly() {
        let mut log = DieLog::new();
        log.push(Ns(0), Ns(100), Cause::DieProgram);
        log.push(Ns(100), Ns(150), Cause::DieRetry);
        log.push(Ns(160), Ns(200), Cause::DieHostRead);
        let mut parts = [0; CAUSES];
        log.charge_wait(Ns(50), Ns(200), &mut parts);
        assert_eq!(parts[Cause::DieProgram as usize], 50);
        assert_eq!(parts[Cause::DieRetry as usize], 50);
        assert_eq!(parts[Cause::DieHostRead as usize], 40);
        assert_eq!(parts[Cause::Queue as usize], 10);
        assert_eq!(parts.iter().sum::<u64>(), 150);
    }

    /// Each entry of the log ends where it ended, whichever part of it a wait has seen.
    #[test]
    fn formula_wait_is_charged_to_what_the_die_did_in_it_and_to_nothing_else() {
        let mut log = DieLog::new();
        let spans = [
            (0, 100, Cause::DieErase),
            (100, 130, Cause::DieProgram),
            (130, 190, Cause::DieProgram),
            (190, 200, Cause::DieMove),
        ];
        for (start, end, cause) in spans {
            log.push(Ns(start), Ns(end), cause);
        }
        for from in 0..200 {
            for to in from..200 {
                let mut parts = [0; CAUSES];
                log.charge_wait(Ns(from), Ns(to), &mut parts);
                let mut expected = [0; CAUSES];
                for (start, end, cause) in spans {
                    expected[cause as usize] += end.min(to).saturating_sub(start.max(from));
                }
                assert_eq!(parts, expected, "from {from} to {to}");
            }
        }
    }

    #[test]
    fn formula_long_waits_still_add_up() {
        let mut log = DieLog::new();
        for i in 0..40u64 {
            log.push(Ns(i * 10), Ns(i * 10 + 9), Cause::DieHostRead);
        }
        let mut parts = [0; CAUSES];
        log.charge_wait(Ns(3), Ns(400), &mut parts);
        assert_eq!(parts.iter().sum::<u64>(), 397);
    }

    /// However often the log has gone round, its last entry is the last that was pushed.
    #[test]
    fn model_the_last_end_is_that_of_the_last_entry() {
        let mut log = DieLog::new();
        for i in 1..3 * DieLog::LEN as u64 {
            log.push(Ns(i * 10), Ns(i * 10 + 9), Cause::DieHostRead);
            assert_eq!(log.last_end(), Ns(i * 10 + 9), "entry {i}");
        }
    }

    /// A command that has waited for a read is charged what the read was charged since it was charged last.
    #[test]
    fn formula_a_command_is_charged_the_time_of_the_read_that_it_waited_for() {
        let mut read = Account::from(Ns(100));
        read.charge(Ns(130), Cause::DieProgram);
        read.charge(Ns(200), Cause::Sense);
        // It was charged until 80, so it waited for something else until the read was queued.
        let mut early = Account::from(Ns(50));
        early.charge(Ns(80), Cause::Cleaning);
        early.add(&read);
        let of = |a: &Account, causes: [Cause; 4]| causes.map(|c| a.parts[c as usize]);
        let causes = [
            Cause::Cleaning,
            Cause::Queue,
            Cause::DieProgram,
            Cause::Sense,
        ];
        assert_eq!(of(&early, causes), [30, 20, 30, 70]);
        assert_eq!(early.mark, Ns(200));
        // It was charged until 150: of the read the first 50 ns were before.
        let mut late = Account::from(Ns(140));
        late.charge(Ns(150), Cause::Cleaning);
        late.add(&read);
        assert_eq!(of(&late, causes), [10, 0, 0, 50]);
        // It was charged for longer than the read took: there is nothing to add.
        let mut after = Account::from(Ns(190));
        after.charge(Ns(200), Cause::Cleaning);
        let before = after.parts;
        after.add(&read);
        assert_eq!((after.parts, after.mark), (before, Ns(200)));
    }
}
