//! The write buffer of a stream: wordlines of its open superblock, filled slot by slot in stripe order. Each
//! die's part is programmed as soon as it is complete, all pages of the wordline at once. A wordline over
//! all dies is a *superwordline*. Its slots come page type after page type, and each page type has a cursor of its own: a page
//! takes the next slot of one of them. Slots are filled in ascending order within a page type, and in any order among page
//! types. So the part of a die is complete once the cursor that is furthest behind has passed it. The streams of every drive
//! have slot buffers for superwordlines of their own; those that schemes declare share some (`streams`).
//!
//! `host/durable.rs` says when data in the buffer are safe from power loss. How far a buffer is filled, and how far it is
//! programmed, is a [`Reach`].

use alloc::boxed::Box;

use crate::format::record;
use crate::policy::page_type::PageOrder;
use firstread_core::voltage::MAX_PAGES;
use firstread_core::{
    Buf, CellMode, DieId, Geometry, Layout, PageAddr, PageType, Ppa, StripeOrder, SuperblockId,
};

/// Superwordlines in the buffer: one being filled, the others being programmed.
pub(crate) const SUPERWORDLINES: usize = 3;

/// How far a buffer is filled or programmed: all wordlines before one, and the parts of the first dies of this one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Reach {
    /// Number of the wordline in the order in which the stream began its wordlines. The first one has number 1.
    pub(super) superwordline: u64,
    /// Dies with data, the first ones in stripe order.
    pub(super) dies: u16,
}

/// A superwordline of the open superblock.
#[derive(Clone, Debug)]
struct OpenSuperwordline {
    block: SuperblockId,
    wordline: u16,
    mode: CellMode,
    /// Slots filled of each page type.
    filled: [u32; MAX_PAGES],
    dies_done: u16,
    /// Number of the wordline in the order in which wordlines were begun, from one on.
    number: u64,
    die_done: Box<[bool]>,
    in_use: bool,
    /// The first of its slot buffers.
    buffers: Buf,
}

impl OpenSuperwordline {
    /// The cursors of the page types of its mode.
    #[inline]
    fn cursors(&self) -> &[u32] {
        &self.filled[..usize::from(self.mode.bits())]
    }

    /// Slots of the page type of which most are filled.
    fn most_filled(&self) -> u32 {
        self.cursors().iter().copied().max().unwrap_or(0)
    }

    /// Slots of each page type that are filled at least.
    #[inline]
    fn least_filled(&self) -> u32 {
        self.cursors()
            .iter()
            .fold(u32::MAX, |least, f| least.min(*f))
    }

    /// Whether its slot `slot` is filled, where each page type has `stripe` slots.
    #[inline]
    fn is_filled(&self, slot: u32, stripe: u32) -> bool {
        slot % stripe < self.filled[(slot / stripe) as usize % MAX_PAGES]
    }
}

/// The write buffer of a stream.
#[derive(Clone, Debug)]
pub(crate) struct WriteBuffer {
    layout: Layout,
    /// Slot buffers of a superwordline.
    stride: u32,
    ring: [OpenSuperwordline; SUPERWORDLINES],
    /// Ring index of the wordline being filled, if there is one.
    filling: Option<usize>,
    /// The open superblock, its mode, and the wordline to begin next.
    next: Option<(SuperblockId, CellMode, u16)>,
    /// Wordlines begun so far.
    begun: u64,
    /// Where the padding of the wordline being filled ends. Its padding is done once it is filled so far.
    pads_to: Reach,
}

/// An allocated slot of the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocated {
    pub(crate) ppa: Ppa,
    pub(crate) buf: Buf,
    pub(crate) due: Due,
}

/// Parts of a wordline that this slot has completed and that must be programmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) wordline: u16,
    /// Its index in the ring.
    pub(crate) superwordline: u8,
    /// The die whose part is complete.
    pub(crate) die: Option<DieId>,
    /// The die that holds the parity of the wordline, if all other dies are complete.
    pub(crate) parity: Option<DieId>,
}

