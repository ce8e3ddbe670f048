//! The profile of a drive: read from a shipped name or a path, shared by the setups that have it, and known by what it was
//! made of.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use firstread_drive::profile::{DriveProfile, Kind, Library, Override, chip_reference, load_drive};
use firstread_firmware::policy::AXES;

use crate::error::Error;
use crate::files;
use crate::mqsim;
use crate::names::Unknown;
use crate::retry_table;

/// The profile of a drive, with what it was made of. Clones share it.
#[derive(Clone)]
pub struct Profile(Arc<Shared>);

#[derive(Clone)]
struct Shared {
    profile: DriveProfile,
    made_of: Option<Arc<MadeOf>>,
    /// Checksum of all of it, once that was asked for.
    checksum: OnceLock<String>,
}

impl Profile {
    /// The profile of `drive`, a shipped name or a path, with `overrides`.
    ///
    /// # Errors
    /// As [`profile`].
    pub fn read(drive: &str, overrides: &[Override]) -> Result<Profile, Error> {
        Profile::of(MadeOf::read(drive, overrides)?)
    }

    /// The profile that is made of `made_of`.
    ///
    /// # Errors
    /// [`Error::Profile`] where that is none.
    pub(crate) fn of(made_of: MadeOf) -> Result<Profile, Error> {
        let profile = made_of.profile()?;
        Ok(Profile(Arc::new(Shared {
            profile,
            made_of: Some(made_of.into()),
            checksum: OnceLock::new(),
        })))
    }

    /// What it was made of before it was changed by [`Profile::make_mut`]; none where it was not read.
    pub(crate) fn made_of(&self) -> Option<&MadeOf> {
        self.0.made_of.as_deref()
    }

    /// The profile to be changed: other setups keep theirs.
    pub fn make_mut(&mut self) -> &mut DriveProfile {
        let shared = Arc::make_mut(&mut self.0);
        shared.checksum = OnceLock::new();
        &mut shared.profile
    }

    /// A checksum of every value of it.
    pub(crate) fn checksum(&self) -> &str {
        let of = || files::checksum(format!("{:?}", self.0.profile).as_bytes());
        self.0.checksum.get_or_init(of)
    }
}

impl Deref for Profile {
    type Target = DriveProfile;

    fn deref(&self) -> &DriveProfile {
        &self.0.profile
    }
}

impl From<DriveProfile> for Profile {
    fn from(profile: DriveProfile) -> Profile {
        Profile(Arc::new(Shared {
            profile,
            made_of: None,
            checksum: OnceLock::new(),
        }))
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.profile.fmt(f)
    }
}

/// Profiles that were read, each once: thousands of setups differ in a few values or in none.
#[derive(Default, Debug)]
pub struct Profiles(BTreeMap<String, Profile>);

impl Profiles {
    /// The profile of `drive` with `overrides`.
    ///
    /// # Errors
    /// As [`profile`].
    pub(crate) fn read(&mut self, drive: &str, overrides: &[Override]) -> Result<Profile, Error> {
        let key = format!("{drive:?} {overrides:?}");
        if let Some(profile) = self.0.get(&key) {
            return Ok(profile.clone());
        }
        let profile = Profile::read(drive, overrides)?;
        self.0.insert(key, profile.clone());
        Ok(profile)
    }
}

/// What a profile is made of: a drive, the files that are not shipped, and what replaces their values. The same gives the
/// same profile, also where those files are not.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct MadeOf {
    /// A shipped drive, or the path of its file.
    pub drive: String,
    /// Files that are not shipped, as they were read.
    pub files: Vec<ProfileFile>,
    pub overrides: Vec<Override>,
}

/// A profile that is not shipped.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ProfileFile {
    pub kind: Kind,
    pub name: String,
    pub text: String,
}

