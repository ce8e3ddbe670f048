//! The documentation as a book, and its links.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::commands::{command, run, works};

/// Pages beside the book whose links are checked too.
const BESIDE: [&str; 3] = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Makes the book.
pub fn build() -> Result<(), String> {
    links()?;
    if !works(Command::new("mdbook").arg("--version")) {
        return Err("mdBook is missing: cargo install mdbook".into());
    }
    run(&mut command("mdbook", &["build", "docs"]))?;
    println!("target/book/index.html");
    Ok(())
}

/// That each link to a file leads to one, each link to a heading to that heading, and that each page of the
/// documentation is in its table of contents.
pub fn links() -> Result<(), String> {
    let root = root();
    let mut pages = Vec::new();
    pages_below(&root.join("docs"), &mut pages)?;
    let summary = read(&root.join("docs/SUMMARY.md"))?;
    let listed: BTreeSet<PathBuf> = targets(&summary)
        .map(|t| root.join("docs").join(t))
        .collect();
    let mut faults: Vec<String> = pages
        .iter()
        .filter(|page| !page.ends_with("SUMMARY.md") && !listed.contains(*page))
        .map(|page| format!("{} is not in docs/SUMMARY.md", page.display()))
        .collect();
    pages.extend(BESIDE.map(|name| root.join(name)));
    for page in &pages {
        let text = read(page)?;
        for target in targets(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => page.clone(),
                file => page.parent().unwrap_or(&root).join(file),
            };
            let outside = !stays_in_book(&root, page, &path);
            if outside {
                faults.push(format!(
                    "{}: {target} is no page of the book",
                    page.display()
                ));
            } else if !path.exists() {
                faults.push(format!("{}: no file {target}", page.display()));
            } else if !heading.is_empty() && !headings(&read(&path)?).contains(heading) {
                faults.push(format!("{}: no heading {target}", page.display()));
            }
        }
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults.join("\n")),
    }
}

/// Whether a link of a page of the book stays within the book, whose table of contents is no page.
fn stays_in_book(root: &Path, page: &Path, path: &Path) -> bool {
    let docs = root.join("docs");
    if !page.starts_with(&docs) || page.ends_with("SUMMARY.md") {
        return true;
    }
    let (Ok(docs), Ok(path)) = (docs.canonicalize(), path.canonicalize()) else {
        // That there is no such file is said anyway.
        return true;
    };
    path.starts_with(docs) && !path.ends_with("SUMMARY.md")
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn pages_below(folder: &Path, pages: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            pages_below(&path, pages)?;
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    Ok(())
}

/// Targets of the links of a page, those in code left out.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let mut in_block = false;
    let lines = text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_block ^= fence;
        !in_block && !fence
    });
    // Every other part between backquotes is code.
    let words = lines.flat_map(|line| line.split('`').step_by(2));
    let links = words.flat_map(|part| part.split("](").skip(1));
    links.filter_map(|rest| rest.split([')', ' ']).next())
}

/// Headings of a page, as links name them.
fn headings(text: &str) -> BTreeSet<String> {
    let titles = text.lines().filter_map(|line| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len()).then(|| title.trim())
    });
    let anchor = |title: &str| {
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let lower = kept.flat_map(char::to_lowercase);
        lower.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    titles.map(anchor).collect()
}
