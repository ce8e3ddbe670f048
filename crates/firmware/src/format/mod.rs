//! The written form of what outlives a power cut.
//!
//! A dump is a header and sections, of little-endian fields of fixed width. A section has a number, a version, a
//! length and a checksum. A machine says of each of its fields whether a dump keeps it (`record!`), and a field
//! that it says nothing about does not compile. One function serves both directions (`Record::transfer`), so that
//! what is saved is what is loaded. Nothing here allocates.
//!
//! A platform whose memory survives by itself keeps the same fields in cells of it, as they change (`kept`).
//!
//! `docs/firmware/format.md` is made from the same tables.

mod crc32c;
mod cursor;
mod fields;
mod kept;
#[cfg(test)]
mod rows;
mod section;

pub use crc32c::checksum;
pub(crate) use cursor::Cursor;
pub(crate) use fields::{Blank, Record, record, tags};
pub use kept::{CELL_BYTES, KeptError, KeptMemory};
pub(crate) use kept::{Cells, bytes_of};
pub use section::{Damage, Header, MountError, SectionId, Shutdown, bytes_up_to, section_of};
pub(crate) use section::{Sections, dump_bytes, write_sections};

#[cfg(test)]
mod tests;
