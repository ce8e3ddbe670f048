//! The seam between firmware and flash: operations down, events up.
//!
//! One flash operation is one step: the retry state machine lives in firmware, because the next
//! levels depend on the last result and because priority and suspension act between steps. The
//! firmware owns queues and order and issues to a die only when the die is free; the medium owns a
//! die's state and the errors; the drive owns time.

use crate::{BlockId, CellMode, DieId, Levels, Ns, PageType};

/// The firmware's name of an operation in flight, echoed in its events. A small index: the
/// firmware reuses it once the operation has ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Tag(pub u32);

/// Handle of the first of consecutive slot-sized buffers. Firmware moves handles, never bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Buf(pub u32);

impl Buf {
    /// No buffer: the operation moves no data.
    pub const NONE: Buf = Buf(u32::MAX);
    /// The buffer `n` slots further.
    pub const fn slot(self, n: u32) -> Buf {
        Buf(self.0 + n)
    }
}

/// Which queue of a die an operation waits in; lower first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Priority {
    /// A host waits for it.
    Host,
    /// The host may soon wait for it.
    ReadAhead,
    /// Data the firmware moves.
    Move,
    /// Programs of host data that is already acknowledged.
    Write,
    /// Verification and other background reads.
    Background,
}

/// What an operation is for. Nothing acts on it: it is the label under which its time is charged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum OpClass {
    /// First attempt of a host read.
    HostRead,
    /// Further attempts of a host read.
    HostRetry,
    /// What follows when the attempts of a host read have all failed: soft senses, and reads of the rest
    /// of its stripe.
    Recovery,
    /// Reads of calibration and verification.
    Calibration,
    /// Reads of the data mover: garbage collection, wear, refresh, conversion.
    MoveRead,
    /// Reads ahead of a sequential stream, as long as no command waits for them.
    ReadAhead,
    /// Reads of pages of the map.
    MapRead,
    /// Programs of pages of the map.
    MapProgram,
    /// Programs of data of the host.
    Program,
    /// Programs of data that the data mover writes.
    MoveProgram,
    /// Erases.
    Erase,
}

impl OpClass {
    /// Whether it goes on with a read that the host has been waiting for.
    pub const fn goes_on(self) -> bool {
        matches!(self, OpClass::HostRetry | OpClass::Recovery)
    }
}

/// One flash operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlashOp {
    /// Echoed in every event of the operation.
    pub tag: Tag,
    /// The die it runs on.
    pub die: DieId,
    /// Of a read: sense it when this read, on the same die, has been sensed, while its data leave
    /// through the cache register (READ CACHE). What is sensed stays in the page register until
    /// [`FlashKind::Output`] or [`FlashKind::Cancel`].
    pub after: Option<Tag>,
    /// What its time is charged to.
    pub class: OpClass,
    /// When it was put in the queue of its die.
    pub queued: Ns,
    /// What to do.
    pub kind: FlashKind,
}

/// The operations of a die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlashKind {
    /// Sense one page row, then transfer and decode the wanted codewords.
    Read {
        /// Block, on every plane that is read.
        block: BlockId,
        /// Wordline.
        wordline: u16,
        /// Page of the wordline.
        page: PageType,
        /// Mode of the block, which the command names: a chip keeps no note of it.
        cell_mode: CellMode,
        /// Codewords to transfer and decode: bit `plane * codewords_per_page + codeword`. The planes
        /// sensed are those with a bit set; each fails alone.
        wanted: u64,
        /// Read levels.
        levels: Levels,
        /// How long to sense.
        timing: SenseTiming,
        /// What is sensed.
        mode: SenseMode,
        /// Buffers of the whole page row: the slot at `plane * slots_per_page + slot` lands in
        /// `buf.slot` of that index once all its wanted codewords are decoded.
        buf: Buf,
    },
    /// Program every page of a wordline on every plane at once.
    Program {
        /// Block.
        block: BlockId,
        /// Wordline.
        wordline: u16,
        /// Buffer of the wordline's first slot over all dies, in fill order: slot `i` of the
        /// superblock lies in `buf.slot(i - wordline * slots per wordline)`.
        buf: Buf,
    },
    /// Erase a block on every plane, to be programmed in `mode` from then on.
    Erase {
        /// Block.
        block: BlockId,
        /// Mode from now on.
        mode: CellMode,
    },
    /// Suspend the program or erase `victim`, under its own tag. `Suspended` follows, or the end of
    /// the operation if that comes first.
    Suspend {
        /// Its tag.
        victim: Tag,
    },
    /// Go on with the suspended `victim`, under its own tag.
    Resume {
        /// Its tag.
        victim: Tag,
    },
    /// Transfer and decode the codewords `wanted` of `read`, which was issued after another read and
    /// has been sensed, or is being sensed, on suspicion.
    Output {
        /// Its tag.
        read: Tag,
        /// Codewords, some of those it was issued for.
        wanted: u64,
    },
    /// Drop `victim`, a read issued after another one, once that has been sensed and while the output of
    /// `victim` has not been asked for. The die is free as soon as the array is; no other event of the
    /// read follows.
    Cancel {
        /// Its tag.
        victim: Tag,
    },
}

