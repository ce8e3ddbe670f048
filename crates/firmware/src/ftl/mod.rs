//! Flash translation layer: where a logical page lies, and how writes get there.

mod map;
mod write;

pub use map::{Map, OVERLAY_WORDS_PER_ENTRY};
pub(crate) use write::{Program, Refused, WORDLINES, WriteBuffer};
