//! A firmware in that world.

use std::collections::{BTreeMap, BTreeSet};

use firstread_core::params::{Axis, Param};
use firstread_core::sensing::SensingTable;
use firstread_core::voltage::{Line, MAX_FACTORY, Parabola, VoltageTables};
use firstread_core::{
    Arena, Before, BlockId, CellMode, CommandId, Geometry, HostCommand, HostOp, Levels, Lpn, Ns,
    Ppa, Stream,
};
use firstread_firmware::ftl::{MAP_ENTRY_BYTES, Recovery};
use firstread_firmware::policy::AXES;
use firstread_firmware::{Config, Dump, Firmware, Schemes, Setup, WriteCache};

use super::{Block, Command, Faults, World};
use crate::memory::allocations;

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

/// Memory that grows, of a drive that was filled in address order.
#[derive(Debug)]
pub struct Memory {
    pub bytes: Vec<u8>,
    filled: u64,
    slots_per_block: u64,
    erased: Vec<bool>,
}

impl Arena for Memory {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Before for Memory {
    fn run(&self, lpn: Lpn, max: u64) -> (Option<Ppa>, u64) {
        let block = BlockId((lpn.0 / self.slots_per_block) as u32);
        let slot = lpn.0 % self.slots_per_block;
        let left = max.min(self.slots_per_block - slot);
        match self.filled.saturating_sub(lpn.0) {
            0 => (None, left),
            filled => (Some(Ppa::new(block, slot as u32)), left.min(filled)),
        }
    }
    fn holds(&self, block: BlockId) -> bool {
        u64::from(block.0) * self.slots_per_block < self.filled && !self.erased[block.0 as usize]
    }
    fn page_at(&self, ppa: Ppa) -> Option<Lpn> {
        let page = u64::from(ppa.block().0) * self.slots_per_block + u64::from(ppa.slot());
        (page < self.filled).then_some(Lpn(page))
    }
    fn erase(&mut self, block: BlockId) {
        self.erased[block.0 as usize] = true;
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

/// What the schemes of a drive of the tests are built from.
pub fn setup(geometry: Geometry, mode: CellMode, capacity_slots: u64, seed: u64) -> Setup {
    Setup {
        geometry,
        capacity_slots,
        tables: tables(mode),
        layer_of: (0..geometry.wordlines_per_block).collect(),
        sensing: SensingTable::NOTHING,
        read_time: firstread_firmware::policy::ReadTime::default(),
        temperature_c: 25,
        seed,
    }
}

/// A firmware that knows nothing.
fn firmware(build: &Build) -> Firmware<Memory> {
    let g = build.geometry;
    let choice = |axis: &Axis| {
        let of = |i: usize| axis.schemes[i];
        let scheme = match axis.name {
            "gc_victim" => of(build.victim),
            "wear" => of(build.wear),
            "recovery" => of(build.recovery),
            "suspend" => of(build.suspend),
            "read_ahead" => of(build.read_ahead as usize),
            _ => of(0),
        };
        // Small, so that jobs, buffers and streams run out, and so that leveling acts.
        let value = |p: &Param| match (axis.name, p.key) {
            ("wear", _) => 4,
            ("read_ahead", "streams" | "rows") => 3,
            ("read_ahead", "buffer") => 64 << 10,
            _ => p.default(),
        };
        (scheme.name, scheme.params.iter().map(value).collect())
    };
    let choices: Vec<(&str, Vec<i64>)> = AXES.iter().map(choice).collect();
    let of = |axis: &Axis| {
        let i = AXES.iter().position(|a| a.name == axis.name).unwrap();
        (choices[i].0, &*choices[i].1)
    };
    let schemes = Schemes::new(&setup(g, build.mode, build.capacity, build.seed), of).unwrap();
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
    let memory = Memory {
        bytes: vec![0; MEMORY_STEP],
        filled: 0,
        slots_per_block: g.slots_per_superblock(build.mode).into(),
        erased: vec![false; g.blocks_per_plane as usize],
    };
    Firmware::new(config, schemes, memory)
}

impl Drive {
    pub fn new(build: &Build) -> Drive {
        let g = build.geometry;
        let firmware = firmware(build);
        let block = Block {
            mode: Some(build.mode),
            written: vec![0; g.dies() as usize],
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
        drive.firmware.before_mut().filled = build.fill;
        for i in 0..build.fill.div_ceil(per_block) {
            let pages = per_block.min(build.fill - i * per_block) as u32;
            let slots = (0..pages).map(|s| (s, Some((i * per_block + s as u64, 0))));
            let b = &mut drive.world.blocks[i as usize];
            b.slots = slots.collect();
            b.written.fill(g.wordlines_per_block);
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
            let block = BlockId((first + i) as u32);
            drive.firmware.adopt_map(
                Ns::ZERO,
                block,
                0,
                (i * per_block) as u32,
                pages,
                &mut drive.world,
            );
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
            let grow = |m: &mut Memory| m.bytes.resize(m.bytes.len() + MEMORY_STEP, 0);
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