/// A program to issue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) die: DieId,
    pub(crate) block: SuperblockId,
    pub(crate) wordline: u16,
    /// Its index in the ring.
    pub(crate) superwordline: u8,
}

/// Why no slot is available.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoSlot {
    /// All wordlines of the buffer wait for programs.
    Full,
    /// No superblock is open.
    NeedsBlock,
}

impl WriteBuffer {
    /// A buffer for superblocks in modes up to `widest`. The slot buffers of its superwordlines begin at `first`; a stream
    /// without superwordlines of its own is lent one for each wordline ([`WriteBuffer::lend`]).
    pub(crate) fn new(layout: Layout, widest: CellMode, first: Buf) -> WriteBuffer {
        let stride = WriteBuffer::superwordline_slots(&layout.geometry, widest);
        let wordline = |index: usize| OpenSuperwordline {
            block: SuperblockId(0),
            wordline: 0,
            mode: widest,
            filled: [0; MAX_PAGES],
            dies_done: 0,
            number: 0,
            die_done: alloc::vec![false; layout.dies() as usize].into_boxed_slice(),
            in_use: false,
            buffers: first.slot(index as u32 * stride),
        };
        WriteBuffer {
            layout,
            stride,
            ring: core::array::from_fn(wordline),
            filling: None,
            next: None,
            begun: 0,
            pads_to: Reach::default(),
        }
    }

    /// Number of slot buffers of a superwordline, for superblocks in modes up to `widest`.
    pub(crate) fn superwordline_slots(geometry: &Geometry, widest: CellMode) -> u32 {
        geometry.slots_per_stripe() * u32::from(widest.bits())
    }

    /// Opens `block` in `mode`: the next slots are allocated in it.
    pub(crate) fn open(&mut self, block: SuperblockId, mode: CellMode) {
        self.next = Some((block, mode, 0));
    }

    /// The cell mode of the superblock that the next slot lies in.
    #[inline]
    pub(crate) fn mode(&self) -> Option<CellMode> {
        match self.filling {
            Some(index) => Some(self.ring[index].mode),
            None => self.next.map(|(_, mode, _)| mode),
        }
    }

    /// Allocates the next slot of the first page type of `order` that has one in the wordline being filled.
    #[inline]
    pub(crate) fn allocate(&mut self, order: PageOrder) -> Result<Allocated, NoSlot> {
        let index = match self.filling {
            Some(index) => index,
            None => self.open_wordline()?,
        };
        let buf = self.ring_buffer(index);
        let stripe = self.layout.slots_per_stripe();
        let superwordline = &mut self.ring[index];
        let bits = superwordline.mode.bits();
        let has_room =
            |page: &PageType| page.0 < bits && superwordline.filled[usize::from(page.0)] < stripe;
        let page = order.0.iter().find(|page| has_room(page));
        let page = page
            .expect("a wordline that is being filled has room, and an order has every page type");
        let cursor = &mut superwordline.filled[usize::from(page.0)];
        let in_stripe = *cursor;
        *cursor += 1;
        let in_superwordline = u32::from(page.0) * stripe + in_stripe;
        let slots_per_wordline = stripe * u32::from(bits);
        let ppa = Ppa::new(
            superwordline.block,
            superwordline.wordline as u32 * slots_per_wordline + in_superwordline,
        );
        let mut due = Due {
            wordline: superwordline.wordline,
            superwordline: index as u8,
            die: None,
            parity: None,
        };
        // All other cursors are past the slot: it was the last of its place on all page types. In either stripe order, the last
        // slot of a die on a page type is the last slot of the page of its last plane, and lies at the same place on each.
        if superwordline
            .cursors()
            .iter()
            .all(|filled| *filled > in_stripe)
        {
            let (at, mp_page_slot) = self.layout.mp_page_of(ppa, superwordline.mode);
            let last_of_die = mp_page_slot + 1 == self.layout.slots_per_mp_page();
            due.die = last_of_die.then_some(at.die);
            if in_stripe + 1 == stripe {
                self.filling = None;
                due.parity = self.layout.parity_die(superwordline.wordline);
            }
        }
        Ok(Allocated {
            ppa,
            buf: buf.slot(in_superwordline),
            due,
        })
    }

