//! The platform of the firmware: its ports, on the virtual clock.

mod accounting;
mod ports;

use std::collections::VecDeque;

use firstread_core::{CommandId, Divisor, HostCommand, HostOp, Lpn, Ns, Status};

use crate::commands::{Completed, PageRead, Submission};
use crate::completions::Completions;
use crate::hardware::charge::{BreakdownId, Cause};
use crate::hardware::timers::{FRONTS, Timers};
use crate::hardware::{Hardware, Resource};
use crate::payload::{Payload, StaleRead, Stamps};
use crate::port_log::{PortCallKind, PortLog};
use crate::queues::Queues;
use crate::record_log::RecordLog;
use crate::write_waits::WriteWaits;

/// The host link and command processing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkTimes {
    /// From the doorbell until the firmware has the command, if nothing delays it.
    pub fetch_ns: u64,
    /// Firmware time per command: the inverse of the command rate.
    pub command_ns: u64,
    /// From the end of the data until the host sees the completion.
    pub completion_ns: u64,
    /// Time per byte on the link, in each direction, in femtoseconds.
    pub fs_per_byte: u64,
}

/// A host command in flight; one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Slot {
    pub command: HostCommand,
    /// Time from which its latency counts.
    pub submitted: Ns,
    /// Number of writes and trims the drive had accepted by then. The drive's clock may be ahead of the
    /// host's, but the command reaches the drive later still.
    seen: u64,
    /// The host's submission queue.
    queue: u32,
    /// Breakdown of the last operation that the command has waited for, once that has ended.
    breakdown: Option<BreakdownId>,
    /// Time it has waited for map pages.
    map_ns: u64,
}

/// A command that has ended, on its way to the host.
#[derive(Clone, Copy, Debug)]
struct Completion {
    due: Ns,
    id: CommandId,
    status: Status,
    breakdown: BreakdownId,
    /// Time before or after the period covered by the breakdown, spent waiting.
    queue_ns: u64,
    /// Time up to which everything is charged.
    charged_to: Ns,
}

/// Timers of the front end, after those of the hardware.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FrontEndTimer {
    /// The host continues: it receives completions, and submits requests.
    Host,
    /// A command without data reaches the firmware.
    Command,
    /// A write with its data reaches the firmware.
    Write,
    /// The firmware has asked to be called.
    Firmware,
}

/// Commands for which the link's queues have room initially. A deeper queue makes them grow once.
const COMMANDS: usize = 256;

impl FrontEndTimer {
    const ALL: [FrontEndTimer; FRONTS] = [
        FrontEndTimer::Host,
        FrontEndTimer::Command,
        FrontEndTimer::Write,
        FrontEndTimer::Firmware,
    ];
}

/// The owner of an expired timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    Hardware(Resource),
    FrontEndTimer(FrontEndTimer),
}

/// The platform around the firmware: hardware, link and clock.
#[derive(Clone)]
pub(crate) struct Platform<P> {
    pub now: Ns,
    pub hardware: Hardware,
    pub stamps: Stamps,
    /// Pages of which a power cut has lost versions.
    pub lost_pages: Vec<Lpn>,
    pub payload: P,
    pub timers: Timers,
    hardware_timers: usize,
    link: LinkTimes,
    /// How far the host may lag behind the drive: no action of the host reaches the firmware sooner.
    pub(crate) host_lag: Ns,
    /// When the host has something to do.
    host_due: Ns,
    slot_bytes: Divisor,
    pub slots: Vec<Slot>,
    pub free_slots: Vec<u32>,
    /// The page that the command in each slot waited for last; empty where that is not kept.
    pages: Vec<PageRead>,
    commands: VecDeque<(Ns, CommandId)>,
    writes: VecDeque<(Ns, CommandId)>,
    completions: VecDeque<Completion>,
    commands_free_at: Ns,
    in_free_at: Ns,
    out_free_at: Ns,
    /// Submission queues, if commands wait in them to be fetched.
    queues: Option<Box<Queues>>,
    write_waits: WriteWaits,
    pub log: RecordLog,
    pub port_log: PortLog,
    pub(crate) digest: Completions,
    pub stale: Option<StaleRead>,
}

