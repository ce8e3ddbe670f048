//! A chip's text to [`ChipProfile`].
//!
//! Keys are those of the struct without the unit, which is part of the value: `mean_mv` of a mode
//! is `modes.qlc.mean = { value = ["-2500 mV", ...], source = ... }`.

use firstread_core::CellMode;
use firstread_core::voltage::MAX_FACTORY;
use firstread_nand::ChipProfile;
use firstread_nand::characterize::FactoryRule;
use firstread_nand::profile::{
    ArrayProfile, ChipTiming, CrossTemperatureProfile, DisturbProfile, FactoryDefault,
    FailureProfile, LayerProfile, LayerShape, LevelLaw, ModeProfile, OpenBlockProfile,
    PhaseSettling, ProgramTiming, RetentionComponent, RetentionProfile, SensePhases,
    SensingProfile, Technology, TransientProfile, VariationProfile, WearProfile, WordlineOrder,
};

use crate::profile::document::Document;
use crate::profile::quantity::{
    DEGC, EV, H, MT_PER_S, MV, MV_PER_DECADE, MV_PER_DEGC, MV_PER_E, MV_PER_KPE, NS, ONE, PE,
    PERCENT_PER_KPE, READS, S, X,
};
use crate::profile::reader::{Keys, Reader};
use crate::profile::{Kind, Library, Override, ProfileError, ResolvedEntry};

/// Components a retention law may have, and the order in which the medium sees them.
const COMPONENTS: [&str; 3] = ["late", "early", "low_energy"];

/// One hundred seconds in ns: a longer array operation is a unit mistake.
const LONGEST_NS: u64 = 100_000_000_000;

/// A chip and its listing.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadedChip {
    /// The chip.
    pub chip: ChipProfile,
    /// What it is, in a line or two.
    pub summary: String,
    /// Every value with unit and source.
    pub resolved: Vec<ResolvedEntry>,
}

/// Chip `name` of `library` with `overrides` (paths without `chip.`).
pub fn load_chip(
    library: &Library,
    name: &str,
    overrides: &[Override],
) -> Result<LoadedChip, ProfileError> {
    let document = Document::load(library, Kind::Chip, name, overrides)?;
    let reader = Reader::new(&document);
    let (chip, summary, components) = reader.read(read);
    if !reader.failed()
        && let Err(e) = chip.validate()
    {
        let path = path_of(&reader, &e.key, &components);
        reader.note_at(&path, e.reason);
    }
    Ok(LoadedChip {
        chip,
        summary,
        resolved: reader.finish()?,
    })
}

/// The path in the text of the struct's `key`: units are dropped from the end of names, and where
/// the text has no such leaf, its table stands for it.
fn path_of(reader: &Reader<'_>, key: &str, components: &[&str]) -> String {
    const UNITS: [&str; 10] = [
        "_mv_per_decade",
        "_mv_per_kpe",
        "_mt_per_s",
        "_mv_per_c",
        "_pe_cycles",
        "_mv",
        "_ns",
        "_ev",
        "_h",
        "_c",
    ];
    let mut path = key.to_string();
    for (i, name) in components.iter().enumerate() {
        path = path.replace(&format!("components[{i}]"), name);
    }
    if let Some(i) = path.rfind('[') {
        path.truncate(i);
    }
    loop {
        let stripped = UNITS
            .iter()
            .chain(&["_s", "_reads"])
            .find_map(|u| path.strip_suffix(u));
        for candidate in [Some(path.as_str()), stripped].into_iter().flatten() {
            if reader.was_read(candidate) {
                return candidate.to_string();
            }
        }
        match path.rfind('.') {
            Some(i) => path.truncate(i),
            None => return path,
        }
    }
}

