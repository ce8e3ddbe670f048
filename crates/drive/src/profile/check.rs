//! Checks of a drive that involve several keys.

use firstread_core::params::{Need, Order, ParamKind, Scheme};
use firstread_core::voltage::MAX_FACTORY;
use firstread_core::{CellMode, Geometry, MOST_WEAR_RATE, Ns};
use firstread_ecc::Code;
use firstread_firmware::ChangeTimes;
use firstread_firmware::ftl::{MAP_ENTRY_BYTES, MOST_SLOTS, RESERVE};
use thiserror::Error;

use crate::payload::MOST_PAGES;
use crate::profile::DriveProfile;
use crate::profile::drive::{CellModes, LEAST_LOW, LEAST_SPARE};
use crate::profile::reader::Reader;
use crate::profile::{keeps, memory, streams};

/// What `drive` lacks that a scheme with this need takes for granted.
fn lacks(drive: &DriveProfile, need: Need) -> Option<String> {
    match need {
        Need::Voltages | Need::TrueLevels | Need::SafeSenses | Need::SoftDecoder
            if !drive.cells.have_voltages() =>
        {
            Some(format!(
                "needs cells with voltages; `cells` is `{}`, whose reads walk the factory's retry table",
                drive.cells.name()
            ))
        }
        // Refused rather than guessed: no source says how cache reads or other sensing times combine with planes that
        // read by themselves.
        Need::WholeDie if drive.chip.timing.independent_plane_reads => Some(
            "reads through the cache register or sets the sensing time of a whole die, and \
             `chip.timing.independent_plane_reads` is true"
                .into(),
        ),
        Need::StripeParity if drive.geometry.dies() < 2 => {
            Some("needs parity across dies, two at least".into())
        }
        Need::SoftDecoder => {
            let code = Code::named(&drive.ecc.code).ok().filter(|c| !c.is_soft())?;
            let soft = Code::NAMES.into_iter();
            let soft = soft.filter(|n| Code::named(n).is_ok_and(|c| c.is_soft()));
            Some(format!(
                "needs a code with a soft decoder ({}); `ecc.code` is `{}`, which gains nothing from \
                 soft senses",
                soft.collect::<Vec<_>>().join(", "),
                code.name(),
            ))
        }
        Need::CellModes if drive.firmware.cell_modes == CellModes::One => Some(
            "erases superblocks into other cell modes, and `firmware.cell_modes` is `one`".into(),
        ),
        Need::CellModes => {
            let modes = [CellMode::Slc, CellMode::Tlc].into_iter();
            let lacking = modes.filter(|mode| !drive.other_modes().any(|other| other == *mode));
            let lacking: Vec<&str> = lacking.map(CellMode::name).collect();
            (!lacking.is_empty()).then(|| {
                let (chip, own) = (&drive.chip.name, drive.mode.name());
                let lacking = lacking.join(" or ");
                format!(
                    "needs modes with fewer bits than {own}, and chip `{chip}` has no {lacking}"
                )
            })
        }
        Need::SlicedPrograms => slices("program", |times| times.program, drive),
        Need::SlicedErases => slices("erase", |times| times.erase, drive),
        Need::TrueWear if drive.wear_rate > 1 => Some(format!(
            "spreads wear in a way that depends on how many cycles a life has, and each erase would stand for {} cycles",
            drive.wear_rate
        )),
        // Every simulated drive has these.
        Need::WholeDie
        | Need::StripeParity
        | Need::Voltages
        | Need::SafeSenses
        | Need::Heat
        | Need::SlcAlone
        | Need::OwnStream
        | Need::OwnStreamIf(_)
        | Need::OwnStreamsBeyond(..)
        | Need::OwnStreamsBeyondIf(..)
        | Need::TrueLevels
        | Need::FreeSuspends
        | Need::Future
        | Need::TrueWear => None,
    }
}

/// Why operations of a `kind` cannot be stopped every `firmware.slice` until they end, if they cannot. `takes` is how long
/// they take by mode.
fn slices(
    kind: &str,
    takes: fn(&ChangeTimes) -> [Ns; CellMode::ALL.len()],
    drive: &DriveProfile,
) -> Option<String> {
    let (slice, timing) = (drive.firmware.slice_ns, &drive.chip.timing);
    let us = |ns: u64| ns as f64 / 1e3;
    let times = drive.change_times();
    let modes = || drive.other_modes().chain([drive.mode]);
    let longest = modes().max_by_key(|mode| takes(&times)[mode.index()])?;
    let length = takes(&times)[longest.index()].0;
    let needed = length.div_ceil(slice);
    if needed > u64::from(timing.max_suspends) {
        return Some(format!(
            "stops {kind}s in the middle; `firmware.slice` is {} us and the {kind} of a {} block takes {} us, which is \
             {needed} slices, and chip `{}` allows {} suspends (`chip.timing.max_suspends`)",
            us(slice),
            longest.name(),
            us(length),
            drive.chip.name,
            timing.max_suspends
        ));
    }
    let of_all = [times.program, times.erase];
    let longest = modes().flat_map(|mode| of_all.map(|of| of[mode.index()].0));
    let longest = longest.max().unwrap_or(0);
    if slice >= longest {
        return Some(format!(
            "stops {kind}s in the middle; `firmware.slice` is {} us, and the longest program or erase takes {} us, so none has \
             a second slice",
            us(slice),
            us(longest)
        ));
    }
    (timing.min_progress_ns > slice).then(|| {
        format!(
            "stops {kind}s in the middle; `firmware.slice` is {} us, and chip `{}` runs for {} us at least before it stops \
             (`chip.timing.min_progress`)",
            us(slice),
            drive.chip.name,
            us(timing.min_progress_ns)
        )
    })
}

/// The key that a problem most likely comes from, and what is wrong.
type Wrong = (String, String);

fn wrong(path: &str, message: String) -> Result<(), Wrong> {
    Err((path.into(), message))
}

