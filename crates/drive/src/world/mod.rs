//! The world around the firmware: its ports, on the virtual clock.

mod account;
mod ports;

use std::collections::VecDeque;

use firstread_core::{CommandId, Divisor, HostCommand, HostOp, Ns, Status};

use crate::commands::{Completed, Submission};
use crate::completions::Completions;
use crate::hardware::charge::{AccountId, Cause};
use crate::hardware::timers::{FRONTS, Timers};
use crate::hardware::{Hardware, Resource};
use crate::payload::{Payload, StaleRead, Stamps};
use crate::port_log::{Passed, PortLog};
use crate::queues::Queues;
use crate::record_log::RecordLog;
use crate::write_waits::WriteWaits;

/// The host link and command processing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkTimes {
    /// From the doorbell until the command is with the firmware, when nothing is in the way.
    pub fetch_ns: u64,
    /// Firmware time per command: the rate at which commands are taken.
    pub command_ns: u64,
    /// From the end of the data until the host sees the completion.
    pub completion_ns: u64,
    /// Femtoseconds a byte takes on the link, in each direction.
    pub fs_per_byte: u64,
}

/// A command of the host in flight: a line of a cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Slot {
    pub command: HostCommand,
    /// From when on its time counts.
    pub submitted: Ns,
    /// Writes and trims that the drive had taken by then. Its clock may be ahead of the host's, but the
    /// command reaches it later still.
    seen: u64,
    /// The host's submission queue.
    queue: u32,
    /// Of what it has waited for last, once that has ended.
    account: Option<AccountId>,
    /// Time it has waited for the map.
    map_ns: u64,
}

/// A command that has ended, on its way to the host.
#[derive(Clone, Copy, Debug)]
struct Completion {
    due: Ns,
    id: CommandId,
    status: Status,
    account: AccountId,
    /// Time outside the account: waiting for what it names, or after it.
    queue_ns: u64,
    /// Up to when both account for the time.
    charged_to: Ns,
}

/// Timers behind those of the hardware.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Front {
    /// The host goes on: completions reach it, and it issues requests.
    Host,
    /// A command without data reaches the firmware.
    Command,
    /// A write with its data reaches the firmware.
    Write,
    /// The firmware asked to be woken.
    Firmware,
}

/// Commands that the queues of the link have room for from the start; a deeper queue makes them grow
/// once.
const COMMANDS: usize = 256;

impl Front {
    const ALL: [Front; FRONTS] = [Front::Host, Front::Command, Front::Write, Front::Firmware];
}

/// Whose timer has expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    Hardware(Resource),
    Front(Front),
}

/// Everything around the firmware.
#[derive(Clone)]
pub(crate) struct World<P> {
    pub now: Ns,
    pub hardware: Hardware,
    pub stamps: Stamps,
    pub payload: P,
    pub timers: Timers,
    hardware_timers: usize,
    link: LinkTimes,
    /// The host may lag so far behind the drive: nothing it does reaches the firmware sooner.
    pub(crate) host_lag: Ns,
    /// When the host has something to do.
    host_due: Ns,
    slot_bytes: Divisor,
    pub slots: Vec<Slot>,
    pub free_slots: Vec<u32>,
    commands: VecDeque<(Ns, CommandId)>,
    writes: VecDeque<(Ns, CommandId)>,
    completions: VecDeque<Completion>,
    commands_free_at: Ns,
    in_free_at: Ns,
    out_free_at: Ns,
    /// Where commands wait to be fetched, if they may.
    queues: Option<Box<Queues>>,
    write_waits: WriteWaits,
    pub log: RecordLog,
    pub port_log: PortLog,
    pub(crate) digest: Completions,
    pub stale: Option<StaleRead>,
}

