//! Tests of the schemes of axis `read_levels`: those of `ct-qlc` and `frozen` in files named for the
//! question they answer, those of each other scheme in one of its own.

/// What do the options do that are not the paper's?
mod beyond;
mod block_calibration;
/// What may the background spend?
mod budget;
mod chip;

mod drive;

/// When is each group calibrated?
mod clock;

/// Does anything break under any answer and any history?
mod fuzz;
/// Which group is a superblock in, and where does the group take its entries from?
mod groups;
mod retention_model;
mod sentinel_cells;
/// What happens, in order, over 28 hours?
mod sequence;
mod similar_page;
/// Do reads see whole tables, and how large are these?
mod tables;
/// Does a search of one valley find it?
mod valley;
/// What is sampled, and what follows from a verification?
mod verification;
/// Where do verifications move the levels of zones?
mod zones;
