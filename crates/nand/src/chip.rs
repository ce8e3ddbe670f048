//! A chip profile: what characterization knows of a chip, as plain numbers with units in their names.
//!
//! A profile holds measurements and the parameters of the ageing laws, never an outcome: no retry count, no
//! latency, no error rate. Every law has a null, named in its struct's documentation, so that a study can
//! switch off a single mechanism. [`ChipProfile::validate`] names the key that is wrong, and why.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use firstread_core::CellMode;
use firstread_core::voltage::MAX_FACTORY;

use crate::ageing::Laws;
use crate::cell::noise::NOISE;
use crate::profile::error::bad;
use crate::profile::field::{
    Field, Numbers, Source, TEMPERATURE, choose, numbers, optional, path, table, unit,
};
use crate::profile::{ArrayProfile, ChipTiming, ModeProfile, ProfileError, Reason};

pub use crate::ageing::cross_temperature::CrossTemperatureProfile;
pub use crate::ageing::disturb::DisturbProfile;
pub use crate::ageing::law::MAX_COMPONENTS;
pub use crate::ageing::retention::{LevelLaw, RetentionComponent, RetentionProfile};
pub use crate::ageing::transient::TransientProfile;
pub use crate::ageing::wear::WearProfile;
pub use crate::cell::noise::{PhaseSettling, SensingProfile};
pub use crate::failure::FailureProfile;
pub use crate::place::layers::{LayerProfile, LayerShape, SigmaFrom};
pub use crate::place::open_block::OpenBlockProfile;
pub use crate::place::variation::VariationProfile;

/// How a cell stores its charge. The laws are the same code; the numbers differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Technology {
    /// Charge in traps of a nitride layer: early, level-dependent loss.
    ChargeTrap,
    /// Charge on a conductive floating gate: slow loss.
    FloatingGate,
}

impl Technology {
    const NAMES: [(&str, Technology); 2] = [
        (Technology::ChargeTrap.name(), Technology::ChargeTrap),
        (Technology::FloatingGate.name(), Technology::FloatingGate),
    ];

    /// The name used in profiles and options.
    pub const fn name(self) -> &'static str {
        match self {
            Technology::ChargeTrap => "charge-trap",
            Technology::FloatingGate => "floating-gate",
        }
    }
}

/// One chip: everything that the medium needs.
#[derive(Clone, PartialEq, Debug)]
pub struct ChipProfile {
    /// Name, as in `firstread cells NAME`.
    pub name: String,
    /// Charge storage.
    pub technology: Technology,
    /// Layers and strings of a block.
    pub array: ArrayProfile,
    /// Size of one DAC unit of a read level (mV).
    pub dac_step_mv: f64,
    /// The cell modes that the chip supports, in any order, each at most once.
    pub modes: Vec<ModeProfile>,
    /// The condition at which the factory default read levels are optimal.
    pub factory_default: FactoryDefault,
    /// The rule by which its factory retry table is made.
    pub factory_table: FactoryRule,
    /// The entries of its factory retry table behind the default, where they are known and not made by the rule: a row an
    /// entry, the offset of each valley's level from the factory default (DAC units). They are those of the mode with as
    /// many valleys.
    pub factory_entries: Vec<Vec<i8>>,
    /// The laws of ageing.
    pub laws: Laws,
    /// Differences between layers of the stack.
    pub layers: LayerProfile,
    /// Blocks that are only partly written.
    pub open_block: OpenBlockProfile,
    /// Random differences between chips, blocks, wordlines and states.
    pub variation: VariationProfile,
    /// Noise of a sense.
    pub sensing: SensingProfile,
    /// Factory and grown bad blocks.
    pub failures: FailureProfile,
    /// Durations that do not depend on the mode.
    pub timing: ChipTiming,
}

numbers! {
    /// The condition at which the default read levels are optimal. The model computes the levels; they are
    /// never typed in.
    pub struct FactoryDefault {
        /// Time since programming (h).
        retention_h: f64 = "retention", H, 0.0, 1e6;
        /// Temperature during that time (°C).
        temperature_c: f64 = "temperature", DEGC, TEMPERATURE.min, TEMPERATURE.max;
        /// Program/erase cycles.
        pe_cycles: u32 = "pe_cycles", PE, 0, 1_000_000;
    }
}