/// Checks of a drive that involve several keys. The first problem is reported, at the key it most likely comes from.
pub(super) fn check(reader: &Reader<'_>, drive: &DriveProfile) {
    let checks = [
        shape,
        heat,
        retry_table,
        needs,
        few_streams,
        ordered,
        hot,
        trigger,
        planes,
        size,
        room,
        other_modes,
        areas,
        keeps::fit,
        memory::fits,
        channel,
    ];
    if let Err((path, message)) = checks.iter().try_for_each(|check| check(drive)) {
        reader.note_at(&path, message);
    }
}

/// Dies of the drive: more than a geometry counts, where the profile is wrong.
fn dies(g: &Geometry) -> u64 {
    u64::from(g.channels) * u64::from(g.chips_per_channel) * u64::from(g.dies_per_chip)
}

/// How dies, wordlines, pages, mapping units and codewords go together.
fn shape(drive: &DriveProfile) -> Result<(), Wrong> {
    let g = &drive.geometry;
    let (taken, there) = (u32::from(g.wordlines_per_block), drive.chip.wordlines());
    if taken > there {
        let message = format!(
            "is {taken}, and a block of chip `{}` has {there} wordlines",
            drive.chip.name
        );
        return wrong("geometry.wordlines_per_block", message);
    }
    let dies = dies(g);
    if dies > u64::from(u16::MAX) {
        return wrong(
            "geometry.channels",
            format!("{dies} dies are more than 65535"),
        );
    }
    if !g.page_bytes.is_multiple_of(g.slot_bytes) {
        return wrong(
            "geometry.mapping_unit",
            "does not divide `geometry.page`".into(),
        );
    }
    if !g.slot_bytes.is_multiple_of(g.codeword_bytes) {
        let message = format!("is not a multiple of the codeword, {} B", g.codeword_bytes);
        return wrong("geometry.mapping_unit", message);
    }
    let codewords = g.codewords_per_page() * u32::from(g.planes);
    // The codewords that a read wants are the bits of one word (`FlashKind::Read`).
    if codewords > 64 {
        let message = format!("one sense of all planes has {codewords} codewords, at most 64");
        return wrong("geometry.page", message);
    }
    Ok(())
}

/// Whether units of heat are made of mapping units, and whether the memory of heat can tell them apart.
fn heat(drive: &DriveProfile) -> Result<(), Wrong> {
    let (unit, slot) = (drive.heat.unit_bytes, u64::from(drive.geometry.slot_bytes));
    let most = drive.heat.most_bytes;
    if unit != 0 && unit < slot {
        let message = format!(
            "is {unit} B, less than `geometry.mapping_unit`, {slot} B: the firmware counts no part of a mapping unit"
        );
        return wrong("heat.unit", message);
    }
    if unit != 0 && (!unit.is_multiple_of(slot) || !(unit / slot).is_power_of_two()) {
        let message =
            format!("is {unit} B, not `geometry.mapping_unit`, {slot} B, times a power of two");
        return wrong("heat.unit", message);
    }
    if let Some(least) = drive.heat_bytes().filter(|least| *least > most) {
        let units = drive.capacity_bytes.div_ceil(unit.max(slot));
        let message = format!(
            "is {most} B; to tell the {units} units of the drive apart takes {least} B at least"
        );
        return wrong("heat.most", message);
    }
    Ok(())
}

/// Whether the drive has what `scheme` takes for granted.
fn does(drive: &DriveProfile, scheme: &Scheme) -> bool {
    scheme
        .needs
        .iter()
        .all(|&need| lacks(drive, need).is_none())
}

/// Whether the factory's retry table is long enough for cells that are known by their retries.
fn retry_table(drive: &DriveProfile) -> Result<(), Wrong> {
    let Some(formula) = drive.retry_formula() else {
        return Ok(());
    };
    let retries = u32::from(formula.most_retries(drive.mode));
    let entries = drive.chip.factory_len(drive.mode) as u32;
    if retries < entries {
        return Ok(());
    }
    let message = format!(
        "`{}` has pages with up to {retries} retries, and the factory's retry table has {entries} entries, the first read \
         among them: `chip.factory_table.down` and `up` together have to be {retries} at least (most: {})",
        drive.cells,
        MAX_FACTORY - 1
    );
    wrong("cells", message)
}

/// Why a drive has no life at a wear rate.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum WearRateRefused {
    /// The wear rate that was asked for.
    #[error("a wear rate of {0} is outside 1 to {MOST_WEAR_RATE}")]
    OutOfRange(u32),
    /// A scheme is not scale-free.
    #[error("a wear rate above 1: {0}")]
    NotScaleFree(String),
}

impl DriveProfile {
    /// The same drive where each simulated erase stands for `rate` cycles.
    ///
    /// # Errors
    /// [`WearRateRefused`] where there is no such rate, or a scheme of the drive is not scale-free ([`Need::TrueWear`]).
    pub fn at_wear_rate(mut self, rate: u32) -> Result<DriveProfile, WearRateRefused> {
        if !(1..=MOST_WEAR_RATE).contains(&rate) {
            return Err(WearRateRefused::OutOfRange(rate));
        }
        self.wear_rate = rate;
        match needs(&self) {
            Ok(()) => Ok(self),
            Err((_, why)) => Err(WearRateRefused::NotScaleFree(why)),
        }
    }
}

/// Whether the drive has what its schemes take for granted.
fn needs(drive: &DriveProfile) -> Result<(), Wrong> {
    for choice in &drive.schemes {
        for &need in choice.scheme.needs {
            if let Some(what) = lacks(drive, need) {
                let others = choice.axis.schemes.iter().filter(|s| does(drive, s));
                let others: Vec<&str> = others.map(|s| s.name).collect();
                let message = format!(
                    "`{}` {what}: choose {}",
                    choice.scheme.name,
                    others.join(" or ")
                );
                return wrong(&format!("schemes.{}", choice.axis.name), message);
            }
        }
    }
    Ok(())
}

