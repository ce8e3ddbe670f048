//! A study as it is written: `study.toml`.
//!
//! A study says, before any of it has run, which drives meet which workloads in which states, what
//! is claimed of the outcome and in which band a claim counts as reproduced.

use std::collections::BTreeMap;

use firstread_drive::profile::{Kind, Library};
use firstread_workload::StandIn;
use serde::Deserialize;

use super::claim::{Claim, FromPoints};
use super::dimension::Dimension;
use super::error::StudyError;
pub use super::forgiving::Scale;
use super::forgiving::{parsed, values};
use super::metric::{Metric, Source};
use super::sample::pages::LIMIT;
use super::switch::Switch;
use crate::error::Error;
use crate::input::Example;
use crate::life::{Terms, Until, Years};

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, expecting = "a study")]
pub struct Study {
    /// Its title; its name where it has none.
    #[serde(default)]
    pub title: String,
    /// What it is about, in a paragraph.
    #[serde(default)]
    pub summary: String,
    /// What of it was written before results were looked at, and what after.
    #[serde(default)]
    pub beforehand: String,
    /// What was open and how it was settled.
    #[serde(default)]
    pub knobs: Vec<Knob>,
    /// `axis=name` for every variant that does not choose on that axis itself.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// `path=value` for every variant, below what it sets itself.
    #[serde(default)]
    pub set: Vec<String>,
    /// Drives with their schemes, by the name that figures use; those of the whole study among them. An experiment may
    /// name a shipped drive that is none of them.
    #[serde(default)]
    pub variants: BTreeMap<String, Variant>,
    /// Where requests come from, by the name that figures use. An experiment may name a shipped example or a stand-in
    /// that is none of them.
    #[serde(default)]
    pub workloads: BTreeMap<String, Load>,
    /// Choices that could be others, by name.
    #[serde(default)]
    pub switches: BTreeMap<String, Switch>,
    /// What is simulated, or measured of cells.
    #[serde(rename = "experiment", default)]
    pub experiments: Vec<Experiment>,
    /// What is measured of the best levels of valleys.
    #[serde(rename = "correlation", default)]
    pub correlations: Vec<Correlation>,
    /// What the paper claims.
    #[serde(rename = "claim", default)]
    pub claims: Vec<Claim>,
}

/// How the best levels of valleys go with those of the sentinels: from the cells, without a run.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, expecting = "a table [[correlation]]")]
pub struct Correlation {
    /// Its name, short.
    pub id: String,
    pub title: String,
    /// Where a paper has it, and how this differs.
    #[serde(default)]
    pub paper: String,
    pub variant: String,
    pub temperature: String,
    pub pe_cycles: String,
    /// Times since programming.
    pub age: Vec<String>,
    /// Blocks of a drive, each on a die of its own, and wordlines of each whose levels are averaged.
    pub blocks: u16,
    /// Wordlines of each block.
    pub wordlines: u16,
    /// Drives, each with chips of its own.
    pub drives: u64,
}

impl Correlation {
    /// The values of a coordinate; ages, which a correlation is over, are none.
    pub fn values(&self, dimension: Dimension) -> &[String] {
        match dimension {
            Dimension::Variant => std::slice::from_ref(&self.variant),
            Dimension::Temperature => std::slice::from_ref(&self.temperature),
            Dimension::PeCycles => std::slice::from_ref(&self.pe_cycles),
            _ => &[],
        }
    }
}

/// A choice that the paper leaves open.
#[derive(Deserialize, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table [[knobs]] with what, value and why"
)]
pub struct Knob {
    /// What is left open.
    pub what: String,
    /// How it is settled.
    pub value: String,
    pub why: String,
}

/// A drive with its schemes.
#[derive(Deserialize, Clone, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with drive, and schemes and set where it has them"
)]
pub struct Variant {
    /// A shipped drive, or the path of a drive profile.
    pub drive: String,
    /// `axis=name`.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// `path=value`.
    #[serde(default)]
    pub set: Vec<String>,
}

