//! A log of requests: a record a request, to a file while the run goes on.
//!
//! The run copies records into blocks of memory, and a thread of its own turns full blocks into text or columns and writes
//! them. There are a few blocks, so memory is bounded, and a run that is faster than the disk waits for it. Of the slowest
//! requests the run keeps the records and writes them at its end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
#[cfg(not(feature = "parquet"))]
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use firstread_core::Ns;
use firstread_drive::{CAUSES, Observed};

use super::csv::CsvLog;
#[cfg(feature = "parquet")]
use super::parquet::ParquetLog;
use super::record::Record;
use crate::files::FileError;

/// Records of a block.
pub(super) const BLOCK: usize = 1 << 14;
/// Blocks of a log: one that is filled, one that is written, and one between.
const BLOCKS: usize = 3;
/// Most requests of a log of the slowest ones, which are kept in memory.
pub const MOST_SLOWEST: usize = 1_000_000;

/// What is logged of a run, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogSpec {
    /// The file, which is made anew.
    pub path: PathBuf,
    pub format: LogFormat,
    pub which: Which,
}

/// Form of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogFormat {
    Csv,
    Parquet,
}

/// Which requests are logged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// The first one to complete, and each so many after it: all of them for 1.
    Every(NonZeroU64),
    /// So many measured requests, the slowest first. Of equally slow ones those that completed first.
    Slowest(usize),
}

impl LogFormat {
    /// The form that the name of `path` asks for: Parquet by `.parquet`, CSV otherwise.
    pub fn of(path: &Path) -> LogFormat {
        let is_parquet = |ending: &std::ffi::OsStr| ending.eq_ignore_ascii_case("parquet");
        match path.extension().is_some_and(is_parquet) {
            true => LogFormat::Parquet,
            false => LogFormat::Csv,
        }
    }

    /// Whether this build writes it.
    pub const fn is_built(self) -> bool {
        match self {
            LogFormat::Csv => true,
            LogFormat::Parquet => cfg!(feature = "parquet"),
        }
    }
}

/// A log while it is written, in one of its forms.
enum Writer {
    Csv(CsvLog),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetLog>),
}

impl Writer {
    fn create(spec: &LogSpec) -> Result<Writer, FileError> {
        match spec.format {
            #[cfg(feature = "parquet")]
            LogFormat::Parquet => Ok(Writer::Parquet(Box::new(ParquetLog::create(&spec.path)?))),
            #[cfg(not(feature = "parquet"))]
            LogFormat::Parquet => {
                let error =
                    io::Error::new(io::ErrorKind::Unsupported, "this build writes no Parquet");
                Err(FileError::named(spec.path.display().to_string())(error))
            }
            LogFormat::Csv => Ok(Writer::Csv(CsvLog::create(&spec.path)?)),
        }
    }

    fn write(&mut self, records: &[Record]) -> Result<(), FileError> {
        match self {
            Writer::Csv(log) => log.write(records),
            #[cfg(feature = "parquet")]
            Writer::Parquet(log) => log.write(records),
        }
    }

    fn finish(self) -> Result<(), FileError> {
        match self {
            Writer::Csv(log) => log.finish(),
            #[cfg(feature = "parquet")]
            Writer::Parquet(log) => log.finish(),
        }
    }
}

/// A measured request among the slowest. The order is by latency, and of equal ones the earlier is the slower.
struct Slow {
    number: Reverse<u64>,
    record: Record,
}

impl Slow {
    fn key(&self) -> (u64, Reverse<u64>) {
        (self.record.latency_ns, self.number)
    }
}

