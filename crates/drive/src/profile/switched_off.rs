//! Schemes that another option of the drive switches off, in whole or in part. The drive runs all the same, so whoever
//! reads its results is told.

use std::fmt;

use firstread_core::params::{Need, Role};
use firstread_firmware::WriteCache;

use crate::profile::value::Words;
use crate::profile::{DriveProfile, SchemeChoice};

/// A part of a scheme that an option switches off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchedOff {
    /// The axis of the scheme.
    pub axis: &'static str,
    /// The scheme that runs without this part.
    pub scheme: &'static str,
    /// What the scheme does not do.
    pub what: &'static str,
    /// The option, as a path of a profile.
    pub option: &'static str,
    /// Value of the option that has this effect.
    pub value: &'static str,
    /// Why the option has that effect.
    pub why: &'static str,
}

impl fmt::Display for SwitchedOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SwitchedOff {
            axis,
            scheme,
            what,
            option,
            value,
            why,
        } = self;
        write!(
            f,
            "{axis}={scheme}: {what}, because `{option}` is `{value}`: {why}"
        )
    }
}

/// A rule: whether an option of the drive switches off a part of the scheme chosen on `axis`.
struct Rule {
    axis: &'static str,
    of: fn(&DriveProfile, &SchemeChoice) -> Option<SwitchedOff>,
}

/// One rule for each condition under which the firmware does not ask a scheme.
const RULES: &[Rule] = &[
    Rule {
        axis: "area",
        of: entry_of_host,
    },
    Rule {
        axis: "cell_mode",
        of: writes_to_pool,
    },
];

/// `Placement::has_one_choice` of the firmware: a flush waits for the stream of the host alone.
fn entry_of_host(drive: &DriveProfile, choice: &SchemeChoice) -> Option<SwitchedOff> {
    let what = "no write of the host enters the low wearing area";
    by_write_cache(drive, choice, what)
}

/// `Placement::pool_of_write` of the firmware, for the same reason.
fn writes_to_pool(drive: &DriveProfile, choice: &SchemeChoice) -> Option<SwitchedOff> {
    let has_pool = choice.scheme.requires(Need::SlcAlone);
    has_pool.then(|| by_write_cache(drive, choice, "the host writes nothing to the SLC pool"))?
}

fn by_write_cache(
    drive: &DriveProfile,
    choice: &SchemeChoice,
    what: &'static str,
) -> Option<SwitchedOff> {
    let cache = drive.dram.write_cache;
    (cache != WriteCache::Protected).then(|| SwitchedOff {
        axis: choice.axis.name,
        scheme: choice.scheme.name,
        what,
        option: "dram.write_cache",
        value: cache.word(),
        why: "a flush waits for the stream of the host alone",
    })
}

impl DriveProfile {
    /// What options of the drive switch off of its schemes.
    pub fn switched_off(&self) -> Vec<SwitchedOff> {
        let of = |rule: &Rule| {
            let choice = self.scheme(rule.axis)?;
            let is_baseline = choice.scheme.role == Role::Baseline;
            (!is_baseline).then(|| (rule.of)(self, choice))?
        };
        RULES.iter().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use firstread_firmware::policy::AXES;

    use crate::profile::{Library, Override, load_drive};

    fn switched_off(set: &[&str]) -> Vec<String> {
        let set: Vec<Override> = set.iter().map(|t| Override::parse(t).unwrap()).collect();
        let drive = load_drive(&Library::new(), "dc-qlc-15t", &set, AXES).unwrap();
        let off = drive.switched_off();
        off.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn model_a_scheme_that_an_option_switches_off_is_named_with_the_option() {
        let area = "schemes.area=differential";
        for cache in ["volatile", "write-through"] {
            let cache_set = format!("dram.write_cache={cache}");
            let text = format!(
                "area=differential: no write of the host enters the low wearing area, because `dram.write_cache` is \
                 `{cache}`: a flush waits for the stream of the host alone"
            );
            assert_eq!(switched_off(&[area, &cache_set]), [text]);
            // The baseline of the axis has nothing to switch off.
            assert_eq!(switched_off(&["schemes.area=one", &cache_set]), [""; 0]);
        }
        assert_eq!(switched_off(&[area]), [""; 0]);
    }
}