/// Whether its write streams are no more than a firmware has room for.
fn few_streams(drive: &DriveProfile) -> Result<(), Wrong> {
    streams::too_many(drive).map_or(Ok(()), Err)
}

/// Whether parameters that belong together are in order.
fn ordered(drive: &DriveProfile) -> Result<(), Wrong> {
    for choice in &drive.schemes {
        for order in choice.scheme.ordered {
            let (low, high, sign, apart) = match *order {
                Order::AtMost(low, high) => (low, high, "<=", 0),
                Order::Below(low, high) => (low, high, "<", 1),
            };
            let (least, most) = (choice.values().get(low), choice.values().get(high));
            if least + apart > most {
                let (axis, scheme) = (choice.axis.name, choice.scheme.name);
                let is = if least > most { "below" } else { "not above" };
                let message = format!(
                    "is {most}, {is} `{low}` = {least}: `{scheme}` needs `{low}` {sign} `{high}`"
                );
                return wrong(&format!("{axis}.{high}"), message);
            }
        }
    }
    Ok(())
}

/// A threshold of heat that no counter reaches: of a scheme that tells warm pages from hot ones, it leaves the warm ones alone.
const NO_PAGE_IS_HOT: i64 = 255;

/// Whether heat is counted as far as schemes ask for it.
fn hot(drive: &DriveProfile) -> Result<(), Wrong> {
    let most = (1i64 << drive.heat.read_bits) - 1;
    for choice in &drive.schemes {
        let has = |key| choice.scheme.params.iter().any(|param| param.key == key);
        if !has("hot") {
            continue;
        }
        // What `page_type` calls hot is promoted, and nothing is where that is off.
        if choice.values().find("promote") == Some(0) {
            continue;
        }
        let refused = |key: &str, word: &str, or: &str| {
            let is = choice.values().get(key);
            let bits = drive.heat.read_bits;
            let message = format!(
                "is {is}, and `heat.read_bits` = {bits} count to {most}: no page would ever be {word}{or}"
            );
            wrong(&format!("{}.{key}", choice.axis.name), message)
        };
        let hot = choice.values().get("hot");
        // A write pool promotes hot pages alone.
        let has_warm = has("warm") && !choice.scheme.requires(Need::SlcAlone);
        if hot == NO_PAGE_IS_HOT && has_warm {
            if choice.values().get("warm") > most {
                return refused("warm", "warm", "");
            }
        } else if hot > most {
            let or = match has_warm {
                true => " (255: warm pages alone are meant)",
                false => "",
            };
            return refused("hot", "hot", or);
        }
    }
    Ok(())
}

/// Whether a scheme of axis `refresh` can use its trigger. RARO's triggers are made for promotion: `computed` is a model
/// of QLC, and `slow` needs the read times of other cell modes.
fn trigger(drive: &DriveProfile) -> Result<(), Wrong> {
    let Some(choice) = drive.scheme("refresh") else {
        return Ok(());
    };
    let param = choice.scheme.params.iter().find(|p| p.key == "trigger");
    let Some(ParamKind::Choice(words)) = param.map(|param| param.kind) else {
        return Ok(());
    };
    let chosen = words[choice.values().get("trigger") as usize];
    let message = match chosen {
        "computed" if drive.mode != CellMode::Qlc => format!(
            "is `computed`, a model of the ageing of QLC, and `mode` is `{}`",
            drive.mode.name()
        ),
        "slow" => match lacks(drive, Need::CellModes) {
            Some(_) => "is `slow`, which compares a read with one in SLC or TLC mode, and the drive has no times of \
                        these: set `firmware.cell_modes` to `all` on a drive of QLC, or choose retried"
                .into(),
            None => return Ok(()),
        },
        _ => return Ok(()),
    };
    wrong("refresh.trigger", message)
}

/// Whether a drive whose superblocks change their mode has slots to lose, and pages for them.
fn other_modes(drive: &DriveProfile) -> Result<(), Wrong> {
    let Some(choice) = drive.scheme("cell_mode") else {
        return Ok(());
    };
    let value = |key| {
        let is_known = choice.scheme.params.iter().any(|param| param.key == key);
        is_known.then(|| choice.values().get(key))
    };
    let geometry = &drive.geometry;
    let own = u64::from(geometry.slots_per_superblock(drive.mode));
    let one = own.saturating_sub(u64::from(geometry.slots_per_superblock(CellMode::Tlc)));
    let all = own * u64::from(geometry.blocks_per_plane);
    let too_few = |lost: &i64| *lost > 0 && (all * *lost as u64) / 1000 < one;
    if let Some(lost) = value("lost").filter(too_few) {
        let message = format!(
            "{lost} permille of {all} slots are less than the {one} that a superblock in TLC mode costs: no page would \
             ever leave {}",
            drive.mode.name()
        );
        return wrong("cell_mode.lost", message);
    }
    if let Some(smallest) = value("smallest").filter(|&smallest| smallest > 0) {
        let each = own.saturating_sub(u64::from(geometry.slots_per_superblock(CellMode::Slc)));
        let spare = super::keeps::spare_of_pool(drive, all, value("keep").unwrap_or(0));
        let takes = smallest as u64 * each;
        if takes > spare {
            let message = format!(
                "{smallest} superblocks in SLC mode take {takes} mapping units, {each} each, and beside capacity, reserve, streams and least \
                 spare the drive has {spare}: {} superblocks would do",
                spare / each.max(1)
            );
            return wrong("cell_mode.smallest", message);
        }
    }
    let promotes =
        choice.scheme.requires(Need::SlcAlone) && value("promote").is_some_and(|rule| rule > 0);
    if promotes && !drive.heat.enabled && !drive.needs(Need::Heat) {
        let message = "promotes pages that are read often, and nothing counts reads: set `heat.enabled` to true, or choose none";
        return wrong("cell_mode.promote", message.into());
    }
    let has = drive.over_provisioning_permille();
    // What a pool that the host writes to leaves is a share of the data in use, which may be few.
    let keep = value("keep").filter(|_| !choice.scheme.requires(Need::SlcAlone));
    if let Some(keep) = keep.filter(|&keep| keep >= has as i64) {
        let message = format!(
            "{keep} permille of over-provisioning are to be left, and the drive has {has}: lower \
             `capacity` or `keep`"
        );
        return wrong("cell_mode.keep", message);
    }
    Ok(())
}

