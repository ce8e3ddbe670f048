//! How fast the page types of a drive are read, and what axis `page_type` can make of it.

use firstread_core::CellMode;
use firstread_core::params::Role;
use firstread_drive::profile::DriveProfile;

/// The page types of `mode` of the chip, the fastest first, with `tR` of each (ns). Those that are as fast are in the order of
/// their bits.
pub(crate) fn by_speed(profile: &DriveProfile, mode: CellMode) -> Vec<(u8, u64)> {
    let Some(of_mode) = profile.chip.mode(mode) else {
        return Vec::new();
    };
    let pages = 0..of_mode.pages.len();
    let mut pages: Vec<(u8, u64)> = pages
        .map(|page| (page as u8, of_mode.read_ns(page)))
        .collect();
    pages.sort_by_key(|&(page, ns)| (ns, page));
    pages
}

/// Whether a scheme of the drive chooses page types.
pub fn are_chosen(profile: &DriveProfile) -> bool {
    let choice = profile.scheme("page_type");
    choice.is_some_and(|choice| choice.scheme.role != Role::Baseline)
}

/// What the drive's scheme of axis `page_type` cannot do: all page types of its chip take as long to read.
pub(crate) fn note(profile: &DriveProfile) -> Option<String> {
    let choice = profile
        .scheme("page_type")
        .filter(|_| are_chosen(profile))?;
    let pages = by_speed(profile, profile.mode);
    let (fastest, slowest) = (pages.first()?.1, pages.last()?.1);
    (fastest == slowest).then(|| {
        format!(
            "page_type={}: every page type of chip `{}` takes {} us to read in {} mode, so which of them a page has saves nothing",
            choice.scheme.name,
            profile.chip.name,
            fastest as f64 / 1e3,
            profile.mode.name(),
        )
    })
}
