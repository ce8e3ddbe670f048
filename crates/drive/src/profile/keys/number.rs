//! Reading numbers.

use super::{Keys, Leaf};
use crate::profile::document::Node;
use crate::profile::key::Key;
use crate::profile::listing::quoted;
use crate::profile::quantity::{Dimension, Quantity};

impl Keys<'_> {
    /// The quantity in `node`, within the range of `key`.
    pub(super) fn quantity(&self, leaf: &Leaf, node: &Node, key: &Key<'_>) -> Option<Quantity> {
        let dimension = key.unit.dimension;
        let text = match node {
            Node::Text(s) | Node::Number(s) => s,
            other => {
                let expected = dimension.expected();
                self.wrong(leaf, format!("is {}; expected {expected}", other.what()));
                return None;
            }
        };
        let quantity = match Quantity::parse(text, dimension) {
            Ok(quantity) => quantity,
            Err(problem) => {
                self.wrong(leaf, problem.message);
                return None;
            }
        };
        if !(key.min..=key.max).contains(&quantity.to(key.unit)) {
            let (min, max, symbol) = (key.min, key.max, key.unit.symbol);
            let message = format!("`{quantity}` is outside {min} to {max} {symbol}");
            self.wrong(leaf, message.trim_end().to_string());
            return None;
        }
        Some(quantity)
    }

    /// The number at `key`.
    pub fn number(&self, key: &Key<'_>) -> f64 {
        let number = self.leaf(key, true).and_then(|leaf| self.one(leaf, key));
        number.map_or(key.min, |q| q.to(key.unit))
    }

    /// As [`Keys::number`], with the word `none` for infinity.
    pub fn number_or_none(&self, key: &Key<'_>) -> f64 {
        match self.leaf(key, true) {
            Some(leaf) if leaf.is_none() => {
                self.list_none(leaf);
                f64::INFINITY
            }
            leaf => {
                let number = leaf.and_then(|leaf| self.one(leaf, key));
                number.map_or(key.min, |q| q.to(key.unit))
            }
        }
    }

    /// The whole number at `key`.
    pub fn whole(&self, key: &Key<'_>) -> u64 {
        let leaf = self.leaf(key, true);
        leaf.map_or(key.min as u64, |leaf| self.whole_of(leaf, key))
    }

    /// As [`Keys::whole`]; none for the word `none`, and where there is no such key.
    pub fn whole_or_none(&self, key: &Key<'_>) -> Option<u64> {
        let leaf = self.leaf(key, true)?;
        if leaf.is_none() {
            self.list_none(leaf);
            return None;
        }
        Some(self.whole_of(leaf, key))
    }

    fn whole_of(&self, leaf: Leaf, key: &Key<'_>) -> u64 {
        let whole = self.integer_of(leaf, key, "");
        whole.map_or(key.min as u64, |n| n as u64)
    }

    /// The whole number at `key`, which may be below zero. A count may be followed by `name`: `8 blocks`.
    pub fn integer(&self, key: &Key<'_>, name: &str) -> Option<i64> {
        self.integer_of(self.leaf(key, true)?, key, name)
    }

    fn integer_of(&self, leaf: Leaf, key: &Key<'_>, name: &str) -> Option<i64> {
        let named = match &leaf.node {
            Node::Text(s) if key.unit.dimension == Dimension::Count => s
                .strip_suffix(name)
                .map(|number| Node::Number(number.trim_end().into())),
            _ => None,
        };
        let quantity = self.quantity(&leaf, named.as_ref().unwrap_or(&leaf.node), key)?;
        let size = Quantity {
            number: quantity.number.abs(),
            ..quantity
        };
        match size.to_whole(key.unit) {
            Ok(n) => {
                self.list_quantity(leaf, quantity);
                Some(n as i64 * if quantity.number < 0.0 { -1 } else { 1 })
            }
            Err(problem) => {
                self.wrong(&leaf, problem.message);
                None
            }
        }
    }

    fn one(&self, leaf: Leaf, key: &Key<'_>) -> Option<Quantity> {
        let quantity = self.quantity(&leaf, &leaf.node, key)?;
        self.list_quantity(leaf, quantity);
        Some(quantity)
    }

    fn list_quantity(&self, leaf: Leaf, quantity: Quantity) {
        let (value, unit, literal) = quantity.listed();
        self.list(leaf, value, unit, literal);
    }

    fn list_none(&self, leaf: Leaf) {
        self.list(leaf, "none".into(), "", quoted("none"));
    }
}
