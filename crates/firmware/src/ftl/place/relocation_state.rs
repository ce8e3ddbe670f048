//! Relocation state: what relocation has in progress, and who waits for space.
//!
//! Relocation records here what it has in progress, and placement records who waits. Placement reads the
//! relocation state to decide who may have how much space. Relocation reads it to decide what to move and how fast.

use firstread_core::{CellMode, SuperblockId, Wait};

use crate::format::record;
use crate::observe::{ModeSet, Owner};

/// Fractions of a slot in which due moves are counted: the pace may be less than one move for each host slot.
const PER_SLOT: i64 = 256;

/// Multi-plane pages of a superblock at most: more than any drive has.
const MOST_MP_PAGES: u32 = 1 << 24;

/// A superblock that is being emptied, or will be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evacuation {
    pub(crate) owner: Owner,
    pub(crate) block: SuperblockId,
    /// Sequence number of its opening, which shows whether it was erased since.
    pub(crate) opened: u64,
    /// Cell mode to erase it into.
    pub(crate) mode: CellMode,
    /// Next multi-plane page to look at, in fill order, out of `mp_pages`.
    pub(crate) mp_page: u32,
    pub(crate) mp_pages: u32,
    /// Slots that the drive loses by the change of mode.
    pub(crate) shrinks: u32,
}

impl Evacuation {
    /// The same superblock, to be searched again from its start, because it is unknown what it still holds.
    pub(crate) fn restarted(self) -> Evacuation {
        Evacuation { mp_page: 0, ..self }
    }
}

/// The pace of cleaning: how many moves become due with each slot that the host writes.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    /// Due moves, in fractions of a slot.
    due: i64,
    /// Moves that become due with each host slot, in fractions of a slot.
    per_host_slot: i64,
    /// Number of due moves at which writes begin to wait.
    most_due: i64,
    /// Host slots until the pace is next updated, and the interval between updates.
    until_update: u32,
    update_after: u32,
    /// Moves pause: none become due, and writes do not wait for those that are due.
    pub(super) is_paused: bool,
}

impl Pace {
    /// For superblocks of `superblock` slots, with `wordline` slots per wordline over all dies.
    pub(crate) fn new(superblock: u32, wordline: u32) -> Pace {
        Pace {
            due: 0,
            per_host_slot: 0,
            most_due: i64::from(wordline) * PER_SLOT,
            until_update: 1,
            update_after: (superblock / 256).clamp(1, 64),
            is_paused: false,
        }
    }

    /// The host has written a slot. Returns whether the pace has to be updated.
    #[inline]
    pub(crate) fn earn(&mut self) -> bool {
        if !self.is_paused {
            self.due += self.per_host_slot;
        }
        self.until_update -= 1;
        self.until_update == 0
    }

    /// `slots` slots are being moved. Moves made before they were due count at the next update.
    pub(crate) fn spend(&mut self, slots: u32) {
        self.due = (self.due - i64::from(slots) * PER_SLOT).max(0);
    }

    /// The pace is being updated: the next update is some host slots away.
    pub(crate) fn update(&mut self) {
        self.until_update = self.update_after;
    }

    /// The pace will be updated with the next host slot.
    pub(crate) fn update_soon(&mut self) {
        self.until_update = 1;
    }

    /// `moves` slots have to be moved while the host writes `over` slots.
    pub(crate) fn spread(&mut self, moves: i64, over: u32) {
        // Moves that are already due are not spread again. The result is at least a little, so that a victim
        // is looked for.
        let moves = (moves * PER_SLOT - self.due).max(1);
        self.per_host_slot = (moves / i64::from(over)).max(1);
    }

    /// No move is due: there is nothing to move, or no need to.
    pub(crate) fn rest(&mut self) {
        self.due = 0;
        self.per_host_slot = 0;
    }

    /// Whether moves are due.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.due > 0
    }

    /// Whether so many moves are due, or will be once the host has written `slots` more slots, that writes have to wait.
    #[inline]
    pub(crate) fn is_behind_after(&self, slots: u32) -> bool {
        !self.is_paused && self.due + i64::from(slots) * self.per_host_slot >= self.most_due
    }

    /// Slots per wordline over all dies.
    pub(crate) fn wordline(&self) -> u32 {
        (self.most_due / PER_SLOT) as u32
    }
}

/// A set of wait reasons.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Waits(u8);

/// One bit per reason.
const _: () = assert!((Wait::Overlay as u32) < u8::BITS);

impl Waits {
    /// Whether `wait` is in the set.
    #[inline]
    pub(crate) fn has(self, wait: Wait) -> bool {
        self.0 >> wait as u8 & 1 != 0
    }

