//! Flash that misbehaves on demand: events in any order, programs and erases that fail, reads that
//! need retries or are lost. Checks what no chip would allow: programs out of order or without an
//! erase, reads of what is not programmed, two operations on one die.

mod drive;
mod ports;

pub use drive::*;

use std::collections::{BTreeMap, BTreeSet};

use firstread_core::flash::{ALL_PLANES, planes_of};
use firstread_core::{
    BlockId, Buf, CellMode, CommandId, DieId, FlashEvent, FlashKind, FlashOp, Geometry,
    HostCommand, Layout, Lpn, Ns, OpClass, PageAddr, Spare, Status, Stream, Tag,
};

/// Data of a slot: logical page and version.
type Data = (u64, u64);

fn spare((lpn, sequence): Data) -> Spare {
    let lpn = Lpn(lpn);
    Spare { lpn, sequence }
}

/// How often flash fails, in thousandths.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub program: u32,
    pub erase: u32,
    /// Of reads, one sense each.
    pub sense: u32,
}

#[derive(Debug, Clone, Default)]
struct Block {
    mode: Option<CellMode>,
    /// Wordlines programmed, by die.
    written: Vec<u16>,
    slots: BTreeMap<u32, Option<Data>>,
    /// Parts of wordlines whose program failed or was cut short.
    torn: BTreeSet<(DieId, u16)>,
}

/// A command in flight.
#[derive(Debug, Clone, Copy)]
struct Command {
    command: HostCommand,
    /// Versions given out when it was submitted.
    seen: u64,
}

/// What the host should read of a page.
#[derive(Debug, Clone, Copy)]
struct Last {
    version: u64,
    /// Since when: every write and trim of the drive counts one up.
    since: u64,
    trimmed: bool,
}

#[derive(Debug)]
pub struct World {
    geometry: Geometry,
    pub faults: Faults,
    stream: Stream,
    draws: u64,
    /// Planes of each die that are in use.
    busy: Vec<u8>,
    /// Whether planes of a die read by themselves.
    planes_apart: bool,
    pending: Vec<(FlashOp, bool)>,
    /// Programs and erases told to stop; the one of each die that has, and how often.
    told: Vec<Tag>,
    suspended: Vec<Option<(FlashOp, u16)>>,
    /// How often those that run have been suspended.
    times: Vec<(Tag, u16)>,
    most_suspends: u16,
    blocks: Vec<Block>,
    buffers: Vec<Option<Data>>,
    last: BTreeMap<u64, Last>,
    counter: u64,
    commands: BTreeMap<u32, Command>,
    pub completed: Vec<(HostCommand, Status)>,
    filled: u64,
    /// Blocks of dies that the firmware replaced.
    pub replaced: Vec<(DieId, BlockId)>,
    capacity: u64,
    /// Slots that reads could not correct: the drive may say so.
    pub senses_failed: u64,
    /// Last read under each tag.
    reads: BTreeMap<u32, FlashOp>,
    /// Reads made anew from their stripe.
    pub rebuilt: u64,
}

impl World {
    /// Commands in flight.
    pub fn commands(&self) -> usize {
        self.commands.len()
    }