/// What a read senses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SenseMode {
    /// One sense a level, hard decisions.
    Hard,
    /// Three senses a level, for a soft decoder: at the level and a step to either side. The chip
    /// combines them to two bits a cell, so two pages are transferred.
    Soft3,
    /// Five senses a level, and three pages.
    Soft5,
    /// One sense at the level of one valley alone (1-based); the event counts the cells that conduct.
    OnesCount {
        /// The valley.
        valley: u8,
    },
}

/// Sensing phases in thousandths of their default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SenseTiming {
    /// Bit-line precharge, `tPRE`.
    pub pre_permille: u16,
    /// Evaluation, `tEVAL`.
    pub eval_permille: u16,
    /// Discharge, `tDISCH`.
    pub disch_permille: u16,
}

impl SenseTiming {
    /// As the manufacturer specifies.
    pub const DEFAULT: SenseTiming = SenseTiming {
        pre_permille: 1000,
        eval_permille: 1000,
        disch_permille: 1000,
    };
}

/// What the spare cells of a read page show: cells that the firmware has programmed to states it knows,
/// those on either side of the page type's sentinel valley.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SpareErrors {
    /// Cells of the lower state that were read as of the upper.
    pub above: u16,
    /// Cells of the upper state that were read as of the lower.
    pub below: u16,
    /// Cells of either state; zero if there are none or they were not looked at.
    pub cells: u16,
}

/// Every plane of a die, of which there are eight at most, a bit each.
pub const ALL_PLANES: u8 = u8::MAX;

/// The planes that a read of codewords `wanted` senses, where a page has `per_page`.
pub const fn planes_of(wanted: u64, per_page: u32) -> u8 {
    let (mut left, mut planes) = (wanted, 0);
    while left != 0 {
        let plane = left.trailing_zeros() / per_page;
        planes |= 1 << plane;
        left &= !((u64::MAX >> (64 - per_page)) << (plane * per_page));
    }
    planes
}

/// How many codewords `wanted` names. Most reads want one, and not every processor counts bits by itself.
#[inline]
pub const fn codewords(wanted: u64) -> u32 {
    match wanted.is_power_of_two() {
        true => 1,
        false => wanted.count_ones(),
    }
}

/// What comes back from flash. Each carries the tag of its operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlashEvent {
    /// The array and registers of the die, or of some of its planes, are free: the next operation may
    /// be issued.
    ArrayFree {
        /// Operation that left.
        tag: Tag,
        /// The die.
        die: DieId,
        /// The planes, a bit each: [`ALL_PLANES`] but after a read on a chip whose planes read
        /// independently.
        planes: u8,
    },
    /// The program or erase has stopped; the array is free for reads.
    Suspended {
        /// The suspended operation.
        tag: Tag,
        /// What is left of it.
        remaining: Ns,
    },
    /// A hard or soft read has been decoded.
    Decoded {
        /// The read.
        tag: Tag,
        /// Codewords that failed, a subset of those wanted.
        failed: u64,
        /// Most bits corrected in a codeword that did not fail.
        max_errors: u16,
        /// Bits corrected over all codewords that did not fail.
        sum_errors: u32,
        /// Parity checks that the hard decisions leave unsatisfied, a codeword that failed: the fewer,
        /// the nearer the levels. Zero where none failed, or the decoder does not tell.
        unsatisfied: u16,
        /// Of the planes with a codeword that failed, where wordlines have spare cells.
        spare: SpareErrors,
    },
    /// A ones-count has arrived.
    Ones {
        /// The read.
        tag: Tag,
        /// Cells that conduct at the level, over all planes sensed.
        count: u32,
        /// Cells sensed.
        cells: u32,
    },
    /// A program has ended.
    Programmed {
        /// The program.
        tag: Tag,
        /// Whether it verified.
        ok: bool,
    },
    /// An erase has ended.
    Erased {
        /// The erase.
        tag: Tag,
        /// Whether it verified.
        ok: bool,
    },
}
