//! What the firmware reports so that time can be charged. Nothing acts on these reports.

use crate::{CommandId, DieId, Lpn, Ns, OpClass, Tag};

/// Why a write or trim that has reached the firmware cannot go on. All blocked writes and trims wait in one
/// queue, so one reason at a time applies to all of them ([`Accounting::writes_wait_for`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// The write buffer is full. The wait ends when one of its wordlines is programmed on all dies.
    Buffer,
    /// Garbage collection is behind. The wait ends when it has moved some of the pages that are due.
    Cleaning,
    /// The only free superblocks are those that garbage collection needs. The wait ends when a superblock is
    /// erased.
    Superblock,
    /// A power cut or a failed program has used part of the reserve. The wait ends when garbage collection
    /// has refilled the reserve.
    Reserve,
    /// The data of a failed program have to be written again first.
    Rewrite,
    /// All read buffers are in use, and a partial write has to read the old version of its slot.
    ReadBuffer,
    /// The limit of map pages with changes that are not yet on flash is reached.
    Map,
    /// The overlay of the map is full. The wait ends when the overlay gets more memory.
    Overlay,
}

/// Reports of the firmware by which time is charged and data are checked. Nothing acts on them, so a
/// controller writes `impl Accounting for Controller {}`. No call returns into the firmware.
pub trait Accounting {
    /// A trim has reached logical pages `first` to `first + pages`: they hold nothing from now on.
    fn trimmed(&mut self, first: Lpn, pages: u32) {
        let _ = (first, pages);
    }
    /// A power cut has lost a version of page `lpn` that was in a volatile write cache; perhaps not the last time.
    fn lost(&mut self, lpn: Lpn) {
        let _ = lpn;
    }
    /// Command `id` cannot go on for a reason other than flash. Charge it now with operation `tag`, the last
    /// thing it waited for: the tag may belong to another operation by the time the command completes.
    fn waited(&mut self, id: CommandId, tag: Tag) {
        let _ = (id, tag);
    }
    /// A host command waits from now on for the read under `tag`, which was issued for another purpose. From
    /// now on the time of the read is charged to the command, and that of its current step under `class`.
    fn join(&mut self, tag: Tag, class: OpClass) {
        let _ = (tag, class);
    }
    /// A command waits for the read under `read`, as other commands do. `waiter` is a tag without an
    /// operation that stands for this wait. With `start`, the read was issued for this command and the wait
    /// counts from the start of the read; otherwise it counts from now. `queued` is the time since which the
    /// read waits for its die, or none if the read has been issued.
    fn share(&mut self, waiter: Tag, read: Tag, queued: Option<Ns>, start: bool) {
        let _ = (waiter, read, queued, start);
    }
    /// The read under `read` has delivered the codewords that `waiter` waits for, or has failed. Its time
    /// since the wait began is charged to `waiter`.
    fn shared(&mut self, waiter: Tag, read: Tag) {
        let _ = (waiter, read);
    }
    /// Command `id` has waited since `since` for a map page to be read.
    fn map_waited(&mut self, id: CommandId, since: Ns) {
        let _ = (id, since);
    }
    /// Command `id` has waited since `since` for data to be programmed.
    fn program_waited(&mut self, id: CommandId, since: Ns) {
        let _ = (id, since);
    }
    /// Writes and trims that cannot go on wait in one queue, in order. From now on the first of them, and so
    /// all of them, wait for `what`; none if the queue is empty.
    fn writes_wait_for(&mut self, what: Option<Wait>) {
        let _ = what;
    }
    /// Command `id` joins the queue of blocked writes and trims.
    fn write_waits(&mut self, id: CommandId) {
        let _ = id;
    }
    /// Command `id` leaves the queue of blocked writes and trims.
    fn write_goes_on(&mut self, id: CommandId) {
        let _ = id;
    }
    /// A wordline of the host's write buffer has become free. Its last program to end was the one on `die`.
    fn buffer_freed(&mut self, die: DieId) {
        let _ = die;
    }
}
