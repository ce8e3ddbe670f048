//! Writes in part: of a slot of which a command writes some sectors, the others are kept.
//!
//! Where the last version lies in a buffer, the write is merged with it there, in place as long as its
//! wordline is being filled: small writes to neighbouring addresses share a slot. Where it lies on flash,
//! it is read first. Such reads run side by side: those of the first and the last slot of a command begin
//! together, commands do not wait for one another's, and one read serves all commands that change its slot.
//!
//! A write takes effect when its slot is placed, with what the slot holds at that moment: what was read is
//! not used once the slot was written or trimmed after the read began. Writes in flight at the same time
//! that touch one slot may take effect in any order, as NVMe allows.

use alloc::boxed::Box;

use firstread_core::{Arena, Buf, CommandId, Lpn, Ns, Ppa, Priority, Tag};

use super::Host;
use super::commands::bytes_between;
use crate::base::{Base, Out};
use crate::below::{Below, Store};
use crate::schedule::Purpose;

/// No merge, no command.
pub(super) const NONE: u32 = u32::MAX;
/// Lists that merges are found by.
const LISTS: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Reading,
    /// The buffer of its job holds the slot.
    Read,
    Failed,
}

/// The last version of a slot, which is read from flash for writes in part.
#[derive(Clone, Copy, Debug)]
struct Merge {
    lpn: u64,
    /// The read, and the buffer of what it brings; none once that is stale.
    job: u32,
    state: State,
    /// The slot was written or trimmed since: this is the last version no more, and cannot be found.
    is_stale: bool,
    /// Commands that want it.
    holders: u32,
    /// Commands that wait for the read.
    first_waiter: u32,
    last_waiter: u32,
    /// The next one of its list, or the next one that is free.
    next: u32,
}

/// Slots that are read to be merged with writes.
#[derive(Debug)]
pub(crate) struct Merges {
    pool: Box<[Merge]>,
    free: u32,
    used: u32,
    lists: Box<[u32; LISTS]>,
    /// By command, the one that waits behind it.
    next_waiter: Box<[u32]>,
}

/// Where what a write in part keeps of its slot is to be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kept {
    /// In this buffer, without a read.
    Here(Buf),
    /// In this buffer, where a read has brought it.
    Read(Buf),
    /// It is on its way from flash.
    Coming,
    /// It cannot be read.
    Lost,
    /// No job is left to read it with.
    NoJob,
}

impl Merges {
    /// For so many reads at a time, of so many commands.
    pub(crate) fn new(reads: u32, commands: u32) -> Merges {
        let merge = |i: u32| Merge {
            lpn: 0,
            job: NONE,
            state: State::Failed,
            is_stale: false,
            holders: 0,
            first_waiter: NONE,
            last_waiter: NONE,
            next: if i + 1 == reads { NONE } else { i + 1 },
        };
        Merges {
            pool: (0..reads).map(merge).collect(),
            free: if reads == 0 { NONE } else { 0 },
            used: 0,
            lists: Box::new([NONE; LISTS]),
            next_waiter: alloc::vec![NONE; commands as usize].into_boxed_slice(),
        }
    }

    fn find(&self, lpn: u64) -> Option<u32> {
        let mut merge = self.lists[lpn as usize % LISTS];
        while merge != NONE && self.pool[merge as usize].lpn != lpn {
            merge = self.pool[merge as usize].next;
        }
        (merge != NONE).then_some(merge)
    }

    /// A new one of `lpn`, which `job` reads. None when all are in use.
    fn add(&mut self, lpn: u64, job: u32) -> Option<u32> {
        let merge = self.free;
        let free = self.pool.get(merge as usize)?.next;
        self.free = free;
        self.used += 1;
        let list = &mut self.lists[lpn as usize % LISTS];
        self.pool[merge as usize] = Merge {
            lpn,
            job,
            state: State::Reading,
            is_stale: false,
            holders: 0,
            first_waiter: NONE,
            last_waiter: NONE,
            next: *list,
        };
        *list = merge;
        Some(merge)
    }

