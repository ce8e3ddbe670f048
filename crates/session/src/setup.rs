//! Setup of a simulation: resolves names and options to a drive, its state and a workload.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use firstread_core::CellMode;
use firstread_core::params::Role;
use firstread_drive::profile::Override;
use firstread_drive::profile::drive::Cells;
use firstread_drive::{BurnIn, DriveState, Precondition};

use crate::choice::Choice;
use crate::conditions::usual_state;
use crate::drive_profile::{Profile, Profiles};
use crate::error::Error;
use crate::input::Input;
use crate::interrupt::Interrupt;
use crate::page_speed;
use crate::split::check::{Asked, Split};
use crate::watched::Watched;
use crate::worn;

pub const DEFAULT_DRIVE: &str = "dc-qlc-15t";

/// What is said of a computed state that may be an approximation, and is burnt in.
const APPROXIMATE: &str = "--precondition zipf with areas: where the area of the host cannot hold all data, the computed state is an \
                           approximation, and it is the burn-in that makes it steady";

/// A simulation as requested: names and options.
///
/// ```
/// use firstread_session::{Input, Simulation};
///
/// let input = Input::open("randread-4k-qd1")?;
/// let setup = Simulation {
///     drive: "bench-4g".into(),
///     schemes: vec!["gc_victim=greedy".parse()?],
///     limit: Some(1_000),
///     ..Simulation::of(input)
/// }
/// .setup()?;
/// assert_eq!(setup.profile.scheme("gc_victim").map(|s| s.scheme.name), Some("greedy"));
/// # Ok::<(), firstread_session::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Simulation {
    pub input: Arc<Input>,
    /// A shipped drive, or the path of a drive profile.
    pub drive: String,
    /// Schemes that replace those of the profile.
    pub schemes: Vec<Choice>,
    /// Profile values and scheme parameters that replace those of the profile.
    pub set: Vec<Override>,
    /// The drive's state when the workload begins; the seed of the workload is part of it.
    pub state: DriveState,
    /// Seed of the drive: chips, bad blocks and the firmware's random choices.
    pub seed: u64,
    /// Measured requests after which each group of jobs that run together ends; none to run the whole workload.
    pub limit: Option<u64>,
    /// What the drive is burnt in by before that, if it is.
    pub burn_in: Option<BurnInSetup>,
    /// The result of a life whose wear the drive has, superblock by superblock, in place of the P/E cycles of its state.
    pub wear_from: Option<PathBuf>,
    /// Into how many parts the run is split, if it is.
    pub split: Option<Split>,
    /// What is written down of the run beside its report.
    pub watched: Watched,
}

/// A burn-in: a workload is run until the writes of the drive are in a steady state, before the drive is measured.
#[derive(Clone, Debug)]
pub struct BurnInSetup {
    /// The workload that burns the drive in; none for the one that is measured.
    pub workload: Option<Arc<Input>>,
    /// Capacities of the drive after which it ends, steady or not.
    pub most_drive_writes: f64,
}

impl BurnInSetup {
    /// By the workload that is measured, for as many drive writes as usual.
    pub const BY_ITSELF: BurnInSetup = BurnInSetup {
        workload: None,
        most_drive_writes: BurnIn::MOST_DRIVE_WRITES,
    };

    /// By `workload`, for as many drive writes as usual.
    pub fn by(workload: impl Into<Arc<Input>>) -> BurnInSetup {
        BurnInSetup {
            workload: Some(workload.into()),
            ..BurnInSetup::BY_ITSELF
        }
    }
}

impl Simulation {
    /// `input` on the default drive in its usual state, with seed 1.
    pub fn of(input: impl Into<Arc<Input>>) -> Simulation {
        Simulation {
            input: input.into(),
            drive: DEFAULT_DRIVE.to_owned(),
            schemes: Vec::new(),
            set: Vec::new(),
            state: usual_state(),
            seed: 1,
            limit: None,
            burn_in: None,
            wear_from: None,
            split: None,
            watched: Watched::default(),
        }
    }

    /// Reads the profile and resolves all names.
    ///
    /// # Errors
    /// [`Error`] where there is no such drive, its profile cannot be read, or an option does not fit the drive.
    pub fn setup(&self) -> Result<Setup, Error> {
        self.setup_among(&mut Profiles::default())
    }

    /// The same, with the profile of `profiles` where the same drive with the same values was read before.
    ///
    /// # Errors
    /// As [`Simulation::setup`].
    pub fn setup_among(&self, profiles: &mut Profiles) -> Result<Setup, Error> {
        let chosen = self.schemes.iter().map(|choice| choice.to_override());
        let overrides: Vec<Override> = chosen.chain(self.set.iter().cloned()).collect();
        let mut setup = Setup {
            input: Arc::clone(&self.input),
            profile: profiles.read(&self.drive, &overrides)?,
            state: DriveState {
                hottest_in_run_c: self.input.hottest_c().or(self.state.hottest_in_run_c),
                ..self.state
            },
            seed: self.seed,
            limit: self.limit,
            burn_in: self.burn_in.clone(),
            interrupt: Interrupt::default(),
            split: self.split,
            watched: self.watched.clone(),
        };
        setup.check_inputs()?;
        if let Some(path) = &self.wear_from {
            worn::wear_from(setup.profile.make_mut(), &mut setup.state, path)?;
        }
        Ok(setup)
    }
}

