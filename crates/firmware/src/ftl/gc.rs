//! Garbage collection: when, how fast, and when it is hopeless. Wear leveling goes with it.
//!
//! **When.** The host needs a free superblock once it has filled the one that it fills. That is the
//! deadline. Cleaning begins when fewer superblocks would be free by then than the host may take one
//! of, and no sooner: the longer data lie, the more of them are overwritten.
//!
//! **Which.** When the host opens a superblock, the scheme of `gc_victim` is asked what it will choose
//! until the next one: the victims are *foreseen*. A victim is chosen anew when its turn comes, but what
//! was foreseen stands if the new choice is fuller. So the moves until the deadline only become fewer, and
//! a scheme may take a nearly full superblock without a write that waits for it.
//!
//! **How fast.** The moves that are left until enough superblocks are free are spread evenly over the
//! slots that the host can write until the deadline. Both numbers are taken anew every few slots. The
//! moves are the valid slots of the superblock being emptied and of those foreseen, as they are now. The
//! superblocks that moved data will fill count too. Cleaning is done a little before the deadline, so
//! that the last erase has ended by then.
//!
//! **Writes that wait.** Each slot of the host's makes moves due. While more are due than a wordline
//! over all dies holds, writes wait for the mover: each a little, instead of one for all the work.
//! They stall for long only when the last superblock that the host may have is full: then cleaning
//! runs as fast as it can.
//!
//! **What is not worth it.** A drive without room for the host has garbage of about its spare. Before
//! that nothing is moved for less than half of what a superblock then holds of it on average; the
//! host can still write. So each slot that the host writes costs a bounded number of moves:
//! `docs/firmware/cleaning.md` has the argument.

use firstread_core::{Arena, BlockId};

use super::write::{STREAMS, WORDLINES, WriteBuffer};
use super::{Owner, StreamId};
use crate::observe::{BlockMonitor, BlockUse};
use crate::policy::gc_victim::{self, AnyGcVictim, GcVictim, Victims};
use crate::policy::wear::{AnyWear, Wear};
use crate::{Firmware, streams};

/// Parts of a slot in which moves that are due are counted.
const PER_SLOT: i64 = 256;
/// Wordlines over all dies that the host can still fill when cleaning is to be done: an erase takes
/// about as long as ten programs of SLC, and writes share the dies with moves.
const AHEAD_WORDLINES: u32 = 8;
/// Victims that are foreseen at most; those after them are taken to hold as much as the last of them.
const MOST_FORESEEN: usize = 32;

/// The state of garbage collection.
#[derive(Debug)]
pub(crate) struct Gc {
    victim: AnyGcVictim,
    /// Moves that are due, in parts of a slot.
    due: i64,
    /// Moves that become due with each slot of the host's, in parts of a slot.
    per_host_slot: i64,
    /// Moves that are due from which on writes wait.
    most_due: i64,
    /// Slots of the host's until the pace is reckoned anew, and after how many that is.
    until_reckoned: u32,
    reckon_after: u32,
    /// Victims chosen so far.
    chosen: u64,
    /// The victims to come, the first of `known`.
    foreseen: [BlockId; MOST_FORESEEN],
    known: usize,
    /// Slots that the host had written, and pages of the map that had been, when the host opened the
    /// superblock before this one, and this one.
    before: [(u64, u64); 2],
    /// A write waits for moves.
    pub(crate) holds_host: bool,
    /// Wear has changed since it was last looked at.
    pub(crate) consider_wear: bool,
}

impl Gc {
    /// For superblocks of `superblock` slots, `wordline` of them on a wordline over all dies.
    pub(crate) fn new(victim: AnyGcVictim, superblock: u32, wordline: u32) -> Gc {
        Gc {
            victim,
            due: 0,
            per_host_slot: 0,
            most_due: i64::from(wordline) * PER_SLOT,
            until_reckoned: 1,
            reckon_after: (superblock / 256).clamp(1, 64),
            chosen: 0,
            foreseen: [BlockId(0); MOST_FORESEEN],
            known: 0,
            before: [(0, 0); 2],
            holds_host: false,
            consider_wear: false,
        }
    }

