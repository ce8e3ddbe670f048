//! Which published rows hold together: one chip, drawn again and again from the ranges that its evidence leaves, has
//! to make all of them at once.
//!
//! - [`spec`]: a plan as it is written (`tension.toml` beside the study). `read` refuses those that mean nothing.
//! - [`draw`]: a low-discrepancy sequence over the knobs.
//! - [`cases`]: the cases of each row: its figure's free conditions, crossed with the switches that touch it.
//! - [`screen`]: what the cells alone rule out. [`points`]: simulations of what is left.
//! - [`rule`]: when a row holds: the band meets the interval of one new drive.
//! - [`table`]: draw × row, pairs that never hold together, which switch flips a row and which knob moves it.

pub mod cases;
pub mod draw;
pub mod points;
mod read;
pub mod rule;
pub mod run;
pub mod screen;
pub mod spec;
pub mod table;

use std::path::Path;

use crate::error::Error;
use crate::files;

use super::Named;
use super::error::StudyError;
use spec::Plan;

/// Plans of shipped studies: name and text.
pub const PLANS: &[(&str, &str)] = &[(
    "ct-qlc",
    include_str!(concat!(env!("FIRSTREAD_STUDIES"), "/ct-qlc/tension.toml")),
)];

/// The plan of `named`: shipped with it, or in `tension.toml` beside its file.
///
/// # Errors
/// [`Error`] where there is none, or it is wrong.
pub fn find(named: &Named) -> Result<Plan, Error> {
    if let Some((name, text)) = PLANS.iter().find(|(name, _)| *name == named.given) {
        let label = format!("studies/{name}/tension.toml");
        return Plan::parse(&label, text, &named.study);
    }
    let beside = Path::new(&named.given).with_file_name("tension.toml");
    match named.given != named.name && files::is_file(&beside) {
        true => {
            let text = files::read_text(&beside)?;
            Plan::parse(&beside.display().to_string(), &text, &named.study)
        }
        false => {
            let of: Vec<&str> = PLANS.iter().map(|(name, _)| *name).collect();
            Err(StudyError::NoPlan(named.given.clone(), of.join(", ")).into())
        }
    }
}
