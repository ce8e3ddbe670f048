//! A command line of fio as a job file.
//!
//! fio makes a job of each `--name`, from the options behind it; options before the first are those of `[global]`. What
//! asks for files, screens or other machines has no meaning here: it is left out and named, or refused.
#![allow(missing_docs, reason = "an error's message says what its values are")]

use std::fmt::Write;

use thiserror::Error;

use super::options::{self, OPTIONS};
use crate::nearest::likely;

/// Options of the command alone: whether a value follows, and why it cannot be honoured where it cannot.
const OWN: [(&str, bool, Option<&str>); 29] = [
    ("output", true, None),
    ("output-format", true, None),
    ("minimal", false, None),
    ("append-terse", false, None),
    ("terse-version", true, None),
    ("eta", true, None),
    ("eta-newline", true, None),
    ("eta-interval", true, None),
    ("status-interval", true, None),
    ("bandwidth-log", false, None),
    ("latency-log", false, None),
    ("warnings-fatal", false, None),
    ("max-jobs", true, None),
    ("alloc-size", true, None),
    ("idle-prof", true, None),
    ("inflate-log", true, None),
    ("readonly", false, None),
    ("debug", true, None),
    ("aux-path", true, None),
    (
        "section",
        true,
        Some("write the options of that section alone"),
    ),
    ("client", true, Some("one machine is simulated")),
    ("server", true, Some("one machine is simulated")),
    ("remote-config", true, Some("one machine is simulated")),
    ("trigger", true, Some("nothing is triggered")),
    ("trigger-file", true, Some("nothing is triggered")),
    ("trigger-timeout", true, Some("nothing is triggered")),
    ("parse-only", false, Some("nothing would run")),
    ("showcmd", true, Some("nothing would run")),
    ("cpuclock-test", false, Some("nothing would run")),
];

/// Why a command line is not a job.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandLineError {
    #[error("a quote is not closed")]
    Quote,
    #[error("no job: a command line of fio has --name=NAME, and the options of the job behind it")]
    NoJob,
    /// A word that belongs to no option.
    #[error("`{0}` belongs to no option; a job file is given alone: firstread run {0}")]
    Word(String),
    /// An option that fio does not have.
    #[error("unknown option `{option}`{}", nearest.map(|name| format!("; the nearest valid name is `{name}`")).unwrap_or_default())]
    Unknown {
        option: String,
        /// The most similar name there is, if any is similar.
        nearest: Option<&'static str>,
    },
    /// An option of the command that cannot be honoured, and why.
    #[error("`{option}` is not supported: {why}")]
    Unsupported {
        option: &'static str,
        why: &'static str,
    },
    /// An option without its value.
    #[error("`{0}` needs a value")]
    Value(String),
    /// A name that no section can have.
    #[error("a job cannot be called `{0}`")]
    Name(String),
}

/// A command line that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// Name of its first job.
    pub name: String,
    /// The same as a job file, an option a line.
    pub text: String,
    /// Options of the command that were left out.
    pub left_out: Vec<&'static str>,
    /// What another command begins with, behind that of fio: it was left out too.
    pub next: Option<String>,
}

/// Whether a shell ends a command before `word`.
fn ends_command(word: &str) -> bool {
    let word = word.trim_start_matches(|c: char| c.is_ascii_digit());
    word.starts_with([';', '|', '&', '>'])
}

/// Where a shell ends the command that `text` begins with: at the first `;`, `|`, `&` or `>` outside of quotes, and before the
/// number of what `>` redirects.
fn end_of_command(text: &str) -> usize {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (None | Some('"'), '\\') => is_escaped = true,
            (Some(open), _) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ';' | '|' | '&') => return at,
            (None, '>') => {
                let before = text[..at].trim_end_matches(|c: char| c.is_ascii_digit());
                return match before.ends_with(char::is_whitespace) {
                    true => before.len(),
                    false => at,
                };
            }
            _ => {}
        }
    }
    text.len()
}

