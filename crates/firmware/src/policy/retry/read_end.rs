//! What a read tells a scheme of retries when it has ended.

/// How a read ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadEnd {
    /// The entry of its last step. A read that tried all entries begins again with the first.
    pub entry: u8,
    /// Retry steps that it took.
    pub steps: u8,
    /// Whether any was sensed for a shorter time.
    pub used_short_sense: bool,
}
