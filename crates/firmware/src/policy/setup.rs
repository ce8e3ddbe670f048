//! What schemes are built from.

use alloc::boxed::Box;

use firstread_core::Geometry;
use firstread_core::sensing::SensingTable;
use firstread_core::voltage::VoltageTables;

/// What schemes are built from, besides their parameters: what is known of a drive when its power comes on. A
/// scheme uses the part that it needs.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Geometry of the drive.
    pub geometry: Geometry,
    /// Capacity in logical pages.
    pub capacity_slots: u64,
    /// Voltage tables of the chip.
    pub tables: VoltageTables,
    /// Layer of each wordline of a block.
    pub layer_of: Box<[u16]>,
    /// The shortest safe senses of the chip; an empty table if no scheme of the drive asks for them
    /// ([`firstread_core::params::Need::SafeSenses`]).
    pub sensing: SensingTable,
    /// Temperature measured by the drive (°C).
    pub temperature_c: i16,
    /// Seed of the firmware's random choices and samples.
    pub seed: u64,
}
