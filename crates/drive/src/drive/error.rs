//! What a drive refuses, and why.
#![allow(missing_docs, reason = "an error's message says what its values are")]

use firstread_core::{DieId, HostOp, SuperblockId};
use firstread_ecc::CodeError;
use firstread_firmware::format::MountError;
use firstread_firmware::ftl::RESERVE;
use firstread_nand::ProfileError;
use thiserror::Error;

use crate::cells::ShortTable;
use crate::precondition::{DoesNotFit, Precondition};
use crate::profile::{DriveProfile, LEAST_LOW, keeps};
use crate::tables::TableError;

/// Why a drive cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DriveError {
    /// There is no such code.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// There are no tables of the chip that a scheme needs.
    #[error(transparent)]
    Tables(#[from] TableError),
    /// The chip makes no medium of this geometry.
    #[error(transparent)]
    Chip(#[from] ProfileError),
    /// The data take more superblocks than the drive has.
    #[error("the capacity takes {needed} superblocks, but there are {superblocks}")]
    Capacity {
        /// Superblocks that the data take.
        needed: u32,
        /// Superblocks of the drive.
        superblocks: u32,
    },
    /// Cells that are known by their retries need more of the factory's retry table.
    #[error(transparent)]
    RetryTable(#[from] ShortTable),
    /// This drive cannot be in the requested state.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Why a drive cannot be in the state asked for.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum StateError {
    /// The chip has no such temperature.
    #[error(transparent)]
    Temperature(ProfileError),
    /// So many blocks are bad that the capacity does not fit.
    #[error(
        "bad blocks cost {bad} of {superblocks} superblocks at this wear. The capacity takes {needed}, \
         cleaning keeps {RESERVE}, write streams of schemes keep {streams}, and cleaning needs {spare} to spare: start with fewer P/E cycles \
         (--pe-cycles), set chip.failures.factory_bad or chip.failures.grown_bad lower, or use a drive \
         with more over-provisioning"
    )]
    BadBlocks {
        /// Superblocks that bad blocks cost.
        bad: u32,
        /// Superblocks of the drive.
        superblocks: u32,
        /// Superblocks that the capacity takes.
        needed: u64,
        /// Open superblocks of the write streams that schemes have in the drive's own mode.
        streams: u64,
        /// Superblocks that cleaning needs beyond its reserve.
        spare: u64,
    },
    /// Superblocks that are retired leave the low wearing area too few.
    #[error(
        "bad blocks cost {bad} of the {low} superblocks of the low wearing area at this wear: {} are left, and it needs \
         {LEAST_LOW}. Choose a larger `area.low_share`, a drive that is worn less, or set chip.failures.factory_bad or \
         chip.failures.grown_bad lower",
        low.saturating_sub(*bad)
    )]
    LowArea {
        /// Superblocks of the low wearing area that are retired.
        bad: u32,
        /// Superblocks of the low wearing area.
        low: u32,
    },
    /// Superblocks that are bad leave the scheme of axis `cell_mode` too few.
    #[error("bad blocks cost {bad} superblocks at this wear: {what}")]
    Keeps {
        /// Superblocks that bad blocks cost.
        bad: u32,
        /// What does not fit together.
        what: String,
    },
    /// The drive is too full for the steady state of overwrites.
    #[error(
        "--precondition {precondition}: {needed} of {superblocks} superblocks are needed for the data and \
         their map, and cleaning and the write streams of schemes need {} more: fill less (--fill), or use a drive with \
         more over-provisioning",
        free + 1
    )]
    Full {
        /// The steady state asked for.
        precondition: Precondition,
        /// Superblocks that the data and their map take.
        needed: u64,
        /// Superblocks that are not bad.
        superblocks: u64,
        /// Superblocks that the steady state leaves free.
        free: u64,
    },
    /// The steady state of overwrites is not known of areas that share the writes.
    #[error(
        "--precondition {precondition}: the high wearing area has reached its bound (`area.bound`) at this wear, from which the \
         low wearing area shares the writes of the host, and no theory is known of that: start with fewer P/E cycles \
         (--pe-cycles), set `area.at_bound=read-only`, or have the workload itself overwrite the drive (--burn-in)"
    )]
    AtBound {
        /// The steady state asked for.
        precondition: Precondition,
    },
    /// The steady state of overwrites is not known of how the drive cleans.
    #[error(
        "--precondition {precondition}: no theory is known of how this drive's superblocks are chosen \
         for cleaning (schemes.gc_victim)"
    )]
    NoTheory {
        /// The steady state asked for.
        precondition: Precondition,
    },
    /// An earlier fill was asked for of a drive that has never been erased.
    #[error(
        "--earlier-fill: a drive of 0 P/E cycles has never been erased, so its first fill is the one that is \
         measured: start with at least 1 P/E cycle (--pe-cycles), or leave --earlier-fill out"
    )]
    NeverErased,
    /// An earlier fill was asked for of a drive that is empty.
    #[error(
        "--earlier-fill: the earlier fill took the share of the capacity that the measured one takes, and that is \
         0 %: fill more (--fill), or leave --earlier-fill out"
    )]
    NothingFilled,
    /// The counts of a steady state do not fit the drive: a defect.
    #[error(transparent)]
    DoesNotFit(#[from] DoesNotFit),
}