    /// The host has written a slot. Whether the pace is to be reckoned anew.
    #[inline]
    pub(crate) fn earn(&mut self) -> bool {
        self.due += self.per_host_slot;
        self.until_reckoned -= 1;
        self.until_reckoned == 0
    }

    /// `slots` slots are being moved. What is moved before it is due counts when the pace is reckoned.
    pub(crate) fn spend(&mut self, slots: u32) {
        self.due = (self.due - i64::from(slots) * PER_SLOT).max(0);
    }

    /// `block` is the next victim.
    fn choose(&mut self, block: BlockId) {
        self.chosen += 1;
        let known = &self.foreseen[..self.known];
        if let Some(at) = known.iter().position(|b| *b == block) {
            self.foreseen.copy_within(at + 1..self.known, at);
            self.known -= 1;
        }
    }

    /// Nothing is due: there is nothing to move, or no need to.
    fn rest(&mut self) {
        self.due = 0;
        self.per_host_slot = 0;
    }

    /// Whether moves are due.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.due > 0
    }
}

impl<M: Arena> Firmware<M> {
    /// Whether there may be something to move, apart from what the mover has taken on.
    #[inline]
    pub(crate) fn has_more_to_move(&self) -> bool {
        self.gc.is_due()
            || self.space.host_waits
            || self.map_cache.waits_for_space
            || self.space.failed > 0
            || self.gc.consider_wear
    }

    /// Whether a write is to wait until some moves have been made. Something is under way that will
    /// end by itself and have this asked again: a move that has arrived may wait for the host's writes.
    #[inline]
    pub(crate) fn is_paced(&self) -> bool {
        self.gc.due >= self.gc.most_due
            && (self.mover.is_reading() || self.space.programs > 0 || self.space.erasing.is_some())
    }

    /// Whether a row may be moved for `owner` now.
    pub(crate) fn may_move(&self, owner: Owner) -> bool {
        !matches!(owner, Owner::Gc | Owner::Wear)
            || self.gc.is_due()
            || self.has_to_clean()
            || (owner == Owner::Wear && (self.space.failed > 0 || self.mover.has_asked()))
    }

    /// Whether something waits that cannot go on before a superblock has been cleaned.
    fn has_to_clean(&self) -> bool {
        self.space.host_waits
            || self.map_cache.waits_for_space
            || (self.space.free == 0 && !self.rescue.is_empty())
            || self.others_wait()
    }

    /// The host has written a slot: moves may be due.
    #[inline]
    pub(crate) fn pace(&mut self) {
        if self.gc.earn() {
            self.reckon_pace();
        }
    }

    /// `stream` has opened a superblock. Victims are foreseen anew: for the next one of the host, and
    /// because that of the map may be one.
    pub(crate) fn foresee_anew(&mut self, stream: StreamId) {
        if stream != StreamId::Move {
            self.gc.known = 0;
        }
        if stream == StreamId::Host {
            self.gc.before = [self.gc.before[1], self.written()];
        }
    }

    /// Slots that the host has written, and pages of the map that have been for it.
    fn written(&self) -> (u64, u64) {
        let c = &self.counters;
        (c.host_slots_written, c.front.map_writes)
    }

    /// Pages of the map that will be written before the host has written the slots that it has left, at
    /// least and at most: as many for each as of late, and four standard deviations on either side, as if
    /// they came by chance. They take of the room, and a single slot that is missing at the deadline costs
    /// a superblock's moves.
    fn map_pages_to_come(&self) -> (i64, i64) {
        let left = self.write_buffers[StreamId::Host as usize].slots_left();
        let (now, before) = (self.written(), self.gc.before[0]);
        let (slots, pages) = (now.0 - before.0, now.1 - before.1);
        let mean = u64::from(left) * pages / slots.max(1);
        let off = 4 * mean.isqrt() as i64;
        (mean as i64 - off, mean as i64 + off)
    }