/// Whether areas that wear apart leave each other what they need.
fn areas(drive: &DriveProfile) -> Result<(), Wrong> {
    let Some(choice) = drive.scheme("area") else {
        return Ok(());
    };
    let value = |key: &str| choice.values().find(key);
    let (Some(share), Some(low)) = (value("low_share"), drive.low_superblocks()) else {
        return Ok(());
    };
    let g = &drive.geometry;
    let blocks = u64::from(g.blocks_per_plane);
    let high = blocks - u64::from(low);
    let own = drive.axes_with_own_stream().count() as u64;
    let reserve = RESERVE + own;
    if low < LEAST_LOW || high <= reserve {
        let message = format!(
            "{share} permille of {blocks} superblocks are {low} for the low wearing area, which needs {LEAST_LOW}, and leave \
             {high} to the high wearing one, which needs more than the {reserve} of its reserve and streams"
        );
        return wrong("area.low_share", message);
    }
    let per_block = u64::from(g.slots_per_superblock(drive.mode));
    let capacity = drive.capacity_bytes / u64::from(g.slot_bytes);
    let needed = capacity + reserve * per_block + drive.least_spare_slots();
    if value("rule") == Some(1) && high * per_block < needed {
        let message = format!(
            "is `as-printed`, which leaves the low wearing area to data that are read often: all others have to fit in the \
             {high} superblocks of the high wearing area, {} mapping units, and capacity, reserve and least spare are \
             {needed}. Lower `capacity` or `area.low_share`, or choose balanced",
            high * per_block
        );
        return wrong("area.rule", message);
    }
    let most = (1i64 << drive.heat.read_bits) - 1;
    for key in ["reads", "new_reads", "middle_reads", "old_reads"] {
        if let Some(reads) = value(key).filter(|&reads| reads >= most) {
            let message = format!(
                "is {reads}, and `heat.read_bits` = {} count to {most}: no page would ever be read more often",
                drive.heat.read_bits
            );
            return wrong(&format!("area.{key}"), message);
        }
    }
    Ok(())
}

/// Checks of planes that read independently.
fn planes(drive: &DriveProfile) -> Result<(), Wrong> {
    let g = &drive.geometry;
    let dies = dies(g);
    if drive.chip.timing.independent_plane_reads {
        let lanes = dies * (1 + u64::from(g.planes)) + u64::from(g.channels);
        if lanes > u64::from(u16::MAX - 2) {
            let message = format!(
                "is true: {dies} dies with {} planes that read by themselves are too many",
                g.planes
            );
            return wrong("chip.timing.independent_plane_reads", message);
        }
        if !drive.chip.timing.plane_levels {
            let message = "is true, but planes that read by themselves need level registers of \
                           their own: set `chip.timing.plane_levels` too"
                .into();
            return wrong("chip.timing.independent_plane_reads", message);
        }
    }
    Ok(())
}

/// How large superblocks and the drive may be.
fn size(drive: &DriveProfile) -> Result<(), Wrong> {
    let g = &drive.geometry;
    let dies = dies(g);
    let modes: Vec<&str> = drive.chip.modes.iter().map(|m| m.mode.name()).collect();
    if drive.chip.mode(drive.mode).is_none() {
        return wrong(
            "mode",
            format!("is not a mode of the chip: {}", modes.join(", ")),
        );
    }
    let widest = drive
        .chip
        .modes
        .iter()
        .map(|m| m.mode.bits())
        .max()
        .unwrap_or(1);
    let slots = u64::from(g.slots_per_mp_page()) * dies * u64::from(widest);
    if slots * u64::from(g.wordlines_per_block) > u64::from(u32::MAX) {
        return wrong(
            "geometry.channels",
            "a superblock has more than 2^32 slots".into(),
        );
    }
    let bytes = u128::from(slots)
        * u128::from(g.wordlines_per_block)
        * u128::from(g.blocks_per_plane)
        * u128::from(g.slot_bytes);
    if bytes > 1 << 53 {
        return wrong(
            "geometry.blocks_per_plane",
            format!("{bytes} B are more than 2^53"),
        );
    }
    let per_block = u64::from(g.slots_per_superblock(drive.mode));
    let slots = per_block * u64::from(g.blocks_per_plane);
    if slots > MOST_SLOTS {
        let message = format!(
            "the blocks hold {slots} mapping units, more than the {MOST_SLOTS} that the map can tell \
             apart; raise `geometry.mapping_unit`"
        );
        return wrong("geometry.blocks_per_plane", message);
    }
    if !drive.capacity_bytes.is_multiple_of(u64::from(g.slot_bytes)) {
        return wrong(
            "capacity",
            "is not a multiple of `geometry.mapping_unit`".into(),
        );
    }
    Ok(())
}

