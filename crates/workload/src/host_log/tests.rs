//! The log above a drive that is a table of what lies at each address, and that ends commands in any order.

use std::collections::BTreeMap;

use firstread_core::Stream;

use super::*;

const PAGE: u32 = 4096;

/// What lies at an address: a page and its version.
type Held = (u32, u64);

/// A drive, and the data that the host has in memory.
struct Model {
    log: HostLog,
    held: BTreeMap<u32, Held>,
    /// Commands in flight by number, with the data that a write carries.
    flying: Vec<Option<(LogCommand, Vec<Held>)>>,
    /// Data that moves have read.
    moved: [Vec<Held>; MOVES],
    /// Version of each page: the last one written, and the last one of which the write has ended.
    newest: Vec<u64>,
    ended: Vec<u64>,
    /// Requests by client: the versions that a write carries, or those that had ended when a read was taken; and pages done.
    asked: BTreeMap<u32, (LogRequest, Vec<u64>, u32)>,
    draws: Stream,
    drawn: u64,
    most_in_flight: usize,
    /// Address and length of every write, by placement handle.
    written: BTreeMap<u16, Vec<(u32, u32)>>,
}

impl Model {
    fn new(
        spec: HostLogSpec,
        zones: u64,
        zone_pages: u64,
        handles: Option<u16>,
        seed: u64,
    ) -> Model {
        let zone = zone_pages * u64::from(PAGE);
        let under = UnderLog {
            capacity_bytes: zones * zone,
            superblock_bytes: zone,
            page_bytes: PAGE,
            handles,
        };
        let plan = spec.plan(&under).unwrap();
        let mut log = HostLog::new(plan);
        log.begin(16, 24);
        Model {
            log,
            held: (0..plan.pages).map(|page| (page, (page, 0))).collect(),
            flying: vec![None; 24],
            moved: Default::default(),
            newest: vec![0; plan.pages as usize],
            ended: vec![0; plan.pages as usize],
            asked: BTreeMap::new(),
            draws: Stream::new(seed),
            drawn: 0,
            most_in_flight: 24,
            written: BTreeMap::new(),
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.drawn += 1;
        self.draws.at(self.drawn).below(below)
    }

    fn ask(&mut self, client: u32, op: HostOp, first: u32, pages: u32, placement: u16) {
        let range = first as usize..(first + pages) as usize;
        let versions = match op {
            HostOp::Write => {
                self.newest[range.clone()].iter_mut().for_each(|v| *v += 1);
                self.newest[range].to_vec()
            }
            _ => self.ended[range].to_vec(),
        };
        let request = LogRequest {
            op,
            offset_bytes: u64::from(first) * u64::from(PAGE),
            len_bytes: pages * PAGE,
            fua: false,
            placement,
            client,
            since: Ns(u64::from(client)),
        };
        self.asked.insert(client, (request, versions, 0));
        self.log.take(request).unwrap();
    }

    /// Sends what can be sent.
    fn pump(&mut self) {
        while let Some(id) = self.flying[..self.most_in_flight]
            .iter()
            .position(Option::is_none)
        {
            let Some(command) = self.log.next_command() else {
                break;
            };
            self.log.sent(id as u32, &command);
            let data = self.data(&command);
            self.flying[id] = Some((command, data));
        }
    }

    /// What `command` carries, if it writes.
    fn data(&mut self, command: &LogCommand) -> Vec<Held> {
        let (at, n) = Self::range(command);
        if command.op == HostOp::Write {
            self.written
                .entry(command.placement)
                .or_default()
                .push((at, n));
        }
        match command.what {
            What::Write { .. } => {
                let (client, since) = command.client.unwrap();
                let (request, versions, done) = self.asked.get_mut(&client).unwrap();
                assert_eq!(since, request.since);
                let first = (request.offset_bytes / u64::from(PAGE)) as u32;
                let part = *done..*done + n;
                *done += n;
                part.map(|i| (first + i, versions[i as usize])).collect()
            }
            What::MoveWrite { of, .. } => {
                assert_eq!(command.client, None);
                let page_at = |address| self.log.table.page_at(address).unwrap();
                let moves = (at..at + n).map(page_at);
                let data = |page| *self.moved[of].iter().find(|held| held.0 == page).unwrap();
                moves.map(data).collect()
            }
            _ => Vec::new(),
        }
    }

    fn range(command: &LogCommand) -> (u32, u32) {
        let at = command.offset_bytes / u64::from(PAGE);
        (at as u32, command.len_bytes / PAGE)
    }

    /// Ends a command of those in flight, if there is one: any of them. Returns the client whose request that ended.
    fn end_one(&mut self) -> Option<u32> {
        let flying: Vec<usize> = (0..24).filter(|&i| self.flying[i].is_some()).collect();
        let at = self.draw(flying.len().max(1) as u64) as usize;
        let id = *flying.get(at)?;
        let (command, data) = self.flying[id].take().unwrap();
        let (first, n) = Self::range(&command);
        match command.op {
            // What a write holds lies there from its end on, and not before.
            HostOp::Write => {
                for (at, held) in (first..).zip(data) {
                    let before = self.held.insert(at, held);
                    assert_eq!(before, None, "{at} was trimmed before");
                }
            }
            HostOp::Trim => self.held.retain(|at, _| !(first..first + n).contains(at)),
            HostOp::Read => {
                let read = (first..first + n).map(|at| self.held[&at]);
                let read: Vec<Held> = read.collect();
                match command.what {
                    What::MoveRead { of } => self.moved[of] = read,
                    _ => self.check_read(command.client.unwrap().0, &read),
                }
            }
            HostOp::Flush => {}
        }
        match self.log.ended(id as u32, Status::Ok) {
            LogEnded::Request(request, Status::Ok) => {
                let (asked, versions, done) = self.asked.remove(&request.client).unwrap();
                assert_eq!(asked, request);
                assert_eq!(done, request.len_bytes / PAGE, "all of {request:?}");
                if request.op == HostOp::Write {
                    let first = (request.offset_bytes / u64::from(PAGE)) as usize;
                    for (ended, version) in self.ended[first..].iter_mut().zip(versions) {
                        *ended = version.max(*ended);
                    }
                }
                Some(request.client)
            }
            LogEnded::Nothing => None,
            other => panic!("{other:?}"),
        }
    }

    /// A read returns the pages that were asked for, of a version at least as new as what had been written before.
    fn check_read(&mut self, client: u32, read: &[Held]) {
        let (request, versions, done) = self.asked.get_mut(&client).unwrap();
        let first = (request.offset_bytes / u64::from(PAGE)) as u32;
        // Parts of a read end in any order: which part it is follows from its first page.
        let at = read[0]
            .0
            .checked_sub(first)
            .expect("a page that was asked for");
        for (i, (page, version)) in (at..).zip(read) {
            assert_eq!(*page, first + i, "{request:?}");
            assert!(
                *version >= versions[i as usize],
                "page {page} of {request:?}"
            );
        }
        *done += read.len() as u32;
    }

    /// Lets everything end.
    fn settle(&mut self) {
        for _ in 0..1_000_000 {
            self.pump();
            self.end_one();
            if self.asked.is_empty() {
                self.log.settle();
            }
            if self.log.is_at_rest() && self.flying.iter().all(Option::is_none) {
                return;
            }
        }
        panic!("the log does not come to rest");
    }

    /// Every page lies where the tables say, and counts agree.
    fn audit(&self) {
        let plan = self.log.plan;
        let mut valid = vec![0; plan.zones as usize];
        for page in 0..plan.pages {
            let at = self.log.table.address_of(page);
            assert_eq!(self.held[&at], (page, self.newest[page as usize]));
            valid[self.log.table.zone_of(at) as usize] += 1;
        }
        for (zone, valid) in self.log.table.zones.iter().zip(valid) {
            assert_eq!((zone.valid, zone.pins, zone.writes), (valid, 0, 0));
        }
    }
}

fn spec(pages: u64, heads: u8, moves: MovesTo, victim: Victim) -> HostLogSpec {
    HostLogSpec {
        heads,
        moves,
        victim,
        ..HostLogSpec::new(LogCapacity::Bytes(pages * u64::from(PAGE)))
    }
}

/// Whatever is asked, in whatever order commands end: a read returns what was written last, and nothing is lost.
#[test]
fn model_a_log_returns_what_was_written() {
    let all_moves = [MovesTo::WithWrites, MovesTo::Apart, MovesTo::ByHandle];
    let victims = [Victim::Greedy, Victim::CostBenefit, Victim::Fifo];
    for seed in 0..90u64 {
        let key = Stream::new(seed).named("log");
        let moves = all_moves[seed as usize % 3];
        let victim = victims[seed as usize / 3 % 3];
        let heads = 1 + key.at(0).below(3) as u8;
        let zone_pages = 1 + key.at(1).below(40);
        let of = spec(1, heads, moves, victim);
        // As few zones as a log may have, or more.
        let used = 1 + key.at(2).below(8);
        let zones = used + u64::from(of.all_heads()) + 2 + key.at(3).below(3);
        let pages = used * zone_pages - key.at(4).below(zone_pages);
        let of = spec(pages, heads, moves, victim);
        let handles = (key.at(5).below(2) == 0).then_some(16);
        let mut model = Model::new(of, zones, zone_pages, handles, seed);
        model.most_in_flight = 1 + key.at(6).below(24) as usize;
        let mut idle: Vec<u32> = (0..16).collect();
        for _ in 0..3_000 {
            if model.draw(3) > 0
                && let Some(client) = idle.pop()
            {
                let op = [HostOp::Read, HostOp::Write, HostOp::Write][model.draw(3) as usize];
                let first = model.draw(pages);
                let len = 1 + model.draw((pages - first).min(9));
                let handle = model.draw(u64::from(heads)) as u16;
                match model.draw(50) {
                    0 => model.ask(client, HostOp::Flush, 0, 0, 0),
                    _ => model.ask(client, op, first as u32, len as u32, handle),
                }
            }
            model.pump();
            if model.draw(3) > 0 || idle.is_empty() {
                idle.extend(model.end_one());
            }
        }
        model.settle();
        model.audit();
        assert!(model.log.counts.zones_cleaned > 0, "seed {seed} cleans");
        assert_eq!(model.log.counts.lost_bytes, 0);
    }
}

/// Each head fills a zone from its start to its end, then the next one, and writes with a handle of its own.
#[test]
fn sequence_each_head_writes_zones_in_order() {
    let pages = 40 * 16 - 7;
    let mut model = Model::new(
        spec(pages, 2, MovesTo::ByHandle, Victim::Greedy),
        52,
        16,
        Some(4),
        7,
    );
    // Each half of the pages is written with a handle of its own.
    let half = pages / 2;
    for round in 0..3_000u32 {
        let handle = round % 2;
        let first = handle * half as u32 + model.draw(half - 4) as u32;
        model.ask(0, HostOp::Write, first, 1 + round % 4, handle as u16);
        while !model.asked.is_empty() {
            model.pump();
            model.end_one();
        }
    }
    assert_eq!(
        model.written.keys().copied().collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
    for (handle, writes) in &model.written {
        let mut next = writes[0].0;
        for (at, n) in writes {
            let begins = at % 16 == 0 && next % 16 == 0;
            assert!(
                *at == next || begins,
                "handle {handle} writes {at} after {next}"
            );
            assert_eq!(at / 16, (at + n - 1) / 16, "a write stays in a zone");
            next = at + n;
        }
    }
    // Pages of a handle move with that handle alone. Those that were never written lie anywhere.
    let mut written = 0;
    for page in (0..2 * half as u32).filter(|&page| model.newest[page as usize] > 0) {
        let table = &model.log.table;
        let zone = table.zone_of(table.address_of(page));
        let handle = page / half as u32;
        assert_eq!(
            u32::from(table.zones[zone as usize].handle),
            handle,
            "page {page} in zone {zone}"
        );
        written += 1;
    }
    assert!(written > pages * 9 / 10, "{written} of {pages}");
    let counts = model.log.counts;
    assert!(
        counts.moved_bytes > counts.application_bytes / 10,
        "{counts:?}"
    );
}

/// Bytes add up, and a log without garbage cleans nothing.
#[test]
fn formula_a_log_that_is_overwritten_in_order_moves_nothing() {
    let mut model = Model::new(
        spec(320, 1, MovesTo::WithWrites, Victim::Greedy),
        24,
        16,
        None,
        1,
    );
    for round in 0..200u32 {
        for at in (0..320).step_by(8) {
            model.ask(round, HostOp::Write, at, 8, 0);
            while !model.asked.is_empty() {
                model.pump();
                model.end_one();
            }
        }
    }
    model.settle();
    let counts = model.log.counts;
    assert_eq!(counts.application_bytes, 200 * 320 * u64::from(PAGE));
    assert_eq!((counts.moved_bytes, counts.read_bytes), (0, 0));
    // Of four zones that were free three still are.
    assert_eq!(counts.zones_cleaned, 200 * 20 - 1);
}

/// A run allocates nothing, on a clone of a log neither: its queues have room for every zone.
#[test]
fn formula_queues_of_a_clone_have_room_for_every_zone() {
    let model = Model::new(
        spec(320, 1, MovesTo::WithWrites, Victim::Greedy),
        24,
        16,
        None,
        1,
    );
    let mut log = model.log.clone();
    log.begin(16, 24);
    for queue in [&log.table.free, &log.emptied] {
        assert!(queue.capacity() >= 24, "{}", queue.capacity());
    }
}

/// Which zone is cleaned, of three that differ in what is valid and since when they are full.
#[test]
fn sequence_the_rule_picks_the_zone() {
    let picks = |victim| {
        let mut model = Model::new(spec(48, 1, MovesTo::Apart, victim), 12, 8, None, 1);
        model.settle();
        // Two pages of zone 0, then six of zone 1, then seven of zone 5.
        for page in [0, 1, 8, 9, 10, 11, 12, 13, 40, 41, 42, 43, 44, 45, 46] {
            let table = &mut model.log.table;
            table.append(0, page, false).unwrap();
        }
        for zone in 0..6 {
            model.log.table.zones[zone].full_at = [1, 9, 9, 9, 9, 14][zone];
        }
        model.log.table.victim().unwrap()
    };
    assert_eq!(picks(Victim::Greedy), 5);
    assert_eq!(picks(Victim::Fifo), 0);
    // Zone 1: 6 x 7 / 4. Zone 5: 7 x 2 / 2. Zone 0: 2 x 15 / 12.
    assert_eq!(picks(Victim::CostBenefit), 1);
}

#[test]
fn golden_errors_of_logs_that_do_not_fit() {
    let drive = UnderLog {
        capacity_bytes: 100 << 20,
        superblock_bytes: 4 << 20,
        page_bytes: PAGE,
        handles: Some(2),
    };
    let told = |spec: HostLogSpec, under: &UnderLog| spec.plan(under).unwrap_err().to_string();
    let of = |mib: u64| HostLogSpec::new(LogCapacity::Bytes(mib << 20));
    assert_eq!(
        told(of(85), &drive),
        "host_log: of 25 zones 3 are left to clean with, and a log with 2 heads needs 4: host_log=88080384 would do"
    );
    assert_eq!(of(84).plan(&drive).unwrap().pages, 84 << 8);
    let zone = |bytes| HostLogSpec {
        zone_bytes: Some(bytes),
        ..of(8)
    };
    assert_eq!(
        told(zone(25 << 20), &drive),
        "host_log_zone: the drive holds 4 zones of 26214400 bytes, and a log with 2 heads needs 4 beside those of its data: \
         host_log_zone=20971520 would do"
    );
    assert!(zone(20_971_520).plan(&drive).is_ok());
    assert_eq!(
        told(zone(1 << 20 | 512), &drive),
        "host_log_zone: 1049088 bytes are no whole number of the 4096 bytes that the drive maps at a time: 1048576 would do"
    );
    let heads = HostLogSpec { heads: 3, ..of(8) };
    assert_eq!(
        told(heads, &drive),
        "host_log_heads: each of 4 heads has a placement handle, and the drive has 2: `stream.handles=4` would do"
    );
    let one_less = UnderLog {
        handles: Some(3),
        ..drive
    };
    assert!(told(heads, &one_less).contains("`stream.handles=4`"));
    let without = UnderLog {
        handles: None,
        ..drive
    };
    assert!(!heads.plan(&without).unwrap().has_handles);
    let large = UnderLog {
        capacity_bytes: 1 << 50,
        ..drive
    };
    assert_eq!(
        told(of(8), &large),
        "host_log: the drive has 274877906944 pages, and a log holds 4294967295 at most"
    );
    let percent = HostLogSpec::new(LogCapacity::Percent(33));
    assert_eq!(percent.capacity_bytes(100 << 20), 33 << 20);
    assert_eq!(percent.capacity_bytes(10 << 20), 3 << 20);
}
