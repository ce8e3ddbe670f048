//! What a dump keeps of the scheme.

use super::{CtQlc, Pass, Phase};
use crate::format::{Cursor, Record, record};
use crate::voltage::tables::ENTRIES;
#[cfg(test)]
use crate::voltage::tables::TableManager;

impl CtQlc {
    /// Tables of the scheme.
    #[cfg(test)]
    pub(in super::super) fn tables_mut(&mut self) -> &mut TableManager {
        &mut self.group_levels.selector.tables
    }

    /// After it was loaded: derives what a dump does not keep. Returns whether what was loaded can be.
    pub(in super::super) fn complete(&mut self) -> bool {
        if !self.group_levels.complete() {
            return false;
        }
        let levels = &self.group_levels;
        let (tables, trial) = (&levels.selector.tables, &levels.trial);
        let groups = levels.selector.groups.len();
        let has_entries = |group: u8| usize::from(group) < groups && tables.populated(group);
        let phase = match self.phase {
            Phase::Idle => true,
            Phase::Verify(group) | Phase::Validate(group) => {
                has_entries(group) && usize::from(trial.candidates()) <= ENTRIES
            }
            Phase::Track(group) => has_entries(group),
        };
        // A search, and what follows it, takes its pages from the sample of the trial.
        let sample = self.phase == Phase::Idle || trial.candidates() > 0;
        let mut groups = self.routine;
        groups.extend(self.inheriting);
        groups.extend(self.waiting);
        phase && sample && tables.has_all(groups) && self.tracking.is_sound(tables, &levels.sampler)
    }
}

impl Record for Phase {
    fn transfer(&mut self, cursor: &mut Cursor<'_>) {
        let (mut tag, mut group) = match *self {
            Phase::Idle => (0u8, 0),
            Phase::Verify(group) => (1, group),
            Phase::Track(group) => (2, group),
            Phase::Validate(group) => (3, group),
        };
        tag.transfer(cursor);
        group.transfer(cursor);
        *self = match tag {
            0 => Phase::Idle,
            1 => Phase::Verify(group),
            2 => Phase::Track(group),
            3 => Phase::Validate(group),
            _ => return cursor.fault(),
        };
    }
}

record! {
    Pass as "pass" {
        began ["ns"]: "when the pass began",
        groups: "groups verified",
        reads ["reads"]: "reads made",
        moved ["dac"]: "largest move of the levels of a group",
        open: "whether the pass is in progress",
    }
}

record! {
    CtQlc as "ct-qlc" {
        group_levels: "levels by group",
        clock: "when groups are due",
        error_counts: "errors of a verification, if it is based on corrected bits",
        repeated: "verifications of the group that were repeated",
        routine: "groups left in the pass, one bit each",
        largest_first: "whether the groups with the most superblocks come first",
        inheriting: "groups that have inherited entries and wait to be verified, one bit each",
        waiting: "groups that have inherited entries and no full superblock, one bit each",
        phase: "state: 0 idle, 1 verify, 2 track, 3 validate; and the group",
        tracking: "the search of valleys",
        verified: "result of the verification before the search",
        passed: "the current pass",
    } not {
        refinement: "of the configuration",
        page_limit: "of the configuration",
        window: "of the configuration",
        window_scale: "of the configuration",
        backup: "of the configuration",
        validate: "of the configuration",
        zone_bound: "of the configuration",
        verify_at_power_on: "of the configuration",
    }
}
