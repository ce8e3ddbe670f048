//! The control: each unit is shown the heat of another one.

use firstread_core::{Permutation, Stream};

/// A keyed permutation of the units that the host uses: all from the lowest to the highest that it has accessed, each
/// end rounded outwards to an eighth of their number. It changes when the host goes beyond, so eight times at most
/// each time that the range doubles. Units outside are shown their own heat, which is none.
#[derive(Clone, Debug)]
pub(super) struct Shuffled {
    first: u64,
    end: u64,
    units: u64,
    key: Stream,
    order: Option<Permutation>,
}

impl Shuffled {
    /// Over `units`, by `seed`.
    pub(super) fn new(units: u64, seed: u64) -> Shuffled {
        Shuffled {
            first: 0,
            end: 0,
            units,
            key: Stream::new(seed).named("heat shuffle"),
            order: None,
        }
    }

    /// The host has accessed `unit`.
    #[inline]
    pub(super) fn accessed(&mut self, unit: u64) {
        if !(self.first..self.end).contains(&unit) {
            self.widen(unit);
        }
    }

    fn widen(&mut self, unit: u64) {
        let (first, end) = match self.order {
            Some(_) => (self.first.min(unit), self.end.max(unit + 1)),
            None => (unit, unit + 1),
        };
        let step = 1 << (end - first).ilog2().saturating_sub(3);
        self.first = first / step * step;
        self.end = end.next_multiple_of(step).min(self.units);
        self.order = Some(Permutation::new(self.end - self.first, self.key));
    }

    /// The unit whose heat `unit` is shown.
    #[inline]
    pub(super) fn of(&self, unit: u64) -> u64 {
        match &self.order {
            Some(order) if (self.first..self.end).contains(&unit) => {
                self.first + order.at(unit - self.first)
            }
            _ => unit,
        }
    }
}
