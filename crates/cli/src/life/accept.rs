//! `--accept` on a life: until how many bytes written its reads keep their targets.
//!
//! The probes of a life are judged like runs, one after the other. A life holds a target until the last stage before which and
//! at which it passes, and fails it from the first stage at which it fails. What lies between two stages is not probed.

use anyhow::Result;
use firstread_session::life::{self, Life};

use super::summary::{Group, Reads, Summary};
use crate::accept::{Acceptance, Judged, Target, Verdict};
use crate::args::Usage;
use crate::output::format::{Side, bytes, count, table};

/// Whether the probes of `life` can be judged by `targets`, as far as that is known before they are run.
pub fn check(targets: &[Target], life: &Life) -> Result<()> {
    if targets.is_empty() {
        return Ok(());
    }
    let refuse =
        |why: String| Err(Usage(format!("--accept judges the probes of a life: {why}")).into());
    let Some(job) = &life.terms.probe_job else {
        if life.terms.probe_requests == 0 {
            return refuse("--probe 0 makes none; give a number of reads, or a load".into());
        }
        return match targets.iter().find(|target| target.direction() != "read") {
            Some(target) => refuse(format!(
                "{}: the standard probe only reads; give a load by --probe",
                target.name()
            )),
            None => Ok(()),
        };
    };
    match targets.iter().find(|target| !target.is_of(&job.input)) {
        Some(target) => refuse(format!(
            "{}: the load {} has no such requests",
            target.name(),
            job.input.title()
        )),
        None => Ok(()),
    }
}

/// A target on a life, at each stage that was probed.
struct Row<'a> {
    life: String,
    /// The jobs that were judged, where the load of the probe has several groups of them.
    jobs: &'a str,
    stages: Vec<(&'a Reads, Judged)>,
}

impl<'a> Row<'a> {
    /// The last stage before which and at which the target holds.
    fn holds(&self) -> Option<&'a Reads> {
        let passed = self
            .stages
            .iter()
            .take_while(|(_, judged)| judged.verdict == Verdict::Pass);
        passed.last().map(|(stage, _)| *stage)
    }

    /// Whether it fails at its first stage.
    fn fails_first(&self) -> bool {
        let first = self.stages.first();
        first.is_some_and(|(_, judged)| judged.verdict == Verdict::Fail)
    }

    fn fails(&self) -> Option<&(&'a Reads, Judged)> {
        self.stages
            .iter()
            .find(|(_, judged)| judged.verdict == Verdict::Fail)
    }

    /// Whether every stage was probed, the last one among them on a drive that could still be filled.
    fn is_whole(&self) -> bool {
        let last = self.stages.last();
        self.stages.len() == life::STAGES.len() && last.is_some_and(|(stage, _)| stage.is_of_stage)
    }

    /// The verdict on the whole life.
    fn verdict(&self) -> Verdict {
        let all = |of| self.stages.iter().all(|(_, judged)| judged.verdict == of);
        match self.fails() {
            Some(_) => Verdict::Fail,
            None if all(Verdict::Pass) && self.is_whole() => Verdict::Pass,
            None => Verdict::Undetermined,
        }
    }

    /// The stage that decides the life: the first that fails, or the first that does not pass, or the last.
    fn decisive(&self) -> Option<&(&'a Reads, Judged)> {
        let undecided = |(_, judged): &&(_, Judged)| judged.verdict != Verdict::Pass;
        let first = self.stages.iter().find(undecided);
        self.fails().or(first).or(self.stages.last())
    }
}

/// The rows of `target`: one for each life and group of jobs.
fn rows<'a>(target: &Target, lives: &[(String, &'a Summary)]) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    for (label, life) in lives {
        let begin = rows.len();
        for stage in &life.stages {
            for group in target.judged_of(&stage.run) {
                let judged = target.judge(group);
                let of_life = rows[begin..].iter().position(|row| row.jobs == group.jobs);
                match of_life {
                    Some(i) => rows[begin + i].stages.push((stage, judged)),
                    None => rows.push(Row {
                        life: label.clone(),
                        jobs: &group.jobs,
                        stages: vec![(stage, judged)],
                    }),
                }
            }
        }
        // A drive that could never be filled was not probed, and holds nothing.
        if rows.len() == begin {
            rows.push(Row {
                life: label.clone(),
                jobs: "",
                stages: Vec::new(),
            });
        }
    }
    rows
}

