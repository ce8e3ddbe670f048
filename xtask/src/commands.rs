//! Programs that tasks run, in the root of the repository.

use std::process::Command;

/// `program` with `args`, in the root of the repository.
pub fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    command
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
