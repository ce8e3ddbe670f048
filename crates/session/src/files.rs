//! Reads and writes files. No other module of the project does.
#![allow(clippy::disallowed_methods, reason = "a session is what opens files")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use thiserror::Error;

/// Name of the standard input where a path is expected.
pub const STDIN: &str = "-";

/// Size limit of a text file that is read as a whole: profiles, job files, studies and their results
/// (MiB).
pub const MOST_TEXT_MIB: u64 = 64;
/// Size limit of the standard input, which is kept in memory because it cannot be read twice (MiB).
pub const MOST_STDIN_MIB: u64 = 256;

/// Why a file cannot be read or written.
#[derive(Debug, Error)]
pub enum FileError {
    /// What the system says.
    #[error("{name}: {error}")]
    System {
        /// The file.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// A text file is not valid UTF-8.
    #[error("{name}: {error}")]
    NoText {
        /// The file.
        name: String,
        /// Which bytes.
        error: FromUtf8Error,
    },
    /// A text file exceeds the size limit.
    #[error("{0}: more than {MOST_TEXT_MIB} MiB, which no file of this kind takes")]
    TooLarge(String),
    /// More came on the standard input than is kept.
    #[error(
        "standard input: more than {MOST_STDIN_MIB} MiB, which is kept in memory to be run more \
         than once; write it to a file and name that, of any size"
    )]
    LongInput,
}

impl FileError {
    /// What the system says of `path`.
    fn of(path: &Path) -> impl FnOnce(io::Error) -> FileError {
        FileError::named(path.display().to_string())
    }

    /// What the system says of what is called `name`.
    pub(crate) fn named(name: impl Into<String>) -> impl FnOnce(io::Error) -> FileError {
        let name = name.into();
        |error| FileError::System { name, error }
    }
}

/// What is on the standard input.
///
/// # Errors
/// [`FileError`] where it cannot be read, or holds more than [`MOST_STDIN_MIB`].
pub fn read_stdin() -> Result<Vec<u8>, FileError> {
    let bytes = read_at_most(io::stdin(), MOST_STDIN_MIB);
    let bytes = bytes.map_err(FileError::named("standard input"))?;
    bytes.ok_or(FileError::LongInput)
}

/// The text at `path`.
///
/// # Errors
/// [`FileError`] where it cannot be read, is no UTF-8 or larger than [`MOST_TEXT_MIB`].
pub fn read_text(path: &Path) -> Result<String, FileError> {
    let name = || path.display().to_string();
    let bytes = read_at_most(open(path)?, MOST_TEXT_MIB).map_err(FileError::of(path))?;
    let bytes = bytes.ok_or_else(|| FileError::TooLarge(name()))?;
    String::from_utf8(bytes).map_err(|error| FileError::NoText {
        name: name(),
        error,
    })
}

/// All of `input`; none where that is more than `most_mib`.
pub(crate) fn read_at_most(input: impl Read, most_mib: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let most = most_mib << 20;
    input.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// The file at `path`.
pub(crate) fn open(path: &Path) -> Result<File, FileError> {
    File::open(path).map_err(FileError::of(path))
}

/// Whether there is a file at `path`; a folder is none.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// Size of the file at `path` (bytes); none where the system does not tell.
pub(crate) fn size(path: &Path) -> Option<u64> {
    Some(fs::metadata(path).ok()?.len())
}

/// A file to be written: path below the output folder, and content.
pub type Page = (PathBuf, Vec<u8>);

/// Writes `pages` below `folder`. Each file appears complete or not at all, even if the power fails.
/// Every file is first written and synced under a temporary name. The files are renamed after all of
/// them are on disk.
///
/// # Errors
/// [`FileError`] of the first that cannot be written.
pub fn write(folder: &Path, pages: &[Page]) -> Result<(), FileError> {
    let mut written = Vec::new();
    let result = pages.iter().try_for_each(|(name, content)| {
        let path = folder.join(name);
        let mut partial = path.clone().into_os_string();
        partial.push(format!(".partial-{}", std::process::id()));
        let partial = PathBuf::from(partial);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(FileError::of(parent))?;
        written.push((partial.clone(), path));
        write_through(&partial, content).map_err(FileError::of(&partial))
    });
    if let Err(error) = result {
        for (partial, _) in written {
            // Leftover temporary files cannot be removed here. The first error is reported.
            let _ = fs::remove_file(partial);
        }
        return Err(error);
    }
    let mut folders = BTreeSet::new();
    for (partial, path) in written {
        fs::rename(&partial, &path).map_err(FileError::of(&path))?;
        folders.extend(path.parent().map(Path::to_owned));
    }
    folders.iter().for_each(|folder| sync_folder(folder));
    Ok(())
}

/// Writes `content` to `path`, and waits until it is on the disk.
fn write_through(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Waits until the names in `folder` are on the disk, on systems that can be told to.
fn sync_folder(folder: &Path) {
    // Where a folder cannot be opened as a file, the names follow when the system sees fit.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Peak memory of this process (bytes); none if the system does not report it.
pub fn peak_rss_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()
        .map(|kib| kib * 1024)
}
