//! The data mover: the one way in which data move, whoever asks.
//!
//! Garbage collection, wear leveling, conversion and retirement empty superblocks, one at a time,
//! a page row after another; refresh and others ask for single pages. Reads of the mover take the
//! real read path at their own priority, behind those of the host, and may need retries. What was
//! read goes to the write buffer of a stream of its own.
//!
//! A move holds no lock. When its data have arrived, the map tells for each slot whether it still
//! is the last version; a host write or trim that came meanwhile has won, and the move is dropped.
//! A superblock is erased once no slot of it is valid, no move is under way and no read is queued.
//!
//! The mover keeps no reverse map: a slot's spare area holds its logical page, which arrives with
//! the data. Which slots to read is asked of the superblock's table of contents, which a controller
//! reads with the superblock's last rows (sixteen bytes a slot, 0.4 % of the rows; not charged). Where
//! the map computes what a slot holds (`preconditioned`), nobody is asked.

use alloc::collections::VecDeque;

use firstread_core::{Arena, BlockId, CellMode, DieId, Lpn, Ns, PageAddr, Ports, Ppa, Priority};

use super::{Place, Program, Refused, StreamId};
use crate::Firmware;
use crate::job::{Job, Purpose};
use crate::log::Record;
use crate::observe::BlockUse;

/// Superblocks that may be asked for at a time, beyond the one being emptied.
const ASKED: usize = 8;
/// Pages that may be asked for at a time.
const PAGES: usize = 64;
/// Slots looked up in one go for the next row with valid ones; after that other work comes first.
const SCAN_SLOTS: u32 = 1024;

/// Who has data moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// Garbage collection.
    Gc,
    /// Wear leveling.
    Wear,
    /// A change of cell mode.
    Convert,
    /// Retirement of a superblock in which a program failed.
    Retire,
    /// Refresh of data that have become hard to read.
    Refresh,
    /// Another scheme.
    Scheme,
    /// Data of a program that failed, or that a power cut has torn, written again.
    Rescue,
}

/// Number of owners.
pub const OWNERS: usize = 7;

impl Owner {
    /// All owners.
    pub const ALL: [Owner; OWNERS] = [
        Owner::Gc,
        Owner::Wear,
        Owner::Convert,
        Owner::Retire,
        Owner::Refresh,
        Owner::Scheme,
        Owner::Rescue,
    ];

    /// Key in results.
    pub const fn name(self) -> &'static str {
        match self {
            Owner::Gc => "garbage_collection",
            Owner::Wear => "wear_leveling",
            Owner::Convert => "conversion",
            Owner::Retire => "bad_block",
            Owner::Refresh => "refresh",
            Owner::Scheme => "scheme",
            Owner::Rescue => "rescue",
        }
    }
}

/// Why the mover does not take something on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Busy {
    /// It has as many requests as it can hold: ask later.
    QueueFull,
    /// A move of the page is under way already.
    Moving,
    /// The page holds no data, or lies in the write buffer.
    NothingThere,
    /// The superblock is open, being erased, on the move or retired.
    NotAtRest,
    /// The drive would no longer hold its capacity.
    NoRoom,
}

/// A superblock to be emptied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evacuation {
    pub(crate) owner: Owner,
    pub(crate) block: BlockId,
    /// When it was opened, in the order of opening: tells whether it was erased since.
    opened: u64,
    /// What it is erased into.
    pub(crate) mode: CellMode,
    /// Next page row to look at, in fill order; `rows` of them.
    pub(crate) row: u32,
    pub(crate) rows: u32,
    /// Slots by which the drive shrinks.
    shrinks: u32,
}

impl Evacuation {
    /// The same, looked through from its start: what it holds is not known any more.
    pub(crate) fn restarted(self) -> Evacuation {
        Evacuation { row: 0, ..self }
    }
}

/// What the mover has to do and under way.
#[derive(Debug)]
pub(crate) struct Mover {
    pub(crate) current: Option<Evacuation>,
    asked: VecDeque<Evacuation>,
    pages: VecDeque<(Owner, Lpn)>,
    /// Jobs whose data have arrived and wait for the write buffer.
    arrived: VecDeque<u32>,
    /// Moves that hold a job.
    in_flight: u32,
    /// Moves that may.
    window: u32,
    /// There is more to look at than one go allows: wake soon.
    pub(crate) again: bool,
    /// No superblock could be had for what is to be written.
    lacks_room: bool,
    /// Writes and trims that wait may have waited for what has just changed.
    pub(crate) lets_writes_go: bool,
}