    /// Adds `wait` to the set, or removes it.
    #[inline]
    pub(crate) fn set(&mut self, wait: Wait, waits: bool) {
        self.0 = self.0 & !(1 << wait as u8) | u8::from(waits) << wait as u8;
    }

    /// Removes `wait` from the set. Returns whether it was there.
    #[inline]
    pub(crate) fn end(&mut self, wait: Wait) -> bool {
        let had = self.has(wait);
        self.set(wait, false);
        had
    }
}

/// Times that a claim is refused from which the host is taken to rest.
const RESTS_AFTER: u32 = 4096;

/// Of these, those that each slot which the host writes meanwhile takes off. A host that writes a slot now and then rests, though
/// its superblock may not be full for hours.
const OFF_A_SLOT: u64 = 64;

/// Claims on free superblocks by what is neither the host, nor the map, nor cleaning: [`Placement::may_lend`].
///
/// [`Placement::may_lend`]: super::Placement::may_lend
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Claims {
    /// A claim on a superblock was refused since the host opened its own.
    waits: bool,
    /// Cleaning makes headroom for a claim on a superblock too, until the host needs its next one.
    pub(crate) is_served: bool,
    /// Times that a claim was refused, less what slots that the host wrote take off, and how many it had written.
    refused: u32,
    written: u64,
}

impl Claims {
    /// A claim is refused; `written` slots have been written by the host. `by_cleaning`: it waits for cleaning to empty one
    /// superblock more.
    pub(crate) fn refuse(&mut self, by_cleaning: bool, written: u64) {
        self.waits |= by_cleaning;
        self.refused = (self.left_at(written) + 1).min(RESTS_AFTER);
        self.written = written;
    }

    /// Refusals that are left once `written` slots have been written by the host.
    fn left_at(&self, written: u64) -> u32 {
        let off = OFF_A_SLOT.saturating_mul(written.saturating_sub(self.written));
        u64::from(self.refused).saturating_sub(off) as u32
    }

    /// Whether the host writes nothing or next to nothing, although claims wait for it.
    pub(crate) fn host_rests(&self, written: u64) -> bool {
        self.left_at(written) >= RESTS_AFTER
    }

    /// A claim on a superblock is granted.
    pub(crate) fn grant(&mut self) {
        (self.waits, self.is_served) = (false, false);
    }

    /// The host opens a superblock: the moves for a claim that waits are spread over the slots of it.
    pub(crate) fn host_opens(&mut self) {
        self.is_served = core::mem::take(&mut self.waits);
    }
}

/// What relocation has in progress, and who waits for space.
#[derive(Clone, Debug)]
pub(crate) struct RelocationState {
    /// The superblock being emptied.
    pub(crate) emptying: Option<Evacuation>,
    /// The superblock being emptied beside that one, for the pool that the host writes to: cleaning does not wait for it, nor it for
    /// cleaning.
    pub(crate) destaging: Option<Evacuation>,
    /// Moves that hold a job.
    pub(crate) moves: u32,
    /// Moves whose read has not ended. A move whose data have arrived may itself wait for host writes, so
    /// nothing may wait for it.
    pub(crate) moves_reading: u32,
    /// Requests to move superblocks and pages that relocation has not begun.
    pub(crate) asked: u32,
    /// The pace of cleaning.
    pub(crate) pace: Pace,
    /// What host writes wait for that another machine must provide: a superblock, due moves, or the job of a
    /// read.
    pub(crate) host_waits: Waits,
    /// Of a wait for due moves: slots of other writes, which go on before, whose moves count as due. Of several that wait, the
    /// fewest.
    pub(crate) slots_before: u32,
    /// What the map cache waits for: a superblock.
    pub(crate) map_waits: Waits,
    /// Modes whose stream has found no free superblock in its pool.
    pub(crate) wanted: ModeSet,
    /// The pool that the host writes to wants its mode on its own account, and no copy has found it without a superblock since.
    pub(crate) pool_alone_wants: bool,
    /// What asks for free superblocks beside the host, the map and cleaning.
    pub(crate) claims: Claims,
    /// The host or the map cache has opened a superblock, so victims have to be planned again.
    pub(crate) plan_anew: bool,
    /// Host slots and map pages written so far, at the time when the host opened its previous superblock and
    /// its current one.
    pub(crate) written_before: [(u64, u64); 2],
    /// Superblocks opened so far and slots written by the host when moves began to pause.
    pub(super) paused_at: (u64, u64),
}

