//! The hardware: dies, channels and decoders.
//!
//! A read senses on its die, waits for the channel, transfers, and frees the die. The decoder of the channel
//! decodes it, and its outcome is revealed to the firmware. A program first transfers its data over the
//! channel.

mod ahead;
mod change;
mod channel;
pub(crate) mod charge;
mod decode;
mod decoder;
pub(crate) mod failures;
mod issue;
mod owners;
mod planes;
mod power;
mod sensing;
pub(crate) mod suspend;
pub(crate) mod timers;

use firstread_core::flash::SenseMode;
use firstread_core::{
    DieId, Divisor, FlashEvent, FlashKind, FlashOp, Geometry, IdealScope, Layout, Levels, Ns,
    OpClass, SenseTiming, Tag,
};

use crate::cells::{Cells, Sensed};
use crate::payload::Stamps;
use ahead::{Ahead, CachePhase};
use channel::Channel;
use charge::{AccountId, Accounts, Cause, DieLog};
use decoder::{Decoder, Turn};
use failures::Failures;
use planes::Lanes;
use suspend::{SuspendTimes, Work};
use timers::Timers;

/// Durations of the hardware other than the chip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Command and address cycles of a flash operation.
    pub command_ns: u64,
    /// Whether command cycles occupy the channel. False if they take no time.
    pub commands_occupy: bool,
    /// Time per byte on a channel, in femtoseconds.
    pub channel_fs_per_byte: u64,
    /// Codewords that a channel's decoder decodes in parallel.
    pub decoder_lanes: Divisor,
    /// Whether a codeword is decoded while later ones are still being transferred.
    pub decode_streams: bool,
    /// Cost of suspending a program or erase.
    pub suspend: SuspendTimes,
    /// Time to move a page to the cache register.
    pub cache_busy_ns: u64,
    /// Time to end a sense that is not wanted.
    pub reset_ns: u64,
    /// Time to set the sensing time.
    pub set_feature_ns: u64,
    /// Time to set the read levels; zero if they come with the command.
    pub set_levels_ns: u64,
    /// Whether the planes of a die share their level registers.
    pub shared_levels: bool,
    /// Whether planes of a die read independently.
    pub independent_planes: bool,
}

impl Times {
    /// Whether setting levels ever takes extra time.
    #[inline]
    fn sets_levels(&self) -> bool {
        self.set_levels_ns != 0 || self.shared_levels
    }

    /// Time that the levels of read `op` add to its `sense`, on a die whose level registers hold `set`: a SET
    /// FEATURE if the levels change; and if the planes share the registers and need different levels, the
    /// planes are sensed one after another. Ideal levels are set when an oracle takes over from other reads.
    #[inline(never)]
    fn levels(&self, cells: &Cells, set: &mut Levels, op: &FlashOp, sense: u64) -> u64 {
        let FlashKind::Read { levels, wanted, .. } = op.kind else {
            return 0;
        };
        let mut ns = 0;
        if *set != levels {
            *set = levels;
            ns = self.set_levels_ns;
        }
        if self.shared_levels && levels == Levels::Ideal(IdealScope::Page) {
            ns += (cells.planes(wanted) - 1) * (self.set_levels_ns + sense);
        }
        ns
    }
}

/// The timer of a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resource {
    Decoder(u16),
    Die(u16),
}

/// Result of an expired timer of a die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Done {
    /// The operation continues.
    GoesOn,
    /// The operation has ended, and the die is free.
    Free(Tag),
    /// The read has ended on the die, which is free; its decoding took no time, and is complete too.
    FreeThenDecoded(Tag),
    /// The firmware gets this event. Then the operation has ended, and the die is free.
    EventThenFree(FlashEvent, Tag),
    /// The firmware gets the first event, if any. Then planes of the die are free.
    Planes(Option<FlashEvent>, FlashEvent),
    /// The firmware gets this event, which tells it the state of the die.
    Event(FlashEvent),
}

/// State of a die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DiePhase {
    Idle,
    /// The array is busy: sensing, programming or erasing. The data of a read then cross the channel, unless
    /// another read follows it as a cache read.
    Array(u32),
    /// The page registers are busy: data of a program, or of the last of a sequence of cache reads, wait for
    /// the channel or cross it.
    Registers(u32),
    /// The program or erase on the array is being suspended.
    Stopping(u32),
    /// Cache reads are in progress.
    Cache(CachePhase),
}

/// A die. The fields that every read needs come first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Die {
    phase: DiePhase,
    since: Ns,
    /// The sensing time set by SET FEATURE.
    timing: SenseTiming,
    /// When its program or erase was told to suspend.
    told: Option<Ns>,
    ahead: Ahead,
    log: DieLog,
    /// The read levels set by SET FEATURE.
    levels: Levels,
    /// The program or erase on the array.
    work: Work,
    /// The suspended program or erase, and the time it still needs.
    suspended: Option<(u32, Ns)>,
}

