//! Header and sections of a dump.

use core::fmt;

use firstread_core::Ns;

use super::crc32c::CHECKSUM;
use super::kept::KeptError;
use super::{Cursor, Record};

/// How a dump begins.
const MAGIC: u64 = u64::from_le_bytes(*b"fr-dump\0");
/// Version of the format.
const VERSION: u16 = 1;
/// Bytes of the header without its checksum, and of the head of a section without its checksum.
const HEADER_BYTES: usize = 52;
const HEAD_BYTES: usize = 12;
const CHECKSUM_BYTES: usize = 4;
const _: () = assert!(HEADER_BYTES == 8 + 2 + 1 + 1 + 4 + 8 + 8 + 8 + 8 + 4);

/// A section of a dump. Its number never changes its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SectionId {
    /// A row for each superblock.
    Superblocks = 1,
    /// Write buffers, blocks that failed, spares, erases and programs that waited.
    Placement = 2,
    /// The slots that the write buffers hold: page and sequence number of each.
    Buffers = 3,
    /// Trims and losses, and map pages that lie nowhere.
    Journal = 4,
    /// Map pages with changes that are not on flash.
    MapCache = 5,
    /// Victims that garbage collection has planned.
    Relocation = 6,
    /// What axis `read_levels` has learned, for each cell mode.
    ReadLevels = 7,
    /// What axis `retry` has learned, for each cell mode.
    Retry = 8,
    /// Counters of the drive's life.
    Counters = 9,
    /// What the cut has met.
    Cut = 10,
}

impl SectionId {
    /// All sections, in the order in which they are written: first those without which data would be lost.
    pub const ALL: [SectionId; 10] = [
        SectionId::Superblocks,
        SectionId::Placement,
        SectionId::Buffers,
        SectionId::Journal,
        SectionId::MapCache,
        SectionId::Counters,
        SectionId::Relocation,
        SectionId::ReadLevels,
        SectionId::Retry,
        SectionId::Cut,
    ];

    /// Version of its fields.
    pub(crate) const fn version(self) -> u16 {
        match self {
            // Counters for each page type, then for each stream.
            SectionId::Counters => 3,
            // A cursor for each page type.
            SectionId::Placement => 2,
            _ => 1,
        }
    }

    /// Whether data would be lost without it, so that no mount goes on without it. The drive learns or counts the others
    /// anew.
    pub const fn is_essential(self) -> bool {
        use SectionId::*;
        matches!(self, Superblocks | Placement | Buffers | Journal | MapCache)
    }

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            SectionId::Superblocks => "superblocks",
            SectionId::Placement => "placement",
            SectionId::Buffers => "buffers",
            SectionId::Journal => "journal",
            SectionId::MapCache => "map cache",
            SectionId::Relocation => "relocation",
            SectionId::ReadLevels => "read levels",
            SectionId::Retry => "retry",
            SectionId::Counters => "counters",
            SectionId::Cut => "cut",
        }
    }

    const fn index(self) -> usize {
        self as usize - 1
    }

    fn of(number: u16) -> Option<SectionId> {
        let mut all = SectionId::ALL.into_iter();
        all.find(|id| *id as u16 == number)
    }
}

/// What is wrong with a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// The dump ends before it, or what says where it begins is damaged.
    Missing,
    /// Its checksum is not that of its bytes.
    Checksum,
    /// It was written in another version of its fields.
    Version(u16),
    /// A field has a value that it cannot have on this drive, or the length is another one.
    Contents,
}

/// Why a drive does not mount.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MountError {
    /// The bytes do not begin as a dump does.
    NoDump,
    /// The header's checksum is not that of its bytes.
    Header,
    /// The dump was written in another version of the format.
    Version {
        /// The version of the dump.
        found: u16,
        /// The version that this firmware reads.
        known: u16,
    },
    /// The dump was written by a drive of another configuration.
    Identity {
        /// The identity in the dump.
        found: u64,
        /// That of this drive.
        own: u64,
    },
    /// A section without which data would be lost is damaged.
    Section(SectionId, Damage),
    /// The cells of memory that survives cannot be read.
    Kept(KeptError),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Missing => f.write_str("it is missing"),
            Damage::Checksum => f.write_str("its checksum is wrong"),
            Damage::Version(found) => write!(f, "this firmware does not know its version {found}"),
            Damage::Contents => f.write_str("a field has a value that this drive cannot have"),
        }
    }
}

impl fmt::Display for MountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MountError::NoDump => f.write_str("these bytes are no dump"),
            MountError::Header => f.write_str("the header of the dump is damaged"),
            MountError::Version { found, known } => {
                write!(f, "the dump has version {found} of the format, not {known}")
            }
            MountError::Identity { found, own } => write!(
                f,
                "the dump is of another drive: its identity is {found:016x}, not {own:016x}"
            ),
            MountError::Section(id, damage) => {
                write!(f, "section `{}` of the dump: {damage}", id.name())
            }
            MountError::Kept(error) => write!(f, "the memory that survives: {error}"),
        }
    }
}

