//! Counters a drive keeps of itself.

use super::front::FrontCounters;
use super::who::OWNERS;

/// Bins of the retry histogram; the last holds that many retries or more.
pub const RETRY_BINS: usize = 65;

/// Running totals since power-on.
#[derive(Clone, Debug)]
pub struct Counters {
    /// Page rows read for the host, by how many retries they took.
    pub retries: [u64; RETRY_BINS],
    /// Page rows read for the host that stayed uncorrectable.
    pub uncorrectable: u64,
    /// Retries of these reads.
    pub lost_retries: u64,
    /// Reads of the host that another one's sense has served.
    pub joined_reads: u64,
    /// Senses in the background: verification, valley search, start-up.
    pub background_reads: u64,
    /// Slots the host wrote.
    pub host_slots_written: u64,
    /// Bytes the host wrote: of a slot that it wrote in part, that part.
    pub host_bytes_written: u64,
    /// Writes in part that were merged with their slot in the write buffer, and took no slot of their own.
    pub merged_in_place: u64,
    /// Slots programmed without data, because a command waited for the rest of their wordline.
    pub slots_padded: u64,
    /// Slots programmed, for whomever.
    pub slots_programmed: u64,
    /// Slots the host read from the write buffer.
    pub buffer_hits: u64,
    /// Superblocks erased.
    pub erases: u64,
    /// Slots the data mover wrote.
    pub slots_moved: u64,
    /// The same by who had them moved, in the order of [`super::Owner::ALL`].
    pub slots_moved_by: [u64; OWNERS],
    /// Slots whose move a host write or trim overtook.
    pub moves_overtaken: u64,
    /// Retries of reads of the data mover.
    pub move_retries: u64,
    /// Slots that could not be corrected when they were to be moved.
    pub slots_lost: u64,
    /// Superblocks retired.
    pub retired: u64,
    /// Bad blocks of dies replaced by spares, those of the factory too.
    pub replaced: u64,
    /// Programs and erases suspended.
    pub suspends: u64,
    /// Senses of retries that had begun ahead and were not needed.
    pub cancelled_senses: u64,
    /// Soft senses of reads whose steps had all failed.
    pub soft_reads: u64,
    /// Reads that a soft sense has saved.
    pub soft_saved: u64,
    /// Page rows read because another one of their stripe could not be corrected.
    pub rebuild_reads: u64,
    /// Reads made anew from the rest of their stripe.
    pub rebuilt: u64,
    /// Read cache, read-ahead and map cache.
    pub front: FrontCounters,
}

impl Counters {
    /// What was counted since `before`.
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
