//! A drive's text to [`DriveProfile`].

use firstread_core::Geometry;
use firstread_core::params::{Axis, Need};
use firstread_core::voltage::MAX_FACTORY;
use firstread_ecc::{Code, DecodeTiming};
use firstread_nand::formula::Stage;

use crate::profile::check::check;
use crate::profile::chip::load_chip;
use crate::profile::document::Document;
use crate::profile::drive::{
    Cells, ChannelProfile, DramProfile, DriveProfile, EccProfile, FirmwareProfile, HistoryProfile,
    LinkProfile,
};
use crate::profile::heat::HeatProfile;
use crate::profile::key::Key;
use crate::profile::keys::Keys;
use crate::profile::quantity::{B, NS, ONE, PE, PERMILLE};
use crate::profile::queues::QueuesProfile;
use crate::profile::reader::Reader;
use crate::profile::schemes::{self, any_needs};
use crate::profile::value::Value;
use crate::profile::{Kind, Library, LoadedChip, Override, ProfileError};

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
        let chip_name = keys.text(&Key::new("chip"));
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
    let mut defaults = reader.defaults.take();
    defaults.sort_by_key(|e| order(&e.path, axes));
    match (reader.finish(), drive) {
        (Ok(own), Some(mut drive)) if chip_problems.is_empty() => {
            let chip = std::mem::replace(&mut drive.resolved, own);
            drive.resolved.append(&mut defaults);
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
    let name = keys.text(&Key::new("name"));
    let summary = keys.text(&Key::new("summary"));
    let cells = cells(keys);
    let stages = keys.optional_table("stages", stages).unwrap_or_default();
    if cells == Cells::Stages && !keys.has("stages") {
        let message = "is missing, and `cells` is `stages`: `stages.from` and `stages.retries` say from which wear on a page takes how many retries";
        keys.note("stages", message.into());
    }
    let mode = Value::read(keys, &Key::new("mode"));
    let capacity_bytes = keys.whole(&Key::new("capacity").within(B, 1.0, MOST_BYTES));
    let wordlines = chip.as_ref().map_or(1, |chip| chip.chip.wordlines());
    let mut geometry = keys.table("geometry", |k| geometry(k, wordlines));
    let channel = keys.table("channel", ChannelProfile::read);
    let ecc = keys.table("ecc", ecc);
    geometry.codeword_bytes = ecc.as_ref().map_or(0, |(_, bytes)| *bytes);
    let link = keys.table("link", LinkProfile::read);
    let firmware = keys.table("firmware", FirmwareProfile::read);
    let dram = keys.table_or_defaults("dram", DramProfile::read);
    let heat = keys.table_or_defaults("heat", HeatProfile::checked);
    let history = keys.table_or_defaults("history", HistoryProfile::read);
    let queues = keys.table_or_defaults("queues", QueuesProfile::checked);
    let schemes = schemes::read(keys, axes);
    let chip = chip?;
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
        dram,
        heat,
        history,
        queues,
        worn: None,
        wear_rate: 1,
        schemes,
        resolved: chip.resolved,
    })
}

/// What the cells do, with what goes with some of them alone.
fn cells(keys: &Keys<'_>) -> Cells {
    let retries = Key::new("cells_retries").within(ONE, 0.0, MOST_RETRIES);
    let tlc_share = Key::new("cells_tlc_share").within(PERMILLE, 0.0, 1000.0);
    let chosen = Cells::read(keys, &Key::new("cells"));
    // Whether a key that goes with one kind of cells alone is there to be read.
    let is_given = |key: &Key<'_>, with: Cells| {
        let (given, with) = (keys.given(key.name), with.name());
        if given && chosen.name() != with {
            let message = format!(
                "goes with `cells = \"{with}\"`, and `cells` is `{}`: leave one of them out",
                chosen.name()
            );
            keys.note(key.name, message);
        }
        given
    };
    let has_share = is_given(&tlc_share, Cells::Formula(0));
    is_given(&retries, Cells::FixedRetries(0));
    match chosen {
        Cells::FixedRetries(_) => Cells::FixedRetries(Value::read(keys, &retries)),
        Cells::Formula(_) if has_share => {
            Cells::Formula((keys.number(&tlc_share) * 1e3).round() as u32)
        }
        other => other,
    }
}

