//! Routes: what each flash event, each command and each machine's answer makes other machines do. `route` is
//! the only folder that knows all machines. It has no state: it hands answers on in the required order.

mod kept;
mod power;
mod service;

pub use kept::{Keeper, KeptPlaces};

use firstread_core::{Arena, CommandId, DieId, FlashEvent, HostCommand, Ns, Wait};

use crate::Firmware;
use crate::ftl::relocate::{Arrived, Rewritten};
use crate::host::{Progress, Submitted};
use crate::observe::{Outcome, ProbeResult};
use crate::schedule::{NO_JOB, Purpose};
use crate::shared::Out;

impl<M: Arena> Firmware<M> {
    /// A host command has arrived.
    #[inline]
    pub(crate) fn submitted(&mut self, now: Ns, command: HostCommand, ports: &mut impl Out) {
        match self.host.submit(now, command, &mut self.lower, ports) {
            Submitted::Nothing => return,
            Submitted::Flushes => {
                self.complete_safe(ports);
                return self.pad_for_waiting(now, ports);
            }
            Submitted::Queued => {}
            Submitted::Writes => {
                self.go_on_writing(now, command.id, ports);
                self.pad_for_waiting(now, ports);
            }
        }
        self.advance_all(now, ports);
    }

    /// The array of `die`, or of its planes `planes`, is free.
    #[inline]
    pub(crate) fn array_free(&mut self, now: Ns, die: DieId, planes: u8, ports: &mut impl Out) {
        let store = &mut self.lower.store;
        store.shared.schedule.free(die, planes);
        store.shared.start_die(now, die, &mut store.read, ports);
    }

    /// A flash event has arrived.
    pub(crate) fn flash_event(&mut self, now: Ns, event: FlashEvent, ports: &mut impl Out) {
        let store = &mut self.lower.store;
        match event {
            FlashEvent::ArrayFree { die, planes, .. } => self.array_free(now, die, planes, ports),
            FlashEvent::Decoded {
                tag,
                failed,
                max_errors,
                sum_errors,
                unsatisfied,
                spare,
            } => {
                let job = store.shared.jobs.of(tag);
                let outcome = Outcome {
                    wanted: store.shared.jobs[job].wanted,
                    failed,
                    max_errors,
                    sum_errors,
                    unsatisfied,
                    spare,
                };
                self.decoded(now, job, outcome, ports);
            }
            FlashEvent::Ones { tag, count, cells } => {
                let ones = ProbeResult::Ones { count, cells };
                self.probe_done(now, tag.0, Some(ones), ports);
            }
            FlashEvent::Programmed { tag, ok } => self.programmed(now, tag.0, ok, ports),
            FlashEvent::Erased { tag, ok } => self.erased(now, tag.0, ok, ports),
            FlashEvent::Aborted { tag } => {
                let shared = &mut store.shared;
                let die = shared.schedule.aborted(tag.0, &shared.jobs);
                store.shared.start_die(now, die, &mut store.read, ports);
                self.probe_done(now, tag.0, None, ports);
            }
            FlashEvent::Suspended { tag, remaining } => {
                store.shared.counters.suspends += 1;
                let die = store.shared.stopped(now, tag.0, remaining);
                store.shared.start_die(now, die, &mut store.read, ports);
            }
        }
    }

    /// A step of the read of `job` has been decoded.
    #[inline]
    fn decoded(&mut self, now: Ns, job: u32, outcome: Outcome, ports: &mut impl Out) {
        let store = &mut self.lower.store;
        if let Purpose::Probe = store.shared.jobs[job].purpose {
            let result = ProbeResult::Decoded(outcome);
            return self.probe_done(now, job, Some(result), ports);
        }
        if outcome.failed != 0 {
            store.read.remember(job, &outcome, &mut store.shared.jobs);
            if store.shared.jobs[job].joined != NO_JOB
                && self
                    .host
                    .serve_early(now, job, outcome.failed, store, ports)
            {
                self.resume_merges(now, ports);
            }
        }
        let store = &mut self.lower.store;
        if let Some(failed) = (store.read).decoded(now, job, &outcome, &mut store.shared, ports)
            && (failed == 0 || !self.rebuild(now, job, failed, ports))
        {
            self.read_ended(now, job, failed, ports);
        }
    }

