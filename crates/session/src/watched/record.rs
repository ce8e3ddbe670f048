//! A request as a log has it, and the columns of a log.

use firstread_core::{CellMode, HostOp, Ns, PageType, Status};
use firstread_drive::{Cause, NsByCause, Observed};

/// A request, as it is logged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record {
    /// Time from which its latency counts, since the start of the run (ns).
    pub arrival_ns: u64,
    pub offset_bytes: u64,
    pub latency_ns: u64,
    pub length_bytes: u32,
    /// Number of the job in its file, the clones of `numjobs` counted, from 0 on.
    pub job: u32,
    pub op: HostOp,
    pub is_lost: bool,
    pub is_measured: bool,
    pub page: Option<LoggedPage>,
    pub ns_by_cause: NsByCause,
}

/// The page of flash that a read waited for last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LoggedPage {
    pub die: u16,
    pub page: PageType,
    pub mode: CellMode,
    pub retries: u16,
}

impl Record {
    pub fn of(request: &Observed<'_>, began: Ns) -> Record {
        let completed = request.completed;
        let command = completed.command;
        Record {
            arrival_ns: completed.since.since(began).0,
            offset_bytes: command.offset_bytes,
            latency_ns: completed.at.since(completed.since).0,
            length_bytes: command.len_bytes,
            job: completed.queue,
            op: command.op,
            is_lost: completed.status == Status::Uncorrectable,
            is_measured: request.is_measured,
            page: completed.page.map(|page| LoggedPage {
                die: page.die.0,
                page: page.page,
                mode: page.mode,
                retries: page.retries,
            }),
            ns_by_cause: *completed.ns_by_cause,
        }
    }
}

/// Name of an operation in a log.
pub(super) const fn op_name(op: HostOp) -> &'static str {
    match op {
        HostOp::Read => "read",
        HostOp::Write => "write",
        HostOp::Trim => "trim",
        HostOp::Flush => "flush",
    }
}

/// Names of the columns, in their order.
pub fn columns() -> Vec<String> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let before: Vec<String> = names(&[
        "arrival_ns",
        "kind",
        "offset_bytes",
        "length_bytes",
        "latency_ns",
    ]);
    let causes = Cause::ALL.map(|cause| format!("{}_ns", cause.name()));
    let after: Vec<String> = names(&[
        "retries",
        "page_type",
        "cell_mode",
        "die",
        "lost",
        "measured",
        "job",
    ]);
    before.into_iter().chain(causes).chain(after).collect()
}
