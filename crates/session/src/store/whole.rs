//! A result as its file has it, checked by its checksum and those of the pages that were written with it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, MergeError, StoreError};
use crate::files::{self, Page};
use crate::results;

/// The key of a result below which all is that fio does not have.
pub(super) const OWN: &str = "firstread";
/// The key below that for what the store keeps with a result.
pub(super) const KEPT: &str = "kept";
/// Size limit of a result (MiB): what is larger is neither kept nor read. That of 4,096 jobs of reads, which are as many
/// as a job file may have, has 31 MB.
pub(super) const MOST_RESULT_MIB: u64 = 1024;

/// Path of the result called `name`, below the folder.
pub(super) fn file(name: &str) -> String {
    format!("points/{name}.json")
}

/// Path of the file with its run time and memory, which differ from run to run.
pub(super) fn wall_file(name: &str) -> String {
    format!("wall/{name}.json")
}

/// `value`, a result to which a checksum of all else in it is added, as the text of its file.
pub(crate) fn result_with_checksum(value: &mut Value) -> String {
    let checksum = files::checksum(results::text(value).as_bytes());
    value[OWN][KEPT]["checksum"] = checksum.into();
    results::text(value)
}

/// What the file of a result holds.
pub(super) struct Parsed {
    pub value: Value,
    /// What the store keeps with the result, without its checksum.
    pub kept: Value,
    pub checksum: String,
}

/// Why a file is no result as it was written.
pub(super) enum Bad {
    /// It was one, and this is wrong with it.
    Damaged(String),
    /// It never was one.
    NoResult,
}

/// The result whose file at `path` has these `bytes`; none where they are more than any result has.
pub(super) fn parse(bytes: Option<Vec<u8>>) -> Result<Parsed, Bad> {
    let damaged = |why: &str| Bad::Damaged(why.to_owned());
    let bytes = bytes.ok_or_else(|| damaged("it is larger than any result"))?;
    let text = String::from_utf8(bytes).map_err(|_| damaged("it is no text"))?;
    let mut value: Value =
        serde_json::from_str(&text).map_err(|error| damaged(&error.to_string()))?;
    let own = value.get_mut(OWN).and_then(|own| own.get_mut(KEPT));
    let checksum = own
        .and_then(Value::as_object_mut)
        .and_then(|map| map.shift_remove("checksum"));
    let kept = value[OWN][KEPT].clone();
    let (Some(checksum), true, true) = (
        checksum,
        kept["metrics"].is_object(),
        kept["inputs"].is_object(),
    ) else {
        return Err(Bad::NoResult);
    };
    if result_with_checksum(&mut value) != text || value[OWN][KEPT]["checksum"] != checksum {
        return Err(damaged("its checksum does not match"));
    }
    Ok(Parsed {
        value,
        kept,
        checksum: checksum.as_str().unwrap_or_default().to_owned(),
    })
}

/// The page of `kept` in `folder` that is not as it was written, if there is one.
pub(super) fn changed_page(folder: &Path, kept: &Value) -> Option<PathBuf> {
    let pages = kept["files"].as_object().into_iter().flatten();
    let pages = pages.map(|(page, checksum)| (folder.join(page), checksum.as_str()));
    let mut changed =
        pages.filter(|(page, checksum)| files::checksum_of_file(page).as_deref() != *checksum);
    changed.next().map(|(page, _)| page)
}

/// A result in a folder, with its pages, as they were written.
pub(crate) struct Whole {
    pub path: PathBuf,
    pub inputs: Value,
    /// Checksum of its file.
    pub checksum: String,
    /// Checksum of its result alone, whatever its name and its pages.
    pub result: String,
    kept: Value,
}

impl Whole {
    /// The result called `name` in `folder`.
    ///
    /// # Errors
    /// [`MergeError::Damaged`] where it is not as it was written.
    pub fn read(folder: &Path, name: &str) -> Result<Whole, Error> {
        let path = folder.join(file(name));
        let bytes = files::read_up_to(&path, MOST_RESULT_MIB << 20)?;
        let bad = |why: String| MergeError::Damaged {
            path: path.clone(),
            why,
        };
        let parsed = parse(bytes).map_err(|is| match is {
            Bad::Damaged(why) => bad(why),
            Bad::NoResult => bad("it is no result".into()),
        })?;
        if let Some(page) = changed_page(folder, &parsed.kept) {
            return Err(bad(format!("{} is not as it was written", page.display())).into());
        }
        let mut value = parsed.value;
        if let Some(kept) = value[OWN][KEPT].as_object_mut() {
            for of_name in ["checksum", "files"] {
                kept.shift_remove(of_name);
            }
        }
        Ok(Whole {
            inputs: parsed.kept["inputs"].clone(),
            checksum: parsed.checksum,
            result: files::checksum(value.to_string().as_bytes()),
            kept: parsed.kept,
            path,
        })
    }

    /// Its files below `folder`, where it is called `name`. The last one is the result itself.
    ///
    /// # Errors
    /// [`StoreError`] where one cannot be read.
    pub fn pages(&self, folder: &Path, name: &str) -> Result<Vec<Page>, Error> {
        let of_kept = self.kept["files"].as_object();
        let mut names: Vec<String> = of_kept
            .into_iter()
            .flatten()
            .map(|(n, _)| n.clone())
            .collect();
        // How long it took may be unknown.
        let wall = wall_file(name);
        names.extend(files::is_file(&folder.join(&wall)).then_some(wall));
        names.push(file(name));
        let mut pages = Vec::new();
        for name in names {
            let path = folder.join(&name);
            let bytes = files::read_up_to(&path, MOST_RESULT_MIB << 20)?;
            let bytes = bytes.ok_or(StoreError::Gone { path })?;
            pages.push((name.into(), bytes));
        }
        Ok(pages)
    }
}

/// Names of the results in `folder`, in their order.
///
/// # Errors
/// [`Error`] where it cannot be read.
pub(crate) fn results_in(folder: &Path) -> Result<Vec<String>, Error> {
    let top = folder.join("points");
    let (mut names, mut below) = (Vec::new(), vec![String::new()]);
    while let Some(at) = below.pop() {
        for name in files::names(&top.join(&at))? {
            let name = format!("{at}{name}");
            match (
                files::is_folder(&top.join(&name)),
                name.strip_suffix(".json"),
            ) {
                (true, _) => below.push(format!("{name}/")),
                (false, Some(result)) => names.push(result.to_owned()),
                // What a process is writing.
                (false, None) => {}
            }
        }
    }
    names.sort_unstable();
    Ok(names)
}
