//! Tests of the flash translation layer, each file named for the question it answers.

mod build;
mod memory;

/// Is the write amplification that of theory?
mod amplification;
/// Which pages do the schemes of axis `area` keep apart?
mod area_schemes;
/// Do areas wear apart, and does the low wearing one serve what is read often?
mod areas;
/// Do promotion and reclaim lose nothing, whatever happens meanwhile?
mod cell_modes;
/// Does every read return the last version written, whatever happens meanwhile?
mod model;
/// Which superblocks do the schemes choose, and is wear leveled?
mod policies;
/// Does refresh lose nothing, and can cleaning finish beside it?
mod refresh;
/// Do free superblocks that cleaning needs stay, and what does a superblock remember?
mod reserve;
/// Which superblock is worn next, and what comes of it over the life of a drive?
mod wear;
