//! The keys of a table, consumed one by one.

use std::cell::RefCell;

use firstread_workload::nearest;

use crate::profile::Problem;
use crate::profile::document::{Entry, Location, Node, is_leaf};
use crate::profile::listing::{ResolvedEntry, quoted};
use crate::profile::quantity::{Dimension, Quantity, Unit};
use crate::profile::reader::Reader;

/// What a leaf says, and where.
struct Leaf<'a> {
    path: String,
    place: Location,
    node: &'a Node,
    source: String,
    overridden: bool,
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

    /// Declares `key` and finds it.
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

    /// Notes a problem of `key`.
    pub fn note(&self, key: &str, message: String) {
        let entry = self.entries.iter().find(|e| e.key == key);
        let place = entry.map_or(self.place, |e| e.place);
        self.reader.note(place, self.at(key), message);
    }

    fn leaf(&self, key: &str, needs_source: bool) -> Option<Leaf<'_>> {
        let Some(entry) = self.find(key) else {
            self.missing.borrow_mut().push(key.to_string());
            return None;
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
            place: entry.place,
            node,
            source: match overridden {
                true if source.is_empty() => "set on the command line".into(),
                _ => source,
            },
            overridden,
        })
    }

    fn wrong(&self, leaf: &Leaf<'_>, message: String) {
        self.reader.note(leaf.place, leaf.path.clone(), message);
    }

    fn list(&self, leaf: Leaf<'_>, value: String, unit: &str, literal: String) {
        self.reader.places.borrow_mut().push(leaf.place);
        self.reader.listing.borrow_mut().push(ResolvedEntry {
            path: leaf.path,
            value,
            unit: unit.into(),
            source: leaf.source,
            overridden: leaf.overridden,
            literal,
        });
    }

    /// A quantity of `dimension` from a scalar node.
    fn quantity(&self, leaf: &Leaf<'_>, node: &Node, dimension: Dimension) -> Option<Quantity> {
        let text = match node {
            Node::Text(s) | Node::Number(s) => s,
            other => {
                let expected = dimension.expected();
                self.wrong(leaf, format!("is {}; expected {expected}", other.what()));
                return None;
            }
        };
        match Quantity::parse(text, dimension) {
            Ok(quantity) => Some(quantity),
            Err(problem) => {
                self.wrong(leaf, problem.message);
                None
            }
        }
    }

    fn in_range(&self, leaf: &Leaf<'_>, value: Quantity, unit: Unit, min: f64, max: f64) -> bool {
        let ok = (min..=max).contains(&value.to(unit));
        if !ok {
            let symbol = unit.symbol;
            let message = format!("`{value}` is outside {min} to {max} {symbol}");
            self.wrong(leaf, message.trim_end().to_string());
        }
        ok
    }

    /// The number at `key` in `unit`, within `min..=max` of it.
    pub fn number(&self, key: &str, unit: Unit, min: f64, max: f64) -> f64 {
        let Some(leaf) = self.leaf(key, true) else {
            return min;
        };
        self.one(leaf, unit, min, max).map_or(min, |q| q.to(unit))
    }

    /// As [`Keys::number`], with the word `none` for infinity.
    pub fn number_or_none(&self, key: &str, unit: Unit, min: f64, max: f64) -> f64 {
        match self.leaf(key, true) {
            None => min,
            Some(leaf) if matches!(leaf.node, Node::Text(s) if s.trim() == "none") => {
                self.list(leaf, "none".into(), "", "\"none\"".into());
                f64::INFINITY
            }
            Some(leaf) => self.one(leaf, unit, min, max).map_or(min, |q| q.to(unit)),
        }
    }

    /// As [`Keys::whole`]; none for the word `none`, and where there is a problem.
    pub fn whole_or_none(&self, key: &str, unit: Unit, min: u64, max: u64) -> Option<u64> {
        let leaf = self.leaf(key, true)?;
        if matches!(leaf.node, Node::Text(s) if s.trim() == "none") {
            self.list(leaf, "none".into(), "", "\"none\"".into());
            return None;
        }
        Some(self.whole_of(leaf, key, unit, min, max))
    }

    /// The whole number at `key` in `unit`, within `min..=max` of it.
    pub fn whole(&self, key: &str, unit: Unit, min: u64, max: u64) -> u64 {
        let Some(leaf) = self.leaf(key, true) else {
            return min;
        };
        self.whole_of(leaf, key, unit, min, max)
    }

    fn whole_of(&self, leaf: Leaf<'_>, key: &str, unit: Unit, min: u64, max: u64) -> u64 {
        let Some(quantity) = self.one(leaf, unit, min as f64, max as f64) else {
            return min;
        };
        match quantity.to_whole(unit) {
            Ok(n) => n,
            Err(problem) => {
                self.note(key, problem.message);
                min
            }
        }
    }

    /// The whole number at `key` in `unit`, within `min..=max` of it. A count may be
    /// followed by `name`: `8 blocks`.
    pub fn integer(
        &self,
        key: &str,
        unit: &'static Unit,
        name: &str,
        min: i64,
        max: i64,
    ) -> Option<i64> {
        let leaf = self.leaf(key, true)?;
        let named = match leaf.node {
            Node::Text(s) if unit.dimension == Dimension::Count => s
                .strip_suffix(name)
                .map(|number| Node::Number(number.trim_end().into())),
            _ => None,
        };
        let node = named.as_ref().unwrap_or(leaf.node);
        let quantity = self.quantity(&leaf, node, unit.dimension)?;
        if !self.in_range(&leaf, quantity, *unit, min as f64, max as f64) {
            return None;
        }
        let size = Quantity {
            number: quantity.number.abs(),
            ..quantity
        };
        match size.to_whole(*unit) {
            Ok(n) => {
                self.list_quantity(leaf, quantity);
                Some(if quantity.number < 0.0 {
                    -(n as i64)
                } else {
                    n as i64
                })
            }
            Err(problem) => {
                self.wrong(&leaf, problem.message);
                None
            }
        }
    }

    /// Makes `key` a valid one without reading it.
    pub fn declare(&self, key: &str) {
        self.known.borrow_mut().push(key.to_string());
        if let Some(entry) = self.entries.iter().find(|e| e.key == key) {
            entry.used.set(true);
        }
    }

    fn one(&self, leaf: Leaf<'_>, unit: Unit, min: f64, max: f64) -> Option<Quantity> {
        let quantity = self.quantity(&leaf, leaf.node, unit.dimension)?;
        if !self.in_range(&leaf, quantity, unit, min, max) {
            return None;
        }
        self.list_quantity(leaf, quantity);
        Some(quantity)
    }

    fn list_quantity(&self, leaf: Leaf<'_>, quantity: Quantity) {
        let literal = match quantity.unit.symbol {
            "" => quantity.to_string(),
            _ => quoted(&quantity.to_string()),
        };
        let value = quantity.number.to_string();
        self.list(leaf, value, quantity.unit.symbol, literal);
    }

    /// The numbers of the list at `key` in `unit`, each within `min..=max` of it, all written in one
    /// unit.
    pub fn numbers(&self, key: &str, unit: Unit, min: f64, max: f64) -> Vec<f64> {
        let Some(leaf) = self.leaf(key, true) else {
            return Vec::new();
        };
        let Some(quantities) = self.quantities(&leaf, leaf.node, unit, min, max) else {
            return Vec::new();
        };
        let values = quantities.iter().map(|q| q.to(unit)).collect();
        let symbol = quantities.first().map_or("", |q| q.unit.symbol);
        let numbers = quantities.iter().map(|q| q.number.to_string());
        let value = bracketed(numbers);
        let literal = match symbol {
            "" => value.clone(),
            _ => bracketed(quantities.iter().map(|q| quoted(&q.to_string()))),
        };
        self.list(leaf, value, symbol, literal);
        values
    }

    /// The lists of small whole numbers in the list at `key`.
    pub fn lists(&self, key: &str) -> Vec<Vec<u8>> {
        let Some(leaf) = self.leaf(key, true) else {
            return Vec::new();
        };
        let Node::Array(rows) = leaf.node else {
            self.wrong(
                &leaf,
                format!("is {}; expected a list of lists", leaf.node.what()),
            );
            return Vec::new();
        };
        let one = crate::profile::quantity::ONE;
        let mut lists = Vec::new();
        for row in rows {
            let Some(numbers) = self.quantities(&leaf, row, one, 0.0, 255.0) else {
                return Vec::new();
            };
            let mut list = Vec::new();
            for q in numbers {
                match q.to_whole(one) {
                    Ok(n) => list.push(n as u8),
                    Err(problem) => {
                        self.wrong(&leaf, problem.message);
                        return Vec::new();
                    }
                }
            }
            lists.push(list);
        }
        let value = bracketed(
            lists
                .iter()
                .map(|row| bracketed(row.iter().map(u8::to_string))),
        );
        self.list(leaf, value.clone(), "", value);
        lists
    }

    /// The lists of level offsets (DAC units) in the list at `key`. An offset that is none is named by its entry and level,
    /// both from 1.
    pub fn offsets(&self, key: &str) -> Vec<Vec<i8>> {
        let Some(leaf) = self.leaf(key, true) else {
            return Vec::new();
        };
        match offsets_of(leaf.node) {
            Ok(entries) => {
                let row = |row: &Vec<i8>| bracketed(row.iter().map(i8::to_string));
                let value = bracketed(entries.iter().map(row));
                self.list(leaf, value.clone(), "", value);
                entries
            }
            Err(problem) => {
                self.wrong(&leaf, problem.message);
                Vec::new()
            }
        }
    }

    fn quantities(
        &self,
        leaf: &Leaf<'_>,
        node: &Node,
        unit: Unit,
        min: f64,
        max: f64,
    ) -> Option<Vec<Quantity>> {
        let Node::Array(items) = node else {
            let expected = unit.dimension.expected();
            self.wrong(
                leaf,
                format!("is {}; expected a list, each {expected}", node.what()),
            );
            return None;
        };
        let mut quantities: Vec<Quantity> = Vec::new();
        for item in items {
            let quantity = self.quantity(leaf, item, unit.dimension)?;
            if !self.in_range(leaf, quantity, unit, min, max) {
                return None;
            }
            if quantities
                .first()
                .is_some_and(|first| first.unit != quantity.unit)
            {
                self.wrong(
                    leaf,
                    format!("`{quantity}` is not in the unit of the first"),
                );
                return None;
            }
            quantities.push(quantity);
        }
        Some(quantities)
    }

    /// The text at `key`, not empty.
    pub fn text(&self, key: &str) -> String {
        let Some(leaf) = self.leaf(key, false) else {
            return String::new();
        };
        match leaf.node {
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
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> T {
        self.try_choice(key, choices.iter().map(|(name, _)| *name))
            .map_or(choices[0].1, |i| choices[i].1)
    }

    /// Index in `names` of the word at `key`.
    pub fn try_choice<'n>(
        &self,
        key: &str,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Option<usize> {
        let leaf = self.leaf(key, false)?;
        let expected = || names.clone().collect::<Vec<_>>().join(", ");
        let Node::Text(word) = leaf.node else {
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
    pub fn flag(&self, key: &str) -> bool {
        let Some(leaf) = self.leaf(key, false) else {
            return false;
        };
        let Node::Flag(on) = *leaf.node else {
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

fn bracketed(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

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

/// The lists of level offsets in `node`.
fn offsets_of(node: &Node) -> Result<Vec<Vec<i8>>, Problem> {
    let wrong = |message: String| Err(Problem::new(message));
    let Node::Array(rows) = node else {
        let what = node.what();
        return wrong(format!(
            "is {what}; expected a list of entries, or the name of a .csv file"
        ));
    };
    if rows.is_empty() {
        return wrong("has no entry".into());
    }
    let row = |(i, row): (usize, &Node)| {
        let entry = i + 1;
        let Node::Array(levels) = row else {
            let what = row.what();
            let message = format!("entry {entry} is {what}; expected a list of offsets");
            return Err(Problem::new(message));
        };
        let levels = levels.iter().zip(1..);
        levels
            .map(|(node, level)| offset(&format!("entry {entry}, level {level},"), node))
            .collect()
    };
    rows.iter().enumerate().map(row).collect()
}

/// The level offset in `node`, which is called `place` in messages.
fn offset(place: &str, node: &Node) -> Result<i8, Problem> {
    let wrong = |message: String| Err(Problem::new(message));
    let Node::Number(text) = node else {
        let what = node.what();
        return wrong(format!("{place} is {what}; expected a whole number"));
    };
    match text.parse::<i64>().map(i8::try_from) {
        Ok(Ok(n)) => Ok(n),
        Ok(Err(_)) => wrong(format!(
            "{place} is {text}; levels are from -128 to 127 DAC units of the factory's"
        )),
        Err(_) => wrong(format!(
            "{place} is {text}; expected a whole number of DAC units"
        )),
    }
}
