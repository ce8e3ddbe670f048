//! The interface between firmware and flash: operations go down, events come up.
//!
//! One flash operation is one step of a read. The retry state machine lives in firmware, for two reasons: the
//! next read levels depend on the last result, and priority and suspension act between steps. The firmware
//! owns the die queues and their order, and issues an operation only when the die is free. The medium owns
//! the state of a die and its errors. The drive owns time.

use crate::{BlockId, CellMode, DieId, Levels, Ns, PageType, SuperblockId};

/// Tag by which the firmware knows an operation in flight. Every event of the operation carries it. Tags are
/// small indices; the firmware reuses a tag once its operation has ended.
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

/// Priority of an operation in the queues of its die; the lowest is served first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Priority {
    /// Reads that a host command waits for.
    Host,
    /// Reads ahead of the host.
    ReadAhead,
    /// Operations that move data inside the drive.
    Move,
    /// Programs of host data that are already acknowledged.
    Write,
    /// Verification and other background reads.
    Background,
}

/// What an operation is for. Nothing acts on the class: it is the label under which time is charged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum OpClass {
    /// First attempt of a host read.
    HostRead,
    /// Retries of a host read, or of a read for a write of part of a slot.
    HostRetry,
    /// Steps after all retries of such a read have failed: soft senses, and reads of the rest of the stripe.
    ReadRecovery,
    /// Background reads for calibration and verification.
    Calibration,
    /// Reads of data that are moved: garbage collection, wear leveling, refresh, mode conversion.
    MoveRead,
    /// First attempt of a read of a slot's old data, for a write of part of the slot.
    MergeRead,
    /// Read-ahead of a sequential stream, as long as no command waits for the data.
    ReadAhead,
    /// Reads of map pages.
    MapRead,
    /// Programs of map pages.
    MapProgram,
    /// Programs of host data.
    Program,
    /// Programs of moved data.
    MoveProgram,
    /// Erases of a die's part of a superblock, whoever has emptied it.
    Erase,
}

impl OpClass {
    /// Whether the operation continues a read that the host is already waiting for.
    pub const fn goes_on(self) -> bool {
        matches!(self, OpClass::HostRetry | OpClass::ReadRecovery)
    }

    /// Whether a host command waits for reads of this class, or may come to wait for them.
    pub const fn serves_host(self) -> bool {
        matches!(
            self,
            OpClass::HostRead
                | OpClass::HostRetry
                | OpClass::ReadRecovery
                | OpClass::MergeRead
                | OpClass::ReadAhead
        )
    }
}

/// An operation that the firmware issues to one die. Its outcome comes back as a [`FlashEvent`] under its tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlashOp {
    /// Echoed in every event of the operation.
    pub tag: Tag,
    /// The die it runs on.
    pub die: DieId,
    /// For a cache read (READ CACHE): the read on the same die after which this one is sensed. The earlier
    /// read's data then leave through the cache register. The sensed data stay in the page register until
    /// [`FlashKind::Output`] or [`FlashKind::Cancel`].
    pub after: Option<Tag>,
    /// The class its time is charged to.
    pub class: OpClass,
    /// When it entered the queue of its die.
    pub queued: Ns,
    /// What the die does, with its address and its buffers.
    pub kind: FlashKind,
}

