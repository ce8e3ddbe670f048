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
        placement: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of 4 KiB, by its time (s), size and next access.
    fn record(time_s: u32, size_bytes: u32, next: i64) -> Vec<u8> {
        let mut bytes = time_s.to_le_bytes().to_vec();
        bytes.extend(7u64.to_le_bytes());
        bytes.extend(size_bytes.to_le_bytes());
        bytes.extend(next.to_le_bytes());
        bytes
    }

    #[test]
    fn formula_records_are_those_of_the_format() {
        let of = |records: &[(u32, u32, i64)]| {
            let head: Vec<u8> = records
                .iter()
                .flat_map(|&(t, n, next)| record(t, n, next))
                .collect();
            detect(&head)
        };
        assert!(
            of(&[(5, 4096, 1), (5, 0, -1)]),
            "the next access is the next record"
        );
        assert!(of(&[(5, 4096, i64::MAX), (6, (1 << 30) - 1, 2)]));
        assert!(
            !of(&[(5, 4096, 0), (5, 4096, -1)]),
            "the next access is the record itself"
        );
        assert!(!of(&[(5, 4096, 1), (5, 4096, 1)]), "and of the second one");
        assert!(!of(&[(5, 4096, 1)]), "one record");
        assert!(!of(&[(6, 4096, 1), (5, 4096, -1)]), "time goes back");
        assert!(!of(&[(5, 1 << 30, 1), (5, 4096, -1)]), "1 GiB");
        assert!(!of(&[(5, 0, 1), (5, 0, -1)]), "nothing is moved");
    }
}
