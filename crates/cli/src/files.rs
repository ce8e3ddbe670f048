//! Reading and writing files: the one place of the project that does.
#![allow(clippy::disallowed_methods, reason = "commands are what opens files")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Name of the standard input where a path is expected.
pub const STDIN: &str = "-";

/// Most that a file of text may hold that is read as a whole: profiles, job files, studies and their
/// results (MiB).
pub const MOST_TEXT_MIB: u64 = 64;
/// Most that may come on the standard input, which cannot be read twice (MiB).
pub const MOST_STDIN_MIB: u64 = 256;

/// What is on the standard input.
pub fn read_stdin() -> Result<Vec<u8>> {
    let bytes = read_at_most(io::stdin(), MOST_STDIN_MIB).context("standard input")?;
    bytes.with_context(|| {
        format!(
            "standard input: more than {MOST_STDIN_MIB} MiB, which is kept in memory to be run more \
             than once; write it to a file and name that, of any size"
        )
    })
}

/// The text at `path`.
pub fn read_text(path: &Path) -> Result<String> {
    let name = || path.display().to_string();
    let bytes = read_at_most(open(path)?, MOST_TEXT_MIB).with_context(name)?;
    let bytes = bytes.with_context(|| too_large(&name()))?;
    String::from_utf8(bytes).with_context(name)
}

/// What is said of the text called `name` where [`read_at_most`] has found too much.
pub fn too_large(name: &str) -> String {
    format!("{name}: more than {MOST_TEXT_MIB} MiB, which no file of this kind takes")
}

/// All of `input`; none where that is more than `most_mib`.
pub fn read_at_most(input: impl Read, most_mib: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let most = most_mib << 20;
    input.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// The file at `path`.
pub fn open(path: &Path) -> Result<File> {
    File::open(path).with_context(|| path.display().to_string())
}

/// Whether there is a file at `path`.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// A file to be written: path below the output folder, and content.
pub type Page = (PathBuf, Vec<u8>);

/// Writes `pages` below `folder`. Each appears complete or not at all, even if the power fails: it is
/// written under another name first and is on the disk before it gets its own, and none gets its name
/// before all are written.
pub fn write(folder: &Path, pages: &[Page]) -> Result<()> {
    let mut written = Vec::new();
    let result = pages.iter().try_for_each(|(name, content)| {
        let path = folder.join(name);
        let mut partial = path.clone().into_os_string();
        partial.push(format!(".partial-{}", std::process::id()));
        let partial = PathBuf::from(partial);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        written.push((partial.clone(), path));
        write_through(&partial, content).with_context(|| partial.display().to_string())
    });
    if let Err(error) = result {
        for (partial, _) in written {
            // What is left over cannot be mended here; the first error is the one to report.
            let _ = fs::remove_file(partial);
        }
        return Err(error);
    }
    let mut folders = BTreeSet::new();
    for (partial, path) in written {
        fs::rename(&partial, &path).with_context(|| path.display().to_string())?;
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

/// Most memory this process has used at a time (bytes); none where the system does not tell.
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
