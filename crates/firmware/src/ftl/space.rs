//! Superblocks: opened for a stream, erased, retired; and when the drive ends its life.

use firstread_core::{Arena, BlockId, CellMode, DieId, Ns, PageAddr, PageType, Ports};

use super::{Busy, Owner, StreamId};
use crate::Firmware;
use crate::job::Purpose;
use crate::log::Record;
use crate::observe::{BlockMonitor, BlockUse};
use crate::policy::wear::Wear;

/// Superblocks that a drive needs beyond its capacity: one open for the host, one open for the data
/// mover, and one that is free for the mover, so that cleaning can always finish.
pub const RESERVE: u64 = 3;

/// What is known of superblocks as a whole.
#[derive(Debug)]
pub(crate) struct Space {
    /// Superblocks opened so far.
    opened: u64,
    /// Free superblocks.
    pub(crate) free: u32,
    /// Slots of free superblocks.
    free_slots: u64,
    /// Slots of all superblocks that are not retired, each in its mode.
    pub(crate) physical_slots: u64,
    /// Slots that pages on the move alone will take.
    pub(crate) reserved: u64,
    /// Slots of the capacity and the reserve.
    pub(crate) needed_slots: u64,
    /// Slots that must stay beyond these.
    least_spare: u64,
    /// Slots of a superblock in the mode that holds most.
    pub(crate) largest_slots: u64,
    /// The drive takes no more writes.
    pub(crate) read_only: bool,
    /// The superblock being erased, with dies that have not ended and whether one has failed.
    pub(crate) erasing: Option<(BlockId, u16, bool)>,
    /// Programs under way.
    pub(crate) programs: u32,
    /// Superblocks with a failed program that are yet to be emptied.
    pub(crate) failed: u32,
    /// A write waits for a superblock.
    pub(crate) host_waits: bool,
    /// Something may have taken of the reserve: writes wait until it is whole.
    pub(crate) is_short: bool,
}

impl Space {
    /// `blocks` free superblocks of `slots` slots each, for `capacity` logical pages and at least
    /// `least_spare` slots to spare. Of `streams` streams, two are counted in the reserve.
    pub(crate) fn new(
        blocks: u32,
        slots: u32,
        capacity: u64,
        least_spare: u64,
        streams: usize,
    ) -> Space {
        let all = blocks as u64 * slots as u64;
        Space {
            opened: 0,
            free: blocks,
            free_slots: all,
            physical_slots: all,
            reserved: 0,
            needed_slots: capacity + (RESERVE + streams as u64 - 2) * slots as u64,
            least_spare,
            largest_slots: slots as u64,
            read_only: false,
            erasing: None,
            programs: 0,
            failed: 0,
            host_waits: false,
            is_short: false,
        }
    }

    /// A free superblock of `slots` slots has been taken: its place in the order of opening.
    pub(crate) fn take(&mut self, slots: u32) -> u64 {
        self.free -= 1;
        self.free_slots -= slots as u64;
        self.opened += 1;
        self.opened
    }

    /// A free superblock of `slots` slots is bad from the start.
    pub(crate) fn drop_free(&mut self, slots: u32) {
        self.free -= 1;
        self.free_slots -= slots as u64;
        self.physical_slots -= slots as u64;
    }

    /// A superblock of `slots` slots is used no more.
    pub(crate) fn retired(&mut self, slots: u32) {
        self.physical_slots -= slots as u64;
        self.read_only |= !self.holds_capacity();
    }

    /// Superblocks opened so far.
    pub(crate) fn opened(&self) -> u64 {
        self.opened
    }

    /// Takes on what was dumped, and counts what `blocks` tells.
    pub(crate) fn recover(
        &mut self,
        opened: u64,
        read_only: bool,
        erasing: Option<(BlockId, u16, bool)>,
        blocks: &BlockMonitor,
        slots: impl Fn(CellMode) -> u32,
    ) {
        (self.opened, self.read_only, self.erasing) = (opened, read_only, erasing);
        (self.free, self.free_slots) = Space::counted(blocks, &slots);
        let used = || blocks.iter().filter(|(_, row)| row.usage != BlockUse::Bad);
        self.physical_slots = used().map(|(_, row)| u64::from(slots(row.mode))).sum();
        self.failed = used().filter(|(_, row)| row.failed).count() as u32;
    }

    /// Whether what is left, less `slots`, holds the capacity, the reserve and the least spare.
    pub(crate) fn holds_capacity_without(&self, slots: u64) -> bool {
        self.physical_slots >= self.needed_slots + self.least_spare + slots
    }

    /// Whether what is left holds the capacity, the reserve and the least spare.
    pub(crate) fn holds_capacity(&self) -> bool {
        self.holds_capacity_without(0)
    }

    fn put_back(&mut self, slots: u32) {
        self.free += 1;
        self.free_slots += slots as u64;
    }

    /// Free superblocks and their slots as `blocks` tells them.
    pub(crate) fn counted(blocks: &BlockMonitor, slots: impl Fn(CellMode) -> u32) -> (u32, u64) {
        let free = blocks.iter().filter(|(_, row)| row.usage == BlockUse::Free);
        free.fold((0, 0), |(n, all), (_, row)| {
            (n + 1, all + slots(row.mode) as u64)
        })
    }
    pub(crate) fn free_slots(&self) -> u64 {
        self.free_slots
    }
}

