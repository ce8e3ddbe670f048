//! The hardware: dies, channels, decoders and the host link, each with at most one pending timer.
//!
//! A read senses on its die, waits for the channel, transfers, frees the die, is decoded by the
//! channel's decoder, and then its outcome is revealed to the firmware. A program takes its data
//! over the channel first.

pub(crate) mod charge;
pub(crate) mod suspend;
pub(crate) mod timers;

use std::collections::VecDeque;

use firstread_core::flash::SenseMode;
use firstread_core::{
    BlockId, Buf, DieId, FlashEvent, FlashKind, FlashOp, Geometry, Ns, OpClass, Ppa,
};

use crate::cells::{Cells, Sensed};
use crate::payload::Payload;
use charge::{CAUSES, Cause, DieLog, Parts};
use suspend::{SuspendTimes, Work};
use timers::Timers;

/// Durations of the hardware outside the chip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Command and address cycles of a flash operation.
    pub command_ns: u64,
    /// Femtoseconds a byte takes on a channel.
    pub channel_fs_per_byte: u64,
    /// Codewords a channel's decoder works on side by side.
    pub decoder_lanes: u64,
    /// Whether a codeword is decoded while later ones are still being transferred.
    pub decode_streams: bool,
    /// What suspending a program or an erase costs.
    pub suspend: SuspendTimes,
}

/// Operations a decoder has room for from the start; a longer queue makes it grow once.
const DECODES: usize = 32;

/// What a resource's timer means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resource {
    Decoder(u16),
    Channel(u16),
    Die(u16),
}

/// What a die does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DiePhase {
    Idle,
    /// The array works: sensing, programming, erasing.
    Array(u32),
    /// The array is done or waits for data; the page registers are in use.
    Registers(u32),
    /// The program or erase on the array was told to stop, and is about to.
    Stopping(u32),
}

#[derive(Debug)]
struct Die {
    phase: DiePhase,
    since: Ns,
    log: DieLog,
    /// The program or erase on the array.
    work: Work,
    /// When it was told to stop.
    told: Option<Ns>,
    /// The program or erase that is suspended, and what is left of it.
    suspended: Option<(u32, Ns)>,
}

#[derive(Debug)]
struct Channel {
    /// Operation on the bus.
    active: Option<u32>,
    since: Ns,
    waiting: VecDeque<u32>,
}

#[derive(Debug)]
struct Decoder {
    /// Operations being decoded, with the time each ends: first in, first out.
    queue: VecDeque<(u32, Ns)>,
    free_at: Ns,
}

/// An operation in flight, by its tag.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    op: FlashOp,
    sensed: Sensed,
    /// Since when the time has not been charged yet.
    mark: Ns,
    /// When the first attempt was queued.
    first_queued: Ns,
    parts: Parts,
}

/// The hardware behind the firmware.
#[derive(Debug)]
pub(crate) struct Hardware {
    geometry: Geometry,
    times: Times,
    pub(crate) cells: Cells,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    decoders: Vec<Decoder>,
    ops: Vec<InFlight>,
}

impl Hardware {
    pub(crate) fn new(geometry: Geometry, times: Times, cells: Cells, tags: u32) -> Hardware {
        let idle = FlashOp {
            tag: firstread_core::Tag(0),
            die: DieId(0),
            after: None,
            class: OpClass::HostRead,
            queued: Ns::ZERO,
            kind: FlashKind::Cancel {
                victim: firstread_core::Tag(0),
            },
        };
        let in_flight = InFlight {
            op: idle,
            sensed: Sensed::default(),
            mark: Ns::ZERO,
            first_queued: Ns::ZERO,
            parts: [0; CAUSES],
        };
        let die = || Die {
            phase: DiePhase::Idle,
            since: Ns::ZERO,
            log: DieLog::new(),
            work: Work::default(),
            told: None,
            suspended: None,
        };
        let channel = || Channel {
            active: None,
            since: Ns::ZERO,
            // Each of its dies has one operation at most.
            waiting: VecDeque::with_capacity(
                geometry.chips_per_channel as usize * geometry.dies_per_chip as usize,
            ),
        };
        let decoder = || Decoder {
            queue: VecDeque::with_capacity(DECODES),
            free_at: Ns::ZERO,
        };
        Hardware {
            dies: (0..geometry.dies()).map(|_| die()).collect(),
            channels: (0..geometry.channels).map(|_| channel()).collect(),
            decoders: (0..geometry.channels).map(|_| decoder()).collect(),
            ops: vec![in_flight; tags as usize],
            geometry,
            times,
            cells,
        }
    }

