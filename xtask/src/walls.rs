//! Walls between files. Of every crate: no two files import each other in a circle, nor do two folders, and no file of
//! tests is left out. Of every library: no error is a text. Of the firmware besides: which machine may know which.
//! ARCHITECTURE.md draws the map; here it is held.

mod circles;
mod errors;
mod source;
mod test_files;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use circles::tell;
use source::{File, by_module, files_of, module_of};

/// The crate with walls between its machines.
const FIRMWARE: &str = "crates/firmware";

/// The machines of the firmware and what they share, each with what it may import. A path is a folder or a
/// file below `crates/firmware/src`; what is not named belongs to the nearest folder above that is.
const WALLS: &[(&str, &[&str])] = &[
    ("log", &[]),
    ("cache", &[]),
    ("observe", &[]),
    ("config", &["observe"]),
    ("voltage", &["log", "observe"]),
    ("policy", &["log", "observe", "voltage"]),
    ("ftl/map", &[]),
    ("schedule", &["config", "observe", "policy"]),
    (
        "shared",
        &["config", "log", "observe", "policy", "schedule"],
    ),
    ("read", &["shared", "observe", "policy", "schedule"]),
    (
        "ftl/place",
        &[
            "shared", "config", "ftl/map", "observe", "policy", "schedule",
        ],
    ),
    (
        "flash_store",
        &[
            "shared",
            "ftl/map",
            "ftl/place",
            "observe",
            "read",
            "schedule",
        ],
    ),
    (
        "ftl/map_cache",
        &[
            "shared",
            "cache",
            "ftl/map",
            "ftl/place",
            "observe",
            "read",
            "schedule",
            "flash_store",
        ],
    ),
    (
        "ftl",
        &[
            "ftl/map",
            "ftl/place",
            "ftl/relocate",
            "observe",
            "schedule",
            "flash_store",
        ],
    ),
    (
        "lower_layers",
        &["ftl/map_cache", "ftl/place", "flash_store"],
    ),
    (
        "ftl/relocate",
        &[
            "shared",
            "config",
            "lower_layers",
            "ftl/map",
            "ftl/map_cache",
            "ftl/place",
            "observe",
            "policy",
            "read",
            "schedule",
            "flash_store",
        ],
    ),
    (
        "host",
        &[
            "shared",
            "lower_layers",
            "cache",
            "config",
            "ftl",
            "ftl/map",
            "ftl/map_cache",
            "ftl/place",
            "observe",
            "policy",
            "read",
            "schedule",
            "flash_store",
        ],
    ),
];
/// Folders of parts that are named each by itself: an axis of policy, a tool for read voltages.
const OF_PARTS: &[&str] = &["policy", "voltage"];
/// The folder that may name all machines.
const ROUTES: &[&str] = &["route", "lib", "setup"];

/// A file that is in neither list.
const NOBODY: &str = "nobody";

/// Checks every crate of the workspace.
pub fn run() -> Result<(), String> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let entries = fs::read_dir(root.join("crates")).map_err(|e| format!("crates: {e}"))?;
    let mut crates = vec!["measure".to_owned(), "xtask".to_owned()];
    for entry in entries {
        let name = entry.map_err(|e| e.to_string())?.file_name();
        crates.push(format!("crates/{}", name.to_string_lossy()));
    }
    crates.sort();
    let mut faults = Vec::new();
    for name in &crates {
        let files = files_of(&root.join(name).join("src"))?;
        let mut told = tell(&files);
        told.extend(errors::tell(name, &files));
        if name == FIRMWARE {
            told.extend(check(&files));
        }
        faults.extend(told.into_iter().map(|fault| format!("{name}/src: {fault}")));
        let told = test_files::tell(&root.join(name).join("tests"))?;
        faults.extend(
            told.into_iter()
                .map(|fault| format!("{name}/tests: {fault}")),
        );
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(faults.join("\n"))
}

/// Violations in the firmware, one line each.
fn check(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    let modules = by_module(files);
    for file in files {
        let owner = owner(&file.module);
        if owner == NOBODY {
            faults.push(format!(
                "{} belongs to no machine: name it in WALLS",
                file.path
            ));
        }
        for (name, line) in file.names.iter().chain(&file.handed_on) {
            if let Some(fault) = wall(owner, file, name, &modules) {
                faults.push(format!("{}:{line}: {fault}", file.path));
            }
        }
    }
    faults
}