impl<P: Payload> Platform<P> {
    pub(crate) fn new(
        hardware: Hardware,
        (stamps, payload): (Stamps, P),
        link: LinkTimes,
        slot_bytes: u32,
        hardware_timers: usize,
        commands: u32,
        queues: Option<Box<Queues>>,
    ) -> Platform<P> {
        let idle = HostCommand {
            id: CommandId(0),
            op: HostOp::Flush,
            client: 0,
            offset_bytes: 0,
            len_bytes: 0,
            fua: false,
            placement: 0,
        };
        let slot = Slot {
            command: idle,
            submitted: Ns::ZERO,
            seen: 0,
            queue: 0,
            breakdown: None,
            map_ns: 0,
        };
        Platform {
            now: Ns::ZERO,
            hardware,
            stamps,
            lost_pages: Vec::new(),
            payload,
            timers: Timers::new(hardware_timers),
            hardware_timers,
            // With queues, a queue is examined as soon as its command can be fetched. Otherwise a command has
            // no effect before it reaches the firmware.
            host_lag: match queues {
                Some(_) => Ns(link.fetch_ns),
                None => Ns(link.fetch_ns + link.command_ns),
            },
            host_due: Ns::MAX,
            link,
            slot_bytes: Divisor::new(slot_bytes as u64),
            slots: vec![slot; commands as usize],
            // Low numbers first, so that few entries are touched at low queue depth.
            free_slots: (0..commands).rev().collect(),
            pages: Vec::new(),
            commands: VecDeque::with_capacity(COMMANDS),
            writes: VecDeque::with_capacity(COMMANDS),
            completions: VecDeque::with_capacity(COMMANDS),
            commands_free_at: Ns::ZERO,
            in_free_at: Ns::ZERO,
            out_free_at: Ns::ZERO,
            queues,
            write_waits: WriteWaits::new(commands),
            log: RecordLog::default(),
            port_log: PortLog::default(),
            digest: Completions::default(),
            stale: None,
        }
    }

    /// When the next event is due, [`Ns::MAX`] for never.
    pub(crate) fn due(&self) -> Ns {
        self.timers.due()
    }

    /// Advances to the next event and returns which part of the drive it belongs to; none if no event is due.
    /// Of simultaneous events, the one deeper inside the drive is handled first.
    #[inline(always)] // Its one caller looks at once whose it is.
    pub(crate) fn next(&mut self) -> Option<Due> {
        let (due, index) = self.timers.expire()?;
        self.now = due;
        Some(match index.checked_sub(self.hardware_timers) {
            None => Due::Hardware(self.hardware.resource(index)),
            Some(front) => Due::FrontEndTimer(FrontEndTimer::ALL[front]),
        })
    }

    #[inline]
    pub(crate) fn set_front(&mut self, front: FrontEndTimer, due: Ns) {
        self.timers.set_front(front as usize, due);
    }

    /// The firmware is to be polled at `due`, or now if that is past; never for [`Ns::MAX`].
    pub(crate) fn wake_firmware(&mut self, due: Ns) {
        self.set_front(FrontEndTimer::Firmware, due.max(self.now));
    }

    /// Whether another command fits into the queues.
    pub(crate) fn has_slot(&self) -> bool {
        !self.free_slots.is_empty()
    }

    /// When the next completion reaches the host; [`Ns::MAX`] for never.
    #[inline]
    pub(crate) fn completion_due(&self) -> Ns {
        self.completions.front().map_or(Ns::MAX, |c| c.due)
    }

    /// The host has something to do at `due`. It acts before any of its actions can reach the firmware, so
    /// several actions are handled together.
    #[inline]
    pub(crate) fn set_host(&mut self, due: Ns) {
        self.host_due = due;
        self.set_front(FrontEndTimer::Host, due.saturating_add(self.host_lag));
    }

