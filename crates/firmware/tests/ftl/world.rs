//! Flash that misbehaves on demand: events in any order, programs and erases that fail, reads that
//! need retries or are lost. Checks what no chip would allow: programs out of order or without an
//! erase, reads of what is not programmed, two operations on one die.

use std::collections::{BTreeMap, BTreeSet};

use firstread_core::flash::{ALL_PLANES, planes_of};
use firstread_core::voltage::{Line, MAX_FACTORY, Parabola, VoltageTables};
use firstread_core::{
    BlockId, Buf, CellMode, CommandId, DieId, FlashEvent, FlashKind, FlashOp, Geometry,
    HostCommand, HostOp, Layout, Levels, Lpn, Ns, OpClass, PageAddr, Ports, Ppa, Spare, Status,
    Stream, Tag,
};
use firstread_firmware::ftl::{Dump, MAP_ENTRY_BYTES, Recovery};
use firstread_firmware::log::Record;
use firstread_firmware::policy::gc_victim::{self, AnyGcVictim};
use firstread_firmware::policy::read_ahead::{self, AnyReadAhead};
use firstread_firmware::policy::read_levels::{AnyReadLevels, Setup};
use firstread_firmware::policy::recovery::{self, AnyRecovery};
use firstread_firmware::policy::retry::{self, AnyRetry};
use firstread_firmware::policy::suspend::{self, AnySuspend};
use firstread_firmware::policy::wear::{self, AnyWear};
use firstread_firmware::{Config, Firmware, Schemes, WriteCache};

use crate::memory::allocations;

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
    /// Whether it holds what the drive was filled with.
    filled: bool,
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
                    b.filled = false;
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
                    b.filled = false;
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

impl Ports for World {
    type Record = Record;