/// Where requests come from: one of a job file, a trace, a stand-in.
#[derive(Deserialize, Default, Debug)]
#[serde(deny_unknown_fields, expecting = "a table with job, trace or stand_in")]
pub struct Load {
    /// The text of a fio job file.
    pub job: Option<String>,
    /// A file below the folder of traces (`--traces`).
    pub trace: Option<String>,
    /// A stand-in by name.
    pub stand_in: Option<String>,
    /// How much faster than recorded a trace or stand-in is replayed.
    pub speed: Option<f64>,
    /// Requests past the end of the drive wrap around.
    #[serde(default)]
    pub wrap: bool,
    /// The format of a trace, where its content does not tell.
    pub format: Option<String>,
    /// The columns of a trace whose format has no name.
    pub columns: Option<String>,
    /// An expression for the lines of such a trace.
    pub regex: Option<String>,
    /// The one device of a trace whose requests are run.
    pub device: Option<u32>,
    /// A record of a trace whose time goes back gets the time of the record above it.
    #[serde(default)]
    pub clamp: bool,
}

/// Points that differ in some of their coordinates, and how they are drawn.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, expecting = "a table [[experiment]]")]
pub struct Experiment {
    /// Its name, short: `fig12`.
    pub id: String,
    /// Its title; its name where it has none.
    #[serde(default)]
    pub title: String,
    /// Where a paper has it, and how this differs.
    #[serde(default)]
    pub paper: String,
    /// What came of it, in words, once it has run.
    #[serde(default)]
    pub found: String,
    #[serde(deserialize_with = "values")]
    pub variants: Vec<String>,
    #[serde(default, deserialize_with = "values")]
    pub workloads: Vec<String>,
    /// Without a run, from the cells of a population of chips: there are no workloads and requests then.
    pub cells: Option<Cells>,
    /// Powered ages after the fill; of cells, of their data.
    #[serde(default = "a_day", deserialize_with = "values")]
    pub age: Vec<String>,
    #[serde(default = "warm", deserialize_with = "values")]
    pub temperature: Vec<String>,
    #[serde(default = "by_kind", deserialize_with = "values")]
    pub pe_cycles: Vec<String>,
    /// Times without power after that.
    #[serde(default = "never", deserialize_with = "values")]
    pub unpowered: Vec<String>,
    /// How long the fill before that lived; `default` is that of the drive, `none` a drive filled for the first time.
    #[serde(default = "of_drive", deserialize_with = "values")]
    pub earlier_fill: Vec<String>,
    /// Share of the capacity that the fill wrote.
    #[serde(default = "whole", deserialize_with = "values")]
    pub fill: Vec<String>,
    /// How they were overwritten after the fill.
    #[serde(default = "not_overwritten", deserialize_with = "values")]
    pub precondition: Vec<String>,
    /// Seeds of the workload: repetitions on the same drive.
    #[serde(default = "one_workload", deserialize_with = "values")]
    pub workload_seed: Vec<String>,
    /// Whether each drive has a load of its own: the seed of its workload is the drive's.
    #[serde(default)]
    pub own_loads: bool,
    /// What the drive holds for its host; `default` is what its variant has.
    #[serde(default = "of_drive", deserialize_with = "values")]
    pub capacity: Vec<String>,
    /// Combinations that are not run: those with all coordinates of one of these; `a|b` for either.
    #[serde(default)]
    pub left_out: Vec<BTreeMap<Dimension, String>>,
    /// What the drive of each point is burnt in by, if it is.
    pub burn_in: Option<BurnIn>,
    /// Requests a point, of runs.
    pub requests: Option<Scale>,
    /// What is asked of the life of each point's drive: there are no requests then.
    pub life: Option<LifeTerms>,
    /// Drives or populations a point, each with chips of its own.
    #[serde(default = "five_drives")]
    pub repetitions: Scale,
    /// Why there are fewer drives than a claim takes.
    pub few_drives: Option<String>,
    /// What `--quick` runs instead, by coordinate.
    #[serde(default)]
    pub quick: BTreeMap<Dimension, Vec<String>>,
    /// How it is drawn; along the coordinate that has several values where it does not say.
    #[serde(default)]
    pub figure: Drawing,
}

