//! Does a trial on a faulty flash find what is wrong with a firmware, and nothing where nothing is?

use firstread_core::{
    DieId, FlashEvent, FlashKind, FlashOp, HostCommand, HostOp, Lpn, PageType, Spare, Status,
    SuperblockId,
};
use firstread_faulty_flash::{
    Address, Bug, ConfigError, Cut, DriveConfig, Faults, FaultyDrive, Illegal, Load, Model,
    PowerCuts, SchemeChoices, Summary, Trial, TrialEnd, TrialError, Violation, When, geometry,
};
use firstread_firmware::WriteCache;
use firstread_firmware::ftl::Inconsistency;
use firstread_firmware::observe::Owner;
use firstread_firmware::policy::{gc_victim, wear};

/// A trial in which a page, a die or the power may fail at any time.
fn harsh(schemes: &str, seed: u64) -> Trial {
    Trial {
        faults: Faults {
            failed_programs: When::permille(1),
            failed_erases: When::permille(1),
            failed_senses: When::permille(30),
            power_cuts: PowerCuts::permille(1),
            ..Faults::default()
        },
        seed,
        ..Trial::of(schemes).unwrap()
    }
}

fn passes(trial: &Trial) -> Summary {
    trial
        .run()
        .unwrap_or_else(|found| panic!("{found}\n{trial:?}"))
}

/// What a trial finds of `bug`.
fn found(trial: &Trial, bug: impl Bug + 'static) -> Violation {
    match trial.run_with(bug) {
        Err(TrialError::Violated { violation, .. }) => violation,
        other => panic!("the bug was not noticed: {other:?}"),
    }
}

#[test]
fn model_no_scheme_breaks_a_contract_on_faulty_flash() {
    let leveling = wear::AXIS.schemes.iter();
    let leveling = leveling.map(|scheme| (scheme.name, scheme.own_streams()));
    for (leveling, streams) in leveling.chain([("static wear.stream=moves", 0)]) {
        let mut leveled = 0;
        for victim in gc_victim::AXIS.schemes {
            let schemes = format!("gc_victim={} wear={leveling}", victim.name);
            let mut trial = harsh(&schemes, 11);
            // Each stream of a scheme keeps a superblock, in addition to what every drive keeps.
            trial.drive.geometry.blocks_per_plane += streams as u32;
            let summary = passes(&trial);
            assert!(summary.counters.erases > 20, "{schemes}: {summary}");
            assert!(summary.power_cuts.torn_programs > 0, "{schemes}: {summary}");
            assert!(summary.checked_slots > 2_000, "{schemes}: {summary}");
            leveled += summary.counters.slots_moved_by[Owner::Wear as usize];
        }
        // Victims in the order of their age wear superblocks alike: then there is nothing to level.
        let levels = leveling.starts_with("static");
        assert!(leveled > 0 || !levels, "{leveling} moved nothing");
    }
}

#[test]
fn model_a_drive_without_faults_loses_and_refuses_nothing() {
    for (write_cache, map_cache_pages, slot_bytes) in [
        (WriteCache::Protected, 0, 4096),
        (WriteCache::Volatile, 0, 4096),
        (WriteCache::WriteThrough, 0, 4096),
        (WriteCache::Protected, 8, 1024),
    ] {
        let mut geometry = geometry(2, 2, 1, 24, 4);
        (geometry.slot_bytes, geometry.codeword_bytes) = (slot_bytes, 1024);
        let mut trial = Trial::of("gc_victim=greedy wear=dynamic").unwrap();
        let slots = u64::from(geometry.slots_per_superblock(trial.drive.mode));
        trial.drive = DriveConfig {
            geometry,
            write_cache,
            map_cache_pages,
            capacity_slots: 16 * slots,
            filled_slots: 16 * slots,
            ..trial.drive
        };
        let summary = passes(&trial);
        assert_eq!(summary.end, TrialEnd::Done);
        let bad = [
            summary.uncorrectable,
            summary.refused,
            summary.injected.failed_senses,
        ];
        assert_eq!(bad, [0; 3], "{summary}");
    }
}

