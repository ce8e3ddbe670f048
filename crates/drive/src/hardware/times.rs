//! Durations of the hardware, other than those of the chip.

use firstread_core::{Divisor, FlashKind, FlashOp, IdealScope, Levels};

use super::suspend::SuspendTimes;
use crate::cells::Cells;

/// Durations of the hardware other than the chip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Command and address cycles of a flash operation.
    pub command_ns: u64,
    /// Whether command cycles occupy the channel. False if they take no time.
    pub commands_occupy: bool,
    /// Time per byte on a channel, in femtoseconds.
    pub channel_fs_per_byte: u64,
    /// Codewords that a channel's decoder decodes in parallel.
    pub decoder_lanes: Divisor,
    /// Whether a codeword is decoded while later ones are still being transferred.
    pub decode_streams: bool,
    /// Cost of suspending a program or erase.
    pub suspend: SuspendTimes,
    /// Time to move a page to the cache register.
    pub cache_busy_ns: u64,
    /// Time to end a sense that is not wanted.
    pub reset_ns: u64,
    /// Time to set the sensing time.
    pub set_feature_ns: u64,
    /// Time to set the read levels; zero if they come with the command.
    pub set_levels_ns: u64,
    /// Whether the planes of a die share their level registers.
    pub shared_levels: bool,
    /// Whether planes of a die read independently.
    pub independent_planes: bool,
}

impl Times {
    /// Whether setting levels ever takes extra time.
    #[inline]
    pub(super) fn sets_levels(&self) -> bool {
        self.set_levels_ns != 0 || self.shared_levels
    }

    /// Time that the levels of read `op` add to its `sense`, on a die whose level registers hold `set`: a SET
    /// FEATURE if the levels change; and if the planes share the registers and need different levels, the
    /// planes are sensed one after another. Ideal levels are set when an oracle takes over from other reads. What the
    /// chip finds itself is of each plane.
    #[inline(never)]
    pub(super) fn levels(&self, cells: &Cells, set: &mut Levels, op: &FlashOp, sense: u64) -> u64 {
        let FlashKind::Read { levels, wanted, .. } = op.kind else {
            return 0;
        };
        let mut ns = 0;
        if *set != levels {
            *set = levels;
            ns = self.set_levels_ns;
        }
        if self.shared_levels
            && matches!(
                levels,
                Levels::Ideal(IdealScope::Page | IdealScope::PageAtAnyTime) | Levels::OnDie(_)
            )
        {
            ns += (cells.planes(wanted) - 1) * (self.set_levels_ns + sense);
        }
        ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A read is asked for the time of its levels where that may be more than nothing: where registers are set by a
    /// command of their own, and where planes take turns at one register.
    #[test]
    fn formula_levels_take_time_where_registers_are_set_or_shared() {
        for (set_levels_ns, shared_levels, takes_time) in [
            (0, false, false),
            (0, true, true),
            (1_000, false, true),
            (1_000, true, true),
        ] {
            let times = Times {
                command_ns: 0,
                commands_occupy: false,
                channel_fs_per_byte: 0,
                decoder_lanes: Divisor::new(1),
                decode_streams: false,
                suspend: SuspendTimes::FREE,
                cache_busy_ns: 0,
                reset_ns: 0,
                set_feature_ns: 0,
                set_levels_ns,
                shared_levels,
                independent_planes: false,
            };
            assert_eq!(
                times.sets_levels(),
                takes_time,
                "{set_levels_ns} ns, shared {shared_levels}"
            );
        }
    }
}
