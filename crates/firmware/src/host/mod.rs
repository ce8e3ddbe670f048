//! Host commands: split into multi-plane pages, and held back when jobs or buffers run out.
//!
//! - `commands`: commands in flight, and those that wait.
//! - `reads`, `writes`: their progress.
//! - `join`: reads that share a sense, found by `mp_pages`.
//! - `merge`: partial writes, with the old versions that `merges` reads for them.
//! - `flush`: commands that wait until data are programmed, by the rules of `durable`.
//! - `cached`: slots served by `read_cache`. `read_ahead`: slots read ahead into it; `ahead` tracks their
//!   reads.

mod cached;
mod commands;
mod durable;
mod flush;
mod join;
mod merge;
mod merges;
mod mp_pages;
mod read_ahead;
mod read_aheads;
mod read_cache;
mod reads;
mod writes;

use firstread_core::{Arena, Buf, CommandId, HostCommand, HostOp, Lpn, Ns, Status};

use crate::config::Config;
use crate::ftl::place::HostStreamSet;
use crate::lower_layers::LowerLayers;
use crate::policy::read_ahead::{AnyReadAhead, ReadAhead};
use crate::schedule::Jobs;
use crate::shared::Out;
use commands::Commands;
use durable::Durable;
use mp_pages::MpPages;
use read_aheads::ReadAheads;
use read_cache::ReadCache;
pub(crate) use writes::Progress;

/// Bytes of a host sector.
const SECTOR_BYTES: u64 = 512;

/// Host commands, and the data kept in memory for them.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    commands: Commands,
    /// The latest read of each multi-plane page.
    mp_pages: MpPages,
    durable: Durable,
    read_cache: ReadCache,
    ahead: ReadAheads,
}

/// What remains to be done for a command that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Submitted {
    /// The command is answered, or waits for reads that have begun.
    Nothing,
    /// Continue the write or trim now.
    Writes,
    /// The write or trim waits behind others.
    Queued,
    /// The flush waits until data are programmed.
    Flushes,
}

impl Host {
    /// For a drive of `config` with `jobs`. The slot buffers of the read cache begin at `first`.
    pub(crate) fn new(config: &Config, scheme: AnyReadAhead, jobs: &Jobs, first: Buf) -> Host {
        let ahead = scheme.buffer_slots();
        Host {
            commands: Commands::new(config.max_commands, config.max_reads),
            mp_pages: MpPages::new(jobs.len()),
            durable: Durable::new(config.write_cache, config.max_commands),
            read_cache: ReadCache::new(
                config.read_cache_slots,
                ahead,
                config.capacity_slots,
                first,
            ),
            ahead: ReadAheads::new(scheme, jobs),
        }
    }

    /// Slot buffers of the read cache.
    pub(crate) fn cache_slots(&self) -> u32 {
        self.read_cache.len()
    }

    /// Whether a command is in flight.
    pub(crate) fn has_commands(&self) -> bool {
        self.commands.are_any()
    }

    /// Accepts a host command. Its id is below `max_commands` and not in flight.
    #[inline]
    pub(crate) fn submit<M: Arena>(
        &mut self,
        now: Ns,
        command: HostCommand,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) -> Submitted {
        if command.op == HostOp::Flush {
            if !self.durable.flushes() {
                // Acknowledged data are already safe.
                ports.complete(command, Status::Ok, None);
                return Submitted::Nothing;
            }
            self.commands.begin(command, 0, 0);
            self.wait_until_safe(now, command.id, HostStreamSet::ALL, &lower.store);
            return Submitted::Flushes;
        }
        let shared = &lower.store.shared;
        let len_bytes = command.len_bytes as u64;
        let end = command.offset_bytes.saturating_add(len_bytes);
        let aligned = command.offset_bytes.is_multiple_of(SECTOR_BYTES)
            && len_bytes.is_multiple_of(SECTOR_BYTES);
        if !aligned || len_bytes == 0 || end > shared.config.capacity_bytes() {
            ports.complete(command, Status::OutOfRange, None);
            return Submitted::Nothing;
        }
        let first = shared.layout.slots_in(command.offset_bytes).0;
        let last = shared.layout.slots_in(end - 1).0;
        self.commands
            .begin(command, first, (last - first + 1) as u32);
        if lower.map_cache.is_on() {
            lower.map_cache.forget_map_wait(command.id);
        }
        if command.op == HostOp::Read {
            let (first, slots) = (Lpn(first), (last - first + 1) as u32);
            lower.store.shared.heat.on_read(first, slots);
            lower.store.shared.future.on_read(first, slots);
            if self.commands.stalled_reads.is_empty() {
                self.advance_read(now, command.id, lower, ports);
            } else {
                self.commands.stalled_reads.push_back(command.id);
            }
            if self.ahead.is_on() {
                self.read_ahead(now, &command, lower, ports);
            }
            return Submitted::Nothing;
        }
        if command.op == HostOp::Write {
            let future = &mut lower.store.shared.future;
            future.on_write(Lpn(first), (last - first + 1) as u32);
        }
        if self.commands.has_stalled_writes() {
            self.commands.stall_last(command.id, ports);
            return Submitted::Queued;
        }
        Submitted::Writes
    }

    /// Whether command `id` is a read.
    pub(crate) fn is_read(&mut self, id: CommandId) -> bool {
        self.commands.get(id).command.op == HostOp::Read
    }

    /// Continues read `id`, which has waited for the map.
    pub(crate) fn go_on_reading<M: Arena>(
        &mut self,
        now: Ns,
        id: CommandId,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        self.advance_read(now, id, lower, ports);
    }

    /// Frees the job of a read, and continues whatever waited for a job.
    pub(super) fn release_read<M: Arena>(
        &mut self,
        now: Ns,
        job: u32,
        lower: &mut LowerLayers<M>,
        ports: &mut impl Out,
    ) {
        lower.store.shared.jobs.release(job);
        self.resume_reads(now, lower, ports);
    }

    /// Power is cut. Returns the slots read ahead, or being read ahead, that are lost unused.
    pub(crate) fn cut(&mut self, jobs: &Jobs, codewords_per_slot: u32) -> u64 {
        u64::from(self.ahead.under_way(jobs) / codewords_per_slot) + self.read_cache.unused()
    }
}
