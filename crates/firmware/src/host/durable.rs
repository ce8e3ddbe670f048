//! When host data are safe from power loss.
//!
//! With a protected write cache, data are safe once they are in the write buffer, so a flush and a write with
//! FUA (Force Unit Access) do not wait. With a volatile write cache, a flush waits until all writes
//! acknowledged before it are programmed. A write with FUA waits until it is programmed. With write-through,
//! every write is treated as a write with FUA.
//!
//! The part that a die has of a wordline is programmed at once, all its pages, as soon as it is complete. If a command waits for
//! data in parts that are not complete, these parts are padded and no others: the wordline is filled on behind them. Padded slots
//! hold no data; they count as programmed, also in write amplification. While parts of the host are being programmed nothing is
//! padded, so commands that arrive meanwhile share the next parts. While cleaning is behind, padding waits for moves
//! as writes do, and writes that wait for moves come first: they take the slots instead.
//!
//! Where the host has several streams, a flush waits for the parts of all of them, and a write with FUA for those of the streams
//! that its pages went to. The parity of a wordline is programmed when the wordline is full, and no command waits for it.
//!
//! Simplification: data whose program failed count as safe once they are in the buffer of moved data.

use alloc::collections::VecDeque;

use firstread_core::{CommandId, Ns};

use crate::config::WriteCache;
use crate::ftl::place::Reaches;

/// A command that waits until data are programmed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) id: CommandId,
    /// How far the streams of the host have to be programmed.
    pub(super) until: Reaches,
    pub(super) since: Ns,
}

/// Commands that wait until data are programmed.
#[derive(Clone, Debug)]
pub(crate) struct Durable {
    cache: WriteCache,
    /// The commands, in the order in which they began to wait.
    pub(super) waiting: VecDeque<Waiting>,
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

    /// Whether a write, with or without `fua`, completes only after it is programmed.
    #[inline]
    pub(crate) fn waits_for_program(&self, fua: bool) -> bool {
        match self.cache {
            WriteCache::Protected => false,
            WriteCache::Volatile => fua,
            WriteCache::WriteThrough => true,
        }
    }

    /// Whether a flush may have to wait.
    #[inline]
    pub(crate) fn flushes(&self) -> bool {
        self.cache == WriteCache::Volatile
    }

    /// Whether any command waits.
    #[inline]
    pub(crate) fn any_waits(&self) -> bool {
        !self.waiting.is_empty()
    }
}
