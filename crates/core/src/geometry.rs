//! How a drive is built.

use crate::{CellMode, DieId, PageAddr, PageType, Ppa, SuperblockId};

/// Physical build of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Channels of the drive. Dies are numbered across them: die `d` is on channel `d % channels`.
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
    /// Order in which consecutive slots are laid out over planes and dies.
    pub stripe: StripeOrder,
    /// Whether one die per wordline of a superblock holds the parity of the other dies. The parity die
    /// rotates from wordline to wordline. Slot counts leave parity out.
    pub stripe_parity: bool,
}

/// Where the next page of a superblock lies once a page is full. In either order the slots of a page come
/// first, then planes and dies, then the pages of a wordline, then the wordlines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StripeOrder {
    /// On the next plane of the same die: one multi-plane sense reads 64 KiB.
    PlaneFirst,
    /// On the next die, and so on the next channel: four dies sense 64 KiB at once.
    DieFirst,
}

impl Geometry {
    /// Dies of the drive.
    pub const fn dies(&self) -> u16 {
        self.channels * self.chips_per_channel * self.dies_per_chip
    }
    /// Dies that hold data on each wordline of a superblock.
    pub const fn data_dies(&self) -> u16 {
        self.dies() - self.stripe_parity as u16
    }
    /// Channel of a die.
    pub const fn channel(&self, die: DieId) -> u16 {
        die.0 % self.channels
    }
    /// Chip (package) of a die, counted over the drive.
    pub const fn chip(&self, die: DieId) -> u16 {
        let on_channel = die.0 / self.channels;
        (on_channel / self.dies_per_chip) * self.channels + die.0 % self.channels
    }
    /// Slots of a page.
    pub const fn slots_per_page(&self) -> u32 {
        self.page_bytes / self.slot_bytes
    }
    /// Codewords of a page.
    pub const fn codewords_per_page(&self) -> u32 {
        self.page_bytes / self.codeword_bytes
    }
    /// Codewords of a slot.
    pub const fn codewords_per_slot(&self) -> u32 {
        self.slot_bytes / self.codeword_bytes
    }
    /// Slots of a multi-plane page.
    pub const fn slots_per_mp_page(&self) -> u32 {
        self.slots_per_page() * self.planes as u32
    }
    /// Slots of one page type of one wordline, over all dies.
    pub const fn slots_per_stripe(&self) -> u32 {
        self.slots_per_mp_page() * self.data_dies() as u32
    }
    /// Slots of a superblock in cell mode `mode`.
    #[inline]
    pub const fn slots_per_superblock(&self, mode: CellMode) -> u32 {
        self.slots_per_stripe() * mode.bits() as u32 * self.wordlines_per_block as u32
    }
    /// User bytes of the drive if every block were in `mode`.
    pub const fn raw_bytes(&self, mode: CellMode) -> u64 {
        self.slots_per_superblock(mode) as u64
            * self.blocks_per_plane as u64
            * self.slot_bytes as u64
    }
}

/// A divisor known long before it is used: dividing by it takes one multiplication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divisor {
    by: u64,
    /// `(2^64 - 1) / by`, rounded down.
    reciprocal: u64,
}

impl Divisor {
    /// Divides by `by`, which is not zero.
    pub const fn new(by: u64) -> Divisor {
        Divisor {
            by,
            reciprocal: u64::MAX / by,
        }
    }
    /// The divisor that [`Divisor::new`] was given.
    #[inline]
    pub const fn get(self) -> u64 {
        self.by
    }
    /// `n` divided by the divisor, rounded down. `n` must be below 2^64 divided by the divisor.
    #[inline]
    pub const fn div(self, n: u64) -> u64 {
        // With d the divisor, r the reciprocal, n = q d + s and 2^64 - 1 = r d + t: (n + 1) r = 2^64 q + (s +
        // 1) r - (t + 1) q. The upper half of this is q as long as (t + 1) q <= r, hence for n up to r.
        debug_assert!(n < self.reciprocal);
        (((n + 1) as u128 * self.reciprocal as u128) >> 64) as u64
    }
    /// Quotient, rounded down, and remainder.
    #[inline]
    pub const fn div_rem(self, n: u64) -> (u64, u64) {
        let quotient = self.div(n);
        (quotient, n - quotient * self.by)
    }
}