/// Stages of wear: from how many P/E cycles on a read takes how many retries.
fn stages(keys: &Keys<'_>) -> Vec<Stage> {
    let from = keys.numbers(&Key::new("from").within(PE, 0.0, 1e6));
    let retries = keys.numbers(&Key::new("retries").within(ONE, 0.0, MOST_RETRIES));
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

/// Everything but the codeword, which others decide, for a chip whose blocks have so many wordlines.
fn geometry(keys: &Keys<'_>, wordlines_of_chip: u32) -> Geometry {
    let count = |name, most| Key::new(name).within(ONE, 1.0, most);
    let bytes = |name| Key::new(name).within(B, 512.0, f64::from(1 << 20));
    let wordlines = wordlines_of_chip.to_string();
    let wordlines_per_block = count("wordlines_per_block", f64::from(u16::MAX)).or(
        &wordlines,
        "default: all wordlines of the chip's block; fewer, an even selection of its layers, make smaller superblocks and shorter lives",
    );
    Geometry {
        channels: Value::read(keys, &count("channels", 256.0)),
        chips_per_channel: Value::read(keys, &count("chips_per_channel", 64.0)),
        dies_per_chip: Value::read(keys, &count("dies_per_chip", 64.0)),
        planes: Value::read(keys, &count("planes", 4.0)),
        blocks_per_plane: Value::read(keys, &count("blocks_per_plane", f64::from(1 << 20))),
        wordlines_per_block: Value::read(keys, &wordlines_per_block),
        page_bytes: Value::read(keys, &bytes("page")),
        slot_bytes: Value::read(keys, &bytes("mapping_unit")),
        codeword_bytes: 0,
        stripe: Value::read(keys, &Key::new("stripe")),
        stripe_parity: false,
    }
}

/// The code, and the user bytes of its codeword.
fn ecc(keys: &Keys<'_>) -> Option<(EccProfile, u32)> {
    let time = |name| Key::new(name).within(NS, 0.0, 1e9);
    let code = keys.try_choice(&Key::new("code"), Code::NAMES.into_iter());
    let engines = Key::new("engines_per_channel").within(ONE, 1.0, 1e3);
    let engines_per_channel = Value::read(keys, &engines);
    let streams = keys.flag(&Key::new("streams"));
    let timing = DecodeTiming {
        setup_ns: Value::read(keys, &time("setup")),
        iteration_ns: Value::read(keys, &time("iteration")),
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

/// Bytes that a number counts exactly, at most.
const MOST_BYTES: f64 = 9_007_199_254_740_992.0;

/// Retries of the longest factory's retry table: the first read is one of its entries.
const MOST_RETRIES: f64 = (MAX_FACTORY - 1) as f64;

/// Tables and keys in the order in which a listing has what was left out; axis after axis follows.
const DEFAULTS: [&str; 8] = [
    "channel",
    "geometry",
    "firmware",
    "dram.write_cache",
    "history",
    "dram",
    "heat",
    "queues",
];

/// The place of the key at `path` in a listing of what was left out.
fn order(path: &str, axes: &[Axis]) -> usize {
    let of_axis = path.strip_prefix("schemes.").unwrap_or(path);
    let section = of_axis.split('.').next();
    let axis = axes.iter().position(|axis| Some(axis.name) == section);
    let table = DEFAULTS.iter().position(|of| path.starts_with(of));
    axis.map_or(table.unwrap_or_default(), |axis| DEFAULTS.len() + axis)
}
