//! Policies: one folder per axis, one file per scheme.
//!
//! A scheme uses `core` and its own axis; of the rest of the firmware it sees only the observers that it is
//! handed. It is one row of its axis's table, and the axis is one row of `axes`. Help, configuration keys and
//! contract tests come from these rows.

pub mod area;
mod axes;
mod axis;
pub mod cell_mode;
pub mod gc_victim;
pub mod hot_pages;
pub mod page_type;
pub mod read_ahead;
pub mod read_levels;
pub mod read_recovery;
pub mod refresh;
pub mod retry;
mod setup;
pub mod stream;
pub mod suspend;
pub mod wear;

pub(crate) use axes::DECLARE;
pub use axes::{AXES, ModeSchemes, Schemes};
pub use setup::{ModeSetup, ReadTime, Setup};
