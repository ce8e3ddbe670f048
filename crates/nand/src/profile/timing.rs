//! Durations that do not depend on the mode.

use super::error::{ProfileError, Reason, bad};
use super::field::{LONGEST_NS, Numbers, numbers, path};

numbers! {
    /// Durations that do not depend on the mode.
    pub struct ChipTiming {
        /// `tSET`: changing a feature, such as the sensing time (ns).
        set_feature_ns: u64 = "set_feature", NS, 0, LONGEST_NS;
        /// Time to change the read levels of a die, if they are a feature; zero if they come with each read
        /// command (ns).
        set_levels_ns: u64 = "set_levels", NS, 0, LONGEST_NS;
        /// Whether each plane has its own level registers. If planes share them, planes that need different
        /// levels are sensed one after another.
        plane_levels: bool = "plane_levels", ONE, 0, 1;
        /// `tRST` during a read: time to end a sense that is no longer wanted (ns).
        reset_ns: u64 = "reset", NS, 0, LONGEST_NS;
        /// `tRCBSY`: time to move a page from the page register to the cache register, before the next sense
        /// of a cache read begins and before the data can be read out (ns).
        cache_busy_ns: u64 = "cache_busy", NS, 0, LONGEST_NS;
        /// Time from a suspend command until the array is free, for a program (ns).
        program_suspend_ns: u64 = "program_suspend", NS, 0, LONGEST_NS;
        /// Time from a suspend command until the array is free, for an erase (ns).
        erase_suspend_ns: u64 = "erase_suspend", NS, 0, LONGEST_NS;
        /// Time added to the remaining operation when a program or erase resumes (ns).
        resume_ns: u64 = "resume", NS, 0, LONGEST_NS;
        /// Number of times that one program or erase may be suspended.
        max_suspends: u16 = "max_suspends", ONE, 0, 65_535;
        /// Minimum time that a program or erase runs between a resume and the next suspend (ns).
        min_progress_ns: u64 = "min_progress", NS, 0, LONGEST_NS;
        /// Transfers per second on the channel, eight bits each (MT/s).
        io_mt_per_s: u32 = "io", MT_PER_S, 1, 100_000;
        /// Whether the planes of a die may sense different pages at the same time, each starting
        /// independently (independent-plane or independent-wordline read). Programs and erases still occupy
        /// the whole die.
        independent_plane_reads: bool = "independent_plane_reads", ONE, 0, 1;
    }
}

impl ChipTiming {
    pub(crate) fn validate(&self, table: &str) -> Result<(), ProfileError> {
        if self.independent_plane_reads && !self.plane_levels {
            return Err(bad(
                path(table, "plane_levels"),
                Reason::Rule("planes that read independently have level registers of their own"),
            ));
        }
        self.check(table)
    }
}
