//! A log of the host: a layer between jobs and a drive that writes zones in order and cleans them itself.
//!
//! The log maps pages of its own to the drive's. It writes at its heads, each of which fills a zone from its start to its
//! end, cleans a zone by reading and writing its valid pages, and trims a zone before it fills it again. A zone as long
//! as a superblock leaves the drive little to move. So a log that knows what its host knows is what placement by handles is measured against.
//!
//! - `plan`: what a job file asks of the log, and what becomes of it on a drive.
//! - `table`: where each page lies, what each zone holds, which zone is cleaned next.
//! - this file: requests of applications, moves and trims, as commands to the drive.
//!
//! Whoever runs the log hands in requests ([`HostLog::take`]), sends the commands that it makes ([`HostLog::next_command`],
//! [`HostLog::sent`]), and tells which have ended ([`HostLog::ended`]). The log holds no data. It allocates when it
//! is made and in [`HostLog::begin`].
//!
//! A page lies at its new address as soon as the write is sent. What is in the memory of a host until then is not modelled: a read of
//! such a page waits for the write. A zone is trimmed when nothing in flight needs it any more. Tables of the log lie in memory and are never written.

mod error;
mod plan;
mod table;

use std::collections::VecDeque;

use firstread_core::{HostOp, Ns, Status};

pub use error::HostLogError;
pub use plan::{HostLogSpec, LogCapacity, LogPlan, MOST_HEADS, MovesTo, UnderLog, Victim};
use table::Table;

/// Cleaning begins when so few zones are free or about to be. One of them is kept for cleaning.
const CLEANS_AT: usize = 2;
/// Reads and writes of cleaning at a time.
const MOVES: usize = 8;
/// Pages of one of them, at most.
const MOVE_PAGES: usize = 16;
/// Bytes of one trim, at most: the length of a command has 32 bits. Tests have zones that take several.
const TRIM_BYTES: u64 = if cfg!(test) { 5 * 4096 } else { 1 << 30 };

/// A request of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogRequest {
    /// A read, a write or a flush.
    pub op: HostOp,
    /// First byte, in the address space of the log.
    pub offset_bytes: u64,
    /// Length (bytes); 0 of a flush.
    pub len_bytes: u32,
    /// Whether a write has to be safe from power loss before it completes.
    pub fua: bool,
    /// Placement handle of a write.
    pub placement: u16,
    /// Who asks.
    pub client: u32,
    /// From when its latency counts.
    pub since: Ns,
}

/// A command to the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogCommand {
    /// A read, a write, a trim or a flush.
    pub op: HostOp,
    /// First byte on the drive.
    pub offset_bytes: u64,
    /// Length (bytes); 0 of a flush.
    pub len_bytes: u32,
    /// Whether a write has to be safe from power loss before it completes.
    pub fua: bool,
    /// Placement handle of the drive.
    pub placement: u16,
    /// Whose request it is of, and from when the latency of that counts; none of cleaning.
    pub client: Option<(u32, Ns)>,
    what: What,
}

/// What a command is for. Zones are those that it needs as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum What {
    /// None is in flight.
    #[default]
    Nothing,
    Read {
        request: u32,
        zone: u32,
    },
    Write {
        request: u32,
        zone: u32,
        range: (u32, u32),
    },
    Flush {
        request: u32,
    },
    MoveRead {
        of: usize,
    },
    MoveWrite {
        of: usize,
        zone: u32,
        range: (u32, u32),
    },
    Trim {
        zone: u32,
    },
}

/// What has ended with a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogEnded {
    /// Nothing that anybody waits for.
    Nothing,
    /// A request, with the worst status of its commands.
    Request(LogRequest, Status),
    /// The log cannot go on: a write or a trim of cleaning ended so.
    Failed(Status),
}

/// What a log has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogCounts {
    /// Bytes written for applications.
    pub application_bytes: u64,
    /// Bytes that cleaning has read.
    pub read_bytes: u64,
    /// Bytes that cleaning has written.
    pub moved_bytes: u64,
    /// Bytes that cleaning has read and not written, because an application had written them meanwhile.
    pub overtaken_bytes: u64,
    /// Bytes that cleaning could not read, and has written all the same.
    pub lost_bytes: u64,
    /// Zones cleaned.
    pub zones_cleaned: u64,
    /// Requests that have waited for a free zone.
    pub waited: u64,
}

