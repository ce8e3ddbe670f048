//! A log of requests as Parquet: a row group a block of records.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use firstread_core::HostOp;
use firstread_drive::CAUSES;
use parquet::basic::{ConvertedType, Encoding, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::record::{LoggedPage, Record, columns, op_name};
use crate::files::{self, FileError};

/// A log of requests as Parquet.
pub(super) struct ParquetLog {
    path: PathBuf,
    file: SerializedFileWriter<File>,
    columns: Columns,
}

/// A column of a block.
#[derive(Default)]
struct Columns {
    wide: Vec<i64>,
    narrow: Vec<i32>,
    words: Vec<ByteArray>,
    /// Names of page types and modes that have occurred.
    known: Vec<(&'static str, ByteArray)>,
    flags: Vec<bool>,
    /// Whether each row has a value.
    there: Vec<i16>,
}

/// Columns that are words, of few different ones.
const WORDS: [&str; 3] = ["kind", "page_type", "cell_mode"];

fn schema() -> Result<Type> {
    let field = |name: &String| {
        let (physical, converted, repetition) = match name.as_str() {
            "kind" => (
                Physical::BYTE_ARRAY,
                ConvertedType::UTF8,
                Repetition::REQUIRED,
            ),
            "page_type" | "cell_mode" => (
                Physical::BYTE_ARRAY,
                ConvertedType::UTF8,
                Repetition::OPTIONAL,
            ),
            "retries" | "die" => (Physical::INT32, ConvertedType::NONE, Repetition::OPTIONAL),
            "job" => (Physical::INT32, ConvertedType::NONE, Repetition::REQUIRED),
            "lost" | "measured" => (Physical::BOOLEAN, ConvertedType::NONE, Repetition::REQUIRED),
            _ => (Physical::INT64, ConvertedType::NONE, Repetition::REQUIRED),
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_converted_type(converted)
            .with_repetition(repetition);
        field.build().map(Arc::new)
    };
    let fields: Result<Vec<_>> = columns().iter().map(field).collect();
    Type::group_type_builder("request")
        .with_fields(fields?)
        .build()
}

fn properties() -> WriterProperties {
    let plain = WriterProperties::builder()
        .set_created_by(format!("firstread {}", crate::results::BUILD))
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BINARY_PACKED);
    let with_flags = ["lost", "measured"].into_iter().fold(plain, |all, name| {
        all.set_column_encoding(ColumnPath::from(name), Encoding::PLAIN)
    });
    let with_words = WORDS.into_iter().fold(with_flags, |all, name| {
        let path = ColumnPath::from(name);
        all.set_column_encoding(path.clone(), Encoding::PLAIN)
            .set_column_dictionary_enabled(path, true)
    });
    with_words.build()
}

impl ParquetLog {
    pub(super) fn create(path: &Path) -> std::result::Result<ParquetLog, FileError> {
        let file = files::create(path)?;
        let made = schema().and_then(|schema| {
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties()))
        });
        Ok(ParquetLog {
            path: path.to_owned(),
            file: made.map_err(|error| failed(path, error))?,
            columns: Columns::default(),
        })
    }

    pub(super) fn write(&mut self, records: &[Record]) -> std::result::Result<(), FileError> {
        match records.is_empty() {
            true => Ok(()),
            false => {
                let written = self.columns.write(records, &mut self.file);
                written.map_err(|error| failed(&self.path, error))
            }
        }
    }

    pub(super) fn finish(mut self) -> std::result::Result<(), FileError> {
        let finished = self.file.finish();
        finished.map_err(|error| failed(&self.path, error))?;
        let synced = self.file.inner().sync_all();
        match synced {
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => {
                Err(failed(&self.path, error.into()))
            }
            _ => Ok(()),
        }
    }
}

/// Why the file at `path` cannot be written. Without its end it cannot be read, so it is removed.
fn failed(path: &Path, error: ParquetError) -> FileError {
    if files::is_file(path) {
        // What is reported is why it could not be written.
        let _ = files::remove(path);
    }
    let error = match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    };
    let name = format!(
        "{} (removed: without its end a Parquet file cannot be read)",
        path.display()
    );
    FileError::named(name)(error)
}

