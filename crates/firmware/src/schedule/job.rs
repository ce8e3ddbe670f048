//! Jobs: the operations that the firmware has in flight. A job's index is the tag of its operations. Every
//! second step of a pipelined read has the job's second tag: its index plus the number of jobs.
//!
//! A job is one record that all machines read. A part that only one machine could see would be a type of that machine's
//! folder, and the schedule would then name a folder above it. What few reads need lies apart ([`RetryState`]), so
//! that a job takes a line and a half of a cache.

use alloc::boxed::Box;
use core::ops::{Index, IndexMut};

use firstread_core::{
    Buf, CellMode, CommandId, Levels, Ns, OpClass, PageAddr, Priority, SenseMode, SenseTiming, Tag,
};

use crate::observe::{Owner, StreamId};
use crate::policy::retry::ShortSense;

/// End of a list of jobs.
pub(crate) const NO_JOB: u32 = u32::MAX;

/// What a job is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    Free,
    /// A host read of slots `first` to `first + slots` of command `id`. They lie from index `mp_page_slot` of the
    /// multi-plane page on. The host asked for `bytes` of them.
    HostRead {
        id: CommandId,
        first: u32,
        slots: u8,
        mp_page_slot: u8,
        bytes: u32,
    },
    /// A read of a multi-plane page that several host commands wait for, each of them with a job of its own.
    SharedRead,
    /// A read of the last version of the slot with index `mp_page_slot`, which host writes change in part.
    Merge {
        merge: u32,
        mp_page_slot: u8,
    },
    /// A read of slots to be moved, one bit each. The data of the slots in `lost` could not be read. A page
    /// moves `alone` if its move was requested separately.
    Move {
        slots: u64,
        lost: u64,
        alone: bool,
        owner: Owner,
    },
    /// A background read of the axis `read_levels`.
    Probe,
    /// Read-ahead of a multi-plane page.
    ReadAhead,
    /// A read of a map page. The commands that wait for it are linked from the first to the last. `merges`
    /// means that it is read to write changes back.
    MapRead {
        page: u32,
        first_waiter: u32,
        last_waiter: u32,
        merges: bool,
    },
    /// A read of a multi-plane page in order to rebuild another one of its stripe.
    Rebuild,
    /// The program of a die's part of a wordline: superwordline `superwordline` of the write buffer of `stream`. The data
    /// begin at `buf`.
    Program {
        stream: StreamId,
        class: OpClass,
        superwordline: u8,
        buf: Buf,
    },
    /// The erase of a die's part of a superblock.
    Erase {
        mode: CellMode,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) link: u32,
    pub(crate) purpose: Purpose,
    pub(crate) priority: Priority,
    pub(crate) at: PageAddr,
    /// Codewords still to be read.
    pub(crate) wanted: u64,
    /// Codewords that the read is for: those still to be read, and those that its buffer has.
    pub(crate) asked: u64,
    /// When it entered the queue of its die.
    pub(crate) queued: Ns,
    /// Of a read: when it entered that queue first, or when the host first waited for it.
    pub(crate) began: Ns,
    /// Of a read: when the sense of its step was issued. None if that was ahead of the outcome of the step before.
    pub(crate) issued: Option<Ns>,
    /// Whether the first attempt of the read has not been issued yet.
    pub(crate) is_waiting: bool,
    /// The job of the command that joined this read last, linked to those that joined before.
    pub(crate) joined: u32,
    /// Of a read: retries so far. Of a program or erase: how often it was suspended.
    pub(crate) step: u8,
    /// What the scheme of `read_levels` noted for the next attempt of the read.
    pub(crate) note: u8,
    /// Whether the job pins its superblock, which must not be erased meanwhile.
    pub(crate) pinned: bool,
    /// Whether the next step has been issued as a speculative sense.
    pub(crate) is_speculative: bool,
    /// Whether the current step is under the job's second tag.
    pub(crate) high_tag: bool,
    /// Entry of the retry table that the step tries, its sense time, and whether the read has given up short
    /// senses.
    pub(crate) entry: u8,
    pub(crate) short_sense: ShortSense,
    pub(crate) slow: bool,
    /// Whether any step of the read had a short sense.
    pub(crate) used_short_sense: bool,
    /// Sense mode of the step.
    pub(crate) sense: SenseMode,
    /// Read levels of the step. Those of step 0 are chosen when the operation is issued.
    pub(crate) levels: Levels,
}

