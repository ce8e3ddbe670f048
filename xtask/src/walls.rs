//! The walls inside the firmware: which machine may know which, that no two files import each other in a
//! circle, and how long files and functions may be. ARCHITECTURE.md draws the map; here it is held.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The machines of the firmware and what they share, each with what it may import. A path is a folder or a
/// file below `crates/firmware/src`; what is not named belongs to the nearest folder above that is.
const WALLS: &[(&str, &[&str])] = &[
    ("log", &[]),
    ("cache", &[]),
    ("config", &[]),
    ("observe", &[]),
    ("voltage", &["log", "observe", "policy"]),
    ("policy", &["log", "observe", "voltage"]),
    ("ftl/map", &[]),
    ("schedule", &["config", "observe", "policy"]),
    ("base", &["config", "log", "observe", "policy", "schedule"]),
    ("read", &["base", "observe", "policy", "schedule"]),
    (
        "ftl/place",
        &["base", "config", "ftl/map", "observe", "policy", "schedule"],
    ),
    (
        "store",
        &[
            "base",
            "ftl/map",
            "ftl/place",
            "observe",
            "read",
            "schedule",
        ],
    ),
    (
        "ftl/pager",
        &[
            "base",
            "cache",
            "ftl/map",
            "ftl/place",
            "observe",
            "read",
            "schedule",
            "store",
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
            "store",
        ],
    ),
    ("below", &["ftl/pager", "ftl/place", "store"]),
    (
        "ftl/relocate",
        &[
            "base",
            "below",
            "ftl/map",
            "ftl/pager",
            "ftl/place",
            "observe",
            "policy",
            "read",
            "schedule",
            "store",
        ],
    ),
    (
        "host",
        &[
            "base",
            "below",
            "cache",
            "config",
            "ftl",
            "ftl/map",
            "ftl/pager",
            "ftl/place",
            "observe",
            "policy",
            "read",
            "schedule",
            "store",
        ],
    ),
];
/// Folders of parts that are named each by itself: an axis of policy, a tool for read voltages.
const OF_PARTS: &[&str] = &["policy", "voltage"];
/// What knows all machines.
const ROUTES: &[&str] = &["route", "lib", "setup"];

/// A file that is in neither list.
const NOBODY: &str = "nobody";

/// Lines of a file, of a function, of all of `route/` and of `lib.rs`, at most; tests are not counted.
const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 100;
const ROUTE_LINES: usize = 600;
const LIB_LINES: usize = 250;

/// A module path below the crate.
type Module = Vec<String>;

/// One file.
struct File {
    path: String,
    module: Module,
    lines: usize,
    /// Paths below the crate that it names, with the line.
    names: Vec<(Module, usize)>,
    /// What it hands on under a name of its own (`pub use`), and the same with the line.
    exports: BTreeMap<String, Module>,
    handed_on: Vec<(Module, usize)>,
    /// Functions with their first and last line.
    functions: Vec<(String, usize, usize)>,
}

/// Checks the firmware.
pub fn run() -> Result<(), String> {
    let root = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../crates/firmware/src"
    ));
    let mut paths = Vec::new();
    collect(root, &mut paths)?;
    paths.sort();
    let files: Vec<File> = paths
        .iter()
        .map(|path| File::read(root, path))
        .collect::<Result<_, _>>()?;
    let faults = check(&files);
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!("crates/firmware/src:\n{}", faults.join("\n")))
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            into.push(path);
        }
    }
    Ok(())
}

impl File {
    fn read(root: &Path, path: &Path) -> Result<File, String> {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let below = path.strip_prefix(root).map_err(|e| e.to_string())?;
        File::parse(&below.to_string_lossy(), &text)
    }

