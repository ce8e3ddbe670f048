//! The hardware: dies, channels and decoders.
//!
//! A read senses on its die, waits for the channel, transfers, frees the die, is decoded by the
//! channel's decoder, and then its outcome is revealed to the firmware. A program takes its data
//! over the channel first.

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

/// Durations of the hardware outside the chip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Command and address cycles of a flash operation.
    pub command_ns: u64,
    /// Whether the channel is in use meanwhile. False where they take no time.
    pub commands_occupy: bool,
    /// Femtoseconds a byte takes on a channel.
    pub channel_fs_per_byte: u64,
    /// Codewords a channel's decoder works on side by side.
    pub decoder_lanes: Divisor,
    /// Whether a codeword is decoded while later ones are still being transferred.
    pub decode_streams: bool,
    /// What suspending a program or an erase costs.
    pub suspend: SuspendTimes,
    /// Moving a page to the cache register.
    pub cache_busy_ns: u64,
    /// Ending a sense that is not wanted any more.
    pub reset_ns: u64,
    /// Setting the sensing time.
    pub set_feature_ns: u64,
    /// Setting the read levels; zero where they come with the command.
    pub set_levels_ns: u64,
    /// Whether the planes of a die share their level registers.
    pub shared_levels: bool,
    /// Whether planes of a die read independently.
    pub independent_planes: bool,
}

impl Times {
    /// Whether levels ever take time of their own.
    #[inline]
    fn sets_levels(&self) -> bool {
        self.set_levels_ns != 0 || self.shared_levels
    }

    /// What the levels of the read `op` add to its `sense`, on a die whose registers are `set`: a SET
    /// FEATURE where they change; and where planes share them and each needs its own, one plane after
    /// another. An oracle's are set when it takes over from others.
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

/// What a resource's timer means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resource {
    Decoder(u16),
    Die(u16),
}

/// What the timer of a die came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Done {
    /// The operation goes on.
    GoesOn,
    /// The operation has left the die free.
    Free(Tag),
    /// The read has left the die free; and it is decoded, which took no time.
    FreeThenDecoded(Tag),
    /// The firmware hears this; then the operation has left the die free.
    EventThenFree(FlashEvent, Tag),
    /// The firmware hears this, if anything; then the operation has left planes of a die free.
    Planes(Option<FlashEvent>, FlashEvent),
    /// The firmware hears this, and knows what it means for the die.
    Event(FlashEvent),
}

/// What a die does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DiePhase {
    Idle,
    /// The array works: sensing, programming, erasing. The data of a read then cross the channel, unless
    /// another one follows it.
    Array(u32),
    /// The page registers are in use: data of a program, or of the last of a row of cache reads, wait for
    /// the channel or cross it.
    Registers(u32),
    /// The program or erase on the array was told to stop, and is about to.
    Stopping(u32),
    /// Reads follow one another through the cache register.
    Cache(CachePhase),
}

/// A die, in the order in which it is needed: what every read needs lies in front.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Die {
    phase: DiePhase,
    since: Ns,
    /// The sensing time its features are set to.
    timing: SenseTiming,
    /// When its program or erase was told to stop.
    told: Option<Ns>,
    ahead: Ahead,
    log: DieLog,
    /// The read levels its features are set to.
    levels: Levels,
    /// The program or erase on the array.
    work: Work,
    /// The program or erase that is suspended, and what is left of it.
    suspended: Option<(u32, Ns)>,
}

/// An operation in flight, by its tag.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct InFlight {
    op: FlashOp,
    /// The die or the lane it runs on.
    lane: u16,
    channel: u16,
    sensed: Sensed,
    /// What the time of a read is charged to; of one under a higher tag, without meaning.
    account: Option<AccountId>,
    /// The account is that of a command now.
    handed_over: bool,
    /// When a read has been sensed that nothing follows; of others it is past.
    sensed_at: Ns,
    /// When its transfer starts.
    transfer_starts: Ns,
    /// Its turn with the decoder.
    turn: Turn,
    /// It was sensed on suspicion, and its output has not been asked for yet.
    held: bool,
    /// `sensed` is known.
    is_sensed: bool,
}

impl InFlight {
    /// Nothing, under a tag that has not been issued.
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

/// The hardware behind the firmware.
#[derive(Clone, Debug)]
pub(crate) struct Hardware {
    layout: Layout,
    times: Times,
    cells: Cells,
    pub(crate) failures: Failures,
    /// Dies, and behind them their lanes.
    dies: Vec<Die>,
    lanes: Lanes,
    channels: Vec<Channel>,
    /// The channel over which data have just crossed, while it is not known what is issued thereupon.
    untimed: u16,
    decoders: Vec<Decoder>,
    ops: Vec<InFlight>,
    /// Senses that were asked for and whose outcome is not known yet: when, and which.
    unsensed: Vec<(Ns, u32)>,
    /// Each is worked out at once.
    #[cfg(test)]
    pub(crate) one_by_one: bool,
    pub(crate) accounts: Accounts,
    /// Operations with an account: those under higher tags are further steps of reads.
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

    /// Timers it needs: one a decoder, one a die, one a lane.
    pub(crate) fn resources(&self) -> usize {
        self.decoders.len() + self.dies.len()
    }

    /// The resource behind timer `index`. Decoders come first: of what ends at the same moment, that
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

    /// The data of `tag` come to the channel; the die's timer tells when they have crossed it.
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
        // Of a read through the cache register it is past, and nothing is charged.
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
        // A die that has lanes tells first which of them are free.
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

    /// The read under `tag` has left its die free, or planes of it; the firmware hears `event` first.
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

    /// Codewords `more`, on planes that the read under `tag` senses, are to be transferred and decoded too.
    /// False when its data cross the channel or have.
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
