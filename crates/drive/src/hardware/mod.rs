//! The hardware: dies, channels and decoders.
//!
//! A read senses on its die, waits for the channel, transfers, frees the die, is decoded by the
//! channel's decoder, and then its outcome is revealed to the firmware. A program takes its data
//! over the channel first.

mod ahead;
mod channel;
pub(crate) mod charge;
mod decoder;
pub(crate) mod failures;
mod issue;
mod planes;
mod power;
mod sensing;
pub(crate) mod suspend;
pub(crate) mod timers;

use firstread_core::flash::SenseMode;
use firstread_core::{
    BlockId, Buf, CellMode, DieId, Divisor, FlashEvent, FlashKind, FlashOp, Geometry, IdealScope,
    Layout, Levels, Ns, OpClass, PageAddr, PageType, SenseTiming, Tag,
};

use crate::cells::{Cells, Sensed};
use crate::payload::Payload;
use ahead::{Ahead, CachePhase};
use channel::Channel;
use charge::{Account, AccountId, Accounts, Cause, DieLog};
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
        let idle = FlashOp {
            tag: Tag(0),
            die: DieId(0),
            after: None,
            class: OpClass::HostRead,
            queued: Ns::ZERO,
            kind: FlashKind::Cancel { victim: Tag(0) },
        };
        let in_flight = InFlight {
            op: idle,
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
        };
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
            ops: vec![in_flight; tags as usize],
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
    fn stopped(&mut self, now: Ns, die: u16, tag: u32) -> Done {
        let op = self.ops[tag as usize].op;
        let state = &mut self.dies[die as usize];
        let (since, told) = (state.since, state.told.take().unwrap_or(now));
        state.log.push(since, told, Cause::busy_with(op.class));
        state.log.push(told, now, Cause::Suspend);
        state.phase = DiePhase::Idle;
        let remaining = state.suspended.map_or(Ns::ZERO, |(_, left)| left);
        if self.lanes.are_used() {
            self.leave_lanes(&op, since, told, Cause::busy_with(op.class));
            self.leave_lanes(&op, told, now, Cause::Suspend);
        }
        let tag = Tag(tag);
        Done::Event(FlashEvent::Suspended { tag, remaining })
    }

    /// The firmware wants `die` to go on with the suspended `victim`.
    fn resume(&mut self, now: Ns, die: DieId, victim: u32, timers: &mut Timers) {
        let times = self.times.suspend;
        assert!(
            self.lanes_are_idle(die),
            "operation {victim} resumed while a plane reads"
        );
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

    /// The timer of `die` has expired.
    #[inline]
    pub(crate) fn die_done(
        &mut self,
        now: Ns,
        die: u16,
        timers: &mut Timers,
        payload: &mut Payload,
    ) -> Done {
        match self.dies[die as usize].phase {
            DiePhase::Array(tag) => self.array_done(now, die, tag, timers, payload),
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
        payload: &mut Payload,
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
        self.changed(now, die, tag, payload)
    }

    /// The program or erase under `tag` has ended.
    fn changed(&mut self, now: Ns, die: u16, tag: u32, payload: &mut Payload) -> Done {
        let op = self.ops[tag as usize].op;
        self.free_die(now, tag);
        let tag = op.tag;
        let event = match op.kind {
            FlashKind::Program {
                block,
                wordline,
                buf,
            } => {
                self.cells_mut().program(now, block, wordline);
                let ok = !self.failures.program_fails(block, op.die, wordline);
                // What did not verify cannot be read.
                if ok {
                    self.program(op.die, block, wordline, buf, payload);
                }
                FlashEvent::Programmed { tag, ok }
            }
            FlashKind::Erase { block, mode } => {
                // The firmware erases a superblock on every die before it uses it again.
                if die == 0 {
                    self.cells_mut().erased(block, mode);
                    payload.erase(block);
                }
                let ok = !self.failures.erase_fails(block, op.die);
                FlashEvent::Erased { tag, ok }
            }
            _ => unreachable!("only reads, programs and erases use the array"),
        };
        Done::EventThenFree(event, tag)
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

    /// The data of `tag` are with the decoder.
    fn decode(&mut self, now: Ns, tag: u32, timers: &mut Timers) {
        self.see_to_sense(now, tag);
        self.start_decode(now, tag, false, timers);
    }

    /// The data of `tag` wait for the decoder. True when it is done with them already, which only counts
    /// if it `may_be_now`.
    #[inline(always)] // Once for a plain read, once for a cache read.
    fn start_decode(&mut self, now: Ns, tag: u32, may_be_now: bool, timers: &mut Timers) -> bool {
        let InFlight {
            channel,
            transfer_starts,
            sensed,
            ..
        } = &self.ops[tag as usize];
        let (channel, since) = (*channel, *transfer_starts);
        let lanes = self.times.decoder_lanes;
        let work = Ns(lanes.div(sensed.decode_sum_ns + lanes.get() - 1));
        let last = Ns(sensed.decode_last_ns);
        let decoder = &mut self.decoders[channel as usize];
        let end = if self.times.decode_streams {
            // Codewords are decoded as they arrive; the last one cannot start before it is here.
            (decoder.free_at().max(since) + work).max(now + last)
        } else {
            decoder.free_at().max(now) + work.max(last)
        };
        if may_be_now && end == now && decoder.is_idle() {
            return true;
        }
        if decoder.enter(&mut self.ops, tag, end) {
            timers.set(self.timer(Resource::Decoder(channel)), end);
        }
        false
    }

    /// The decoder of `channel` is done with the first that is there.
    #[inline]
    pub(crate) fn decode_done(
        &mut self,
        now: Ns,
        channel: u16,
        timers: &mut Timers,
        payload: &mut Payload,
    ) -> FlashEvent {
        let (tag, next) = self.decoders[channel as usize].leave(&self.ops);
        if next != Ns::MAX {
            timers.set(self.timer(Resource::Decoder(channel)), next);
        }
        self.decoded(now, tag, payload)
    }

    /// The read under `tag` is decoded.
    #[inline]
    pub(crate) fn decoded(&mut self, now: Ns, tag: u32, payload: &mut Payload) -> FlashEvent {
        self.charge(now, tag, Cause::Decode);
        let InFlight { op, sensed, .. } = &self.ops[tag as usize];
        let FlashKind::Read {
            block,
            wordline,
            page,
            cell_mode,
            wanted,
            buf,
            ..
        } = op.kind
        else {
            unreachable!("only reads are decoded")
        };
        if buf != Buf::NONE {
            let at = PageAddr {
                die: op.die,
                block,
                wordline,
                page,
            };
            self.deliver(at, cell_mode, wanted & !sensed.failed, buf, payload);
        }
        FlashEvent::Decoded {
            tag: op.tag,
            failed: sensed.failed,
            max_errors: sensed.max_errors,
            sum_errors: sensed.sum_errors,
            unsatisfied: sensed.unsatisfied,
            spare: sensed.spare,
        }
    }

    /// Codewords `made` of the read under `tag` have been made anew from the rest of their stripe. In
    /// simulation a payload names its page, which the sum of the others would come to.
    pub(crate) fn rebuilt(&mut self, now: Ns, tag: u32, made: u64, payload: &mut Payload) {
        self.account_of(tag).charge(now, Cause::Recovery);
        let state = &self.ops[tag as usize];
        let die = state.op.die;
        let FlashKind::Read {
            block,
            wordline,
            page,
            cell_mode,
            buf,
            ..
        } = state.op.kind
        else {
            unreachable!("only a read is made anew")
        };
        let at = PageAddr {
            die,
            block,
            wordline,
            page,
        };
        self.deliver(at, cell_mode, made, buf, payload);
    }

    /// Moves the slots of `decoded` codewords into the buffers of a page row. Parity has none: it goes
    /// into the sum.
    #[inline(always)] // Of one read, and of one in millions that is made anew.
    fn deliver(&self, at: PageAddr, mode: CellMode, decoded: u64, buf: Buf, payload: &mut Payload) {
        if self.layout.parity_die(at.wordline) == Some(at.die) {
            return;
        }
        let per_slot = self.layout.codewords_per_slot();
        let mut left = decoded;
        while left != 0 {
            let row_slot = self.layout.slot_of_codeword(left.trailing_zeros());
            left &= !((u64::MAX >> (64 - per_slot)) << (row_slot * per_slot));
            payload.read(self.layout.slot_at(at, row_slot, mode), buf.slot(row_slot));
        }
    }

    /// Bytes that a program moves over the channel, parity included.
    fn program_bytes(&self, block: BlockId) -> u64 {
        let rows = self.layout.slots_per_row() * self.cells.mode(block).bits() as u32;
        let codewords = rows as u64 * self.layout.codewords_per_slot() as u64;
        codewords * self.cells.codeword_bytes()
    }

    /// Moves a die's part of a wordline from its buffers into the cells.
    fn program(&self, die: DieId, block: BlockId, wordline: u16, buf: Buf, payload: &mut Payload) {
        let layout = &self.layout;
        // What is programmed there is the sum of the wordline's other parts.
        if layout.parity_die(wordline) == Some(die) {
            return;
        }
        let mode = self.cells.mode(block);
        let first = wordline as u32 * layout.slots_per_stripe() * mode.bits() as u32;
        for page in (0..mode.bits()).map(PageType) {
            let at = PageAddr {
                die,
                block,
                wordline,
                page,
            };
            for row_slot in 0..layout.slots_per_row() {
                let ppa = layout.slot_at(at, row_slot, mode);
                payload.program(ppa, buf.slot(ppa.slot() - first));
            }
        }
    }

    /// `die` has taken in the data of a program.
    fn data_is_in(&mut self, now: Ns, die: DieId) {
        let state = &mut self.dies[die.0 as usize];
        let since = std::mem::replace(&mut state.since, now);
        state.log.push(since, now, Cause::DieDataIn);
        if self.lanes.are_used() {
            self.log_lanes(die, since, now, Cause::DieDataIn);
        }
    }

    /// What `die` did last; and all accounts.
    pub(crate) fn log_and_accounts(&mut self, die: DieId) -> (&DieLog, &mut Accounts) {
        (&self.dies[die.0 as usize].log, &mut self.accounts)
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

    /// Charges the time of `tag` from its last mark to `until`: to `cause` on a first attempt, else to the
    /// retry.
    #[inline]
    fn charge(&mut self, until: Ns, tag: u32, cause: Cause) {
        let cause = cause.in_step(self.ops[tag as usize].op.class);
        self.account_of(tag).charge(until, cause);
    }

    /// The account of the operation under `tag`, which has been issued, or of the read whose further step
    /// it is.
    #[inline]
    pub(crate) fn account_of(&mut self, tag: u32) -> &mut Account {
        let first = tag.checked_sub(self.jobs).unwrap_or(tag);
        let account = self.ops[first as usize].account;
        &mut self.accounts[account.expect("a read that was issued has an account")]
    }

    /// From now on a command of the host waits for the read under `tag`, and pays for it.
    pub(crate) fn join(&mut self, now: Ns, tag: u32) {
        // A further step of the read may be under way.
        if let Some(step) = self.ops.get_mut((tag + self.jobs) as usize)
            && step.op.class == OpClass::ReadAhead
        {
            step.op.class = OpClass::HostRetry;
        }
        let state = &mut self.ops[tag as usize];
        if state.op.class == OpClass::ReadAhead {
            state.op.class = OpClass::HostRead;
        }
        state.open(&mut self.accounts, now);
    }

    /// A command waits under `waiter` for the read under `read`, as others do: from now on, or from its
    /// `start`. `queued` is since when the read waits for its die, none where it has been issued. Until
    /// [`Hardware::shared`] the account of `waiter` says what of the read is not the command's.
    pub(crate) fn share(
        &mut self,
        now: Ns,
        waiter: u32,
        read: u32,
        queued: Option<Ns>,
        start: bool,
    ) {
        let mut before = match queued {
            Some(queued) => Account::from(queued),
            None => *self.account_of(read),
        };
        if start {
            before = Account::from(before.first_queued);
        } else {
            before.first_queued = now;
        }
        let account = self.ops[waiter as usize].open(&mut self.accounts, now);
        self.accounts[account] = before;
    }

    /// What `waiter` waits for of the read under `read` is there: the time of the read since then is its.
    pub(crate) fn shared(&mut self, waiter: u32, read: u32) {
        let read = *self.account_of(read);
        self.account_of(waiter).became(&read);
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

    /// A command has waited for the read under `tag` last: the account of the read is the command's from
    /// now on. Where several have waited for it, each has its own.
    pub(crate) fn hand_over(&mut self, tag: u32) -> AccountId {
        let state = &mut self.ops[tag as usize];
        let account = state
            .account
            .expect("a read that was issued has an account");
        if std::mem::replace(&mut state.handed_over, true) {
            let same = self.accounts[account];
            let copy = self.accounts.open(same.mark);
            self.accounts[copy] = same;
            return copy;
        }
        account
    }
}

impl InFlight {
    /// Opens an account for it, of time from `from` on.
    #[inline]
    fn open(&mut self, accounts: &mut Accounts, from: Ns) -> AccountId {
        match self.account {
            Some(id) if !self.handed_over => {
                accounts[id].restart(from);
                id
            }
            _ => {
                self.handed_over = false;
                *self.account.insert(accounts.open(from))
            }
        }
    }
}
