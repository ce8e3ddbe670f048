//! The table of an axis: `axis!` makes an axis of its schemes.

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
        #[derive(Clone, Debug)]
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
            $crate::policy::axis::axis! { @methods [$($scheme)+] $($methods)* }
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
