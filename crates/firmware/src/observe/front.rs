//! Counters of the front: read cache, read-ahead, map cache.

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Running totals since power-on.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct FrontCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl FrontCounters {
            /// What was counted since `before`.
            pub fn since(&self, before: &FrontCounters) -> FrontCounters {
                FrontCounters { $($name: self.$name - before.$name,)* }
            }
        }
    };
}

counters! {
    /// Slots the host read from the read cache, those read ahead included.
    cache_hits,
    /// Slots the host read from flash while there is a read cache.
    cache_misses,
    /// Slots read ahead.
    ahead_slots,
    /// Page rows sensed for them, retries not counted.
    ahead_rows,
    /// Retries of these, while no command waited for them.
    ahead_retries,
    /// Slots read ahead that the host then asked for.
    ahead_used,
    /// Of these, how many were still on their way: the command joined the read.
    ahead_joined,
    /// Slots read ahead that were overwritten, trimmed, replaced or not correctable before the host
    /// asked for them.
    ahead_wasted,
    /// Times a page of the map was wanted and in memory.
    map_hits,
    /// Times it was not.
    map_misses,
    /// Page rows read for the map, retries not counted.
    map_reads,
    /// Retries of these.
    map_retries,
    /// Pages of the map that could not be corrected, and were made anew.
    map_lost,
    /// Pages of the map written.
    map_writes,
}
