//! The standard output, for data, and the standard error, for everything else.

use std::io::{self, Write};

/// Prints data. A reader that closes the pipe early is not an error.
pub fn data(text: &str) -> anyhow::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Warns on the standard error.
pub fn warning(text: &str) {
    eprintln!("warning: {text}");
}

/// Prints a notice on the standard error.
pub fn notice(text: &str) {
    eprintln!("note: {text}");
}