/// Where slots lie in superblocks: a geometry with its derived counts.
///
/// A *multi-plane page* is one wordline and page type of one die, over all its planes: what one multi-plane
/// sense reads. Its slots are counted plane by plane. Names of functions and fields call it an `mp_page`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// What the counts are derived from.
    pub geometry: Geometry,
    slots_per_page: Divisor,
    slots_per_mp_page: Divisor,
    dies: Divisor,
    data_dies: Divisor,
    planes: Divisor,
    channels: Divisor,
    slot_bytes: Divisor,
    codeword_bytes: Divisor,
    codewords_per_page: u32,
    codewords_per_slot: Divisor,
}

impl Layout {
    /// The layout of `geometry`. No count of the geometry may be zero.
    pub const fn new(geometry: Geometry) -> Layout {
        Layout {
            slots_per_page: Divisor::new(geometry.slots_per_page() as u64),
            slots_per_mp_page: Divisor::new(geometry.slots_per_mp_page() as u64),
            dies: Divisor::new(geometry.dies() as u64),
            data_dies: Divisor::new(geometry.data_dies() as u64),
            planes: Divisor::new(geometry.planes as u64),
            channels: Divisor::new(geometry.channels as u64),
            slot_bytes: Divisor::new(geometry.slot_bytes as u64),
            codeword_bytes: Divisor::new(geometry.codeword_bytes as u64),
            codewords_per_page: geometry.codewords_per_page(),
            codewords_per_slot: Divisor::new(geometry.codewords_per_slot() as u64),
            geometry,
        }
    }
    /// Slots of a multi-plane page.
    #[inline]
    pub const fn slots_per_mp_page(&self) -> u32 {
        self.slots_per_mp_page.get() as u32
    }
    /// Slots of a page.
    #[inline]
    pub const fn slots_per_page(&self) -> u32 {
        self.slots_per_page.get() as u32
    }
    /// Slots of one page type of one wordline, over all dies.
    #[inline]
    pub const fn slots_per_stripe(&self) -> u32 {
        self.slots_per_mp_page() * self.data_dies.get() as u32
    }
    /// Codewords of a page.
    #[inline]
    pub const fn codewords_per_page(&self) -> u32 {
        self.codewords_per_page
    }
    /// Codewords of a slot.
    #[inline]
    pub const fn codewords_per_slot(&self) -> u32 {
        self.codewords_per_slot.get() as u32
    }
    /// The slot of a multi-plane page that holds codeword `codeword`.
    #[inline]
    pub const fn slot_of_codeword(&self, codeword: u32) -> u32 {
        self.codewords_per_slot.div(codeword as u64) as u32
    }
    /// Dies of the drive.
    #[inline]
    pub const fn dies(&self) -> u16 {
        self.dies.get() as u16
    }
    /// Channel of a die.
    #[inline]
    pub const fn channel(&self, die: DieId) -> u16 {
        self.channels.div_rem(die.0 as u64).1 as u16
    }
    /// Whole slots in `bytes`, and the bytes left over.
    #[inline]
    pub const fn slots_in(&self, bytes: u64) -> (u64, u64) {
        self.slot_bytes.div_rem(bytes)
    }
    /// Whole codewords in `bytes`.
    #[inline]
    pub const fn codewords_in(&self, bytes: u64) -> u64 {
        self.codeword_bytes.div(bytes)
    }

    /// The multi-plane page that holds slot `ppa` of a superblock in `mode`, and the index of the slot in
    /// that page.
    #[inline(always)] // Once for each request.
    pub fn mp_page_of(&self, ppa: Ppa, mode: CellMode) -> (PageAddr, u32) {
        let (stripe, die, mp_page_slot) = match self.geometry.stripe {
            StripeOrder::PlaneFirst => {
                let (mp_page, mp_page_slot) = self.slots_per_mp_page.div_rem(ppa.slot() as u64);
                let (stripe, die) = self.data_dies.div_rem(mp_page);
                (stripe, die, mp_page_slot)
            }
            StripeOrder::DieFirst => {
                let (page, slot) = self.slots_per_page.div_rem(ppa.slot() as u64);
                let (plane_of_stripe, die) = self.data_dies.div_rem(page);
                let (stripe, plane) = self.planes.div_rem(plane_of_stripe);
                (stripe, die, plane * self.slots_per_page.get() + slot)
            }
        };
        let (wordline, page) = match mode {
            CellMode::Slc => (stripe, 0),
            CellMode::Mlc => (stripe / 2, stripe % 2),
            CellMode::Tlc => (stripe / 3, stripe % 3),
            CellMode::Qlc => (stripe / 4, stripe % 4),
        };
        let at = PageAddr {
            die: self.data_die(die as u16, wordline as u16),
            block: ppa.block(),
            wordline: wordline as u16,
            page: PageType(page as u8),
        };
        (at, mp_page_slot as u32)
    }

