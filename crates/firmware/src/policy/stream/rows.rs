//! The streams that schemes of the axis declare: as many of these rows as a scheme has streams.

use crate::observe::{MOST_HOST_STREAMS, MOST_MOVE_STREAMS, StreamRow, StreamUse};

const fn of_host(name: &'static str, number: u8) -> StreamRow {
    let takes = StreamUse::HostStream(number);
    StreamRow { name, takes }
}

const fn of_moves(name: &'static str, number: u8) -> StreamRow {
    let takes = StreamUse::MoveStream(number);
    StreamRow { name, takes }
}

const OF_HOST: [StreamRow; MOST_HOST_STREAMS - 1] = [
    of_host("host-1", 1),
    of_host("host-2", 2),
    of_host("host-3", 3),
    of_host("host-4", 4),
    of_host("host-5", 5),
    of_host("host-6", 6),
    of_host("host-7", 7),
    of_host("host-8", 8),
    of_host("host-9", 9),
    of_host("host-10", 10),
    of_host("host-11", 11),
    of_host("host-12", 12),
    of_host("host-13", 13),
    of_host("host-14", 14),
    of_host("host-15", 15),
];

const OF_MOVES: [StreamRow; MOST_MOVE_STREAMS - 1] = [
    of_moves("moves-1", 1),
    of_moves("moves-2", 2),
    of_moves("moves-3", 3),
    of_moves("moves-4", 4),
    of_moves("moves-5", 5),
    of_moves("moves-6", 6),
    of_moves("moves-7", 7),
    of_moves("moves-8", 8),
    of_moves("moves-9", 9),
    of_moves("moves-10", 10),
    of_moves("moves-11", 11),
    of_moves("moves-12", 12),
    of_moves("moves-13", 13),
    of_moves("moves-14", 14),
    of_moves("moves-15", 15),
];

static HOST_ROWS: [StreamRow; MOST_HOST_STREAMS - 1] = OF_HOST;
static MOVE_ROWS: [StreamRow; MOST_MOVE_STREAMS - 1] = OF_MOVES;

/// The rows of `streams` streams of the host beside the first one, which every drive has.
pub(super) fn host_rows(streams: u8) -> &'static [StreamRow] {
    &HOST_ROWS[..usize::from(streams) - 1]
}

/// The rows of `streams` streams of moves beside the first one.
pub(super) fn move_rows(streams: u8) -> &'static [StreamRow] {
    &MOVE_ROWS[..usize::from(streams) - 1]
}
