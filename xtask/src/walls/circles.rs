//! No two files of a crate import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{File, by_module, defined_in};

/// Circles of files that stand for now: folder of the crate, the files, and why. One that is gone has to go
/// from here.
pub(super) const STANDING: &[(&str, &[&str], &str)] = &[
    (
        "crates/testkit",
        &[
            "validation/code.rs",
            "validation/disturb.rs",
            "validation/knobs.rs",
            "validation/mod.rs",
            "validation/parameters.rs",
            "validation/persistence.rs",
            "validation/population.rs",
            "validation/retention.rs",
            "validation/sensing.rs",
            "validation/sentinels.rs",
        ],
        "the list of chapters lies beside what each is written with",
    ),
];

/// A line for each of `circles` of crate `name` that does not stand in `standing`, and for each that stands
/// there and is no more.
pub(super) fn tell(
    name: &str,
    circles: Vec<Vec<String>>,
    standing: &[(&str, &[&str], &str)],
) -> Vec<String> {
    let of_crate: Vec<_> = standing.iter().filter(|s| s.0 == name).collect();
    let new = circles
        .iter()
        .filter(|circle| !of_crate.iter().any(|s| s.1 == circle.as_slice()));
    let mut told: Vec<String> = new
        .map(|circle| format!("a circle of files: {}", circle.join(" ")))
        .collect();
    for (_, files, _) in of_crate {
        if !circles.iter().any(|circle| circle == files) {
            let files = files.join(" ");
            told.push(format!(
                "no circle any more, take it out of STANDING: {files}"
            ));
        }
    }
    told
}

/// Files that import each other in a circle, by path: each circle once.
pub(super) fn circles(files: &[File]) -> Vec<Vec<String>> {
    let modules = by_module(files);
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in files {
        let named = file
            .names
            .iter()
            .filter_map(|(n, _)| defined_in(n, &modules, 8));
        let named = named.map(|f| f.path.as_str()).filter(|p| *p != file.path);
        next.entry(&file.path).or_default().extend(named);
    }
    let reach = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&str> = next[from].iter().copied().collect();
        while let Some(path) = open.pop() {
            if seen.insert(path) {
                open.extend(&next[path]);
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = next.keys().map(|p| (*p, reach(p))).collect();
    let mut told = BTreeSet::new();
    let mut circles = Vec::new();
    for (path, seen) in &reached {
        if !seen.contains(path) || !told.insert(*path) {
            continue;
        }
        let circle: Vec<&str> = seen
            .iter()
            .copied()
            .filter(|other| reached[other].contains(path))
            .collect();
        told.extend(&circle);
        circles.push(circle.into_iter().map(str::to_owned).collect());
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_a_circle_that_stands_is_told_once_it_is_gone() {
        let standing: [(&str, &[&str], &str); 2] = [
            ("crates/drive", &["a.rs", "b.rs"], "why"),
            ("crates/nand", &["a.rs", "c.rs"], "why"),
        ];
        let circle = || vec![vec!["a.rs".to_owned(), "b.rs".to_owned()]];
        let none: Vec<String> = Vec::new();
        assert_eq!(tell("crates/drive", circle(), &standing), none);
        let told = tell("crates/drive", Vec::new(), &standing);
        assert_eq!(
            told,
            ["no circle any more, take it out of STANDING: a.rs b.rs"]
        );
        let told = tell("crates/ecc", circle(), &standing);
        assert_eq!(told, ["a circle of files: a.rs b.rs"]);
        // A circle that has grown is another one.
        let told = tell("crates/nand", circle(), &standing);
        assert_eq!(told.len(), 2, "{told:?}");
    }

    #[test]
    fn formula_super_within_braces_is_the_file_itself() {
        let file = File::parse("a/b.rs", "pub struct B; mod c { use super::B; }").unwrap();
        let above = File::parse("a/mod.rs", "mod b; use b::B;").unwrap();
        assert_eq!(circles(&[file, above]), Vec::<Vec<String>>::new());
    }

    #[test]
    fn formula_a_circle_through_the_root_of_a_binary_is_found() {
        let main = File::parse("main.rs", "mod a; use a::A; pub fn shared() {}").unwrap();
        let a = File::parse("a.rs", "use crate::shared; pub struct A;").unwrap();
        assert_eq!(circles(&[main, a]), [["a.rs", "main.rs"]]);
    }
}
