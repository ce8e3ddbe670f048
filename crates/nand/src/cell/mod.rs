//! One cell population: its Gray code, its states, and what a sense makes of them.

pub mod gray;
pub mod model;
pub mod optimum;
pub mod sense;
