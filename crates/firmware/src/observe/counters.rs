//! Counters of a drive: a row each, with its unit.

use firstread_core::CellMode;
use firstread_core::voltage::MAX_PAGES;

use super::copy_refused::CopyRefused;
use super::regions::{ENTRY_WAYS, MOST_REGIONS};
use super::who::{MOST_HOST_STREAMS, MOST_MOVE_STREAMS, OWNERS, OpenedFor};

/// Bins of the retry histogram. The last bin holds reads with that many retries or more.
pub const RETRY_BINS: usize = 65;

/// Bins of a counter with one bin for each page type of each cell mode.
pub const PAGE_TYPES: usize = CellMode::ALL.len() * MAX_PAGES;

/// The bin of page type `page` in `mode`.
#[inline]
pub fn page_type_bin(mode: CellMode, page: u8) -> usize {
    mode.index() * MAX_PAGES + usize::from(page) % MAX_PAGES
}

/// Bins of a counter with one bin for each stream among which axis `stream` chooses.
pub const STREAM_BINS: usize = MOST_HOST_STREAMS + MOST_MOVE_STREAMS;

/// The bin of a stream: those of the host come first.
#[inline]
pub fn stream_bin(stream: OpenedFor) -> usize {
    match stream {
        OpenedFor::Host(number) => usize::from(number),
        OpenedFor::Moves(number) => MOST_HOST_STREAMS + usize::from(number),
    }
}

/// Unit of a counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Bytes of the host.
    Bytes,
    /// Units of the mapping.
    Slots,
    /// Commands of the host, or parts of them.
    Commands,
    /// Reads of a multi-plane page, with their retries one read.
    PageReads,
    /// Senses of a multi-plane page after the first one of its read.
    Retries,
    /// Senses of a multi-plane page.
    Senses,
    /// Programs and erases.
    Operations,
    /// Blocks of one plane.
    Blocks,
    /// Superblocks.
    Superblocks,
    /// Accesses to a page of the map.
    Lookups,
    /// Pages of the map.
    MapPages,
    /// Nanoseconds of simulated time.
    Nanoseconds,
}

#[cfg(test)]
impl Unit {
    /// The unit in a table.
    fn text(self) -> &'static str {
        match self {
            Unit::Bytes => "bytes",
            Unit::Slots => "slots",
            Unit::Commands => "commands",
            Unit::PageReads => "page reads",
            Unit::Retries => "retries",
            Unit::Senses => "senses",
            Unit::Operations => "operations",
            Unit::Blocks => "blocks",
            Unit::Superblocks => "superblocks",
            Unit::Lookups => "lookups",
            Unit::MapPages => "map pages",
            Unit::Nanoseconds => "ns",
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// Name of the field.
    pub name: &'static str,
    /// Unit of the count.
    pub unit: Unit,
    /// Documentation of the field, which the reference shows.
    pub doc: &'static str,
}

/// One count, or one a bin.
trait Counts {
    fn counts(&self) -> &[u64];
    fn counts_mut(&mut self) -> &mut [u64];
}

impl Counts for u64 {
    fn counts(&self) -> &[u64] {
        core::slice::from_ref(self)
    }

    fn counts_mut(&mut self) -> &mut [u64] {
        core::slice::from_mut(self)
    }
}

impl<const N: usize> Counts for [u64; N] {
    fn counts(&self) -> &[u64] {
        self
    }

