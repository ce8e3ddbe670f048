//! The submission queues of a drive: `[queues]`, a table that may be left out.

use crate::profile::keys::Keys;
use crate::profile::quantity::ONE;
use firstread_workload::nearest;

/// How the controller fetches commands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueuesProfile {
    /// Submission queues. Job `i` of a run puts its commands into queue `i` modulo this.
    pub count: u16,
    /// How the controller arbitrates: with or without priority classes.
    pub arbitration: Arbitration,
    /// Commands fetched from a queue in its turn, at most.
    pub burst: u32,
    /// Priority class of queue 0, 1, and so on. The list repeats for further queues.
    pub classes: Vec<PriorityClass>,
    /// Commands that the classes high, medium and low have fetched in a round.
    pub weights: [u32; 3],
    /// Commands that the controller holds at most, fetched and not completed.
    pub fetched: u32,
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

impl PriorityClass {
    /// All classes with their names in profiles.
    pub(crate) const ALL: [(&str, PriorityClass); 4] = [
        ("urgent", PriorityClass::Urgent),
        ("high", PriorityClass::High),
        ("medium", PriorityClass::Medium),
        ("low", PriorityClass::Low),
    ];
}

impl Default for QueuesProfile {
    fn default() -> QueuesProfile {
        QueuesProfile {
            count: 1,
            arbitration: Arbitration::RoundRobin,
            burst: 1,
            classes: vec![PriorityClass::Medium],
            weights: [1; 3],
            fetched: u32::MAX,
        }
    }
}

/// The keys: what they mean where they are not given, and what that is.
pub(crate) const DEFAULTS: [(&str, &str, &str); 8] = [
    ("queues.count", "1", "default: one queue"),
    (
        "queues.arbitration",
        "round-robin",
        "default: classes do not count",
    ),
    (
        "queues.burst",
        "1",
        "default: queues take turns command by command",
    ),
    ("queues.classes", "medium", "default: all queues alike"),
    ("queues.high_weight", "1", "default: classes share alike"),
    ("queues.medium_weight", "1", "default: classes share alike"),
    ("queues.low_weight", "1", "default: classes share alike"),
    (
        "queues.fetched",
        "0",
        "default: as many as the drive takes in all, so that none waits in its queue for another to end",
    ),
];

impl QueuesProfile {
    pub(crate) fn read(k: &Keys<'_>) -> QueuesProfile {
        let or = |key, default: u64, min, max| match k.has(key) {
            true => k.whole(key, ONE, min, max),
            false => {
                k.declare(key);
                default
            }
        };
        let ways = [
            ("round-robin", Arbitration::RoundRobin),
            ("weighted-round-robin", Arbitration::WeightedRoundRobin),
        ];
        let arbitration = match k.has("arbitration") {
            true => k.choice("arbitration", &ways),
            false => {
                k.declare("arbitration");
                Arbitration::RoundRobin
            }
        };
        let no_limit = |n: u64| if n == 0 { u32::MAX } else { n as u32 };
        let count = or("count", 1, 1, 1 << 12) as u16;
        let burst = or("burst", 1, 0, 64);
        if burst > 0 && !burst.is_power_of_two() {
            let message = format!(
                "is {burst}; expected 1, 2, 4, 8, 16, 32 or 64, as the specification has it, or 0 for \
                 no limit"
            );
            k.note("burst", message);
        }
        let weight = |key| or(key, 1, 1, 256) as u32;
        QueuesProfile {
            count,
            arbitration,
            burst: no_limit(burst),
            classes: classes(k, count),
            weights: [
                weight("high_weight"),
                weight("medium_weight"),
                weight("low_weight"),
            ],
            fetched: no_limit(or("fetched", 0, 0, 1 << 20)),
        }
    }
}

/// The words at `classes`, for `count` queues at most.
fn classes(k: &Keys<'_>, count: u16) -> Vec<PriorityClass> {
    if !k.has("classes") {
        k.declare("classes");
        return vec![PriorityClass::Medium];
    }
    let text = k.text("classes");
    let names = || PriorityClass::ALL.iter().map(|(name, _)| *name);
    let mut classes = Vec::new();
    for word in text.split(',').map(str::trim) {
        match PriorityClass::ALL.iter().find(|(name, _)| *name == word) {
            Some((_, class)) => classes.push(*class),
            // An empty text has been reported already.
            None if text.is_empty() => {}
            None => {
                let near = nearest(word, names()).unwrap_or_default();
                let all = names().collect::<Vec<_>>().join(", ");
                let message = format!("there is no `{word}`; the nearest is `{near}` of {all}");
                k.note("classes", message);
            }
        }
    }
    if classes.len() > count as usize {
        let message = format!(
            "names {} classes, but there are {count} queues: name fewer, or raise `queues.count`",
            classes.len()
        );
        k.note("classes", message);
    }
    if classes.is_empty() {
        classes.push(PriorityClass::Medium);
    }
    classes
}
