//! Memory of the write buffers.

use firstread_drive::stats::{Lines, WriteBuffers};
use serde_json::{Map, Value, json};

/// Of all streams together, and of each.
pub(super) fn json(buffers: &WriteBuffers) -> Value {
    let lines = |of: &Lines| json!({ "lines": of.lines, "bytes": of.bytes });
    let streams = buffers.streams.iter();
    let streams: Map<String, Value> = streams.map(|of| (of.name.into(), lines(of))).collect();
    json!({
        "bytes": buffers.bytes,
        "of_schemes_bytes": buffers.of_schemes_bytes,
        "streams": streams,
        "shared": lines(&buffers.shared),
    })
}
