//! The three tiers of voltage tables, and their manager (CT-QLC §III-B).
//!
//! | tier | holds | written by |
//! |---|---|---|
//! | factory | the manufacturer's retry table | characterization |
//! | active, with its shadow | three entries a group, which reads use | [`TableManager::switch`] alone |
//! | staging | three entries a group, in the making | population, inheritance, calibration |
//!
//! The packed tables are authoritative. An entry is one offset per sentinel (4 bytes in QLC) or one per
//! valley (15 bytes). Each copy of the active table also has derived data: the unpacked levels, and per group
//! the factory entry closest to it. They are rewritten with the copy, so that a read is a lookup. Reads go
//! through the index that [`TableManager::switch`] flips, so they see a change completely or not at all.

use alloc::boxed::Box;
use alloc::vec;

use firstread_core::voltage::{MAX_PAGES, VoltageTables};
use firstread_core::{CellMode, LevelOffsets};

use super::groups::GroupSet;
use crate::format::{Cursor, Record, record};

/// Maximum number of zones: assumed; each takes a table entry.
pub const MAX_ZONES: usize = 4;

/// Entries per group, in the order in which reads try them.
pub const ENTRIES: usize = 3;

/// Levels of the entries of a group.
pub type Entries = [LevelOffsets; ENTRIES];

/// How an entry is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The sentinel offset of each page type. Linear models give the other valleys.
    Sentinel,
    /// The sentinel offset of each page type. Parabolas give the other valleys.
    Curved,
    /// The offset of each valley.
    Full,
}

/// A copy of the active table.
#[derive(Clone, Debug)]
struct Copy {
    /// `groups × ENTRIES × width` offsets.
    packed: Box<[i8]>,
    /// Shift of each zone of layers relative to its group, `groups × zones × page types`; empty if there is
    /// one zone.
    shifts: Box<[i8]>,
    /// Derived: every entry unpacked, `groups × zones`.
    levels: Box<[Entries]>,
    /// Derived: the factory entry closest to the first entry of each group.
    nearest: Box<[u8]>,
}

impl Copy {
    fn new(groups: usize, zones: usize, width: usize) -> Copy {
        Copy {
            packed: vec![0; groups * ENTRIES * width].into_boxed_slice(),
            shifts: shifts(groups, zones),
            levels: vec![[[0; 15]; ENTRIES]; groups * zones].into_boxed_slice(),
            nearest: vec![0; groups].into_boxed_slice(),
        }
    }
}

/// The active table and its shadow.
#[derive(Clone, Debug)]
struct Copies {
    /// Index of the copy that reads use. The other copy is the shadow.
    active: u8,
    both: [Copy; 2],
}

impl Copies {
    fn new(groups: usize, zones: usize, width: usize) -> Copies {
        Copies {
            active: 0,
            both: [(); 2].map(|()| Copy::new(groups, zones, width)),
        }
    }

    #[inline]
    fn active(&self) -> &Copy {
        &self.both[self.active as usize]
    }

    fn active_mut(&mut self) -> &mut Copy {
        &mut self.both[self.active as usize]
    }

    /// The active table, and its shadow to be written.
    fn with_shadow(&mut self) -> (&Copy, &mut Copy) {
        let [first, second] = &mut self.both;
        match self.active {
            0 => (first, second),
            _ => (second, first),
        }
    }
}

fn shifts(groups: usize, zones: usize) -> Box<[i8]> {
    let zones = if zones > 1 { zones } else { 0 };
    vec![0; groups * zones * MAX_PAGES].into_boxed_slice()
}

/// The tables. Only this type writes them.
#[derive(Clone, Debug)]
pub struct TableManager {
    factory: Box<VoltageTables>,
    form: Form,
    width: u8,
    zones: u8,
    copies: Copies,
    staging: Box<[i8]>,
    staging_shifts: Box<[i8]>,
    /// Groups whose new entries are being prepared.
    staged: GroupSet,
    /// The group whose new entries are ready in the shadow.
    shadowed: Option<u8>,
    /// Groups that have active entries.
    populated: GroupSet,
}

