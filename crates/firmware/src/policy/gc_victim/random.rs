//! `random`: a superblock drawn at random.
//!
//! Victims of one superblock of the host may cost several times the mean: the bound on the longest write
//! holds for the rate of that superblock, with half of the queue more.

use firstread_core::params::{Role, Scheme, Values};
use firstread_core::{BlockId, Stream};

use super::{GcVictim, Law, Victims};
use crate::policy::Setup;

/// Its row.
pub const SCHEME: Scheme = Scheme {
    name: "random",
    summary: "a superblock drawn at random",
    source: "Van Houdt (SIGMETRICS 2013): d-choices with d = 1, whose victims are as full as the mean",
    role: Role::Scheme,
    needs: &[],
    params: &[],
};

/// Draws tried before the first candidate behind the last one is taken.
const TRIES: u64 = 16;

/// The scheme.
#[derive(Clone, Debug)]
pub struct Random {
    stream: Stream,
}

impl Random {
    /// It has no parameters.
    pub fn new(setup: &Setup, _values: &Values) -> Random {
        Random {
            stream: Stream::new(setup.seed).named("gc random"),
        }
    }
}

/// A superblock that it gains to clean, drawn at random.
pub(super) fn draw(victims: &Victims<'_>, stream: Stream) -> Option<BlockId> {
    let n = victims.blocks().len();
    let at = |i: u64| BlockId(stream.at(i).below(n as u64) as u32);
    let gains = |block: &BlockId| victims.is_candidate(victims.blocks().row(*block));
    (0..TRIES).map(at).find(gains).or_else(|| {
        let from = at(TRIES).0;
        (0..n).map(|i| BlockId((from + i) % n)).find(gains)
    })
}

impl GcVictim for Random {
    fn choose(&self, victims: Victims<'_>, nth: u64) -> Option<BlockId> {
        draw(&victims, self.stream.at(nth))
    }
    fn law(&self) -> Option<Law> {
        Some(Law::Drawn(1))
    }
}