/// A trial and its repetition find the same; so does the shorter one that the error tells to run.
#[test]
fn sequence_a_finding_is_repeated_by_its_seed_and_step() {
    let trial = harsh("gc_victim=cost-benefit", 5);
    let (first, second) = (passes(&trial), passes(&trial));
    assert_eq!(first.to_string(), second.to_string());
    assert_eq!(first.events, second.events);
    let bug = || DropsProgram { after: 40 };
    let error = trial.run_with(bug()).unwrap_err();
    let TrialError::Violated { step, seed, .. } = error else {
        panic!("{error}")
    };
    let text = error.to_string();
    let told = format!(
        "Trial {{ seed: 5, steps: {}, ..the same trial }}.run()",
        step + 1
    );
    assert!(
        seed == 5 && text.contains(&told) && text.contains("gc_victim=cost-benefit"),
        "{text}"
    );
    let shorter = Trial {
        steps: step + 1,
        ..trial
    };
    assert_eq!(shorter.run_with(bug()).unwrap_err(), error);
}

/// A program is acknowledged, and the cells hold nothing.
#[derive(Debug)]
struct DropsProgram {
    after: u32,
}

impl Bug for DropsProgram {
    fn stores(&mut self, _op: &FlashOp) -> bool {
        self.after = self.after.saturating_sub(1);
        self.after != 1
    }
}

#[test]
fn sequence_a_program_that_is_dropped_is_noticed() {
    let trial = Trial::of("gc_victim=greedy").unwrap();
    let violation = found(&trial, DropsProgram { after: 30 });
    assert!(
        matches!(
            violation,
            Violation::StaleRead {
                read: None,
                expected: Some(_),
                ..
            }
        ),
        "{violation}"
    );
}

/// A page is read as what it was before its last write.
#[derive(Debug, Default)]
struct ReadsOlder {
    seen: std::collections::BTreeMap<Lpn, Spare>,
    reads: u32,
}

impl Bug for ReadsOlder {
    fn send(&mut self, data: Option<Spare>) -> Option<Spare> {
        let spare = data?;
        let older = self.seen.insert(spare.lpn, spare);
        let older = older.filter(|older| older.sequence < spare.sequence);
        self.reads += u32::from(older.is_some());
        match older {
            Some(older) if self.reads == 20 => Some(older),
            _ => data,
        }
    }
}

#[test]
fn sequence_an_older_version_is_noticed() {
    let trial = Trial::of("gc_victim=greedy").unwrap();
    let violation = found(&trial, ReadsOlder::default());
    let Violation::StaleRead {
        read: Some(read),
        expected: Some(expected),
        ..
    } = violation
    else {
        panic!("{violation}")
    };
    assert!(read < expected, "{violation}");
}

/// The last slots that were written are not in the emergency dump.
#[derive(Debug)]
struct ForgetsBuffers;

impl Bug for ForgetsBuffers {
    fn power_cut(&mut self, buffers: &mut [Option<Spare>]) {
        let written = buffers.iter().flatten().map(|s| s.sequence);
        let last = written.max().unwrap_or(0);
        for buffer in buffers {
            *buffer = buffer.filter(|s| s.sequence + 8 <= last);
        }
    }
}

#[test]
fn powerloss_a_flushed_write_that_is_lost_is_noticed() {
    let config = DriveConfig::default();
    for fua in [false, true] {
        let mut drive =
            FaultyDrive::with_bug(&config, &Faults::default(), 1, ForgetsBuffers).unwrap();
        assert!(
            drive
                .submit_with(HostOp::Write, 8192, 4096, fua, 0)
                .unwrap()
        );
        assert!(drive.submit(HostOp::Flush, 0, 0).unwrap());
        drive.finish().unwrap();
        drive.power_cut().unwrap();
        // Its superblock counts a slot that no page lies at.
        assert!(drive.audit().is_err());
        let read = drive
            .submit(HostOp::Read, 8192, 4096)
            .and_then(|_| drive.finish());
        let lost = Violation::LostInPowerCut {
            lpn: Lpn(2),
            read: Some(0),
            safe: Some(1),
        };
        assert_eq!(read, Err(lost));
    }
    let trial = Trial {
        faults: Faults {
            power_cuts: PowerCuts::at(Cut::After(5_000)),
            ..Faults::default()
        },
        ..Trial::of("gc_victim=greedy").unwrap()
    };
    passes(&trial);
    // An audit notices it too, if it comes before a read.
    let violation = found(&trial, ForgetsBuffers);
    assert!(
        matches!(
            violation,
            Violation::LostInPowerCut { .. } | Violation::Inconsistency(Inconsistency::Valid(..))
        ),
        "{violation}"
    );
}

