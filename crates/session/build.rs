//! Puts the commit into the binary, so that every result says which code made it.

use std::path::Path;
use std::process::Command;

fn main() {
    println!(
        "cargo::rustc-env=FIRSTREAD_COMMIT={}",
        commit().unwrap_or_else(|| "unknown".into())
    );
    let root = Path::new("../..");
    for path in ["crates", "profiles", ".git/HEAD", ".git/logs/HEAD"] {
        // A path that is not there would make cargo run this script every time.
        if root.join(path).exists() {
            println!("cargo::rerun-if-changed=../../{path}");
        }
    }
}

/// The commit, marked where what is built differs from it. None without git or outside a repository.
fn commit() -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let head = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&[
        // Looking must not write to the index.
        "--no-optional-locks",
        "status",
        "--porcelain",
        "--",
        "../../crates",
        "../../profiles",
    ])?;
    Some(if changed.is_empty() {
        head
    } else {
        format!("{head}-modified")
    })
}
