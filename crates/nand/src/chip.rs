//! A chip profile: what characterization knows of a chip, as plain numbers with units in their names.
//!
//! A profile holds measurements and the parameters of the ageing laws, never an outcome: no retry count, no
//! latency, no error rate. Every law has a null, named in its struct's documentation, so that a study can
//! switch off a single mechanism. [`ChipProfile::validate`] names the key that is wrong, and why.

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
        let factory_table = table(from, "factory_table", FactoryRule::read);
        let laws = Laws::read(from);
        let components = laws.retention.names();
        ChipProfile {
            name,
            technology,
            dac_step_mv,
            array,
            factory_default,
            factory_table,
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
        }
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
