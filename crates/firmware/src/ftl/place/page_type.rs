//! How hot a page is that is placed, as axis `page_type` sees it.

use firstread_core::Lpn;

use super::Placement;
use crate::policy::hot_pages::PageRead;
use crate::policy::page_type::{PageTypes, PlacedPage, Wish};
use crate::shared::Shared;

impl Placement {
    /// Whether axis `page_type` is asked. If not, pages are placed in order.
    #[inline]
    pub(crate) fn places_by_heat(&self) -> bool {
        self.streams.page_type().is_on()
    }

    /// How hot the `slots` pages from `first` on are, which the drive `moves` or the host writes; none where they are placed in
    /// order. They lie in one multi-plane page of the host's address space.
    #[inline]
    pub(crate) fn wish(
        &self,
        first: Lpn,
        slots: u32,
        moves: bool,
        shared: &Shared,
    ) -> Option<Wish> {
        match self.places_by_heat() {
            true => self.wish_by_scheme(first, slots, moves, shared),
            false => None,
        }
    }

    #[inline(never)] // Most drives place in order.
    fn wish_by_scheme(&self, first: Lpn, slots: u32, moves: bool, shared: &Shared) -> Option<Wish> {
        self.streams.page_type().wish(&PlacedPage {
            group: first.0 / u64::from(shared.layout.slots_per_mp_page()),
            moves,
            heat: shared.heat.mean(first, slots),
            most_reads: shared.heat.most_reads(),
            epoch: shared.heat.epoch(),
            reads_left: shared.future.mean_left(first, slots),
        })
    }

    /// Whether the page of `read` is to be moved for the sake of its page type.
    pub(crate) fn promotes(&mut self, read: &PageRead) -> bool {
        self.streams.page_type_mut().promotes(read)
    }

    /// Whether a page that [`Placement::promotes`] chose may be moved now. It leaves garbage where it lay and takes a slot where moves
    /// go, so it makes a claim on that slot. A claim that is refused has cleaning make room for a superblock of such pages. And it waits
    /// for all that the host waits for: moves that are due, and programs of a full write buffer.
    pub(crate) fn may_promote(&mut self, shared: &Shared) -> bool {
        let is_full = |stream| self.streams.is_full(stream);
        let host_waits = self.relocation.pace.is_due() || self.streams.of_host().any(is_full);
        !host_waits && self.may_lend(1, shared)
    }

    /// The page that [`Placement::promotes`] chose will be moved.
    pub(crate) fn has_promoted(&mut self) {
        self.streams.page_type_mut().has_promoted();
    }

    /// Whether [`Placement::promotes`] is asked.
    #[inline]
    pub(crate) fn sees_reads(&self) -> bool {
        self.streams.page_type().sees_reads()
    }
}
