//! What schemes are built from.

use alloc::boxed::Box;

use firstread_core::Geometry;
use firstread_core::sensing::SensingTable;
use firstread_core::voltage::VoltageTables;

/// What schemes are built from, beside their parameters: what is known of a drive when its power comes on. A scheme
/// takes of it what it needs.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Geometry of the drive.
    pub geometry: Geometry,
    /// Logical pages it offers.
    pub capacity_slots: u64,
    /// Voltage tables of the chip.
    pub tables: VoltageTables,
    /// Layer of each wordline of a block.
    pub layer_of: Box<[u16]>,
    /// How short a sense of the chip may be; nothing where no scheme of the drive asks
    /// ([`firstread_core::params::Need::SafeSenses`]).
    pub sensing: SensingTable,
    /// What the drive's thermometer says (°C).
    pub temperature_c: i16,
    /// Seed of the firmware's own choices and sampling.
    pub seed: u64,
}
