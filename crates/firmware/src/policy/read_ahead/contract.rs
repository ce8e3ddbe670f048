//! What a scheme of axis `read_ahead` is asked, and what it is told.

/// A read of the host.
#[derive(Clone, Copy, Debug)]
pub struct HostRead {
    /// Who asks: streams of different clients have nothing to do with each other.
    pub client: u16,
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub len_bytes: u32,
}

/// Logical pages to read ahead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ahead {
    /// The stream they belong to.
    pub stream: u16,
    /// First page.
    pub first: u64,
    /// First page after them.
    pub end: u64,
}

/// The axis.
pub trait ReadAhead {
    /// The pages to read ahead, now that the host reads `read`.
    fn on_read(&mut self, read: HostRead) -> Option<Ahead>;
    /// Of the pages last named for `stream`, those before `end` are read, or need not be.
    fn started(&mut self, stream: u16, end: u64);
    /// Logical pages it wants kept in memory at the same time, beyond the read cache; zero for a
    /// scheme that reads nothing ahead.
    fn buffer_slots(&self) -> u32;
    /// Page rows it wants read at the same time at most.
    fn rows(&self) -> u32;
}
