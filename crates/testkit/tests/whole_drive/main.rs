//! The whole drive: firmware, medium, code, hardware and host together. One file a question.

mod ages;
mod attribution;
mod calibration;
mod determinism;
mod formula;
mod fuzz;
mod golden;
mod jobs;
mod scene;
mod sequence;
mod smoke;
mod traces;
mod writes;
