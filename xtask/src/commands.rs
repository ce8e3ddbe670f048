//! Programs that tasks run, in the root of the repository.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `program` with `args`, in the root of the repository.
pub fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command
}

/// A file that cargo has built, by its path in the folder `target`.
pub fn target(path: &str) -> PathBuf {
    let folder = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    root.join(folder).join(path)
}

/// Runs `command`; fails where it does.
pub fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|e| format!("{command:?}: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?} ended with {status}"))
    }
}

/// Whether `command` can be run and succeeds.
pub fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|out| out.status.success())
}

/// Runs a task of the package `measure`, compiled for release.
pub fn measure<S: AsRef<OsStr>>(task: &str, arguments: &[S]) -> Result<(), String> {
    let mut cargo = command("cargo", &["run", "--release", "--package", "measure", "--"]);
    run(cargo.arg(task).args(arguments))
}

/// What `command` prints, without the final line break; fails where it does.
pub fn output(command: &mut Command) -> Result<String, String> {
    let out = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    match out.status.success() {
        true => Ok(String::from_utf8_lossy(&out.stdout).trim_end().to_owned()),
        false => Err(format!(
            "{command:?} ended with {}: {}{}",
            out.status,
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        )),
    }
}
