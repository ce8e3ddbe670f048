//! `clairvoyant`: the oracle. It knows how often each version of a page will be read.
//!
//! The versions that will be read most are those that LWA has room for. Such a page goes there when the host writes it,
//! when it is moved anyway, or at its first read, whether that was retried or not. Nothing else enters. A page of which
//! no read is to come leaves when its superblock is returned.

use alloc::vec::Vec;

use firstread_core::params::{Need, Role, Scheme, Values};

use super::Areas;
use super::contract::{AfterOverwrites, Entry, InUse, MakeRoom, PageMove, PageWrite, RegionRoom};
use super::params::{HIGH, LOW, LOW_FREE, LOW_SHARE, LOW_STREAM, low_from, slots_of};
use super::second_chance::SecondChance;
use crate::observe::{Future, Owner, PageFuture, RegionId, RegionRow, StreamRow, SuperblockTable};
use crate::policy::Setup;
use crate::policy::hot_pages::PageRead;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "clairvoyant",
    summary: "as differential, for the pages that will be read most",
    source: "the oracle: what the low wearing area holds is what is read most until it is written anew",
    role: Role::Oracle,
    needs: &[Need::Future, Need::OwnStream],
    ordered: &[],
    params: &[LOW_SHARE],
};

/// What the oracle plans to keep in LWA, and where LWA begins.
#[derive(Clone, Debug)]
pub struct Clairvoyant {
    low_from: u32,
    /// Slots of a superblock.
    slots: u64,
    /// Pages that LWA has room for: its retired superblocks hold none.
    room: u64,
    second_chance: SecondChance,
    /// Reads of a version from which it belongs in LWA.
    least_reads: u32,
}

impl Clairvoyant {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Clairvoyant {
        Clairvoyant {
            low_from: low_from(setup, values),
            slots: slots_of(setup),
            room: 0,
            second_chance: SecondChance::new(slots_of(setup)),
            least_reads: u32::MAX,
        }
    }

    fn belongs(&self, future: PageFuture) -> bool {
        future.left > 0 && future.reads >= self.least_reads
    }
}

impl Areas for Clairvoyant {
    fn region(&self) -> Option<RegionRow> {
        Some(RegionRow {
            first: self.low_from,
            free_after_fill: Some(LOW_FREE),
        })
    }

    /// Nothing is read, so nothing belongs there.
    fn after_overwrites(&self, _: u64) -> AfterOverwrites {
        AfterOverwrites::Nothing { free: LOW_FREE }
    }

    fn streams(&self) -> &'static [StreamRow] {
        LOW_STREAM
    }

    fn look(&mut self, blocks: &SuperblockTable) {
        let low = InUse::of(blocks.in_region(LOW));
        self.room = low.most_settled(self.slots);
    }

    fn foresee(&mut self, future: &Future) {
        // The versions of a page follow one another: its most read one is what it takes room for.
        let most = future
            .all_versions()
            .map(|versions| versions.iter().copied().max());
        let mut reads: Vec<u32> = most.flatten().collect();
        reads.sort_unstable_by(|a, b| b.cmp(a));
        let last = reads.get(self.room as usize).copied().unwrap_or(0);
        // Two reads at least: the first one finds the page where it lies.
        self.least_reads = (last + 1).max(2);
    }

    fn of_write(&self, page: &PageWrite) -> Option<Entry> {
        self.belongs(page.future).then_some(Entry::Update)
    }

    fn of_move(&self, page: &PageMove) -> Option<Entry> {
        if page.from == LOW && self.stays(page.owner) {
            return Some(Entry::Stay);
        }
        if page.owner == Owner::Rewrite || !self.belongs(page.future) {
            return None;
        }
        match (page.from, page.owner) {
            (LOW, Owner::MakeRoom) if !self.second_chance.is_given() => None,
            (LOW, _) => Some(Entry::Stay),
            (HIGH, Owner::Gc) => Some(Entry::Gc),
            (HIGH, Owner::Wear) => Some(Entry::Wear),
            _ => None,
        }
    }

    /// Pages of which no read is to come leave when their superblock is returned, and not when garbage is compacted: room is made
    /// only where the high wearing area has room for what leaves.
    fn stays(&self, owner: Owner) -> bool {
        !matches!(owner, Owner::MakeRoom | Owner::Rewrite)
    }

    fn sees_read(&self, area: RegionId, _retries: u8) -> bool {
        area == HIGH
    }

    fn after_read(&mut self, area: RegionId, read: &PageRead) -> Option<bool> {
        (area == HIGH && self.belongs(read.future)).then_some(true)
    }

    fn has_entered(&mut self, entry: Entry, owner: Option<Owner>) {
        self.second_chance.has_entered(entry, owner);
    }

    fn makes_room(&self, room: &RegionRoom) -> MakeRoom {
        match room.gain > room.slots / 2 {
            true => MakeRoom::Compact,
            false => MakeRoom::EmptyOldest,
        }
    }

    fn oldest_leaves(&mut self) {
        self.second_chance.begin();
    }
}
