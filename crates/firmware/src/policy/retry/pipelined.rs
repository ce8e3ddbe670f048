//! `pipelined`: a step is sensed while the step before it is transferred and decoded (PR²).
//!
//! A read holds its die from its first speculative step to its last step. Each sense is followed by a READ
//! CACHE command, which moves the page to the cache register (`tRCBSY`) and begins the next sense. A sense
//! that turns out not to be needed is ended by a RESET (`tRST`). So a step takes as long as the longer of two
//! times: its own sense, and the transfer and decoding of the step before.
//!
//! `from` is the step from which senses are speculative. If that is the first failure, a read that succeeds
//! at once costs nothing extra, and one transfer and decoding stay exposed. If it is the first attempt, none
//! stays exposed, but every read moves its page to the cache register first, and frees its die a transfer, a
//! decoding and a RESET later.
//!
//! `hold` is how long a read may keep its die from other reads. The first `hold` speculative steps are sensed
//! whatever waits for the die. A later step is sensed speculatively only while no host read waits and no
//! other job is due to take a turn. Otherwise the die is free after the transfer of the current step. A
//! waiting read is sensed while that step is decoded. The next step then goes ahead of all other host reads,
//! as a sequential step does. Once no read waits, steps are sensed speculatively again.

use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::Retry;
use crate::policy::Setup;

pub const SCHEME: Scheme = Scheme {
    name: "pipelined",
    summary: "a step is sensed while the one before is transferred and decoded",
    source: "PR2 (Park et al., ASPLOS 2021)",
    role: Role::Scheme,
    needs: &[Need::WholeDie],
    ordered: &[],
    params: &[FROM, HOLD],
};

// Why each default is what it is: `docs/firmware/retry.md`.
pub(super) const FROM: Param = Param::choice(
    "from",
    "the first step during whose transfer and decoding the next one is sensed",
    &["first-failure", "first-read"],
);
pub(super) const HOLD: Param = Param::number(
    "hold",
    "steps sensed ahead while other reads of the host wait for the die; after them the die is theirs \
     between two steps",
    "steps",
    (2, 0, MAX_STEPS),
);

/// No read takes more steps. With this limit the die is never given away within the manufacturer's table.
const MAX_STEPS: i64 = 255;

#[derive(Clone, Debug)]
pub struct Pipelined {
    /// First step after which the next one is sensed speculatively.
    from: u8,
    /// First step that gives the die to host reads that wait for it.
    gives_way_at: u8,
}

impl Pipelined {
    /// The scheme with the parameters `values`.
    pub fn new(_setup: &Setup, values: &Values) -> Pipelined {
        let from = (values.get("from") == 0) as u8;
        Pipelined {
            from,
            gives_way_at: from.saturating_add(values.get("hold") as u8),
        }
    }
}

impl Retry for Pipelined {
    #[inline]
    fn pipelines_after(&self, step: u8) -> bool {
        step >= self.from
    }
    fn keeps_die(&self, step: u8) -> bool {
        step < self.gives_way_at
    }
    fn pipelines(&self) -> bool {
        true
    }
}
