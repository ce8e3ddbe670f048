//! Axis `gc_victim`: which superblock garbage collection cleans next.
//!
//! `choose` is called a few times for each superblock to be cleaned, never on the path of a request. It returns a superblock
//! that [`Victims::is_candidate`], or none if there is none. A scheme that has a key for each superblock asks for the
//! first by it ([`Victims::first_by`]), which looks at few superblocks of many. Candidates exclude superblocks that
//! yield next to nothing, but for `fifo` and `random` ([`Victims::any`]), which would be other schemes with such a guard.
//! Nothing here allocates after `new`.

use firstread_core::SuperblockId;

mod contract;
mod cost_benefit;
mod d_choices;
mod fifo;
mod fifo_guarded;
mod greedy;
mod random;
mod random_guarded;

use crate::policy::axis::axis;
pub use contract::{GcVictim, LEAST_SHARE, Law, Outlook, Rule, Victims};

axis! {
    "gc_victim": "which superblock garbage collection cleans next";
    AnyGcVictim: GcVictim {
        fifo::Fifo,
        greedy::Greedy,
        cost_benefit::CostBenefit,
        d_choices::DChoices,
        random::Random,
        fifo_guarded::FifoGuarded,
        random_guarded::RandomGuarded,
    }
    fn choose(&self, victims: Victims<'_>, nth: u64) -> Option<SuperblockId>;
    fn takes_any(&self) -> bool;
    fn law(&self) -> Option<Law>;
}
