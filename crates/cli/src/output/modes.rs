//! Cell modes of a run: shown where a superblock in another mode than the drive's exists or existed.

use firstread_core::CellMode;
use firstread_session::results::modes::{
    OfMode, are_mixed, capacity, damage, has_several, lost_over_time, of_modes,
};
use firstread_session::{Outcome, Setup};
use serde::{Deserialize, Serialize};

use crate::figure::{Axis, Dash, Figure, Mark, PALETTE, Panel, Row, Series};

use super::copies::{promotions, written_to_pool};
use super::format::{Side, bytes, count, ratio, share, table, time};
use super::spread::Spread;

/// Lines of a report.
pub fn lines(setup: &Setup, outcome: &Outcome) -> String {
    if !are_mixed(outcome) {
        return String::new();
    }
    let own = setup.profile.mode.name();
    let of = capacity(setup, outcome);
    let times = |[start, end, worst]: [u64; 3]| [start, end, worst].map(|n| bytes(n as f64));
    let [lost, now_lost, most_lost] = times(of.lost_bytes);
    let [spare, now_spare, least_spare] = times(of.over_provisioning_bytes);
    let mut text = format!(
        "\nsuperblocks in other cell modes than {own} ({} converted)\n\
         \x20 capacity lost: {lost} at the start, {now_lost} at the end, {most_lost} at most\n\
         \x20 over-provisioning: {spare} at the start, {now_spare} at the end, {least_spare} at least\n\n",
        count(outcome.stats.counters.conversions),
    );
    text += &promotions(outcome);
    text += &written_to_pool(outcome);
    let head = [
        "mode",
        "superblocks",
        "valid pages",
        "erases",
        "programmed",
        "page reads",
        "of all",
        "mean",
        "first try",
        "retries",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".into());
    rows.extend(of_modes(setup, outcome).iter().map(|of| {
        vec![
            of.mode.name().into(),
            count(u64::from(of.superblocks[1])),
            count(of.valid_slots[1]),
            count(of.erases),
            count(of.slots_programmed),
            count(of.page_reads),
            or_none(of.read_share.map(share)),
            or_none(of.read_mean_us.map(|us| time(us * 1e3))),
            or_none(of.first_try_rate.map(share)),
            or_none(of.retries_mean.map(ratio)),
        ]
    }));
    let sides = [&[Side::Left][..], &[Side::Right; 9]].concat();
    text += &table("  ", &sides, &rows);
    let worn = damage(setup, outcome);
    text += &format!(
        "  erases damage like {:.1} cycles in {own} mode; between {:.1} (by the ratio of the ratings) and {:.1} (every \
         cycle alike)\n",
        worn.as_set, worn.by_ratings, worn.alike,
    );
    text
}

/// What other cell modes cost and gave in a run.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct OfModes {
    /// Whether superblocks of the drive may have another mode than its own.
    several: bool,
    /// In the order of [`COSTS`].
    costs: [f64; COSTS.len()],
    /// Of each mode that a superblock has or had.
    modes: Vec<Mode>,
}

/// A cell mode in a run.
#[derive(Serialize, Deserialize, Clone, Debug)]
struct Mode {
    name: String,
    /// In the order of [`BY_MODE`].
    values: [Option<f64>; BY_MODE.len()],
}

