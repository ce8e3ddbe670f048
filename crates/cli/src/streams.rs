//! The standard output, for data, and the standard error, for everything else.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

/// Prints data. A reader that closes the pipe early is not an error.
pub fn data(text: &str) -> anyhow::Result<()> {
    written(|out| out.write_all(text.as_bytes()))
}

/// Has `write` write data to the standard output. A reader that has left is no error, and neither is a terminal that was
/// closed.
pub fn written(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if !has_left(&error, was_terminal()) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Whether `error` says that nobody reads any more what is written, to a terminal where `is_terminal` says so.
fn has_left(error: &io::Error, is_terminal: bool) -> bool {
    /// Number of the error that unix has for a terminal that was closed. Of a file it is one of the disk.
    const EIO: i32 = 5;
    let closed = cfg!(unix) && is_terminal && error.raw_os_error() == Some(EIO);
    closed || error.kind() == io::ErrorKind::BrokenPipe
}

/// Whether the standard output was a terminal when this was asked first: one that was closed is none any more.
pub fn was_terminal() -> bool {
    static WAS: OnceLock<bool> = OnceLock::new();
    *WAS.get_or_init(|| io::stdout().is_terminal())
}

/// `word` as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,/:+@%^".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Says `text` on the standard error. What a file or an argument brings along cannot command the terminal: control
/// characters are written as escapes. A terminal that is gone is no error.
pub fn tell(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(text));
}

/// `text` with its control characters as escapes, but for the ends of lines.
fn printable(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() && !matches!(c, '\n' | '\t') {
            true => plain.extend(c.escape_default()),
            false => plain.push(c),
        }
    }
    plain
}

/// Warns on the standard error.
pub fn warning(text: &str) {
    tell(&format!("warning: {text}"));
}

/// Prints a notice on the standard error.
pub fn notice(text: &str) {
    tell(&format!("note: {text}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A closed terminal is no error, and a disk that fails is one.
    #[test]
    #[cfg(unix)]
    fn formula_who_has_left_is_told_from_what_failed() {
        let eio = io::Error::from_raw_os_error(5);
        assert!(has_left(&eio, true) && !has_left(&eio, false));
        assert!(has_left(&io::ErrorKind::BrokenPipe.into(), false));
        assert!(!has_left(&io::ErrorKind::StorageFull.into(), true));
    }

    #[test]
    fn formula_control_characters_are_told_as_escapes() {
        let told = printable("a\u{1b}[31mred\r\u{9b}1m\tb\nµ");
        assert_eq!(told, "a\\u{1b}[31mred\\r\\u{9b}1m\tb\nµ");
    }
}
