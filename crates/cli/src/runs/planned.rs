//! `--plan`: what would be run is written down, a file a point, for other processes and machines.

use std::path::Path;

use anyhow::Result;
use firstread_session::{Point, Store, planned};

use crate::args::Usage;
use crate::output::format::count;
use crate::streams::{data, notice, quoted};

/// Writes those of `points` into the plan `folder` that have no result in `store`, which is the folder `out` where one is
/// given. `many` is what points are called.
pub fn write(
    folder: &Path,
    out: Option<&Path>,
    points: &[Point],
    store: &Store,
    many: &str,
) -> Result<()> {
    if out.is_some_and(|out| out == folder) {
        let why = "--plan and --out name one folder: a plan and results have their own";
        return Err(Usage(why.into()).into());
    }
    let command = without_plan(std::env::args().collect());
    let written = planned::write(folder, points, store, &command)?;
    if written.found > 0 {
        let all = written.found + written.points;
        let (found, all) = (count(written.found as u64), count(all as u64));
        notice(&format!("{found} of {all} {many} were there already"));
    }
    if written.unknown_cost > 0 {
        let unknown = count(written.unknown_cost as u64);
        notice(&format!(
            "the cost of {unknown} {many} is not known before they run: --limit says how long they are"
        ));
    }
    let plan = quoted(&folder.display().to_string());
    let planned = count(written.points as u64);
    let mut finish: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    let (results, asks) = match out {
        Some(out) => (quoted(&out.display().to_string()), ""),
        None => ("DIR".to_owned(), " --out DIR"),
    };
    // What stands behind `--` is fio's.
    let end = finish.iter().position(|word| word == "--");
    if !asks.is_empty() {
        finish.insert(end.unwrap_or(finish.len()), asks.trim().to_owned());
    }
    data(&format!(
        "{planned} {many} are planned in {plan}\n\
         run them:  firstread point {plan} --out {results}   (on as many machines as there are: docs/many-machines.md)\n\
         finish:    {}\n",
        finish.join(" ")
    ))
}

/// The words of a command without `--plan`.
fn without_plan(words: Vec<String>) -> Vec<String> {
    let mut without = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" => {
                without.push(word);
                without.extend(words);
                break;
            }
            "--plan" => drop(words.next()),
            word if word.starts_with("--plan=") => {}
            _ => without.push(word),
        }
    }
    without
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_a_command_without_its_plan() {
        let of = |line: &str| without_plan(line.split(' ').map(str::to_owned).collect()).join(" ");
        assert_eq!(of("f run a --plan p --out o"), "f run a --out o");
        assert_eq!(of("f run --plan=p -- --plan q"), "f run -- --plan q");
    }
}
