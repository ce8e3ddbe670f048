//! Block traces, read one record at a time.
//!
//! The format is told from the first records, or named; see [`FORMATS`]. Files may be plain, or compressed by gzip, xz, bzip2 or
//! Zstandard, told by their first bytes. A record that cannot be used is an error with its place,
//! its column and the reason; what is understood differently than written is a [`Notice`].

mod blkparse;
mod columns;
mod error;
mod format;
mod iolog;
mod oracle_general;
mod pattern;
mod source;
mod text;
mod understood;
mod vscsi;

pub use columns::{Columns, SPEC};
pub use error::{
    BadNumber, ColumnsError, FormatError, InputError, PatternError, RecordError, ZstdError,
};
pub use format::{Column, FORMATS, Format};
pub use pattern::Pattern;
pub use source::Compression;
pub use understood::Understood;

use std::collections::BTreeSet;
use std::io::Read;

use firstread_core::HostOp;

use crate::error::{Location, Notice, WorkloadError};
use crate::handles;
use crate::stream::SECTOR_BYTES;
use format::{Layout, Role, Separator, Shape};
use iolog::Iolog;
use regex_lite::CaptureLocations;
use source::Source;
use text::{Fault, Raw, shown};
use vscsi::Version;

/// One request of a trace, placed on the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// Time since the first record, divided by the replay speed, in ns. Never decreases.
    pub time_ns: u64,
    /// Read, write, trim or flush, as the trace's format writes it.
    pub op: HostOp,
    /// First byte, a multiple of 512; 0 for a flush.
    pub offset_bytes: u64,
    /// Length, a multiple of 512; 0 for a flush.
    pub len_bytes: u32,
    /// Volume, disk or file it was for. All share the drive's addresses.
    pub device: u32,
    /// Placement handle of a write; 0 of other requests, and where the trace names none.
    pub placement: u16,
}

/// What to do where the time of a record is before that of the record above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeBack {
    /// Refuse the trace, and name the record.
    Error,
    /// Give it the time of the record above it, and say how often.
    Clamp,
}

/// How a trace is read.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// The format, where it is not to be told from the first records.
    pub format: Option<&'static Format>,
    /// The columns of a text, where they are those of no format.
    pub columns: Option<Columns>,
    /// An expression that the lines of requests match.
    pub pattern: Option<Pattern>,
    /// Bytes of the drive.
    pub capacity_bytes: u64,
    /// Placement handles of the drive, as writes name them; none where it takes no handle.
    pub placement_handles: Option<u16>,
    /// Requests past the end of the drive lie at their offset modulo its size; otherwise they are an
    /// error.
    pub wrap: bool,
    /// What to do where time goes back.
    pub on_time_back: TimeBack,
    /// Times are divided by it: 2 replays twice as fast.
    pub speed: f64,
    /// Requests after which to stop.
    pub limit: Option<u64>,
    /// The one device whose requests are wanted.
    pub device: Option<u32>,
}

impl Default for TraceOptions {
    fn default() -> TraceOptions {
        TraceOptions {
            format: None,
            columns: None,
            pattern: None,
            capacity_bytes: u64::MAX,
            placement_handles: Some(u16::MAX),
            wrap: false,
            on_time_back: TimeBack::Error,
            speed: 1.0,
            limit: None,
            device: None,
        }
    }
}

/// A trace that is being read: an iterator over its requests that ends after the first error.
pub struct TraceReader<R: Read> {
    source: Source<R>,
    format: &'static Format,
    /// Columns that were told, and what stands between them.
    told: Option<(Columns, Separator)>,
    options: TraceOptions,
    capacity_bytes: u64,
    parser: Parser,
    /// Time of the first record, absolute.
    first_ns: Option<u64>,
    /// Time of the last record since the first, before the speed.
    last_ns: u64,
    requests: u64,
    ended: bool,
    is_first_line: bool,
    last_device: Option<u32>,
    devices: BTreeSet<u32>,
    opening: Vec<Notice>,
    rounded: Occurrences,
    wrapped: Occurrences,
    clamped: Occurrences,
    skipped: Occurrences,
    /// The first line that does not match the expression.
    unmatched: Option<String>,
    other_devices: u64,
}

