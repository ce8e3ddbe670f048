//! Axis `suspend`: whether a die stops a program or an erase for a read of the host.
//!
//! `suspends` is called when a read of the host comes to a die that runs a program or an erase, and
//! once more for each that comes while it runs; what is suspended resumes when the die has no read
//! of the host left. What a chip allows and what it costs is the chip's.

use firstread_core::params::{Axis, Values};

mod erase;
mod free;
mod none;
mod program;
mod program_erase;

/// What a die runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Running {
    /// A program.
    Program,
    /// An erase.
    Erase,
}

/// The axis.
pub trait Suspend {
    /// Whether to suspend what runs; it has been suspended `times` before, and the chip allows
    /// `most`.
    fn suspends(&self, running: Running, times: u16, most: u16) -> bool;
}

macro_rules! schemes {
    ($($module:ident::$scheme:ident),+ $(,)?) => {
        /// Whether a die stops a program or an erase for a read of the host.
        pub const AXIS: Axis = Axis {
            name: "suspend",
            summary: "whether a die stops a program or an erase for a read of the host",
            schemes: &[$($module::SCHEME),+],
        };

        /// The scheme in use.
        #[allow(missing_docs)]
        #[derive(Debug)]
        pub enum AnySuspend {
            $($scheme($module::$scheme)),+
        }

        impl AnySuspend {
            /// Builds scheme `name` of the axis; `values` are its parameters in the order of its record.
            pub fn new(name: &str, values: &[i64]) -> Option<AnySuspend> {
                $(if name == $module::SCHEME.name {
                    let values = Values::new(&$module::SCHEME, values);
                    return Some(AnySuspend::$scheme($module::$scheme::new(&values)));
                })+
                None
            }
        }

        impl Suspend for AnySuspend {
            #[inline]
            fn suspends(&self, running: Running, times: u16, most: u16) -> bool {
                match self { $(Self::$scheme(s) => s.suspends(running, times, most)),+ }
            }
        }
    };
}

// One row a scheme, the null first.
schemes! {
    none::Uninterrupted,
    erase::Erases,
    program::Programs,
    program_erase::Both,
    free::Free,
}
