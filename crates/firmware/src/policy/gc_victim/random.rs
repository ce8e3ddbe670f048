//! `random`: a superblock drawn at random.
//!
//! A victim may be full of valid data. On average a victim yields what all superblocks at rest yield on average, so cleaning
//! goes on; but the victims cleaned while the host fills one superblock may cost several times the mean.

use firstread_core::params::{Role, Scheme, Values};
use firstread_core::{Stream, SuperblockId};

use super::{GcVictim, Law, Rule, Victims};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "random",
    summary: "a superblock drawn at random",
    source: "Van Houdt (SIGMETRICS 2013): d-choices with d = 1, whose victims are as full as the mean",
    role: Role::Scheme,
    needs: &[],
    ordered: &[],
    params: &[],
};

/// Draws tried before the first candidate after the last draw is taken.
const TRIES: u64 = 16;

/// The random stream of draws. The draw for a victim depends on the seed and the victim's number alone.
#[derive(Clone, Debug)]
pub struct Random {
    stream: Stream,
}

impl Random {
    /// The scheme, which has no parameters.
    pub fn new(setup: &Setup, _values: &Values) -> Random {
        Random {
            stream: Stream::new(setup.seed).named("gc random"),
        }
    }
}

/// A random candidate.
pub(super) fn draw(victims: &Victims<'_>, stream: Stream) -> Option<SuperblockId> {
    let n = victims.blocks().len();
    let at = |i: u64| stream.at(i).below(n as u64) as u32;
    let may = |block: &SuperblockId| victims.is_candidate(*block, victims.blocks().info(*block));
    let block = |i| victims.blocks().nth(i);
    (0..TRIES).map(at).map(block).find(may).or_else(|| {
        let from = at(TRIES);
        (0..n).map(|i| block((from + i) % n)).find(may)
    })
}

impl GcVictim for Random {
    fn choose(&self, victims: Victims<'_>, nth: u64) -> Option<SuperblockId> {
        draw(&victims.any(), self.stream.at(nth))
    }
    fn takes_any(&self) -> bool {
        true
    }
    fn law(&self) -> Option<Law> {
        Some(Law::of_any(Rule::Drawn(1)))
    }
}