impl RelocationState {
    /// A state with nothing in progress.
    pub(crate) fn new(pace: Pace) -> RelocationState {
        RelocationState {
            emptying: None,
            destaging: None,
            moves: 0,
            moves_reading: 0,
            asked: 0,
            pace,
            host_waits: Waits::default(),
            slots_before: 0,
            map_waits: Waits::default(),
            wanted: ModeSet::default(),
            pool_alone_wants: false,
            claims: Claims::default(),
            plan_anew: false,
            written_before: [(0, 0); 2],
            paused_at: (0, 0),
        }
    }

    /// Whether the host or the map cache waits for a superblock.
    #[inline]
    pub(crate) fn superblock_is_wanted(&self) -> bool {
        self.host_waits.has(Wait::Superblock) || self.map_waits.has(Wait::Superblock)
    }

    /// Whether relocation has no requests and nothing in progress.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.is_resting() && self.asked == 0
    }

    /// Whether no move is in progress and no superblock is being emptied.
    pub(crate) fn is_resting(&self) -> bool {
        self.emptying.is_none() && self.destaging.is_none() && self.moves == 0
    }

    /// Whether what was loaded is of a drive of `blocks` superblocks.
    pub(crate) fn is_sound(&self, blocks: u32) -> bool {
        let pace = &self.pace;
        let is_sound = |e: &Evacuation| e.block.0 < blocks && e.mp_pages <= MOST_MP_PAGES;
        (1..=pace.update_after).contains(&pace.until_update)
            && self.emptying.as_ref().is_none_or(is_sound)
            && self.destaging.as_ref().is_none_or(is_sound)
            && self
                .destaging
                .is_none_or(|e| self.emptying.is_none_or(|other| other.block != e.block))
    }

    /// So much was `written` until now, host slots and map pages. Where the counters were lost, that is less than when the
    /// host opened its last superblocks, and the rate of map pages is learned anew.
    pub(crate) fn written_so_far(&mut self, written: (u64, u64)) {
        for before in &mut self.written_before {
            *before = (before.0.min(written.0), before.1.min(written.1));
        }
    }

    /// Power was cut: the superblock being emptied and the pace stay; everything else is lost.
    pub(crate) fn cut(&mut self) {
        *self = RelocationState {
            emptying: self.emptying.map(Evacuation::restarted),
            destaging: self.destaging.map(Evacuation::restarted),
            plan_anew: self.plan_anew,
            written_before: self.written_before,
            ..RelocationState::new(self.pace.clone())
        }
    }
}

record! {
    of values Evacuation as "evacuation" {
        owner: "what the data are moved for",
        block: "superblock",
        opened: "number of its opening",
        mode: "cell mode to erase it into, in bits a cell",
        mp_page: "next multi-plane page to look at",
        mp_pages: "multi-plane pages of the superblock",
        shrinks ["slots"]: "slots that the drive loses by the change of mode",
    }
}

record! {
    Pace as "pace of cleaning" {
        due ["1/256 slots"]: "moves due",
        per_host_slot ["1/256 slots"]: "moves that become due with each host slot",
        until_update ["slots"]: "host slots until the pace is updated",
    } not {
        most_due: "of the configuration",
        update_after: "of the configuration",
        is_paused: "found again when the pace is updated",
    }
}