/// One simulation, ready to be started.
#[derive(Clone, Debug)]
pub struct Setup {
    pub input: Arc<Input>,
    /// The drive: every value, with the schemes chosen.
    pub profile: Profile,
    /// Its state when the workload begins.
    pub state: DriveState,
    /// Seed of the drive; that of the workload is part of its state.
    pub seed: u64,
    /// Measured requests after which each group of jobs that run together ends.
    pub limit: Option<u64>,
    /// What the drive is burnt in by before that, if it is.
    pub burn_in: Option<BurnInSetup>,
    /// Ends the run early where it is asked. A result does not depend on it but by that.
    pub interrupt: Interrupt,
    /// Into how many parts the run is split, if it is.
    pub split: Option<Split>,
    /// What is written down of the run beside its report.
    pub watched: Watched,
}

impl Setup {
    /// That its workloads fit its drive, as far as that is known before they run.
    ///
    /// # Errors
    /// [`Error::Workload`] where one does not, [`Error::Split`] where it cannot be split.
    pub(crate) fn check_inputs(&self) -> Result<(), Error> {
        let handles = self.profile.placement_handles();
        for input in [Some(&*self.input), self.burn_in_input()]
            .into_iter()
            .flatten()
        {
            input.check_handles(handles)?;
            input.check_host_log(&self.profile)?;
        }
        let asked = Asked {
            input: &self.input,
            limit: self.limit,
            is_burnt_in: self.burn_in.is_some(),
            by_another: self
                .burn_in
                .as_ref()
                .is_some_and(|by| by.workload.is_some()),
            profile: &self.profile,
            watched: &self.watched,
        };
        Ok(self.split.map_or(Ok(()), |split| asked.check(split))?)
    }

    /// Setups for `drives` drives that differ only in their seed, which counts up from the seed of this one.
    pub fn drives(self, drives: u16) -> Vec<Setup> {
        let seeds = (0..u64::from(drives)).map(|i| self.seed.wrapping_add(i));
        seeds
            .map(|seed| Setup {
                seed,
                ..self.clone()
            })
            .collect()
    }

    /// Number of requests that the run measures at most, if known in advance.
    pub fn requests(&self) -> Option<u64> {
        let limit = self.limit.map(|limit| limit * self.input.groups());
        limit.into_iter().chain(self.input.requests()).min()
    }

    /// The workload that burns the drive in, if one does.
    pub fn burn_in_input(&self) -> Option<&Input> {
        let burn_in = self.burn_in.as_ref()?;
        Some(burn_in.workload.as_deref().unwrap_or(&self.input))
    }

    /// P/E cycles that the chip is rated for, in the mode of the drive.
    pub fn rated_pe_cycles(&self) -> u32 {
        self.profile.rated_pe_cycles()
    }

    /// Wear in excess of the chip's rating, if there is any.
    pub fn beyond_rating(&self) -> Option<BeyondRating> {
        let rated = self.rated_pe_cycles();
        let worn = self.state.most_pe_cycles();
        (worn > rated).then_some(BeyondRating {
            worn,
            rated,
            mode: self.profile.mode,
        })
    }

    /// What its cells are and what that means, if they are not modelled.
    pub fn other_cells(&self) -> Option<OtherCells> {
        let cells = self.profile.cells;
        cells.notice().map(|notice| OtherCells { cells, notice })
    }

    /// What whoever reads the results is told: what options of the drive switch off of its schemes, which computed state
    /// is an approximation that is burnt in, and whether page types are chosen that are all alike.
    pub fn notes(&self) -> Vec<String> {
        let off = self.profile.switched_off();
        let mut notes: Vec<String> = off.iter().map(ToString::to_string).collect();
        let area = self.profile.scheme("area");
        let is_divided = area.is_some_and(|area| area.scheme.role != Role::Baseline);
        let is_zipf = matches!(self.state.precondition, Precondition::Zipf(_));
        if is_divided && is_zipf && self.burn_in.is_some() {
            notes.push(APPROXIMATE.to_owned());
        }
        notes.extend(page_speed::note(&self.profile));
        notes
    }

    /// The schemes as `axis=name`, separated by spaces.
    pub fn schemes(&self) -> String {
        let one = |c: &firstread_drive::profile::SchemeChoice| {
            format!("{}={}", c.axis.name, c.scheme.name)
        };
        let all: Vec<String> = self.profile.schemes.iter().map(one).collect();
        all.join(" ")
    }
}

/// Wear beyond a chip's rating.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BeyondRating {
    /// Highest wear of a superblock (P/E cycles).
    pub worn: u32,
    /// Rated endurance of the chip (P/E cycles).
    pub rated: u32,
    /// Cell mode that the rating is for.
    pub mode: CellMode,
}

impl fmt::Display for BeyondRating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BeyondRating { worn, rated, mode } = self;
        let mode = mode.name();
        write!(
            f,
            "worn beyond the chip's rating: {worn} P/E cycles, rated for {rated} in {mode} mode"
        )
    }
}

/// Cells that are not modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OtherCells {
    pub cells: Cells,
    /// What a user has to know of results of them.
    pub notice: &'static str,
}

impl fmt::Display for OtherCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cells: {} ({})", self.cells, self.notice)
    }
}
