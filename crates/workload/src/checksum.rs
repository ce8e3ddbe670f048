//! Checksums of contents. They tell contents apart that differ by chance or by an edit; they are no protection from someone
//! who forges them.
//!
//! No other crate calls the library: its code is compiled in the crate that does, and is slow where that one is not
//! optimised.

use twox_hash::xxhash3_128::Hasher;

/// A checksum of a content that comes in pieces.
#[derive(Default)]
pub struct Checksum(Hasher);

impl Checksum {
    /// Takes `piece`, which follows the pieces before it.
    #[inline(never)]
    pub fn add(&mut self, piece: &[u8]) {
        self.0.write(piece);
    }
    /// The checksum of all pieces.
    #[inline(never)]
    pub fn bits(&self) -> u128 {
        self.0.finish_128()
    }
}

/// The checksum of `bytes`.
#[inline(never)]
pub fn checksum(bytes: &[u8]) -> u128 {
    Hasher::oneshot(bytes)
}
