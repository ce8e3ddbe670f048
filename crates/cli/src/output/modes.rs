//! Cell modes of a run: shown where a superblock in another mode than the drive's exists or existed.

use firstread_core::CellMode;
use firstread_session::results::modes::{
    OfMode, are_mixed, capacity, damage, has_several, lost_over_time, of_modes,
};
use firstread_session::{Outcome, Setup};

use crate::figure::{Axis, Dash, Figure, Mark, PALETTE, Panel, Row, Series};

use super::copies::promotions;
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

/// A number of a run, and how it is shown.
type OfRun = (fn(&Setup, &Outcome) -> f64, fn(f64) -> String);

/// What other cell modes cost and gave, where the drives have several; by mode, where some occurred.
pub fn compared(axis: &str, results: &[(&str, &[(Setup, Outcome)])]) -> String {
    let mut setups = results.iter().flat_map(|(_, drives)| *drives);
    if !setups.any(|(setup, _)| has_several(setup)) {
        return String::new();
    }
    let mut costs = vec![row([
        axis, "lost", "at most", "spare", "at least", "promoted", "refused", "demoted", "erases",
    ])];
    let mut by_mode = vec![row([
        axis,
        "mode",
        "superblocks",
        "valid units",
        "erases",
        "programmed",
        "of reads",
        "mean",
        "retries",
    ])];
    let whole = |n: f64| count(n as u64);
    for (label, drives) in results {
        let figures: [OfRun; 8] = [
            (|s, o| capacity(s, o).lost_bytes[1] as f64, bytes),
            (|s, o| capacity(s, o).lost_bytes[2] as f64, bytes),
            (
                |s, o| capacity(s, o).over_provisioning_bytes[1] as f64,
                bytes,
            ),
            (
                |s, o| capacity(s, o).over_provisioning_bytes[2] as f64,
                bytes,
            ),
            (
                |_, o| o.stats.counters.slots_promoted.iter().sum::<u64>() as f64,
                whole,
            ),
            (
                |_, o| o.stats.counters.promotions_refused.iter().sum::<u64>() as f64,
                whole,
            ),
            (|_, o| o.stats.counters.slots_demoted as f64, whole),
            (|_, o| o.stats.counters.erases as f64, whole),
        ];
        let (mut values, mut ranges) = (vec![(*label).to_owned()], vec![String::new()]);
        for (value, show) in figures {
            let over = Spread::of(drives.iter().map(|(s, o)| Some(value(s, o))));
            values.push(over.map_or(String::new(), |over| show(over.median)));
            ranges.push(over.map_or(String::new(), |over| over.range(show)));
        }
        costs.push(values);
        costs.extend((drives.len() > 1).then_some(ranges));
        for mode in CellMode::ALL {
            let of =
                |(s, o): &(Setup, Outcome)| of_modes(s, o).into_iter().find(|of| of.mode == mode);
            let of: Vec<OfMode> = drives.iter().filter_map(of).collect();
            if of.is_empty() {
                continue;
            }
            let median = |value: fn(&OfMode) -> Option<f64>, show: fn(f64) -> String| {
                let over = Spread::of(of.iter().map(value));
                over.map_or("-".into(), |over| show(over.median))
            };
            by_mode.push(vec![
                (*label).to_owned(),
                mode.name().into(),
                median(|m| Some(m.superblocks[1].into()), whole),
                median(|m| Some(m.valid_slots[1] as f64), whole),
                median(|m| Some(m.erases as f64), whole),
                median(|m| Some(m.slots_programmed as f64), whole),
                median(|m| m.read_share, share),
                median(|m| Some(m.read_mean_us? * 1e3), time),
                median(|m| m.retries_mean, ratio),
            ]);
        }
    }
    let left = |n: usize| [vec![Side::Left; n], vec![Side::Right; 9 - n]].concat();
    format!(
        "\ncapacity lost to other cell modes, over-provisioning left, mapping units promoted\n{}\nby cell mode\n{}",
        table("  ", &left(1), &costs),
        table("  ", &left(2), &by_mode),
    )
}

fn row<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(String::from).to_vec()
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
        (modes.worst.lost_slots, modes.end.room.lost_slots) = (slc + tlc, tlc);
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
