//! The contract of schemes of axis `page_type`.

use firstread_core::voltage::MAX_PAGES;
use firstread_core::{CellMode, PageType};

use crate::observe::PageHeat;
use crate::policy::hot_pages::PageRead;

/// Streams that a scheme may keep apart: at least as many as a drive has.
pub const MOST_PLACED_STREAMS: usize = 32;

/// Bins of heat.
pub(super) const BINS: usize = 16;

/// Page types in the order in which a page tries them. Those that the mode of the superblock lacks are passed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageOrder(pub [PageType; MAX_PAGES]);

impl PageOrder {
    /// One page type after another, in the order of their bits: as a drive fills its wordlines that knows of no heat.
    pub const IN_ORDER: PageOrder = PageOrder([PageType(0), PageType(1), PageType(2), PageType(3)]);
}

/// A page that will be placed, or several that one command writes and that share a multi-plane page.
#[derive(Clone, Copy, Debug)]
pub struct PlacedPage {
    /// Multi-plane page of the host's address space that it lies in: pages that are read together lie in the same.
    pub group: u64,
    /// Whether the drive moves it. Otherwise the host writes it.
    pub moves: bool,
    /// Heat of the page; of several their mean.
    pub heat: PageHeat,
    /// The most reads that heat shows.
    pub most_reads: u8,
    /// The epoch of heat.
    pub epoch: u32,
    /// Reads that are still to come before the page is written anew, if an oracle was told; of several pages their mean.
    pub reads_left: Option<u32>,
}

/// What the bins of a wish stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scale {
    /// A bin for each number.
    Numbers,
    /// The numbers below four have a bin each, and from there on each half of a power of two.
    HalfPowers,
}

impl Scale {
    /// The bin of half of what `bin` stands for.
    #[inline]
    pub(super) fn halved(self, bin: usize) -> usize {
        match (self, bin) {
            (Scale::HalfPowers, 4..) => bin - 2,
            _ => bin / 2,
        }
    }
}

/// How hot a page is on the scale of its scheme.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wish {
    /// One of 16 bins, the coldest first.
    pub(super) bin: u8,
    /// Where the page comes among those of its bin, in 256ths, the hottest first. Pages of one group have the same place, so that
    /// they get the same page type.
    pub(super) place: u8,
    /// The epoch of heat in which its bin was read, if the bins of all pages are halved when another one begins.
    pub(super) epoch: u8,
    pub(super) scale: Scale,
}

impl Wish {
    /// A page of bin `bin` in `group`.
    pub(super) fn new(bin: u8, group: u64) -> Wish {
        Wish {
            bin: bin.min(BINS as u8 - 1),
            place: (group.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8,
            epoch: 0,
            scale: Scale::Numbers,
        }
    }

    /// Whether a page with this wish and its neighbour with `other` are read about as often, as pages are that are read together.
    pub(crate) fn is_alike(self, other: Wish) -> bool {
        self.bin.abs_diff(other.bin) <= 2 + self.bin.max(other.bin) / 8
    }

    /// The same on `scale`.
    pub(super) fn on(self, scale: Scale) -> Wish {
        Wish { scale, ..self }
    }

    /// The same of a bin that is halved with each epoch.
    pub(super) fn in_epoch(self, epoch: u32) -> Wish {
        Wish {
            epoch: epoch as u8,
            ..self
        }
    }
}

/// The trait of the axis.
pub trait PageTypes {
    /// Whether the scheme is ever asked. If not, pages are placed in order.
    fn is_on(&self) -> bool {
        false
    }
    /// How hot `page` is; none if it is placed in order.
    fn wish(&self, page: &PlacedPage) -> Option<Wish> {
        let _ = page;
        None
    }
    /// The page types that a page with `wish` tries, in `stream` and in a superblock in `mode`.
    fn order(&self, stream: usize, wish: Wish, mode: CellMode) -> PageOrder {
        let _ = (stream, wish, mode);
        PageOrder::IN_ORDER
    }
    /// A page with `wish` has been given a slot in `stream`.
    fn has_placed(&mut self, stream: usize, wish: Wish) {
        let _ = (stream, wish);
    }
    /// Whether `promotes` is asked.
    fn sees_reads(&self) -> bool {
        false
    }
    /// The host has read a page from a full superblock in the drive's own mode, and it was not copied. Returns whether it is
    /// to be moved for the sake of its page type, as far as the drive can.
    fn promotes(&mut self, read: &PageRead) -> bool {
        let _ = read;
        false
    }
    /// The page for which `promotes` answered yes will be moved.
    fn has_promoted(&mut self) {}
}