    /// Reckons how many moves become due with each slot that the host writes.
    pub(crate) fn reckon_pace(&mut self) {
        self.gc.until_reckoned = self.gc.reckon_after;
        let Some(moves) = self.moves_until_free() else {
            return self.gc.rest();
        };
        let left = self.write_buffers[StreamId::Host as usize].slots_left();
        let slots = self.space.largest_slots as u32;
        let wordline = (self.gc.most_due / PER_SLOT) as u32;
        let ahead = (AHEAD_WORDLINES * wordline).min(slots / 8);
        let over = left.saturating_sub(ahead).max(left / 4).max(1);
        // What is due is no longer to be spread. A little in any case, so that a victim is looked for.
        let moves = (moves * PER_SLOT - self.gc.due).max(1);
        self.gc.per_host_slot = (moves / i64::from(over)).max(1);
    }

    /// Moves until the host can have the superblock that it needs next: none when it can now. Those
    /// under way are not counted.
    fn moves_until_free(&mut self) -> Option<i64> {
        let space = &self.space;
        let slots = space.largest_slots as i64;
        let (_, to_come) = self.map_pages_to_come();
        let mut missing = self.missing_room() + to_come;
        let mut free = i64::from(space.free) + i64::from(space.erasing.is_some());
        if free > 0 && (missing <= 0 || to_come == 0 && self.can_open(slots as u32)) {
            return None;
        }
        let streams = StreamId::of_mover(streams(&self.map_cache));
        let open = streams.map(|s| self.write_buffers[*s as usize].slots_left());
        let open = i64::from(open.sum::<u32>());
        let mut moves = 0;
        // A superblock is free once the one being emptied has been. The room that another will give
        // counts from when it is chosen.
        let mut next = self.mover.current.map(|current| {
            let all_begun = current.row == current.rows;
            let valid = self.blocks.row(current.block).valid_slots;
            if all_begun { 0 } else { i64::from(valid) }
        });
        for after in 0..MOST_FORESEEN {
            let taken = (moves - open + slots - 1).max(0) / slots;
            if missing <= 0 && free > taken {
                return Some(moves);
            }
            if let Some(valid) = next {
                moves += valid;
                free += 1;
            }
            let Some(block) = self.foreseen(after) else {
                return Some(moves);
            };
            let row = self.blocks.row(block);
            next = Some(i64::from(row.valid_slots));
            missing -= i64::from(self.slots_of(row.mode) - row.valid_slots);
        }
        let last = next.unwrap_or(0).min(slots - 1);
        Some(moves + missing.max(0) * last / (slots - last))
    }

    /// The victim after `after` others, as things are.
    fn foreseen(&mut self, after: usize) -> Option<BlockId> {
        if let Some(block) = self.known_victim(after) {
            return Some(block);
        }
        // As if those before it were being emptied, and all that is filled were programmed.
        let before = self.gc.foreseen;
        let before = &before[..after];
        let filled = self.filled_to_their_end();
        let as_if = |blocks: &mut BlockMonitor, usage: BlockUse, leaving: bool| {
            let filled = filled.iter().flatten();
            filled.for_each(|block| blocks.row_mut(*block).usage = usage);
            before
                .iter()
                .for_each(|b| blocks.row_mut(*b).leaving = leaving);
        };
        as_if(&mut self.blocks, BlockUse::Full, true);
        let next = self.next_victim(after);
        as_if(&mut self.blocks, BlockUse::Open, false);
        self.gc.foreseen[after] = next?;
        self.gc.known = after + 1;
        next
    }

    /// Superblocks that are filled to their end and not yet programmed to it. That of the map counts if it
    /// will be full before the host's is: most of it may be garbage, and then it goes before all others.
    fn filled_to_their_end(&self) -> [Option<BlockId>; STREAMS * WORDLINES] {
        let map_left = self.write_buffers[StreamId::Map as usize].slots_left();
        let map_ends = self.map_pages_to_come().0 > i64::from(map_left);
        let streams = if map_ends { STREAMS - 1 } else { STREAMS };
        let mut filled = [None; STREAMS * WORDLINES];
        let lines = self.write_buffers.iter().flat_map(WriteBuffer::blocks);
        for (into, block) in filled.iter_mut().zip(lines) {
            let fills = |buffer: &WriteBuffer| buffer.fills(block) || buffer.fills_line_of(block);
            let open = self.write_buffers[..streams].iter().any(fills);
            *into = (!open).then_some(block);
        }
        filled
    }

