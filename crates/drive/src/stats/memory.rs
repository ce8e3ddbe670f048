//! Memory of a drive that its schemes decide on.

use firstread_firmware::observe::StreamBuffer;

/// Memory of the write buffers. A drive has as much again for data whose program failed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WriteBuffers {
    /// Slots of all write streams together, in bytes.
    pub bytes: u64,
    /// Of these, what the streams share that schemes have declared.
    pub of_schemes_bytes: u64,
    /// Of each stream, the lines that no other stream takes.
    pub streams: Vec<Lines>,
    /// Lines that the streams of schemes share beyond these.
    pub shared: Lines,
}

/// Lines of write buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lines {
    /// Key of the stream in results.
    pub name: &'static str,
    /// How many: a line is a wordline over all dies.
    pub lines: u32,
    /// Their memory.
    pub bytes: u64,
}

impl Lines {
    /// Those of `buffer`, whose slots have `slot_bytes` each.
    pub(crate) fn new(buffer: StreamBuffer, slot_bytes: u32) -> Lines {
        Lines {
            name: buffer.name,
            lines: buffer.superwordlines,
            bytes: u64::from(buffer.slots) * u64::from(slot_bytes),
        }
    }
}
