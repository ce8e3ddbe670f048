//! What is wrong with a study.

use thiserror::Error;

/// What is wrong with a study. Where in it, the [`Error::Of`](crate::Error::Of) around it says.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum StudyError {
    /// The text is no study: what its reader says.
    #[error("{}", .0.to_string().trim())]
    Text(toml::de::Error),
    /// A name that nothing has.
    #[error("there is no {what} `{name}`; the nearest is `{nearest}`")]
    NoSuch {
        /// What it should name.
        what: &'static str,
        /// As written.
        name: String,
        /// The name most like it.
        nearest: String,
    },
    /// A name that two have.
    #[error("{what} `{id}` is there twice")]
    Twice {
        /// What it names.
        what: &'static str,
        /// The name.
        id: String,
    },
    /// A value of the quick form that the full form lacks.
    #[error("`{0}` is in the quick form alone")]
    QuickAlone(String),
    /// Two roles of a figure are of the same coordinate.
    #[error("`x`, `series` and `rows` are not all different")]
    SameRoles,
    /// A figure with `across` has a key that does not go with it.
    #[error("a figure `across` has no `rows`, `line`, `log_x` or `same_y`")]
    Across,
    /// A logarithmic axis should begin at zero.
    #[error("a `log` axis has no zero for `same_y`")]
    LogZero,
    /// A value that is no number above zero on a logarithmic axis.
    #[error(
        "{dimension} `{value}` has no place on an axis with `log_x`, which takes numbers above zero"
    )]
    NoPlace {
        /// The coordinate.
        dimension: &'static str,
        /// Its value.
        value: String,
    },
    /// A coordinate has no value. Holds its name.
    #[error("nothing to run: no {0}")]
    No(&'static str),
    /// No requests or repetitions.
    #[error("nothing to run")]
    NothingToRun,
    /// No chips, blocks, wordlines or drives.
    #[error("nothing to measure")]
    NothingToMeasure,
    /// The lowest value of a band is above its highest.
    #[error("the band ends before it begins")]
    Band,
    /// A claim is measured in none of the three ways, or in several.
    #[error("give one of `points`, `fact` and `not_comparable`")]
    HowMeasured,
    /// A workload is none of the three kinds, or several.
    #[error("give one of `job`, `trace` and `stand_in`")]
    WhichWorkload,
    /// An experiment has neither runs nor cells, or both.
    #[error("give `workloads` and `requests`, or `cells`")]
    RunsOrCells,
    /// Cells have no workload.
    #[error("`cells` have no `workload` for `quick`")]
    QuickWorkload,
    /// A burn-in of no length, or without an end.
    #[error("`burn_in.most_drive_writes` is above 0 and at most a million")]
    BurnInLimit,
    /// Cells have nothing of what drives live through.
    #[error("`cells` have no `unpowered`, `precondition`, `workload_seed` or `burn_in`")]
    OfRunsAlone,
    /// A claim asks for a coordinate that its experiment has not.
    #[error(
        "experiment `{experiment}` has no {dimension} `{value}` in its quick form, but {}",
        values.join(", ")
    )]
    NoValue {
        /// The experiment.
        experiment: String,
        /// The coordinate.
        dimension: &'static str,
        /// The value asked for.
        value: String,
        /// Those that there are.
        values: Vec<String>,
    },
    /// A comparison has no partner, or a claim that is no comparison has one.
    #[error("a ratio, reduction or increase has `against`, others have none")]
    Against,
    /// The chip lacks the mode of the drive. Holds its name.
    #[error("the chip has no mode {0}")]
    NoMode(&'static str),
    /// The drive of a variant keeps no tables. Holds the variant's name.
    #[error("variant `{0}` keeps no tables")]
    NoTables(String),
}

impl StudyError {
    /// There is no `what` called `name`.
    pub(super) fn no_such<'a>(
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> StudyError {
        StudyError::NoSuch {
            what,
            name: name.to_owned(),
            nearest: firstread_workload::nearest(name, known)
                .unwrap_or_default()
                .to_owned(),
        }
    }
}
