//! Axis `read_ahead`: what is read before the host asks for it.
//!
//! `on_read` is called for each host read, in order of arrival. It returns the logical pages to read ahead,
//! if any. The firmware starts as many of these reads as it can, and `started` reports how far it got: jobs
//! and buffers may run out. The rest is asked for again with the stream's next read. Both methods are on the
//! path of a request. Nothing here allocates after `new`.

mod contract;
mod none;
mod sequential;

use crate::policy::axis::axis;
pub use contract::{HostRead, ReadAhead, ReadAheadRange};

axis! {
    "read_ahead": "what is read before the host asks for it";
    AnyReadAhead: ReadAhead {
        none::NoReadAhead,
        sequential::Sequential,
    }
    #[inline]
    fn on_read(&mut self, read: HostRead) -> Option<ReadAheadRange>;
    fn started(&mut self, stream: u16, end: u64);
    fn buffer_slots(&self) -> u32;
    fn rows(&self) -> u32;
}
