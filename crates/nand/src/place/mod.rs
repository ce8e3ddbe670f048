//! Differences between places of a chip: layers of the stack, wordlines of an open block, and random
//! differences of chips, blocks and wordlines. One file each; none of these differences ages.

pub mod layers;
pub mod open_block;
pub mod variation;
