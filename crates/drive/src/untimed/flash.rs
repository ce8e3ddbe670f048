//! The ports of a firmware over flash without time. An operation has its effect when it is issued; its end is an event
//! that the drive hands over next.

use std::collections::VecDeque;

use firstread_core::flash::ALL_PLANES;
use firstread_core::{
    Accounting, BlockId, Buf, CellMode, CommandId, DieId, FlashEvent, FlashKind, FlashOp, Geometry,
    HostCommand, Layout, Lpn, Ns, PageAddr, PageType, Ports, Ppa, Spare, Status, StripeOrder,
    SuperblockId, Tag,
};
use firstread_firmware::log::Record;

use crate::hardware::failures::{BadPlanes, Failures};

/// A slot or buffer without data.
const NONE: u32 = u32::MAX;

/// An operation that has ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    tag: Tag,
    die: DieId,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Read,
    Programmed(bool),
    Erased(bool),
}

/// Flash whose slots hold their logical page.
#[derive(Clone, Debug)]
pub(super) struct InstantFlash {
    layout: Layout,
    now: Ns,
    /// The logical page in each slot, superblock after superblock.
    slots: Box<[u32]>,
    slots_per_superblock: usize,
    /// Slots of a multi-plane page that follow one another.
    run: u32,
    modes: Box<[CellMode]>,
    pub(super) failures: Failures,
    buffers: Box<[u32]>,
    ended: VecDeque<Ended>,
    /// First logical page of the command in flight.
    first: u64,
    completed: Option<Status>,
    sequence: u64,
    /// The block that each superblock has on each die.
    joined: Box<[u32]>,
    /// Whether it has failed.
    failed: Box<[bool]>,
    bad: BadPlanes,
    wrong_page: Option<(u64, Option<u64>)>,
}

impl InstantFlash {
    /// The most logical pages, those of the map among them.
    pub(super) const MOST_PAGES: u64 = NONE as u64 - 1;

    /// Erased flash of `geometry` in `mode`.
    pub(super) fn new(
        geometry: Geometry,
        mode: CellMode,
        buffers: u32,
        failures: Failures,
    ) -> InstantFlash {
        let per_superblock = geometry.slots_per_superblock(mode) as usize;
        let superblocks = geometry.blocks_per_plane as usize;
        InstantFlash {
            layout: Layout::new(geometry),
            now: Ns::ZERO,
            slots: vec![NONE; per_superblock * superblocks].into_boxed_slice(),
            slots_per_superblock: per_superblock,
            run: match geometry.stripe {
                StripeOrder::PlaneFirst => geometry.slots_per_mp_page(),
                StripeOrder::DieFirst => geometry.slots_per_page(),
            },
            modes: vec![mode; superblocks].into_boxed_slice(),
            failures,
            buffers: vec![NONE; buffers as usize].into_boxed_slice(),
            ended: VecDeque::new(),
            first: 0,
            completed: None,
            sequence: 0,
            joined: (0..superblocks as u32)
                .flat_map(|block| std::iter::repeat_n(block, usize::from(geometry.dies())))
                .collect(),
            failed: vec![false; superblocks * usize::from(geometry.dies())].into_boxed_slice(),
            bad: BadPlanes::default(),
            wrong_page: None,
        }
    }

    /// `block` was filled with `pages` pages from `first` on.
    pub(super) fn fill(&mut self, block: SuperblockId, first: u64, pages: u32) {
        let base = block.0 as usize * self.slots_per_superblock;
        let slots = &mut self.slots[base..base + pages as usize];
        for (slot, page) in slots.iter_mut().zip(first..) {
            *slot = page as u32;
        }
    }

    /// `planes` planes of blocks were bad when the drive was made.
    pub(super) fn count_bad(&mut self, planes: BadPlanes) {
        self.bad = planes;
    }

    /// The block of `die` in `block` has failed, perhaps not for the first time.
    #[cold]
    fn note_failed(&mut self, block: SuperblockId, die: DieId) {
        let known = &mut self.failed
            [block.0 as usize * usize::from(self.layout.dies()) + usize::from(die.0)];
        if !std::mem::replace(known, true) {
            self.bad.grown += self.failures.failed_planes(block, die);
        }
    }

    /// Planes of blocks that are bad.
    pub(super) fn bad_planes(&self) -> BadPlanes {
        self.bad
    }

    #[inline]
    pub(super) fn now(&self) -> Ns {
        self.now
    }

