//! Write streams that the schemes of a drive declare.

use firstread_core::CellMode;
use firstread_core::params::{Need, Values};
use firstread_firmware::ftl::MOST_STREAMS;

use crate::profile::DriveProfile;
use crate::profile::schemes::SchemeChoice;

/// The cell modes of the streams of the scheme of `choice` whose superblocks have another mode than the drive's own.
pub(super) fn modes(choice: &SchemeChoice) -> &'static [CellMode] {
    let promotes = choice.values().find("promote").unwrap_or(0) > 0;
    match (
        choice.scheme.requires(Need::CellModes),
        choice.scheme.requires(Need::SlcAlone),
    ) {
        (false, _) => &[],
        (true, false) => &[CellMode::Slc, CellMode::Tlc],
        (true, true) if promotes => &[CellMode::Slc, CellMode::Slc],
        (true, true) => &[CellMode::Slc],
    }
}

/// The value of the parameter by which the scheme of `choice` has `beyond` streams fewer, as it is set; none if no parameter says how many
/// streams it has.
fn fewer(choice: &SchemeChoice, beyond: usize) -> Option<String> {
    let key = choice.scheme.needs.iter().find_map(|need| match need {
        Need::OwnStreamsBeyond(key, _) => Some(*key),
        _ => None,
    })?;
    let at = choice
        .scheme
        .params
        .iter()
        .position(|param| param.key == key)?;
    let mut values = choice.values.clone();
    let streams = |values: &[i64]| Values::new(choice.scheme, values).own_streams();
    let most = streams(&values).checked_sub(beyond)?;
    while values[at] > 1 && streams(&values) > most {
        values[at] -= 1;
    }
    (streams(&values) <= most).then(|| format!("`{}.{key}={}`", choice.axis.name, values[at]))
}

/// The key of the scheme that declares most streams, and what is wrong, where a drive has more streams than a firmware has room for.
pub(super) fn too_many(drive: &DriveProfile) -> Option<(String, String)> {
    let names: &[&str] = match drive.dram.map_cache_bytes > 0 {
        true => &["host", "moves", "map"],
        false => &["host", "moves"],
    };
    let count = |choice: &SchemeChoice| choice.values().own_streams() + modes(choice).len();
    let declares = drive
        .schemes
        .iter()
        .map(|choice| (choice, count(choice)))
        .filter(|(_, streams)| *streams > 0);
    let all = names.len() + declares.clone().map(|(_, streams)| streams).sum::<usize>();
    if all <= MOST_STREAMS {
        return None;
    }
    let (most, streams) = declares.clone().max_by_key(|(_, streams)| *streams)?;
    let each = declares.map(|(choice, streams)| {
        format!("{streams} of `{}={}`", choice.axis.name, choice.scheme.name)
    });
    let each: Vec<String> = each.collect();
    let beyond = all - MOST_STREAMS;
    let would_do = fewer(most, beyond).map_or(String::new(), |do_| format!("; {do_} would do"));
    let message = format!(
        "`{}` declares {streams} write streams, and a drive has {MOST_STREAMS} at most: {} of every such drive ({}) and {} \
         are {all}{would_do}",
        most.scheme.name,
        names.len(),
        names.join(", "),
        each.join(", "),
    );
    Some((format!("schemes.{}", most.axis.name), message))
}