enum Parser {
    Text,
    /// With memory for the groups of a line.
    Pattern(Box<(Pattern, CaptureLocations)>),
    Vscsi(Version),
    /// With the unit of its object ids (B).
    OracleGeneral(u64),
    Blkparse(u8),
    Iolog(Iolog),
}

/// The columns of `format`, or those that were told.
fn shape<'a>(format: &'a Format, told: &'a Option<(Columns, Separator)>) -> Shape<'a> {
    match told {
        None => format.shape(),
        Some((columns, separator)) => Shape {
            columns: columns.as_slice(),
            separator: *separator,
            more: columns.more(),
        },
    }
}

/// How often something happened, and where first.
#[derive(Debug, Default)]
struct Occurrences {
    count: u64,
    first: Option<Location>,
}

impl Occurrences {
    fn add(&mut self, place: impl FnOnce() -> Location) {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some(place());
        }
    }
}

/// Bytes looked at to tell the format.
const HEAD_BYTES: usize = 32 << 10;
/// Lines looked at to tell the format.
const HEAD_LINES: usize = 64;
/// Longest request, in bytes: what 32 bits hold in sectors.
const MAX_LEN_BYTES: u64 = u32::MAX as u64 / SECTOR_BYTES * SECTOR_BYTES;
/// Devices told apart for the notice.
const MAX_DEVICES: usize = 1 << 16;

impl<R: Read> TraceReader<R> {
    /// Opens a trace; `file` is its name for messages.
    pub fn open(
        file: &str,
        input: R,
        options: TraceOptions,
    ) -> Result<TraceReader<R>, WorkloadError> {
        if !(options.speed > 0.0 && options.speed.is_finite()) {
            return Err(WorkloadError::Input {
                place: Location::whole(file),
                why: InputError::Speed(options.speed),
            });
        }
        let mut source = Source::open(file, input)?;
        source.skip_mark()?;
        let place = source.whole();
        let head = source.peek(HEAD_BYTES)?;
        if head.is_empty() {
            return Err(WorkloadError::Input {
                place,
                why: InputError::Empty,
            });
        }
        let lines = head_lines(head);
        let first_line = lines.first().copied().unwrap_or_default();
        let told = match &options.pattern {
            Some(pattern) => Some((*pattern.columns(), Separator::Blanks)),
            None => options
                .columns
                .map(|columns| (columns, columns::separator(first_line, &columns))),
        };
        let format = match options.format {
            _ if options.pattern.is_some() => &format::PATTERN,
            _ if told.is_some() => &format::OWN,
            Some(format) => format,
            None => detect(head).map_err(|why| WorkloadError::UnknownFormat {
                place: place.clone(),
                why,
            })?,
        };
        let parser = match format.layout {
            _ if let Some(pattern) = &options.pattern => {
                Parser::Pattern(Box::new((pattern.clone(), pattern.locations())))
            }
            Layout::Csv { .. } | Layout::Blanks => Parser::Text,
            Layout::Blkparse(action) => Parser::Blkparse(action),
            Layout::Iolog => Parser::Iolog(Iolog::default()),
            Layout::OracleGeneral(unit) => Parser::OracleGeneral(unit),
            Layout::Vscsi => match Version::detect(head) {
                Some(version) => Parser::Vscsi(version),
                None => {
                    return Err(WorkloadError::UnknownFormat {
                        place,
                        why: FormatError::NoVscsi,
                    });
                }
            },
        };
        let mut opening = Vec::new();
        if options.format.is_none() && format.name == "ssdsim-ns" {
            opening.push(Notice {
                place,
                text: "times are taken as ns, which these columns cannot tell; if they are not, \
                       name the format: ssdsim-us, ssdsim-ms or ssdsim-100ns"
                    .to_owned(),
            });
        }
        if options.format.is_none() && matches!(format.layout, Layout::OracleGeneral(_)) {
            opening.push(Notice {
                place: source.whole(),
                text: "all requests are taken as reads and object ids as blocks of 512 B, as the format tells \
                       neither; for other units name the format: oracle-general-4k or oracle-general-bytes"
                    .to_owned(),
            });
        }
        let is_text = matches!(format.layout, Layout::Csv { .. } | Layout::Blanks);
        if is_text && options.pattern.is_none() {
            let head = head_lines(source.peek(HEAD_BYTES)?);
            let named = told.is_none().then_some(format);
            let shape = shape(format, &told);
            let mut doubts = vec![columns::doubt(named, shape, &head)];
            if options.format.is_none() {
                doubts.push(columns::doubtful_times(shape, &head));
            }
            if options.format.is_none() && format.name == "disksim" {
                doubts.push(columns::doubtful_decimals(format, &head));
            }
            opening.extend(doubts.into_iter().flatten().map(|text| Notice {
                place: source.whole(),
                text,
            }));
        }
        Ok(TraceReader {
            source,
            format,
            told,
            capacity_bytes: options.capacity_bytes / SECTOR_BYTES * SECTOR_BYTES,
            options,
            parser,
            first_ns: None,
            last_ns: 0,
            requests: 0,
            ended: false,
            is_first_line: true,
            last_device: None,
            devices: BTreeSet::new(),
            opening,
            rounded: Occurrences::default(),
            wrapped: Occurrences::default(),
            clamped: Occurrences::default(),
            skipped: Occurrences::default(),
            unmatched: None,
            other_devices: 0,
        })
    }

