//! The checksum of everything that is written.

use crc::{CRC_32_ISCSI, Crc, Table};

/// CRC-32C (Castagnoli), as iSCSI and NVMe use it.
pub(super) const CHECKSUM: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISCSI);

/// Checksum of `parts`, one after another.
pub fn checksum<'a>(parts: impl Iterator<Item = &'a [u8]>) -> u32 {
    let mut digest = CHECKSUM.digest();
    parts.for_each(|part| digest.update(part));
    digest.finalize()
}
