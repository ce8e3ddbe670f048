//! Reports of the firmware about its time, charged to the commands that waited.

use firstread_core::{Accounting, CommandId, DieId, HostOp, Lpn, Ns, OpClass, Tag, Wait};

use super::Platform;
use crate::commands::PageRead;
use crate::hardware::charge::Cause;
use crate::payload::Payload;

impl<P: Payload> Accounting for Platform<P> {
    fn trimmed(&mut self, first: Lpn, pages: u32) {
        let end = first.0 + u64::from(pages);
        self.stamps.trim(first.0, end);
        self.payload.trim(first.0, end, self.stamps.written());
    }

    fn lost(&mut self, lpn: Lpn) {
        self.lost_pages.push(lpn);
    }

    fn waited(&mut self, id: CommandId, Tag(tag): Tag) {
        let slot = &mut self.slots[id.0 as usize];
        if slot.command.op == HostOp::Read {
            if let Some(kept) = self.pages.get_mut(id.0 as usize) {
                *kept = self.hardware.page_of(tag).unwrap_or(PageRead::NONE);
            }
            if let Some(recorder) = &mut self.hardware.recorder {
                recorder.waited(id, tag);
            }
            let breakdown = self.hardware.hand_over(tag);
            if let Some(before) = slot.breakdown.replace(breakdown) {
                self.hardware.breakdowns.close(before);
            }
        } else {
            // The command may have waited before, and may wait again.
            let (own, read) = (self.breakdown_of(id), *self.hardware.breakdown_of(tag));
            self.hardware.breakdowns[own].add(&read);
        }
    }

    fn program_waited(&mut self, id: CommandId, since: Ns) {
        let (now, id) = (self.now, self.breakdown_of(id));
        let breakdown = &mut self.hardware.breakdowns[id];
        breakdown.charge(since, Cause::Queue);
        breakdown.charge(now, Cause::Flush);
    }

    fn writes_wait_for(&mut self, what: Option<Wait>) {
        let breakdowns = &mut self.hardware.breakdowns;
        self.write_waits.wait_for(self.now, what, breakdowns);
    }

    fn write_waits(&mut self, id: CommandId) {
        let (now, breakdown) = (self.now, self.breakdown_of(id));
        let breakdowns = &mut self.hardware.breakdowns;
        breakdowns[breakdown].charge(now, Cause::Queue);
        self.write_waits.join(now, breakdown, breakdowns);
    }

    fn write_goes_on(&mut self, id: CommandId) {
        let breakdown = self.breakdown_of(id);
        let breakdowns = &mut self.hardware.breakdowns;
        self.write_waits.leave(self.now, breakdown, breakdowns);
    }

    fn buffer_freed(&mut self, die: DieId) {
        let (log, breakdowns) = self.hardware.log_and_breakdowns(die);
        self.write_waits.buffer_freed(self.now, log, breakdowns);
    }

    fn join(&mut self, tag: Tag, class: OpClass) {
        self.hardware.join(self.now, tag.0, class);
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
        if let Some(recorder) = &mut self.hardware.recorder {
            recorder.map_waited(id, since, self.now);
        }
    }
}