    /// Timers it needs.
    pub(crate) fn resources(geometry: &Geometry) -> usize {
        2 * geometry.channels as usize + geometry.dies() as usize
    }

    /// The resource behind timer `index`. Decoders come first, then channels, then dies: of what
    /// ends at the same moment, that which is nearest to the host goes first.
    pub(crate) fn resource(&self, index: usize) -> Resource {
        let channels = self.geometry.channels as usize;
        if index < channels {
            Resource::Decoder(index as u16)
        } else if index < 2 * channels {
            Resource::Channel((index - channels) as u16)
        } else {
            Resource::Die((index - 2 * channels) as u16)
        }
    }

    fn timer(&self, resource: Resource) -> usize {
        let channels = self.geometry.channels as usize;
        match resource {
            Resource::Decoder(c) => c as usize,
            Resource::Channel(c) => channels + c as usize,
            Resource::Die(d) => 2 * channels + d as usize,
        }
    }

    /// The firmware issues `op`.
    pub(crate) fn issue(&mut self, now: Ns, op: FlashOp, timers: &mut Timers) {
        let tag = op.tag.0;
        match op.kind {
            FlashKind::Suspend { victim } => return self.suspend(now, op.die, victim.0, timers),
            FlashKind::Resume { victim } => return self.resume(now, op.die, victim.0, timers),
            _ => {}
        }
        let die = &mut self.dies[op.die.0 as usize];
        assert_eq!(
            die.phase,
            DiePhase::Idle,
            "operation issued to a busy die: {op:?}"
        );
        die.since = now;
        let state = &mut self.ops[tag as usize];
        state.op = op;
        if op.class != OpClass::HostRetry {
            state.parts = [0; CAUSES];
            state.first_queued = op.queued;
        }
        die.log.charge_wait(op.queued, now, &mut state.parts);
        state.mark = now;
        match op.kind {
            FlashKind::Read {
                page,
                block,
                timing,
                mode,
                ..
            } => {
                die.phase = DiePhase::Array(tag);
                let sense = self.cells.read_ns(block, page, mode, timing);
                timers.set(
                    self.timer(Resource::Die(op.die.0)),
                    now + Ns(self.times.command_ns + sense),
                );
            }
            FlashKind::Program { .. } => {
                die.phase = DiePhase::Registers(tag);
                self.wait_for_channel(now, tag, timers);
            }
            FlashKind::Erase { mode, .. } => {
                let erase = self.times.command_ns + self.cells.erase_ns(mode);
                self.start_work(now, op.die, tag, erase, timers);
            }
            FlashKind::Suspend { .. } | FlashKind::Resume { .. } | FlashKind::Cancel { .. } => {
                unreachable!("no firmware scheme cancels yet")
            }
        }
    }

    /// A program or erase starts on the array, for `ns`.
    fn start_work(&mut self, now: Ns, die: DieId, tag: u32, ns: u64, timers: &mut Timers) {
        let state = &mut self.dies[die.0 as usize];
        state.phase = DiePhase::Array(tag);
        state.work = Work {
            started: now,
            until: now + Ns(ns),
            resumed: false,
        };
        timers.set(self.timer(Resource::Die(die.0)), now + Ns(ns));
        if self.dies[die.0 as usize].told.is_some() {
            self.stop(now, die, tag, timers);
        }
    }

    /// The firmware wants `die` to suspend the program or erase `victim`. While its data are on the
    /// way to the die there is nothing to stop yet.
    fn suspend(&mut self, now: Ns, die: DieId, victim: u32, timers: &mut Timers) {
        let state = &mut self.dies[die.0 as usize];
        assert!(
            state.suspended.is_none() && state.told.is_none(),
            "die {} suspends one operation at a time",
            die.0
        );
        state.told = Some(now);
        match state.phase {
            DiePhase::Array(tag) if tag == victim => self.stop(now, die, victim, timers),
            DiePhase::Registers(tag) if tag == victim => {}
            phase => panic!("die {} does not run operation {victim}: {phase:?}", die.0),
        }
    }

