//! A trial: a drive on a faulty flash under a load, and what came of it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use firstread_core::{HostOp, Status, Stream};
use firstread_firmware::observe::Counters;
use thiserror::Error;

use super::bug::{Bug, NoBug};
use super::config::{ConfigError, DriveConfig};
use super::drive::{FaultyDrive, PowerCutCounts};
use super::faults::Faults;
use super::flash::Injected;
use super::load::{Load, Step};
use super::schemes::SchemeError;
use super::violation::Violation;

/// Steps between two audits.
const AUDIT_EVERY: u64 = 500;

/// A drive on a faulty flash, and the load that it is put under. Equal trials have equal outcomes.
///
/// ```
/// use firstread_faulty_flash::{Faults, PowerCuts, Trial, When};
///
/// let trial = Trial {
///     faults: Faults {
///         failed_programs: When::permille(1),
///         power_cuts: PowerCuts::permille(2),
///         ..Faults::default()
///     },
///     seed: 7,
///     ..Trial::of("gc_victim=cost-benefit wear=static")?
/// };
/// println!("{}", trial.run()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Trial {
    /// The drive with its schemes.
    pub drive: DriveConfig,
    /// What goes wrong, and when.
    pub faults: Faults,
    /// What is asked of the drive.
    pub load: Load,
    /// All that is left to chance is drawn from it: of load, faults, power cuts, and the firmware's own.
    pub seed: u64,
    /// Steps of the load; each is a command of the host, a move or a change of mode.
    pub steps: u64,
}

/// Why a trial has no summary.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TrialError {
    /// There can be no such drive.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A checker found something.
    #[error(
        "step {step} of seed {seed}: {violation}\n\
         repeat it with: Trial {{ seed: {seed}, steps: {}, ..the same trial }}.run(), schemes \"{schemes}\"",
        step + 1
    )]
    Violated {
        /// The seed of the trial.
        seed: u64,
        /// The step of the load, from 0. A trial of one step more finds the same.
        step: u64,
        /// The schemes of the drive.
        schemes: String,
        /// The contract that was broken.
        violation: Violation,
    },
}

/// How a trial ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrialEnd {
    /// Every step was done, and every page was read back.
    Done,
    /// Every step was done, and the drive takes no more writes: too much has failed, or too many power cuts came
    /// in a row.
    ReadOnly,
    /// A die is stuck for ever and commands wait for it: the firmware has no time limit for operations. Everything
    /// that ended before was checked.
    DieStuck,
}

/// What a trial did and found in order.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Whether the load was done, or why the trial ended before.
    pub end: TrialEnd,
    /// Steps of the load that were done.
    pub steps: u64,
    /// Events of the flash.
    pub events: u64,
    /// Commands that ended as asked.
    pub completed: u64,
    /// Reads and writes of part of a slot that ended as uncorrectable.
    pub uncorrectable: u64,
    /// Writes and trims that were refused, since the drive takes no more or its scheme of axis `area` says so.
    pub refused: u64,
    /// Commands that wait for a stuck die.
    pub waiting: u32,
    /// Slots that were read and compared with the reference model.
    pub checked_slots: u64,
    /// How often each fault occurred.
    pub injected: Injected,
    /// What power cuts met.
    pub power_cuts: PowerCutCounts,
    /// P/E cycles of the least and the most worn superblock that is not retired.
    pub pe_cycles: (u32, u32),
    /// What the firmware counted, over all power cuts.
    pub counters: Counters,
}

