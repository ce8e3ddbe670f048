//! Stand-ins for traces that cannot be shipped, made from their published statistics.
//!
//! A stand-in is not the trace: it has its mix, lengths, footprints, update ratio and mean rate, and
//! nothing of its order, bursts or phases. Its name begins with `synthetic-`, so that no result can
//! be taken for one of the real trace.

mod msr;

pub use msr::{STAND_INS, StandIn, StandInStream};
