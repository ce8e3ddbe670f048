//! Commands that wait until data are programmed (`durable`): their completion, and the padding they need.

use firstread_core::{Arena, CommandId, Ns, Status, Wait};

use super::Host;
use super::durable::Waiting;
use crate::flash_store::FlashStore;
use crate::ftl::place::HostStreamSet;
use crate::shared::Out;

impl Host {
    /// The data of command `id` are in the write buffer of `streams` of the host. It completes when all that these hold now is
    /// programmed: see [`Host::complete_safe`].
    #[cold]
    pub(super) fn wait_until_safe<M>(
        &mut self,
        now: Ns,
        id: CommandId,
        streams: HostStreamSet,
        store: &FlashStore<M>,
    ) {
        self.durable.waiting.push_back(Waiting {
            id,
            until: store.place.filled_to(streams),
            since: now,
        });
    }

    /// Whether commands wait until data are programmed.
    #[inline]
    pub(crate) fn waits_for_programs(&self) -> bool {
        self.durable.any_waits()
    }

    /// Completes commands whose data are programmed. At the end of the drive's life data whose program failed find no
    /// place any more: commands that wait end with an error.
    #[inline]
    pub(crate) fn complete_safe<M: Arena>(&mut self, store: &FlashStore<M>, ports: &mut impl Out) {
        if self.durable.any_waits() {
            self.complete_waiting(store, ports);
        }
    }

    #[cold]
    fn complete_waiting<M: Arena>(&mut self, store: &FlashStore<M>, ports: &mut impl Out) {
        let place = &store.place;
        let may_never_be = place.space.read_only && place.has_rewrites();
        let programmed = place.programmed_to();
        let mut at = 0;
        while let Some(waiting) = self.durable.waiting.get(at) {
            let is_open = !programmed.cover(&waiting.until) || place.has_rewrites();
            if is_open && !may_never_be {
                // Of one stream, all later ones wait as well.
                if !place.has_several_of_host() {
                    break;
                }
                at += 1;
                continue;
            }
            let Some(waiting) = self.durable.waiting.remove(at) else {
                break;
            };
            ports.program_waited(waiting.id, waiting.since);
            let status = match is_open {
                true => Status::ReadOnly,
                false => Status::Ok,
            };
            self.end_command(waiting.id, status, ports);
        }
    }

    /// Pads parts of wordlines for commands that wait until their data are programmed. A padded slot counts as one that the host
    /// writes: it makes moves due, and waits for moves as a write does. Padding comes after the writes that are blocked,
    /// because they can take the slots instead. Returns true if the pace of cleaning has to be updated before this can
    /// continue.
    #[inline]
    pub(crate) fn pad_for_waiting<M: Arena>(
        &mut self,
        now: Ns,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> bool {
        self.durable.any_waits() && self.pad_while_paced(now, store, ports)
    }

    #[cold]
    fn pad_while_paced<M: Arena>(
        &mut self,
        now: Ns,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> bool {
        let merges = &self.commands.merges;
        let (others, are_read) = (merges.used(), merges.reading > 0);
        loop {
            let waits = self.durable.waiting.iter().map(|w| &w.until);
            let Some(stream) = store.place.stream_to_pad(waits) else {
                return false;
            };
            let others_wait = store.place.relocation.host_waits.has(Wait::Cleaning);
            if store.place.waits_for_moves_after(others, are_read) {
                // A write that waits too is tried again as soon as one of the merges that it has counted ends.
                let at_wait = &mut self.commands.merges_at_wait;
                *at_wait = match others_wait {
                    true => others.max(*at_wait),
                    false => others,
                };
                return false;
            }
            if !store.pad(now, stream, ports) {
                return false;
            }
            if store.place.relocation.pace.earn() {
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests;
