//! Many runs that differ in what is given several values: one table, one CSV, one picture.
//!
//! - [`combination`]: what was asked for, and the rows. [`table`]: the table, and the same as data. [`picture`]: percentiles
//!   against what varies.

mod combination;
mod picture;
mod table;

use anyhow::Result;
use firstread_session::{Kept, Point, Profiles, Varied};
use serde_json::Value;

use crate::accept;
use crate::page::Section;
use crate::runs::{self, Kind, Plan, Ran, Report, Row, View};
pub use combination::Asked;
use combination::{Combination, Rows};

/// Runs what is asked for.
pub fn run(asked: &Asked<'_>) -> Result<()> {
    runs::several(&plan(asked)?, asked)
}

fn plan<'a>(asked: &Asked<'a>) -> Result<Plan<'a>> {
    let varied = &asked.sweep.varied;
    let mut profiles = Profiles::default();
    let one = |(values, simulation): (Vec<String>, firstread_session::Simulation)| {
        let named = varied.iter().zip(&values);
        let label: Vec<String> = named
            .map(|((v, _), value)| format!("{}={value}", v.name()))
            .collect();
        let label = label.join(" ");
        Ok(runs::Combination {
            setup: simulation
                .setup_among(&mut profiles)
                .map_err(|error| error.of(&label))?,
            label,
            values,
            life: None,
        })
    };
    let all = asked.sweep.simulations(&asked.base)?;
    let axis: Vec<String> = varied.iter().map(|(v, _)| v.column()).collect();
    Ok(Plan::new(
        Kind::Matrix,
        Some(axis.join(",")),
        all.into_iter().map(one).collect::<Result<_>>()?,
        &asked.seeds,
        asked.threads,
        asked.output.output(),
    ))
}

impl View for Asked<'_> {
    fn report<'a>(&self, ran: &'a Ran<'_>) -> Result<Report<'a>> {
        let rows = ran.combinations().flat_map(|(combination, runs)| {
            let row =
                |(point, kept): (&'a Point, &'a Kept)| self.row(&combination.values, point, kept);
            runs.into_iter().map(row).collect::<Vec<_>>()
        });
        let rows: Vec<Row<'a>> = rows.collect();
        let table = Rows {
            asked: self,
            combinations: gather(ran),
        };
        let shown = table::of(&table);
        Ok(Report {
            text: table::report(&table, &shown),
            headline: table::headline(&table).into_iter().collect(),
            files: vec![("matrix.csv".into(), table::csv(&table)?)],
            sections: vec![Section::table("All combinations", shown.rows)],
            figure: picture::draw(&table),
            acceptance: accept::of_points(ran.each(), self.accept)?,
            rows,
            ..Report::default()
        })
    }
}

impl Asked<'_> {
    /// The run of `point`, whose combination has `values`, in the list of results.
    fn row<'a>(&self, values: &[String], point: &'a Point, kept: &'a Kept) -> Row<'a> {
        let named = || self.sweep.varied.iter().zip(values);
        let schemes = named().filter(|((v, _), _)| matches!(v, Varied::Scheme(_)));
        let schemes: Vec<&str> = schemes.map(|(_, value)| value.as_str()).collect();
        let at = named().map(|((varied, _), value)| {
            let cell = varied.cell(value);
            let number = cell.parse::<f64>().ok().map(Value::from);
            (varied.column(), number.unwrap_or(cell.into()))
        });
        Row {
            scheme: (!schemes.is_empty()).then(|| schemes.join(",")),
            at: at.collect(),
            setup: &point.setup,
            kept,
        }
    }
}

/// The rows of the table: a combination for each group of jobs.
fn gather(ran: &Ran<'_>) -> Vec<Combination> {
    let one = |(combination, runs): (&runs::Combination, Vec<(&Point, &Kept)>)| {
        let runs = runs
            .into_iter()
            .map(|(point, kept)| (point.setup.clone(), kept.clone()));
        Combination {
            values: combination.values.clone(),
            jobs: None,
            runs: runs.collect(),
        }
    };
    ran.combinations()
        .map(one)
        .flat_map(Combination::by_group)
        .collect()
}

#[cfg(test)]
mod tests;
