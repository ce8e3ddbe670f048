//! What heat counts, and in how much memory.

/// How heat is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeatConfig {
    /// Slots that share their counters: a power of two.
    pub unit_slots: u32,
    /// Bits of a unit's counter of reads, one at least.
    pub read_bits: u8,
    /// Bits of a unit's counter of writes, one at least. With those of reads eight at most: a unit has a byte.
    pub write_bits: u8,
    /// When all counters are halved.
    pub epoch: Epoch,
    /// Whether writes bring the end of an epoch nearer. If not, it is reached by reads alone.
    pub epoch_counts_writes: bool,
    /// Whether a write sets the reads of its unit to zero.
    pub reset_on_update: bool,
    /// Whether each page is shown the heat of another one: the control of every scheme that asks for heat.
    pub shuffle: bool,
    /// Most memory (bytes). Where a counter for every unit would take more, the units that were cold are forgotten.
    pub most_bytes: u64,
    /// Seed of the pages that `shuffle` swaps.
    pub seed: u64,
}

/// The time between two halvings, in accesses of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Epoch {
    /// So many accesses for each counter: where all units are accessed alike, so often each.
    Counters(u32),
    /// So many accesses, one at least.
    Accesses(u64),
    /// Counters are never halved.
    Never,
}

impl Default for Epoch {
    /// As many accesses as there are counters.
    fn default() -> Epoch {
        Epoch::Counters(1)
    }
}

impl Default for HeatConfig {
    /// Four bits for reads and four for writes of each slot.
    fn default() -> HeatConfig {
        HeatConfig {
            unit_slots: 1,
            read_bits: 4,
            write_bits: 4,
            epoch: Epoch::default(),
            epoch_counts_writes: true,
            reset_on_update: false,
            shuffle: false,
            most_bytes: 255 << 20,
            seed: 0,
        }
    }
}

impl HeatConfig {
    /// Units of a drive of `capacity_slots`.
    pub(super) fn units(&self, capacity_slots: u64) -> u64 {
        capacity_slots.div_ceil(u64::from(self.unit_slots.max(1)))
    }
}
