//! What crosses between a host and its drive.

use firstread_core::{HostCommand, HostOp, Ns, Status};

use crate::hardware::charge::Parts;

/// A command, as the host submits it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Submission {
    /// What to do.
    pub op: HostOp,
    /// First byte, a multiple of 512.
    pub offset_bytes: u64,
    /// Length (bytes), a multiple of 512, not zero except for a flush.
    pub len_bytes: u32,
    /// Whether a write has to be safe from power loss before it completes.
    pub fua: bool,
    /// The host's submission queue. A drive that has fewer takes the number modulo theirs.
    pub queue: u32,
    /// From when on its time counts: before it is submitted, where it has waited for room in the queues.
    pub since: Ns,
}

/// A completion that has reached the host.
#[derive(Clone, Copy, Debug)]
pub struct Completed<'a> {
    /// The command, under the identifier that it was given when it was submitted.
    pub command: &'a HostCommand,
    /// The host's submission queue.
    pub queue: u32,
    /// From when on its time counts: [`Submission::since`].
    pub since: Ns,
    /// When it reached the host. Its latency is the time from `since`.
    pub at: Ns,
    /// How it ended.
    pub status: Status,
    /// What its latency was charged to, by cause (ns).
    pub parts: &'a Parts,
}
