//! Memory that sparse tables grow into.

use firstread_core::{Arena, InitialContents};

/// Initial size in bytes; no physical memory is used before something is written.
const START: usize = 8 << 20;
/// Minimum growth in bytes.
const LEAST_GROWTH: usize = 1 << 20;

/// Memory that grows by a thirty-second, not by half or more as a vector would, because it is most of the
/// memory of a long run.
///
/// Steps this small are cheap only if `realloc` moves a large allocation by its page table, as the allocators
/// of Linux do (`mremap`). An allocator that copies would copy 32 bytes per byte added.
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
        // The zeros are not needed, but the memory must be filled with something.
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

impl InitialContents for GrowingMemory {}
