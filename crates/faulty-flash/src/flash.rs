//! The flash: dies whose operations end in any order, with faults, and without what no chip would do.

use std::collections::{BTreeMap, BTreeSet};

use firstread_core::flash::{ALL_PLANES, planes_of};
use firstread_core::{
    BlockId, Buf, CellMode, DieId, FlashEvent, FlashKind, FlashOp, Geometry, Layout, Lpn, Ns,
    OpClass, PageAddr, PageType, Ppa, SenseMode, Spare, Stream, SuperblockId, Tag,
};

use super::bug::Bug;
use super::config::CHANGE_LEFT;
use super::faults::{Address, Faults};
use super::violation::{Illegal, Violation};

/// What is on a wordline whose program failed.
const GARBAGE: Spare = Spare {
    lpn: Lpn(u64::MAX >> 1),
    sequence: 0,
};

/// How often each fault has occurred.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Injected {
    /// Programs of one die that failed.
    pub failed_programs: u64,
    /// Erases of one die that failed.
    pub failed_erases: u64,
    /// Codewords that a sense did not decode, on pages that are not lost.
    pub failed_senses: u64,
    /// Multi-plane pages that became uncorrectable when they were programmed.
    pub lost_pages: u64,
    /// Dies that got stuck.
    pub stuck_dies: u64,
}

#[derive(Debug, Clone)]
struct Block {
    mode: CellMode,
    /// Its block on each die; none where another superblock has it by now.
    on: Vec<Option<BlockId>>,
    /// Wordlines programmed, by die; none where an erase was interrupted.
    written: Vec<Option<u16>>,
    slots: BTreeMap<u32, Option<Spare>>,
    /// Parts of wordlines whose program failed or was cut short.
    torn: BTreeSet<(DieId, u16)>,
    /// Pages that are uncorrectable.
    lost: BTreeSet<(DieId, u16, u8)>,
}

/// An operation under way.
#[derive(Debug, Clone, Copy)]
struct Pending {
    op: FlashOp,
    /// Whether it is on the array; otherwise its data are being transferred and decoded.
    in_array: bool,
}

#[derive(Debug, Clone, Default)]
struct Die {
    busy: u8,
    /// The program or erase that is suspended, and how often it has been.
    suspended: Option<(FlashOp, u16)>,
    /// Until when it is stuck; [`Ns::MAX`] for ever.
    stuck_until: Ns,
}

/// How often operations of each kind have been done.
#[derive(Debug, Clone, Default)]
struct Counts {
    begun: u64,
    programs: u64,
    erases: u64,
    codewords: u64,
    pages: u64,
}

/// A flash with faults. Slots hold their spare area in place of data.
#[derive(Debug, Clone)]
pub struct Flash {
    layout: Layout,
    /// What goes wrong from now on.
    pub faults: Faults,
    stream: Stream,
    draws: u64,
    counts: Counts,
    dies: Vec<Die>,
    /// Whether planes of a die read by themselves.
    independent_planes: bool,
    most_suspends: u16,
    pending: Vec<Pending>,
    /// Programs and erases told to stop.
    suspending: Vec<Tag>,
    /// How often those that run have been suspended.
    times: Vec<(Tag, u16)>,
    blocks: Vec<Block>,
    /// Last read under each tag.
    reads: BTreeMap<u32, FlashOp>,
    /// Copies on flash of each version of a page.
    copies: BTreeMap<(u64, u64), u32>,
    /// Pages a sense of which has failed.
    doubtful: BTreeSet<u64>,
    /// Blocks whose erase has failed, by die.
    failed: BTreeSet<(DieId, BlockId)>,
    injected: Injected,
}

/// A read whose data arrive.
#[derive(Clone, Copy)]
struct MpPage {
    at: PageAddr,
    buf: Buf,
    /// Whether it is read for its stripe.
    for_stripe: bool,
}

