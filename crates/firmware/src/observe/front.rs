//! Counters of the read cache, of read-ahead and of the map cache.

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Running totals since power-on.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct FrontCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl FrontCounters {
            /// The counts since `before`.
            pub fn since(&self, before: &FrontCounters) -> FrontCounters {
                FrontCounters { $($name: self.$name - before.$name,)* }
            }
        }
    };
}

counters! {
    /// Slots that host reads found in the read cache, including those read ahead.
    cache_hits,
    /// Slots that host reads took from flash although there is a read cache.
    cache_misses,
    /// Slots read ahead.
    ahead_slots,
    /// Multi-plane pages sensed for read-ahead, without retries.
    ahead_rows,
    /// Retries of read-ahead while no command waited for the data.
    ahead_retries,
    /// Slots read ahead that the host then asked for.
    ahead_used,
    /// Slots read ahead whose read was still in flight when the host asked for them: the command joined the
    /// read.
    ahead_joined,
    /// Slots read ahead that were overwritten, trimmed, replaced or uncorrectable before the host asked for
    /// them.
    ahead_wasted,
    /// Accesses to a map page that was in memory.
    map_hits,
    /// Accesses to a map page that was not in memory.
    map_misses,
    /// Multi-plane pages read for the map, without retries.
    map_reads,
    /// Retries of map reads.
    map_retries,
    /// Map pages that could not be corrected and were rebuilt from the tables of contents.
    map_lost,
    /// Map pages written.
    map_writes,
}
