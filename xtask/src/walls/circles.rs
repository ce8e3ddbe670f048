//! No two files of a crate import each other in a circle, and no two folders.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{File, by_module, defined_in};

/// Who imports whom.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// A line for each circle of `files`, and of the folders that they lie in.
pub(super) fn tell(files: &[File]) -> Vec<String> {
    let imports = imports(files);
    let line = |circle: Vec<String>| format!("a circle of files: {}", circle.join(" "));
    let mut told: Vec<String> = circles(&imports).into_iter().map(line).collect();
    told.extend(circles_of_folders(files, &imports));
    told
}

/// The files that each file imports from, by path.
fn imports(files: &[File]) -> Imports {
    let modules = by_module(files);
    let of = |file: &File| {
        let named = file.names.iter();
        let named = named.filter_map(|(name, _)| defined_in(name, &modules, 8));
        let named = named.map(|f| f.path.clone()).filter(|p| *p != file.path);
        (file.path.clone(), named.collect())
    };
    files.iter().map(of).collect()
}

/// A line for each circle of folders that lie beside each other, and one for each import between them. A folder imports
/// what a file anywhere in it imports or hands on from the other one. Files beside folders are no part of a circle: they
/// may join folders, as the error of a crate holds those of its folders.
fn circles_of_folders(files: &[File], imports: &Imports) -> Vec<String> {
    let by_path: BTreeMap<&str, &File> = files.iter().map(|f| (f.path.as_str(), f)).collect();
    let modules = by_module(files);
    let handed_on = files.iter().flat_map(|file| {
        let named = file.handed_on.iter();
        let named = named.filter_map(|(name, _)| defined_in(name, &modules, 8));
        named.map(move |other| (file, other))
    });
    let imported = imports.iter().flat_map(|(from, others)| {
        let from = by_path[from.as_str()];
        others
            .iter()
            .map(|to| (from, by_path[to.as_str()]))
            .collect::<Vec<_>>()
    });
    let folders: BTreeSet<&[String]> = files
        .iter()
        .flat_map(|f| (0..f.module.len()).map(|n| &f.module[..n]))
        .collect();
    // The imports between two folders, by the folder that both lie in.
    let mut beside: BTreeMap<&[String], Imports> = BTreeMap::new();
    let mut lines: BTreeMap<[String; 2], Vec<String>> = BTreeMap::new();
    for (from, to) in imported.chain(handed_on) {
        let (a, b) = (folder_of(from, &folders), folder_of(to, &folders));
        let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        if shared == a.len() || shared == b.len() {
            continue;
        }
        let ends = [a, b].map(|folder| folder[..=shared].join("/"));
        let [from_folder, to_folder] = ends.clone();
        let within = beside.entry(&a[..shared]).or_default();
        within.entry(to_folder.clone()).or_default();
        within.entry(from_folder).or_default().insert(to_folder);
        let line = format!("{} imports {}", from.path, to.path);
        lines.entry(ends).or_default().push(line);
    }
    let mut told = Vec::new();
    for circle in beside.values().flat_map(circles) {
        told.push(format!("a circle of folders: {}", circle.join(" ")));
        let within = |ends: &&[String; 2]| ends.iter().all(|end| circle.contains(end));
        told.extend(
            lines
                .keys()
                .filter(within)
                .flat_map(|ends| lines[ends].clone()),
        );
    }
    told
}

/// The path of the folder that `file` lies in. `a.rs` beside a folder `a` is the head of that folder, as `a/mod.rs` is.
fn folder_of<'a>(file: &'a File, folders: &BTreeSet<&[String]>) -> &'a [String] {
    match file.path.ends_with("/mod.rs") || folders.contains(file.module.as_slice()) {
        true => &file.module,
        false => &file.module[..file.module.len().saturating_sub(1)],
    }
}

/// The circles of `imports`: each once, in the order of names.
fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let reach = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&str> = imports[from].iter().map(String::as_str).collect();
        while let Some(path) = open.pop() {
            if seen.insert(path) {
                open.extend(imports[path].iter().map(String::as_str));
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|p| (p.as_str(), reach(p))).collect();
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
        assert_eq!(tell(&[file, above]), Vec::<String>::new());
    }

    #[test]
    fn formula_a_circle_through_the_root_of_a_binary_is_found() {
        let main = File::parse("main.rs", "mod a; use a::A; pub fn shared() {}").unwrap();
        let a = File::parse("a.rs", "use crate::shared; pub struct A;").unwrap();
        assert_eq!(tell(&[main, a]), ["a circle of files: a.rs main.rs"]);
    }

    fn told(files: &[(&str, &str)]) -> Vec<String> {
        let parse = |(path, text): &(&str, &str)| File::parse(path, text).unwrap();
        tell(&files.iter().map(parse).collect::<Vec<_>>())
    }

    const UP: (&str, &str) = ("a/up.rs", "use crate::b::c::Low; pub struct Up;");
    const LOW: (&str, &str) = ("b/c/low.rs", "pub struct Low;");
    const C: (&str, &str) = ("b/c/mod.rs", "mod low; pub use low::Low;");

    #[test]
    fn formula_a_circle_of_folders_whose_files_are_none_is_found() {
        let back = ("b/back.rs", "use crate::a::up::Up;");
        let expected = [
            "a circle of folders: a b",
            "a/up.rs imports b/c/low.rs",
            "b/back.rs imports a/up.rs",
        ];
        assert_eq!(told(&[UP, LOW, C, back]), expected);
        let none = Vec::<String>::new();
        assert_eq!(told(&[UP, LOW, C]), none);
        // A file beside folders may join them.
        let error = ("error.rs", "use crate::a::up::Up; pub struct Error;");
        let down = ("a/down.rs", "use crate::error::Error;");
        assert_eq!(told(&[UP, LOW, C, error, down]), none);
        // Within a folder: those of its parts.
        let inner = |(path, text): (&'static str, &str)| {
            let text = text.replace("crate::", "crate::in_it::");
            (format!("in_it/{path}"), text)
        };
        let inner = [UP, LOW, C, back].map(inner);
        let inner = inner
            .each_ref()
            .map(|(path, text)| (path.as_str(), text.as_str()));
        assert_eq!(told(&inner)[0], "a circle of folders: in_it/a in_it/b");
    }

    #[test]
    fn formula_what_a_folder_hands_on_of_another_closes_a_circle() {
        let on = ("b/mod.rs", "pub mod c; pub use crate::a::up::Up;");
        let told_now = told(&[UP, LOW, C, on]);
        assert_eq!(told_now[0], "a circle of folders: a b", "{told_now:?}");
    }

    #[test]
    fn formula_a_file_named_as_a_folder_beside_it_belongs_to_the_folder() {
        let head = ("b.rs", "pub mod c; use crate::a::up::Up;");
        assert_eq!(told(&[UP, LOW, C, head])[0], "a circle of folders: a b");
    }
}
