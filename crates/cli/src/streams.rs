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

    #[test]
    fn formula_control_characters_are_told_as_escapes() {
        let told = printable("a\u{1b}[31mred\r\u{9b}1m\tb\nµ");
        assert_eq!(told, "a\\u{1b}[31mred\\r\\u{9b}1m\tb\nµ");
    }
}
