//! What is wrong with a drive, and the key that it most likely comes from.

/// The path of the key, and the message.
pub(super) type Wrong = (String, String);

pub(super) fn wrong(path: &str, message: String) -> Result<(), Wrong> {
    Err((path.into(), message))
}
