//! Policies: one folder an axis, one file a scheme.
//!
//! A scheme sees `core` and its own axis, nothing else of the firmware but the observers it is
//! handed. It is one row of its axis's table; help, configuration keys and contract tests come
//! from that row.

pub mod gc_victim;
pub mod read_ahead;
pub mod read_levels;
pub mod recovery;
pub mod retry;
pub mod suspend;
pub mod wear;

use firstread_core::params::Axis;

/// Every axis, in the order they are listed to users.
pub const AXES: &[Axis] = &[
    read_levels::AXIS,
    retry::AXIS,
    recovery::AXIS,
    gc_victim::AXIS,
    wear::AXIS,
    suspend::AXIS,
    read_ahead::AXIS,
];
