//! Placement handles: which one a write names, by NVMe's Flexible Data Placement (FDP).
//!
//! A drive puts the writes of each handle apart in flash. A job chooses handles as fio does (`fdp`, `plids`,
//! `plid_select`, `dp_scheme`); a record of a trace has its own.

use firstread_core::Stream;
use thiserror::Error;

/// Most handles that a job names, as in fio.
pub const MOST_GIVEN: u16 = 128;
/// Most ranges of a job that chooses handles by offset, as in fio.
pub const MOST_RANGES: usize = 32;

/// How a job chooses the handle of each of its writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handles {
    /// Each write has the next of these, from the first on.
    RoundRobin(Given),
    /// Each write has one of these, drawn.
    Random(Given),
    /// By the first byte of the write.
    ByOffset(Ranges),
}

/// Handles that a job may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// Those of the drive, [`MOST_GIVEN`] at most.
    All,
    /// These, in this order.
    These(Vec<u16>),
}

/// Ranges of a drive, each with its handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges {
    /// The file that they stand in.
    pub file: String,
    /// In the order of the file. The first one that holds a write counts; a write that none holds has handle 0.
    pub ranges: Vec<HandleRange>,
}

/// A range of a drive with its handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleRange {
    /// Its first byte.
    pub start_bytes: u64,
    /// The byte after its last.
    pub end_bytes: u64,
    /// The handle of writes that begin in it.
    pub handle: u16,
    /// Its line in the file, the first is 1.
    pub line: u64,
}

/// A placement handle that the drive does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{}", self.message())]
pub struct NoHandle {
    /// As named.
    pub handle: u16,
    /// Handles of the drive; none where it takes no handle.
    pub handles: Option<u16>,
}

impl NoHandle {
    fn message(&self) -> String {
        let handle = self.handle;
        match self.handles {
            Some(n) => format!(
                "there is no placement handle {handle}: the drive has {n}, from 0 on; `stream.handles` sets how many"
            ),
            None => format!(
                "there is no placement handle {handle}: the drive takes none; `--scheme stream=fdp` does"
            ),
        }
    }
}

/// Why a job cannot run on a drive, by the placement handles that it names.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HandlesError {
    /// The drive takes none.
    #[error("fdp=1: the drive takes no placement handles; `--scheme stream=fdp` does")]
    TakesNone,
    /// The drive does not have one of them.
    #[error("{from}: {why}")]
    NoSuch {
        /// The option that names it, or the file and the line.
        from: String,
        /// The handle.
        why: NoHandle,
    },
}

/// That a drive with so many handles has `handle`. Every drive has handle 0, which writes without a handle have.
pub(crate) fn check(handle: u16, handles: Option<u16>) -> Result<(), NoHandle> {
    match handle < handles.unwrap_or(1) {
        true => Ok(()),
        false => Err(NoHandle { handle, handles }),
    }
}

impl Handles {
    /// That a drive with so many handles has those that are named; none where it takes no handle.
    ///
    /// # Errors
    /// [`HandlesError`], which names the first handle that it does not have.
    pub fn check(&self, drive: Option<u16>) -> Result<(), HandlesError> {
        if drive.is_none() {
            return Err(HandlesError::TakesNone);
        }
        let named = |from: String, handle| {
            let checked = check(handle, drive);
            checked.map_err(|why| HandlesError::NoSuch { from, why })
        };
        match self {
            Handles::RoundRobin(Given::All) | Handles::Random(Given::All) => Ok(()),
            Handles::RoundRobin(Given::These(list)) | Handles::Random(Given::These(list)) => {
                let mut list = list.iter();
                list.try_for_each(|&handle| named("plids".to_owned(), handle))
            }
            Handles::ByOffset(Ranges { file, ranges }) => ranges
                .iter()
                .try_for_each(|range| named(format!("{file}:{}", range.line), range.handle)),
        }
    }
}

/// Chooses the handle of each write of a job.
#[derive(Clone, Debug)]
pub(crate) struct Chooser {
    handles: Handles,
    /// Handles of the drive.
    of_drive: u16,
    /// Place of the next handle that is not drawn.
    turn: usize,
    draws: Stream,
}

impl Chooser {
    /// One that draws from `draws`. Until it is told how many handles the drive has, the drive has one.
    pub(crate) fn new(handles: &Handles, draws: Stream) -> Chooser {
        Chooser {
            handles: handles.clone(),
            of_drive: 1,
            turn: 0,
            draws,
        }
    }

    /// The drive has so many handles; none where it takes no handle.
    pub(crate) fn on_drive(&mut self, handles: Option<u16>) -> Result<(), HandlesError> {
        self.handles.check(handles)?;
        self.of_drive = handles.unwrap_or(1);
        Ok(())
    }

    /// The handle of the next write, which begins at `offset_bytes`; `count` tells its draw from those of others.
    pub(crate) fn next(&mut self, offset_bytes: u64, count: u64) -> u16 {
        match &self.handles {
            Handles::RoundRobin(given) => {
                let turn = self.turn;
                self.turn = (turn + 1) % given.len(self.of_drive);
                given.at(turn)
            }
            Handles::Random(given) => {
                let len = given.len(self.of_drive) as u64;
                given.at(self.draws.at(count).below(len) as usize)
            }
            Handles::ByOffset(Ranges { ranges, .. }) => {
                let holds = |r: &&HandleRange| (r.start_bytes..r.end_bytes).contains(&offset_bytes);
                ranges.iter().find(holds).map_or(0, |range| range.handle)
            }
        }
    }
}

impl Given {
    /// How many they are on a drive with `of_drive` handles.
    fn len(&self, of_drive: u16) -> usize {
        match self {
            Given::All => usize::from(of_drive.clamp(1, MOST_GIVEN)),
            Given::These(list) => list.len().max(1),
        }
    }

    fn at(&self, i: usize) -> u16 {
        match self {
            Given::All => i as u16,
            Given::These(list) => list.get(i).copied().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests;
