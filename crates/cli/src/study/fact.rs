//! Facts: what a variant's calibration is like without a run.

use anyhow::Result;
use firstread_core::sensing::SensingTable;
use firstread_drive::profile::DriveProfile;
use firstread_drive::tables;
use firstread_firmware::policy;
use firstread_firmware::policy::read_levels::{AnyReadLevels, Footprint, ReadLevels};
use firstread_nand::place::layers;
use firstread_workload::nearest;

/// A property of a variant's calibration that needs no run.
#[derive(Debug)]
pub struct Fact {
    pub name: &'static str,
    /// Of what the scheme keeps for so many superblocks.
    of: fn(&Footprint, usize) -> f64,
}

/// All facts.
pub const FACTS: &[Fact] = &[
    Fact {
        name: "active_table_bytes",
        of: |f, _| f.tables.active as f64,
    },
    Fact {
        name: "metadata_kb",
        of: |f, _| f.total() as f64 / 1e3,
    },
    Fact {
        name: "working_kb",
        of: |f, _| f.working as f64 / 1e3,
    },
    Fact {
        name: "bytes_a_superblock",
        of: |f, superblocks| f.superblocks as f64 / superblocks as f64,
    },
];

impl Fact {
    /// The fact called `name`.
    pub fn find(name: &str) -> Result<&'static Fact, String> {
        FACTS.iter().find(|m| m.name == name).ok_or_else(|| {
            let near = nearest(name, FACTS.iter().map(|m| m.name)).unwrap_or_default();
            format!("there is no fact `{name}`; the nearest is `{near}`")
        })
    }

    /// Its value for the drive of `profile`; none where the drive's scheme keeps no tables.
    pub fn value(&self, profile: &DriveProfile) -> Result<Option<f64>> {
        let geometry = profile.geometry;
        let setup = policy::Setup {
            geometry,
            capacity_slots: profile.capacity_bytes / u64::from(geometry.slot_bytes),
            tables: tables::for_drive(profile)?,
            layer_of: layers::of_wordlines(&profile.chip.array, geometry.wordlines_per_block),
            sensing: SensingTable::NOTHING,
            temperature_c: 25,
            seed: 0,
        };
        let levels = profile
            .scheme("read_levels")
            .and_then(|c| AnyReadLevels::new(c.scheme.name, &setup, &c.values));
        let footprint = levels.and_then(|levels| levels.footprint());
        Ok(footprint.map(|f| (self.of)(&f, geometry.blocks_per_plane as usize)))
    }
}
