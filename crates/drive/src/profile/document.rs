//! The parsed text of a profile, merged with the profile it is based on and with overrides.
//!
//! A document may be `based_on` another of its kind: tables merge, leaves replace. Overrides
//! (`--set PATH=VALUE`) replace leaves last. Every node keeps where it was written.

use std::cell::Cell;

use toml::de::{DeTable, DeValue};

use crate::profile::{Kind, Library, Problem, ProfileError};

/// A value set over a profile's own: `PATH=VALUE`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Override {
    /// Path of the key: `ecc.engines`, `chip.retention.late.onset`.
    pub path: String,
    /// Its value as typed: `20us`, `frozen`, `[2, 4, 8, 14]`.
    pub value: String,
    /// What was typed before `path`, for messages.
    prefix: String,
}

impl Override {
    /// Reads `PATH=VALUE`.
    pub fn parse(text: &str) -> Result<Override, Problem> {
        let parts = text.split_once('=').map(|(p, v)| (p.trim(), v.trim()));
        match parts {
            Some((path, value)) if !value.is_empty() && path.split('.').all(|k| !k.is_empty()) => {
                Ok(Override::new(path, value))
            }
            _ => Err(Problem::new(format!("`{text}` is not PATH=VALUE"))),
        }
    }

    /// Sets `path` to `value`.
    pub fn new(path: &str, value: &str) -> Override {
        Override {
            path: path.into(),
            value: value.into(),
            prefix: String::new(),
        }
    }

    /// The override as the table at `key` sees it, if it is of something below `key`.
    pub fn below(&self, key: &str) -> Option<Override> {
        let path = self.path.strip_prefix(key)?.strip_prefix('.')?;
        Some(Override {
            path: path.into(),
            value: self.value.clone(),
            prefix: format!("{}{key}.", self.prefix),
        })
    }

    /// For messages.
    fn label(&self) -> String {
        format!("--set {}{}={}", self.prefix, self.path, self.value)
    }
}

/// Where a node was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Location {
    /// Index into [`Document::origins`].
    pub(super) origin: usize,
    /// Line in it, from 1; 0 for an override.
    pub(super) line: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) place: Location,
    pub(super) node: Node,
    /// Whether a reader has asked for it.
    pub(super) used: Cell<bool>,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Table(Vec<Entry>),
    Array(Vec<Node>),
    Text(String),
    /// An integer or float, as written.
    Number(String),
    Flag(bool),
    /// A date or time.
    Other,
}

impl Node {
    pub(super) const fn what(&self) -> &'static str {
        match self {
            Node::Table(_) => "a table",
            Node::Array(_) => "a list",
            Node::Text(_) => "a text",
            Node::Number(_) => "a number",
            Node::Flag(_) => "a switch",
            Node::Other => "a date",
        }
    }

    /// A word, a number with its unit or a switch, as it is typed on the command line.
    pub(super) fn typed(text: &str) -> Node {
        match text {
            "true" => Node::Flag(true),
            "false" => Node::Flag(false),
            text => Node::Text(text.to_string()),
        }
    }

    fn from_toml(value: &DeValue<'_>, origin: usize, lines: &Lines) -> Node {
        match value {
            DeValue::String(s) => Node::Text(s.to_string()),
            DeValue::Integer(n) => Node::Number(n.to_string()),
            DeValue::Float(n) => Node::Number(n.to_string()),
            DeValue::Boolean(b) => Node::Flag(*b),
            DeValue::Datetime(_) => Node::Other,
            DeValue::Array(items) => Node::Array(
                items
                    .iter()
                    .map(|item| Node::from_toml(item.get_ref(), origin, lines))
                    .collect(),
            ),
            DeValue::Table(table) => Node::Table(entries(table, origin, lines)),
        }
    }
}

