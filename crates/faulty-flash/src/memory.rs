//! The memory of the map's overlay, on a drive that was filled in address order.

use firstread_core::{Arena, InitialContents, Lpn, Ppa, SuperblockId};
use firstread_firmware::format::KeptMemory;

/// Bytes by which the memory of the overlay grows.
const STEP_BYTES: usize = 320 << 10;

/// Memory that grows. Superblock `i` of the fill holds the `i`-th stretch of logical pages.
#[derive(Clone, Debug)]
pub struct Memory {
    bytes: Vec<u8>,
    filled_slots: u64,
    slots_per_block: u64,
    erased: Vec<bool>,
}

impl Memory {
    pub(crate) fn new(slots_per_block: u32, blocks: u32, filled_slots: u64) -> Memory {
        Memory {
            bytes: vec![0; STEP_BYTES],
            filled_slots,
            slots_per_block: slots_per_block.into(),
            erased: vec![false; blocks as usize],
        }
    }

    pub(crate) fn grow(&mut self) {
        self.bytes.resize(self.bytes.len() + STEP_BYTES, 0);
    }
}

impl Arena for Memory {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl InitialContents for Memory {
    fn run(&self, lpn: Lpn, max: u64) -> (Option<Ppa>, u64) {
        let block = SuperblockId((lpn.0 / self.slots_per_block) as u32);
        let slot = lpn.0 % self.slots_per_block;
        let left = max.min(self.slots_per_block - slot);
        match self.filled_slots.saturating_sub(lpn.0) {
            0 => (None, left),
            filled => (Some(Ppa::new(block, slot as u32)), left.min(filled)),
        }
    }
    fn holds(&self, block: SuperblockId) -> bool {
        let first = u64::from(block.0) * self.slots_per_block;
        first < self.filled_slots && !self.erased[block.0 as usize]
    }
    fn page_at(&self, ppa: Ppa) -> Option<Lpn> {
        let page = u64::from(ppa.block().0) * self.slots_per_block + u64::from(ppa.slot());
        (page < self.filled_slots).then_some(Lpn(page))
    }
    fn erase(&mut self, block: SuperblockId) {
        self.erased[block.0 as usize] = true;
    }
}

/// Memory that survives the firmware. It takes no more bytes once a number of them was written, as if whoever writes had
/// been stopped.
#[derive(Clone, Debug)]
pub(crate) struct Survives {
    bytes: Vec<u8>,
    /// Bytes that it still takes.
    pub(crate) left: usize,
    /// Bytes that it was to take.
    pub(crate) written: usize,
}

impl Survives {
    pub(crate) fn new(bytes: usize) -> Survives {
        Survives {
            bytes: vec![0; bytes],
            left: usize::MAX,
            written: 0,
        }
    }
}

impl KeptMemory for Survives {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    fn write(&mut self, at: usize, bytes: &[u8]) {
        let taken = bytes.len().min(self.left);
        self.bytes[at..][..taken].copy_from_slice(&bytes[..taken]);
        self.left -= taken;
        self.written += bytes.len();
    }
}
