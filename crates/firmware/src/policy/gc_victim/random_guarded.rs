//! `random-guarded`: a superblock drawn at random of those that yield enough.
//!
//! The victims cleaned while the host fills one superblock may cost several times the mean. The bound on the
//! longest write holds for the rate of that superblock, and is higher by half of the queue.

use firstread_core::params::{Role, Scheme, Values};
use firstread_core::{Stream, SuperblockId};

use super::random::draw;
use super::{GcVictim, Law, Rule, Victims};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "random-guarded",
    summary: "a superblock drawn at random of those that free a sixteenth of what the emptiest frees",
    source: "random, with the bound on the cost of a victim that all schemes but fifo and random have",
    role: Role::Scheme,
    needs: &[],
    ordered: &[],
    params: &[],
};

/// The random stream of draws. The draw for a victim depends on the seed and the victim's number alone.
#[derive(Clone, Debug)]
pub struct RandomGuarded {
    stream: Stream,
}

impl RandomGuarded {
    /// The scheme, which has no parameters.
    pub fn new(setup: &Setup, _values: &Values) -> RandomGuarded {
        RandomGuarded {
            stream: Stream::new(setup.seed).named("gc random"),
        }
    }
}

impl GcVictim for RandomGuarded {
    fn choose(&self, victims: Victims<'_>, nth: u64) -> Option<SuperblockId> {
        draw(&victims, self.stream.at(nth))
    }
    fn law(&self) -> Option<Law> {
        Some(Law::guarded(Rule::Drawn(1)))
    }
}
