//! How long a write may take: each write of a run, and what bounds it.

use std::collections::BTreeMap;

use firstread_core::{HostCommand, HostOp, Ns};
use firstread_drive::port_log::PortCallKind;
use firstread_drive::{Drive, DriveState, Precondition};
use firstread_testkit::profile;

/// Random writes over a full drive.
pub(crate) struct Load {
    pub(crate) drive: &'static str,
    pub(crate) set: Vec<String>,
    pub(crate) precondition: Precondition,
    pub(crate) depth: u64,
    /// Lines of the job file beside those that all have: block size and law of the job that writes, and other jobs.
    pub(crate) job: String,
    /// Seed of the drive and of the load.
    pub(crate) seed: u64,
}

/// A write, and what it may take.
struct Waited {
    number: usize,
    ns: u64,
    /// Time in which the queue is served while the host fills the superblock that the write falls in.
    queue_ns: u64,
    /// `queue_ns` for the factor of the load, an erase and some programs.
    bound_ns: u64,
}

/// Programs that a write may wait for beside its queue and one erase. It waits for a wordline of the write
/// buffer, which is programmed die by die. Before its program on the last die there may be those of the
/// other two wordlines of the buffer, and of the three that the data mover has.
pub(crate) const PROGRAMS: u64 = 6;

/// Programs that come on top where axis `stream` chooses among streams: those of the wordlines that all its streams share.
pub(crate) fn further_programs(drive: &Drive) -> u64 {
    let buffers = drive.write_buffers();
    let chooses = drive
        .profile()
        .scheme("stream")
        .is_some_and(|choice| choice.scheme.name != "one");
    let of_streams = buffers
        .streams
        .iter()
        .filter(|lines| lines.lines == 1)
        .count();
    match chooses {
        true => of_streams as u64 + u64::from(buffers.shared.lines),
        false => 0,
    }
}

/// A command of the host: what, when it was submitted, when it completed.
pub(crate) type Request = (HostCommand, Ns, Ns);

/// All commands `op` that `drive` has completed since its ports were logged, in the order of their completion.
pub(crate) fn requests_of(drive: &Drive, op: HostOp) -> Vec<Request> {
    let mut submitted = BTreeMap::new();
    let mut requests = Vec::new();
    for crossing in drive.port_calls() {
        match crossing.what {
            PortCallKind::Submitted(command) if command.op == op => {
                submitted.insert(command.id, crossing.at);
            }
            PortCallKind::Completed(command, _) if command.op == op => {
                requests.push((command, submitted[&command.id], crossing.at));
            }
            _ => {}
        }
    }
    requests
}

/// For each write, the time in which a queue of `depth` writes is served at the rate of the superblock that the host
/// fills meanwhile, or of the one before. A superblock takes `superblock` slots. None of those after the last whole
/// superblock.
pub(crate) fn queues_ns(
    writes: &[Request],
    depth: u64,
    superblock: u64,
    slot_bytes: u64,
) -> Vec<u64> {
    let slots = |command: &HostCommand| {
        let end = command.offset_bytes + u64::from(command.len_bytes) - 1;
        end / slot_bytes - command.offset_bytes / slot_bytes + 1
    };
    let mut of_superblocks = Vec::new();
    let mut of_writes = Vec::new();
    let (mut began, mut first, mut filled) = (writes[0].1, 0, 0);
    for (number, (command, _, ended)) in writes.iter().enumerate() {
        of_writes.push(of_superblocks.len());
        filled += slots(command);
        if filled >= superblock {
            let ns = ended.since(core::mem::replace(&mut began, *ended)).0;
            of_superblocks.push(depth * ns / (number + 1 - first) as u64);
            (first, filled) = (number + 1, filled - superblock);
        }
    }
    // A write may wait in two superblocks.
    let of_superblock =
        |nth: usize| Some((*of_superblocks.get(nth)?).max(of_superblocks[nth.saturating_sub(1)]));
    of_writes.into_iter().map_while(of_superblock).collect()
}

/// Runs `load` and looks at each write, from the first one after the fill on. The moves that a superblock of
/// the host costs are to be spread evenly over its slots. So a write takes no longer than the queue, at the rate
/// of the superblock that the host fills, `queues` times, an erase and some programs.
pub(crate) fn writes_are_paced(load: &Load, queues: f64) {
    let (worst, message) = worst_write(load, queues);
    assert!(worst <= queues, "{message}");
}

/// The factor on the queue that the write of `load` closest to its bound of `queues` would have needed, or furthest beyond
/// it, and what there is to say of that write.
pub(crate) fn worst_write(load: &Load, queues: f64) -> (f64, String) {
    let set: Vec<&str> = load.set.iter().map(String::as_str).collect();
    let profile = profile(load.drive, &set);
    let mode = profile.mode;
    let superblock = u64::from(profile.geometry.slots_per_superblock(mode));
    let slot_bytes = u64::from(profile.geometry.slot_bytes);
    let erase_ns = profile.chip.mode(mode).unwrap().erase_ns;
    let state = DriveState {
        precondition: load.precondition,
        ..DriveState::default()
    };
    let mut made = firstread_testkit::drive(profile, &state, load.seed);
    let program_ns = made.medium().program_ns(mode).unwrap();
    let job = format!(
        "[w]\nrw=randwrite\nnorandommap\niodepth={}\n{}",
        load.depth, load.job
    );
    let programs = PROGRAMS + further_programs(&made);
    made.log_ports();
    let stats = firstread_testkit::try_run(&mut made, &job, load.seed, None).unwrap();
    let what = format!(
        "{} {set:?} {}, {job:?}, seed {}",
        load.drive, load.precondition, load.seed
    );
    assert!(stats.counters.erases > 30, "{what}: {:?}", stats.counters);
    let writes = requests_of(&made, HostOp::Write);
    // Padded slots are of the superblock too: as many in each as in the mean one.
    let (written, padded) = (
        stats.counters.host_slots_written,
        stats.counters.slots_padded,
    );
    let superblock = (superblock * written).div_ceil(written + padded);
    let queues_ns = queues_ns(&writes, load.depth, superblock, slot_bytes);
    let waited = writes.iter().zip(queues_ns).enumerate();
    let waited = waited.map(|(number, ((_, from, to), queue_ns))| {
        let bound = queues * queue_ns as f64;
        Waited {
            number,
            ns: to.since(*from).0,
            queue_ns,
            bound_ns: bound as u64 + erase_ns + programs * program_ns,
        }
    });
    let worst = waited
        .max_by_key(|w| w.ns as i64 - w.bound_ns as i64)
        .unwrap();
    let beside = erase_ns + programs * program_ns;
    let needed = worst.ns.saturating_sub(beside) as f64 / worst.queue_ns as f64;
    let message = format!(
        "{what}: write {} takes {} ns, bound {} ns: {queues} times the queue of {} ns, an erase of {erase_ns} \
         ns, {programs} programs of {program_ns} ns; {needed:.2} times would have done",
        worst.number, worst.ns, worst.bound_ns, worst.queue_ns,
    );
    println!("{message}");
    (needed, message)
}
