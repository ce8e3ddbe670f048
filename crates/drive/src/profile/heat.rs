//! How the firmware counts heat: the table `[heat]` of a profile, which may be left out. The firmware counts heat if a
//! scheme of the drive needs it, or if `heat.enabled` is set.

use firstread_firmware::observe::{Epoch, HeatConfig, MOST_HEAT_BYTES};

use crate::profile::keys::Keys;
use crate::profile::quantity::{B, ONE};

/// How reads and writes of pages are counted, where they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeatProfile {
    /// Counts also where no scheme asks for it, to be observed.
    pub enabled: bool,
    /// Bytes that share their counters; 0 for a mapping unit.
    pub unit_bytes: u64,
    /// Bits of a counter of reads.
    pub read_bits: u8,
    /// Bits of a counter of writes.
    pub write_bits: u8,
    /// When counters are halved.
    pub epoch: Epoch,
    /// Whether writes count towards an epoch.
    pub epoch_counts_writes: bool,
    /// Whether a write sets the reads of its unit to zero.
    pub reset_on_update: bool,
    /// Whether schemes are shown the heat of other pages.
    pub shuffle: bool,
    /// Memory that the counters may take; a drive that needs more is refused.
    pub most_bytes: u64,
}

impl Default for HeatProfile {
    fn default() -> HeatProfile {
        HeatProfile {
            enabled: false,
            unit_bytes: 0,
            read_bits: 4,
            write_bits: 4,
            epoch: Epoch::default(),
            epoch_counts_writes: true,
            reset_on_update: false,
            shuffle: false,
            most_bytes: MOST_HEAT_BYTES,
        }
    }
}

/// The keys: what they mean where they are not given, the number or word that says so, and its unit.
pub(crate) const DEFAULTS: [(&str, &str, &str, &str); 10] = [
    (
        "heat.enabled",
        "false",
        "",
        "default: heat is counted where a scheme asks for it",
    ),
    (
        "heat.unit",
        "0",
        "B",
        "default: a mapping unit; a multiple of it shares counters and takes less memory",
    ),
    (
        "heat.read_bits",
        "4",
        "",
        "default: reads count to 15; with the bits of writes 8 at most",
    ),
    ("heat.write_bits", "4", "", "default: writes count to 15"),
    (
        "heat.epoch",
        "0",
        "",
        "default: counters are halved after as many accesses as there are counters; none: never",
    ),
    (
        "heat.epoch_times",
        "1",
        "",
        "default: with an epoch of 0, as many accesses as there are counters so many times",
    ),
    (
        "heat.epoch_counts",
        "accesses",
        "",
        "default: reads and writes end an epoch; reads: reads alone do",
    ),
    (
        "heat.reset_on_update",
        "false",
        "",
        "default: a write leaves the count of reads; true: it sets it to zero",
    ),
    (
        "heat.shuffle",
        "false",
        "",
        "default: schemes see the heat of each page; true: that of another page, as a control",
    ),
    (
        "heat.most",
        "255",
        "MiB",
        "default: where a counter for every unit takes more, units that are cold are forgotten",
    ),
];

impl HeatProfile {
    pub(crate) fn read(k: &Keys<'_>) -> HeatProfile {
        let default = HeatProfile::default();
        let given = |key| {
            let given = k.has(key);
            if !given {
                k.declare(key);
            }
            given
        };
        let flag = |key| given(key) && k.flag(key);
        let bits = |key, default: u8| match given(key) {
            true => k.whole(key, ONE, 1, 7) as u8,
            false => default,
        };
        let mut profile = HeatProfile {
            enabled: flag("enabled"),
            unit_bytes: match given("unit") {
                true => k.whole("unit", B, 0, 1 << 20),
                false => default.unit_bytes,
            },
            read_bits: bits("read_bits", default.read_bits),
            write_bits: bits("write_bits", default.write_bits),
            epoch: match given("epoch") {
                true => match k.whole_or_none("epoch", ONE, 0, 1 << 53) {
                    Some(0) => Epoch::default(),
                    Some(accesses) => Epoch::Accesses(accesses),
                    None => Epoch::Never,
                },
                false => default.epoch,
            },
            epoch_counts_writes: !given("epoch_counts")
                || k.try_choice("epoch_counts", ["accesses", "reads"].into_iter()) != Some(1),
            reset_on_update: flag("reset_on_update"),
            shuffle: flag("shuffle"),
            most_bytes: match given("most") {
                // What the tags of a large drive need at least is checked with its units.
                true => k.whole("most", B, 1 << 10, 1 << 34),
                false => default.most_bytes,
            },
        };
        if given("epoch_times") {
            let times = k.whole("epoch_times", ONE, 1, 1024) as u32;
            match &mut profile.epoch {
                Epoch::Counters(each) => *each = times,
                _ if times == 1 => {}
                _ => k.note(
                    "epoch_times",
                    "multiplies the number of counters, and `heat.epoch` is not 0".into(),
                ),
            }
        }
        let bits = profile.read_bits + profile.write_bits;
        if bits > 8 {
            let key = if k.has("read_bits") {
                "read_bits"
            } else {
                "write_bits"
            };
            let message = format!(
                "makes {bits} bits of `heat.read_bits` and `heat.write_bits`, at most 8: a unit has a byte"
            );
            k.note(key, message);
        }
        profile
    }

    /// The same for the firmware of a drive with mapping units of `slot_bytes`.
    pub(crate) fn config(&self, slot_bytes: u32, seed: u64) -> HeatConfig {
        HeatConfig {
            unit_slots: (self.unit_bytes as u32 / slot_bytes).max(1),
            read_bits: self.read_bits,
            write_bits: self.write_bits,
            epoch: self.epoch,
            epoch_counts_writes: self.epoch_counts_writes,
            reset_on_update: self.reset_on_update,
            shuffle: self.shuffle,
            most_bytes: self.most_bytes,
            seed,
        }
    }
}
