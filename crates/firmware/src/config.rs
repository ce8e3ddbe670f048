//! How a drive is set up.

use firstread_core::{CellMode, Geometry, Ns};

/// How a drive is set up. Fixed for its life.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Its geometry.
    pub geometry: Geometry,
    /// Mode its superblocks start in, and the one in which they hold most.
    pub mode: CellMode,
    /// Logical pages it offers.
    pub capacity_slots: u64,
    /// Slots beyond the capacity and the reserve of cleaning without which the drive is at its end of
    /// life: cleaning costs the more, the fewer they are.
    pub least_spare_slots: u64,
    /// Commands in flight at most; ids are below it.
    pub max_commands: u32,
    /// Page rows read at the same time at most.
    pub max_reads: u32,
    /// Times the chip lets one program or erase be suspended.
    pub max_suspends: u16,
    /// Whether planes of a die read independently.
    pub independent_planes: bool,
    /// How long other work waits at most behind reads of the host that came later.
    pub max_wait: Ns,
    /// Slots that the host has read and that are kept in memory; zero for no read cache.
    pub read_cache_slots: u32,
    /// What the write buffer is to the host.
    pub write_cache: WriteCache,
    /// Pages of the map that are in memory at a time, a slot each; zero for all of it.
    pub map_cache_pages: u32,
}

impl Config {
    /// Bytes of its logical pages.
    #[inline]
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity_slots * u64::from(self.geometry.slot_bytes)
    }
}

/// What the write buffer is to the host: the Volatile Write Cache of NVMe.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WriteCache {
    /// Protected from power loss: no volatile write cache.
    #[default]
    Protected,
    /// Lost with power, unless flushed.
    Volatile,
    /// Every write completes when it is programmed: a volatile write cache that is disabled.
    WriteThrough,
}
