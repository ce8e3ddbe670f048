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

use firstread_core::params::{Param, ParamKind, Role, Scheme, Values};

use super::{Retry, Setup};

/// Its row.
pub const SCHEME: Scheme = Scheme {
    name: "pipelined",
    summary: "a step is sensed while the one before is transferred and decoded",
    source: "PR2 (Park et al., ASPLOS 2021)",
    role: Role::Scheme,
    params: PARAMS,
};

/// Parameters of pipelining.
pub(super) const PARAMS: &[Param] = &[Param {
    key: "from",
    doc: "the first step during whose transfer and decoding the next one is sensed",
    kind: ParamKind::Choice(&["first-failure", "first-read"]),
}];

/// The scheme.
#[derive(Debug)]
pub struct Pipelined {
    /// First step that looks ahead.
    from: u8,
}

impl Pipelined {
    /// From its parameters.
    pub fn new(_setup: &Setup, values: &Values) -> Pipelined {
        Pipelined {
            from: (values.get("from") == 0) as u8,
        }
    }
}

impl Retry for Pipelined {
    #[inline]
    fn looks_ahead(&self, step: u8) -> bool {
        step >= self.from
    }
    fn pipelines(&self) -> bool {
        true
    }
}
