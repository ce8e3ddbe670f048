//! One die: which commands it accepts, and how long they take.
//!
//! The die knows what its array is doing, which blocks are erased into which mode, how far each block is
//! programmed, and what is left of a suspended program or erase. The blocks of all planes act together,
//! because the drive programs and erases superblocks. Time is an argument of [`DieState`]'s methods.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use firstread_core::{CellMode, Ns, PageType, SenseMode, SenseTiming, SuperblockId};

use crate::medium::Medium;
use crate::sense_error::SenseError;

/// Why the die does not accept a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Illegal {
    /// The array is busy until `until`.
    Busy {
        /// When the array is free.
        until: Ns,
    },
    /// There is no such block.
    NoBlock(SuperblockId),
    /// There is no such wordline, page or mode.
    NoPlace(SenseError),
    /// The block has never been erased.
    NotErased(SuperblockId),
    /// Wordlines are programmed in order, and `next` comes next.
    OutOfOrder {
        /// The wordline that may be programmed.
        next: u16,
    },
    /// The wordline is not programmed.
    NotProgrammed {
        /// Number of programmed wordlines.
        written: u16,
    },
    /// The block is being erased, or the wordline programmed, by a suspended operation.
    BlockSuspended(SuperblockId),
    /// Only one program or erase may be suspended.
    AlreadySuspended,
    /// A resume needs an operation that was suspended before.
    NotSuspended,
    /// Nothing that could be suspended is running.
    NothingToSuspend,
    /// The operation was already suspended as often as allowed.
    TooManySuspends,
    /// The chip always reads all planes together.
    PlanesTogether,
    /// No plane is named, or one that the die does not have.
    NoPlane {
        /// Planes, one bit each.
        planes: u8,
    },
    /// The page register holds no page that could move to the cache register.
    NothingRead,
    /// The cache register is being read out until `until`.
    RegisterBusy {
        /// When the cache register is empty.
        until: Ns,
    },
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Illegal::Busy { until } => write!(f, "the array is busy until {until:?}"),
            Illegal::NoBlock(b) => write!(f, "there is no block {}", b.0),
            Illegal::NoPlace(e) => e.fmt(f),
            Illegal::NotErased(b) => write!(f, "block {} is not erased", b.0),
            Illegal::OutOfOrder { next } => write!(f, "wordline {next} is due to be programmed"),
            Illegal::NotProgrammed { written } => {
                write!(f, "only {written} wordlines of the block are programmed")
            }
            Illegal::BlockSuspended(b) => write!(f, "an operation on block {} is suspended", b.0),
            Illegal::AlreadySuspended => f.write_str("an operation is suspended already"),
            Illegal::NotSuspended => f.write_str("nothing is suspended"),
            Illegal::NothingToSuspend => f.write_str("no program or erase is running"),
            Illegal::TooManySuspends => f.write_str("suspended as often as it may be"),
            Illegal::PlanesTogether => f.write_str("planes of this chip do not read by themselves"),
            Illegal::NoPlane { planes } => write!(f, "there are no planes {planes:#b}"),
            Illegal::NothingRead => f.write_str("no page has been read that could move on"),
            Illegal::RegisterBusy { until } => {
                write!(f, "data leave the cache register until {until:?}")
            }
        }
    }
}

impl core::error::Error for Illegal {}

impl From<SenseError> for Illegal {
    fn from(e: SenseError) -> Illegal {
        Illegal::NoPlace(e)
    }
}

/// A read of one multi-plane page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadCommand {
    /// Superblock, which is also the block's number on each plane.
    pub block: SuperblockId,
    /// Wordline within the block, from 0.
    pub wordline: u16,
    /// Page of the wordline.
    pub page: PageType,
    /// Hard decision, soft senses, or a count of the cells that conduct.
    pub mode: SenseMode,
    /// Lengths of the sensing phases.
    pub timing: SenseTiming,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    /// `None` until the first erase.
    mode: Option<CellMode>,
    written: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Work {
    Read,
    Program { block: SuperblockId, wordline: u16 },
    Erase { block: SuperblockId },
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    work: Work,
    started: Ns,
    until: Ns,
    suspends: u16,
}

#[derive(Clone, Copy, Debug)]
struct Suspended {
    work: Work,
    left_ns: u64,
    suspends: u16,
}

/// State of one die.
#[derive(Clone, Debug)]
pub struct DieState {
    blocks: Vec<Block>,
    running: Option<Running>,
    suspended: Option<Suspended>,
    /// When each plane finishes its independent read.
    planes_read: [Ns; u8::BITS as usize],
    /// Whether the page register holds the page read last.
    page_read: bool,
    /// When the cache register is empty.
    cache_out: Ns,
}