record! {
    RelocationState as "relocation" {
        emptying: "the superblock being emptied",
        destaging: "the superblock being emptied for the pool that the host writes to",
        pace: "the pace of cleaning",
        plan_anew: "whether victims have to be planned anew",
        written_before ["slots, map pages"]: "written when the host opened its last two superblocks",
    } not {
        moves: "moves in flight are lost",
        moves_reading: "moves in flight are lost",
        asked: "requests that have not begun are lost",
        host_waits: "commands are lost",
        slots_before: "commands are lost",
        map_waits: "commands are lost",
        wanted: "found again by the next copy",
        pool_alone_wants: "found again when the pool is looked at",
        paused_at: "moves do not pause after a restart before their stream is nearly full again",
        claims: "made again by the next copy, change of mode or return",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host that writes nothing, or a slot now and then, rests once claims were refused often enough. One that writes a slot
    /// for every 64 refusals does not.
    #[test]
    fn formula_a_host_that_writes_next_to_nothing_rests() {
        for (every, rests) in [
            (0, true),
            (4_000, true),
            (65, true),
            (63, false),
            (1, false),
        ] {
            let (mut claims, mut written) = (Claims::default(), 7);
            let mut rested = 0;
            for refused in 1..=500_000 {
                if every > 0 && refused % every == 0 {
                    written += 1;
                }
                rested += u32::from(claims.host_rests(written));
                claims.refuse(true, written);
            }
            assert_eq!(rested > 0, rests, "a slot every {every}: {rested}");
            // A host that writes on does not rest.
            assert!(!claims.host_rests(written + 1));
        }
    }

    #[test]
    fn model_waits_are_a_set() {
        let mut waits = Waits::default();
        waits.set(Wait::Superblock, true);
        waits.set(Wait::Cleaning, true);
        waits.set(Wait::Superblock, true);
        assert!(waits.has(Wait::Superblock) && waits.has(Wait::Cleaning));
        assert!(!waits.has(Wait::ReadBuffer));
        assert!(waits.end(Wait::Superblock) && !waits.end(Wait::Superblock));
        assert!(waits.has(Wait::Cleaning));
        waits.set(Wait::Cleaning, false);
        assert_eq!(waits, Waits::default());
    }

    #[test]
    fn formula_the_moves_are_spread_over_the_room_of_the_host() {
        let mut pace = Pace::new(4096, 64);
        pace.spread(1000, 100);
        for _ in 0..100 {
            pace.update();
            pace.earn();
            // Ten moves become due with each slot, no more and no fewer.
            pace.spend(9);
            assert!(pace.is_due());
            pace.spend(1);
            assert!(!pace.is_due());
        }
    }

    #[test]
    fn formula_writes_wait_once_a_wordline_is_due() {
        let mut pace = Pace::new(4096, 64);
        pace.spread(1000, 100);
        let written = (1..).find(|_| {
            pace.update();
            pace.earn();
            pace.is_behind_after(0)
        });
        // Ten moves per host slot, 64 slots per wordline.
        assert_eq!(written, Some(7));
        pace.spend(64);
        assert!(pace.is_due() && !pace.is_behind_after(0));
        // Six of 64 moves are due, and each further slot makes ten more due.
        assert!(!pace.is_behind_after(5) && pace.is_behind_after(6));
        // Moves already due are not spread again.
        pace.spread(6, 100);
        pace.update();
        pace.earn();
        pace.spend(6);
        assert!(!pace.is_behind_after(0));
        pace.rest();
        assert!(!pace.is_due());
    }

    /// While moves pause none becomes due, and writes do not wait for those that are.
    #[test]
    fn formula_a_pause_holds_moves_and_no_writes() {
        let mut pace = Pace::new(4096, 64);
        pace.spread(100_000, 1);
        pace.earn();
        assert!(pace.is_due() && pace.is_behind_after(0));
        let due = pace.due;
        pace.is_paused = true;
        pace.update();
        pace.earn();
        assert!(pace.is_due() && !pace.is_behind_after(1_000));
        assert_eq!(pace.due, due);
        pace.is_paused = false;
        assert!(pace.is_behind_after(0));
    }

    #[test]
    fn formula_the_pace_is_reckoned_every_256th_part_of_a_superblock_or_at_once() {
        let mut pace = Pace::new(4096, 64);
        assert!(pace.earn(), "at the first slot");
        pace.update();
        let after = (1..).find(|_| pace.earn());
        assert_eq!(after, Some(16));
        pace.update();
        pace.update_soon();
        assert!(pace.earn());
    }

    #[test]
    fn powerloss_what_is_emptied_and_the_pace_outlive_the_rest() {
        let mut pace = Pace::new(4096, 64);
        pace.spread(1000, 100);
        pace.earn();
        let mut relocation = RelocationState::new(pace);
        relocation.emptying = Some(Evacuation {
            owner: Owner::Gc,
            block: SuperblockId(3),
            opened: 7,
            mode: CellMode::Qlc,
            mp_page: 5,
            mp_pages: 9,
            shrinks: 0,
        });
        relocation.written_before = [(1, 2), (3, 4)];
        relocation.plan_anew = true;
        (relocation.moves, relocation.moves_reading, relocation.asked) = (4, 3, 2);
        relocation.host_waits.set(Wait::Cleaning, true);
        relocation.map_waits.set(Wait::Superblock, true);
        relocation.cut();
        assert!(relocation.pace.is_due());
        assert_eq!(
            relocation.emptying.map(|e| (e.block, e.mp_page)),
            Some((SuperblockId(3), 0))
        );
        assert_eq!(relocation.written_before, [(1, 2), (3, 4)]);
        assert!(relocation.plan_anew);
        assert_eq!(
            (relocation.moves, relocation.moves_reading, relocation.asked),
            (0, 0, 0)
        );
        assert!(!relocation.superblock_is_wanted() && !relocation.host_waits.has(Wait::Cleaning));
    }
}
