//! The keys of a table, consumed one by one.

mod list;
mod number;

use std::cell::RefCell;

use firstread_workload::nearest;

use crate::profile::document::{Entry, Location, Node, is_leaf};
use crate::profile::key::Key;
use crate::profile::listing::{ResolvedEntry, quoted};
use crate::profile::reader::Reader;

/// What a leaf says, and where.
struct Leaf {
    path: String,
    /// None where the key is left out and has a default.
    place: Option<Location>,
    node: Node,
    source: String,
    overridden: bool,
}

impl Leaf {
    /// Whether it is the word for no number.
    fn is_none(&self) -> bool {
        matches!(&self.node, Node::Text(s) if s.trim() == "none")
    }
}

/// The keys of one table, consumed one by one.
pub struct Keys<'a> {
    reader: &'a Reader<'a>,
    entries: &'a [Entry],
    /// The table is missing or is not a table. This is reported once; its keys are not reported.
    absent: bool,
    path: String,
    place: Location,
    known: RefCell<Vec<String>>,
    missing: RefCell<Vec<String>>,
}

impl Keys<'_> {
    fn at(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_string(),
            path => format!("{path}.{key}"),
        }
    }

    /// Makes `key` a valid one and finds it.
    fn find(&self, key: &str) -> Option<&Entry> {
        self.known.borrow_mut().push(key.to_string());
        let entry = self.entries.iter().find(|e| e.key == key)?;
        entry.used.set(true);
        Some(entry)
    }

    /// Whether the table has `key`. It stays to be read.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|e| e.key == key)
    }

    /// Whether the table has `key`, which is a valid one.
    pub fn given(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// Whether there is a table of keys at `key`.
    pub fn is_table(&self, key: &str) -> bool {
        let entry = self.entries.iter().find(|e| e.key == key);
        entry.is_some_and(|e| matches!(&e.node, Node::Table(t) if !is_leaf(t)))
    }

    /// The keys of the table that are not read yet.
    pub fn unread(&self) -> Vec<&str> {
        let left = self.entries.iter().filter(|e| !e.used.get());
        left.map(|e| e.key.as_str()).collect()
    }

    /// Notes a problem of `key`, which is then not read.
    pub fn refuse(&self, key: &str, message: String) {
        self.note(key, message);
        self.find(key);
    }

    /// Notes a problem of `key`.
    pub fn note(&self, key: &str, message: String) {
        let entry = self.entries.iter().find(|e| e.key == key);
        let place = entry.map_or(self.place, |e| e.place);
        self.reader.note(place, self.at(key), message);
    }

    /// The leaf at `key`, or its default.
    fn leaf(&self, key: &Key<'_>, needs_source: bool) -> Option<Leaf> {
        let (key, default) = (key.name, key.default);
        let Some(entry) = self.find(key) else {
            let Some(default) = default else {
                self.missing.borrow_mut().push(key.to_string());
                return None;
            };
            return Some(Leaf {
                path: self.at(key),
                place: None,
                node: Node::typed(default.value),
                source: default.means.into(),
                overridden: false,
            });
        };
        let overridden = entry.place.line == 0;
        let (node, source) = match &entry.node {
            Node::Table(table) if is_leaf(table) || table.iter().any(|e| e.key == "source") => {
                for e in table {
                    if e.key != "value" && e.key != "source" {
                        let near = nearest(&e.key, ["value", "source"].into_iter());
                        let near = near.unwrap_or_default();
                        let message = format!("unknown key; the nearest is `{near}`");
                        self.reader
                            .note(e.place, self.at(&format!("{key}.{}", e.key)), message);
                    }
                }
                let part = |name| table.iter().find(|e| e.key == name).map(|e| &e.node);
                let source = match part("source") {
                    Some(Node::Text(s)) if !s.trim().is_empty() => s.clone(),
                    Some(_) => {
                        self.note(key, "its source must be a text".into());
                        String::new()
                    }
                    None => String::new(),
                };
                let Some(value) = part("value") else {
                    self.note(key, "has no `value`".into());
                    return None;
                };
                (value, source)
            }
            Node::Table(_) => {
                self.note(key, "is a table of keys; expected a value".into());
                return None;
            }
            node => (node, String::new()),
        };
        if source.is_empty() && needs_source && !overridden {
            self.note(
                key,
                "has no source: write { value = ..., source = \"publication, or assumed, because ...\" }"
                    .into(),
            );
            return None;
        }
        Some(Leaf {
            path: self.at(key),
            place: Some(entry.place),
            node: node.clone(),
            source: match overridden {
                true if source.is_empty() => "set on the command line".into(),
                _ => source,
            },
            overridden,
        })
    }

    fn wrong(&self, leaf: &Leaf, message: String) {
        let place = leaf.place.unwrap_or(self.place);
        self.reader.note(place, leaf.path.clone(), message);
    }

    fn list(&self, leaf: Leaf, value: String, unit: &str, literal: String) {
        let entry = ResolvedEntry {
            path: leaf.path,
            value,
            unit: unit.into(),
            source: leaf.source,
            overridden: leaf.overridden,
            literal,
        };
        match leaf.place {
            Some(place) => {
                self.reader.places.borrow_mut().push(place);
                self.reader.listing.borrow_mut().push(entry);
            }
            None => self.reader.defaults.borrow_mut().push(entry),
        }
    }

    /// The text at `key`, not empty.
    pub fn text(&self, key: &Key<'_>) -> String {
        let Some(leaf) = self.leaf(key, false) else {
            return String::new();
        };
        match &leaf.node {
            Node::Text(s) if !s.trim().is_empty() => {
                let s = s.clone();
                self.list(leaf, s.clone(), "", quoted(&s));
                s
            }
            other => {
                let what = other.what();
                self.wrong(
                    &leaf,
                    format!("is {what}; expected a text that is not empty"),
                );
                String::new()
            }
        }
    }

    /// Which of `choices` the word at `key` is; the first where there is a problem.
    pub fn choice<T: Copy>(&self, key: &Key<'_>, choices: &[(&str, T)]) -> T {
        self.try_choice(key, choices.iter().map(|(name, _)| *name))
            .map_or(choices[0].1, |i| choices[i].1)
    }

    /// Index in `names` of the word at `key`.
    pub fn try_choice<'n>(
        &self,
        key: &Key<'_>,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Option<usize> {
        let leaf = self.leaf(key, false)?;
        let expected = || names.clone().collect::<Vec<_>>().join(", ");
        let Node::Text(word) = &leaf.node else {
            let what = leaf.node.what();
            self.wrong(&leaf, format!("is {what}; expected one of {}", expected()));
            return None;
        };
        let Some(i) = names.clone().position(|name| name == word) else {
            let near = nearest(word, names.clone()).unwrap_or_default();
            let message = format!(
                "there is no `{word}`; the nearest is `{near}` of {}",
                expected()
            );
            self.wrong(&leaf, message);
            return None;
        };
        let word = word.clone();
        self.list(leaf, word.clone(), "", quoted(&word));
        Some(i)
    }

    /// The switch at `key`.
    pub fn flag(&self, key: &Key<'_>) -> bool {
        let Some(leaf) = self.leaf(key, false) else {
            return false;
        };
        let Node::Flag(on) = leaf.node else {
            let what = leaf.node.what();
            self.wrong(&leaf, format!("is {what}; expected true or false"));
            return false;
        };
        self.list(leaf, on.to_string(), "", on.to_string());
        on
    }

    /// Reads the table at `key`, which must be there.
    pub fn table<T>(&self, key: &str, f: impl FnOnce(&Keys<'_>) -> T) -> T {
        let (entries, place) = match self.find(key) {
            None => {
                self.missing.borrow_mut().push(key.to_string());
                (None, self.place)
            }
            Some(entry) => match &entry.node {
                Node::Table(t) if !is_leaf(t) => (Some(t.as_slice()), entry.place),
                other => {
                    let what = match other {
                        Node::Table(_) => "a value",
                        other => other.what(),
                    };
                    self.note(key, format!("is {what}; expected a table of keys"));
                    (None, entry.place)
                }
            },
        };
        self.reader.table(entries, self.at(key), place, f)
    }

    /// Reads the table at `key` if there is one.
    pub fn optional_table<T>(&self, key: &str, f: impl FnOnce(&Keys<'_>) -> T) -> Option<T> {
        if self.has(key) {
            Some(self.table(key, f))
        } else {
            self.known.borrow_mut().push(key.to_string());
            None
        }
    }

    /// Reads the table at `key`, all of whose keys have defaults; they hold where there is no such table.
    pub fn table_or_defaults<T>(&self, key: &str, f: impl FnOnce(&Keys<'_>) -> T) -> T {
        match self.given(key) {
            true => self.table(key, f),
            false => self.defaults(key, f),
        }
    }

    /// Reads a table at `key` in which nothing is given.
    pub fn defaults<T>(&self, key: &str, f: impl FnOnce(&Keys<'_>) -> T) -> T {
        let nothing = Some(&[][..]);
        self.reader.table(nothing, self.at(key), self.place, f)
    }

    /// Reports what is missing and what is left. A key left over whose nearest valid one is missing
    /// is reported as a misspelling of that one.
    fn end(&self) {
        if self.absent {
            return;
        }
        let known = self.known.borrow();
        let mut missing = self.missing.borrow_mut();
        for entry in self.entries.iter().filter(|e| !e.used.get()) {
            let name = entry.key.as_str();
            let message = match nearest(name, known.iter().map(String::as_str)) {
                // No key has this size, and none with a similar name has to do with it.
                _ if name.starts_with("superblock") => SUPERBLOCK_SIZE.to_string(),
                Some(near) => {
                    missing.retain(|m| m != near);
                    format!("unknown key; the nearest is `{}`", self.at(near))
                }
                None => "unknown key; the table has none".to_string(),
            };
            self.reader.note(entry.place, self.at(name), message);
        }
        for key in missing.iter() {
            let message = "is missing".to_string();
            self.reader.note(self.place, self.at(key), message);
        }
    }
}

/// Where the size of a superblock is set, for one who looks for a key of that name.
const SUPERBLOCK_SIZE: &str = "unknown key; a superblock is a block of each plane and die: `geometry.wordlines_per_block` makes it smaller, and \
     `geometry.blocks_per_plane` says how many there are";

impl Reader<'_> {
    /// Reads the root table.
    pub fn read<T>(&self, f: impl FnOnce(&Keys<'_>) -> T) -> T {
        let place = Location { origin: 0, line: 1 };
        self.table(Some(&self.document.root), String::new(), place, f)
    }

    fn table<T>(
        &self,
        entries: Option<&[Entry]>,
        path: String,
        place: Location,
        f: impl FnOnce(&Keys<'_>) -> T,
    ) -> T {
        let keys = Keys {
            reader: self,
            entries: entries.unwrap_or_default(),
            absent: entries.is_none(),
            path,
            place,
            known: RefCell::default(),
            missing: RefCell::default(),
        };
        let value = f(&keys);
        keys.end();
        value
    }
}
