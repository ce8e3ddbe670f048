//! No two files of a crate import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{File, by_module, defined_in};

/// A line for each circle of `files`.
pub(super) fn tell(files: &[File]) -> Vec<String> {
    let line = |circle: Vec<String>| format!("a circle of files: {}", circle.join(" "));
    circles(files).into_iter().map(line).collect()
}

/// Files that import each other in a circle, by path: each circle once.
fn circles(files: &[File]) -> Vec<Vec<String>> {
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