    /// The read of `job` could not correct codewords `failed`: starts to rebuild them from the other dies.
    /// False if they cannot be rebuilt.
    #[cold]
    fn rebuild(&mut self, now: Ns, job: u32, failed: u64, ports: &mut impl Out) -> bool {
        let store = &mut self.lower.store;
        let at = store.shared.jobs[job].at;
        // While a write buffer holds the wordline, some die has not programmed its part, so there is no stripe yet to
        // rebuild from. Placement alone knows.
        !store.place.holds_superwordline(at.block, at.wordline)
            && store
                .read
                .rebuild(now, job, failed, &mut store.shared, ports)
    }

    /// The read of `job` has ended; codewords `failed` are lost. If `job` read the last multi-plane page that
    /// a rebuild needed, the rebuilt read ends with it.
    #[inline(always)] // Its only caller is on the path of every request.
    fn read_ended(&mut self, now: Ns, job: u32, failed: u64, ports: &mut impl Out) {
        let (mut job, mut failed, mut rebuilt_from) = (job, failed, None);
        loop {
            let shared = &mut self.lower.store.shared;
            if let Purpose::Move { .. } = shared.jobs[job].purpose {
                // A move keeps its job and its pin until its slots are written elsewhere: the job's buffer holds the
                // data, and the superblock must not be erased before.
                self.relocate.move_read(job, failed, &mut self.lower);
                self.advance(now, ports);
                break;
            }
            let last = shared.unpin(job);
            let Some(anew) = self.serve(now, job, failed, ports) else {
                self.read_left(now, last, ports);
                break;
            };
            rebuilt_from = Some(last);
            (job, failed) = anew;
        }
        if let Some(last) = rebuilt_from {
            self.read_left(now, last, ports);
        }
    }

    /// Hands the data that `job` read to everyone who asked for them. If this completes a rebuild, returns
    /// the job of the rebuilt read and the codewords that stay lost.
    #[inline(always)] // Its only caller is on the path of every request.
    fn serve(
        &mut self,
        now: Ns,
        job: u32,
        failed: u64,
        ports: &mut impl Out,
    ) -> Option<(u32, u64)> {
        if failed == 0 && self.relocate.mp_page_read(now, job, &mut self.lower, ports) {
            self.advance_all(now, ports);
        }
        let store = &mut self.lower.store;
        match store.shared.jobs[job].purpose {
            Purpose::HostRead { .. } => {
                self.host.mp_page_read(now, job, failed, store, ports);
                self.resume_reads(now, ports);
            }
            Purpose::SharedRead => {
                if failed == 0 {
                    store.shared.count_retries(now, job);
                }
                let (_, merges) = self.host.serve_joined(now, job, failed, true, store, ports);
                if merges {
                    self.resume_merges(now, ports);
                }
                self.lower.store.shared.jobs.release(job);
                self.resume_reads(now, ports);
            }
            Purpose::Merge { merge, .. } => {
                self.host
                    .merge_mp_page_read(merge, job, failed == 0, &mut store.shared, ports);
                self.resume_merges(now, ports);
            }
            Purpose::MapRead { .. } => self.map_page_decoded(now, job, failed == 0, ports),
            Purpose::ReadAhead => {
                let (served, merges) = self.host.serve_joined(now, job, failed, true, store, ports);
                debug_assert!(!merges, "partial writes join no read ahead");
                self.host.ahead_read(now, job, failed, served, store, ports);
                self.resume_reads(now, ports);
            }
            Purpose::Rebuild => {
                let (read, shared) = (&mut store.read, &mut store.shared);
                return read.rebuild_mp_page_read(now, job, failed, shared, ports);
            }
            purpose => unreachable!("{purpose:?} decodes nothing"),
        }
        None
    }

    /// A read has freed its buffer. `last` means that its superblock waits to be erased and has no other pin.
    /// Continues whatever waited for the buffer or for the erase.
    #[inline]
    fn read_left(&mut self, now: Ns, last: bool, ports: &mut impl Out) {
        let relocation = &mut self.lower.store.place.relocation;
        let wanted = relocation.host_waits.end(Wait::ReadBuffer);
        if wanted {
            self.resume_writes(now, ports);
        }
        if wanted || last {
            self.advance_all(now, ports);
        }
    }

