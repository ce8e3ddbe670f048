//! Traffic through the firmware's ports, in order: a debug view of a drive for tests and tools. Nothing is
//! recorded until it is switched on.

use firstread_core::{FlashEvent, FlashOp, HostCommand, Ns, Status, Tag};

/// One call through a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortCall {
    /// By the clock of the drive.
    pub at: Ns,
    /// What passed: a call of the firmware, an event or a command that it was told.
    pub what: PortCallKind,
}

/// A call through a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortCallKind {
    /// A host command reached the firmware.
    Submitted(HostCommand),
    /// The firmware issued a flash operation.
    Issued(FlashOp),
    /// A flash event reached the firmware.
    Event(FlashEvent),
    /// These codewords of the read under the tag have been rebuilt.
    Rebuilt(Tag, u64),
    /// The firmware posted a completion.
    Completed(HostCommand, Status),
}

/// The log, if it is switched on.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortLog(Option<Vec<PortCall>>);

impl PortLog {
    /// Starts to record, and drops earlier records.
    pub(crate) fn start(&mut self) {
        self.0 = Some(Vec::new());
    }
    /// The calls recorded so far.
    pub(crate) fn port_calls(&self) -> &[PortCall] {
        self.0.as_deref().unwrap_or_default()
    }
    /// Records `what` at `at`.
    #[inline]
    pub(crate) fn note(&mut self, at: Ns, what: impl FnOnce() -> PortCallKind) {
        if let Some(log) = &mut self.0 {
            log.push(PortCall { at, what: what() });
        }
    }
}
