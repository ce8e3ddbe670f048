//! Latency breakdown of requests: every nanosecond is charged to one cause.
//!
//! A request of several multi-plane pages is charged with the times of its last page. The causes add up to
//! the latency exactly. A wait for a die is charged to what the die did meanwhile, which its log of recent operations
//! tells.

use std::ops::{Index, IndexMut};

use firstread_core::{Ns, OpClass};

/// A cause of latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Cause {
    /// Fetching the command, and waiting for a job in the firmware.
    Queue,
    /// Waiting for a map page.
    Map,
    /// Write: waiting until garbage collection has made some of the moves that are due.
    Cleaning,
    /// Write: waiting for a free superblock, or until the reserve is refilled after a failed program.
    Reserve,
    /// The die was busy with other host reads.
    DieHostRead,
    /// The die was busy with retries, soft senses or rebuilds, of this or other reads.
    DieRetry,
    /// The die was busy with background reads of calibration.
    DieCalibration,
    /// The die was busy with reads of data being moved.
    DieMove,
    /// The die was busy with read-ahead.
    DieReadAhead,
    /// The die was busy with map pages.
    DieMap,
    /// The die was busy programming host data.
    DieProgram,
    /// The die was busy programming moved data.
    DieMoveProgram,
    /// The die was receiving data to be programmed, or waiting for its channel to do so.
    DieDataIn,
    /// The die was busy erasing.
    DieErase,
    /// Sensing of the first attempt.
    Sense,
    /// Waiting for the channel, and transferring, of the first attempt.
    Transfer,
    /// Waiting for the decoder, and decoding, of the first attempt.
    Decode,
    /// Sensing, transferring and decoding of retries.
    Retry,
    /// After the last retry: soft senses, and reads of the rest of the stripe.
    ReadRecovery,
    /// Suspending the program or erase of the die.
    Suspend,
    /// Flush, write with FUA, or write-through: waiting until data are programmed.
    Flush,
    /// Host link and completion.
    Link,
}

/// Variants of [`Cause`].
pub const CAUSES: usize = 22;

impl Cause {
    /// All causes, in the order in which a request meets them.
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
        Cause::ReadRecovery,
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
            Cause::ReadRecovery => "read_recovery",
            Cause::Suspend => "suspend",
            Cause::Flush => "flush",
            Cause::Link => "link",
        }
    }

    /// The cause that corresponds to this one for an operation of `class`, which may be a retry.
    #[inline]
    pub(crate) const fn in_step(self, class: OpClass) -> Cause {
        match class {
            OpClass::HostRetry => Cause::Retry,
            OpClass::ReadRecovery => Cause::ReadRecovery,
            _ => self,
        }
    }

    /// The cause of a wait behind an operation of `class`.
    pub(crate) const fn busy_with(class: OpClass) -> Cause {
        match class {
            OpClass::HostRead => Cause::DieHostRead,
            OpClass::HostRetry | OpClass::ReadRecovery => Cause::DieRetry,
            OpClass::Calibration => Cause::DieCalibration,
            OpClass::MoveRead | OpClass::MergeRead => Cause::DieMove,
            OpClass::ReadAhead => Cause::DieReadAhead,
            OpClass::MapRead | OpClass::MapProgram => Cause::DieMap,
            OpClass::Program => Cause::DieProgram,
            OpClass::MoveProgram => Cause::DieMoveProgram,
            OpClass::Erase => Cause::DieErase,
        }
    }
}

/// Nanoseconds charged to each cause, in the order of [`Cause::ALL`].
pub type NsByCause = [u64; CAUSES];

/// Latency breakdown of a read in flight, later of the command that it was for; or of a write that waits.
/// Three cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Breakdown {
    pub ns_by_cause: NsByCause,
    /// When the first attempt was queued.
    pub first_queued: Ns,
    /// Time up to which everything has been charged.
    pub mark: Ns,
}

impl Breakdown {
    /// A breakdown that starts at `from`.
    pub(crate) const fn from(from: Ns) -> Breakdown {
        Breakdown {
            ns_by_cause: [0; CAUSES],
            first_queued: from,
            mark: from,
        }
    }

    /// Restarts this breakdown at `from`.
    #[inline]
    pub(crate) fn restart(&mut self, from: Ns) {
        self.ns_by_cause.fill(0);
        self.first_queued = from;
        self.mark = from;
    }

    /// Adds the time of `read`, for which the command has waited since its own last charge.
    pub(crate) fn add(&mut self, read: &Breakdown) {
        if read.mark <= self.mark {
            return;
        }
        let mut read = *read;
        // The read began earlier, for this command or for another.
        read.cut(self.mark.since(read.first_queued).0);
        self.charge(read.first_queued, Cause::Queue);
        for (part, more) in self.ns_by_cause.iter_mut().zip(&read.ns_by_cause) {
            *part += more;
        }
        self.mark = read.mark;
    }