impl Flash {
    /// Erased flash of `geometry` whose superblocks are in `mode`. Chance is drawn from `seed`.
    pub fn new(
        geometry: Geometry,
        mode: CellMode,
        independent_planes: bool,
        most_suspends: u16,
        faults: Faults,
        seed: u64,
    ) -> Flash {
        let dies = usize::from(geometry.dies());
        let block = Block {
            mode,
            on: Vec::new(),
            written: vec![Some(0); dies],
            slots: BTreeMap::new(),
            torn: BTreeSet::new(),
            lost: BTreeSet::new(),
        };
        Flash {
            layout: Layout::new(geometry),
            faults,
            stream: Stream::new(seed).named("flash"),
            draws: 0,
            counts: Counts::default(),
            dies: vec![Die::default(); dies],
            independent_planes,
            most_suspends,
            pending: Vec::new(),
            suspending: Vec::new(),
            times: Vec::new(),
            blocks: (0..geometry.blocks_per_plane)
                .map(|number| Block {
                    on: vec![Some(BlockId(number)); dies],
                    ..block.clone()
                })
                .collect(),
            failed: BTreeSet::new(),
            reads: BTreeMap::new(),
            copies: BTreeMap::new(),
            doubtful: BTreeSet::new(),
            injected: Injected::default(),
        }
    }

    /// Dies, planes, blocks and pages that there are.
    pub fn geometry(&self) -> Geometry {
        self.layout.geometry
    }
    /// How often each fault has occurred.
    pub fn injected(&self) -> Injected {
        self.injected
    }
    /// Operations that were issued and have not ended.
    pub fn in_flight(&self) -> usize {
        self.pending.len()
    }
    /// Whether a sense of page `lpn` has ever failed.
    pub fn is_doubtful(&self, lpn: Lpn) -> bool {
        self.doubtful.contains(&lpn.0)
    }
    /// Whether a sense of a page from `first` on has ever failed.
    pub fn any_doubtful_from(&self, first: Lpn) -> bool {
        self.doubtful.range(first.0..GARBAGE.lpn.0).next().is_some()
    }
    /// Whether a die is stuck for ever.
    pub fn is_stuck(&self) -> bool {
        self.dies.iter().any(|d| d.stuck_until == Ns::MAX)
    }
    /// When the first of the operations under way may end: later than `now` where all of them are on stuck dies, and
    /// [`Ns::MAX`] where nothing ever ends.
    pub fn next_end(&self, now: Ns) -> Ns {
        let ends = self.pending.iter().map(|p| self.until(p));
        ends.min().map_or(Ns::MAX, |at| at.max(now))
    }

    fn until(&self, pending: &Pending) -> Ns {
        // What has left the array is with the controller.
        match pending.in_array {
            true => self.dies[usize::from(pending.op.die.0)].stuck_until,
            false => Ns::ZERO,
        }
    }

    /// Fills the first slots of `block` with pages from `first` on, all at once and in version 0.
    pub(crate) fn fill(&mut self, block: SuperblockId, first: u64, pages: u32) {
        let wordlines = self.layout.geometry.wordlines_per_block;
        let b = &mut self.blocks[block.0 as usize];
        let spare = |slot| Spare {
            lpn: Lpn(first + u64::from(slot)),
            sequence: 0,
        };
        b.slots = (0..pages).map(|slot| (slot, Some(spare(slot)))).collect();
        b.written.fill(Some(wordlines));
        for lpn in first..first + u64::from(pages) {
            self.copies.insert((lpn, 0), 1);
        }
    }

    pub(crate) fn draw(&mut self, n: u64) -> u64 {
        self.draws += 1;
        self.stream.at(self.draws).below(n)
    }

    /// The planes that `op` takes.
    fn planes(&self, op: &FlashOp) -> u8 {
        match op.kind {
            FlashKind::Read { wanted, .. } if self.independent_planes => {
                planes_of(wanted, self.layout.codewords_per_page())
            }
            _ => ALL_PLANES,
        }
    }

    /// The slots of a multi-plane page; none of one that holds parity.
    fn mp_page(&self, at: PageAddr, mode: CellMode) -> Vec<u32> {
        if self.layout.parity_die(at.wordline) == Some(at.die) {
            return Vec::new();
        }
        let slot = |mp_page_slot| self.layout.slot_at(at, mp_page_slot, mode).slot();
        (0..self.layout.slots_per_mp_page()).map(slot).collect()
    }

    /// The spare area of the last data of slot `ppa`.
    pub fn stored(&self, ppa: Ppa) -> Option<Spare> {
        let block = self.blocks.get(ppa.block().0 as usize)?;
        block.slots.get(&ppa.slot()).copied().flatten()
    }

