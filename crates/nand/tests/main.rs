//! Tests of the medium from outside.
//! One program, which is linked once.

mod ageing;
mod anchors;
mod golden;
mod joint;
mod properties;
mod search;
mod sensing;
mod spare;