/// Whether `text` begins with a command line of fio, as it is pasted: perhaps with a prompt, `sudo` or settings before it.
/// A `#` is the prompt of a superuser where nothing follows the command, and begins a comment otherwise.
pub fn is_command_line(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim();
    let mut lines = text.lines().map(str::trim_end);
    let ends = |line: &str| !line.ends_with('\\');
    if text.starts_with('#')
        && lines
            .find(|line| ends(line))
            .is_some_and(|_| lines.next().is_some())
    {
        return false;
    }
    let mut words = text.split_whitespace();
    let first = words.find(|word| !is_prefix(word));
    first.is_some_and(is_fio) && words.next().is_some_and(|word| word.starts_with('-'))
}

/// Whether `word` may stand before the command.
fn is_prefix(word: &str) -> bool {
    let is_setting = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    });
    matches!(word, "$" | "#" | "sudo" | "time" | "env" | "exec") || is_setting
}

fn is_fio(word: &str) -> bool {
    word == "fio" || word.ends_with("/fio")
}

/// The job file of `words`, with or without the command before them.
///
/// # Errors
/// [`CommandLineError`] where they are no job.
pub fn command_line(words: &[String]) -> Result<CommandLine, CommandLineError> {
    let command = words.iter().position(|word| !is_prefix(word));
    let words = match command {
        Some(at) if is_fio(&words[at]) => &words[at + 1..],
        _ => words,
    };
    let mut line = CommandLine {
        name: String::new(),
        text: String::from("[global]\n"),
        left_out: Vec::new(),
        next: None,
    };
    // A line that goes on behind a backslash leaves an empty word.
    let mut words = words.iter().filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        if ends_command(word) {
            line.next = Some(word.clone());
            break;
        }
        let Some(option) = word.strip_prefix("--").or(word.strip_prefix('-')) else {
            return Err(CommandLineError::Word(word.clone()));
        };
        let (key, given) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (option, None),
        };
        let mut value = |takes: bool| match given.clone() {
            None if takes => words.next_if(|next| !next.starts_with("--")).cloned(),
            given => given,
        };
        let own = OWN.iter().find(|own| own.0 == key.replace('_', "-"));
        if let (Some((name, takes, why)), None) = (own, options::find(key)) {
            value(*takes);
            match why {
                Some(why) => return Err(CommandLineError::Unsupported { option: name, why }),
                None => line.left_out.push(name),
            }
            continue;
        }
        let row = options::find(key).ok_or_else(|| CommandLineError::Unknown {
            option: key.to_owned(),
            nearest: likely(key, OPTIONS.iter().map(|row| row.name)),
        })?;
        let value = value(row.takes != "0|1");
        if row.name == "name" {
            let name = value.ok_or_else(|| CommandLineError::Value("name".into()))?;
            if name.trim().is_empty()
                || name.contains(['[', ']', '\n'])
                || name.starts_with("global")
            {
                return Err(CommandLineError::Name(name));
            }
            let _ = writeln!(line.text, "[{name}]");
            if line.name.is_empty() {
                line.name = name;
            }
            continue;
        }
        let value = value.filter(|value| !value.is_empty());
        let _ = match value {
            Some(value) if value.contains(['\n', '#', ';']) => {
                return Err(CommandLineError::Word(value));
            }
            Some(value) => writeln!(line.text, "{key}={value}"),
            None => writeln!(line.text, "{key}"),
        };
    }
    match line.name.is_empty() {
        true => Err(CommandLineError::NoJob),
        false => Ok(line),
    }
}