    /// Superblock `block` is about to be erased: a page of which it has the only copy on flash, if `is_last` says that
    /// this is its last version. Pages a sense of which has failed may have been given up.
    pub(crate) fn only_copy(
        &self,
        block: SuperblockId,
        mut is_last: impl FnMut(Spare) -> bool,
    ) -> Option<Spare> {
        let b = self.blocks.get(block.0 as usize)?;
        let mut slots = b.slots.values();
        let copies = |s: Spare| self.copies.get(&(s.lpn.0, s.sequence));
        slots.find_map(|data| {
            data.filter(|&spare| {
                spare.lpn != GARBAGE.lpn
                    && !self.doubtful.contains(&spare.lpn.0)
                    && copies(spare).is_none_or(|n| *n < 2)
                    && is_last(spare)
            })
        })
    }

    fn is_legal(&self, op: &FlashOp, buffers: u32) -> Result<(), Illegal> {
        let g = self.layout.geometry;
        let Some(die) = self.dies.get(usize::from(op.die.0)) else {
            return Err(Illegal::NoSuchAddress);
        };
        let block_of = |block: SuperblockId| {
            let block = self.blocks.get(block.0 as usize);
            block.ok_or(Illegal::NoSuchAddress)
        };
        let has = |block: &Block, on| match block.on[usize::from(op.die.0)] == Some(on) {
            true => Ok(()),
            false => Err(Illegal::OtherBlock),
        };
        let fits = |buf: Buf, slots: u32| match buf.0.checked_add(slots) {
            Some(end) if end <= buffers => Ok(()),
            _ => Err(Illegal::NoSuchAddress),
        };
        match op.kind {
            FlashKind::Read {
                block,
                on,
                wordline,
                page,
                wanted,
                mode,
                buf,
                ..
            } => {
                let b = block_of(block)?;
                has(b, on)?;
                let all = u64::from(self.layout.codewords_per_page()) * u64::from(g.planes);
                if wordline >= g.wordlines_per_block
                    || page.0 >= b.mode.bits()
                    || wanted == 0
                    || (all < 64 && wanted >> all != 0)
                {
                    return Err(Illegal::NoSuchAddress);
                }
                if matches!(mode, SenseMode::OnesCount { .. }) || op.after.is_some() {
                    return Err(Illegal::NotSimulated);
                }
                fits(buf, self.layout.slots_per_mp_page())?;
            }
            FlashKind::Program {
                block,
                on,
                wordline,
                buf,
            } => {
                has(block_of(block)?, on)?;
                if self.failed.contains(&(op.die, on)) {
                    return Err(Illegal::FailedBlock);
                }
                let written = block_of(block)?.written[usize::from(op.die.0)];
                if wordline >= g.wordlines_per_block {
                    return Err(Illegal::NoSuchAddress);
                }
                if written.is_none() {
                    return Err(Illegal::NotErased);
                }
                if written != Some(wordline) {
                    return Err(Illegal::OutOfOrder);
                }
                let bits = u32::from(self.blocks[block.0 as usize].mode.bits());
                fits(buf, self.layout.slots_per_stripe() * bits)?;
            }
            FlashKind::Erase { block, on, .. } => {
                // Any block of the die may join a superblock, if that erases it, but one that has failed.
                let joins = has(block_of(block)?, on).is_err();
                if joins && self.failed.contains(&(op.die, on)) {
                    return Err(Illegal::FailedBlock);
                }
            }
            FlashKind::Suspend { victim, .. } => {
                let runs = |p: &Pending| p.op.tag == victim && p.op.die == op.die && p.in_array;
                return match self.pending.iter().any(runs) && die.suspended.is_none() {
                    true => Ok(()),
                    false => Err(Illegal::NotRunning),
                };
            }
            FlashKind::Resume { victim } => {
                let Some((suspended, times)) = die.suspended else {
                    return Err(Illegal::NotSuspended);
                };
                return match () {
                    () if suspended.tag != victim => Err(Illegal::NotSuspended),
                    () if die.busy != 0 => Err(Illegal::Busy),
                    () if times > self.most_suspends => Err(Illegal::SuspendedTooOften),
                    () => Ok(()),
                };
            }
            FlashKind::Output { .. } | FlashKind::Cancel { .. } | FlashKind::Abort { .. } => {
                return Err(Illegal::NotSimulated);
            }
        }
        let is_read = matches!(op.kind, FlashKind::Read { .. });
        if die.suspended.is_some() && !is_read {
            return Err(Illegal::WhileSuspended);
        }
        if die.busy & self.planes(op) != 0 {
            return Err(Illegal::Busy);
        }
        let uses_tag = |other: &FlashOp| other.tag == op.tag;
        let suspended = self.dies.iter().filter_map(|d| d.suspended.as_ref());
        if self.pending.iter().any(|p| uses_tag(&p.op))
            || suspended.into_iter().any(|(s, _)| uses_tag(s))
        {
            return Err(Illegal::TagInUse);
        }
        Ok(())
    }

