//! Error correction: LDPC codes with an encoder and a decoder, and the decoder's outcomes as a drive needs
//! them.
//!
//! - [`code`]: the codes by name, and their verdict on a codeword of known error weight.
//! - [`ldpc`]: encoder and decoder, hard and soft.
//! - [`measure`]: outcomes of the decoder on drawn errors, from which the tables are made.
//! - [`outcome`]: failures and iterations by error weight, from measured tables.
//! - [`soft`]: one score for the errors of a soft-read codeword.
#![no_std]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

pub mod code;
pub mod ldpc;
pub mod measure;
pub mod outcome;
pub mod soft;
#[cfg(test)]
mod speed;
mod verdict;

pub use code::{Code, CodeError, DecodeTiming};
pub use ldpc::MAX_ITERATIONS;
pub use soft::SoftWeights;
pub use verdict::Verdict;