    fn stop(&mut self, now: Ns, die: DieId, tag: u32, timers: &mut Timers) {
        let times = self.times.suspend;
        let latency_ns = match self.ops[tag as usize].op.kind {
            FlashKind::Erase { .. } => times.erase_ns,
            _ => times.program_ns,
        };
        let state = &mut self.dies[die.0 as usize];
        state.told = Some(now);
        // It may end before it can stop; then it does.
        if let Some((stops, left)) = state.work.stop(now, latency_ns, &times) {
            state.phase = DiePhase::Stopping(tag);
            state.suspended = Some((tag, left));
            timers.set(self.timer(Resource::Die(die.0)), stops);
        }
    }

    /// The program or erase of `die` has stopped.
    fn stopped(&mut self, now: Ns, die: u16, tag: u32) -> [Option<FlashEvent>; 2] {
        let class = self.ops[tag as usize].op.class;
        let state = &mut self.dies[die as usize];
        let told = state.told.take().unwrap_or(now);
        state.log.push(state.since, told, Cause::busy_with(class));
        state.log.push(told, now, Cause::Suspend);
        state.phase = DiePhase::Idle;
        let remaining = state.suspended.map_or(Ns::ZERO, |(_, left)| left);
        let tag = firstread_core::Tag(tag);
        [Some(FlashEvent::Suspended { tag, remaining }), None]
    }

    /// The firmware wants `die` to go on with the suspended `victim`.
    fn resume(&mut self, now: Ns, die: DieId, victim: u32, timers: &mut Timers) {
        let times = self.times.suspend;
        let state = &mut self.dies[die.0 as usize];
        assert_eq!(
            state.phase,
            DiePhase::Idle,
            "operation {victim} resumed on a busy die"
        );
        let Some((tag, left)) = state.suspended.take().filter(|(tag, _)| *tag == victim) else {
            panic!("die {} has not suspended operation {victim}", die.0)
        };
        state.since = now;
        state.phase = DiePhase::Array(tag);
        let work = Work::resume(now, left, &times);
        state.work = work;
        timers.set(self.timer(Resource::Die(die.0)), work.until);
    }

    /// The timer of `resource` has expired. Up to two events for the firmware follow.
    pub(crate) fn expire(
        &mut self,
        now: Ns,
        resource: Resource,
        timers: &mut Timers,
        payload: &mut Payload,
    ) -> [Option<FlashEvent>; 2] {
        match resource {
            Resource::Die(die) => self.array_done(now, die, timers, payload),
            Resource::Channel(channel) => self.transfer_done(now, channel, timers),
            Resource::Decoder(channel) => {
                [Some(self.decode_done(now, channel, timers, payload)), None]
            }
        }
    }

    fn array_done(
        &mut self,
        now: Ns,
        die: u16,
        timers: &mut Timers,
        payload: &mut Payload,
    ) -> [Option<FlashEvent>; 2] {
        timers.set(self.timer(Resource::Die(die)), Ns::MAX);
        let tag = match self.dies[die as usize].phase {
            DiePhase::Array(tag) => tag,
            DiePhase::Stopping(tag) => return self.stopped(now, die, tag),
            phase => unreachable!("a die's timer runs only while its array works, not {phase:?}"),
        };
        let op = self.ops[tag as usize].op;
        let free = Some(FlashEvent::ArrayFree {
            tag: op.tag,
            die: op.die,
        });
        match op.kind {
            FlashKind::Read { .. } => {
                self.charge(now, tag, Cause::Sense);
                self.dies[die as usize].phase = DiePhase::Registers(tag);
                self.wait_for_channel(now, tag, timers);
                [None, None]
            }
            FlashKind::Program {
                block,
                wordline,
                buf,
            } => {
                self.free_die(now, tag);
                self.cells.program(now, block, wordline);
                self.program(op.die, block, wordline, buf, payload);
                [
                    Some(FlashEvent::Programmed {
                        tag: op.tag,
                        ok: true,
                    }),
                    free,
                ]
            }
            FlashKind::Erase { block, mode } => {
                self.free_die(now, tag);
                // The firmware erases a superblock on every die before it uses it again.
                if op.die == DieId(0) {
                    self.cells.erased(block, mode);
                    payload.erase(block);
                }
                [
                    Some(FlashEvent::Erased {
                        tag: op.tag,
                        ok: true,
                    }),
                    free,
                ]
            }
            _ => unreachable!("only reads, programs and erases use the array"),
        }
    }

