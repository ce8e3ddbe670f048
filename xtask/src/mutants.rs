//! `cargo xtask mutants`: deliberate faults, one at a time, and whether a test fails.
//!
//! cargo-mutants lists the faults (an operator changed, a body replaced by a constant). All that are drawn are
//! compiled at once into a copy of the committed state, in `target/mutants`, each behind a switch
//! (`switches.rs`): so a fault costs a run of the tests and no build, and only of the tests that come by it (`reach.rs`). The few that do not compile behind a switch are
//! compiled alone. Each mutant is judged by the unit tests of its own folder first, if these pass by all of
//! its crate, and if these pass by those of the whole drive. What was judged of the same commit is not judged
//! again. The score is written into `docs/mutants.md`; `docs/mutants-no-fault.txt` says of which mutants have been
//! found, by review, to change nothing that counts.

mod reach;
mod report;
mod switches;
mod tests_run;
mod verdict;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use firstread_core::{Permutation, Stream};

use self::report::{Draw, Score, by_file, document};
use self::verdict::{Judges, Mutant};
use self::work::Work;
use crate::commands::answer;

const DOCUMENT: &str = "docs/mutants.md";
/// After this the document is written by hand.
const BY_HAND: &str = "<!-- by hand from here on -->\n";
/// After this the document has the score of the same draw after tests were written for it.
const AFTER: &str = "<!-- after the tests written for this draw -->\n";
const NO_FAULT: &str = "docs/mutants-no-fault.txt";

/// Options of the command.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Mutants to judge, drawn at random; all if not given
    #[arg(long, value_name = "N")]
    sample: Option<u64>,
    /// Seed of the draw: the same seed and commit give the same mutants in the same order
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Start no further mutant after this many hours
    #[arg(long)]
    hours: Option<f64>,
    /// Whose tests judge: the unit tests of the mutant's folder, those of its crate, all of the crate, these and the digests of
    /// completions, or these and all of the whole drive. What a run let pass, another goes on with
    #[arg(long, value_enum, default_value = "drive")]
    by: Judges,
    /// Mutants judged at the same time
    #[arg(long, default_value_t = 1, value_name = "N")]
    jobs: usize,
    /// Only mutants whose name contains this; nothing is written
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Print the names of the drawn mutants in order, without judging them
    #[arg(long)]
    list: bool,
    /// Tests were written for this draw since its score: keep that score, and write this one beside it
    #[arg(long)]
    after: bool,
}

/// Judges mutants and writes the score.
pub fn run(options: &Options) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let version = answer(Command::new("cargo").args(["mutants", "--version"])).map_err(|e| {
        format!("cargo-mutants is missing: cargo install cargo-mutants --locked\n{e}")
    })?;
    let mut work = Work::prepare(&root)?;
    let all = work.list()?;
    let drawn = draw(all.clone(), options);
    if drawn.is_empty() {
        return Err(format!("{}: no mutant is there", work::FOLDERS.join(", ")));
    }
    if options.list {
        drawn.iter().for_each(|m| println!("{}", m.name));
        return Ok(());
    }
    println!(
        "{version}; {} mutants in {} files, {} of them drawn with seed {}",
        all.len(),
        by_file(all.iter().map(|m| (m, ()))).len(),
        drawn.len(),
        options.seed
    );
    let known = work.known()?;
    let is_judged = |verdict: &verdict::Verdict| verdict.passed().is_none_or(|by| by >= options.by);
    let is_open = |m: &Mutant| !known.get(&m.name).is_some_and(is_judged);
    // Numbers are those of the draw, so that a run that goes on has nothing to compile.
    let open: Vec<(u32, Mutant)> = (1..)
        .zip(drawn.iter().cloned())
        .filter(|(_, m)| is_open(m))
        .collect();
    let start = Instant::now();
    // No hours: what is known is written.
    let alone = match open.is_empty() || options.hours == Some(0.0) {
        true => BTreeSet::new(),
        false => work.switch(&drawn, options.by)?,
    };
    // Those that are compiled alone come last: they take a build each.
    let (first, last): (Vec<_>, Vec<_>) = open
        .iter()
        .map(|(number, mutant)| (*number, mutant))
        .partition(|(number, _)| !alone.contains(number));
    let known = Mutex::new(known);
    let judge = |number: u32, mutant: &Mutant| -> Result<(), String> {
        let lock = || known.lock().map_err(|_| "a thread has failed".to_owned());
        if options
            .hours
            .is_some_and(|h| start.elapsed().as_secs_f64() > h * 3600.0)
        {
            return Ok(());
        }
        let passed = lock()?.get(&mutant.name).and_then(|known| known.passed());
        let number = (!alone.contains(&number)).then_some(number);
        let (verdict, by) = work.judge(mutant, number, passed, options.by)?;
        let mut known = lock()?;
        work.remember(mutant, verdict)?;
        known.insert(mutant.name.clone(), verdict);
        println!(
            "{:>6.0} s  {:>26}  {}  {by}",
            start.elapsed().as_secs_f64(),
            verdict.text(),
            mutant.name
        );
        Ok(())
    };
    let next = AtomicUsize::new(0);
    let worker = || -> Result<(), String> {
        while let Some((number, mutant)) = first.get(next.fetch_add(1, Ordering::Relaxed)) {
            judge(*number, mutant)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .try_for_each(|w| w.join().unwrap_or(Err("a thread has failed".into())))
    })?;
    last.iter()
        .try_for_each(|(number, mutant)| judge(*number, mutant))?;
    let known = known.into_inner().map_err(|_| "a thread has failed")?;
    let judged: Vec<_> = drawn
        .iter()
        .filter_map(|m| Some((m.clone(), *known.get(&m.name)?)))
        .collect();
    let no_fault = no_faults(&root)?;
    let score = Score::of(&judged, &no_fault);
    println!("{}", score.sentence());
    if options.only.is_none() {
        let draw = Draw {
            commit: &work.commit,
            version: &version,
            seed: options.seed,
            of: all.len(),
            by: options.by,
        };
        write(
            &root,
            &document(&draw, options.after, &judged, &no_fault),
            options.after,
        )?;
    }
    Ok(())
}