/// Sizes of the tables in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TableBytes {
    /// What reads are served from.
    pub active: usize,
    /// The copy that a switch makes active.
    pub shadow: usize,
    /// Entries in the making.
    pub staging: usize,
    /// Data derived from the active table and its shadow: unpacked levels, closest factory entries.
    pub derived: usize,
}

impl TableBytes {
    /// Memory of all tables together.
    pub const fn total(&self) -> usize {
        self.active + self.shadow + self.staging + self.derived
    }
}

impl TableManager {
    /// Tables for `groups` groups without entries.
    pub fn new(factory: &VoltageTables, form: Form, groups: usize) -> TableManager {
        let factory = Box::new(factory.sound());
        let width = match form {
            Form::Sentinel | Form::Curved => factory.mode.bits(),
            Form::Full => factory.mode.valleys() as u8,
        };
        TableManager {
            factory,
            form,
            width,
            zones: 1,
            copies: Copies::new(groups, 1, width as usize),
            staging: vec![0; groups * ENTRIES * width as usize].into_boxed_slice(),
            staging_shifts: shifts(groups, 1),
            staged: GroupSet::EMPTY,
            shadowed: None,
            populated: GroupSet::EMPTY,
        }
    }

    /// The same tables with room for `zones` zones of layers per group. Must be called on empty tables.
    pub fn with_zones(mut self, zones: u8) -> TableManager {
        let groups = self.copies.active().nearest.len();
        self.zones = zones.max(1);
        let zones = self.zones as usize;
        self.copies = Copies::new(groups, zones, self.width as usize);
        self.staging_shifts = shifts(groups, zones);
        self
    }

    /// Drops all active and staged entries, as a power loss does.
    pub fn reset(&mut self) {
        let both = &mut self.copies.both;
        both.iter_mut().for_each(|c| c.shifts.fill(0));
        self.staging_shifts.fill(0);
        self.staged = GroupSet::EMPTY;
        self.shadowed = None;
        self.populated = GroupSet::EMPTY;
    }

    // --- factory table

    /// Cell mode of the tables.
    pub fn mode(&self) -> CellMode {
        self.factory.mode
    }
    /// How entries are stored.
    pub fn form(&self) -> Form {
        self.form
    }
    /// Number of entries in the factory table.
    pub fn factory_len(&self) -> u8 {
        self.factory.factory_len
    }
    /// Entry `i` of the factory table.
    pub fn factory(&self, i: u8) -> Option<&LevelOffsets> {
        self.factory.factory[..self.factory.factory_len as usize].get(i as usize)
    }
    /// Entry `i` of the factory table as the active table can represent it, so that what is tested is what
    /// will be used.
    pub fn candidate(&self, i: u8) -> LevelOffsets {
        let mut packed = [0; 15];
        let packed = &mut packed[..self.width as usize];
        self.pack(self.factory(i).unwrap_or(&[0; 15]), packed);
        self.unpack(packed, |_| 0)
    }
    /// Page type that valley `k` (1-based) belongs to.
    pub fn page_of_valley(&self, k: u8) -> u8 {
        self.factory.page_of_valley[k as usize - 1]
    }
    /// Valleys (1-based) that must be searched for an entry: the sentinels, or all.
    pub fn searched(&self) -> impl Iterator<Item = u8> {
        let (sentinel, form) = (self.factory.sentinel, self.form);
        (0..self.width).map(move |i| match form {
            Form::Sentinel | Form::Curved => sentinel[i as usize],
            Form::Full => i + 1,
        })
    }

    // --- active table