impl MadeOf {
    /// What the profile of `drive` with `overrides` is made of.
    ///
    /// # Errors
    /// [`Error`] where there is no such drive, or a file cannot be read.
    fn read(drive: &str, overrides: &[Override]) -> Result<MadeOf, Error> {
        let mut made = MadeOf {
            drive: drive.to_owned(),
            files: Vec::new(),
            overrides: retry_table::in_overrides(overrides)?,
        };
        let mut add = |kind, name: &str, text: String| {
            made.files.push(ProfileFile {
                kind,
                name: name.to_owned(),
                text,
            });
        };
        let path = Path::new(drive);
        if files::is_file(path) || is_path(drive) {
            let text = profile_text(path)?;
            match mqsim::is_device(&text) {
                false => add(Kind::Drive, drive, text),
                true => {
                    let made = mqsim::device(&text, drive).map_err(|error| Error::Mqsim {
                        file: drive.to_owned(),
                        error,
                    })?;
                    add(Kind::Chip, &made.chip_name, made.chip);
                    add(Kind::Drive, drive, made.drive);
                }
            }
        } else if !Library::new().has(Kind::Drive, drive) {
            let library = Library::new();
            let names = library.names(Kind::Drive);
            let unknown = Unknown {
                nearest: library.nearest(Kind::Drive, drive).to_owned(),
                ..Unknown::new("drive", drive, names.into_iter())
            };
            return Err(unknown.into());
        }
        let library = made.library();
        if let Some(chip) = chip_reference(&library, drive, &made.overrides)?
            && !library.has(Kind::Chip, &chip)
            && let Some(file) = chip_files(path, &chip)
                .into_iter()
                .find(|p| files::is_file(p))
        {
            made.files.push(ProfileFile {
                kind: Kind::Chip,
                text: profile_text(&file)?,
                name: chip,
            });
        }
        Ok(made)
    }

    /// The shipped profiles, and the files beyond them.
    fn library(&self) -> Library {
        let mut library = Library::new();
        for ProfileFile { kind, name, text } in &self.files {
            library.add(*kind, name, text);
        }
        library
    }

    /// The profile.
    fn profile(&self) -> Result<DriveProfile, Error> {
        Ok(load_drive(
            &self.library(),
            &self.drive,
            &self.overrides,
            AXES,
        )?)
    }
}

/// The profile of `drive`, a shipped name or a path, with `overrides`.
///
/// # Errors
/// [`Error`] where there is none, it cannot be read, or it or an override is wrong.
pub fn profile(drive: &str, overrides: &[Override]) -> Result<DriveProfile, Error> {
    MadeOf::read(drive, overrides)?.profile()
}

/// The shipped profiles, and what `drive` needs beyond them: its own file, that of its chip.
///
/// # Errors
/// [`Error`] where there is no such drive, or a file cannot be read.
pub fn library(drive: &str, overrides: &[Override]) -> Result<Library, Error> {
    Ok(MadeOf::read(drive, overrides)?.library())
}

/// The text of the profile at `path`, with the retry table that it names as a file in place of that name.
///
/// # Errors
/// [`Error`] where a file cannot be read, or is no retry table.
pub fn profile_text(path: &Path) -> Result<String, Error> {
    let text = files::read_text(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(retry_table::in_text(&text, folder)?)
}

/// Whether `name` is certainly a path and not a shipped name.
pub fn is_path(name: &str) -> bool {
    name.contains(['/', '\\']) || name.ends_with(".toml") || name.ends_with(".xml")
}

/// Where the chip of the drive profile at `drive` may be: as named from here, beside the drive, or
/// in the folder of chips next to the folder of drives.
fn chip_files(drive: &Path, chip: &str) -> Vec<PathBuf> {
    let folder = drive.parent().unwrap_or(Path::new(""));
    let file = format!("{chip}.toml");
    vec![
        chip.into(),
        folder.join(chip),
        folder.join(&file),
        folder.join("../chips").join(&file),
    ]
}