numbers! {
    /// The rule by which a factory table is made.
    ///
    /// Entry 0 is the default. The following entries go down the nominal drift path, in equal steps of the
    /// top valley. The path is the nominal page's optimum as stress grows, so each valley takes the share of
    /// the step that its state loses. After every `interleave` such entries comes one above the default, for
    /// blocks colder or fresher than the default's condition. A vendor who expects retention first would
    /// choose this order. A table has no entry for deviations of a single page.
    pub struct FactoryRule {
        /// Step of the top valley (mV).
        step_mv: f64 = "step", MV, 0.1, 1e3;
        /// Entries down the path.
        down: u8 = "down", ONE, 0, MAX_FACTORY;
        /// Entries up the path, at the same step.
        up: u8 = "up", ONE, 0, MAX_FACTORY;
        /// Entries down between two entries up.
        interleave: u8 = "interleave", ONE, 1, MAX_FACTORY;
    }
}

/// The key `entries` of the table of the factory's retries, if it is there.
fn read_entries(from: &dyn Source) -> Vec<Vec<i8>> {
    const KEY: &str = "entries";
    if !from.has(KEY) {
        return Vec::new();
    }
    let mut entries = from.offsets(KEY);
    // The default may be told too.
    if entries
        .first()
        .is_some_and(|first| first.iter().all(|o| *o == 0))
    {
        entries.remove(0);
    }
    let levels = entries.first().map_or(0, Vec::len);
    if let Some(i) = entries.iter().position(|entry| entry.len() != levels) {
        let message = format!(
            "entry {} has {} levels, and the first one {levels}",
            i + 1,
            entries[i].len()
        );
        from.note(KEY, message);
        return Vec::new();
    }
    if entries.len() >= MAX_FACTORY {
        let message = format!(
            "{} entries; at most {} are possible beside the default",
            entries.len(),
            MAX_FACTORY - 1
        );
        from.note(KEY, message);
        return Vec::new();
    }
    entries
}

impl FactoryRule {
    /// A step of 10 mV lies between two values: the 7.5 mV that reproduce published TLC retry counts, and the
    /// 15 mV at which neighbouring entries leave gaps for aged QLC pages. 32 steps cover the shift of a year
    /// at 30 °C and rated wear on either reference chip (150 and 280 mV). Steps and lengths of real tables
    /// are proprietary, so all of this is assumed.
    pub const DEFAULT: FactoryRule = FactoryRule {
        step_mv: 10.0,
        down: 32,
        up: 3,
        interleave: 8,
    };
}

const DAC_STEP: Field = Field::new("dac_step", unit::MV, 0.1, 100.0);

impl ChipProfile {
    /// Reads the chip called `name`.
    pub fn read(name: String, from: &dyn Source) -> ChipProfile {
        let technology = choose(from, "technology", &Technology::NAMES);
        let dac_step_mv = from.number(&DAC_STEP);
        let array = table(from, "array", ArrayProfile::read);
        let factory_default = table(from, "factory_default", FactoryDefault::read);
        let (factory_table, factory_entries) = table(from, "factory_table", |from| {
            (FactoryRule::read(from), read_entries(from))
        });
        let laws = Laws::read(from);
        let components = laws.retention.names();
        let chip = ChipProfile {
            name,
            technology,
            dac_step_mv,
            array,
            factory_default,
            factory_table,
            factory_entries,
            laws,
            failures: table(from, "failures", FailureProfile::read),
            layers: table(from, "layers", LayerProfile::read),
            open_block: table(from, "open_block", OpenBlockProfile::read),
            variation: table(from, "variation", VariationProfile::read),
            sensing: table(from, "sensing", SensingProfile::read),
            timing: table(from, "timing", ChipTiming::read),
            modes: table(from, "modes", |from| {
                let modes = CellMode::ALL.iter().filter_map(|&mode| {
                    let read = |from: &dyn Source| ModeProfile::read(from, mode, &components);
                    optional(from, mode.name(), read)
                });
                modes.collect()
            }),
        };
        let levels = chip.factory_entries.first().map_or(0, Vec::len);
        if levels > 0 && !chip.modes.iter().any(|m| m.mode.valleys() == levels) {
            let modes = chip.modes.iter().map(|m| {
                let name = m.mode.name().to_uppercase();
                format!("{} in {name} mode", m.mode.valleys())
            });
            let modes: Vec<String> = modes.collect();
            let message = format!(
                "its `entries` have {levels} levels, and the chip has {}",
                modes.join(", ")
            );
            from.note("factory_table", message);
        }
        chip
    }

