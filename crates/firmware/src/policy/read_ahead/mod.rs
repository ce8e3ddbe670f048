//! Axis `read_ahead`: what is read before the host asks for it.
//!
//! `on_read` is called for every read of the host, in the order of arrival, and names the logical
//! pages to read ahead of it, if any. What can be read ahead of them is started, and `started` says
//! how far that got: jobs and buffers may run out, and the rest is asked for again with the
//! stream's next read. Both are on the path of a request. Nothing here allocates after `new`.

use crate::policy::axes::axis;

mod none;
mod sequential;

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

axis! {
    "read_ahead": "what is read before the host asks for it";
    AnyReadAhead: ReadAhead {
        none::Nothing,
        sequential::Sequential,
    }
    #[inline]
    fn on_read(&mut self, read: HostRead) -> Option<Ahead>;
    fn started(&mut self, stream: u16, end: u64);
    fn buffer_slots(&self) -> u32;
    fn rows(&self) -> u32;
}
