//! `clairvoyant`: the oracle. It knows how often the host will read a page before it writes the page anew.
//!
//! It is the best that is known and no bound: it sees luck, as which of two pages of the same heat is read once more. And it
//! places each page by itself, without knowing when cleaning will move the page again.

use firstread_core::CellMode;
use firstread_core::params::{Need, Role, Scheme, Values};

use super::by_heat::{ByHeat, PLACES, log_bin};
use super::contract::{PageOrder, PageTypes, PlacedPage, Wish};
use crate::policy::Setup;

/// Record of the scheme.
pub const SCHEME: Scheme = Scheme {
    name: "clairvoyant",
    summary: "as read-heat, by the reads that are to come until the page is written anew",
    source: "the oracle: it sees which pages will be read, luck among them",
    role: Role::Oracle,
    needs: &[Need::Future],
    ordered: &[],
    params: &[PLACES],
};

/// What was placed, by the reads that were to come.
#[derive(Clone, Debug)]
pub struct Clairvoyant(ByHeat);

impl Clairvoyant {
    /// The scheme with the parameters `values`.
    pub fn new(setup: &Setup, values: &Values) -> Clairvoyant {
        Clairvoyant(ByHeat::new(setup, values))
    }
}

impl PageTypes for Clairvoyant {
    #[inline]
    fn is_on(&self) -> bool {
        true
    }

    fn wish(&self, page: &PlacedPage) -> Option<Wish> {
        let left = page.reads_left.filter(|_| self.0.places(page.moves))?;
        Some(Wish::new(log_bin(left), page.group))
    }

    fn order(&self, stream: usize, wish: Wish, mode: CellMode) -> PageOrder {
        self.0.order(stream, wish, mode)
    }

    fn has_placed(&mut self, stream: usize, wish: Wish) {
        self.0.has_placed(stream, wish);
    }
}
