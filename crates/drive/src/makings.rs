//! What a firmware is made from: its configuration and schemes, as a profile has them. A drive makes
//! one at first, and a new one each time that power comes back.

use firstread_core::Ns;
use firstread_core::sensing::SensingTable;
use firstread_core::voltage::VoltageTables;
use firstread_ecc::Code;
use firstread_firmware::policy::gc_victim::{self, AnyGcVictim};
use firstread_firmware::policy::read_ahead::{self, AnyReadAhead};
use firstread_firmware::policy::read_levels::{AnyReadLevels, Setup};
use firstread_firmware::policy::recovery::AnyRecovery;
use firstread_firmware::policy::retry::{self, AnyRetry};
use firstread_firmware::policy::suspend::AnySuspend;
use firstread_firmware::policy::wear::AnyWear;
use firstread_firmware::{Config, Schemes};
use firstread_nand::ageing::layers;

use crate::profile::{DriveProfile, SchemeChoice};
use crate::tables;

/// Page rows in flight at most: more than any queue depth of interest keeps busy.
const MAX_READS: u32 = 4096;

/// What the schemes want to know beside their parameters.
#[derive(Debug)]
pub(crate) struct Makings {
    read_levels: Setup,
    retry: retry::Setup,
    gc_victim: gc_victim::Setup,
    read_ahead: read_ahead::Setup,
}

impl Makings {
    /// For drives of `profile` with these voltage tables and this code, never hotter than `hottest_c`.
    pub(crate) fn new(
        profile: &DriveProfile,
        tables: VoltageTables,
        code: &Code,
        hottest_c: f64,
        seed: u64,
    ) -> Result<Makings, String> {
        let geometry = profile.geometry;
        let makes_haste = retry::makes_haste(choice(profile, "retry").scheme.name);
        Ok(Makings {
            read_levels: Setup {
                geometry,
                tables,
                layer_of: layers::of_wordlines(&profile.chip, geometry.wordlines_per_block),
                seed,
            },
            retry: retry::Setup {
                sensing: match makes_haste {
                    true => tables::sensing(profile, code).map_err(|e| e.to_string())?,
                    false => SensingTable::NOTHING,
                },
                temperature_c: libm::ceil(hottest_c) as i16,
            },
            gc_victim: gc_victim::Setup { seed },
            read_ahead: read_ahead::Setup {
                slot_bytes: geometry.slot_bytes,
                row_slots: geometry.slots_per_row(),
                capacity_slots: profile.capacity_bytes / u64::from(geometry.slot_bytes),
            },
        })
    }

    /// The configuration of a firmware for `profile`.
    pub(crate) fn config(&self, profile: &DriveProfile) -> Config {
        let (geometry, chip) = (profile.geometry, &profile.chip.timing);
        let slots = |bytes: u64| bytes / u64::from(geometry.slot_bytes);
        Config {
            geometry,
            mode: profile.mode,
            capacity_slots: slots(profile.capacity_bytes),
            max_commands: profile.link.max_outstanding,
            max_reads: MAX_READS,
            least_spare_slots: profile.least_spare_slots(),
            max_suspends: chip.max_suspends,
            independent_planes: chip.independent_plane_reads,
            max_wait: Ns(profile.firmware.max_wait_ns),
            map_cache_pages: slots(profile.dram.map_cache_bytes) as u32,
            write_cache: profile.dram.write_cache,
            read_cache_slots: slots(profile.dram.read_cache_bytes) as u32,
        }
    }

    /// The schemes of `profile`, as they are before their first read.
    pub(crate) fn schemes(&self, profile: &DriveProfile) -> Schemes {
        let of = |axis| {
            let choice = choice(profile, axis);
            (choice.scheme.name, &*choice.values)
        };
        let known = "the profile's schemes are those of the axis";
        let (levels, victim, retry) = (of("read_levels"), of("gc_victim"), of("retry"));
        let (ahead, recovery) = (of("read_ahead"), of("recovery"));
        let (wear, suspend) = (of("wear"), of("suspend"));
        Schemes {
            read_levels: AnyReadLevels::new(levels.0, &self.read_levels, levels.1).expect(known),
            gc_victim: AnyGcVictim::new(victim.0, &self.gc_victim, victim.1).expect(known),
            wear: AnyWear::new(wear.0, wear.1).expect(known),
            retry: AnyRetry::new(retry.0, &self.retry, retry.1).expect(known),
            recovery: AnyRecovery::new(recovery.0, recovery.1).expect(known),
            suspend: AnySuspend::new(suspend.0, suspend.1).expect(known),
            read_ahead: AnyReadAhead::new(ahead.0, &self.read_ahead, ahead.1).expect(known),
        }
    }
}

/// The scheme of `axis`.
fn choice<'a>(profile: &'a DriveProfile, axis: &str) -> &'a SchemeChoice {
    let choice = profile.scheme(axis);
    choice.expect("every profile has a scheme for every axis")
}