impl Summary {
    /// Slots written by the host and by moves, a slot written by the host. None if the host wrote none.
    pub fn write_amplification(&self) -> Option<f64> {
        let host = self.counters.host_slots_written;
        let all = (host + self.counters.slots_moved) as f64;
        (host > 0).then(|| all / host as f64)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match self.end {
            TrialEnd::Done => "no violation",
            TrialEnd::ReadOnly => "no violation; the drive has reached its end of life",
            TrialEnd::DieStuck => "no violation; a die is stuck, and commands wait for it",
        };
        let (i, p) = (&self.injected, &self.power_cuts);
        writeln!(f, "{end} in {} steps, {} events", self.steps, self.events)?;
        writeln!(
            f,
            "  faults: {} programs, {} erases, {} senses failed; {} pages lost; {} dies stuck; {} power cuts, {} of \
             them in a recovery",
            i.failed_programs,
            i.failed_erases,
            i.failed_senses,
            i.lost_pages,
            i.stuck_dies,
            p.cuts,
            p.in_recovery
        )?;
        writeln!(
            f,
            "  commands: {} completed, {} uncorrectable, {} refused, {} lost in power cuts, {} wait; {} slots checked",
            self.completed,
            self.uncorrectable,
            self.refused,
            p.lost_commands,
            self.waiting,
            self.checked_slots
        )?;
        let c = &self.counters;
        let amplification = match self.write_amplification() {
            Some(wa) => format!("{wa:.2}"),
            None => "none".to_owned(),
        };
        write!(
            f,
            "  write amplification {amplification}, {} superblocks erased, {} retired, P/E cycles {} to {}",
            c.erases, c.retired, self.pe_cycles.0, self.pe_cycles.1
        )
    }
}

impl Default for Trial {
    /// 4000 steps on the default drive, the baseline of every axis, without a fault.
    fn default() -> Trial {
        Trial {
            drive: DriveConfig::default(),
            faults: Faults::default(),
            load: Load::default(),
            seed: 1,
            steps: 4_000,
        }
    }
}

impl Trial {
    /// The default trial on a drive with `schemes`, as in `gc_victim=greedy wear=static wear.spread=8`
    /// ([`super::SchemeChoices`]).
    ///
    /// # Errors
    /// [`SchemeError`], with the nearest name.
    pub fn of(schemes: &str) -> Result<Trial, SchemeError> {
        Ok(Trial {
            drive: DriveConfig::for_schemes(schemes.parse()?),
            ..Trial::default()
        })
    }

    /// The drive of the trial before its first step.
    ///
    /// # Errors
    /// [`ConfigError`], if there can be no such drive.
    pub fn faulty_drive(&self) -> Result<FaultyDrive, ConfigError> {
        FaultyDrive::new(&self.drive, &self.faults, self.seed)
    }

    /// Runs the trial: the steps of the load, with every answer checked and the firmware's tables audited now and then,
    /// and at the end a read of every page.
    ///
    /// # Errors
    /// [`TrialError::Violated`] with the first thing that is wrong. [`TrialError::Config`], if there can be no such
    /// drive.
    pub fn run(&self) -> Result<Summary, TrialError> {
        self.run_with(NoBug)
    }

    /// The same, with `bug` between the firmware and its flash, to see that it is noticed.
    ///
    /// # Errors
    /// As [`Trial::run`].
    pub fn run_with(&self, bug: impl Bug + 'static) -> Result<Summary, TrialError> {
        let drive = FaultyDrive::with_bug(&self.drive, &self.faults, self.seed, bug)?;
        self.run_on(drive)
    }