impl<M: Arena> Firmware<M> {
    pub(crate) fn slots_of(&self, mode: CellMode) -> u32 {
        self.config.geometry.slots_per_superblock(mode)
    }

    /// Opens a free superblock for `stream`. False when there is none it may have.
    pub(crate) fn open_superblock(&mut self, now: Ns, stream: StreamId) -> bool {
        let owner = self.mover.current.map(|e| e.owner);
        let cold = stream == StreamId::Move && owner == Some(Owner::Wear);
        let chosen = self.wear.open(&self.blocks, cold);
        let Some(block) = chosen else { return false };
        let slots = self.slots_of(self.blocks.row(block).mode);
        // The host leaves enough for one more cleaning.
        if stream == StreamId::Host && !self.can_open(slots) {
            return false;
        }
        let opened = self.space.take(slots);
        let row = self.blocks.row_mut(block);
        row.usage = BlockUse::Open;
        row.programmed_at = now;
        row.opened = opened;
        row.holds_map = stream == StreamId::Map;
        let mode = row.mode;
        self.write_buffers[stream as usize].open(block, mode);
        self.foresee_anew(stream);
        self.block_changed(now, block);
        true
    }

    /// Begins to erase `block` into `mode`. It holds nothing, nobody reads it, and no other
    /// superblock is being erased.
    pub(crate) fn start_erase<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        block: BlockId,
        mode: CellMode,
        ports: &mut P,
    ) {
        debug_assert!(self.space.erasing.is_none(), "one erase at a time");
        let slots = (
            self.slots_of(self.blocks.row(block).mode),
            self.slots_of(mode),
        );
        let row = self.blocks.row_mut(block);
        debug_assert_eq!((row.valid_slots, row.pins), (0, 0), "{row:?} is in use");
        row.usage = BlockUse::Erasing;
        row.leaving = false;
        row.mode = mode;
        self.map.erase(block);
        let space = &mut self.space;
        space.physical_slots = space.physical_slots - slots.0 as u64 + slots.1 as u64;
        self.erase_dies(now, block, false, ports);
    }

    /// Erases every die's part of `block`, into the mode that its row says.
    pub(crate) fn erase_dies<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        block: BlockId,
        has_failed: bool,
        ports: &mut P,
    ) {
        let mode = self.blocks.row(block).mode;
        let dies = self.config.geometry.dies();
        self.space.erasing = Some((block, dies, has_failed));
        for die in (0..dies).map(DieId) {
            let at = PageAddr {
                die,
                block,
                wordline: 0,
                page: PageType(0),
            };
            self.start_change(now, Purpose::Erase { mode }, at, ports);
        }
    }

    /// A die has erased its part of a superblock.
    pub(crate) fn erased<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        job: u32,
        ok: bool,
        ports: &mut P,
    ) {
        let at = self.jobs[job].at;
        self.dies.ends(at.die);
        self.jobs.release(job);
        if !ok {
            self.bad.note(at.block, at.die);
        }
        let Some((block, left, failed)) = self.space.erasing else {
            return;
        };
        if left > 1 {
            self.space.erasing = Some((block, left - 1, failed || !ok));
            return;
        }
        self.space.erasing = None;
        self.counters.erases += 1;
        let row = self.blocks.row_mut(block);
        row.pe_cycles += 1;
        row.reads = 0;
        row.stripe_broken = false;
        if (failed || !ok) && !self.repair(block, ports) {
            self.retire(now, block);
        } else {
            let row = self.blocks.row_mut(block);
            let mode = row.mode;
            row.usage = BlockUse::Free;
            self.space.put_back(self.slots_of(mode));
            self.gc.consider_wear = true;
            self.block_changed(now, block);
        }
        #[cfg(debug_assertions)]
        self.audit_now_and_then();
        self.resume_writes(now, ports);
        self.pump(now, ports);
    }

    /// Asks that `block` be erased into `mode`. What it holds is moved away first. Refused when the
    /// superblock is not at rest, and when the drive would no longer hold its capacity. Forgotten
    /// when garbage collection erases the superblock first.
    pub fn ask_mode<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        block: BlockId,
        mode: CellMode,
        ports: &mut P,
    ) -> Result<(), Busy> {
        let row = *self.blocks.row(block);
        let (before, after) = (self.slots_of(row.mode), self.slots_of(mode));
        // What is asked for and not done yet counts as done.
        let shrinks = u64::from(before.saturating_sub(after)) + self.mover.promised_slots();
        if after as u64 > self.space.largest_slots
            || !self.space.holds_capacity_without(shrinks)
            || self.space.read_only
        {
            return Err(Busy::NoRoom);
        }
        match row.usage {
            BlockUse::Free if self.space.erasing.is_none() => {
                // It is not free while it is being erased, and the mover must keep its reserve.
                if !self.has_beyond_reserve(before as u64) {
                    return Err(Busy::NoRoom);
                }
                self.space.take(before);
                self.start_erase(now, block, mode, ports);
                Ok(())
            }
            BlockUse::Full if !row.leaving && !row.failed => {
                let shrinks = before.saturating_sub(after);
                self.mover
                    .ask(Owner::Convert, block, row.opened, mode, shrinks)?;
                self.pump(now, ports);
                Ok(())
            }
            _ => Err(Busy::NotAtRest),
        }
    }
}