impl LogCounts {
    /// What was done since `before`.
    pub fn since(&self, before: &LogCounts) -> LogCounts {
        LogCounts {
            application_bytes: self.application_bytes - before.application_bytes,
            read_bytes: self.read_bytes - before.read_bytes,
            moved_bytes: self.moved_bytes - before.moved_bytes,
            overtaken_bytes: self.overtaken_bytes - before.overtaken_bytes,
            lost_bytes: self.lost_bytes - before.lost_bytes,
            zones_cleaned: self.zones_cleaned - before.zones_cleaned,
            waited: self.waited - before.waited,
        }
    }
}

/// A request that has not ended.
#[derive(Clone, Copy, Debug)]
struct Open {
    request: LogRequest,
    /// Pages, and those of them that commands were made of.
    first: u32,
    pages: u32,
    sent: u32,
    in_flight: u32,
    has_waited: bool,
    status: Status,
}

/// Pages that move together: valid ones that lie one behind the other.
#[derive(Clone, Copy, Debug)]
struct Move {
    step: Step,
    /// Where they lie.
    first: u32,
    pages: [u32; MOVE_PAGES],
    len: usize,
    /// Those that were dealt with.
    done: usize,
    in_flight: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Idle,
    Reads,
    Writes,
}

/// The log.
#[derive(Clone, Debug)]
pub struct HostLog {
    plan: LogPlan,
    table: Table,
    open: Vec<Open>,
    unused: Vec<u32>,
    /// Requests that commands are still to be made of.
    reads: VecDeque<u32>,
    writes: VecDeque<u32>,
    /// What each command in flight is for, by the number that the drive gave it.
    in_flight: Vec<What>,
    flying: u32,
    moves: [Move; MOVES],
    /// The zone that is cleaned, and pages of it that were looked at.
    victim: Option<(u32, u32)>,
    /// Zones that hold nothing, to be trimmed. Of the first one so many bytes were.
    emptied: VecDeque<u32>,
    trimmed: u64,
    /// Whether no more zone is cleaned.
    settles: bool,
    counts: LogCounts,
}

impl HostLog {
    /// A log that begins as if all its pages had been written once, in order.
    pub fn new(plan: LogPlan) -> HostLog {
        let (table, emptied) = Table::new(plan);
        let idle = Move {
            step: Step::Idle,
            first: 0,
            pages: [0; MOVE_PAGES],
            len: 0,
            done: 0,
            in_flight: 0,
        };
        HostLog {
            plan,
            table,
            open: Vec::new(),
            unused: Vec::new(),
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            in_flight: Vec::new(),
            flying: 0,
            moves: [idle; MOVES],
            victim: None,
            emptied,
            trimmed: 0,
            settles: false,
            counts: LogCounts::default(),
        }
    }

    /// What it was made from.
    pub fn plan(&self) -> &LogPlan {
        &self.plan
    }

    /// What it has done since it was made.
    pub fn counts(&self) -> &LogCounts {
        &self.counts
    }

    /// A run begins with at most `requests` requests at a time, on a drive that numbers its commands below `commands`.
    pub fn begin(&mut self, requests: u32, commands: u32) {
        let nothing = Open {
            request: LogRequest {
                op: HostOp::Flush,
                offset_bytes: 0,
                len_bytes: 0,
                fua: false,
                placement: 0,
                client: 0,
                since: Ns::ZERO,
            },
            first: 0,
            pages: 0,
            sent: 0,
            in_flight: 0,
            has_waited: false,
            status: Status::Ok,
        };
        self.open = vec![nothing; requests as usize];
        self.unused = (0..requests).rev().collect();
        self.reads = VecDeque::with_capacity(requests as usize);
        self.writes = VecDeque::with_capacity(requests as usize);
        self.in_flight = vec![What::Nothing; commands as usize];
        // A clone of a log has no more room in its queues than they hold, and each may have to hold every zone.
        let zones = self.plan.zones as usize;
        for queue in [&mut self.table.free, &mut self.emptied] {
            queue.reserve(zones - queue.len());
        }
        self.settles = false;
    }

