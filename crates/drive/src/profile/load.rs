//! A drive's text to [`DriveProfile`].

use firstread_core::params::{Axis, Need, ParamKind};
use firstread_core::voltage::MAX_FACTORY;
use firstread_core::{CellMode, Geometry, Ns, StripeOrder};
use firstread_ecc::{Code, DecodeTiming};
use firstread_firmware::WriteCache;
use firstread_nand::formula::{Stage, TLC_SHARE_MILLIONTHS};

use crate::profile::check::check;
use crate::profile::chip::load_chip;
use crate::profile::document::Document;
use crate::profile::drive::{
    CellModes, Cells, ChannelProfile, DramProfile, DriveProfile, EccProfile, FirmwareProfile,
    HistoryProfile, JOURNAL_BYTES, LinkProfile, WORDLINES,
};
use crate::profile::heat::{self, HeatProfile};
use crate::profile::keys::Keys;
use crate::profile::quantity::{B, B_PER_S, MT_PER_S, NS, ONE, PE, PERMILLE, Quantity};
use crate::profile::queues::{self, QueuesProfile};
use crate::profile::reader::Reader;
use crate::profile::schemes::{SchemeChoice, any_needs, schemes, unit_of};
use crate::profile::{Kind, Library, LoadedChip, Override, ProfileError, ResolvedEntry};

/// Name of the chip that drive `name` uses, so that a caller can read its file before the drive is
/// loaded.
pub fn chip_reference(
    library: &Library,
    name: &str,
    overrides: &[Override],
) -> Result<Option<String>, ProfileError> {
    let document = Document::load(library, Kind::Drive, name, &of_drive(overrides))?;
    Ok(document.peek_text("chip").map(str::to_string))
}

fn of_drive(overrides: &[Override]) -> Vec<Override> {
    let own = overrides.iter().filter(|o| o.below("chip").is_none());
    own.cloned().collect()
}

/// Drive `name` of `library` with `overrides`. Paths below `chip.` are the chip's. `axes` are those
/// the firmware has; the schemes are checked against them.
pub fn load_drive(
    library: &Library,
    name: &str,
    overrides: &[Override],
    axes: &'static [Axis],
) -> Result<DriveProfile, ProfileError> {
    let document = Document::load(library, Kind::Drive, name, &of_drive(overrides))?;
    let of_chip: Vec<Override> = overrides.iter().filter_map(|o| o.below("chip")).collect();
    let reader = Reader::new(&document);
    let mut chip_problems = Vec::new();
    let drive = reader.read(|keys| {
        let mut chip = None;
        let chip_name = keys.text("chip");
        if !chip_name.is_empty() {
            if library.has(Kind::Chip, &chip_name) {
                match load_chip(library, &chip_name, &of_chip) {
                    Ok(loaded) => chip = Some(loaded),
                    Err(e) => chip_problems = e.problems,
                }
            } else if let Err(problem) = library.find(Kind::Chip, &chip_name) {
                keys.note("chip", problem.message);
            }
        }
        read(keys, chip, axes)
    });
    if let Some(drive) = &drive
        && !reader.failed()
    {
        check(&reader, drive);
    }
    match (reader.finish(), drive) {
        (Ok(own), Some(mut drive)) if chip_problems.is_empty() => {
            let chip = std::mem::take(&mut drive.resolved);
            drive.resolved = own;
            let defaults = defaults(&drive);
            drive.resolved.extend(defaults);
            drive
                .resolved
                .extend(chip.into_iter().map(|e| e.under("chip")));
            Ok(drive)
        }
        (own, _) => {
            let mut problems = own.err().map_or_else(Vec::new, |e| e.problems);
            problems.append(&mut chip_problems);
            Err(ProfileError { problems })
        }
    }
}

