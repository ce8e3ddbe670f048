//! Slots where schemes declare streams: for pages that are copied because of how they are read, and for pages that move.
//! A copy that finds none is refused, and nothing waits for it.

use firstread_core::{Arena, CellMode, Lpn, Ns, Status, Wait};

use super::buffer::{Allocated, Refused};
use super::low::Low;
use super::{Item, Place, Refusal};
use crate::ftl::map::Table;
use crate::observe::{Area, Owner, StreamId, StreamUse};
use crate::policy::wear::Wear;
use crate::shared::Shared;

impl Place {
    /// A slot of the declared stream that takes copies of the kind `what`. If the stream has no superblock and its pool
    /// is empty, relocation will look for one. From the common pool it has a superblock only if cleaning and the host
    /// can spare it.
    #[inline(never)] // Few pages go to such a stream.
    pub(super) fn take_for_copy(
        &mut self,
        now: Ns,
        what: StreamUse,
        shared: &mut Shared,
    ) -> Result<(StreamId, Allocated), Refusal> {
        let Some(stream) = self.streams.that_takes(what) else {
            return Err(Refusal::Never(Status::NoSpace));
        };
        if !self.rewrites.is_empty() {
            return Err(Refusal::Wait(Wait::Rewrite));
        }
        // A superblock is opened for a page that it can take now: a move that it cannot take opens another one.
        if self.streams.is_full(stream) {
            return Err(Refusal::Wait(Wait::Buffer));
        }
        let mut taken = self.streams.allocate(stream);
        if let Err(Refused::NeedsBlock) = taken {
            let may_open = match what {
                StreamUse::Promoted(_) => true,
                StreamUse::Low => self.can_open_low(shared),
                _ => self.can_open_for_refresh(shared),
            };
            if !may_open {
                return Err(Refusal::Wait(Wait::Reserve));
            }
            if self.open(now, stream, shared) {
                taken = self.streams.allocate(stream);
            } else if let StreamUse::Promoted(mode) = what {
                self.relocation.wanted.add(mode);
            }
        }
        match taken {
            Ok(slot) => Ok((stream, slot)),
            Err(Refused::Full) => Err(Refusal::Wait(Wait::Buffer)),
            Err(Refused::NeedsBlock) => Err(Refusal::Wait(Wait::Superblock)),
        }
    }

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
            _ if own == StreamId::Map => own,
            Owner::Gc | Owner::Wear
                if shared.heat.is_on()
                    && let Some(stream) = self.streams.read_often()
                    && self.wear[Area::High as usize].takes_along(shared.heat.of(lpn)) =>
            {
                stream
            }
            Owner::Wear => self.streams.cold().unwrap_or(StreamId::Move),
            _ => StreamId::Move,
        }
    }
}