impl StateError {
    /// Whether what the schemes of the drive of `profile` keep fits together without the superblocks `retired`, and its low
    /// wearing area, if it has one, is large enough.
    pub(crate) fn of_retired(profile: &DriveProfile, retired: &[u32]) -> Result<(), StateError> {
        let bad = retired.len() as u32;
        if let Err((_, what)) = keeps::fit_without(profile, bad) {
            return Err(StateError::Keeps { bad, what });
        }
        let Some(low) = profile.low_superblocks() else {
            return Ok(());
        };
        let first = profile.geometry.blocks_per_plane - low;
        let bad = retired.iter().filter(|&&number| number >= first).count() as u32;
        match low < LEAST_LOW + bad {
            true => Err(StateError::LowArea { bad, low }),
            false => Ok(()),
        }
    }

    /// The blocks `bad` of a drive of `profile`, which name superblock and die, leave too few superblocks, of which `retired` are
    /// retired besides.
    pub(crate) fn too_many_bad(
        profile: &DriveProfile,
        bad: &[(SuperblockId, DieId)],
        retired: usize,
    ) -> StateError {
        let geometry = &profile.geometry;
        let of_die = |die| bad.iter().filter(|(_, d)| *d == DieId(die)).count();
        let worst = (0..geometry.dies()).map(of_die).max();
        let per_block = u64::from(geometry.slots_per_superblock(profile.mode));
        let capacity_slots = profile.capacity_bytes / u64::from(geometry.slot_bytes);
        StateError::BadBlocks {
            bad: worst.unwrap_or(0).max(retired) as u32,
            superblocks: geometry.blocks_per_plane,
            needed: capacity_slots.div_ceil(per_block),
            streams: profile.axes_with_own_stream().count() as u64,
            spare: profile.least_spare_slots() / per_block,
        }
    }
}

/// Why a drive does not take a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SubmitError {
    /// Its queues are full: as many commands are in flight as it takes (`link.max_outstanding`).
    #[error("the queues of the drive are full")]
    Full,
    /// The command was submitted so long ago that the drive would have taken it by now
    /// ([`Drive::host_lag`](super::Drive::host_lag)).
    #[error("a command is submitted at a time that the drive has gone past")]
    Late,
    /// The command reaches past the end of the drive.
    #[error(
        "a {} of {len_bytes} bytes at {offset_bytes} reaches past the end of the drive ({capacity_bytes} bytes)",
        op_name(*op)
    )]
    OutOfRange {
        op: HostOp,
        /// First byte of the command.
        offset_bytes: u64,
        /// Length of the command (bytes).
        len_bytes: u32,
        /// Capacity of the drive (bytes).
        capacity_bytes: u64,
    },
}

/// Why a drive cannot be brought to a temperature.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum TemperatureRefused {
    /// The firmware of the drive was made for less: it shortens senses by how hot the drive gets at most.
    #[error(
        "the drive was made for at most {hottest} °C and is brought to {celsius} °C: say so when the drive is made \
         (`DriveState::hottest_in_run_c`)"
    )]
    Hotter {
        celsius: f64,
        /// What the drive was made for (°C).
        hottest: f64,
    },
    /// No chip is at this temperature.
    #[error("{celsius} °C is no temperature of a chip (-55 to 150 °C)")]
    OutOfRange { celsius: f64 },
    /// Another change is planned for a later time.
    #[error(
        "the drive is brought to {celsius} °C before a change of temperature that is planned for later: leave out the \
         second temperature of --temperature, or that of the phase"
    )]
    Planned { celsius: f64 },
}

/// Why the power of a drive cannot be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CutRefused {
    /// More slots were written than a sequence number can count.
    #[error(
        "power cannot be cut after more than a million million slots were written: a slot's \
         sequence number is simulated with 40 bits; cut earlier"
    )]
    SequenceEnded,
    /// Commands of the host are outstanding.
    #[error("a drive is shut down when no command is outstanding: {0} are")]
    Outstanding(u32),
    /// The drive does not mount from what the cut has left.
    #[error("the drive does not come back: {0}")]
    DoesNotMount(#[from] MountError),
}

const fn op_name(op: HostOp) -> &'static str {
    match op {
        HostOp::Read => "read",
        HostOp::Write => "write",
        HostOp::Trim => "trim",
        HostOp::Flush => "flush",
    }
}
