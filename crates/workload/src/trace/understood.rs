//! What a trace holds, as it was understood.

use firstread_core::HostOp;

/// Requests of a trace, by what they do, and where and when they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Understood {
    /// Name of its format.
    pub format: &'static str,
    /// Requests that were read, of all operations.
    pub requests: u64,
    /// Reads, writes, trims and flushes among them.
    pub by_op: [(&'static str, u64); 4],
    /// Shortest and longest request that is no flush (bytes).
    pub size_bytes: Option<(u64, u64)>,
    /// Bytes of all requests together.
    pub bytes: u64,
    /// First byte and the byte after the last that a request touches.
    pub range_bytes: Option<(u64, u64)>,
    /// Time from the first request to the last (ns), divided by the replay speed.
    pub span_ns: u64,
    /// Different devices that the records name.
    pub devices: usize,
}

impl Understood {
    pub(super) fn of(format: &'static str) -> Understood {
        Understood {
            format,
            by_op: [("reads", 0), ("writes", 0), ("trims", 0), ("flushes", 0)],
            ..Understood::default()
        }
    }

    pub(super) fn add(&mut self, op: HostOp, time_ns: u64, start: u64, len: u64) {
        let i = match op {
            HostOp::Read => 0,
            HostOp::Write => 1,
            HostOp::Trim => 2,
            HostOp::Flush => 3,
        };
        self.requests += 1;
        self.by_op[i].1 += 1;
        self.span_ns = time_ns;
        if op == HostOp::Flush {
            return;
        }
        let end = start + len;
        let widen = |range: Option<(u64, u64)>, low: u64, high: u64| {
            let (a, b) = range.unwrap_or((low, high));
            Some((a.min(low), b.max(high)))
        };
        self.size_bytes = widen(self.size_bytes, len, len);
        self.range_bytes = widen(self.range_bytes, start, end);
        self.bytes = self.bytes.saturating_add(len);
    }
}