/// A burn-in before each point: points that differ in their workload alone share it where it names its own.
#[derive(Deserialize, Clone, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with workload and most_drive_writes"
)]
pub struct BurnIn {
    /// Name of the workload; none for that of the point.
    pub workload: Option<String>,
    /// Capacities of the drive after which it ends, steady or not; as on the command line where it is not given.
    pub most_drive_writes: Option<f64>,
}

/// Lives of the drives of an experiment: what is asked of each. What is left out is as `firstread life` has it.
#[derive(Deserialize, Clone, Copy, Debug)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table with until, wear_rate, warranty, drive_writes_a_day and probe"
)]
pub struct LifeTerms {
    /// When a life ends.
    #[serde(deserialize_with = "parsed")]
    pub until: Until,
    /// Cycles that each simulated erase stands for.
    pub wear_rate: u32,
    /// Over which drive writes a day are stated.
    #[serde(deserialize_with = "parsed")]
    pub warranty: Years,
    /// Of a load that has no times of its own.
    pub drive_writes_a_day: f64,
    /// Requests of each probe of reads; 0 for no probes.
    pub probe: Scale,
}

impl Default for LifeTerms {
    fn default() -> LifeTerms {
        let usual = Terms::default();
        LifeTerms {
            until: usual.until,
            wear_rate: usual.wear_rate,
            warranty: Years(usual.warranty_years),
            drive_writes_a_day: usual.drive_writes_a_day,
            probe: Scale {
                full: usual.probe_requests,
                quick: usual.probe_requests,
            },
        }
    }
}

impl LifeTerms {
    /// The same as a life takes it, in the quick form or the full one.
    pub fn of(&self, quick: bool) -> Terms {
        Terms {
            until: self.until,
            wear_rate: self.wear_rate,
            warranty_years: self.warranty.0,
            drive_writes_a_day: self.drive_writes_a_day,
            probe_requests: self.probe.of(quick),
            probe_job: None,
        }
    }
}

/// Cells that are measured: a population of chips, or a sample of a drive's.
#[derive(Deserialize, Clone, Copy, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with chips and wordlines, or with sample"
)]
pub struct Cells {
    /// Chips of the population.
    #[serde(default)]
    pub chips: u16,
    /// Of a block of each chip, spread over it.
    #[serde(default)]
    pub wordlines: u16,
    /// Pages, reads, draws or wordlines of the drive, as the metric takes them.
    pub sample: Option<Scale>,
    /// Raw bit error rate above which a page of the sample counts as failed; 72/8192 where it is not given.
    pub limit: Option<f64>,
}

impl Cells {
    fn check(&self) -> Result<(), StudyError> {
        let of_chips = self.chips > 0 || self.wordlines > 0;
        let limit = self.limit.unwrap_or(LIMIT);
        match self.sample {
            Some(_) if of_chips => Err(StudyError::ChipsOrSample),
            Some(_) if !(limit > 0.0 && limit < 0.5) => Err(StudyError::ChipsOrSample),
            Some(n) if n.full == 0 || n.quick == 0 => Err(StudyError::NothingToMeasure),
            None if self.limit.is_some() => Err(StudyError::ChipsOrSample),
            None if self.chips == 0 || self.wordlines == 0 => Err(StudyError::NothingToMeasure),
            _ => Ok(()),
        }
    }
}

fn a_day() -> Vec<String> {
    vec!["28h".into()]
}

fn warm() -> Vec<String> {
    vec!["55".into()]
}

/// What [`Experiment::complete`] decides.
fn by_kind() -> Vec<String> {
    vec![String::new()]
}

fn five_drives() -> Scale {
    Scale { full: 5, quick: 1 }
}

fn never() -> Vec<String> {
    vec!["0".into()]
}

fn of_drive() -> Vec<String> {
    vec!["default".into()]
}

fn whole() -> Vec<String> {
    vec!["100%".into()]
}

fn not_overwritten() -> Vec<String> {
    vec!["none".into()]
}

fn one_workload() -> Vec<String> {
    vec!["1".into()]
}

/// For each variant that is drawn, the variant that is compared with it: a point's number is what the second
/// has less than the first (%). Variants that are no key are not drawn.
pub type Reductions = BTreeMap<String, String>;

