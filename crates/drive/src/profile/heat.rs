//! How the firmware counts heat: the table `[heat]` of a profile, which may be left out. The firmware counts heat if a
//! scheme of the drive needs it, or if `heat.enabled` is set.

use firstread_firmware::observe::{Epoch, HeatConfig};

use crate::profile::keys::Keys;
use crate::profile::value::{keys, words};

/// Accesses that end an epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EpochCounts {
    /// Reads and writes.
    Accesses,
    /// Reads alone.
    Reads,
}

words! {
    EpochCounts: "accesses" = Accesses, "reads" = Reads;
}

keys! {
    /// How reads and writes of pages are counted, where they are.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct HeatProfile {
        /// Counts also where no scheme asks for it, to be observed.
        enabled: bool = "enabled" or "false" =>
            "default: heat is counted where a scheme asks for it";
        /// Bytes that share their counters; 0 for a mapping unit.
        unit_bytes: u64 = "unit" [B, 0, 1 << 20] or "0 B" =>
            "default: a mapping unit; a multiple of it shares counters and takes less memory";
        /// Bits of a counter of reads.
        read_bits: u8 = "read_bits" [ONE, 1, 7] or "4" =>
            "default: reads count to 15; with the bits of writes 8 at most";
        /// Bits of a counter of writes.
        write_bits: u8 = "write_bits" [ONE, 1, 7] or "4" => "default: writes count to 15";
        /// Accesses after which counters are halved; 0 for as many as there are counters, none for never.
        epoch: Option<u64> = "epoch" [ONE, 0, 1u64 << 53] or "0" =>
            "default: counters are halved after as many accesses as there are counters; none: never";
        /// How many times the number of counters an epoch of 0 is.
        epoch_times: u32 = "epoch_times" [ONE, 1, 1024] or "1" =>
            "default: with an epoch of 0, as many accesses as there are counters so many times";
        /// What counts towards an epoch.
        epoch_counts: EpochCounts = "epoch_counts" or "accesses" =>
            "default: reads and writes end an epoch; reads: reads alone do";
        /// Whether a write sets the reads of its unit to zero.
        reset_on_update: bool = "reset_on_update" or "false" =>
            "default: a write leaves the count of reads; true: it sets it to zero";
        /// Whether schemes are shown the heat of other pages.
        shuffle: bool = "shuffle" or "false" =>
            "default: schemes see the heat of each page; true: that of another page, as a control";
        /// Memory that the counters may take. What the tags of a large drive need at least is checked with its units.
        most_bytes: u64 = "most" [B, 1 << 10, 1u64 << 34] or "255 MiB" =>
            "default: where a counter for every unit takes more, units that are cold are forgotten";
    }
}

impl HeatProfile {
    /// Reads the table, whose keys go together.
    pub(super) fn checked(keys: &Keys<'_>) -> HeatProfile {
        let profile = HeatProfile::read(keys);
        if profile.epoch_times > 1 && profile.epoch != Some(0) {
            let message = "multiplies the number of counters, and `heat.epoch` is not 0";
            keys.note("epoch_times", message.into());
        }
        let bits = profile.read_bits + profile.write_bits;
        if bits > 8 {
            let key = match keys.has("read_bits") {
                true => "read_bits",
                false => "write_bits",
            };
            let message = format!(
                "makes {bits} bits of `heat.read_bits` and `heat.write_bits`, at most 8: a unit has a byte"
            );
            keys.note(key, message);
        }
        profile
    }

    /// The same for the firmware of a drive with mapping units of `slot_bytes`.
    pub(super) fn config(&self, slot_bytes: u32, seed: u64) -> HeatConfig {
        HeatConfig {
            unit_slots: (self.unit_bytes as u32 / slot_bytes).max(1),
            read_bits: self.read_bits,
            write_bits: self.write_bits,
            epoch: match self.epoch {
                Some(0) => Epoch::Counters(self.epoch_times),
                Some(accesses) => Epoch::Accesses(accesses),
                None => Epoch::Never,
            },
            epoch_counts_writes: self.epoch_counts == EpochCounts::Accesses,
            reset_on_update: self.reset_on_update,
            shuffle: self.shuffle,
            most_bytes: self.most_bytes,
            seed,
        }
    }
}
