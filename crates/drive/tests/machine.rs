//! The drive as a machine: commands in, completions out, without a run above it.

use std::collections::BTreeMap;

use firstread_core::{CommandId, HostOp, Ns, Status, Stream};
use firstread_drive::profile::DriveProfile;
use firstread_drive::{Completed, Drive, Host, Payload, Stamp, Submission, SubmitError};
use firstread_testkit::{aged, drive, profile, voltages};
use firstread_workload::TraceRecord;

const KIB: u64 = 1024;

fn made(set: &[&str]) -> Drive {
    drive(four_dies(set), &aged(28, 300), 1)
}

fn four_dies(set: &[&str]) -> DriveProfile {
    let four_dies = [
        "geometry.channels=2",
        "geometry.chips_per_channel=1",
        "geometry.dies_per_chip=2",
        "geometry.blocks_per_plane=24",
        "capacity=12 GiB",
        "chip.failures.factory_bad=0 %",
    ];
    let set: Vec<&str> = four_dies.iter().chain(set).copied().collect();
    profile("dc-qlc-15t", &set)
}

/// Reads, writes and trims all over the drive.
fn request(i: u64) -> (HostOp, u64, u32) {
    let op = match i * 7 % 10 {
        0..=5 => HostOp::Read,
        6..=8 => HostOp::Write,
        _ => HostOp::Trim,
    };
    let len = (4 * KIB) << (i * 5 % 4);
    (op, i * 2_654_435_761 % (1 << 20) * 4 * KIB, len as u32)
}

fn command(i: u64, since: Ns) -> Submission {
    let (op, offset_bytes, len_bytes) = request(i);
    Submission {
        op,
        offset_bytes,
        len_bytes,
        fua: false,
        placement: 0,
        queue: 0,
        since,
    }
}

/// A host of a few lines does what a run does.
#[test]
fn model_a_loop_of_ones_own_sees_every_completion_of_a_run() {
    const REQUESTS: u64 = 3_000;
    const DEPTH: u32 = 16;
    let queues: &[&str] = &["queues.fetched=4", "firmware.command_interval=10us"];
    for set in [&[], queues] {
        let mut by_run = made(set);
        by_run.digest_completions();
        let records = (0..REQUESTS).map(|i| {
            let (op, offset_bytes, len_bytes) = request(i);
            Ok(TraceRecord {
                time_ns: 0,
                op,
                offset_bytes,
                len_bytes,
                device: 0,
                placement: 0,
            })
        });
        let host = Host::trace("trace", records, DEPTH, None);
        let stats = host.run(&mut by_run, &mut |_| {}).unwrap();

        let mut by_hand = made(set);
        by_hand.digest_completions();
        let start = by_hand.now();
        let mut clock = start;
        let (mut issued, mut completed) = (0, 0);
        while completed < REQUESTS {
            while issued < REQUESTS && issued - completed < u64::from(DEPTH) {
                by_hand.submit(clock, command(issued, start)).unwrap();
                issued += 1;
            }
            if by_hand.completion_due() > by_hand.now() {
                by_hand.advance(Ns::MAX);
            }
            let by = by_hand.now();
            if let Some(Completed { at, .. }) = by_hand.completion(by) {
                (clock, completed) = (at, completed + 1);
            }
        }
        assert_eq!(by_hand.digest(), by_run.digest(), "{set:?}");
        let counters = |drive: &Drive| format!("{:?}", drive.counters());
        assert_eq!(counters(&by_hand), counters(&by_run), "{set:?}");
        assert_eq!(clock.since(start), stats.simulated);
        assert_eq!(by_hand.stale(), None);
    }
}

