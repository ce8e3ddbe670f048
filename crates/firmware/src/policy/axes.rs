//! The table of axes: `axes!` defines the schemes of a drive, one per axis.

use firstread_core::params::Axis;

use super::Setup;

macro_rules! axes {
    ($($(#[$doc:meta])* $axis:ident: $any:ident),+ $(,)?) => {
        /// All axes, in the order in which they are listed to users.
        pub const AXES: &[Axis] = &[$(super::$axis::AXIS),+];

        /// The schemes of a drive, one per axis.
        #[derive(Clone, Debug)]
        pub struct Schemes {
            $($(#[$doc])* pub $axis: super::$axis::$any),+
        }

        impl Schemes {
            /// The schemes named by `choice`, one per axis, each with the values of its parameters in the
            /// order of its record. None if an axis has no scheme of that name.
            pub fn new<'a>(
                setup: &Setup,
                choice: impl Fn(&Axis) -> (&'a str, &'a [i64]),
            ) -> Option<Schemes> {
                Some(Schemes {
                    $($axis: {
                        let (name, values) = choice(&super::$axis::AXIS);
                        super::$axis::$any::new(name, setup, values)?
                    }),+
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
    /// Whether a die suspends a program or erase for a host read.
    suspend: AnySuspend,
    /// What is read before the host asks for it.
    read_ahead: AnyReadAhead,
}
