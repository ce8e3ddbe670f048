//! Differences between places of a chip: layers of the stack, wordlines of an open block, chips, blocks and
//! wordlines by chance. A file each; none of them ages.

pub mod layers;
pub mod open_block;
pub mod variation;
