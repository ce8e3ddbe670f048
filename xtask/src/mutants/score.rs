//! The score of a crate, and its place in the document: a row of the table, and a list of what was missed.

use std::fmt::Write as _;

/// Around the rows of the table.
const SCORES: (&str, &str) = ("<!-- scores -->", "<!-- end: scores -->");

/// What became of a sample of mutants.
#[derive(Default)]
pub(super) struct Score {
    pub(super) package: String,
    pub(super) commit: String,
    pub(super) shard: String,
    /// What the names of the tests of `firstread-testkit` contain that were asked beside the crate's own.
    pub(super) testkit: Option<String>,
    pub(super) aim_pct: u32,
    /// Mutants of the crate, those drawn of them, and those judged of these.
    pub(super) mutants: usize,
    pub(super) drawn: usize,
    pub(super) judged: usize,
    /// Mutants that do not compile.
    pub(super) unviable: usize,
    pub(super) by_unit_tests: usize,
    /// By the tests in the folder `tests` of the crate.
    pub(super) by_own: usize,
    pub(super) by_testkit: usize,
    /// Mutants with which a test did not end, which is noticed.
    pub(super) timeouts: usize,
    pub(super) missed: Vec<String>,
}

impl Score {
    fn noticed(&self) -> usize {
        self.by_unit_tests + self.by_own + self.by_testkit + self.timeouts
    }

    fn viable(&self) -> usize {
        self.noticed() + self.missed.len()
    }

    /// The share of viable mutants that were noticed, and its interval, in percent.
    fn share(&self) -> String {
        if self.viable() == 0 {
            return "none is viable".into();
        }
        let share = 100.0 * self.noticed() as f64 / self.viable() as f64;
        let (low, high) = wilson(self.noticed(), self.viable());
        format!("{share:.0} % ({:.0} … {:.0})", 100.0 * low, 100.0 * high)
    }

    pub(super) fn sentence(&self) -> String {
        format!(
            "{}: {} of {} viable mutants noticed, {}; aim {} %",
            self.package,
            self.noticed(),
            self.viable(),
            self.share(),
            self.aim_pct
        )
    }

    fn row(&self) -> String {
        let (asked, by_testkit) = match &self.testkit {
            None => ("its own".into(), "–".into()),
            Some(names) => (
                format!("its own; of testkit: {names}"),
                self.by_testkit.to_string(),
            ),
        };
        format!(
            "| {} | {} | {} | {} of {} | {} | {} | {} | {} | {} | {} | {} | {} % | {asked} | {} |",
            self.package,
            self.mutants,
            self.shard,
            self.judged,
            self.drawn,
            self.unviable,
            self.by_unit_tests,
            self.by_own,
            by_testkit,
            self.timeouts,
            self.missed.len(),
            self.share(),
            self.aim_pct,
            self.commit
        )
    }

    /// The list of what was missed, with its marks.
    fn list(&self) -> String {
        let (begin, end) = marks(&self.package);
        let mut text = format!("{begin}\n\n### {}\n\n", self.package);
        if self.missed.is_empty() {
            text += "None was missed.\n\n";
            return text + &end;
        }
        for name in &self.missed {
            let _ = writeln!(text, "- `{name}`");
        }
        text + "\n" + &end
    }
}

/// Around the list of a crate.
fn marks(package: &str) -> (String, String) {
    (
        format!("<!-- missed: {package} -->"),
        format!("<!-- end: {package} -->"),
    )
}

