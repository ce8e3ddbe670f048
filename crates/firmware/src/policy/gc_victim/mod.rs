//! Axis `gc_victim`: which superblock garbage collection cleans next.
//!
//! `choose` is called once for each superblock that is cleaned, never on the path of a request, so
//! it may look at all of them. It names a superblock for which [`Victims::has_gain`] holds, or none
//! if there is no such. Nothing here allocates after `new`.

use firstread_core::params::{Axis, Values};
use firstread_core::{BlockId, Geometry, Ns};

use crate::observe::{BlockMonitor, BlockRow, BlockUse};

mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod random;

/// What a scheme is built from.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Seed of the firmware's own choices.
    pub seed: u64,
}

/// What there is to choose from.
#[derive(Clone, Copy, Debug)]
pub struct Victims<'a> {
    /// Now.
    pub now: Ns,
    /// The superblocks.
    pub blocks: &'a BlockMonitor,
    /// The drive's geometry: what a superblock holds in its mode.
    pub geometry: &'a Geometry,
}

impl<'a> Victims<'a> {
    /// Slots of the superblock of `row`.
    pub fn slots(&self, row: &BlockRow) -> u32 {
        self.geometry.slots_per_superblock(row.mode)
    }
    /// Whether cleaning the superblock of `row` gains anything: it is programmed to its end, not
    /// being moved already, and holds at least one slot that is not valid.
    pub fn has_gain(&self, row: &BlockRow) -> bool {
        row.usage == BlockUse::Full && !row.leaving && row.valid_slots < self.slots(row)
    }
    /// Superblocks that it gains to clean.
    pub fn candidates(self) -> impl Iterator<Item = (BlockId, &'a BlockRow)> {
        self.blocks
            .iter()
            .filter(move |(_, row)| self.has_gain(row))
    }
}

/// The axis.
pub trait GcVictim {
    /// The superblock to clean next.
    fn choose(&mut self, victims: Victims<'_>) -> Option<BlockId>;
}

macro_rules! schemes {
    ($($module:ident::$scheme:ident),+ $(,)?) => {
        /// Which superblock garbage collection cleans next.
        pub const AXIS: Axis = Axis {
            name: "gc_victim",
            summary: "which superblock garbage collection cleans next",
            schemes: &[$($module::SCHEME),+],
        };

        /// The scheme in use.
        #[allow(missing_docs)]
        #[derive(Debug)]
        pub enum AnyGcVictim {
            $($scheme($module::$scheme)),+
        }

        impl AnyGcVictim {
            /// Builds scheme `name` of the axis; `values` are its parameters in the order of its record.
            pub fn new(name: &str, setup: &Setup, values: &[i64]) -> Option<AnyGcVictim> {
                $(if name == $module::SCHEME.name {
                    let values = Values::new(&$module::SCHEME, values);
                    return Some(AnyGcVictim::$scheme($module::$scheme::new(setup, &values)));
                })+
                None
            }
        }

        impl GcVictim for AnyGcVictim {
            fn choose(&mut self, victims: Victims<'_>) -> Option<BlockId> {
                match self { $(Self::$scheme(s) => s.choose(victims)),+ }
            }
        }
    };
}

// One row a scheme, the null first.
schemes! {
    fifo::Fifo,
    greedy::Greedy,
    cost_benefit::CostBenefit,
    d_choices::DChoices,
    random::Random,
}