/// The entry of [`WALLS`] or [`ROUTES`] that `module` belongs to.
fn owner(module: &[String]) -> &'static str {
    let path = module.join("/");
    let walls = WALLS
        .iter()
        .map(|(name, _)| *name)
        .chain(ROUTES.iter().copied());
    let holds = |name: &&str| path == **name || path.starts_with(&format!("{name}/"));
    let longest = walls.filter(holds).max_by_key(|name| name.len());
    longest.unwrap_or(if module.is_empty() { "lib" } else { NOBODY })
}

/// The violation if `file`, of machine `of`, names `name`.
fn wall(
    of: &str,
    file: &File,
    name: &[String],
    modules: &BTreeMap<&[String], &File>,
) -> Option<String> {
    let module = module_of(name, modules);
    let other = owner(module);
    if other == of || module.is_empty() && of == "lib" {
        return None;
    }
    let machine = other.split('/').count() + usize::from(OF_PARTS.contains(&other));
    if other != "lib" && module.len() > machine && modules.contains_key(&module[..machine]) {
        let path = name.join("::");
        return Some(format!("`{path}` reaches past the mod.rs of `{other}`"));
    }
    if ROUTES.contains(&of) {
        return None;
    }
    let (_, allowed) = WALLS.iter().find(|(name, _)| *name == of)?;
    // A folder's mod.rs hands on what its own parts export.
    let is_part = other.starts_with(&format!("{of}/"));
    (!allowed.contains(&other) && !is_part).then(|| {
        format!(
            "`{of}` must not know `{}`; allowed: {allowed:?}",
            if other == "lib" { &file.path } else { other }
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<File> = files
            .iter()
            .map(|(path, text)| File::parse(path, text).expect("the example is Rust"))
            .collect();
        let mut told = check(&files);
        told.extend(tell(&files));
        told
    }

    const LIB: (&str, &str) = ("lib.rs", "mod read; mod host; mod route; mod schedule;");

    #[test]
    fn formula_a_machine_that_calls_upwards_is_found() {
        let host = ("host/mod.rs", "pub struct Host;");
        let up = ("read/mod.rs", "use crate::host::Host;");
        let told = faults(&[LIB, host, up]);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("`read` must not know `host`"), "{told:?}");
        let inline = ("read/mod.rs", "fn f(h: &crate::host::Host) {}");
        assert_eq!(faults(&[LIB, host, inline]).len(), 1);
        let down = ("host/mod.rs", "use crate::schedule::Job;");
        let schedule = ("schedule/mod.rs", "pub struct Job;");
        assert_eq!(faults(&[LIB, down, schedule]), Vec::<String>::new());
    }

    #[test]
    fn formula_a_path_past_a_mod_is_found() {
        let schedule = ("schedule/mod.rs", "pub mod job;");
        let job = ("schedule/job.rs", "pub struct Job;");
        let past = ("host/mod.rs", "use crate::schedule::job::Job;");
        let told = faults(&[LIB, schedule, job, past]);
        assert!(told[0].contains("reaches past the mod.rs"), "{told:?}");
    }

    #[test]
    fn formula_what_is_handed_on_meets_the_walls_too() {
        let host = ("host/mod.rs", "pub struct Host;");
        let up = ("read/mod.rs", "pub(crate) use crate::host::Host;");
        assert_eq!(faults(&[LIB, host, up]).len(), 1);
        let deeper = ("ftl/place/a.rs", "use super::super::super::host::Host;");
        assert_eq!(faults(&[LIB, host, deeper]).len(), 1);
    }

    #[test]
    fn formula_a_circle_through_the_rows_of_a_table_is_found() {
        let table = (
            "policy/wear/mod.rs",
            "mod none; pub trait Wear {} axis! { Any: Wear { none::None, } }",
        );
        let scheme = ("policy/wear/none.rs", "use super::Wear; pub struct None;");
        let told = faults(&[LIB, table, scheme]);
        assert_eq!(
            told,
            ["a circle of files: policy/wear/mod.rs policy/wear/none.rs"]
        );
    }

    #[test]
    fn formula_a_file_that_no_wall_names_is_found() {
        let told = faults(&[LIB, ("hidden.rs", "use crate::route::Any;")]);
        assert!(told[0].contains("belongs to no machine"), "{told:?}");
    }

    #[test]
    fn formula_a_circle_is_found_through_what_a_mod_hands_on() {
        let module = ("read/mod.rs", "mod a; mod b; pub use a::A; pub use b::B;");
        let a = ("read/a.rs", "use super::B; pub struct A;");
        let b = ("read/b.rs", "use super::A; pub struct B;");
        let told = faults(&[LIB, module, a, b]);
        assert_eq!(told, ["a circle of files: read/a.rs read/b.rs"]);
        let b = ("read/b.rs", "pub struct B;");
        assert_eq!(faults(&[LIB, module, a, b]), Vec::<String>::new());
    }
}