    /// Begins `op`; `buffers` is how many slot buffers there are.
    ///
    /// # Errors
    /// [`Violation::Illegal`], if no chip would do it; then nothing has begun.
    pub(crate) fn issue(&mut self, now: Ns, op: FlashOp, buffers: u32) -> Result<(), Violation> {
        let illegal = |why| Violation::Illegal { why, op };
        self.is_legal(&op, buffers).map_err(illegal)?;
        let die = usize::from(op.die.0);
        match op.kind {
            FlashKind::Suspend { victim, .. } => {
                self.suspending.push(victim);
                return Ok(());
            }
            FlashKind::Resume { victim } => {
                let resumed = self.dies[die].suspended.take();
                let (op, times) = resumed.expect("it was seen to be suspended");
                self.times.push((victim, times));
                self.dies[die].busy = ALL_PLANES;
                self.pending.push(Pending { op, in_array: true });
                return Ok(());
            }
            FlashKind::Read { .. } => {
                self.reads.insert(op.tag.0, op);
            }
            _ => {}
        }
        self.dies[die].busy |= self.planes(&op);
        self.pending.push(Pending { op, in_array: true });
        self.counts.begun += 1;
        let when = std::mem::take(&mut self.faults.stuck_dies);
        if when.is_at(self.counts.begun, &address(&op), || self.draw(1000)) {
            let lasts = self.faults.stuck_ns;
            self.dies[die].stuck_until = lasts.map_or(Ns::MAX, |ns| now + Ns(ns));
            self.injected.stuck_dies += 1;
        }
        self.faults.stuck_dies = when;
        Ok(())
    }

    /// Adds codewords `more` to the read under `tag`, if its data are still on the die. Half of the time they are not.
    pub(crate) fn widen(&mut self, tag: Tag, more: u64) -> bool {
        if self.draw(2) == 0 {
            return false;
        }
        let on_array = |p: &&mut Pending| p.op.tag == tag && p.in_array;
        let pending = self.pending.iter_mut().find(on_array).map(|p| &mut p.op);
        let noted = self.reads.get_mut(&tag.0);
        let (Some(pending), Some(noted)) = (pending, noted) else {
            return false;
        };
        for op in [pending, noted] {
            if let FlashKind::Read { wanted, .. } = &mut op.kind {
                *wanted |= more;
            }
        }
        true
    }