    /// Slots left in the open superblock.
    #[inline]
    pub(crate) fn slots_left(&self) -> u32 {
        let per_wordline = |mode: CellMode| self.layout.slots_per_stripe() * u32::from(mode.bits());
        let filling = self.filling.map_or(0, |index| {
            let superwordline = &self.ring[index];
            per_wordline(superwordline.mode) - superwordline.cursors().iter().sum::<u32>()
        });
        let next = self.next.map_or(0, |(_, mode, wordline)| {
            let left = self.layout.geometry.wordlines_per_block - wordline;
            per_wordline(mode) * u32::from(left)
        });
        filling + next
    }

    /// Whether all wordlines of the buffer wait for programs, so that a new superblock could not be filled yet.
    pub(crate) fn is_full(&self) -> bool {
        self.filling.is_none() && self.ring.iter().all(|superwordline| superwordline.in_use)
    }

    /// Why [`WriteBuffer::allocate`] would be refused now; none if it would succeed.
    pub(crate) fn refuses(&self) -> Option<NoSlot> {
        if self.filling.is_some() {
            return None;
        }
        let full = self.ring.iter().all(|l| l.in_use);
        match self.next {
            None => Some(NoSlot::NeedsBlock),
            Some(_) => full.then_some(NoSlot::Full),
        }
    }

    /// Whether the next slot begins a wordline, for which the buffer has a place.
    pub(crate) fn begins_superwordline(&self) -> bool {
        self.filling.is_none() && self.next.is_some() && self.ring.iter().any(|l| !l.in_use)
    }

    /// The superwordline that is begun next has its slot buffers in `buffers`.
    pub(crate) fn lend(&mut self, buffers: Buf) {
        if let Some(next) = self.ring.iter_mut().find(|l| !l.in_use) {
            next.buffers = buffers;
        }
    }

    /// The slot buffers of the superwordlines in use.
    pub(crate) fn superwordlines_in_use(&self) -> impl Iterator<Item = Buf> {
        self.ring.iter().filter(|l| l.in_use).map(|l| l.buffers)
    }

    fn open_wordline(&mut self) -> Result<usize, NoSlot> {
        let (block, mode, wordline) = self.next.ok_or(NoSlot::NeedsBlock)?;
        let free = self.ring.iter().position(|l| !l.in_use);
        let index = free.ok_or(NoSlot::Full)?;
        let superwordline = &mut self.ring[index];
        superwordline.block = block;
        superwordline.wordline = wordline;
        superwordline.mode = mode;
        superwordline.filled = [0; MAX_PAGES];
        superwordline.dies_done = 0;
        superwordline.die_done.fill(false);
        superwordline.in_use = true;
        self.begun += 1;
        superwordline.number = self.begun;
        self.filling = Some(index);
        let last = wordline + 1 == self.layout.geometry.wordlines_per_block;
        self.next = (!last).then_some((block, mode, wordline + 1));
        Ok(index)
    }

    /// The buffer of `ppa`, if it is not programmed yet.
    pub(crate) fn holds(&self, ppa: Ppa) -> Option<Buf> {
        self.ring.iter().enumerate().find_map(|(index, l)| {
            if !l.in_use || l.block != ppa.block() {
                return None;
            }
            let stripe = self.layout.slots_per_stripe();
            let slots = stripe * l.mode.bits() as u32;
            let (wordline, in_superwordline) = (ppa.slot() / slots, ppa.slot() % slots);
            if l.wordline as u32 != wordline || !l.is_filled(in_superwordline, stripe) {
                return None;
            }
            let die = self.layout.mp_page_of(ppa, l.mode).0.die;
            (!l.die_done[die.0 as usize]).then(|| self.ring_buffer(index).slot(in_superwordline))
        })
    }