/// Writes the score: `text` in place of the whole document but what a person wrote, or, `after` tests were written, of
/// the part that is for it.
fn write(root: &Path, text: &str, after: bool) -> Result<(), String> {
    let path = root.join(DOCUMENT);
    let old = fs::read_to_string(&path).unwrap_or_default();
    let (made, by_hand) = old.split_once(BY_HAND).unwrap_or((&old, ""));
    let text = match after {
        true => {
            let before = made.split_once(AFTER).map_or(made, |(before, _)| before);
            format!("{}\n\n{AFTER}\n{text}", before.trim_end())
        }
        false => text.to_owned(),
    };
    let text = format!("{text}\n{BY_HAND}{by_hand}");
    fs::write(&path, text).map_err(|e| format!("{DOCUMENT}: {e}"))?;
    println!("wrote {DOCUMENT}");
    Ok(())
}

/// The mutants to be judged, in random order.
fn draw(mut all: Vec<Mutant>, options: &Options) -> Vec<Mutant> {
    if let Some(only) = &options.only {
        all.retain(|m| m.name.contains(only.as_str()));
    }
    let n = all.len() as u64;
    if n == 0 {
        return all;
    }
    let order = Permutation::new(n, Stream::new(options.seed).named("mutants"));
    let drawn = (0..options.sample.unwrap_or(n).min(n)).map(|i| all[order.at(i) as usize].clone());
    drawn.collect()
}

/// Mutants found, by review, to change nothing that counts: place and reason.
fn no_faults(root: &Path) -> Result<BTreeMap<String, String>, String> {
    let text = fs::read_to_string(root.join(NO_FAULT)).map_err(|e| format!("{NO_FAULT}: {e}"))?;
    let mut found = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (place, why) = line
            .split_once(" | ")
            .ok_or_else(|| format!("{NO_FAULT}:{}: expected `mutant | reason`", number + 1))?;
        found.insert(place.to_owned(), why.to_owned());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::verdict::mutant;
    use super::*;

    #[test]
    fn sequence_a_draw_follows_from_its_seed_and_names_a_mutant_once() {
        let all: Vec<_> = (0..100).map(|i| mutant(&format!("f:{i}:1: x"))).collect();
        let options = |seed, sample| Options {
            sample,
            seed,
            hours: None,
            by: Judges::Drive,
            only: None,
            list: false,
            after: false,
            jobs: 1,
        };
        let names = |seed, sample| -> Vec<String> {
            let drawn = draw(all.clone(), &options(seed, sample));
            drawn.into_iter().map(|m| m.name).collect()
        };
        assert_eq!(names(1, Some(10))[..], names(1, Some(20))[..10]);
        assert_ne!(names(1, Some(10)), names(2, Some(10)));
        let mut whole = names(3, None);
        whole.sort();
        whole.dedup();
        assert_eq!(whole.len(), 100);
    }
}
