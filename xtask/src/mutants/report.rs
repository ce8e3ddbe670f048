//! The score of judged mutants, and the document of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use firstread_ecc::measure::wilson;

use super::verdict::{Judges, Mutant, Verdict};

/// The share of viable mutants that tests are to catch.
const AIM: f64 = 0.9;

/// Counts of verdicts.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Score {
    viable: u32,
    caught: u32,
    timeouts: u32,
    missed: u32,
    no_fault: u32,
    unviable: u32,
}

impl Score {
    pub(super) fn of(judged: &[(Mutant, Verdict)], no_fault: &BTreeMap<String, String>) -> Score {
        let mut score = Score::default();
        for (mutant, verdict) in judged {
            match verdict {
                Verdict::Unviable => score.unviable += 1,
                Verdict::Caught | Verdict::CaughtByDrive => score.caught += 1,
                Verdict::Timeout => score.timeouts += 1,
                _ if no_fault.contains_key(&mutant.place()) => score.no_fault += 1,
                _ => score.missed += 1,
            }
        }
        score.viable = score.caught + score.timeouts + score.missed;
        score
    }
    /// The share of viable mutants that tests notice, with its 95 % interval.
    fn share(&self) -> Option<(f64, f64, f64)> {
        let noticed = self.caught + self.timeouts;
        let (low, high) = (self.viable > 0).then(|| wilson(noticed, self.viable, 1.96))?;
        Some((f64::from(noticed) / f64::from(self.viable), low, high))
    }
    pub(super) fn sentence(&self) -> String {
        let Some((share, low, high)) = self.share() else {
            return "no viable mutant was judged".into();
        };
        format!(
            "{} of {} viable mutants noticed: {:.0} % (95 % interval of a share: {:.0} … {:.0} %; aim {:.0} %)",
            self.caught + self.timeouts,
            self.viable,
            100.0 * share,
            100.0 * low,
            100.0 * high,
            100.0 * AIM
        )
    }
}

pub(super) fn by_file<'a, T>(
    rows: impl Iterator<Item = (&'a Mutant, T)>,
) -> BTreeMap<&'a str, Vec<(&'a Mutant, T)>> {
    let mut files: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (mutant, row) in rows {
        files.entry(&mutant.file).or_default().push((mutant, row));
    }
    files
}

/// How a sample was drawn and judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw<'a> {
    pub(super) commit: &'a str,
    pub(super) version: &'a str,
    pub(super) seed: u64,
    /// All mutants that there are.
    pub(super) of: usize,
    pub(super) by: Judges,
}

impl Draw<'_> {
    /// What was judged, and the command.
    fn text(&self, judged: usize, after: bool) -> String {
        let Draw {
            commit,
            version,
            seed,
            of,
            by,
        } = self;
        let (sample, option) = match judged == *of {
            true => (format!("all {of} mutants"), String::new()),
            false => (
                format!("a random sample of {judged} of {of} mutants, drawn with seed {seed}"),
                format!(" --sample {judged} --seed {seed}"),
            ),
        };
        let after = if after { " --after" } else { "" };
        format!(
            "Judged at commit {commit} with {version}: {sample}\n(`cargo xtask mutants{option} --by {}{after}`).\n",
            by.text()
        )
    }
}

