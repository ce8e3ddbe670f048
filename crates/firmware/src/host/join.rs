//! Joined reads: host reads that need the same multi-plane page share one sense.
//!
//! If a multi-plane page is already being read, another read of it does not sense the page again but joins
//! the read in flight. It joins
//!
//! - until the read ends, if that read still fetches all the codewords it wants;
//! - while the read waits for its die, whatever codewords it wants; if planes read independently, only
//!   codewords on the planes that the read waits for;
//! - until the first attempt's data begin to cross the channel, if it wants codewords on planes that are
//!   sensed: these codewords cross with the others.
//!
//! Otherwise it becomes a read of its own, and later reads join that one. The contents of the page cannot
//! change meanwhile, because the read in flight keeps its superblock from being erased. The map was looked up
//! when the command arrived, so a write that ended before is never missed.
//!
//! Each joined command is a job of its own, linked to the read. It is served as soon as all its codewords are
//! decoded, without waiting for retries of other codewords. Commands join read-ahead in the same way.

use firstread_core::flash::planes_of;
use firstread_core::{Arena, Ns, PageAddr, Tag};

use super::Host;
use crate::flash_store::FlashStore;
use crate::schedule::{Job, NO_JOB, Purpose};
use crate::shared::{Out, Shared};

impl Host {
    /// The job of a host read of multi-plane page `at`, if one is in flight.
    #[inline]
    pub(crate) fn reader_of(&self, at: PageAddr, shared: &Shared) -> Option<u32> {
        let job = self.mp_pages.find(at)?;
        let read = &shared.jobs[job];
        let is_read = matches!(
            read.purpose,
            Purpose::HostRead { .. } | Purpose::SharedRead | Purpose::Merge { .. }
        );
        // A job that waits for another job's read has no pin.
        (is_read && read.pinned && read.at == at).then_some(job)
    }