    /// Charges the time from the last mark to `until`, if `until` is later, to `cause`.
    #[inline]
    pub(crate) fn charge(&mut self, until: Ns, cause: Cause) {
        self.ns_by_cause[cause as usize] += until.since(self.mark).0;
        self.mark = self.mark.max(until);
    }

    /// Removes the first `ns` that were charged.
    fn cut(&mut self, mut ns: u64) {
        for part in &mut self.ns_by_cause {
            let cut = ns.min(*part);
            *part -= cut;
            ns -= cut;
        }
    }

    /// This breakdown is a copy of `read`'s, made when a command joined. Turns it into what `read` was
    /// charged since then. Time that was not yet charged when the command joined is cut off at the beginning.
    /// Causes are stored in the order of a read's life, so a wait for a die with several causes may lose the
    /// wrong one of them; the sum is exact.
    pub(crate) fn became(&mut self, read: &Breakdown) {
        for (own, all) in self.ns_by_cause.iter_mut().zip(read.ns_by_cause) {
            *own = all - *own;
        }
        // A command's wait for the channel is charged when the wait begins.
        self.ns_by_cause[Cause::Transfer as usize] += self.mark.since(self.first_queued).0;
        self.cut(self.first_queued.since(self.mark).0);
        self.mark = read.mark;
        debug_assert_eq!(
            self.ns_by_cause.iter().sum::<u64>(),
            self.mark.since(self.first_queued).0,
            "a command that has joined a read is charged its own time"
        );
    }
}

/// Index of a breakdown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BreakdownId(u32);

impl BreakdownId {
    /// Takes the time of reads that no command waits for.
    pub(crate) const NOBODYS: BreakdownId = BreakdownId(0);
}

/// Breakdowns of operations and of commands, handed from one to the other. The most recently closed one is
/// reused first, so that few are ever touched.
#[derive(Clone, Debug)]
pub(crate) struct Breakdowns {
    all: Vec<Breakdown>,
    closed: Vec<BreakdownId>,
}

impl Breakdowns {
    /// `count` closed ones, besides [`BreakdownId::NOBODYS`].
    pub(crate) fn new(count: u32) -> Breakdowns {
        Breakdowns {
            all: vec![Breakdown::from(Ns::ZERO); count as usize + 1],
            closed: (1..=count).rev().map(BreakdownId).collect(),
        }
    }

    pub(crate) fn close_all(&mut self) {
        *self = Breakdowns::new(self.all.len() as u32 - 1);
    }

    /// Opens a breakdown that starts at `from`.
    #[inline]
    pub(crate) fn open(&mut self, from: Ns) -> BreakdownId {
        let id = self.closed.pop();
        let id = id.expect("there is one for each operation and each command");
        self[id].restart(from);
        id
    }

    #[inline]
    pub(crate) fn close(&mut self, id: BreakdownId) {
        debug_assert!(self.closed.len() + 1 < self.all.len(), "closed twice");
        self.closed.push(id);
    }
}

impl Index<BreakdownId> for Breakdowns {
    type Output = Breakdown;
    #[inline]
    fn index(&self, id: BreakdownId) -> &Breakdown {
        &self.all[id.0 as usize]
    }
}

impl IndexMut<BreakdownId> for Breakdowns {
    #[inline]
    fn index_mut(&mut self, id: BreakdownId) -> &mut Breakdown {
        &mut self.all[id.0 as usize]
    }
}

/// An operation of a die and when it ended, in 16 bytes, because every wait looks at some of them.
#[derive(Clone, Copy, Debug)]
struct Span {
    end: Ns,
    /// Duration (ns), above a byte for the cause.
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
    /// Index of the cause.
    fn cause(self) -> usize {
        (self.ns_and_cause & 0xff) as usize
    }
}

/// The latest operations of a die, most recent first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DieLog {
    spans: [Span; DieLog::LEN],
    next: usize,
}

impl DieLog {
    /// Number of operations remembered. Any part of a wait before them is charged to the oldest.
    const LEN: usize = 16;

    pub(crate) const fn new() -> DieLog {
        DieLog {
            spans: [Span::new(Ns::ZERO, Ns::ZERO, Cause::DieHostRead); DieLog::LEN],
            next: 0,
        }
    }

    /// End of the last operation.
    pub(crate) fn last_end(&self) -> Ns {
        self.spans[(self.next + DieLog::LEN - 1) % DieLog::LEN].end
    }

    /// The die was busy from `start` to `end`: waits for it are charged to `cause`.
    #[inline]
    pub(crate) fn push(&mut self, start: Ns, end: Ns, cause: Cause) {
        // The same cause continues: a single entry covers all of it, so that the log reaches further back.
        let last = &mut self.spans[(self.next + DieLog::LEN - 1) % DieLog::LEN];
        if last.end == start && last.cause() == cause as usize {
            *last = Span::new(last.start(), end, cause);
            return;
        }
        self.spans[self.next] = Span::new(start, end, cause);
        self.next = (self.next + 1) % DieLog::LEN;
    }