#[derive(Deserialize, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with metric, value, band and at"
)]
pub struct Published {
    pub metric: String,
    pub value: f64,
    /// Lowest and highest value (%) that counts as the same number, as the claim of it has it.
    pub band: [f64; 2],
    /// Where it is published.
    pub at: String,
}

/// How an experiment is drawn.
#[derive(Deserialize, Debug)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with x and y, say { x = \"age\", y = [\"mean_us\"] }"
)]
pub struct Drawing {
    /// The coordinate along the horizontal axis. Where it is the one that tells series apart, and that is the variant:
    /// the first other one with several values.
    #[serde(default = "by_variant")]
    pub x: Dimension,
    /// The coordinate that tells series apart.
    #[serde(default = "by_variant")]
    pub series: Dimension,
    /// A row of panels each; the mean latency and P99 where it does not say.
    #[serde(default, deserialize_with = "values")]
    pub y: Vec<String>,
    /// Rows of panels for each value of this coordinate, instead of panels side by side.
    pub rows: Option<Dimension>,
    /// A metric along the horizontal axis instead of the coordinate `x`: a marker for each of its values. `time` for the
    /// time of the run: what is lost of the capacity over it, on the first drive.
    pub along: Option<String>,
    /// A metric that a dashed line is drawn at.
    pub line: Option<String>,
    /// What one variant has less than another is drawn, instead of what each has.
    #[serde(default)]
    pub reduction: Reductions,
    /// What is published of that: a shaded area each.
    #[serde(default)]
    pub published: Vec<Published>,
    /// Vertical axes are logarithmic.
    #[serde(default)]
    pub log: bool,
    /// The horizontal axis is: all values of `x` are numbers above zero.
    #[serde(default)]
    pub log_x: bool,
    /// All panels of a metric have the vertical axis of the one that needs most, from zero.
    #[serde(default)]
    pub same_y: bool,
    /// Whether the README of the study shows it.
    #[serde(default)]
    pub in_readme: bool,
    /// A row each value of `x`, the first the one to compare with; a panel side by side each of `y`.
    #[serde(default)]
    pub across: bool,
    /// Of a figure `across`: a bar in each row goes from the value of the row above to its own.
    #[serde(default)]
    pub waterfall: bool,
    /// Of a figure `along`: a marker each drive.
    #[serde(default)]
    pub drives: bool,
}

impl Default for Drawing {
    fn default() -> Drawing {
        Drawing {
            x: by_variant(),
            series: by_variant(),
            y: Vec::new(),
            rows: None,
            along: None,
            line: None,
            reduction: Reductions::new(),
            published: Vec::new(),
            log: false,
            log_x: false,
            same_y: false,
            in_readme: false,
            across: false,
            waterfall: false,
            drives: false,
        }
    }
}

impl Drawing {
    /// Whether it shows the capacity lost over the time of a run.
    pub fn is_over_time(&self) -> bool {
        self.along.as_deref() == Some("time")
    }
}

fn by_variant() -> Dimension {
    Dimension::Variant
}

/// The workload of cells, which have none.
static NO_WORKLOAD: [String; 1] = [String::new()];

impl Experiment {
    /// Where its numbers come from.
    pub fn source(&self) -> Source {
        match (self.cells, &self.life) {
            (Some(cells), _) if cells.sample.is_some() => Source::Samples,
            (Some(_), _) => Source::Margins,
            (None, Some(_)) => Source::Lives,
            (None, None) => Source::Runs,
        }
    }

    /// A coordinate on an axis or in a heading.
    pub fn label(&self, dimension: Dimension) -> &'static str {
        match (dimension, self.cells) {
            (Dimension::Age, Some(_)) => "Age of data",
            _ => dimension.label(),
        }
    }

    /// The values of a coordinate, in the quick form or the full one.
    pub fn values(&self, dimension: Dimension, quick: bool) -> &[String] {
        if dimension == Dimension::Workload && self.cells.is_some() {
            return &NO_WORKLOAD;
        }
        if let (true, Some(values)) = (quick, self.quick.get(&dimension)) {
            return values;
        }
        match dimension {
            Dimension::Variant => &self.variants,
            Dimension::Workload => &self.workloads,
            Dimension::Age => &self.age,
            Dimension::Temperature => &self.temperature,
            Dimension::PeCycles => &self.pe_cycles,
            Dimension::Unpowered => &self.unpowered,
            Dimension::EarlierFill => &self.earlier_fill,
            Dimension::Fill => &self.fill,
            Dimension::Precondition => &self.precondition,
            Dimension::WorkloadSeed => &self.workload_seed,
            Dimension::Capacity => &self.capacity,
        }
    }
}