    fn counts_mut(&mut self) -> &mut [u64] {
        self
    }
}

/// A struct of counters from its rows: `NAME: UNIT` or `NAME[BINS]: UNIT` below the documentation, and after them
/// the structs that lie within it.
macro_rules! counters {
    (
        $(#[$of:meta])*
        $table:ident {
            $($(#[doc = $doc:literal])+ $name:ident $([$bins:expr])?: $unit:ident,)*
        }
        $($(#[doc = $within_doc:literal])+ $within:ident: $inner:ident,)*
    ) => {
        $(#[$of])*
        pub struct $table {
            $($(#[doc = $doc])+ pub $name: counters!(@type $($bins)?),)*
            $($(#[doc = $within_doc])+ pub $within: $inner,)*
        }

        impl $table {
            /// The counts since `before`.
            pub fn since(&self, before: &$table) -> $table {
                let mut since = self.clone();
                $(
                    let counts = since.$name.counts_mut().iter_mut();
                    for (now, then) in counts.zip(before.$name.counts()) {
                        *now -= then;
                    }
                )*
                $(since.$within = self.$within.since(&before.$within);)*
                since
            }

            /// Adds the counts of `more`, those of another run.
            pub fn add(&mut self, more: &$table) {
                $(
                    let counts = self.$name.counts_mut().iter_mut();
                    for (count, more) in counts.zip(more.$name.counts()) {
                        *count += more;
                    }
                )*
                $(self.$within.add(&more.$within);)*
            }

            /// Calls `each` with every row and its counts: one, or one a bin.
            pub fn each_mut(&mut self, each: &mut impl FnMut(&'static Counter, &mut [u64])) {
                $(
                    let row = &Counter {
                        name: stringify!($name),
                        unit: Unit::$unit,
                        doc: concat!($($doc),+),
                    };
                    each(row, self.$name.counts_mut());
                )*
                $(self.$within.each_mut(each);)*
            }
        }

        impl Default for $table {
            fn default() -> $table {
                $table {
                    $($name: counters!(@zero $($bins)?),)*
                    $($within: $inner::default(),)*
                }
            }
        }
    };
    (@type) => { u64 };
    (@type $bins:expr) => { [u64; $bins] };
    (@zero) => { 0 };
    (@zero $bins:expr) => { [0; $bins] };
}

counters! {
    /// Running totals since power-on.
    #[derive(Clone, Debug)]
    Counters {
        /// Multi-plane pages read for the host, by number of retries.
        retries[RETRY_BINS]: PageReads,
        /// Multi-plane pages read for the host that stayed uncorrectable.
        uncorrectable: PageReads,
        /// Retries of the uncorrectable reads.
        lost_retries: Retries,
        /// Multi-plane pages read for the host by cell mode, fewest bits a cell first. Data known to be lost are not
        /// read.
        page_reads_by_mode[CellMode::ALL.len()]: PageReads,
        /// Of these, those that ended with data at the first try.
        first_tries_by_mode[CellMode::ALL.len()]: PageReads,
        /// Their retries.
        page_retries_by_mode[CellMode::ALL.len()]: Retries,
        /// Their time, from the queue of the die to the verdict on the last step.
        page_read_ns_by_mode[CellMode::ALL.len()]: Nanoseconds,
        /// The same reads by cell mode and page type: four page types a mode, fewest bits a cell first.
        page_reads_by_page_type[PAGE_TYPES]: PageReads,
        /// Their retries.
        page_retries_by_page_type[PAGE_TYPES]: Retries,
        /// Their time, from the queue of the die to the verdict on the last step.
        page_read_ns_by_page_type[PAGE_TYPES]: Nanoseconds,
        /// Host reads served by the sense of another read.
        joined_reads: Commands,
        /// Background senses: verification, valley search, start-up.
        background_reads: Senses,
        /// Of these, those asked for by the read levels of each cell mode, fewest bits a cell first.
        background_reads_by_mode[CellMode::ALL.len()]: Senses,
        /// Of these, those that a host read for the same die has ended before their data left it.
        background_reads_given_up: Senses,
        /// Slots written by the host.
        host_slots_written: Slots,
        /// Bytes written by the host. A partial write of a slot counts its own bytes alone.
        host_bytes_written: Bytes,
        /// Partial writes merged into their slot in the write buffer, without a slot of their own.
        merged_in_place: Commands,
        /// Multi-plane pages read for old data of partial writes, with their retries one read. A read that was already
        /// under way for the host is no read of theirs: it counts in `joined_reads`.
        merge_reads: PageReads,
        /// Retries of these reads. Where a host read has joined one, its retries count as those of a host read.
        merge_retries: Retries,
        /// Slots programmed without data, because a command waited for other data in their part of a wordline.
        slots_padded: Slots,
        /// Slots programmed for any purpose.
        slots_programmed: Slots,
        /// Of these, by cell mode, fewest bits a cell first.
        slots_programmed_by_mode[CellMode::ALL.len()]: Slots,
        /// Slots that host reads found in the write buffer.
        buffer_hits: Slots,
        /// Superblocks erased.
        erases: Superblocks,
        /// Superblocks erased, by the cell mode that they left: that of the cycle that the erase ends.
        erases_by_mode[CellMode::ALL.len()]: Superblocks,
        /// Of the erases, those into another cell mode.
        conversions: Superblocks,
        /// Slots written by moves.
        slots_moved: Slots,
        /// Slots written by moves, by owner, in the order of [`super::Owner::ALL`].
        slots_moved_by[OWNERS]: Slots,
        /// Slots that streams among which axis `stream` chooses were given, those of the host first: written by the host or moved.
        slots_into_stream[STREAM_BINS]: Slots,
        /// Slots of these streams that the host overwrote or trimmed where they lay.
        slots_invalidated_in_stream[STREAM_BINS]: Slots,
        /// Slots moved out of superblocks of these streams.
        slots_moved_out_of_stream[STREAM_BINS]: Slots,
        /// Superblocks of these streams that were erased.
        superblocks_erased_of_stream[STREAM_BINS]: Superblocks,
        /// Map entries looked up because a write has to know the place of the version that it overwrites before it is placed.
        looked_up_before_placement: Lookups,
        /// Slots that garbage collection and wear leveling moved into the stream of pages read often.
        slots_taken_along: Slots,
        /// Moves abandoned because the host wrote or trimmed the page meanwhile.
        moves_overtaken: Slots,
        /// Retries of reads for moves.
        move_retries: Retries,
        /// Slots that could not be corrected when they were to be moved.
        slots_lost: Slots,
        /// Slots copied into another cell mode after a host read, by the mode that they went to, fewest bits a
        /// cell first.
        slots_promoted[CellMode::ALL.len()]: Slots,
        /// Promotions refused, by reason, in the order of
        /// [`CopyRefused::ALL`].
        promotions_refused[CopyRefused::COUNT]: Slots,
        /// Slots rewritten in the drive's own mode after a host read, page by page.
        slots_refreshed: Slots,
        /// Such rewrites refused, by reason, in the order of [`CopyRefused::ALL`].
        refreshes_refused[CopyRefused::COUNT]: Slots,
        /// Superblocks emptied and erased because reads had disturbed them.
        superblocks_refreshed: Superblocks,
        /// Open superblocks that reads had disturbed, and that were therefore closed before they were full.
        superblocks_closed_early: Superblocks,
        /// Superblocks in another mode that were asked to be given back to the drive's own mode.
        superblocks_given_back: Superblocks,
        /// Of these, those given back because pages could not be promoted for want of over-provisioning.
        superblocks_given_back_for_room: Superblocks,
        /// Slots moved out of a superblock of another mode that the scheme of axis `cell_mode` filled, and not into
        /// one of the same mode.
        slots_demoted: Slots,
        /// Slots that the host wrote into the pool of another cell mode that axis `cell_mode` lets it write to.
        slots_written_to_pool: Slots,
        /// Slots that the host was to write there and that went to the drive's own mode, by reason, in the order of
        /// [`CopyRefused::ALL`].
        pool_bypassed[CopyRefused::COUNT]: Slots,
        /// Superblocks of that pool that were emptied into the drive's own mode for room in it.
        superblocks_destaged: Superblocks,
        /// Slots written into a region that axis `area` declares, by the way of entry, in the order of `Entry::ALL`.
        slots_entered[ENTRY_WAYS]: Slots,
        /// Slots that belong in a region that axis `area` declares and were not written there, by reason, in the order of
        /// [`CopyRefused::ALL`].
        entries_refused[CopyRefused::COUNT]: Slots,
        /// Slots not migrated into a declared region after a host read because the budget of migrations was spent.
        migrations_over_budget: Slots,
        /// Superblocks of a declared region that were emptied into the drive's own region, the oldest first, to make room.
        superblocks_emptied_for_room: Superblocks,
        /// Superblocks of a declared region that were emptied within the region to make room.
        superblocks_compacted: Superblocks,
        /// Superblocks of a declared region opened for other data than its own, because no other was free.
        opened_elsewhere: Superblocks,
        /// Multi-plane pages read for the host, by region, the drive's own first.
        page_reads_by_region[MOST_REGIONS]: PageReads,
        /// Their retries.
        page_retries_by_region[MOST_REGIONS]: Retries,
        /// Their time, from the queue of the die to the verdict on the last step.
        page_read_ns_by_region[MOST_REGIONS]: Nanoseconds,
        /// Superblocks erased, by region, the drive's own first.
        erases_by_region[MOST_REGIONS]: Superblocks,
        /// Writes and trims of the host refused because the scheme of axis `area` takes none.
        writes_refused: Commands,
        /// Slots that a trim of the host has left as they were, because the journal of trims has no room.
        trims_passed_over: Slots,
        /// Superblocks retired.
        retired: Superblocks,
        /// Bad blocks replaced by spare blocks, including factory bad blocks.
        replaced: Blocks,
        /// Programs and erases suspended.
        suspends: Operations,
        /// Speculative senses of retry steps that were not needed.
        cancelled_senses: Senses,
        /// Soft senses of reads whose hard steps had all failed.
        soft_reads: Senses,
        /// Reads saved by a soft sense.
        soft_saved: PageReads,
        /// Multi-plane pages read to rebuild another one of their stripe.
        rebuild_reads: PageReads,
        /// Reads rebuilt from the rest of their stripe.
        rebuilt: PageReads,
    }
    /// Counters of read cache, read-ahead and map cache.
    front: FrontEndCounters,
}

counters! {
    /// Running totals of the read cache, of read-ahead and of the map cache, since power-on.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    FrontEndCounters {
        /// Slots that host reads found in the read cache, including those read ahead.
        cache_hits: Slots,
        /// Slots that host reads took from flash although there is a read cache.
        cache_misses: Slots,
        /// Slots read ahead.
        ahead_slots: Slots,
        /// Multi-plane pages sensed for read-ahead, without retries.
        ahead_rows: PageReads,
        /// Retries of read-ahead while no command waited for the data.
        ahead_retries: Retries,
        /// Slots read ahead that the host then asked for.
        ahead_used: Slots,
        /// Slots read ahead whose read was still in flight when the host asked for them: the command joined the
        /// read.
        ahead_joined: Slots,
        /// Slots read ahead that were overwritten, trimmed, replaced or uncorrectable before the host asked for
        /// them.
        ahead_wasted: Slots,
        /// Accesses to a map page that was in memory.
        map_hits: Lookups,
        /// Accesses to a map page that was not in memory.
        map_misses: Lookups,
        /// Multi-plane pages read for the map, without retries.
        map_reads: PageReads,
        /// Retries of map reads.
        map_retries: Retries,
        /// Map pages that could not be corrected and were rebuilt from the tables of contents.
        map_lost: MapPages,
        /// Map pages written.
        map_writes: MapPages,
    }
}

impl crate::format::Record for Counters {
    fn transfer(&mut self, cursor: &mut crate::format::Cursor<'_>) {
        self.each_mut(&mut |row, counts| {
            #[cfg(test)]
            let begun = Some(cursor.place());
            for count in counts {
                crate::format::Record::transfer(count, cursor);
            }
            #[cfg(test)]
            cursor.describe(begun, ["counters", row.name, row.unit.text(), row.doc]);
            let _ = row;
        });
    }
}
