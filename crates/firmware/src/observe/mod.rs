//! What the firmware knows of its blocks and reads: kept once, read by all schemes.

mod blocks;
mod counters;
mod front;

pub use blocks::{BlockMonitor, BlockRow, BlockUse};
pub use counters::{Counters, RETRY_BINS};
pub use front::FrontCounters;
