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
/// What do oracles decide that know how often each page will be read?
mod oracles;
/// Which superblocks do the schemes choose, and is wear leveled?
mod policies;
mod pools;
/// Does refresh lose nothing, and can cleaning finish beside it?
mod refresh;
/// Do free superblocks that cleaning needs stay, and what does a superblock remember?
mod reserve;
/// Is what a shutdown and a power cut leave, and what a mount reads, enough?
mod restarts;
/// Do schemes decide about reads as their papers and plain records of the reads say?
mod scheme_models;
/// Does nothing that is safe get lost over very many power cuts?
mod swarm;
/// Which superblock is worn next, and what comes of it over the life of a drive?
mod wear;
