//! A quasi-cyclic LDPC code of rate 8/9: 4 × 36 circulants of size `Z`, free of 4-cycles.
//!
//! Codewords are packed 64 bits a word, the lowest bit first: 32 blocks of `Z` data bits, then 4
//! blocks of `Z` parity bits.

mod bits;
mod decoder;
mod encoder;
mod kernel;
mod matrix;

pub use decoder::{Decode, Decoder, MAX_ITERATIONS, Reliability};
pub use encoder::Encoder;
pub use matrix::{CHECK_BITS, COLUMNS, DATA_COLUMNS, Edge, Ldpc, ROWS};
