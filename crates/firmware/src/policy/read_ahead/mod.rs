//! Axis `read_ahead`: what is read before the host asks for it.
//!
//! `on_read` is called for every read of the host, in the order of arrival, and names the logical
//! pages to read ahead of it, if any. What can be read ahead of them is started, and `started` says
//! how far that got: jobs and buffers may run out, and the rest is asked for again with the
//! stream's next read. Both are on the path of a request. Nothing here allocates after `new`.

use firstread_core::params::{Axis, Values};

mod none;
mod sequential;

/// What a scheme is built from.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Bytes of a logical page.
    pub slot_bytes: u32,
    /// Logical pages of a page row, which are sensed at once.
    pub row_slots: u32,
    /// Logical pages of the drive.
    pub capacity_slots: u64,
}

/// A read of the host.
#[derive(Clone, Copy, Debug)]
pub struct HostRead {
    /// Who asks: streams of different clients have nothing to do with each other.
    pub client: u16,
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub len_bytes: u32,
}

/// Logical pages to read ahead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ahead {
    /// The stream they belong to.
    pub stream: u16,
    /// First page.
    pub first: u64,
    /// First page after them.
    pub end: u64,
}

/// The axis.
pub trait ReadAhead {
    /// The pages to read ahead, now that the host reads `read`.
    fn on_read(&mut self, read: HostRead) -> Option<Ahead>;
    /// Of the pages last named for `stream`, those before `end` are read, or need not be.
    fn started(&mut self, stream: u16, end: u64);
    /// Logical pages it wants kept in memory at the same time, beyond the read cache; zero for a
    /// scheme that reads nothing ahead.
    fn buffer_slots(&self) -> u32;
    /// Page rows it wants read at the same time at most.
    fn rows(&self) -> u32;
}

macro_rules! schemes {
    ($($module:ident::$scheme:ident),+ $(,)?) => {
        /// What is read before the host asks for it.
        pub const AXIS: Axis = Axis {
            name: "read_ahead",
            summary: "what is read before the host asks for it",
            schemes: &[$($module::SCHEME),+],
        };

        /// The scheme in use.
        #[allow(missing_docs)]
        #[derive(Debug)]
        pub enum AnyReadAhead {
            $($scheme($module::$scheme)),+
        }

        impl AnyReadAhead {
            /// Builds scheme `name` of the axis; `values` are its parameters in the order of its record.
            pub fn new(name: &str, setup: &Setup, values: &[i64]) -> Option<AnyReadAhead> {
                $(if name == $module::SCHEME.name {
                    let values = Values::new(&$module::SCHEME, values);
                    return Some(AnyReadAhead::$scheme($module::$scheme::new(setup, &values)));
                })+
                None
            }
        }

        impl ReadAhead for AnyReadAhead {
            #[inline]
            fn on_read(&mut self, read: HostRead) -> Option<Ahead> {
                match self { $(Self::$scheme(s) => s.on_read(read)),+ }
            }
            fn started(&mut self, stream: u16, end: u64) {
                match self { $(Self::$scheme(s) => s.started(stream, end)),+ }
            }
            fn buffer_slots(&self) -> u32 {
                match self { $(Self::$scheme(s) => s.buffer_slots()),+ }
            }
            fn rows(&self) -> u32 {
                match self { $(Self::$scheme(s) => s.rows()),+ }
            }
        }
    };
}

// One row a scheme, the null first.
schemes! {
    none::Nothing,
    sequential::Sequential,
}
