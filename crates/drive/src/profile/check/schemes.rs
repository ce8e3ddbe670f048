//! Whether the parameters of schemes go together, and with the drive.

use firstread_core::CellMode;
use firstread_core::params::{Need, Order, ParamKind};
use firstread_firmware::ftl::RESERVE;

use super::needs::lacks;
use super::wrong::{Wrong, wrong};
use crate::profile::drive::LEAST_LOW;
use crate::profile::{DriveProfile, keeps, streams};

/// Whether its write streams are no more than a firmware has room for.
pub(super) fn few_streams(drive: &DriveProfile) -> Result<(), Wrong> {
    streams::too_many(drive).map_or(Ok(()), Err)
}

/// Whether parameters that belong together are in order.
pub(super) fn ordered(drive: &DriveProfile) -> Result<(), Wrong> {
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
pub(super) fn hot(drive: &DriveProfile) -> Result<(), Wrong> {
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
pub(super) fn trigger(drive: &DriveProfile) -> Result<(), Wrong> {
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
pub(super) fn other_modes(drive: &DriveProfile) -> Result<(), Wrong> {
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
        let spare = keeps::spare_of_pool(drive, all, value("keep").unwrap_or(0));
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
pub(super) fn areas(drive: &DriveProfile) -> Result<(), Wrong> {
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

#[cfg(test)]
mod tests {
    use firstread_core::params::{Role, Scheme};
    use firstread_firmware::policy::AXES;

    use super::super::tests::loaded;
    use super::*;
    use crate::profile::{Library, Override, load_drive};

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
    fn formula_superblocks_in_other_modes_are_refused_where_no_page_would_go() {
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
    fn formula_pools_that_the_drive_cannot_hold_are_refused_with_the_arithmetic() {
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
    fn formula_refresh_is_refused_with_thresholds_and_on_drives_that_make_no_sense() {
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
}
