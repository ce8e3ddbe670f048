//! A timeline of the slowest reads as Chrome trace events, which Perfetto and `chrome://tracing` open.
//!
//! A process is a kind of part: slow reads, host link, dies, channels, decoders; a thread is one of them. A slice is a begin
//! and an end (`B`, `E`) and no `X` with a duration: an end is then the very number at which the next slice begins, whereas a
//! viewer's sum of start and duration may miss it by a bit, and it draws one slice inside the other. Flows (`s`, `f`) go from a read to each of its operations on a die. Times are in µs from
//! the start of the run, with three decimals.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::PathBuf;

use firstread_core::{HostOp, Ns, OpClass, Status};
use firstread_drive::spans::{
    Activity, Operation, OperationKind, Owner, Part, RequestOnLink, Span, Track,
};
use firstread_drive::stats::slow_reads::{SlowRead, SlowReads};
use firstread_drive::{Cause, Observed};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::record::op_name;
use crate::files::{FileError, WholeFile};

/// Most slow reads of a timeline.
pub const MOST_TRACED: usize = 1_000;

/// Planes of a die, at most.
const PLANES: u32 = 8;
/// Threads of a die: the die, its planes, and what it has suspended.
const THREADS_OF_DIE: u32 = PLANES + 2;

/// What timeline is written of a run, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceSpec {
    /// The file.
    pub path: PathBuf,
    /// How many of the slowest reads.
    pub reads: usize,
    /// Time before and after each.
    pub window: Ns,
}

/// A timeline of a run that goes on.
pub(crate) struct TraceEvents {
    slowest: SlowReads,
    spec: TraceSpec,
    began: Ns,
    /// The run, as its title says.
    title: String,
    file: WholeFile,
}

impl TraceEvents {
    /// Of a run of `title` that begins at `began`.
    ///
    /// # Errors
    /// [`FileError`] where its file cannot be made.
    pub(crate) fn begin(
        spec: &TraceSpec,
        began: Ns,
        title: String,
    ) -> Result<TraceEvents, FileError> {
        Ok(TraceEvents {
            slowest: SlowReads::new(spec.reads.min(MOST_TRACED), spec.window),
            spec: spec.clone(),
            began,
            title,
            file: WholeFile::create(&spec.path)?,
        })
    }

    /// A request has completed.
    #[inline]
    pub(crate) fn completed(&mut self, request: &Observed<'_>) {
        if request.is_measured && request.completed.command.op == HostOp::Read {
            self.slowest.completed(request.completed);
        }
    }

    /// Parts of the drive have done `spans`.
    pub(crate) fn spans(&mut self, spans: &[Span]) {
        self.slowest.spans(spans);
    }

    /// The run has ended: writes the file.
    ///
    /// # Errors
    /// [`FileError`] where it cannot be written; then there is none.
    pub(crate) fn finish(self) -> Result<(), FileError> {
        let (reads, spans) = self.slowest.finish();
        let about = json!({
            "program": concat!("firstread ", env!("CARGO_PKG_VERSION")),
            "run": self.title,
            "slowest_reads": reads.len(),
            "window_ns": self.spec.window.0,
        });
        let picture = Picture {
            began: self.began,
            reads: &reads,
            spans: &spans,
        };
        self.file.write(|out| picture.write(&about, out))
    }
}

/// What is drawn.
struct Picture<'a> {
    began: Ns,
    /// The slowest first.
    reads: &'a [SlowRead],
    /// By start.
    spans: &'a [Span],
}

/// A trace event.
#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'a str,
    ph: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    /// Of the end of a flow: that it belongs to the slice around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'a str>,
    #[serde(skip_serializing_if = "Value::is_null")]
    args: Value,
}

/// The kinds of parts, as processes in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Process {
    SlowReads = 1,
    Link,
    Dies,
    Channels,
    Decoders,
}

impl Process {
    const ALL: [Process; 5] = [
        Process::SlowReads,
        Process::Link,
        Process::Dies,
        Process::Channels,
        Process::Decoders,
    ];

    const fn name(self) -> &'static str {
        match self {
            Process::SlowReads => "slowest reads",
            Process::Link => "host link",
            Process::Dies => "dies",
            Process::Channels => "channels",
            Process::Decoders => "decoders",
        }
    }
}

/// A thread: its process, its number there, its name.
type Thread = (Process, u32, String);

