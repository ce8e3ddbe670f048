//! Areas: parts of a drive that wear apart.

/// An area. Superblocks of lower numbers are the high wearing one, the others the low wearing one. A drive without
/// areas is all high wearing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Area {
    /// The high wearing area (HWA), which takes writes.
    High,
    /// The low wearing area (LWA), which keeps what is read often.
    Low,
}

impl Area {
    /// Number of areas.
    pub const COUNT: usize = 2;

    /// Both areas.
    pub const ALL: [Area; Area::COUNT] = [Area::High, Area::Low];

    /// Key of the area in results.
    pub const fn name(self) -> &'static str {
        match self {
            Area::High => "high",
            Area::Low => "low",
        }
    }
}

/// How a page enters the low wearing area, or stays in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LowEntry {
    /// It was read often and slowly: copied from the buffer of the read.
    Read,
    /// It is read often, and garbage collection of the high wearing area moved it anyway.
    Gc,
    /// It is read often, and wear leveling of the high wearing area moved it anyway.
    Wear,
    /// It is read often, and the host wrote it anew.
    Update,
    /// The host wrote it anew, and the high wearing area has reached its bound.
    Bound,
    /// It moved twice without a write of the host: it is cold, and the low wearing area has room.
    Spill,
    /// It lay in the area, and its superblock was emptied.
    Stay,
}

impl LowEntry {
    /// Number of ways.
    pub const COUNT: usize = 7;

    /// All ways, in the order of the counter.
    pub const ALL: [LowEntry; LowEntry::COUNT] = [
        LowEntry::Read,
        LowEntry::Gc,
        LowEntry::Wear,
        LowEntry::Update,
        LowEntry::Bound,
        LowEntry::Spill,
        LowEntry::Stay,
    ];

    /// Key of the way in results.
    pub const fn name(self) -> &'static str {
        match self {
            LowEntry::Read => "by_read",
            LowEntry::Gc => "by_gc",
            LowEntry::Wear => "by_wear_leveling",
            LowEntry::Update => "by_update",
            LowEntry::Bound => "at_bound",
            LowEntry::Spill => "spilled",
            LowEntry::Stay => "stayed",
        }
    }

    /// Whether the host wrote the page, and its write put the page there.
    pub(crate) fn is_of_host(self) -> bool {
        matches!(self, LowEntry::Update | LowEntry::Bound)
    }

    /// Whether the page leaves the area one free superblock, for pages that are wanted there.
    pub(crate) fn leaves_one_free(self) -> bool {
        self == LowEntry::Spill
    }

    /// Whether the page is wanted in the area because it is read often, so that others give way to it.
    pub fn is_hot(self) -> bool {
        matches!(
            self,
            LowEntry::Read | LowEntry::Gc | LowEntry::Wear | LowEntry::Update | LowEntry::Bound
        )
    }
}
