//! Tests of the drive from outside.
//! One program: as programs of their own, the files would each be linked with the whole drive.

mod activate;
mod burn_in;
mod fdp_events;
mod formula;
mod formula_cells;
mod ftl;
mod host_log;
mod hot_cold;
mod interrupt;
mod machine;
mod phases;
mod precondition;
mod worn;
