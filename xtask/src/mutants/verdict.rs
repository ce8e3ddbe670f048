//! A mutant, the tests that judge it, and the verdict.

use super::switches::Edit;

/// Whose tests judge, each with those before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, clap::ValueEnum)]
pub(super) enum Judges {
    /// The unit tests of the mutant's folder
    Folder,
    /// The unit tests of its crate
    Unit,
    /// All tests of its crate
    Crate,
    /// The digests of every completion
    Digests,
    /// All tests of the whole drive
    Drive,
}

impl Judges {
    /// As the option says it.
    pub(super) fn text(self) -> &'static str {
        match self {
            Judges::Folder => "folder",
            Judges::Unit => "unit",
            Judges::Crate => "crate",
            Judges::Digests => "digests",
            Judges::Drive => "drive",
        }
    }
}

/// The verdict on a mutant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// A test of its own crate failed.
    Caught,
    /// Only a test of the whole drive failed.
    CaughtByDrive,
    /// Tests did not come to an end.
    Timeout,
    /// All tests passed.
    Missed,
    /// The unit tests of its folder passed, and no others were asked.
    MissedByFolder,
    /// The unit tests of its crate passed, and no others were asked.
    MissedByUnit,
    /// Those of its crate passed, and no others were asked.
    MissedByCrate,
    /// Those of its crate and the digests of completions passed, and no others were asked.
    MissedByDigests,
    /// It does not compile.
    Unviable,
}

impl Verdict {
    const ALL: [(Verdict, &str); 9] = [
        (Verdict::Caught, "caught"),
        (Verdict::CaughtByDrive, "caught by the whole drive"),
        (Verdict::Timeout, "timeout"),
        (Verdict::Missed, "missed"),
        (Verdict::MissedByFolder, "missed by its folder"),
        (Verdict::MissedByUnit, "missed by unit tests"),
        (Verdict::MissedByCrate, "missed by its crate"),
        (Verdict::MissedByDigests, "missed by the digests"),
        (Verdict::Unviable, "unviable"),
    ];
    pub(super) fn text(self) -> &'static str {
        let row = Verdict::ALL.iter().find(|(v, _)| *v == self);
        row.map_or("", |(_, text)| text)
    }
    /// Who has let it pass so far, if that leaves others to be asked.
    pub(super) fn passed(self) -> Option<Judges> {
        match self {
            Verdict::MissedByFolder => Some(Judges::Folder),
            Verdict::MissedByUnit => Some(Judges::Unit),
            Verdict::MissedByCrate => Some(Judges::Crate),
            Verdict::MissedByDigests => Some(Judges::Digests),
            _ => None,
        }
    }
    /// Whether all tests that were asked let it pass.
    pub(super) fn is_missed(self) -> bool {
        self == Verdict::Missed || self.passed().is_some()
    }
    pub(super) fn parse(text: &str) -> Option<Verdict> {
        let row = Verdict::ALL.iter().find(|(_, t)| *t == text);
        row.map(|(v, _)| *v)
    }
}

/// A mutant: `crates/…/map.rs:296:26: replace > with >= in Map<M>::recovers`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Mutant {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) package: String,
    pub(super) edit: Edit,
}

impl Mutant {
    /// Its name without line and column, which any edit moves.
    pub(super) fn place(&self) -> String {
        let change = self.name.splitn(4, ':').last().unwrap_or(&self.name);
        format!("{}:{change}", self.file)
    }
}

/// A mutant called `name`.
#[cfg(test)]
pub(super) fn mutant(name: &str) -> Mutant {
    Mutant {
        name: name.into(),
        file: "crates/a/src/b.rs".into(),
        package: "a".into(),
        edit: Edit {
            change: super::switches::Change::Expression,
            from: (1, 1),
            to: (1, 2),
            by: String::new(),
        },
    }
}