/// A column of numbers, and how they are shown.
type Column = (&'static str, fn(f64) -> String);

fn whole(n: f64) -> String {
    count(n as u64)
}

const COSTS: [Column; 8] = [
    ("lost", bytes),
    ("at most", bytes),
    ("spare", bytes),
    ("at least", bytes),
    ("promoted", whole),
    ("refused", whole),
    ("demoted", whole),
    ("erases", whole),
];

const BY_MODE: [Column; 7] = [
    ("superblocks", whole),
    ("valid units", whole),
    ("erases", whole),
    ("programmed", whole),
    ("of reads", share),
    ("mean", time),
    ("retries", ratio),
];

/// What other cell modes cost and gave in the run of `setup`.
pub fn of_run(setup: &Setup, outcome: &Outcome) -> OfModes {
    let (capacity, counters) = (capacity(setup, outcome), &outcome.stats.counters);
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    let costs = [
        capacity.lost_bytes[1],
        capacity.lost_bytes[2],
        capacity.over_provisioning_bytes[1],
        capacity.over_provisioning_bytes[2],
        sum(&counters.slots_promoted),
        sum(&counters.promotions_refused),
        counters.slots_demoted,
        counters.erases,
    ];
    let mode = |of: &OfMode| Mode {
        name: of.mode.name().to_owned(),
        values: [
            Some(of.superblocks[1].into()),
            Some(of.valid_slots[1] as f64),
            Some(of.erases as f64),
            Some(of.slots_programmed as f64),
            of.read_share,
            of.read_mean_us.map(|us| us * 1e3),
            of.retries_mean,
        ],
    };
    OfModes {
        several: has_several(setup),
        costs: costs.map(|n| n as f64),
        modes: of_modes(setup, outcome).iter().map(mode).collect(),
    }
}

/// What other cell modes cost and gave, where drives have several; by mode, where some occurred. A label is that of
/// several drives.
pub fn compared(axis: &str, results: &[(&str, Vec<OfModes>)]) -> String {
    let mut drives = results.iter().flat_map(|(_, drives)| drives);
    if !drives.any(|of| of.several) {
        return String::new();
    }
    let names = |columns: &[Column]| {
        let names = columns.iter().map(|(name, _)| (*name).to_owned());
        names.collect::<Vec<String>>()
    };
    let mut costs = vec![[vec![axis.to_owned()], names(&COSTS)].concat()];
    let mut by_mode = vec![[vec![axis.to_owned(), "mode".into()], names(&BY_MODE)].concat()];
    for (label, drives) in results {
        let (mut values, mut ranges) = (vec![(*label).to_owned()], vec![String::new()]);
        for (i, (_, show)) in COSTS.iter().enumerate() {
            let over = Spread::of(drives.iter().map(|of| Some(of.costs[i])));
            values.push(over.map_or(String::new(), |over| show(over.median)));
            ranges.push(over.map_or(String::new(), |over| over.range(show)));
        }
        costs.push(values);
        costs.extend((drives.len() > 1).then_some(ranges));
        for mode in CellMode::ALL {
            let of_drive = |of: &OfModes| of.modes.iter().position(|m| m.name == mode.name());
            let of: Vec<&Mode> = drives
                .iter()
                .filter_map(|drive| Some(&drive.modes[of_drive(drive)?]))
                .collect();
            if of.is_empty() {
                continue;
            }
            let median = |(i, (_, show)): (usize, &Column)| {
                let over = Spread::of(of.iter().map(|mode| mode.values[i]));
                over.map_or("-".into(), |over| show(over.median))
            };
            let mut row = vec![(*label).to_owned(), mode.name().to_owned()];
            row.extend(BY_MODE.iter().enumerate().map(median));
            by_mode.push(row);
        }
    }
    let left = |n: usize| [vec![Side::Left; n], vec![Side::Right; 9 - n]].concat();
    format!(
        "\ncapacity lost to other cell modes, over-provisioning left, mapping units promoted\n{}\nby cell mode\n{}",
        table("  ", &left(1), &costs),
        table("  ", &left(2), &by_mode),
    )
}

/// Capacity lost over the run, as a picture.
pub fn figure(setup: &Setup, outcome: &Outcome) -> Figure {
    let end = outcome.stats.simulated.0 as f64 * 1e-9;
    let mut points: Vec<[f64; 2]> = Vec::new();
    for (at, lost) in lost_over_time(setup, outcome) {
        let mib = lost as f64 / f64::from(1 << 20);
        // A step: what was lost before holds until then.
        points.extend(points.last().map(|&[_, before]| [at, before]));
        points.push([at, mib]);
    }
    points.extend(points.last().map(|&[at, mib]| [end.max(at), mib]));
    let most = points.iter().map(|&[_, mib]| mib).fold(1.0, f64::max);
    let line = Mark::Line {
        points,
        width_px: 3.0,
        dash: Dash::Solid,
    };
    let panel = Panel {
        title: String::new(),
        weight: 1.0,
        x: Axis::linear("Time of the run (s)"),
        y: Axis::linear("Capacity lost (MiB)").between(0.0, 1.05 * most),
        series: vec![Series {
            name: String::new(),
            colour: PALETTE[0],
            mark: line,
        }],
    };
    Figure {
        title: String::new(),
        size_px: (780, 420),
        rows: vec![Row {
            weight: 1.0,
            panels: vec![panel],
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_core::{Ns, SuperblockId};
    use firstread_firmware::log::{Record, What};
    use firstread_session::{Input, Simulation};

    /// A run without other modes says nothing of them; one with conversions has its lines, its steps and its picture.
    #[test]
    fn formula_modes_are_shown_where_they_occurred() {
        let job = "[a]\nrw=randread\nbs=4k\n".to_owned();
        let setup = Simulation {
            drive: "raro-femu".into(),
            limit: Some(50),
            ..Simulation::of(Input::job_file("a", job).unwrap())
        };
        let setup = setup.setup().unwrap();
        let mut outcome = setup.simulate().unwrap();
        assert_eq!(lines(&setup, &outcome), "");

        // A superblock became SLC, another one TLC, and the first one QLC again.
        let slots = |mode| u64::from(setup.profile.geometry.slots_per_superblock(mode));
        let qlc = slots(CellMode::Qlc);
        let [slc, tlc] = [CellMode::Slc, CellMode::Tlc].map(|mode| qlc - slots(mode));
        let modes = &mut outcome.stats.modes;
        (modes.worst.lost_slots, modes.end.capacity.lost_slots) = (slc + tlc, tlc);
        outcome.stats.counters.conversions = 3;
        outcome.stats.counters.erases_by_mode = [1, 0, 0, 2];
        let steps = [
            (1, 7, CellMode::Qlc, CellMode::Slc),
            (2, 8, CellMode::Qlc, CellMode::Tlc),
            (4, 7, CellMode::Slc, CellMode::Qlc),
        ];
        outcome.log.extend(steps.map(|(s, block, from, to)| Record {
            at: outcome.began + Ns::from_s(s),
            what: What::Converted {
                block: SuperblockId(block),
                from,
                to,
            },
        }));
        let bytes = u64::from(setup.profile.geometry.slot_bytes);
        let expected = [(0.0, 0), (1.0, slc), (2.0, slc + tlc), (4.0, tlc)];
        assert_eq!(
            lost_over_time(&setup, &outcome),
            expected.map(|(at, slots)| (at, slots * bytes))
        );
        let text = lines(&setup, &outcome);
        assert!(text.contains("3 converted"), "{text}");
        assert!(
            text.contains("0 B at the start, 16.8 MB at the end, 67.1 MB at most"),
            "{text}"
        );
        assert!(
            text.contains("like 3.0 cycles in qlc mode; between 2.0"),
            "{text}"
        );
        let svg = String::from_utf8(figure(&setup, &outcome).svg()).unwrap();
        assert!(svg.contains("Capacity lost (MiB)"), "{svg}");
    }
}
