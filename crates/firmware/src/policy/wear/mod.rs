//! Axis `wear`: which block wears next.
//!
//! `open` is called when a superblock is to be opened, `cold` at most once after each erase, when garbage
//! collection has no hurry; both once a superblock, never on the path of a request. Nothing here allocates after `new`.

use firstread_core::BlockId;
use firstread_core::params::{Axis, Values};

use crate::observe::{BlockMonitor, BlockRow, BlockUse};

mod dynamic;
mod none;
mod static_leveling;

/// The axis.
pub trait Wear {
    /// The free superblock to open next, for cold data, those that `cold` has
    /// moved, or others.
    fn open(&mut self, blocks: &BlockMonitor, cold: bool) -> Option<BlockId>;
    /// A superblock whose data should move so that it wears like the others.
    fn cold(&mut self, blocks: &BlockMonitor) -> Option<BlockId> {
        let _ = blocks;
        None
    }
}

/// Superblocks ready to be opened.
fn free(blocks: &BlockMonitor) -> impl Iterator<Item = (BlockId, &BlockRow)> {
    blocks.iter().filter(|(_, row)| row.usage == BlockUse::Free)
}

macro_rules! schemes {
    ($($module:ident::$scheme:ident),+ $(,)?) => {
        /// Which block wears next.
        pub const AXIS: Axis = Axis {
            name: "wear",
            summary: "which block wears next",
            schemes: &[$($module::SCHEME),+],
        };

        /// The scheme in use.
        #[allow(missing_docs)]
        #[derive(Debug)]
        pub enum AnyWear {
            $($scheme($module::$scheme)),+
        }

        impl AnyWear {
            /// Builds scheme `name` of the axis; `values` are its parameters in the order of its record.
            pub fn new(name: &str, values: &[i64]) -> Option<AnyWear> {
                $(if name == $module::SCHEME.name {
                    let values = Values::new(&$module::SCHEME, values);
                    return Some(AnyWear::$scheme($module::$scheme::new(&values)));
                })+
                None
            }
        }

        impl Wear for AnyWear {
            fn open(&mut self, blocks: &BlockMonitor, cold: bool) -> Option<BlockId> {
                match self { $(Self::$scheme(s) => s.open(blocks, cold)),+ }
            }
            fn cold(&mut self, blocks: &BlockMonitor) -> Option<BlockId> {
                match self { $(Self::$scheme(s) => s.cold(blocks)),+ }
            }
        }
    };
}

// One row a scheme, the null first.
schemes! {
    none::Unleveled,
    dynamic::Dynamic,
    static_leveling::Static,
}
