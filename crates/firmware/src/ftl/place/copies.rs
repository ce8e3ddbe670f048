//! Slots of declared streams of copies. Such a stream takes pages that are copied because of how they are read, for
//! which nothing waits, and pages that stay in the stream when they move.

use firstread_core::{Ns, Wait};

use super::buffer::NoSlot;
use super::target::Taken;
use super::{Placement, TakeError};
use crate::observe::{StreamId, StreamUse};
use crate::policy::page_type::Wish;
use crate::shared::Shared;

impl Placement {
    /// A slot of declared stream `stream`. If the stream has no superblock and its pool is empty, relocation will look
    /// for one. From a common pool it has a superblock only if cleaning and the host can spare it.
    #[inline(never)] // Few pages go to such a stream.
    pub(super) fn take_for_copy(
        &mut self,
        now: Ns,
        stream: StreamId,
        wish: Option<Wish>,
        shared: &mut Shared,
    ) -> Result<Taken, TakeError> {
        if !self.rewrites.is_empty() {
            return Err(TakeError::Wait(Wait::Rewrite));
        }
        // A superblock is opened for a page that it can take now: a move that it cannot take opens another one.
        if self.streams.is_full(stream) {
            return Err(TakeError::Wait(Wait::Buffer));
        }
        let mut taken = self.streams.allocate(stream, wish);
        if let Err(NoSlot::NeedsBlock) = taken {
            let what = self.streams.takes(stream);
            let may_open = match what {
                StreamUse::Promoted(mode) => self.promoted_may_open(mode),
                StreamUse::Written(_) => self.written_may_open(),
                StreamUse::Region(region) => self.can_open_in(region, shared),
                _ => self.may_lend(self.space.largest_slots as u32, shared),
            };
            if !may_open {
                // A page of the host goes where it would go without the pool.
                let is_written = matches!(what, StreamUse::Written(_));
                let wait = if is_written {
                    Wait::Superblock
                } else {
                    Wait::Reserve
                };
                return Err(TakeError::Wait(wait));
            }
            if self.open(now, stream, shared) {
                taken = self.streams.allocate(stream, wish);
            } else if let StreamUse::Promoted(mode) = what
                && !self.pool_keeps()
            {
                // Pages that the host writes ask for none: their pool grows on its own account.
                self.relocation.wanted.add(mode);
                self.relocation.pool_alone_wants = false;
            }
        }
        match taken {
            Ok(slot) => Ok((stream, slot)),
            Err(NoSlot::Full) => Err(TakeError::Wait(Wait::Buffer)),
            Err(NoSlot::NeedsBlock) => Err(TakeError::Wait(Wait::Superblock)),
        }
    }
}
