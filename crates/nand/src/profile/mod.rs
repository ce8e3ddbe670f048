//! What a chip's profile is made of: numbers, each with key, unit and range ([`field`]), what may be wrong with them
//! ([`error`]), and the tables that stand on nothing else. Ageing, cells and places have tables of their own, and
//! [`crate::chip`] puts all of them together.

pub mod array;
pub mod error;
pub mod field;
pub mod gray;
pub mod mode;
pub mod timing;

pub use array::{ArrayProfile, WordlineOrder};
pub use error::{ProfileError, Reason};
pub(crate) use mode::scaled;
pub use mode::{ModeProfile, ProgramTiming, SensePhases};
pub use timing::ChipTiming;
