//! Counters of a drive.

use super::front::FrontCounters;
use super::who::OWNERS;

/// Bins of the retry histogram. The last bin holds reads with that many retries or more.
pub const RETRY_BINS: usize = 65;

/// Running totals since power-on.
#[derive(Clone, Debug)]
pub struct Counters {
    /// Multi-plane pages read for the host, by number of retries.
    pub retries: [u64; RETRY_BINS],
    /// Multi-plane pages read for the host that stayed uncorrectable.
    pub uncorrectable: u64,
    /// Retries of the uncorrectable reads.
    pub lost_retries: u64,
    /// Host reads served by the sense of another read.
    pub joined_reads: u64,
    /// Background senses: verification, valley search, start-up.
    pub background_reads: u64,
    /// Slots written by the host.
    pub host_slots_written: u64,
    /// Bytes written by the host. A partial write of a slot counts its own bytes alone.
    pub host_bytes_written: u64,
    /// Partial writes merged into their slot in the write buffer, without a slot of their own.
    pub merged_in_place: u64,
    /// Slots programmed without data, because a command waited for the rest of the wordline.
    pub slots_padded: u64,
    /// Slots programmed for any purpose.
    pub slots_programmed: u64,
    /// Slots that host reads found in the write buffer.
    pub buffer_hits: u64,
    /// Superblocks erased.
    pub erases: u64,
    /// Slots written by moves.
    pub slots_moved: u64,
    /// Slots written by moves, by owner, in the order of [`super::Owner::ALL`].
    pub slots_moved_by: [u64; OWNERS],
    /// Moves abandoned because the host wrote or trimmed the page meanwhile.
    pub moves_overtaken: u64,
    /// Retries of reads for moves.
    pub move_retries: u64,
    /// Slots that could not be corrected when they were to be moved.
    pub slots_lost: u64,
    /// Superblocks retired.
    pub retired: u64,
    /// Bad blocks replaced by spare blocks, including factory bad blocks.
    pub replaced: u64,
    /// Programs and erases suspended.
    pub suspends: u64,
    /// Speculative senses of retry steps that were not needed.
    pub cancelled_senses: u64,
    /// Soft senses of reads whose hard steps had all failed.
    pub soft_reads: u64,
    /// Reads saved by a soft sense.
    pub soft_saved: u64,
    /// Multi-plane pages read to rebuild another one of their stripe.
    pub rebuild_reads: u64,
    /// Reads rebuilt from the rest of their stripe.
    pub rebuilt: u64,
    /// Counters of read cache, read-ahead and map cache.
    pub front: FrontCounters,
}

impl Counters {
    /// The counts since `before`.
    pub fn since(&self, before: &Counters) -> Counters {
        let mut retries = self.retries;
        retries
            .iter_mut()
            .zip(&before.retries)
            .for_each(|(now, then)| *now -= then);
        let mut slots_moved_by = self.slots_moved_by;
        for (now, then) in slots_moved_by.iter_mut().zip(&before.slots_moved_by) {
            *now -= then;
        }
        Counters {
            retries,
            uncorrectable: self.uncorrectable - before.uncorrectable,
            lost_retries: self.lost_retries - before.lost_retries,
            joined_reads: self.joined_reads - before.joined_reads,
            background_reads: self.background_reads - before.background_reads,
            host_slots_written: self.host_slots_written - before.host_slots_written,
            host_bytes_written: self.host_bytes_written - before.host_bytes_written,
            merged_in_place: self.merged_in_place - before.merged_in_place,
            slots_padded: self.slots_padded - before.slots_padded,
            slots_programmed: self.slots_programmed - before.slots_programmed,
            buffer_hits: self.buffer_hits - before.buffer_hits,
            erases: self.erases - before.erases,
            slots_moved: self.slots_moved - before.slots_moved,
            slots_moved_by,
            moves_overtaken: self.moves_overtaken - before.moves_overtaken,
            move_retries: self.move_retries - before.move_retries,
            slots_lost: self.slots_lost - before.slots_lost,
            retired: self.retired - before.retired,
            replaced: self.replaced - before.replaced,
            suspends: self.suspends - before.suspends,
            cancelled_senses: self.cancelled_senses - before.cancelled_senses,
            soft_reads: self.soft_reads - before.soft_reads,
            soft_saved: self.soft_saved - before.soft_saved,
            rebuild_reads: self.rebuild_reads - before.rebuild_reads,
            rebuilt: self.rebuilt - before.rebuilt,
            front: self.front.since(&before.front),
        }
    }
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            retries: [0; RETRY_BINS],
            uncorrectable: 0,
            lost_retries: 0,
            joined_reads: 0,
            background_reads: 0,
            host_slots_written: 0,
            host_bytes_written: 0,
            merged_in_place: 0,
            slots_padded: 0,
            slots_programmed: 0,
            buffer_hits: 0,
            erases: 0,
            slots_moved: 0,
            slots_moved_by: [0; OWNERS],
            moves_overtaken: 0,
            move_retries: 0,
            slots_lost: 0,
            retired: 0,
            replaced: 0,
            suspends: 0,
            cancelled_senses: 0,
            soft_reads: 0,
            soft_saved: 0,
            rebuild_reads: 0,
            rebuilt: 0,
            front: FrontCounters::default(),
        }
    }
}