/// Whether the capacity leaves room for cleaning and the map.
fn room(drive: &DriveProfile) -> Result<(), Wrong> {
    let g = &drive.geometry;
    let cached = drive.dram.map_cache_bytes;
    let (mut reserve, mut map_slots) = (RESERVE, 0);
    if cached > 0 {
        if cached < 64 * u64::from(g.slot_bytes) {
            let message = format!(
                "holds fewer than 64 pages of the map, {} B each; 0 is for the whole map",
                g.slot_bytes
            );
            return wrong("dram.map_cache", message);
        }
        // Superblocks of the map are cleaned once they are half garbage.
        reserve += 1;
        let entries = u64::from(g.slot_bytes / MAP_ENTRY_BYTES);
        map_slots = 2 * (drive.capacity_bytes / u64::from(g.slot_bytes)).div_ceil(entries);
        if map_slots > u64::from(u32::MAX) {
            let message = "the map has too many pages; raise `geometry.mapping_unit`".into();
            return wrong("dram.map_cache", message);
        }
    }
    let pages = drive.capacity_bytes / u64::from(g.slot_bytes) + map_slots / 2;
    if pages > MOST_PAGES {
        let message = format!(
            "{pages} mapping units, those of the map among them, are more than the {MOST_PAGES} that \
             can be simulated; raise `geometry.mapping_unit`"
        );
        return wrong("capacity", message);
    }
    // Cleaning needs some spare space in addition to its reserve.
    let superblock = u64::from(g.slots_per_superblock(drive.mode)) * u64::from(g.slot_bytes);
    let spare = drive.least_spare_slots() * u64::from(g.slot_bytes);
    let kept = reserve * superblock + spare + map_slots * u64::from(g.slot_bytes);
    let promoted = keeps::promoted_slots(drive) * u64::from(g.slot_bytes);
    let own = drive.axes_with_own_stream().count() as u64;
    let kept = kept + promoted + own * superblock;
    let usable = g.raw_bytes(drive.mode).saturating_sub(kept);
    if drive.capacity_bytes > usable {
        let mut others = match promoted {
            0 => String::new(),
            bytes => format!(", {bytes} B of superblocks in other modes"),
        };
        let axes: Vec<&str> = drive.axes_with_own_stream().collect();
        for axis in axes.chunk_by(|a, b| a == b) {
            others += &match axis {
                [axis] => format!(", one for the stream of axis `{axis}`"),
                axes => format!(", {} for the streams of axis `{}`", axes.len(), axes[0]),
            };
        }
        let message = format!(
            "{} B are more than the {} superblocks hold in {} mode, less {} that cleaning keeps, {} to \
             spare{}{others}: {usable} B",
            drive.capacity_bytes,
            g.blocks_per_plane,
            drive.mode.name(),
            reserve,
            g.blocks_per_plane.div_ceil(LEAST_SPARE),
            ["", " and twice the map"][usize::from(cached > 0)],
        );
        return wrong("capacity", message + &scaled_capacity(drive));
    }
    Ok(())
}

/// The capacity that keeps the over-provisioning of the profile, where fewer wordlines of a block are taken.
fn scaled_capacity(drive: &DriveProfile) -> String {
    let g = &drive.geometry;
    let (taken, there) = (u64::from(g.wordlines_per_block), drive.chip.wordlines());
    if taken == u64::from(there) {
        return String::new();
    }
    let slots = drive.capacity_bytes / u64::from(g.slot_bytes) * taken / u64::from(there);
    format!(
        ". With {taken} of {there} wordlines a block, `capacity={} B` keeps the over-provisioning",
        slots * u64::from(g.slot_bytes)
    )
}