    /// `merge` is not found any more.
    fn unlist(&mut self, merge: u32) {
        let Merge { lpn, next, .. } = self.pool[merge as usize];
        let list = &mut self.lists[lpn as usize % LISTS];
        if *list == merge {
            *list = next;
            return;
        }
        let mut before = *list;
        while self.pool[before as usize].next != merge {
            before = self.pool[before as usize].next;
        }
        self.pool[before as usize].next = next;
    }

    /// Logical page `lpn` was written: the job that is to be released, if one holds what it was before.
    #[inline]
    pub(super) fn written(&mut self, lpn: u64) -> Option<u32> {
        if self.used == 0 {
            return None;
        }
        let merge = self.find(lpn)?;
        self.make_stale(merge)
    }

    /// What `merge` reads is the last version no more: the job that is to be released, if it has read it.
    #[cold]
    fn make_stale(&mut self, merge: u32) -> Option<u32> {
        self.unlist(merge);
        let merge = &mut self.pool[merge as usize];
        merge.is_stale = true;
        match merge.state {
            State::Reading => None,
            State::Read | State::Failed => Some(core::mem::replace(&mut merge.job, NONE)),
        }
    }

    /// Logical pages `first` to `end` were trimmed: jobs to be released are handed to `release`.
    pub(super) fn trimmed(&mut self, first: u64, end: u64, mut release: impl FnMut(u32)) {
        if self.used == 0 {
            return;
        }
        for list in 0..LISTS {
            let mut merge = self.lists[list];
            while merge != NONE {
                let Merge { lpn, next, .. } = self.pool[merge as usize];
                if (first..end).contains(&lpn)
                    && let Some(job) = self.make_stale(merge)
                {
                    release(job);
                }
                merge = next;
            }
        }
    }

    /// `merge` is over: nobody wants it, and nothing reads it.
    fn remove(&mut self, merge: u32) {
        if !self.pool[merge as usize].is_stale {
            self.unlist(merge);
        }
        self.pool[merge as usize].next = self.free;
        self.free = merge;
        self.used -= 1;
    }

    /// Command `id` waits for `merge`.
    fn wait(&mut self, merge: u32, id: CommandId) {
        self.next_waiter[id.0 as usize] = NONE;
        let merge = &mut self.pool[merge as usize];
        match merge.last_waiter {
            NONE => merge.first_waiter = id.0,
            last => self.next_waiter[last as usize] = id.0,
        }
        merge.last_waiter = id.0;
    }

    /// Whether the read of one of `merges` has brought its slot.
    pub(super) fn is_any_read(&self, merges: [u32; 2]) -> bool {
        let is_read = |&merge: &u32| {
            let merge = self.pool.get(merge as usize);
            merge.is_some_and(|merge| merge.state == State::Read && !merge.is_stale)
        };
        merges.iter().any(is_read)
    }
}