impl Job {
    /// Class under which the time of step `step` of the read is charged.
    #[inline]
    pub(crate) fn class(&self, step: u8) -> OpClass {
        match self.purpose {
            Purpose::Probe => OpClass::Calibration,
            Purpose::ReadAhead if self.priority != Priority::Host => OpClass::ReadAhead,
            Purpose::MapRead { .. } => OpClass::MapRead,
            // A retry goes on with the read, for whichever command waits for it.
            Purpose::Merge { .. } if step == 0 => OpClass::MergeRead,
            Purpose::Move { .. } => OpClass::MoveRead,
            Purpose::Rebuild => OpClass::ReadRecovery,
            _ if step == 0 => OpClass::HostRead,
            _ if self.sense != SenseMode::Hard => OpClass::ReadRecovery,
            _ => OpClass::HostRetry,
        }
    }

    /// The index of the one slot that the job reads; a slot has `codewords` codewords.
    pub(crate) fn asked_slot(&self, codewords: u32) -> u32 {
        self.wanted.trailing_zeros() / codewords
    }
}

/// A step of a read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Retries up to and including this step.
    pub step: u8,
    /// Entry of the retry table.
    pub entry: u8,
    /// What the scheme of `read_levels` noted for the next attempt.
    pub note: u8,
    pub levels: Levels,
    pub short_sense: ShortSense,
    /// Whether the read has given up short senses.
    pub slow: bool,
    pub sense: SenseMode,
}

impl Step {
    /// Step `step` with entry `entry`, at the default sense time.
    pub(crate) const fn of(step: u8, entry: u8, note: u8) -> Step {
        Step {
            step,
            entry,
            note,
            levels: Levels::DEFAULT,
            short_sense: ShortSense::NONE,
            slow: false,
            sense: SenseMode::Hard,
        }
    }
}

impl Job {
    /// The read continues with step `next`.
    pub(crate) fn begin(&mut self, next: Step) {
        self.step = next.step;
        self.entry = next.entry;
        self.note = next.note;
        self.levels = next.levels;
        self.short_sense = next.short_sense;
        self.slow = next.slow;
        self.sense = next.sense;
        self.used_short_sense |= next.short_sense.timing != SenseTiming::DEFAULT;
    }
}

/// The failed step of a read whose levels came closest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    pub(crate) failed: u8,
    pub(crate) unsatisfied: u16,
    pub(crate) levels: Levels,
    /// Hard steps since then, none of which came closer.
    pub(crate) since: u8,
    /// Whether soft senses around its levels have failed.
    pub(crate) tried: bool,
}

impl Nearest {
    pub(crate) const NONE: Nearest = Nearest {
        failed: u8::MAX,
        unsatisfied: u16::MAX,
        levels: Levels::DEFAULT,
        since: 0,
        tried: false,
    };
}

/// State that only reads with retries need, kept apart from the job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetryState {
    /// The step that is sensed speculatively, if there is one.
    pub(crate) ahead: Step,
    /// The failed step whose levels came closest; soft senses are centred on them.
    pub(crate) nearest: Nearest,
}

/// The pool of jobs; its size is fixed.
#[derive(Clone, Debug)]
pub(crate) struct Jobs {
    pool: Box<[Job]>,
    retry_state: Box<[RetryState]>,
    free: u32,
    /// Jobs that host reads may still take. The rest is reserved, so that programs, erases, moves and
    /// background reads never wait for a host read to end.
    reads_left: u32,
    /// Slots of a multi-plane page: the slot buffers of a job.
    slots_per_mp_page: u32,
}