impl Experiment {
    /// Decides what its figure leaves out.
    fn complete(&mut self) {
        if self.title.is_empty() {
            self.title.clone_from(&self.id);
        }
        if self.pe_cycles == by_kind() {
            self.pe_cycles = match self.life {
                Some(_) => vec!["0".into()],
                None => vec!["300".into()],
            };
        }
        let by = Dimension::Variant;
        if (self.figure.x, self.figure.series) == (by, by) {
            let differ = |d: &Dimension| *d != by && self.values(*d, false).len() > 1;
            let first = Dimension::ALL.into_iter().find(differ);
            self.figure.x = first.unwrap_or(Dimension::Age);
        }
        if self.figure.y.is_empty() {
            let y: &[&str] = match self.source() {
                Source::Runs => &["mean_us", "p99_us"],
                Source::Lives => &["tbw_tb", "end_pe_mean"],
                Source::Margins | Source::Pairs => &["rare_codeword_bits"],
                Source::Samples => &["default_fail_percent"],
            };
            self.figure.y = y.iter().map(|name| (*name).to_owned()).collect();
        }
    }
}

impl Study {
    /// Decides what the study called `name` leaves out.
    pub(super) fn complete(&mut self, name: &str) {
        if self.title.is_empty() {
            name.clone_into(&mut self.title);
        }
        let library = Library::new();
        for experiment in &mut self.experiments {
            experiment.complete();
            for name in &experiment.variants {
                if !self.variants.contains_key(name) && library.has(Kind::Drive, name) {
                    let shipped = Variant {
                        drive: name.clone(),
                        schemes: Vec::new(),
                        set: Vec::new(),
                    };
                    self.variants.insert(name.clone(), shipped);
                }
            }
            for name in &experiment.workloads {
                let job = Example::find(name).map(|example| example.text.to_owned());
                let stand_in = StandIn::find(name).ok().map(|row| row.name.to_owned());
                if !self.workloads.contains_key(name) && (job.is_some() || stand_in.is_some()) {
                    let load = Load {
                        stand_in: stand_in.filter(|_| job.is_none()),
                        job,
                        ..Load::default()
                    };
                    self.workloads.insert(name.clone(), load);
                }
            }
        }
        self.complete_variants();
    }

    /// Gives every variant what the study has for all.
    fn complete_variants(&mut self) {
        let axis = |scheme: &String| scheme.split('=').next().map(str::to_owned);
        for variant in self.variants.values_mut() {
            let own: Vec<_> = variant.schemes.iter().map(axis).collect();
            let common = self.schemes.iter().filter(|s| !own.contains(&axis(s)));
            variant.schemes.splice(0..0, common.cloned());
            variant.set.splice(0..0, self.set.iter().cloned());
        }
    }

    /// That what is measured means something.
    pub(super) fn check_measured(&self) -> Result<(), Error> {
        let mut ids: Vec<&str> = Vec::new();
        for e in &self.experiments {
            once(&mut ids, &e.id, "experiment")?;
            let place = format!("experiment `{}`", e.id);
            let checks = [
                Study::check_names,
                Study::check_source,
                Study::check_figure,
                Study::check_scale,
            ];
            for check in checks {
                check(self, e).map_err(|error| Error::from(error).of(&place))?;
            }
        }
        for correlation in &self.correlations {
            once(&mut ids, &correlation.id, "experiment")?;
            let place = format!("correlation `{}`", correlation.id);
            self.check_correlation(correlation)
                .map_err(|error| Error::from(error).of(place))?;
        }
        Ok(())
    }

