//! Data rewritten because of their reads: by axis `refresh`.

use firstread_firmware::observe::Counters;
use serde_json::{Value, json};

use super::refused;

/// Pages that were rewritten one by one, and superblocks. Their programs are those of owner `refresh` in `ftl.moved`.
pub(super) fn json(counters: &Counters) -> Value {
    json!({
        "refreshed_slots": counters.slots_refreshed,
        "refused": refused::json(&counters.refreshes_refused),
        "superblocks": counters.superblocks_refreshed,
        "superblocks_closed_early": counters.superblocks_closed_early,
    })
}
