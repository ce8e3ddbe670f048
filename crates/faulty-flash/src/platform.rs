//! The platform that the firmware runs on: a flash with faults, slot buffers, and a host that checks what it reads.

use firstread_core::{
    Accounting, Buf, CommandId, FlashEvent, FlashKind, FlashOp, HostCommand, Lpn, Ns, Ports, Ppa,
    Spare, Status, SuperblockId, Tag,
};
use firstread_firmware::log::Record;

use super::bug::Bug;
use super::flash::Flash;
use super::model::Model;
use super::violation::Violation;

/// The ports of the firmware, over a flash with faults and the reference model.
///
/// A call of the ports cannot return an error, so the platform keeps the first violation
/// ([`Platform::take_violation`]), and whoever drives the firmware asks for it between two calls.
#[derive(Debug)]
pub struct Platform {
    /// The dies and what they hold.
    pub flash: Flash,
    /// What the host may read.
    pub model: Model,
    /// Commands that have ended, in order, with their status.
    pub completed: Vec<(HostCommand, Status)>,
    /// Reads that were made anew from the rest of their stripe.
    pub rebuilt: u64,
    now: Ns,
    buffers: Vec<Option<Spare>>,
    capacity_slots: u64,
    bug: Box<dyn Bug>,
    violation: Option<Violation>,
    /// The buffers before the step in which the firmware is being stopped: nothing that it asks for takes effect.
    stopping: Option<Vec<Option<Spare>>>,
}

impl Platform {
    pub(crate) fn new(
        flash: Flash,
        model: Model,
        buffers: u32,
        capacity_slots: u64,
        bug: Box<dyn Bug>,
    ) -> Platform {
        Platform {
            flash,
            model,
            completed: Vec::new(),
            rebuilt: 0,
            now: Ns::ZERO,
            buffers: vec![None; buffers as usize],
            capacity_slots,
            bug,
            violation: None,
            stopping: None,
        }
    }

    /// The first violation since this was last asked.
    pub fn take_violation(&mut self) -> Option<Violation> {
        self.violation.take()
    }

    fn check(&mut self, checked: Result<(), Violation>) {
        if let Err(violation) = checked {
            self.violation.get_or_insert(violation);
        }
    }

    pub(crate) fn set_now(&mut self, now: Ns) {
        self.now = now;
    }

    /// Ends one operation of flash. Returns its events, as the bug lets them pass.
    pub(crate) fn end_one(&mut self) -> Vec<FlashEvent> {
        let (now, bug) = (self.now, &mut *self.bug);
        match self.flash.end_one(now, &mut self.buffers, bug) {
            Ok(events) => events,
            Err(violation) => {
                self.check(Err(violation));
                Vec::new()
            }
        }
    }

    pub(crate) fn passes(&mut self, event: FlashEvent) -> Option<FlashEvent> {
        self.bug.event(event)
    }

    /// Cuts the power. Returns how many commands are lost.
    pub(crate) fn power_cut(&mut self) -> u32 {
        self.flash.power_cut();
        self.bug.power_cut(&mut self.buffers);
        self.model.power_cut()
    }

    /// The firmware is about to be stopped in a step: what it asks for until [`Platform::stopped`] takes no effect.
    pub(crate) fn stops(&mut self) {
        self.stopping = Some(self.buffers.clone());
    }

    /// The firmware was stopped.
    pub(crate) fn stopped(&mut self) {
        if let Some(buffers) = self.stopping.take() {
            self.buffers = buffers;
        }
    }

    /// What the buffers hold, so that it can be put back.
    pub(crate) fn buffers_mut(&mut self) -> &mut Vec<Option<Spare>> {
        &mut self.buffers
    }

    fn is_stopping(&self) -> bool {
        self.stopping.is_some()
    }

    /// Power is off: no buffer holds anything.
    pub(crate) fn forget_buffers(&mut self) {
        self.buffers.fill(None);
    }

    fn buffer(&self, buf: Buf) -> Option<Spare> {
        self.buffers.get(buf.0 as usize).copied().flatten()
    }

    fn put(&mut self, buf: Buf, data: Option<Spare>) {
        if let Some(buffer) = self.buffers.get_mut(buf.0 as usize) {
            *buffer = data;
        }
    }

