//! Cell modes of a run: shown where a superblock in another mode than the drive's exists or existed.

use firstread_session::results::modes::{are_mixed, capacity, damage, of_modes};
use firstread_session::{Outcome, Setup};

use super::format::{Side, bytes, count, ratio, share, table, time};

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