    /// Ends one operation under way that is on no stuck die, whichever chance draws. Returns its events.
    ///
    /// # Errors
    /// [`Violation::Illegal`], if its data are not on flash.
    pub(crate) fn end_one(
        &mut self,
        now: Ns,
        buffers: &mut [Option<Spare>],
        bug: &mut dyn Bug,
    ) -> Result<Vec<FlashEvent>, Violation> {
        let ready = |p: &&Pending| self.until(p) <= now;
        let ready = self.pending.iter().filter(ready).count() as u64;
        if ready == 0 {
            return Ok(Vec::new());
        }
        let n = self.draw(ready) as usize;
        let mut all = self.pending.iter().enumerate();
        let nth = all.by_ref().filter(|(_, p)| self.until(p) <= now).nth(n);
        let at = nth.map_or(0, |(i, _)| i);
        let Pending { op, in_array } = self.pending.swap_remove(at);
        let die = usize::from(op.die.0);
        if let Some(i) = self
            .suspending
            .iter()
            .position(|t| *t == op.tag && in_array)
        {
            self.suspending.swap_remove(i);
            // It stops, or has ended before it could.
            if self.draw(4) > 0 {
                let before = self.times.iter().position(|(t, _)| *t == op.tag);
                let times = before.map_or(0, |i| self.times.swap_remove(i).1) + 1;
                self.dies[die].suspended = Some((op, times));
                self.dies[die].busy = 0;
                let (tag, remaining) = (op.tag, CHANGE_LEFT);
                return Ok(vec![FlashEvent::Suspended { tag, remaining }]);
            }
        }
        let planes = self.planes(&op);
        let (tag, on) = (op.tag, op.die);
        let free = FlashEvent::ArrayFree {
            tag,
            die: on,
            planes,
        };
        if in_array {
            self.times.retain(|(t, _)| *t != op.tag);
            self.dies[die].busy &= !planes;
        }
        match op.kind {
            FlashKind::Read { .. } if in_array => {
                // The array is free; the decode ends later, in any order.
                self.pending.push(Pending {
                    op,
                    in_array: false,
                });
                Ok(vec![free])
            }
            FlashKind::Program {
                block,
                wordline,
                buf,
                ..
            } => {
                let ok = self.program(&op, block, wordline, buf, buffers, bug)?;
                Ok(vec![FlashEvent::Programmed { tag, ok }, free])
            }
            FlashKind::Erase { block, on, mode } => {
                self.join(block, op.die, on);
                self.counts.erases += 1;
                let when = std::mem::take(&mut self.faults.failed_erases);
                let ok = !when.is_at(self.counts.erases, &address(&op), || self.draw(1000));
                self.faults.failed_erases = when;
                self.injected.failed_erases += u64::from(!ok);
                if !ok {
                    self.failed.insert((op.die, on));
                }
                if op.die == DieId(0) {
                    self.clear(block);
                }
                let b = &mut self.blocks[block.0 as usize];
                b.mode = mode;
                b.written[die] = Some(0);
                Ok(vec![FlashEvent::Erased { tag, ok }, free])
            }
            _ => Ok(vec![self.decode(&op, buffers)?]),
        }
    }

    /// Superblock `block` has block `on` of `die` from now on, and no other superblock has it.
    fn join(&mut self, block: SuperblockId, die: DieId, on: BlockId) {
        let die = usize::from(die.0);
        for other in &mut self.blocks {
            if other.on[die] == Some(on) {
                other.on[die] = None;
            }
        }
        self.blocks[block.0 as usize].on[die] = Some(on);
    }

    /// Cuts the power: what is on the array is torn, everything else under way is gone.
    pub(crate) fn power_cut(&mut self) {
        let mut torn: Vec<FlashOp> = Vec::new();
        let on_array = self.pending.drain(..).filter(|p| p.in_array);
        torn.extend(on_array.map(|p| p.op));
        let suspended = self.dies.iter_mut().filter_map(|d| d.suspended.take());
        torn.extend(suspended.map(|(op, _)| op));
        for op in torn {
            match op.kind {
                FlashKind::Program {
                    block, wordline, ..
                } => {
                    let b = &mut self.blocks[block.0 as usize];
                    b.torn.insert((op.die, wordline));
                    // The program was seen to be in order when it began.
                    let _ = self.fill_wordline(&op, block, wordline, |_| None);
                }
                FlashKind::Erase { block, on, .. } => {
                    self.join(block, op.die, on);
                    self.clear(block);
                    // Until the erase is done again, nothing may be programmed.
                    let b = &mut self.blocks[block.0 as usize];
                    b.written[usize::from(op.die.0)] = None;
                }
                _ => {}
            }
        }
        self.dies.iter_mut().for_each(|d| d.busy = 0);
        self.suspending.clear();
        self.times.clear();
    }

    fn decode(
        &mut self,
        op: &FlashOp,
        buffers: &mut [Option<Spare>],
    ) -> Result<FlashEvent, Violation> {
        let (mp_page, wanted) = read_of(op).ok_or(Violation::NoSuchRead { tag: op.tag })?;
        let address = address(op);
        let lost = &self.faults.lost_pages.at;
        let block = &self.blocks[mp_page.at.block.0 as usize];
        let is_lost =
            block
                .lost
                .contains(&(mp_page.at.die, mp_page.at.wordline, mp_page.at.page.0))
                || lost.iter().any(|a| a.includes(&address));
        let mut failed = if is_lost { wanted } else { 0 };
        let when = std::mem::take(&mut self.faults.failed_senses);
        for bit in (0..64).filter(|bit| !is_lost && wanted >> bit & 1 != 0) {
            self.counts.codewords += 1;
            if when.is_at(self.counts.codewords, &address, || self.draw(1000)) {
                failed |= 1u64 << bit;
                self.injected.failed_senses += 1;
            }
        }
        self.faults.failed_senses = when;
        self.note_failed(&mp_page, failed);
        self.deliver(mp_page, wanted & !failed, buffers)
            .map_err(|why| Violation::Illegal { why, op: *op })?;
        Ok(FlashEvent::Decoded {
            tag: op.tag,
            failed,
            max_errors: 1,
            sum_errors: 1,
            unsatisfied: 0,
            spare: Default::default(),
        })
    }

