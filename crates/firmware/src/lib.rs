//! The firmware of firstread: portable, integer only, without a clock.
//!
//! From the host downwards:
//!
//! - `host`: commands, split into page rows.
//! - [`ftl`]: where a logical page lies; superblocks; writes.
//! - `read`: the life of one page read. `retry`: its steps. `soft`: what is left after
//!   them. `rebuild`: parity across the stripe.
//! - `schedule`: a queue for each die.
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

mod cache;
pub mod ftl;
mod host;
mod job;
pub mod log;
pub mod observe;
pub mod policy;
mod read;
mod rebuild;
mod retry;
mod schedule;
mod soft;
pub mod voltage;

use firstread_core::{
    Arena, BlockId, Buf, CellMode, DieId, FlashEvent, FlashKind, FlashOp, Geometry, Layout, Lpn,
    Ns, OpClass, PageAddr, PageType, Ports, Ppa, Priority, Tag,
};

use ftl::{
    Allocated, BadBlocks, Gc, Map, MapCache, Mover, Place, Program, Rescue, STREAMS, Space,
    StreamId, Waiting, WriteBuffer,
};
pub use host::WriteCache;
use host::{Ahead, Commands, Durable, ReadCache, Rows};
use job::{Job, Jobs, Purpose};
use log::Record;
use observe::{BlockMonitor, BlockUse, Counters};
use policy::gc_victim::AnyGcVictim;
use policy::read_ahead::{AnyReadAhead, ReadAhead};
use policy::read_levels::{AnyReadLevels, Outcome, Probe, ProbeResult, ReadLevels};
use policy::recovery::AnyRecovery;
use policy::retry::{AnyRetry, Retry};
use policy::suspend::{AnySuspend, Running, Suspend};
use policy::wear::AnyWear;
use rebuild::Rebuilds;
use schedule::{DieQueues, Next};

/// How a drive is set up. Fixed for its life.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Its geometry.
    pub geometry: Geometry,
    /// Mode its superblocks start in, and the one in which they hold most.
    pub mode: CellMode,
    /// Logical pages it offers.
    pub capacity_slots: u64,
    /// Slots beyond the capacity and the reserve of cleaning without which the drive is at its end of
    /// life: cleaning costs the more, the fewer they are.
    pub least_spare_slots: u64,
    /// Commands in flight at most; ids are below it.
    pub max_commands: u32,
    /// Page rows read at the same time at most.
    pub max_reads: u32,
    /// Times the chip lets one program or erase be suspended.
    pub max_suspends: u16,
    /// Whether planes of a die read independently.
    pub independent_planes: bool,
    /// How long other work waits at most behind reads of the host that came later.
    pub max_wait: Ns,
    /// Slots that the host has read and that are kept in memory; zero for no read cache.
    pub read_cache_slots: u32,
    /// What the write buffer is to the host.
    pub write_cache: WriteCache,
    /// Pages of the map that are in memory at a time, a slot each; zero for all of it.
    pub map_cache_pages: u32,
}

/// The schemes of a drive, one an axis.
#[derive(Debug)]
pub struct Schemes {
    /// Which levels a read tries.
    pub read_levels: AnyReadLevels,
    /// How the steps of a read execute.
    pub retry: AnyRetry,
    /// What is tried when they have all failed.
    pub recovery: AnyRecovery,
    /// Which superblock garbage collection cleans next.
    pub gc_victim: AnyGcVictim,
    /// Which block wears next.
    pub wear: AnyWear,
    /// Whether a die stops a program or an erase for a read of the host.
    pub suspend: AnySuspend,
    /// What is read before the host asks for it.
    pub read_ahead: AnyReadAhead,
}

/// Moves under way at most; fewer on drives with fewer dies.
const MAX_MOVES: u16 = 128;

/// The firmware of one drive. `M` is the memory of the map's overlay.
#[derive(Debug)]
pub struct Firmware<M> {
    config: Config,
    layout: Layout,
    capacity_bytes: u64,
    map: Map<M>,
    map_cache: MapCache,
    blocks: BlockMonitor,
    jobs: Jobs,
    dies: DieQueues,
    commands: Commands,
    /// Rows that the host reads.
    rows: Rows,
    durable: Durable,
    read_cache: ReadCache,
    ahead: Ahead,
    write_buffers: [WriteBuffer; STREAMS],
    rescue: Rescue,
    bad: BadBlocks,
    space: Space,
    mover: Mover,
    gc: Gc,
    levels: AnyReadLevels,
    /// When `levels` is next due.
    levels_due: Ns,
    retry: AnyRetry,
    recovery: AnyRecovery,
    wear: AnyWear,
    suspend: AnySuspend,
    /// The background read in flight.
    probe: Option<Probe>,
    rebuilds: Rebuilds,
    counters: Counters,
    /// Programs to be issued again after a power cut.
    waiting: Waiting,
}