    /// The format, told or named.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Reads it to its end, to tell what it holds.
    ///
    /// # Errors
    /// The first record that cannot be used.
    pub fn understood(mut self) -> Result<Understood, WorkloadError> {
        let mut all = Understood::of(self.format.name);
        for record in self.by_ref() {
            let r = record?;
            all.add(r.op, r.time_ns, r.offset_bytes, u64::from(r.len_bytes));
        }
        all.devices = self.devices.len();
        Ok(all)
    }

    /// How the trace is compressed.
    pub fn compression(&self) -> Compression {
        self.source.compression()
    }

    /// What the user should know so far; complete once the trace has ended.
    pub fn notices(&self) -> Vec<Notice> {
        let mut all = self.opening.clone();
        let mut add = |tally: &Occurrences, text: String| {
            if let Some(place) = &tally.first {
                all.push(Notice {
                    place: place.clone(),
                    text,
                });
            }
        };
        add(
            &self.rounded,
            format!(
                "{} requests do not begin and end on 512 bytes and were widened to do so",
                self.rounded.count
            ),
        );
        add(
            &self.wrapped,
            format!(
                "{} requests lie past the drive's {} bytes and were moved to their offset modulo \
                 that",
                self.wrapped.count, self.capacity_bytes
            ),
        );
        add(
            &self.clamped,
            format!(
                "{} records have a time before that of the record above them, and were given its time",
                self.clamped.count
            ),
        );
        add(
            &self.skipped,
            format!(
                "{} {} were skipped",
                self.skipped.count,
                match self.parser {
                    Parser::Pattern(..) => "lines that do not match the expression",
                    _ => "records of commands that move no data",
                }
            ),
        );
        let mut whole = |text: String| {
            all.push(Notice {
                place: self.source.whole(),
                text,
            });
        };
        if self.devices.len() > 1 && self.options.device.is_none() {
            let more = if self.devices.len() >= MAX_DEVICES {
                " or more"
            } else {
                ""
            };
            whole(format!(
                "requests of {}{more} devices share the drive's addresses",
                self.devices.len()
            ));
        }
        if self.other_devices > 0 {
            whole(format!(
                "{} requests of other devices were left out",
                self.other_devices
            ));
        }
        all
    }

