//! The wear that a life left, as a latency run or another life starts from it.

use std::path::Path;
use std::sync::Arc;

use firstread_core::{Geometry, Ns};
use firstread_drive::profile::DriveProfile;
use firstread_drive::{DriveState, WornBlocks};
use serde_json::{Value, json};
use thiserror::Error;

use crate::files::{self, FileError};

/// Why the wear of a life cannot be used.
#[derive(Debug, Error)]
pub enum WornError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is no result of a life.
    #[error("{path}: is no result of `firstread life --json`: {why}")]
    NoLife { path: String, why: String },
    /// It is of another drive.
    #[error(
        "{path}: is the life of a drive with {what} {of_life}, and this drive has {of_drive}: choose the drive that lived \
         (`{drive}`), with the same geometry"
    )]
    Geometry {
        path: String,
        what: &'static str,
        of_life: u64,
        of_drive: u64,
        /// Name of the drive that lived.
        drive: String,
    },
}

/// What has to be the same of two geometries.
fn counts(g: &Geometry) -> [(&'static str, u64); 6] {
    [
        ("superblocks", g.blocks_per_plane.into()),
        ("dies", g.dies().into()),
        ("planes", g.planes.into()),
        ("wordlines_per_block", g.wordlines_per_block.into()),
        ("page_bytes", g.page_bytes.into()),
        ("slot_bytes", g.slot_bytes.into()),
    ]
}

/// `blocks` of a drive of `profile`, as [`wear_from`] takes them.
pub(crate) fn json(profile: &DriveProfile, blocks: &WornBlocks) -> Value {
    let mut value = json!({ "drive": profile.name });
    for (what, n) in counts(&profile.geometry) {
        value[what] = n.into();
    }
    value["pe_cycles"] = blocks.pe_cycles.clone().into();
    let retired = blocks.retired.iter().enumerate().filter(|(_, r)| **r);
    value["retired"] = retired.map(|(i, _)| i).collect::<Vec<_>>().into();
    value["written_bytes"] = blocks.written_bytes.into();
    value["lived_ns"] = blocks.lived.0.into();
    value
}

/// The superblocks of a drive of `profile` in `state` are as worn as those at the end of the life in the file at `path`.
///
/// # Errors
/// [`WornError`] where it is no life, or one of another geometry.
pub(crate) fn wear_from(
    profile: &mut DriveProfile,
    state: &mut DriveState,
    path: &Path,
) -> Result<(), WornError> {
    let name = path.display().to_string();
    let text = files::read_text(path)?;
    let no_life = |why: String| WornError::NoLife {
        path: name.clone(),
        why,
    };
    let value: Value = serde_json::from_str(&text).map_err(|e| no_life(e.to_string()))?;
    let worn = &value["worn"];
    let number = |key: &str| {
        worn[key]
            .as_u64()
            .ok_or_else(|| no_life(format!("it has no `worn.{key}`")))
    };
    for (what, of_drive) in counts(&profile.geometry) {
        let of_life = number(what)?;
        if of_life != of_drive {
            return Err(WornError::Geometry {
                path: name,
                what,
                of_life,
                of_drive,
                drive: worn["drive"].as_str().unwrap_or_default().to_owned(),
            });
        }
    }
    let list = |key: &str| -> Result<Vec<u32>, WornError> {
        let list = worn[key]
            .as_array()
            .ok_or_else(|| no_life(format!("it has no `worn.{key}`")))?;
        let number = |v: &Value| v.as_u64().and_then(|n| u32::try_from(n).ok());
        let numbers = list.iter().map(number).collect::<Option<_>>();
        numbers.ok_or_else(|| no_life(format!("`worn.{key}` is no list of numbers")))
    };
    let (written_bytes, lived) = (number("written_bytes")?, Ns(number("lived_ns")?));
    let pe_cycles = list("pe_cycles")?;
    let superblocks = profile.geometry.blocks_per_plane as usize;
    if pe_cycles.len() != superblocks {
        let why = format!(
            "`worn.pe_cycles` has {} superblocks of {superblocks}",
            pe_cycles.len()
        );
        return Err(no_life(why));
    }
    let mut retired = vec![false; superblocks];
    for block in list("retired")? {
        let of = retired.get_mut(block as usize);
        *of.ok_or_else(|| no_life(format!("there is no superblock {block} to be retired")))? = true;
    }
    if retired.iter().all(|r| *r) {
        return Err(no_life("all superblocks are retired".into()));
    }
    let blocks = WornBlocks {
        pe_cycles,
        retired,
        written_bytes,
        lived,
    };
    wear(profile, state, blocks);
    Ok(())
}

/// The superblocks of a drive of `profile` in `state` are as worn as `blocks`.
pub(crate) fn wear(profile: &mut DriveProfile, state: &mut DriveState, blocks: WornBlocks) {
    let worn = || blocks.in_use().map(|(_, pe_cycles)| pe_cycles);
    state.pe_cycles = (worn().min().unwrap_or(0), worn().max().unwrap_or(0));
    profile.worn = Some(Arc::new(blocks));
}