impl core::error::Error for MountError {}

/// What the header of a dump says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// Identity of the drive's configuration.
    pub identity: u64,
    /// The drive's clock when it was written.
    pub clock: Ns,
    /// The last sequence number that was given out.
    pub sequence: u64,
    /// How many dumps the drive has written before.
    pub saves: u64,
    /// Shutdowns so far that no host had asked for.
    pub unsafe_shutdowns: u32,
    /// Why the drive ended.
    pub shutdown: Shutdown,
}

/// Why a drive ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Shutdown {
    /// Power was lost.
    #[default]
    PowerLoss,
    /// The host has reset it, and power stayed on.
    Reset,
    /// The host has shut it down: it wrote an image of the map.
    Normal,
}

impl Shutdown {
    const ALL: [Shutdown; 3] = [Shutdown::PowerLoss, Shutdown::Reset, Shutdown::Normal];

    fn of(number: u8) -> Option<Shutdown> {
        Shutdown::ALL.get(usize::from(number)).copied()
    }
}

impl Header {
    /// The header of a drive that mounts what was left under this one.
    pub(crate) fn mounted(self) -> Header {
        let is_unsafe = self.shutdown == Shutdown::PowerLoss;
        let unsafe_shutdowns = self.unsafe_shutdowns.saturating_add(u32::from(is_unsafe));
        Header {
            unsafe_shutdowns,
            shutdown: Shutdown::PowerLoss,
            ..self
        }
    }

    /// Saves the header where no dump follows, or loads it.
    pub(crate) fn transfer_alone(&mut self, cursor: &mut Cursor<'_>) {
        self.transfer(&mut Fixed::default(), cursor);
    }

    fn transfer(&mut self, fixed: &mut Fixed, cursor: &mut Cursor<'_>) {
        let Header {
            identity,
            clock,
            sequence,
            saves,
            unsafe_shutdowns,
            // Its number is looked at once the checksum is.
            shutdown: _,
        } = self;
        let mut zero = 0u8;
        fixed.magic.transfer(cursor);
        fixed.version.transfer(cursor);
        fixed.shutdown.transfer(cursor);
        zero.transfer(cursor);
        fixed.length.transfer(cursor);
        identity.transfer(cursor);
        clock.transfer(cursor);
        sequence.transfer(cursor);
        saves.transfer(cursor);
        unsafe_shutdowns.transfer(cursor);
    }
}

/// What else a header says.
#[derive(Default)]
struct Fixed {
    magic: u64,
    version: u16,
    shutdown: u8,
    length: u32,
}

/// Bytes of a dump whose sections have these bytes.
pub(crate) const fn dump_bytes(sections: usize) -> usize {
    HEADER_BYTES + CHECKSUM_BYTES + SectionId::ALL.len() * (HEAD_BYTES + CHECKSUM_BYTES) + sections
}

/// Writes checksum of `bytes[..len]` behind them. Returns the end.
fn seal(bytes: &mut [u8], len: usize) -> Option<usize> {
    let checksum = CHECKSUM.checksum(bytes.get(..len)?);
    let to = bytes.get_mut(len..len + CHECKSUM_BYTES)?;
    to.copy_from_slice(&checksum.to_le_bytes());
    Some(len + CHECKSUM_BYTES)
}

/// Whether the checksum of `bytes[..len]` lies behind them.
fn is_sealed(bytes: &[u8], len: usize) -> bool {
    let checksum = bytes.get(len..len + CHECKSUM_BYTES);
    checksum == Some(&CHECKSUM.checksum(&bytes[..len]).to_le_bytes())
}