impl Columns {
    /// Writes `records` as a row group, in the order of [`columns`].
    fn write(&mut self, records: &[Record], file: &mut SerializedFileWriter<File>) -> Result<()> {
        let mut group = file.next_row_group()?;
        let to = &mut group;
        self.wide(records, to, |r| r.arrival_ns)?;
        self.kinds(records, to)?;
        self.wide(records, to, |r| r.offset_bytes)?;
        self.wide(records, to, |r| r.length_bytes.into())?;
        self.wide(records, to, |r| r.latency_ns)?;
        for cause in 0..CAUSES {
            self.wide(records, to, |r| r.ns_by_cause[cause])?;
        }
        self.narrow(records, to, |page| page.retries.into())?;
        self.words(records, to, |page| page.page.name(page.mode))?;
        self.words(records, to, |page| page.mode.name())?;
        self.narrow(records, to, |page| page.die.into())?;
        self.flags(records, to, |r| r.is_lost)?;
        self.flags(records, to, |r| r.is_measured)?;
        self.narrow.clear();
        self.narrow.extend(records.iter().map(|r| r.job as i32));
        column::<Int32Type>(to, &self.narrow, None)?;
        group.close().map(drop)
    }

    fn wide(
        &mut self,
        records: &[Record],
        to: &mut SerializedRowGroupWriter<'_, File>,
        value: impl Fn(&Record) -> u64,
    ) -> Result<()> {
        self.wide.clear();
        self.wide.extend(records.iter().map(|r| value(r) as i64));
        column::<Int64Type>(to, &self.wide, None)
    }

    fn kinds(
        &mut self,
        records: &[Record],
        to: &mut SerializedRowGroupWriter<'_, File>,
    ) -> Result<()> {
        const OPS: [HostOp; 4] = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];
        let names = OPS.map(|op| ByteArray::from(op_name(op)));
        self.words.clear();
        let name = |r: &Record| names[r.op as usize].clone();
        self.words.extend(records.iter().map(name));
        column::<ByteArrayType>(to, &self.words, None)
    }

    fn flags(
        &mut self,
        records: &[Record],
        to: &mut SerializedRowGroupWriter<'_, File>,
        value: impl Fn(&Record) -> bool,
    ) -> Result<()> {
        self.flags.clear();
        self.flags.extend(records.iter().map(value));
        column::<BoolType>(to, &self.flags, None)
    }

    fn there(&mut self, records: &[Record]) {
        self.there.clear();
        let has = |r: &Record| i16::from(r.page.is_some());
        self.there.extend(records.iter().map(has));
    }

    fn narrow(
        &mut self,
        records: &[Record],
        to: &mut SerializedRowGroupWriter<'_, File>,
        value: impl Fn(&LoggedPage) -> i32,
    ) -> Result<()> {
        self.there(records);
        self.narrow.clear();
        let values = records.iter().filter_map(|r| r.page.as_ref());
        self.narrow.extend(values.map(value));
        column::<Int32Type>(to, &self.narrow, Some(&self.there))
    }

    fn words(
        &mut self,
        records: &[Record],
        to: &mut SerializedRowGroupWriter<'_, File>,
        value: impl Fn(&LoggedPage) -> &'static str,
    ) -> Result<()> {
        self.there(records);
        self.words.clear();
        // Copies of one word share its memory.
        let mut last = ("", ByteArray::from(""));
        for page in records.iter().filter_map(|r| r.page.as_ref()) {
            let word = value(page);
            if word != last.0 {
                last = match self.known.iter().find(|(known, _)| *known == word) {
                    Some(known) => known.clone(),
                    None => {
                        let new = (word, ByteArray::from(word));
                        self.known.push(new.clone());
                        new
                    }
                };
            }
            self.words.push(last.1.clone());
        }
        column::<ByteArrayType>(to, &self.words, Some(&self.there))
    }
}

/// Writes the next column of a row group.
fn column<T: DataType>(
    to: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    there: Option<&[i16]>,
) -> Result<()> {
    let Some(mut column) = to.next_column()? else {
        return Err(ParquetError::General("a row has fewer columns".into()));
    };
    column.typed::<T>().write_batch(values, there, None)?;
    column.close()
}
