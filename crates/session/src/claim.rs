//! Claims: of several processes that fill one folder of results, on one machine or on many, one makes each point.
//!
//! A claim is a file that is created only where there is none. Its owner rewrites it while it works, so that its time of
//! change stays young. A claim that is older than its lease, or whose process has ended on this machine, is taken away by whoever
//! wants the point. Ages are told by the clock of the folder's own file system, so clocks of machines may differ.
//!
//! Claims save work, and nothing else hangs on them: a point that two processes make has the same bytes from both, and
//! appears whole.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use crate::files::{self, FileError};

/// The folder of claims, below that of the results.
pub(crate) const FOLDER: &str = "claims";
/// Time without a sign of its owner after which a claim has expired.
const LEASE: Duration = Duration::from_secs(60);
/// How often a claim is renewed within its lease.
const RENEWALS: u32 = 4;
/// Claims that are found expired one after the other, before the point is left to others.
const TRIES: usize = 8;

/// Who makes a point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Name of its machine.
    pub host: String,
    pub process: u64,
}

pub(crate) enum Claiming {
    Got(Claim),
    Held(Holder),
}

/// A claim of this process. It ends with this value.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    text: String,
    end: Option<Sender<()>>,
    renewed: Option<JoinHandle<()>>,
}

/// Claims the point called `name` of the results in `folder`.
///
/// # Errors
/// [`FileError`] where a claim cannot be written.
pub(crate) fn claim(folder: &Path, name: &str) -> Result<Claiming, FileError> {
    claim_for(folder, name, LEASE)
}

fn claim_for(folder: &Path, name: &str, lease: Duration) -> Result<Claiming, FileError> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let folder = folder.join(FOLDER);
    // Names of points may be folders.
    let path = folder.join(format!("{}.json", files::checksum(name.as_bytes())));
    let text = json!({
        "point": name,
        "host": files::host().name,
        "machine": files::host().tag,
        "process": std::process::id(),
        "number": NUMBER.fetch_add(1, Ordering::Relaxed),
        "lease_s": lease.as_secs_f64(),
    });
    let text = format!("{text}\n");
    let mut holder = Holder {
        host: String::new(),
        process: 0,
    };
    for _ in 0..TRIES {
        if files::create_new(&path, text.as_bytes())? {
            return Ok(Claiming::Got(Claim::renewed(path, text, lease)));
        }
        match judge(&folder, &path)? {
            Found::Held(by) => return Ok(Claiming::Held(by)),
            Found::Gone => {}
            Found::Expired(by, content) => {
                files::take_away(&path, &content)?;
                holder = by;
            }
        }
    }
    Ok(Claiming::Held(holder))
}

/// Removes the claims in `folder` that have expired, and their folder where none are left. What cannot be removed stays.
pub(crate) fn sweep(folder: &Path) {
    let folder = folder.join(FOLDER);
    for name in files::names(&folder).unwrap_or_default() {
        let path = folder.join(name);
        if let Ok(Found::Expired(_, content)) = judge(&folder, &path) {
            let _ = files::take_away(&path, &content);
        }
    }
    files::remove_empty(&folder);
}

/// What becomes of a claim that is there.
enum Found {
    Held(Holder),
    Expired(Holder, Vec<u8>),
    Gone,
}

/// Looks at the claim at `path` in `folder`.
fn judge(folder: &Path, path: &Path) -> Result<Found, FileError> {
    let Some((content, modified)) = files::content_and_time(path)? else {
        return Ok(Found::Gone);
    };
    // A claim that is being written has no content yet.
    let value: Value = serde_json::from_slice(&content).unwrap_or_default();
    let process = value["process"].as_u64().unwrap_or_default();
    let holder = Holder {
        host: value["host"].as_str().unwrap_or_default().to_owned(),
        process,
    };
    let is_here = value["machine"] == files::host().tag.as_str();
    let process = u32::try_from(process).unwrap_or_default();
    if is_here && !files::lives(process) {
        return Ok(Found::Expired(holder, content));
    }
    let lease = value["lease_s"].as_f64();
    let lease = lease.and_then(|s| Duration::try_from_secs_f64(s).ok());
    let age = files::time_at(folder)?.duration_since(modified);
    Ok(match age.unwrap_or_default() > lease.unwrap_or(LEASE) {
        true => Found::Expired(holder, content),
        false => Found::Held(holder),
    })
}

impl Claim {
    /// The claim in the file at `path`, which is rewritten from now on.
    fn renewed(path: PathBuf, text: String, lease: Duration) -> Claim {
        let (end, ended) = mpsc::channel();
        let (of, own) = (path.clone(), text.clone());
        let renew = move || {
            while ended.recv_timeout(lease / RENEWALS) == Err(RecvTimeoutError::Timeout) {
                // Where another one has it by now, or it cannot be written, it expires.
                if !files::rewrite(&of, own.as_bytes()) {
                    return;
                }
            }
        };
        Claim {
            path,
            text,
            end: Some(end),
            // Without a thread the claim is not renewed, and others may make the point too.
            renewed: thread::Builder::new().spawn(renew).ok(),
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(renewed) = self.renewed.take() {
            let _ = renewed.join();
        }
        let found = files::content_and_time(&self.path);
        let is_own = |(content, _): (Vec<u8>, _)| content == self.text.as_bytes();
        if found.ok().flatten().is_some_and(is_own) {
            let _ = files::remove(&self.path);
        }
        if let Some(folder) = self.path.parent() {
            files::remove_empty(folder);
        }
    }
}

#[cfg(test)]
mod tests;
