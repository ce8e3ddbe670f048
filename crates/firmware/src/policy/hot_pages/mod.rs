//! Pages that the host reads often, and what their reads cost: what schemes of several axes share.
//!
//! - `page_read`: what a scheme is told of a page that the host has read.
//! - `thresholds`: cold, warm or hot by the read heat of a page.
//! - `read_times`: how long a step of a read takes in each cell mode, and how long a read is expected to take.
//! - `rule`: table II of RARO, which asks for all of these.

mod page_read;
mod read_times;
mod rule;
mod thresholds;

pub use page_read::PageRead;
pub(crate) use read_times::{ReadTimes, ServiceTimes};
pub(crate) use rule::RaroRule;
pub(crate) use thresholds::{Temperature, Thresholds};