/// An operation in flight, indexed by its tag.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct InFlight {
    op: FlashOp,
    /// The die or lane it runs on.
    lane: u16,
    channel: u16,
    sensed: Sensed,
    /// Latency breakdown of a read; unused under a second tag.
    account: Option<AccountId>,
    /// Whether the breakdown now belongs to a command.
    handed_over: bool,
    /// For a plain read, without a cache read after it: the time at which it has been sensed. In the past for
    /// other operations.
    sensed_at: Ns,
    /// When its transfer starts.
    transfer_starts: Ns,
    /// Its turn with the decoder.
    turn: Turn,
    /// Whether it is a speculative sense whose output has not been asked for yet.
    held: bool,
    /// Whether `sensed` is valid.
    is_sensed: bool,
}

impl InFlight {
    /// The entry of a tag that has not been issued.
    fn idle() -> InFlight {
        let op = FlashOp {
            tag: Tag(0),
            die: DieId(0),
            after: None,
            class: OpClass::HostRead,
            queued: Ns::ZERO,
            kind: FlashKind::Cancel { victim: Tag(0) },
        };
        InFlight {
            op,
            lane: 0,
            channel: 0,
            sensed: Sensed::default(),
            account: None,
            handed_over: false,
            sensed_at: Ns::ZERO,
            transfer_starts: Ns::ZERO,
            turn: Turn::default(),
            held: false,
            is_sensed: false,
        }
    }
}

/// The hardware below the firmware.
#[derive(Clone, Debug)]
pub(crate) struct Hardware {
    layout: Layout,
    times: Times,
    cells: Cells,
    pub(crate) failures: Failures,
    /// Dies, followed by their lanes.
    dies: Vec<Die>,
    lanes: Lanes,
    channels: Vec<Channel>,
    /// The channel over which data have just crossed, until it is known which operations are issued in
    /// response.
    untimed: u16,
    decoders: Vec<Decoder>,
    ops: Vec<InFlight>,
    /// Senses that were requested and whose outcome has not been computed yet: time and tag.
    unsensed: Vec<(Ns, u32)>,
    /// Computes each outcome at once.
    #[cfg(test)]
    pub(crate) one_by_one: bool,
    pub(crate) accounts: Accounts,
    /// Tags below this have a latency breakdown. Higher tags are second steps of reads.
    jobs: u32,
}

impl Hardware {
    pub(crate) fn new(
        geometry: Geometry,
        times: Times,
        cells: Cells,
        failures: Failures,
        tags: u32,
        jobs: u32,
        commands: u32,
    ) -> Hardware {
        let die = || Die {
            phase: DiePhase::Idle,
            since: Ns::ZERO,
            log: DieLog::new(),
            work: Work::default(),
            told: None,
            suspended: None,
            ahead: Ahead::NOTHING,
            timing: SenseTiming::DEFAULT,
            levels: Levels::DEFAULT,
        };
        let lanes = Lanes::new(
            times.independent_planes,
            geometry.dies(),
            geometry.planes,
            geometry.codewords_per_page(),
        );
        Hardware {
            accounts: Accounts::new(jobs + commands),
            jobs,
            dies: (0..lanes.count()).map(|_| die()).collect(),
            lanes,
            channels: (0..geometry.channels)
                .map(|_| Channel::new(lanes.count().div_ceil(geometry.channels as usize)))
                .collect(),
            untimed: channel::NONE,
            decoders: vec![Decoder::IDLE; geometry.channels as usize],
            ops: vec![InFlight::idle(); tags as usize],
            unsensed: Vec::with_capacity(tags as usize),
            #[cfg(test)]
            one_by_one: false,
            layout: Layout::new(geometry),
            times,
            cells,
            failures,
        }
    }

    /// Number of timers: one per decoder, one per die, one per lane.
    pub(crate) fn resources(&self) -> usize {
        self.decoders.len() + self.dies.len()
    }

    /// The resource of timer `index`. Decoders come first: of simultaneous events, the one closest to the
    /// host is handled first.
    /// which is nearest to the host goes first.
    #[inline]
    pub(crate) fn resource(&self, index: usize) -> Resource {
        match index.checked_sub(self.decoders.len()) {
            None => Resource::Decoder(index as u16),
            Some(die) => Resource::Die(die as u16),
        }
    }

    #[inline]
    fn timer(&self, resource: Resource) -> usize {
        match resource {
            Resource::Decoder(channel) => channel as usize,
            Resource::Die(die) => self.decoders.len() + die as usize,
        }
    }