impl Jobs {
    /// For `reads` host reads and `reserve` other operations, with `slots_per_mp_page` slot buffers each.
    pub(crate) fn new(reads: u32, reserve: u32, slots_per_mp_page: u32) -> Jobs {
        let count = reads + reserve;
        let job = |i: u32| Job {
            link: if i + 1 == count { NO_JOB } else { i + 1 },
            purpose: Purpose::Free,
            priority: Priority::Host,
            at: PageAddr::default(),
            wanted: 0,
            asked: 0,
            queued: Ns::ZERO,
            began: Ns::ZERO,
            issued: None,
            is_waiting: false,
            joined: NO_JOB,
            step: 0,
            note: 0,
            pinned: false,
            is_speculative: false,
            high_tag: false,
            entry: 0,
            short_sense: ShortSense::NONE,
            slow: false,
            used_short_sense: false,
            sense: SenseMode::Hard,
            levels: Levels::DEFAULT,
        };
        let retry_state = RetryState {
            ahead: Step::of(0, 0, 0),
            nearest: Nearest::NONE,
        };
        Jobs {
            pool: (0..count).map(job).collect(),
            retry_state: alloc::vec![retry_state; count as usize].into_boxed_slice(),
            free: 0,
            reads_left: reads,
            slots_per_mp_page,
        }
    }

    /// The retry state of `job`.
    pub(crate) fn retry_state(&mut self, job: u32) -> &mut RetryState {
        &mut self.retry_state[job as usize]
    }

    /// Number of jobs in the pool.
    pub(crate) fn len(&self) -> u32 {
        self.pool.len() as u32
    }

    /// The job of the operation under `tag`.
    #[inline]
    pub(crate) fn of(&self, tag: Tag) -> u32 {
        tag.0.checked_sub(self.len()).unwrap_or(tag.0)
    }

    /// First slot buffer of `job`.
    #[inline]
    pub(crate) fn buffer(&self, job: u32) -> Buf {
        Buf(job * self.slots_per_mp_page)
    }

    /// The tag of the step of `job` whose outcome comes next, or with `after` that of the step behind it.
    pub(crate) fn step_tag(&self, job: u32, after: bool) -> Tag {
        let high = self[job].high_tag != after;
        Tag(job + high as u32 * self.len())
    }

    /// Takes a job for a host read; none if all of those are in use.
    pub(crate) fn take_read(&mut self) -> Option<u32> {
        self.reads_left = self.reads_left.checked_sub(1)?;
        self.take()
    }

    /// Returns a host-read job that is not needed after all.
    pub(crate) fn give_back(&mut self, job: u32) {
        self.reads_left += 1;
        self.pool[job as usize].link = self.free;
        self.free = job;
    }

    /// Takes a job for background work or a program.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<u32> {
        let job = self.free;
        if job == NO_JOB {
            return None;
        }
        self.free = self.pool[job as usize].link;
        Some(job)
    }

    /// All jobs, in use or free.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Job> {
        self.pool.iter()
    }

    pub(crate) fn release(&mut self, job: u32) {
        debug_assert_ne!(
            self.pool[job as usize].purpose,
            Purpose::Free,
            "job released twice"
        );
        if let Purpose::HostRead { .. } | Purpose::SharedRead | Purpose::Merge { .. } =
            self.pool[job as usize].purpose
        {
            self.reads_left += 1;
        }
        self.pool[job as usize].purpose = Purpose::Free;
        self.pool[job as usize].link = self.free;
        self.free = job;
    }
}

impl Index<u32> for Jobs {
    type Output = Job;
    fn index(&self, job: u32) -> &Job {
        &self.pool[job as usize]
    }
}

impl IndexMut<u32> for Jobs {
    fn index_mut(&mut self, job: u32) -> &mut Job {
        &mut self.pool[job as usize]
    }
}