    /// The same on `drive`, which was made by [`Trial::faulty_drive`].
    ///
    /// # Errors
    /// [`TrialError::Violated`] with the first thing that is wrong.
    pub fn run_on(&self, mut drive: FaultyDrive) -> Result<Summary, TrialError> {
        let mut step = 0;
        // Where panics unwind: a firmware's own assertions are findings, too.
        let run = AssertUnwindSafe(|| self.run_steps(&mut drive, &mut step));
        let ran = catch_unwind(run).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let literal = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
            let text = text.or(literal).unwrap_or_default();
            Err(Violation::Panicked(text))
        });
        match ran {
            Ok(end) => Ok(self.summary(&drive, end, step)),
            Err(violation) => Err(TrialError::Violated {
                seed: self.seed,
                step,
                schemes: self.drive.schemes.to_string(),
                violation,
            }),
        }
    }

    fn run_steps(&self, drive: &mut FaultyDrive, step: &mut u64) -> Result<TrialEnd, Violation> {
        let stream = Stream::new(self.seed).named("host");
        let mut cursor = 0;
        for i in 0..self.steps {
            *step = i;
            match self.load.step(&self.drive, stream, i, &mut cursor) {
                Step::Command(op, offset, len, fua, placement) => {
                    if !drive.submit_with(op, offset, len, fua, placement)? {
                        return Ok(TrialEnd::DieStuck);
                    }
                }
                // Refused or not: both are fine.
                Step::Move(owner, lpn) => {
                    let now = drive.now();
                    let ports = &mut drive.platform;
                    let _ = drive.firmware.ask_move(now, owner, lpn, ports);
                }
                Step::Mode(block, mode) => {
                    let now = drive.now();
                    let ports = &mut drive.platform;
                    let _ = drive.firmware.ask_mode(now, block, mode, ports);
                }
            }
            for _ in 0..self.load.events(stream, i) {
                drive.step()?;
            }
            if i % AUDIT_EVERY == 0 {
                drive.audit()?;
            }
        }
        if !drive.settle()? {
            return Ok(TrialEnd::DieStuck);
        }
        drive.audit()?;
        drive.check_spare()?;
        let size = self.drive.geometry.slot_bytes;
        for lpn in 0..self.drive.capacity_slots {
            if !drive.submit(HostOp::Read, lpn * u64::from(size), size)? {
                return Ok(TrialEnd::DieStuck);
            }
        }
        if !drive.finish()? {
            return Ok(TrialEnd::DieStuck);
        }
        check_statuses(drive)?;
        Ok(match drive.firmware.is_read_only() {
            true => TrialEnd::ReadOnly,
            false => TrialEnd::Done,
        })
    }

    fn summary(&self, drive: &FaultyDrive, end: TrialEnd, step: u64) -> Summary {
        let ended = |as_: Status| drive.ended_as(as_);
        let blocks = drive.firmware.blocks().iter();
        let in_use = blocks
            .filter(|(_, info)| info.usage != firstread_firmware::observe::SuperblockUse::Bad);
        let cycles: Vec<u32> = in_use.map(|(_, info)| info.pe_cycles).collect();
        Summary {
            end,
            steps: (step + 1).min(self.steps),
            events: drive.events(),
            completed: ended(Status::Ok),
            uncorrectable: ended(Status::Uncorrectable),
            refused: ended(Status::ReadOnly) + ended(Status::WriteProtected),
            waiting: drive.platform.model.in_flight(),
            checked_slots: drive.platform.model.checked_slots(),
            injected: drive.platform.flash.injected(),
            power_cuts: drive.power_cut_counts(),
            pe_cycles: (
                cycles.iter().min().copied().unwrap_or(0),
                cycles.iter().max().copied().unwrap_or(0),
            ),
            counters: drive.firmware.counters().clone(),
        }
    }
}

/// Every command has ended as this drive has reason to.
fn check_statuses(drive: &FaultyDrive) -> Result<(), Violation> {
    let is_read_only = drive.firmware.is_read_only();
    let injected = drive.platform.flash.injected();
    let failures = injected.failed_programs + injected.failed_erases;
    if is_read_only && failures + drive.power_cut_counts().cuts == 0 {
        return Err(Violation::EndOfLifeWithoutFailure);
    }
    let refuses = drive.may_refuse_writes();
    let refused = drive.ended_as(Status::WriteProtected);
    let counted = drive.firmware.counters().writes_refused;
    // A power cut loses refusals on their way.
    if refused > counted {
        return Err(Violation::RefusalsMiscounted { refused, counted });
    }
    for &(command, status) in &drive.platform.completed {
        let has_reason = match status {
            // Whether a sense has failed was seen when it ended.
            Status::Ok | Status::Uncorrectable => true,
            Status::ReadOnly => is_read_only,
            Status::WriteProtected => refuses && matches!(command.op, HostOp::Write | HostOp::Trim),
            Status::NoSpace | Status::OutOfRange => false,
        };
        if !has_reason {
            return Err(Violation::UnexpectedStatus { command, status });
        }
    }
    Ok(())
}
