//! Joins folders of results that several machines have filled.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, MergeError};
use crate::files::{self, Page};
use crate::store::{self, MARK, Whole};

/// What was joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Merged {
    /// Results that are in the folder now.
    pub results: usize,
    /// Those of them that were not.
    pub new: usize,
}

/// Joins the results in `folders` in `out`, which may have some. Every folder has to be of the same command, and every
/// result by the same program. All is checked before anything is written; results are written each as a whole.
///
/// # Errors
/// [`MergeError`] where a folder has no results or those of something else, of another version or program, or where two
/// have different results of one point; [`Error`] where a file cannot be read or written.
pub fn merge(folders: &[PathBuf], out: &Path) -> Result<Merged, Error> {
    let mut all: Vec<&Path> = Vec::new();
    if files::is_file(&out.join(MARK)) {
        all.push(out);
    }
    all.extend(folders.iter().map(PathBuf::as_path).filter(|f| *f != out));
    let mut mark: Option<(&Path, String)> = None;
    let mut made: Option<Made> = None;
    // By name and by what it was made of: where it is, and the checksum of it.
    let mut by_name: BTreeMap<String, (PathBuf, String)> = BTreeMap::new();
    let mut by_inputs: BTreeMap<String, (PathBuf, String)> = BTreeMap::new();
    let mut new: Vec<(&Path, String)> = Vec::new();
    for folder in all {
        let path = folder.join(MARK);
        if !files::is_file(&path) {
            return Err(MergeError::NoResults(folder.to_owned()).into());
        }
        let text = files::read_text(&path)?;
        match &mark {
            None => mark = Some((folder, text)),
            Some((_, same)) if *same == text => {}
            Some((first, _)) => {
                return Err(MergeError::OtherCommand {
                    one: folder.to_owned(),
                    other: (*first).to_owned(),
                }
                .into());
            }
        }
        for name in store::results_in(folder)? {
            let whole = Whole::read(folder, &name)?;
            let by = Made {
                path: whole.path.clone(),
                version: whole.inputs["version"].clone(),
                program: whole.inputs["program"].clone(),
            };
            match &made {
                None => made = Some(by),
                Some(first) => first.check(&by)?,
            }
            let is_there = differs(&mut by_name, &name, &whole.path, &whole.checksum)?;
            let inputs = files::checksum(whole.inputs.to_string().as_bytes());
            differs(&mut by_inputs, &inputs, &whole.path, &whole.result)?;
            if !is_there && folder != out {
                new.push((folder, name));
            }
        }
    }
    let Some((_, text)) = mark else {
        return Err(MergeError::NoResults(out.to_owned()).into());
    };
    for (folder, name) in &new {
        // The last page is the result: it says that the others are there.
        let pages: Vec<Page> = Whole::read(folder, name)?.pages(folder, name)?;
        files::write(out, &pages)?;
    }
    if !files::is_file(&out.join(MARK)) {
        files::write(out, &[(MARK.into(), text.into_bytes())])?;
    }
    Ok(Merged {
        results: by_name.len(),
        new: new.len(),
    })
}

/// By what a result was made.
struct Made {
    path: PathBuf,
    version: Value,
    program: Value,
}

impl Made {
    fn check(&self, other: &Made) -> Result<(), MergeError> {
        let differs = |what, one: &Value, other_value: &Value| MergeError::OtherProgram {
            what,
            one: self.path.clone(),
            by_one: one.as_str().unwrap_or_default().to_owned(),
            other: other.path.clone(),
            by_other: other_value.as_str().unwrap_or_default().to_owned(),
        };
        if self.version != other.version {
            return Err(differs("versions", &self.version, &other.version));
        }
        if self.program != other.program {
            return Err(differs("programs", &self.program, &other.program));
        }
        Ok(())
    }
}

/// Whether what is at `key` was met before: with the same `checksum`, or it is an error.
fn differs(
    met: &mut BTreeMap<String, (PathBuf, String)>,
    key: &str,
    path: &Path,
    checksum: &str,
) -> Result<bool, MergeError> {
    match met.get(key) {
        None => {
            met.insert(key.to_owned(), (path.to_owned(), checksum.to_owned()));
            Ok(false)
        }
        Some((_, same)) if same == checksum => Ok(true),
        Some((other, _)) => Err(MergeError::Differ {
            one: path.to_owned(),
            other: other.clone(),
        }),
    }
}

#[cfg(test)]
mod tests;
