//! fio's I/O log, versions 2 and 3.
//!
//! Version 2 has no time but `wait`. fio's documentation makes a wait relative to the one before it,
//! in microseconds; its code compares it with milliseconds since the start. The documentation counts
//! here. Timestamps of version 3 are microseconds, as fio writes them.

use firstread_core::HostOp;

use super::error::RecordError;
use super::format::Separator;
use super::text::{Fault, Fields, Raw, shown, whole};

#[derive(Debug, Default)]
pub(super) struct Iolog {
    version: u8,
    /// Names of files, the index is the device.
    files: Vec<Vec<u8>>,
    clock_ns: u64,
}

/// Most files in a log.
const MAX_FILES: usize = 1 << 16;

impl Iolog {
    /// The request of `line`, `None` where the line holds none.
    pub(super) fn parse(&mut self, line: &[u8]) -> Result<Option<Raw>, Fault> {
        if self.version == 0 {
            self.version = match line.trim_ascii() {
                b"fio version 2 iolog" => 2,
                b"fio version 3 iolog" => 3,
                other => {
                    return Err(Fault::record(RecordError::IologVersion(shown(other))));
                }
            };
            return Ok(None);
        }
        let fields = Fields::cut(line, Separator::Blanks);
        let first = usize::from(self.version == 3);
        let columns = fields.len().saturating_sub(first);
        if columns != 2 && columns != 4 {
            return Err(Fault::record(RecordError::IologColumns {
                given: fields.len(),
                timestamp: self.version == 3,
                line: shown(line),
            }));
        }
        if self.version == 3 {
            self.clock_ns = ns(fields.get(0), "timestamp")?;
        }
        let (file, action) = (fields.get(first), fields.get(first + 1));
        if columns == 2 {
            match action {
                b"add" => {
                    if self.files.len() >= MAX_FILES {
                        return Err(Fault::column("file", RecordError::Files(MAX_FILES)));
                    }
                    if !self.files.iter().any(|f| f == file) {
                        self.files.push(file.to_vec());
                    }
                }
                b"open" | b"close" => {
                    self.device(file)?;
                }
                _ => return Err(unknown_action(action)),
            }
            return Ok(None);
        }
        let (offset, length) = (fields.get(first + 2), fields.get(first + 3));
        let op = match action {
            b"read" => HostOp::Read,
            b"write" => HostOp::Write,
            b"trim" => HostOp::Trim,
            b"sync" | b"datasync" => HostOp::Flush,
            b"wait" if self.version == 2 => {
                let wait = ns(offset, "offset")?;
                self.clock_ns = self.clock_ns.saturating_add(wait);
                return Ok(None);
            }
            b"wait" => {
                let why = RecordError::Rule("`wait` is not allowed in version 3");
                return Err(Fault::column("action", why));
            }
            _ => return Err(unknown_action(action)),
        };
        let device = self.device(file)?;
        let flush = op == HostOp::Flush;
        let number = |field, column| whole(field).map_err(|why| Fault::column(column, why));
        Ok(Some(Raw {
            time_ns: self.clock_ns,
            op,
            offset_bytes: if flush { 0 } else { number(offset, "offset")? },
            len_bytes: if flush { 0 } else { number(length, "length")? },
            device,
            placement: 0,
        }))
    }

    fn device(&self, file: &[u8]) -> Result<u32, Fault> {
        match self.files.iter().position(|f| f == file) {
            Some(i) => Ok(i as u32),
            None => Err(Fault::field("file", file, "was not added before")),
        }
    }
}

fn ns(field: &[u8], column: &'static str) -> Result<u64, Fault> {
    let us = whole(field).map_err(|why| Fault::column(column, why))?;
    let ns = us.checked_mul(1000);
    ns.ok_or_else(|| Fault::column(column, RecordError::Rule("is too large")))
}

fn unknown_action(action: &[u8]) -> Fault {
    Fault::field(
        "action",
        action,
        "is none of add, open, close, read, write, trim, sync, datasync, wait with the columns it takes",
    )
}