/// The operations of a die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlashKind {
    /// Sense one multi-plane page, then transfer and decode the wanted codewords.
    Read {
        /// Superblock that the page is of.
        block: SuperblockId,
        /// Its block on the die. The read senses it on each plane that has a wanted codeword.
        on: BlockId,
        /// Wordline within the block; every string counts.
        wordline: u16,
        /// Page of the wordline.
        page: PageType,
        /// Cell mode of the block. The command names it because a chip does not remember the mode.
        cell_mode: CellMode,
        /// Codewords to transfer and decode: bit `plane * codewords_per_page + codeword`. A plane is sensed
        /// if one of its bits is set. Each codeword fails on its own.
        wanted: u64,
        /// Levels that cells are compared with: offsets from the factory default, or the oracle's best.
        levels: Levels,
        /// How long to sense.
        timing: SenseTiming,
        /// Hard decision, soft senses, or a count of the cells that conduct at one level.
        mode: SenseMode,
        /// First buffer of the multi-plane page. The slot at `plane * slots_per_page + slot` lands in
        /// `buf.slot` of that index once all its wanted codewords are decoded.
        buf: Buf,
    },
    /// Program all pages of a wordline on all planes at once.
    Program {
        /// Superblock that the wordline is of.
        block: SuperblockId,
        /// Its block on the die, which is programmed on each plane.
        on: BlockId,
        /// Wordline within the block. Wordlines are programmed in order.
        wordline: u16,
        /// Buffer of the first slot of the wordline over all dies, in fill order. Slot `i` of the superblock
        /// lies in `buf.slot(i - wordline * slots per wordline)`.
        buf: Buf,
    },
    /// Erase a block on all planes. It is programmed in `mode` afterwards.
    Erase {
        /// Superblock that the block is of.
        block: SuperblockId,
        /// Its block on the die, which is erased on each plane.
        on: BlockId,
        /// Cell mode after the erase.
        mode: CellMode,
    },
    /// Suspend the program or erase `victim` once its current run has done `progress` of its work. The event
    /// `Suspended` follows under the victim's tag, or the end of the operation if that comes first.
    Suspend {
        /// Tag of the operation to suspend.
        victim: Tag,
        /// Array time that the operation gets from its start or last resume on, without the cost of the resume, before
        /// it is told to stop.
        progress: Ns,
    },
    /// Resume the suspended `victim` under its own tag.
    Resume {
        /// Tag of the suspended operation.
        victim: Tag,
    },
    /// Transfer and decode codewords `wanted` of cache read `read`, which has been sensed speculatively or is
    /// being sensed.
    Output {
        /// Tag of the cache read.
        read: Tag,
        /// Codewords, a subset of those the read was issued for.
        wanted: u64,
    },
    /// End the read `victim`, whose data nobody needs any more. Its sense is reset, and data that have been sensed do not
    /// leave the die. The event `Aborted` follows under its tag. If its data already cross the channel, the read ends as
    /// it would have ended.
    Abort {
        /// Tag of a read that no other read comes after.
        victim: Tag,
    },
    /// Drop cache read `victim` before its output has been asked for. The read before it must have been
    /// sensed. The die is free as soon as the array is. No other event of the dropped read follows.
    Cancel {
        /// Tag of the cache read to drop.
        victim: Tag,
    },
}

/// How often a read senses each level, and what it returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SenseMode {
    /// One sense per level; hard decisions.
    Hard,
    /// Three senses per level for a soft decoder: at the level, and one step to either side. The chip
    /// combines them to two bits per cell, so two pages are transferred.
    Soft3,
    /// Five senses per level; three pages are transferred.
    Soft5,
    /// One sense at the level of a single valley. The event returns how many cells conduct.
    OnesCount {
        /// The valley, from 1.
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
    /// The manufacturer's timing.
    pub const DEFAULT: SenseTiming = SenseTiming {
        pre_permille: 1000,
        eval_permille: 1000,
        disch_permille: 1000,
    };
}

/// Errors of the spare cells of a page that was read. The firmware has programmed these cells to known
/// states: the two states on either side of the page type's sentinel valley.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SpareErrors {
    /// Cells of the lower state that were read as the upper state.
    pub above: u16,
    /// Cells of the upper state that were read as the lower state.
    pub below: u16,
    /// Spare cells of both states that were looked at; zero if there are none.
    pub cells: u16,
}

/// All planes of a die, one bit each. A die has at most eight planes.
pub const ALL_PLANES: u8 = u8::MAX;

/// The planes that a read of codewords `wanted` senses, if a page has `per_page` codewords.
pub const fn planes_of(wanted: u64, per_page: u32) -> u8 {
    let (mut left, mut planes) = (wanted, 0);
    while left != 0 {
        let plane = left.trailing_zeros() / per_page;
        planes |= 1 << plane;
        left &= !((u64::MAX >> (64 - per_page)) << (plane * per_page));
    }
    planes
}

/// Number of codewords in `wanted`. Most reads want one codeword, and not every processor has a population
/// count.
#[inline]
pub const fn codewords(wanted: u64) -> u32 {
    match wanted.is_power_of_two() {
        true => 1,
        false => wanted.count_ones(),
    }
}