impl PartialEq for Slow {
    fn eq(&self, other: &Slow) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Slow {}

impl PartialOrd for Slow {
    fn partial_cmp(&self, other: &Slow) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Slow {
    fn cmp(&self, other: &Slow) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// A log of a run that goes on.
pub(crate) struct RequestLog {
    which: Which,
    began: Ns,
    /// Requests until the next one that is logged.
    until_next: u64,
    /// Requests so far.
    number: u64,
    slowest: BinaryHeap<Reverse<Slow>>,
    block: Vec<Record>,
    full: Option<SyncSender<Vec<Record>>>,
    empty: Receiver<Vec<Record>>,
    writer: Option<JoinHandle<Result<(), FileError>>>,
}

impl RequestLog {
    /// A log of a run that begins at `began`.
    ///
    /// # Errors
    /// [`FileError`] where its file cannot be made.
    pub(crate) fn begin(spec: &LogSpec, began: Ns) -> Result<RequestLog, FileError> {
        let mut writer = Writer::create(spec)?;
        let (full, to_write) = sync_channel::<Vec<Record>>(BLOCKS);
        let (written, empty) = sync_channel::<Vec<Record>>(BLOCKS);
        for _ in 1..BLOCKS {
            let _ = written.send(Vec::with_capacity(BLOCK));
        }
        #[allow(clippy::disallowed_methods, reason = "a session has threads")]
        let writer = thread::spawn(move || {
            for mut block in to_write {
                writer.write(&block)?;
                block.clear();
                // The run may have ended.
                let _ = written.send(block);
            }
            writer.finish()
        });
        let slowest = match spec.which {
            Which::Every(_) => 0,
            Which::Slowest(most) => most.min(MOST_SLOWEST),
        };
        Ok(RequestLog {
            which: spec.which,
            began,
            until_next: 1,
            number: 0,
            slowest: BinaryHeap::with_capacity(slowest + 1),
            block: Vec::with_capacity(BLOCK),
            full: Some(full),
            empty,
            writer: Some(writer),
        })
    }

    /// A request has completed. False where the log cannot be written.
    #[inline]
    pub(crate) fn completed(&mut self, request: &Observed<'_>) -> bool {
        match self.which {
            Which::Every(every) => {
                self.until_next -= 1;
                if self.until_next > 0 {
                    return true;
                }
                self.until_next = every.get();
                self.block.push(Record::of(request, self.began));
                self.block.len() < BLOCK || self.hand_over()
            }
            Which::Slowest(most) => {
                self.number += 1;
                if request.is_measured {
                    self.note_slow(request, most.min(MOST_SLOWEST));
                }
                true
            }
        }
    }

    #[inline(never)]
    fn note_slow(&mut self, request: &Observed<'_>, most: usize) {
        let latency_ns = request.completed.at.since(request.completed.since).0;
        let fastest = self.slowest.peek();
        let fastest = fastest.map(|Reverse(slow)| slow.record.latency_ns);
        // One as slow as the fastest of them has completed later.
        if self.slowest.len() == most && fastest.is_none_or(|fastest| latency_ns <= fastest) {
            return;
        }
        if self.slowest.len() == most {
            self.slowest.pop();
        }
        self.slowest.push(Reverse(Slow {
            number: Reverse(self.number),
            record: Record::of(request, self.began),
        }));
    }

    /// The block is full: it goes to the thread that writes, and an empty one takes its place. False where that thread has
    /// ended, since it could not write.
    #[cold]
    fn hand_over(&mut self) -> bool {
        let Ok(empty) = self.empty.recv() else {
            return false;
        };
        let block = std::mem::replace(&mut self.block, empty);
        self.full
            .as_ref()
            .is_some_and(|full| full.send(block).is_ok())
    }

    /// The run has ended: writes what is left.
    ///
    /// # Errors
    /// [`FileError`] where something could not be written, now or before.
    pub(crate) fn finish(mut self) -> Result<(), FileError> {
        let slowest = std::mem::take(&mut self.slowest);
        // In descending order, since each is reversed in the heap.
        let mut goes_on = true;
        for Reverse(slow) in slowest.into_sorted_vec() {
            self.block.push(slow.record);
            if goes_on && self.block.len() == BLOCK {
                goes_on = self.hand_over();
            }
        }
        if let Some(full) = self.full.take() {
            let _ = full.send(std::mem::take(&mut self.block));
        }
        match self.writer.take().map(JoinHandle::join) {
            Some(Ok(written)) => written,
            Some(Err(panicked)) => std::panic::resume_unwind(panicked),
            None => Ok(()),
        }
    }
}

const _: () = assert!(CAUSES == 22, "docs/output.md lists the causes of a log");