    /// The clock goes on to `at`, if it has not passed it. Returns the time.
    #[inline]
    pub(super) fn advance(&mut self, at: Ns) -> Ns {
        self.now = self.now.max(at);
        self.now
    }

    /// `command` is about to reach the firmware.
    #[inline]
    pub(super) fn submitted(&mut self, command: &HostCommand) {
        self.first = self.layout.slots_in(command.offset_bytes).0;
        self.completed = None;
    }

    pub(super) fn take_completed(&mut self) -> Option<Status> {
        self.completed.take()
    }

    pub(super) fn wrong_page(&self) -> Option<(u64, Option<u64>)> {
        self.wrong_page
    }

    pub(super) fn is_idle(&self) -> bool {
        self.ended.is_empty()
    }

    /// The events of the operation that has ended first, in their order.
    #[inline]
    pub(super) fn next_event(&mut self) -> Option<(FlashEvent, FlashEvent)> {
        let Ended { tag, die, what } = self.ended.pop_front()?;
        let planes = ALL_PLANES;
        let free = FlashEvent::ArrayFree { tag, die, planes };
        Some(match what {
            What::Read => {
                let decoded = FlashEvent::Decoded {
                    tag,
                    failed: 0,
                    max_errors: 0,
                    sum_errors: 0,
                    unsatisfied: 0,
                    spare: Default::default(),
                };
                (free, decoded)
            }
            What::Programmed(ok) => (FlashEvent::Programmed { tag, ok }, free),
            What::Erased(ok) => (FlashEvent::Erased { tag, ok }, free),
        })
    }

    #[inline]
    fn index(&self, ppa: Ppa) -> usize {
        ppa.block().0 as usize * self.slots_per_superblock + ppa.slot() as usize
    }

    /// Runs of slots of multi-plane page `at` that follow one another: the first slot of each, and its index in the page.
    #[inline]
    fn runs(&self, at: PageAddr, mode: CellMode) -> impl Iterator<Item = (Ppa, u32)> + use<> {
        let (layout, run) = (self.layout, self.run);
        let first = layout.slot_at(at, 0, mode);
        (0..layout.slots_per_mp_page())
            .step_by(run as usize)
            .map(move |index| (layout.slot_behind(first, index), index))
    }

    fn read(&mut self, at: PageAddr, mode: CellMode, buf: Buf) {
        let run = self.run as usize;
        for (ppa, index) in self.runs(at, mode) {
            let (from, to) = (self.index(ppa), (buf.0 + index) as usize);
            self.buffers[to..to + run].copy_from_slice(&self.slots[from..from + run]);
        }
    }

    /// A die's part of a wordline is programmed. Returns whether it verified.
    fn program(
        &mut self,
        die: DieId,
        (block, on): (SuperblockId, BlockId),
        wordline: u16,
        buf: Buf,
    ) -> bool {
        self.join(block, die, on);
        if self.failures.program_fails(block, die, on, wordline) {
            // Data that did not verify cannot be read.
            self.note_failed(block, die);
            return false;
        }
        if self.layout.parity_die(wordline) == Some(die) {
            return true;
        }
        let mode = self.modes[block.0 as usize];
        let (run, bits) = (self.run as usize, mode.bits());
        let first = u32::from(wordline) * self.layout.slots_per_stripe() * u32::from(bits);
        for page in (0..bits).map(PageType) {
            let at = PageAddr {
                die,
                block,
                wordline,
                page,
            };
            for (ppa, _) in self.runs(at, mode) {
                let to = self.index(ppa);
                let from = (buf.0 + ppa.slot() - first) as usize;
                self.slots[to..to + run].copy_from_slice(&self.buffers[from..from + run]);
            }
        }
        true
    }

    /// A die erases its part of a superblock. Returns whether it verified.
    fn erase(&mut self, die: DieId, (block, on): (SuperblockId, BlockId), mode: CellMode) -> bool {
        let ends_cycle = self.failures.ends_cycle(block, die, on);
        self.join(block, die, on);
        // The firmware erases a superblock on every die before it uses the superblock again.
        if die.0 == 0 && ends_cycle {
            let from = std::mem::replace(&mut self.modes[block.0 as usize], mode);
            self.failures.cycled(block, from, mode);
            let base = block.0 as usize * self.slots_per_superblock;
            self.slots[base..base + self.slots_per_superblock].fill(NONE);
        }
        let fails = self.failures.erase_fails(block, die, ends_cycle);
        if fails {
            self.note_failed(block, die);
        }
        !fails
    }

