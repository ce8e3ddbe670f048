//! When what the host writes is safe from power loss.
//!
//! With a protected write cache data are safe once they are in the write buffer: a flush and a write with
//! FUA (Force Unit Access) have nothing to wait for. With a volatile one a flush waits until all writes that
//! were acknowledged before are programmed, and a write with FUA until it is; a drive that writes through
//! treats each write as one with FUA.
//!
//! All pages of a wordline are programmed at once, over all dies in stripe order. Where a command waits for
//! a wordline that is not full, the rest of it is padded: its slots hold no data and count as programmed, in
//! the write amplification too. While another wordline of the host is being programmed nothing is padded, so
//! commands that come meanwhile share the next one.
//!
//! Not seen to: data whose program failed count as safe once they are in the buffer of moved data.

use alloc::collections::VecDeque;

use firstread_core::{Arena, CommandId, Ns, Status};

use super::Host;
use crate::base::Out;
use crate::below::Store;
use crate::config::WriteCache;
use crate::observe::StreamId;

/// Commands that wait until data are programmed.
#[derive(Debug)]
pub(crate) struct Durable {
    cache: WriteCache,
    /// Each with the last wordline that it waits for, counted as they were begun, and since when.
    waiting: VecDeque<(CommandId, u64, Ns)>,
}

impl Durable {
    pub(crate) fn new(cache: WriteCache, max_commands: u32) -> Durable {
        let room = match cache {
            WriteCache::Protected => 0,
            _ => max_commands as usize,
        };
        Durable {
            cache,
            waiting: VecDeque::with_capacity(room),
        }
    }

    /// Whether a write with `fua`, or without, completes only when it is programmed.
    #[inline]
    pub(crate) fn waits_for_program(&self, fua: bool) -> bool {
        match self.cache {
            WriteCache::Protected => false,
            WriteCache::Volatile => fua,
            WriteCache::WriteThrough => true,
        }
    }

    /// Whether a flush may have something to wait for.
    #[inline]
    pub(crate) fn flushes(&self) -> bool {
        self.cache == WriteCache::Volatile
    }

    /// Whether commands wait.
    #[inline]
    pub(crate) fn any_waits(&self) -> bool {
        !self.waiting.is_empty()
    }
}

impl Host {
    /// Command `id`, whose data are in the write buffer, completes when everything there is programmed: see
    /// [`Host::complete_safe`].
    #[cold]
    pub(super) fn wait_until_safe<M>(&mut self, now: Ns, id: CommandId, store: &Store<M>) {
        let last = store.place.buffer(StreamId::Host).lines_begun();
        self.durable.waiting.push_back((id, last, now));
    }

    /// Whether commands wait until data are programmed.
    #[inline]
    pub(crate) fn any_waits_for_programs(&self) -> bool {
        self.durable.any_waits()
    }

    /// Completes the commands whose data are programmed, and sees that those of others will be. True when the
    /// pace of cleaning is to be reckoned before this goes on.
    #[cold]
    pub(crate) fn complete_safe<M: Arena>(
        &mut self,
        now: Ns,
        store: &mut Store<M>,
        ports: &mut impl Out,
    ) -> bool {
        while let Some(&(id, line, since)) = self.durable.waiting.front() {
            let open = store.place.buffer(StreamId::Host).oldest_line();
            if open.is_some_and(|open| open <= line) || store.place.has_rescued() {
                break;
            }
            self.durable.waiting.pop_front();
            ports.program_waited(id, since);
            self.end_command(id, Status::Ok, ports);
        }
        if !self.durable.any_waits() {
            return false;
        }
        while store.pad(now, ports) {
            if store.place.ledger.pace.earn() {
                return true;
            }
        }
        false
    }
}
