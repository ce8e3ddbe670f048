//! Pages that the host reads often, and what their reads cost: what schemes of several axes share.
//!
//! - `page_read`: what a scheme is told of a page that the host has read.
//! - `thresholds`: cold, warm or hot by the read heat of a page.
//! - `rule`: table II of RARO, which asks for both. `retry_model` and `service_time` are two of its triggers.
//! - `read_times`: how long a step of a read takes in each cell mode.

mod page_read;
mod read_times;
mod retry_model;
mod rule;
mod service_time;
mod thresholds;

pub use page_read::PageRead;
pub(crate) use read_times::ReadTimes;
pub(crate) use rule::RaroRule;
pub(crate) use service_time::ServiceTimes;
pub(crate) use thresholds::{Temperature, Thresholds};