/// Event of a flash operation. Each event carries the tag of its operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlashEvent {
    /// The array and registers of the die, or of some of its planes, are free. The next operation may be
    /// issued.
    ArrayFree {
        /// The operation that occupied them.
        tag: Tag,
        /// The die that may be issued its next operation.
        die: DieId,
        /// The planes that are free, one bit each. [`ALL_PLANES`], except after a read on a chip whose planes
        /// read independently.
        planes: u8,
    },
    /// The program or erase has stopped; the array is free for reads.
    Suspended {
        /// Tag of the program or erase that has stopped.
        tag: Tag,
        /// Time that the operation still needs.
        remaining: Ns,
    },
    /// A read has been ended by [`FlashKind::Abort`] and has no outcome; its die, or the planes that it sensed, are free.
    Aborted {
        /// Tag of the read.
        tag: Tag,
    },
    /// A hard or soft read has been decoded.
    Decoded {
        /// Tag of the read, or of the step of a pipelined read.
        tag: Tag,
        /// Codewords that failed to decode, a subset of those wanted.
        failed: u64,
        /// The largest number of bits corrected in one codeword that decoded.
        max_errors: u16,
        /// Bits corrected over all codewords that decoded.
        sum_errors: u32,
        /// Parity checks left unsatisfied by the hard decisions, per failed codeword: the fewer, the closer
        /// the read levels are to the best ones. Zero if no codeword failed, or if the decoder does not
        /// report it.
        unsatisfied: u16,
        /// Spare cells of the planes with a failed codeword, on chips whose wordlines have spare cells.
        spare: SpareErrors,
    },
    /// A ones-count has arrived.
    Ones {
        /// Tag of the read that counted.
        tag: Tag,
        /// Cells that conduct at the level, over all planes sensed.
        count: u32,
        /// Cells sensed.
        cells: u32,
    },
    /// A program has ended.
    Programmed {
        /// Tag of the program of one die.
        tag: Tag,
        /// Whether the program verified.
        ok: bool,
    },
    /// An erase has ended.
    Erased {
        /// Tag of the erase of one die.
        tag: Tag,
        /// Whether the erase verified.
        ok: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_slots_of_a_buffer_follow_each_other() {
        assert_eq!(Buf(40).slot(0), Buf(40));
        assert_eq!(Buf(40).slot(3), Buf(43));
        assert_eq!(Buf(40).slot(3).slot(4), Buf(40).slot(7));
    }

    /// Each class with whether it continues a read of the host's, and whether it serves the host.
    #[test]
    fn formula_classes_of_operations_tell_whom_they_serve() {
        for (class, goes_on, serves_host) in [
            (OpClass::HostRead, false, true),
            (OpClass::HostRetry, true, true),
            (OpClass::ReadRecovery, true, true),
            (OpClass::Calibration, false, false),
            (OpClass::MoveRead, false, false),
            (OpClass::MergeRead, false, true),
            (OpClass::ReadAhead, false, true),
            (OpClass::MapRead, false, false),
            (OpClass::MapProgram, false, false),
            (OpClass::Program, false, false),
            (OpClass::MoveProgram, false, false),
            (OpClass::Erase, false, false),
        ] {
            let is = (class.goes_on(), class.serves_host());
            assert_eq!(is, (goes_on, serves_host), "{class:?}");
        }
    }

    /// Planes and codewords of a read, against a look at each bit.
    #[test]
    fn model_a_read_senses_each_plane_with_a_wanted_codeword() {
        for per_page in [1, 2, 3, 4, 5, 8, 12, 16] {
            let bits = (per_page * 8).min(64);
            let edges = [0, 1, 1 << (bits - 1), u64::MAX >> (64 - bits)];
            let many = (0..100).map(|i| crate::Stream::new(u64::from(per_page)).draw(i));
            // Sparse ones too, in which whole planes have nothing.
            let sparse = (0..100).map(|i| {
                let draws = crate::Stream::new(100 + u64::from(per_page)).at(i);
                draws.draw(0) & draws.draw(1) & draws.draw(2) & draws.draw(3)
            });
            for wanted in edges.into_iter().chain(many).chain(sparse) {
                let wanted = wanted & (u64::MAX >> (64 - bits));
                let (mut planes, mut count) = (0, 0);
                for bit in (0..bits).filter(|bit| wanted & 1 << bit != 0) {
                    planes |= 1 << (bit / per_page);
                    count += 1;
                }
                assert_eq!(planes_of(wanted, per_page), planes, "{wanted:x} {per_page}");
                assert_eq!(codewords(wanted), count, "{wanted:x}");
            }
        }
        assert_eq!(
            planes_of(u64::MAX, 64),
            1,
            "a page of 64 codewords, of one plane"
        );
    }
}