impl<M: Arena> Firmware<M> {
    /// A drive with no data. All memory but the overlay's is allocated here.
    pub fn new(config: Config, schemes: Schemes, overlay: M) -> Firmware<M> {
        let geometry = config.geometry;
        let layout = Layout::new(geometry);
        let dies = geometry.dies();
        let moves = dies.clamp(4, MAX_MOVES) as u32;
        let slots = geometry.slots_per_superblock(config.mode);
        let map_cache = MapCache::new(
            config.map_cache_pages,
            config.capacity_slots,
            geometry.slot_bytes,
            slots,
            config.max_commands,
        );
        let streams = streams(&map_cache);
        let programs = streams as u32 * WriteBuffer::programs(&geometry);
        // One superblock is erased at a time, and one background read is in flight.
        let ahead = &schemes.read_ahead;
        let rows = match geometry.stripe_parity {
            true => dies as u32 - 1,
            false => 0,
        };
        let reserve = rows + programs + moves + dies as u32 + 1 + ahead.rows() + map_cache.jobs();
        let jobs = Jobs::new(config.max_reads, reserve);
        let first = jobs.len() * geometry.slots_per_row();
        let buffers = WriteBuffer::buffers(&geometry, config.mode);
        let rescue = Buf(first + streams as u32 * buffers);
        let cache = rescue.slot(Rescue::buffers(&geometry, config.mode, streams));
        let ahead_slots = ahead.buffer_slots();
        Firmware {
            map: Map::new(
                config.capacity_slots,
                geometry.blocks_per_plane,
                slots,
                overlay,
            ),
            blocks: BlockMonitor::new(geometry.blocks_per_plane, config.mode),
            dies: DieQueues::new(&geometry, config.independent_planes, config.max_wait),
            commands: Commands::new(config.max_commands, config.max_reads),
            rows: Rows::new(jobs.len()),
            durable: Durable::new(config.write_cache, config.max_commands),
            read_cache: ReadCache::new(
                config.read_cache_slots,
                ahead_slots,
                config.capacity_slots,
                cache,
            ),
            ahead: Ahead::new(schemes.read_ahead, &jobs),
            write_buffers: core::array::from_fn(|i| {
                WriteBuffer::new(layout, config.mode, Buf(first + i as u32 * buffers))
            }),
            space: Space::new(
                geometry.blocks_per_plane,
                slots,
                config.capacity_slots + map_cache.len() as u64,
                config.least_spare_slots,
                streams,
            ),
            bad: BadBlocks::new(dies, geometry.blocks_per_plane),
            rescue: Rescue::new(&geometry, config.mode, streams, rescue),
            mover: Mover::new(moves),
            gc: Gc::new(
                schemes.gc_victim,
                slots,
                geometry.slots_per_stripe() * u32::from(config.mode.bits()),
            ),
            map_cache,
            probe: None,
            rebuilds: Rebuilds::default(),
            counters: Counters::default(),
            capacity_bytes: config.capacity_slots * geometry.slot_bytes as u64,
            waiting: Waiting::with_capacity(programs as usize),
            config,
            layout,
            jobs,
            levels_due: schemes.read_levels.due(),
            levels: schemes.read_levels,
            retry: schemes.retry,
            recovery: schemes.recovery,
            wear: schemes.wear,
            suspend: schemes.suspend,
        }
    }

    /// Slot buffers it refers to; handles are below it.
    pub fn buffer_slots(&self) -> u32 {
        let streams = streams(&self.map_cache);
        self.jobs.len() * self.config.geometry.slots_per_row()
            + streams as u32 * WriteBuffer::buffers(&self.config.geometry, self.config.mode)
            + Rescue::buffers(&self.config.geometry, self.config.mode, streams)
            + self.read_cache.len()
    }

    /// Tags it refers to; all are below it.
    pub fn tags(&self) -> u32 {
        self.jobs.len() * (1 + self.retry.pipelines() as u32)
    }

    /// Reads, programs and erases it has in flight at most: further tags are those of steps that are
    /// sensed ahead, a second one for each.
    pub fn jobs(&self) -> u32 {
        self.jobs.len()
    }

    /// What lay on the drive before its first write, with the overlay's memory: a simulator says there what
    /// it has filled.
    pub fn before_mut(&mut self) -> &mut M {
        self.map.before_mut()
    }

