//! `cargo xtask release`: the fastest binaries, compiled twice.
//!
//! The first build counts which ways its code goes while it runs a part of the benchmarks; the second
//! is laid out by these counts (profile-guided optimization). It computes the same: of a branch it only
//! knows which way is the usual one. What no benchmark uses (soft senses, caches, several queues) is laid
//! out as what seldom happens.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::commands::{command, output, run};

/// Binaries to build, by package and name.
const BINARIES: [(&str, &str); 2] = [("firstread-cli", "firstread"), ("measure", "measure")];

/// Builds into `target/guided`.
pub fn build() -> Result<(), String> {
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let host = output(Command::new("rustc").args(["--print", "host-tuple"]))?;
    let tools = Path::new(&sysroot).join("lib/rustlib").join(&host);
    let objcopy = tools.join(format!("bin/llvm-objcopy{EXE_SUFFIX}"));
    let profdata = tools.join(format!("bin/llvm-profdata{EXE_SUFFIX}"));
    if !profdata.is_file() {
        return Err(format!(
            "{} is missing, which adds up what the first build has counted: \
             rustup component add llvm-tools",
            profdata.display()
        ));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("target/guided");
    let (counts, sums) = (folder.join("counts"), folder.join("counts.profdata"));
    if counts.exists() {
        fs::remove_dir_all(&counts).map_err(|e| format!("{}: {e}", counts.display()))?;
    }

    println!("1 of 3: a build that counts");
    let counting = compile(&folder.join("counting"), &host, "generate", &counts)?;
    println!("2 of 3: a part of the benchmarks");
    run(Command::new(counting.join("measure"))
        .args(["bench", "--train"])
        .env("LLVM_PROFILE_FILE", counts.join("%p.profraw")))?;
    run(Command::new(&profdata)
        .arg("merge")
        .arg("-o")
        .arg(&sums)
        .arg(&counts))?;
    println!("3 of 3: the build by these counts");
    let guided = compile(&folder.join("build"), &host, "use", &sums)?;
    for (_, name) in BINARIES {
        let name = format!("{name}{EXE_SUFFIX}");
        let to = folder.join(&name);
        fs::copy(guided.join(&name), &to).map_err(|e| format!("{}: {e}", to.display()))?;
        if cfg!(target_os = "linux") {
            set_line_tables_apart(&objcopy, &to)?;
        }
        println!("{}", to.display());
    }
    Ok(())
}

/// Moves the line tables of `binary` into a file beside it, where debuggers look for them: `firstread.debug`.
fn set_line_tables_apart(objcopy: &Path, binary: &Path) -> Result<(), String> {
    let apart = binary.with_extension("debug");
    let copy =
        |argument: &str, to: &Path| run(Command::new(objcopy).arg(argument).arg(binary).arg(to));
    copy("--only-keep-debug", &apart)?;
    copy("--strip-all", binary)?;
    copy(&format!("--add-gnu-debuglink={}", apart.display()), binary)
}

/// Compiles the binaries with `-Cprofile-<how>=<path>`; where they are then.
fn compile(target: &Path, host: &str, how: &str, path: &Path) -> Result<PathBuf, String> {
    let mut flags = format!("-Cprofile-{how}={}", path.display());
    // Those of the user stay; cargo keeps them apart by this character, or by spaces.
    if let Ok(more) = std::env::var("CARGO_ENCODED_RUSTFLAGS") {
        flags = format!("{flags}\x1f{more}");
    } else if let Ok(more) = std::env::var("RUSTFLAGS") {
        more.split_whitespace()
            .for_each(|flag| flags = format!("{flags}\x1f{flag}"));
    }
    // With a target named, build scripts and macros are compiled without the flags.
    let mut cargo = command("cargo", &["build", "--release", "--target", host]);
    for (package, _) in BINARIES {
        cargo.args(["--package", package]);
    }
    run(cargo
        .env("CARGO_ENCODED_RUSTFLAGS", flags)
        // The counts are attributed by symbols, and line tables are set apart afterwards.
        .env("CARGO_PROFILE_RELEASE_STRIP", "none")
        .env("CARGO_TARGET_DIR", target))?;
    Ok(target.join(host).join("release"))
}