    fn parse(path: &str, text: &str) -> Result<File, String> {
        let parsed = syn::parse_file(text).map_err(|e| format!("{path}: {e}"))?;
        let stem = path.trim_end_matches(".rs").replace('\\', "/");
        let stem = stem.trim_end_matches("/mod");
        let module: Module = match stem {
            "lib" => Vec::new(),
            _ => stem.split('/').map(str::to_owned).collect(),
        };
        let children = parsed.items.iter().filter_map(|item| match item {
            syn::Item::Mod(m) if m.content.is_none() => Some(m.ident.to_string()),
            _ => None,
        });
        let mut reader = Reader {
            children: children.collect(),
            module: module.clone(),
            names: Vec::new(),
            exports: BTreeMap::new(),
            handed_on: Vec::new(),
            functions: Vec::new(),
            tests_from: usize::MAX,
        };
        reader.visit_file(&parsed);
        Ok(File {
            path: path.to_owned(),
            lines: text.lines().count().min(reader.tests_from - 1),
            module,
            names: reader.names,
            exports: reader.exports,
            handed_on: reader.handed_on,
            functions: reader.functions,
        })
    }
}

/// Reads what a file names.
struct Reader {
    children: BTreeSet<String>,
    module: Module,
    names: Vec<(Module, usize)>,
    exports: BTreeMap<String, Module>,
    handed_on: Vec<(Module, usize)>,
    functions: Vec<(String, usize, usize)>,
    /// Line at which the file's own tests begin.
    tests_from: usize,
}

impl Reader {
    /// The path below the crate that `path` is; none for one of another crate or of the prelude.
    fn absolute(&self, path: &[String]) -> Option<Module> {
        let first = path.first()?;
        let mut at = self.module.clone();
        match first.as_str() {
            "crate" => return Some(path[1..].to_vec()),
            "self" => at.extend_from_slice(&path[1..]),
            "super" => {
                let up = path.iter().take_while(|p| *p == "super").count();
                at.truncate(at.len().checked_sub(up)?);
                at.extend_from_slice(&path[up..]);
            }
            child if self.children.contains(child) => at.extend_from_slice(path),
            _ => return None,
        }
        Some(at)
    }

    fn uses(&mut self, tree: &syn::UseTree, before: &[String], public: bool, line: usize) {
        let mut path = before.to_vec();
        match tree {
            syn::UseTree::Path(p) => {
                path.push(p.ident.to_string());
                self.uses(&p.tree, &path, public, line);
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.uses(tree, &path, public, line);
                }
            }
            syn::UseTree::Name(name) if name.ident == "self" => {
                self.used(&path, None, public, line)
            }
            syn::UseTree::Name(name) => {
                path.push(name.ident.to_string());
                self.used(&path, None, public, line);
            }
            syn::UseTree::Rename(rename) => {
                path.push(rename.ident.to_string());
                self.used(&path, Some(rename.rename.to_string()), public, line);
            }
            _ => self.used(&path, None, public, line),
        }
    }

    fn used(&mut self, path: &[String], name: Option<String>, public: bool, line: usize) {
        let Some(path) = self.absolute(path) else {
            return;
        };
        match (public, name.or_else(|| path.last().cloned())) {
            // What a file hands on is no import of its own, but the walls stand for it too.
            (true, Some(name)) => {
                self.exports.insert(name, path.clone());
                self.handed_on.push((path, line));
            }
            _ => self.names.push((path, line)),
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        a.path().is_ident("cfg")
            && a.parse_args::<syn::Ident>()
                .is_ok_and(|ident| ident == "test")
    })
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_some() && is_test(&item.attrs) {
            self.tests_from = item.span().start().line;
        } else {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let public = !matches!(item.vis, syn::Visibility::Inherited);
        let line = item.span().start().line;
        self.uses(&item.tree, &[], public, line);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let first = names.first().map_or("", String::as_str);
        let line = path.span().start().line;
        if names.len() > 1
            && (["crate", "super"].contains(&first) || self.children.contains(first))
            && let Some(path) = self.absolute(&names)
        {
            self.names.push((path, line));
        }
        visit::visit_path(self, path);
    }

    // The rows of a table name files below: `axis! { factory::Factory, ... }`.
    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        let line = item.path.span().start().line;
        let tokens: Vec<String> = item.tokens.clone().into_iter().flat_map(flat).collect();
        for three in tokens.windows(3) {
            let [module, colon, next] = three else {
                continue;
            };
            if colon == ":" && next == ":" && self.children.contains(module) {
                let mut path = self.module.clone();
                path.push(module.clone());
                self.names.push((path, line));
            }
        }
        visit::visit_macro(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let span = item.block.span();
        let name = item.sig.ident.to_string();
        let first = item.sig.span().start().line;
        self.functions.push((name, first, span.end().line));
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        let name = item.sig.ident.to_string();
        let first = item.sig.span().start().line;
        self.functions
            .push((name, first, item.block.span().end().line));
        visit::visit_impl_item_fn(self, item);
    }
}