impl DieState {
    /// A die with `blocks` blocks, none of them erased.
    pub fn new(blocks: u32) -> DieState {
        let fresh = Block {
            mode: None,
            written: 0,
        };
        DieState {
            blocks: vec![fresh; blocks as usize],
            running: None,
            suspended: None,
            planes_read: [Ns::ZERO; u8::BITS as usize],
            page_read: false,
            cache_out: Ns::ZERO,
        }
    }

    /// Sets a block to `written` programmed wordlines in `mode`, for a drive that is filled by arithmetic.
    pub fn preset(
        &mut self,
        block: SuperblockId,
        mode: CellMode,
        written: u16,
    ) -> Result<(), Illegal> {
        *self.block_mut(block)? = Block {
            mode: Some(mode),
            written,
        };
        Ok(())
    }

    /// When the array is free on every plane.
    pub fn free_at(&self) -> Ns {
        let running = self.running.map_or(Ns::ZERO, |r| r.until);
        self.planes_read.into_iter().fold(running, Ns::max)
    }

    /// Whether a program or erase is suspended.
    pub const fn is_suspended(&self) -> bool {
        self.suspended.is_some()
    }

    /// Number of programmed wordlines of `block`, and the mode it was erased into.
    pub fn written(&self, block: SuperblockId) -> Option<(CellMode, u16)> {
        let b = self.blocks.get(block.0 as usize)?;
        b.mode.map(|m| (m, b.written))
    }

    fn block(&self, id: SuperblockId) -> Result<Block, Illegal> {
        let b = self.blocks.get(id.0 as usize);
        b.copied().ok_or(Illegal::NoBlock(id))
    }

    fn block_mut(&mut self, id: SuperblockId) -> Result<&mut Block, Illegal> {
        self.blocks
            .get_mut(id.0 as usize)
            .ok_or(Illegal::NoBlock(id))
    }

    fn idle(&self, now: Ns) -> Result<(), Illegal> {
        let until = self.free_at();
        if now < until {
            return Err(Illegal::Busy { until });
        }
        Ok(())
    }

    /// Whether the wordline may be read although an operation is suspended. A block with a suspended erase
    /// cannot be read. With a suspended program, the wordlines below it can.
    fn not_suspended(&self, block: SuperblockId, wordline: u16) -> Result<(), Illegal> {
        match self.suspended.map(|s| s.work) {
            Some(Work::Erase { block: b }) if b == block => Err(Illegal::BlockSuspended(block)),
            Some(Work::Program {
                block: b,
                wordline: w,
            }) if b == block && w == wordline => Err(Illegal::BlockSuspended(block)),
            _ => Ok(()),
        }
    }

    fn start(&mut self, now: Ns, work: Work, ns: u64, suspends: u16) -> Ns {
        self.page_read = work == Work::Read;
        let until = now.saturating_add(Ns(ns));
        self.running = Some(Running {
            work,
            started: now,
            until,
            suspends,
        });
        until
    }

    /// Starts a read; returns when the array is free again.
    pub fn read(&mut self, now: Ns, c: &ReadCommand, medium: &Medium) -> Result<Ns, Illegal> {
        self.idle(now)?;
        let ns = self.sense_ns(c, medium)?;
        Ok(self.start(now, Work::Read, ns, 0))
    }

    /// Starts a read on `planes`, one bit each, while other planes may be reading. Returns when these planes
    /// are done. All other commands wait for all planes.
    pub fn read_planes(
        &mut self,
        now: Ns,
        c: &ReadCommand,
        planes: u8,
        medium: &Medium,
    ) -> Result<Ns, Illegal> {
        if !medium.chip().timing.independent_plane_reads {
            return Err(Illegal::PlanesTogether);
        }
        let count = u32::from(medium.geometry().planes);
        if planes == 0 || u32::from(planes) >> count != 0 {
            return Err(Illegal::NoPlane { planes });
        }
        let named = |plane: &usize| planes >> plane & 1 != 0;
        let all = 0..count as usize;
        let running = self.running.map_or(Ns::ZERO, |r| r.until);
        let read = all.clone().filter(named).map(|p| self.planes_read[p]);
        let until = read.fold(running, Ns::max);
        if now < until {
            return Err(Illegal::Busy { until });
        }
        let until = now.saturating_add(Ns(self.sense_ns(c, medium)?));
        all.filter(named).for_each(|p| self.planes_read[p] = until);
        self.page_read = false;
        Ok(until)
    }