    /// An application asks for something.
    ///
    /// # Errors
    /// [`HostLogError::Request`] where it is not of whole pages, [`HostLogError::Trims`] where it is a trim.
    pub fn take(&mut self, request: LogRequest) -> Result<(), HostLogError> {
        let page = u64::from(self.plan.page_bytes);
        let (offset, len) = (request.offset_bytes, u64::from(request.len_bytes));
        if let Some(bytes) = [offset, len].into_iter().find(|bytes| bytes % page != 0) {
            let page = self.plan.page_bytes;
            return Err(HostLogError::Request { bytes, page });
        }
        let of = self
            .unused
            .pop()
            .expect("no more requests than were announced");
        self.open[of as usize] = Open {
            request,
            first: (offset / page) as u32,
            pages: (len / page) as u32,
            sent: 0,
            in_flight: 0,
            has_waited: false,
            status: Status::Ok,
        };
        match request.op {
            HostOp::Read | HostOp::Flush => self.reads.push_back(of),
            HostOp::Write => self.writes.push_back(of),
            HostOp::Trim => return Err(HostLogError::Trims),
        }
        Ok(())
    }

    /// No more zone is cleaned from now on, so that the log comes to rest.
    pub fn settle(&mut self) {
        self.settles = true;
    }

    /// Whether nothing of it is in flight or about to be.
    pub fn is_at_rest(&self) -> bool {
        let moves = self.moves.iter().all(|m| m.step == Step::Idle);
        self.flying == 0 && moves && self.unused.len() == self.open.len() && self.emptied.is_empty()
    }

    /// The next command, to be sent at once. The order: what frees zones, then reads, writes, and what begins moves.
    pub fn next_command(&mut self) -> Option<LogCommand> {
        self.trim()
            .or_else(|| (0..MOVES).find_map(|of| self.write_moved(of)))
            .or_else(|| self.read())
            .or_else(|| self.write())
            .or_else(|| self.read_to_move())
            // A zone may have been emptied since the first question.
            .or_else(|| self.trim())
    }

    /// The drive has taken `command`, and calls it number `id`.
    pub fn sent(&mut self, id: u32, command: &LogCommand) {
        self.in_flight[id as usize] = command.what;
        self.flying += 1;
    }

    /// Command number `id` has ended with `status`.
    pub fn ended(&mut self, id: u32, status: Status) -> LogEnded {
        let what = std::mem::take(&mut self.in_flight[id as usize]);
        self.flying -= 1;
        match what {
            What::Nothing => {}
            What::Read { request, zone } => {
                self.table.zones[zone as usize].pins -= 1;
                return self.part_ended(request, status);
            }
            What::Write { request, zone, .. } => {
                self.written(zone);
                return self.part_ended(request, status);
            }
            What::Flush { request } => return self.part_ended(request, status),
            What::MoveRead { of } => {
                if status != Status::Ok {
                    let lost = self.moves[of].len as u64 * u64::from(self.plan.page_bytes);
                    self.counts.lost_bytes += lost;
                }
                self.moves[of].step = Step::Writes;
            }
            What::MoveWrite { of, zone, .. } => {
                self.written(zone);
                self.moves[of].in_flight -= 1;
                self.end_move(of);
            }
            What::Trim { zone } => self.table.zones[zone as usize].pins -= 1,
        }
        self.end_victim();
        self.end_trim();
        let fails = matches!(what, What::MoveWrite { .. } | What::Trim { .. });
        match fails && status != Status::Ok {
            true => LogEnded::Failed(status),
            false => LogEnded::Nothing,
        }
    }

    fn written(&mut self, zone: u32) {
        let zone = &mut self.table.zones[zone as usize];
        zone.pins -= 1;
        zone.writes -= 1;
    }

    fn part_ended(&mut self, of: u32, status: Status) -> LogEnded {
        self.end_victim();
        let open = &mut self.open[of as usize];
        open.in_flight -= 1;
        if open.status == Status::Ok {
            open.status = status;
        }
        if open.in_flight > 0 || open.sent < open.pages {
            return LogEnded::Nothing;
        }
        self.unused.push(of);
        LogEnded::Request(open.request, open.status)
    }
}

