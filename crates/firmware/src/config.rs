//! Configuration of a drive.

use firstread_core::{CellMode, CycleDamage, Geometry, Ns};

use crate::observe::HeatConfig;

/// Configuration of a drive, fixed for its life.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// What tells the drive from others, schemes apart: a hash of its profile. A dump names it.
    pub identity: u64,
    /// Geometry of the drive.
    pub geometry: Geometry,
    /// Cell mode that superblocks start in. In this mode they hold the most data.
    pub mode: CellMode,
    /// Damage by a program/erase cycle in each mode, in cycles of that mode.
    pub cycle_damage: CycleDamage,
    /// Capacity in logical pages.
    pub capacity_slots: u64,
    /// Minimum number of slots beyond the capacity and the cleaning reserve. With fewer, the drive has
    /// reached its end of life: cleaning costs more the fewer spare slots are left.
    pub least_spare_slots: u64,
    /// Maximum number of pages in the journal that were trimmed alone or are lost ([`crate::ftl::JOURNAL_ENTRY_BYTES`] each in
    /// an emergency dump). Part of a region of the map is not trimmed if that would be more: NVMe leaves a deallocation to
    /// the drive. Where the map lies on flash, its pages have the trims, and there is no bound.
    pub most_journal_pages: u64,
    /// Maximum number of commands in flight. Command ids are below it.
    pub max_commands: u32,
    /// Maximum number of multi-plane pages read at the same time.
    pub max_reads: u32,
    /// Whether planes of a die read independently.
    pub independent_planes: bool,
    /// How the time of a die is shared between host reads and work that waits behind them.
    pub turns: Turns,
    /// How long programs and erases take.
    pub change_times: ChangeTimes,
    /// Size of the read cache in slots; zero for none.
    pub read_cache_slots: u32,
    /// How the write buffer appears to the host.
    pub write_cache: WriteCache,
    /// Size of the map cache in map pages, one slot each; zero if the whole map is in memory.
    pub map_cache_pages: u32,
    /// How heat is counted; none on a drive whose schemes do not ask for it.
    pub heat: Option<HeatConfig>,
}

impl Config {
    #[inline]
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity_slots * u64::from(self.geometry.slot_bytes)
    }
}

/// How the time of a die is shared between host reads and work that waits behind them: programs, erases, and reads
/// that no host command waits for.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    /// How long such work waits behind host reads before it takes turns.
    pub max_wait: Ns,
    /// Share of a die's time that work in turns gets while host reads wait: 1 to 999 thousandths.
    pub share_permille: u16,
    /// Longest part of a program or erase that runs before it can be stopped. `max_suspends` slices cover the
    /// longest operation.
    pub slice: Ns,
    /// Shortest turn of a program or erase.
    pub least_slice: Ns,
    /// Number of times the chip allows one program or erase to be suspended.
    pub max_suspends: u16,
}

/// How long programs of a wordline and erases take by cell mode, in the order of [`CellMode::ALL`], as the maker states
/// it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChangeTimes {
    /// Programs of all pages of a wordline.
    pub program: [Ns; CellMode::ALL.len()],
    /// Erases of a block on all planes at once.
    pub erase: [Ns; CellMode::ALL.len()],
}

impl ChangeTimes {
    /// How long a program takes in `mode`.
    pub(crate) fn program(&self, mode: CellMode) -> Ns {
        self.program[mode.index()]
    }

    /// How long an erase into `mode` takes.
    pub(crate) fn erase(&self, mode: CellMode) -> Ns {
        self.erase[mode.index()]
    }
}

/// How the write buffer appears to the host: the Volatile Write Cache of NVMe.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WriteCache {
    /// Protected from power loss, so there is no volatile write cache.
    #[default]
    Protected,
    /// Lost at a power cut unless flushed.
    Volatile,
    /// A volatile write cache that is disabled: every write completes once it is programmed.
    WriteThrough,
}