fn entries(table: &DeTable<'_>, origin: usize, lines: &Lines) -> Vec<Entry> {
    let mut entries: Vec<(usize, Entry)> = table
        .iter()
        .map(|(key, value)| {
            let at = key.span().start;
            let line = lines.of(at);
            let entry = Entry {
                key: key.get_ref().to_string(),
                place: Location { origin, line },
                node: Node::from_toml(value.get_ref(), origin, lines),
                used: Cell::new(false),
            };
            (at, entry)
        })
        .collect();
    entries.sort_by_key(|(at, _)| *at);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

/// Byte offsets to lines.
struct Lines {
    newlines: Vec<usize>,
    /// Number of the first line.
    first: usize,
}

impl Lines {
    /// An override has no lines: see [`Location::line`].
    const NONE: Lines = Lines {
        newlines: Vec::new(),
        first: 0,
    };

    fn new(text: &str) -> Lines {
        let newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        Lines {
            newlines: newlines.map(|(i, _)| i).collect(),
            first: 1,
        }
    }
    fn of(&self, at: usize) -> usize {
        self.newlines.partition_point(|&newline| newline < at) + self.first
    }
}

/// A parsed profile with what it is based on and what is set over it.
#[derive(Clone, Debug)]
pub struct Document {
    /// Names of texts, labels of overrides.
    origins: Vec<String>,
    pub(super) root: Vec<Entry>,
}

/// The key of what a profile is, in a line.
const SUMMARY: &str = "summary";
/// Limit of the chain of `based_on`. A longer chain is a cycle.
const MAX_BASES: usize = 8;

impl Document {
    /// Profile `name` of `library`, merged over what it is based on, with `overrides` on top.
    pub fn load(
        library: &Library,
        kind: Kind,
        name: &str,
        overrides: &[Override],
    ) -> Result<Document, ProfileError> {
        let (label, text) = library.find(kind, name)?;
        let mut document = Document::parse(&label, text)?;
        for depth in 0.. {
            let Some(i) = document.root.iter().position(|e| e.key == "based_on") else {
                break;
            };
            let base = document.root.remove(i);
            let fail = |message: String| Problem {
                place: document.label(base.place),
                key: "based_on".into(),
                message,
            };
            let Node::Text(base_name) = &base.node else {
                let expected = format!(
                    "is {}; expected the name of a {}",
                    base.node.what(),
                    kind.name()
                );
                return Err(fail(expected).into());
            };
            if depth == MAX_BASES {
                return Err(fail("profiles are based on each other in a circle".into()).into());
            }
            let (label, text) = library.find(kind, base_name).map_err(|p| fail(p.message))?;
            // What the base is, this is not: its summary would be untrue of what differs.
            if !document.root.iter().any(|e| e.key == SUMMARY) {
                document.root.push(Entry {
                    key: SUMMARY.into(),
                    place: base.place,
                    node: Node::Text(format!("{base_name} with changes of its own")),
                    used: Cell::new(false),
                });
            }
            let base = Document::parse(&label, text)?;
            document.rebase(base);
        }
        let mut problems = Vec::new();
        for o in overrides {
            if let Err(problem) = document.set(o) {
                problems.push(problem);
            }
        }
        if problems.is_empty() {
            Ok(document)
        } else {
            Err(ProfileError { problems })
        }
    }

    /// Parses `text`; `label` names it in messages.
    pub fn parse(label: &str, text: &str) -> Result<Document, Problem> {
        let lines = Lines::new(text);
        let table = DeTable::parse(text).map_err(|e| Problem {
            place: format!("{label}:{}", lines.of(e.span().map_or(0, |s| s.start))),
            key: String::new(),
            message: e.message().trim().replace('\n', "; "),
        })?;
        Ok(Document {
            origins: vec![label.to_string()],
            root: entries(table.get_ref(), 0, &lines),
        })
    }

    /// Puts `base` under this document.
    fn rebase(&mut self, base: Document) {
        let shift = self.origins.len();
        self.origins.extend(base.origins);
        let mut root = base.root;
        shift_origins(&mut root, shift);
        merge(&mut root, std::mem::take(&mut self.root));
        self.root = root;
    }

    /// Replaces the leaf at the override's path, or adds it: an unknown path is reported after
    /// the document has been read.
    fn set(&mut self, o: &Override) -> Result<(), Problem> {
        let place = Location {
            origin: self.origins.len(),
            line: 0,
        };
        self.origins.push(o.label());
        let fail = |message: String| Problem {
            place: o.label(),
            key: String::new(),
            message,
        };
        let node = match o.value.as_str() {
            v if v.starts_with(['[', '{', '"', '\'']) => {
                let value =
                    DeValue::parse(v).map_err(|e| fail(e.message().trim().replace('\n', "; ")))?;
                Node::from_toml(value.get_ref(), place.origin, &Lines::NONE)
            }
            v => Node::typed(v),
        };
        let mut table = &mut self.root;
        let mut keys = o.path.split('.').peekable();
        while let Some(key) = keys.next() {
            let i = table.iter().position(|e| e.key == key).unwrap_or_else(|| {
                table.push(Entry {
                    key: key.to_string(),
                    place,
                    node: Node::Table(Vec::new()),
                    used: Cell::new(false),
                });
                table.len() - 1
            });
            let entry = &mut table[i];
            if keys.peek().is_none() {
                // A table of values is not a leaf: replacing it would drop what is in it.
                if matches!(&entry.node, Node::Table(t) if !t.is_empty() && !is_leaf(t)) {
                    return Err(fail(format!("`{}` is a table of keys", o.path)));
                }
                entry.node = node;
                entry.place = place;
                return Ok(());
            }
            table = match &mut entry.node {
                Node::Table(t) if !is_leaf(t) => t,
                _ => return Err(fail(format!("`{key}` has no keys below it"))),
            };
        }
        Err(fail("the path is empty".into()))
    }

    pub(super) fn label(&self, place: Location) -> String {
        let origin = self.origins.get(place.origin).map_or("", String::as_str);
        match place.line {
            0 => origin.to_string(),
            line => format!("{origin}:{line}"),
        }
    }

    /// The text at a path of the root, if there is one. For what decides which document to read.
    pub fn peek_text(&self, key: &str) -> Option<&str> {
        match &self.root.iter().find(|e| e.key == key)?.node {
            Node::Text(s) => Some(s),
            Node::Table(t) => match &t.iter().find(|e| e.key == "value")?.node {
                Node::Text(s) => Some(s),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether a table is `{ value, source }`.
pub(super) fn is_leaf(table: &[Entry]) -> bool {
    table.iter().any(|e| e.key == "value")
}

fn shift_origins(table: &mut [Entry], by: usize) {
    for entry in table {
        entry.place.origin += by;
        if let Node::Table(t) = &mut entry.node {
            shift_origins(t, by);
        }
    }
}

/// Merges `over` into `base`.
fn merge(base: &mut Vec<Entry>, over: Vec<Entry>) {
    for entry in over {
        let Some(i) = base.iter().position(|e| e.key == entry.key) else {
            base.push(entry);
            continue;
        };
        match (&mut base[i].node, entry.node) {
            (Node::Table(below), Node::Table(above)) if !is_leaf(below) && !is_leaf(&above) => {
                merge(below, above);
            }
            (_, node) => base[i] = Entry { node, ..entry },
        }
    }
}
