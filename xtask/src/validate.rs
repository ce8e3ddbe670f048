//! `cargo xtask validate`: the medium against what is published, written into the document.
//!
//! Rewrites the tables between `<!-- generated: NAME -->` and `<!-- end: NAME -->` in
//! `docs/nand-model.md`, and the pictures beside it. With `--check` nothing is written: the command
//! fails where the document is not what would be written, or where an anchor misses its band and no
//! reason is given.

use std::path::{Path, PathBuf};

use firstread_testkit::validation::{Effort, GROUPS, LISTINGS, figures::FIGURES, table};

const DOCUMENT: &str = "nand-model.md";

/// Writes the document, or checks it; of its sections only those whose name contains `only`.
pub fn run(check: bool, only: Option<&str>) -> Result<(), String> {
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    let docs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs"));
    let path = docs.join(DOCUMENT);
    let old = read(&path)?;
    let mut text = old.clone();
    let mut faults = Vec::new();
    for (name, measure) in GROUPS.iter().filter(|group| wanted(group.0)) {
        let rows = measure(Effort::Full)?;
        faults.extend(rows.iter().filter_map(|r| r.fault()));
        for r in &rows {
            let verdict = if r.holds() { "in band" } else { "MISS" };
            println!(
                "{verdict:>8}  {}: {} (band {})",
                r.what,
                r.format.text(r.value),
                r.band_text()
            );
        }
        text = replaced(&text, name, &table(&rows))?;
    }
    for (name, write) in LISTINGS.iter().filter(|listing| wanted(listing.0)) {
        text = replaced(&text, name, &write(Effort::Full)?)?;
    }
    let mut files: Vec<(PathBuf, String, String)> = vec![(path, old, text)];
    for (name, draw) in FIGURES.iter().filter(|figure| wanted(figure.0)) {
        let path = docs.join(name);
        let old = read(&path).unwrap_or_default();
        files.push((path, old, draw(Effort::Full)?));
    }
    for (path, old, new) in &files {
        if old == new {
            continue;
        }
        if check {
            faults.push(format!(
                "{} is stale; run cargo xtask validate",
                path.display()
            ));
        } else {
            std::fs::write(path, new).map_err(|e| format!("{}: {e}", path.display()))?;
            println!("wrote {}", path.display());
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n"))
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// `text` with `body` between the markers of `name`.
fn replaced(text: &str, name: &str, body: &str) -> Result<String, String> {
    let (from, to) = (
        format!("<!-- generated: {name} -->"),
        format!("<!-- end: {name} -->"),
    );
    let missing = || format!("{DOCUMENT} has no section {name}: {from} and {to} in this order");
    let start = text.find(&from).ok_or_else(missing)? + from.len();
    let end = start + text[start..].find(&to).ok_or_else(missing)?;
    Ok(format!(
        "{}\n\n{}\n{}",
        &text[..start],
        body.trim_end(),
        &text[end..]
    )
    .replace("\n\n\n", "\n\n"))
}