fn read(keys: &Keys<'_>) -> (ChipProfile, String, Vec<&'static str>) {
    let name = keys.text("name");
    let summary = keys.text("summary");
    let technology = keys.choice(
        "technology",
        &[Technology::ChargeTrap, Technology::FloatingGate].map(|t| (t.name(), t)),
    );
    let dac_step_mv = keys.number("dac_step", MV, 0.1, 100.0);
    let array = keys.table("array", |k| ArrayProfile {
        layers: k.whole("layers", ONE, 1, 2_000) as u16,
        strings_per_layer: k.whole("strings_per_layer", ONE, 1, 30_000) as u16,
        order: k.choice(
            "order",
            &[
                ("layer-by-layer", WordlineOrder::LayerByLayer),
                ("string-by-string", WordlineOrder::StringByString),
            ],
        ),
    });
    let factory_default = keys.table("factory_default", |k| FactoryDefault {
        retention_h: k.number("retention", H, 0.0, 1e6),
        temperature_c: k.number("temperature", DEGC, -55.0, 150.0),
        pe_cycles: k.whole("pe_cycles", PE, 0, 1_000_000) as u32,
    });
    let factory_table = keys.table("factory_table", |k| FactoryRule {
        step_mv: k.number("step", MV, 0.1, 1e3),
        down: k.whole("down", ONE, 0, MAX_FACTORY as u64) as u8,
        up: k.whole("up", ONE, 0, MAX_FACTORY as u64) as u8,
        interleave: k.whole("interleave", ONE, 1, MAX_FACTORY as u64) as u8,
    });
    let (retention, components) = keys.table("retention", retention);
    let chip = ChipProfile {
        name,
        technology,
        array,
        dac_step_mv,
        factory_default,
        factory_table,
        retention,
        wear: keys.table("wear", |k| WearProfile {
            sigma_per_kpe: share_per_kpe(k, "sigma_per_kpe"),
            erased_shift_mv_per_kpe: k.number("erased_shift", MV_PER_KPE, -1e3, 1e3),
            programmed_shift_mv_per_kpe: k.number("programmed_shift", MV_PER_KPE, -1e3, 1e3),
        }),
        disturb: keys.table("disturb", |k| DisturbProfile {
            shift_mv: k.number("shift", MV_PER_E, 0.0, 1e4),
            onset_reads: k.number("onset", READS, 1.0, 1e12),
            adjacent_weight: k.number("adjacent_weight", X, 1.0, 1e3),
            per_kpe: share_per_kpe(k, "per_kpe"),
            level_scale_mv: k.number("level_scale", MV, 1.0, 1e6),
        }),
        cross_temperature: keys.table("cross_temperature", |k| CrossTemperatureProfile {
            shift_mv_per_c: k.number("shift", MV_PER_DEGC, -20.0, 20.0),
            slope_mv_per_c: k.number("slope", MV_PER_DEGC, -20.0, 20.0),
            sigma_mv_per_c: k.number("sigma", MV_PER_DEGC, 0.0, 20.0),
        }),
        transient: keys.table("transient", |k| TransientProfile {
            shift_mv: k.number("shift", MV, -1e3, 1e3),
            time_constant_s: k.number("time_constant", S, 1e-6, 1e9),
        }),
        failures: keys.table("failures", |k| FailureProfile {
            factory_bad: k.number("factory_bad", X, 0.0, 0.5),
            grown_bad: k.number("grown_bad", X, 0.0, 0.99),
            shape: k.number("shape", X, 0.1, 50.0),
            erase_share: k.number("erase_share", X, 0.0, 1.0),
        }),
        layers: keys.table("layers", |k| LayerProfile {
            shape: k.choice(
                "shape",
                &[("linear", LayerShape::Linear), ("bowed", LayerShape::Bowed)],
            ),
            retention_span: k.number("retention_span", X, -0.9, 0.9),
            sigma_span: k.number("sigma_span", X, -0.9, 10.0),
            offset_span_mv: k.number("offset_span", MV, -500.0, 500.0),
            edge_layers: k.whole("edge_layers", ONE, 0, 1_000) as u16,
            edge_retention_factor: k.number("edge_retention_factor", X, 0.0, 10.0),
            edge_sigma_factor: k.number("edge_sigma_factor", X, 0.1, 10.0),
        }),
        open_block: keys.table("open_block", |k| OpenBlockProfile {
            frontier_wordlines: k.whole("frontier_wordlines", ONE, 0, 65_535) as u16,
            frontier_shift_mv: k.number("frontier_shift", MV, -1e3, 1e3),
            frontier_sigma_factor: k.number("frontier_sigma_factor", X, 0.1, 10.0),
            open_shift_mv: k.number("open_shift", MV, -1e3, 1e3),
        }),
        variation: keys.table("variation", variation),
        sensing: keys.table("sensing", |k| SensingProfile {
            noise_mv: k.number("noise", MV, 0.0, 500.0),
            pre: k.table("pre", settling),
            eval: k.table("eval", settling),
            disch: k.table("disch", settling),
            soft_spacing: k.number("soft_spacing", X, 0.01, 5.0),
        }),
        timing: keys.table("timing", timing),
        modes: keys.table("modes", |k| {
            let modes = CellMode::ALL
                .iter()
                .filter_map(|&m| k.optional_table(m.name(), |k| mode(k, m, &components)));
            modes.collect()
        }),
    };
    (chip, summary, components)
}

fn share_per_kpe(keys: &Keys<'_>, key: &str) -> f64 {
    keys.number(key, PERCENT_PER_KPE, 0.0, 1_000.0) / 100.0
}