/// Reads every key. None where there is no chip to build on; the listing of the chip is returned in
/// `resolved`.
fn read(keys: &Keys<'_>, chip: Option<LoadedChip>, axes: &'static [Axis]) -> Option<DriveProfile> {
    let name = keys.text("name");
    let summary = keys.text("summary");
    let cells = cells(keys);
    let stages = keys.optional_table("stages", stages).unwrap_or_default();
    if cells == Cells::Stages && !keys.has("stages") {
        let message = "is missing, and `cells` is `stages`: `stages.from` and `stages.retries` say from which wear on a page takes how many retries";
        keys.note("stages", message.into());
    }
    let mode = keys.choice("mode", &CellMode::ALL.map(|m| (m.name(), m)));
    let capacity_bytes = keys.whole("capacity", B, 1, 1 << 53);
    let mut geometry = keys.table("geometry", geometry);
    let channel = keys.table("channel", |k| ChannelProfile {
        rate_mt_per_s: k.whole("rate", MT_PER_S, 1, 100_000) as u32,
        command_ns: k.whole("command", NS, 0, 1_000_000_000),
        commands_occupy: match k.has("commands_occupy") {
            true => k.flag("commands_occupy"),
            false => {
                k.declare("commands_occupy");
                true
            }
        },
    });
    let ecc = keys.table("ecc", ecc);
    geometry.codeword_bytes = ecc.as_ref().map_or(0, |(_, bytes)| *bytes);
    let link = keys.table("link", |k| LinkProfile {
        bytes_per_s: k.whole("rate", B_PER_S, 1_000, 1 << 50),
        fetch_ns: k.whole("fetch", NS, 0, 1_000_000_000),
        completion_ns: k.whole("completion", NS, 0, 1_000_000_000),
        max_outstanding: k.whole("max_outstanding", ONE, 1, 1 << 20) as u32,
    });
    let firmware = keys.table("firmware", |k| FirmwareProfile {
        command_ns: k.whole("command", NS, 0, 1_000_000_000),
        command_interval_ns: k.whole("command_interval", NS, 0, 1_000_000_000),
        max_wait_ns: k.whole("max_wait", NS, 1_000, 1_000_000_000_000),
        turn_share_permille: k.whole("turn_share", PERMILLE, 1, 999) as u16,
        slice_ns: k.whole("slice", NS, 1_000, 1_000_000_000_000),
        journal_bytes: match k.has("journal") {
            true => k.whole("journal", B, 0, 1 << 36),
            false => {
                k.declare("journal");
                JOURNAL_BYTES
            }
        },
        cell_modes: match k.has("cell_modes") {
            true => k.choice(
                "cell_modes",
                &[("one", CellModes::One), ("all", CellModes::All)],
            ),
            false => {
                k.declare("cell_modes");
                CellModes::One
            }
        },
    });
    let dram = keys.optional_table("dram", |k| {
        let bytes = |key| match k.has(key) {
            true => k.whole(key, B, 0, 1 << 40),
            false => {
                k.declare(key);
                0
            }
        };
        DramProfile {
            size_bytes: bytes("size"),
            read_cache_bytes: bytes("read_cache"),
            map_cache_bytes: bytes("map_cache"),
            write_cache: match k.has("write_cache") {
                true => k.choice(
                    "write_cache",
                    &[
                        ("protected", WriteCache::Protected),
                        ("volatile", WriteCache::Volatile),
                        ("write-through", WriteCache::WriteThrough),
                    ],
                ),
                false => {
                    k.declare("write_cache");
                    WriteCache::Protected
                }
            },
        }
    });
    let heat = keys.optional_table("heat", HeatProfile::read);
    let history = keys.optional_table("history", |k| HistoryProfile {
        earlier_fill: match k.has("earlier_fill") {
            true => k
                .whole_or_none("earlier_fill", NS, 1, MOST_EARLIER_NS)
                .map(Ns),
            false => {
                k.declare("earlier_fill");
                None
            }
        },
    });
    let queues = keys.optional_table("queues", QueuesProfile::read);
    let schemes = schemes(keys, axes);
    let chip = chip?;
    if geometry.wordlines_per_block == 0 {
        geometry.wordlines_per_block = chip.chip.wordlines() as u16;
    }
    geometry.stripe_parity = any_needs(&schemes, Need::StripeParity);
    Some(DriveProfile {
        name,
        summary,
        chip: chip.chip,
        cells,
        stages,
        mode,
        geometry,
        capacity_bytes,
        channel,
        ecc: ecc?.0,
        link,
        firmware,
        dram: dram.unwrap_or_default(),
        heat: heat.unwrap_or_default(),
        history: history.unwrap_or_default(),
        queues: queues.unwrap_or_default(),
        worn: None,
        wear_rate: 1,
        schemes,
        resolved: chip.resolved,
    })
}

