//! Stripe parity: codewords that a read could not correct are rebuilt from the other dies.
//!
//! A stripe is the multi-plane pages of all dies at one wordline and page type of a superblock. One of them
//! is the sum (XOR) of the others. So a failed codeword is the sum of the codewords at its place in all the
//! other pages. These pages are read on their dies, and their reads may need retries and soft senses of their
//! own. The codeword is lost if one of these reads fails too. There is one XOR engine, so rebuilds run one
//! after another. A rebuild has a job for each page it needs, so it never waits for the jobs of another
//! rebuild.

use firstread_core::{DieId, Ns, PageAddr, Tag};

use super::Read;
use super::rebuilds::Rebuilds;
use crate::schedule::{NO_JOB, Purpose};
use crate::shared::{Out, Shared};

impl Read {
    /// The read of `job` could not correct codewords `failed`, on a wordline that is programmed on all dies.
    /// Starts to rebuild them if they have parity. False if they cannot be rebuilt.
    #[cold]
    pub(crate) fn rebuild(
        &mut self,
        now: Ns,
        job: u32,
        failed: u64,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> bool {
        let at = shared.jobs[job].at;
        // A page that is read for a rebuild is not rebuilt itself: two pages of its stripe have lost the codeword
        // then, and one parity restores one.
        if !shared.config.geometry.stripe_parity
            || shared.jobs[job].purpose == Purpose::Rebuild
            || shared.blocks.info(at.block).stripe_broken
        {
            return false;
        }
        shared.jobs[job].wanted = failed;
        shared.jobs[job].link = NO_JOB;
        let queue = &mut self.rebuilds;
        match queue.last {
            NO_JOB => queue.first = job,
            last => shared.jobs[last].link = job,
        }
        queue.last = job;
        if queue.job == NO_JOB {
            self.start_rebuild(now, shared, ports);
        }
        true
    }

    /// Starts the reads of the rebuild that has waited longest, if any.
    fn start_rebuild(&mut self, now: Ns, shared: &mut Shared, ports: &mut impl Out) {
        let job = self.rebuilds.first;
        if job == NO_JOB {
            return;
        }
        let dies = shared.config.geometry.dies();
        let next = shared.jobs[job].link;
        self.rebuilds = Rebuilds {
            job,
            mp_pages_left: dies - 1,
            lost: 0,
            first: next,
            last: match next {
                NO_JOB => NO_JOB,
                _ => self.rebuilds.last,
            },
        };
        let (at, wanted, priority) = {
            let job = &shared.jobs[job];
            (job.at, job.wanted, job.priority)
        };
        for die in (0..dies).map(DieId).filter(|die| *die != at.die) {
            let page_job = shared
                .jobs
                .take()
                .expect("a job is reserved for every page of one rebuild");
            let at = PageAddr { die, ..at };
            shared.counters.rebuild_reads += 1;
            self.start(
                now,
                page_job,
                Purpose::Rebuild,
                priority,
                at,
                wanted,
                shared,
                ports,
            );
        }
    }

    /// A page of the stripe has been read, except for codewords `failed`. If this was the last page, returns
    /// the read that was rebuilt and the codewords that are lost.
    pub(crate) fn rebuild_mp_page_read(
        &mut self,
        now: Ns,
        page_job: u32,
        failed: u64,
        shared: &mut Shared,
        ports: &mut impl Out,
    ) -> Option<(u32, u64)> {
        shared.jobs.release(page_job);
        let current = &mut self.rebuilds;
        current.lost |= failed;
        current.mp_pages_left -= 1;
        if current.mp_pages_left > 0 {
            return None;
        }
        let (job, lost) = (current.job, current.lost);
        current.job = NO_JOB;
        let wanted = shared.jobs[job].wanted;
        shared.counters.rebuilt += (lost == 0) as u64;
        ports.rebuilt(Tag(job), wanted & !lost);
        // This must come before the read ends, because its job may then be reused.
        self.start_rebuild(now, shared, ports);
        Some((job, lost))
    }
}
