//! What becomes of a codeword.

/// What the decoder made of a codeword.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Whether the data came out right. A miscorrection counts as a failure: controllers keep a
    /// checksum within the codeword.
    pub ok: bool,
    /// Bits corrected; 0 where the decoder failed.
    pub corrected: u32,
    /// Iterations run. 0 where the syndrome was zero at once, and always for a threshold code.
    pub iterations: u32,
}
