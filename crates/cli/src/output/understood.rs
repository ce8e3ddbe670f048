//! What a trace was understood to hold, in a line.

use anyhow::Result;
use firstread_session::Input;
use firstread_workload::trace::Understood;

use super::format::{bytes, count, long_time, share};
use crate::streams::notice;

/// Says what the trace `input` holds, where it is one, up to `limit` requests.
pub fn tell(input: &Input, limit: Option<u64>) -> Result<()> {
    if let Some(understood) = input.understood(limit)? {
        notice(&format!("{}: {}", input.name(), line(&understood, limit)));
    }
    Ok(())
}

/// A trace in a line.
fn line(of: &Understood, limit: Option<u64>) -> String {
    let first = match limit {
        Some(limit) if of.requests == limit => "the first ",
        _ => "",
    };
    let kinds = of.by_op.iter().filter(|(_, n)| *n > 0);
    let kinds: Vec<String> = kinds
        .map(|(name, n)| format!("{} {name}", share(*n as f64 / of.requests.max(1) as f64)))
        .collect();
    let mut text = format!(
        "read as {}: {first}{} requests ({})",
        of.format,
        count(of.requests),
        kinds.join(", ")
    );
    if let (Some((least, most)), Some((start, end))) = (of.size_bytes, of.range_bytes) {
        let sizes = match least == most {
            true => kib(least),
            false => format!("{} to {}", kib(least), kib(most)),
        };
        text += &format!(
            " of {sizes}, {} in all, between {} and {}",
            bytes(of.bytes as f64),
            bytes(start as f64),
            bytes(end as f64)
        );
    }
    text += &match of.span_ns {
        0 => ", without times".to_owned(),
        span => format!(", over {}", long_time(span as f64)),
    };
    if of.devices > 1 {
        text += &format!(", of {} devices", of.devices);
    }
    text
}

/// A length as job files have it: `512 B`, `4 KiB`, `1 MiB`.
fn kib(bytes: u64) -> String {
    match bytes {
        n if n >= 1 << 20 && n.is_multiple_of(1 << 20) => format!("{} MiB", n >> 20),
        n if n.is_multiple_of(1024) => format!("{} KiB", n >> 10),
        n => format!("{n} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_a_trace_in_a_line() {
        let mut of = Understood {
            format: "msr",
            requests: 1_000_000,
            by_op: [
                ("reads", 750_000),
                ("writes", 250_000),
                ("trims", 0),
                ("flushes", 0),
            ],
            size_bytes: Some((512, 1 << 20)),
            bytes: 4_096_000_000,
            range_bytes: Some((0, 36_000_000_000)),
            span_ns: 3_600_000_000_000,
            devices: 2,
        };
        assert_eq!(
            line(&of, None),
            "read as msr: 1,000,000 requests (75.00 % reads, 25.00 % writes) of 512 B to 1 MiB, 4.10 GB in all, \
             between 0 B and 36.0 GB, over 1 h, of 2 devices"
        );
        of.size_bytes = Some((4096, 4096));
        (of.span_ns, of.devices) = (0, 1);
        assert_eq!(
            line(&of, Some(1_000_000)),
            "read as msr: the first 1,000,000 requests (75.00 % reads, 25.00 % writes) of 4 KiB, 4.10 GB in all, \
             between 0 B and 36.0 GB, without times"
        );
    }
}