/// Time passes in whatever steps: completions are the same.
#[test]
fn model_steps_of_time_change_nothing() {
    let complete = |step: Ns| {
        let mut drive = made(&[]);
        drive.digest_completions();
        let start = drive.now();
        for i in 0..64 {
            drive.submit(start, command(i, start)).unwrap();
        }
        let (mut clock, mut completed) = (start, 0);
        while completed < 64 {
            clock = clock.saturating_add(step);
            drive.advance(clock);
            let by = drive.now().min(clock);
            while drive.completion(by).is_some() {
                completed += 1;
            }
        }
        drive.digest().unwrap()
    };
    let whole = complete(Ns::MAX);
    assert_eq!(whole.count, 64);
    for step in [100, 3_333, 1_000_000] {
        assert_eq!(complete(Ns(step)), whole, "steps of {step} ns");
    }
}

#[test]
fn formula_an_idle_drive_stops_at_the_time_given() {
    let mut drive = made(&[]);
    let until = drive.now() + Ns(5_000_000);
    drive.advance(until);
    assert_eq!(drive.now(), until + drive.host_lag());
    assert_eq!(drive.completion_due(), Ns::MAX);
    drive.advance(until);
    assert_eq!(
        drive.now(),
        until + drive.host_lag(),
        "time does not go back"
    );
}

#[test]
fn sequence_what_a_drive_refuses_changes_nothing() {
    let mut drive = made(&["link.max_outstanding=4"]);
    drive.advance(drive.now() + Ns(1_000_000));
    let now = drive.now();
    let past = now.since(drive.host_lag() + Ns(1));
    assert_eq!(drive.submit(past, command(0, past)), Err(SubmitError::Late));
    let last = Submission {
        offset_bytes: drive.capacity_bytes() - 4 * KIB,
        len_bytes: 8 * KIB as u32,
        ..command(0, now)
    };
    assert_eq!(
        drive.submit(now, last).unwrap_err().to_string(),
        "a read of 8192 bytes at 12884897792 reaches past the end of the drive (12884901888 bytes)"
    );
    let felt = now.since(drive.host_lag());
    for i in 0..4 {
        assert!(drive.has_room());
        drive.submit(felt, command(i, felt)).unwrap();
    }
    assert!(!drive.has_room());
    assert_eq!(drive.submit(now, command(4, now)), Err(SubmitError::Full));
    let mut completed = 0;
    while completed < 4 {
        drive.advance(Ns::MAX);
        completed += u32::from(drive.completion(Ns::MAX).is_some());
    }
}

/// The bytes of a drive, kept by their stamps.
#[derive(Clone, Default)]
struct Bytes {
    slot_bytes: usize,
    /// Data of writes that have been submitted: their first byte on the drive, and the data.
    written: BTreeMap<CommandId, (u64, Vec<u8>)>,
    /// Slots that reads have returned so far.
    found: BTreeMap<CommandId, Vec<Vec<u8>>>,
    kept: BTreeMap<Stamp, Vec<u8>>,
    /// The last version of each page; none where it was trimmed.
    last: BTreeMap<u64, Option<Stamp>>,
}

impl Bytes {
    /// What the drive was filled with.
    fn filled(&self, page: u64) -> Vec<u8> {
        vec![page as u8 | 1; self.slot_bytes]
    }

    fn of(&self, stamp: Option<Stamp>) -> Vec<u8> {
        match stamp {
            None => vec![0; self.slot_bytes],
            Some(Stamp { page, version: 0 }) => self.filled(page),
            Some(stamp) => self.kept[&stamp].clone(),
        }
    }
}

impl Payload for Bytes {
    fn write(&mut self, command: CommandId, _: u32, stamp: Stamp) {
        let first = Some(Stamp {
            version: 0,
            ..stamp
        });
        let before = self.last.insert(stamp.page, Some(stamp)).unwrap_or(first);
        let mut bytes = self.of(before);
        let (at, data) = &self.written[&command];
        let start = stamp.page * self.slot_bytes as u64;
        for (i, byte) in (start..).zip(&mut bytes) {
            if let Some(&new) = i.checked_sub(*at).and_then(|i| data.get(i as usize)) {
                *byte = new;
            }
        }
        self.kept.insert(stamp, bytes);
    }

