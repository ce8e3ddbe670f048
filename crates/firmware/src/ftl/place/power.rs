//! What a power cut leaves of placement, and how placement continues.
//!
//! The slots of the write buffers that no program has finished are dumped, with the buffers' descriptors. A
//! program that was running on a die has torn its wordline: its data are rescued. Programs that waited are
//! reissued. An erase is repeated on every die.

use firstread_core::{Arena, BlockId, Buf, CellMode, DieId, Ns, Ppa};

use super::bad::BadBlocks;
use super::buffer::WriteBuffer;
use super::ledger::Ledger;
use super::rescue::Rescue;
use super::{Place, Waiting};
use crate::base::{Base, Out};
use crate::ftl::map::Table;
use crate::observe::{STREAMS, StreamId};
use crate::schedule::Purpose;

/// What a power cut leaves of placement.
#[derive(Debug)]
pub(crate) struct Dumped {
    buffers: [WriteBuffer; STREAMS],
    rescue: Rescue,
    bad: BadBlocks,
    /// Superblocks opened so far, and whether the drive has reached its end of life.
    opened: u64,
    read_only: bool,
    /// The superblock being erased, the number of dies not yet done, and whether a die has failed.
    erasing: Option<(BlockId, u16, bool)>,
    /// The superblock being emptied, and the pace of cleaning.
    ledger: Ledger,
    waiting: Waiting,
}

impl Place {
    /// Power is cut: records the programs that waited, and rescues the data torn by running programs. Returns
    /// the number of running programs.
    pub(crate) fn cut(&mut self, base: &mut Base, ports: &mut impl Out) -> u32 {
        let waiting = &mut self.waiting;
        base.schedule.each_waiting(&mut base.jobs, |job| {
            if let Purpose::Program { .. } = job.purpose {
                waiting.push_back((job.purpose, job.at));
                // Jobs that are still programs after this loop were running on a die.
                job.purpose = Purpose::Free;
            }
        });
        let mut torn = 0;
        for job in 0..base.jobs.len() {
            let at = base.jobs[job].at;
            if let Purpose::Program { stream, line, .. } = base.jobs[job].purpose {
                self.rescue_part(stream, at.die, line, base, ports);
                torn += 1;
            }
        }
        torn
    }

    /// Counts of valid slots and pins are lost with the power. The recovery counts them again.
    pub(crate) fn forget_counts(&self, base: &mut Base) {
        for block in (0..base.blocks.len()).map(BlockId) {
            let row = base.blocks.row_mut(block);
            (row.valid_slots, row.pins) = (0, 0);
        }
    }

    /// Programs that had not begun when power was cut.
    pub(crate) fn waiting_programs(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// The state to be dumped.
    pub(crate) fn dump(self) -> Dumped {
        Dumped {
            buffers: self.buffers,
            rescue: self.rescue,
            bad: self.bad,
            opened: self.space.opened(),
            read_only: self.space.read_only,
            erasing: self.space.erasing,
            ledger: self.ledger.after_power_cut(),
            waiting: self.waiting,
        }
    }

    /// Power is back: takes over what was dumped.
    pub(crate) fn take_dumped(&mut self, dumped: Dumped, base: &Base) {
        let Dumped {
            buffers,
            rescue,
            bad,
            opened,
            read_only,
            erasing,
            ledger,
            waiting,
        } = dumped;
        let slots_of = |mode: CellMode| base.slots_of(mode);
        self.space
            .recover(opened, read_only, erasing, &base.blocks, slots_of);
        (self.buffers, self.rescue, self.bad) = (buffers, rescue, bad);
        (self.ledger, self.waiting) = (ledger, waiting);
    }

    /// Number of wordlines of `block` that were begun, if `block` is being filled.
    pub(crate) fn begun(&self, block: BlockId) -> Option<u16> {
        self.buffers.iter().find_map(|b| b.begun(block))
    }

    /// Number of wordlines in the write buffers.
    pub(crate) fn lines(&self) -> usize {
        self.buffers.iter().map(|b| b.lines()).sum()
    }

    /// Entry `i` of the dump: the slot where the data were to lie, and their buffer. The inner option is none
    /// for an entry without data; the outer option is none past the last entry.
    pub(crate) fn dumped_at(&self, i: u32) -> Option<Option<(Ppa, Buf)>> {
        let per_buffer = self.buffers[0].len();
        let in_buffers = per_buffer * STREAMS as u32;
        if i < in_buffers {
            return Some(self.buffers[(i / per_buffer) as usize].held_at(i % per_buffer));
        }
        let i = i - in_buffers;
        (i < self.rescue.len()).then(|| Some(self.rescue.at(i)))
    }

    /// Slots of host data that are in a buffer and not yet on flash.
    pub(crate) fn host_slots_buffered(&self) -> u32 {
        let buffer = &self.buffers[StreamId::Host as usize];
        let held = (0..buffer.len()).filter(|&i| buffer.held_at(i).is_some());
        held.count() as u32
    }

    /// Counts the valid slots of every superblock again.
    pub(crate) fn count_valid<M: Arena>(&self, table: &Table<M>, base: &mut Base) {
        let blocks = &mut base.blocks;
        for block in (0..blocks.len()).map(BlockId) {
            blocks.row_mut(block).valid_slots = 0;
        }
        let directory = &table.directory;
        for page in 0..directory.len() {
            if let Some(ppa) = directory.place_of(page) {
                blocks.row_mut(ppa.block()).valid_slots += 1;
            }
        }
        for (_, run) in table.map.runs() {
            if let Some(ppa) = run.ppa {
                blocks.row_mut(ppa.block()).valid_slots += run.pages;
            }
        }
    }

    /// Continues after a recovery. Returns the superblock whose erase was interrupted; it is erased again on
    /// every die.
    pub(crate) fn restart(&mut self, base: &mut Base) -> Option<BlockId> {
        self.space.is_short = true;
        let (block, left, _) = self.space.erasing.as_mut()?;
        // The interrupted erase has worn the cells too.
        base.blocks.row_mut(*block).pe_cycles += 1;
        *left = base.config.geometry.dies();
        Some(*block)
    }

    /// Queues the next program that waited for the recovery, if any. Returns its die.
    pub(crate) fn push_waiting(&mut self, now: Ns, base: &mut Base) -> Option<DieId> {
        let (purpose, at) = self.waiting.pop_front()?;
        self.space.programs += 1;
        base.push_change(now, purpose, at);
        Some(at.die)
    }
}
