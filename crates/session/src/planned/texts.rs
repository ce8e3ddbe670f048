//! Texts that points of a plan share: job files, profiles, the wear of a life. Each lies once in the plan, by its checksum.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::error::PlanError;
use crate::error::Error;
use crate::files;

/// The folder of texts in a plan.
pub(super) const FOLDER: &str = "texts";

/// The texts of a plan that is being written.
pub(super) struct TextsWritten<'a> {
    folder: &'a Path,
    written: BTreeSet<String>,
}

impl<'a> TextsWritten<'a> {
    pub fn new(folder: &'a Path) -> TextsWritten<'a> {
        TextsWritten {
            folder,
            written: BTreeSet::new(),
        }
    }

    /// Writes `text`, where it is not there, and returns its name.
    pub fn put(&mut self, text: &str) -> Result<String, Error> {
        let name = files::checksum(text.as_bytes());
        if self.written.insert(name.clone()) {
            let path = self.folder.join(FOLDER).join(&name);
            files::write_unsynced(&path, text.as_bytes())?;
        }
        Ok(name)
    }
}

/// The texts of a plan.
pub(super) struct TextsRead<'a> {
    folder: &'a Path,
}

impl<'a> TextsRead<'a> {
    pub fn new(folder: &'a Path) -> TextsRead<'a> {
        TextsRead { folder }
    }

    /// The file of the text called `name`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(FOLDER).join(name)
    }

    /// The text called `name`, which has to be what it was.
    pub fn get(&self, name: &str) -> Result<String, Error> {
        let path = self.path(name);
        let gone = |why: String| PlanError::Text {
            path: path.clone(),
            why,
        };
        // A name that is no checksum could be a path to anywhere.
        if !name.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(gone("is no name of a text".into()).into());
        }
        if !files::is_file(&path) {
            return Err(gone("is not there".into()).into());
        }
        let text = files::read_text(&path)?;
        match files::checksum(text.as_bytes()) == name {
            true => Ok(text),
            false => Err(gone("was changed".into()).into()),
        }
    }
}