/// What the cells do, with what goes with some of them alone.
fn cells(keys: &Keys<'_>) -> Cells {
    const RETRIES: &str = "cells_retries";
    const TLC_SHARE: &str = "cells_tlc_share";
    let models = [
        Cells::Modelled,
        Cells::Ideal,
        Cells::Formula(TLC_SHARE_MILLIONTHS),
        Cells::FixedRetries(0),
        Cells::Stages,
    ];
    let chosen = keys.choice("cells", &models.map(|cells| (cells.name(), cells)));
    // Whether `key` is there to be read. It goes with one kind of cells alone.
    let is_given = |key: &str, with: &str| {
        if chosen.name() == with && keys.has(key) {
            return true;
        }
        if keys.has(key) {
            let message = format!(
                "goes with `cells = \"{with}\"`, and `cells` is `{}`: leave one of them out",
                chosen.name()
            );
            keys.note(key, message);
        }
        keys.declare(key);
        false
    };
    let has_share = is_given(TLC_SHARE, Cells::Formula(0).name());
    is_given(RETRIES, Cells::FixedRetries(0).name());
    match chosen {
        Cells::FixedRetries(_) => {
            Cells::FixedRetries(keys.whole(RETRIES, ONE, 0, MAX_FACTORY as u64 - 1) as u8)
        }
        Cells::Formula(_) if has_share => {
            let permille = keys.number(TLC_SHARE, PERMILLE, 0.0, 1000.0);
            Cells::Formula((permille * 1e3).round() as u32)
        }
        other => other,
    }
}

/// Stages of wear: from how many P/E cycles on a read takes how many retries.
fn stages(keys: &Keys<'_>) -> Vec<Stage> {
    let from = keys.numbers("from", PE, 0.0, 1e6);
    let retries = keys.numbers("retries", ONE, 0.0, (MAX_FACTORY - 1) as f64);
    for (key, numbers) in [("from", &from), ("retries", &retries)] {
        if let Some(part) = numbers.iter().find(|n| n.fract() != 0.0) {
            keys.note(key, format!("`{part}` is no whole number"));
        }
    }
    // A list with an error of its own is empty.
    if from.len() != retries.len() && !from.is_empty() && !retries.is_empty() {
        let message = format!(
            "has {} numbers and `from` has {}: one for each stage",
            retries.len(),
            from.len()
        );
        keys.note("retries", message);
    }
    if let Some(pair) = from.windows(2).find(|pair| pair[0] >= pair[1]) {
        let message = format!(
            "{} comes before {}: wear rises from stage to stage",
            pair[0], pair[1]
        );
        keys.note("from", message);
    }
    let stage = |(&from, &retries): (&f64, &f64)| Stage {
        from_pe_cycles: from as u32,
        retries: retries as u8,
    };
    from.iter().zip(&retries).map(stage).collect()
}

