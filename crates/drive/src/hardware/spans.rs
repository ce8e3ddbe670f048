//! What parts of a drive did when, and where the time of a request went: plain data, for a picture of a run.

use firstread_core::{
    BlockId, CellMode, DieId, HostCommand, HostOp, Ns, OpClass, PageType, SuperblockId,
};

use super::charge::Cause;

/// A part of the drive that does one thing at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Track {
    /// Data from the host.
    LinkIn,
    /// Data to the host.
    LinkOut,
    /// Planes of a die, one bit each: its array and page registers. [`ALL_PLANES`](firstread_core::flash::ALL_PLANES)
    /// unless planes read independently.
    Array(DieId, u8),
    /// The suspended program or erase of a die, while its array reads.
    Suspended(DieId),
    /// A channel.
    Channel(u16),
    /// The decoder of a channel.
    Decoder(u16),
}

/// What a part of the drive does for an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// The array senses.
    Sense,
    /// The page moves from the page register to the cache register.
    Turn,
    /// A page that was sensed ahead is in the page register, until the firmware asks for it or drops it.
    Holds,
    /// Command or data wait for the channel.
    WaitsForChannel,
    /// Data leave the die.
    DataOut,
    /// Data come into the die.
    DataIn,
    /// The array programs.
    Program,
    /// The array erases.
    Erase,
    /// A program or erase is told to stop and runs on until it can.
    Suspending,
    /// A program or erase is suspended.
    Suspended,
    /// A sense that nobody needs is ended.
    Reset,
    /// Command and address cycles cross the channel.
    Command,
    /// Data cross the channel or the host link.
    Transfer,
    /// Codewords are decoded.
    Decode,
}

impl Activity {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Activity::Sense => "sense",
            Activity::Turn => "to cache register",
            Activity::Holds => "sensed ahead",
            Activity::WaitsForChannel => "waits for channel",
            Activity::DataOut => "data out",
            Activity::DataIn => "data in",
            Activity::Program => "program",
            Activity::Erase => "erase",
            Activity::Suspending => "suspending",
            Activity::Suspended => "suspended",
            Activity::Reset => "reset",
            Activity::Command => "command",
            Activity::Transfer => "transfer",
            Activity::Decode => "decode",
        }
    }
}

/// Kind of a flash operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperationKind {
    /// A sense of one page type of a wordline.
    Read(PageType),
    /// A program of a wordline.
    Program,
    /// An erase of a block.
    Erase,
}

/// A flash operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Its number in the order of issue since the drive began to record, from 1 on.
    pub number: u64,
    /// Number of the first sense of the read that it is a step of; its own number if it is no later step.
    pub read: u64,
    /// Senses of that read before it.
    pub step: u16,
    /// What it is for.
    pub class: OpClass,
    /// What the die does.
    pub kind: OperationKind,
    /// The die.
    pub die: DieId,
    /// Planes that are used, one bit each.
    pub planes: u8,
    /// Its superblock.
    pub block: SuperblockId,
    /// The block of its superblock on the die.
    pub on: BlockId,
    /// Wordline within the block; 0 of an erase.
    pub wordline: u16,
    /// Cell mode of the block; after it, of an erase.
    pub mode: CellMode,
    /// When it entered the queue of its die.
    pub queued: Ns,
    /// When it was issued to its die.
    pub issued: Ns,
}

/// A request of the host on the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestOnLink {
    /// Its number: [`Course::number`].
    pub number: u64,
    /// What it asks for.
    pub op: HostOp,
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes that cross.
    pub bytes: u32,
}

/// For whom a part of the drive works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// A flash operation.
    Operation(Operation),
    /// A request, whose data cross the link.
    Request(RequestOnLink),
}

/// A stretch of time in which a part of the drive did one thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The part.
    pub track: Track,
    /// When it began.
    pub start: Ns,
    /// When it ended, or was last seen.
    pub end: Ns,
    /// What it did.
    pub activity: Activity,
    /// For whom.
    pub owner: Owner,
    /// Whether it ended: false where power was cut, or where the run ended first.
    pub has_ended: bool,
}

impl Span {
    /// The operation that it is part of, if it is part of one.
    pub const fn operation(&self) -> Option<&Operation> {
        match &self.owner {
            Owner::Operation(operation) => Some(operation),
            Owner::Request(_) => None,
        }
    }
}

/// A part of the latency of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// When it began: where the part before it ended.
    pub start: Ns,
    /// When it ended.
    pub end: Ns,
    /// The cause that it is charged to.
    pub cause: Cause,
    /// What happened: of a retry or of read recovery its sense, transfer or decode, and the cause itself otherwise.
    pub phase: Cause,
    /// Senses of the read before the one that this part belongs to.
    pub step: u16,
}

/// Where the time of a request went.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// Number of the request in the order of submission since the drive began to record, from 1 on.
    pub number: u64,
    /// Of a read, its time from the start of its latency to its completion, without a gap; empty of other requests.
    pub parts: Vec<Part>,
    /// The reads of pages that it waited for, by the number of their first sense ([`Operation::read`]).
    pub reads: Vec<u64>,
    /// Waits for map pages.
    pub(crate) map_waits: Vec<(Ns, Ns)>,
}

impl Course {
    /// The time from the last part, or from `from`, to `until` is charged to `cause`.
    pub(super) fn push(&mut self, from: Ns, until: Ns, cause: Cause) {
        let start = self.parts.last().map_or(from, |last| last.end);
        if until > start {
            self.parts.push(Part {
                start,
                end: until,
                cause,
                phase: cause,
                step: 0,
            });
        }
    }

    /// The command waited from the last part, or from `from`, to `until`: for map pages, or in a queue.
    pub(super) fn push_wait(&mut self, from: Ns, until: Ns) {
        for i in 0..self.map_waits.len() {
            let (start, end) = self.map_waits[i];
            self.push(from, start.min(until), Cause::Queue);
            self.push(from, end.min(until), Cause::Map);
        }
        self.push(from, until, Cause::Queue);
    }
}

impl RequestOnLink {
    pub(super) fn of(number: u64, command: &HostCommand, bytes: u32) -> RequestOnLink {
        RequestOnLink {
            number,
            op: command.op,
            offset_bytes: command.offset_bytes,
            bytes,
        }
    }
}