    /// The map page that `job` read has been decoded. Commands that waited for it continue.
    fn map_page_decoded(&mut self, now: Ns, job: u32, ok: bool, ports: &mut impl Out) {
        let store = &mut self.lower.store;
        let mut waiter = self.lower.map_cache.map_read(now, job, ok, store, ports);
        while let Some(id) = waiter {
            waiter = self.lower.map_cache.goes_on(now, id, ports);
            self.go_on(now, id, ports);
        }
        for _ in 0..self.lower.map_cache.stalled() {
            if let Some(id) = self.lower.map_cache.next_stalled() {
                self.lower.map_cache.goes_on(now, id, ports);
                self.go_on(now, id, ports);
            }
        }
        self.resume_writes(now, ports);
        self.advance_all(now, ports);
    }

    /// Command `id`, which waited for the map, continues.
    fn go_on(&mut self, now: Ns, id: CommandId, ports: &mut impl Out) {
        if self.host.is_read(id) {
            self.host.go_on_reading(now, id, &mut self.lower, ports);
        } else {
            self.go_on_writing(now, id, ports);
        }
    }

    /// Starts the next background read that is due.
    pub(crate) fn start_probe(&mut self, now: Ns, ports: &mut impl Out) {
        let store = &mut self.lower.store;
        store.read.start_probe(now, &mut store.shared, ports);
    }

    /// The background read of `job` has ended; without a `result` if a host read has ended it.
    fn probe_done(&mut self, now: Ns, job: u32, result: Option<ProbeResult>, ports: &mut impl Out) {
        let store = &mut self.lower.store;
        let last = (store.read).probe_done(now, job, result, &mut store.shared, ports);
        self.resume_reads(now, ports);
        self.start_probe(now, ports);
        if last {
            self.advance_all(now, ports);
        }
    }

    /// The program of `job` has ended.
    fn programmed(&mut self, now: Ns, job: u32, ok: bool, ports: &mut impl Out) {
        let store = &mut self.lower.store;
        let frees = (store.place).programmed(now, job, ok, &mut store.shared, ports);
        if frees || self.host.waits_for_programs() {
            self.complete_safe(ports);
            self.resume_writes(now, ports);
        }
        if frees || !ok {
            self.relocate.try_arrived_again();
        }
        self.advance(now, ports);
    }

    /// One die has finished its part of a superblock erase, under `job`.
    fn erased(&mut self, now: Ns, job: u32, ok: bool, ports: &mut impl Out) {
        let Some(block) = self.lower.store.die_erased(now, job, ok, ports) else {
            return;
        };
        if self.lower.store.shared.is_free(block) {
            self.relocate
                .erased(self.lower.store.shared.blocks.region_of(block));
        }
        #[cfg(debug_assertions)]
        self.lower.store.audit_periodically();
        self.resume_writes(now, ports);
        self.advance_all(now, ports);
    }

    /// Continues reads that waited for a job.
    #[inline]
    fn resume_reads(&mut self, now: Ns, ports: &mut impl Out) {
        self.host.resume_reads(now, &mut self.lower, ports);
    }

    /// Reads for partial writes have ended: continues the writes that waited for them.
    fn resume_merges(&mut self, now: Ns, ports: &mut impl Out) {
        self.resume_writes(now, ports);
        self.resume_reads(now, ports);
        self.advance_all(now, ports);
    }

    /// Continues blocked writes and trims in order, as far as possible, and pads for commands that wait until their
    /// data are programmed.
    pub(crate) fn resume_writes(&mut self, now: Ns, ports: &mut impl Out) {
        if self.lower.map_cache.is_on() {
            (self.lower.map_cache).merge_map(now, &mut self.lower.store, ports);
        }
        self.write_stalled(now, ports);
        self.pad_for_waiting(now, ports);
    }

