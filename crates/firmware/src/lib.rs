//! The firmware of firstread: portable, integer only, without a clock.
//!
//! From the host downwards:
//!
//! - [`host`]: commands, split into page rows.
//! - [`ftl`]: where a logical page lies; superblocks; writes.
//! - [`read`]: the life of one page read, with its retries.
//! - [`schedule`]: a queue for each die.
//! - [`voltage`]: read-voltage tables, groups and calibration.
//! - [`observe`]: what is known of blocks and reads.
//! - [`policy`]: the schemes, one folder an axis, one file a scheme.
//!
//! Time, flash and randomness are arguments. Commands are pushed in by `submit`, flash events by
//! `complete`; `poll` handles expired timers alone. Memory is allocated when the firmware is made
//! and never after, but for the map's overlay, which grows in an arena of its own.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod ftl;
mod host;
mod job;
pub mod log;
pub mod observe;
pub mod policy;
mod read;
mod schedule;
pub mod voltage;

use firstread_core::{
    Arena, BlockId, Buf, CellMode, DieId, FlashEvent, FlashKind, FlashOp, Geometry, Lpn, Ns,
    OpClass, PageAddr, PageType, Ports, Ppa, Priority, Tag,
};

use ftl::{Map, Program, WriteBuffer};
use host::Commands;
use job::{Job, Jobs, Purpose};
use log::Record;
use observe::{BlockMonitor, BlockUse, Counters};
use policy::read_levels::{AnyReadLevels, Outcome, Probe, ProbeResult, ReadLevels};
use schedule::DieQueues;

/// How a drive is set up. Fixed for its life.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Its geometry.
    pub geometry: Geometry,
    /// Mode its superblocks start in.
    pub mode: CellMode,
    /// Logical pages it offers.
    pub capacity_slots: u64,
    /// Commands in flight at most; ids are below it.
    pub max_commands: u32,
    /// Page rows read at the same time at most.
    pub max_reads: u32,
}

/// The firmware of one drive. `M` is the memory of the map's overlay.
#[derive(Debug)]
pub struct Firmware<M> {
    config: Config,
    map: Map<M>,
    blocks: BlockMonitor,
    jobs: Jobs,
    dies: DieQueues,
    commands: Commands,
    write_buffer: WriteBuffer,
    levels: AnyReadLevels,
    /// The background read in flight.
    probe: Option<Probe>,
    counters: Counters,
}

impl<M: Arena> Firmware<M> {
    /// A drive with no data. All memory but the overlay's is allocated here.
    pub fn new(config: Config, levels: AnyReadLevels, overlay: M) -> Firmware<M> {
        let geometry = config.geometry;
        let programs = geometry.dies() as u32 * ftl::WORDLINES as u32;
        let jobs = Jobs::new(config.max_reads, programs + 1);
        let read_buffers = jobs.len() * geometry.slots_per_row();
        Firmware {
            map: Map::new(
                config.capacity_slots,
                geometry.slots_per_superblock(config.mode),
                overlay,
            ),
            blocks: BlockMonitor::new(geometry.blocks_per_plane, config.mode),
            dies: DieQueues::new(geometry.dies()),
            commands: Commands::new(config.max_commands),
            write_buffer: WriteBuffer::new(geometry, config.mode, Buf(read_buffers)),
            probe: None,
            counters: Counters::default(),
            config,
            jobs,
            levels,
        }
    }

    /// Slot buffers it refers to; handles are below it.
    pub fn buffer_slots(&self) -> u32 {
        self.jobs.len() * self.config.geometry.slots_per_row()
            + WriteBuffer::buffers(&self.config.geometry, self.config.mode)
    }

    /// Tags it refers to; all are below it.
    pub fn tags(&self) -> u32 {
        self.jobs.len()
    }

