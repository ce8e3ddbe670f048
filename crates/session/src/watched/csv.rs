//! A log of requests as CSV.

use std::path::Path;

use super::record::{Record, columns, op_name};
use crate::files::{FileError, RowFile};

/// A log of requests as CSV.
pub(super) struct CsvLog {
    file: RowFile,
    text: Vec<u8>,
    digits: itoa::Buffer,
}

impl CsvLog {
    pub(super) fn create(path: &Path) -> Result<CsvLog, FileError> {
        let mut file = RowFile::create(path)?;
        file.write_rows((columns().join(",") + "\n").as_bytes())?;
        Ok(CsvLog {
            file,
            text: Vec::new(),
            digits: itoa::Buffer::new(),
        })
    }

    pub(super) fn write(&mut self, records: &[Record]) -> Result<(), FileError> {
        self.text.clear();
        records.iter().for_each(|record| self.row(record));
        self.file.write_rows(&self.text)
    }

    pub(super) fn finish(self) -> Result<(), FileError> {
        self.file.finish()
    }

    fn row(&mut self, record: &Record) {
        self.number(record.arrival_ns);
        self.word(op_name(record.op));
        self.number(record.offset_bytes);
        self.number(record.length_bytes.into());
        self.number(record.latency_ns);
        for ns in record.ns_by_cause {
            self.number(ns);
        }
        match record.page {
            None => self.text.extend_from_slice(b",,,,"),
            Some(page) => {
                self.number(page.retries.into());
                self.word(page.page.name(page.mode));
                self.word(page.mode.name());
                self.number(page.die.into());
            }
        }
        self.number(record.is_lost.into());
        self.number(record.is_measured.into());
        self.number(record.job.into());
        // The comma behind the last cell.
        if let Some(last) = self.text.last_mut() {
            *last = b'\n';
        }
    }

    #[inline]
    fn number(&mut self, n: u64) {
        match n {
            // Most causes of most requests.
            0 => self.text.push(b'0'),
            _ => self
                .text
                .extend_from_slice(self.digits.format(n).as_bytes()),
        }
        self.text.push(b',');
    }

    fn word(&mut self, word: &str) {
        self.text.extend_from_slice(word.as_bytes());
        self.text.push(b',');
    }
}
