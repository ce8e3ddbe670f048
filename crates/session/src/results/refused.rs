//! Copies of pages just read that were refused: of promotions and of refreshes.

use firstread_firmware::observe::CopyRefused;
use serde_json::Value;

/// Copies that were refused, by reason.
pub(super) fn json(counts: &[u64; CopyRefused::COUNT]) -> Value {
    let reasons = CopyRefused::ALL.into_iter().zip(counts);
    reasons
        .map(|(reason, slots)| (reason.name().to_owned(), Value::from(*slots)))
        .collect()
}
