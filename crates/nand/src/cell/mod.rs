//! One cell population: its Gray code, its states, and what a sense makes of them.

pub mod gray;
pub mod levels;
pub mod model;
pub mod noise;
pub mod optimum;
pub mod sense;