    fn issue(&mut self, op: FlashOp) {
        let die = op.die.0 as usize;
        match op.kind {
            FlashKind::Suspend { victim } => {
                assert_eq!(op.tag, victim, "a suspend goes under its victim's tag");
                assert!(self.suspended[die].is_none(), "one suspended at a time");
                let runs = |(p, in_array): &(FlashOp, bool)| p.tag == victim && *in_array;
                assert!(self.pending.iter().any(runs), "{victim:?} does not run");
                return self.told.push(victim);
            }
            FlashKind::Resume { victim } => {
                assert_eq!(self.busy[die], 0, "resumed on a busy die");
                let (op, times) = self.suspended[die].take().expect("something is suspended");
                assert_eq!(op.tag, victim);
                assert!(times <= self.most_suspends, "suspended too often");
                self.times.push((victim, times));
                self.busy[die] = ALL_PLANES;
                return self.pending.push((op, true));
            }
            _ => {}
        }
        if self.suspended[die].is_some() {
            let reads = matches!(op.kind, FlashKind::Read { .. });
            assert!(reads, "{op:?} while another is suspended");
        }
        if let FlashKind::Read { .. } = op.kind {
            self.reads.insert(op.tag.0, op);
        }
        let planes = self.planes_of(&op);
        let busy = &mut self.busy[op.die.0 as usize];
        assert_eq!(*busy & planes, 0, "issued to busy planes: {op:?}");
        *busy |= planes;
        self.pending.push((op, true));
    }
    fn data_in(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf) {
        for i in 0..slots {
            let lpn = self.lpn(id, first + i);
            self.counter += 1;
            let (version, since) = (self.counter, self.counter);
            let trimmed = false;
            let last = Last {
                version,
                since,
                trimmed,
            };
            self.last.insert(lpn, last);
            self.buffers[(buf.0 + i) as usize] = Some((lpn, version));
        }
    }
    fn data_out(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf, _bytes: u32) {
        for i in 0..slots {
            let got = self.buffers[(buf.0 + i) as usize];
            self.expect(id, self.lpn(id, first + i), got);
        }
    }
    fn zeros_out(&mut self, id: CommandId, first: u32, slots: u32, _bytes: u32) {
        (first..first + slots).for_each(|i| self.expect(id, self.lpn(id, i), None));
    }
    fn trimmed(&mut self, first: Lpn, pages: u32) {
        self.counter += 1;
        let last = Last {
            version: 0,
            since: self.counter,
            trimmed: true,
        };
        for lpn in first.0..first.0 + pages as u64 {
            self.last.insert(lpn, last);
        }
    }
    fn copy(&mut self, from: Buf, to: Buf) {
        self.buffers[to.0 as usize] = self.buffers[from.0 as usize];
    }
    fn pad(&mut self, buf: Buf) {
        self.buffers[buf.0 as usize] = None;
    }
    fn buffered(&self, buf: Buf) -> Option<Spare> {
        self.buffers[buf.0 as usize].map(spare)
    }
    fn stored(&self, ppa: Ppa) -> Option<Spare> {
        let slots = &self.blocks[ppa.block().0 as usize].slots;
        let data = slots.get(&ppa.slot()).copied().flatten();
        data.map(spare)
    }
    fn is_filled(&self, block: BlockId) -> bool {
        self.blocks[block.0 as usize].filled
    }
    fn sequence(&self) -> u64 {
        self.counter
    }
    fn replace(&mut self, die: DieId, block: BlockId) {
        self.replaced.push((die, block));
    }
    fn waited(&mut self, _id: CommandId, _tag: Tag) {}
    /// Half of the reads whose data have not left their die take more codewords.
    fn widen(&mut self, tag: Tag, more: u64) -> bool {
        if self.draw(2) == 0 {
            return false;
        }
        let on_array = |(op, in_array): &&mut (FlashOp, bool)| op.tag == tag && *in_array;
        let pending = self.pending.iter_mut().find(on_array).map(|(op, _)| op);
        let noted = self.reads.get_mut(&tag.0);
        let (Some(pending), Some(noted)) = (pending, noted) else {
            return false;
        };
        for op in [pending, noted] {
            let FlashKind::Read { wanted, .. } = &mut op.kind else {
                panic!("{op:?} is no read")
            };
            *wanted |= more;
        }
        true
    }
    fn rebuilt(&mut self, tag: Tag, made: u64) {
        let read = self.reads.get(&tag.0).copied();
        let Some(FlashKind::Read {
            block,
            wordline,
            page,
            buf,
            ..
        }) = read.map(|op| op.kind)
        else {
            panic!("{tag:?} has read nothing that could be rebuilt")
        };
        let die = read.unwrap().die;
        let b = &self.blocks[block.0 as usize];
        for other in 0..self.geometry.dies() {
            assert!(b.written[other as usize] > wordline, "a stripe in part");
            let torn = b.torn.contains(&(DieId(other), wordline));
            assert!(!torn, "the stripe of {die:?} {wordline} lacks a part");
        }
        self.rebuilt += (made != 0) as u64;
        self.deliver(tag, die, block, wordline, page.0, made, buf);
    }
    fn map_in(&mut self, page: Lpn, buf: Buf) {
        self.counter += 1;
        let last = Last {
            version: self.counter,
            since: self.counter,
            trimmed: false,
        };
        assert!(page.0 >= self.capacity, "a page of the map");
        self.last.insert(page.0, last);
        self.buffers[buf.0 as usize] = Some((page.0, last.version));
    }
    fn map_out(&mut self, page: Lpn, buf: Buf) {
        let version = self.last.get(&page.0).map_or(0, |last| last.version);
        let got = self.buffers[buf.0 as usize];
        assert_eq!(got, Some((page.0, version)), "the map's last version");
    }
    fn complete(&mut self, command: HostCommand, status: Status, _last: Option<Tag>) {
        self.commands.remove(&command.id.0);
        self.completed.push((command, status));
    }
    fn log(&mut self, _record: Record) {}
}

/// How a drive of the tests is built.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    pub geometry: Geometry,
    pub mode: CellMode,
    pub capacity: u64,
    /// Logical pages filled before the first command.
    pub fill: u64,
    pub victim: usize,
    pub wear: usize,
    pub suspend: usize,
    pub recovery: usize,
    pub faults: Faults,
    /// Slots of the read cache.
    pub read_cache: u32,
    /// Whether streams are read ahead of.
    pub read_ahead: bool,
    /// Pages of the map in memory; 0 for all.
    pub map_cache: u32,
    /// Whether planes of a die read by themselves.
    pub planes_apart: bool,
    pub seed: u64,
    /// Commands in flight at most.
    pub depth: u32,
    /// Longest wait behind reads of the host; a step takes 100 ns.
    pub max_wait_ns: u64,
}