/// The document `old` with this score in place of the crate's earlier one. Crates stand in `order`.
pub(super) fn enter(old: &str, score: &Score, order: &[&str]) -> Result<String, String> {
    let missing = |mark: &str| format!("the document has no `{mark}`");
    let (head, rest) = old.split_once(SCORES.0).ok_or_else(|| missing(SCORES.0))?;
    let (table, tail) = rest.split_once(SCORES.1).ok_or_else(|| missing(SCORES.1))?;
    let package = |row: &str| {
        row.split(" | ")
            .next()
            .unwrap_or_default()
            .replace("| ", "")
    };
    let mut lines = table.trim().lines();
    let titles: Vec<&str> = lines.by_ref().take(2).collect();
    let mut rows: Vec<String> = lines.map(str::to_owned).collect();
    rows.retain(|row| package(row) != score.package);
    rows.push(score.row());
    rows.sort_by_key(|row| order.iter().position(|name| *name == package(row)));
    let table = format!("\n\n{}\n{}\n\n", titles.join("\n"), rows.join("\n"));
    let (begin, end) = marks(&score.package);
    let tail = match tail.split_once(&begin) {
        Some((before, rest)) => {
            let (_, after) = rest.split_once(&end).ok_or_else(|| missing(&end))?;
            format!("{before}{}{after}", score.list())
        }
        None => format!("{}\n\n{}\n", tail.trim_end(), score.list()),
    };
    Ok(format!("{head}{}{table}{}{tail}", SCORES.0, SCORES.1))
}

/// The 95 % interval of a share by Wilson.
fn wilson(hits: usize, of: usize) -> (f64, f64) {
    const Z: f64 = 1.96;
    let (n, p) = (of as f64, hits as f64 / of as f64);
    let centre = p + Z * Z / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    ((centre - half) / scale, (centre + half) / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str =
        "# Mutants\n\n<!-- scores -->\n\n| crate |\n|---|\n\n<!-- end: scores -->\n\n## Missed\n";

    fn score(package: &str, missed: &[&str]) -> Score {
        Score {
            package: package.into(),
            commit: "c0ffee".into(),
            shard: "3/40".into(),
            by_unit_tests: 51 - missed.len(),
            missed: missed.iter().map(|&name| name.into()).collect(),
            judged: 54,
            drawn: 60,
            ..Score::default()
        }
    }

    #[test]
    fn formula_an_interval_is_wilsons() {
        let rounded = |(low, high): (f64, f64)| ((low * 1e4).round(), (high * 1e4).round());
        // Of no hit in ten it is 1.96² ÷ (10 + 1.96²).
        assert_eq!(rounded(wilson(51, 54)), (8489.0, 9809.0));
        assert_eq!(rounded(wilson(0, 10)), (0.0, 2775.0));
    }

    #[test]
    fn golden_a_row_says_which_tests_were_asked() {
        let mut score = score("drive", &["a", "b"]);
        let columns = |score: &Score| score.row().matches(" | ").count();
        let own = columns(&score);
        assert!(score.row().contains("| 49 | 0 | – | 0 | 2 | 96 % "));
        assert!(score.row().contains("| its own | c0ffee |"));
        (score.by_unit_tests, score.by_own, score.by_testkit) = (0, 3, 5);
        score.testkit = Some("golden_, model_".into());
        assert!(score.row().contains("| 0 | 3 | 5 | 0 | 2 | 80 % "));
        assert!(
            score
                .row()
                .contains("| its own; of testkit: golden_, model_ | c0ffee |")
        );
        assert_eq!(columns(&score), own);
    }

    #[test]
    fn sequence_a_later_score_replaces_the_crates_earlier_one() {
        let order = ["core", "nand", "firmware"];
        let first = enter(EMPTY, &score("firmware", &["a.rs:1:2: x"]), &order).unwrap();
        let both = enter(&first, &score("core", &[]), &order).unwrap();
        let core = both.find("| core |").unwrap();
        assert!(core < both.find("| firmware |").unwrap(), "{both}");
        assert!(both.contains("- `a.rs:1:2: x`"), "{both}");
        let again = enter(&both, &score("firmware", &["b.rs:3:4: y"]), &order).unwrap();
        assert_eq!(again.matches("| firmware |").count(), 1, "{again}");
        assert!(
            !again.contains("a.rs:1:2") && again.contains("b.rs:3:4"),
            "{again}"
        );
        assert!(again.contains("None was missed."), "{again}");
        assert!(enter("# Mutants", &score("core", &[]), &order).is_err());
    }
}