impl Host {
    /// Where what write `id` keeps of `lpn`, whose last version lies at `ppa`, is to be had. Starts to read
    /// it; if it `waits`, the command waits for what is on its way.
    pub(super) fn kept<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        lpn: u64,
        ppa: Ppa,
        waits: bool,
        below: &mut Below<M>,
        ports: &mut impl Out,
    ) -> Kept {
        let end = (lpn != self.commands.get(id).first) as usize;
        if let Some(buf) = below.store.buffered(ppa).or_else(|| self.cached(lpn)) {
            self.let_go(now, id, end, below, ports);
            return Kept::Here(buf);
        }
        let mut merge = self.commands.get(id).merges[end];
        if merge != NONE && self.commands.merges.pool[merge as usize].is_stale {
            self.let_go(now, id, end, below, ports);
            merge = NONE;
        }
        if merge == NONE {
            merge = match self.commands.merges.find(lpn) {
                Some(merge) => merge,
                None => match self.read_for_merge(now, lpn, ppa, &mut below.store, ports) {
                    Some(merge) => merge,
                    None => return Kept::NoJob,
                },
            };
            self.commands.merges.pool[merge as usize].holders += 1;
            self.commands.get(id).merges[end] = merge;
        }
        let Merge { state, job, .. } = self.commands.merges.pool[merge as usize];
        match state {
            State::Read => Kept::Read(merge_buffer(job, &below.store.base)),
            State::Failed => Kept::Lost,
            State::Reading => {
                if waits {
                    self.commands.merges.wait(merge, id);
                }
                Kept::Coming
            }
        }
    }

    /// Starts to read what write `id` keeps of its last slot, if it writes that in part.
    pub(super) fn read_last_slot<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        below: &mut Below<M>,
        ports: &mut impl Out,
    ) {
        let command = *self.commands.get(id);
        let lpn = command.first + command.slots as u64 - 1;
        let slot_bytes = below.store.base.config.geometry.slot_bytes;
        if bytes_between(&command.command, &below.store.base.layout, lpn, 1) < slot_bytes
            && let Some(ppa) = below.store.table.map.at(Lpn(lpn))
        {
            self.kept(now, id, lpn, ppa, false, below, ports);
        }
    }

    /// Starts to read `lpn`, which lies at `ppa`. None when there is no job.
    fn read_for_merge<M: Arena>(
        &mut self,
        now: Ns,
        lpn: u64,
        ppa: Ppa,
        store: &mut Store<M>,
        ports: &mut impl Out,
    ) -> Option<u32> {
        let job = store.base.jobs.take_read()?;
        let Some(merge) = self.commands.merges.add(lpn, job) else {
            store.base.jobs.give_back(job);
            return None;
        };
        let codewords = store.base.layout.codewords_per_slot();
        let (at, row_slot) = store.base.row_of(ppa);
        let wanted = (u64::MAX >> (64 - codewords)) << (row_slot * codewords);
        let row_slot = row_slot as u8;
        let purpose = Purpose::Merge { merge, row_slot };
        let joins = match self.reader_of(at, &store.base) {
            Some(read) => self.join_read(job, purpose, wanted, read, &mut store.base, ports),
            None => false,
        };
        if !joins {
            self.rows.started(at, job);
            store.start_read(now, job, purpose, Priority::Host, at, wanted, ports);
        }
        Some(merge)
    }

    /// The read of `merge` has ended, under `job`, whose buffer holds the slot if it went well. What waits
    /// for it is to go on.
    pub(crate) fn merge_read(
        &mut self,
        merge: u32,
        job: u32,
        ok: bool,
        base: &mut Base,
        ports: &mut impl Out,
    ) {
        let merges = &mut self.commands.merges;
        let state = &mut merges.pool[merge as usize];
        state.job = job;
        state.state = if ok { State::Read } else { State::Failed };
        let mut waiter = core::mem::replace(&mut state.first_waiter, NONE);
        state.last_waiter = NONE;
        while waiter != NONE {
            let id = CommandId(waiter);
            waiter = self.commands.merges.next_waiter[waiter as usize];
            ports.waited(id, Tag(job));
            self.commands.stalled_merged.push_back(id);
            self.commands.note_stall(id, ports);
        }
        let state = &mut self.commands.merges.pool[merge as usize];
        if state.is_stale || state.holders == 0 {
            state.job = NONE;
            base.jobs.release(job);
        }
        if state.holders == 0 {
            self.commands.merges.remove(merge);
        }
    }

    /// Write `id` wants no more of what it keeps of its first (0) or last (1) slot.
    pub(super) fn let_go<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        end: usize,
        below: &mut Below<M>,
        ports: &mut impl Out,
    ) {
        let merge = core::mem::replace(&mut self.commands.get(id).merges[end], NONE);
        let Some(state) = self.commands.merges.pool.get_mut(merge as usize) else {
            return;
        };
        state.holders -= 1;
        let Merge {
            holders,
            state,
            job,
            ..
        } = *state;
        if holders == 0 && state != State::Reading {
            self.commands.merges.remove(merge);
            if job != NONE {
                self.release_read(now, job, below, ports);
            }
        }
    }
}

/// Buffer of the one slot that `job` has read for a merge.
fn merge_buffer(job: u32, base: &Base) -> Buf {
    let Purpose::Merge { row_slot, .. } = base.jobs[job].purpose else {
        unreachable!("a merge waits for a read of its own")
    };
    base.job_buffer(job).slot(row_slot as u32)
}