    fn record_bytes(&self) -> u64 {
        match self.parser {
            Parser::Vscsi(version) => version.bytes() as u64,
            Parser::OracleGeneral(_) => oracle_general::BYTES as u64,
            _ => 0,
        }
    }

    fn fault(&self, fault: Fault) -> WorkloadError {
        WorkloadError::Record {
            place: self.source.place(self.record_bytes()),
            format: self.format.name,
            column: fault.column,
            why: fault.why,
        }
    }

    /// The next record as it stands in the trace.
    fn raw(&mut self) -> Result<Option<Raw>, WorkloadError> {
        loop {
            let record_bytes = self.record_bytes() as usize;
            let mut doubt = None;
            let parsed = match &mut self.parser {
                Parser::Vscsi(_) | Parser::OracleGeneral(_) => {
                    let bytes = record_bytes;
                    let record = self.source.next_record(bytes)?;
                    match record.len() {
                        0 => return Ok(None),
                        n if n < bytes => {
                            let why = RecordError::CutShort {
                                have_bytes: n,
                                wanted_bytes: bytes,
                            };
                            return Err(WorkloadError::Record {
                                place: self.source.place(n as u64),
                                format: self.format.name,
                                column: None,
                                why: Box::new(why),
                            });
                        }
                        _ => {}
                    }
                    let parsed = match &self.parser {
                        Parser::Vscsi(version) => vscsi::parse(*version, record),
                        Parser::OracleGeneral(unit) => {
                            oracle_general::parse(record, *unit).map(Some)
                        }
                        _ => Ok(None),
                    };
                    if let Ok(None) = parsed {
                        let source = &self.source;
                        self.skipped.add(|| source.place(bytes as u64));
                    }
                    parsed
                }
                parser => {
                    let Some(line) = self.source.next_line()? else {
                        return Ok(None);
                    };
                    if line.trim_ascii().is_empty() || text::is_comment(line) {
                        continue;
                    }
                    match parser {
                        Parser::Pattern(of) => {
                            let (pattern, found) = &mut **of;
                            let request = pattern.request(line, found);
                            if let Ok(None) = &request {
                                self.unmatched.get_or_insert_with(|| shown(line));
                                let place = self.source.place(0);
                                self.skipped.add(|| place);
                            }
                            request
                        }
                        Parser::Iolog(log) => log.parse(line),
                        Parser::Blkparse(action) => match blkparse::parse(line, *action) {
                            Ok(blkparse::Line::Request(raw)) => Ok(Some(raw)),
                            Ok(blkparse::Line::Other) => Ok(None),
                            Ok(blkparse::Line::Summary) => return Ok(None),
                            Err(fault) => Err(fault),
                        },
                        _ => {
                            let shape = shape(self.format, &self.told);
                            let header = match self.is_first_line {
                                true if self.told.is_some() => {
                                    let header = columns::header(shape, line);
                                    header.map(|header| header.map(|found| doubt = found))
                                }
                                true => text::header(shape, line),
                                false => None,
                            };
                            match header {
                                Some(Ok(())) => Ok(None),
                                Some(Err(fault)) => Err(fault),
                                None => text::parse(shape, line).map(Some),
                            }
                        }
                    }
                }
            };
            self.is_first_line = false;
            if let Some(text) = doubt {
                let place = self.source.place(0);
                self.opening.push(Notice { place, text });
            }
            match parsed {
                Ok(Some(raw)) => {
                    if let Some(wanted) = self.options.device
                        && raw.device != wanted
                    {
                        self.other_devices += 1;
                        continue;
                    }
                    return Ok(Some(raw));
                }
                Ok(None) => {}
                Err(fault) => return Err(self.fault(fault)),
            }
        }
    }

