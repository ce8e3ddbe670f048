//! The group of each superblock. Superblocks change their group as they age and when they are erased. All
//! superblocks are scanned only when one of them crosses a retention edge.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::voltage::BlockGroups;
use firstread_core::{CellMode, Ns, SuperblockId};

use super::groups::GroupSet;
use crate::observe::{SuperblockInfo, SuperblockTable, SuperblockUse};

/// In no group: the superblock has no data, or a cell mode that the tables are not made for.
const NONE: u8 = u8::MAX;

/// Per-superblock state besides the superblock table: four bytes.
#[derive(Clone, Copy, Debug)]
pub struct Note {
    group: u8,
    /// Background reads of this axis since the superblock was opened, saturating. They add to read disturb.
    probes: u16,
}

impl Note {
    const EMPTY: Note = Note {
        group: NONE,
        probes: 0,
    };
}

/// The group of every superblock.
#[derive(Clone, Debug)]
pub struct Members {
    mode: CellMode,
    notes: Box<[Note]>,
    next_crossing: Ns,
}

impl Members {
    /// For `blocks` superblocks. Those in another cell mode than `mode` are in no group.
    pub fn new(blocks: u32, mode: CellMode) -> Members {
        Members {
            mode,
            notes: vec![Note::EMPTY; blocks as usize].into_boxed_slice(),
            next_crossing: Ns::MAX,
        }
    }

    /// Removes all superblocks from their groups.
    pub fn reset(&mut self) {
        self.notes.fill(Note::EMPTY);
        self.next_crossing = Ns::MAX;
    }

    /// A lower bound of the time at which the next superblock crosses a retention edge.
    pub fn next_crossing(&self) -> Ns {
        self.next_crossing
    }

    /// The group of `block`.
    #[inline]
    pub fn group(&self, block: SuperblockId) -> Option<u8> {
        self.notes
            .get(block.0 as usize)
            .map(|n| n.group)
            .filter(|&g| g != NONE)
    }

    /// Groups that have a superblock.
    pub fn occupied(&self) -> GroupSet {
        let mut set = GroupSet::EMPTY;
        for note in self.notes.iter().filter(|n| n.group != NONE) {
            set.insert(note.group);
        }
        set
    }

    /// The group in `groups` with the most superblocks; the lowest of equals; none if all are empty.
    pub fn largest(&self, groups: GroupSet) -> Option<u8> {
        let mut members = [0u32; u128::BITS as usize];
        for note in self.notes.iter().filter(|n| n.group != NONE) {
            members[note.group as usize] += 1;
        }
        let in_use = (0u8..).zip(members).filter(|&(_, n)| n > 0);
        in_use
            .filter(|&(group, _)| groups.contains(group))
            .max_by_key(|&(group, n)| (n, core::cmp::Reverse(group)))
            .map(|(group, _)| group)
    }

    /// Puts every superblock into its group. Returns the groups that superblocks have entered.
    pub fn update(&mut self, now: Ns, groups: &BlockGroups, blocks: &SuperblockTable) -> GroupSet {
        let mut entered = GroupSet::EMPTY;
        self.next_crossing = Ns::MAX;
        for (block, info) in blocks.iter() {
            if let Some(group) = self.assign(now, block, info, groups) {
                entered.insert(group);
            }
        }
        entered
    }

    /// Puts `block`, just opened or erased, into its group. Returns the group if the superblock has changed
    /// groups.
    pub fn update_one(
        &mut self,
        now: Ns,
        block: SuperblockId,
        groups: &BlockGroups,
        blocks: &SuperblockTable,
    ) -> Option<u8> {
        if block.0 >= blocks.len() {
            return None;
        }
        if let Some(note) = self.notes.get_mut(block.0 as usize) {
            *note = Note::EMPTY;
        }
        self.assign(now, block, blocks.info(block), groups)
    }

    fn assign(
        &mut self,
        now: Ns,
        block: SuperblockId,
        info: &SuperblockInfo,
        groups: &BlockGroups,
    ) -> Option<u8> {
        let note = self.notes.get_mut(block.0 as usize)?;
        if matches!(info.usage, SuperblockUse::Free | SuperblockUse::Bad) || info.mode != self.mode
        {
            *note = Note::EMPTY;
            return None;
        }
        let bin = groups.retention_bin(now.since(info.programmed_at));
        if bin + 1 < groups.retention_bins {
            let edge = groups.edges[bin as usize + 1];
            self.next_crossing = self
                .next_crossing
                .min(info.programmed_at.saturating_add(edge));
        }
        let group = groups.pe_bin(info.pe_cycles) * groups.retention_bins + bin;
        let moved = note.group != group;
        note.group = group;
        moved.then_some(group)
    }

    /// Counts a background read of `block`.
    pub fn probed(&mut self, block: SuperblockId) {
        if let Some(note) = self.notes.get_mut(block.0 as usize) {
            note.probes = note.probes.saturating_add(1);
        }
    }

    /// Background reads of `block` since it was opened.
    pub fn probes(&self, block: SuperblockId) -> u16 {
        self.notes.get(block.0 as usize).map_or(0, |n| n.probes)
    }

    /// Bytes of the per-superblock state.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.notes)
    }
}
