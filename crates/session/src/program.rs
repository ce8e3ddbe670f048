//! Which program makes a result: the commit and how it was compiled where it was built from just that, otherwise the bytes
//! of the program itself.

use std::io;
use std::sync::OnceLock;

use crate::error::StoreError;
use crate::files::{self, FileError};
use crate::results::COMMIT;

/// The compiler with its target, profile and flags.
const BUILT_BY: &str = env!("FIRSTREAD_BUILT_BY");

/// The identity of the running program: two programs that may compute something else have different ones. Two runs of
/// one program have the same, and so have two builds of one commit by the same compiler in the same way.
///
/// # Errors
/// [`StoreError::Program`] where the program cannot be read. Its results cannot be told from those of others then.
pub(crate) fn identity() -> Result<&'static str, StoreError> {
    static IDENTITY: OnceLock<String> = OnceLock::new();
    if let Some(identity) = IDENTITY.get() {
        return Ok(identity);
    }
    let built_by = match cfg!(debug_assertions) {
        true => format!("{BUILT_BY}, with debug assertions"),
        false => BUILT_BY.to_owned(),
    };
    let identity = named(COMMIT, &built_by, files::checksum_of_program);
    let identity = identity.map_err(FileError::named("the program that runs"));
    let identity = identity.map_err(StoreError::Program)?;
    Ok(IDENTITY.get_or_init(|| identity))
}

/// Whether `commit` says all of what the program was built from.
fn is_whole(commit: &str) -> bool {
    !commit.ends_with("-modified") && commit != "unknown"
}

/// The identity of a program that was built from `commit` as `built_by` says, and whose bytes have this `checksum`.
fn named(
    commit: &str,
    built_by: &str,
    checksum: impl FnOnce() -> io::Result<String>,
) -> io::Result<String> {
    Ok(match is_whole(commit) {
        true => format!("{commit}, {built_by}"),
        false => format!("{commit}, binary {}", checksum()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A commit and how it was compiled stand for a program. Of a changed work tree, or none, the bytes of the program
    /// decide.
    #[test]
    fn formula_programs_that_differ_have_different_identities() {
        let by = |commit: &str, built_by: &str, bytes: &str| {
            named(commit, built_by, || Ok(bytes.to_owned())).unwrap()
        };
        let of = |commit: &str, bytes: &str| by(commit, "rustc 1", bytes);
        assert_ne!(of("0123456789ab", "x"), by("0123456789ab", "rustc 2", "x"));
        assert_eq!(of("0123456789ab", "x"), of("0123456789ab", "y"));
        assert_ne!(of("0123456789ab", "x"), of("0123456789ac", "x"));
        for commit in ["0123456789ab-modified", "unknown"] {
            assert_eq!(of(commit, "x"), of(commit, "x"));
            assert_ne!(of(commit, "x"), of(commit, "y"), "{commit}");
        }
        let unread = || Err(io::Error::other("gone"));
        assert!(named("unknown", "", unread).is_err(), "no identity is none");
        assert_eq!(identity().unwrap(), identity().unwrap());
    }

    /// What the build script tells of a build names the compiler, the target and the profile.
    #[test]
    fn formula_a_build_is_told_by_its_compiler_target_and_profile() {
        let [rustc, target, profile, flags] = BUILT_BY.split(", ").collect::<Vec<_>>()[..] else {
            panic!("{BUILT_BY}");
        };
        assert!(rustc.starts_with("rustc 1."), "{rustc}");
        assert!(target.contains(std::env::consts::ARCH), "{target}");
        let profile = profile.strip_prefix("profile ").unwrap();
        let (name, level) = profile.split_once(" at level ").unwrap();
        assert!(!name.is_empty() && level.parse::<u8>().is_ok(), "{profile}");
        assert!(flags.starts_with("flags `"), "{flags}");
    }
}