    /// Places a record in time and on the drive.
    fn place(&mut self, raw: Raw) -> Result<TraceRecord, WorkloadError> {
        let first = *self.first_ns.get_or_insert(raw.time_ns);
        let source = &self.source;
        let bytes = self.record_bytes();
        let column = |role: fn(&Role) -> bool| {
            let columns = shape(self.format, &self.told).columns;
            let found = columns.iter().find(|c| role(&c.role));
            found.map(|c| c.name)
        };
        let is_time = |r: &Role| matches!(r, Role::Time(_) | Role::DecimalTime(_));
        let since_first = raw.time_ns.saturating_sub(first);
        if raw.time_ns < first.saturating_add(self.last_ns) {
            match self.options.on_time_back {
                TimeBack::Error => {
                    return Err(WorkloadError::TimeBack {
                        place: source.place(bytes),
                        format: self.format.name,
                        column: column(is_time),
                        by_ns: first + self.last_ns - raw.time_ns,
                    });
                }
                TimeBack::Clamp => self.clamped.add(|| source.place(bytes)),
            }
        }
        self.last_ns = self.last_ns.max(since_first);
        let time_ns = if self.options.speed == 1.0 {
            self.last_ns
        } else {
            (self.last_ns as f64 / self.options.speed) as u64
        };
        if self.last_device != Some(raw.device) {
            self.last_device = Some(raw.device);
            if self.devices.len() < MAX_DEVICES {
                self.devices.insert(raw.device);
            }
        }
        if raw.op == HostOp::Flush {
            return Ok(TraceRecord {
                time_ns,
                op: raw.op,
                offset_bytes: 0,
                len_bytes: 0,
                device: raw.device,
                placement: 0,
            });
        }
        let is_len = |r: &Role| matches!(r, Role::Len(_));
        let is_offset = |r: &Role| matches!(r, Role::Offset(_));
        if raw.len_bytes == 0 {
            let why = RecordError::Rule("a request of no bytes");
            return Err(self.fault(Fault::column(column(is_len), why)));
        }
        let mut start = raw.offset_bytes / SECTOR_BYTES * SECTOR_BYTES;
        let end = raw
            .offset_bytes
            .checked_add(raw.len_bytes)
            .and_then(|end| end.checked_next_multiple_of(SECTOR_BYTES));
        let Some(end) = end else {
            let why = RecordError::Rule("the request ends past 2^64 bytes");
            return Err(self.fault(Fault::column(column(is_offset), why)));
        };
        let len = end - start;
        if start != raw.offset_bytes || len != raw.len_bytes {
            self.rounded.add(|| source.place(bytes));
        }
        if len > MAX_LEN_BYTES {
            let why = RecordError::Length {
                len_bytes: len,
                most_bytes: MAX_LEN_BYTES,
            };
            return Err(self.fault(Fault::column(column(is_len), why)));
        }
        if end > self.capacity_bytes {
            if !self.options.wrap || len > self.capacity_bytes {
                return Err(WorkloadError::PastTheEnd {
                    place: source.place(bytes),
                    format: self.format.name,
                    column: column(is_offset),
                    first: start,
                    end,
                    capacity_bytes: self.capacity_bytes,
                });
            }
            // Modulo the drive; one that would then cross its end is moved to end there.
            start = (start % self.capacity_bytes).min(self.capacity_bytes - len);
            self.wrapped.add(|| source.place(bytes));
        }
        let placement = match raw.op {
            HostOp::Write => raw.placement,
            _ => 0,
        };
        if let Err(why) = handles::check(placement, self.options.placement_handles) {
            let is_placement = |r: &Role| matches!(r, Role::Placement);
            let why = RecordError::Placement(why);
            return Err(self.fault(Fault::column(column(is_placement), why)));
        }
        Ok(TraceRecord {
            time_ns,
            op: raw.op,
            offset_bytes: start,
            len_bytes: len as u32,
            device: raw.device,
            placement,
        })
    }
}

impl<R: Read> Iterator for TraceReader<R> {
    type Item = Result<TraceRecord, WorkloadError>;

