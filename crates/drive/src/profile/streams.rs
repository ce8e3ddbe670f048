//! Write streams that the schemes of a drive declare.

use firstread_core::CellMode;
use firstread_core::params::Need;
use firstread_firmware::ftl::MOST_STREAMS;

use crate::profile::DriveProfile;
use crate::profile::schemes::SchemeChoice;

/// The cell modes for which the scheme of `choice` has a stream each, whose superblocks have this mode.
pub(super) fn modes(choice: &SchemeChoice) -> &'static [CellMode] {
    match choice.scheme.requires(Need::CellModes) {
        true => &[CellMode::Slc, CellMode::Tlc],
        false => &[],
    }
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
    let message = format!(
        "`{}` declares {streams} write streams, and a drive has {MOST_STREAMS} at most: {} of every such drive ({}) and {} \
         are {all}",
        most.scheme.name,
        names.len(),
        names.join(", "),
        each.join(", "),
    );
    Some((format!("schemes.{}", most.axis.name), message))
}
