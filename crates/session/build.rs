//! Puts the commit into the binary, so that every result says which code made it, with the compiler and its settings, by
//! which results are told apart that are kept, and says where the shipped studies
//! and job files are, which are compiled into the crate: in its own folder when it is built from a package, and at the
//! top of the repository otherwise. Those in the crate are symbolic links, which not every system checks out as such.
// A build script is told by its environment.
#![allow(clippy::disallowed_methods)]

use std::path::Path;
use std::process::Command;

fn main() {
    println!(
        "cargo::rustc-env=FIRSTREAD_COMMIT={}",
        commit().unwrap_or_else(|| "unknown".into())
    );
    println!("cargo::rustc-env=FIRSTREAD_BUILT_BY={}", built_by());
    println!("cargo::rerun-if-env-changed=RUSTFLAGS");
    let crate_folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo names the folder");
    let crate_folder = Path::new(&crate_folder);
    for (name, own, top) in [
        ("FIRSTREAD_STUDIES", "studies", "../../studies"),
        ("FIRSTREAD_JOBS", "jobs", "../../examples"),
    ] {
        let places = [own, top].map(|place| crate_folder.join(place));
        let there = places.iter().find(|place| place.is_dir());
        let place = there.expect("they are in the crate or at the top of the repository");
        println!("cargo::rustc-env={name}={}", place.display());
    }
    for path in BUILT_FROM
        .iter()
        .chain(&["../../.git/HEAD", "../../.git/logs/HEAD"])
    {
        // A path that is not there would make cargo run this script every time.
        if Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

/// The compiler, the target, the profile and the flags of this build.
fn built_by() -> String {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let rustc = Command::new(variable("RUSTC")).arg("--version").output();
    let rustc = rustc.map_or_else(
        |_| "rustc unknown".into(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    );
    // Cargo tells a profile of another name only by its folder: `target/swarm/build/firstread-session-…/out`.
    let out = variable("OUT_DIR");
    let folder = Path::new(&out).ancestors().nth(3);
    let profile = folder.and_then(Path::file_name).unwrap_or_default();
    let flags = variable("CARGO_ENCODED_RUSTFLAGS").replace('\u{1f}', " ");
    format!(
        "{rustc}, {}, profile {} at level {}, flags `{flags}`",
        variable("TARGET"),
        profile.to_string_lossy(),
        variable("OPT_LEVEL"),
    )
}

/// What decides what the program computes.
const BUILT_FROM: [&str; 8] = [
    "../../crates",
    "../../profiles",
    "../../examples",
    "../../studies",
    "../../Cargo.toml",
    "../../Cargo.lock",
    "../../rust-toolchain.toml",
    "../../.cargo",
];

/// The commit, marked where what is built differs from it. None without git or outside a repository.
fn commit() -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    // A package may be unpacked below the folder of another repository.
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let is_own = Path::new(&top).canonicalize().ok() == Path::new("../..").canonicalize().ok();
    if !is_own {
        return None;
    }
    let head = git(&["rev-parse", "--short=12", "HEAD"])?;
    // Looking must not write to the index. A file that git does not know counts as a change.
    let status = ["--no-optional-locks", "status", "--porcelain", "--"];
    let changed = git(&[&status[..], &BUILT_FROM].concat())?;
    Some(if changed.is_empty() {
        head
    } else {
        format!("{head}-modified")
    })
}