/// Requests of applications.
impl HostLog {
    /// The next command of a read or a flush. One whose page is being written lets others go first.
    fn read(&mut self) -> Option<LogCommand> {
        for _ in 0..self.reads.len() {
            let of = self.reads.pop_front()?;
            let Open {
                request,
                first,
                pages,
                sent,
                ..
            } = self.open[of as usize];
            if request.op == HostOp::Flush {
                self.open[of as usize].in_flight = 1;
                return Some(self.command(request.op, 0, 0, &request, What::Flush { request: of }));
            }
            let address = self.table.address_of(first + sent);
            let zone = self.table.zone_of(address);
            let end = (zone + 1) * self.plan.zone_pages;
            let mut n = 0;
            while sent + n < pages
                && address + n < end
                && self.table.address_of(first + sent + n) == address + n
            {
                n += 1;
            }
            if self.is_being_written(zone, (address, address + n)) {
                self.reads.push_back(of);
                continue;
            }
            self.table.zones[zone as usize].pins += 1;
            let open = &mut self.open[of as usize];
            open.sent += n;
            open.in_flight += 1;
            if open.sent < pages {
                self.reads.push_front(of);
            }
            let what = What::Read { request: of, zone };
            return Some(self.command(HostOp::Read, address, n, &request, what));
        }
        None
    }

    /// The next command of a write, if its head has room. Writes keep their order.
    fn write(&mut self) -> Option<LogCommand> {
        let of = *self.writes.front()?;
        let Open {
            request,
            first,
            pages,
            sent,
            ..
        } = self.open[of as usize];
        let head = self.table.head_of_writes(request.placement);
        let Some(address) = self.table.append(head, first + sent, false) else {
            let open = &mut self.open[of as usize];
            self.counts.waited += u64::from(!open.has_waited);
            open.has_waited = true;
            return None;
        };
        let mut n = 1;
        while sent + n < pages
            && self.table.continues(head, address)
            && self.table.append(head, first + sent + n, false).is_some()
        {
            n += 1;
        }
        let zone = self.begin_write(address);
        self.counts.application_bytes += self.bytes(n);
        let open = &mut self.open[of as usize];
        open.sent += n;
        open.in_flight += 1;
        if open.sent == pages {
            self.writes.pop_front();
        }
        let range = (address, address + n);
        let what = What::Write {
            request: of,
            zone,
            range,
        };
        let mut command = self.command(HostOp::Write, address, n, &request, what);
        command.placement = self.placement(head);
        Some(command)
    }

    fn command(&self, op: HostOp, address: u32, n: u32, of: &LogRequest, what: What) -> LogCommand {
        LogCommand {
            op,
            offset_bytes: self.bytes(address),
            len_bytes: n * self.plan.page_bytes,
            fua: of.fua && op == HostOp::Write,
            placement: 0,
            client: Some((of.client, of.since)),
            what,
        }
    }

    /// A write is sent to the zone of `address`, which is returned.
    fn begin_write(&mut self, address: u32) -> u32 {
        let at = self.table.zone_of(address);
        let zone = &mut self.table.zones[at as usize];
        zone.pins += 1;
        zone.writes += 1;
        at
    }

    /// Whether a write in flight to `zone` holds one of the addresses of `range`.
    fn is_being_written(&self, zone: u32, (from, to): (u32, u32)) -> bool {
        self.table.zones[zone as usize].writes > 0
            && self.in_flight.iter().any(|what| match *what {
                What::Write { range, .. } | What::MoveWrite { range, .. } => {
                    range.0 < to && from < range.1
                }
                _ => false,
            })
    }

    /// The placement handle that `head` writes with.
    fn placement(&self, head: u8) -> u16 {
        u16::from(head) * u16::from(self.plan.has_handles)
    }

    fn bytes(&self, pages: u32) -> u64 {
        u64::from(pages) * u64::from(self.plan.page_bytes)
    }
}