    /// Notes that the next stretch of logical pages was written into `block`, a free superblock of
    /// `pe_cycles`, all at once at time `now`: how a simulator fills a drive.
    pub fn adopt<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        block: BlockId,
        pe_cycles: u32,
        pages: u32,
        ports: &mut P,
    ) {
        let row = self.blocks.row_mut(block);
        debug_assert_eq!(
            row.usage,
            BlockUse::Free,
            "only a free superblock can be filled"
        );
        row.usage = BlockUse::Full;
        row.pe_cycles = pe_cycles;
        row.programmed_at = now;
        row.valid_slots = pages;
        self.map.fill(block, pages as u64);
        self.levels.on_block(now, block, &self.blocks);
        self.start_probe(now, ports);
    }

    /// Sets the wear of a free superblock.
    pub fn set_pe_cycles(&mut self, block: BlockId, pe_cycles: u32) {
        self.blocks.row_mut(block).pe_cycles = pe_cycles;
    }

    /// Power is on and the drive is filled: background work begins.
    pub fn start<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        self.levels.start(now, &self.blocks);
        self.start_probe(now, ports);
    }

    /// Handles timers that have expired.
    pub fn poll<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        self.start_probe(now, ports);
    }

    /// When [`Firmware::poll`] is next needed; [`Ns::MAX`] if an event will come first.
    pub fn next_wakeup(&self) -> Ns {
        if self.probe.is_some() {
            Ns::MAX
        } else {
            self.levels.due()
        }
    }

    /// An event of flash.
    pub fn complete<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        event: FlashEvent,
        ports: &mut P,
    ) {
        match event {
            FlashEvent::ArrayFree { die, .. } => {
                self.dies.free(die);
                self.start_die(now, die, ports);
            }
            FlashEvent::Decoded {
                tag,
                failed,
                max_errors,
                sum_errors,
            } => {
                let wanted = self.jobs[tag.0].wanted;
                self.decoded(
                    now,
                    tag.0,
                    Outcome {
                        wanted,
                        failed,
                        max_errors,
                        sum_errors,
                    },
                    ports,
                );
            }
            FlashEvent::Ones { tag, count, cells } => {
                self.probe_done(now, tag.0, ProbeResult::Ones { count, cells }, ports);
            }
            FlashEvent::Programmed { tag, .. } => self.programmed(now, tag.0, ports),
            FlashEvent::Erased { .. } | FlashEvent::Suspended { .. } => {}
        }
    }

    /// Memory the overlay can take before it is full, in logical pages written. When it falls
    /// below what a burst of commands may write, hand over more with [`Firmware::move_overlay`].
    pub fn overlay_room(&self) -> usize {
        self.map.room()
    }

    /// Words of the memory the overlay is in.
    pub fn overlay_words(&self) -> usize {
        self.map.overlay_words()
    }

    /// Moves the map's overlay into `larger`, between events; returns the memory it was in.
    pub fn move_overlay(&mut self, larger: M) -> M {
        self.map.move_overlay(larger)
    }

    /// Whether logical page `lpn` holds data.
    pub fn is_mapped(&self, lpn: Lpn) -> bool {
        self.map.lookup(lpn, 1).ppa.is_some()
    }

    /// Its counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
    /// Its superblocks.
    pub fn blocks(&self) -> &BlockMonitor {
        &self.blocks
    }
    /// The scheme of axis `read_levels`.
    pub fn levels(&self) -> &AnyReadLevels {
        &self.levels
    }

    /// Issues the next job of `die`, if it is idle.
    fn start_die<P: Ports<Record = Record>>(&mut self, now: Ns, die: DieId, ports: &mut P) {
        let Some(job) = self.dies.start(&self.jobs, die) else {
            return;
        };
        if let Purpose::Program { block, wordline } = self.jobs[job].purpose {
            let buf = self.write_buffer.buffer_of(block, wordline);
            let kind = FlashKind::Program {
                block,
                wordline,
                buf,
            };
            ports.issue(FlashOp {
                tag: Tag(job),
                die,
                after: None,
                class: OpClass::Program,
                queued: self.jobs[job].queued,
                kind,
            });
        } else {
            self.issue_read(now, job, ports);
        }
    }

    /// Opens the next free superblock for writes. False when none is left.
    fn open_superblock(&mut self, now: Ns) -> bool {
        let Some(block) = self
            .blocks
            .iter()
            .find(|(_, row)| row.usage == BlockUse::Free)
            .map(|(block, _)| block)
        else {
            return false;
        };
        let row = self.blocks.row_mut(block);
        row.usage = BlockUse::Open;
        row.programmed_at = now;
        self.write_buffer.open(block);
        self.levels.on_block(now, block, &self.blocks);
        true
    }

    /// Logical page `lpn` now lies at `ppa`.
    fn place_slot(&mut self, lpn: Lpn, ppa: Ppa) {
        let old = self.map.set(lpn, Some(ppa));
        self.blocks.row_mut(ppa.block()).valid_slots += 1;
        if let Some(old) = old {
            self.blocks.row_mut(old.block()).valid_slots -= 1;
        }
    }

    /// Logical page `lpn` holds nothing any more.
    fn forget(&mut self, lpn: Lpn) {
        if self.map.lookup(lpn, 1).ppa.is_some()
            && let Some(old) = self.map.set(lpn, None)
        {
            self.blocks.row_mut(old.block()).valid_slots -= 1;
        }
    }

    fn start_program<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        program: Program,
        ports: &mut P,
    ) {
        let job = self
            .jobs
            .take()
            .expect("a job is reserved for every program of the buffer");
        let Program {
            die,
            block,
            wordline,
        } = program;
        let at = PageAddr {
            die,
            block,
            wordline,
            page: PageType(0),
        };
        let purpose = Purpose::Program { block, wordline };
        self.jobs[job] = Job {
            purpose,
            priority: Priority::Write,
            at,
            wanted: 0,
            queued: now,
            step: 0,
            ..self.jobs[job]
        };
        self.dies.push(&mut self.jobs, die, Priority::Write, job);
        self.start_die(now, die, ports);
    }

    fn programmed<P: Ports<Record = Record>>(&mut self, now: Ns, job: u32, ports: &mut P) {
        let Job { purpose, at, .. } = self.jobs[job];
        let Purpose::Program { block, wordline } = purpose else {
            unreachable!("{purpose:?} programs nothing")
        };
        let geometry = &self.config.geometry;
        self.counters.slots_programmed +=
            (geometry.slots_per_row() * self.config.mode.bits() as u32) as u64;
        self.jobs.release(job);
        if self.write_buffer.programmed(at.die, block, wordline) {
            if wordline + 1 == geometry.wordlines_per_block {
                self.blocks.row_mut(block).usage = BlockUse::Full;
            }
            self.resume_writes(now, ports);
        }
    }
}