    /// Charges the wait from `from` to `to` to the operations of the die in that time.
    #[inline]
    pub(crate) fn charge_wait(&self, from: Ns, to: Ns, ns_by_cause: &mut NsByCause) {
        self.each_part(from, to, |start, end, cause| {
            ns_by_cause[cause] += end.since(start).0;
        });
    }

    /// Calls `part` with the start, the end and the index of the cause of each part of the wait from `from` to `to`, the
    /// last one first.
    #[inline]
    pub(super) fn each_part(&self, from: Ns, to: Ns, mut part: impl FnMut(Ns, Ns, usize)) {
        let mut until = to;
        for back in 0..DieLog::LEN {
            if until <= from {
                return;
            }
            let span = self.spans[(self.next + DieLog::LEN - 1 - back) % DieLog::LEN];
            let oldest = back + 1 == DieLog::LEN;
            let begin = if oldest { from } else { span.start().max(from) };
            // The gap after an operation is the turnaround to the next one, and is charged to the next one.
            let covered_to = span.end.max(begin).min(until);
            part(covered_to, until, Cause::Queue as usize);
            part(begin, covered_to, span.cause());
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
        let mut ns_by_cause = [0; CAUSES];
        log.charge_wait(Ns(50), Ns(200), &mut ns_by_cause);
        assert_eq!(ns_by_cause[Cause::DieProgram as usize], 50);
        assert_eq!(ns_by_cause[Cause::DieRetry as usize], 50);
        assert_eq!(ns_by_cause[Cause::DieHostRead as usize], 40);
        assert_eq!(ns_by_cause[Cause::Queue as usize], 10);
        assert_eq!(ns_by_cause.iter().sum::<u64>(), 150);
    }

    /// Each entry of the log ends at its own end, whichever part of it a wait has seen.
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
                let mut ns_by_cause = [0; CAUSES];
                log.charge_wait(Ns(from), Ns(to), &mut ns_by_cause);
                let mut expected = [0; CAUSES];
                for (start, end, cause) in spans {
                    expected[cause as usize] += end.min(to).saturating_sub(start.max(from));
                }
                assert_eq!(ns_by_cause, expected, "from {from} to {to}");
            }
        }
    }

    #[test]
    fn formula_long_waits_still_add_up() {
        let mut log = DieLog::new();
        for i in 0..40u64 {
            log.push(Ns(i * 10), Ns(i * 10 + 9), Cause::DieHostRead);
        }
        let mut ns_by_cause = [0; CAUSES];
        log.charge_wait(Ns(3), Ns(400), &mut ns_by_cause);
        assert_eq!(ns_by_cause.iter().sum::<u64>(), 397);
    }

    /// However often the log has wrapped around, its last entry is the last one pushed.
    #[test]
    fn model_the_last_end_is_that_of_the_last_entry() {
        let mut log = DieLog::new();
        for i in 1..3 * DieLog::LEN as u64 {
            log.push(Ns(i * 10), Ns(i * 10 + 9), Cause::DieHostRead);
            assert_eq!(log.last_end(), Ns(i * 10 + 9), "entry {i}");
        }
    }

    /// A command that has waited for a read is charged with the read's time since the command's own last
    /// charge.
    #[test]
    fn formula_a_command_is_charged_the_time_of_the_read_that_it_waited_for() {
        let mut read = Breakdown::from(Ns(100));
        read.charge(Ns(130), Cause::DieProgram);
        read.charge(Ns(200), Cause::Sense);
        // Charged until 80: the command waited for something else until the read was queued.
        let mut early = Breakdown::from(Ns(50));
        early.charge(Ns(80), Cause::Cleaning);
        early.add(&read);
        let of = |a: &Breakdown, causes: [Cause; 4]| causes.map(|c| a.ns_by_cause[c as usize]);
        let causes = [
            Cause::Cleaning,
            Cause::Queue,
            Cause::DieProgram,
            Cause::Sense,
        ];
        assert_eq!(of(&early, causes), [30, 20, 30, 70]);
        assert_eq!(early.mark, Ns(200));
        // Charged until 150: the first 50 ns of the read were before that.
        let mut late = Breakdown::from(Ns(140));
        late.charge(Ns(150), Cause::Cleaning);
        late.add(&read);
        assert_eq!(of(&late, causes), [10, 0, 0, 50]);
        // Charged beyond the end of the read: there is nothing to add.
        let mut after = Breakdown::from(Ns(190));
        after.charge(Ns(200), Cause::Cleaning);
        let before = after.ns_by_cause;
        after.add(&read);
        assert_eq!((after.ns_by_cause, after.mark), (before, Ns(200)));
    }
}
