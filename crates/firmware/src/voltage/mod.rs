//! Read-voltage management, after CT-QLC (see `docs/firmware/ct-qlc.md`).
//!
//! - [`groups`]: bins of P/E cycles and retention time; superblocks of one group share levels.
//! - [`members`]: the group of each superblock, and when the next superblock crosses a bin edge.
//! - [`tables`]: factory, active and staging tables, and the manager that switches them.
//! - [`selector`]: the levels that a foreground read tries, and where a new group takes its entries from.
//! - [`sampling`]: chooses the pages for background reads.
//! - [`calibration`]: trials of entries, the decision that follows, and the search of all valleys.
//! - [`error_counts`]: error counts of entries by page type, and where errors would be fewest.
//! - [`pass_schedule`]: schedules the passes of calibration.
//! - [`valley`]: the search of one valley (the paper's Algorithm 1).
//! - [`group_levels`]: the state that schemes with groups share, with population at start-up.
//! - [`offset_search`]: finds the offset with the fewest errors by reading the same pages at three offsets.
//! - [`rate_limit`]: background reads spread evenly over time, for schemes without passes.

pub mod calibration;
pub mod calibration_clock;
pub mod error_counts;
pub mod group_levels;
pub mod groups;
pub mod members;
pub mod offset_search;
pub mod pass_schedule;
pub mod rate_limit;
pub mod sampling;
pub mod selector;
pub mod tables;
pub mod valley;
