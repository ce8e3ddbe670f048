//! Policies: one folder an axis, one file a scheme.
//!
//! A scheme sees `core` and its own axis, nothing else of the firmware but the observers it is
//! handed. It is one row of its axis's table, and its axis one of `axes`; help, configuration keys and
//! contract tests come from these rows.

mod axes;
mod axis;
pub mod gc_victim;
pub mod read_ahead;
pub mod read_levels;
pub mod recovery;
pub mod retry;
mod setup;
pub mod suspend;
pub mod wear;

pub use axes::{AXES, Schemes};
pub use setup::Setup;