/// An erase goes to another superblock than the one that was emptied.
#[derive(Debug)]
struct ErasesNeighbour {
    erases: u32,
}

impl Bug for ErasesNeighbour {
    fn issue(&mut self, mut op: FlashOp) -> Option<FlashOp> {
        if let FlashKind::Erase { block, on, .. } = &mut op.kind {
            self.erases += 1;
            block.0 ^= u32::from(self.erases > 40);
            on.0 = block.0;
        }
        Some(op)
    }
}

#[test]
fn sequence_an_erase_of_valid_data_is_noticed() {
    let trial = Trial::of("gc_victim=greedy").unwrap();
    let violation = found(&trial, ErasesNeighbour { erases: 0 });
    assert!(
        matches!(violation, Violation::ErasedValidData { .. }),
        "{violation}"
    );
}

/// One of many things goes wrong, at the `after`-th chance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wrong {
    LosesEvent,
    LosesCompletion,
    LosesOperation,
    ProgramsTwice,
    FailsReads,
    SwapsPages,
}

#[derive(Debug)]
struct GoesWrong {
    how: Wrong,
    left: u32,
    last: Option<Spare>,
}

impl GoesWrong {
    fn is_due(&mut self, how: Wrong) -> bool {
        if self.how != how {
            return false;
        }
        self.left = self.left.saturating_sub(1);
        self.left == 1
    }
}

impl Bug for GoesWrong {
    fn issue(&mut self, mut op: FlashOp) -> Option<FlashOp> {
        if let FlashKind::Program { wordline, .. } = &mut op.kind {
            if self.is_due(Wrong::ProgramsTwice) {
                *wordline = wordline.saturating_sub(1).max(u16::from(*wordline == 0));
            }
            if self.is_due(Wrong::LosesOperation) {
                return None;
            }
        }
        Some(op)
    }
    fn event(&mut self, event: FlashEvent) -> Option<FlashEvent> {
        let is_lost = matches!(event, FlashEvent::Decoded { .. }) && self.is_due(Wrong::LosesEvent);
        (!is_lost).then_some(event)
    }
    fn send(&mut self, data: Option<Spare>) -> Option<Spare> {
        let last = std::mem::replace(&mut self.last, data);
        match data.is_some() && last.is_some() && last != data && self.is_due(Wrong::SwapsPages) {
            true => last,
            false => data,
        }
    }
    fn complete(&mut self, command: &HostCommand, status: Status) -> Option<Status> {
        if command.op == HostOp::Read && self.is_due(Wrong::FailsReads) {
            return Some(Status::Uncorrectable);
        }
        (!self.is_due(Wrong::LosesCompletion)).then_some(status)
    }
}

#[test]
fn sequence_each_wrong_firmware_is_noticed_for_what_is_wrong() {
    let is_noticed = |how, violation: &Violation| match how {
        Wrong::LosesEvent | Wrong::LosesCompletion | Wrong::LosesOperation => {
            matches!(violation, Violation::CommandsNeverEnd { commands: 1.., .. })
        }
        Wrong::ProgramsTwice => {
            let out_of_order = Illegal::OutOfOrder;
            matches!(violation, Violation::Illegal { why, .. } if *why == out_of_order)
        }
        Wrong::FailsReads => matches!(violation, Violation::FalseUncorrectable { .. }),
        Wrong::SwapsPages => matches!(violation, Violation::WrongData { .. }),
    };
    for how in [
        Wrong::LosesEvent,
        Wrong::LosesCompletion,
        Wrong::LosesOperation,
        Wrong::ProgramsTwice,
        Wrong::FailsReads,
        Wrong::SwapsPages,
    ] {
        let bug = GoesWrong {
            how,
            left: 50,
            last: None,
        };
        let violation = found(&Trial::of("gc_victim=greedy").unwrap(), bug);
        assert!(is_noticed(how, &violation), "{how:?}: {violation}");
    }
}

