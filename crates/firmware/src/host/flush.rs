//! Commands that wait until data are programmed (`durable`): their completion, and the padding they need.

use firstread_core::{Arena, CommandId, Ns, Status};

use super::Host;
use crate::flash_store::FlashStore;
use crate::observe::StreamId;
use crate::shared::Out;

impl Host {
    /// The data of command `id` are in the write buffer. It completes when the whole buffer is programmed:
    /// see [`Host::complete_safe`].
    #[cold]
    pub(super) fn wait_until_safe<M>(&mut self, now: Ns, id: CommandId, store: &FlashStore<M>) {
        let last = store.place.buffer(StreamId::Host).lines_begun();
        self.durable.waiting.push_back((id, last, now));
    }

    /// Completes commands whose data are programmed, and pads wordlines for the others. At the end of the drive's life
    /// data whose program failed find no place any more: commands that wait end with an error. Returns true if the
    /// cleaning pace has to be updated before this can continue.
    #[inline]
    pub(crate) fn complete_safe<M: Arena>(
        &mut self,
        now: Ns,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> bool {
        self.durable.any_waits() && self.complete_waiting(now, store, ports)
    }

    /// See [`Host::complete_safe`].
    #[cold]
    fn complete_waiting<M: Arena>(
        &mut self,
        now: Ns,
        store: &mut FlashStore<M>,
        ports: &mut impl Out,
    ) -> bool {
        let place = &store.place;
        let may_never_be = place.space.read_only && place.has_rewrites();
        while let Some(&(id, line, since)) = self.durable.waiting.front() {
            let open = store.place.buffer(StreamId::Host).oldest_line();
            let is_open = open.is_some_and(|open| open <= line) || store.place.has_rewrites();
            if is_open && !may_never_be {
                break;
            }
            self.durable.waiting.pop_front();
            ports.program_waited(id, since);
            let status = match is_open {
                true => Status::ReadOnly,
                false => Status::Ok,
            };
            self.end_command(id, status, ports);
        }
        if !self.durable.any_waits() {
            return false;
        }
        while store.pad(now, ports) {
            if store.place.relocation.pace.earn() {
                return true;
            }
        }
        false
    }
}
