//! The table of axes: `axes!` defines the schemes of a drive, one per axis.

use alloc::boxed::Box;

use firstread_core::CellMode;
use firstread_core::params::Axis;

use super::Setup;
use super::area::Areas;
use super::cell_mode::CellModes;
use super::read_levels::AnyReadLevels;
use super::refresh::Refresh;
use super::retry::AnyRetry;
use super::stream::HostStreams;
use super::wear::Wear;
use crate::format::checksum;
use crate::observe::StreamRow;

/// The schemes that learn from reads, for superblocks of one cell mode.
#[derive(Clone, Debug)]
pub struct ModeSchemes {
    /// The mode whose superblocks these instances serve.
    pub mode: CellMode,
    /// Which read levels a read tries.
    pub read_levels: AnyReadLevels,
    /// How the steps of a read are executed.
    pub retry: AnyRetry,
}

macro_rules! axes {
    ($($(#[$doc:meta])* $axis:ident: $any:ident),+ $(,)?) => {
        /// All axes, in the order in which they are listed to users.
        pub const AXES: &[Axis] = &[$(super::$axis::AXIS),+];

        /// The schemes of a drive, one per axis.
        #[derive(Clone, Debug)]
        pub struct Schemes {
            $($(#[$doc])* pub $axis: super::$axis::$any,)+
            /// The schemes of reads for each other cell mode of [`Setup::other_modes`].
            pub other_modes: Box<[ModeSchemes]>,
            /// What tells a scheme of axis `read_levels` from others, its parameters included; and one of axis `retry`.
            pub(crate) read_identities: [u32; 2],
        }

        impl Schemes {
            /// The schemes named by `choice`, one per axis, each with the values of its parameters in the
            /// order of its record. None if an axis has no scheme of that name.
            pub fn new<'a>(
                setup: &Setup,
                choice: impl Fn(&Axis) -> (&'a str, &'a [i64]),
            ) -> Option<Schemes> {
                let in_mode = |(mode, setup): (CellMode, Setup)| {
                    let (levels, levels_values) = choice(&super::read_levels::AXIS);
                    let (retry, retry_values) = choice(&super::retry::AXIS);
                    Some(ModeSchemes {
                        mode,
                        read_levels: AnyReadLevels::new(levels, &setup, levels_values)?,
                        retry: AnyRetry::new(retry, &setup, retry_values)?,
                    })
                };
                let other_modes: Option<Box<[ModeSchemes]>> =
                    setup.in_other_modes().map(in_mode).collect();
                Some(Schemes {
                    $($axis: {
                        let (name, values) = choice(&super::$axis::AXIS);
                        super::$axis::$any::new(name, setup, values)?
                    },)+
                    other_modes: other_modes?,
                    read_identities: [
                        identity(choice(&super::read_levels::AXIS)),
                        identity(choice(&super::retry::AXIS)),
                    ],
                })
            }
        }
    };
}

// One row per axis.
axes! {
    /// Which read levels a read tries.
    read_levels: AnyReadLevels,
    /// How the steps of a read are executed.
    retry: AnyRetry,
    /// What is tried after all steps of a read have failed.
    read_recovery: AnyReadRecovery,
    /// Which superblock garbage collection cleans next.
    gc_victim: AnyGcVictim,
    /// Which superblock is worn next.
    wear: AnyWear,
    /// Which regions wear apart.
    area: AnyArea,
    /// Whether a die suspends a program or erase for a host read.
    suspend: AnySuspend,
    /// Which data lie in another cell mode than the drive's own.
    cell_mode: AnyCellMode,
    /// Which data are rewritten because of their reads.
    refresh: AnyRefresh,
    /// What is read before the host asks for it.
    read_ahead: AnyReadAhead,
    /// On which page type of a wordline data land.
    page_type: AnyPageType,
    /// Which data share a superblock.
    stream: AnyHostStreams,
}

/// What tells a scheme of this name and these values of its parameters from others of its axis.
fn identity((name, values): (&str, &[i64])) -> u32 {
    let values = values.iter().map(|value| value.to_le_bytes());
    let mut digest = checksum([name.as_bytes()].into_iter());
    for value in values {
        digest = checksum([&digest.to_le_bytes()[..], &value].into_iter());
    }
    digest
}

/// Axes whose schemes declare streams.
pub(crate) const DECLARE: usize = 6;

impl Schemes {
    /// The streams that schemes declare, those of an axis together.
    pub(crate) fn streams(&self) -> [&'static [StreamRow]; DECLARE] {
        [
            self.cell_mode.streams(),
            self.refresh.streams(),
            self.wear.streams(),
            self.area.streams(),
            self.stream.of_host(),
            self.stream.of_moves(),
        ]
    }
}