/// Everything but the codeword, which others decide. Zero wordlines stand for all of the chip's block.
fn geometry(keys: &Keys<'_>) -> Geometry {
    let count = |key, max| keys.whole(key, ONE, 1, max);
    Geometry {
        channels: count("channels", 256) as u16,
        chips_per_channel: count("chips_per_channel", 64) as u16,
        dies_per_chip: count("dies_per_chip", 64) as u16,
        planes: count("planes", 4) as u8,
        blocks_per_plane: count("blocks_per_plane", 1 << 20) as u32,
        wordlines_per_block: match keys.has("wordlines_per_block") {
            true => count("wordlines_per_block", u64::from(u16::MAX)) as u16,
            false => {
                keys.declare("wordlines_per_block");
                0
            }
        },
        page_bytes: keys.whole("page", B, 512, 1 << 20) as u32,
        slot_bytes: keys.whole("mapping_unit", B, 512, 1 << 20) as u32,
        codeword_bytes: 0,
        stripe: keys.choice(
            "stripe",
            &[
                ("plane-first", StripeOrder::PlaneFirst),
                ("die-first", StripeOrder::DieFirst),
            ],
        ),
        stripe_parity: false,
    }
}

/// The code, and the user bytes of its codeword.
fn ecc(keys: &Keys<'_>) -> Option<(EccProfile, u32)> {
    let code = keys.try_choice("code", Code::NAMES.into_iter());
    let engines_per_channel = keys.whole("engines_per_channel", ONE, 1, 1_000) as u16;
    let streams = keys.flag("streams");
    let timing = DecodeTiming {
        setup_ns: keys.whole("setup", NS, 0, 1_000_000_000) as u32,
        iteration_ns: keys.whole("iteration", NS, 0, 1_000_000_000) as u32,
    };
    let name = Code::NAMES[code?];
    match Code::named(name) {
        Ok(code) => Some((
            EccProfile {
                code: name.to_string(),
                codeword_bits: code.codeword_bits(),
                engines_per_channel,
                streams,
                timing,
            },
            code.data_bytes(),
        )),
        Err(e) => {
            keys.note("code", e.to_string());
            None
        }
    }
}

/// The longest life of an earlier fill: a hundred years (ns).
const MOST_EARLIER_NS: u64 = 876_000 * 3_600_000_000_000;

/// What `history.earlier_fill` means where it is not given.
const EARLIER_FILL: &str = "default: the fill that is measured is the first, and the firmware has learned nothing before; a time: an earlier fill lived so long";

/// What [`WORDLINES`] means where it is not given.
const OF_THE_CHIP: &str = "default: all wordlines of the chip's block; fewer, an even selection of its layers, make smaller superblocks and shorter lives";

/// What `channel.commands_occupy` means where it is not given.
const COMMANDS_OCCUPY: &str = "default: command cycles use the channel, and go before data that wait for it; false: they only delay their own operation, for comparisons";

/// What `dram.write_cache` means where it is not given.
const WRITE_CACHE: &str = "default: the write buffer is protected from power loss, so a flush and FUA have nothing to wait for; volatile: they wait for programs; write-through: every write does";

/// What `firmware.cell_modes` means where it is not given.
const CELL_MODES: &str = "default: superblocks keep the cell mode in which they start; all: they may be erased into every mode of the chip with fewer bits a cell";

/// What the keys of `[dram]` mean where they are not given.
const DRAM_DEFAULTS: [(&str, &str); 3] = [
    (
        "dram.size",
        "default: not stated, so nothing has to fit; else map, write buffers (twice, for data whose program failed), read cache and heat are refused where they do not",
    ),
    ("dram.read_cache", "default: no read cache"),
    ("dram.map_cache", "default: the whole map in memory"),
];

