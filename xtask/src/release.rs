//! `cargo xtask release`: the fastest binaries, compiled twice.
//!
//! The first build counts which ways its code goes while it runs a part of the benchmarks; the second
//! is laid out by these counts (profile-guided optimization). It computes the same: of a branch it only
//! knows which way is the usual one. The command, its manual pages, completions and licences are also packed into an
//! archive, for machines without Rust.
//!
//! What no benchmark uses (soft senses, caches, several queues) is laid
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
    let archive = archive(
        &folder.join(format!("firstread{EXE_SUFFIX}")),
        &folder,
        &host,
    )?;
    println!("{}", archive.display());
    Ok(())
}

/// Packs `binary`, which is the command, with what belongs to it into an archive below `folder`. Its name has the version and
/// the `host` that it runs on.
fn archive(binary: &Path, folder: &Path, host: &str) -> Result<PathBuf, String> {
    const BESIDE: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];
    const SHELLS: [(&str, &str); 3] = [
        ("bash", "firstread.bash"),
        ("zsh", "_firstread"),
        ("fish", "firstread.fish"),
    ];
    let name = format!("firstread-{}-{host}", env!("CARGO_PKG_VERSION"));
    let packed = folder.join(&name);
    let told = |e: std::io::Error| format!("{}: {e}", packed.display());
    if packed.exists() {
        fs::remove_dir_all(&packed).map_err(told)?;
    }
    fs::create_dir_all(packed.join("completions")).map_err(told)?;
    let copied = |from: &Path| {
        let to = packed.join(from.file_name().unwrap_or_default());
        fs::copy(from, to).map_err(|e| format!("{}: {e}", from.display()))
    };
    copied(binary)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for file in BESIDE {
        copied(&root.join(file))?;
    }
    run(Command::new(binary).arg("man").arg(packed.join("man")))?;
    for (shell, file) in SHELLS {
        let text = output(Command::new(binary).args(["completions", shell]))?;
        fs::write(packed.join("completions").join(file), text + "\n").map_err(told)?;
    }
    let archive = folder.join(format!("{name}.tar.gz"));
    run(Command::new("tar")
        .arg("-czf")
        .arg(&archive)
        .arg("-C")
        .arg(folder)
        .arg(&name))?;
    Ok(archive)
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// The archive has the command, its manual pages, completions and licences, below one folder.
    #[test]
    fn sequence_an_archive_has_all_that_belongs_to_the_command() {
        let folder = std::env::temp_dir().join(format!("firstread-archive-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let binary = folder.join("firstread");
        let script = "#!/bin/sh\nif [ $1 = man ]; then mkdir -p $2; echo page > $2/firstread.1; else echo $2; fi\n";
        fs::write(&binary, script).unwrap();
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
        let packed = archive(&binary, &folder, "a-host").unwrap();
        let name = format!("firstread-{}-a-host", env!("CARGO_PKG_VERSION"));
        assert_eq!(packed, folder.join(format!("{name}.tar.gz")));
        let listed = output(Command::new("tar").arg("-tzf").arg(&packed)).unwrap();
        for file in [
            "firstread",
            "LICENSE-MIT",
            "man/firstread.1",
            "completions/_firstread",
        ] {
            let file = format!("{name}/{file}");
            assert!(listed.lines().any(|line| line == file), "{file}: {listed}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
