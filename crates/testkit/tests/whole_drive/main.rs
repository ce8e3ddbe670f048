//! The whole drive: firmware, medium, code, hardware and host together. One file a question.

mod ages;
mod attribution;
mod bad_blocks;
mod calibration;
mod determinism;
mod formula;
mod fuzz;
mod golden;
mod jobs;
mod model;
mod scene;
mod sequence;
mod smoke;
mod traces;
mod writes;