/// Entries for what the listing of `drive` does not say.
fn defaults(drive: &DriveProfile) -> Vec<ResolvedEntry> {
    let (choices, listing) = (&drive.schemes, &drive.resolved);
    let listed = |path: &str| listing.iter().any(|e| e.path == path);
    let entry =
        |path: String, value: &str, unit: &str, literal: String, source: &str| ResolvedEntry {
            path,
            value: value.into(),
            unit: unit.into(),
            source: source.into(),
            overridden: false,
            literal,
        };
    let mut entries = Vec::new();
    let path = "channel.commands_occupy";
    if !listed(path) {
        entries.push(entry(
            path.into(),
            "true",
            "",
            "true".into(),
            COMMANDS_OCCUPY,
        ));
    }
    if !listed(WORDLINES) {
        let wordlines = drive.geometry.wordlines_per_block.to_string();
        let literal = wordlines.clone();
        entries.push(entry(
            WORDLINES.into(),
            &wordlines,
            "",
            literal,
            OF_THE_CHIP,
        ));
    }
    let path = "firmware.cell_modes";
    if !listed(path) {
        let literal = "\"one\"".into();
        entries.push(entry(path.into(), "one", "", literal, CELL_MODES));
    }
    let path = "dram.write_cache";
    if !listed(path) {
        let literal = "\"protected\"".into();
        entries.push(entry(path.into(), "protected", "", literal, WRITE_CACHE));
    }
    let path = "history.earlier_fill";
    if !listed(path) {
        let literal = "\"none\"".into();
        entries.push(entry(path.into(), "none", "", literal, EARLIER_FILL));
    }
    for (path, source) in DRAM_DEFAULTS {
        if !listed(path) {
            entries.push(entry(path.into(), "0", "B", "\"0 B\"".into(), source));
        }
    }
    for (path, value, unit, source) in heat::DEFAULTS {
        if !listed(path) {
            let is_word = value.parse::<f64>().is_err() && value.parse::<bool>().is_err();
            let literal = match unit {
                "" if is_word => format!("\"{value}\""),
                "" => value.into(),
                unit => format!("\"{value} {unit}\""),
            };
            entries.push(entry(path.into(), value, unit, literal, source));
        }
    }
    for (path, value, source) in queues::DEFAULTS {
        if !listed(path) {
            let literal = match value.parse::<u32>() {
                Ok(_) => value.into(),
                Err(_) => format!("\"{value}\""),
            };
            entries.push(entry(path.into(), value, "", literal, source));
        }
    }
    for SchemeChoice {
        axis,
        scheme,
        values,
    } in choices
    {
        let path = format!("schemes.{}", axis.name);
        if !listed(&path) {
            let literal = format!("\"{}\"", scheme.name);
            entries.push(entry(path, scheme.name, "", literal, "the axis's baseline"));
        }
        for (param, &value) in scheme.params.iter().zip(values) {
            let path = format!("{}.{}.{}", axis.name, scheme.name, param.key);
            if listed(&path) || listed(&format!("{}.{}", axis.name, param.key)) {
                continue;
            }
            let (value, unit, literal) = match param.kind {
                ParamKind::Choice(words) => {
                    let word = words.first().copied().unwrap_or_default();
                    (word.to_string(), "", format!("\"{word}\""))
                }
                ParamKind::Flag(on) => (on.to_string(), "", on.to_string()),
                ParamKind::Number { unit, .. } => {
                    let unit = unit_of(unit);
                    let quantity = tidy(Quantity {
                        number: value as f64,
                        unit,
                    });
                    let literal = match quantity.unit.symbol {
                        "" => quantity.to_string(),
                        _ => format!("\"{quantity}\""),
                    };
                    (quantity.number.to_string(), quantity.unit.symbol, literal)
                }
            };
            entries.push(entry(path, &value, unit, literal, "default of the scheme"));
        }
    }
    entries
}

/// The quantity in the largest unit of its kind that leaves it whole.
fn tidy(quantity: Quantity) -> Quantity {
    let whole = quantity.unit.dimension.units().filter(|u| {
        let n = quantity.to(**u);
        n != 0.0 && n.fract() == 0.0
    });
    let fewest = whole.min_by(|a, b| quantity.to(**a).abs().total_cmp(&quantity.to(**b).abs()));
    match fewest {
        Some(unit) => Quantity {
            number: quantity.to(*unit),
            unit,
        },
        None => quantity,
    }
}