/// The threads that a span is drawn on: several where it takes several planes that have a thread each.
fn threads(track: Track) -> Vec<Thread> {
    let die_thread = |die: firstread_core::DieId, n: u32| u32::from(die.0) * THREADS_OF_DIE + 1 + n;
    match track {
        Track::LinkIn => vec![(Process::Link, 1, "from the host".into())],
        Track::LinkOut => vec![(Process::Link, 2, "to the host".into())],
        Track::Array(die, firstread_core::flash::ALL_PLANES) => {
            vec![(Process::Dies, die_thread(die, 0), format!("die {}", die.0))]
        }
        Track::Array(die, planes) => {
            let planes = (0..PLANES).filter(|plane| planes >> plane & 1 != 0);
            let thread = |plane| {
                let name = format!("die {}, plane {plane}", die.0);
                (Process::Dies, die_thread(die, 1 + plane), name)
            };
            planes.map(thread).collect()
        }
        Track::Suspended(die) => {
            let name = format!("die {}, suspended", die.0);
            vec![(Process::Dies, die_thread(die, 1 + PLANES), name)]
        }
        Track::Channel(n) => vec![(Process::Channels, u32::from(n) + 1, format!("channel {n}"))],
        Track::Decoder(n) => vec![(Process::Decoders, u32::from(n) + 1, format!("decoder {n}"))],
    }
}

