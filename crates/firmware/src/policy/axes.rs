//! The tables: `axis!` makes an axis of its schemes, `axes!` the firmware's schemes of its axes.

use firstread_core::params::Axis;

use super::Setup;

/// An axis: its record, the scheme in use, and how calls of the axis's trait reach it. A row a scheme, the null
/// first; then the methods of the trait.
macro_rules! axis {
    (
        $name:literal: $summary:literal;
        $any:ident: $trait:ident {
            $($module:ident::$scheme:ident),+ $(,)?
        }
        $($methods:tt)*
    ) => {
        #[doc = concat!("The axis: ", $summary, ".")]
        pub const AXIS: firstread_core::params::Axis = firstread_core::params::Axis {
            name: $name,
            summary: $summary,
            schemes: &[$($module::SCHEME),+],
        };

        /// The scheme in use.
        #[allow(missing_docs)]
        #[derive(Debug)]
        pub enum $any {
            $($scheme($module::$scheme)),+
        }

        impl $any {
            /// Builds scheme `name` of the axis; `values` are its parameters in the order of its record. None
            /// where the axis has no such scheme.
            pub fn new(name: &str, setup: &$crate::policy::Setup, values: &[i64]) -> Option<$any> {
                $(if name == $module::SCHEME.name {
                    let values = firstread_core::params::Values::new(&$module::SCHEME, values);
                    return Some($any::$scheme($module::$scheme::new(setup, &values)));
                })+
                None
            }
        }

        impl $trait for $any {
            $crate::policy::axes::axis! { @methods [$($scheme)+] $($methods)* }
        }
    };

    // One method after another.
    (@methods $schemes:tt) => {};
    (
        @methods $schemes:tt
        $(#[$attribute:meta])*
        fn $method:ident(&mut $self:ident $(, $arg:ident: $type:ty)*) $(-> $returns:ty)?;
        $($methods:tt)*
    ) => {
        $(#[$attribute])*
        fn $method(&mut $self $(, $arg: $type)*) $(-> $returns)? {
            $crate::policy::axes::axis! { @call $schemes $self $method ($($arg),*) }
        }
        $crate::policy::axes::axis! { @methods $schemes $($methods)* }
    };
    (
        @methods $schemes:tt
        $(#[$attribute:meta])*
        fn $method:ident(&$self:ident $(, $arg:ident: $type:ty)*) $(-> $returns:ty)?;
        $($methods:tt)*
    ) => {
        $(#[$attribute])*
        fn $method(&$self $(, $arg: $type)*) $(-> $returns)? {
            $crate::policy::axes::axis! { @call $schemes $self $method ($($arg),*) }
        }
        $crate::policy::axes::axis! { @methods $schemes $($methods)* }
    };
    (@call [$($scheme:ident)+] $self:ident $method:ident $args:tt) => {
        match $self { $(Self::$scheme(s) => s.$method $args),+ }
    };
}
pub(crate) use axis;

macro_rules! axes {
    ($($(#[$doc:meta])* $axis:ident: $any:ident),+ $(,)?) => {
        /// Every axis, in the order they are listed to users.
        pub const AXES: &[Axis] = &[$(super::$axis::AXIS),+];

        /// The schemes of a drive, one an axis.
        #[derive(Debug)]
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