    /// The buffer of the slot at `ppa`, if it may still be changed: its wordline is being filled, and the
    /// part of its die is not complete.
    pub(crate) fn open_slot(&self, ppa: Ppa) -> Option<Buf> {
        let index = self.filling?;
        let superwordline = &self.ring[index];
        let stripe = self.layout.slots_per_stripe();
        let slots = stripe * superwordline.mode.bits() as u32;
        let (wordline, in_superwordline) = (ppa.slot() / slots, ppa.slot() % slots);
        if (superwordline.block, superwordline.wordline as u32) != (ppa.block(), wordline)
            || !superwordline.is_filled(in_superwordline, stripe)
        {
            return None;
        }
        let (page, _) = self.layout.mp_page_of(ppa, superwordline.mode);
        let last = self.layout.slot_at(
            page,
            self.layout.slots_per_mp_page() - 1,
            superwordline.mode,
        );
        let is_open = last.slot() % stripe >= superwordline.least_filled();
        is_open.then(|| self.ring_buffer(index).slot(in_superwordline))
    }

    /// `die` has finished with its part of superwordline `superwordline`. Returns true if it was the last die, so
    /// that the buffers of the superwordline are free.
    #[inline]
    pub(crate) fn done(&mut self, die: DieId, superwordline: u8) -> bool {
        let superwordline = &mut self.ring[superwordline as usize];
        debug_assert!(
            !superwordline.die_done[die.0 as usize],
            "a part is done once"
        );
        superwordline.die_done[die.0 as usize] = true;
        superwordline.dies_done += 1;
        if superwordline.dies_done == self.layout.dies() {
            superwordline.in_use = false;
        }
        !superwordline.in_use
    }

    /// Stops filling `block`, whose program failed. Returns the ring index of the superwordline that was being filled, if it
    /// belongs to `block`.
    pub(crate) fn abandon(&mut self, block: SuperblockId) -> Option<u8> {
        if self.next.is_some_and(|(b, ..)| b == block) {
            self.next = None;
        }
        let index = self.filling.filter(|&i| self.ring[i].block == block)?;
        self.filling = None;
        Some(index as u8)
    }

    /// Begins no further wordline of `block`. The one that is being filled stays.
    pub(crate) fn end_after_superwordline(&mut self, block: SuperblockId) {
        self.next = self.next.filter(|(b, ..)| *b != block);
    }

    /// Whether the part of `die` of superwordline `superwordline` is incomplete. Parity is complete when all other dies
    /// are.
    pub(crate) fn is_incomplete(&self, die: DieId, superwordline: u8) -> bool {
        let superwordline = &self.ring[superwordline as usize];
        let stripe = self.layout.slots_per_stripe();
        let last = self.part(superwordline, die).max();
        let last = last.map_or(stripe - 1, |slot| slot % stripe);
        superwordline.least_filled() <= last
    }

    /// Whether the buffer holds `wordline` of `block`: some die has not programmed its part yet.
    pub(crate) fn holds_superwordline(&self, block: SuperblockId, wordline: u16) -> bool {
        let here = |l: &OpenSuperwordline| l.in_use && (l.block, l.wordline) == (block, wordline);
        self.ring.iter().any(here)
    }

