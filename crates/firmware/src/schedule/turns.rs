//! Turns: how work that host reads keep waiting gets its share of a die, and when a program or erase may be stopped.
//!
//! Work that has waited `max_wait` behind host reads takes turns on its die. A read takes one sense as its turn. A
//! program or erase takes a turn that ends before the operation does, if the scheme of axis `suspend` suspends it.
//! After a turn of length T, host reads have the die for T (1 - f) / f, or until none waits; f is the share of the
//! die that such work gets.
//!
//! The chip bounds the number of suspends of one operation, so each suspend has to be worth its use. Two rules
//! keep one in hand until the operation ends, so no part of it runs without a bound:
//!
//! - An operation in turns is stopped once its run has done `left / (suspends left)` of the work. Each later turn is
//!   then no longer than this one.
//! - Any other operation is stopped at once, as long as the suspends left after it can stop the rest in slices of
//!   `slice`. Otherwise the run goes on until they can.
//!
//! docs/firmware/turns.md derives what follows for host reads and for the operations.

use firstread_core::{Ns, Priority};

use crate::config::Turns;

/// The run of a program or erase on a die, and the turn that the die gives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    /// Time that the operation needed when the run began.
    pub(super) left: Ns,
    /// Whether the operation takes turns: it has waited `max_wait` behind host reads.
    pub(super) in_turns: bool,
    /// Start of the die's current turn.
    pub(super) turn_began: Ns,
}

/// How often `max_wait` a background read that gives way waits before it takes a turn: assumed, a second where other work
/// waits 20 ms. With a turn a second each die has more background reads than calibration asks for.
const WAITS: u64 = 50;

/// How long work waits behind host reads before it takes a turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) max_wait: Ns,
    /// Whether a background read that has not taken a turn is ended by a host read that waits for its die.
    pub(super) background_gives_way: bool,
}

impl Patience {
    /// Of work that waits `max_wait`, background reads included.
    pub(super) fn of(max_wait: Ns) -> Patience {
        Patience {
            max_wait,
            background_gives_way: false,
        }
    }

    /// How much longer than `max_wait` jobs of priority `p` wait.
    pub(super) fn more(&self, p: usize) -> Ns {
        match self.background_gives_way && p == Priority::Background as usize {
            true => Ns(self.max_wait.0.saturating_mul(WAITS - 1)),
            false => Ns::ZERO,
        }
    }
}

impl Turns {
    /// How long host reads have the die after a turn of length `turn`.
    pub(super) fn rest(&self, turn: Ns) -> Ns {
        let share = u64::from(self.share_permille);
        Ns(turn.0.saturating_mul(1000 - share) / share)
    }

    /// How far `run` gets before it is stopped. The operation has been stopped `used` times before. None if this run
    /// is not stopped any more.
    pub(super) fn progress(&self, run: &Run, used: u16, is_free: bool) -> Option<Ns> {
        let least = match run.in_turns {
            true => self.least_slice,
            false => Ns::ZERO,
        };
        if is_free {
            return Some(least);
        }
        // Suspends that remain after this one.
        let more = u64::from(self.max_suspends.checked_sub(used)?.checked_sub(1)?);
        let progress = match run.in_turns {
            true => Ns(run.left.0.div_ceil(more + 1)).max(least),
            false => Ns(run.left.0.saturating_sub(self.slice.0.saturating_mul(more))),
        };
        (progress < run.left).then_some(progress)
    }
}

#[cfg(test)]
mod tests {
    use firstread_core::Stream;

    use super::*;

    /// Operations whose length takes from two slices to as many as the chip allows suspends.
    fn random(draw: &Stream) -> (Turns, Ns) {
        let slice = 1_000 + draw.at(0).below(1_000_000);
        let max_suspends = 2 + draw.at(1).below(100) as u16;
        let turns = Turns {
            max_wait: Ns(1),
            share_permille: 1 + draw.at(2).below(999) as u16,
            slice: Ns(slice),
            least_slice: Ns(1 + draw.at(3).below(slice)),
            max_suspends,
        };
        let slices = 2 + draw.at(4).below(u64::from(max_suspends) - 1);
        let whole = slice * (slices - 1) + 1 + draw.at(5).below(slice);
        (turns, Ns(whole))
    }

    /// Host reads come when they like, and the operation takes turns from some suspend on. It has a suspend left until
    /// what is left of it is no longer than a slice, and no read waits longer than a slice.
    #[test]
    fn model_suspends_last_until_the_end_and_no_read_waits_longer_than_a_slice() {
        for seed in 0..2_000 {
            let draw = Stream::new(seed);
            let (turns, whole) = random(&draw);
            let takes_turns_after = draw.at(6).below(2 * u64::from(turns.max_suspends));
            let (mut left, mut used) = (whole, 0);
            loop {
                let run = Run {
                    left,
                    in_turns: u64::from(used) >= takes_turns_after,
                    ..Run::default()
                };
                let Some(progress) = turns.progress(&run, used, false) else {
                    assert!(
                        left <= turns.slice,
                        "seed {seed}: the last {left:?} run whole"
                    );
                    break;
                };
                assert!(
                    used < turns.max_suspends,
                    "seed {seed}: suspend {used} is too many"
                );
                assert!(progress < left, "seed {seed}: it would have ended");
                assert!(
                    progress <= turns.slice,
                    "seed {seed}: a read waits {progress:?}"
                );
                assert!(
                    !run.in_turns || progress >= turns.least_slice,
                    "seed {seed}: a turn of {progress:?}"
                );
                // A read comes at some time of the run; one that takes a turn is told to stop from its start on.
                let came = match draw.at(7).at(u64::from(used)).below(3) {
                    0 => 0,
                    _ => draw.at(8).at(u64::from(used)).below(left.0),
                };
                left = Ns(left.0 - progress.0.max(came).max(1).min(left.0 - 1));
                used += 1;
            }
        }
    }

    /// Over turns of any length, the work has its share of the die.
    #[test]
    fn formula_the_rest_after_a_turn_leaves_the_share() {
        for seed in 0..200 {
            let draw = Stream::new(seed);
            let (turns, _) = random(&draw);
            let turn = 10_000 + draw.at(9).below(1_000_000);
            let share = turn as f64 / (turn + turns.rest(Ns(turn)).0) as f64;
            let wanted = f64::from(turns.share_permille) / 1000.0;
            assert!(
                (share - wanted).abs() < 1e-3,
                "seed {seed}: {share} of {wanted}"
            );
        }
    }
}
