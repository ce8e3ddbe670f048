//! Slots for pages that move, where schemes declare streams.

use firstread_core::{Arena, CellMode, Lpn, Ns};

use super::buffer::Allocated;
use super::low::Low;
use super::{Item, Place, Refusal};
use crate::ftl::map::Table;
use crate::observe::{Area, Owner, StreamId, StreamUse};
use crate::policy::wear::Wear;
use crate::shared::Shared;

impl Place {
    /// A slot for `item`, which moves for `owner`, where schemes declare streams: in the stream of mode `to`, in the low
    /// wearing area, or in a stream of relocation.
    #[inline(never)] // Drives whose schemes declare no stream pass it by.
    pub(super) fn take_for_scheme<M: Arena>(
        &mut self,
        now: Ns,
        item: &Item,
        (owner, to): (Owner, Option<CellMode>),
        own: StreamId,
        table: &Table<M>,
        shared: &mut Shared,
    ) -> Result<(StreamId, Allocated), Refusal> {
        let stays = to.map(StreamUse::Promoted);
        let stays = stays.and_then(|what| self.take_for_copy(now, what, shared).ok());
        if let Some(taken) = stays {
            return Ok(taken);
        }
        let low = match self.take_move_low(now, item, table, shared)? {
            Low::Taken(taken) => return Ok(taken),
            low => low,
        };
        let own = self.stream_of_move(owner, item.lpn, own, shared);
        let taken = self.take_for_move(now, own, shared)?;
        let along = taken.0 == own && self.streams.read_often() == Some(own);
        shared.counters.slots_taken_along += u64::from(along);
        low.count_refused(shared);
        Ok(taken)
    }

    /// The stream of page `lpn` that moves for `owner`, `own` where no scheme says otherwise: wear leveling has one of its
    /// own for cold data, and one for pages read often that move anyway, if its scheme declares them.
    #[inline]
    fn stream_of_move(&self, owner: Owner, lpn: Lpn, own: StreamId, shared: &Shared) -> StreamId {
        match owner {
            _ if own == self.streams.map() => own,
            Owner::Gc | Owner::Wear
                if shared.heat.is_on()
                    && let Some(stream) = self.streams.read_often()
                    && self.wear[Area::High as usize].takes_along(shared.heat.of(lpn)) =>
            {
                stream
            }
            Owner::Wear => self.streams.cold().unwrap_or(StreamId::MOVE),
            _ => StreamId::MOVE,
        }
    }
}