    /// Slots of a read with the codewords of each.
    fn slots_of(&self, mp_page: &MpPage) -> impl Iterator<Item = (u32, u64)> + use<> {
        let per_slot = self.layout.codewords_per_slot();
        let mode = self.blocks[mp_page.at.block.0 as usize].mode;
        let slots = self.mp_page(mp_page.at, mode).into_iter().enumerate();
        slots.map(move |(i, slot)| {
            let mask = (u64::MAX >> (64 - per_slot)) << (i as u32 * per_slot);
            (slot, mask)
        })
    }

    fn note_failed(&mut self, mp_page: &MpPage, failed: u64) {
        for (slot, mask) in self.slots_of(mp_page).filter(|_| failed != 0) {
            let there = self.stored(Ppa::new(mp_page.at.block, slot));
            if let Some(spare) = there.filter(|_| failed & mask != 0) {
                self.doubtful.insert(spare.lpn.0);
            }
        }
    }

    /// Moves the slots of codewords `decoded` into the buffers of a multi-plane page.
    fn deliver(
        &mut self,
        mp_page: MpPage,
        decoded: u64,
        buffers: &mut [Option<Spare>],
    ) -> Result<(), Illegal> {
        for (i, (slot, mask)) in self.slots_of(&mp_page).enumerate() {
            if decoded & mask == 0 {
                continue;
            }
            let data = self.blocks[mp_page.at.block.0 as usize].slots.get(&slot);
            // What is read for its stripe may hold slots that were never filled.
            let data = data.copied().or(mp_page.for_stripe.then_some(None));
            let buffer = buffers.get_mut(mp_page.buf.0 as usize + i);
            *buffer.ok_or(Illegal::NoSuchAddress)? = data.ok_or(Illegal::NotProgrammed)?;
        }
        Ok(())
    }

    /// Makes codewords `made` of the read under `tag` from the rest of their stripe.
    ///
    /// # Errors
    /// If there is no such read, or a part of the stripe is missing or torn.
    pub(crate) fn rebuild(
        &mut self,
        tag: Tag,
        made: u64,
        buffers: &mut [Option<Spare>],
    ) -> Result<(), Violation> {
        let read = self.reads.get(&tag.0).copied();
        let Some((op, (mp_page, _))) = read.and_then(|op| Some((op, read_of(&op)?))) else {
            return Err(Violation::NoSuchRead { tag });
        };
        let illegal = |why| Violation::Illegal { why, op };
        let b = &self.blocks[mp_page.at.block.0 as usize];
        for other in 0..self.layout.dies() {
            let is_written = b.written[usize::from(other)].is_some_and(|n| n > mp_page.at.wordline);
            if !is_written || b.torn.contains(&(DieId(other), mp_page.at.wordline)) {
                return Err(illegal(Illegal::StripeIncomplete));
            }
        }
        self.deliver(mp_page, made, buffers).map_err(illegal)
    }