    /// Whether `group` has active entries.
    pub fn populated(&self, group: u8) -> bool {
        self.populated.contains(group)
    }
    /// The groups that have active entries.
    pub fn populated_groups(&self) -> GroupSet {
        self.populated
    }
    /// Active entries of `group`, in its first zone.
    pub fn entries(&self, group: u8) -> &Entries {
        self.entries_in(group, 0)
    }
    /// Active entries of `group` in `zone`.
    pub fn entries_in(&self, group: u8, zone: u8) -> &Entries {
        let at = group as usize * self.zones as usize + zone as usize;
        &self.copies.active().levels[at]
    }
    /// Zones of a group.
    pub fn zones(&self) -> u8 {
        self.zones
    }
    /// Active entry `slot` of `group`, without the shifts of its zones.
    pub fn common(&self, group: u8, slot: usize) -> LevelOffsets {
        let (at, width) = (self.at(group, slot), self.width as usize);
        let packed = &self.copies.active().packed[at..at + width];
        self.unpack(packed, |_| 0)
    }
    /// Sentinel offset of page type `page`, for each entry.
    pub fn sentinels(&self, group: u8, page: u8) -> [i8; ENTRIES] {
        let valley = self.factory.sentinel[page as usize];
        let i = self.searched().position(|v| v == valley).unwrap_or(0);
        let packed = &self.copies.active().packed;
        core::array::from_fn(|slot| packed[self.at(group, slot) + i])
    }
    /// Shift of `zone` of `group` on pages of type `page`.
    pub fn shift(&self, group: u8, zone: u8, page: u8) -> i8 {
        let shifts = &self.copies.active().shifts;
        let at = self.shift_at(group, zone, page);
        shifts.get(at).copied().unwrap_or(0)
    }
    /// The factory entry closest to the first active entry of `group`.
    pub fn nearest(&self, group: u8) -> u8 {
        self.copies.active().nearest[group as usize]
    }
    /// The active table as stored: `groups × entries × offsets`.
    pub fn packed(&self) -> &[i8] {
        &self.copies.active().packed
    }

    // --- staging table

    /// Writes `levels` as staged entry `slot` of `group`.
    pub fn stage(&mut self, group: u8, slot: usize, levels: &LevelOffsets) {
        let mut packed = [0; 15];
        self.pack(levels, &mut packed[..self.width as usize]);
        let at = self.at(group, slot);
        self.staging[at..at + self.width as usize].copy_from_slice(&packed[..self.width as usize]);
        self.staged.insert(group);
    }
    /// Stages the active entries of `group` in a new order: entry `i` from position `order[i]`.
    pub fn stage_order(&mut self, group: u8, order: [u8; ENTRIES]) {
        for (slot, from) in order.into_iter().enumerate() {
            self.copy_to_staging(group, from as usize, group, slot);
        }
    }
    /// Stages the active entries of group `from` for `group`.
    pub fn stage_from(&mut self, from: u8, group: u8) {
        for slot in 0..ENTRIES {
            self.copy_to_staging(from, slot, group, slot);
        }
    }
    /// Reorders the staged entries of `group`: entry `i` from position `order[i]`.
    pub fn reorder_staged(&mut self, group: u8, order: [u8; ENTRIES]) {
        let width = self.width as usize;
        let at = order.map(|from| self.at(group, from as usize));
        for offset in 0..width {
            let old = at.map(|at| self.staging[at + offset]);
            for (slot, offsets) in old.into_iter().enumerate() {
                let to = self.at(group, slot) + offset;
                self.staging[to] = offsets;
            }
        }
    }
    /// Stages the first active entry of `group`, moved by `by` units per page type, and as low and high
    /// backup the same entry `apart` units below and above.
    pub fn stage_around(&mut self, group: u8, by: [i8; MAX_PAGES], apart: u8) {
        self.stage_order(group, [0; ENTRIES]);
        let first = self.at(group, 0);
        for i in 0..self.width as usize {
            let valley = self.searched().nth(i).unwrap_or(1);
            let page = self.page_of_valley(valley) as usize;
            let center = self.staging[first + i].saturating_add(by[page]);
            for (slot, offset) in [
                center,
                center.saturating_sub_unsigned(apart),
                center.saturating_add_unsigned(apart),
            ]
            .into_iter()
            .enumerate()
            {
                let at = self.at(group, slot) + i;
                self.staging[at] = offset;
            }
        }
    }
    /// Stages shift `shift` of `zone` of `group` on pages of type `page`.
    pub fn stage_shift(&mut self, group: u8, zone: u8, page: u8, shift: i8) {
        let at = self.shift_at(group, zone, page);
        if let Some(staged) = self.staging_shifts.get_mut(at) {
            *staged = shift;
        }
    }
    /// Staged entry `slot` of `group` in `zone`, unpacked.
    pub fn staged(&self, group: u8, slot: usize, zone: u8) -> LevelOffsets {
        let at = self.at(group, slot);
        self.unpack(&self.staging[at..at + self.width as usize], |page| {
            let at = self.shift_at(group, zone, page);
            self.staging_shifts.get(at).copied().unwrap_or(0)
        })
    }
    /// Whether new entries of `group` are being prepared.
    pub fn is_staged(&self, group: u8) -> bool {
        self.staged.contains(group)
    }
    /// Drops the staged entries of `group`.
    pub fn discard(&mut self, group: u8) {
        self.staged.remove(group);
    }