/// The words of a line as a shell cuts it: quotes, backslashes, and lines that go on behind a backslash.
///
/// # Errors
/// [`CommandLineError::Quote`] where a quote is not closed.
pub fn words(text: &str) -> Result<Vec<String>, CommandLineError> {
    // The prompt of a superuser is a comment to a shell.
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let text = text.strip_prefix('#').unwrap_or(text);
    let (command, rest) = text.split_at(end_of_command(text));
    let split = |text: &str| shlex::split(text).ok_or(CommandLineError::Quote);
    let mut words = split(command)?;
    // What follows is another command, or where the output goes: its quotes are not fio's.
    let begins = rest.split_whitespace().next().map(str::to_owned);
    words.extend(begins);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<CommandLine, CommandLineError> {
        command_line(&words(text)?)
    }

    #[test]
    fn golden_command_lines_as_job_files() {
        let pasted = include_str!("../../../cli/tests/cases/command-line.txt");
        assert!(is_command_line(pasted));
        let line = of(pasted).unwrap();
        assert_eq!((line.name.as_str(), line.left_out.len()), ("rand", 0));
        assert_eq!(
            line.text,
            "[global]\n[rand]\nfilename=/dev/nvme0n1\ndirect=1\nioengine=libaio\nrw=randrw\nrwmixread=70\nbs=8k\n\
             iodepth=32\nnumjobs=4\nruntime=60\ntime_based\ngroup_reporting\n"
        );
        // Values apart, lines that go on, options before the first job, options of the command, a prompt.
        let line = of(
            "$ sudo DEV=x /usr/bin/fio --output-format json --bs 4k --norandommap \\\n --name a -rw=randread --name='b c' \\\n --rw randwrite --eta=never",
        );
        let line = line.unwrap();
        assert_eq!(line.left_out, ["output-format", "eta"]);
        assert_eq!(
            line.text,
            "[global]\nbs=4k\nnorandommap\n[a]\nrw=randread\n[b c]\nrw=randwrite\n"
        );
        // The prompt of a superuser, one hyphen, a value apart, another command behind it.
        for (behind, next) in [
            ("; rm -f a", ";"),
            (" &>log", "&>log"),
            ("|tee x", "|tee"),
            (" 1>x", "1>x"),
            (";", ";"),
            (" && fio --name=b", "&&"),
        ] {
            let line = of(&format!("fio --name=a --rw=randrw{behind}")).unwrap();
            assert_eq!(line.text, "[global]\n[a]\nrw=randrw\n", "{behind}");
            assert_eq!(line.next.as_deref(), Some(next));
        }
        let quoted = of("fio --name='a;b|c>d' --rw=read").unwrap();
        assert_eq!((quoted.name.as_str(), quoted.next), ("a;b|c>d", None));
        let pasted = "# fio -direct=1 -iodepth 32 -name=a -readwrite=randrw ; rm -f a";
        assert!(is_command_line(pasted));
        let line = of(pasted).unwrap();
        assert_eq!(
            line.text,
            "[global]\ndirect=1\niodepth=32\n[a]\nreadwrite=randrw\n"
        );
        assert_eq!(line.next.as_deref(), Some(";"));
        for text in [
            "# fio --minimal mine.fio\n[a]\nrw=read",
            "# fio --name=x --rw=randread\n128166372003061629,hm,1,Read,2088960,4096,24931\n",
            "fio job.fio",
            "fio version 2 iolog",
            "fiona --x",
            "[a]\nfio --x",
            "",
        ] {
            assert!(!is_command_line(text), "{text}");
        }
    }

    #[test]
    fn golden_command_lines_that_are_no_job() {
        for (text, message) in [
            (
                "fio --rw=read",
                "no job: a command line of fio has --name=NAME, and the options of the job behind it",
            ),
            (
                "--name=a job.fio",
                "`job.fio` belongs to no option; a job file is given alone: firstread run job.fio",
            ),
            (
                "--name=a --iodpth=3",
                "unknown option `iodpth`; the nearest valid name is `iodepth`",
            ),
            (
                "--name=a --client=host",
                "`client` is not supported: one machine is simulated",
            ),
            ("--name", "`name` needs a value"),
            ("--name=global", "a job cannot be called `global`"),
            ("--name='a", "a quote is not closed"),
        ] {
            assert_eq!(of(text).unwrap_err().to_string(), message, "{text}");
        }
    }
}
