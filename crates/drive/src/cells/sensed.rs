//! Outcome of a sense, its transfer and its decoding.

use firstread_core::SpareErrors;

/// Outcome of a sense, its transfer and its decoding.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sensed {
    /// Codewords that failed.
    pub failed: u64,
    pub max_errors: u16,
    pub sum_errors: u32,
    /// Unsatisfied checks per failed codeword.
    pub unsatisfied: u16,
    /// Sum of the decoding times of all codewords.
    pub decode_sum_ns: u64,
    /// Decoding time of the slowest codeword.
    pub decode_last_ns: u64,
    /// Errors of spare cells on planes with failed codewords.
    pub spare: SpareErrors,
    /// Cells that conduct, for a ones-count.
    pub ones: u32,
    /// Cells sensed, for a ones-count.
    pub cells: u32,
}

impl Sensed {
    /// Adds the outcome of `more` codewords of the same planes.
    pub(crate) fn add(&mut self, more: &Sensed) {
        self.failed |= more.failed;
        self.max_errors = self.max_errors.max(more.max_errors);
        self.sum_errors += more.sum_errors;
        self.unsatisfied = self.unsatisfied.max(more.unsatisfied);
        self.decode_sum_ns += more.decode_sum_ns;
        self.decode_last_ns = self.decode_last_ns.max(more.decode_last_ns);
        // The spare cells of a plane are counted once.
        if self.spare.cells == 0 {
            self.spare = more.spare;
        }
    }
}
