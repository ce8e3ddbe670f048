//! Axis `page_type`: on which page type of a wordline data land.
//!
//! The pages of a QLC wordline take different times to read: with the 1-2-4-8 Gray code the fastest has one sense and the
//! slowest eight. They are programmed together, so which of them a logical page gets costs nothing at the write. Placement asks
//! [`PageTypes::wish`] when it knows which page will be written, and [`PageTypes::order`] when it knows in which stream. A
//! page that finds no room on its page type takes the nearest one. `docs/firmware/page-types.md` has the life of a page.
//!
//! `wish`, `order`, `has_placed`, `promotes` and `has_promoted` are on the path of a request. Nothing here allocates after `new`.

mod by_heat;
mod clairvoyant;
mod contract;
mod in_order;
mod page_orders;
mod read_heat;
mod shares;

use firstread_core::CellMode;

use crate::policy::axis::axis;
use crate::policy::hot_pages::PageRead;
pub use contract::{MOST_PLACED_STREAMS, PageOrder, PageTypes, PlacedPage, Wish};

axis! {
    "page_type": "on which page type of a wordline data land";
    AnyPageType: PageTypes {
        in_order::InOrder,
        read_heat::ReadHeat,
        clairvoyant::Clairvoyant,
    }
    #[inline]
    fn is_on(&self) -> bool;
    fn wish(&self, page: &PlacedPage) -> Option<Wish>;
    fn order(&self, stream: usize, wish: Wish, mode: CellMode) -> PageOrder;
    fn has_placed(&mut self, stream: usize, wish: Wish);
    #[inline]
    fn sees_reads(&self) -> bool;
    fn promotes(&mut self, read: &PageRead) -> bool;
    fn has_promoted(&mut self);
}