#[test]
fn sequence_scripted_failures_occur_where_they_are_told_to() {
    let run = |faults: Faults| {
        let trial = Trial {
            faults,
            ..Trial::of("gc_victim=greedy").unwrap()
        };
        passes(&trial)
    };
    let summary = run(Faults {
        failed_programs: When::nth(30).or(When::nth(300)),
        failed_erases: When::nth(20),
        ..Faults::default()
    });
    assert_eq!(summary.injected.failed_programs, 2, "{summary}");
    assert_eq!(summary.injected.failed_erases, 1, "{summary}");
    assert!(summary.counters.retired > 0, "{summary}");

    // A block of one die fails whenever it is erased.
    let worn = Address::block(SuperblockId(9)).on_die(DieId(2));
    let summary = run(Faults {
        failed_erases: When::at(worn),
        ..Faults::default()
    });
    assert_eq!(summary.injected.failed_erases, 1, "{summary}");
    assert_eq!(summary.counters.retired, 1, "{summary}");
}

/// Pages that no sense reads end as errors, and as nothing else; parity makes them anew.
#[test]
fn sequence_lost_pages_are_errors_or_made_anew() {
    let summary = |schemes: &str, lost_pages: When| {
        let faults = Faults {
            lost_pages,
            ..Faults::default()
        };
        passes(&Trial {
            faults,
            ..Trial::of(schemes).unwrap()
        })
    };
    let filled = Address::block(SuperblockId(7))
        .on_die(DieId(1))
        .wordline(2)
        .page(PageType(1));
    let none = summary("gc_victim=greedy", When::at(filled));
    assert!(none.uncorrectable + none.counters.slots_lost > 0, "{none}");
    let drawn = summary("gc_victim=greedy", When::permille(5));
    assert!(
        drawn.injected.lost_pages > 3 && drawn.uncorrectable > 0,
        "{drawn}"
    );
    let axis = firstread_firmware::policy::AXES
        .iter()
        .find(|a| a.schemes.iter().any(|s| s.name == "parity"));
    let parity = format!("{}=parity", axis.unwrap().name);
    let rebuilt = summary(&parity, When::at(filled));
    assert_eq!(
        (rebuilt.uncorrectable, rebuilt.counters.slots_lost),
        (0, 0),
        "{rebuilt}"
    );
    assert!(rebuilt.counters.rebuilt > 0, "{rebuilt}");
}

#[test]
fn sequence_a_die_is_stuck_for_a_time_or_for_ever() {
    let stuck = |stuck_ns| {
        let faults = Faults {
            stuck_dies: When::nth(500),
            stuck_ns,
            ..Faults::default()
        };
        passes(&Trial {
            faults,
            ..Trial::of("gc_victim=greedy").unwrap()
        })
    };
    let for_ever = stuck(None);
    assert_eq!(for_ever.end, TrialEnd::DieStuck);
    assert!(
        for_ever.waiting > 0 && for_ever.completed > 100,
        "{for_ever}"
    );
    let for_a_time = stuck(Some(1_000_000));
    assert_eq!(
        (for_a_time.end, for_a_time.waiting),
        (TrialEnd::Done, 0),
        "{for_a_time}"
    );
    assert_eq!(for_a_time.injected.stuck_dies, 1);
}

/// Each event may be the one at which the power goes: before it the operation is torn, after it not.
#[test]
fn powerloss_power_is_cut_at_any_event() {
    let mut torn = (0, 0);
    for event in 1_000..1_060 {
        for (cut, torn) in [
            (Cut::Before(event), &mut torn.0),
            (Cut::After(event), &mut torn.1),
        ] {
            let faults = Faults {
                power_cuts: PowerCuts::at(cut),
                ..Faults::default()
            };
            let trial = Trial {
                faults,
                steps: 500,
                ..Trial::of("gc_victim=greedy").unwrap()
            };
            let summary = passes(&trial);
            assert_eq!(summary.power_cuts.cuts, 1, "{cut:?}: {summary}");
            *torn += summary.power_cuts.torn_programs;
        }
    }
    assert!(torn.0 > 20 && torn.1 > 20, "{torn:?}");
}

#[test]
fn fuzz_a_drive_that_cannot_be_is_refused() {
    let default = DriveConfig::default();
    let of = |config: DriveConfig, faults: &Faults| FaultyDrive::new(&config, faults, 1).err();
    let none = Faults::default();
    let too_much = DriveConfig {
        capacity_slots: 1 << 20,
        ..default.clone()
    };
    assert!(matches!(
        of(too_much, &none),
        Some(ConfigError::Capacity { .. })
    ));
    let mut without_dies = default.clone();
    without_dies.geometry.dies_per_chip = 0;
    assert_eq!(
        of(without_dies, &none),
        Some(ConfigError::Geometry("dies per chip"))
    );
    let parity = DriveConfig {
        geometry: default.geometry,
        ..DriveConfig::for_schemes(SchemeChoices::default())
    };
    assert_eq!(of(parity, &none), None);
    let load = Load {
        writes: 0,
        reads: 0,
        sequential_reads: 0,
        trims: 0,
        flushes: 0,
        moves: 0,
        ..Load::default()
    };
    passes(&Trial {
        load,
        steps: 100,
        ..Trial::default()
    });
}