    fn next(&mut self) -> Option<Result<TraceRecord, WorkloadError>> {
        if self.ended
            || self
                .options
                .limit
                .is_some_and(|limit| self.requests >= limit)
        {
            return None;
        }
        let next = match self.raw() {
            Ok(Some(raw)) => Some(self.place(raw)),
            Ok(None) if self.requests == 0 => Some(Err(WorkloadError::Input {
                place: self.source.whole(),
                why: match self.options.device {
                    Some(device) if self.other_devices > 0 => InputError::NoRequestOf(device),
                    _ => match self.unmatched.take() {
                        Some(line) => InputError::NoMatch(line),
                        None => InputError::NoRequest,
                    },
                },
            })),
            Ok(None) => None,
            Err(e) => Some(Err(e)),
        };
        self.ended = !matches!(next, Some(Ok(_)));
        self.requests += 1;
        next
    }
}

/// The first lines of a trace that begins with `head`, blank ones left out.
fn head_lines(head: &[u8]) -> Vec<&[u8]> {
    head.split_inclusive(|&b| b == b'\n')
        // The last line of a head may be cut off.
        .filter(|line| line.ends_with(b"\n") || head.len() < HEAD_BYTES)
        .map(|line| line.trim_ascii())
        .filter(|line| !line.is_empty() && !text::is_comment(line))
        .take(HEAD_LINES)
        .collect()
}

/// The format of a trace that begins with `head`, or what was seen instead.
fn detect(head: &[u8]) -> Result<&'static Format, FormatError> {
    let text = !head[..head.len().min(512)]
        .iter()
        .any(|&b| b < b' ' && !b.is_ascii_whitespace() || b == 0x7f);
    if !text {
        let vscsi = FORMATS.iter().find(|f| matches!(f.layout, Layout::Vscsi));
        let general = |f: &&Format| matches!(f.layout, Layout::OracleGeneral(512));
        let general = FORMATS.iter().find(general);
        return match (Version::detect(head), vscsi, general) {
            (Some(_), Some(format), _) => Ok(format),
            (None, _, Some(format)) if oracle_general::detect(head) => Ok(format),
            _ => Err(FormatError::Binary),
        };
    }
    let mut lines = head_lines(head);
    let Some(first) = lines.first().copied() else {
        return Err(FormatError::NoLine);
    };
    let is_iolog = first.starts_with(b"fio version");
    if lines.len() > 1 && !is_iolog && text::looks_like_header(first) {
        lines.remove(0);
    }
    // One line that is cut short or malformed further on must not hide the format: it is reported
    // with its place when it is read. The first record must fit.
    let fits = |format: &Format| match format.layout {
        Layout::Iolog => is_iolog,
        Layout::Vscsi | Layout::OracleGeneral(_) => false,
        Layout::Blkparse(action) => {
            let parsed = |line: &&[u8]| blkparse::parse(line, action);
            lines.first().is_some_and(|line| parsed(line).is_ok())
                && lines
                    .iter()
                    .any(|line| matches!(parsed(line), Ok(blkparse::Line::Request(_))))
        }
        Layout::Csv { .. } | Layout::Blanks => {
            let good = |line: &&[u8]| text::parse(format.shape(), line).is_ok();
            let fit = lines.iter().filter(|line| good(line)).count();
            // One decimal point among the first times tells DiskSim from SSDSim.
            let decimals = FORMATS
                .iter()
                .filter(|f| f.name == "disksim")
                .any(|disksim| {
                    let decimal =
                        |line: &&[u8]| !good(line) && text::parse(disksim.shape(), line).is_ok();
                    format.name == "ssdsim-ns" && lines.iter().any(decimal)
                });
            lines.first().is_some_and(good) && fit * 10 >= lines.len() * 9 && !decimals
        }
    };
    FORMATS
        .iter()
        .find(|format| format.detected.is_some() && fits(format))
        .ok_or_else(|| FormatError::Unknown {
            first: shown(lines.first().copied().unwrap_or(first)),
            formats: FORMATS.iter().map(|f| f.name).collect(),
        })
}

#[cfg(test)]
mod tests;
