//! Whether a drive has what its schemes take for granted.

use firstread_core::params::{Need, Scheme};
use firstread_core::{CellMode, MOST_WEAR_RATE, Ns};
use firstread_ecc::Code;
use firstread_firmware::ChangeTimes;
use thiserror::Error;

use super::wrong::{Wrong, wrong};
use crate::profile::DriveProfile;
use crate::profile::drive::CellModes;

/// What `drive` lacks that a scheme with this need takes for granted.
pub(super) fn lacks(drive: &DriveProfile, need: Need) -> Option<String> {
    match need {
        Need::Voltages | Need::TrueLevels | Need::SafeSenses | Need::SoftDecoder
            if !drive.cells.have_voltages() =>
        {
            Some(format!(
                "needs cells with voltages; `cells` is `{}`, whose reads walk the factory's retry table",
                drive.cells.name()
            ))
        }
        // Refused rather than guessed: no source says how cache reads or other sensing times combine with planes that
        // read by themselves.
        Need::WholeDie if drive.chip.timing.independent_plane_reads => Some(
            "reads through the cache register or sets the sensing time of a whole die, and \
             `chip.timing.independent_plane_reads` is true"
                .into(),
        ),
        Need::StripeParity if drive.geometry.dies() < 2 => {
            Some("needs parity across dies, two at least".into())
        }
        Need::SoftDecoder => {
            let code = Code::named(&drive.ecc.code).ok().filter(|c| !c.is_soft())?;
            let soft = Code::NAMES.into_iter();
            let soft = soft.filter(|n| Code::named(n).is_ok_and(|c| c.is_soft()));
            Some(format!(
                "needs a code with a soft decoder ({}); `ecc.code` is `{}`, which gains nothing from \
                 soft senses",
                soft.collect::<Vec<_>>().join(", "),
                code.name(),
            ))
        }
        Need::CellModes if drive.firmware.cell_modes == CellModes::One => Some(
            "erases superblocks into other cell modes, and `firmware.cell_modes` is `one`".into(),
        ),
        Need::CellModes => {
            let modes = [CellMode::Slc, CellMode::Tlc].into_iter();
            let lacking = modes.filter(|mode| !drive.other_modes().any(|other| other == *mode));
            let lacking: Vec<&str> = lacking.map(CellMode::name).collect();
            (!lacking.is_empty()).then(|| {
                let (chip, own) = (&drive.chip.name, drive.mode.name());
                let lacking = lacking.join(" or ");
                format!(
                    "needs modes with fewer bits than {own}, and chip `{chip}` has no {lacking}"
                )
            })
        }
        Need::SlicedPrograms => slices("program", |times| times.program, drive),
        Need::SlicedErases => slices("erase", |times| times.erase, drive),
        Need::TrueWear if drive.wear_rate > 1 => Some(format!(
            "spreads wear in a way that depends on how many cycles a life has, and each erase would stand for {} cycles",
            drive.wear_rate
        )),
        // Every simulated drive has these.
        Need::WholeDie
        | Need::StripeParity
        | Need::Voltages
        | Need::SafeSenses
        | Need::Heat
        | Need::SlcAlone
        | Need::OwnStream
        | Need::OwnStreamIf(_)
        | Need::OwnStreamsBeyond(..)
        | Need::OwnStreamsBeyondIf(..)
        | Need::TrueLevels
        | Need::FreeSuspends
        | Need::Future
        | Need::TrueWear => None,
    }
}

/// Why operations of a `kind` cannot be stopped every `firmware.slice` until they end, if they cannot. `takes` is how long
/// they take by mode.
fn slices(
    kind: &str,
    takes: fn(&ChangeTimes) -> [Ns; CellMode::ALL.len()],
    drive: &DriveProfile,
) -> Option<String> {
    let (slice, timing) = (drive.firmware.slice_ns, &drive.chip.timing);
    let us = |ns: u64| ns as f64 / 1e3;
    let times = drive.change_times();
    let modes = || drive.other_modes().chain([drive.mode]);
    let longest = modes().max_by_key(|mode| takes(&times)[mode.index()])?;
    let length = takes(&times)[longest.index()].0;
    let needed = length.div_ceil(slice);
    if needed > u64::from(timing.max_suspends) {
        return Some(format!(
            "stops {kind}s in the middle; `firmware.slice` is {} us and the {kind} of a {} block takes {} us, which is \
             {needed} slices, and chip `{}` allows {} suspends (`chip.timing.max_suspends`)",
            us(slice),
            longest.name(),
            us(length),
            drive.chip.name,
            timing.max_suspends
        ));
    }
    let of_all = [times.program, times.erase];
    let longest = modes().flat_map(|mode| of_all.map(|of| of[mode.index()].0));
    let longest = longest.max().unwrap_or(0);
    if slice >= longest {
        return Some(format!(
            "stops {kind}s in the middle; `firmware.slice` is {} us, and the longest program or erase takes {} us, so none has \
             a second slice",
            us(slice),
            us(longest)
        ));
    }
    (timing.min_progress_ns > slice).then(|| {
        format!(
            "stops {kind}s in the middle; `firmware.slice` is {} us, and chip `{}` runs for {} us at least before it stops \
             (`chip.timing.min_progress`)",
            us(slice),
            drive.chip.name,
            us(timing.min_progress_ns)
        )
    })
}