    /// Puts the transfer of `tag` in the queue of its channel.
    fn wait_for_channel(&mut self, now: Ns, tag: u32, timers: &mut Timers) {
        let channel = self.geometry.channel(self.ops[tag as usize].op.die);
        self.channels[channel as usize].waiting.push_back(tag);
        self.start_transfer(now, channel, timers);
    }

    fn start_transfer(&mut self, now: Ns, channel: u16, timers: &mut Timers) {
        let bus = &mut self.channels[channel as usize];
        if bus.active.is_some() {
            return;
        }
        let Some(tag) = bus.waiting.pop_front() else {
            return timers.set(self.timer(Resource::Channel(channel)), Ns::MAX);
        };
        bus.active = Some(tag);
        bus.since = now;
        let bytes = match self.ops[tag as usize].op.kind {
            FlashKind::Read {
                mode: SenseMode::OnesCount { .. },
                ..
            } => 8,
            FlashKind::Read { wanted, mode, .. } => {
                let senses = match mode {
                    SenseMode::Soft3 => 2,
                    SenseMode::Soft5 => 3,
                    _ => 1,
                };
                wanted.count_ones() as u64 * self.cells.codeword_bytes() * senses
            }
            _ => self.program_bytes(self.ops[tag as usize].op),
        };
        let end = now + Ns((bytes * self.times.channel_fs_per_byte).div_ceil(1_000_000));
        timers.set(self.timer(Resource::Channel(channel)), end);
    }

    fn transfer_done(
        &mut self,
        now: Ns,
        channel: u16,
        timers: &mut Timers,
    ) -> [Option<FlashEvent>; 2] {
        let bus = &mut self.channels[channel as usize];
        let tag = bus
            .active
            .take()
            .expect("a channel's timer runs only during a transfer");
        let since = bus.since;
        self.start_transfer(now, channel, timers);
        let op = self.ops[tag as usize].op;
        let FlashKind::Read { mode, .. } = op.kind else {
            let FlashKind::Program { block, .. } = op.kind else {
                unreachable!("only reads and programs use the channel")
            };
            let program = self.cells.program_ns(block);
            self.start_work(now, op.die, tag, program, timers);
            return [None, None];
        };
        self.charge(now, tag, Cause::Transfer);
        self.free_die(now, tag);
        let free = FlashEvent::ArrayFree {
            tag: op.tag,
            die: op.die,
        };
        let sensed = self.cells.sense(now, &op);
        self.ops[tag as usize].sensed = sensed;
        if let SenseMode::OnesCount { .. } = mode {
            let ones = FlashEvent::Ones {
                tag: op.tag,
                count: sensed.ones,
                cells: sensed.cells,
            };
            return [Some(free), Some(ones)];
        }
        let lanes = self.times.decoder_lanes;
        let work = Ns(sensed.decode_sum_ns.div_ceil(lanes));
        let last = Ns(sensed.decode_last_ns);
        let decoder = &mut self.decoders[channel as usize];
        let end = if self.times.decode_streams {
            // Codewords are decoded as they arrive; the last one cannot start before it is here.
            (decoder.free_at.max(since) + work).max(now + last)
        } else {
            decoder.free_at.max(now) + work.max(last)
        };
        decoder.free_at = end;
        decoder.queue.push_back((tag, end));
        if decoder.queue.len() == 1 {
            timers.set(self.timer(Resource::Decoder(channel)), end);
        }
        [Some(free), None]
    }

