//! Writes the sample in the README anew: runs its command and puts what it prints between the marks.
#![allow(
    clippy::disallowed_methods,
    reason = "a tool that runs a command and edits a file"
)]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Several drives, since chips differ more than runs do; of each drive 500 reads lie beyond P99.
const SAMPLE: [&str; 8] = [
    "--scheme",
    "read_levels=factory,frozen,ct-qlc,optimal",
    "--pe-cycles",
    "2500",
    "--drives",
    "3",
    "--limit",
    "50000",
];
/// Begins what the sample leaves out.
const NEXT_TABLE: &str = "\n\nlatency by percentile";
const BEGIN: &str = "<!-- sample: ";
const END: &str = "<!-- end of sample -->";

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new("cargo");
    command
        .current_dir(&root)
        .args(["run", "--quiet", "--release", "--", "compare"])
        .args(SAMPLE);
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err("the command failed; the README is as it was".into());
    }
    let all = String::from_utf8(output.stdout)?;
    // The first table; what follows is for those who run it.
    let (table, _) = all
        .split_once(NEXT_TABLE)
        .ok_or("the command prints no second table")?;
    let sample = format!("{table}\n");

    let path = root.join("README.md");
    let text = fs::read_to_string(&path)?;
    let (before, rest) = text.split_once(BEGIN).ok_or("the README has no sample")?;
    let (mark, rest) = rest
        .split_once('\n')
        .ok_or("the sample's mark has no end")?;
    let (_, after) = rest.split_once(END).ok_or("the sample has no end")?;
    let block = format!("{BEGIN}{mark}\n```text\n{sample}```\n{END}");
    fs::write(&path, format!("{before}{block}{after}"))?;
    Ok(())
}