    fn draw(&mut self, n: u64) -> u64 {
        self.draws += 1;
        self.stream.at(self.draws).below(n)
    }
    /// The planes that `op` takes.
    fn planes_of(&self, op: &FlashOp) -> u8 {
        match op.kind {
            FlashKind::Read { wanted, .. } if self.planes_apart => {
                planes_of(wanted, self.geometry.codewords_per_page())
            }
            _ => ALL_PLANES,
        }
    }
    fn happens(&mut self, permille: u32) -> bool {
        permille > 0 && self.draw(1000) < permille as u64
    }
    fn lpn(&self, id: CommandId, slot: u32) -> u64 {
        let c = self.commands[&id.0].command;
        c.offset_bytes / self.geometry.slot_bytes as u64 + slot as u64
    }
    fn expect(&self, id: CommandId, lpn: u64, got: Option<Data>) {
        let seen = self.commands[&id.0].seen;
        let filled = Last {
            version: 0,
            since: 0,
            trimmed: lpn >= self.filled,
        };
        let last = *self.last.get(&lpn).unwrap_or(&filled);
        let overtaken = last.since > seen;
        match got {
            Some((there, version)) => {
                assert_eq!(there, lpn, "another page's data");
                assert!(
                    overtaken || (!last.trimmed && version == last.version),
                    "page {lpn} read version {version}, last is {last:?}"
                );
            }
            None => assert!(overtaken || last.trimmed, "page {lpn} read zeros: {last:?}"),
        }
    }
    /// The slots of a page row; none of one that holds parity.
    fn row(&self, die: DieId, block: BlockId, wordline: u16, page: u8, mode: CellMode) -> Vec<u32> {
        let layout = Layout::new(self.geometry);
        let page = firstread_core::PageType(page);
        let at = PageAddr {
            die,
            block,
            wordline,
            page,
        };
        if layout.parity_die(wordline) == Some(die) {
            return Vec::new();
        }
        let slot = |row_slot| layout.slot_at(at, row_slot, mode).slot();
        (0..layout.slots_per_row()).map(slot).collect()
    }

    /// Ends one operation under way, whichever the stream draws: its events.
    fn end_one(&mut self) -> Vec<FlashEvent> {
        if self.pending.is_empty() {
            return Vec::new();
        }
        let n = self.draw(self.pending.len() as u64) as usize;
        let (op, in_array) = self.pending.swap_remove(n);
        if let Some(i) = self.told.iter().position(|t| *t == op.tag && in_array) {
            self.told.swap_remove(i);
            // It stops, or has ended before it could.
            if self.draw(4) > 0 {
                let before = self.times.iter().position(|(t, _)| *t == op.tag);
                let times = before.map_or(0, |i| self.times.swap_remove(i).1) + 1;
                self.suspended[op.die.0 as usize] = Some((op, times));
                self.busy[op.die.0 as usize] = 0;
                let (tag, remaining) = (op.tag, Ns(1));
                return vec![FlashEvent::Suspended { tag, remaining }];
            }
        }
        if in_array {
            self.times.retain(|(t, _)| *t != op.tag);
        }
        let planes = self.planes_of(&op);
        let free = FlashEvent::ArrayFree {
            tag: op.tag,
            die: op.die,
            planes,
        };
        if in_array {
            self.busy[op.die.0 as usize] &= !planes;
        }
        match op.kind {
            FlashKind::Read { .. } if in_array => {
                // The array is free; the decode ends later, in any order.
                self.pending.push((op, false));
                vec![free]
            }
            FlashKind::Read {
                block,
                wordline,
                page,
                wanted,
                buf,
                ..
            } => vec![self.decode(op.tag, op.die, block, wordline, page.0, wanted, buf)],
            FlashKind::Program {
                block,
                wordline,
                buf,
            } => {
                let ok = self.program(op.die, block, wordline, buf);
                vec![FlashEvent::Programmed { tag: op.tag, ok }, free]
            }
            FlashKind::Erase { block, mode } => {
                let ok = !self.happens(self.faults.erase);
                let b = &mut self.blocks[block.0 as usize];
                if op.die == DieId(0) {
                    b.slots.clear();
                    b.torn.clear();
                }
                b.mode = Some(mode);
                b.written[op.die.0 as usize] = 0;
                vec![FlashEvent::Erased { tag: op.tag, ok }, free]
            }
            other => panic!("{other:?} takes no time here"),
        }
    }