    /// Whether superblock `block` may be erased.
    fn check_erase(&mut self, block: SuperblockId) {
        let (model, buffers, capacity) = (&self.model, &self.buffers, self.capacity_slots);
        let is_only = |spare: Spare| {
            let last = match spare.lpn.0 < capacity {
                true => model.last(spare.lpn),
                false => Some(model.last_of_map(spare.lpn)),
            };
            last == Some(spare.sequence) && !buffers.contains(&Some(spare))
        };
        if let Some(Spare { lpn, sequence }) = self.flash.only_copy(block, is_only) {
            let version = sequence;
            self.check(Err(Violation::ErasedValidData {
                block,
                lpn,
                version,
            }));
        }
    }
}

impl Accounting for Platform {
    fn trimmed(&mut self, first: Lpn, pages: u32) {
        if self.is_stopping() {
            return;
        }
        self.model.trim(first, pages);
    }
}

impl Ports for Platform {
    type Record = Record;

    fn issue(&mut self, op: FlashOp) {
        if self.is_stopping() {
            return;
        }
        let Some(op) = self.bug.issue(op) else {
            return;
        };
        if let FlashKind::Erase { block, .. } = op.kind {
            self.check_erase(block);
        }
        let issued = self.flash.issue(self.now, op, self.buffers.len() as u32);
        self.check(issued);
    }
    fn data_in(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf) {
        if self.is_stopping() {
            return;
        }
        for i in 0..slots {
            let taken = self.model.take(id, first + i);
            self.put(buf.slot(i), taken);
        }
    }
    fn data_out(&mut self, id: CommandId, first: u32, slots: u32, buf: Buf, _bytes: u32) {
        if self.is_stopping() {
            return;
        }
        for i in 0..slots {
            let got = self.bug.send(self.buffer(buf.slot(i)));
            let sent = self.model.send(id, first + i, got);
            self.check(sent);
        }
    }
    fn zeros_out(&mut self, id: CommandId, first: u32, slots: u32, _bytes: u32) {
        if self.is_stopping() {
            return;
        }
        for i in 0..slots {
            let got = self.bug.send(None);
            let sent = self.model.send(id, first + i, got);
            self.check(sent);
        }
    }
    fn copy(&mut self, from: Buf, to: Buf) {
        self.put(to, self.buffer(from));
    }
    fn pad(&mut self, buf: Buf) {
        self.put(buf, None);
    }
    fn restore(&mut self, buf: Buf, spare: Option<Spare>) {
        self.put(buf, spare);
    }
    fn buffered(&self, buf: Buf) -> Option<Spare> {
        self.buffer(buf)
    }
    fn stored(&self, ppa: Ppa) -> Option<Spare> {
        self.flash.stored(ppa)
    }
    fn sequence(&self) -> u64 {
        self.model.sequence()
    }
    fn widen(&mut self, tag: Tag, more: u64) -> bool {
        if self.is_stopping() {
            return false;
        }
        self.flash.widen(tag, more)
    }
    fn rebuilt(&mut self, tag: Tag, made: u64) {
        if self.is_stopping() {
            return;
        }
        self.rebuilt += u64::from(made != 0);
        let rebuilt = self.flash.rebuild(tag, made, &mut self.buffers);
        self.check(rebuilt);
    }
    fn map_in(&mut self, page: Lpn, buf: Buf) {
        if self.is_stopping() {
            return;
        }
        let taken = self.model.take_map(page);
        self.put(buf, Some(taken));
    }
    fn map_out(&mut self, page: Lpn, buf: Buf) {
        if self.is_stopping() {
            return;
        }
        let read = self.model.read_map(page, self.buffer(buf));
        self.check(read);
    }
    fn complete(&mut self, command: HostCommand, status: Status, _last: Option<Tag>) {
        if self.is_stopping() {
            return;
        }
        let Some(status) = self.bug.complete(&command, status) else {
            return;
        };
        let ended = self.model.complete(command, status);
        self.check(ended);
        let size = u64::from(self.flash.geometry().slot_bytes);
        let end = command.offset_bytes + u64::from(command.len_bytes);
        let mut pages = command.offset_bytes / size..end.div_ceil(size);
        if status == Status::Uncorrectable
            && !pages.any(|lpn| self.flash.is_doubtful(Lpn(lpn)))
            && !self.flash.any_doubtful_from(Lpn(self.capacity_slots))
        {
            self.check(Err(Violation::FalseUncorrectable { command }));
        }
        self.completed.push((command, status));
    }
    fn log(&mut self, _record: Record) {}
}