impl Mover {
    pub(crate) fn new(window: u32) -> Mover {
        Mover {
            current: None,
            asked: VecDeque::with_capacity(ASKED),
            pages: VecDeque::with_capacity(PAGES),
            arrived: VecDeque::with_capacity(window as usize),
            in_flight: 0,
            window,
            again: false,
            lacks_room: false,
            lets_writes_go: false,
        }
    }

    /// Asks that `block` be emptied and erased into `mode`, by which the drive shrinks.
    pub(crate) fn ask(
        &mut self,
        owner: Owner,
        block: BlockId,
        opened: u64,
        mode: CellMode,
        shrinks: u32,
    ) -> Result<(), Busy> {
        if self.asked.iter().any(|a| a.block == block) {
            return Err(Busy::Moving);
        }
        if self.asked.len() == ASKED {
            return Err(Busy::QueueFull);
        }
        self.asked.push_back(Evacuation {
            owner,
            block,
            opened,
            mode,
            row: 0,
            rows: 0,
            shrinks,
        });
        Ok(())
    }

    /// Slots by which the drive shrinks once all that was asked for is done.
    pub(crate) fn promised_slots(&self) -> u64 {
        let all = self.asked.iter().chain(&self.current);
        all.map(|e| e.shrinks as u64).sum()
    }

    /// Whether superblocks wait to be emptied for another reason than their garbage.
    pub(crate) fn has_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Whether nothing is asked for or under way.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.current.is_none()
            && self.in_flight == 0
            && self.asked.is_empty()
            && self.pages.is_empty()
    }

    /// Whether a move is being read. One that has arrived may itself wait for the host's writes, so
    /// nothing may wait for it.
    #[inline]
    pub(crate) fn is_reading(&self) -> bool {
        self.in_flight as usize > self.arrived.len()
    }

    /// Whether no move is under way, nor a superblock being emptied.
    pub(crate) fn is_resting(&self) -> bool {
        self.current.is_none() && self.in_flight == 0
    }

    /// The oldest move that has arrived.
    pub(crate) fn next_arrived(&self) -> Option<u32> {
        self.arrived.front().copied()
    }

    /// The oldest move that has arrived has ended.
    pub(crate) fn ended(&mut self) {
        self.arrived.pop_front();
        self.in_flight -= 1;
    }
}

