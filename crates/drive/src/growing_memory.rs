//! Memory that sparse tables grow into.

use firstread_core::{Arena, Before};

/// Bytes it starts with; they take no memory before something is written to them.
const START: usize = 8 << 20;
/// Bytes that it grows by at least.
const LEAST_GROWTH: usize = 1 << 20;

/// Memory that grows by a thirty-second, not by half or more as a vector would: it is most of what a
/// long run holds.
///
/// Steps this small are cheap only where `realloc` moves a large piece by its page table, as the
/// allocators of Linux do (`mremap`). One that copies would copy 32 bytes for each that is added.
#[derive(Clone, Debug)]
pub(crate) struct GrowingMemory(Vec<u8>);

impl GrowingMemory {
    pub(crate) fn new() -> GrowingMemory {
        GrowingMemory(vec![0; START])
    }

    #[cold]
    pub(crate) fn grow(&mut self) {
        let more = (self.0.len() / 32).max(LEAST_GROWTH);
        self.0.reserve_exact(more);
        // Nobody needs the zeros, but there is nothing else to fill it with.
        self.0.resize(self.0.len() + more, 0);
    }
}

impl Arena for GrowingMemory {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Before for GrowingMemory {}