    fn program(
        &mut self,
        op: &FlashOp,
        block: SuperblockId,
        wordline: u16,
        buf: Buf,
        buffers: &[Option<Spare>],
        bug: &mut dyn Bug,
    ) -> Result<bool, Violation> {
        self.counts.programs += 1;
        let when = std::mem::take(&mut self.faults.failed_programs);
        let ok = !when.is_at(self.counts.programs, &address(op), || self.draw(1000));
        self.faults.failed_programs = when;
        self.injected.failed_programs += u64::from(!ok);
        if !ok {
            let b = &mut self.blocks[block.0 as usize];
            b.torn.insert((op.die, wordline));
        }
        let stores = ok && bug.stores(op);
        let filled = self.fill_wordline(op, block, wordline, |slot| match (ok, stores) {
            (true, true) => buffers[(buf.0 + slot) as usize],
            (true, false) => None,
            (false, _) => Some(GARBAGE),
        });
        filled.map_err(|why| Violation::Illegal { why, op: *op })?;
        if stores {
            self.count_copies(op.die, block, wordline);
        }
        for page in 0..self.blocks[block.0 as usize].mode.bits() {
            self.counts.pages += 1;
            let address = address(op).page(PageType(page));
            let when = std::mem::take(&mut self.faults.lost_pages);
            let drawn = when.is_at(self.counts.pages, &address, || self.draw(1000));
            self.faults.lost_pages = when;
            if drawn {
                let b = &mut self.blocks[block.0 as usize];
                b.lost.insert((op.die, wordline, page));
                self.injected.lost_pages += 1;
            }
        }
        Ok(ok)
    }

    /// The slots of a die's part of a wordline.
    fn slots_of_wordline(&self, die: DieId, block: SuperblockId, wordline: u16) -> Vec<u32> {
        let mode = self.blocks[block.0 as usize].mode;
        let pages = (0..mode.bits()).flat_map(|page| {
            let at = PageAddr {
                die,
                block,
                wordline,
                page: PageType(page),
            };
            self.mp_page(at, mode)
        });
        pages.collect()
    }

    /// A die's part of a wordline has been programmed.
    fn count_copies(&mut self, die: DieId, block: SuperblockId, wordline: u16) {
        for slot in self.slots_of_wordline(die, block, wordline) {
            if let Some(Spare { lpn, sequence }) = self.stored(Ppa::new(block, slot)) {
                *self.copies.entry((lpn.0, sequence)).or_default() += 1;
            }
        }
    }

    /// Forgets what superblock `block` held.
    fn clear(&mut self, block: SuperblockId) {
        let b = &mut self.blocks[block.0 as usize];
        for spare in std::mem::take(&mut b.slots).into_values().flatten() {
            let key = (spare.lpn.0, spare.sequence);
            match self.copies.get_mut(&key) {
                Some(n) if *n > 1 => *n -= 1,
                _ => {
                    self.copies.remove(&key);
                }
            }
        }
        b.torn.clear();
        b.lost.clear();
    }

    /// Puts `data`, by slot of the wordline, into a die's part of a wordline.
    fn fill_wordline(
        &mut self,
        op: &FlashOp,
        block: SuperblockId,
        wordline: u16,
        data: impl Fn(u32) -> Option<Spare>,
    ) -> Result<(), Illegal> {
        let slots = self.slots_of_wordline(op.die, block, wordline);
        let per_stripe = self.layout.slots_per_stripe();
        let b = &mut self.blocks[block.0 as usize];
        let written = &mut b.written[usize::from(op.die.0)];
        if *written != Some(wordline) {
            return Err(Illegal::OutOfOrder);
        }
        *written = Some(wordline + 1);
        let first = u32::from(wordline) * per_stripe * u32::from(b.mode.bits());
        for slot in slots {
            if b.slots.insert(slot, data(slot - first)).is_some() {
                return Err(Illegal::NotErased);
            }
        }
        Ok(())
    }
}

fn address(op: &FlashOp) -> Address {
    let die = Address::die(op.die);
    match op.kind {
        FlashKind::Read {
            block,
            wordline,
            page,
            ..
        } => Address {
            block: Some(block),
            ..die.wordline(wordline).page(page)
        },
        FlashKind::Program {
            block, wordline, ..
        } => Address {
            block: Some(block),
            ..die.wordline(wordline)
        },
        FlashKind::Erase { block, .. } => Address {
            block: Some(block),
            ..die
        },
        _ => die,
    }
}

/// What `op` reads, and the codewords that it wants. None if it is no read.
fn read_of(op: &FlashOp) -> Option<(MpPage, u64)> {
    let FlashKind::Read {
        block,
        wordline,
        page,
        wanted,
        buf,
        ..
    } = op.kind
    else {
        return None;
    };
    let at = PageAddr {
        die: op.die,
        block,
        wordline,
        page,
    };
    let mp_page = MpPage {
        at,
        buf,
        for_stripe: op.class == OpClass::ReadRecovery,
    };
    Some((mp_page, wanted))
}