    /// Lets the part of a command described by `purpose`, which wants codewords `wanted`, wait for the read
    /// of job `read`. `waiter` is the job of the wait. False if the read cannot fetch these codewords.
    #[inline(never)]
    pub(crate) fn join_read(
        &mut self,
        waiter: u32,
        purpose: Purpose,
        wanted: u64,
        read: u32,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> bool {
        let Job {
            purpose: of,
            wanted: coming,
            step,
            is_waiting,
            ..
        } = shared.jobs[read];
        // From now on the command that the read was started for is one of several waiters.
        let mut first = NO_JOB;
        if !matches!(of, Purpose::SharedRead) {
            match shared.jobs.take_read() {
                Some(job) => first = job,
                None => return false,
            }
        }
        let more = wanted & !coming;
        if more != 0 {
            let per_page = shared.layout.codewords_per_page();
            let same_planes = planes_of(more, per_page) & !planes_of(coming, per_page) == 0;
            let fits = step == 0
                && match is_waiting {
                    true => same_planes || !shared.schedule.has_independent_planes(),
                    false => same_planes && ports.widen(Tag(read), more),
                };
            if !fits {
                if first != NO_JOB {
                    shared.jobs.give_back(first);
                }
                return false;
            }
        }
        if first != NO_JOB {
            shared.jobs[read].purpose = Purpose::SharedRead;
            self.wait_for(first, of, coming, read, true, shared, ports);
        }
        shared.jobs[read].wanted |= more;
        shared.jobs[read].asked |= more;
        self.wait_for(waiter, purpose, wanted, read, false, shared, ports);
        shared.counters.joined_reads += 1;
        true
    }

    /// The command described by `purpose` waits for codewords `wanted` of the read of job `read`, under job
    /// `waiter`. With `start` the read was started for this command and the wait counts from its start;
    /// otherwise it counts from now.
    #[allow(clippy::too_many_arguments)] // the fields of a job, spelled out once
    pub(super) fn wait_for(
        &mut self,
        waiter: u32,
        purpose: Purpose,
        wanted: u64,
        read: u32,
        start: bool,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) {
        let Job {
            is_waiting,
            queued,
            joined,
            ..
        } = shared.jobs[read];
        shared.jobs[waiter] = Job {
            purpose,
            wanted,
            link: joined,
            joined: NO_JOB,
            pinned: false,
            ..shared.jobs[waiter]
        };
        shared.jobs[read].joined = waiter;
        let queued = is_waiting.then_some(queued);
        ports.share(Tag(waiter), Tag(read), queued, start);
    }

    /// The read of `job` has ended with failed codewords `failed`. Serves the commands that need none of the
    /// failed codewords, or all commands if `all` is set. Returns the codewords of all slots that were
    /// served, and whether partial writes got the data they waited for.
    #[inline(never)]
    pub(crate) fn serve_joined<M: Arena>(
        &mut self,
        now: Ns,
        job: u32,
        failed: u64,
        all: bool,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> (u64, bool) {
        let keeps = self.read_cache.keeps()
            && matches!(store.shared.jobs[job].purpose, Purpose::SharedRead);
        let codewords = store.shared.layout.codewords_per_slot();
        // Waiters are linked from the latest to the first, so that to join needs no walk along the list. They are served
        // in the order of arrival, so the list is reversed here.
        let mut next = NO_JOB;
        let mut last = core::mem::replace(&mut store.shared.jobs[job].joined, NO_JOB);
        while last != NO_JOB {
            let before = core::mem::replace(&mut store.shared.jobs[last].link, next);
            (next, last) = (last, before);
        }
        let mut served = 0u64;
        let mut merges = false;
        while next != NO_JOB {
            let waiter = next;
            let Job {
                purpose,
                wanted,
                link,
                ..
            } = store.shared.jobs[waiter];
            next = link;
            let ok = failed & wanted == 0;
            if !ok && !all {
                let joined = &mut store.shared.jobs[job].joined;
                let before = core::mem::replace(joined, waiter);
                store.shared.jobs[waiter].link = before;
                continue;
            }
            ports.shared(Tag(waiter), Tag(job));
            if let Purpose::Merge {
                merge,
                mp_page_slot,
            } = purpose
            {
                let mp_page_slot = mp_page_slot as u32;
                let from = store.shared.jobs.buffer(job).slot(mp_page_slot);
                ports.copy(from, store.shared.jobs.buffer(waiter).slot(mp_page_slot));
                served |= (u64::MAX >> (64 - codewords)) << (mp_page_slot * codewords);
                self.merge_read(merge, waiter, ok, &mut store.shared, ports);
                merges = true;
                continue;
            }
            let Purpose::HostRead {
                id,
                first,
                slots,
                mp_page_slot,
                bytes,
            } = purpose
            else {
                unreachable!("{purpose:?} waits for no other read")
            };
            let (slots, mp_page_slot) = (slots as u32, mp_page_slot as u32);
            if ok {
                let buf = store.shared.jobs.buffer(job).slot(mp_page_slot);
                ports.data_out(id, first, slots, buf, bytes);
                if keeps {
                    self.keep_read(id, first, slots, mp_page_slot, job, store, ports);
                }
            } else {
                store.shared.count_lost(now, job);
            }
            served |= (u64::MAX >> (64 - slots * codewords)) << (mp_page_slot * codewords);
            self.host_read_done(id, waiter, ok, ports);
            store.shared.jobs.release(waiter);
        }
        (served, merges)
    }

    /// Codewords `failed` of the read of `job`, which others have joined, need a retry. Serves the commands
    /// that want none of them. Returns whether partial writes got the data they waited for.
    #[cold]
    pub(crate) fn serve_early<M: Arena>(
        &mut self,
        now: Ns,
        job: u32,
        failed: u64,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> bool {
        let (served, merges) = self.serve_joined(now, job, failed, false, store, ports);
        if store.shared.jobs[job].purpose == Purpose::ReadAhead {
            self.ahead.served(job, served);
        }
        merges
    }
}
