//! Prints the digest of a run that must be the same on every host: `cargo xtask test` compares it with that of the
//! same run as wasm.

fn main() {
    println!("{}", firstread_testkit::digest());
}
