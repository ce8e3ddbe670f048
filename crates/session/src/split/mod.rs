//! A long run of a load that is steady, split into parts that run side by side.
//!
//! Each part runs a share of the requests on a clone of the drive, drawn anew with the same hot spots. What they come to is put
//! together ([`RunStats::of_parts`](firstread_drive::RunStats::of_parts)), with intervals over the parts. That equals one long run where
//! nothing that matters changes in the course of it: so what is one course is refused, and
//! [`Drift`](firstread_drive::stats::Drift) tells what changed all the same.
//!
//! - `check`: which runs can be split. `error`: why others cannot.
//! - `parts`: each part, and all put together.

pub(crate) mod check;
pub(crate) mod error;
pub(crate) mod parts;

pub use check::Split;
pub use error::{MOST_PARTS, SplitError};
