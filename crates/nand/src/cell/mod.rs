//! One cell population: its states, and the outcome of a sense.

pub mod levels;
pub mod model;
pub mod noise;
pub mod optimum;
pub mod sense;