    /// Drops all staged entries.
    pub fn discard_all(&mut self) {
        self.staged = GroupSet::EMPTY;
        self.shadowed = None;
    }

    // --- from staging to active

    /// First half of a synchronization: the shadow becomes a copy of the active table, with the staged
    /// entries of `group`. Reads are not affected.
    pub fn write_shadow(&mut self, group: u8) {
        let (active, shadow) = self.copies.with_shadow();
        shadow.packed.copy_from_slice(&active.packed);
        shadow.shifts.copy_from_slice(&active.shifts);
        shadow.levels.copy_from_slice(&active.levels);
        shadow.nearest.copy_from_slice(&active.nearest);

        let (at, len) = (self.at(group, 0), ENTRIES * self.width as usize);
        let levels: [Entries; MAX_ZONES] = core::array::from_fn(|zone| {
            let zone = (zone as u8).min(self.zones - 1);
            core::array::from_fn(|slot| self.staged(group, slot, zone))
        });
        let nearest = self.factory.nearest(&levels[0][0]);
        let (zones, first) = (self.zones as usize, self.shift_at(group, 0, 0));
        let (_, shadow) = self.copies.with_shadow();
        shadow.packed[at..at + len].copy_from_slice(&self.staging[at..at + len]);
        if zones > 1 {
            let shifts = first..first + zones * MAX_PAGES;
            shadow.shifts[shifts.clone()].copy_from_slice(&self.staging_shifts[shifts]);
        }
        let from = group as usize * zones;
        shadow.levels[from..from + zones].copy_from_slice(&levels[..zones]);
        shadow.nearest[group as usize] = nearest;
        self.shadowed = Some(group);
    }
    /// Second half of a synchronization: one store makes the shadow the active table.
    pub fn switch(&mut self) {
        if let Some(group) = self.shadowed.take() {
            self.copies.active = 1 - self.copies.active;
            self.populated.insert(group);
            self.staged.remove(group);
        }
    }
    /// Whether the shadow is ready to be switched to.
    pub fn is_shadowed(&self, group: u8) -> bool {
        self.shadowed == Some(group)
    }
    /// Both halves of a synchronization. Returns how far the first entry has moved: the largest move of a
    /// sentinel, in DAC units.
    pub fn synchronize(&mut self, group: u8) -> u8 {
        let first = |tables: &TableManager| {
            let (at, width) = (tables.at(group, 0), tables.width as usize);
            let packed = &tables.packed()[at..at + width];
            let mut offsets = [0; 15];
            offsets[..width].copy_from_slice(packed);
            offsets
        };
        let old = first(self);
        self.write_shadow(group);
        self.switch();
        let new = first(self);
        let moved = old.iter().zip(new).map(|(old, new)| old.abs_diff(new));
        moved.max().unwrap_or(0)
    }

    /// Sizes of the tables in bytes.
    pub fn bytes(&self) -> TableBytes {
        let derived = |c: &Copy| size_of_val(&*c.levels) + size_of_val(&*c.nearest);
        let kept = |c: &Copy| size_of_val(&*c.packed) + size_of_val(&*c.shifts);
        TableBytes {
            active: kept(self.copies.active()),
            shadow: kept(&self.copies.both[1 - self.copies.active as usize]),
            staging: size_of_val(&*self.staging) + size_of_val(&*self.staging_shifts),
            derived: self.copies.both.iter().map(derived).sum(),
        }
    }

    // --- a dump

    /// After the tables were loaded: derives what a dump does not keep.
    pub(super) fn derive(&mut self) {
        let mut groups = self.populated;
        while let Some(group) = groups.pop() {
            for zone in 0..self.zones {
                for slot in 0..ENTRIES {
                    let (at, width) = (self.at(group, slot), self.width as usize);
                    let packed = &self.packed()[at..at + width];
                    let levels = self.unpack(packed, |page| self.shift(group, zone, page));
                    let at = group as usize * self.zones as usize + zone as usize;
                    self.copies.active_mut().levels[at][slot] = levels;
                }
            }
            let nearest = self.factory.nearest(&self.entries(group)[0]);
            self.copies.active_mut().nearest[group as usize] = nearest;
        }
    }

