//! Records what the parts of a drive do, and where the time of its requests goes, while someone asks for it.
//!
//! A part of the drive that is busy has a **mark**: the time up to which it has been recorded. Each change of its state
//! records the time from its mark on. So what is recorded of a part has no gap while an operation occupies it.

use std::collections::BTreeMap;

use firstread_core::flash::ALL_PLANES;
use firstread_core::{
    BlockId, Buf, CellMode, CommandId, DieId, FlashKind, FlashOp, HostCommand, HostOp, Ns, OpClass,
    PageType, SuperblockId,
};

use super::charge::{Cause, DieLog};
use super::spans::{
    Activity, Course, Operation, OperationKind, Owner, Part, RequestOnLink, Span, Track,
};

/// An operation that was issued.
#[derive(Clone, Copy, Debug)]
struct Issued {
    operation: Operation,
    /// When its command begins to cross the channel.
    command: Ns,
    /// When its data had crossed the channel.
    arrived: Ns,
}

/// The time of a read that commands wait for, step by step.
#[derive(Clone, Debug, Default)]
struct ReadTime {
    /// Time from which it counts.
    since: Ns,
    parts: Vec<Part>,
    /// When its last step had been decoded.
    decoded: Ns,
    /// Its last step.
    last: Option<Operation>,
}

/// What is recorded of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    /// What has ended and was not taken yet.
    spans: Vec<Span>,
    /// Operations issued so far.
    issued: u64,
    /// By tag.
    ops: Vec<Issued>,
    /// By the first tag of a read.
    reads: Vec<ReadTime>,
    /// By die and lane: until when its array is recorded.
    marks: Vec<Ns>,
    /// By die: since when its program or erase is suspended.
    suspended: Vec<Ns>,
    /// By channel: when its decoder was done with the last operation.
    decoded: Vec<Ns>,
    /// By command: where the time of the request went.
    courses: Vec<Course>,
    /// Requests submitted so far.
    submitted: u64,
    /// The last read into each buffer.
    read_into: BTreeMap<Buf, u64>,
    slots_per_mp_page: u32,
    /// Whether planes have tracks of their own.
    independent_planes: bool,
}

/// Sizes of what is recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub tags: usize,
    pub jobs: usize,
    pub dies: usize,
    pub channels: usize,
    pub commands: usize,
    pub slots_per_mp_page: u32,
    pub independent_planes: bool,
}

impl Recorder {
    /// Of parts that were occupied since `marks`, by die and lane.
    pub(super) fn new(sizes: Sizes, marks: Vec<Ns>) -> Recorder {
        Recorder {
            spans: Vec::new(),
            issued: 0,
            ops: vec![UNKNOWN; sizes.tags],
            reads: vec![ReadTime::default(); sizes.jobs],
            marks,
            suspended: vec![Ns::ZERO; sizes.dies],
            decoded: vec![Ns::ZERO; sizes.channels],
            courses: vec![Course::default(); sizes.commands],
            submitted: 0,
            read_into: BTreeMap::new(),
            slots_per_mp_page: sizes.slots_per_mp_page,
            independent_planes: sizes.independent_planes,
        }
    }

    /// What has ended and was not taken yet.
    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Everything that has ended was taken.
    pub(crate) fn taken(&mut self) {
        self.spans.clear();
    }

    /// The next firmware has `tags` tags.
    pub(super) fn add_tags(&mut self, tags: usize) {
        self.ops.resize(tags, UNKNOWN);
    }

    /// Power was cut: nothing is in flight.
    pub(super) fn power_cut(&mut self) {
        self.read_into.clear();
    }
}

/// The entry of a tag under which nothing has been issued since recording began.
const UNKNOWN: Issued = Issued {
    operation: Operation {
        number: 0,
        read: 0,
        step: 0,
        class: OpClass::HostRead,
        kind: OperationKind::Read(PageType(0)),
        die: DieId(0),
        planes: ALL_PLANES,
        block: SuperblockId(0),
        on: BlockId(0),
        wordline: 0,
        mode: CellMode::Slc,
        queued: Ns::ZERO,
        issued: Ns::ZERO,
    },
    command: Ns::ZERO,
    arrived: Ns::ZERO,
};