impl Picture<'_> {
    fn write(&self, about: &Value, out: &mut dyn Write) -> io::Result<()> {
        let mut events = Events { out, any: false };
        write!(
            events.out,
            "{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":["
        )?;
        self.names(&mut events)?;
        for (rank, read) in (1..).zip(self.reads) {
            self.read(rank, read, &mut events)?;
        }
        for span in self.spans {
            self.span(span, &mut events)?;
        }
        self.flows(&mut events)?;
        events.out.write_all(b"\n]}\n")
    }

    /// Names of processes and threads, and their order.
    fn names(&self, events: &mut Events<'_>) -> io::Result<()> {
        let mut all: BTreeSet<Thread> = self.spans.iter().flat_map(|s| threads(s.track)).collect();
        for (rank, read) in (1..).zip(self.reads) {
            all.insert((
                Process::SlowReads,
                rank,
                format!("#{rank}: {}", title_of(read)),
            ));
        }
        for process in Process::ALL {
            if all.iter().any(|thread| thread.0 == process) {
                let pid = process as u32;
                events.name("process_name", pid, 0, json!({ "name": process.name() }))?;
                events.name("process_sort_index", pid, 0, json!({ "sort_index": pid }))?;
            }
        }
        for (process, tid, name) in &all {
            let pid = *process as u32;
            events.name("thread_name", pid, *tid, json!({ "name": name }))?;
            events.name("thread_sort_index", pid, *tid, json!({ "sort_index": tid }))?;
        }
        Ok(())
    }

    /// A slice without others in it, from the start of the run at the earliest.
    fn slice(
        &self,
        thread: (u32, u32),
        (start, end): (Ns, Ns),
        name: (&str, &str),
        args: Value,
        events: &mut Events<'_>,
    ) -> io::Result<()> {
        self.begin(thread, start, name, args, events)?;
        self.end(thread, end, name.0, events)
    }

    fn begin(
        &self,
        (pid, tid): (u32, u32),
        at: Ns,
        (name, cat): (&str, &str),
        args: Value,
        events: &mut Events<'_>,
    ) -> io::Result<()> {
        events.put(&Event {
            name,
            cat,
            ph: "B",
            ts: Some(self.us(at)),
            pid,
            tid,
            id: None,
            bp: None,
            args,
        })
    }

    /// The slice called `name` ends. Of an end without a name speedscope does not know what it ends.
    fn end(
        &self,
        (pid, tid): (u32, u32),
        at: Ns,
        name: &str,
        events: &mut Events<'_>,
    ) -> io::Result<()> {
        events.put(&Event {
            name,
            cat: "",
            ph: "E",
            ts: Some(self.us(at)),
            pid,
            tid,
            id: None,
            bp: None,
            args: Value::Null,
        })
    }

    /// Time of the run (µs).
    fn us(&self, at: Ns) -> f64 {
        self.ns(at) as f64 / 1e3
    }

    /// Time of the run (ns).
    fn ns(&self, at: Ns) -> u64 {
        at.since(self.began).0
    }

    /// A slow read, and below it the parts of its latency.
    fn read(&self, rank: u32, read: &SlowRead, events: &mut Events<'_>) -> io::Result<()> {
        let thread = (Process::SlowReads as u32, rank);
        let causes = Cause::ALL.iter().zip(read.ns_by_cause);
        let causes = causes.filter(|(_, ns)| *ns > 0);
        let causes: Map<String, Value> = causes
            .map(|(cause, ns)| (format!("{}_ns", cause.name()), ns.into()))
            .collect();
        let mut args = json!({
            "rank": rank,
            "request": read.number,
            "job": read.job,
            "offset_bytes": read.command.offset_bytes,
            "length_bytes": read.command.len_bytes,
            "arrival_ns": self.ns(read.since),
            "latency_ns": read.latency().0,
            "lost": read.status == Status::Uncorrectable,
            "causes": causes,
        });
        if let Some(page) = read.page {
            args["last_page"] = json!({
                "die": page.die.0,
                "page_type": page.page.name(page.mode),
                "cell_mode": page.mode.name(),
                "retries": page.retries,
            });
        }
        if let Some(from) = read.whole_from {
            args["window_is_whole_from_ns"] = self.ns(from).into();
        }
        let name = (format!("#{rank}: {}", title_of(read)), "read");
        self.begin(thread, read.since, (&name.0, name.1), args, events)?;
        for part in &read.parts {
            let args = json!({
                "cause": part.cause.name(),
                "start_ns": self.ns(part.start),
                "duration_ns": part.end.since(part.start).0,
            });
            let time = (part.start, part.end);
            self.slice(thread, time, (&name_of(part), "part"), args, events)?;
        }
        self.end(thread, read.at, &name.0, events)
    }

    fn span(&self, span: &Span, events: &mut Events<'_>) -> io::Result<()> {
        if span.end <= self.began {
            return Ok(());
        }
        let (name, cat, mut args) = match &span.owner {
            Owner::Operation(operation) => (
                format!("{}: {}", whose(operation), span.activity.name()),
                kind_of(operation.class),
                self.about(operation),
            ),
            Owner::Request(request) => on_link(request),
        };
        args["start_ns"] = self.ns(span.start).into();
        args["duration_ns"] = span.end.since(span.start).0.into();
        if !span.has_ended {
            args["ended"] = false.into();
        }
        for (process, tid, _) in threads(span.track) {
            let thread = (process as u32, tid);
            let time = (span.start, span.end);
            self.slice(thread, time, (&name, cat), args.clone(), events)?;
        }
        Ok(())
    }

    /// What an operation is.
    fn about(&self, operation: &Operation) -> Value {
        let mut about = json!({
            "operation": operation.number,
            "class": class_name(operation.class),
            "die": operation.die.0,
            "superblock": operation.block.0,
            "block": operation.on.0,
            "cell_mode": operation.mode.name(),
        });
        if operation.kind != OperationKind::Erase {
            about["wordline"] = operation.wordline.into();
        }
        if let OperationKind::Read(page) = operation.kind {
            about["page_type"] = page.name(operation.mode).into();
            let planes = (0..PLANES).filter(|plane| operation.planes >> plane & 1 != 0);
            about["planes"] = planes.collect::<Vec<u32>>().into();
            about["sense"] = (operation.step + 1).into();
        }
        about["queued_ns"] = self.ns(operation.queued).into();
        about["waited_for_die_ns"] = operation.issued.since(operation.queued).0.into();
        about
    }

    /// From each slow read to each of its operations on a die.
    fn flows(&self, events: &mut Events<'_>) -> io::Result<()> {
        let mut of_read: BTreeMap<u64, Vec<&Span>> = BTreeMap::new();
        for span in self.spans {
            if let (Track::Array(..), Some(operation)) = (span.track, span.operation()) {
                of_read.entry(operation.read).or_default().push(span);
            }
        }
        let mut id = 0;
        for (rank, read) in (1..).zip(self.reads) {
            let mut seen = BTreeSet::new();
            let spans = read.reads.iter().filter_map(|number| of_read.get(number));
            for span in spans.flatten() {
                let Some(operation) = span.operation() else {
                    continue;
                };
                let is_within = span.end > read.since && span.start < read.at;
                if !is_within || !seen.insert(operation.number) {
                    continue;
                }
                id += 1;
                // Within both slices.
                let at = span.start.max(read.since).max(self.began);
                let from = (Process::SlowReads as u32, rank);
                for (ph, bp, (pid, tid)) in threads(span.track)
                    .first()
                    .map(|(process, tid, _)| {
                        [("s", None, from), ("f", Some("e"), (*process as u32, *tid))]
                    })
                    .into_iter()
                    .flatten()
                {
                    events.put(&Event {
                        name: "operation of the read",
                        cat: "flow",
                        ph,
                        ts: Some(self.us(at)),
                        pid,
                        tid,
                        id: Some(id),
                        bp,
                        args: Value::Null,
                    })?;
                }
            }
        }
        Ok(())
    }
}