    /// Whether a set names only groups that there are.
    pub(crate) fn has_all(&self, groups: GroupSet) -> bool {
        groups.lies_below(self.copies.active().nearest.len())
    }

    /// Whether all groups with entries are groups that there are.
    pub(super) fn is_sound(&self) -> bool {
        self.has_all(self.populated) && self.has_all(self.staged)
    }

    /// Leaves only what reads may see: tables that behave alike become alike.
    #[cfg(test)]
    pub(crate) fn leave_in_use(&mut self) {
        let groups = self.copies.active().nearest.len();
        let mut used = Copies::new(groups, self.zones as usize, self.width as usize);
        core::mem::swap(used.active_mut(), self.copies.active_mut());
        core::mem::swap(&mut self.copies, &mut used);
        let unused = (0..groups).filter(|&group| !self.populated.contains(group as u8));
        let active = &mut self.copies.both[0];
        for group in unused {
            let zones = self.zones as usize;
            active.levels[group * zones..][..zones].fill([[0; 15]; ENTRIES]);
            active.nearest[group] = 0;
        }
    }

    // --- packing

    fn shift_at(&self, group: u8, zone: u8, page: u8) -> usize {
        (group as usize * self.zones as usize + zone as usize) * MAX_PAGES + page as usize
    }
    fn at(&self, group: u8, slot: usize) -> usize {
        (group as usize * ENTRIES + slot) * self.width as usize
    }
    fn copy_to_staging(&mut self, from: u8, from_slot: usize, group: u8, slot: usize) {
        let (source, target) = (self.at(from, from_slot), self.at(group, slot));
        let width = self.width as usize;
        let packed = &self.copies.active().packed[source..source + width];
        self.staging[target..target + width].copy_from_slice(packed);
        let of = |group| self.shift_at(group, 0, 0);
        let (source, target, len) = (of(from), of(group), self.zones as usize * MAX_PAGES);
        if self.zones > 1 {
            let shifts = &self.copies.active().shifts[source..source + len];
            self.staging_shifts[target..target + len].copy_from_slice(shifts);
        }
        self.staged.insert(group);
    }
    fn pack(&self, levels: &LevelOffsets, packed: &mut [i8]) {
        for (offset, valley) in packed.iter_mut().zip(self.searched()) {
            *offset = levels[valley as usize - 1];
        }
    }
    /// Equation (1) of the paper: the offset of each valley from the shifted sentinel of its page type.
    fn unpack(&self, packed: &[i8], shift: impl Fn(u8) -> i8) -> LevelOffsets {
        let mut levels = [0; 15];
        for (i, &offset) in packed.iter().enumerate() {
            let page = match self.form {
                Form::Full => self.factory.page_of_valley[i],
                Form::Sentinel | Form::Curved => i as u8,
            };
            let offset = offset.saturating_add(shift(page));
            match self.form {
                Form::Full => levels[i] = offset,
                Form::Sentinel => self.factory.project(page, offset, &mut levels),
                Form::Curved => self.factory.project_curved(page, offset, &mut levels),
            }
        }
        levels
    }
}

record! {
    Copy as "voltage table" {
        packed ["dac"]: "offsets of each entry of each group from the factory default",
        shifts ["dac"]: "shift of each zone of layers, by page type; empty if there is one zone",
    } not {
        levels: "unpacked again",
        nearest: "found again",
    }
}

/// The shadow is written anew before each switch.
impl Record for Copies {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        self.active_mut().transfer(cursor);
    }
}

record! {
    TableManager as "voltage tables" {
        copies: "the active table",
        staging ["dac"]: "staged entries of each group",
        staging_shifts ["dac"]: "staged shifts of each zone",
        staged: "groups whose new entries are being prepared, one bit each",
        populated: "groups that have active entries, one bit each",
    } not {
        factory: "of the configuration",
        form: "of the configuration",
        width: "of the configuration",
        zones: "of the configuration",
        shadowed: "entries are switched at once",
    }
}
