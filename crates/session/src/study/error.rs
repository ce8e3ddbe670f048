//! What is wrong with a study.

use thiserror::Error;

/// What is wrong with a study. Where in it, the [`Error::Of`](crate::Error::Of) around it says.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum StudyError {
    /// The text is no study: what its reader says.
    #[error("{}", .0.to_string().trim())]
    Text(toml::de::Error),
    /// Keys that are needed and are not there: a place with its keys each.
    #[error("missing: {}", .0.join("; "))]
    Missing(Vec<String>),
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
    /// A metric of something else than the points are.
    #[error(
        "`{metric}` is a metric of {of}, and the points here are {points}, whose nearest metrics are `{}` \
         (`firstread list metrics`)",
        nearest.join("`, `")
    )]
    OtherSource {
        metric: String,
        /// What it is of.
        of: &'static str,
        /// What the points are.
        points: &'static str,
        /// The metrics of such points whose names are most like it.
        nearest: Vec<&'static str>,
    },
    /// A name that two have.
    #[error("{what} `{id}` is there twice")]
    Twice { what: &'static str, id: String },
    /// A value of the quick form that the full form lacks.
    #[error("`{0}` is in the quick form alone")]
    QuickAlone(String),
    /// Two roles of a figure are of the same coordinate.
    #[error("`x`, `series` and `rows` are not all different")]
    SameRoles,
    /// A figure with `across` has a key that does not go with it.
    #[error("a figure `across` has no `rows`, `line`, `log_x` or `same_y`")]
    Across,
    /// A figure with `along` has a key that does not go with it.
    #[error(
        "a figure `along` a metric has no `across`, `rows`, `line`, `log_x`, `same_y` or `reduction`"
    )]
    Along,
    /// A figure over time has another metric than the one that is known over time.
    #[error("a figure `along` the time has `y = [\"capacity_lost_mib\"]`, and no `log`")]
    OverTime,
    /// A key of a figure without the one that it goes with. Holds both.
    #[error("in a figure `{0}` goes with `{1}`")]
    Alone(&'static str, &'static str),
    /// A logarithmic axis should begin at zero.
    #[error("a `log` axis has no zero for `same_y`")]
    LogZero,
    /// A figure of reductions has a key that does not go with it, or other series than variants.
    #[error(
        "a figure with `reduction` has series of variants, and no `across`, `line`, `log` or `same_y`"
    )]
    Reduction,
    /// A figure has published reductions and shows none.
    #[error("`published` goes with `reduction`: variant = \"what it is compared with\"")]
    PublishedAlone,
    /// A value that is no number above zero on a logarithmic axis.
    #[error(
        "{dimension} `{value}` has no place on an axis with `log_x`, which takes numbers above zero"
    )]
    NoPlace {
        dimension: &'static str,
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
    /// A claim is measured in none of the ways, or in several.
    #[error(
        "give one of `points`, `fact`, `input` and `not_comparable` (which may have `points` or `fact` beside it)"
    )]
    HowMeasured,
    /// A claim should have several verdicts.
    #[error("give one of `fitted`, `input` and `not_comparable`, and `open` with none of them")]
    TwoVerdicts,
    /// A key that asks for words has none. Holds the key.
    #[error("`{0}` has no words")]
    NoWords(&'static str),
    /// A claim that is measured has no band.
    #[error("a claim that is measured has a `band`")]
    NoBand,
    /// A claim that is not measured has what judges a number.
    #[error("a claim that is not measured has no `band`, `also` or `open`")]
    NothingToJudge,
    /// A claim without a published number says nothing that could be wrong.
    #[error("without a `published` number, `falsified_by` has to say what would falsify the claim")]
    Unfalsifiable,
    /// No effect would pass for a claimed one.
    #[error(
        "the band {} to {} has {none} in it, so that no effect would pass; narrow it, or say `claims = \"no-effect\"`",
        band[0], band[1]
    )]
    NoEffectPasses {
        band: [String; 2],
        /// The number where there is no effect.
        none: String,
    },
    /// A claim of no effect has a band that no effect is not in.
    #[error("`claims = \"no-effect\"`, but the band {} to {} has no {none} in it", band[0], band[1])]
    NoEffectMisses {
        band: [String; 2],
        /// The number where there is no effect.
        none: String,
    },
    /// A band that nearly everything is in. Holds its ends.
    #[error(
        "the band {} to {} is wider than a factor of 3; narrow it, or say why with `wide = \"...\"`",
        .0[0], .0[1]
    )]
    Wide([String; 2]),
    /// Further parts of a claim that has no points.
    #[error("`also` goes with `points`")]
    AlsoPoints,
    /// An open choice of a claim that has no points.
    #[error("`open` goes with `points`")]
    OpenPoints,
    /// An open choice without an alternative.
    #[error("`open.grid` has fewer than two choices")]
    NoChoice,
    /// A claim names its metric in neither way, or in both, or one of them twice.
    #[error("give `metric = \"...\"`, or `metrics = [...]` with each metric once")]
    WhichMetrics,
    /// Phases without the one that the claim is read at by default. Holds the coordinate.
    #[error("`phases` has {0}, so `of` has to name one {0}: that of the default point")]
    NoDefault(&'static str),
    /// The value of the default point is none of those that phases or an open choice have.
    #[error("`{of}` has no {dimension} `{value}`, where the default point is, but {}", values.join(", "))]
    DefaultApart {
        /// Phases or grid.
        of: &'static str,
        dimension: &'static str,
        /// Its value at the default point.
        value: String,
        /// Those that there are.
        values: Vec<String>,
    },
    /// Several points of which one number should be made, without saying how. Holds the coordinate.
    #[error(
        "the points differ in {0}: name one in `of`, or say with `over` how they become one number"
    )]
    Several(&'static str),
    /// A claim rests on fewer drives than tell.
    #[error(
        "experiment `{experiment}` has {drives} drives (`repetitions.full`), and a claim takes {fewest}; give it more, or say why not with `few_drives = \"...\"` there"
    )]
    FewDrives {
        experiment: String,
        /// Its drives in the full form.
        drives: u64,
        /// The fewest there should be.
        fewest: u64,
    },
    /// A switch has nothing to choose instead.
    #[error("a switch has `alternatives`: a table [switches.NAME.alternatives.OTHER] each")]
    NoAlternative,
    /// A variant that an alternative changes is in none of the switch's experiments. Holds its name.
    #[error("none of the switch's `experiments` has the variant `{0}`")]
    NotInExperiments(String),
    /// An alternative is none.
    #[error("an alternative has `schemes`, `set` or `at`, and no variant or workload in `at`")]
    ChangesNothing,
    /// An alternative that no claim is judged with.
    #[error("no claim of its `experiments` is measured on what the alternative changes")]
    TouchesNothing,
    /// A workload is none of the three kinds, or several.
    #[error("give one of `job`, `trace` and `stand_in`")]
    WhichWorkload,
    /// An experiment is none of the three kinds, or several.
    #[error("give `workloads` with `requests` or with `life`, or `cells`")]
    RunsOrCells,
    /// Lives have nothing of what a run begins with.
    #[error("a `life` has no `unpowered`, `earlier_fill`, `precondition` or `burn_in`")]
    OfRunsNotLives,
    /// A number of a life that is none.
    #[error("`life.drive_writes_a_day` is above 0 and at most 10000")]
    DriveWritesADay,
    /// Cells of no kind, or of both.
    #[error(
        "give `cells` as `chips` with `wordlines`, or as `sample` (with a `limit` between 0 and 0.5)"
    )]
    ChipsOrSample,
    /// Cells have no workload.
    #[error("`cells` have no `workload` for `quick`")]
    QuickWorkload,
    /// A burn-in of no length, or without an end.
    #[error("`burn_in.most_drive_writes` is above 0 and at most a million")]
    BurnInLimit,
    /// Cells have nothing of what drives live through.
    #[error(
        "`cells` have no `unpowered`, `earlier_fill`, `precondition`, `workload_seed`, `own_loads`, `capacity` or `burn_in`"
    )]
    OfRunsAlone,
    /// The seeds of workloads are given twice. Holds those of the coordinate.
    #[error(
        "`own_loads = true` gives drive N the workload seed N, and `workload_seed` gives {}: leave one of them out",
        .0.join(", ")
    )]
    OwnLoads(Vec<String>),
    /// A claim asks for a coordinate that its experiment has not.
    #[error(
        "experiment `{experiment}` has no {dimension} `{value}` in its {form} form, but {}",
        values.join(", ")
    )]
    NoValue {
        experiment: String,
        dimension: &'static str,
        /// The value asked for.
        value: String,
        /// Full or quick.
        form: &'static str,
        /// Those that there are.
        values: Vec<String>,
    },
    /// A comparison has no partner, or a claim that is no comparison has one.
    #[error("a ratio, reduction or increase has `against`, others have none")]
    Against,
    /// The chip lacks the mode of the drive. Holds its name.
    #[error("the chip has no mode {0}")]
    NoMode(&'static str),
    /// Cells are measured that have no voltages. Holds the variant's name, and what its cells are.
    #[error(
        "variant `{0}` has `cells = \"{1}\"`, whose voltages mean nothing: margins and correlations are measured of \
         modelled cells"
    )]
    NoVoltages(String, &'static str),
    /// A study has no plan of tension. Holds the study's name, and those that have one.
    #[error(
        "study `{0}` has no plan for --tension (tension.toml beside its file; docs/tension.md); of the shipped studies these have: {1}"
    )]
    NoPlan(String, String),
    /// A plan with too few draws, drives or cells, or too many draws.
    #[error(
        "a plan has a knob, 1 to {most} draws in either form, two drives and a chip and a wordline at least"
    )]
    PlanNumbers { most: u64 },
    /// A row of a plan that no points tell. Holds the claim.
    #[error("claim `{0}` has no `points`, so that no draw could tell")]
    RowWithoutPoints(String),
    /// The range of a knob is none.
    #[error(
        "`{}` to `{}` is no range: two numbers in one unit, the lower first, and above zero where the spacing is logarithmic",
        .0[0], .0[1]
    )]
    KnobRange([String; 2]),
    /// What the chip has is not in the range of a knob, or in another unit.
    #[error(
        "knob `{knob}` goes from {range}, and {found}: a range holds what is shipped, in its unit"
    )]
    KnobOutside {
        knob: String,
        range: String,
        found: String,
    },
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
        let known: Vec<&str> = known.collect();
        // `p9999_us` is `p99.99_us` without its point.
        let plain = |name: &str| -> String {
            let letters = name.chars().filter(char::is_ascii_alphanumeric);
            letters.map(|c| c.to_ascii_lowercase()).collect()
        };
        let same = known.iter().find(|k| plain(k) == plain(name)).copied();
        let nearest = same.or_else(|| firstread_workload::nearest(name, known.into_iter()));
        StudyError::NoSuch {
            what,
            name: name.to_owned(),
            nearest: nearest.unwrap_or_default().to_owned(),
        }
    }
}
