//! The contract of schemes of axis `refresh`.

use super::MostSenses;
use crate::observe::StreamRow;
use crate::policy::hot_pages::PageRead;

/// The trait of the axis.
pub trait Refresh {
    /// Senses of multi-plane pages of a superblock since its erase from which the superblock is emptied and its data
    /// are rewritten, by its cell mode.
    fn most_senses(&self) -> MostSenses {
        MostSenses::NEVER
    }
    /// The stream that the scheme declares, in the drive's own mode; none if it rewrites no single pages.
    fn streams(&self) -> &'static [StreamRow] {
        &[]
    }
    /// A host read of a page from a full superblock in the drive's own mode has ended well. Returns whether the page
    /// is to be rewritten.
    fn rewrites(&mut self, read: &PageRead) -> bool {
        let _ = read;
        false
    }
}
