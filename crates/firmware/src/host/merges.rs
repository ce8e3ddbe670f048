//! Merges: slots whose old version is read for partial writes.

use alloc::boxed::Box;

use firstread_core::CommandId;

/// No merge, or no command.
pub(super) const NONE: u32 = u32::MAX;
/// Hash buckets of merges.
const LISTS: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Reading,
    /// The buffer of the job holds the slot.
    Read,
    Failed,
}

/// The old version of a slot that is read from flash for partial writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merge {
    lpn: u64,
    /// The job of the read, which owns the buffer; none once the data are stale.
    pub(super) job: u32,
    pub(super) state: State,
    /// The slot was written or trimmed since, so this is no longer the last version and lookups do not find
    /// it.
    pub(super) is_stale: bool,
    /// Number of commands that need it.
    pub(super) holders: u32,
    /// Commands that wait for the read.
    pub(super) first_waiter: u32,
    pub(super) last_waiter: u32,
    /// The next merge of the bucket, or the next free one.
    next: u32,
}

/// The merges of a drive, found by logical page.
#[derive(Clone, Debug)]
pub(crate) struct Merges {
    pub(super) pool: Box<[Merge]>,
    free: u32,
    used: u32,
    /// Number of merges whose read is in flight.
    pub(super) reading: u32,
    lists: Box<[u32; LISTS]>,
    /// Per command: the command that waits behind it.
    pub(super) next_waiter: Box<[u32]>,
}

impl Merges {
    /// Room for `reads` merges, and for waiters among `commands` commands.
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
            reading: 0,
            lists: Box::new([NONE; LISTS]),
            next_waiter: alloc::vec![NONE; commands as usize].into_boxed_slice(),
        }
    }

    /// Number of slots whose old version is being read, or was read for a write that has not taken effect.
    pub(super) fn used(&self) -> u32 {
        self.used
    }

    pub(super) fn find(&self, lpn: u64) -> Option<u32> {
        let mut merge = self.lists[lpn as usize % LISTS];
        while merge != NONE && self.pool[merge as usize].lpn != lpn {
            merge = self.pool[merge as usize].next;
        }
        (merge != NONE).then_some(merge)
    }

    /// A new merge of `lpn`, which `job` reads. None if all are in use.
    pub(super) fn add(&mut self, lpn: u64, job: u32) -> Option<u32> {
        let merge = self.free;
        let free = self.pool.get(merge as usize)?.next;
        self.free = free;
        self.used += 1;
        self.reading += 1;
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

    /// Takes `merge` out of its bucket: lookups no longer find it.
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

    /// Logical page `lpn` was written. Returns the job to be released, if one holds the old version.
    #[inline]
    pub(super) fn written(&mut self, lpn: u64) -> Option<u32> {
        if self.used == 0 {
            return None;
        }
        let merge = self.find(lpn)?;
        self.make_stale(merge)
    }

    /// `merge` no longer reads the last version. Returns the job to be released, if it has read the old
    /// version.
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

    /// Logical pages `first` to `end` were trimmed. Calls `release` with each job to be released.
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

    /// Frees `merge`: no command needs it, and no read fills it.
    pub(super) fn remove(&mut self, merge: u32) {
        if !self.pool[merge as usize].is_stale {
            self.unlist(merge);
        }
        self.pool[merge as usize].next = self.free;
        self.free = merge;
        self.used -= 1;
    }

    /// Command `id` waits for `merge`.
    pub(super) fn wait(&mut self, merge: u32, id: CommandId) {
        self.next_waiter[id.0 as usize] = NONE;
        let merge = &mut self.pool[merge as usize];
        match merge.last_waiter {
            NONE => merge.first_waiter = id.0,
            last => self.next_waiter[last as usize] = id.0,
        }
        merge.last_waiter = id.0;
    }

    /// Whether the read of one of `merges` has ended.
    pub(super) fn is_any_read(&self, merges: [u32; 2]) -> bool {
        let is_read = |&merge: &u32| {
            let merge = self.pool.get(merge as usize);
            merge.is_some_and(|merge| merge.state == State::Read && !merge.is_stale)
        };
        merges.iter().any(is_read)
    }
}
