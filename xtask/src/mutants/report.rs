//! The score of judged mutants, and the document of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use firstread_ecc::measure::wilson;

use super::verdict::{Mutant, Verdict};

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
                Verdict::Missed | Verdict::MissedByCrate | Verdict::MissedByDigests
                    if no_fault.contains_key(&mutant.place()) =>
                {
                    score.no_fault += 1
                }
                Verdict::Missed | Verdict::MissedByCrate | Verdict::MissedByDigests => {
                    score.missed += 1
                }
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

pub(super) fn document(
    commit: &str,
    version: &str,
    seed: u64,
    all: usize,
    all_judged: bool,
    judged: &[(Mutant, Verdict)],
    no_fault: &BTreeMap<String, String>,
) -> String {
    let mut text = String::from("# Deliberate faults, and the tests that notice them\n\n");
    text += "Written by `cargo xtask mutants`. A *mutant* is the code with one small fault: an operator\n\
             changed, a body replaced by a constant. A mutant that all tests let pass is a missing test, or changes\n\
             nothing that counts. Each is judged by the unit tests of its folder, then by its crate's, then by those of the\n\
             whole drive.\n\n";
    let of = match all_judged {
        true => format!("all {all} mutants"),
        false => format!(
            "a random sample of {} of {all} mutants, drawn with seed {seed}",
            judged.len()
        ),
    };
    let score = Score::of(judged, no_fault);
    let _ = writeln!(
        text,
        "Judged at commit {commit} with {version}: {of}.\n\n**{}.**\n",
        score.sentence()
    );
    for (missed, of, others) in [
        (
            Verdict::MissedByCrate,
            "crate",
            "the digests of completions and the tests of the whole drive",
        ),
        (
            Verdict::MissedByDigests,
            "digests",
            "the other tests of the whole drive",
        ),
    ] {
        let count = judged.iter().filter(|(_, v)| *v == missed).count();
        if count > 0 {
            let _ = writeln!(
                text,
                "Of {count} mutants missed, {others} were not asked (`--by {of}`).\n"
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
    let missed: Vec<_> = judged
        .iter()
        .filter(|(_, v)| {
            matches!(
                v,
                Verdict::Missed | Verdict::MissedByCrate | Verdict::MissedByDigests
            )
        })
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
        let text = document("abc", "v", 1, 100, false, &judged, &kept);
        assert!(
            text.contains("sample of 7 of 100 mutants, drawn with seed 1"),
            "{text}"
        );
        assert!(
            text.contains("in B::c` | open |") && text.contains("in B::d` | why |"),
            "{text}"
        );
    }
}
