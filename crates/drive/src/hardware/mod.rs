//! The hardware: dies, channels and decoders.
//!
//! A read senses on its die, waits for the channel, transfers, and frees the die. The decoder of the channel
//! decodes it, and its outcome is revealed to the firmware. A program first transfers its data over the
//! channel.

mod abort;
mod breakdowns;
mod cache_read;
mod cache_register;
mod change;
mod channel;
pub(crate) mod charge;
mod decode;
mod decoder;
mod die;
mod dies;
pub(crate) mod failures;
mod in_flight;
mod issue;
mod lanes;
mod planes;
mod power;
mod recorder;
mod recording;
mod sensing;
pub mod spans;
mod state;
pub(crate) mod suspend;
pub(crate) mod timers;
mod times;
mod transfer;

pub(crate) use state::{Done, Hardware, Resource};
pub(crate) use times::Times;