fn at(stage: &Reads) -> String {
    format!(
        "{} ({} P/E)",
        bytes(stage.host_bytes),
        count(stage.pe_cycles.round() as u64)
    )
}

/// Each stage of the only life.
fn of_stages(rows: &[Row<'_>]) -> String {
    let head = ["life", "jobs", "written", "P/E", "measured", "", "mostly"];
    let mut cells = vec![head.map(String::from).to_vec()];
    for row in rows {
        for (stage, judged) in &row.stages {
            cells.push(vec![
                format!("{:.0} %", 100.0 * stage.share),
                row.jobs.to_owned(),
                bytes(stage.host_bytes),
                count(stage.pe_cycles.round() as u64),
                judged.measured.clone(),
                judged.verdict.to_string(),
                judged.cause.clone(),
            ]);
        }
    }
    use Side::{Left, Right};
    shown(cells, &[Right, Left, Right, Right, Left, Left, Left])
}

/// A line for each of several lives.
fn of_lives(rows: &[Row<'_>]) -> String {
    let head = [
        "life",
        "jobs",
        "stages",
        "holds until",
        "fails at",
        "measured there",
        "mostly",
    ];
    let mut cells = vec![head.map(String::from).to_vec()];
    for row in rows {
        let stages = row.stages.iter().map(|(_, judged)| match judged.verdict {
            Verdict::Pass => "pass",
            Verdict::Fail => "FAIL",
            Verdict::Undetermined => "?",
        });
        let there = row.decisive().map(|(_, judged)| judged);
        cells.push(vec![
            row.life.clone(),
            row.jobs.to_owned(),
            stages.collect::<Vec<_>>().join(" "),
            row.holds().map_or("-".into(), at),
            row.fails().map_or("-".into(), |(stage, _)| at(stage)),
            there.map_or(String::new(), |judged| judged.measured.clone()),
            there.map_or(String::new(), |judged| judged.cause.clone()),
        ]);
    }
    shown(cells, &[Side::Left; 7])
}

/// The table of `cells` without the columns that are empty below their head.
fn shown(mut cells: Vec<Vec<String>>, sides: &[Side]) -> String {
    let used = |i: &usize| cells.iter().skip(1).any(|row| !row[*i].is_empty());
    let kept: Vec<usize> = (0..sides.len()).filter(used).collect();
    for row in &mut cells {
        *row = kept.iter().map(|&i| std::mem::take(&mut row[i])).collect();
    }
    let sides: Vec<Side> = kept.iter().map(|&i| sides[i]).collect();
    table("    ", &sides, &cells)
}

/// What became of a target on the only life, as a sentence.
fn in_words(row: &Row<'_>) -> String {
    let jobs = match row.jobs {
        "" => String::new(),
        jobs => format!("{jobs}: "),
    };
    let until = match (row.verdict(), row.holds(), row.fails()) {
        (Verdict::Pass, Some(last), _) => format!("holds to the end, {}", at(last)),
        (_, Some(last), Some((first, _))) => {
            format!("holds until {}, fails at {}", at(last), at(first))
        }
        (_, None, Some((first, _))) if row.fails_first() => {
            format!("fails from the beginning, {}", at(first))
        }
        (_, None, Some((first, _))) => format!("fails at {}, undetermined before", at(first)),
        (_, Some(last), None) if !last.is_of_stage => format!(
            "holds until {}, when the drive could last be filled and probed",
            at(last)
        ),
        (_, Some(last), None) => format!("holds until {}, undetermined after that", at(last)),
        (_, None, None) if row.stages.is_empty() => "not probed: the drive cannot be filled".into(),
        (_, None, None) => "undetermined from the beginning".into(),
    };
    format!("    {jobs}{until}\n")
}

/// The verdicts on the lives of `groups` by `targets`; none where nothing is asked.
pub fn judge(targets: &[Target], groups: &[Group<'_>]) -> Option<Acceptance> {
    if targets.is_empty() {
        return None;
    }
    let mut lives = Vec::new();
    for group in groups {
        for (setup, summary) in &group.lives {
            let seed = format!("seed {}", setup.seed);
            let label = match (group.label, group.lives.len()) {
                ("", _) => seed,
                (label, 1) => label.to_owned(),
                (label, _) => format!("{label} {seed}"),
            };
            lives.push((label, summary));
        }
    }
    let by = lives.iter().find_map(|(_, life)| life.probed_by.as_deref());
    let mut text = format!(
        "\nacceptance over the life, probed by: {}\n",
        by.unwrap_or("no probe")
    );
    let (mut failed, mut undetermined, mut all) = (0, 0, 0);
    for target in targets {
        let rows = rows(target, &lives);
        text += &format!("  {} {}\n", target.name(), target.asked());
        text += &match lives.len() {
            1 => of_stages(&rows) + &rows.iter().map(in_words).collect::<String>(),
            _ => of_lives(&rows),
        };
        let of = |verdict| rows.iter().filter(|row| row.verdict() == verdict).count();
        failed += of(Verdict::Fail);
        undetermined += of(Verdict::Undetermined);
        all += rows.len();
    }
    let holds = all - failed - undetermined;
    let said = format!(
        "{holds} of {all} hold over the whole life, {failed} fail, {undetermined} undetermined"
    );
    text += &format!("  {said}\n");
    if groups.iter().any(|group| group.lives.len() > 1) {
        for group in groups {
            text += &over_drives(targets, group);
        }
    }
    if undetermined > 0 {
        text += "  undetermined: the interval has the bound within, or the probe is too short for one (--probe N)\n";
    }
    text += "  only the stages are probed: where a life fails between two of them is not known\n";
    Some(Acceptance { text, said, failed })
}

/// How many drives of a group hold all targets, and when the first one fails.
fn over_drives(targets: &[Target], group: &Group<'_>) -> String {
    let (mut hold, mut fail, mut first) = (0, 0, f64::INFINITY);
    for (_, life) in &group.lives {
        let of_life = [(String::new(), life)];
        let rows: Vec<Row<'_>> = targets
            .iter()
            .flat_map(|target| rows(target, &of_life))
            .collect();
        hold += usize::from(rows.iter().all(|row| row.verdict() == Verdict::Pass));
        let failures = rows.iter().filter_map(Row::fails);
        let at = failures
            .map(|(stage, _)| stage.host_bytes)
            .fold(f64::INFINITY, f64::min);
        fail += usize::from(at.is_finite());
        first = first.min(at);
    }
    let begins = match first.is_finite() {
        true => format!(", the first at {}", bytes(first)),
        false => String::new(),
    };
    format!(
        "  {}: {hold} of {} drives hold all targets over their whole life, {fail} fail{begins}\n",
        group.name(),
        group.lives.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accept::Targets;
    use crate::output;
    use firstread_session::{Input, Simulation};

    /// A probe by few reads, at so many bytes written.
    fn reads(host_bytes: f64) -> Reads {
        let job = "[a]\nrw=randread\nbs=4k\nnorandommap\n".to_owned();
        let setup = Simulation {
            drive: "bench-4g".into(),
            limit: Some(200),
            ..Simulation::of(Input::job_file("a", job).unwrap())
        };
        let setup = setup.setup().unwrap();
        let outcome = setup.simulate().unwrap();
        Reads {
            share: host_bytes / 4e12,
            is_of_stage: true,
            host_bytes,
            pe_cycles: host_bytes / 1e9,
            p999_ns: 0,
            p9999_ns: None,
            run: output::summary::Summary::of(&setup, &outcome),
        }
    }

    /// A life holds a target until the last stage before which all pass, and fails it where the first stage fails.
    #[test]
    fn formula_a_life_is_judged_by_its_stages() {
        use Verdict::{Fail, Pass, Undetermined};
        let stages: Vec<Reads> = (0..5).map(|i| reads(1e12 * f64::from(i))).collect();
        for (verdicts, whole, words) in [
            (vec![Pass; 5], Pass, "holds to the end, 4.00 TB (4,000 P/E)"),
            (
                vec![Pass, Pass, Undetermined, Fail, Fail],
                Fail,
                "holds until 1.00 TB (1,000 P/E), fails at 3.00 TB (3,000 P/E)",
            ),
            (
                vec![Pass, Fail, Pass, Pass, Pass],
                Fail,
                "holds until 0 B (0 P/E), fails at 1.00 TB (1,000 P/E)",
            ),
            (vec![Fail; 5], Fail, "fails from the beginning, 0 B (0 P/E)"),
            (
                vec![Undetermined, Fail, Fail, Fail, Fail],
                Fail,
                "fails at 1.00 TB (1,000 P/E), undetermined before",
            ),
            (
                vec![Pass, Pass, Undetermined, Pass, Pass],
                Undetermined,
                "holds until 1.00 TB (1,000 P/E), undetermined after that",
            ),
            // A stage of five was not probed.
            (
                vec![Pass; 4],
                Undetermined,
                "holds until 3.00 TB (3,000 P/E), undetermined after that",
            ),
            (
                vec![Undetermined; 5],
                Undetermined,
                "undetermined from the beginning",
            ),
            (
                vec![],
                Undetermined,
                "not probed: the drive cannot be filled",
            ),
        ] {
            let judged = |verdict| Judged {
                verdict,
                measured: String::new(),
                cause: String::new(),
            };
            let row = Row {
                life: String::new(),
                jobs: "",
                stages: stages
                    .iter()
                    .zip(verdicts.iter().copied().map(judged))
                    .collect(),
            };
            // A drive that could not be filled at its end was not judged there.
            if whole == Pass {
                let mut stages = stages.clone();
                stages[4].is_of_stage = false;
                let judged = verdicts.iter().copied().map(judged);
                let row = Row {
                    life: String::new(),
                    jobs: "",
                    stages: stages.iter().zip(judged).collect(),
                };
                assert_eq!(row.verdict(), Undetermined);
                assert!(in_words(&row).contains("could last be filled"));
            }
            assert_eq!(row.verdict(), whole, "{verdicts:?}");
            assert_eq!(in_words(&row), format!("    {words}\n"), "{verdicts:?}");
            let first = verdicts.iter().position(|&v| v == Fail);
            let other = verdicts.iter().position(|&v| v != Pass);
            if let Some((stage, _)) = row.decisive() {
                let at = first.or(other).unwrap_or(verdicts.len() - 1);
                assert_eq!(stage.host_bytes, 1e12 * at as f64, "{verdicts:?}");
            }
        }
    }

    /// Each life has a row, each scheme a line, and what fails is counted once a life and target.
    #[test]
    fn formula_lives_of_several_drives_are_counted() {
        let life = || Summary {
            end: String::new(),
            figures: Vec::new(),
            written_bytes: 4e12,
            is_worn_out: true,
            probed_by: Some("a".into()),
            stages: (0..5).map(|i| reads(1e12 * f64::from(i))).collect(),
        };
        let job = Input::job_file("a", "[a]\nrw=write\n".into()).unwrap();
        let setup = Simulation::of(job).setup().unwrap();
        let group = |label| Group {
            label,
            lives: vec![(&setup, life()), (&setup, life())],
        };
        let groups = [group("area=one"), group("area=differential")];
        let of = |text: &str| {
            let Targets(targets) = Targets::parse(text).unwrap();
            judge(&targets, &groups).unwrap()
        };
        let fails = of("read: max=1ns max=1s");
        assert_eq!(fails.failed, 4, "{}", fails.text);
        for line in [
            "area=one seed 1           pass pass pass pass pass  4.00 TB (4,000 P/E)",
            "area=differential seed 1  FAIL FAIL FAIL FAIL FAIL  -  ",
            "  4 of 8 hold over the whole life, 4 fail, 0 undetermined\n",
            "  area=one: 0 of 2 drives hold all targets over their whole life, 2 fail, the first at 0 B\n",
        ] {
            assert!(fails.text.contains(line), "{line}: {}", fails.text);
        }
        let holds = of("read: max=1s");
        assert_eq!(holds.failed, 0);
        let line =
            "  area=differential: 2 of 2 drives hold all targets over their whole life, 0 fail\n";
        assert!(holds.text.contains(line), "{}", holds.text);
    }
}
