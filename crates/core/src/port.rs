//! What firmware needs from the world it runs in.

use crate::{
    Account, Before, BlockId, Buf, CommandId, DieId, FlashOp, HostCommand, Lpn, Ppa, Status, Tag,
};

/// What the spare area of a slot says of its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spare {
    /// The logical page.
    pub lpn: Lpn,
    /// When the host wrote it: every slot that comes in gets the next number, which copies keep.
    /// The highest one of a page is its last version.
    pub sequence: u64,
}

/// The outputs of the firmware that have an effect. A controller implements it on its queues, a simulator
/// on its event loop. No call returns into the firmware. What only accounts for time is [`Account`].
pub trait Ports: Account {
    /// Log record of background work.
    type Record;

    /// Start `op`: a command to the channel controller. The die is free, unless the operation names one
    /// it comes `after`, or is a suspend, resume or cancel.
    fn issue(&mut self, op: FlashOp);
    /// Fetch `slots` slots of host data of command `id`, from its slot `first` on, over the link into
    /// `buf`. Each gets its logical page and the next sequence number as its spare area.
    fn data_in(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf);
    /// Send `slots` slots from `buf` over the link, as slots `first` and on of command `id`.
    /// `bytes` is what crosses the link: less than the slots for a partial one.
    fn data_out(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf, bytes: u32);
    /// Send zeros over the link as slots `first` and on of command `id`, which were never written or
    /// are trimmed.
    fn zeros_out(&mut self, id: CommandId, first: u32, slots: u32, bytes: u32);
    /// Copy one slot between buffers, with its spare area.
    fn copy(&mut self, from: Buf, to: Buf);
    /// Fill the slot in `buf` with a pattern and an empty spare area: it pads a wordline.
    fn pad(&mut self, buf: Buf);
    /// The spare area of the slot in `buf`, or none for a slot that holds no data.
    fn buffered(&self, buf: Buf) -> Option<Spare>;
    /// The spare area of what was written to slot `ppa` last, which the table of contents of its
    /// superblock repeats: a controller looks into the table that it has read. None where nothing was
    /// written since the erase, or power was cut or the program failed meanwhile.
    fn stored(&self, ppa: Ppa) -> Option<Spare>;
    /// Send operations on `block` of `die`, which has failed, to a spare of that die from now on: erased,
    /// and on every plane.
    fn replace(&mut self, die: DieId, block: BlockId);
    /// The sequence number given out last, by [`Ports::data_in`] or [`Ports::map_in`].
    fn sequence(&self) -> u64;
    /// Transfer and decode codewords `more` too of the read under `tag`, which has been issued and senses
    /// the planes that they lie on: a controller adds them to the transfer that waits for its channel.
    /// False, and nothing changes, when the data cross the channel or have, or nothing can be added.
    fn widen(&mut self, tag: Tag, more: u64) -> bool;
    /// Put codewords `made` into the buffers of the read under `tag`, which could not correct them: each
    /// is the sum of those at its place in the rows that were read from the other dies of its stripe.
    /// From the end of the read on, all time was for that.
    fn rebuilt(&mut self, tag: Tag, made: u64);
    /// Write page `page` of the map, which is a logical page past the host's, into `buf`, with the next
    /// sequence number.
    fn map_in(&mut self, page: Lpn, buf: Buf);
    /// Take page `page` of the map out of `buf`.
    fn map_out(&mut self, page: Lpn, buf: Buf);
    /// Post the completion of `command`. `last` only accounts for time: the flash operation that has just
    /// ended and that the command waited for, the one its latency is charged to; none where it waited for
    /// something else last.
    fn complete(&mut self, command: HostCommand, status: Status, last: Option<Tag>);
    /// Write a record of background work into the event log. A controller without one drops it.
    fn log(&mut self, record: Self::Record);
}

/// Memory for tables that grow with use. A controller hands over a fixed piece; a simulator hands
/// over a larger one, between events, when the firmware says that it runs short. What is in the map's
/// table lies over what lay on the drive [`Before`], which comes with its memory.
pub trait Arena: Before {
    /// The memory. What was handed over may hold anything.
    fn bytes(&self) -> &[u8];
    /// The memory, to change.
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
