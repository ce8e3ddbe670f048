//! Operations in flight.

use firstread_core::{DieId, FlashKind, FlashOp, Ns, OpClass, Tag};

use super::charge::BreakdownId;
use crate::cells::Sensed;

/// An operation's turn with the decoder.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    /// The operation behind it.
    pub(super) next: u32,
    /// When the turn ends.
    pub(super) ends: Ns,
}

/// An operation in flight, indexed by its tag.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct InFlight {
    pub(super) op: FlashOp,
    /// The die or lane it runs on.
    pub(super) lane: u16,
    pub(super) channel: u16,
    pub(super) sensed: Sensed,
    /// Latency breakdown of a read; unused under a second tag.
    pub(super) breakdown: Option<BreakdownId>,
    /// Whether the breakdown now belongs to a command.
    pub(super) handed_over: bool,
    /// For a plain read, without a cache read after it: the time at which it has been sensed. In the past for
    /// other operations.
    pub(super) sensed_at: Ns,
    /// When its transfer starts.
    pub(super) transfer_starts: Ns,
    /// Its turn with the decoder.
    pub(super) turn: Turn,
    /// Whether it is a speculative sense whose output has not been asked for yet.
    pub(super) held: bool,
    /// Whether `sensed` is valid.
    pub(super) is_sensed: bool,
    /// Retries of the read that were decoded; under its first tag.
    pub(super) retries: u16,
}

impl InFlight {
    /// The entry of a tag that has not been issued.
    pub(super) fn idle() -> InFlight {
        let op = FlashOp {
            tag: Tag(0),
            die: DieId(0),
            after: None,
            class: OpClass::HostRead,
            queued: Ns::ZERO,
            kind: FlashKind::Cancel { victim: Tag(0) },
        };
        InFlight {
            op,
            lane: 0,
            channel: 0,
            sensed: Sensed::default(),
            breakdown: None,
            handed_over: false,
            sensed_at: Ns::ZERO,
            transfer_starts: Ns::ZERO,
            turn: Turn::default(),
            held: false,
            is_sensed: false,
            retries: 0,
        }
    }
}
