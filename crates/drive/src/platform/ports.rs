//! The firmware's ports that have an effect.

use firstread_core::{
    Accounting, Buf, CommandId, FlashOp, HostCommand, HostOp, Lpn, Ns, Ports, Ppa, Spare, Status,
    Tag,
};
use firstread_firmware::log::Record;

use super::{Completion, Platform, Slot};
use crate::payload::Payload;
use crate::port_log::PortCallKind;

impl<P: Payload> Ports for Platform<P> {
    type Record = Record;

    #[inline(always)] // So that the kind of operation is known: see [`crate::hardware::Hardware::issue`].
    fn issue(&mut self, op: FlashOp) {
        self.port_log.note(self.now, || PortCallKind::Issued(op));
        self.hardware.issue(self.now, op, &mut self.timers);
    }

    fn data_in(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf) {
        for i in 0..slots {
            let stamp = self.stamps.data_in(self.lpn(id, first + i), buf.slot(i));
            self.payload.write(id, first + i, stamp);
        }
    }

    fn data_out(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf, bytes: u32) {
        let seen = self.slots[id.0 as usize].seen;
        let lpn = self.lpn(id, first);
        for i in 0..slots {
            let checked = self.stamps.check(lpn + i as u64, seen, buf.slot(i));
            self.check(checked);
            let found = self.stamps.buffered(buf.slot(i));
            self.payload.read(id, first + i, found);
        }
        self.out_free_at = self.out_free_at.max(self.now) + self.bytes_ns(bytes);
        if let Some(recorder) = &mut self.hardware.recorder {
            recorder.is_sent(id, buf);
            self.record_link(id, bytes, self.out_free_at);
        }
    }

    fn zeros_out(&mut self, id: CommandId, first: u32, slots: u32, bytes: u32) {
        let seen = self.slots[id.0 as usize].seen;
        for i in 0..slots {
            let checked = self.stamps.check_zeros(self.lpn(id, first + i), seen);
            self.check(checked);
            self.payload.read(id, first + i, None);
        }
        self.out_free_at = self.out_free_at.max(self.now) + self.bytes_ns(bytes);
        self.record_link(id, bytes, self.out_free_at);
    }

    fn copy(&mut self, from: Buf, to: Buf) {
        self.stamps.copy(from, to);
    }

    fn pad(&mut self, buf: Buf) {
        self.stamps.pad(buf);
    }

    fn restore(&mut self, buf: Buf, spare: Option<Spare>) {
        self.stamps.restore(buf, spare);
    }

    fn buffered(&self, buf: Buf) -> Option<Spare> {
        self.stamps.buffered_spare(buf)
    }

    fn stored(&self, ppa: Ppa) -> Option<Spare> {
        self.stamps.stored_spare(ppa)
    }

    fn sequence(&self) -> u64 {
        self.stamps.written()
    }

    fn widen(&mut self, tag: Tag, more: u64) -> bool {
        self.hardware.widen(self.now, tag.0, more, &mut self.timers)
    }

    fn rebuilt(&mut self, tag: Tag, made: u64) {
        let now = self.now;
        self.port_log.note(now, || PortCallKind::Rebuilt(tag, made));
        self.hardware.rebuilt(now, tag.0, made, &mut self.stamps);
    }

    fn map_in(&mut self, page: Lpn, buf: Buf) {
        self.stamps.data_in(page.0, buf);
    }

    fn map_out(&mut self, page: Lpn, buf: Buf) {
        let checked = self.stamps.check(page.0, self.stamps.written(), buf);
        self.check(checked);
    }

    fn complete(&mut self, command: HostCommand, status: Status, last: Option<Tag>) {
        let now = self.now;
        self.port_log
            .note(now, || PortCallKind::Completed(command, status));
        if let Some(tag) = last {
            self.waited(command.id, tag);
        }
        if let Some(queues) = &mut self.queues {
            queues.completed();
            self.fetch();
        }
        let Slot {
            submitted,
            breakdown,
            ..
        } = self.slots[command.id.0 as usize];
        let breakdowns = &mut self.hardware.breakdowns;
        let id = breakdown.unwrap_or_else(|| breakdowns.open(submitted));
        let breakdown = &breakdowns[id];
        let mut queue_ns = breakdown.first_queued.since(submitted).0;
        let mut charged_to = breakdown.mark;
        if last.is_none() {
            queue_ns += now.since(charged_to).0;
            charged_to = now;
        }
        if let Some(recorder) = &mut self.hardware.recorder
            && command.op == HostOp::Read
        {
            let read_since = breakdown.first_queued;
            recorder.ended(command.id, submitted, read_since, charged_to);
        }
        // Data that other commands wait to send go first only if they were ready first.
        let sent = if command.op == HostOp::Read {
            self.out_free_at.max(now)
        } else {
            now
        };
        let last_due = self.completions.back().map_or(Ns::ZERO, |c| c.due);
        let due = (sent + Ns(self.link.completion_ns)).max(last_due);
        self.completions.push_back(Completion {
            due,
            id: command.id,
            status,
            breakdown: id,
            queue_ns,
            charged_to,
        });
        if due < self.host_due {
            self.set_host(due);
        }
    }

    fn log(&mut self, record: Record) {
        self.log.push(record);
    }
}
