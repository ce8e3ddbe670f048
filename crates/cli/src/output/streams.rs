//! Streams among which a scheme chooses, and the statistics of placement handles: shown for drives that have them, and
//! beside them.

use firstread_firmware::observe::FdpEventKind;
use firstread_session::results::fdp::{Fdp, OfEvent, OfHandle, fdp};
use firstread_session::results::streams::{OfStream, of_streams};
use firstread_session::{Outcome, Setup};
use serde::{Deserialize, Serialize};

use super::format::{Side, bytes, count, long_time, ratio, table};

const HEAD: [&str; 6] = [
    "write stream",
    "given",
    "invalidated",
    "moved out",
    "erased",
    "buffer",
];
const FDP_HEAD: [&str; 5] = ["", "written", "invalidated", "moved", "erased"];

const TITLE: &str = "streams, in mapping units; superblocks erased; memory of the write buffer";
/// Events that a report shows, at most.
const SHOWN_EVENTS: usize = 3;
const FDP_TITLE: &str = "flexible data placement";

fn cells(of: &OfStream) -> Vec<String> {
    vec![
        of.name.to_owned(),
        count(of.slots),
        count(of.invalidated_slots),
        count(of.moved_out_slots),
        count(of.superblocks_erased),
        bytes(of.buffer_bytes as f64),
    ]
}

/// A row of the whole drive, then a row a handle.
fn of_handles(of: &Fdp) -> Vec<Vec<String>> {
    let size = |n: u64| bytes(n as f64);
    let media = match of.amplification() {
        Some(amplification) => format!("{} ({}x)", size(of.media_bytes), ratio(amplification)),
        None => size(of.media_bytes),
    };
    let log = vec![
        vec!["HBMW".to_owned(), size(of.host_bytes)],
        vec!["MBMW".to_owned(), media],
        vec!["MBE".to_owned(), size(of.erased_bytes)],
    ];
    let row = |of: &OfHandle| {
        vec![
            format!("handle {}", of.handle),
            size(of.host_bytes),
            size(of.invalidated_bytes),
            size(of.moved_bytes),
            size(of.erased_bytes),
        ]
    };
    let pad = |mut row: Vec<String>| {
        row.resize(FDP_HEAD.len(), String::new());
        row
    };
    let kinds = FdpEventKind::ALL.into_iter().zip(of.events);
    let events = kinds.map(|(kind, n)| vec![event(kind), count(n)]);
    let log = log.into_iter().map(pad);
    let rows = log.chain(of.handles.iter().map(row));
    rows.chain(events.map(pad)).collect()
}

/// An event with its type in the standard.
fn event(kind: FdpEventKind) -> String {
    let what = match kind {
        FdpEventKind::NotFullyWritten => "unit not fully written",
        FdpEventKind::MediaReallocated => "media reallocated",
        FdpEventKind::ImplicitlyModified => "handle taken off a unit",
    };
    format!("{what} ({:02x}h)", kind.code())
}

/// The last events.
fn last_events(of: &Fdp) -> String {
    let line = |of: &OfEvent| {
        let handle = of
            .handle
            .map_or("no single handle".to_owned(), |h| format!("handle {h}"));
        let (at, size) = (long_time(of.at.0 as f64), bytes(of.bytes as f64));
        format!("  after {at}: {}, {handle}, {size}\n", event(of.kind))
    };
    let from = of.last_events.len().saturating_sub(SHOWN_EVENTS);
    of.last_events[from..].iter().map(line).collect()
}

fn sides(left: usize, columns: usize) -> Vec<Side> {
    [vec![Side::Left; left], vec![Side::Right; columns - 1]].concat()
}

/// The table called `title` with `head`; nothing where no row is in it.
fn section(title: &str, head: &[&str], left: usize, rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let head = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rows = [vec![head], rows].concat();
    let columns = rows[0].len() + 1 - left;
    format!("\n{title}\n{}", table("  ", &sides(left, columns), &rows))
}

/// Lines of a report.
pub fn lines(setup: &Setup, outcome: &Outcome) -> String {
    let of = of_run(setup, outcome);
    let events = fdp(setup, outcome)
        .as_ref()
        .map_or(String::new(), last_events);
    section(TITLE, &HEAD, 1, of.rows) + &section(FDP_TITLE, &FDP_HEAD, 1, of.handles) + &events
}

/// Streams and handles in a run.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct OfStreams {
    /// Cells of the table of streams; none where no scheme chooses.
    rows: Vec<Vec<String>>,
    /// The same of placement handles.
    handles: Vec<Vec<String>>,
}

/// Those of the run of `setup`.
pub fn of_run(setup: &Setup, outcome: &Outcome) -> OfStreams {
    OfStreams {
        rows: of_streams(setup, outcome).iter().map(cells).collect(),
        handles: fdp(setup, outcome).as_ref().map_or(Vec::new(), of_handles),
    }
}

/// Those of the drives that are compared, of the first one of each.
pub fn compared(axis: &str, results: &[(&str, &OfStreams)]) -> String {
    let of = |title: &str, head: &[&str], rows: fn(&OfStreams) -> &[Vec<String>]| {
        let of_result = |(label, of): &(&str, &OfStreams)| {
            let label = [(*label).to_owned()];
            let rows = rows(of).iter();
            rows.map(|row| [&label[..], row].concat())
                .collect::<Vec<_>>()
        };
        let rows = results.iter().flat_map(of_result).collect();
        section(title, &[&[axis], head].concat(), 2, rows)
    };
    of(TITLE, &HEAD, |of| &of.rows) + &of(FDP_TITLE, &FDP_HEAD, |of| &of.handles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstread_firmware::observe::OpenedFor;

    #[test]
    fn golden_streams_of_drives_side_by_side() {
        let stream = |name, opened_for, slots| OfStream {
            name,
            opened_for,
            slots,
            invalidated_slots: slots / 2,
            moved_out_slots: 7,
            superblocks_erased: 3,
            buffer_bytes: 786_432,
        };
        let rows = [
            stream("host", OpenedFor::Host(0), 12_000),
            stream("host-1", OpenedFor::Host(1), 400),
        ];
        let handle = |handle, host_bytes| OfHandle {
            handle,
            host_bytes,
            invalidated_bytes: 4096,
            moved_bytes: 0,
            erased_bytes: 1 << 24,
        };
        let fdp = Fdp {
            is_persistent: false,
            host_bytes: 50_000_000,
            media_bytes: 75_000_000,
            erased_bytes: 1 << 25,
            handles: vec![handle(0, 48_000_000), handle(1, 2_000_000)],
            events: [1, 2_000, 0],
            last_events: Vec::new(),
        };
        let of_fdp = OfStreams {
            rows: rows.iter().map(cells).collect(),
            handles: of_handles(&fdp),
        };
        let of_heat = OfStreams {
            rows: rows[..1].iter().map(cells).collect(),
            handles: Vec::new(),
        };
        let of_one = OfStreams {
            rows: Vec::new(),
            handles: Vec::new(),
        };
        let all = [("one", &of_one), ("write-heat", &of_heat), ("fdp", &of_fdp)];
        insta::assert_snapshot!(compared("stream", &all));
        assert_eq!(compared("stream", &all[..1]), "");
        // Nothing was written yet.
        let idle = Fdp {
            host_bytes: 0,
            ..fdp
        };
        assert_eq!(of_handles(&idle)[1][1], "75.0 MB");
    }
}