    /// Superblock `block` has block `on` of `die`. One that it has not had before has not failed.
    #[inline]
    fn join(&mut self, block: SuperblockId, die: DieId, on: BlockId) {
        let joined = &mut self.joined
            [block.0 as usize * usize::from(self.layout.dies()) + usize::from(die.0)];
        if *joined != on.0 {
            *joined = on.0;
            self.failures.joins(block, die, on);
            self.failed[block.0 as usize * usize::from(self.layout.dies()) + usize::from(die.0)] =
                false;
        }
    }

    #[inline]
    fn spare(page: u32) -> Option<Spare> {
        // Sequence numbers order copies after a power cut, and there is none here.
        (page != NONE).then_some(Spare {
            lpn: Lpn(u64::from(page)),
            sequence: 0,
        })
    }
}

impl Accounting for InstantFlash {}

impl Ports for InstantFlash {
    type Record = Record;

    #[inline(always)] // So that the kind of operation is known.
    fn issue(&mut self, op: FlashOp) {
        let FlashOp { tag, die, kind, .. } = op;
        let what = match kind {
            FlashKind::Read {
                block,
                wordline,
                page,
                cell_mode,
                buf,
                ..
            } => {
                let at = PageAddr {
                    die,
                    block,
                    wordline,
                    page,
                };
                self.read(at, cell_mode, buf);
                What::Read
            }
            FlashKind::Program {
                block,
                on,
                wordline,
                buf,
            } => What::Programmed(self.program(die, (block, on), wordline, buf)),
            FlashKind::Erase { block, on, mode } => {
                What::Erased(self.erase(die, (block, on), mode))
            }
            other => unreachable!("nothing is suspended, repeated or cancelled: {other:?}"),
        };
        self.ended.push_back(Ended { tag, die, what });
    }

    #[inline]
    fn data_in(&mut self, _id: CommandId, first: u32, slots: u32, buf: Buf) {
        self.sequence += u64::from(slots);
        let pages = self.first + u64::from(first)..;
        let buffers = &mut self.buffers[buf.0 as usize..(buf.0 + slots) as usize];
        for (buffer, page) in buffers.iter_mut().zip(pages) {
            *buffer = page as u32;
        }
    }

    fn data_out(&mut self, _id: CommandId, first: u32, slots: u32, buf: Buf, _bytes: u32) {
        for i in 0..slots {
            let asked = self.first + u64::from(first + i);
            let there = self.buffers[(buf.0 + i) as usize];
            if u64::from(there) != asked && self.wrong_page.is_none() {
                self.wrong_page = Some((asked, (there != NONE).then_some(u64::from(there))));
            }
        }
    }

    fn zeros_out(&mut self, _id: CommandId, _first: u32, _slots: u32, _bytes: u32) {}

    #[inline]
    fn copy(&mut self, from: Buf, to: Buf) {
        self.buffers[to.0 as usize] = self.buffers[from.0 as usize];
    }

    fn pad(&mut self, buf: Buf) {
        self.buffers[buf.0 as usize] = NONE;
    }

    fn restore(&mut self, buf: Buf, spare: Option<Spare>) {
        self.buffers[buf.0 as usize] = spare.map_or(NONE, |spare| spare.lpn.0 as u32);
    }

    #[inline]
    fn buffered(&self, buf: Buf) -> Option<Spare> {
        InstantFlash::spare(self.buffers[buf.0 as usize])
    }

    #[inline]
    fn stored(&self, ppa: Ppa) -> Option<Spare> {
        InstantFlash::spare(self.slots[self.index(ppa)])
    }

    fn sequence(&self) -> u64 {
        self.sequence
    }

    fn widen(&mut self, _tag: Tag, _more: u64) -> bool {
        false
    }

    fn rebuilt(&mut self, tag: Tag, _made: u64) {
        unreachable!("no read fails: {tag:?}")
    }

    fn map_in(&mut self, page: Lpn, buf: Buf) {
        self.sequence += 1;
        self.buffers[buf.0 as usize] = page.0 as u32;
    }

    fn map_out(&mut self, page: Lpn, buf: Buf) {
        let there = self.buffers[buf.0 as usize];
        if u64::from(there) != page.0 && self.wrong_page.is_none() {
            self.wrong_page = Some((page.0, (there != NONE).then_some(u64::from(there))));
        }
    }

    fn complete(&mut self, _command: HostCommand, status: Status, _last: Option<Tag>) {
        self.completed = Some(status);
    }

    fn log(&mut self, _record: Record) {}
}

#[cfg(test)]
mod tests;
