//! Axis `recovery`: what is tried for a read whose levels do not come near enough.
//!
//! `soft_after` is asked when soft senses are due and again after each of them has failed: what to sense
//! next, or none. They are due after the last hard step, and before it once `hard_steps` in a row came no
//! nearer than the nearest one. Neither is asked for a read that succeeds.

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

/// Whether scheme `name` needs parity across the dies of a superblock: the geometry of its drive has it,
/// and what is lost after all steps is made anew from there.
pub fn needs_parity(name: &str) -> bool {
    name == parity::SCHEME.name || name == soft_parity::SCHEME.name
}

/// The axis.
pub trait Recovery {
    /// What is sensed after a step that sensed `failed` has failed.
    fn soft_after(&self, failed: SenseMode) -> Option<SenseMode> {
        let _ = failed;
        None
    }
    /// Hard steps in a row that came no nearer, after which soft senses come first; none: only when there
    /// are no hard steps left.
    fn hard_steps(&self) -> Option<u8> {
        None
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
            fn soft_after(&self, failed: SenseMode) -> Option<SenseMode> {
                match self { $(Self::$scheme(s) => s.soft_after(failed)),+ }
            }
            fn hard_steps(&self) -> Option<u8> {
                match self { $(Self::$scheme(s) => s.hard_steps()),+ }
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
