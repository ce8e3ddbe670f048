//! Reading and writing files: the one place of the project that does.
#![allow(clippy::disallowed_methods, reason = "commands are what opens files")]

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Name of the standard input where a path is expected.
pub const STDIN: &str = "-";

/// What is at `path`, or on the standard input.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new(STDIN) {
        io::stdin()
            .read_to_end(&mut bytes)
            .context("standard input")?;
        return Ok(bytes);
    }
    open(path)?
        .read_to_end(&mut bytes)
        .with_context(|| path.display().to_string())?;
    Ok(bytes)
}

/// The text at `path`.
pub fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?).with_context(|| path.display().to_string())
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

/// Writes `pages` below `folder`. Each appears complete or not at all: it is written under another
/// name first, and none gets its name before all are written.
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
        fs::write(&partial, content).with_context(|| partial.display().to_string())
    });
    if let Err(error) = result {
        for (partial, _) in written {
            // What is left over cannot be mended here; the first error is the one to report.
            let _ = fs::remove_file(partial);
        }
        return Err(error);
    }
    for (partial, path) in written {
        fs::rename(&partial, &path).with_context(|| path.display().to_string())?;
    }
    Ok(())
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
