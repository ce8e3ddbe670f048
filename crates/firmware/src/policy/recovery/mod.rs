//! Axis `recovery`: what is tried for a read when every step of its levels has failed.
//!
//! `soft_after` is asked after the last hard step has failed, and again after each soft one: what to
//! sense next, or none when the read is uncorrectable. It is asked for no read that succeeds.

use firstread_core::SenseMode;
use firstread_core::params::{Axis, Values};

mod none;
mod parity;
mod soft;
mod soft_parity;

/// Whether scheme `name` needs a code with a soft decoder.
pub fn needs_soft_decoder(name: &str) -> bool {
    name == soft::SCHEME.name || name == soft_parity::SCHEME.name
}

/// Whether scheme `name` needs parity across the dies of a superblock.
pub fn needs_parity(name: &str) -> bool {
    name == parity::SCHEME.name || name == soft_parity::SCHEME.name
}

/// The axis.
pub trait Recovery {
    /// Whether a read is ever sensed softly.
    fn is_soft(&self) -> bool {
        false
    }
    /// What is sensed after a step that sensed `failed` has failed.
    fn soft_after(&self, failed: SenseMode) -> Option<SenseMode> {
        let _ = failed;
        None
    }
    /// Whether superblocks have parity, from which what is still lost is made anew. Fixed.
    fn has_parity(&self) -> bool {
        false
    }
}

macro_rules! schemes {
    ($($module:ident::$scheme:ident),+ $(,)?) => {
        /// What is tried when every step of a read has failed.
        pub const AXIS: Axis = Axis {
            name: "recovery",
            summary: "what is tried when every step of a read has failed",
            schemes: &[$($module::SCHEME),+],
        };

        /// The scheme in use.
        #[allow(missing_docs)]
        #[derive(Debug)]
        pub enum AnyRecovery {
            $($scheme($module::$scheme)),+
        }

        impl AnyRecovery {
            /// Builds scheme `name` of the axis; `values` are its parameters in the order of its record.
            pub fn new(name: &str, values: &[i64]) -> Option<AnyRecovery> {
                $(if name == $module::SCHEME.name {
                    let values = Values::new(&$module::SCHEME, values);
                    return Some(AnyRecovery::$scheme($module::$scheme::new(&values)));
                })+
                None
            }
        }

        impl Recovery for AnyRecovery {
            fn is_soft(&self) -> bool {
                match self { $(Self::$scheme(s) => s.is_soft()),+ }
            }
            fn soft_after(&self, failed: SenseMode) -> Option<SenseMode> {
                match self { $(Self::$scheme(s) => s.soft_after(failed)),+ }
            }
            fn has_parity(&self) -> bool {
                match self { $(Self::$scheme(s) => s.has_parity()),+ }
            }
        }
    };
}

// One row a scheme, the null first.
schemes! {
    none::Nothing,
    soft::Soft,
    parity::Parity,
    soft_parity::SoftParity,
}
