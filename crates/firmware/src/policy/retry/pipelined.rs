//! `pipelined`: a step is sensed while the one before is transferred and decoded (PR²).
//!
//! A die is held from the first step that looks ahead to the last one: each sense is followed by a
//! READ CACHE command, which moves the page to the cache register (`tRCBSY`) and begins the next sense.
//! A sense that turns out not to be needed is ended by a RESET (`tRST`). A step then takes as long as
//! the longer one of its sense and of the transfer and decoding of the step before.
//!
//! `from` is where this begins. From the first failure on, a read that succeeds at once costs nothing
//! and one transfer and decoding stay exposed; from the first read on, none is, but every read moves
//! its page to the cache register first, and leaves its die a transfer, a decoding and a RESET later.
//!
//! `hold` is how long a read may keep its die from others. Its first `hold` steps that look ahead do so
//! whatever waits for the die. A later step looks ahead only while no read of the host waits and nothing
//! has waited for `max_wait`; else the die is free after the transfer of that step, a read that waits is
//! sensed while the step is decoded, and the next step goes on before all other reads of the host, as a
//! sequential one does. Once no read waits, steps are sensed ahead again.

use firstread_core::params::{Need, Param, Role, Scheme, Values};

use super::Retry;
use crate::policy::Setup;

/// Its row.
pub const SCHEME: Scheme = Scheme {
    name: "pipelined",
    summary: "a step is sensed while the one before is transferred and decoded",
    source: "PR2 (Park et al., ASPLOS 2021)",
    role: Role::Scheme,
    needs: &[Need::WholeDie],
    params: PARAMS,
};

/// Parameters of pipelining. Why each default is what it is: `docs/firmware/retry.md`.
pub(super) const PARAMS: &[Param] = &[
    Param::choice(
        "from",
        "the first step during whose transfer and decoding the next one is sensed",
        &["first-failure", "first-read"],
    ),
    Param::number(
        "hold",
        "steps sensed ahead while other reads of the host wait for the die; after them the die is theirs \
         between two steps",
        "steps",
        (2, 0, MAX_STEPS),
    ),
];

/// No read takes more steps: as long as the manufacturer's table is, its die is never given away.
const MAX_STEPS: i64 = 255;

/// The scheme.
#[derive(Clone, Debug)]
pub struct Pipelined {
    /// First step that looks ahead.
    from: u8,
    /// First step that gives the die to reads of the host that wait for it.
    gives_way_at: u8,
}

impl Pipelined {
    /// From its parameters.
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
    fn looks_ahead(&self, step: u8) -> bool {
        step >= self.from
    }
    fn keeps_die(&self, step: u8) -> bool {
        step < self.gives_way_at
    }
    fn pipelines(&self) -> bool {
        true
    }
}