/// The words and signs of `tree`, groups opened.
fn flat(tree: proc_macro2::TokenTree) -> Vec<String> {
    match tree {
        proc_macro2::TokenTree::Group(group) => group.stream().into_iter().flat_map(flat).collect(),
        other => vec![other.to_string()],
    }
}

/// What does not hold, a line each.
fn check(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    let modules: BTreeMap<&[String], &File> =
        files.iter().map(|f| (f.module.as_slice(), f)).collect();
    for file in files {
        lengths(file, &mut faults);
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
    let route = files.iter().filter(|f| owner(&f.module) == "route");
    let route: usize = route.map(|f| f.lines).sum();
    if route > ROUTE_LINES {
        faults.push(format!("route/ has {route} lines, at most {ROUTE_LINES}"));
    }
    faults.extend(circles(files, &modules));
    faults
}

fn lengths(file: &File, faults: &mut Vec<String>) {
    let most = if file.path == "lib.rs" {
        LIB_LINES
    } else {
        FILE_LINES
    };
    if file.lines > most {
        faults.push(format!(
            "{} has {} lines, at most {most}",
            file.path, file.lines
        ));
    }
    for (name, first, last) in &file.functions {
        let lines = last - first + 1;
        if lines > FUNCTION_LINES {
            faults.push(format!(
                "{}:{first}: `{name}` has {lines} lines, at most {FUNCTION_LINES}",
                file.path
            ));
        }
    }
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

/// What is wrong with `file`, of machine `of`, naming `name`.
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

/// The longest module that `name` begins with.
fn module_of<'a>(name: &'a [String], modules: &BTreeMap<&[String], &File>) -> &'a [String] {
    let longest = (0..=name.len())
        .rev()
        .find(|&n| modules.contains_key(&name[..n]));
    &name[..longest.unwrap_or(0)]
}

/// The file that defines what `name` names: exports are followed.
fn defined_in<'a>(
    name: &[String],
    modules: &BTreeMap<&[String], &'a File>,
    depth: usize,
) -> Option<&'a File> {
    let module = module_of(name, modules);
    let file = *modules.get(module)?;
    let next = name
        .get(module.len())
        .and_then(|item| file.exports.get(item));
    match next {
        Some(path) if depth > 0 && path.as_slice() != name => {
            let path: Module = path
                .iter()
                .chain(&name[module.len() + 1..])
                .cloned()
                .collect();
            defined_in(&path, modules, depth - 1)
        }
        _ => Some(file),
    }
}

/// Files that import each other in a circle: each circle once.
fn circles(files: &[File], modules: &BTreeMap<&[String], &File>) -> Vec<String> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in files {
        let named = file
            .names
            .iter()
            .filter_map(|(n, _)| defined_in(n, modules, 8));
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
        let others = seen.iter().filter(|other| reached[**other].contains(path));
        let mut circle = String::from("a circle of files:");
        for other in others {
            told.insert(other);
            let _ = write!(circle, " {other}");
        }
        circles.push(circle);
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<File> = files
            .iter()
            .map(|(path, text)| File::parse(path, text).expect("the example is Rust"))
            .collect();
        check(&files)
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

    #[test]
    fn formula_long_functions_and_files_are_found_and_tests_are_not_counted() {
        let long = format!("fn f() {{{}}}", "\n".repeat(FUNCTION_LINES));
        assert_eq!(faults(&[LIB, ("read/mod.rs", &long)]).len(), 1);
        let file = "\n".repeat(FILE_LINES + 1);
        assert_eq!(faults(&[LIB, ("read/mod.rs", &file)]).len(), 1);
        let tested = format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{{file}}}");
        assert_eq!(
            faults(&[LIB, ("read/mod.rs", &tested)]),
            Vec::<String>::new()
        );
    }
}
