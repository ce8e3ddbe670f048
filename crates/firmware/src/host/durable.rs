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

use firstread_core::{CommandId, Ns};

use crate::config::WriteCache;

/// Commands that wait until data are programmed.
#[derive(Clone, Debug)]
pub(crate) struct Durable {
    cache: WriteCache,
    /// Each with the last wordline that it waits for, counted as they were begun, and since when.
    pub(super) waiting: VecDeque<(CommandId, u64, Ns)>,
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
