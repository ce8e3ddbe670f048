//! What a sense, its transfer and its decode come to.

use firstread_core::SpareErrors;

/// What a sense, its transfer and its decode come to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sensed {
    /// Codewords that fail.
    pub failed: u64,
    pub max_errors: u16,
    pub sum_errors: u32,
    /// Checks unsatisfied, a codeword that fails.
    pub unsatisfied: u16,
    /// Decoding times of all codewords, added up.
    pub decode_sum_ns: u64,
    /// Decoding time of the slowest codeword.
    pub decode_last_ns: u64,
    /// Of the planes with codewords that fail.
    pub spare: SpareErrors,
    /// Cells that conduct, of a ones-count.
    pub ones: u32,
    /// Cells sensed, of a ones-count.
    pub cells: u32,
}

impl Sensed {
    /// What it and `more` codewords of the same planes come to.
    pub(crate) fn add(&mut self, more: &Sensed) {
        self.failed |= more.failed;
        self.max_errors = self.max_errors.max(more.max_errors);
        self.sum_errors += more.sum_errors;
        self.unsatisfied = self.unsatisfied.max(more.unsatisfied);
        self.decode_sum_ns += more.decode_sum_ns;
        self.decode_last_ns = self.decode_last_ns.max(more.decode_last_ns);
        // The spare cells of a plane are looked at once.
        if self.spare.cells == 0 {
            self.spare = more.spare;
        }
    }
}