/// The document of a score, or, `after` tests were written for its draw, the part of it that says how many of the
/// draw are noticed then.
pub(super) fn document(
    draw: &Draw,
    after: bool,
    judged: &[(Mutant, Verdict)],
    no_fault: &BTreeMap<String, String>,
) -> String {
    let score = Score::of(judged, no_fault);
    let which = draw.text(judged.len(), after);
    let mut text = String::new();
    if after {
        let _ = writeln!(
            text,
            "## After the tests written for this draw\n\n\
             The score above is of tests that nobody wrote for these mutants. This one is of the same mutants after tests\n\
             were written for those that had passed; a fresh draw would not be noticed as often.\n\n\
             {which}\n**{}.**",
            score.sentence()
        );
        text += &missed_rows(judged, no_fault);
        return text;
    }
    text += "# Deliberate faults, and the tests that notice them\n\n\
             Written by `cargo xtask mutants`. A *mutant* is the code with one small fault: an operator\n\
             changed, a body replaced by a constant. A mutant that all tests let pass is a missing test, or changes\n\
             nothing that counts. Each is judged by the unit tests of its folder, then by its crate's, then by those of the\n\
             whole drive. No test had been written for the mutants of this draw.\n\n";
    let _ = writeln!(text, "{which}\n**{}.**\n", score.sentence());
    let by_drive = judged
        .iter()
        .filter(|(_, v)| *v == Verdict::CaughtByDrive)
        .count();
    if by_drive > 0 {
        let _ = writeln!(
            text,
            "Of those noticed, {by_drive} passed the tests of their crate and were noticed by the whole drive.\n"
        );
    }
    for (missed, others) in [
        (
            Verdict::MissedByFolder,
            "the unit tests of other folders, those in `tests` and those of the whole drive",
        ),
        (
            Verdict::MissedByUnit,
            "the other tests of their crates and those of the whole drive",
        ),
        (
            Verdict::MissedByCrate,
            "the digests of completions and the tests of the whole drive",
        ),
        (
            Verdict::MissedByDigests,
            "the other tests of the whole drive",
        ),
    ] {
        let count = judged.iter().filter(|(_, v)| *v == missed).count();
        if count > 0 {
            let _ = writeln!(
                text,
                "Of {count} mutants missed, {others} were not asked.\n"
            );
        }
    }
    text += "Timeouts are noticed: a test no longer ends. Mutants that do not compile are not viable; those that change\n\
             nothing that counts are left out of the share.\n\n\
             | file | viable | caught | timeout | missed | no fault | unviable |\n|---|--:|--:|--:|--:|--:|--:|\n";
    for (file, rows) in by_file(judged.iter().map(|(m, v)| (m, *v))) {
        let rows: Vec<_> = rows.into_iter().map(|(m, v)| (m.clone(), v)).collect();
        let s = Score::of(&rows, no_fault);
        let _ = writeln!(
            text,
            "| {file} | {} | {} | {} | {} | {} | {} |",
            s.viable, s.caught, s.timeouts, s.missed, s.no_fault, s.unviable
        );
    }
    text + &missed_rows(judged, no_fault)
}

/// The table of mutants that no test noticed.
fn missed_rows(judged: &[(Mutant, Verdict)], no_fault: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    let missed: Vec<_> = judged
        .iter()
        .filter(|(_, verdict)| verdict.is_missed())
        .collect();
    if !missed.is_empty() {
        text += "\nMutants that no test noticed:\n\n| mutant | why |\n|---|---|\n";
        for (mutant, _) in missed {
            let why = no_fault.get(&mutant.place()).map_or("open", String::as_str);
            let _ = writeln!(
                text,
                "| `{}` | {} |",
                mutant.name.replace('|', "\\|"),
                why.replace('|', "\\|")
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::verdict::mutant;
    use super::*;

    #[test]
    fn formula_score_leaves_out_what_is_no_fault() {
        let name = |line: u32| format!("crates/a/src/b.rs:{line}:7: replace > with >= in B::c");
        let kept = BTreeMap::from([(
            "crates/a/src/b.rs: replace < with <= in B::d".to_owned(),
            "why".to_owned(),
        )]);
        let judged = [
            (mutant(&name(1)), Verdict::Caught),
            (mutant(&name(2)), Verdict::CaughtByDrive),
            (mutant(&name(3)), Verdict::Timeout),
            (mutant(&name(4)), Verdict::Missed),
            (mutant(&name(5)), Verdict::Unviable),
            (mutant(&name(6)), Verdict::MissedByCrate),
            (
                mutant("crates/a/src/b.rs:6:1: replace < with <= in B::d"),
                Verdict::Missed,
            ),
        ];
        let score = Score::of(&judged, &kept);
        assert_eq!((score.viable, score.no_fault, score.unviable), (5, 1, 1));
        assert_eq!(score.share().map(|(share, ..)| share), Some(0.6));
        let draw = Draw {
            commit: "abc",
            version: "v",
            seed: 1,
            of: 100,
            by: Judges::Digests,
        };
        let text = document(&draw, false, &judged, &kept);
        assert!(
            text.contains("sample of 7 of 100 mutants, drawn with seed 1"),
            "{text}"
        );
        assert!(
            text.contains("in B::c` | open |") && text.contains("in B::d` | why |"),
            "{text}"
        );
        assert!(text.contains("`cargo xtask mutants --sample 7 --seed 1 --by digests`"));
        let after = document(&draw, true, &judged, &kept);
        assert!(after.contains("--by digests --after`") && after.contains("in B::c` | open |"));
    }
}