/// Events in their order.
struct Events<'a> {
    out: &'a mut dyn Write,
    any: bool,
}

impl Events<'_> {
    fn put(&mut self, event: &Event<'_>) -> io::Result<()> {
        let before: &[u8] = match std::mem::replace(&mut self.any, true) {
            false => b"\n",
            true => b",\n",
        };
        self.out.write_all(before)?;
        serde_json::to_writer(&mut *self.out, event).map_err(io::Error::from)
    }

    fn name(&mut self, what: &str, pid: u32, tid: u32, args: Value) -> io::Result<()> {
        self.put(&Event {
            name: what,
            cat: "",
            ph: "M",
            ts: None,
            pid,
            tid,
            id: None,
            bp: None,
            args,
        })
    }
}

/// A read in a few words.
fn title_of(read: &SlowRead) -> String {
    let ms = read.latency().0 as f64 / 1e6;
    let bytes = read.command.len_bytes;
    format!("{ms:.3} ms, {bytes} B at {}", read.command.offset_bytes)
}

/// Name of a part of the latency of a read.
fn name_of(part: &Part) -> String {
    match part.cause {
        Cause::Retry => format!("retry {}: {}", part.step, part.phase.name()),
        Cause::ReadRecovery if part.phase != Cause::ReadRecovery => {
            format!("read_recovery: {}", part.phase.name())
        }
        cause => cause.name().into(),
    }
}

/// Whose an operation is.
fn whose(operation: &Operation) -> String {
    let again = |name: &str| match operation.step {
        0 => name.to_owned(),
        step => format!("{name}, sense {}", step + 1),
    };
    match operation.class {
        OpClass::HostRead => "host read".into(),
        OpClass::HostRetry => format!("host read, retry {}", operation.step),
        OpClass::ReadRecovery => "read recovery".into(),
        OpClass::Calibration => "calibration".into(),
        OpClass::MoveRead => again("read to move"),
        OpClass::MergeRead => again("read for a partial write"),
        OpClass::ReadAhead => again("read ahead"),
        OpClass::MapRead => again("map"),
        OpClass::MapProgram => "map".into(),
        OpClass::Program => "host data".into(),
        OpClass::MoveProgram => "moved data".into(),
        OpClass::Erase => "erase".into(),
    }
}

/// Kind of a slice, by which a viewer filters and colours.
const fn kind_of(class: OpClass) -> &'static str {
    match class {
        OpClass::HostRead | OpClass::MergeRead | OpClass::ReadAhead | OpClass::Program => "host",
        OpClass::HostRetry | OpClass::ReadRecovery => "retry",
        OpClass::Calibration => "calibration",
        OpClass::MoveRead | OpClass::MoveProgram => "move",
        OpClass::MapRead | OpClass::MapProgram => "map",
        OpClass::Erase => "erase",
    }
}

/// Name of a class in arguments.
const fn class_name(class: OpClass) -> &'static str {
    match class {
        OpClass::HostRead => "host_read",
        OpClass::HostRetry => "host_retry",
        OpClass::ReadRecovery => "read_recovery",
        OpClass::Calibration => "calibration",
        OpClass::MoveRead => "move_read",
        OpClass::MergeRead => "merge_read",
        OpClass::ReadAhead => "read_ahead",
        OpClass::MapRead => "map_read",
        OpClass::MapProgram => "map_program",
        OpClass::Program => "program",
        OpClass::MoveProgram => "move_program",
        OpClass::Erase => "erase",
    }
}

/// A request on the link.
fn on_link(request: &RequestOnLink) -> (String, &'static str, Value) {
    let name = format!(
        "host {}: {}",
        op_name(request.op),
        Activity::Transfer.name()
    );
    let args = json!({
        "request": request.number,
        "offset_bytes": request.offset_bytes,
        "bytes": request.bytes,
    });
    (name, "link", args)
}