impl<P: Payload> World<P> {
    pub(crate) fn new(
        hardware: Hardware,
        (stamps, payload): (Stamps, P),
        link: LinkTimes,
        slot_bytes: u32,
        hardware_timers: usize,
        commands: u32,
        queues: Option<Box<Queues>>,
    ) -> World<P> {
        let idle = HostCommand {
            id: CommandId(0),
            op: HostOp::Flush,
            client: 0,
            offset_bytes: 0,
            len_bytes: 0,
            fua: false,
        };
        let slot = Slot {
            command: idle,
            submitted: Ns::ZERO,
            seen: 0,
            queue: 0,
            account: None,
            map_ns: 0,
        };
        World {
            now: Ns::ZERO,
            hardware,
            stamps,
            payload,
            timers: Timers::new(hardware_timers),
            hardware_timers,
            // A queue is looked into when its command can be fetched; else nothing is seen of a command
            // before it is with the firmware.
            host_lag: match queues {
                Some(_) => Ns(link.fetch_ns),
                None => Ns(link.fetch_ns + link.command_ns),
            },
            host_due: Ns::MAX,
            link,
            slot_bytes: Divisor::new(slot_bytes as u64),
            slots: vec![slot; commands as usize],
            // Low numbers first: few slots are touched at low queue depth.
            free_slots: (0..commands).rev().collect(),
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

    /// Goes on to the next event: of which part of the drive it is. None when nothing is due any
    /// more. Of equal times, what is deeper inside the drive goes first.
    #[inline(always)] // Its one caller looks at once whose it is.
    pub(crate) fn next(&mut self) -> Option<Due> {
        let (due, index) = self.timers.expire()?;
        self.now = due;
        Some(match index.checked_sub(self.hardware_timers) {
            None => Due::Hardware(self.hardware.resource(index)),
            Some(front) => Due::Front(Front::ALL[front]),
        })
    }

    #[inline]
    pub(crate) fn set_front(&mut self, front: Front, due: Ns) {
        self.timers.set_front(front as usize, due);
    }

    /// The firmware is to be polled at `due`, or now if that is past; [`Ns::MAX`] for not at all.
    pub(crate) fn wake_firmware(&mut self, due: Ns) {
        self.set_front(Front::Firmware, due.max(self.now));
    }

    /// Whether another command fits into the queues.
    pub(crate) fn has_slot(&self) -> bool {
        !self.free_slots.is_empty()
    }

    /// When the first completion that has not reached the host does; [`Ns::MAX`] for never.
    #[inline]
    pub(crate) fn completion_due(&self) -> Ns {
        self.completions.front().map_or(Ns::MAX, |c| c.due)
    }

    /// The host has something to do at `due`, and does it before any of it can reach the firmware: so
    /// it does several things at a time.
    #[inline]
    pub(crate) fn set_host(&mut self, due: Ns) {
        self.host_due = due;
        self.set_front(Front::Host, due.saturating_add(self.host_lag));
    }

    /// The host submits a command at `now`. None where no slot is free.
    #[inline(always)] // So that the parts of the command stay in registers.
    pub(crate) fn submit(&mut self, now: Ns, submission: Submission) -> Option<CommandId> {
        let Submission {
            op,
            offset_bytes,
            len_bytes,
            fua,
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
        };
        let slot = &mut self.slots[id.0 as usize];
        slot.command = command;
        slot.submitted = since;
        slot.seen = self.stamps.written();
        slot.queue = queue;
        slot.account = None;
        slot.map_ns = 0;
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
            if self.writes.len() == 1 {
                self.set_front(Front::Write, due);
            }
        } else {
            self.commands_free_at = self.commands_free_at.max(fetched) + Ns(self.link.command_ns);
            self.commands.push_back((self.commands_free_at, id));
            if self.commands.len() == 1 {
                self.set_front(Front::Command, self.commands_free_at);
            }
        }
        Some(id)
    }

    /// Whether commands wait in queues until they are fetched.
    #[inline]
    pub(crate) fn has_queues(&self) -> bool {
        self.queues.is_some()
    }

    /// Begins the next fetch from the queues, if one can begin.
    #[inline(never)]
    fn fetch(&mut self) {
        if let Some(queues) = &mut self.queues
            && let Some(began) = queues.begin(self.now)
        {
            self.set_front(Front::Command, began + Ns(self.link.command_ns));
        }
    }

    /// A fetch from the queues has ended: the command, which has reached the firmware unless its data
    /// are yet to come.
    #[inline(never)]
    pub(crate) fn fetched(&mut self) -> Option<HostCommand> {
        self.set_front(Front::Command, Ns::MAX);
        let (id, began) = self.queues.as_mut()?.end(self.now);
        self.fetch();
        let command = self.slots[id.0 as usize].command;
        if command.op == HostOp::Write {
            self.in_free_at = self.in_free_at.max(began) + self.bytes_ns(command.len_bytes);
            let due = self.in_free_at + Ns(self.link.command_ns);
            self.writes.push_back((due, id));
            if self.writes.len() == 1 {
                self.set_front(Front::Write, due);
            }
            return None;
        }
        self.port_log.note(self.now, || Passed::Submitted(command));
        Some(command)
    }

    /// When the next command without data reaches the firmware; [`Ns::MAX`] for never, or where
    /// commands wait in queues.
    #[inline]
    pub(crate) fn command_due(&self) -> Ns {
        self.commands.front().map_or(Ns::MAX, |&(due, _)| due)
    }

    /// The command that has reached the firmware through `front`.
    pub(crate) fn arrived(&mut self, front: Front) -> HostCommand {
        let queue = if front == Front::Write {
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
        self.port_log.note(self.now, || Passed::Submitted(command));
        command
    }

    /// The first completion reaches the host, with all of the latency charged; none where there is none.
    #[inline(always)] // So that its parts stay in registers.
    pub(crate) fn completed(&mut self) -> Option<Completed<'_>> {
        let ended = self.completions.pop_front()?;
        if self.completions.is_empty() {
            // It begins at its start again, which stays in the caches.
            self.completions.clear();
        }
        self.free_slots.push(ended.id.0);
        // Nothing opens another one before the host has looked at it.
        let accounts = &mut self.hardware.accounts;
        accounts.close(ended.account);
        let slot = &self.slots[ended.id.0 as usize];
        let parts = &mut accounts[ended.account].parts;
        parts[Cause::Link as usize] += ended.due.since(ended.charged_to).0;
        let queue_ns = parts[Cause::Queue as usize] + ended.queue_ns;
        // Waits for the map lie before the command's last row was queued.
        let map_ns = slot.map_ns.min(queue_ns);
        parts[Cause::Queue as usize] = queue_ns - map_ns;
        parts[Cause::Map as usize] += map_ns;
        let completed = Completed {
            command: &slot.command,
            queue: slot.queue,
            since: slot.submitted,
            at: ended.due,
            status: ended.status,
            parts,
        };
        self.digest.note(&completed);
        Some(completed)
    }

    /// Power is cut: nothing is under way any more. How many commands were in flight.
    pub(crate) fn power_cut(&mut self) -> u32 {
        self.hardware.power_cut(&mut self.stamps);
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
        let lost = (self.slots.len() - self.free_slots.len()) as u32;
        self.free_slots = (0..self.slots.len() as u32).rev().collect();
        lost
    }

    fn bytes_ns(&self, bytes: u32) -> Ns {
        Ns((bytes as u64 * self.link.fs_per_byte).div_ceil(1_000_000))
    }

    fn check(&mut self, result: Result<(), StaleRead>) {
        if let Err(stale) = result {
            self.stale.get_or_insert(stale);
        }
    }

    /// The account of command `id`; all of its time so far is its own.
    fn account_of(&mut self, id: CommandId) -> AccountId {
        let slot = &mut self.slots[id.0 as usize];
        let accounts = &mut self.hardware.accounts;
        *slot
            .account
            .get_or_insert_with(|| accounts.open(slot.submitted))
    }

    fn lpn(&self, id: CommandId, slot: u32) -> u64 {
        let offset_bytes = self.slots[id.0 as usize].command.offset_bytes;
        self.slot_bytes.div(offset_bytes) + slot as u64
    }
}