pub fn geometry(channels: u16, dies: u16, planes: u8, blocks: u32, wordlines: u16) -> Geometry {
    Geometry {
        channels,
        chips_per_channel: dies,
        dies_per_chip: 1,
        planes,
        blocks_per_plane: blocks,
        wordlines_per_block: wordlines,
        page_bytes: 8192,
        slot_bytes: 4096,
        codeword_bytes: 2048,
        stripe: firstread_core::StripeOrder::DieFirst,
        stripe_parity: false,
    }
}

/// A drive and its flash.
pub struct Drive {
    pub firmware: Firmware<Memory>,
    pub world: World,
    pub now: Ns,
    build: Build,
}

/// Bytes by which the overlay's memory grows.
const MEMORY_STEP: usize = 320 << 10;

/// Memory that grows.
#[derive(Debug)]
pub struct Memory(pub Vec<u8>);

impl firstread_core::Arena for Memory {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

fn tables(mode: CellMode) -> VoltageTables {
    let Levels::Offsets(zero) = Levels::DEFAULT else {
        unreachable!("the default is an offset of zero")
    };
    VoltageTables {
        mode,
        page_of_valley: [0; 15],
        factory: [zero; MAX_FACTORY],
        factory_len: 4,
        sentinel: [1; 4],
        projection: [Line::IDENTITY; 15],
        curved: [Parabola::IDENTITY; 15],
        spare: [[0; 33]; 4],
        dac_mv: 5,
    }
}

/// A firmware that knows nothing.
fn firmware(build: &Build) -> Firmware<Memory> {
    let g = build.geometry;
    let defaults = |axis: &firstread_core::params::Axis, i: usize| -> Vec<i64> {
        axis.schemes[i].params.iter().map(|p| p.default()).collect()
    };
    let (victim, leveling) = (build.victim, build.wear);
    let setup = Setup {
        geometry: g,
        tables: tables(build.mode),
        layer_of: (0..g.wordlines_per_block).collect(),
        seed: build.seed,
    };
    let schemes = Schemes {
        read_levels: AnyReadLevels::new("factory", &setup, &[]).unwrap(),
        gc_victim: AnyGcVictim::new(
            gc_victim::AXIS.schemes[victim].name,
            &gc_victim::Setup { seed: build.seed },
            &defaults(&gc_victim::AXIS, victim),
        )
        .unwrap(),
        wear: AnyWear::new(
            wear::AXIS.schemes[leveling].name,
            // The spread of `static`: small, so that it acts.
            &vec![4; wear::AXIS.schemes[leveling].params.len()],
        )
        .unwrap(),
        retry: AnyRetry::new("sequential", &retry::Setup::NOTHING, &[]).unwrap(),
        recovery: AnyRecovery::new(
            recovery::AXIS.schemes[build.recovery].name,
            &defaults(&recovery::AXIS, build.recovery),
        )
        .unwrap(),
        suspend: AnySuspend::new(suspend::AXIS.schemes[build.suspend].name, &[]).unwrap(),
        read_ahead: {
            let setup = read_ahead::Setup {
                slot_bytes: g.slot_bytes,
                row_slots: g.slots_per_row(),
                capacity_slots: build.capacity,
            };
            let scheme = &read_ahead::AXIS.schemes[build.read_ahead as usize];
            // Small, so that jobs, buffers and streams run out.
            let small = |p: &firstread_core::params::Param| match p.key {
                "streams" => 3,
                "rows" => 3,
                "buffer" => 64 << 10,
                _ => p.default(),
            };
            let values: Vec<i64> = scheme.params.iter().map(small).collect();
            AnyReadAhead::new(scheme.name, &setup, &values).unwrap()
        },
    };
    let config = Config {
        geometry: g,
        mode: build.mode,
        capacity_slots: build.capacity,
        least_spare_slots: 0,
        max_commands: build.depth,
        max_reads: 8,
        max_suspends: 3,
        independent_planes: build.planes_apart,
        max_wait: Ns(build.max_wait_ns),
        read_cache_slots: build.read_cache,
        write_cache: WriteCache::default(),
        map_cache_pages: build.map_cache,
    };
    Firmware::new(config, schemes, Memory(vec![0; MEMORY_STEP]))
}

impl Drive {
    pub fn new(build: &Build) -> Drive {
        let g = build.geometry;
        let firmware = firmware(build);
        let block = Block {
            mode: Some(build.mode),
            written: vec![0; g.dies() as usize],
            filled: false,
            slots: BTreeMap::new(),
            torn: BTreeSet::new(),
        };
        let world = World {
            geometry: g,
            faults: build.faults,
            stream: Stream::new(build.seed).named("flash"),
            draws: 0,
            busy: vec![0; g.dies() as usize],
            planes_apart: build.planes_apart,
            pending: Vec::new(),
            told: Vec::new(),
            suspended: vec![None; g.dies() as usize],
            times: Vec::new(),
            most_suspends: if build.suspend == 4 { u16::MAX } else { 3 },
            blocks: vec![block; g.blocks_per_plane as usize],
            buffers: vec![None; firmware.buffer_slots() as usize],
            last: BTreeMap::new(),
            counter: 0,
            commands: BTreeMap::new(),
            completed: Vec::new(),
            filled: build.fill,
            replaced: Vec::new(),
            capacity: build.capacity,
            senses_failed: 0,
            reads: BTreeMap::new(),
            rebuilt: 0,
        };
        let mut drive = Drive {
            firmware,
            world,
            now: Ns::ZERO,
            build: *build,
        };
        let per_block = g.slots_per_superblock(build.mode) as u64;
        for i in 0..build.fill.div_ceil(per_block) {
            let pages = per_block.min(build.fill - i * per_block) as u32;
            let slots = (0..pages).map(|s| (s, Some((i * per_block + s as u64, 0))));
            let b = &mut drive.world.blocks[i as usize];
            b.slots = slots.collect();
            b.written.fill(g.wordlines_per_block);
            b.filled = true;
            drive
                .firmware
                .adopt(Ns::ZERO, BlockId(i as u32), 0, pages, &mut drive.world);
        }
        let entries = (g.slot_bytes / MAP_ENTRY_BYTES) as u64;
        let map_pages = match build.map_cache {
            0 => 0,
            _ => build.fill.div_ceil(entries),
        };
        let first = build.fill.div_ceil(per_block);
        for i in 0..map_pages.div_ceil(per_block) {
            let pages = per_block.min(map_pages - i * per_block) as u32;
            let from = build.capacity + i * per_block;
            let b = &mut drive.world.blocks[(first + i) as usize];
            b.slots = (0..pages)
                .map(|s| (s, Some((from + s as u64, 0))))
                .collect();
            b.written.fill(g.wordlines_per_block);
            b.filled = true;
            let block = BlockId((first + i) as u32);
            drive
                .firmware
                .adopt_map(Ns::ZERO, block, 0, pages, &mut drive.world);
        }
        drive.firmware.start(Ns::ZERO, &mut drive.world);
        drive
    }

