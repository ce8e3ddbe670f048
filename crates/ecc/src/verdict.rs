//! Outcome for a codeword.

/// Outcome of decoding a codeword.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Whether the data are correct. A miscorrection counts as a failure, because controllers keep a checksum
    /// within the codeword.
    pub ok: bool,
    /// Bits corrected; 0 if the decoder failed.
    pub corrected: u32,
    /// Iterations run. 0 if the syndrome was zero at once, and always for a threshold code.
    pub iterations: u32,
}
