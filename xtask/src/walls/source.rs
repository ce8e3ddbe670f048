//! Names that the files of a crate use, found by parsing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A module path below the crate.
pub(super) type Module = Vec<String>;

/// One file.
pub(super) struct File {
    pub(super) path: String,
    pub(super) module: Module,
    /// Paths below the crate that it names, with the line.
    pub(super) names: Vec<(Module, usize)>,
    /// Re-exports (`pub use`), and the same with their lines.
    pub(super) exports: BTreeMap<String, Module>,
    pub(super) handed_on: Vec<(Module, usize)>,
    pub(super) syntax: syn::File,
}

/// All files of a crate whose sources lie in `root`.
pub(super) fn files_of(root: &Path) -> Result<Vec<File>, String> {
    let mut paths = Vec::new();
    collect(root, &mut paths)?;
    paths.sort();
    paths.iter().map(|path| File::read(root, path)).collect()
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

    pub(super) fn parse(path: &str, text: &str) -> Result<File, String> {
        let parsed = syn::parse_file(text).map_err(|e| format!("{path}: {e}"))?;
        let stem = path.trim_end_matches(".rs").replace('\\', "/");
        let stem = stem.trim_end_matches("/mod");
        let module: Module = match stem {
            "lib" | "main" => Vec::new(),
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
        };
        reader.visit_file(&parsed);
        Ok(File {
            path: path.to_owned(),
            module,
            names: reader.names,
            exports: reader.exports,
            handed_on: reader.handed_on,
            syntax: parsed,
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

pub(super) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        a.path().is_ident("cfg")
            && a.parse_args::<syn::Ident>()
                .is_ok_and(|ident| ident == "test")
    })
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_some() && is_test(&item.attrs) {
            return;
        }
        // `super` within braces is the file itself.
        let braces = item.content.is_some();
        if braces {
            self.module.push(item.ident.to_string());
        }
        visit::visit_item_mod(self, item);
        if braces {
            self.module.pop();
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
}

/// The words and signs of `tree`, groups opened.
fn flat(tree: proc_macro2::TokenTree) -> Vec<String> {
    match tree {
        proc_macro2::TokenTree::Group(group) => group.stream().into_iter().flat_map(flat).collect(),
        other => vec![other.to_string()],
    }
}

/// The files by their module.
pub(super) fn by_module(files: &[File]) -> BTreeMap<&[String], &File> {
    files.iter().map(|f| (f.module.as_slice(), f)).collect()
}

/// The longest module that `name` begins with.
pub(super) fn module_of<'a>(
    name: &'a [String],
    modules: &BTreeMap<&[String], &File>,
) -> &'a [String] {
    let longest = (0..=name.len())
        .rev()
        .find(|&n| modules.contains_key(&name[..n]));
    &name[..longest.unwrap_or(0)]
}

/// The file that defines what `name` names: exports are followed.
pub(super) fn defined_in<'a>(
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