    /// Continues blocked writes and trims in order, as far as possible.
    fn write_stalled(&mut self, now: Ns, ports: &mut impl Out) {
        while let Some(id) = self.host.next_stalled() {
            if let Some(wait) = self.write(now, id, ports)
                && self.host.stall(id, wait, ports)
            {
                return;
            }
        }
        self.host.none_stalls(ports);
    }

    /// Continues write or trim `id` before the blocked ones in the queue.
    fn go_on_writing(&mut self, now: Ns, id: CommandId, ports: &mut impl Out) {
        if let Some(wait) = self.write(now, id, ports) {
            self.host.stall(id, wait, ports);
        }
    }

    /// Advances write or trim `id`. Returns what it has to wait for, if it is blocked.
    #[inline]
    fn write(&mut self, now: Ns, id: CommandId, ports: &mut impl Out) -> Option<Wait> {
        self.relocate.try_arrived_again(); // The oldest move may be of a page that is changed here.
        loop {
            match self.host.advance_write(now, id, &mut self.lower, ports) {
                Progress::Ended | Progress::Waiting => return None,
                Progress::Stalled(wait) => return Some(wait),
                Progress::Paces => self.relocate.update_pace(&mut self.lower.store),
                Progress::Buffered => {
                    self.complete_safe(ports);
                    return None;
                }
            }
        }
    }

    /// Completes commands whose data are programmed.
    #[inline]
    fn complete_safe(&mut self, ports: &mut impl Out) {
        self.host.complete_safe(&self.lower.store, ports);
    }

    /// Pads wordlines for commands that wait until their data are programmed.
    #[inline]
    fn pad_for_waiting(&mut self, now: Ns, ports: &mut impl Out) {
        let store = &mut self.lower.store;
        while self.host.pad_for_waiting(now, store, ports) {
            self.relocate.update_pace(store);
        }
    }

    /// Advances everything that can advance: moves, cleaning, and blocked writes.
    pub(crate) fn advance_all(&mut self, now: Ns, ports: &mut impl Out) {
        self.relocate.try_arrived_again();
        self.advance(now, ports);
    }

    /// Like [`Firmware::advance_all`], after an event that leaves the write buffer as full as it was.
    #[inline(never)]
    fn advance(&mut self, now: Ns, ports: &mut impl Out) {
        if self.relocate.begin(&self.lower) {
            self.advance_moves(now, ports);
        }
        let lets_go = self.relocate.unblocks_writes();
        // At the end of the drive's life no superblock will become free: writes stop waiting for one.
        let read_only = self.is_read_only();
        if (lets_go || read_only) && self.host.has_stalled_writes() {
            if read_only {
                let relocation = &mut self.lower.store.place.relocation;
                relocation.host_waits.end(Wait::Superblock);
            }
            self.resume_writes(now, ports);
        }
        if read_only {
            self.complete_safe(ports);
            self.pad_for_waiting(now, ports);
        }
        let place = &mut self.lower.store.place;
        if place.relocation.host_waits.has(Wait::Cleaning)
            && (!place.is_paced()
                || place.relocation.slots_before > 0 && self.host.a_merge_has_ended())
        {
            place.relocation.host_waits.end(Wait::Cleaning);
            self.resume_writes(now, ports);
            if self.relocate.has_more_to_move(&self.lower.store) {
                self.relocate.wake();
            }
        }
    }

    fn advance_moves(&mut self, now: Ns, ports: &mut impl Out) {
        // Data to be rewritten come first, because they are nowhere on flash.
        let rewritten = self.relocate.write_again(now, &mut self.lower, ports);
        if rewritten == Rewritten::All {
            // Blocked writes have waited for the rewriting.
            self.complete_safe(ports);
            self.resume_writes(now, ports);
        }
        let mut is_held = rewritten != Rewritten::Blocked && self.relocate.waits_for_buffer();
        while rewritten != Rewritten::Blocked && !is_held {
            match self.relocate.write_arrived(now, &mut self.lower, ports) {
                Arrived::Ended => self.resume_reads(now, ports),
                Arrived::Blocked => is_held = true,
                Arrived::Nothing => break,
            }
        }
        while self.relocate.empty(now, is_held, &mut self.lower, ports) {
            self.resume_reads(now, ports);
            is_held = false;
        }
    }
}
