//! Reports of the firmware about its time, charged to the commands that waited.

use firstread_core::{Account, CommandId, DieId, HostOp, Lpn, Ns, Tag, Wait};

use super::World;
use crate::hardware::charge::Cause;
use crate::payload::Payload;

impl<P: Payload> Account for World<P> {
    fn trimmed(&mut self, first: Lpn, pages: u32) {
        let end = first.0 + u64::from(pages);
        self.stamps.trim(first.0, end);
        self.payload.trim(first.0, end, self.stamps.written());
    }

    fn waited(&mut self, id: CommandId, Tag(tag): Tag) {
        let slot = &mut self.slots[id.0 as usize];
        if slot.command.op == HostOp::Read {
            let account = self.hardware.hand_over(tag);
            if let Some(before) = slot.account.replace(account) {
                self.hardware.accounts.close(before);
            }
        } else {
            // The command may have waited before, and may wait again.
            let (own, read) = (self.account_of(id), *self.hardware.account_of(tag));
            self.hardware.accounts[own].add(&read);
        }
    }

    fn program_waited(&mut self, id: CommandId, since: Ns) {
        let (now, id) = (self.now, self.account_of(id));
        let account = &mut self.hardware.accounts[id];
        account.charge(since, Cause::Queue);
        account.charge(now, Cause::Flush);
    }

    fn writes_wait_for(&mut self, what: Option<Wait>) {
        let accounts = &mut self.hardware.accounts;
        self.write_waits.wait_for(self.now, what, accounts);
    }

    fn write_waits(&mut self, id: CommandId) {
        let (now, account) = (self.now, self.account_of(id));
        let accounts = &mut self.hardware.accounts;
        accounts[account].charge(now, Cause::Queue);
        self.write_waits.join(now, account, accounts);
    }

    fn write_goes_on(&mut self, id: CommandId) {
        let account = self.account_of(id);
        let accounts = &mut self.hardware.accounts;
        self.write_waits.leave(self.now, account, accounts);
    }

    fn buffer_freed(&mut self, die: DieId) {
        let (log, accounts) = self.hardware.log_and_accounts(die);
        self.write_waits.buffer_freed(self.now, log, accounts);
    }

    fn join(&mut self, tag: Tag) {
        self.hardware.join(self.now, tag.0);
    }

    fn share(&mut self, waiter: Tag, read: Tag, queued: Option<Ns>, start: bool) {
        self.hardware
            .share(self.now, waiter.0, read.0, queued, start);
    }

    fn shared(&mut self, waiter: Tag, read: Tag) {
        self.hardware.shared(waiter.0, read.0);
    }

    fn map_waited(&mut self, id: CommandId, since: Ns) {
        self.slots[id.0 as usize].map_ns += self.now.since(since).0;
    }
}