/// Whether the drive has what `scheme` takes for granted.
fn does(drive: &DriveProfile, scheme: &Scheme) -> bool {
    scheme
        .needs
        .iter()
        .all(|&need| lacks(drive, need).is_none())
}

/// Why a drive has no life at a wear rate.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum WearRateRefused {
    /// The wear rate that was asked for.
    #[error("a wear rate of {0} is outside 1 to {MOST_WEAR_RATE}")]
    OutOfRange(u32),
    /// A scheme is not scale-free.
    #[error("a wear rate above 1: {0}")]
    NotScaleFree(String),
}

impl DriveProfile {
    /// The same drive where each simulated erase stands for `rate` cycles.
    ///
    /// # Errors
    /// [`WearRateRefused`] where there is no such rate, or a scheme of the drive is not scale-free ([`Need::TrueWear`]).
    pub fn at_wear_rate(mut self, rate: u32) -> Result<DriveProfile, WearRateRefused> {
        if !(1..=MOST_WEAR_RATE).contains(&rate) {
            return Err(WearRateRefused::OutOfRange(rate));
        }
        self.wear_rate = rate;
        match needs(&self) {
            Ok(()) => Ok(self),
            Err((_, why)) => Err(WearRateRefused::NotScaleFree(why)),
        }
    }
}

/// Whether the drive has what its schemes take for granted.
pub(super) fn needs(drive: &DriveProfile) -> Result<(), Wrong> {
    for choice in &drive.schemes {
        for &need in choice.scheme.needs {
            if let Some(what) = lacks(drive, need) {
                let others = choice.axis.schemes.iter().filter(|s| does(drive, s));
                let others: Vec<&str> = others.map(|s| s.name).collect();
                let message = format!(
                    "`{}` {what}: choose {}",
                    choice.scheme.name,
                    others.join(" or ")
                );
                return wrong(&format!("schemes.{}", choice.axis.name), message);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use firstread_core::params::Role;
    use firstread_firmware::policy::AXES;

    use super::super::tests::loaded;
    use super::*;
    use crate::profile::{Library, Override, load_drive};

    /// Only an oracle knows what no firmware can, and each says so.
    #[test]
    fn formula_an_oracle_says_what_it_knows() {
        for axis in AXES {
            for scheme in axis.schemes {
                let oracles = [Need::TrueLevels, Need::FreeSuspends, Need::Future];
                let knows = oracles.iter().any(|&need| scheme.requires(need));
                assert_eq!(knows, scheme.role == Role::Oracle, "{}", scheme.name);
            }
        }
    }

    /// Shares and slices under which a die would serve host reads or programs alone, or run out of suspends.
    #[test]
    fn formula_turns_that_end_nowhere_are_refused_with_the_arithmetic() {
        for (set, what) in [
            (
                "firmware.turn_share=0 %",
                "firmware.turn_share: `0 %` is outside",
            ),
            (
                "firmware.turn_share=100 %",
                "firmware.turn_share: `100 %` is outside",
            ),
            (
                "firmware.slice=20 ms",
                "`firmware.slice` is 20000 us, and the longest program or erase takes",
            ),
            (
                "firmware.slice=100 us",
                "slices, and chip `ct-tlc-48l` allows 32 suspends (`chip.timing.max_suspends`)",
            ),
            (
                "chip.timing.min_progress=2 ms",
                "runs for 2000 us at least before it stops (`chip.timing.min_progress`)",
            ),
            (
                "chip.timing.max_suspends=0",
                "which is 2 slices, and chip `ct-tlc-48l` allows 0 suspends",
            ),
        ] {
            let text = loaded(&[set, "schemes.suspend=program-erase"]).unwrap_err();
            assert!(text.contains(what), "{set}: {text}");
        }
        // A scheme that suspends nothing needs no slices.
        loaded(&["chip.timing.max_suspends=0", "schemes.suspend=none"]).unwrap();
    }

    /// A scheme whose drive lacks what it needs is refused, and those of its axis that would do are named.
    #[test]
    fn formula_a_scheme_is_refused_where_its_need_is_not_met() {
        let one_die = ["channels", "chips_per_channel", "dies_per_chip"];
        let one_die = one_die.map(|key| format!("geometry.{key}=1"));
        let refused = |set: &[&str], what: &str| {
            let overrides: Vec<Override> =
                set.iter().map(|t| Override::parse(t).unwrap()).collect();
            let loaded = load_drive(&Library::new(), "tlc-48l", &overrides, AXES);
            let text = loaded.unwrap_err().to_string();
            assert!(text.contains(what), "{set:?}: {text}");
        };
        let mut parity = vec!["schemes.read_recovery=parity"];
        parity.extend(one_die.iter().map(String::as_str));
        refused(
            &parity,
            "schemes.read_recovery: `parity` needs parity across dies, two at least: choose none",
        );
        let apart = "chip.timing.independent_plane_reads=true";
        for retry in ["pipelined", "adaptive", "pipelined-adaptive"] {
            let set = [&*format!("schemes.retry={retry}"), apart];
            refused(&set, "choose sequential or single-step");
        }
        refused(
            &["schemes.read_recovery=soft", "ecc.code=threshold"],
            "`ecc.code` is `threshold`, which gains nothing from soft senses: choose none or parity",
        );
    }
}