    /// That the names in an experiment mean something.
    fn check_names(&self, e: &Experiment) -> Result<(), StudyError> {
        for (dimension, known) in [
            (Dimension::Variant, names(&self.variants)),
            (Dimension::Workload, names(&self.workloads)),
        ] {
            if dimension == Dimension::Workload && e.cells.is_some() {
                continue;
            }
            for quick in [false, true] {
                for name in e.values(dimension, quick) {
                    known_name(dimension.name(), name, &known)?;
                }
            }
        }
        if let Some(name) = e.burn_in.as_ref().and_then(|b| b.workload.as_ref()) {
            known_name("workload", name, &names(&self.workloads))?;
        }
        let most = e.burn_in.as_ref().and_then(|b| b.most_drive_writes);
        if most.is_some_and(|most| !(most > 0.0 && most <= 1e6)) {
            return Err(StudyError::BurnInLimit);
        }
        for (dimension, text) in e.left_out.iter().flatten() {
            let all = e.values(*dimension, false);
            let mut values = text.split('|');
            if let Some(value) = values.find(|value| !all.iter().any(|v| v == value)) {
                return Err(StudyError::NoValue {
                    experiment: e.id.clone(),
                    dimension: dimension.name(),
                    value: value.to_owned(),
                    form: "full",
                    values: all.to_vec(),
                });
            }
        }
        for dimension in Dimension::ALL {
            let all = e.values(dimension, false);
            let mut quick = e.values(dimension, true).iter();
            if let Some(name) = quick.find(|name| !all.contains(name)) {
                return Err(StudyError::QuickAlone(name.clone()));
            }
        }
        Ok(())
    }

