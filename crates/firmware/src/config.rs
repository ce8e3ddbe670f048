//! Configuration of a drive.

use firstread_core::{CellMode, Geometry, Ns};

use crate::observe::HeatConfig;

/// Configuration of a drive, fixed for its life.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Geometry of the drive.
    pub geometry: Geometry,
    /// Cell mode that superblocks start in. In this mode they hold the most data.
    pub mode: CellMode,
    /// Capacity in logical pages.
    pub capacity_slots: u64,
    /// Minimum number of slots beyond the capacity and the cleaning reserve. With fewer, the drive has
    /// reached its end of life: cleaning costs more the fewer spare slots are left.
    pub least_spare_slots: u64,
    /// Maximum number of commands in flight. Command ids are below it.
    pub max_commands: u32,
    /// Maximum number of multi-plane pages read at the same time.
    pub max_reads: u32,
    /// Number of times the chip allows one program or erase to be suspended.
    pub max_suspends: u16,
    /// Whether planes of a die read independently.
    pub independent_planes: bool,
    /// Maximum time that other work waits behind host reads that arrived later.
    pub max_wait: Ns,
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
    /// Capacity in bytes.
    #[inline]
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity_slots * u64::from(self.geometry.slot_bytes)
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
