//! What firmware says of its time, on which nothing acts.

use crate::{CommandId, DieId, Lpn, Ns, Tag};

/// What a write or trim that has reached the firmware waits for before it can go on. All of them wait in
/// one queue, so one of these at a time ([`Account::writes_wait_for`]).
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

/// What the firmware says so that time can be charged and data be checked. Nothing acts on it: a controller
/// writes `impl Account for Controller {}`. No call returns into the firmware.
pub trait Account {
    /// Logical pages `first` to `first + pages` hold nothing from now on: a trim has come so far.
    fn trimmed(&mut self, first: Lpn, pages: u32) {
        let _ = (first, pages);
    }
    /// Command `id` goes on only later, for lack of something else than flash: charge it now with
    /// what it has waited for last, operation `tag`, whose tag may be another's when it completes.
    fn waited(&mut self, id: CommandId, tag: Tag) {
        let _ = (id, tag);
    }
    /// A command of the host waits from now on for the read under `tag`, which was not issued for
    /// it: from here on the read's time is the command's.
    fn join(&mut self, tag: Tag) {
        let _ = tag;
    }
    /// A command waits under `waiter`, a tag without an operation, for the read under `read`, as others do:
    /// from now on, or from the `start` of the read, which was issued for it. `queued` is since when the read
    /// waits for its die, none where it has been issued.
    fn share(&mut self, waiter: Tag, read: Tag, queued: Option<Ns>, start: bool) {
        let _ = (waiter, read, queued, start);
    }
    /// The read under `read` has brought all that is waited for under `waiter`, or could not: its time since
    /// the wait began is that of the operation `waiter`.
    fn shared(&mut self, waiter: Tag, read: Tag) {
        let _ = (waiter, read);
    }
    /// Command `id` has waited since `since` for a page of the map.
    fn map_waited(&mut self, id: CommandId, since: Ns) {
        let _ = (id, since);
    }
    /// Command `id` has waited since `since` until data were programmed.
    fn program_waited(&mut self, id: CommandId, since: Ns) {
        let _ = (id, since);
    }
    /// Writes and trims that cannot go on wait in a queue, in order; the first of them, and so all,
    /// wait for `what` from now on. None when the queue is empty.
    fn writes_wait_for(&mut self, what: Option<Wait>) {
        let _ = what;
    }
    /// Command `id` waits in that queue from now on.
    fn write_waits(&mut self, id: CommandId) {
        let _ = id;
    }
    /// Command `id` has left that queue.
    fn write_goes_on(&mut self, id: CommandId) {
        let _ = id;
    }
    /// A wordline of the host's write buffer has become free: that of `die` was the last of the programs
    /// it waited for.
    fn buffer_freed(&mut self, die: DieId) {
        let _ = die;
    }
}