    /// Ends one operation of flash. False when none is under way and the firmware asks for nothing.
    pub fn step(&mut self) -> bool {
        self.now += Ns(100);
        let events = self.world.end_one();
        for event in &events {
            self.firmware.complete(self.now, *event, &mut self.world);
        }
        let wakes = self.firmware.next_wakeup() <= self.now;
        if wakes {
            self.firmware.poll(self.now, &mut self.world);
        }
        if self.firmware.overlay_is_short(2) {
            let grow = |m: &mut Memory| m.0.resize(m.0.len() + MEMORY_STEP, 0);
            self.firmware.grow_overlay(self.now, grow, &mut self.world);
        }
        !events.is_empty() || wakes
    }

    /// Lets the firmware do what it wants to do now.
    pub fn poll(&mut self) {
        if self.firmware.next_wakeup() <= self.now {
            self.firmware.poll(self.now, &mut self.world);
        }
    }

    /// Submits a command, after as much of flash's work as it takes to have room for it.
    pub fn submit(&mut self, op: HostOp, offset_bytes: u64, len_bytes: u32) {
        while self.world.commands.len() as u32 == self.build.depth {
            assert!(self.step(), "{}", self.stuck());
        }
        let id = (0..).find(|i| !self.world.commands.contains_key(i));
        let command = HostCommand {
            id: CommandId(id.unwrap()),
            op,
            client: 0,
            offset_bytes,
            len_bytes,
            fua: false,
        };
        let seen = self.world.counter;
        self.world
            .commands
            .insert(command.id.0, Command { command, seen });
        self.firmware.submit(self.now, command, &mut self.world);
        if self.firmware.overlay_is_short(2) {
            self.step();
        }
    }

