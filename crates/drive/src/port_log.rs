//! What passed the firmware's ports, in order: a debug view of a drive for tests and tools. Nothing
//! is kept until it is asked for.

use firstread_core::{FlashEvent, FlashOp, HostCommand, Ns, Status, Tag};

/// One crossing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// When.
    pub at: Ns,
    /// What.
    pub what: Passed,
}

/// What passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// A command of the host reached the firmware.
    Submitted(HostCommand),
    /// The firmware issued a flash operation.
    Issued(FlashOp),
    /// An event of flash reached the firmware.
    Event(FlashEvent),
    /// These codewords of the read under the tag have been made anew.
    Rebuilt(Tag, u64),
    /// The firmware posted a completion.
    Completed(HostCommand, Status),
}

/// The log, once it is switched on.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortLog(Option<Vec<Crossing>>);

impl PortLog {
    /// Keeps what passes from now on, and forgets what it kept.
    pub(crate) fn start(&mut self) {
        self.0 = Some(Vec::new());
    }
    /// What passed since.
    pub(crate) fn crossings(&self) -> &[Crossing] {
        self.0.as_deref().unwrap_or_default()
    }
    /// `what` passed at `at`.
    #[inline]
    pub(crate) fn note(&mut self, at: Ns, what: impl FnOnce() -> Passed) {
        if let Some(log) = &mut self.0 {
            log.push(Crossing { at, what: what() });
        }
    }
}
