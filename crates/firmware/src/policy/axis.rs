//! The table of an axis: `axis!` defines an axis from its schemes.

/// Defines an axis: its record, the enum of its schemes, and the dispatch of the trait's methods. The macro
/// takes one row per scheme, the baseline first, and then the methods of the trait.
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
        #[derive(Clone, Debug)]
        pub enum $any {
            $($scheme($module::$scheme)),+
        }

        impl $any {
            /// Builds scheme `name` of the axis with parameter values `values`, in the order of its record.
            /// None if the axis has no such scheme.
            pub fn new(name: &str, setup: &$crate::policy::Setup, values: &[i64]) -> Option<$any> {
                $(if name == $module::SCHEME.name {
                    let values = firstread_core::params::Values::new(&$module::SCHEME, values);
                    return Some($any::$scheme($module::$scheme::new(setup, &values)));
                })+
                None
            }
        }

        impl $trait for $any {
            $crate::policy::axis::axis! { @methods [$($scheme)+] $($methods)* }
        }
    };

    // The methods, one after another.
    (@methods $schemes:tt) => {};
    (
        @methods $schemes:tt
        $(#[$attribute:meta])*
        fn $method:ident(&mut $self:ident $(, $arg:ident: $type:ty)*) $(-> $returns:ty)?;
        $($methods:tt)*
    ) => {
        $(#[$attribute])*
        fn $method(&mut $self $(, $arg: $type)*) $(-> $returns)? {
            $crate::policy::axis::axis! { @call $schemes $self $method ($($arg),*) }
        }
        $crate::policy::axis::axis! { @methods $schemes $($methods)* }
    };
    (
        @methods $schemes:tt
        $(#[$attribute:meta])*
        fn $method:ident(&$self:ident $(, $arg:ident: $type:ty)*) $(-> $returns:ty)?;
        $($methods:tt)*
    ) => {
        $(#[$attribute])*
        fn $method(&$self $(, $arg: $type)*) $(-> $returns)? {
            $crate::policy::axis::axis! { @call $schemes $self $method ($($arg),*) }
        }
        $crate::policy::axis::axis! { @methods $schemes $($methods)* }
    };
    (@call [$($scheme:ident)+] $self:ident $method:ident $args:tt) => {
        match $self { $(Self::$scheme(s) => s.$method $args),+ }
    };
}
pub(crate) use axis;