    /// The timer of `die` has expired.
    #[inline]
    pub(crate) fn die_done(
        &mut self,
        now: Ns,
        die: u16,
        timers: &mut Timers,
        stamps: &mut Stamps,
    ) -> Done {
        match self.dies[die as usize].phase {
            DiePhase::Array(tag) => self.array_done(now, die, tag, timers, stamps),
            DiePhase::Registers(tag) => {
                self.crossed(now, tag);
                self.transfer_done(now, tag, timers)
            }
            DiePhase::Stopping(tag) => self.stopped(now, die, tag),
            DiePhase::Cache(phase) => self.cache_done(now, DieId(die), phase, timers),
            DiePhase::Idle => unreachable!("the timer of an idle die is stopped"),
        }
    }

    #[inline]
    fn array_done(
        &mut self,
        now: Ns,
        die: u16,
        tag: u32,
        timers: &mut Timers,
        stamps: &mut Stamps,
    ) -> Done {
        let op = &self.ops[tag as usize].op;
        if let FlashKind::Read { .. } = op.kind {
            if self.dies[die as usize].ahead.next == ahead::NONE {
                self.crossed(now, tag);
                return self.transfer_done(now, tag, timers);
            }
            self.charge(now, tag, Cause::Sense);
            self.turn(now, DieId(die), tag, timers);
            return Done::GoesOn;
        }
        self.changed(now, die, tag, stamps)
    }

    /// The data of `tag` arrive at the channel. The die's timer marks the end of their transfer.
    fn start_transfer(&mut self, now: Ns, tag: u32, timers: &mut Timers) {
        let lane = self.ops[tag as usize].lane as usize;
        self.dies[lane].phase = DiePhase::Registers(tag);
        self.start_crossing(now, tag, false, timers);
    }

    #[inline]
    fn transfer_done(&mut self, now: Ns, tag: u32, timers: &mut Timers) -> Done {
        let InFlight { op, sensed_at, .. } = &self.ops[tag as usize];
        let (die, class, sensed) = (op.die, op.class, *sensed_at);
        let mode = match op.kind {
            FlashKind::Read { mode, .. } => mode,
            FlashKind::Program { block, .. } => {
                let program = self.cells.program_ns(block);
                self.data_is_in(now, die);
                self.start_work(now, die, tag, program, timers);
                return Done::GoesOn;
            }
            _ => unreachable!("only reads and programs use the channel"),
        };
        // For a read through the cache register this time is in the past, and nothing is charged.
        let account = self.account_of(tag);
        account.charge(sensed, Cause::Sense.in_step(class));
        account.charge(now, Cause::Transfer.in_step(class));
        self.free_die(now, tag);
        self.see_to_sense(now, tag);
        if let SenseMode::OnesCount { .. } = mode {
            let sensed = &self.ops[tag as usize].sensed;
            let ones = FlashEvent::Ones {
                tag: Tag(tag),
                count: sensed.ones,
                cells: sensed.cells,
            };
            return self.free_after(tag, Some(ones));
        }
        // A die with lanes first reports which of them are free.
        if self.start_decode(now, tag, !self.lanes.are_used(), timers) {
            return Done::FreeThenDecoded(Tag(tag));
        }
        self.free_after(tag, None)
    }

    fn free_die(&mut self, now: Ns, tag: u32) {
        if self.lanes.are_used() {
            self.free_lanes(now, tag);
        }
        let op = &self.ops[tag as usize].op;
        let die = &mut self.dies[op.die.0 as usize];
        die.log.push(die.since, now, Cause::busy_with(op.class));
        die.phase = DiePhase::Idle;
        die.told = None;
    }

    /// The read under `tag` has freed its die, or planes of it. The firmware gets `event` first.
    #[inline]
    fn free_after(&self, tag: u32, event: Option<FlashEvent>) -> Done {
        if self.lanes.are_used() {
            return Done::Planes(event, self.planes_free(tag));
        }
        match event {
            Some(event) => Done::EventThenFree(event, Tag(tag)),
            None => Done::Free(Tag(tag)),
        }
    }

    /// Also transfer and decode codewords `more`, on planes that the read under `tag` senses. False if its
    /// transfer has begun.
    #[inline(never)]
    pub(crate) fn widen(&mut self, now: Ns, tag: u32, more: u64, timers: &mut Timers) -> bool {
        let InFlight { lane, op, .. } = self.ops[tag as usize];
        let die = &self.dies[lane as usize];
        let next = die.ahead.next;
        if die.phase != DiePhase::Array(tag) || next == ahead::NONE && self.crosses(now, tag) {
            return false;
        }
        if !self.cells.are_ideal() {
            self.sense_all();
            let mut added = op;
            if let FlashKind::Read { wanted, .. } = &mut added.kind {
                *wanted = more;
            }
            let sensed = self.cells.sense_more(now, &added);
            self.ops[tag as usize].sensed.add(&sensed);
        }
        for read in [tag, next] {
            if let Some(state) = self.ops.get_mut(read as usize)
                && let FlashKind::Read { wanted, .. } = &mut state.op.kind
            {
                *wanted |= more;
            }
        }
        if next == ahead::NONE {
            self.lengthen(tag, timers);
        }
        true
    }
}