    /// The host submits a command at `now`. None if no command slot is free.
    #[inline(always)] // So that the parts of the command stay in registers.
    pub(crate) fn submit(&mut self, now: Ns, submission: Submission) -> Option<CommandId> {
        let Submission {
            op,
            offset_bytes,
            len_bytes,
            fua,
            placement,
            queue,
            since,
        } = submission;
        let id = CommandId(self.free_slots.pop()?);
        let command = HostCommand {
            id,
            op,
            client: queue as u16,
            offset_bytes,
            len_bytes,
            fua,
            placement,
        };
        let slot = &mut self.slots[id.0 as usize];
        slot.command = command;
        slot.submitted = since;
        slot.seen = self.stamps.written();
        slot.queue = queue;
        slot.breakdown = None;
        slot.map_ns = 0;
        if let Some(recorder) = &mut self.hardware.recorder {
            recorder.submitted(id);
        }
        let fetched = now + Ns(self.link.fetch_ns);
        if let Some(queues) = &mut self.queues {
            queues.put(queue, id, fetched);
            self.fetch();
            return Some(id);
        }
        if op == HostOp::Write {
            self.in_free_at = self.in_free_at.max(fetched) + self.bytes_ns(len_bytes);
            let due = self.in_free_at + Ns(self.link.command_ns);
            self.writes.push_back((due, id));
            self.record_link(id, len_bytes, self.in_free_at);
            if self.writes.len() == 1 {
                self.set_front(FrontEndTimer::Write, due);
            }
        } else {
            self.commands_free_at = self.commands_free_at.max(fetched) + Ns(self.link.command_ns);
            self.commands.push_back((self.commands_free_at, id));
            if self.commands.len() == 1 {
                self.set_front(FrontEndTimer::Command, self.commands_free_at);
            }
        }
        Some(id)
    }

    /// Whether commands wait in submission queues until they are fetched.
    #[inline]
    pub(crate) fn has_queues(&self) -> bool {
        self.queues.is_some()
    }

    /// Begins the next fetch from the queues, if possible.
    #[inline(never)]
    fn fetch(&mut self) {
        if let Some(queues) = &mut self.queues
            && let Some(began) = queues.begin(self.now)
        {
            self.set_front(FrontEndTimer::Command, began + Ns(self.link.command_ns));
        }
    }

    /// A fetch from the queues has ended. Returns the command. It has reached the firmware, unless its data
    /// are yet to come.
    #[inline(never)]
    pub(crate) fn fetched(&mut self) -> Option<HostCommand> {
        self.set_front(FrontEndTimer::Command, Ns::MAX);
        let (id, began) = self.queues.as_mut()?.end(self.now);
        self.fetch();
        let command = self.slots[id.0 as usize].command;
        if command.op == HostOp::Write {
            self.in_free_at = self.in_free_at.max(began) + self.bytes_ns(command.len_bytes);
            let due = self.in_free_at + Ns(self.link.command_ns);
            self.writes.push_back((due, id));
            self.record_link(id, command.len_bytes, self.in_free_at);
            if self.writes.len() == 1 {
                self.set_front(FrontEndTimer::Write, due);
            }
            return None;
        }
        self.port_log
            .note(self.now, || PortCallKind::Submitted(command));
        Some(command)
    }

    /// When the next command without data reaches the firmware; [`Ns::MAX`] for never, or if commands wait in
    /// queues.
    #[inline]
    pub(crate) fn command_due(&self) -> Ns {
        self.commands.front().map_or(Ns::MAX, |&(due, _)| due)
    }

    /// The command that has reached the firmware through `front`.
    pub(crate) fn arrived(&mut self, front: FrontEndTimer) -> HostCommand {
        let queue = if front == FrontEndTimer::Write {
            &mut self.writes
        } else {
            &mut self.commands
        };
        let (_, id) = queue
            .pop_front()
            .expect("a front timer runs only while its queue is not empty");
        let next = queue.front().map_or(Ns::MAX, |&(due, _)| due);
        self.set_front(front, next);
        let command = self.slots[id.0 as usize].command;
        self.port_log
            .note(self.now, || PortCallKind::Submitted(command));
        command
    }