    /// Sense time of `c`, if the command is legal.
    fn sense_ns(&self, c: &ReadCommand, medium: &Medium) -> Result<u64, Illegal> {
        self.not_suspended(c.block, c.wordline)?;
        let b = self.block(c.block)?;
        let mode = b.mode.ok_or(Illegal::NotErased(c.block))?;
        if c.wordline >= medium.geometry().wordlines_per_block {
            return Err(SenseError::Wordline(c.wordline).into());
        }
        if c.wordline >= b.written {
            return Err(Illegal::NotProgrammed { written: b.written });
        }
        Ok(medium.read_ns(mode, c.page, c.mode, c.timing)?)
    }

    /// Starts a cache read (READ CACHE RANDOM): the page read last moves to the cache register, and `c`, of
    /// the same or another block, is sensed. Returns when the former can be read out
    /// ([`DieState::data_out`]), and when the array is free again.
    pub fn cache_read(
        &mut self,
        now: Ns,
        c: &ReadCommand,
        medium: &Medium,
    ) -> Result<(Ns, Ns), Illegal> {
        let moved = self.moves(now, medium)?;
        let ns = self.sense_ns(c, medium)?;
        Ok((moved, self.start(moved, Work::Read, ns, 0)))
    }

    /// Ends a sequence of cache reads (READ CACHE END): the page read last moves to the cache register.
    /// Returns when it can be read out and the array is free.
    pub fn cache_end(&mut self, now: Ns, medium: &Medium) -> Result<Ns, Illegal> {
        let moved = self.moves(now, medium)?;
        Ok(self.start(now, Work::Other, moved.since(now).0, 0))
    }

    /// The cache register is read out until `until`. No other page can move to it before.
    pub fn data_out(&mut self, until: Ns) {
        self.cache_out = until;
    }

    /// When the page read last will be in the cache register, if it may move there.
    fn moves(&self, now: Ns, medium: &Medium) -> Result<Ns, Illegal> {
        self.idle(now)?;
        if !self.page_read {
            return Err(Illegal::NothingRead);
        }
        if now < self.cache_out {
            let until = self.cache_out;
            return Err(Illegal::RegisterBusy { until });
        }
        Ok(now.saturating_add(Ns(medium.chip().timing.cache_busy_ns)))
    }

    /// Starts to program all pages of a wordline. Returns when the program ends.
    pub fn program(
        &mut self,
        now: Ns,
        block: SuperblockId,
        wordline: u16,
        medium: &Medium,
    ) -> Result<Ns, Illegal> {
        self.idle(now)?;
        if self.suspended.is_some() {
            return Err(Illegal::AlreadySuspended);
        }
        let b = self.block(block)?;
        let mode = b.mode.ok_or(Illegal::NotErased(block))?;
        if wordline >= medium.geometry().wordlines_per_block {
            return Err(SenseError::Wordline(wordline).into());
        }
        if wordline != b.written {
            return Err(Illegal::OutOfOrder { next: b.written });
        }
        let ns = medium.program_ns(mode)?;
        // From the start of the program on: until its end the array is busy, and while it is suspended
        // `not_suspended` refuses this wordline alone.
        self.block_mut(block)?.written += 1;
        Ok(self.start(now, Work::Program { block, wordline }, ns, 0))
    }

    /// Starts to erase a block into `mode`. Returns when the erase ends. The first erase of a block has no
    /// preconditions.
    pub fn erase(
        &mut self,
        now: Ns,
        block: SuperblockId,
        mode: CellMode,
        medium: &Medium,
    ) -> Result<Ns, Illegal> {
        self.idle(now)?;
        if self.suspended.is_some() {
            return Err(Illegal::AlreadySuspended);
        }
        let ns = medium.erase_ns(mode)?;
        *self.block_mut(block)? = Block {
            mode: Some(mode),
            written: 0,
        };
        Ok(self.start(now, Work::Erase { block }, ns, 0))
    }

