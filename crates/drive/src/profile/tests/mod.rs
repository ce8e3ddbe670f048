//! Profiles as their user has them: what is shipped, what is typed, and what is told.

mod messages;
mod shipped;
mod values;

use std::fmt::Debug;

use firstread_core::params::{Axis, Need, Param, ParamKind, Role, Scheme};

use super::*;

const fn number(key: &'static str, unit: &'static str, default: i64, min: i64, max: i64) -> Param {
    Param {
        key,
        doc: "",
        kind: ParamKind::Number {
            unit,
            default,
            min,
            max,
        },
    }
}

const CALIBRATION: &[Param] = &[
    number(
        "interval",
        "ns",
        18_000_000_000_000,
        1_000_000_000,
        i64::MAX,
    ),
    number("threshold", "permille", 10, 0, 1_000),
    number("pages", "pages", 64, 1, 4_096),
    number("start", "units", 0, -128, 127),
    Param {
        key: "tracking",
        doc: "",
        kind: ParamKind::Flag(true),
    },
    Param {
        key: "direction",
        doc: "",
        kind: ParamKind::Choice(&["corrected", "as-printed"]),
    },
];

const fn scheme(name: &'static str, role: Role, params: &'static [Param]) -> Scheme {
    Scheme {
        name,
        summary: "",
        source: "",
        role,
        needs: &[],
        ordered: &[],
        params,
    }
}

const fn needing(needs: &'static [Need], name: &'static str) -> Scheme {
    Scheme {
        needs,
        ..scheme(name, Role::Scheme, &[])
    }
}

/// Axes of a firmware with the schemes that shipped drives name.
static AXES: &[Axis] = &[
    Axis {
        name: "read_levels",
        summary: "",
        schemes: &[
            scheme("factory", Role::Baseline, &[]),
            scheme(
                "frozen",
                Role::Scheme,
                &[number("entries", "entries", 3, 1, 9)],
            ),
            scheme("ct-qlc", Role::Scheme, CALIBRATION),
        ],
    },
    Axis {
        name: "retry",
        summary: "",
        schemes: &[
            scheme("sequential", Role::Baseline, &[]),
            needing(&[Need::WholeDie], "pipelined"),
        ],
    },
    Axis {
        name: "suspend",
        summary: "",
        schemes: &[
            scheme("none", Role::Baseline, &[]),
            scheme("program-erase", Role::Scheme, &[]),
        ],
    },
    Axis {
        name: "wear",
        summary: "",
        schemes: &[
            scheme("none", Role::Baseline, &[]),
            scheme("static", Role::Scheme, &[]),
        ],
    },
    Axis {
        name: "read_recovery",
        summary: "",
        schemes: &[
            scheme("none", Role::Baseline, &[]),
            needing(&[Need::StripeParity], "parity"),
            needing(&[Need::SoftDecoder, Need::StripeParity], "soft-parity"),
        ],
    },
    Axis {
        name: "gc_victim",
        summary: "",
        schemes: &[
            scheme("fifo", Role::Baseline, &[]),
            scheme("greedy", Role::Scheme, &[]),
            scheme("cost-benefit", Role::Scheme, &[]),
            scheme("d-choices", Role::Scheme, &[]),
        ],
    },
    Axis {
        name: "refresh",
        summary: "",
        schemes: &[
            scheme("none", Role::Baseline, &[]),
            scheme(
                "read-count",
                Role::Scheme,
                &[number("reads", "reads", 60_000, 1, 1 << 40)],
            ),
        ],
    },
];

fn set(texts: &[&str]) -> Vec<Override> {
    texts.iter().map(|t| Override::parse(t).unwrap()).collect()
}

fn drive(name: &str, overrides: &[&str]) -> Result<DriveProfile, ProfileError> {
    load_drive(&Library::new(), name, &set(overrides), AXES)
}

fn chip(name: &str, overrides: &[&str]) -> Result<LoadedChip, ProfileError> {
    load_chip(&Library::new(), name, &set(overrides))
}

/// A library whose only own profile is `text`, called `mine`.
fn mine(kind: Kind, text: &str) -> Library {
    let mut library = Library::new();
    library.add(kind, "mine", text);
    library
}

fn message(result: Result<impl Debug, ProfileError>) -> String {
    result.unwrap_err().to_string()
}

/// The struct without its listing.
fn resolved(drive: &DriveProfile) -> String {
    let drive = DriveProfile {
        resolved: Vec::new(),
        ..drive.clone()
    };
    format!("{drive:?}")
}
