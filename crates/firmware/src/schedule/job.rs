//! Jobs: what the firmware has in flight on flash. A job's index is the tag of its operations; that of
//! every second step of a pipelined read lies as far behind it as there are jobs.

use alloc::boxed::Box;
use core::ops::{Index, IndexMut};

use firstread_core::{
    Buf, CellMode, CommandId, Levels, Ns, OpClass, PageAddr, Priority, SenseMode, Tag,
};

use crate::observe::{Owner, StreamId};
use crate::policy::retry::Haste;

/// End of a list of jobs.
pub(crate) const NO_JOB: u32 = u32::MAX;

/// What a job is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Not in use.
    Free,
    /// Slots `first` to `first + slots` of a host read, which lie from `row_slot` on in the page row;
    /// `bytes` of them the host asked for.
    HostRead {
        id: CommandId,
        first: u32,
        slots: u8,
        row_slot: u8,
        bytes: u32,
    },
    /// A page row that several commands of the host wait for, each under a job of its own.
    SharedRead,
    /// The last version of slot `row_slot` of the row, which writes of the host change in part.
    Merge { merge: u32, row_slot: u8 },
    /// Slots of the row, a bit each, that are moved; of those `lost`, the data could not be read.
    /// A page that moves `alone` was asked for by itself.
    Move {
        slots: u64,
        lost: u64,
        alone: bool,
        owner: Owner,
    },
    /// A background read of the axis `read_levels`.
    Probe,
    /// A page row that is read ahead of the host.
    ReadAhead,
    /// A page of the map, which commands wait for, linked from the first to the last; `merges` if it is
    /// read to write changes back.
    MapRead {
        page: u32,
        first_waiter: u32,
        last_waiter: u32,
        merges: bool,
    },
    /// A row that is read because another one of its stripe is made anew.
    Rebuild,
    /// The program of a die's part of ring line `line` of a stream's write buffer, whose data begin
    /// at `buf`.
    Program {
        stream: StreamId,
        line: u8,
        buf: Buf,
    },
    /// The erase of a die's part of a superblock.
    Erase { mode: CellMode },
}

/// One job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) link: u32,
    pub(crate) purpose: Purpose,
    pub(crate) priority: Priority,
    pub(crate) at: PageAddr,
    /// Codewords still to be read.
    pub(crate) wanted: u64,
    /// When it was put in the queue of its die.
    pub(crate) queued: Ns,
    /// Whether the first attempt of a read has not been issued yet.
    pub(crate) is_waiting: bool,
    /// The job of the command that joined this read last, linked to those that joined before.
    pub(crate) joined: u32,
    /// Retries so far; of a program or an erase, how often it was suspended.
    pub(crate) step: u8,
    /// What the scheme of `read_levels` remembers of the read.
    pub(crate) note: u8,
    /// Whether it keeps its superblock from being erased.
    pub(crate) pinned: bool,
    /// Whether the step after this one is sensed ahead.
    pub(crate) is_ahead: bool,
    /// Whether the step is under the job's second tag.
    pub(crate) high_tag: bool,
    /// Which entry of the levels the step tries, how long it senses, and whether the read has given up
    /// haste.
    pub(crate) entry: u8,
    pub(crate) haste: Haste,
    pub(crate) slow: bool,
    /// Whether any step of it was in haste.
    pub(crate) hurried: bool,
    /// What the step senses.
    pub(crate) sense: SenseMode,
    /// Levels of the step; of step 0 chosen when the operation is issued.
    pub(crate) levels: Levels,
}

impl Job {
    /// What step `step` of its read is charged to.
    #[inline]
    pub(crate) fn class(&self, step: u8) -> OpClass {
        match self.purpose {
            Purpose::Probe => OpClass::Calibration,
            Purpose::ReadAhead if self.priority != Priority::Host => OpClass::ReadAhead,
            Purpose::MapRead { .. } => OpClass::MapRead,
            Purpose::Merge { .. } | Purpose::Move { .. } => OpClass::MoveRead,
            Purpose::Rebuild => OpClass::Recovery,
            _ if step == 0 => OpClass::HostRead,
            _ if self.sense != SenseMode::Hard => OpClass::Recovery,
            _ => OpClass::HostRetry,
        }
    }

    /// The slot of the row that it reads, of `codewords` each: it reads one.
    pub(crate) fn asked_slot(&self, codewords: u32) -> u32 {
        self.wanted.trailing_zeros() / codewords
    }
}

