//! Reasons for which copies of pages that the host has read are refused.

/// Why a page that the host has read is not copied: not promoted, or not refreshed. What is refused is counted and
/// forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyRefused {
    /// The host has read a part of the page alone, so the rest of its data is not at hand.
    Part,
    /// No superblock is free. If the stream has a mode of its own, one is looked for.
    NoSuperblock,
    /// The write buffer of the stream is full.
    Buffer,
    /// Data of failed programs have to be written first.
    Rewrites,
    /// The map has no room for a change.
    Map,
    /// Another superblock in the mode would leave less over-provisioning than `keep`, or less than cleaning
    /// needs.
    OverProvisioning,
    /// Cleaning or the host needs the free superblocks that are left.
    Reserve,
    /// Another superblock in the mode would cost more capacity than the scheme may lose.
    Capacity,
    /// As many pages were promoted as the scheme lets it for those that the host has read.
    Rate,
    /// No superblock is free, and too few pages wait for one to be converted.
    Demand,
}

impl CopyRefused {
    /// Bins of a counter with one bin for each reason.
    pub const COUNT: usize = 10;

    /// All reasons, in the order of the counter.
    pub const ALL: [CopyRefused; CopyRefused::COUNT] = [
        CopyRefused::Part,
        CopyRefused::NoSuperblock,
        CopyRefused::Buffer,
        CopyRefused::Rewrites,
        CopyRefused::Map,
        CopyRefused::OverProvisioning,
        CopyRefused::Reserve,
        CopyRefused::Capacity,
        CopyRefused::Rate,
        CopyRefused::Demand,
    ];

    /// Whether the page was refused because there is no room for it, which may stay so for long.
    pub(crate) const fn is_for_room(self) -> bool {
        matches!(
            self,
            CopyRefused::NoSuperblock
                | CopyRefused::OverProvisioning
                | CopyRefused::Reserve
                | CopyRefused::Capacity
                | CopyRefused::Demand
        )
    }

    /// Key of the reason in results.
    pub const fn name(self) -> &'static str {
        match self {
            CopyRefused::Part => "part_of_a_page",
            CopyRefused::NoSuperblock => "no_superblock",
            CopyRefused::Buffer => "buffer",
            CopyRefused::Rewrites => "rewrites",
            CopyRefused::Map => "map",
            CopyRefused::OverProvisioning => "over_provisioning",
            CopyRefused::Reserve => "reserve",
            CopyRefused::Capacity => "capacity",
            CopyRefused::Rate => "rate",
            CopyRefused::Demand => "demand",
        }
    }
}
