//! What the tests of the command share: a folder of its own for each, the command in it, and what it printed.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

/// A folder of its own for each test, empty at its start.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(test: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(env!("CARGO_CRATE_NAME"))
            .join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn with(self, name: &str, text: &str) -> Folder {
        self.write(name, text);
        self
    }

    /// The same with a file of `cases/`.
    pub fn with_case(self, name: &str) -> Folder {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
        fs::copy(from.join(name), self.0.join(name)).unwrap();
        self
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// How many files are in the folder called `name`.
    pub fn files(&self, name: &str) -> usize {
        fs::read_dir(self.0.join(name)).map_or(0, Iterator::count)
    }

    /// Whether nothing but `names` is in the folder.
    pub fn has_only(&self, names: &[&str]) -> bool {
        let all = fs::read_dir(&self.0).unwrap();
        let mut all: Vec<String> = all
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        all.sort();
        all == names
    }

    /// The command, in the folder.
    pub fn command(&self) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_firstread"))
    }

    /// Another program, in the folder.
    pub fn command_of(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Help is as wide as the terminal, and there is none here.
        command.env("COLUMNS", "100").env_remove("DEV");
        command
    }

    pub fn start(&self, words: impl Words) -> Child {
        self.command().args(words.list()).spawn().unwrap()
    }

    pub fn run(&self, words: impl Words) -> Ran {
        Ran::from(self.start(words).wait_with_output().unwrap())
    }
}

/// What is in folders of results.
impl Folder {
    /// All files below a folder but those of run times, by name.
    pub fn all(&self, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let top = self.0.join(name);
        let (mut files, mut folders) = (BTreeMap::new(), vec![top.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let below = path.strip_prefix(&top).unwrap().to_owned();
                match path.is_dir() {
                    true if below == Path::new("wall") => {}
                    true => folders.push(path),
                    false => drop(files.insert(below, fs::read(&path).unwrap_or_default())),
                }
            }
        }
        files
    }

    /// The files of two folders are the same, byte for byte.
    pub fn same(&self, one: &str, other: &str) {
        let (a, b) = (self.all(one), self.all(other));
        assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
        for (name, bytes) in &a {
            assert!(*bytes == b[name], "{} differs", name.display());
        }
    }
}

/// Waits until `is_due`, for two minutes at most.
pub fn wait_until(is_due: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if is_due() {
            return;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("what was waited for has not come in two minutes");
}

/// Arguments: a list of them, or a line with blanks between them.
pub trait Words {
    fn list(&self) -> Vec<&str>;
}

impl Words for &str {
    fn list(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Words for &String {
    fn list(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Words for &[&str] {
    fn list(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Words for &[&str; N] {
    fn list(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Words for &Vec<&str> {
    fn list(&self) -> Vec<&str> {
        (*self).clone()
    }
}

/// How a command ended, and what it printed.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().expect("no signal ended the command"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    #[track_caller]
    pub fn ok(self) -> Ran {
        assert_eq!(self.code, 0, "{}", self.err);
        self
    }

    #[track_caller]
    pub fn json(self) -> Value {
        serde_json::from_str(&self.ok().out).unwrap()
    }

    /// The message of a command that failed with `code`.
    #[track_caller]
    pub fn fails(self, code: i32) -> String {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.err);
        self.err
    }

    #[track_caller]
    pub fn says(&self, text: &str) {
        assert!(self.err.contains(text), "{text}: {}", self.err);
    }
}
