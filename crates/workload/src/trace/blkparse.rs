//! Text output of blkparse in its default format.

use firstread_core::HostOp;

use super::error::{BadNumber, RecordError};
use super::format::Separator;
use super::text::{Fault, Fields, Raw, decimal, shown, whole};

/// What a line is.
#[derive(Debug)]
pub(super) enum Line {
    Request(Raw),
    /// An event of another action, or a request without data.
    Other,
    /// The summary that follows the last event has begun.
    Summary,
}

/// Actions of blkparse(1).
const ACTIONS: [&[u8]; 17] = [
    b"A", b"B", b"C", b"D", b"F", b"G", b"I", b"M", b"P", b"Q", b"R", b"S", b"T", b"U", b"UT",
    b"X", b"m",
];

/// Parses `line`, where events of `action` are requests.
pub(super) fn parse(line: &[u8], action: u8) -> Result<Line, Fault> {
    if line.starts_with(b"CPU") || line.starts_with(b"Total (") || line.starts_with(b"Throughput") {
        return Ok(Line::Summary);
    }
    let fields = Fields::cut(line, Separator::Blanks);
    if fields.len() < 6 {
        return Err(Fault::record(RecordError::BlkparseColumns {
            given: fields.len(),
            line: shown(line),
        }));
    }
    let device = device(fields.get(0))?;
    let time_ns =
        decimal(fields.get(3), 1_000_000_000).map_err(|why| Fault::column("time", why))?;
    let event = fields.get(5);
    if !ACTIONS.contains(&event) {
        return Err(Fault::field("action", event, "is no action of blkparse"));
    }
    if event != [action] {
        return Ok(Line::Other);
    }
    let rwbs = fields.get(6);
    let op = operation(rwbs)?;
    // A flush carries no data: `FWS [process]`, or `FWS 0 + 0`.
    let (sector, sectors) = if fields.get(8) == b"+" {
        (
            whole(fields.get(7)).map_err(|why| Fault::column("sector", why))?,
            whole(fields.get(9)).map_err(|why| Fault::column("sectors", why))?,
        )
    } else {
        (0, 0)
    };
    let op = match (op, rwbs[0], sectors) {
        (_, b'F', 0) => HostOp::Flush,
        (None, ..) => return Ok(Line::Other),
        (Some(op), ..) => op,
    };
    let scaled = |column, n: u64| {
        n.checked_mul(512)
            .ok_or_else(|| Fault::column(column, RecordError::TooLarge(n)))
    };
    Ok(Line::Request(Raw {
        time_ns,
        op,
        offset_bytes: scaled("sector", sector)?,
        len_bytes: scaled("sectors", sectors)?,
        device,
        placement: 0,
    }))
}

/// `R`, `W` or `D`, after an `F` that asks for a flush first and before flags; `N` is none.
fn operation(rwbs: &[u8]) -> Result<Option<HostOp>, Fault> {
    let first = rwbs.iter().position(|&b| b != b'F').unwrap_or(0);
    match rwbs.get(first) {
        Some(b'R') => Ok(Some(HostOp::Read)),
        Some(b'W') => Ok(Some(HostOp::Write)),
        Some(b'D') => Ok(Some(HostOp::Trim)),
        Some(b'N' | b'F') => Ok(None),
        _ => Err(Fault::field(
            "rwbs",
            rwbs,
            "begins with none of R, W, D, F, N",
        )),
    }
}

/// `major,minor` as one number, as in Linux's `dev_t`.
fn device(field: &[u8]) -> Result<u32, Fault> {
    let fault = |why: BadNumber| Fault::column("device", why);
    let Some(comma) = field.iter().position(|&b| b == b',') else {
        return Err(Fault::field("device", field, "is not major,minor"));
    };
    let major = whole(&field[..comma]).map_err(fault)?;
    let minor = whole(&field[comma + 1..]).map_err(fault)?;
    if major >= 1 << 12 || minor >= 1 << 20 {
        return Err(fault(BadNumber::TooLarge(shown(field))));
    }
    Ok((major << 20 | minor) as u32)
}