impl<M: Arena> Firmware<M> {
    /// Asks that logical page `lpn` be written anew. Whoever asks first owns the move: a page that
    /// is on the move already is refused.
    pub fn ask_move<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        owner: Owner,
        lpn: Lpn,
        ports: &mut P,
    ) -> Result<(), Busy> {
        let Some(ppa) = self.map.at(lpn) else {
            return Err(Busy::NothingThere);
        };
        let row = self.blocks.row(ppa.block());
        if row.usage != BlockUse::Full {
            return Err(Busy::NothingThere);
        }
        if row.leaving || self.mover.pages.iter().any(|(_, l)| *l == lpn) || self.is_moving(ppa) {
            return Err(Busy::Moving);
        }
        if self.mover.pages.len() == PAGES {
            return Err(Busy::QueueFull);
        }
        self.mover.pages.push_back((owner, lpn));
        self.pump(now, ports);
        Ok(())
    }

    /// Whether a move of the slot at `ppa` is under way.
    fn is_moving(&self, ppa: Ppa) -> bool {
        let (at, row_slot) = self.row_of(ppa);
        self.mover.in_flight > 0 && self.jobs.iter().any(|job| {
            job.at == at
                && matches!(job.purpose, Purpose::Move { slots, .. } if slots >> row_slot & 1 != 0)
        })
    }

    /// The page row that `ppa` lies in, and its slot of it.
    pub(crate) fn row_of(&self, ppa: Ppa) -> (PageAddr, u32) {
        let mode = self.blocks.row(ppa.block()).mode;
        self.layout.row_of(ppa, mode)
    }

    /// The slot `row_slot` of page row `at`.
    pub(crate) fn ppa_in(&self, at: PageAddr, row_slot: u32) -> Ppa {
        let mode = self.blocks.row(at.block).mode;
        self.layout.slot_at(at, row_slot, mode)
    }

    /// Moves on whatever can move on.
    pub(crate) fn pump<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        self.mover.again = false;
        if !self.mover.is_idle() || !self.rescue.is_empty() || self.has_more_to_move() {
            self.move_on(now, ports);
        }
        let lets_go = core::mem::take(&mut self.mover.lets_writes_go);
        // At the end of the drive's life what waits for space waits in vain.
        if (lets_go || self.space.read_only) && self.commands.has_stalled_writes() {
            self.space.host_waits &= !self.space.read_only;
            self.resume_writes(now, ports);
        }
        if self.gc.holds_host && !self.is_paced() {
            self.gc.holds_host = false;
            self.resume_writes(now, ports);
            self.mover.again |= self.has_more_to_move();
        }
    }

    fn move_on<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        self.mover.lacks_room = false;
        // What has no other place is written first.
        let is_held = self.write_again(now, ports) && !self.write_arrived(now, ports);
        let emptied = |e: Evacuation| self.blocks.row(e.block).valid_slots == 0;
        if self.mover.lacks_room && !self.mover.current.is_some_and(emptied) {
            if self.space.erasing.is_some() {
                return;
            }
            self.give_up_emptying(now, ports);
        } else if is_held {
            return;
        }
        while self.mover.in_flight < self.mover.window
            && !self.mover.pages.is_empty()
            && self.has_beyond_reserve(1)
            && let Some((owner, lpn)) = self.mover.pages.pop_front()
        {
            self.start_page(now, owner, lpn, ports);
        }
        loop {
            let Some(current) = self.mover.current else {
                match self.next_evacuation() {
                    Some(next) => self.mover.current = Some(next),
                    None => return self.nothing_to_empty(),
                }
                continue;
            };
            let row = self.blocks.row(current.block);
            if row.valid_slots == 0 {
                if row.pins > 0 || self.space.erasing.is_some() {
                    return;
                }
                self.mover.current = None;
                let failed = row.failed;
                self.space.failed -= failed as u32;
                if failed && !self.repair(current.block, ports) {
                    self.retire(now, current.block);
                } else {
                    self.start_erase(now, current.block, current.mode, ports);
                }
                continue;
            }
            if self.mover.in_flight == self.mover.window || !self.may_move(current.owner) {
                return;
            }
            if self.map_cache.is_crowded() {
                if self.map_is_crowded(now, ports) {
                    if !self.map_cache.waits_for_space {
                        return;
                    }
                } else {
                    self.mover.lets_writes_go = true;
                }
            }
            if !self.can_finish(current) {
                self.give_up_emptying(now, ports);
                continue;
            }
            if !self.start_next_row(now, current, ports) {
                return;
            }
        }
    }

    /// The superblock to be emptied next: what failed, what was asked for, garbage, wear.
    fn next_evacuation(&mut self) -> Option<Evacuation> {
        // What gives back less than it takes waits until cleaning has its reserve.
        let spare = self.has_spare();
        let (owner, block, mode, shrinks) = if spare
            && self.space.failed > 0
            && let Some(block) = self.failed_at_rest()
        {
            (Owner::Retire, block, self.blocks.row(block).mode, 0)
        } else if spare && let Some(asked) = self.next_asked() {
            (asked.owner, asked.block, asked.mode, asked.shrinks)
        } else {
            let (owner, block) = self.choose_victim()?;
            (owner, block, self.blocks.row(block).mode, 0)
        };
        let row = self.blocks.row_mut(block);
        row.leaving = true;
        let opened = row.opened;
        let g = &self.config.geometry;
        let rows = g.data_dies() as u32 * row.mode.bits() as u32 * g.wordlines_per_block as u32;
        Some(Evacuation {
            owner,
            block,
            opened,
            mode,
            row: 0,
            rows,
            shrinks,
        })
    }

    /// The next superblock asked for that is still as it was when it was.
    fn next_asked(&mut self) -> Option<Evacuation> {
        while let Some(asked) = self.mover.asked.pop_front() {
            let row = self.blocks.row(asked.block);
            if row.usage == BlockUse::Full && row.opened == asked.opened {
                return Some(asked);
            }
        }
        None
    }

    fn failed_at_rest(&self) -> Option<BlockId> {
        let failed = self
            .blocks
            .iter()
            .find(|(_, row)| row.failed && row.usage == BlockUse::Full);
        failed.map(|(block, _)| block)
    }

    /// Starts the move of the next row of `current` that holds valid slots. False when there is none
    /// or it was not found in one go.
    fn start_next_row<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        mut current: Evacuation,
        ports: &mut P,
    ) -> bool {
        let layout = self.layout;
        let mode = self.blocks.row(current.block).mode;
        let per_row = layout.slots_per_row();
        let computed = self.map.is_computed(current.block);
        let mut budget = SCAN_SLOTS.div_ceil(per_row);
        while current.row < current.rows {
            if budget == 0 {
                self.mover.again = true;
                self.mover.current = Some(current);
                return false;
            }
            budget -= 1;
            let at = layout.data_row(current.row, current.block, mode);
            current.row += 1;
            let mut slots = 0u64;
            for row_slot in 0..per_row {
                let ppa = layout.slot_at(at, row_slot, mode);
                let holds = if computed {
                    self.map.holds(ppa)
                } else {
                    let spare = ports.stored(ppa);
                    spare.is_some_and(|spare| self.lies_at(spare.lpn, ppa))
                };
                if holds {
                    slots |= 1 << row_slot;
                }
            }
            if slots != 0 {
                self.mover.current = Some(current);
                self.start_move(now, current.owner, at, slots, false, ports);
                if matches!(current.owner, Owner::Gc | Owner::Wear) {
                    self.gc.spend(slots.count_ones());
                }
                return true;
            }
        }
        // Moves under way will have emptied it; if none is, look again from its start.
        if self.mover.in_flight == 0 {
            debug_assert!(
                false,
                "every valid slot of {:?} was found: {:?}",
                current.block,
                self.blocks.row(current.block)
            );
            current.row = 0;
        }
        self.mover.current = Some(current);
        false
    }

    fn start_page<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        owner: Owner,
        lpn: Lpn,
        ports: &mut P,
    ) {
        let Some(ppa) = self.map.at(lpn) else { return };
        let row = self.blocks.row(ppa.block());
        // Whatever put it on the move since has won.
        if row.usage == BlockUse::Full && !row.leaving {
            let (at, row_slot) = self.row_of(ppa);
            self.space.reserved += 1;
            self.start_move(now, owner, at, 1 << row_slot, true, ports);
        }
    }

    fn start_move<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        owner: Owner,
        at: PageAddr,
        slots: u64,
        alone: bool,
        ports: &mut P,
    ) {
        let job = self
            .jobs
            .take()
            .expect("a job is reserved for every move in the window");
        self.mover.in_flight += 1;
        let codewords = self.layout.codewords_per_slot();
        let mut wanted = 0;
        let mut left = slots;
        while left != 0 {
            wanted |= (u64::MAX >> (64 - codewords)) << (left.trailing_zeros() * codewords);
            left &= left - 1;
        }
        let purpose = Purpose::Move {
            slots,
            lost: 0,
            alone,
            owner,
        };
        self.start_read(now, job, purpose, Priority::Move, at, wanted, ports);
    }

    /// The read of a move has ended; `failed` codewords could not be corrected.
    pub(crate) fn move_read<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        job: u32,
        failed: u64,
        ports: &mut P,
    ) {
        let purpose = &mut self.jobs[job].purpose;
        let Purpose::Move { lost, .. } = purpose else {
            unreachable!("{purpose:?} moves nothing")
        };
        let codewords = self.layout.codewords_per_slot();
        let mut left = failed;
        while left != 0 {
            let row_slot = left.trailing_zeros() / codewords;
            left &= !((u64::MAX >> (64 - codewords)) << (row_slot * codewords));
            *lost |= 1 << row_slot;
        }
        self.mover.arrived.push_back(job);
        self.pump(now, ports);
    }

    /// Writes what has arrived. False when the write buffer is full.
    fn write_arrived<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) -> bool {
        while let Some(&job) = self.mover.arrived.front() {
            let Job { at, purpose, .. } = self.jobs[job];
            let Purpose::Move {
                mut slots,
                lost,
                alone,
                owner,
            } = purpose
            else {
                unreachable!("{purpose:?} moves nothing")
            };
            while slots != 0 {
                let row_slot = slots.trailing_zeros();
                let ppa = self.ppa_in(at, row_slot);
                let from = self.job_buffer(job).slot(row_slot);
                let is_lost = lost >> row_slot & 1 != 0;
                let spare = match is_lost {
                    true => ports.stored(ppa),
                    false => ports.buffered(from),
                };
                let stays = match spare
                    .map(|slot| slot.lpn)
                    .filter(|&lpn| self.lies_at(lpn, ppa))
                {
                    None => {
                        self.counters.moves_overtaken += 1;
                        false
                    }
                    Some(lpn) if is_lost => !self.lose(lpn, ppa),
                    Some(lpn) => !self.write_moved(now, owner, lpn, from, ports),
                };
                if stays {
                    self.jobs[job].purpose = Purpose::Move {
                        slots,
                        lost,
                        alone,
                        owner,
                    };
                    return false;
                }
                slots &= slots - 1;
            }
            self.end_move(now, job, ports);
        }
        true
    }

    /// The data of `lpn` at `ppa` are gone: the host is told when it reads them, and never gets
    /// others. False when the map has no room now.
    fn lose(&mut self, lpn: Lpn, ppa: Ppa) -> bool {
        if self.map_cache.is_map(lpn) {
            self.lose_map(lpn, ppa);
            return true;
        }
        if !self.map.has_room(1) {
            return false;
        }
        self.map.set(lpn, Place::Lost);
        if self.map_cache.is_on() {
            self.map_cache.change(lpn);
        }
        self.blocks.row_mut(ppa.block()).valid_slots -= 1;
        self.counters.slots_lost += 1;
        true
    }

    /// Whether the last version of `lpn` lies at `ppa`. A spare area whose program failed may name
    /// any page.
    fn lies_at(&self, lpn: Lpn, ppa: Ppa) -> bool {
        match self.map_cache.is_map(lpn) {
            true => self.map_cache.at(lpn) == Some(ppa),
            false => self.map.at(lpn) == Some(ppa),
        }
    }

    /// Writes the data of `lpn` in buffer `from` to a new place. False when there is no room now.
    fn write_moved<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        owner: Owner,
        lpn: Lpn,
        from: firstread_core::Buf,
        ports: &mut P,
    ) -> bool {
        if !self.map.has_room(1) {
            return false;
        }
        let is_map = self.map_cache.is_map(lpn);
        let (own, other) = match is_map {
            true => (StreamId::Map, StreamId::Move),
            false => (StreamId::Move, StreamId::Map),
        };
        // Where no superblock is free, there may be room in that of the other stream, and at last in
        // that of the host.
        let other = self.map_cache.is_on().then_some(other);
        let host = self.space.erasing.is_none().then_some(StreamId::Host);
        let mut instead = other.into_iter().chain(host);
        let mut stream = own;
        let slot = loop {
            match self.write_buffers[stream as usize].allocate() {
                Ok(slot) => break slot,
                Err(Refused::Full) => return false,
                Err(Refused::NeedsBlock) => {
                    if stream == own && self.open_superblock(now, own) {
                        continue;
                    }
                    let Some(next) = instead.next() else {
                        self.mover.lacks_room = true;
                        return false;
                    };
                    stream = next;
                }
            }
        };
        if is_map {
            self.blocks.row_mut(slot.ppa.block()).holds_map = true;
        }
        ports.copy(from, slot.buf);
        self.place_slot(lpn, slot.ppa);
        self.counters.slots_moved += 1;
        self.counters.slots_moved_by[owner as usize] += 1;
        self.start_programs(now, stream, &slot, ports);
        true
    }

    /// A program has failed: its superblock is closed, and what the buffer holds of it and cannot be
    /// programmed there is written elsewhere.
    pub(crate) fn program_failed<P: Ports<Record = Record>>(
        &mut self,
        stream: StreamId,
        program: Program,
        ports: &mut P,
    ) {
        self.bad.note(program.block, program.die);
        self.rescue_part(stream, program.die, program.line, ports);
        let row = self.blocks.row_mut(program.block);
        if row.failed {
            return;
        }
        row.failed = true;
        self.space.failed += 1;
        self.space.is_short = true;
        let Some(line) = self.write_buffers[stream as usize].abandon(program.block) else {
            return;
        };
        for die in (0..self.config.geometry.dies()).map(DieId) {
            if self.write_buffers[stream as usize].is_incomplete(die, line) {
                self.rescue_part(stream, die, line, ports);
            }
        }
    }

    /// Copies what the part of `die` of ring line `line` holds out of the write buffer of `stream`,
    /// which needs it no more.
    pub(crate) fn rescue_part<P: Ports<Record = Record>>(
        &mut self,
        stream: StreamId,
        die: DieId,
        line: u8,
        ports: &mut P,
    ) {
        let buffer = &self.write_buffers[stream as usize];
        let block = buffer.block_of(line);
        self.blocks.row_mut(block).stripe_broken = true;
        for (ppa, from) in buffer.filled_of(die, line) {
            ports.copy(from, self.rescue.take(ppa));
        }
        self.release_part(stream, block, die, line, ports);
    }

    /// Writes what was rescued, as far as there is room. Whether that was all.
    fn write_again<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) -> bool {
        let mut any = false;
        while let Some((ppa, from)) = self.rescue.next() {
            if let Some(slot) = ports.buffered(from)
                && self.lies_at(slot.lpn, ppa)
                && !self.write_moved(now, Owner::Rescue, slot.lpn, from, ports)
            {
                return false;
            }
            if let Some(block) = self.rescue.advance() {
                self.close_if_done(block);
            }
            any = true;
        }
        if any {
            // Writes have waited for this.
            if self.durable.any_waits() {
                self.complete_safe(now, ports);
            }
            self.resume_writes(now, ports);
        }
        true
    }
}