    /// Cuts the power: what is on the array is torn, everything else under way is gone.
    fn power_cut(&mut self) {
        let on_array = self.pending.drain(..).filter(|(_, in_array)| *in_array);
        let mut torn: Vec<FlashOp> = on_array.map(|(op, _)| op).collect();
        torn.extend(
            self.suspended
                .iter_mut()
                .filter_map(|s| s.take())
                .map(|s| s.0),
        );
        for op in torn {
            match op.kind {
                FlashKind::Program {
                    block, wordline, ..
                } => {
                    self.blocks[block.0 as usize]
                        .torn
                        .insert((op.die, wordline));
                    self.fill_wordline(op.die, block, wordline, |_| None);
                }
                FlashKind::Erase { block, .. } => {
                    let b = &mut self.blocks[block.0 as usize];
                    b.slots.clear();
                    // Until the erase is done again, nothing may be programmed.
                    b.written[op.die.0 as usize] = u16::MAX;
                }
                _ => {}
            }
        }
        self.busy.fill(0);
        self.told.clear();
        self.times.clear();
    }

    #[allow(clippy::too_many_arguments)] // the fields of a read
    fn decode(
        &mut self,
        tag: Tag,
        die: DieId,
        block: BlockId,
        wordline: u16,
        page: u8,
        wanted: u64,
        buf: Buf,
    ) -> FlashEvent {
        let mut failed = 0;
        for bit in (0..64).filter(|b| wanted >> b & 1 != 0) {
            if self.happens(self.faults.sense) {
                failed |= 1u64 << bit;
                self.senses_failed += 1;
            }
        }
        self.deliver(tag, die, block, wordline, page, wanted & !failed, buf);
        FlashEvent::Decoded {
            tag,
            failed,
            max_errors: 1,
            sum_errors: 1,
            unsatisfied: 0,
            spare: Default::default(),
        }
    }

    /// Moves the slots of codewords `decoded` into the buffers of a page row.
    #[allow(clippy::too_many_arguments)] // the fields of a read
    fn deliver(
        &mut self,
        tag: Tag,
        die: DieId,
        block: BlockId,
        wordline: u16,
        page: u8,
        decoded: u64,
        buf: Buf,
    ) {
        let per_slot = self.geometry.codewords_per_slot();
        let mode = self.blocks[block.0 as usize].mode.unwrap();
        let row = self.row(die, block, wordline, page, mode);
        for (i, slot) in row.into_iter().enumerate() {
            let mask = (u64::MAX >> (64 - per_slot)) << (i as u32 * per_slot);
            if decoded & mask != 0 {
                let data = self.blocks[block.0 as usize].slots.get(&slot);
                // A row that is read for its stripe may hold slots that were never filled.
                let for_stripe = self.reads[&tag.0].class == OpClass::Recovery;
                let data = data.copied().or_else(|| for_stripe.then_some(None));
                let data = data.unwrap_or_else(|| panic!("slot {slot} of {block:?} was erased"));
                self.buffers[(buf.0 + i as u32) as usize] = data;
            }
        }
    }

    fn program(&mut self, die: DieId, block: BlockId, wordline: u16, buf: Buf) -> bool {
        let ok = !self.happens(self.faults.program);
        if !ok {
            self.blocks[block.0 as usize].torn.insert((die, wordline));
        }
        let garbage = Some((u64::MAX >> 1, 0));
        let buffers = self.buffers.clone();
        self.fill_wordline(die, block, wordline, |slot| match ok {
            true => buffers[(buf.0 + slot) as usize],
            false => garbage,
        });
        ok
    }

    /// Puts `data`, by slot of the wordline, into a die's part of a wordline.
    fn fill_wordline(
        &mut self,
        die: DieId,
        block: BlockId,
        wordline: u16,
        data: impl Fn(u32) -> Option<Data>,
    ) {
        let g = self.geometry;
        let mode = self.blocks[block.0 as usize]
            .mode
            .expect("an erase comes before a program");
        let written = &mut self.blocks[block.0 as usize].written[die.0 as usize];
        assert_eq!(*written, wordline, "wordlines are programmed in order");
        *written += 1;
        let first = wordline as u32 * g.slots_per_stripe() * mode.bits() as u32;
        for page in 0..mode.bits() {
            for slot in self.row(die, block, wordline, page, mode) {
                let before = self.blocks[block.0 as usize]
                    .slots
                    .insert(slot, data(slot - first));
                assert_eq!(before, None, "slot {slot} of {block:?} was not erased");
            }
        }
    }
}
