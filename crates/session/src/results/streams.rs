//! Streams among which axis `stream` chooses: what each was given, what became of it, and what its write buffer takes.

use firstread_core::params::Role;
use firstread_firmware::observe::{OpenedFor, stream_bin};
use serde_json::{Value, json};

use crate::outcome::Outcome;
use crate::setup::Setup;

/// A stream in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfStream {
    /// Its name, as the write buffers have it.
    pub name: &'static str,
    pub opened_for: OpenedFor,
    /// Slots that it was given: written by the host, or moved.
    pub slots: u64,
    /// Slots that the host overwrote or trimmed where they lay.
    pub invalidated_slots: u64,
    /// Slots moved out of its superblocks.
    pub moved_out_slots: u64,
    /// Superblocks of it that were erased.
    pub superblocks_erased: u64,
    /// Memory of its write buffer; lines that streams of schemes share are no part of it.
    pub buffer_bytes: u64,
}

/// Whether a scheme of the drive chooses among streams.
pub fn are_chosen(setup: &Setup) -> bool {
    let choice = setup.profile.scheme("stream");
    choice.is_some_and(|choice| choice.scheme.role != Role::Baseline)
}

/// The streams, those of the host first; none where no scheme chooses.
pub fn of_streams(setup: &Setup, outcome: &Outcome) -> Vec<OfStream> {
    if !are_chosen(setup) {
        return Vec::new();
    }
    let c = &outcome.stats.counters;
    let row = |name: &'static str, buffer_bytes: u64| {
        let opened_for = opened_for(name)?;
        let bin = stream_bin(opened_for);
        Some(OfStream {
            name,
            opened_for,
            slots: c.slots_into_stream[bin],
            invalidated_slots: c.slots_invalidated_in_stream[bin],
            moved_out_slots: c.slots_moved_out_of_stream[bin],
            superblocks_erased: c.superblocks_erased_of_stream[bin],
            buffer_bytes,
        })
    };
    let buffers = outcome.stats.write_buffers.streams.iter();
    let mut rows: Vec<OfStream> = buffers.filter_map(|of| row(of.name, of.bytes)).collect();
    rows.sort_by_key(|of| stream_bin(of.opened_for));
    rows
}

/// The stream called `name`, if it is one among which the axis chooses.
fn opened_for(name: &str) -> Option<OpenedFor> {
    let (of, number) = match name.split_once('-') {
        None => (name, 0),
        Some((of, number)) => (of, number.parse().ok()?),
    };
    match of {
        "host" => Some(OpenedFor::Host(number)),
        "moves" => Some(OpenedFor::Moves(number)),
        _ => None,
    }
}

/// A row a stream; none where no scheme chooses.
pub(super) fn json(setup: &Setup, outcome: &Outcome) -> Option<Value> {
    let row = |of: &OfStream| {
        json!({
            "name": of.name,
            "slots": of.slots,
            "invalidated_slots": of.invalidated_slots,
            "moved_out_slots": of.moved_out_slots,
            "superblocks_erased": of.superblocks_erased,
            "buffer_bytes": of.buffer_bytes,
        })
    };
    let rows = of_streams(setup, outcome);
    (!rows.is_empty()).then(|| rows.iter().map(row).collect())
}