    /// The die that holds the parity of `wordline` of a superblock, if the drive has parity. It rotates from
    /// wordline to wordline, so that reads of data use all dies.
    #[inline]
    pub const fn parity_die(&self, wordline: u16) -> Option<DieId> {
        match self.geometry.stripe_parity {
            true => Some(DieId(self.dies.div_rem(wordline as u64).1 as u16)),
            false => None,
        }
    }

    /// The `n`-th die that holds data on `wordline`.
    #[inline]
    const fn data_die(&self, n: u16, wordline: u16) -> DieId {
        match self.parity_die(wordline) {
            Some(parity) => DieId(n + (n >= parity.0) as u16),
            None => DieId(n),
        }
    }

    /// The `n`-th multi-plane page of superblock `block` in `mode` that holds data, in fill order.
    pub fn data_mp_page(&self, n: u32, block: SuperblockId, mode: CellMode) -> PageAddr {
        let (stripe, die) = self.data_dies.div_rem(n as u64);
        let (stripe, bits) = (stripe as u32, mode.bits() as u32);
        let wordline = (stripe / bits) as u16;
        PageAddr {
            die: self.data_die(die as u16, wordline),
            block,
            wordline,
            page: PageType((stripe % bits) as u8),
        }
    }

    /// The physical slot at index `mp_page_slot` of multi-plane page `at`, which holds data, in a superblock of
    /// `mode`: the inverse of [`Layout::mp_page_of`].
    #[inline]
    pub fn slot_at(&self, at: PageAddr, mp_page_slot: u32, mode: CellMode) -> Ppa {
        let stripe = at.wordline as u64 * mode.bits() as u64 + at.page.0 as u64;
        let before = match self.parity_die(at.wordline) {
            Some(parity) => {
                debug_assert!(parity.0 != at.die.0, "parity has no slots: {at:?}");
                (at.die.0 > parity.0) as u64
            }
            None => 0,
        };
        let die = at.die.0 as u64 - before;
        let dies = self.data_dies.get();
        let first = match self.geometry.stripe {
            StripeOrder::PlaneFirst => (stripe * dies + die) * self.slots_per_mp_page.get(),
            StripeOrder::DieFirst => {
                (stripe * self.planes.get() * dies + die) * self.slots_per_page.get()
            }
        };
        self.slot_behind(Ppa::new(at.block, first as u32), mp_page_slot)
    }

