//! `cargo xtask validate`: the medium against what is published of such chips, written into
//! `docs/nand-model.md`.
//!
//! Rewrites the tables between `<!-- generated: NAME -->` and `<!-- end: NAME -->` in the document, and the
//! pictures beside it. With `--check` nothing is written: the command fails where the document is not what
//! would be written, or where an anchor misses its band and no reason is given. `--quick` measures the anchors
//! alone, at a tenth of the samples.
//!
//! Bands were written down before the answers were looked at and no constant is moved to meet one; an anchor
//! outside its band says why. Everything is drawn from counter-based streams, so the same sources give the
//! same digits.
// The document is the same on every host: no clock here, and functions of floats through `libm`.
#![deny(clippy::disallowed_methods)]

mod code;
mod disturb;
mod figures;
mod knobs;
mod parameters;
mod persistence;
mod population;
mod retention;
mod section;
mod sensing;
mod sentinels;

use std::path::{Path, PathBuf};

use section::{Anchor, Effort, Figure, Group, Listing, table};

const DOCUMENT: &str = "nand-model.md";

/// All groups of anchors.
const GROUPS: &[Group] = &[
    ("anchors-temperature", retention::temperature),
    ("anchors-charge-trap-qlc", retention::charge_trap_qlc),
    ("anchors-floating-gate", retention::floating_gate),
    ("anchors-sentinels", sentinels::anchors),
    ("anchors-tlc", retention::tlc),
    ("anchors-mlc", retention::mlc),
    ("anchors-disturb", disturb::anchors),
    ("anchors-sensing", sensing::anchors),
    ("anchors-code", code::anchors),
];

/// All listings.
const LISTINGS: &[Listing] = &[
    ("chips", parameters::chips),
    ("timing", parameters::timing),
    ("phenomenological", parameters::phenomenological),
    ("persistence", persistence::table),
    ("joint-outcomes", persistence::joint_outcomes_table),
    ("soft-outcomes", code::soft_table),
    ("sentinels-noise", sentinels::noise_table),
    ("sentinels-spread", sentinels::spread_table),
    ("tlc-tables", retention::tlc_tables),
    ("knobs", knobs::table),
    ("unknowns", knobs::unknowns),
    ("codes", code::table),
];

/// All pictures.
const FIGURES: &[Figure] = &[
    ("nand-model-default-levels.svg", figures::default_levels),
    ("nand-model-codes.svg", figures::codes),
    ("nand-model-knobs.svg", figures::ranges),
];

/// Writes the document, or checks it; of its sections only those whose name contains `only`.
pub fn run(check: bool, only: Option<&str>) -> Result<(), String> {
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    let docs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs"));
    let path = docs.join(DOCUMENT);
    let old = read(&path)?;
    let mut text = old.clone();
    let mut faults = Vec::new();
    for (name, measure) in GROUPS.iter().filter(|group| wanted(group.0)) {
        let anchors = measure(Effort::Full)?;
        tell(&anchors);
        faults.extend(anchors.iter().filter_map(Anchor::fault));
        text = replaced(&text, name, &table(&anchors))?;
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

/// Measures the anchors alone, at a tenth of the samples: none may miss its band without a reason. Of the
/// groups only those whose name contains `only`.
pub fn run_quick(only: Option<&str>) -> Result<(), String> {
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    let mut faults = Vec::new();
    for (name, measure) in GROUPS.iter().filter(|group| wanted(group.0)) {
        let anchors = measure(Effort::Quick).map_err(|e| format!("{name}: {e}"))?;
        tell(&anchors);
        let missed = anchors.iter().filter(|anchor| !anchor.holds());
        faults.extend(missed.filter_map(Anchor::fault));
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n"))
    }
}

fn tell(anchors: &[Anchor]) {
    for anchor in anchors {
        let verdict = if anchor.holds() { "in band" } else { "MISS" };
        println!(
            "{verdict:>8}  {}: {} (band {})",
            anchor.what,
            anchor.format.text(anchor.value),
            anchor.band_text()
        );
    }
}

#[allow(clippy::disallowed_methods, reason = "the document is a file")]
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

#[cfg(test)]
mod tests;
