//! What is to be simulated: options resolved to a drive, its state and a workload.

use std::path::{Path, PathBuf};

use anyhow::Result;
use firstread_core::Ns;
use firstread_drive::profile::{DriveProfile, Kind, Library, Override, chip_reference, load_drive};
use firstread_drive::{DriveState, Precondition};
use firstread_firmware::policy::AXES;

use crate::args::{Choice, DriveArgs, unknown};
use crate::files;
use crate::input::Input;

/// One simulation, ready to be started.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    pub input: &'a Input,
    pub profile: DriveProfile,
    pub state: DriveState,
    /// Seed of the drive; that of the workload is part of its state.
    pub seed: u64,
    /// Requests after which it stops.
    pub limit: Option<u64>,
}

impl<'a> Setup<'a> {
    /// The drive of `args` with `schemes`.
    pub fn new(
        input: &'a Input,
        args: &DriveArgs,
        schemes: &[Choice],
        limit: Option<u64>,
    ) -> Result<Setup<'a>> {
        let chosen = schemes.iter().map(|choice| choice.to_override());
        let overrides: Vec<Override> = chosen.chain(args.sets.iter().cloned()).collect();
        let profile = Setup::profile(&args.drive, &overrides)?;
        Ok(Setup {
            input,
            profile,
            state: args.state(),
            seed: args.seed,
            limit,
        })
    }

    /// So many drives, alike but for their chips: seeds from its own up.
    pub fn drives(self, drives: u16) -> Vec<Setup<'a>> {
        let seeds = (0..u64::from(drives)).map(|i| self.seed.wrapping_add(i));
        seeds
            .map(|seed| Setup {
                seed,
                ..self.clone()
            })
            .collect()
    }

    /// The profile of `drive` with `overrides`.
    pub fn profile(drive: &str, overrides: &[Override]) -> Result<DriveProfile> {
        let library = library(drive, overrides)?;
        Ok(load_drive(&library, drive, overrides, AXES)?)
    }

    /// The state of the drive in a line.
    pub fn state_line(&self) -> String {
        use crate::output::format::age;
        let DriveState {
            age: (youngest, oldest),
            pe_cycles: (low, high),
            ..
        } = self.state;
        let age = match youngest == oldest {
            true => age(oldest),
            false => format!("{} to {}", age(youngest), age(oldest)),
        };
        let wear = if low == high {
            low.to_string()
        } else {
            format!("{low} to {high}")
        };
        let written = match self.state.precondition {
            _ if self.state.fill == 0.0 => "empty".to_owned(),
            Precondition::None => "filled in address order".to_owned(),
            Precondition::Random => "overwritten at random".to_owned(),
            Precondition::Zipf(theta) => format!("overwritten by Zipf's law, theta {theta}"),
        };
        let celsius = match self.state.temperature_step {
            None => format!("{} °C", self.state.temperature_c),
            Some((at, then)) => format!(
                "{} °C and, from {} on, {then} °C",
                self.state.temperature_c,
                crate::output::format::age(at)
            ),
        };
        let mut line = format!("{written}, {age} at {celsius}, {wear} P/E");
        if self.state.unpowered > Ns::ZERO {
            line += &format!(
                ", then {} without power",
                crate::output::format::age(self.state.unpowered)
            );
        }
        if self.state.fill > 0.0 && self.state.fill < 1.0 {
            line += &format!(", {} % full", self.state.fill * 100.0);
        }
        line
    }

    /// P/E cycles that the chip is rated for, in the mode of the drive.
    pub fn rated_pe_cycles(&self) -> Option<u32> {
        let mode = self.profile.chip.mode(self.profile.mode)?;
        Some(mode.endurance_pe_cycles)
    }

    /// What is to be said of wear beyond the chip's rating.
    pub fn beyond_rating(&self) -> Option<String> {
        let rated = self.rated_pe_cycles()?;
        let worn = self.state.pe_cycles.1;
        (worn > rated).then(|| {
            format!(
                "worn beyond the chip's rating: {worn} P/E cycles, rated for {rated} in {} mode",
                self.profile.mode.name()
            )
        })
    }

    /// The schemes, `axis=name` each.
    pub fn schemes(&self) -> String {
        let one = |c: &firstread_drive::profile::SchemeChoice| {
            format!("{}={}", c.axis.name, c.scheme.name)
        };
        self.profile
            .schemes
            .iter()
            .map(one)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// The shipped profiles, and what `drive` needs beyond them: its own file, that of its chip.
pub fn library(drive: &str, overrides: &[Override]) -> Result<Library> {
    let mut library = Library::new();
    let path = Path::new(drive);
    if files::is_file(path) || is_path(drive) {
        library.add(Kind::Drive, drive, &files::read_text(path)?);
    } else if !library.has(Kind::Drive, drive) {
        let names = library.names(Kind::Drive);
        return Err(unknown("drive", drive, names.into_iter()).into());
    }
    if let Some(chip) = chip_reference(&library, drive, overrides)?
        && !library.has(Kind::Chip, &chip)
        && let Some(file) = chip_files(path, &chip)
            .into_iter()
            .find(|p| files::is_file(p))
    {
        library.add(Kind::Chip, &chip, &files::read_text(&file)?);
    }
    Ok(library)
}

/// Whether `name` can only be a path.
pub fn is_path(name: &str) -> bool {
    name.contains(['/', '\\']) || name.ends_with(".toml")
}

/// Where the chip of the drive profile at `drive` may be: as named from here, beside the drive, or
/// in the folder of chips next to the folder of drives.
fn chip_files(drive: &Path, chip: &str) -> Vec<PathBuf> {
    let folder = drive.parent().unwrap_or(Path::new(""));
    let file = format!("{chip}.toml");
    vec![
        chip.into(),
        folder.join(chip),
        folder.join(&file),
        folder.join("../chips").join(&file),
    ]
}