    /// The physical slot at index `mp_page_slot` of the multi-plane page whose first slot is `first`.
    #[inline]
    pub const fn slot_behind(&self, first: Ppa, mp_page_slot: u32) -> Ppa {
        let behind = match self.geometry.stripe {
            StripeOrder::PlaneFirst => mp_page_slot as u64,
            StripeOrder::DieFirst => {
                let (plane, slot) = self.slots_per_page.div_rem(mp_page_slot as u64);
                plane * self.data_dies.get() * self.slots_per_page.get() + slot
            }
        };
        Ppa(first.0 + behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_division_is_exact() {
        for by in [1, 2, 3, 4, 7, 128, 1000, 4096, 11_534_336, u32::MAX as u64] {
            let divisor = Divisor::new(by);
            let limit = u64::MAX / by - 1;
            let near = [0, 1, by - 1, by, by + 1, limit / 2, limit - 1, limit];
            let many = (0..1000).map(|i| i * (limit / 1000));
            for n in near.into_iter().chain(many).filter(|n| *n <= limit) {
                assert_eq!(divisor.div_rem(n), (n / by, n % by), "{n} / {by}");
            }
        }
    }

    fn six_dies(stripe: StripeOrder, wordlines_per_block: u16, stripe_parity: bool) -> Layout {
        Layout::new(Geometry {
            channels: 3,
            chips_per_channel: 1,
            dies_per_chip: 2,
            planes: 2,
            blocks_per_plane: 4,
            wordlines_per_block,
            page_bytes: 12_288,
            slot_bytes: 4096,
            codeword_bytes: 1024,
            stripe,
            stripe_parity,
        })
    }

    #[test]
    fn model_rows_and_slots_are_inverse() {
        for stripe in [StripeOrder::PlaneFirst, StripeOrder::DieFirst] {
            let layout = six_dies(stripe, 5, false);
            for mode in CellMode::ALL {
                let slots = layout.geometry.slots_per_superblock(mode);
                let mut last = None;
                for slot in 0..slots {
                    let ppa = Ppa::new(SuperblockId(2), slot);
                    let (at, mp_page_slot) = layout.mp_page_of(ppa, mode);
                    assert_eq!(layout.slot_at(at, mp_page_slot, mode), ppa);
                    assert!(mp_page_slot < layout.slots_per_mp_page() && at.die.0 < 6);
                    assert!(at.page.0 < mode.bits() && at.wordline < 5);
                    let plane = mp_page_slot / layout.slots_per_page();
                    let place = (at.wordline, at.page.0, at.die.0, plane);
                    if let Some((mp_page, before)) = last.filter(|_| slot % 3 == 0) {
                        // The next page is on the next plane or on the next die.
                        let next = match stripe {
                            StripeOrder::PlaneFirst if before == 0 => (at.die.0, 1),
                            StripeOrder::PlaneFirst => ((mp_page + 1) % 6, 0),
                            StripeOrder::DieFirst if mp_page < 5 => (mp_page + 1, before),
                            StripeOrder::DieFirst => (0, 1 - before),
                        };
                        assert_eq!((place.2, place.3), next, "slot {slot}");
                    }
                    last = Some((place.2, place.3));
                }
            }
        }
    }

    #[test]
    fn model_parity_takes_one_die_of_each_wordline_in_turn() {
        for stripe in [StripeOrder::PlaneFirst, StripeOrder::DieFirst] {
            let layout = six_dies(stripe, 13, true);
            for mode in CellMode::ALL {
                let slots = layout.geometry.slots_per_superblock(mode);
                let mp_pages = 13 * mode.bits() as u32;
                assert_eq!(
                    slots,
                    mp_pages * 5 * layout.slots_per_mp_page(),
                    "five of six dies"
                );
                let mut counts = [0; 6];
                for slot in 0..slots {
                    let ppa = Ppa::new(SuperblockId(2), slot);
                    let (at, mp_page_slot) = layout.mp_page_of(ppa, mode);
                    assert_eq!(layout.slot_at(at, mp_page_slot, mode), ppa);
                    assert_eq!(layout.parity_die(at.wordline), Some(DieId(at.wordline % 6)));
                    assert_ne!(at.die.0, at.wordline % 6, "the die of its parity");
                    counts[at.die.0 as usize] += 1;
                }
                let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
                let wordline = layout.slots_per_mp_page() * mode.bits() as u32;
                assert!(most - least <= wordline, "{counts:?}");
                for n in 0..mp_pages * 5 {
                    let at = layout.data_mp_page(n, SuperblockId(2), mode);
                    assert_eq!(
                        n / 5,
                        at.wordline as u32 * mode.bits() as u32 + at.page.0 as u32
                    );
                    layout.slot_at(at, 0, mode);
                }
            }
        }
    }

    /// Counts that are multiplied by hand: 30 dies of 4 planes; pages of 3 slots of 4 codewords.
    #[test]
    fn formula_counts_of_a_drive_are_products() {
        for (stripe_parity, data_dies, per_stripe, per_superblock, raw_bytes) in [
            (false, 30, 360, 15_840, 1_816_657_920),
            (true, 29, 348, 15_312, 1_756_102_656),
        ] {
            let geometry = Geometry {
                channels: 3,
                chips_per_channel: 2,
                dies_per_chip: 5,
                planes: 4,
                blocks_per_plane: 7,
                wordlines_per_block: 11,
                page_bytes: 49_152,
                slot_bytes: 16_384,
                codeword_bytes: 4096,
                stripe: StripeOrder::PlaneFirst,
                stripe_parity,
            };
            assert_eq!((geometry.dies(), geometry.data_dies()), (30, data_dies));
            let page = (geometry.slots_per_page(), geometry.codewords_per_page());
            assert_eq!((page, geometry.codewords_per_slot()), ((3, 12), 4));
            let slots = (geometry.slots_per_mp_page(), geometry.slots_per_stripe());
            assert_eq!(slots, (12, per_stripe));
            let qlc = geometry.slots_per_superblock(CellMode::Qlc);
            assert_eq!(qlc, per_superblock);
            assert_eq!(qlc, 4 * geometry.slots_per_superblock(CellMode::Slc));
            assert_eq!(geometry.raw_bytes(CellMode::Qlc), raw_bytes);

            let layout = Layout::new(geometry);
            assert_eq!(layout.dies(), 30);
            let page = (layout.slots_per_page(), layout.codewords_per_page());
            assert_eq!((page, layout.codewords_per_slot()), ((3, 12), 4));
            let slots = (layout.slots_per_mp_page(), layout.slots_per_stripe());
            assert_eq!(slots, (12, per_stripe));
            let of_codewords = [0, 3, 4, 7, 8, 47].map(|c| layout.slot_of_codeword(c));
            assert_eq!(of_codewords, [0, 0, 1, 1, 2, 11]);
            assert_eq!(layout.slots_in(0), (0, 0));
            assert_eq!(layout.slots_in(16_383), (0, 16_383));
            assert_eq!(layout.slots_in(3 * 16_384 + 512), (3, 512));
            let codewords = [4095, 4096, 10 * 4096 + 1].map(|bytes| layout.codewords_in(bytes));
            assert_eq!(codewords, [0, 1, 10]);

            // Die d is on channel d modulo 3. Dies 0, 3, 6, 9 and 12 fill the first chip of channel 0.
            let mut dies_of_chip = [0; 6];
            for die in (0..30).map(DieId) {
                assert_eq!(geometry.channel(die), die.0 % 3);
                assert_eq!(layout.channel(die), die.0 % 3);
                let chip = geometry.chip(die);
                assert_eq!(
                    chip % 3,
                    die.0 % 3,
                    "the chip lies on the channel of its die"
                );
                assert_eq!(chip >= 3, die.0 >= 15, "the second chip of its channel");
                dies_of_chip[usize::from(chip)] += 1;
            }
            assert_eq!(dies_of_chip, [5; 6]);
        }
    }

    /// Multi-plane pages of a superblock in fill order are those that its slots come to, in order.
    #[test]
    fn model_data_rows_are_those_of_the_slots() {
        for (stripe, parity) in [
            (StripeOrder::PlaneFirst, false),
            (StripeOrder::PlaneFirst, true),
            (StripeOrder::DieFirst, false),
            (StripeOrder::DieFirst, true),
        ] {
            let layout = six_dies(stripe, 13, parity);
            let dies = layout.geometry.data_dies() as u32;
            for mode in CellMode::ALL {
                for n in 0..13 * u32::from(mode.bits()) * dies {
                    let at = layout.data_mp_page(n, SuperblockId(3), mode);
                    // A stripe's first slots of each multi-plane page lie a multi-plane page apart, or, die by die, a page.
                    let (stripe_of, die) = (n / dies, n % dies);
                    let slot = stripe_of * layout.slots_per_stripe()
                        + match stripe {
                            StripeOrder::PlaneFirst => die * layout.slots_per_mp_page(),
                            StripeOrder::DieFirst => die * layout.slots_per_page(),
                        };
                    let first = Ppa::new(SuperblockId(3), slot);
                    assert_eq!(
                        layout.mp_page_of(first, mode),
                        (at, 0),
                        "multi-plane page {n}"
                    );
                    for mp_page_slot in 0..layout.slots_per_mp_page() {
                        let ppa = layout.slot_behind(first, mp_page_slot);
                        assert_eq!(
                            layout.mp_page_of(ppa, mode),
                            (at, mp_page_slot),
                            "multi-plane page {n}"
                        );
                    }
                }
            }
        }
    }
}