/// Whether the chip keeps up with the channel.
fn channel(drive: &DriveProfile) -> Result<(), Wrong> {
    if drive.channel.rate_mt_per_s > drive.chip.timing.io_mt_per_s {
        let message = format!(
            "is faster than the chip, whose `timing.io` is {} MT/s",
            drive.chip.timing.io_mt_per_s
        );
        return wrong("channel.rate", message);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use firstread_core::params::{Role, Scheme};
    use firstread_firmware::observe::{Epoch, HeatConfig};
    use firstread_firmware::policy::AXES;

    use super::*;
    use crate::profile::{Library, Override, ResolvedEntry, load_drive};

    /// Only an oracle knows what no firmware can, and each says so.
    #[test]
    fn an_oracle_says_what_it_knows() {
        for axis in AXES {
            for scheme in axis.schemes {
                let oracles = [Need::TrueLevels, Need::FreeSuspends, Need::Future];
                let knows = oracles.iter().any(|&need| scheme.requires(need));
                assert_eq!(knows, scheme.role == Role::Oracle, "{}", scheme.name);
            }
        }
    }

    fn loaded(set: &[&str]) -> Result<DriveProfile, String> {
        let set: Vec<Override> = set.iter().map(|t| Override::parse(t).unwrap()).collect();
        load_drive(&Library::new(), "tlc-48l", &set, AXES).map_err(|e| e.to_string())
    }

    /// Heat is counted where a scheme needs it or the profile says so, and takes the memory that it says.
    #[test]
    fn heat_is_there_where_it_is_asked_for() {
        let mut drive = loaded(&[]).unwrap();
        assert_eq!((drive.heat_config(1), drive.heat_bytes()), (None, None));
        static HOT: Scheme = Scheme {
            name: "hot",
            summary: "",
            source: "",
            role: Role::Scheme,
            needs: &[Need::Heat],
            ordered: &[],
            params: &[],
        };
        drive.schemes[0].scheme = &HOT;
        let config = drive.heat_config(1);
        assert_eq!(
            config,
            Some(HeatConfig {
                seed: 1,
                ..HeatConfig::default()
            })
        );
        let set = [
            "heat.enabled=true",
            "heat.unit=64KiB",
            "heat.epoch=none",
            "heat.most=1MiB",
        ];
        let drive = loaded(&set).unwrap();
        let config = drive.heat_config(0).unwrap();
        let slots = 65_536 / drive.geometry.slot_bytes;
        assert_eq!((config.unit_slots, config.epoch), (slots, Epoch::Never));
        assert!(
            drive
                .heat_bytes()
                .is_some_and(|bytes| bytes > 1_000_000 && bytes <= 1 << 20)
        );
        let halved = loaded(&["heat.enabled=true", "heat.epoch=5000"]).unwrap();
        assert_eq!(halved.heat_config(0).unwrap().epoch, Epoch::Accesses(5_000));
        let by_reads = [
            "heat.enabled=true",
            "heat.epoch_times=4",
            "heat.epoch_counts=reads",
        ];
        let config = loaded(&by_reads).unwrap().heat_config(0).unwrap();
        assert_eq!(
            (config.epoch, config.epoch_counts_writes),
            (Epoch::Counters(4), false)
        );
        // What is listed as the default can be given.
        let listed = loaded(&[]).unwrap();
        let given: Vec<Override> = listed
            .resolved
            .iter()
            .filter(|e| e.path.starts_with("heat."))
            .map(ResolvedEntry::to_override)
            .collect();
        assert_eq!(given.len(), 10);
        let drive = load_drive(&Library::new(), "tlc-48l", &given, AXES).unwrap();
        assert_eq!(drive.heat, listed.heat);
    }

    /// What is needed to stay in a mode is less than what is needed to come there.
    #[test]
    fn formula_thresholds_that_cross_are_refused() {
        let modes = ["firmware.cell_modes=all", "schemes.cell_mode=hotness"];
        let with = |own: &[&str]| {
            let set: Vec<Override> = modes
                .iter()
                .chain(own)
                .map(|t| Override::parse(t).unwrap())
                .collect();
            load_drive(&Library::new(), "raro-femu", &set, AXES).map_err(|e| e.to_string())
        };
        with(&["cell_mode.stay_slc=7", "cell_mode.stay_tlc=2"]).unwrap();
        for (own, what) in [
            (
                &["cell_mode.stay_slc=8"][..],
                "cell_mode.hot: is 8, not above `stay_slc` = 8: `hotness` needs `stay_slc` < `hot`",
            ),
            (
                &["cell_mode.stay_tlc=5"],
                "cell_mode.warm: is 3, below `stay_tlc` = 5: `hotness` needs `stay_tlc` < `warm`",
            ),
            (
                &["cell_mode.warm=9"],
                "cell_mode.hot: is 8, below `warm` = 9: `hotness` needs `warm` <= `hot`",
            ),
        ] {
            let error = with(own).unwrap_err();
            assert!(error.contains(what), "{own:?}: {error}");
        }
    }

    /// A drive has 32 write streams at most, those of every drive and of the map among them.
    #[test]
    fn formula_more_write_streams_than_a_firmware_has_room_for_are_refused_with_the_arithmetic() {
        const fn declares(needs: &'static [Need]) -> Scheme {
            Scheme {
                name: "many",
                summary: "",
                source: "",
                role: Role::Scheme,
                needs,
                ordered: &[],
                params: &[],
            }
        }
        static MOST: Scheme = declares(&[Need::OwnStream; 29]);
        static TOO_MANY: Scheme = declares(&[Need::OwnStream; 30]);
        // Two of cell modes.
        const WITH_MODES: [Need; 29] = {
            let mut needs = [Need::OwnStream; 29];
            needs[0] = Need::CellModes;
            needs
        };
        static MODES_TOO: Scheme = declares(&WITH_MODES);
        let with = |set: &[&str], scheme: &'static Scheme| {
            let mut drive = loaded(set).unwrap();
            let choice = drive.schemes.iter_mut().find(|c| c.axis.name == "wear");
            let choice = choice.unwrap();
            (choice.scheme, choice.values) = (scheme, Vec::new());
            few_streams(&drive)
        };
        let refreshed = "schemes.refresh=lightweight";
        assert_eq!(with(&[refreshed], &MOST), Ok(()));
        let message = "`many` declares 30 write streams, and a drive has 32 at most: 2 of every such drive (host, moves) and \
                       30 of `wear=many`, 1 of `refresh=lightweight` are 33";
        for scheme in [&TOO_MANY, &MODES_TOO] {
            assert_eq!(
                with(&[refreshed], scheme),
                wrong("schemes.wear", message.into())
            );
        }
        let message = "`many` declares 29 write streams, and a drive has 32 at most: 3 of every such drive (host, moves, map) \
                       and 29 of `wear=many`, 1 of `refresh=lightweight` are 33";
        assert_eq!(
            with(&[refreshed, "dram.map_cache=4 MiB"], &MOST),
            wrong("schemes.wear", message.into())
        );
        // Every choice among the shipped schemes has fewer, but for a number of handles.
        let handles = |drive: &str| few_streams(&loaded(&["schemes.stream=fdp", drive]).unwrap());
        assert_eq!(handles("stream.handles=16"), Ok(()));
        let persistent = [
            "schemes.stream=fdp",
            "stream.persistent=true",
            "stream.handles=16",
            "capacity=1 GiB",
        ];
        let message = "`fdp` declares 30 write streams, and a drive has 32 at most: 2 of every such drive (host, moves) and 1 of \
                       `refresh=lightweight`, 30 of `stream=fdp` are 33; `stream.handles=15` would do";
        let refused = loaded(&[&persistent[..], &[refreshed, "schemes.wear=none"]].concat());
        let refused = refused.unwrap_err().to_string();
        assert!(refused.ends_with(message), "{refused}");
        let most = AXES
            .iter()
            .filter(|axis| axis.name != "stream")
            .map(|axis| {
                let of = |scheme: &Scheme| {
                    scheme.own_streams() + 2 * usize::from(scheme.requires(Need::CellModes))
                        - usize::from(scheme.requires(Need::SlcAlone))
                };
                axis.schemes.iter().map(of).max().unwrap_or(0)
            });
        assert!(most.sum::<usize>() + 3 <= firstread_firmware::ftl::MOST_STREAMS);
    }

    #[test]
    fn units_and_bits_of_heat_are_refused_where_nothing_counts_so() {
        for (set, what) in [
            (
                ["heat.unit=2 KiB", "geometry.mapping_unit=4 KiB"],
                "heat.unit: is 2048 B, less than `geometry.mapping_unit`, 4096 B",
            ),
            (
                ["heat.unit=12 KiB", "geometry.mapping_unit=4 KiB"],
                "heat.unit: is 12288 B, not `geometry.mapping_unit`, 4096 B, times a power of two",
            ),
            (
                ["heat.read_bits=5", "heat.write_bits=4"],
                "heat.read_bits: makes 9 bits",
            ),
            (
                ["heat.most=1023 B", "heat.epoch=7"],
                "heat.most: `1023 B` is outside",
            ),
            (
                // 469 M units are scattered over 2^30 numbers: with tags of 24 bits 64 sets tell them apart.
                ["heat.most=4095 B", "heat.enabled=true"],
                "heat.most: is 4095 B; to tell the 468750000 units of the drive apart takes 4096 B at least",
            ),
            (
                ["heat.units=4 KiB", "heat.epoch=7"],
                "the nearest is `heat.unit`",
            ),
        ] {
            let text = loaded(&set).unwrap_err();
            assert!(text.contains(what), "{set:?}: {text}");
        }
    }

    /// Shares and slices under which a die would serve host reads or programs alone, or run out of suspends.
    #[test]
    fn turns_that_end_nowhere_are_refused_with_the_arithmetic() {
        for (set, what) in [
            (
                "firmware.turn_share=0 %",
                "firmware.turn_share: `0 %` is outside",
            ),
            (
                "firmware.turn_share=100 %",
                "firmware.turn_share: `100 %` is outside",
            ),
            (
                "firmware.slice=20 ms",
                "`firmware.slice` is 20000 us, and the longest program or erase takes",
            ),
            (
                "firmware.slice=100 us",
                "slices, and chip `ct-tlc-48l` allows 32 suspends (`chip.timing.max_suspends`)",
            ),
            (
                "chip.timing.min_progress=2 ms",
                "runs for 2000 us at least before it stops (`chip.timing.min_progress`)",
            ),
            (
                "chip.timing.max_suspends=0",
                "which is 2 slices, and chip `ct-tlc-48l` allows 0 suspends",
            ),
        ] {
            let text = loaded(&[set, "schemes.suspend=program-erase"]).unwrap_err();
            assert!(text.contains(what), "{set}: {text}");
        }
        // A scheme that suspends nothing needs no slices.
        loaded(&["chip.timing.max_suspends=0", "schemes.suspend=none"]).unwrap();
    }

    #[test]
    fn superblocks_in_other_modes_are_refused_where_no_page_would_go() {
        let loaded = |set: &[&str]| {
            let set: Vec<Override> = set.iter().map(|t| Override::parse(t).unwrap()).collect();
            load_drive(&Library::new(), "raro-femu", &set, AXES).map_err(|e| e.to_string())
        };
        let oracle = "schemes.cell_mode=clairvoyant";
        let few = ["geometry.blocks_per_plane=128", "capacity=5 GiB"];
        for (set, what) in [
            (
                vec![oracle, "cell_mode.lost=1 permille", few[0], few[1]],
                "cell_mode.lost: 1 permille of 2097152 slots are less than the 4096 that a superblock in TLC mode costs: \
                 no page would ever leave qlc",
            ),
            (
                vec![oracle, "cell_mode.keep=400 permille"],
                "cell_mode.keep: 400 permille of over-provisioning are to be left, and the drive has",
            ),
            (
                vec!["schemes.cell_mode=raro", "cell_mode.hot=16 reads"],
                "cell_mode.hot: is 16, and `heat.read_bits` = 4 count to 15: no page would ever be hot (255: warm pages alone are \
                 meant)",
            ),
            (
                vec![
                    "schemes.cell_mode=raro",
                    "cell_mode.hot=255",
                    "cell_mode.warm=20",
                ],
                "cell_mode.warm: is 20, and `heat.read_bits` = 4 count to 15: no page would ever be warm",
            ),
            (
                vec![
                    "schemes.cell_mode=hybrid-pools",
                    "heat.enabled=true",
                    "cell_mode.promote=hotness",
                    "cell_mode.hot=255",
                ],
                "cell_mode.hot: is 255, and `heat.read_bits` = 4 count to 15: no page would ever be hot",
            ),
            (
                vec!["schemes.cell_mode=hotness", "mode=tlc", "capacity=9 GiB"],
                "`hotness` needs modes with fewer bits than tlc, and chip `raro-hybrid` has no tlc",
            ),
        ] {
            let text = loaded(&set).unwrap_err();
            assert!(text.contains(what), "{set:?}: {text}");
        }
        // Warm pages alone, or hot ones alone: baselines with one other mode.
        for scheme in [
            "schemes.cell_mode=raro",
            "schemes.cell_mode=hotness",
            "schemes.refresh=hot",
        ] {
            let axis = &scheme["schemes.".len()..scheme.find('=').unwrap()];
            let (warm_alone, hot_alone) = (format!("{axis}.hot=255"), format!("{axis}.warm=8"));
            assert_eq!(loaded(&[scheme, &warm_alone]).map(drop), Ok(()));
            assert_eq!(loaded(&[scheme, &hot_alone]).map(drop), Ok(()));
        }
        let none = ["cell_mode.lost=0 permille", few[0], few[1], oracle];
        assert!(loaded(&none).is_ok());
        // Nothing is promoted for its page type, so it does not matter from which heat on.
        let by_heat = ["schemes.page_type=read-heat", "heat.read_bits=3"];
        assert_eq!(loaded(&by_heat).map(drop), Ok(()));
        let promoted = [by_heat[0], by_heat[1], "page_type.promote=1 pages"];
        let text = loaded(&promoted).map(drop).unwrap_err();
        assert!(text.contains("page_type.hot: is 8"), "{text}");
    }

    /// A pool that the host writes to is refused where it cannot be held, where its range crosses, and where nothing counts the reads that
    /// it promotes by.
    #[test]
    fn pools_that_the_drive_cannot_hold_are_refused_with_the_arithmetic() {
        let loaded = |set: &[&str]| {
            let pool = ["schemes.cell_mode=hybrid-pools"].iter().chain(set);
            let set: Vec<Override> = pool.map(|t| Override::parse(t).unwrap()).collect();
            load_drive(&Library::new(), "raro-femu", &set, AXES).map_err(|e| e.to_string())
        };
        for (set, what) in [
            (
                "cell_mode.smallest=65 superblocks",
                "cell_mode.smallest: 65 superblocks in SLC mode take 798720 mapping units, 12288 each, and beside capacity, reserve, \
                 streams and least spare the drive has 790365: 64 superblocks would do",
            ),
            (
                "cell_mode.ready_low=3 superblocks",
                "cell_mode.ready_high: is 2, below `ready_low` = 3: `hybrid-pools` needs `ready_low` <= `ready_high`",
            ),
            (
                "cell_mode.promote=raro",
                "cell_mode.promote: promotes pages that are read often, and nothing counts reads: set `heat.enabled` to true, or choose none",
            ),
        ] {
            let text = loaded(&[set]).map(drop).unwrap_err();
            assert!(text.contains(what), "{set}: {text}");
        }
        assert_eq!(
            loaded(&["cell_mode.smallest=64 superblocks"]).map(drop),
            Ok(())
        );
        let counted = ["cell_mode.promote=raro", "heat.enabled=true"];
        assert_eq!(loaded(&counted).map(drop), Ok(()));
    }

    /// Thresholds of `refresh` that no page reaches, or in an order that makes none of them count, are refused; so are
    /// triggers for drives of another kind, and a drive without room for the stream of refreshed pages.
    #[test]
    fn refresh_is_refused_with_thresholds_and_on_drives_that_make_no_sense() {
        let loaded = |drive: &str, set: &[&str]| {
            let set: Vec<Override> = set.iter().map(|t| Override::parse(t).unwrap()).collect();
            load_drive(&Library::new(), drive, &set, AXES).map_err(|e| e.to_string())
        };
        const HOT: &str = "schemes.refresh=hot";
        for (drive, set, what) in [
            (
                "raro-femu",
                &[HOT, "refresh.hot=2 reads", "refresh.warm=3 reads"][..],
                "refresh.hot: is 2, below `warm` = 3: `hot` needs `warm` <= `hot`",
            ),
            (
                "raro-femu",
                &[HOT, "refresh.hot.r1=6 retries", "refresh.r2=5 retries"],
                "refresh.r2: is 5, below `r1` = 6",
            ),
            (
                "raro-femu",
                &["schemes.refresh=lightweight", "refresh.hot=16 reads"],
                "refresh.hot: is 16, and `heat.read_bits` = 4 count to 15",
            ),
            (
                "raro-femu",
                &["schemes.refresh=read-count", "refresh.reads_slc=0 reads"],
                "refresh.reads_slc: `0` is outside 1 to",
            ),
            (
                "raro-femu",
                &["schemes.refresh=read-count", "refresh.hot=4 reads"],
                "refresh.hot: is a parameter of lightweight, hot, and the scheme is read-count",
            ),
            (
                "tlc-48l",
                &[HOT, "refresh.trigger=computed"],
                "refresh.trigger: is `computed`, a model of the ageing of QLC, and `mode` is `tlc`",
            ),
            (
                "ct-qlc",
                &[HOT, "refresh.trigger=slow"],
                "refresh.trigger: is `slow`, which compares a read with one in SLC or TLC mode",
            ),
            (
                "raro-femu",
                &[HOT, "capacity=15900 MiB"],
                "one for the stream of axis `refresh`",
            ),
            (
                "bench-4g",
                &["schemes.stream=sepbit", "capacity=3700 MiB"],
                ", 4 for the streams of axis `stream`: ",
            ),
        ] {
            let text = loaded(drive, set).err().unwrap_or_default();
            assert!(text.contains(what), "{drive} {set:?}: {text}");
        }
        // A value is of the parameter, a table of the scheme of that name.
        for set in [
            [HOT, "refresh.hot=9 reads", "refresh.warm=2 reads"],
            [HOT, "refresh.hot.hot=9 reads", "refresh.hot.warm=2 reads"],
        ] {
            let drive = loaded("raro-femu", &set).unwrap();
            let values = drive.scheme("refresh").unwrap().values();
            assert_eq!((values.get("hot"), values.get("warm")), (9, 2));
        }
        loaded("raro-femu", &["capacity=15900 MiB"]).unwrap();
        loaded("raro-femu", &[HOT, "refresh.trigger=slow"]).unwrap();
        loaded("raro-femu", &[HOT, "refresh.trigger=computed"]).unwrap();
    }

    /// A scheme whose drive lacks what it needs is refused, and those of its axis that would do are named.
    #[test]
    fn a_scheme_is_refused_where_its_need_is_not_met() {
        let one_die = ["channels", "chips_per_channel", "dies_per_chip"];
        let one_die = one_die.map(|key| format!("geometry.{key}=1"));
        let refused = |set: &[&str], what: &str| {
            let overrides: Vec<Override> =
                set.iter().map(|t| Override::parse(t).unwrap()).collect();
            let loaded = load_drive(&Library::new(), "tlc-48l", &overrides, AXES);
            let text = loaded.unwrap_err().to_string();
            assert!(text.contains(what), "{set:?}: {text}");
        };
        let mut parity = vec!["schemes.read_recovery=parity"];
        parity.extend(one_die.iter().map(String::as_str));
        refused(
            &parity,
            "schemes.read_recovery: `parity` needs parity across dies, two at least: choose none",
        );
        let apart = "chip.timing.independent_plane_reads=true";
        for retry in ["pipelined", "adaptive", "pipelined-adaptive"] {
            let set = [&*format!("schemes.retry={retry}"), apart];
            refused(&set, "choose sequential or single-step");
        }
        refused(
            &["schemes.read_recovery=soft", "ecc.code=threshold"],
            "`ecc.code` is `threshold`, which gains nothing from soft senses: choose none or parity",
        );
    }
}
