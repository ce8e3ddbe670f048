//! Facts: properties of a variant's calibration that need no run.

use firstread_core::sensing::SensingTable;
use firstread_drive::profile::DriveProfile;
use firstread_drive::tables;
use firstread_firmware::policy;
use firstread_firmware::policy::read_levels::{AnyReadLevels, Footprint, ReadLevels};
use firstread_nand::place::layers;

use super::error::StudyError;
use crate::error::Error;

/// A property of a variant's calibration that needs no run.
#[derive(Debug)]
pub struct Fact {
    /// Its name in a study.
    pub name: &'static str,
    /// Computes the fact from the scheme's footprint, for a number of superblocks.
    of: fn(&Footprint, usize) -> f64,
}

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
    ///
    /// # Errors
    /// [`StudyError::NoSuch`] where there is none.
    pub fn find(name: &str) -> Result<&'static Fact, StudyError> {
        let found = FACTS.iter().find(|m| m.name == name);
        found.ok_or_else(|| StudyError::no_such("fact", name, FACTS.iter().map(|m| m.name)))
    }

    /// Its value for the drive of `profile`; none where the drive's scheme keeps no tables.
    ///
    /// # Errors
    /// [`Error::Tables`] where the chip's tables cannot be made.
    pub fn value(&self, profile: &DriveProfile) -> Result<Option<f64>, Error> {
        let geometry = profile.geometry;
        let setup = policy::Setup {
            geometry,
            capacity_slots: profile.capacity_bytes / u64::from(geometry.slot_bytes),
            rated_pe_cycles: profile.rated_pe_cycles(),
            tables: tables::for_drive(profile)?.own,
            layer_of: layers::of_wordlines(&profile.chip.array, geometry.wordlines_per_block),
            sensing: SensingTable::NOTHING,
            correctable_bits: 0,
            read_time: policy::ReadTime::default(),
            program: profile.change_times().program,
            cycle_damage: profile.cycle_damage(),
            temperature_c: 25,
            seed: 0,
            other_modes: Box::default(),
        };
        let levels = profile
            .scheme("read_levels")
            .and_then(|c| AnyReadLevels::new(c.scheme.name, &setup, &c.values));
        let footprint = levels.and_then(|levels| levels.footprint());
        Ok(footprint.map(|f| (self.of)(&f, geometry.blocks_per_plane as usize)))
    }
}

#[cfg(test)]
mod tests {
    use firstread_firmware::policy::read_levels::Footprint;
    use firstread_firmware::voltage::tables::TableBytes;

    use super::*;

    #[test]
    fn formula_facts_are_of_the_footprint() {
        let footprint = Footprint {
            superblocks: 1_200,
            working: 2_500,
            zones: 300,
            tables: TableBytes {
                active: 7,
                shadow: 0,
                staging: 0,
                derived: 0,
            },
        };
        let facts = FACTS
            .iter()
            .map(|fact| (fact.name, (fact.of)(&footprint, 400)));
        let facts: Vec<(&str, f64)> = facts.collect();
        assert_eq!(
            facts,
            [
                ("active_table_bytes", 7.0),
                ("metadata_kb", 4.007),
                ("working_kb", 2.5),
                ("bytes_a_superblock", 3.0),
            ]
        );
    }
}
