//! Which program makes a result: the commit where it was built from just that, otherwise the bytes of the program itself.

use std::io;
use std::sync::OnceLock;

use crate::error::StoreError;
use crate::files::{self, FileError};
use crate::results::COMMIT;

/// The identity of the running program: two programs that may compute something else have different ones. Two runs of
/// one program, and two builds of one commit, have the same.
///
/// # Errors
/// [`StoreError::Program`] where the program cannot be read. Its results cannot be told from those of others then.
pub(crate) fn identity() -> Result<&'static str, StoreError> {
    static IDENTITY: OnceLock<String> = OnceLock::new();
    if let Some(identity) = IDENTITY.get() {
        return Ok(identity);
    }
    let identity = named(COMMIT, files::checksum_of_program);
    let identity = identity.map_err(FileError::named("the program that runs"));
    let identity = identity.map_err(StoreError::Program)?;
    Ok(IDENTITY.get_or_init(|| identity))
}

/// Whether `commit` says all of what the program was built from.
fn is_whole(commit: &str) -> bool {
    !commit.ends_with("-modified") && commit != "unknown"
}

/// The identity of a program that was built from `commit`, and whose bytes have this `checksum`.
fn named(commit: &str, checksum: impl FnOnce() -> io::Result<String>) -> io::Result<String> {
    Ok(match is_whole(commit) {
        true => commit.to_owned(),
        false => format!("{commit}, binary {}", checksum()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A commit stands for its program. Of a changed work tree, or none, the bytes of the program decide.
    #[test]
    fn formula_programs_that_differ_have_different_identities() {
        let of = |commit: &str, bytes: &str| named(commit, || Ok(bytes.to_owned())).unwrap();
        assert_eq!(of("0123456789ab", "x"), of("0123456789ab", "y"));
        assert_ne!(of("0123456789ab", "x"), of("0123456789ac", "x"));
        for commit in ["0123456789ab-modified", "unknown"] {
            assert_eq!(of(commit, "x"), of(commit, "x"));
            assert_ne!(of(commit, "x"), of(commit, "y"), "{commit}");
        }
        let unread = || Err(io::Error::other("gone"));
        assert!(named("unknown", unread).is_err(), "no identity is none");
        assert_eq!(identity().unwrap(), identity().unwrap());
    }
}
