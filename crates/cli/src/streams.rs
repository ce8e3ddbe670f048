//! The standard output, for data, and the standard error, for everything else.

use std::io::{self, Write};

/// Prints data. A reader that closes the pipe early is not an error.
pub fn data(text: &str) -> anyhow::Result<()> {
    written(|out| out.write_all(text.as_bytes()))
}

/// Has `write` write data to the standard output. A reader that has left is no error.
pub fn written(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// `word` as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,/:+@%^".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
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
