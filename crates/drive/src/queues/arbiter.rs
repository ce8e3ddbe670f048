//! The submission queue from which a command is fetched next: the command arbitration of the NVM Express base
//! specification, round robin and weighted round robin with urgent priority class. There are no admin
//! commands, so the admin class is left out.

use crate::profile::{Arbitration, PriorityClass, QueuesProfile};

/// Classes that share by weight.
const WEIGHTED: [PriorityClass; 3] = [
    PriorityClass::High,
    PriorityClass::Medium,
    PriorityClass::Low,
];

/// Queues served in turn.
#[derive(Clone, Debug)]
struct Turns {
    queues: Vec<usize>,
    /// Index in `queues` of the queue whose turn it is, and the commands left in its turn.
    at: usize,
    left: u32,
}

impl Turns {
    fn new(queues: impl Iterator<Item = usize>) -> Turns {
        let queues: Vec<usize> = queues.collect();
        Turns {
            // The first turn is that of the first.
            at: queues.len().saturating_sub(1),
            queues,
            left: 0,
        }
    }

    /// The next queue that has a command. Each turn is up to `burst` commands.
    fn next(&mut self, burst: u32, has: &impl Fn(usize) -> bool) -> Option<usize> {
        let queue = *self.queues.get(self.at)?;
        if self.left > 0 && has(queue) {
            self.left -= 1;
            return Some(queue);
        }
        for _ in 0..self.queues.len() {
            self.at = (self.at + 1) % self.queues.len();
            if has(self.queues[self.at]) {
                self.left = burst - 1;
                return Some(self.queues[self.at]);
            }
        }
        None
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Arbiter {
    burst: u32,
    /// Urgent queues; all queues if there are no classes.
    strict: Turns,
    weighted: [Turns; 3],
    weights: [u32; 3],
    /// The weighted class whose round it is, and the commands left in its round.
    class: usize,
    credits: u32,
}

impl Arbiter {
    /// The arbiter of a drive of `profile`, at rest.
    pub(crate) fn of(profile: &QueuesProfile) -> Arbiter {
        let count = profile.count as usize;
        match profile.arbitration {
            Arbitration::RoundRobin => Arbiter::round_robin(count, profile.burst.0),
            Arbitration::WeightedRoundRobin => {
                let all = profile.classes.iter().cycle().take(count);
                let classes: Vec<PriorityClass> = all.copied().collect();
                Arbiter::weighted(&classes, profile.burst.0, profile.weights())
            }
        }
    }

    /// All of `queues` in turn, `burst` commands each.
    pub(crate) fn round_robin(queues: usize, burst: u32) -> Arbiter {
        Arbiter::weighted(&vec![PriorityClass::Urgent; queues], burst, [1; 3])
    }

    /// Queues of these classes, with the weights of high, medium and low.
    pub(crate) fn weighted(classes: &[PriorityClass], burst: u32, weights: [u32; 3]) -> Arbiter {
        let of = |class| {
            let all = classes.iter().enumerate();
            Turns::new(all.filter(move |(_, c)| **c == class).map(|(i, _)| i))
        };
        Arbiter {
            burst,
            strict: of(PriorityClass::Urgent),
            weighted: WEIGHTED.map(of),
            weights,
            class: 0,
            credits: weights[0],
        }
    }

    /// The queue to fetch from next, among those with a command.
    ///
    /// Urgent queues are served in turn before all others. The weighted classes use up their credits one
    /// class after another, high first, and within a class queue after queue. A turn ends with the burst or
    /// with the credits, whichever comes first. A class without commands forfeits its credits.
    pub(crate) fn next(&mut self, has: impl Fn(usize) -> bool) -> Option<usize> {
        if let Some(queue) = self.strict.next(self.burst, &has) {
            return Some(queue);
        }
        // Once around and back to the class it began with, whose credits are then renewed.
        for _ in 0..=WEIGHTED.len() {
            let turns = &mut self.weighted[self.class];
            if self.credits > 0
                && let Some(queue) = turns.next(self.burst, &has)
            {
                self.credits -= 1;
                return Some(queue);
            }
            turns.left = 0;
            self.class = (self.class + 1) % WEIGHTED.len();
            self.credits = self.weights[self.class];
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order in which commands are fetched from queues that hold `held` commands each.
    fn order(mut arbiter: Arbiter, mut held: Vec<u32>, most: usize) -> String {
        let mut order = String::new();
        while order.len() < most
            && let Some(queue) = arbiter.next(|q| held[q] > 0)
        {
            held[queue] -= 1;
            order += &queue.to_string();
        }
        order
    }

    #[test]
    fn sequence_of_round_robin_with_bursts() {
        let turns =
            |burst, held: &[u32]| order(Arbiter::round_robin(held.len(), burst), held.to_vec(), 99);
        assert_eq!(turns(1, &[3, 3, 3]), "012012012");
        assert_eq!(turns(2, &[3, 3, 3]), "001122012");
        assert_eq!(turns(4, &[6, 1, 5]), "000012222002");
        assert_eq!(turns(1, &[1, 0, 4]), "02222");
        // No limit.
        assert_eq!(turns(u32::MAX, &[3, 3, 3]), "000111222");
    }

    #[test]
    fn sequence_of_weighted_round_robin() {
        use PriorityClass::{High, Low, Medium, Urgent};
        let weighted = |classes: &[PriorityClass], burst, weights, held: &[u32], most| {
            let arbiter = Arbiter::weighted(classes, burst, weights);
            order(arbiter, held.to_vec(), most)
        };
        let each = [Low, Medium, High];
        assert_eq!(
            weighted(&each, 1, [3, 2, 1], &[9; 3], 12),
            "222110222110",
            "classes spend their credits in turn"
        );
        assert_eq!(
            weighted(&[High, High, Low], 2, [5, 1, 1], &[20; 3], 12),
            "001102110012",
            "a turn ends with the burst or the credits"
        );
        assert_eq!(
            weighted(&each, 8, [2, 1, 1], &[2, 0, 5], 99),
            "2202202",
            "a class without commands is passed by"
        );
        assert_eq!(
            weighted(
                &[Low, Urgent, High, Urgent],
                1,
                [2, 1, 1],
                &[3, 2, 3, 2],
                99
            ),
            "1313220200",
            "urgent queues go first"
        );
    }

    #[test]
    fn sequence_of_an_urgent_command_between_others() {
        let classes = [PriorityClass::High, PriorityClass::Urgent];
        let mut arbiter = Arbiter::weighted(&classes, 4, [4, 1, 1]);
        assert_eq!(arbiter.next(|q| q == 0), Some(0));
        assert_eq!(arbiter.next(|_| true), Some(1));
        assert_eq!(arbiter.next(|q| q == 0), Some(0));
        assert_eq!(arbiter.next(|_| false), None);
    }
}
