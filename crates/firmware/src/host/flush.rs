//! Commands that wait until data are programmed (`durable`): their completion, and the padding they need.

use firstread_core::{Arena, CommandId, Ns, Status};

use super::Host;
use crate::base::Out;
use crate::observe::StreamId;
use crate::store::Store;

impl Host {
    /// The data of command `id` are in the write buffer. It completes when the whole buffer is programmed:
    /// see [`Host::complete_safe`].
    #[cold]
    pub(super) fn wait_until_safe<M>(&mut self, now: Ns, id: CommandId, store: &Store<M>) {
        let last = store.place.buffer(StreamId::Host).lines_begun();
        self.durable.waiting.push_back((id, last, now));
    }

    /// Whether any command waits until data are programmed.
    #[inline]
    pub(crate) fn any_waits_for_programs(&self) -> bool {
        self.durable.any_waits()
    }

    /// Completes commands whose data are programmed, and pads wordlines for the others. Returns true if the
    /// cleaning pace has to be updated before this can continue.
    #[cold]
    pub(crate) fn complete_safe<M: Arena>(
        &mut self,
        now: Ns,
        store: &mut Store<M>,
        ports: &mut impl Out,
    ) -> bool {
        while let Some(&(id, line, since)) = self.durable.waiting.front() {
            let open = store.place.buffer(StreamId::Host).oldest_line();
            if open.is_some_and(|open| open <= line) || store.place.has_rescued() {
                break;
            }
            self.durable.waiting.pop_front();
            ports.program_waited(id, since);
            self.end_command(id, Status::Ok, ports);
        }
        if !self.durable.any_waits() {
            return false;
        }
        while store.pad(now, ports) {
            if store.place.ledger.pace.earn() {
                return true;
            }
        }
        false
    }
}