/// What operations do.
impl Recorder {
    /// `op` is issued, to `planes` in blocks of cell mode `mode`, under a tag of the read whose first tag is `job`.
    pub(super) fn issued(
        &mut self,
        now: Ns,
        op: &FlashOp,
        (planes, mode): (u8, CellMode),
        job: u32,
    ) {
        self.issued += 1;
        let number = self.issued;
        let mut operation = Operation {
            number,
            read: number,
            class: op.class,
            die: op.die,
            queued: op.queued,
            issued: now,
            mode,
            planes,
            ..UNKNOWN.operation
        };
        match op.kind {
            FlashKind::Read {
                block,
                on,
                wordline,
                page,
                buf,
                ..
            } => {
                operation.kind = OperationKind::Read(page);
                (operation.block, operation.on) = (block, on);
                operation.wordline = wordline;
                if let Some(read) = self.reads.get_mut(job as usize) {
                    if let Some(last) = read.last
                        && goes_on(&last, &operation, read.decoded, op.after.is_some())
                    {
                        operation.read = last.read;
                        operation.step = last.step.saturating_add(1);
                    }
                    read.last = Some(operation);
                }
                if buf != Buf::NONE {
                    self.read_into.insert(buf, operation.read);
                }
            }
            FlashKind::Program {
                block,
                on,
                wordline,
                ..
            } => {
                operation.kind = OperationKind::Program;
                (operation.block, operation.on) = (block, on);
                operation.wordline = wordline;
            }
            FlashKind::Erase { block, on, .. } => {
                operation.kind = OperationKind::Erase;
                (operation.block, operation.on) = (block, on);
            }
            _ => {}
        }
        if let Some(issued) = self.ops.get_mut(op.tag.0 as usize) {
            *issued = Issued {
                operation,
                command: now,
                arrived: now,
            };
        }
    }

    /// The command of the operation under `tag` begins to cross the channel at `command`.
    pub(super) fn commands(&mut self, tag: u32, command: Ns) {
        self.ops[tag as usize].command = command;
    }

    /// When the command of the operation under `tag` began to cross the channel.
    pub(super) fn command_of(&self, tag: u32) -> Ns {
        self.ops[tag as usize].command
    }

    /// An operation occupies `lane` from `now` on.
    pub(super) fn occupied(&mut self, now: Ns, lane: u16) {
        self.marks[lane as usize] = now;
    }

    /// `lane` did `activity` for the operation under `tag` until `until`.
    pub(super) fn array(&mut self, lane: u16, tag: u32, until: Ns, activity: Activity) {
        self.array_seen(lane, tag, until, activity, true);
    }

    /// The same, and it may not have ended.
    pub(super) fn array_seen(
        &mut self,
        lane: u16,
        tag: u32,
        until: Ns,
        activity: Activity,
        has_ended: bool,
    ) {
        let start = self.marks[lane as usize];
        if until <= start {
            return;
        }
        self.marks[lane as usize] = until;
        let operation = self.ops[tag as usize].operation;
        let planes = match (self.independent_planes, operation.kind) {
            (true, OperationKind::Read(_)) => operation.planes,
            _ => ALL_PLANES,
        };
        let track = Track::Array(operation.die, planes);
        self.push(track, (start, until), activity, tag, has_ended);
    }

    /// The program or erase of `die` is suspended from `now` on.
    pub(super) fn suspends(&mut self, now: Ns, die: DieId) {
        self.suspended[die.0 as usize] = now;
    }

    /// The program or erase of `die` under `tag` was suspended until `until`, and still is unless it `has_ended`.
    pub(super) fn was_suspended(&mut self, until: Ns, die: DieId, tag: u32, has_ended: bool) {
        let since = self.suspended[die.0 as usize];
        let (track, activity) = (Track::Suspended(die), Activity::Suspended);
        self.push(track, (since, until), activity, tag, has_ended);
    }

    /// `channel` was busy with the operation under `tag`.
    pub(super) fn channel(&mut self, channel: u16, time: (Ns, Ns), activity: Activity, tag: u32) {
        self.push(Track::Channel(channel), time, activity, tag, true);
    }

    /// The data of the operation under `tag` have crossed the channel.
    pub(super) fn arrived(&mut self, now: Ns, tag: u32) {
        self.ops[tag as usize].arrived = now;
    }

    /// The decoder of `channel` is done with the operation under `tag`. It could begin when the transfer began, at
    /// `streams_since`, or when all data had arrived.
    pub(super) fn decoded(&mut self, now: Ns, channel: u16, tag: u32, streams_since: Option<Ns>) {
        let arrived = self.ops[tag as usize].arrived;
        let free = std::mem::replace(&mut self.decoded[channel as usize], now);
        let start = streams_since.unwrap_or(arrived).max(free);
        let track = Track::Decoder(channel);
        self.push(track, (start, now), Activity::Decode, tag, true);
    }

    fn push(
        &mut self,
        track: Track,
        (start, end): (Ns, Ns),
        activity: Activity,
        tag: u32,
        has_ended: bool,
    ) {
        if end > start {
            self.spans.push(Span {
                track,
                start,
                end,
                activity,
                owner: Owner::Operation(self.ops[tag as usize].operation),
                has_ended,
            });
        }
    }
}

/// Whether `next` is a further step of the read whose last step was `last`, which was decoded at `decoded`. A step that is
/// sensed ahead is issued `after` it.
fn goes_on(last: &Operation, next: &Operation, decoded: Ns, after: bool) -> bool {
    let of = |o: &Operation| (o.die, o.block, o.wordline, o.kind);
    of(last) == of(next) && (after || next.class.goes_on() || next.queued == decoded)
}

/// The time of reads.
impl Recorder {
    /// The time of the read of `job` counts from `since` on.
    pub(super) fn read_begins(&mut self, job: u32, since: Ns) {
        let read = &mut self.reads[job as usize];
        read.since = since;
        read.parts.clear();
    }

