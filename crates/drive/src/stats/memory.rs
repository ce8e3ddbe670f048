//! Memory of a drive that its schemes decide on.

/// Memory of the write buffers. A drive has as much again for data whose program failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WriteBuffers {
    /// Slots of all write streams together, in bytes.
    pub bytes: u64,
    /// Of these, what the streams share that schemes have declared.
    pub of_schemes_bytes: u64,
}