/// The reference model by itself: what a power cut leaves of a volatile write cache.
#[test]
fn formula_a_volatile_cache_may_lose_what_was_not_flushed() {
    use firstread_core::CommandId;
    let command = |id, op, fua| HostCommand {
        id: CommandId(id),
        op,
        client: 0,
        offset_bytes: 0,
        len_bytes: if op == HostOp::Flush { 0 } else { 4096 },
        fua,
        placement: 0,
    };
    let mut model = Model::new(4096, 1, WriteCache::Volatile);
    let write = |model: &mut Model, fua, acknowledged| {
        let command = command(0, HostOp::Write, fua);
        model.submit(command);
        model.take(command.id, 0);
        if acknowledged {
            model.complete(command, Status::Ok).unwrap();
        }
    };
    assert_eq!(model.may_read(Lpn(0)), [Some(0)]);
    write(&mut model, false, true);
    assert_eq!(model.may_read(Lpn(0)), [Some(1)]);
    write(&mut model, true, true);
    write(&mut model, false, true);
    assert_eq!(model.may_read(Lpn(0)), [Some(3)]);
    write(&mut model, false, false);
    assert_eq!(model.may_read(Lpn(0)), [Some(3), Some(4)]);
    model.power_cut();
    assert_eq!(model.may_read(Lpn(0)), [Some(2), Some(3), Some(4)]);
    // A flush after the cut does not bring back what the cut may have lost.
    let flush = command(2, HostOp::Flush, false);
    model.submit(flush);
    model.complete(flush, Status::Ok).unwrap();
    model.power_cut();
    assert_eq!(model.may_read(Lpn(0)), [Some(2), Some(3), Some(4)]);
    // The first read decides, and it stays so.
    let read = command(1, HostOp::Read, false);
    model.submit(read);
    let sent = Some(Spare {
        lpn: Lpn(0),
        sequence: 3,
    });
    model.send(read.id, 0, sent).unwrap();
    model.complete(read, Status::Ok).unwrap();
    assert_eq!(model.may_read(Lpn(0)), [Some(3)]);
    model.submit(read);
    let sent = Some(Spare {
        lpn: Lpn(0),
        sequence: 2,
    });
    assert!(model.send(read.id, 0, sent).is_err());
}

/// A drive whose write cache is volatile, with a map in memory or on flash, under cuts at any event.
fn volatile(schemes: &str, map_cache_pages: u32, seed: u64) -> Trial {
    let mut trial = harsh(schemes, seed);
    trial.faults.power_cuts = PowerCuts::permille(4);
    trial.drive.write_cache = WriteCache::Volatile;
    trial.drive.map_cache_pages = map_cache_pages;
    if map_cache_pages > 0 {
        (
            trial.drive.geometry.slot_bytes,
            trial.drive.geometry.codeword_bytes,
        ) = (1024, 1024);
        let slots = u64::from(trial.drive.geometry.slots_per_superblock(trial.drive.mode));
        trial.drive.capacity_slots = 16 * slots;
        trial.drive.filled_slots = 8 * slots;
    }
    trial
}

/// A volatile cache loses what was neither flushed nor written with FUA, and nothing else: the page is what it was
/// before, written or trimmed, wherever that lies.
#[test]
fn powerloss_a_volatile_cache_loses_nothing_that_was_flushed() {
    for schemes in [
        "gc_victim=greedy",
        "gc_victim=random wear=static",
        "gc_victim=cost-benefit wear=dynamic refresh=read-count",
        "gc_victim=d-choices read_recovery=parity",
    ] {
        for map_cache_pages in [0, 8] {
            let mut lost = 0;
            for seed in 0..4 {
                let mut trial = volatile(schemes, map_cache_pages, seed);
                (trial.load.trims, trial.load.flushes) = (25, 15);
                trial.drive.geometry.blocks_per_plane += 2;
                let summary = passes(&trial);
                lost += summary.power_cuts.lost_slots;
            }
            assert!(lost > 200, "{schemes}, {map_cache_pages}: {lost} slots");
        }
    }
}

