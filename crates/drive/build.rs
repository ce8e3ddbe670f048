//! Says where the shipped profiles are, which are compiled into the crate: in its own folder when it is built from a
//! package, and at the top of the repository otherwise. The folder in the crate is a symbolic link, which not every
//! system checks out as one.
// A build script is told by its environment.
#![allow(clippy::disallowed_methods)]

use std::path::Path;

fn main() {
    let crate_folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo names the folder");
    let crate_folder = Path::new(&crate_folder);
    let places = [
        crate_folder.join("profiles"),
        crate_folder.join("../../profiles"),
    ];
    let there = places.iter().find(|place| place.is_dir());
    let place = there.expect("the profiles are in the crate or at the top of the repository");
    println!("cargo::rustc-env=FIRSTREAD_PROFILES={}", place.display());
    println!("cargo::rerun-if-changed=build.rs");
}
