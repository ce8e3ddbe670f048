//! What the firmware needs from the platform it runs on.

use crate::{
    Accounting, Buf, CommandId, FlashOp, HostCommand, InitialContents, Lpn, Ppa, Status, Tag,
};

/// The spare area of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spare {
    /// The logical page that the slot holds a version of.
    pub lpn: Lpn,
    /// Sequence number of the write. Every slot that comes in from the host gets the next number; copies keep
    /// theirs. The highest number of a logical page marks its last version.
    pub sequence: u64,
}

/// The outputs of the firmware that have an effect. A controller implements the trait on its queues, a
/// simulator on its event loop. No call returns into the firmware. Outputs that only account for time are in
/// [`Accounting`].
pub trait Ports: Accounting {
    /// Log record of background work.
    type Record;

    /// Start `op`: a command to the channel controller. The die is free, unless `op` is a cache read
    /// (`after`), a suspend, a resume or a cancel.
    fn issue(&mut self, op: FlashOp);
    /// Fetch `slots` slots of command `id`, from its slot `first` on, over the host link into `buf`. Each
    /// slot gets its logical page and the next sequence number as spare area.
    fn data_in(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf);
    /// Send `slots` slots from `buf` over the host link, as slots `first` and on of command `id`. `bytes`
    /// cross the link: fewer than the slots have, if the command asks for part of a slot.
    fn data_out(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf, bytes: u32);
    /// Send zeros over the host link for slots `first` and on of command `id`, which were never written or
    /// are trimmed.
    fn zeros_out(&mut self, id: CommandId, first: u32, slots: u32, bytes: u32);
    /// Copy one slot with its spare area from one buffer to another.
    fn copy(&mut self, from: Buf, to: Buf);
    /// Fill the slot in `buf` with a pattern and an empty spare area, as padding of a wordline.
    fn pad(&mut self, buf: Buf);
    /// The spare area of the slot in `buf`; none if the slot holds no data.
    fn buffered(&self, buf: Buf) -> Option<Spare>;
    /// Power is back: the slot in `buf` holds again the data that were saved with the dump, with this spare area; none for a
    /// slot without data. No other buffer holds anything.
    fn restore(&mut self, buf: Buf, spare: Option<Spare>);
    /// The spare area of the last data written to slot `ppa`. A controller looks it up in the superblock's
    /// table of contents, which it has read. None if nothing was written since the erase, or if power was cut
    /// or the program failed meanwhile.
    fn stored(&self, ppa: Ppa) -> Option<Spare>;
    /// The last sequence number given out by [`Ports::data_in`] or [`Ports::map_in`].
    fn sequence(&self) -> u64;
    /// Also transfer and decode codewords `more` of the read under `tag`. The read has been issued and senses
    /// their planes. A controller adds them to the transfer that waits for the channel. Returns false, and
    /// changes nothing, if the transfer has begun or if nothing can be added.
    fn widen(&mut self, tag: Tag, more: u64) -> bool;
    /// Put codewords `made` into the buffers of the read under `tag`, which could not correct them. Each is
    /// the sum of the codewords at its place in the multi-plane pages read from the other dies of the stripe.
    /// All time since the end of the read is charged to the rebuild.
    fn rebuilt(&mut self, tag: Tag, made: u64);
    /// Write map page `page` into `buf` with the next sequence number. Map pages are numbered as logical
    /// pages past those of the host.
    fn map_in(&mut self, page: Lpn, buf: Buf);
    /// Read map page `page` from `buf`.
    fn map_out(&mut self, page: Lpn, buf: Buf);
    /// Post the completion of `command`. `last` only accounts for time: it is the flash operation that has
    /// just ended and that the command waited for, and the latency is charged to it. None if the command last
    /// waited for something else.
    fn complete(&mut self, command: HostCommand, status: Status, last: Option<Tag>);
    /// Write a record of background work to the event log. A controller without a log drops it.
    fn log(&mut self, record: Self::Record);
}

/// Memory for tables that grow with use. A controller hands over a fixed piece. A simulator hands over a
/// larger one, between events, when the firmware says that it runs short. The map's overlay lies in this
/// memory, over the initial contents of the drive ([`InitialContents`]).
pub trait Arena: InitialContents {
    /// The memory. Its initial contents are arbitrary.
    fn bytes(&self) -> &[u8];
    /// The same memory, to be written.
    fn bytes_mut(&mut self) -> &mut [u8];
}

impl Arena for &mut [u8] {
    fn bytes(&self) -> &[u8] {
        self
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_a_piece_of_memory_is_an_arena() {
        let mut memory = [1, 2, 3];
        let mut arena = memory.as_mut_slice();
        assert_eq!(arena.bytes(), [1, 2, 3]);
        arena.bytes_mut()[1] = 9;
        assert_eq!(arena.bytes(), [1, 9, 3]);
        assert_eq!(memory, [1, 9, 3]);
    }
}
