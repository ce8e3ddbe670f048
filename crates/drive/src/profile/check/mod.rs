//! Checks of a drive that involve several keys.
//!
//! - `needs`: what schemes take for granted. `schemes`: their parameters. `size`: geometry, capacity and chip.

mod needs;
mod schemes;
mod size;
mod wrong;

pub use needs::WearRateRefused;

use crate::profile::DriveProfile;
use crate::profile::reader::Reader;
use crate::profile::{keeps, memory};

/// Checks of a drive that involve several keys. The first problem is reported, at the key it most likely comes from.
pub(super) fn check(reader: &Reader<'_>, drive: &DriveProfile) {
    let checks = [
        size::shape,
        size::heat,
        size::retry_table,
        needs::needs,
        schemes::few_streams,
        schemes::ordered,
        schemes::hot,
        schemes::trigger,
        size::planes,
        size::size,
        size::room,
        schemes::other_modes,
        schemes::areas,
        keeps::fit,
        memory::fits,
        size::channel,
    ];
    if let Err((path, message)) = checks.iter().try_for_each(|check| check(drive)) {
        reader.note_at(&path, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Library, Override, load_drive};

    /// The drive `tlc-48l` with overrides, or why it is refused.
    pub(super) fn loaded(set: &[&str]) -> Result<DriveProfile, String> {
        let set: Vec<Override> = set.iter().map(|t| Override::parse(t).unwrap()).collect();
        load_drive(
            &Library::new(),
            "tlc-48l",
            &set,
            firstread_firmware::policy::AXES,
        )
        .map_err(|e| e.to_string())
    }
}
