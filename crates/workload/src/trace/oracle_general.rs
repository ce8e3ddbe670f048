//! libCacheSim's oracleGeneral: fixed records of object accesses, little endian.
//!
//! A record is `u32 timestamp (s), u64 obj_id, u32 obj_size (B), i64 next_access_vtime`, packed. Of a block trace the
//! object id is an address. Operations are not told.

use firstread_core::HostOp;

use super::error::RecordError;
use super::text::{Fault, Raw};

/// Length of a record.
pub(super) const BYTES: usize = 24;
/// Records looked at to tell the format.
const LOOKED_AT: usize = 64;

fn bytes_at<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    if let Some(found) = record.get(at..at + N) {
        bytes.copy_from_slice(found);
    }
    bytes
}

fn time_s(record: &[u8]) -> u32 {
    u32::from_le_bytes(bytes_at(record, 0))
}

fn size_bytes(record: &[u8]) -> u32 {
    u32::from_le_bytes(bytes_at(record, 12))
}

/// Whether a trace that begins with `head` may be one: at least two records, times that never go back, sizes below
/// 1 GiB that are not all 0, and next accesses that lie ahead or are none (negative or the largest number).
pub(super) fn detect(head: &[u8]) -> bool {
    let records: Vec<&[u8]> = head.chunks_exact(BYTES).take(LOOKED_AT).collect();
    let next_lies_ahead = |(i, record): (usize, &&[u8])| {
        let next = i64::from_le_bytes(bytes_at(record, 16));
        next < 0 || next > i as i64
    };
    records.len() >= 2
        && records.is_sorted_by_key(|record| time_s(record))
        && records.iter().all(|record| size_bytes(record) < 1 << 30)
        && records.iter().any(|record| size_bytes(record) > 0)
        && records.iter().enumerate().all(next_lies_ahead)
}

/// The request of a whole record, whose object id counts units of `unit_bytes`.
pub(super) fn parse(record: &[u8], unit_bytes: u64) -> Result<Raw, Fault> {
    let id = u64::from_le_bytes(bytes_at(record, 4));
    let offset_bytes = id
        .checked_mul(unit_bytes)
        .ok_or_else(|| Fault::column("obj_id", RecordError::TooLarge(id)))?;
    Ok(Raw {
        time_ns: u64::from(time_s(record)) * 1_000_000_000,
        op: HostOp::Read,
        offset_bytes,
        len_bytes: u64::from(size_bytes(record)),
        device: 0,
    })
}
