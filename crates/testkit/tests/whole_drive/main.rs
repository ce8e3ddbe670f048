//! The whole drive: firmware, medium, code, hardware and host together. One file a question.

mod ages;
mod attribution;
mod bad_blocks;
mod calibration;
mod clones;
mod comparators;
mod completions;
mod determinism;
mod formula;
mod front;
mod fuzz;
mod golden;
mod jobs;
mod map_cache;
mod model;
mod moves;
mod oracles;
mod planes;
mod queues;
mod read_recovery;
mod retry;
mod scenario;
mod sequence;
mod smoke;
mod traces;
mod writes;