    /// Learns that `block`, a free superblock of `pe_cycles`, was written all at once at time `now` and holds
    /// the last versions of `pages` pages, whose places it is told elsewhere: what a recovery learns of a
    /// superblock from its table of contents. So a drive comes to its firmware filled.
    pub fn adopt<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        block: BlockId,
        pe_cycles: u32,
        pages: u32,
        ports: &mut P,
    ) {
        self.adopt_block(now, block, pe_cycles, pages);
        self.start_probe(now, ports);
    }

    /// `block`, a free superblock, was filled with `pages` pages.
    fn adopt_block(&mut self, now: Ns, block: BlockId, pe_cycles: u32, pages: u32) {
        let row = self.blocks.row_mut(block);
        debug_assert_eq!(
            row.usage,
            BlockUse::Free,
            "only a free superblock can be filled"
        );
        let slots = self.config.geometry.slots_per_superblock(row.mode);
        row.opened = self.space.take(slots);
        row.usage = BlockUse::Full;
        row.pe_cycles = pe_cycles;
        row.programmed_at = now;
        row.valid_slots = pages;
        self.block_changed(now, block);
    }

    /// Sets the wear of a free superblock.
    pub fn set_pe_cycles(&mut self, block: BlockId, pe_cycles: u32) {
        self.blocks.row_mut(block).pe_cycles = pe_cycles;
    }

    /// Power is on and the drive is filled: background work begins.
    pub fn start<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        self.levels.start(now, &self.blocks);
        self.levels_due = self.levels.due();
        self.start_probe(now, ports);
    }

    /// Power is back after a shutdown in which nothing was lost; the firmware's clock stood still, and the
    /// cells have aged.
    pub fn power_on<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        self.levels.power_on(now, &self.blocks);
        self.levels_due = self.levels.due();
        self.start_probe(now, ports);
    }

    /// Handles timers that have expired.
    pub fn poll<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        if self.mover.again {
            self.pump(now, ports);
        }
        self.start_probe(now, ports);
    }

    /// When [`Firmware::poll`] is next needed, perhaps at once; [`Ns::MAX`] if an event will come
    /// first.
    #[inline]
    pub fn next_wakeup(&self) -> Ns {
        if self.mover.again {
            Ns::ZERO
        } else if self.probe.is_some() {
            Ns::MAX
        } else {
            self.levels_due
        }
    }

    /// `block` begins to hold data, or holds none any more.
    fn block_changed(&mut self, now: Ns, block: BlockId) {
        self.levels.on_block(now, block, &self.blocks);
        self.levels_due = self.levels.due();
    }

    /// An event of flash.
    #[inline]
    pub fn complete<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        event: FlashEvent,
        ports: &mut P,
    ) {
        match event {
            FlashEvent::ArrayFree { die, planes, .. } => {
                self.dies.free(die, planes);
                self.start_die(now, die, ports);
            }
            FlashEvent::Decoded {
                tag,
                failed,
                max_errors,
                sum_errors,
                unsatisfied,
                spare,
            } => {
                let job = self.job_of(tag);
                let wanted = self.jobs[job].wanted;
                self.decoded(
                    now,
                    job,
                    Outcome {
                        wanted,
                        failed,
                        max_errors,
                        sum_errors,
                        unsatisfied,
                        spare,
                    },
                    ports,
                );
            }
            FlashEvent::Ones { tag, count, cells } => {
                self.probe_done(now, tag.0, ProbeResult::Ones { count, cells }, ports);
            }
            FlashEvent::Programmed { tag, ok } => self.programmed(now, tag.0, ok, ports),
            FlashEvent::Erased { tag, ok } => self.erased(now, tag.0, ok, ports),
            FlashEvent::Suspended { tag, .. } => self.stopped(now, tag.0, ports),
        }
    }

    /// Whether fewer than `changes` of the map fit into the overlay's memory for certain. Writes wait
    /// when none does: hand over more in time with [`Firmware::grow_overlay`].
    #[inline]
    pub fn overlay_is_short(&self, changes: u32) -> bool {
        !self.map.has_room(changes)
    }

    /// Lets `grow` add bytes at the end of the overlay's memory, between events; what waited
    /// for them goes on.
    pub fn grow_overlay<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        grow: impl FnOnce(&mut M),
        ports: &mut P,
    ) {
        self.map.grow_overlay(grow);
        self.resume_writes(now, ports);
        self.pump(now, ports);
    }

    /// Whether the drive has reached its end of life: it takes no more writes.
    pub fn is_read_only(&self) -> bool {
        self.space.read_only
    }

    /// Whether logical page `lpn` holds data.
    pub fn is_mapped(&self, lpn: Lpn) -> bool {
        self.map.at(lpn).is_some()
    }

    /// Slots that the host wrote and that are in a buffer, not on flash yet.
    pub fn host_slots_buffered(&self) -> u32 {
        let buffer = &self.write_buffers[StreamId::Host as usize];
        let held = (0..buffer.len()).filter(|&i| buffer.held_at(i).is_some());
        held.count() as u32
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

    /// Issues the next job of `die`, if it is idle; where planes read independently, as many as find
    /// theirs idle.
    fn start_die<P: Ports<Record = Record>>(&mut self, now: Ns, die: DieId, ports: &mut P) {
        let job = match self.dies.start(now, &mut self.jobs, die) {
            Some(Next::Start(job)) => job,
            Some(Next::Resume(job)) => {
                let victim = Tag(job);
                return self.issue_about(now, job, FlashKind::Resume { victim }, ports);
            }
            None => return,
        };
        let Job {
            purpose,
            at,
            queued,
            ..
        } = self.jobs[job];
        let (class, kind) = match purpose {
            Purpose::Program { stream, line } => {
                let kind = FlashKind::Program {
                    block: at.block,
                    wordline: at.wordline,
                    buf: self.write_buffers[stream as usize].ring_buffer(line as usize),
                };
                (program_class(stream), kind)
            }
            Purpose::Erase { mode } => {
                let block = at.block;
                (OpClass::Erase, FlashKind::Erase { block, mode })
            }
            _ => {
                self.issue_read(now, job, ports);
                if self.config.independent_planes {
                    self.start_other_planes(now, die, ports);
                }
                return;
            }
        };
        self.dies.runs(die, job);
        self.issue(queued, job, class, kind, ports);
    }

    /// A read has started on some planes of `die`; others may be idle.
    #[cold]
    fn start_other_planes<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        die: DieId,
        ports: &mut P,
    ) {
        self.start_die(now, die, ports);
    }

    /// A read of the host waits for `die`: suspends what it runs, if the scheme says so.
    #[inline]
    fn suspend_for_host<P: Ports<Record = Record>>(&mut self, now: Ns, die: DieId, ports: &mut P) {
        let Some(victim) = self.dies.suspendable(die) else {
            return;
        };
        let Job { purpose, step, .. } = self.jobs[victim];
        let running = match purpose {
            Purpose::Erase { .. } => Running::Erase,
            _ => Running::Program,
        };
        let most = self.config.max_suspends;
        if self.suspend.suspends(running, step as u16, most) {
            self.dies.ends(die);
            let kind = FlashKind::Suspend {
                victim: Tag(victim),
            };
            self.issue_about(now, victim, kind, ports);
        }
    }

    /// The program or erase of `job` has stopped, to go on later.
    fn stopped<P: Ports<Record = Record>>(&mut self, now: Ns, job: u32, ports: &mut P) {
        let state = &mut self.jobs[job];
        state.step = state.step.saturating_add(1);
        // It waits again from now on.
        state.queued = now;
        let die = state.at.die;
        self.counters.suspends += 1;
        self.dies.suspended(die, job);
        self.start_die(now, die, ports);
    }

    /// Issues an operation of `job`, or a command about it, to its die. `queued` is when it was put
    /// in the queue.
    pub(crate) fn issue<P: Ports<Record = Record>>(
        &mut self,
        queued: Ns,
        job: u32,
        class: OpClass,
        kind: FlashKind,
        ports: &mut P,
    ) {
        ports.issue(FlashOp {
            tag: Tag(job),
            die: self.jobs[job].at.die,
            after: None,
            class,
            queued,
            kind,
        });
    }

    /// Issues a command about the program or erase of `job`.
    fn issue_about<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        job: u32,
        kind: FlashKind,
        ports: &mut P,
    ) {
        let class = change_class(self.jobs[job].purpose);
        self.issue(now, job, class, kind, ports);
    }

    /// The buffer that holds `ppa`, if it is not programmed yet.
    fn buffered(&self, ppa: Ppa) -> Option<Buf> {
        let used = &self.write_buffers[..streams(&self.map_cache)];
        let written = used.iter().find_map(|b| b.holds(ppa));
        // What is rescued has broken the stripes of its superblock.
        let is_rescued = !self.rescue.is_empty() && self.blocks.row(ppa.block()).stripe_broken;
        written.or_else(|| is_rescued.then(|| self.rescue.holds(ppa))?)
    }

    /// Logical page `lpn` now lies at `ppa`.
    fn place_slot(&mut self, lpn: Lpn, ppa: Ppa) {
        let old = if self.map_cache.is_map(lpn) {
            self.map_cache.set(lpn, Some(ppa))
        } else {
            if self.map_cache.is_on() {
                self.map_cache.change(lpn);
            }
            self.map.set(lpn, Place::At(ppa))
        };
        self.blocks.row_mut(ppa.block()).valid_slots += 1;
        if let Some(old) = old {
            self.blocks.row_mut(old.block()).valid_slots -= 1;
        }
    }

    /// Starts the programs that filling `slot` has made ready.
    #[inline]
    fn start_programs<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        stream: StreamId,
        slot: &Allocated,
        ports: &mut P,
    ) {
        if let Some(program) = slot.complete {
            self.start_program(now, stream, program, ports);
        }
        if let Some(program) = slot.parity {
            self.start_program(now, stream, program, ports);
        }
    }

    fn start_program<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        stream: StreamId,
        program: Program,
        ports: &mut P,
    ) {
        let Program {
            die,
            block,
            wordline,
            line,
        } = program;
        let at = PageAddr {
            die,
            block,
            wordline,
            page: PageType(0),
        };
        self.space.programs += 1;
        self.start_change(now, Purpose::Program { stream, line }, at, ports);
    }

    /// Queues a program or an erase.
    pub(crate) fn start_change<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        purpose: Purpose,
        at: PageAddr,
        ports: &mut P,
    ) {
        let job = self
            .jobs
            .take()
            .expect("a job is reserved for every program of the buffers and every erase");
        self.jobs[job] = Job {
            purpose,
            priority: Priority::Write,
            at,
            wanted: 0,
            queued: now,
            step: 0,
            ..self.jobs[job]
        };
        self.dies.push(&mut self.jobs, at.die, Priority::Write, job);
        self.start_die(now, at.die, ports);
    }

    fn programmed<P: Ports<Record = Record>>(
        &mut self,
        now: Ns,
        job: u32,
        ok: bool,
        ports: &mut P,
    ) {
        let Job { purpose, at, .. } = self.jobs[job];
        let Purpose::Program { stream, line } = purpose else {
            unreachable!("{purpose:?} programs nothing")
        };
        self.dies.ends(at.die);
        self.jobs.release(job);
        self.space.programs -= 1;
        if ok {
            let bits = self.blocks.row(at.block).mode.bits();
            let slots = self.layout.slots_per_row() * bits as u32;
            self.counters.slots_programmed += slots as u64;
            if self.release_part(stream, at.block, at.die, line, ports) {
                if self.durable.any_waits() {
                    self.complete_safe(now, ports);
                }
                self.resume_writes(now, ports);
            }
        } else {
            let program = Program {
                die: at.die,
                block: at.block,
                wordline: at.wordline,
                line,
            };
            self.program_failed(stream, program, ports);
        }
        self.pump(now, ports);
    }

    /// The write buffer of `stream` needs the part of `die` in ring line `line` no more. Whether that
    /// has made room.
    fn release_part<P: Ports<Record = Record>>(
        &mut self,
        stream: StreamId,
        block: BlockId,
        die: DieId,
        line: u8,
        ports: &mut P,
    ) -> bool {
        let free = self.write_buffers[stream as usize].done(die, line);
        if free {
            self.close_if_done(block);
            if stream == StreamId::Host {
                ports.buffer_freed(die);
            }
        }
        free
    }

    /// Notes that `block` is full, if nothing more will be programmed in it or read from a buffer.
    fn close_if_done(&mut self, block: BlockId) {
        let mut buffers = self.write_buffers.iter();
        if !buffers.any(|b| b.fills(block) || b.is_busy_with(block))
            && !self.rescue.is_busy_with(block)
        {
            self.blocks.row_mut(block).usage = BlockUse::Full;
        }
    }
}

/// Streams in use.
fn streams(map: &MapCache) -> usize {
    STREAMS - !map.is_on() as usize
}

/// What a program or an erase is to the drive.
const fn change_class(purpose: Purpose) -> OpClass {
    match purpose {
        Purpose::Program { stream, .. } => program_class(stream),
        _ => OpClass::Erase,
    }
}

const fn program_class(stream: StreamId) -> OpClass {
    match stream {
        StreamId::Map => OpClass::MapProgram,
        StreamId::Host => OpClass::Program,
        StreamId::Move => OpClass::MoveProgram,
    }
}
