#![allow(missing_docs, clippy::all)]
#[path = "../../../xtask/src/ecc_tables.rs"]
mod ecc_tables;
fn main() { let a: Vec<String> = std::env::args().skip(1).collect(); if let Err(e) = ecc_tables::run(&a) { eprintln!("{e}"); std::process::exit(1) } }