    /// How far the buffer is filled: the parts that hold the data given to it so far.
    pub(crate) fn filled_to(&self) -> Reach {
        let Some(index) = self.filling else {
            return Reach {
                superwordline: self.begun,
                dies: self.layout.geometry.data_dies(),
            };
        };
        let superwordline = &self.ring[index];
        let most = superwordline.most_filled();
        Reach {
            superwordline: superwordline.number,
            dies: match self.layout.geometry.stripe {
                StripeOrder::PlaneFirst => most.div_ceil(self.layout.slots_per_mp_page()) as u16,
                // The first plane of every die is filled before the second one of any.
                StripeOrder::DieFirst => self.layout.geometry.data_dies(),
            },
        }
    }

    /// How far the buffer is programmed, without a gap. Parity does not count: data are safe without it.
    pub(crate) fn programmed_to(&self) -> Reach {
        let in_use = self.ring.iter().filter(|l| l.in_use);
        let Some(oldest) = in_use.min_by_key(|l| l.number) else {
            return self.filled_to();
        };
        let parity = self.layout.parity_die(oldest.wordline);
        let dies = (0..).map(DieId).zip(&oldest.die_done);
        let of_data = dies.filter(|(die, _)| Some(*die) != parity);
        Reach {
            superwordline: oldest.number,
            dies: of_data.take_while(|(_, done)| **done).count() as u16,
        }
    }

    /// Slots of each page type of a wordline in the parts of the first `dies` dies with data.
    fn slots_of(&self, dies: u16) -> u32 {
        match self.layout.geometry.stripe {
            StripeOrder::PlaneFirst => self.layout.slots_per_mp_page() * u32::from(dies),
            StripeOrder::DieFirst => self.layout.slots_per_stripe(),
        }
    }

    /// The wordline being filled is padded until all parts are complete that `reach` counts, if it is in this wordline.
    pub(crate) fn pad_to(&mut self, reach: Reach) {
        self.pads_to = reach;
    }

    /// Whether padding that was asked for is not done yet.
    pub(crate) fn pads(&self) -> bool {
        self.filling.is_some_and(|index| {
            let superwordline = &self.ring[index];
            superwordline.number == self.pads_to.superwordline
                && superwordline.least_filled() < self.slots_of(self.pads_to.dies)
        })
    }

    /// Allocates the next slot of the page type that is furthest behind in the wordline being filled: padding makes the first parts
    /// complete first.
    pub(crate) fn allocate_furthest_behind(&mut self) -> Result<Allocated, NoSlot> {
        let mut order = PageOrder::IN_ORDER;
        if let Some(index) = self.filling {
            let filled = self.ring[index].filled;
            order
                .0
                .sort_unstable_by_key(|page| (filled[usize::from(page.0)], page.0));
        }
        self.allocate(order)
    }

    /// Whether a wordline is being filled.
    pub(crate) fn fills_superwordline(&self) -> bool {
        self.filling.is_some()
    }

    /// Whether a wordline is being filled, and no program of the buffer waits or runs.
    pub(crate) fn only_fills(&self) -> bool {
        self.filling.is_some_and(|index| {
            let superwordline = &self.ring[index];
            self.superwordlines() == 1
                && u32::from(superwordline.dies_done) == self.complete_parts(superwordline)
        })
    }

    /// Parts of `superwordline`, which is being filled, that are complete.
    fn complete_parts(&self, superwordline: &OpenSuperwordline) -> u32 {
        let least = superwordline.least_filled();
        match self.layout.geometry.stripe {
            StripeOrder::PlaneFirst => least / self.layout.slots_per_mp_page(),
            StripeOrder::DieFirst => {
                let of_page = self.layout.slots_per_page();
                let of_last_plane = of_page * u32::from(self.layout.geometry.data_dies());
                let of_others = self.layout.slots_per_stripe() - of_last_plane;
                least.saturating_sub(of_others) / of_page
            }
        }
    }

    /// Number of wordlines in the buffer.
    pub(crate) fn superwordlines(&self) -> usize {
        self.ring.iter().filter(|l| l.in_use).count()
    }