/// What was flushed comes back when a newer version is lost, and so does a trim.
#[test]
fn powerloss_a_page_goes_back_to_what_was_flushed() {
    for (map_cache_pages, last) in [
        (0, HostOp::Write),
        (8, HostOp::Write),
        (0, HostOp::Trim),
        (8, HostOp::Trim),
    ] {
        let trial = volatile("gc_victim=greedy", map_cache_pages, 1);
        let mut drive = FaultyDrive::new(&trial.drive, &Faults::default(), 1).unwrap();
        let size = trial.drive.geometry.slot_bytes;
        let at = 5 * u64::from(size);
        let ask = |drive: &mut FaultyDrive, op, bytes| {
            assert!(drive.submit(op, at, bytes).unwrap());
            drive.finish().unwrap();
        };
        ask(&mut drive, HostOp::Write, size);
        ask(&mut drive, last, size);
        ask(&mut drive, HostOp::Flush, 0);
        let flushed = drive.platform.model.last(Lpn(5));
        // Twice, so that the version before the lost one is lost too.
        ask(&mut drive, HostOp::Write, size);
        ask(&mut drive, HostOp::Write, size);
        let (recovery, _) = drive.power_cut().unwrap();
        assert_eq!(recovery.lost_slots, 2, "{last:?}");
        ask(&mut drive, HostOp::Read, size);
        assert_eq!(drive.platform.model.may_read(Lpn(5)), [flushed], "{last:?}");
        assert_eq!(drive.audit(), Ok(()));
    }
}

/// A write with FUA ends when its data lie elsewhere, if their program fails: not while they wait to be written again.
#[test]
fn powerloss_fua_waits_for_data_whose_program_failed() {
    let trial = volatile("gc_victim=greedy", 0, 1);
    let faults = Faults {
        failed_programs: When::nth(1),
        ..Faults::default()
    };
    for flushes in [false, true] {
        let mut drive = FaultyDrive::new(&trial.drive, &faults, 1).unwrap();
        assert!(
            drive
                .submit_with(HostOp::Write, 0, 4096, !flushes, 0)
                .unwrap()
        );
        if flushes {
            assert!(drive.submit(HostOp::Flush, 0, 0).unwrap());
        }
        drive.finish().unwrap();
        assert_eq!(drive.platform.flash.injected().failed_programs, 1);
        drive.power_cut().unwrap();
        assert!(drive.submit(HostOp::Read, 0, 4096).unwrap());
        drive.finish().unwrap();
    }
}

/// A scheme of axis `area` that refuses writes at the bound of wear does so under power cuts, and what was written before
/// is there.
#[test]
fn powerloss_a_drive_that_refuses_writes_at_the_bound_keeps_what_it_holds() {
    let mut refused = 0;
    for seed in 0..4 {
        let schemes = "gc_victim=greedy wear=dynamic area=differential area.at_bound=read-only area.bound=150";
        let mut trial = harsh(schemes, seed);
        trial.drive.geometry.blocks_per_plane += 12;
        refused += passes(&trial).counters.writes_refused;
    }
    assert!(refused > 100, "{refused} writes were refused");
}

/// Data whose program failed find no place at the end of the drive's life. Writes that wait until they are programmed end
/// with an error then, and do not wait for ever.
#[test]
fn sequence_writes_that_can_never_be_safe_end_with_an_error() {
    // Of 36 runs, those in which commands wait for such data when the drive takes no more writes.
    for (seed, failed_permille) in [(910, 2), (902, 4)] {
        let trial = Trial::of("gc_victim=random read_recovery=soft-parity").unwrap();
        let trial = Trial {
            seed,
            steps: 5_000,
            drive: DriveConfig {
                write_cache: WriteCache::WriteThrough,
                ..trial.drive
            },
            faults: Faults {
                failed_programs: When::permille(failed_permille),
                lost_pages: When::permille(1),
                ..Faults::default()
            },
            ..trial
        };
        let summary = passes(&trial);
        assert_eq!(summary.end, TrialEnd::ReadOnly, "{summary}");
        assert!(summary.refused > 0, "{summary}");
    }
}