/// Cleaning.
impl HostLog {
    fn read_to_move(&mut self) -> Option<LogCommand> {
        let of = self.moves.iter().position(|m| m.step == Step::Idle)?;
        if self.settles {
            return None;
        }
        if self.victim.is_none() {
            let enough = self.table.free.len() + self.emptied.len() > CLEANS_AT;
            if enough {
                return None;
            }
            self.victim = Some((self.table.victim()?, 0));
        }
        let (zone, mut next) = self.victim?;
        let (start, end) = (zone * self.plan.zone_pages, self.plan.zone_pages);
        let mut len = 0;
        while next < end && len < MOVE_PAGES {
            match self.table.page_at(start + next) {
                Some(page) => {
                    self.moves[of].pages[len] = page;
                    len += 1;
                }
                None if len > 0 => break,
                None => {}
            }
            next += 1;
        }
        self.victim = Some((zone, next));
        if len == 0 {
            self.end_victim();
            return None;
        }
        // The run of valid pages ends before a page that is not, or at the last page looked at.
        let first = start + next - len as u32;
        self.table.zones[zone as usize].pins += 1;
        let pages = self.moves[of].pages;
        self.moves[of] = Move {
            step: Step::Reads,
            first,
            pages,
            len,
            done: 0,
            in_flight: 0,
        };
        let bytes = self.bytes(len as u32);
        self.counts.read_bytes += bytes;
        Some(LogCommand {
            op: HostOp::Read,
            offset_bytes: self.bytes(first),
            len_bytes: bytes as u32,
            fua: false,
            placement: 0,
            client: None,
            what: What::MoveRead { of },
        })
    }

    /// The next write of move `of`, if its data have been read and its head has room.
    fn write_moved(&mut self, of: usize) -> Option<LogCommand> {
        let Move {
            step,
            first,
            pages,
            len,
            mut done,
            ..
        } = self.moves[of];
        if step != Step::Writes || done == len {
            return None;
        }
        let head = self.table.head_of_moves(self.table.zone_of(first));
        let (mut address, mut n) = (0, 0);
        while done < len {
            if self.table.page_at(first + done as u32) != Some(pages[done]) {
                self.counts.overtaken_bytes += self.bytes(1);
            } else if n > 0 && !self.table.continues(head, address) {
                break;
            } else if let Some(at) = self.table.append(head, pages[done], true) {
                address = if n == 0 { at } else { address };
                n += 1;
            } else {
                break;
            }
            done += 1;
        }
        self.moves[of].done = done;
        if n == 0 {
            self.end_move(of);
            return None;
        }
        let zone = self.begin_write(address);
        self.moves[of].in_flight += 1;
        self.counts.moved_bytes += self.bytes(n);
        Some(LogCommand {
            op: HostOp::Write,
            offset_bytes: self.bytes(address),
            len_bytes: n * self.plan.page_bytes,
            fua: false,
            placement: self.placement(head),
            client: None,
            what: What::MoveWrite {
                of,
                zone,
                range: (address, address + n),
            },
        })
    }

    /// Move `of` ends if all its pages lie elsewhere, safely.
    fn end_move(&mut self, of: usize) {
        let ends = &mut self.moves[of];
        if ends.step == Step::Writes && ends.done == ends.len && ends.in_flight == 0 {
            ends.step = Step::Idle;
            let zone = self.table.zone_of(self.moves[of].first);
            self.table.zones[zone as usize].pins -= 1;
            self.end_victim();
        }
    }

    /// The victim is emptied if all of it was looked at and nothing needs it any more.
    fn end_victim(&mut self) {
        if let Some((zone, next)) = self.victim
            && next == self.plan.zone_pages
            && self.table.zones[zone as usize].pins == 0
        {
            self.victim = None;
            self.table.empty(zone);
            self.emptied.push_back(zone);
            self.counts.zones_cleaned += 1;
        }
    }

    /// The next trim of a zone that holds nothing.
    fn trim(&mut self) -> Option<LogCommand> {
        let zone = *self.emptied.front()?;
        let bytes = self.bytes(self.plan.zone_pages);
        let left = bytes - self.trimmed;
        if left == 0 {
            return None;
        }
        let offset_bytes = u64::from(zone) * bytes + self.trimmed;
        let most = TRIM_BYTES / u64::from(self.plan.page_bytes) * u64::from(self.plan.page_bytes);
        let len = left.min(most);
        self.trimmed += len;
        self.table.zones[zone as usize].pins += 1;
        Some(LogCommand {
            op: HostOp::Trim,
            offset_bytes,
            len_bytes: len as u32,
            fua: false,
            placement: 0,
            client: None,
            what: What::Trim { zone },
        })
    }

    /// The first zone that holds nothing is free if all of it is trimmed.
    fn end_trim(&mut self) {
        if let Some(&zone) = self.emptied.front()
            && self.trimmed == self.bytes(self.plan.zone_pages)
            && self.table.zones[zone as usize].pins == 0
        {
            self.emptied.pop_front();
            self.trimmed = 0;
            self.table.free.push_back(zone);
        }
    }
}

#[cfg(test)]
mod tests;