    /// That an experiment can be drawn.
    fn check_figure(&self, e: &Experiment) -> Result<(), StudyError> {
        let figure = &e.figure;
        let along = figure.along.as_ref().filter(|_| !figure.is_over_time());
        for metric in figure.y.iter().chain(&figure.line).chain(along) {
            Metric::find(metric, e.source())?;
        }
        if figure.is_over_time() && (figure.y != ["capacity_lost_mib"] || figure.log) {
            return Err(StudyError::OverTime);
        }
        figure.check_reductions(&e.variants)?;
        let (x, series) = (figure.x, figure.series);
        if x == series || [Some(x), Some(series)].contains(&figure.rows) {
            return Err(StudyError::SameRoles);
        }
        let has_any = figure.rows.is_some() || figure.line.is_some();
        if figure.across && (has_any || figure.log_x || figure.same_y) {
            return Err(StudyError::Across);
        }
        let has_more = figure.across || has_any || figure.same_y || !figure.reduction.is_empty();
        if figure.waterfall && !figure.across {
            return Err(StudyError::Alone("waterfall", "across"));
        }
        if figure.drives && along.is_none() {
            return Err(StudyError::Alone("drives", "along"));
        }
        if figure.along.is_some() && (has_more || figure.log_x) {
            return Err(StudyError::Along);
        }
        if figure.log && figure.same_y {
            return Err(StudyError::LogZero);
        }
        let no_place = |text: &&String| !x.number(text).is_some_and(|n| n > 0.0 && n.is_finite());
        match e.values(x, false).iter().find(no_place) {
            Some(value) if figure.log_x => Err(StudyError::NoPlace {
                dimension: x.name(),
                value: value.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// That an experiment has something to run.
    fn check_scale(&self, e: &Experiment) -> Result<(), StudyError> {
        let nowhere = |d| [false, true].iter().any(|&q| e.values(d, q).is_empty());
        if let Some(d) = Dimension::ALL.into_iter().find(|&d| nowhere(d)) {
            return Err(StudyError::No(d.name()));
        }
        let scales = [Some(e.repetitions), e.requests];
        match (scales.iter().flatten()).any(|s| s.full == 0 || s.quick == 0) {
            true => Err(StudyError::NothingToRun),
            false => Ok(()),
        }
    }

    fn check_correlation(&self, correlation: &Correlation) -> Result<(), StudyError> {
        known_name("variant", &correlation.variant, &names(&self.variants))?;
        match correlation.blocks == 0 || correlation.wordlines == 0 || correlation.drives == 0 {
            true => Err(StudyError::NothingToMeasure),
            false => Ok(()),
        }
    }

    /// Gives each experiment `drives` drives, unless it says why it has few.
    pub fn over_drives(&mut self, drives: u16) {
        let drives = u64::from(drives);
        for experiment in &mut self.experiments {
            if experiment.few_drives.is_none() {
                experiment.repetitions = Scale {
                    full: drives,
                    quick: drives,
                };
            }
        }
    }

    /// Names of all that can be measured by itself.
    pub fn ids(&self) -> Vec<&str> {
        let correlations = self.correlations.iter().map(|c| c.id.as_str());
        let experiments = self.experiments.iter().map(|e| e.id.as_str());
        correlations.chain(experiments).collect()
    }

    /// Names of what is measured from the cells alone.
    pub fn of_cells(&self) -> impl Iterator<Item = &str> {
        let of_cells = self.experiments.iter().filter(|e| e.cells.is_some());
        let correlations = self.correlations.iter().map(|c| c.id.as_str());
        correlations.chain(of_cells.map(|e| e.id.as_str()))
    }

    /// That an experiment says what its numbers come from.
    fn check_source(&self, e: &Experiment) -> Result<(), StudyError> {
        if e.own_loads && e.workload_seed != one_workload() {
            return Err(StudyError::OwnLoads(e.workload_seed.clone()));
        }
        match (e.cells, e.workloads.is_empty(), e.requests, &e.life) {
            (None, false, Some(_), None) => Ok(()),
            (None, false, None, Some(life)) => {
                let plain = (&never(), &of_drive(), &not_overwritten());
                if (&e.unpowered, &e.earlier_fill, &e.precondition) != plain || e.burn_in.is_some()
                {
                    return Err(StudyError::OfRunsNotLives);
                }
                match life.drive_writes_a_day > 0.0 && life.drive_writes_a_day <= 1e4 {
                    true => Ok(()),
                    false => Err(StudyError::DriveWritesADay),
                }
            }
            (Some(cells), true, None, None) => {
                cells.check()?;
                if e.quick.contains_key(&Dimension::Workload) {
                    return Err(StudyError::QuickWorkload);
                }
                let plain = (&never(), &not_overwritten(), &one_workload());
                let is_plain = (&e.unpowered, &e.precondition, &e.workload_seed) == plain
                    && (&e.earlier_fill, &e.fill, &e.capacity)
                        == (&of_drive(), &whole(), &of_drive())
                    && !e.own_loads;
                match is_plain && e.burn_in.is_none() {
                    true => Ok(()),
                    false => Err(StudyError::OfRunsAlone),
                }
            }
            _ => Err(StudyError::RunsOrCells),
        }
    }

    /// Metrics that figure or claims take from the points of `experiment`.
    pub(super) fn metrics_of<'a>(&'a self, experiment: &'a Experiment) -> Vec<&'a str> {
        let figure = &experiment.figure;
        let drawn = figure.y.iter().chain(&figure.line).chain(&figure.along);
        let claims = self.claims.iter().flat_map(|claim| {
            let open = claim
                .open
                .as_ref()
                .and_then(|open| open.experiment.as_ref());
            let is_of = move |from: &&FromPoints| {
                [Some(&from.experiment), open].contains(&Some(&experiment.id))
            };
            claim.all_points().filter(is_of)
        });
        let claimed = claims.flat_map(FromPoints::metrics);
        drawn.chain(claimed).map(String::as_str).collect()
    }

    /// Where the numbers of a claim come from.
    pub fn source(&self, from: &FromPoints) -> Source {
        let experiment = self.experiments.iter().find(|e| e.id == from.experiment);
        experiment.map_or(Source::Pairs, Experiment::source)
    }
}

pub(super) fn names<T>(map: &BTreeMap<String, T>) -> Vec<&str> {
    map.keys().map(String::as_str).collect()
}

pub(super) fn known_name(what: &'static str, name: &str, known: &[&str]) -> Result<(), StudyError> {
    match known.contains(&name) {
        true => Ok(()),
        false => Err(StudyError::no_such(what, name, known.iter().copied())),
    }
}

pub(super) fn once<'a>(
    seen: &mut Vec<&'a str>,
    id: &'a str,
    what: &'static str,
) -> Result<(), StudyError> {
    if seen.contains(&id) {
        let id = id.to_owned();
        return Err(StudyError::Twice { what, id });
    }
    seen.push(id);
    Ok(())
}
