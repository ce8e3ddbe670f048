//! CloudPhysics vscsi binary: fixed records of SCSI commands, little endian.

use firstread_core::HostOp;

use super::error::RecordError;
use super::text::{Fault, Raw};

/// Layout of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// 32 bytes: sn, len, nSG, cmd, ver, lbn, ts.
    One,
    /// 40 bytes: cmd, ver, sn, len, nSG, lbn, ts, rt.
    Two,
}

impl Version {
    pub(super) const fn bytes(self) -> usize {
        match self {
            Version::One => 32,
            Version::Two => 40,
        }
    }

    /// The version of a trace that begins with `head`: the version byte must stand at its place in
    /// the first two records, or in the only one.
    pub(super) fn detect(head: &[u8]) -> Option<Version> {
        [Version::Two, Version::One].into_iter().find(|version| {
            let mut records = head.chunks_exact(version.bytes()).take(2).peekable();
            records.peek().is_some() && records.all(|record| version.matches(record))
        })
    }

    /// Whether a whole record has this version and a command with a known meaning.
    fn matches(self, record: &[u8]) -> bool {
        let fields = self.fields(record);
        fields.version == self.number() && meaning(fields.command) != Meaning::Unknown
    }

    const fn number(self) -> u16 {
        match self {
            Version::One => 1,
            Version::Two => 2,
        }
    }

    fn fields(self, r: &[u8]) -> Fields {
        let (command, version, len, at) = match self {
            Version::One => (12, 14, 4, 16),
            Version::Two => (0, 2, 8, 16),
        };
        Fields {
            command: u16_at(r, command),
            version: u16_at(r, version) >> 8,
            len: u32_at(r, len),
            block: u64_at(r, at),
            time_us: u64_at(r, at + 8),
        }
    }
}

struct Fields {
    command: u16,
    version: u16,
    len: u32,
    block: u64,
    time_us: u64,
}

fn bytes_at<const N: usize>(r: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    if let Some(found) = r.get(at..at + N) {
        bytes.copy_from_slice(found);
    }
    bytes
}
fn u16_at(r: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes_at(r, at))
}
fn u32_at(r: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes_at(r, at))
}
fn u64_at(r: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes_at(r, at))
}

#[derive(PartialEq, Eq)]
enum Meaning {
    Moves(HostOp),
    Flush,
    /// A command that reads or writes no blocks.
    NoData,
    Unknown,
}

/// Operation codes of SBC-3 and SPC-4.
fn meaning(command: u16) -> Meaning {
    match command {
        0x08 | 0x28 | 0xa8 | 0x88 => Meaning::Moves(HostOp::Read),
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Meaning::Moves(HostOp::Write),
        0x35 | 0x91 => Meaning::Flush,
        // Test unit ready, request sense, inquiry, mode select and sense, reserve, release, start
        // stop, read capacity, verify, log sense, persistent reserve, service action in, report LUNs.
        0x00 | 0x03 | 0x12 | 0x15 | 0x16 | 0x17 | 0x1a | 0x1b | 0x1e | 0x25 | 0x2f | 0x4d
        | 0x55 | 0x5a | 0x5e | 0x5f | 0x8f | 0x9e | 0xa0 | 0xa3 => Meaning::NoData,
        _ => Meaning::Unknown,
    }
}

/// The request of a whole record, `None` for a command that moves no data.
pub(super) fn parse(version: Version, record: &[u8]) -> Result<Option<Raw>, Fault> {
    let f = version.fields(record);
    if f.version != version.number() {
        return Err(Fault::column(
            "ver",
            RecordError::Version {
                found: f.version,
                of: version.number(),
            },
        ));
    }
    let op = match meaning(f.command) {
        Meaning::Moves(op) => op,
        Meaning::Flush => HostOp::Flush,
        Meaning::NoData => return Ok(None),
        Meaning::Unknown => {
            return Err(Fault::column("cmd", RecordError::Command(f.command)));
        }
    };
    let scaled = |column, n: u64, unit: u64| {
        n.checked_mul(unit)
            .ok_or_else(|| Fault::column(column, RecordError::TooLarge(n)))
    };
    let flush = op == HostOp::Flush;
    Ok(Some(Raw {
        time_ns: scaled("ts", f.time_us, 1000)?,
        op,
        offset_bytes: if flush {
            0
        } else {
            scaled("lbn", f.block, 512)?
        },
        len_bytes: if flush { 0 } else { u64::from(f.len) },
        device: 0,
        placement: 0,
    }))
}