    /// The victim after `after` others, if it was foreseen and can still be cleaned.
    fn known_victim(&self, after: usize) -> Option<BlockId> {
        let block = *self.gc.foreseen[..self.gc.known].get(after)?;
        let mut row = *self.blocks.row(block);
        if row.usage == BlockUse::Open && self.filled_to_their_end().contains(&Some(block)) {
            row.usage = BlockUse::Full;
        }
        (gc_victim::gain(&self.config.geometry, &row) > 0).then_some(block)
    }

    /// What would be cleaned next, or by the scheme after `after` others.
    fn next_victim(&self, after: usize) -> Option<BlockId> {
        let after = after as u64;
        self.map_victim().or_else(|| {
            // Each superblock that is cleaned makes room to open one.
            let victims = Victims::new(&self.blocks, &self.config.geometry).after(after);
            self.gc.victim.choose(victims, self.gc.chosen + after)
        })
    }

    /// The superblock whose garbage, or whose wear, is to be seen to.
    pub(crate) fn choose_victim(&mut self) -> Option<(Owner, BlockId)> {
        if self.space.read_only {
            return None;
        }
        // It gives back what it takes, so it needs no more than cleaning; but it can wait.
        if self.gc.consider_wear && !self.space.host_waits && self.can_spare(0) {
            self.gc.consider_wear = false;
            if let Some(block) = self.wear.cold(&self.blocks) {
                return Some((Owner::Wear, block));
            }
        }
        self.reckon_pace();
        if !self.may_move(Owner::Gc) {
            return None;
        }
        let block = self.worth_cleaning();
        let Some(block) = block else {
            self.gc.rest();
            return None;
        };
        self.gc.choose(block);
        // The next slot that the host writes has the pace reckoned with it.
        self.gc.until_reckoned = 1;
        Some((Owner::Gc, block))
    }

    /// The next victim, if cleaning it is worth its moves or the host can write no more without it.
    fn worth_cleaning(&self) -> Option<BlockId> {
        if !self.has_to_clean() && self.map_victim().is_none() {
            let victims = Victims::new(&self.blocks, &self.config.geometry);
            if victims.best_gain() < self.least_gain() {
                return None;
            }
        }
        let valid = |block: &BlockId| self.blocks.row(*block).valid_slots;
        let now = self.next_victim(0)?;
        let foreseen = self
            .known_victim(0)
            .filter(|block| self.blocks.row(*block).usage == BlockUse::Full)
            .filter(|block| valid(block) < valid(&now));
        self.victim_that_fits(foreseen.unwrap_or(now))
    }

    /// Slots that the emptiest superblock must give back for cleaning to begin before the host has
    /// no room left: half of what superblocks will give back on average then.
    fn least_gain(&self) -> u32 {
        let space = &self.space;
        let spare = space.physical_slots.saturating_sub(space.needed_slots);
        let superblocks = space.physical_slots / space.largest_slots;
        (spare / (2 * superblocks.max(1))) as u32
    }

    /// Whether a write that waits for a superblock waits in vain: there is nothing to clean, and
    /// nothing under way from which there will be.
    pub(crate) fn is_full(&self) -> bool {
        self.mover.is_idle()
            && self.rescue.is_empty()
            && self.space.erasing.is_none()
            && self.space.programs == 0
            && !self.has_garbage()
    }

    /// The scheme of axis `gc_victim`.
    pub fn gc_victim(&self) -> &AnyGcVictim {
        &self.gc.victim
    }
    /// The scheme of axis `wear`.
    pub fn wear(&self) -> &AnyWear {
        &self.wear
    }
}
