//! Which submission queue a command is fetched from next: the command arbitration of the NVM Express
//! base specification, round robin and weighted round robin with urgent class. There are no admin
//! commands, so their class is left out.

/// Priority class of a submission queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Before all others.
    Urgent,
    /// Shares what is left by `high_weight`.
    High,
    /// Shares what is left by `medium_weight`.
    Medium,
    /// Shares what is left by `low_weight`.
    Low,
}

impl Class {
    /// All classes, with the words that profiles have for them.
    pub(crate) const ALL: [(&str, Class); 4] = [
        ("urgent", Class::Urgent),
        ("high", Class::High),
        ("medium", Class::Medium),
        ("low", Class::Low),
    ];
}

/// Classes that share by weight.
const WEIGHTED: [Class; 3] = [Class::High, Class::Medium, Class::Low];

/// Queues that take turns.
#[derive(Clone, Debug)]
struct Turns {
    queues: Vec<usize>,
    /// Whose turn it is, of `queues`, and how many commands are left of it.
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

    /// The next queue, of those that have a command: up to `burst` commands a turn.
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

/// The arbiter.
#[derive(Clone, Debug)]
pub(crate) struct Arbiter {
    burst: u32,
    /// Urgent queues, or all of them where there are no classes.
    strict: Turns,
    weighted: [Turns; 3],
    weights: [u32; 3],
    /// Weighted class whose round it is, and its commands left in it.
    class: usize,
    credits: u32,
}

impl Arbiter {
    /// All of `queues` take turns, `burst` commands each.
    pub(crate) fn round_robin(queues: usize, burst: u32) -> Arbiter {
        Arbiter::weighted(&vec![Class::Urgent; queues], burst, [1; 3])
    }

    /// Queues of these classes; `weights` of high, medium and low.
    pub(crate) fn weighted(classes: &[Class], burst: u32, weights: [u32; 3]) -> Arbiter {
        let of = |class| {
            let all = classes.iter().enumerate();
            Turns::new(all.filter(move |(_, c)| **c == class).map(|(i, _)| i))
        };
        Arbiter {
            burst,
            strict: of(Class::Urgent),
            weighted: WEIGHTED.map(of),
            weights,
            class: 0,
            credits: weights[0],
        }
    }

    /// The queue to fetch from next, of those that have a command.
    ///
    /// Urgent queues take turns before all others. The weighted classes spend their credits one class
    /// after the other, high first, within each queue after queue; a turn ends with the burst or the
    /// credits, whichever comes first. A class without commands passes its credits by.
    pub(crate) fn next(&mut self, has: impl Fn(usize) -> bool) -> Option<usize> {
        if let Some(queue) = self.strict.next(self.burst, &has) {
            return Some(queue);
        }
        // Once around, and back to the class it began with, whose credits are new then.
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

    /// The order in which commands are fetched from queues that hold so many each.
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
        use Class::{High, Low, Medium, Urgent};
        let weighted = |classes: &[Class], burst, weights, held: &[u32], most| {
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
        let classes = [Class::High, Class::Urgent];
        let mut arbiter = Arbiter::weighted(&classes, 4, [4, 1, 1]);
        assert_eq!(arbiter.next(|q| q == 0), Some(0));
        assert_eq!(arbiter.next(|_| true), Some(1));
        assert_eq!(arbiter.next(|q| q == 0), Some(0));
        assert_eq!(arbiter.next(|_| false), None);
    }
}