fn retention(keys: &Keys<'_>) -> (RetentionProfile, Vec<&'static str>) {
    let mut names = Vec::new();
    let mut components = Vec::new();
    for name in COMPONENTS {
        components.extend(keys.optional_table(name, |k| {
            names.push(name);
            RetentionComponent {
                onset_h: k.number("onset", H, 1e-9, 1e6),
                saturation_h: k.number_or_none("saturation", H, 1e-9, 1e12),
                activation_energy_ev: k.number("activation_energy", EV, 0.0, 3.0),
                per_kpe: share_per_kpe(k, "per_kpe"),
            }
        }));
    }
    let linear = keys.choice("level_law", &[("linear", true), ("around-neutral", false)]);
    let retention = RetentionProfile {
        components,
        broadening: keys.number("broadening", X, 0.0, 2.0),
        dwell_coefficient: keys.number("dwell_coefficient", X, 0.0, 1e3),
        level_law: if linear {
            LevelLaw::Linear {
                floor: keys.number("floor", X, -1.0, 1.0),
            }
        } else {
            LevelLaw::AroundNeutral {
                neutral_state: keys.number("neutral_state", ONE, 0.0, 15.0),
            }
        },
        erased_rise: keys.number("erased_rise", X, -2.0, 2.0),
    };
    (retention, names)
}

fn variation(keys: &Keys<'_>) -> VariationProfile {
    let rate = |key| keys.number(key, X, 0.0, 0.5);
    let offset = |key| keys.number(key, MV, 0.0, 200.0);
    VariationProfile {
        chip_rate: rate("chip_rate"),
        block_rate: rate("block_rate"),
        wordline_rate: rate("wordline_rate"),
        state_rate: rate("state_rate"),
        chip_offset_mv: offset("chip_offset"),
        block_offset_mv: offset("block_offset"),
        wordline_offset_mv: offset("wordline_offset"),
        state_offset_mv: offset("state_offset"),
        block_sigma: rate("block_sigma"),
        wordline_sigma: rate("wordline_sigma"),
        tail_fraction: rate("tail_fraction"),
        tail_sigma_ratio: keys.number("tail_sigma_ratio", X, 1.0, 5.0),
    }
}

fn settling(keys: &Keys<'_>) -> PhaseSettling {
    PhaseSettling {
        amplitude_mv: keys.number("amplitude", MV, 0.0, 1e5),
        time_constants: keys.number("time_constants", ONE, 0.01, 100.0),
    }
}

fn timing(keys: &Keys<'_>) -> ChipTiming {
    let time = |key| keys.whole(key, NS, 0, LONGEST_NS);
    ChipTiming {
        set_feature_ns: time("set_feature"),
        set_levels_ns: time("set_levels"),
        plane_levels: keys.flag("plane_levels"),
        reset_ns: time("reset"),
        cache_busy_ns: time("cache_busy"),
        program_suspend_ns: time("program_suspend"),
        erase_suspend_ns: time("erase_suspend"),
        resume_ns: time("resume"),
        max_suspends: keys.whole("max_suspends", ONE, 0, 65_535) as u16,
        min_progress_ns: time("min_progress"),
        io_mt_per_s: keys.whole("io", MT_PER_S, 1, 100_000) as u32,
        independent_plane_reads: keys.flag("independent_plane_reads"),
    }
}

fn mode(keys: &Keys<'_>, mode: CellMode, components: &[&'static str]) -> ModeProfile {
    let passes = keys.numbers("program", NS, 1.0, LONGEST_NS as f64);
    let program = match passes.as_slice() {
        &[first, second] => ProgramTiming::TwoStep {
            first_ns: first as u64,
            second_ns: second as u64,
        },
        &[wordline] => ProgramTiming::OneShot {
            wordline_ns: wordline as u64,
        },
        other => {
            if keys.has("program") && !other.is_empty() {
                keys.note("program", "has more than two passes".into());
            } else if keys.has("program") {
                keys.note("program", "has no pass".into());
            }
            ProgramTiming::OneShot { wordline_ns: 1 }
        }
    };
    ModeProfile {
        mode,
        mean_mv: keys.numbers("mean", MV, -1e4, 1e4),
        sigma_mv: keys.numbers("sigma", MV, 1.0, 5e3),
        pages: keys.lists("pages"),
        sentinels: sentinels(keys),
        retention_mv_per_decade: keys.table("retention", |k| {
            let amplitude = |name: &&str| k.number(name, MV_PER_DECADE, 0.0, 1e3);
            components.iter().map(amplitude).collect()
        }),
        endurance_pe_cycles: keys.whole("endurance", PE, 1, 10_000_000) as u32,
        setup_ns: keys.whole("setup", NS, 0, LONGEST_NS),
        sense: keys.table("sense", |k| {
            let phase = |key| k.whole(key, NS, 1, LONGEST_NS);
            SensePhases {
                pre_ns: phase("pre"),
                eval_ns: phase("eval"),
                disch_ns: phase("disch"),
            }
        }),
        program,
        erase_ns: keys.whole("erase", NS, 1, LONGEST_NS),
    }
}

fn sentinels(keys: &Keys<'_>) -> Vec<u8> {
    let valleys = keys.numbers("sentinels", ONE, 1.0, 15.0);
    if valleys.iter().any(|v| v.fract() != 0.0) {
        keys.note("sentinels", "has a valley that is not whole".into());
    }
    valleys.iter().map(|&v| v as u8).collect()
}
