//! Axis `gc_victim`: which superblock garbage collection cleans next.
//!
//! `choose` is called once for each superblock to be cleaned, never on the path of a request, so it may look
//! at all of them. It returns one of [`Victims::candidates`], or none if there are none. Candidates exclude
//! superblocks that yield next to nothing, for all schemes. Nothing here allocates after `new`.

use firstread_core::SuperblockId;

mod contract;
mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod random;

use crate::policy::axis::axis;
pub use contract::{GcVictim, LEAST_SHARE, Law, Outlook, Victims, gain};

axis! {
    "gc_victim": "which superblock garbage collection cleans next";
    AnyGcVictim: GcVictim {
        fifo::Fifo,
        greedy::Greedy,
        cost_benefit::CostBenefit,
        d_choices::DChoices,
        random::Random,
    }
    fn choose(&self, victims: Victims<'_>, nth: u64) -> Option<SuperblockId>;
    fn law(&self) -> Option<Law>;
}
