//! The contract of schemes of axis `read_ahead`.

/// A read of the host, as the firmware has received it.
#[derive(Clone, Copy, Debug)]
pub struct HostRead {
    /// The client that issues it. Streams of different clients are independent.
    pub client: u16,
    /// First byte, a multiple of 512.
    pub offset_bytes: u64,
    /// Bytes to be read, a multiple of 512.
    pub len_bytes: u32,
}

/// Logical pages to read ahead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadAheadRange {
    /// The stream that the pages belong to.
    pub stream: u16,
    /// First logical page that is read ahead.
    pub first: u64,
    /// End of the range: the first page that is not read ahead.
    pub end: u64,
}

/// The trait of the axis.
pub trait ReadAhead {
    /// The host reads `read`. Returns the logical pages to read ahead now.
    fn on_read(&mut self, read: HostRead) -> Option<ReadAheadRange>;
    /// Of the last range returned for `stream`, the pages before `end` are being read or need no read.
    fn started(&mut self, stream: u16, end: u64);
    /// Memory for read-ahead besides the read cache, in logical pages. Zero for a scheme that never reads
    /// ahead.
    fn buffer_slots(&self) -> u32;
    /// Maximum number of multi-plane pages in read-ahead at the same time.
    fn rows(&self) -> u32;
}
