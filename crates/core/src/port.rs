//! What firmware needs from the world it runs in.

use crate::{BlockId, Buf, CommandId, DieId, FlashOp, HostCommand, Lpn, Ns, Ppa, Status, Tag};

/// What the spare area of a slot says of its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spare {
    /// The logical page.
    pub lpn: Lpn,
    /// When the host wrote it: every slot that comes in gets the next number, which copies keep.
    /// The highest one of a page is its last version.
    pub sequence: u64,
}

/// What a write or trim that has reached the firmware waits for before it can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// The write buffer is full: until the programs of one of its wordlines have ended on all dies.
    Buffer,
    /// Cleaning is behind: until it has moved some of what it owes.
    Cleaning,
    /// No superblock is free but those that cleaning needs: until one is erased.
    Superblock,
    /// A power cut or a failed program has taken of the reserve: until cleaning has made up for it.
    Reserve,
    /// The data of a failed program are written again first.
    Rescue,
    /// All buffers for reads are in use, and a write in part has to read the old version of a page.
    ReadBuffer,
    /// As many pages of the map have changes that are not on flash as may have.
    Map,
    /// The overlay of the map is full: until it is handed more memory.
    Overlay,
}

/// The outputs of the firmware. A simulator implements it on its event loop, a controller on its
/// queues. No call returns into the firmware.
pub trait Ports {
    /// Log record of background work.
    type Record;

    /// Start `op`. The die is free, unless the operation names one it comes `after`, or is a
    /// suspend, resume or cancel.
    fn issue(&mut self, op: FlashOp);
    /// Move `slots` slots of host data of command `id`, from its slot `first` on, into `buf`.
    fn data_in(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf);
    /// Move `slots` slots from `buf` to the host, as slots `first` and on of command `id`.
    /// `bytes` is what crosses the link: less than the slots for a partial one.
    fn data_out(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf, bytes: u32);
    /// Slots `first` and on of command `id` were never written or are trimmed: the host gets zeros.
    fn zeros_out(&mut self, id: CommandId, first: u32, slots: u32, bytes: u32);
    /// Logical pages `first` to `first + pages` hold nothing from now on: a trim has come so far.
    fn trimmed(&mut self, first: Lpn, pages: u32);
    /// Copy one slot between buffers.
    fn copy(&mut self, from: Buf, to: Buf);
    /// The slot in `buf` holds no data from now on: it pads a wordline.
    fn pad(&mut self, buf: Buf);
    /// The spare area of the slot in `buf`, or none for a slot that holds no data.
    fn buffered(&self, buf: Buf) -> Option<Spare>;
    /// The spare area of what was written to slot `ppa` last, which the table of contents of its
    /// superblock repeats. None where nothing was written since the erase, or power was cut or the
    /// program failed meanwhile.
    fn stored(&self, ppa: Ppa) -> Option<Spare>;
    /// Whether `block` holds what it was filled with, or the preconditioned state, and not what was
    /// programmed since: its table of contents need not be read slot by slot.
    fn is_filled(&self, block: BlockId) -> bool;
    /// From now on a spare of `die` stands for its `block`, which has failed: erased, and on every
    /// plane.
    fn replace(&mut self, die: DieId, block: BlockId);
    /// The sequence number given out last.
    fn sequence(&self) -> u64;
    /// Command `id` goes on only later, for lack of something else than flash: charge it now with
    /// what it has waited for last, operation `tag`, whose tag may be another's when it completes.
    fn waited(&mut self, id: CommandId, tag: Tag);
    /// A command of the host waits from now on for the read under `tag`, which was not issued for
    /// it. Nothing acts on it: from here on the read's time is the command's.
    fn join(&mut self, tag: Tag) {
        let _ = tag;
    }
    /// Transfer and decode codewords `more` too of the read under `tag`, which has been issued and senses
    /// the planes that they lie on. False, and nothing changes, when its data cross the channel or have.
    fn widen(&mut self, tag: Tag, more: u64) -> bool {
        let _ = (tag, more);
        false
    }
    /// A command waits under `waiter`, a tag without an operation, for the read under `read`, as others do:
    /// from now on, or from the `start` of the read, which was issued for it. `queued` is since when the read
    /// waits for its die, none where it has been issued. Nothing acts on it.
    fn share(&mut self, waiter: Tag, read: Tag, queued: Option<Ns>, start: bool) {
        let _ = (waiter, read, queued, start);
    }
    /// The read under `read` has brought all that is waited for under `waiter`, or could not: its time since
    /// the wait began is that of the operation `waiter`.
    fn shared(&mut self, waiter: Tag, read: Tag) {
        let _ = (waiter, read);
    }
    /// Codewords `made` of the read under `tag`, which it could not correct, have been made anew: what
    /// the other dies of its stripe hold has been read and added up. Its buffers hold them now. From the
    /// end of the read on, all time was for that.
    fn rebuilt(&mut self, tag: Tag, made: u64);
    /// Write page `page` of the map, which is a logical page past the host's, into `buf`.
    fn map_in(&mut self, page: Lpn, buf: Buf) {
        let _ = (page, buf);
    }
    /// Take page `page` of the map out of `buf`.
    fn map_out(&mut self, page: Lpn, buf: Buf) {
        let _ = (page, buf);
    }
    /// Command `id` has waited since `since` for a page of the map. Nothing acts on it.
    fn map_waited(&mut self, id: CommandId, since: Ns) {
        let _ = (id, since);
    }
    /// Command `id` has waited since `since` until data were programmed. Nothing acts on it.
    fn program_waited(&mut self, id: CommandId, since: Ns) {
        let _ = (id, since);
    }
    /// Writes and trims that cannot go on wait in a queue, in order; the first of them, and so all,
    /// wait for `what` from now on. None when the queue is empty. Nothing acts on it.
    fn writes_wait_for(&mut self, what: Option<Wait>) {
        let _ = what;
    }
    /// Command `id` waits in that queue from now on. Nothing acts on it.
    fn write_waits(&mut self, id: CommandId) {
        let _ = id;
    }
    /// Command `id` has left that queue. Nothing acts on it.
    fn write_goes_on(&mut self, id: CommandId) {
        let _ = id;
    }
    /// A wordline of the host's write buffer has become free: that of `die` was the last of the programs
    /// it waited for. Nothing acts on it.
    fn buffer_freed(&mut self, die: DieId) {
        let _ = die;
    }
    /// Post the completion of `command`. `last` is the flash operation that has just ended and that
    /// it waited for, the one its latency is charged to; none where it waited for something else
    /// last.
    fn complete(&mut self, command: HostCommand, status: Status, last: Option<Tag>);
    /// Keep a record of background work.
    fn log(&mut self, record: Self::Record);
}

/// Memory for tables that grow with use. A controller hands over a fixed piece; a simulator hands
/// over a larger one, between events, when the firmware says that it runs short.
pub trait Arena {
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
