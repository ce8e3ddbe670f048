//! The ageing laws, one file each. Every law is compiled from its part of the profile and has a null.

pub mod cross_temperature;
pub mod disturb;
pub mod history;
pub mod layers;
pub mod open_block;
pub mod retention;
pub mod transient;
pub mod variation;
pub mod wear;