    /// Entries of the factory retry table in `mode`, the default among them.
    pub fn factory_len(&self, mode: CellMode) -> usize {
        let rule = &self.factory_table;
        match self.own_entries(mode) {
            Some(entries) => 1 + entries.len(),
            None => (1 + usize::from(rule.down) + usize::from(rule.up)).min(MAX_FACTORY),
        }
    }

    /// The entries behind the default that the profile gives for `mode`, if it gives any.
    pub fn own_entries(&self, mode: CellMode) -> Option<&[Vec<i8>]> {
        let levels = self.factory_entries.first()?.len();
        (levels == mode.valleys()).then_some(&self.factory_entries)
    }

    /// The profile of `mode`, if the chip has it.
    pub fn mode(&self, mode: CellMode) -> Option<&ModeProfile> {
        self.modes.iter().find(|m| m.mode == mode)
    }

    /// Wordlines of a block.
    pub fn wordlines(&self) -> u32 {
        self.array.wordlines()
    }

    /// Checks every number. The error names the key of the first wrong one.
    pub fn validate(&self) -> Result<(), ProfileError> {
        if self.name.is_empty() {
            return Err(bad("name", Reason::Rule("is empty")));
        }
        self.array.check("array")?;
        DAC_STEP.check("", self.dac_step_mv)?;
        if self.modes.is_empty() {
            return Err(bad("modes", Reason::Rule("the chip has no cell mode")));
        }
        let components = self.laws.retention.names();
        for (i, m) in self.modes.iter().enumerate() {
            if self.modes[..i].iter().any(|o| o.mode == m.mode) {
                let twice = Reason::Rule("appears twice");
                return Err(bad(path("modes", m.mode.name()), twice));
            }
            m.check(&components)?;
        }
        self.factory_default.check("factory_default")?;
        self.factory_table.check("factory_table")?;
        self.laws.check(&self.modes)?;
        self.failures.check("failures")?;
        self.layers.check("layers")?;
        self.layers.suits("layers", self.array.layers)?;
        self.open_block.check("open_block")?;
        // Without a tail its width is irrelevant.
        let v = self.variation;
        let tail_sigma_ratio = if v.tail_fraction > 0.0 {
            v.tail_sigma_ratio
        } else {
            1.0
        };
        VariationProfile {
            tail_sigma_ratio,
            ..v
        }
        .check("variation")?;
        self.sensing.check("sensing")?;
        for m in &self.modes {
            if m.sigma_mv.iter().any(|&s| s <= self.sensing.noise_mv) {
                return Err(bad(path("sensing", NOISE.key), Reason::Noise(m.mode)));
            }
        }
        self.timing.validate("timing")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;

    #[test]
    fn formula_a_chip_is_refused_for_the_first_wrong_key() {
        type Break = fn(&mut ChipProfile);
        let cases: [(&str, Break); 13] = [
            ("name", |c| c.name.clear()),
            ("array.layers", |c| c.array.layers = 0),
            ("dac_step", |c| c.dac_step_mv = 0.0),
            ("modes", |c| c.modes.clear()),
            ("modes.qlc", |c| c.modes.push(c.modes[0].clone())),
            ("factory_table.step", |c| c.factory_table.step_mv = 0.0),
            ("failures.shape", |c| c.failures.shape = 0.0),
            ("layers.edge_layers", |c| c.layers.edge_layers = 89),
            ("open_block.open_shift", |c| {
                c.open_block.open_shift_mv = 2e3
            }),
            ("variation.chip_rate", |c| c.variation.chip_rate = 0.6),
            ("sensing.noise", |c| c.sensing.noise_mv = 42.0),
            ("timing.io", |c| c.timing.io_mt_per_s = 0),
            ("retention.late.saturation", |c| {
                c.laws.retention.components[0].saturation_h = 0.5;
            }),
        ];
        for (key, spoil) in cases {
            let mut chip = reference::ct_a();
            spoil(&mut chip);
            assert_eq!(chip.validate().map_err(|e| e.key), Err(key.into()));
        }
        // Without a tail its width does not count, and noise may be all but the width.
        let mut chip = reference::ct_a();
        chip.variation.tail_sigma_ratio = 0.0;
        chip.sensing.noise_mv = 41.9;
        chip.layers.edge_layers = 88;
        assert_eq!(chip.validate(), Ok(()));
        assert_eq!(chip.wordlines(), 1408);
        assert!(chip.mode(CellMode::Qlc).is_some() && chip.mode(CellMode::Tlc).is_none());
        let names = [Technology::ChargeTrap, Technology::FloatingGate].map(Technology::name);
        assert_eq!(names, ["charge-trap", "floating-gate"]);
    }
}