/// A step of a read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Retries up to it, itself included.
    pub step: u8,
    /// Which entry of the levels it tries.
    pub entry: u8,
    /// What the scheme of the levels remembers.
    pub note: u8,
    pub levels: Levels,
    pub haste: Haste,
    /// The read makes haste no more.
    pub slow: bool,
    pub sense: SenseMode,
}

impl Step {
    /// Step `step` with entry `entry`, at the default time.
    pub(crate) const fn of(step: u8, entry: u8, note: u8) -> Step {
        Step {
            step,
            entry,
            note,
            levels: Levels::DEFAULT,
            haste: Haste::NONE,
            slow: false,
            sense: SenseMode::Hard,
        }
    }
}

impl Job {
    /// The read goes on with `next`.
    pub(crate) fn begin(&mut self, next: Step) {
        self.step = next.step;
        self.entry = next.entry;
        self.note = next.note;
        self.levels = next.levels;
        self.haste = next.haste;
        self.slow = next.slow;
        self.sense = next.sense;
        self.hurried |= next.haste != Haste::NONE;
    }
}

/// The step of a read that came nearest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    pub(crate) failed: u8,
    pub(crate) unsatisfied: u16,
    pub(crate) levels: Levels,
    /// Hard steps since, none of which came nearer.
    pub(crate) since: u8,
    /// Whether soft senses around its levels have failed.
    pub(crate) tried: bool,
}

impl Nearest {
    /// No step yet.
    pub(crate) const NONE: Nearest = Nearest {
        failed: u8::MAX,
        unsatisfied: u16::MAX,
        levels: Levels::DEFAULT,
        since: 0,
        tried: false,
    };
}

/// What few reads need, apart from what all do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Further {
    /// The step that is sensed ahead, if one is.
    pub(crate) ahead: Step,
    /// The nearest levels so far, of a read that has failed and may be sensed softly.
    pub(crate) nearest: Nearest,
}

/// The pool of jobs, fixed in size.
#[derive(Clone, Debug)]
pub(crate) struct Jobs {
    pool: Box<[Job]>,
    further: Box<[Further]>,
    free: u32,
    /// Jobs that reads of the host may still take. The others are reserved: programs, erases, moves
    /// and probes never wait for a read to end.
    reads_left: u32,
}

impl Jobs {
    pub(crate) fn new(reads: u32, reserve: u32) -> Jobs {
        let count = reads + reserve;
        let job = |i: u32| Job {
            link: if i + 1 == count { NO_JOB } else { i + 1 },
            purpose: Purpose::Free,
            priority: Priority::Host,
            at: PageAddr::default(),
            wanted: 0,
            queued: Ns::ZERO,
            is_waiting: false,
            joined: NO_JOB,
            step: 0,
            note: 0,
            pinned: false,
            is_ahead: false,
            high_tag: false,
            entry: 0,
            haste: Haste::NONE,
            slow: false,
            hurried: false,
            sense: SenseMode::Hard,
            levels: Levels::DEFAULT,
        };
        let further = Further {
            ahead: Step::of(0, 0, 0),
            nearest: Nearest::NONE,
        };
        Jobs {
            pool: (0..count).map(job).collect(),
            further: alloc::vec![further; count as usize].into_boxed_slice(),
            free: 0,
            reads_left: reads,
        }
    }

    /// What few reads need of `job`.
    pub(crate) fn further(&mut self, job: u32) -> &mut Further {
        &mut self.further[job as usize]
    }

    /// Jobs in the pool.
    pub(crate) fn len(&self) -> u32 {
        self.pool.len() as u32
    }

    /// The job of the operation under `tag`.
    #[inline]
    pub(crate) fn of(&self, tag: Tag) -> u32 {
        tag.0.checked_sub(self.len()).unwrap_or(tag.0)
    }

    /// Takes a job for a host read, or none when all are in use.
    pub(crate) fn take_read(&mut self) -> Option<u32> {
        self.reads_left = self.reads_left.checked_sub(1)?;
        self.take()
    }

    /// Gives back a job for a host read that is not needed after all.
    pub(crate) fn give_back(&mut self, job: u32) {
        self.reads_left += 1;
        self.pool[job as usize].link = self.free;
        self.free = job;
    }

    /// Takes a job for background work or a program.
    pub(crate) fn take(&mut self) -> Option<u32> {
        let job = self.free;
        if job == NO_JOB {
            return None;
        }
        self.free = self.pool[job as usize].link;
        Some(job)
    }

    /// Every job, in use or not.
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