    /// The first completion reaches the host, with its whole latency charged; none if there is no completion.
    #[inline(always)] // So that its parts stay in registers.
    pub(crate) fn completed(&mut self) -> Option<Completed<'_>> {
        let ended = self.completions.pop_front()?;
        if self.completions.is_empty() {
            // Restarts at the beginning of the buffer, which stays in the caches.
            self.completions.clear();
        }
        self.free_slots.push(ended.id.0);
        // No other breakdown is opened before the host has looked at this one.
        let breakdowns = &mut self.hardware.breakdowns;
        breakdowns.close(ended.breakdown);
        let slot = &self.slots[ended.id.0 as usize];
        let ns_by_cause = &mut breakdowns[ended.breakdown].ns_by_cause;
        ns_by_cause[Cause::Link as usize] += ended.due.since(ended.charged_to).0;
        let queue_ns = ns_by_cause[Cause::Queue as usize] + ended.queue_ns;
        // Waits for the map happen before the command's last multi-plane page is queued.
        let map_ns = slot.map_ns.min(queue_ns);
        ns_by_cause[Cause::Queue as usize] = queue_ns - map_ns;
        ns_by_cause[Cause::Map as usize] += map_ns;
        let recorder = self.hardware.recorder.as_mut();
        let course = recorder.map(|r| r.completed(&slot.command, slot.submitted, ended.due));
        let completed = Completed {
            command: &slot.command,
            queue: slot.queue,
            since: slot.submitted,
            at: ended.due,
            status: ended.status,
            ns_by_cause,
            page: match (slot.command.op, slot.breakdown) {
                (HostOp::Read, Some(_)) => self.pages.get(ended.id.0 as usize).copied(),
                _ => None,
            },
            course,
        };
        self.digest.note(&completed);
        Some(completed)
    }

    /// Keeps the page that each read waits for last ([`Completed::page`]).
    pub(crate) fn keep_pages(&mut self) {
        self.pages = vec![PageRead::NONE; self.slots.len()];
    }

    /// Commands of the host that it has no completion of.
    pub(crate) fn outstanding(&self) -> u32 {
        (self.slots.len() - self.free_slots.len()) as u32
    }

    /// Power is cut: no command is in flight any more. Returns the number of commands that were.
    pub(crate) fn power_cut(&mut self) -> u32 {
        self.hardware.power_cut(self.now, &mut self.stamps);
        self.timers.stop_all(self.now);
        self.commands.clear();
        self.writes.clear();
        if let Some(queues) = &mut self.queues {
            queues.clear();
        }
        self.completions.clear();
        self.write_waits.clear();
        (self.commands_free_at, self.in_free_at, self.out_free_at) = (Ns::ZERO, Ns::ZERO, Ns::ZERO);
        self.host_due = Ns::MAX;
        let lost = self.outstanding();
        self.free_slots = (0..self.slots.len() as u32).rev().collect();
        lost
    }

    fn bytes_ns(&self, bytes: u32) -> Ns {
        Ns((bytes as u64 * self.link.fs_per_byte).div_ceil(1_000_000))
    }

    /// The last of `bytes` of command `id` will have crossed the host link at `end`.
    #[inline]
    fn record_link(&mut self, id: CommandId, bytes: u32, end: Ns) {
        if self.hardware.recorder.is_none() {
            return;
        }
        let start = Ns(end.0 - self.bytes_ns(bytes).0);
        if let Some(recorder) = &mut self.hardware.recorder {
            let command = &self.slots[id.0 as usize].command;
            recorder.crosses_link(command, bytes, (start, end));
        }
    }

    fn check(&mut self, result: Result<(), StaleRead>) {
        if let Err(stale) = result {
            self.stale.get_or_insert(stale);
        }
    }

    /// The breakdown of command `id`. All of its time so far is the command's own.
    fn breakdown_of(&mut self, id: CommandId) -> BreakdownId {
        let slot = &mut self.slots[id.0 as usize];
        let breakdowns = &mut self.hardware.breakdowns;
        *slot
            .breakdown
            .get_or_insert_with(|| breakdowns.open(slot.submitted))
    }

    fn lpn(&self, id: CommandId, slot: u32) -> u64 {
        let offset_bytes = self.slots[id.0 as usize].command.offset_bytes;
        self.slot_bytes.div(offset_bytes) + slot as u64
    }
}