    /// What a drive looks like that does nothing though commands wait.
    fn stuck(&self) -> String {
        let all = format!("{:?}", self.firmware);
        let from = |key: &str, end: &str| {
            let rest = &all[all.find(key).unwrap_or(0)..];
            rest[..rest.find(end).unwrap_or(rest.len())].to_owned()
        };
        let rows: Vec<String> = self
            .firmware
            .blocks()
            .iter()
            .map(|(b, r)| {
                format!(
                    "\n  {} {:?} {:?} valid {} pins {} leaving {} failed {} opened {}",
                    b.0, r.usage, r.mode, r.valid_slots, r.pins, r.leaving, r.failed, r.opened
                )
            })
            .collect();
        format!(
            "commands wait and nothing happens:\n{}\n{}\n{}\n{}{}\npending {:?}",
            from("table:", "stalled_reads").replace("Some(Command", "\n"),
            from("stalled_reads", "write_buffers"),
            from("ring:", "space:").replace("OpenWordline", "\n"),
            from("Space {", "levels:")
                + &from("changed: PageSet", "next_waiter")
                + &from("stalled: [", "blocks:"),
            rows.concat(),
            self.world.pending
        )
    }

    /// Cuts the power and comes back, with a new firmware that knows the dump alone. Returns what that
    /// took, and how many commands were lost.
    pub fn power_cut(&mut self) -> (Recovery, usize) {
        self.power_cuts(None)
    }

    /// The firmware is gone but for its dump; a new one takes its place.
    fn power_off(&mut self) -> Dump<Memory> {
        let firmware = firmware(&self.build);
        let before = std::mem::replace(&mut self.firmware, firmware);
        let at_first = allocations();
        let dump = before.dump(&mut self.world);
        assert_eq!(allocations(), at_first, "a dump allocates nothing");
        dump
    }

    /// The same; power is cut once more when the recovery has read `cut_after` superblocks.
    pub fn power_cuts(&mut self, cut_after: Option<u32>) -> (Recovery, usize) {
        self.world.power_cut();
        let lost = std::mem::take(&mut self.world.commands);
        self.now += Ns(1_000);
        let leaving = |f: &Firmware<Memory>| {
            let mut rows = f.blocks().iter();
            let found = rows.find(|(_, row)| row.leaving);
            found.map(|(block, row)| (block, row.valid_slots))
        };
        let before = leaving(&self.firmware);
        let dump = self.power_off();
        let at_first = allocations();
        let mut recovering = self.firmware.begin_recovery(dump);
        let mut left = cut_after;
        while left != Some(0)
            && self
                .firmware
                .recover_superblock(&mut recovering, &self.world)
        {
            left = left.map(|left| left - 1);
        }
        let mut recovery = recovering.done();
        let mut allocated = allocations() - at_first;
        if left == Some(0) {
            let dump = self.power_off();
            let at_first = allocations();
            recovery = recovery.again(self.firmware.recover(dump, &self.world));
            allocated += allocations() - at_first;
        }
        assert_eq!(allocated, 0, "a recovery allocates nothing");
        assert!(
            leaving(&self.firmware) <= before,
            "what has left a superblock is back in it"
        );
        self.firmware.restart(self.now, &mut self.world);
        (recovery, lost.len())
    }

    /// Waits until every command has ended.
    pub fn finish(&mut self) {
        while !self.world.commands.is_empty() {
            assert!(self.step(), "{}", self.stuck());
        }
    }

    /// Lets flash work until nothing is under way.
    pub fn settle(&mut self) {
        self.finish();
        for _ in 0..10_000_000 {
            if !self.step() {
                return;
            }
        }
        panic!("the drive does not come to rest");
    }
}