    fn read(&mut self, command: CommandId, slot: u32, found: Option<Stamp>) {
        let bytes = self.of(found);
        let slots = self.found.entry(command).or_default();
        let slot = slot as usize;
        slots.resize(slots.len().max(slot + 1), Vec::new());
        slots[slot] = bytes;
    }

    fn trim(&mut self, first: u64, end: u64, _: u64) {
        self.last.extend((first..end).map(|page| (page, None)));
    }
}

/// A payload of bytes gets back what was written, sector by sector: partial writes, trims and a power cut
/// between them.
#[test]
fn model_a_payload_of_bytes_reads_what_it_wrote() {
    const LANES: u64 = 8;
    const LANE_BYTES: u64 = 128 * KIB;
    const SECTOR: u64 = 512;
    for seed in 0..4 {
        let profile = four_dies(&["schemes.read_recovery=soft-parity"]);
        let slot_bytes = profile.geometry.slot_bytes as usize;
        let bytes = Bytes {
            slot_bytes,
            ..Bytes::default()
        };
        let tables = voltages(&profile);
        let drive = Drive::with_payload(profile, tables, &aged(28, 300), seed, bytes);
        let mut drive = drive.unwrap_or_else(|error| panic!("{error}"));
        // One command of each lane is in flight, so what it has to find is known.
        let slots = LANES * LANE_BYTES / slot_bytes as u64;
        let mut model: Vec<u8> = (0..slots)
            .flat_map(|page| drive.payload().filled(page))
            .collect();
        let draw = Stream::new(seed);
        let (mut reads, mut cuts) = (0, 0);
        for round in 0..400 {
            let mut in_flight = BTreeMap::new();
            for lane in 0..LANES {
                let draw = draw.at(round).at(lane);
                let op = [HostOp::Read, HostOp::Write, HostOp::Write, HostOp::Trim]
                    [draw.at(0).below(4) as usize];
                let unit = if op == HostOp::Trim {
                    slot_bytes as u64
                } else {
                    SECTOR
                };
                let offset = draw.at(1).below(LANE_BYTES / unit) * unit;
                let most = (LANE_BYTES - offset).min(40 * KIB) / unit;
                let len = (1 + draw.at(2).below(most)) * unit;
                let offset = lane * LANE_BYTES + offset;
                let now = drive.now();
                let id = drive.submit(
                    now,
                    Submission {
                        op,
                        offset_bytes: offset,
                        len_bytes: len as u32,
                        fua: false,
                        placement: 0,
                        queue: lane as u32,
                        since: now,
                    },
                );
                let id = id.unwrap();
                if op == HostOp::Write {
                    let data = (0..len)
                        .map(|i| draw.at(3).at(i).below(256) as u8)
                        .collect();
                    drive.payload_mut().written.insert(id, (offset, data));
                }
                in_flight.insert(id, (op, offset as usize, len as usize));
            }
            while !in_flight.is_empty() {
                drive.advance(Ns::MAX);
                let Some(completed) = drive.completion(Ns::MAX) else {
                    continue;
                };
                assert_eq!(completed.status, Status::Ok, "seed {seed}");
                let id = completed.command.id;
                let (op, offset, len) = in_flight.remove(&id).unwrap();
                let range = offset..offset + len;
                match op {
                    HostOp::Read => {
                        let found = drive.payload_mut().found.remove(&id).unwrap().concat();
                        let skip = offset % slot_bytes;
                        assert!(
                            found[skip..skip + len] == model[range],
                            "seed {seed}, round {round}: {len} bytes at {offset}"
                        );
                        reads += 1;
                    }
                    HostOp::Write => {
                        let (_, data) = drive.payload_mut().written.remove(&id).unwrap();
                        model[range].copy_from_slice(&data);
                    }
                    HostOp::Trim => model[range].fill(0),
                    HostOp::Flush => unreachable!("none is submitted"),
                }
            }
            if round % 130 == 129 {
                drive.power_cut(drive.now()).unwrap();
                cuts += 1;
            }
        }
        assert!(reads > 500 && cuts == 3);
        assert_eq!(drive.stale(), None);
    }
}
