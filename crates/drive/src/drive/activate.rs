//! Other schemes on a drive that is in use: a new firmware image is activated with a reset, as NVMe's Firmware
//! Commit does.

use std::collections::BTreeSet;

use firstread_core::Ns;
use firstread_core::params::Need;
use firstread_ecc::{Code, CodeError};
use firstread_firmware::Firmware;
use firstread_firmware::policy::read_levels::ReadLevels;
use thiserror::Error;

use super::{CutRefused, Drive, PowerCut};
use crate::initial_contents::FilledMemory;
use crate::payload::Payload;
use crate::profile::DriveProfile;
use crate::tables::TableError;

/// Why a drive does not activate a firmware.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ActivateError {
    /// The profile differs in more than schemes and their parameters.
    #[error("a firmware can be activated on the drive it was made for: `{path}` differs")]
    AnotherDrive {
        /// The first key that differs.
        path: String,
    },
    /// The schemes need other hardware or memory than the drive was made with.
    #[error("a drive has to be made with these schemes, they cannot be activated: {what}")]
    AnotherBuild {
        /// The part that would have to differ.
        what: &'static str,
    },
    /// There is no such code.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// There are no tables of the chip that a scheme needs.
    #[error(transparent)]
    Tables(#[from] TableError),
    /// The state after a reset is not simulated.
    #[error(transparent)]
    Cut(#[from] CutRefused),
}

impl<P: Payload> Drive<P> {
    /// Activates a firmware with the schemes of `profile` at `at`, or now if that is past, and resets the drive: what a
    /// power cut loses is lost, and what it keeps is kept ([`Drive::power_cut`]). Commands in flight are lost.
    ///
    /// A scheme of axis `read_levels` or `retry` that stays as it is keeps what it has learned. Another one begins
    /// with the factory's tables, as on a drive that is switched on for the first time.
    ///
    /// # Errors
    /// [`ActivateError`]; then nothing has changed, but a drive that does not mount is of no more use.
    pub fn activate(&mut self, at: Ns, profile: DriveProfile) -> Result<PowerCut, ActivateError> {
        self.may_cut_power()?;
        if let Some(path) = self.differs(&profile) {
            return Err(ActivateError::AnotherDrive { path });
        }
        for (need, what) in [
            (
                Need::FreeSuspends,
                "suspends that cost no time are a property of the dies",
            ),
            (Need::StripeParity, "parity is programmed with the data"),
        ] {
            if profile.needs(need) != self.profile.needs(need) {
                return Err(ActivateError::AnotherBuild { what });
            }
        }
        let code = Code::named(&profile.ecc.code)?;
        let firmware_builder = self.firmware_builder.of(&profile, &code)?;
        let schemes = firmware_builder.schemes(&profile);
        let groups = schemes.read_levels.groups().copied();
        if schemes.read_levels.spare_ppm() != self.firmware.levels().spare_ppm() {
            let what = "cells of known states are programmed with the data";
            return Err(ActivateError::AnotherBuild { what });
        }
        let firmware = firmware_builder.firmware(&profile, schemes);
        if (firmware.jobs(), firmware.buffer_slots())
            != (self.firmware.jobs(), self.firmware.buffer_slots())
        {
            let what = "the write buffer would lie elsewhere in memory";
            return Err(ActivateError::AnotherBuild { what });
        }
        let has_handles = |firmware: &Firmware<FilledMemory>| firmware.fdp_log().is_some();
        if !firmware.stream_buffers().eq(self.firmware.stream_buffers())
            || has_handles(&firmware) != has_handles(&self.firmware)
        {
            let what = "superblocks of other write streams are open";
            return Err(ActivateError::AnotherBuild { what });
        }
        let hardware = &mut self.platform.hardware;
        hardware.add_tags(firmware.tags());
        hardware.cells_mut().set_groups(groups, code);
        (*self.firmware_builder, self.profile) = (firmware_builder, profile);
        self.firmware.reset();
        Ok(self.reset(at)?)
    }

    /// A key in which `profile` differs from the drive's, schemes with their parameters and heat apart: the first by name.
    fn differs(&self, profile: &DriveProfile) -> Option<String> {
        let fixed = |profile: &DriveProfile| -> BTreeSet<(String, String)> {
            let fixed = profile.fixed();
            fixed
                .map(|(path, literal)| (path.to_owned(), literal.to_owned()))
                .collect()
        };
        let (here, there) = (fixed(&self.profile), fixed(profile));
        let mut differ = here.symmetric_difference(&there);
        differ.next().map(|(path, _)| path.clone())
    }
}
