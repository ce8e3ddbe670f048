//! Durations that do not depend on the mode.

use super::field::{LONGEST_NS, Numbers, ProfileError, bad, numbers, path};

numbers! {
    /// Durations that do not depend on the mode.
    pub struct ChipTiming {
        /// `tSET`: changing a feature, such as the sensing time (ns).
        set_feature_ns: u64 = "set_feature", NS, 0, LONGEST_NS;
        /// Changing the read levels of a die, where they are a feature too; zero where they come with each
        /// read command (ns).
        set_levels_ns: u64 = "set_levels", NS, 0, LONGEST_NS;
        /// Whether each plane has level registers of its own. Where planes share them, those that need
        /// different levels are sensed one after another.
        plane_levels: bool = "plane_levels", ONE, 0, 1;
        /// `tRST` during a read: ending a sense that is no longer wanted (ns).
        reset_ns: u64 = "reset", NS, 0, LONGEST_NS;
        /// `tRCBSY`: moving a page from the page register to the cache register, before the next sense of
        /// a cache read begins and its data can be read out (ns).
        cache_busy_ns: u64 = "cache_busy", NS, 0, LONGEST_NS;
        /// From a suspend command until the array is free, of a program (ns).
        program_suspend_ns: u64 = "program_suspend", NS, 0, LONGEST_NS;
        /// From a suspend command until the array is free, of an erase (ns).
        erase_suspend_ns: u64 = "erase_suspend", NS, 0, LONGEST_NS;
        /// Added to what is left when a program or erase resumes (ns).
        resume_ns: u64 = "resume", NS, 0, LONGEST_NS;
        /// Times one program or erase may be suspended.
        max_suspends: u16 = "max_suspends", ONE, 0, 65_535;
        /// Least time a program or erase runs between a resume and the next suspend (ns).
        min_progress_ns: u64 = "min_progress", NS, 0, LONGEST_NS;
        /// Transfers per second of the channel, eight bits each (MT/s).
        io_mt_per_s: u32 = "io", MT_PER_S, 1, 100_000;
        /// Whether planes of a die may sense different pages at the same time, each beginning and ending
        /// by itself (independent-plane or independent-wordline read). Programs and erases take the whole
        /// die all the same.
        independent_plane_reads: bool = "independent_plane_reads", ONE, 0, 1;
    }
}

impl ChipTiming {
    pub(super) fn validate(&self, table: &str) -> Result<(), ProfileError> {
        if self.independent_plane_reads && !self.plane_levels {
            return Err(bad(
                path(table, "plane_levels"),
                "planes that read independently have level registers of their own",
            ));
        }
        self.check(table)
    }
}