    /// The slot in buffer `i`, if it holds one that is not programmed yet.
    pub(crate) fn held_at(&self, i: u32) -> Option<(Ppa, Buf)> {
        let (index, in_superwordline) = (i / self.stride, i % self.stride);
        let l = &self.ring[index as usize];
        let stripe = self.layout.slots_per_stripe();
        let slots = stripe * u32::from(l.mode.bits());
        if !l.in_use || in_superwordline >= slots || !l.is_filled(in_superwordline, stripe) {
            return None;
        }
        let ppa = Ppa::new(l.block, u32::from(l.wordline) * slots + in_superwordline);
        let die = self.layout.mp_page_of(ppa, l.mode).0.die;
        (!l.die_done[die.0 as usize]).then(|| (ppa, l.buffers.slot(in_superwordline)))
    }

    /// Whether what was loaded names only superblocks, wordlines, slots and buffers that there are, of `blocks` superblocks and
    /// `slot_buffers` slot buffers.
    pub(super) fn is_sound(&self, blocks: u32, slot_buffers: u32) -> bool {
        let g = &self.layout.geometry;
        let is_there = |block: SuperblockId, mode: CellMode, wordline: u16| {
            let slots = WriteBuffer::superwordline_slots(g, mode);
            block.0 < blocks && wordline < g.wordlines_per_block && slots <= self.stride
        };
        let is_sound = |l: &OpenSuperwordline| {
            is_there(l.block, l.mode, l.wordline)
                && l.buffers.0 <= slot_buffers.saturating_sub(self.stride)
                && l.cursors()
                    .iter()
                    .all(|f| *f <= self.layout.slots_per_stripe())
                && l.dies_done as usize == l.die_done.iter().filter(|done| **done).count()
        };
        let is_filling =
            |l: &OpenSuperwordline| l.in_use && l.least_filled() < self.layout.slots_per_stripe();
        self.ring.iter().all(is_sound)
            && self
                .filling
                .is_none_or(|index| self.ring.get(index).is_some_and(is_filling))
            && self
                .next
                .is_none_or(|(block, mode, wordline)| is_there(block, mode, wordline))
    }

    /// Slots that are filled and not programmed.
    pub(crate) fn held(&self) -> u32 {
        let held = |l: &OpenSuperwordline| {
            let parity = self.layout.parity_die(l.wordline);
            let parity_done = parity.is_some_and(|die| l.die_done[die.0 as usize]);
            let done = u32::from(l.dies_done) - u32::from(parity_done);
            let part = u32::from(l.mode.bits()) * self.layout.slots_per_mp_page();
            // Of a part whose program failed not all slots were filled.
            l.cursors().iter().sum::<u32>().saturating_sub(done * part)
        };
        self.ring.iter().filter(|l| l.in_use).map(held).sum()
    }

    /// Number of slots that it can hold.
    pub(crate) fn len(&self) -> u32 {
        self.stride * SUPERWORDLINES as u32
    }

    /// Number of wordlines of `block` that were begun, if `block` is being filled.
    pub(crate) fn begun(&self, block: SuperblockId) -> Option<u16> {
        let next = self.next.filter(|(b, ..)| *b == block);
        next.map(|(.., wordline)| wordline)
    }

    /// The filled slots of the part of `die` of superwordline `superwordline`, with their buffers, in ascending order.
    pub(crate) fn filled_of(
        &self,
        die: DieId,
        superwordline: u8,
    ) -> impl Iterator<Item = (Ppa, Buf)> {
        let buf = self.ring_buffer(superwordline as usize);
        let superwordline = &self.ring[superwordline as usize];
        let stripe = self.layout.slots_per_stripe();
        let per_wordline = stripe * u32::from(superwordline.mode.bits());
        let first = u32::from(superwordline.wordline) * per_wordline;
        self.part(superwordline, die)
            .filter(move |&in_superwordline| superwordline.is_filled(in_superwordline, stripe))
            .map(move |in_superwordline| {
                (
                    Ppa::new(superwordline.block, first + in_superwordline),
                    buf.slot(in_superwordline),
                )
            })
    }

