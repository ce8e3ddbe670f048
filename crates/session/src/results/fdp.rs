//! Statistics of NVMe's Flexible Data Placement: those of its log page, and what became of the writes of each handle.

use firstread_core::{CellMode, Ns};
use firstread_firmware::observe::{FdpEvent, FdpEventKind, OpenedFor};
use serde_json::{Map, Value, json};

use super::streams::{OfStream, of_streams};
use super::writes::written;
use crate::outcome::Outcome;
use crate::setup::Setup;

/// The statistics of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Fdp {
    /// Whether reclaim unit handles are persistently isolated.
    pub is_persistent: bool,
    /// Host bytes with metadata written (HBMW): what the host wrote.
    pub host_bytes: u64,
    /// Media bytes with metadata written (MBMW): what flash was programmed with, whoever wrote it.
    pub media_bytes: u64,
    /// Media bytes erased (MBE): those of the superblocks that were erased.
    pub erased_bytes: u64,
    /// By placement handle.
    pub handles: Vec<OfHandle>,
    /// Events in the run, in the order of [`FdpEventKind::ALL`].
    pub events: [u64; FdpEventKind::ALL.len()],
    /// The last ones.
    pub last_events: Vec<OfEvent>,
}

/// An event of a reclaim unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfEvent {
    /// When it happened, from the start of the run.
    pub at: Ns,
    pub kind: FdpEventKind,
    /// None where the reclaim unit is not one handle's.
    pub handle: Option<u8>,
    /// Bytes padded, moved, or left unwritten.
    pub bytes: u64,
}

/// A placement handle in a run. Superblocks of a handle are those of its stream of the host and, where isolation is
/// persistent, those of its stream of moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfHandle {
    pub handle: u16,
    /// Bytes of the slots that the host wrote with the handle.
    pub host_bytes: u64,
    /// Bytes that the host overwrote or trimmed while they lay in superblocks of the handle.
    pub invalidated_bytes: u64,
    /// Bytes moved out of superblocks of the handle.
    pub moved_bytes: u64,
    /// Bytes of superblocks of the handle that were erased.
    pub erased_bytes: u64,
}

/// Those of a drive that takes placement handles.
pub fn fdp(setup: &Setup, outcome: &Outcome) -> Option<Fdp> {
    let profile = &setup.profile;
    let handles = profile.placement_handles()?;
    let is_persistent = profile.scheme("stream")?.values().flag("persistent");
    let geometry = &profile.geometry;
    let slot_bytes = u64::from(geometry.slot_bytes);
    let superblock = |mode| u64::from(geometry.slots_per_superblock(mode)) * slot_bytes;
    let streams = of_streams(setup, outcome);
    let of_handle = |handle: u16| {
        let is_of_it = |of: &&OfStream| match of.opened_for {
            OpenedFor::Host(number) => u16::from(number) == handle,
            OpenedFor::Moves(number) => is_persistent && u16::from(number) == handle,
        };
        let sum = |of: fn(&OfStream) -> u64| streams.iter().filter(is_of_it).map(of).sum::<u64>();
        let of_host = |of: &OfStream| match of.opened_for {
            OpenedFor::Host(_) => of.slots,
            OpenedFor::Moves(_) => 0,
        };
        OfHandle {
            handle,
            host_bytes: sum(of_host) * slot_bytes,
            invalidated_bytes: sum(|of| of.invalidated_slots) * slot_bytes,
            moved_bytes: sum(|of| of.moved_out_slots) * slot_bytes,
            erased_bytes: sum(|of| of.superblocks_erased) * superblock(profile.mode),
        }
    };
    let events = outcome.stats.fdp_events.as_ref();
    let of_event = |event: &FdpEvent| OfEvent {
        at: event.at.since(outcome.began),
        kind: event.kind,
        handle: event.handle,
        bytes: u64::from(event.slots) * slot_bytes,
    };
    let written = written(setup, outcome);
    let erases = outcome.stats.counters.erases_by_mode;
    let erased = CellMode::ALL.into_iter().zip(erases);
    Some(Fdp {
        is_persistent,
        host_bytes: written.host_bytes,
        media_bytes: written.flash_bytes,
        erased_bytes: erased.map(|(mode, n)| n * superblock(mode)).sum(),
        handles: (0..handles).map(of_handle).collect(),
        events: events.map_or_else(Default::default, |events| events.counts),
        last_events: events.map_or(Vec::new(), |events| {
            events.last.iter().map(of_event).collect()
        }),
    })
}

impl Fdp {
    /// Media bytes over host bytes; none where the host wrote nothing.
    pub fn amplification(&self) -> Option<f64> {
        (self.host_bytes > 0).then(|| self.media_bytes as f64 / self.host_bytes as f64)
    }
}

/// None of a drive that takes no placement handles.
pub(super) fn json(setup: &Setup, outcome: &Outcome) -> Option<Value> {
    let of = fdp(setup, outcome)?;
    let row = |of: &OfHandle| {
        json!({
            "handle": of.handle,
            "host_bytes": of.host_bytes,
            "invalidated_bytes": of.invalidated_bytes,
            "moved_bytes": of.moved_bytes,
            "erased_bytes": of.erased_bytes,
        })
    };
    let event = |of: &OfEvent| {
        json!({
            "at_ns": of.at.0,
            "type": of.kind.code(),
            "name": of.kind.name(),
            "handle": of.handle,
            "bytes": of.bytes,
        })
    };
    let kinds = FdpEventKind::ALL.into_iter().zip(of.events);
    let events: Map<String, Value> = kinds
        .map(|(kind, n)| (kind.name().to_owned(), n.into()))
        .collect();
    Some(json!({
        "persistent": of.is_persistent,
        "hbmw_bytes": of.host_bytes,
        "mbmw_bytes": of.media_bytes,
        "mbe_bytes": of.erased_bytes,
        "handles": of.handles.iter().map(row).collect::<Vec<Value>>(),
        "events": events,
        "last_events": of.last_events.iter().map(event).collect::<Vec<Value>>(),
    }))
}