    fn decode_done(
        &mut self,
        now: Ns,
        channel: u16,
        timers: &mut Timers,
        payload: &mut Payload,
    ) -> FlashEvent {
        let decoder = &mut self.decoders[channel as usize];
        let (tag, _) = decoder
            .queue
            .pop_front()
            .expect("a decoder's timer runs only while it works");
        let next = decoder.queue.front().map_or(Ns::MAX, |&(_, end)| end);
        timers.set(self.timer(Resource::Decoder(channel)), next);
        self.charge(now, tag, Cause::Decode);
        let InFlight { op, sensed, .. } = self.ops[tag as usize];
        let FlashKind::Read {
            block,
            wordline,
            page,
            wanted,
            buf,
            ..
        } = op.kind
        else {
            unreachable!("only reads are decoded")
        };
        if buf != Buf::NONE {
            self.deliver(
                op.die,
                block,
                wordline,
                page,
                wanted & !sensed.failed,
                buf,
                payload,
            );
        }
        FlashEvent::Decoded {
            tag: op.tag,
            failed: sensed.failed,
            max_errors: sensed.max_errors,
            sum_errors: sensed.sum_errors,
        }
    }

    /// Moves the slots of `decoded` codewords into the buffers of a page row.
    #[allow(clippy::too_many_arguments)] // the fields of a read
    fn deliver(
        &self,
        die: DieId,
        block: BlockId,
        wordline: u16,
        page: firstread_core::PageType,
        decoded: u64,
        buf: Buf,
        payload: &mut Payload,
    ) {
        let g = &self.geometry;
        let per_slot = g.codewords_per_slot();
        let mode = self.cells.mode(block);
        let mut left = decoded;
        while left != 0 {
            let row_slot = left.trailing_zeros() / per_slot;
            left &= !((u64::MAX >> (64 - per_slot)) << (row_slot * per_slot));
            let place = firstread_core::geometry::SlotPlace {
                at: firstread_core::PageAddr {
                    die,
                    block,
                    wordline,
                    page,
                },
                plane: (row_slot / g.slots_per_page()) as u8,
                slot: (row_slot % g.slots_per_page()) as u8,
            };
            payload.read(g.slot_at(&place, mode), buf.slot(row_slot));
        }
    }

    /// Bytes that a program moves over the channel, parity included.
    fn program_bytes(&self, op: FlashOp) -> u64 {
        let FlashKind::Program { block, .. } = op.kind else {
            return 0;
        };
        let g = &self.geometry;
        let codewords =
            g.codewords_per_page() as u64 * g.planes as u64 * self.cells.mode(block).bits() as u64;
        codewords * self.cells.codeword_bytes()
    }

    /// Moves a die's part of a wordline from its buffers into the cells.
    fn program(&self, die: DieId, block: BlockId, wordline: u16, buf: Buf, payload: &mut Payload) {
        let g = &self.geometry;
        let mode = self.cells.mode(block);
        let first = wordline as u32 * g.slots_per_stripe() * mode.bits() as u32;
        for page in 0..mode.bits() {
            for row_slot in 0..g.slots_per_row() {
                let page = firstread_core::PageType(page);
                let place = firstread_core::geometry::SlotPlace {
                    at: firstread_core::PageAddr {
                        die,
                        block,
                        wordline,
                        page,
                    },
                    plane: (row_slot / g.slots_per_page()) as u8,
                    slot: (row_slot % g.slots_per_page()) as u8,
                };
                let ppa: Ppa = g.slot_at(&place, mode);
                payload.program(ppa, buf.slot(ppa.slot() - first));
            }
        }
    }

    fn free_die(&mut self, now: Ns, tag: u32) {
        let InFlight { op, .. } = self.ops[tag as usize];
        let die = &mut self.dies[op.die.0 as usize];
        die.log.push(die.since, now, Cause::busy_with(op.class));
        die.phase = DiePhase::Idle;
        die.told = None;
    }

    /// Charges the time of `tag` since its last mark: to `cause` on a first attempt, else to the
    /// retry.
    fn charge(&mut self, now: Ns, tag: u32, cause: Cause) {
        let state = &mut self.ops[tag as usize];
        let cause = if state.op.class == OpClass::HostRetry {
            Cause::Retry
        } else {
            cause
        };
        state.parts[cause as usize] += now.since(state.mark).0;
        state.mark = now;
    }

    /// What the row read under `tag` was charged, when its first attempt was queued, and since when
    /// nothing has been charged.
    pub(crate) fn charged(&self, tag: u32) -> (&Parts, Ns, Ns) {
        let state = &self.ops[tag as usize];
        (&state.parts, state.first_queued, state.mark)
    }
}
