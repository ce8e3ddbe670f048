//! The submission queues of a drive: `[queues]`, a table that may be left out.

use firstread_workload::nearest;

use crate::profile::key::Key;
use crate::profile::keys::Keys;
use crate::profile::value::{Value, Words, keys, words};

keys! {
    /// How the controller fetches commands.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct QueuesProfile {
        /// Submission queues. Job `i` of a run puts its commands into queue `i` modulo this.
        count: u16 = "count" [ONE, 1, 1 << 12] or "1" => "default: one queue";
        /// How the controller arbitrates: with or without priority classes.
        arbitration: Arbitration = "arbitration" or "round-robin" =>
            "default: classes do not count";
        /// Commands fetched from a queue in its turn.
        burst: AtMost = "burst" [ONE, 0, 64] or "1" =>
            "default: queues take turns command by command";
        /// Priority class of queue 0, 1, and so on. The list repeats for further queues.
        classes: Vec<PriorityClass> = "classes" or "medium" => "default: all queues alike";
        /// Commands that class high has fetched in a round.
        high_weight: u32 = "high_weight" [ONE, 1, 256] or "1" => "default: classes share alike";
        /// The same of class medium.
        medium_weight: u32 = "medium_weight" [ONE, 1, 256] or "1" => "default: classes share alike";
        /// The same of class low.
        low_weight: u32 = "low_weight" [ONE, 1, 256] or "1" => "default: classes share alike";
        /// Commands that the controller holds, fetched and not completed.
        fetched: AtMost = "fetched" [ONE, 0, 1 << 20] or "0" =>
            "default: as many as the drive takes in all, so that none waits in its queue for another to end";
    }
}

/// A limit, [`u32::MAX`] for none; a profile says 0 for that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtMost(pub u32);

impl Value for AtMost {
    fn read(keys: &Keys<'_>, key: &Key<'_>) -> AtMost {
        match u32::read(keys, key) {
            0 => AtMost(u32::MAX),
            limit => AtMost(limit),
        }
    }
}

/// How queues take turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arbitration {
    /// One after the other.
    RoundRobin,
    /// By priority class and weight, as NVMe has it.
    WeightedRoundRobin,
}

/// Priority class of a submission queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PriorityClass {
    /// Served before all others.
    Urgent,
    /// Shares the rest by `high_weight`.
    High,
    /// Shares the rest by `medium_weight`.
    Medium,
    /// Shares the rest by `low_weight`.
    Low,
}

words! {
    Arbitration: "round-robin" = RoundRobin, "weighted-round-robin" = WeightedRoundRobin;
    PriorityClass: "urgent" = Urgent, "high" = High, "medium" = Medium, "low" = Low;
}

/// Words with commas between them.
impl Value for Vec<PriorityClass> {
    fn read(keys: &Keys<'_>, key: &Key<'_>) -> Vec<PriorityClass> {
        let text = keys.text(key);
        let all = PriorityClass::words();
        let names = || all.iter().map(|(name, _)| *name);
        let mut classes = Vec::new();
        for word in text.split(',').map(str::trim) {
            match all.iter().find(|(name, _)| *name == word) {
                Some((_, class)) => classes.push(*class),
                // An empty text has been reported already.
                None if text.is_empty() => {}
                None => {
                    let near = nearest(word, names()).unwrap_or_default();
                    let all = names().collect::<Vec<_>>().join(", ");
                    let message = format!("there is no `{word}`; the nearest is `{near}` of {all}");
                    keys.note(key.name, message);
                }
            }
        }
        classes
    }
}

impl QueuesProfile {
    /// Reads the table, whose keys go together.
    pub(super) fn checked(keys: &Keys<'_>) -> QueuesProfile {
        let profile = QueuesProfile::read(keys);
        let AtMost(burst) = profile.burst;
        if burst < u32::MAX && !burst.is_power_of_two() {
            let message = format!(
                "is {burst}; expected 1, 2, 4, 8, 16, 32 or 64, as the specification has it, or 0 for \
                 no limit"
            );
            keys.note("burst", message);
        }
        let (classes, count) = (profile.classes.len(), profile.count);
        if classes > usize::from(count) {
            let message = format!(
                "names {classes} classes, but there are {count} queues: name fewer, or raise `queues.count`"
            );
            keys.note("classes", message);
        }
        profile
    }

    /// Commands that the classes high, medium and low have fetched in a round.
    pub(crate) fn weights(&self) -> [u32; 3] {
        [self.high_weight, self.medium_weight, self.low_weight]
    }
}
