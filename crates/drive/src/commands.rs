//! Commands and completions between a host and its drive.

use firstread_core::{CellMode, DieId, HostCommand, HostOp, Ns, PageType, Status};

use crate::hardware::charge::NsByCause;
use crate::hardware::spans::Course;

/// A command, as the host submits it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Submission {
    /// Read, write, trim or flush.
    pub op: HostOp,
    /// First byte, a multiple of 512.
    pub offset_bytes: u64,
    /// Length (bytes), a multiple of 512; zero only for a flush.
    pub len_bytes: u32,
    /// Whether a write has to be safe from power loss before it completes.
    pub fua: bool,
    /// Placement handle of a write; 0 where the host names none.
    pub placement: u16,
    /// Submission queue of the host. If the drive has fewer queues, the number is taken modulo theirs.
    pub queue: u32,
    /// Time from which its latency counts. It is before the submission if the command has waited for room in
    /// the queues.
    pub since: Ns,
}

/// A completion that has reached the host.
#[derive(Clone, Copy, Debug)]
pub struct Completed<'a> {
    /// The command, with the identifier it was given when it was submitted.
    pub command: &'a HostCommand,
    /// Submission queue of the host.
    pub queue: u32,
    /// Time from which its latency counts: [`Submission::since`].
    pub since: Ns,
    /// When it reached the host. Its latency is the time from `since`.
    pub at: Ns,
    /// Whether the command did what it asked for, or why not.
    pub status: Status,
    /// Latency by cause (ns).
    pub ns_by_cause: &'a NsByCause,
    /// The page on flash that a read waited for last. None of other commands, of reads that needed no page of flash, and on
    /// a drive that does not keep it ([`Drive::keep_pages`](crate::Drive::keep_pages)).
    pub page: Option<PageRead>,
    /// Where its time went; none on a drive that does not record it ([`Drive::record`](crate::Drive::record)).
    pub course: Option<&'a Course>,
}

/// A page on flash that was read for a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRead {
    /// The die that it lies on.
    pub die: DieId,
    /// Its page type.
    pub page: PageType,
    /// Cell mode of its block.
    pub mode: CellMode,
    /// Senses after the first one, until the data were decoded or were given up; soft senses and rebuilds are none.
    pub retries: u16,
}

impl PageRead {
    /// What stands where no page was read.
    pub(crate) const NONE: PageRead = PageRead {
        die: DieId(0),
        page: PageType(0),
        mode: CellMode::Slc,
        retries: 0,
    };
}
