//! `d-choices`: the emptiest of a few superblocks drawn at random.
//!
//! A draw may yield a fuller superblock than the next draw, so the bound on the longest write is higher by up
//! to three quarters of the queue.

use firstread_core::params::{Param, ParamKind, Role, Scheme, Values};
use firstread_core::{Stream, SuperblockId};

use super::random::draw;
use super::{GcVictim, Law, Rule, Victims};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "d-choices",
    summary: "the emptiest of d superblocks drawn at random",
    source: "Van Houdt (SIGMETRICS 2013); Li, Lee and Lui (SIGMETRICS 2013)",
    role: Role::Scheme,
    needs: &[],
    ordered: &[],
    params: &[Param {
        key: "d",
        doc: "superblocks drawn",
        kind: ParamKind::Number {
            unit: "blocks",
            default: 10,
            min: 1,
            max: 1000,
        },
    }],
};

/// Superblocks drawn for each victim, and the random stream that draws them.
#[derive(Clone, Debug)]
pub struct DChoices {
    d: u64,
    stream: Stream,
}

impl DChoices {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> DChoices {
        DChoices {
            d: values.get("d") as u64,
            stream: Stream::new(setup.seed).named("gc d-choices"),
        }
    }
}

impl GcVictim for DChoices {
    fn choose(&self, victims: Victims<'_>, nth: u64) -> Option<SuperblockId> {
        let drawn = (0..self.d).filter_map(|i| draw(&victims, self.stream.at(self.d * nth + i)));
        drawn.min_by_key(|&block| victims.filled(victims.blocks().info(block)))
    }
    fn law(&self) -> Option<Law> {
        Some(Law::guarded(Rule::Drawn(self.d as u32)))
    }
}