/// Writes a dump into `bytes`: the header, and of each section what `transfer` saves. Returns its length; none if
/// `bytes` is too short.
pub(crate) fn write_sections(
    bytes: &mut [u8],
    header: &Header,
    mut transfer: impl FnMut(SectionId, &mut Cursor<'_>),
) -> Option<usize> {
    let mut at = HEADER_BYTES + CHECKSUM_BYTES;
    for id in SectionId::ALL {
        let section = bytes.get_mut(at..)?;
        let (head, body) = section.split_at_mut_checked(HEAD_BYTES + CHECKSUM_BYTES)?;
        let mut cursor = Cursor::saving(body);
        transfer(id, &mut cursor);
        let len = cursor.end()?;
        let mut cursor = Cursor::saving(head);
        let (mut number, mut version, mut length) = (id as u16, id.version(), len as u32);
        number.transfer(&mut cursor);
        version.transfer(&mut cursor);
        length.transfer(&mut cursor);
        CHECKSUM.checksum(&body[..len]).transfer(&mut cursor);
        seal(head, HEAD_BYTES)?;
        at += HEAD_BYTES + CHECKSUM_BYTES + len;
    }
    let mut header = *header;
    let mut fixed = Fixed {
        magic: MAGIC,
        version: VERSION,
        shutdown: header.shutdown as u8,
        length: at as u32,
    };
    header.transfer(&mut fixed, &mut Cursor::saving(bytes));
    seal(bytes, HEADER_BYTES)?;
    Some(at)
}

/// Bytes of `dump` up to the end of section `last`: what capacitors save that fail then.
pub fn bytes_up_to(dump: &[u8], last: SectionId) -> usize {
    section_at(dump, last).1
}

/// Section `id` of `dump`, without its head; empty if the dump ends before it.
pub fn section_of(dump: &[u8], id: SectionId) -> &[u8] {
    let (begin, end) = section_at(dump, id);
    &dump[begin..end]
}

/// Where section `id` of `dump` begins behind its head, and where it ends.
fn section_at(dump: &[u8], id: SectionId) -> (usize, usize) {
    let (mut begin, mut at) = (0, HEADER_BYTES + CHECKSUM_BYTES);
    for section in SectionId::ALL {
        let Some(head) = dump.get(at..at + HEAD_BYTES) else {
            begin = at;
            break;
        };
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        begin = at + HEAD_BYTES + CHECKSUM_BYTES;
        at = begin + length as usize;
        if section == id {
            break;
        }
    }
    (begin.min(dump.len()), at.min(dump.len()))
}

/// The sections of a dump that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sections<'a> {
    bodies: [Result<&'a [u8], Damage>; SectionId::ALL.len()],
}

impl<'a> Sections<'a> {
    /// Reads the header, and finds the sections.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<(Header, Sections<'a>), MountError> {
        let (mut header, mut fixed) = (Header::default(), Fixed::default());
        let mut cursor = Cursor::loading(bytes);
        header.transfer(&mut fixed, &mut cursor);
        if cursor.has_fault() || fixed.magic != MAGIC {
            return Err(MountError::NoDump);
        }
        if !is_sealed(bytes, HEADER_BYTES) {
            return Err(MountError::Header);
        }
        if fixed.version != VERSION {
            return Err(MountError::Version {
                found: fixed.version,
                known: VERSION,
            });
        }
        header.shutdown = Shutdown::of(fixed.shutdown).ok_or(MountError::Header)?;
        let bytes = &bytes[..bytes.len().min(fixed.length as usize)];
        let mut sections = Sections {
            bodies: [Err(Damage::Missing); SectionId::ALL.len()],
        };
        let mut at = HEADER_BYTES + CHECKSUM_BYTES;
        while let Some(end) = sections.find(bytes, at) {
            at = end;
        }
        Ok((header, sections))
    }

    /// Notes the section at `at`. Returns its end; none if nobody knows where that is.
    fn find(&mut self, bytes: &'a [u8], at: usize) -> Option<usize> {
        let (head, body) = bytes
            .get(at..)?
            .split_at_checked(HEAD_BYTES + CHECKSUM_BYTES)?;
        if !is_sealed(head, HEAD_BYTES) {
            return None;
        }
        let (mut number, mut version, mut length, mut checksum) = (0u16, 0u16, 0u32, 0u32);
        let mut cursor = Cursor::loading(head);
        number.transfer(&mut cursor);
        version.transfer(&mut cursor);
        length.transfer(&mut cursor);
        checksum.transfer(&mut cursor);
        let body = body.get(..length as usize);
        // A section that a later version has added says nothing to this one.
        if let Some(id) = SectionId::of(number) {
            self.bodies[id.index()] = match body {
                None => Err(Damage::Missing),
                Some(_) if version != id.version() => Err(Damage::Version(version)),
                Some(body) if CHECKSUM.checksum(body) != checksum => Err(Damage::Checksum),
                Some(body) => Ok(body),
            };
        }
        Some(at + HEAD_BYTES + CHECKSUM_BYTES + body?.len())
    }

    /// The bytes of section `id`.
    #[cfg(test)]
    pub(super) fn body(&self, id: SectionId) -> Result<&'a [u8], Damage> {
        self.bodies[id.index()]
    }

    /// Loads section `id` by `transfer`.
    pub(crate) fn load(
        &self,
        id: SectionId,
        transfer: impl FnOnce(&mut Cursor<'_>),
    ) -> Result<(), Damage> {
        let mut cursor = Cursor::loading(self.bodies[id.index()]?);
        transfer(&mut cursor);
        match cursor.is_whole() {
            true => Ok(()),
            false => Err(Damage::Contents),
        }
    }
}

/// Makes the checksums of a changed dump right again, as far as its sections can be found.
#[cfg(test)]
pub(super) fn reseal(bytes: &mut [u8]) {
    seal(bytes, HEADER_BYTES);
    let mut at = HEADER_BYTES + CHECKSUM_BYTES;
    while let Some(section) = bytes.get_mut(at..)
        && let Some((head, body)) = section.split_at_mut_checked(HEAD_BYTES + CHECKSUM_BYTES)
    {
        let length = u32::from_le_bytes(core::array::from_fn(|i| head[4 + i])) as usize;
        let Some(body) = body.get(..length) else {
            break;
        };
        head[8..12].copy_from_slice(&CHECKSUM.checksum(body).to_le_bytes());
        seal(head, HEAD_BYTES);
        at += HEAD_BYTES + CHECKSUM_BYTES + length;
    }
}
