//! Axis `refresh`: which data are rewritten in the drive's own mode because of how they are read.
//!
//! Reads disturb the cells of their block: a scheme says after how many senses a superblock is emptied and its data
//! rewritten. And old data take long to read: after a host read from flash a scheme may have the page rewritten,
//! from the buffer of the read, into the stream that the scheme declares.
//!
//! `rewrites` is on the path of a request. Reads that the write buffer or the read cache answers never reach a
//! scheme. Nothing here allocates after `new`.

mod contract;
mod hot;
mod lightweight;
mod none;
mod read_count;
mod read_limit;
mod rewritten;

use crate::observe::StreamRow;
use crate::policy::axis::axis;
use crate::policy::hot_pages::PageRead;
pub use contract::Refresh;
pub use read_limit::MostSenses;

axis! {
    "refresh": "which data are rewritten because of their reads";
    AnyRefresh: Refresh {
        none::NoRefresh,
        read_count::ReadCount,
        lightweight::Lightweight,
        hot::Hot,
    }
    fn most_senses(&self) -> MostSenses;
    fn streams(&self) -> &'static [StreamRow];
    #[inline]
    fn rewrites(&mut self, read: &PageRead) -> bool;
}
