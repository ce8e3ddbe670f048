//! Pages that were copied because of how they were read: promoted to another cell mode, or refreshed.

use firstread_firmware::observe::{CopyRefused, Owner};
use firstread_session::Outcome;

use super::format::count;

/// What was refused, by reason: `buffer 3, reserve 7`.
pub fn refused(counts: &[u64; CopyRefused::COUNT]) -> String {
    let reasons = CopyRefused::ALL.into_iter().zip(counts);
    let reasons = reasons.filter(|(_, slots)| **slots > 0);
    let reasons: Vec<String> = reasons
        .map(|(reason, slots)| format!("{} {}", reason.name().replace('_', " "), count(*slots)))
        .collect();
    match reasons.is_empty() {
        true => "none".into(),
        false => reasons.join(", "),
    }
}

/// What was promoted and refused; nothing where no scheme has wanted to promote anything.
pub fn promotions(outcome: &Outcome) -> String {
    let counters = &outcome.stats.counters;
    let promoted: u64 = counters.slots_promoted.iter().sum();
    if promoted == 0 && counters.promotions_refused.iter().all(|n| *n == 0) {
        return String::new();
    }
    format!(
        "  promoted: {} mapping units; refused: {}\n\
         \x20 given back: {} superblocks, {} of them because promotions were refused for over-provisioning; {} mapping units \
         demoted\n\n",
        count(promoted),
        refused(&counters.promotions_refused),
        count(counters.superblocks_given_back),
        count(counters.superblocks_given_back_for_room),
        count(counters.slots_demoted),
    )
}

/// What the host wrote to a pool in SLC mode; nothing where it wrote none and was to write none.
pub fn written_to_pool(outcome: &Outcome) -> String {
    let counters = &outcome.stats.counters;
    let bypassed: u64 = counters.pool_bypassed.iter().sum();
    if counters.slots_written_to_pool + bypassed == 0 {
        return String::new();
    }
    format!(
        "  written to SLC: {} mapping units of the host's {}; {} more were to go there and did not: {}\n\
         \x20 emptied for room: {} superblocks, {} mapping units moved\n\n",
        count(counters.slots_written_to_pool),
        count(counters.host_slots_written),
        count(bypassed),
        refused(&counters.pool_bypassed),
        count(counters.superblocks_destaged),
        count(counters.slots_moved_by[Owner::Destage as usize]),
    )
}

/// What was refreshed and refused; nothing where no scheme has wanted to refresh anything.
pub fn refreshes(outcome: &Outcome) -> String {
    let counters = &outcome.stats.counters;
    let (slots, superblocks) = (counters.slots_refreshed, counters.superblocks_refreshed);
    if slots + superblocks == 0 && counters.refreshes_refused.iter().all(|n| *n == 0) {
        return String::new();
    }
    format!(
        "\nrefreshed: {} mapping units one by one, {} superblocks; refused: {}\n",
        count(slots),
        count(superblocks),
        refused(&counters.refreshes_refused),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reasons are named in words, and those that nothing was refused for are left out.
    #[test]
    fn formula_what_was_refused_by_reason() {
        let mut counts = [0; CopyRefused::COUNT];
        assert_eq!(refused(&counts), "none");
        for (reason, slots) in [(CopyRefused::NoSuperblock, 12), (CopyRefused::Buffer, 3)] {
            let at = CopyRefused::ALL.iter().position(|r| *r == reason);
            counts[at.expect("one of all")] = slots;
        }
        assert_eq!(refused(&counts), "no superblock 12, buffer 3");
    }
}
