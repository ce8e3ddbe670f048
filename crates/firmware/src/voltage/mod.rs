//! Read-voltage management, after CT-QLC (see `docs/firmware/ct-qlc.md`).
//!
//! - [`groups`]: bins of P/E cycles and retention time; superblocks of one group share levels.
//! - [`members`]: which superblock is in which group, and when the next one crosses an edge.
//! - [`tables`]: factory, active and staging tables, and the manager that switches them.
//! - [`selector`]: what a foreground read tries, and where a new group takes its entries from.
//! - [`sampling`]: which pages the background reads.
//! - [`calibration`]: trials of entries, what follows from them, the search of all valleys.
//! - [`census`]: errors of entries by page type, and where they would be fewest.
//! - [`cadence`]: when the next pass of calibration begins.
//! - [`valley`]: the search of one valley (the paper's Algorithm 1).
//! - [`keeper`]: the parts above put together, with population at start-up.
//! - [`offset_search`]: the offset with the fewest errors, by reading the same pages at three.
//! - [`pace`]: background reads spread evenly, for schemes that never pass over everything.
//! - [`options`]: parameters, and what is built from them.

pub mod cadence;
pub mod calibration;
pub mod census;
pub mod groups;
pub mod keeper;
pub mod members;
pub mod offset_search;
pub mod options;
pub mod pace;
pub mod sampling;
pub mod selector;
pub mod tables;
pub mod valley;
