//! How a drive is built.

use crate::{BlockId, CellMode, DieId, PageAddr, PageType, Ppa};

/// Physical build of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Channels.
    pub channels: u16,
    /// Chips (packages) on a channel.
    pub chips_per_channel: u16,
    /// Dies in a chip.
    pub dies_per_chip: u16,
    /// Planes of a die, at most four.
    pub planes: u8,
    /// Blocks of a plane, which is also the number of superblocks.
    pub blocks_per_plane: u32,
    /// Wordlines of a block (every string counts).
    pub wordlines_per_block: u16,
    /// User bytes of a page.
    pub page_bytes: u32,
    /// User bytes of a slot, the mapping unit.
    pub slot_bytes: u32,
    /// User bytes of a codeword.
    pub codeword_bytes: u32,
    /// Order in which consecutive slots are laid out.
    pub stripe: StripeOrder,
}

/// Where the next page of a superblock lies once a page is full. The slots of a page always come
/// first, and the pages of a wordline and then the wordlines last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StripeOrder {
    /// On the next plane of the same die: 64 KiB lie under one multi-plane sense.
    PlaneFirst,
    /// On the next die, hence the next channel: 64 KiB are sensed by four dies at once.
    DieFirst,
}

/// Where a slot lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotPlace {
    /// Die, block, wordline and page type.
    pub at: PageAddr,
    /// Plane of the die.
    pub plane: u8,
    /// Slot within the page.
    pub slot: u8,
}

/// `n / d` and the rest. Most counts of a geometry are powers of two, where a shift and a mask are
/// several times faster than a division.
#[inline]
const fn div_rem(n: u32, d: u32) -> (u32, u32) {
    if d.is_power_of_two() {
        (n >> d.trailing_zeros(), n & (d - 1))
    } else {
        (n / d, n % d)
    }
}

impl Geometry {
    /// Dies of the drive.
    pub const fn dies(&self) -> u16 {
        self.channels * self.chips_per_channel * self.dies_per_chip
    }
    /// Channel of a die.
    pub const fn channel(&self, die: DieId) -> u16 {
        div_rem(die.0 as u32, self.channels as u32).1 as u16
    }
    /// Chip (package) of a die, counted over the drive.
    pub const fn chip(&self, die: DieId) -> u16 {
        let on_channel = die.0 / self.channels;
        (on_channel / self.dies_per_chip) * self.channels + die.0 % self.channels
    }
    /// Slots of a page.
    pub const fn slots_per_page(&self) -> u32 {
        div_rem(self.page_bytes, self.slot_bytes).0
    }
    /// Codewords of a page.
    pub const fn codewords_per_page(&self) -> u32 {
        div_rem(self.page_bytes, self.codeword_bytes).0
    }
    /// Codewords of a slot.
    pub const fn codewords_per_slot(&self) -> u32 {
        div_rem(self.slot_bytes, self.codeword_bytes).0
    }
    /// Slots under one multi-plane sense of a die.
    pub const fn slots_per_row(&self) -> u32 {
        self.slots_per_page() * self.planes as u32
    }
    /// Slots that all dies hold on one page type of one wordline.
    pub const fn slots_per_stripe(&self) -> u32 {
        self.slots_per_row() * self.dies() as u32
    }
    /// Slots of a superblock whose blocks run in `mode`.
    pub const fn slots_per_superblock(&self, mode: CellMode) -> u32 {
        self.slots_per_stripe() * mode.bits() as u32 * self.wordlines_per_block as u32
    }
    /// User bytes if every block ran in `mode`.
    pub const fn raw_bytes(&self, mode: CellMode) -> u64 {
        self.slots_per_superblock(mode) as u64
            * self.blocks_per_plane as u64
            * self.slot_bytes as u64
    }

    /// Where slot `ppa` lies, in a superblock of `mode`.
    pub fn place(&self, ppa: Ppa, mode: CellMode) -> SlotPlace {
        let (slots, planes, dies) = (
            self.slots_per_page(),
            self.planes as u32,
            self.dies() as u32,
        );
        let i = ppa.slot();
        let (page_index, slot) = div_rem(i, slots);
        let (stripe, in_stripe) = div_rem(page_index, planes * dies);
        let (die, plane) = match self.stripe {
            StripeOrder::PlaneFirst => div_rem(in_stripe, planes),
            StripeOrder::DieFirst => {
                let (plane, die) = div_rem(in_stripe, dies);
                (die, plane)
            }
        };
        let (wordline, page) = div_rem(stripe, mode.bits() as u32);
        SlotPlace {
            at: PageAddr {
                die: DieId(die as u16),
                block: ppa.block(),
                wordline: wordline as u16,
                page: PageType(page as u8),
            },
            plane: plane as u8,
            slot: slot as u8,
        }
    }

    /// The slot at `place`, in a superblock of `mode`: the inverse of [`Geometry::place`].
    pub fn slot_at(&self, place: &SlotPlace, mode: CellMode) -> Ppa {
        let (planes, dies) = (self.planes as u32, self.dies() as u32);
        let (die, plane) = (place.at.die.0 as u32, place.plane as u32);
        let in_stripe = match self.stripe {
            StripeOrder::PlaneFirst => die * planes + plane,
            StripeOrder::DieFirst => plane * dies + die,
        };
        let stripe = place.at.wordline as u32 * mode.bits() as u32 + place.at.page.0 as u32;
        let page_index = stripe * planes * dies + in_stripe;
        Ppa::new(
            BlockId(place.at.block.0),
            page_index * self.slots_per_page() + place.slot as u32,
        )
    }
}