    /// Suspends the running program or erase. Returns when the array is free, and the time the operation then
    /// still needs. The die finishes its current pulse first. An operation that has just resumed runs for its
    /// minimum progress before it stops.
    pub fn suspend(&mut self, now: Ns, medium: &Medium) -> Result<(Ns, Ns), Illegal> {
        let t = &medium.chip().timing;
        let r = match self.running {
            Some(r) if now < r.until && !matches!(r.work, Work::Read | Work::Other) => r,
            _ => return Err(Illegal::NothingToSuspend),
        };
        if self.suspended.is_some() {
            return Err(Illegal::AlreadySuspended);
        }
        if r.suspends >= t.max_suspends {
            return Err(Illegal::TooManySuspends);
        }
        let latency = match r.work {
            Work::Erase { .. } => t.erase_suspend_ns,
            _ => t.program_suspend_ns,
        };
        let mut stops = now.saturating_add(Ns(latency));
        if r.suspends > 0 {
            stops = stops.max(r.started.saturating_add(Ns(t.min_progress_ns)));
        }
        if stops >= r.until {
            // The operation ends before it can stop.
            return Ok((r.until, Ns::ZERO));
        }
        // Time until the stop counts as progress, because pulses continue until then.
        let left = r.until.since(stops);
        self.suspended = Some(Suspended {
            work: r.work,
            left_ns: left.0,
            suspends: r.suspends + 1,
        });
        self.running = Some(Running {
            work: Work::Other,
            until: stops,
            ..r
        });
        Ok((stops, left))
    }

    /// Resumes the suspended operation. Returns when it ends.
    pub fn resume(&mut self, now: Ns, medium: &Medium) -> Result<Ns, Illegal> {
        self.idle(now)?;
        let s = self.suspended.take().ok_or(Illegal::NotSuspended)?;
        let ns = s.left_ns + medium.chip().timing.resume_ns;
        Ok(self.start(now, s.work, ns, s.suspends))
    }

    /// Ends a read that is no longer wanted. Returns when the array is free. If no read is running, nothing
    /// changes.
    pub fn reset_read(&mut self, now: Ns, medium: &Medium) -> Ns {
        match self.running {
            Some(r) if r.work == Work::Read && now < r.until => {
                let until = now
                    .saturating_add(Ns(medium.chip().timing.reset_ns))
                    .min(r.until);
                self.running = Some(Running { until, ..r });
                self.page_read = false;
                until
            }
            _ => self.free_at(),
        }
    }

    /// Sets a feature, such as read levels or sensing times. Returns when the array is free. The page
    /// register keeps its contents.
    pub fn set_feature(&mut self, now: Ns, medium: &Medium) -> Result<Ns, Illegal> {
        self.idle(now)?;
        let (ns, page_read) = (medium.chip().timing.set_feature_ns, self.page_read);
        let free = self.start(now, Work::Other, ns, 0);
        self.page_read = page_read;
        Ok(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn golden_each_refusal_says_why() {
        let (block, until) = (SuperblockId(7), Ns(90));
        for (refusal, text) in [
            (Illegal::Busy { until }, "the array is busy until 90ns"),
            (Illegal::NoBlock(block), "there is no block 7"),
            (
                Illegal::from(SenseError::Wordline(3)),
                "the block has no wordline 3",
            ),
            (Illegal::NotErased(block), "block 7 is not erased"),
            (
                Illegal::OutOfOrder { next: 4 },
                "wordline 4 is due to be programmed",
            ),
            (
                Illegal::NotProgrammed { written: 2 },
                "only 2 wordlines of the block are programmed",
            ),
            (
                Illegal::BlockSuspended(block),
                "an operation on block 7 is suspended",
            ),
            (
                Illegal::AlreadySuspended,
                "an operation is suspended already",
            ),
            (Illegal::NotSuspended, "nothing is suspended"),
            (Illegal::NothingToSuspend, "no program or erase is running"),
            (Illegal::TooManySuspends, "suspended as often as it may be"),
            (
                Illegal::PlanesTogether,
                "planes of this chip do not read by themselves",
            ),
            (Illegal::NoPlane { planes: 5 }, "there are no planes 0b101"),
            (
                Illegal::NothingRead,
                "no page has been read that could move on",
            ),
            (
                Illegal::RegisterBusy { until },
                "data leave the cache register until 90ns",
            ),
        ] {
            assert_eq!(refusal.to_string(), text);
        }
    }

    #[test]
    fn sequence_a_preset_block_is_written_and_others_are_not() {
        let mut die = DieState::new(3);
        assert_eq!(die.preset(SuperblockId(1), CellMode::Tlc, 9), Ok(()));
        let beyond = SuperblockId(3);
        assert_eq!(
            die.preset(beyond, CellMode::Tlc, 9),
            Err(Illegal::NoBlock(beyond))
        );
        let written = [0, 1, 2, 3].map(|b| die.written(SuperblockId(b)));
        assert_eq!(written, [None, Some((CellMode::Tlc, 9)), None, None]);
        assert_eq!((die.free_at(), die.is_suspended()), (Ns::ZERO, false));
    }
}