    /// The superblock of superwordline `superwordline`.
    pub(crate) fn block_of(&self, superwordline: u8) -> SuperblockId {
        self.ring[superwordline as usize].block
    }

    /// Indices of the slots of `superwordline` that lie on `die`, within the wordline, in ascending order. None if the
    /// die holds parity.
    fn part(&self, superwordline: &OpenSuperwordline, die: DieId) -> impl Iterator<Item = u32> {
        let g = self.layout;
        let (mode, block, wordline) = (
            superwordline.mode,
            superwordline.block,
            superwordline.wordline,
        );
        let first = wordline as u32 * g.slots_per_stripe() * mode.bits() as u32;
        let mp_page_slots = match g.parity_die(wordline) == Some(die) {
            true => 0,
            false => mode.bits() as u32 * g.slots_per_mp_page(),
        };
        (0..mp_page_slots).map(move |i| {
            let (page, mp_page_slot) = (i / g.slots_per_mp_page(), i % g.slots_per_mp_page());
            let page = PageType(page as u8);
            let at = PageAddr {
                die,
                block,
                wordline,
                page,
            };
            g.slot_at(at, mp_page_slot, mode).slot() - first
        })
    }

    /// Whether superwordline `superwordline` is in use, and of `block`.
    pub(super) fn has_superwordline(&self, superwordline: u8, block: SuperblockId) -> bool {
        let superwordline = self.ring.get(usize::from(superwordline));
        superwordline.is_some_and(|line| line.in_use && line.block == block)
    }

    /// Whether the part of `die` of superwordline `superwordline` is complete and not programmed yet.
    #[cfg(test)]
    pub(super) fn is_held(&self, die: DieId, superwordline: u8) -> bool {
        let line = &self.ring[superwordline as usize];
        line.in_use && !line.die_done[die.0 as usize] && !self.is_incomplete(die, superwordline)
    }

    /// Superblocks of the wordlines in the buffer.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = SuperblockId> {
        self.ring.iter().filter(|l| l.in_use).map(|l| l.block)
    }

    /// Whether the wordline being filled belongs to `block`.
    pub(crate) fn fills_superwordline_of(&self, block: SuperblockId) -> bool {
        self.filling.is_some_and(|i| self.ring[i].block == block)
    }

    /// Whether more slots of `block` will be filled.
    pub(crate) fn fills(&self, block: SuperblockId) -> bool {
        self.next.is_some_and(|(b, ..)| b == block)
    }

    /// Whether the buffer holds a wordline of `block`.
    pub(crate) fn is_busy_with(&self, block: SuperblockId) -> bool {
        self.ring.iter().any(|l| l.in_use && l.block == block)
    }

    /// Buffer of the first slot of superwordline `superwordline` over all dies.
    pub(crate) fn ring_buffer(&self, superwordline: usize) -> Buf {
        self.ring[superwordline].buffers
    }
}

record! {
    OpenSuperwordline as "superwordline" {
        block: "superblock",
        wordline: "wordline",
        mode: "cell mode of the superblock, in bits a cell",
        filled ["slots"]: "slots filled of each page type",
        dies_done ["dies"]: "dies that have programmed their part",
        number: "number in the order in which the superwordlines of the stream were begun",
        die_done: "for each die, whether it has programmed its part",
        in_use: "whether the superwordline is in use",
        buffers: "the first of its slot buffers",
    }
}

record! {
    WriteBuffer as "write buffer" {
        ring: "its superwordlines",
        filling: "the superwordline that is being filled",
        next: "the open superblock with its mode, and the wordline that is begun next",
        begun: "superwordlines begun so far",
    } not {
        pads_to: "of commands that wait, which a power cut ends",
        layout: "of the configuration",
        stride: "of the configuration",
    }
}
