//! The table of axes: `axes!` makes the firmware's schemes of its axes.

use firstread_core::params::Axis;

use super::Setup;

macro_rules! axes {
    ($($(#[$doc:meta])* $axis:ident: $any:ident),+ $(,)?) => {
        /// Every axis, in the order they are listed to users.
        pub const AXES: &[Axis] = &[$(super::$axis::AXIS),+];

        /// The schemes of a drive, one an axis.
        #[derive(Clone, Debug)]
        pub struct Schemes {
            $($(#[$doc])* pub $axis: super::$axis::$any),+
        }

        impl Schemes {
            /// The schemes that `choice` names, one an axis, each with the values of its parameters in the order
            /// of its record. None where an axis has no such scheme.
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

// One row an axis.
axes! {
    /// Which levels a read tries.
    read_levels: AnyReadLevels,
    /// How the steps of a read execute.
    retry: AnyRetry,
    /// What is tried when they have all failed.
    recovery: AnyRecovery,
    /// Which superblock garbage collection cleans next.
    gc_victim: AnyGcVictim,
    /// Which block wears next.
    wear: AnyWear,
    /// Whether a die stops a program or an erase for a read of the host.
    suspend: AnySuspend,
    /// What is read before the host asks for it.
    read_ahead: AnyReadAhead,
}