    /// The read of `job` waited for its die until `now`, which did meanwhile what `log` says.
    pub(super) fn read_waited(&mut self, job: u32, now: Ns, log: &DieLog) {
        let read = &mut self.reads[job as usize];
        let from = read.parts.last().map_or(read.since, |last| last.end);
        let first = read.parts.len();
        let step = read.last.map_or(0, |last| last.step);
        log.each_part(from, now, |start, end, cause| {
            if end > start {
                let cause = Cause::ALL[cause];
                read.parts.push(Part {
                    start,
                    end,
                    cause,
                    phase: cause,
                    step,
                });
            }
        });
        read.parts[first..].reverse();
    }

    /// The time of the read of `job` until `until` is charged to `cause`, in which `phase` happened.
    pub(super) fn read_spent(
        &mut self,
        job: u32,
        until: Ns,
        cause: Cause,
        phase: Cause,
        step: u16,
    ) {
        let read = &mut self.reads[job as usize];
        let start = read.parts.last().map_or(read.since, |last| last.end);
        if until > start {
            read.parts.push(Part {
                start,
                end: until,
                cause,
                phase,
                step,
            });
        }
    }

    /// The last step of the read of `job` has been decoded.
    pub(super) fn read_decoded(&mut self, job: u32, now: Ns) {
        self.reads[job as usize].decoded = now;
    }

    /// Senses of its read before the operation under `tag`.
    pub(super) fn step_of(&self, tag: u32) -> u16 {
        self.ops[tag as usize].operation.step
    }

    /// `waiter` has waited for the read of `job` since its time began.
    pub(super) fn read_shared(&mut self, waiter: u32, job: u32) {
        let mut own = std::mem::take(&mut self.reads[waiter as usize]);
        let read = &self.reads[job as usize];
        let parts = read.parts.iter().filter(|part| part.end > own.since);
        own.parts.clear();
        own.parts.extend(parts.map(|part| Part {
            start: part.start.max(own.since),
            ..*part
        }));
        own.last = read.last;
        self.reads[waiter as usize] = own;
    }
}

/// The time of requests.
impl Recorder {
    /// The host submits command `id`.
    pub(crate) fn submitted(&mut self, id: CommandId) {
        self.submitted += 1;
        let course = &mut self.courses[id.0 as usize];
        course.number = self.submitted;
        course.parts.clear();
        course.reads.clear();
        course.map_waits.clear();
    }

    /// Data of `command` cross the link from `start` to `end`.
    pub(crate) fn crosses_link(&mut self, command: &HostCommand, bytes: u32, time: (Ns, Ns)) {
        let number = self.courses[command.id.0 as usize].number;
        let (start, end) = time;
        if end > start {
            self.spans.push(Span {
                track: match command.op {
                    HostOp::Write => Track::LinkIn,
                    _ => Track::LinkOut,
                },
                start,
                end,
                activity: Activity::Transfer,
                owner: Owner::Request(RequestOnLink::of(number, command, bytes)),
                has_ended: true,
            });
        }
    }

    /// Command `id` is sent the data in `buf`.
    pub(crate) fn is_sent(&mut self, id: CommandId, buf: Buf) {
        if let Some((first, read)) = self.read_into.range(..=buf).next_back()
            && buf.0 - first.0 < self.slots_per_mp_page
        {
            waits_for(&mut self.courses[id.0 as usize], *read);
        }
    }

    /// Command `id` has waited for a map page from `since` to `until`.
    pub(crate) fn map_waited(&mut self, id: CommandId, since: Ns, until: Ns) {
        self.courses[id.0 as usize].map_waits.push((since, until));
    }

    /// Command `id` has waited for the read of `job` last.
    pub(crate) fn waited(&mut self, id: CommandId, job: u32) {
        let (course, read) = (&mut self.courses[id.0 as usize], &self.reads[job as usize]);
        course.parts.clone_from(&read.parts);
        if let Some(last) = read.last {
            waits_for(course, last.read);
        }
    }

    /// Command `id`, whose latency counts from `since`, has ended. The time of its last read, if it had any, counts from
    /// `read_since`, and everything until `charged_to` is charged.
    pub(crate) fn ended(&mut self, id: CommandId, since: Ns, read_since: Ns, charged_to: Ns) {
        let course = &mut self.courses[id.0 as usize];
        let of_read = std::mem::take(&mut course.parts);
        course.push_wait(since, read_since);
        course.parts.extend_from_slice(&of_read);
        course.push_wait(since, charged_to);
    }

    /// `command`, whose latency counts from `since`, reaches the host at `at`.
    pub(crate) fn completed(&mut self, command: &HostCommand, since: Ns, at: Ns) -> &Course {
        let course = &mut self.courses[command.id.0 as usize];
        if command.op == HostOp::Read {
            course.push(since, at, Cause::Link);
        }
        course
    }
}

fn waits_for(course: &mut Course, read: u64) {
    if !course.reads.contains(&read) {
        course.reads.push(read);
    }
}
