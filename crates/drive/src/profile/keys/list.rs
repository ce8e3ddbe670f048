//! Reading lists.

use super::{Keys, Leaf};
use crate::profile::Problem;
use crate::profile::document::Node;
use crate::profile::key::Key;
use crate::profile::listing::quoted;
use crate::profile::quantity::{ONE, Quantity};

impl Keys<'_> {
    /// The numbers of the list at `key`, all written in one unit.
    pub fn numbers(&self, key: &Key<'_>) -> Vec<f64> {
        let Some(leaf) = self.leaf(key, true) else {
            return Vec::new();
        };
        let Some(quantities) = self.quantities(&leaf, &leaf.node, key) else {
            return Vec::new();
        };
        let values = quantities.iter().map(|q| q.to(key.unit)).collect();
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
        let key = &Key::new(key).within(ONE, 0.0, 255.0);
        let Some(leaf) = self.leaf(key, true) else {
            return Vec::new();
        };
        let Node::Array(rows) = &leaf.node else {
            self.wrong(
                &leaf,
                format!("is {}; expected a list of lists", leaf.node.what()),
            );
            return Vec::new();
        };
        let mut lists = Vec::new();
        for row in rows {
            let Some(numbers) = self.quantities(&leaf, row, key) else {
                return Vec::new();
            };
            let mut list = Vec::new();
            for q in numbers {
                match q.to_whole(ONE) {
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
        let Some(leaf) = self.leaf(&Key::new(key), true) else {
            return Vec::new();
        };
        match offsets_of(&leaf.node) {
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

    fn quantities(&self, leaf: &Leaf, node: &Node, key: &Key<'_>) -> Option<Vec<Quantity>> {
        let Node::Array(items) = node else {
            let expected = key.unit.dimension.expected();
            self.wrong(
                leaf,
                format!("is {}; expected a list, each {expected}", node.what()),
            );
            return None;
        };
        let mut quantities: Vec<Quantity> = Vec::new();
        for item in items {
            let quantity = self.quantity(leaf, item, key)?;
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
}

fn bracketed(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
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
